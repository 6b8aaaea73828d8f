//! The measurements of an assessment, one after the other.

use analysis::cause::Link;
use analysis::claims::Claim;
use analysis::knee::{Knee, LoadPoint, Search, find_knee};
use analysis::noise;
use analysis::verdict::Limits;
use results::verdict::{Database, Role};
use results::{
    BesideLoad, Measurement, MixedLoads, OfferedLoad, PatternResult, Ramp, Repeats, Status,
};
use workload::{Bytes, Stream, show_number};

use super::offer::Offer;
use super::plan::{self, Load, Timing};
use super::{AssessOptions, beside, claims, conclude, judge};
use crate::Publish;
use crate::knee::conclude::{Beside, causes_of};
use crate::knee::load_point;
use crate::lab::{self, Lab};

/// Everything that was measured, however it ended.
#[derive(Default)]
pub(super) struct Results {
    pub(super) ramps: Vec<Ramp>,
    pub(super) patterns: Vec<PatternResult>,
    pub(super) offered: Vec<OfferedLoad>,
    pub(super) beside: Vec<BesideLoad>,
    pub(super) mixed: Option<MixedLoads>,
    pub(super) repeats: Option<Repeats>,
    pub(super) tool_ceiling_iops: Option<f64>,
    /// Loads that cannot be done on this storage, each with the reason.
    pub(super) left_out: Vec<String>,
}

impl Results {
    /// Every reason to doubt a figure, each once; that of the file's size first.
    pub(super) fn warnings(&self, size: Option<&str>) -> Vec<String> {
        let mut warnings = conclude::warnings(&self.ramps, &self.patterns, size);
        warnings.extend(self.offered.iter().filter_map(burst));
        let noisy = self.repeats.as_ref().filter(|repeats| repeats.trust.noisy);
        warnings.extend(noisy.map(|r| format!("{}: {}", r.title, r.trust.explanation)));
        warnings.extend(self.left_out.iter().cloned());
        warnings
    }
}

/// A load that fitted at first and did not last: shorter measurements show credits or a cache.
fn burst(offered: &OfferedLoad) -> Option<String> {
    let burst = show_number(offered.burst_iops?);
    let longest = offered.points.iter().map(|m| m.seconds).fold(0.0, f64::max);
    let long = offered.points.iter().filter(|m| m.seconds >= 0.9 * longest);
    let lasting = long.min_by(|a, b| a.total.iops.total_cmp(&b.total.iops))?;
    Some(format!(
        "{}: {burst} IOPS did not last; over {} s, the storage did {} IOPS. Shorter measurements \
         show credits or a cache.",
        offered.title,
        show_number(lasting.seconds),
        show_number(lasting.total.iops)
    ))
}

/// An assessment while it measures.
pub(super) struct Session<'a, 'l> {
    pub(super) lab: &'l mut Lab<'a>,
    pub(super) timing: Timing,
    /// The path to the storage, where it is known.
    link: Option<Link>,
    pub(super) options: &'l AssessOptions,
    pub(super) found: Results,
}

impl<'a, 'l> Session<'a, 'l> {
    pub(super) fn new(lab: &'l mut Lab<'a>, timing: &Timing, options: &'l AssessOptions) -> Self {
        let link = options.link.clone().map(Publish::from_published);
        Self { lab, timing: *timing, link, options, found: Results::default() }
    }

    /// Measures ramps and patterns, reads first: writes leave caches full.
    ///
    /// If something goes wrong, everything that was measured until then is kept, and the lab knows
    /// the reason.
    pub(super) fn measure_all(mut self, loads: &[Load]) -> Results {
        self.lab.expect_steps(steps(self.options.database, loads, &self.timing));
        self.found.tool_ceiling_iops = self.lab.tool_ceiling();
        for load in loads {
            self.load(load);
        }
        self.claimed(loads, &self.options.claims);
        for load in loads.iter().filter(|load| load.offered) {
            let limits = self.options.limits.iter().find(|limits| Some(limits.role) == load.role);
            if let Some(limits) = limits.cloned().map(Limits::from_published) {
                self.offer(load, &limits);
            }
        }
        self.sides(loads);
        self.repeat(loads);
        self.found
    }

    /// How much of a load fits within the limits of its role.
    fn offer(&mut self, load: &Load, limits: &Limits) {
        let pattern = self.found.patterns.iter().find(|p| p.name == load.name);
        let whole = pattern.filter(|p| conclude::is_complete(&p.measurement));
        let Some(first) = whole.map(|p| p.measurement.total.iops) else { return };
        let offer = Offer {
            lab: &mut *self.lab,
            offering: self.timing.offering,
            limits,
            load,
            tool_ceiling_iops: self.found.tool_ceiling_iops,
        };
        let found = offer.find(first);
        self.found.offered.push(found);
    }

    /// Loads at the depths that claims name, as far as they were not measured yet.
    fn claimed(&mut self, loads: &[Load], claims: &[Claim]) {
        let targets = self.lab.facts().len() as u64;
        let (ramps, patterns) = (&self.found.ramps, &self.found.patterns);
        let wanted = claims::wanted(claims, loads, targets, ramps, patterns);
        let wanted: Vec<(Load, u32)> = wanted.into_iter().map(|(l, d)| (l.clone(), d)).collect();
        for (load, depth) in wanted {
            if self.lab.is_over() {
                return;
            }
            let stream = Stream { depth, ..load.stream };
            // What no thread can have in flight stays unmeasured, and the claim says so.
            if self.lab.unfit(std::slice::from_ref(&stream)).is_some() {
                continue;
            }
            self.lab.begin(&format!("{}, depth {depth}, as is claimed", load.title));
            if let Some(measurement) = self.measure(stream, self.timing.pattern) {
                let name = format!("{}_at_{depth}", load.name);
                let operation = "what is claimed at this depth".to_owned();
                self.found.patterns.push(PatternResult {
                    name,
                    title: load.title,
                    operation,
                    measurement,
                });
            }
        }
    }

    /// The first pattern again, when everything else has been done: what varies from run to run is
    /// not seen within one.
    fn repeat(&mut self, loads: &[Load]) {
        let Some(load) = loads.first() else { return };
        let patterns = &self.found.patterns;
        let Some(first) = patterns.iter().find(|p| p.name == load.name) else { return };
        let depth = first.measurement.depth.unwrap_or(load.stream.depth);
        let mut runs = vec![first.measurement.total.iops];
        let mut foreign: Vec<f64> = foreign_percent(&first.measurement).into_iter().collect();
        let mut measurements = Vec::new();
        for number in 1..=self.timing.repeats {
            if self.lab.is_over() {
                break;
            }
            self.lab.begin(&format!("{}, repetition {number}", load.title));
            let stream = Stream { depth, ..load.stream.clone() };
            let Some(measurement) = self.measure(stream, self.timing.pattern) else { break };
            runs.push(measurement.total.iops);
            foreign.extend(foreign_percent(&measurement));
            measurements.push(measurement);
        }
        if !measurements.is_empty() {
            let trust = noise::trust(&runs, foreign.into_iter().reduce(f64::max)).publish();
            let (name, title) = (load.name.clone(), load.title.clone());
            self.found.repeats = Some(Repeats { name, title, trust, measurements });
        }
    }

    /// One load: its ramp, if it has one, and its pattern at the depth to judge.
    fn load(&mut self, load: &Load) {
        if self.lab.is_over() {
            return;
        }
        // The user's sizes may not suit the storage.
        if load.is_named
            && let Some(reason) = self.lab.unfit(std::slice::from_ref(&load.stream))
        {
            self.found.left_out.push(format!("{} was left out: {reason}", load.title));
            return;
        }
        let mut depth = self.depth_like(load).unwrap_or(load.stream.depth);
        let mut beside = None;
        if load.ramp {
            let (ramp, larger) = self.ramp(load);
            depth = conclude::operating_depth(&ramp).unwrap_or(depth);
            self.found.ramps.push(ramp);
            beside = larger;
        }
        self.pattern(load, depth, load.name.clone());
        // After the load itself: a report shows the first of each kind.
        self.found.patterns.extend(beside);
        if depth > 1 && !load.ramp && self.is_late(load) {
            self.pattern(load, 1, judge::at_one(&load.name));
        }
    }

    /// Measures a load at one depth.
    fn pattern(&mut self, load: &Load, depth: u32, name: String) {
        if self.lab.is_over() {
            return;
        }
        self.lab.begin(&format!("{}, depth {depth}", load.title));
        let stream = Stream { depth, ..load.stream.clone() };
        if let Some(measurement) = self.measure(stream, self.timing.pattern) {
            let Load { title, operation, .. } = load.clone();
            self.found.patterns.push(PatternResult { name, title, operation, measurement });
        }
    }

    /// Whether a stream took longer than is acceptable, though one with fewer in flight might not.
    fn is_late(&self, load: &Load) -> bool {
        let limits = self.options.limits.iter().find(|limits| Some(limits.role) == load.role);
        let limits = limits.filter(|l| matches!(l.role, Role::DssData | Role::Compaction));
        let pattern = self.found.patterns.last().filter(|p| p.name == load.name);
        let latency = pattern.and_then(|p| p.measurement.total.latency_ns);
        limits.zip(latency).is_some_and(|(l, latency)| latency.mean > l.acceptable_ns as f64)
    }

    /// The depth at which the load was measured that this one is to be compared with.
    fn depth_like(&self, load: &Load) -> Option<u32> {
        let like = load.like.as_ref()?;
        self.found.patterns.iter().find(|p| p.name == *like)?.measurement.depth
    }

    /// The same load at the depths that the search for its saturation point asks for, and the one
    /// with larger blocks that was measured to find the cause.
    ///
    /// An error leaves the points before it in the result.
    fn ramp(&mut self, load: &Load) -> (Ramp, Option<PatternResult>) {
        let search = Search::new(plan::RAMP_DEPTHS.0, plan::RAMP_DEPTHS.1);
        let mut cut_short = None;
        let (mut points, mut curve, mut by_depth) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(depth) = search.next(&by_depth) {
            self.lab.begin(&format!("{}, depth {depth}", load.title));
            let stream = Stream { depth, ..load.stream.clone() };
            let Some(measurement) = self.measure(stream, self.timing.ramp) else { break };
            if measurement.status != Status::Complete {
                cut_short = Some(measurement);
                break;
            }
            let point = load_point(&measurement);
            // The search asks for a depth. Each of several targets has it, so more is in flight.
            by_depth.push(LoadPoint { in_flight: f64::from(depth), ..point });
            curve.push(point);
            points.push(measurement);
        }
        // Depths that were not needed are not steps any more.
        self.lab.expect_fewer(search.at_most().saturating_sub(points.len()));
        points.sort_by_key(|m| m.in_flight);
        curve.sort_by(|a, b| a.in_flight.total_cmp(&b.in_flight));
        let (name, title) = (load.name.clone(), load.title.clone());
        let knee = find_knee(&curve);
        let larger = knee.as_ref().and_then(|knee| self.larger_block(load, knee));
        let (link, ceiling) = (self.link.as_ref(), self.found.tool_ceiling_iops);
        let causes = knee.as_ref().map(|knee| {
            let complete = larger.as_ref().map(|p| &p.measurement);
            let larger = complete.filter(|m| conclude::is_complete(m));
            causes_of(&points, knee, Beside { link, ceiling, larger }, self.lab)
        });
        // It is shown, but does not count for the curve.
        points.extend(cut_short);
        let causes = causes.unwrap_or_default().publish();
        (Ramp { name, title, knee: knee.publish(), causes, points }, larger)
    }

    /// The first load that saturates, with larger blocks and as many in flight: as many bytes a
    /// second tell a path from a limit of I/Os, which gives as many I/Os.
    fn larger_block(&mut self, load: &Load, knee: &Knee) -> Option<PatternResult> {
        let first = self.found.ramps.is_empty() && !load.is_named;
        if !first || !knee.reached.shows_a_limit() || self.lab.is_over() {
            return None;
        }
        // The curve is that of all targets, and each of them has the depth.
        let targets = self.lab.facts().len().max(1) as f64;
        let stream = plan::larger(&load.stream, knee.operating_load / targets)?;
        if self.lab.unfit(std::slice::from_ref(&stream)).is_some() {
            return None;
        }
        let size = Bytes(stream.largest_block());
        self.lab.begin(&format!("{}, with blocks of {size}", load.title));
        let name = stream.name.clone();
        let measurement = self.measure(stream, self.timing.pattern)?;
        Some(PatternResult {
            name,
            title: format!("{}, with blocks of {size}", load.title),
            operation: "what larger blocks show about the limit".to_owned(),
            measurement,
        })
    }

    /// One measurement; `None` if it failed, or was ended before its window began.
    fn measure(&mut self, stream: Stream, timing: lab::Timing) -> Option<Measurement> {
        self.measure_all_of(vec![stream], timing)
    }

    /// The same of several streams at once.
    pub(super) fn measure_all_of(
        &mut self,
        streams: Vec<Stream>,
        timing: lab::Timing,
    ) -> Option<Measurement> {
        let mut measurement = self.lab.measure_for(streams, timing)?;
        measurement.checks.tool_ceiling_iops = self.found.tool_ceiling_iops;
        self.lab.keep(&measurement);
        Some(measurement)
    }
}

/// Steps of a whole assessment, if every ramp goes to its deepest point.
fn steps(database: Database, loads: &[Load], timing: &Timing) -> usize {
    let ramps = loads.iter().filter(|l| l.ramp).count();
    let offered = loads.iter().filter(|l| l.offered).count() * timing.offering.steps();
    1 + loads.len()
        + timing.repeats
        + offered
        + ramps * Search::new(plan::RAMP_DEPTHS.0, plan::RAMP_DEPTHS.1).at_most()
        + beside::steps(database, loads, timing)
}

/// The share of the device's I/O that was not this measurement's.
fn foreign_percent(measurement: &Measurement) -> Option<f64> {
    measurement.kernel.as_ref()?.foreign_percent
}
