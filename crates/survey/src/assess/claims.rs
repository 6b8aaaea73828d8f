//! Claims, held against what an assessment measured.

use analysis::claims::{self, Burst, Claim, Documented, Figure, JudgedClaim, Selector, Setting};
use results::verdict::Database;
use results::{Measurement, PatternResult, Ramp, Status};
use workload::{PatternKind, Stream, show_duration, show_number};

use super::conclude::Changed;
use super::plan::{self, Load};

/// Every load of an assessment, as a claim would find it.
pub(crate) fn named_loads(database: Database) -> Vec<Setting> {
    let loads = plan::loads(database, plan::ANY_SIZE, 512);
    loads.iter().map(|load| setting(&load.title, &load.stream, Vec::new())).collect()
}

/// What the claims ask for that the plan leaves out: a load at its own depth, which each of
/// `targets` has.
pub(super) fn wanted<'a>(
    claims: &'a [Claim],
    loads: &'a [Load],
    targets: u64,
    ramps: &'a [Ramp],
    patterns: &'a [PatternResult],
) -> Vec<(&'a Load, u32)> {
    let settings = settings(ramps, patterns, &Changed::default());
    let mut wanted: Vec<(&Load, u32)> = Vec::new();
    for claim in claims {
        let Some(in_flight) = claim.of.in_flight else { continue };
        // What cannot be shared equally stays unmeasured, and the claim says so.
        let shared = in_flight.checked_div(targets).filter(|d| d * targets == in_flight);
        let Some(depth) = shared.and_then(|d| u32::try_from(d).ok()) else { continue };
        if settings.iter().any(|s| claims::matches(&claim.of, s)) {
            continue;
        }
        let at = |load: &Load| {
            let stream = Stream { depth, ..load.stream.clone() };
            let setting = setting(&load.title, &stream, Vec::new());
            let in_flight = setting.in_flight * targets;
            claims::matches(&claim.of, &Setting { in_flight, ..setting })
        };
        for load in loads.iter().filter(|load| at(load)) {
            if !wanted.iter().any(|(other, d)| other.name == load.name && *d == depth) {
                wanted.push((load, depth));
            }
        }
    }
    wanted
}

/// Judges every claim by every setting that was measured to its end. For a load whose throughput
/// fell in the meantime, only the later level counts.
pub(super) fn judge(
    claims: &[Claim],
    ramps: &[Ramp],
    patterns: &[PatternResult],
    changed: &Changed,
) -> Vec<JudgedClaim> {
    let settings = settings(ramps, patterns, changed);
    let timeline = Timeline::of(ramps, patterns, changed);
    let judged = |claim: &Claim| {
        let mut judged = claims::judge(claim, &settings);
        if let Some(Documented { source, burst }) = &claim.documented {
            let burst = burst.map(|burst| format!(" {}.", timeline.burst(claim, &burst)));
            let burst = burst.unwrap_or_default();
            judged.sentence = format!("{}{burst} Source: {source}.", judged.sentence);
        }
        judged
    };
    claims.iter().map(judged).collect()
}

/// Every measurement in the order in which it was made, with the name of its load.
struct Timeline<'a> {
    made: Vec<(&'a str, &'a Measurement)>,
    changed: &'a Changed,
}

impl<'a> Timeline<'a> {
    fn of(ramps: &'a [Ramp], patterns: &'a [PatternResult], changed: &'a Changed) -> Self {
        let points = ramps.iter().flat_map(|r| r.points.iter().map(|m| (r.name.as_str(), m)));
        let first = patterns.iter().map(|p| (p.name.as_str(), &p.measurement));
        let left =
            patterns.iter().filter_map(|p| Some((p.name.as_str(), changed.sustained(&p.name)?)));
        let mut made: Vec<_> = points.chain(first).chain(left).collect();
        made.sort_by(|x, y| x.1.started.cmp(&y.1.started));
        Self { made, changed }
    }

    /// Whether the burst of a volume ended while it was measured, and after how much I/O.
    fn burst(&self, claim: &Claim, burst: &Burst) -> String {
        let (rate, lasts) = (show_number(burst.iops), show_duration(burst.seconds));
        let mut seconds = 0.0;
        let (mut last_fast, mut first_slow, mut fell) = (None, None, None);
        for (name, m) in &self.made {
            let begun = seconds;
            seconds += m.workload.warmup_seconds + m.seconds;
            let Some(change) = self.changed.of(name).filter(|change| change.fell()) else {
                continue;
            };
            let is_of = m.workload.streams.first().is_some_and(|stream| {
                let of = Selector { in_flight: None, ..claim.of.clone() };
                claims::matches(&of, &setting("", stream, Vec::new()))
            });
            if !is_of {
                continue;
            }
            fell = Some(change);
            if self.changed.is_past(name, m) {
                last_fast = Some(seconds);
            } else {
                first_slow = first_slow.or(Some(begun));
            }
        }
        match (fell, last_fast, first_slow) {
            (Some(change), Some(fast), Some(slow)) if slow >= fast => {
                let until = match slow - fast {
                    gap if gap < 1.0 => String::new(),
                    _ => format!(" to {}", show_duration(slow)),
                };
                format!(
                    "The burst ended after {}{until} of I/O: {} IOPS, then {}",
                    show_duration(fast),
                    show_number(change.before_iops),
                    show_number(change.last_iops)
                )
            }
            (Some(change), ..) => format!(
                "The burst ended within {} of I/O: {} IOPS, then {}",
                show_duration(seconds),
                show_number(change.before_iops),
                show_number(change.last_iops)
            ),
            (None, ..) if seconds < burst.seconds => format!(
                "No burst ended in {} of I/O, and credits pay for {lasts} at {rate} IOPS: whether \
                 it lasts is not known",
                show_duration(seconds)
            ),
            (None, ..) => format!("No burst ended in {} of I/O", show_duration(seconds)),
        }
    }
}

fn settings(ramps: &[Ramp], patterns: &[PatternResult], changed: &Changed) -> Vec<Setting> {
    let points = ramps.iter().flat_map(|r| r.points.iter().map(|m| (&r.name, &r.title, m)));
    let first = patterns.iter().map(|p| (&p.name, &p.title, &p.measurement));
    let left =
        patterns.iter().filter_map(|p| Some((&p.name, &p.title, changed.sustained(&p.name)?)));
    let all = points.chain(first).chain(left);
    all.filter(|(_, _, m)| m.status == Status::Complete && m.errors.is_empty())
        .filter(|(name, _, m)| !changed.is_past(name, m))
        .filter_map(|(_, title, m)| measured(title, m))
        .collect()
}

fn measured(title: &str, m: &Measurement) -> Option<Setting> {
    let stream = m.workload.streams.first()?;
    let mut figures = vec![(Figure::Iops, m.total.iops), (Figure::MibPerS, m.total.mib_per_s)];
    if let Some(latency) = &m.total.latency_ns {
        figures.push((Figure::LatencyMean, latency.mean));
        figures.extend(latency.max.map(|ns| (Figure::LatencyMax, ns as f64)));
        let percentiles = [
            (Figure::LatencyP50, latency.p50),
            (Figure::LatencyP90, latency.p90),
            (Figure::LatencyP95, latency.p95),
            (Figure::LatencyP99, latency.p99),
            (Figure::LatencyP999, latency.p99_9),
        ];
        figures.extend(percentiles.iter().filter_map(|(f, ns)| Some((*f, (*ns)? as f64))));
    }
    Some(Setting {
        file_bytes: m.file_bytes,
        in_flight: m.in_flight,
        half_width_percent: m.steady.as_ref().and_then(|s| s.half_width_percent),
        ..setting(title, stream, figures)
    })
}

fn setting(title: &str, stream: &Stream, figures: Vec<(Figure, f64)>) -> Setting {
    let only = match stream.blocks.as_slice() {
        [block] => Some(block.bytes.0),
        _ => None,
    };
    Setting {
        load: stream.name.clone(),
        title: title.to_owned(),
        block_bytes: only,
        random: match stream.pattern_kind() {
            PatternKind::Random => Some(true),
            PatternKind::Sequential | PatternKind::SequentialShared => Some(false),
            _ => None,
        },
        write_percent: stream.write_percent,
        durable: stream.durable,
        in_flight: u64::from(stream.threads) * u64::from(stream.depth),
        file_bytes: 0,
        figures,
        half_width_percent: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Workload;

    fn measured(started: &str, seconds: f64, iops: f64) -> Measurement {
        let stream = Stream { name: "random_read_8k".to_owned(), depth: 8, ..Stream::default() };
        let workload = Workload { streams: vec![stream], ..Workload::default() };
        let mut m = testing::measurement(started, workload);
        started.clone_into(&mut m.started);
        (m.seconds, m.in_flight) = (seconds, 8);
        m.total.iops = iops;
        m
    }

    fn said(first: Measurement, again: Measurement) -> String {
        let (name, title) = ("random_read_8k".to_owned(), "8 KiB random read".to_owned());
        let ramp = Ramp {
            name: name.clone(),
            title: title.clone(),
            points: vec![first],
            knee: None,
            causes: Vec::new(),
        };
        let operation = String::new();
        let pattern = PatternResult { name, title, operation, measurement: again };
        let (ramps, patterns) = ([ramp], [pattern]);
        let changed = Changed::find(&ramps, &patterns, None);
        let burst = Burst { iops: 3000.0, seconds: 2000.0 };
        let claim = Claim {
            name: Some("aws:gp2 random reads".to_owned()),
            of: Selector { random: Some(true), write_percent: Some(0), ..Selector::default() },
            expect: vec!["iops >= 300".parse().unwrap()],
            documented: Some(Documented { source: "a page".to_owned(), burst: Some(burst) }),
        };
        let judged = judge(&[claim], &ramps, &patterns, &changed);
        judged[0].sentence.clone()
    }

    /// What is claimed of 32 I/Os in flight is measured with 16 on each of two hosts.
    #[test]
    fn a_claimed_load_is_shared_by_all_targets() {
        let claim = |in_flight| Claim {
            name: None,
            of: Selector {
                random: Some(true),
                write_percent: Some(0),
                in_flight: Some(in_flight),
                ..Selector::default()
            },
            expect: vec!["iops >= 300".parse().unwrap()],
            documented: None,
        };
        let loads = plan::loads(Database::Generic, plan::ANY_SIZE, 512);
        let depth = |in_flight, targets| {
            let claims = [claim(in_flight)];
            let found = wanted(&claims, &loads, targets, &[], &[]);
            found.first().map(|(_, depth)| *depth)
        };
        assert_eq!((depth(32, 1), depth(32, 2)), (Some(32), Some(16)));
        assert_eq!((depth(1, 1), depth(1, 2)), (Some(1), None));
    }

    /// A claim of 300 IOPS was met by the 3 000 of the burst, and nobody knew how long they last.
    #[test]
    fn the_end_of_a_burst_is_told_or_that_it_was_not_seen() {
        let fell = said(
            measured("2026-11-21T12:00:00Z", 600.0, 3000.0),
            measured("2026-11-21T12:30:00Z", 60.0, 300.0),
        );
        let ended = "The burst ended after 10 min 3 s of I/O: 3 000 IOPS, then 300.";
        assert!(fell.contains(ended), "{fell}");
        assert!(fell.ends_with("Source: a page."), "{fell}");
        let open = said(
            measured("2026-11-21T12:00:00Z", 600.0, 3000.0),
            measured("2026-11-21T12:30:00Z", 60.0, 3000.0),
        );
        let unknown = "No burst ended in 11 min 6 s of I/O, and credits pay for 33 min 20 s at \
                       3 000 IOPS: whether it lasts is not known.";
        assert!(open.contains(unknown), "{open}");
        let kept = said(
            measured("2026-11-21T12:00:00Z", 3000.0, 3000.0),
            measured("2026-11-21T13:00:00Z", 60.0, 3000.0),
        );
        assert!(kept.contains("No burst ended in 51 min 6 s of I/O."), "{kept}");
    }
}
