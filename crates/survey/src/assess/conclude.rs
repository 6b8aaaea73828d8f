//! What follows from the measurements.

use analysis::verdict::{Evidence, Limits, Role, Verdict, judge};
use results::{Measurement, PatternResult, Ramp};
use workload::show_number;

/// Which patterns speak for a role.
fn speaks_for(role: Role, pattern: &str) -> bool {
    match role {
        Role::Log => pattern.starts_with("log_write"),
        Role::OltpData => pattern.starts_with("random_"),
        Role::DssData => pattern.starts_with("sequential_read"),
    }
}

/// One verdict for each role, from the patterns that were measured.
pub(super) fn verdicts(limits: &[Limits], patterns: &[PatternResult]) -> Vec<Verdict> {
    let of = |limits: &Limits| {
        let mine = patterns.iter().filter(|p| speaks_for(limits.role, &p.name));
        let evidence: Vec<Evidence> = mine.filter_map(evidence).collect();
        judge(limits, &evidence)
    };
    limits.iter().map(of).collect()
}

fn evidence(pattern: &PatternResult) -> Option<Evidence> {
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
    let mut found: Vec<Found> = Vec::new();
    let mut measurements = 0;
    for (title, measurement) in all(ramps, patterns) {
        measurements += 1;
        for text in &measurement.checks.warnings {
            // Figures differ from one measurement to the next; what is said is the same.
            let kind = without_figures(text);
            match found.iter_mut().find(|f| f.kind == kind) {
                Some(f) => f.note(title),
                None => found.push(Found { kind, text, titles: vec![title], count: 1 }),
            }
        }
    }
    let shown = found.iter().map(|f| f.show(measurements));
    size.map(str::to_owned).into_iter().chain(shown).collect()
}

struct Found<'a> {
    kind: String,
    text: &'a str,
    titles: Vec<&'a str>,
    count: usize,
}

impl<'a> Found<'a> {
    fn note(&mut self, title: &'a str) {
        self.count += 1;
        if !self.titles.contains(&title) {
            self.titles.push(title);
        }
    }

    fn show(&self, measurements: usize) -> String {
        if self.count == measurements {
            return self.text.to_owned();
        }
        let titles = self.titles.join(", ");
        match self.count {
            1 => format!("{titles}: {}", self.text),
            n => format!("{titles} ({} measurements), first: {}", show_number(n as f64), self.text),
        }
    }
}

fn without_figures(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && !matches!(c, '.' | '-' | '−')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_warning_with_other_figures_is_one_warning() {
        let (a, b) =
            ("30.5 I/Os were in flight instead of 32", "61.2 I/Os were in flight instead of 64");
        assert_eq!(without_figures(a), without_figures(b));
    }
}
