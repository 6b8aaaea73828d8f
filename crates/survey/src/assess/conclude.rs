//! What follows from the measurements.

use analysis::verdict::{Evidence, Limits, Verdict, judge};
use results::{Measurement, PatternResult, Ramp, Status};

use super::plan::Load;
use crate::doubts;

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
