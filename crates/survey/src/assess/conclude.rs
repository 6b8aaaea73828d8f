//! What follows from the measurements.

use analysis::alignment::{self, Alignment};
use analysis::honesty::{self, Honesty};
use analysis::verdict::{Evidence, Limits, Verdict, judge};
use results::{Environment, Measurement, PatternResult, Ramp, Status};

use super::plan::{Load, PLAIN_WRITE};
use crate::{doubts, medium};

/// One verdict for each role, from the patterns that were measured.
///
/// A role is judged only when every load that speaks for it was measured to its end without an error: the missing one
/// might have been the slow one.
pub(super) fn verdicts(
    limits: &[Limits],
    loads: &[Load],
    patterns: &[PatternResult],
) -> Vec<Verdict> {
    limits.iter().map(|limits| verdict(limits, loads, patterns)).collect()
}

fn verdict(limits: &Limits, loads: &[Load], patterns: &[PatternResult]) -> Verdict {
    let (mut evidence, mut missing) = (Vec::new(), Vec::new());
    for load in loads.iter().filter(|l| l.role == Some(limits.role)) {
        let pattern = patterns.iter().find(|p| p.name == load.name);
        let failed = pattern.is_some_and(|p| !p.measurement.errors.is_empty());
        let complete = |p: &&PatternResult| p.measurement.status == Status::Complete && !failed;
        match pattern.filter(complete).and_then(evidence_of) {
            Some(one) => evidence.push(one),
            None if failed => missing.push(format!("{} failed with I/O errors", load.title)),
            None => missing.push(format!("{} was not measured", load.title)),
        }
    }
    if missing.is_empty() {
        return judge(limits, &evidence);
    }
    let mut verdict = judge(limits, &[]);
    let title = limits.role.title();
    verdict.headline = format!("{title}: {}. {}.", verdict.grade.word(), missing.join("; "));
    verdict
}

fn evidence_of(pattern: &PatternResult) -> Option<Evidence> {
    let measurement = &pattern.measurement;
    let latency = measurement.total.latency_ns?;
    Some(Evidence {
        label: pattern.title.clone(),
        mean_ns: latency.mean,
        p99_ns: latency.p99.map(|ns| ns as f64),
        iops: measurement.total.iops,
        mib_per_s: measurement.total.mib_per_s,
        in_flight: measurement.in_flight as f64,
        file_bytes: measurement.file_bytes,
        seconds: measurement.seconds,
    })
}

/// Whether durable writes can be where they claim to be: the log beside the same writes without durability.
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
    let alone = first.filter(|m| m.in_flight == 1 && m.status == Status::Complete);
    honesty::judge(&honesty::Evidence {
        durable_ns: mean(log)?,
        plain_ns: mean(plain),
        read_ns: alone.and_then(|m| m.read.latency_ns).map(|l| l.mean),
        rotational: medium::rotational(environment),
        write_back: medium::write_back(environment),
    })
}

/// What I/O off the boundaries costs.
pub(super) fn alignment(loads: &[Load], patterns: &[PatternResult]) -> Option<Alignment> {
    let load = loads.iter().find(|l| l.like.is_some())?;
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
    let complete = |p: &&PatternResult| {
        p.measurement.status == Status::Complete && p.measurement.errors.is_empty()
    };
    patterns.iter().find(|p| p.name == name).filter(complete)
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
