//! How much of a load fits within the limits: offered in an open loop, more and less of it, and
//! then for as long as the time allows, because what fits for a moment may live on credits.

use analysis::verdict::{Fit, Level, Limits, LoadSearch, Role, Statistic, Trial};
use results::{Histogram, Measurement, OfferedLoad, Statistics, Status};
use workload::{Arrival, Rate, RateLimit, Stream};

use super::plan::Load;
use crate::lab::{self, Lab};

/// I/Os in flight at most: what a database keeps waiting before its users notice.
pub(super) const DEPTH: u32 = 256;
/// I/Os that a 99th percentile is judged by, with certainty.
const IOS: f64 = 2600.0;
/// A histogram knows its values to within one percent.
const RESOLUTION: (u64, u64) = (101, 100);
/// A rate that did not last is followed by this share of the rate that was left.
const LEFT: f64 = 0.97;
/// How often a load that does not last is offered again.
const HOLDS: usize = 4;

/// An I/O is frozen if it takes this many times the acceptable latency, and this many times the
/// usual one.
const FREEZE_TIMES: f64 = 10.0;
/// Freezes that are not chance, and the share of the time from which they matter.
const FREEZES: f64 = 2.0;
const LEAST_FROZEN: f64 = 0.001;
/// A load that froze all the time counts as frozen for this share of it: almost every I/O is late.
const MOST_FROZEN: f64 = 0.999;

/// How long, how close and how often.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Offering {
    /// The shortest window, and the longest where I/Os are few.
    pub(super) seconds: (f64, f64),
    /// For how long the load that fits is offered at last.
    pub(super) hold_seconds: f64,
    /// Seconds of warm-up and of settling for each measurement.
    pub(super) warmup_settle_seconds: (f64, f64),
    /// The search ends at this ratio, or after so many windows.
    pub(super) close: f64,
    pub(super) at_most: usize,
}

impl Offering {
    /// Windows of a whole search, at most.
    pub(super) fn steps(&self) -> usize {
        self.at_most + 1 + HOLDS
    }

    fn timing(&self, seconds: f64) -> lab::Timing {
        let (warmup_seconds, settle_seconds) = self.warmup_settle_seconds;
        // The rate sets the pace, so no precision could end a window.
        lab::Timing { seconds, warmup_seconds, precision: None, settle_seconds }
    }
}

/// A search for the largest load that stays within the limits.
pub(super) struct Offer<'l, 'a> {
    pub(super) lab: &'l mut Lab<'a>,
    pub(super) offering: Offering,
    pub(super) limits: &'l Limits,
    pub(super) load: &'l Load,
    pub(super) tool_ceiling_iops: Option<f64>,
}

impl Offer<'_, '_> {
    /// Searches from a load that the storage is known to carry in a closed loop.
    pub(super) fn find(mut self, first: f64) -> OfferedLoad {
        let Offering { close, at_most, seconds: (least, most), .. } = self.offering;
        let search = LoadSearch { first, close, at_most };
        let mut found = OfferedLoad {
            name: self.load.name.clone(),
            title: self.load.title.clone(),
            points: Vec::new(),
            burst_iops: None,
            held_seconds: None,
        };
        let mut trials = Vec::new();
        while let Some(iops) = search.next(self.limits, &trials) {
            let seconds = (IOS / self.read_share() / iops).clamp(least, most);
            let Some(measurement) = self.measure(iops, seconds) else { break };
            trials.push(trial(&self.load.title, &measurement, self.limits));
            found.points.push(measurement);
        }
        self.lab.expect_fewer(at_most.saturating_sub(trials.len()));
        let fitting = trials.iter().filter(|t| self.fits(t).is_yes()).map(Trial::load);
        if let Some(iops) = fitting.reduce(f64::max) {
            self.hold(iops, &mut found);
        }
        found.points.sort_by(|a, b| offered(a).total_cmp(&offered(b)));
        found
    }

    /// Offers a load for long; where it does not last, what does.
    fn hold(&mut self, fitting: f64, found: &mut OfferedLoad) {
        let mut iops = fitting;
        for number in 0..=HOLDS {
            let Some(held) = self.measure(iops, self.offering.hold_seconds) else { return };
            let trial = trial(&self.load.title, &held, self.limits);
            found.points.push(held);
            if self.fits(&trial).is_yes() {
                found.held_seconds = Some(trial.seconds);
                self.lab.expect_fewer(HOLDS - number);
                return;
            }
            if trial.is_carried() {
                // Longer windows see more: a little less may do.
                iops /= self.offering.close;
            } else {
                found.burst_iops = Some(fitting);
                iops = LEFT * trial.per_second;
            }
        }
    }

    fn fits(&self, trial: &Trial) -> Fit {
        trial.fits(self.limits, Level::Acceptable)
    }

    fn read_share(&self) -> f64 {
        (1.0 - f64::from(self.load.stream.write_percent) / 100.0).max(0.1)
    }

    fn measure(&mut self, iops: f64, seconds: f64) -> Option<Measurement> {
        if self.lab.is_over() {
            return None;
        }
        let shown = workload::show_number(iops);
        self.lab.begin(&format!("{}, {shown} IOPS offered", self.load.title));
        let rate = Rate { limit: RateLimit::Iops(iops), arrival: Arrival::Poisson };
        let stream = Stream { depth: DEPTH, rate: Some(rate), ..self.load.stream.clone() };
        let mut measurement = self.lab.measure_for(vec![stream], self.offering.timing(seconds))?;
        measurement.checks.tool_ceiling_iops = self.tool_ceiling_iops;
        self.lab.keep(&measurement);
        (measurement.status == Status::Complete).then_some(measurement)
    }
}

/// The points that count: all, or the longest where shorter ones lived on credits or saw no stall.
pub(super) fn lasting(found: &OfferedLoad) -> impl Iterator<Item = &Measurement> {
    let longest = found.points.iter().map(|m| m.seconds).fold(0.0, f64::max);
    let lasted = found.held_seconds.is_some() && found.burst_iops.is_none();
    let least = if lasted { 0.0 } else { 0.8 * longest };
    found.points.iter().filter(move |m| m.seconds >= least)
}

/// The rate that was offered; `None` for a closed loop.
fn offered(measurement: &Measurement) -> f64 {
    match measurement.workload.streams.first().and_then(|s| s.rate).map(|rate| rate.limit) {
        Some(RateLimit::Iops(iops)) => iops,
        _ => 0.0,
    }
}

/// A measurement of an open loop as a trial: its reads are judged, and its rate at the end counts
/// if that is lower than the average.
pub(super) fn trial(title: &str, measurement: &Measurement, limits: &Limits) -> Trial {
    let judged = if measurement.read.ios > 0 { &measurement.read } else { &measurement.total };
    let trial = closed(title, measurement, judged, measurement.total.iops, limits);
    let offered = Some(offered(measurement)).filter(|iops| *iops > 0.0);
    let trial = Trial { offered, ..trial };
    if trial.is_carried() {
        return trial;
    }
    Trial { per_second: trial.per_second.min(at_the_end(measurement)), ..trial }
}

/// A measurement of a closed loop as a trial of a role. The load froze as `known`, which a shorter
/// measurement need not show.
pub(super) fn of_role(
    title: &str,
    measurement: &Measurement,
    limits: &Limits,
    commits: f64,
    known: Option<Frozen>,
) -> Trial {
    let total = &measurement.total;
    let per_second = match limits.role {
        Role::Log => total.iops * commits,
        Role::OltpData => total.iops,
        Role::DssData | Role::Compaction => total.mib_per_s,
    };
    let trial = closed(title, measurement, total, per_second, limits);
    let frozen = Frozen::of(total, measurement.in_flight as f64, measurement.seconds, limits);
    with_freezes(trial, [frozen, known])
}

/// Commits that were made next to another load.
pub(super) fn beside(
    title: &str,
    measurement: &Measurement,
    limits: &Limits,
    commits: f64,
    known: Option<Frozen>,
) -> Option<Trial> {
    let stream = measurement.streams.first()?;
    let total = &stream.total;
    let trial = closed(title, measurement, total, total.iops * commits, limits);
    let in_flight = stream.threads as f64 * f64::from(stream.depth);
    let frozen = Frozen::of(total, in_flight, measurement.seconds, limits);
    // The interval is of both loads together.
    Some(Trial { half_width_percent: None, ..with_freezes(trial, [frozen, known]) })
}

/// Times in which nothing was done, though something was in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Frozen {
    /// How often the load froze: frozen I/Os divided by the I/Os in flight.
    pub(super) events: f64,
    /// The share of the window in which it was frozen.
    pub(super) share: f64,
    /// The longest latency of any I/O, in nanoseconds.
    pub(super) longest_ns: u64,
}

impl Frozen {
    /// Freezes of a load. An I/O is frozen if it takes this many times the acceptable and the usual
    /// latency; I/Os in flight at the same time are one freeze. `None` without a freeze.
    pub(super) fn of(
        judged: &Statistics,
        in_flight: f64,
        seconds: f64,
        limits: &Limits,
    ) -> Option<Self> {
        let histogram = Histogram::decode(judged.histogram.as_deref()?).ok()?;
        let usual_ns = judged.latency_ns?.p50? as f64;
        let edge = FREEZE_TIMES * usual_ns.max(limits.acceptable_ns as f64);
        let late = histogram.buckets().filter(|(ns, _)| *ns as f64 > edge);
        let (ios, ns) =
            late.fold((0.0, 0.0), |(ios, ns), (v, n)| (ios + n as f64, ns + v as f64 * n as f64));
        (ios > 0.0 && in_flight > 0.0 && seconds > 0.0).then(|| Self {
            events: ios / in_flight,
            share: (ns / in_flight / 1e9 / seconds).min(1.0),
            longest_ns: judged.latency_ns.and_then(|latency| latency.max).unwrap_or(0),
        })
    }

    /// One freeze may be the host's.
    pub(super) fn is_no_chance(&self) -> bool {
        self.events >= FREEZES && self.share >= LEAST_FROZEN
    }
}

/// In a closed loop, a freeze holds up no more than the I/Os in flight, so percentiles hide it. In
/// an open loop of the same rate, everything that is due in a freeze is late. A single one may be
/// chance.
fn with_freezes(trial: Trial, frozen: [Option<Frozen>; 2]) -> Trial {
    let shares = frozen.into_iter().flatten().filter(Frozen::is_no_chance).map(|f| f.share);
    let share = shares.fold(0.0, f64::max).min(MOST_FROZEN);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the I/Os")]
    let hidden = (trial.ios as f64 * share / (1.0 - share)).round() as u64;
    Trial {
        ios: trial.ios + hidden,
        beyond: trial.beyond.map(|late| late + hidden),
        far_beyond: trial.far_beyond + hidden,
        ..trial
    }
}

fn closed(
    title: &str,
    measurement: &Measurement,
    judged: &Statistics,
    per_second: f64,
    limits: &Limits,
) -> Trial {
    let histogram = judged.histogram.as_deref().and_then(|text| Histogram::decode(text).ok());
    // Without a histogram nothing is known of the share beyond a limit; a mean can still be judged.
    let known = histogram.is_some() || limits.statistic == Statistic::Mean;
    let beyond = |ns: u64| {
        let edge = ns.saturating_mul(RESOLUTION.0) / RESOLUTION.1;
        histogram.as_ref().map_or(0, |h| h.count_above(edge))
    };
    let far = limits.acceptable_ns.saturating_mul(limits.tail_factor.into());
    let latency = judged.latency_ns.unwrap_or_default();
    Trial {
        label: title.to_owned(),
        offered: None,
        per_second,
        mean_ns: latency.mean,
        p99_ns: latency.p99.map(|ns| ns as f64),
        p99_9_ns: latency.p99_9.map(|ns| ns as f64),
        ios: if known { judged.ios } else { 0 },
        beyond: Level::ALL.map(|level| beyond(limits.at(level))),
        far_beyond: beyond(far),
        half_width_percent: measurement.steady.as_ref().and_then(|s| s.half_width_percent),
        seconds: measurement.seconds,
    }
}

/// I/Os each second in the last third of the window.
fn at_the_end(measurement: &Measurement) -> f64 {
    let from = 2.0 / 3.0 * measurement.seconds;
    let (mut ios, mut seconds) = (0.0, 0.0);
    for point in measurement.series.iter().filter(|point| point.t > from) {
        ios += (point.read_iops + point.write_iops) * point.seconds;
        seconds += point.seconds;
    }
    if seconds > 0.0 { ios / seconds } else { measurement.total.iops }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A load that is frozen from one end of the window to the other is not one without freezes.
    #[test]
    fn a_load_that_froze_all_the_time_is_late() {
        let late = |share| {
            let trial = Trial {
                label: String::new(),
                offered: None,
                per_second: 100.0,
                mean_ns: 1.0,
                p99_ns: None,
                p99_9_ns: None,
                ios: 100,
                beyond: Level::ALL.map(|_| 0),
                far_beyond: 0,
                half_width_percent: None,
                seconds: 1.0,
            };
            let frozen = Frozen { events: 4.0, share, longest_ns: 1 };
            let trial = with_freezes(trial, [Some(frozen), None]);
            trial.far_beyond as f64 / trial.ios as f64
        };
        assert!((late(0.5) - 0.5).abs() < 1e-9);
        assert!(late(1.0) > 0.99);
    }
}
