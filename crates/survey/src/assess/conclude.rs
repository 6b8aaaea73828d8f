//! The conclusion of an assessment, from its measurements.

use analysis::alignment::{self, Alignment};
use analysis::honesty::{self, Honesty};
use analysis::levels::{self, LevelChange};
use analysis::verdict::Extent;
use results::{Environment, HostMeasurement, Measurement, PatternResult, Ramp, Repeats, Status};
use workload::{TargetFacts, show_number};

use super::plan::{Load, PLAIN_WRITE, SHIFTED};
use crate::{doubts, medium};

/// Loads that had another throughput when they were measured again.
#[derive(Default)]
pub(super) struct Changed {
    /// Each setting with its name. If a repetition had less throughput, that measurement counts.
    loads: Vec<(String, LevelChange, Option<Measurement>)>,
}

impl Changed {
    /// The same load at the same depth: in a ramp, as a pattern, and repeated at the end.
    pub(super) fn find(
        ramps: &[Ramp],
        patterns: &[PatternResult],
        repeats: Option<&Repeats>,
    ) -> Self {
        let change = |pattern: &PatternResult| {
            let ramp = ramps.iter().find(|r| r.name == pattern.name);
            let points = ramp.map_or(&[][..], |r| &r.points);
            let again = repeats.filter(|r| r.name == pattern.name);
            let again = again.map_or(&[][..], |r| &r.measurements);
            let all = points.iter().chain([&pattern.measurement]).chain(again);
            let runs: Vec<levels::Run> = all.filter(|m| is_complete(m)).map(run_of).collect();
            let change = levels::change(&pattern.title, &runs)?;
            let last = again.last().filter(|m| is_complete(m) && change.fell());
            Some((pattern.name.clone(), change, last.cloned()))
        };
        Self { loads: patterns.iter().filter_map(change).collect() }
    }

    /// The change of a load's throughput, if it changed.
    pub(super) fn of(&self, name: &str) -> Option<&LevelChange> {
        self.loads.iter().find(|(load, ..)| load == name).map(|(_, change, _)| change)
    }

    /// The measurement of a load that counts instead of the first, because less was left.
    pub(super) fn sustained(&self, name: &str) -> Option<&Measurement> {
        self.loads.iter().find(|(load, ..)| load == name)?.2.as_ref()
    }

    /// Whether a measurement of a load was made before its throughput fell.
    pub(super) fn is_past(&self, name: &str, measurement: &Measurement) -> bool {
        let fell = self.of(name).filter(|change| change.fell());
        fell.is_some_and(|c| measurement.total.iops >= levels::FACTOR * c.last_iops)
    }

    /// All changes, in the order of the loads.
    pub(super) fn all(&self) -> impl Iterator<Item = &LevelChange> {
        self.loads.iter().map(|(_, change, _)| change)
    }
}

/// A host below this share of what the hosts did on average is worth a word.
const UNEVEN: f64 = 0.7;

/// Hosts that did much less than the others, each once, with the loads in which it was the slowest:
/// the sum does not show them.
pub(super) fn uneven<'a>(patterns: impl IntoIterator<Item = &'a PatternResult>) -> Vec<String> {
    let mut slow: Vec<(&str, Vec<String>)> = Vec::new();
    for pattern in patterns {
        let hosts = &pattern.measurement.hosts;
        let iops = |host: &HostMeasurement| host.measurement.total.iops;
        let Some(least) = hosts.iter().min_by(|a, b| iops(a).total_cmp(&iops(b))) else { continue };
        let mean = hosts.iter().map(iops).sum::<f64>() / hosts.len() as f64;
        if iops(least) >= UNEVEN * mean {
            continue;
        }
        let (own, mean) = (show_number(iops(least)), show_number(mean));
        let load = format!("{}: {own} IOPS, average {mean}", pattern.title);
        match slow.iter_mut().find(|(name, _)| *name == least.name) {
            Some((_, loads)) => loads.push(load),
            None => slow.push((&least.name, vec![load])),
        }
    }
    let word = |(name, loads): (&str, Vec<String>)| {
        format!(
            "The host `{name}` did much less than the hosts did on average. What is judged is \
             their sum, which hides that. {}",
            loads.join("; ")
        )
    };
    slow.into_iter().map(word).collect()
}

/// What every target has: the bytes of the smallest, and the coarsest boundaries.
pub(super) fn smallest(facts: &[TargetFacts]) -> TargetFacts {
    TargetFacts {
        size_bytes: facts.iter().map(|f| f.size_bytes).min().unwrap_or(0),
        direct_align_bytes: facts.iter().map(|f| f.direct_align_bytes).max().unwrap_or(1),
    }
}

pub(super) fn is_complete(measurement: &Measurement) -> bool {
    measurement.status == Status::Complete && measurement.errors.is_empty()
}

fn run_of(measurement: &Measurement) -> levels::Run {
    levels::Run {
        in_flight: measurement.in_flight,
        iops: measurement.total.iops,
        half_width_percent: measurement.steady.as_ref().and_then(|s| s.half_width_percent),
    }
}

/// Why durable writes are not believed, and the loads whose throughput changed.
pub(super) fn doubts(honesty: Option<&Honesty>, changed: &Changed) -> Vec<String> {
    let disbelief = honesty.and_then(Honesty::disbelief).map(str::to_owned);
    disbelief.into_iter().chain(changed.all().map(|change| change.statement.clone())).collect()
}

/// What the time of the measurements that are judged cannot show.
pub(super) fn unseen(patterns: &[PatternResult]) -> Option<String> {
    let complete = patterns.iter().map(|p| &p.measurement).filter(|m| is_complete(m));
    let extent = Extent::of_windows(complete.map(|m| (m.seconds, m.write.bytes)));
    extent.map(|extent| extent.unseen())
}

/// Whether durable writes can be where they claim to be: the log next to the same writes without
/// durability.
pub(super) fn honesty(
    loads: &[Load],
    patterns: &[PatternResult],
    ramps: &[Ramp],
    environment: &Environment,
) -> Option<Honesty> {
    let plain = loads.iter().find(|l| l.name.starts_with(PLAIN_WRITE))?;
    let block = plain.stream.largest_block();
    let log = loads.iter().find(|l| l.stream.durable && l.stream.largest_block() == block)?;
    let mean = |load: &Load| {
        let pattern = complete(patterns, &load.name)?;
        Some(pattern.measurement.total.latency_ns?.mean)
    };
    // The first point of the first ramp reads single blocks at random places.
    let first = ramps.first().and_then(|r| r.points.first());
    // Each of several hosts has one in flight then, as each has one log.
    let alone = first.filter(|m| m.depth == Some(1) && m.status == Status::Complete);
    honesty::judge(&honesty::Evidence {
        durable_ns: mean(log)?,
        plain_ns: mean(plain),
        read_ns: alone.and_then(|m| m.read.latency_ns).map(|l| l.mean),
        rotational: medium::rotational(environment),
        write_back: medium::write_back(environment),
        has_flash: medium::has_flash(environment),
    })
}

/// What I/O off the boundaries costs.
pub(super) fn alignment(loads: &[Load], patterns: &[PatternResult]) -> Option<Alignment> {
    let load = loads.iter().find(|l| l.name.ends_with(SHIFTED))?;
    let aligned = loads.iter().find(|l| Some(&l.name) == load.like.as_ref())?;
    let run = |load: &Load| {
        let measurement = &complete(patterns, &load.name)?.measurement;
        let half_width_percent = measurement.steady.as_ref().and_then(|s| s.half_width_percent);
        Some(alignment::Run { iops: measurement.total.iops, half_width_percent })
    };
    let shift = load.stream.offset_bytes.0 - aligned.stream.offset_bytes.0;
    alignment::compare(&aligned.title, shift, &run(aligned)?, &run(load)?)
}

/// A pattern that was measured to its end without an error.
fn complete<'a>(patterns: &'a [PatternResult], name: &str) -> Option<&'a PatternResult> {
    patterns.iter().find(|p| p.name == name).filter(|p| is_complete(&p.measurement))
}

/// The measured depth at which a ramp gives nearly all it can.
pub(super) fn operating_depth(ramp: &Ramp) -> Option<u32> {
    let index = ramp.knee.as_ref()?.operating_point.index;
    ramp.points.get(index)?.depth
}

/// The largest IOPS of any measurement.
pub(super) fn largest_iops(ramps: &[Ramp], patterns: &[PatternResult]) -> f64 {
    all(ramps, patterns).map(|(_, m)| m.total.iops).fold(0.0, f64::max)
}

fn all<'a>(
    ramps: &'a [Ramp],
    patterns: &'a [PatternResult],
) -> impl Iterator<Item = (&'a str, &'a Measurement)> {
    let of_ramps = ramps.iter().flat_map(|r| r.points.iter().map(|m| (r.title.as_str(), m)));
    of_ramps.chain(patterns.iter().map(|p| (p.title.as_str(), &p.measurement)))
}

/// Every reason to doubt a figure, each once, with the loads it came up in.
pub(super) fn warnings(
    ramps: &[Ramp],
    patterns: &[PatternResult],
    size: Option<&str>,
) -> Vec<String> {
    let doubts = doubts::each_once(all(ramps, patterns));
    size.map(str::to_owned).into_iter().chain(doubts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_the_sum_hides_is_named() {
        let pattern = |iops: &[f64]| {
            let mut pattern = PatternResult {
                name: "oltp".to_owned(),
                title: "8 KiB random read".to_owned(),
                operation: String::new(),
                measurement: testing::measurement("1", workload::Workload::default()),
            };
            let own = |(at, iops): (usize, &f64)| {
                let mut measurement = testing::measurement("1", workload::Workload::default());
                measurement.total.iops = *iops;
                let name = format!("h{at}");
                HostMeasurement { name, late_ns: None, from_s: 0.0, measurement }
            };
            pattern.measurement.hosts = iops.iter().enumerate().map(own).collect();
            pattern
        };
        assert!(uneven(&[pattern(&[]), pattern(&[100.0, 90.0, 80.0])]).is_empty());
        let slow = pattern(&[100.0, 20.0, 120.0]);
        let found = uneven(&[slow.clone(), pattern(&[1.0, 1.0, 1.0]), slow]);
        let words = "The host `h1` did much less than the hosts did on average.";
        assert!(found.len() == 1 && found[0].starts_with(words), "{found:?}");
        let load = "8 KiB random read: 20 IOPS, average 80";
        assert!(found[0].ends_with(&format!("{load}; {load}")), "{found:?}");
    }
}
