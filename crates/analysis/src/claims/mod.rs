//! Claims about storage, held against everything that was measured.
//!
//! A claim is met when one setting gives all that it names at once: 8 000 IOPS at one depth and 5 ms at another are not
//! 8 000 IOPS within 5 ms. It is not met before every setting that it speaks of was looked at.

mod expectation;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use expectation::{Expectation, ExpectationError, Figure};

use crate::words::{grouped, percent, size};

/// Which measurements a claim speaks of; what is left open matches all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selector {
    /// Short name of a load, for example `random_read_8k`.
    pub load: Option<String>,
    /// Size of one I/O.
    pub block_bytes: Option<u64>,
    /// Random, or sequential.
    pub random: Option<bool>,
    /// Share of writes.
    pub write_percent: Option<u8>,
    /// Whether each write is on stable media before it completes.
    pub durable: Option<bool>,
    /// I/Os in flight in all.
    pub in_flight: Option<u64>,
}

/// What somebody says the storage does.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Whose claim, or what about.
    pub name: Option<String>,
    /// Which measurements it speaks of.
    pub of: Selector,
    /// What one of them must give, all at once.
    pub expect: Vec<Expectation>,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Short name of its load.
    pub load: String,
    /// The load in words.
    pub title: String,
    /// Size of one I/O; none where there are several.
    pub block_bytes: Option<u64>,
    /// Random, or sequential.
    pub random: bool,
    /// Share of writes.
    pub write_percent: u8,
    /// Whether each write is on stable media before it completes.
    pub durable: bool,
    /// I/Os in flight in all.
    pub in_flight: u64,
    /// Size of the test file.
    pub file_bytes: u64,
    /// The figures that were measured; those in time are in nanoseconds.
    pub figures: Vec<(Figure, f64)>,
    /// Half width of the 95 % interval of the throughput in percent, where known.
    pub half_width_percent: Option<f64>,
}

impl Setting {
    fn figure(&self, figure: Figure) -> Option<f64> {
        let found = self.figures.iter().find(|(f, _)| *f == figure)?.1;
        (found.is_finite() && found > 0.0).then_some(found)
    }
}

/// How a claim came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// One setting gives all of it.
    Met,
    /// None does.
    NotMet,
    /// Nothing was measured that it speaks of.
    NotMeasured,
}

/// A claim and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedClaim {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// What was expected, as it was written.
    pub expect: Vec<String>,
    /// How it came out.
    pub outcome: Outcome,
    /// How many settings it was held against.
    pub settings: usize,
    /// What the best of them reaches of the expectation it misses most, in percent; 100 and more is met.
    pub attained_percent: Option<f64>,
    /// The outcome in one sentence.
    pub sentence: String,
}

/// Whether a setting is one that a claim speaks of.
#[must_use]
pub fn matches(of: &Selector, setting: &Setting) -> bool {
    fn same<T: PartialEq>(asked: Option<&T>, has: &T) -> bool {
        asked.is_none_or(|a| a == has)
    }
    same(of.load.as_ref(), &setting.load)
        && of.block_bytes.is_none_or(|b| setting.block_bytes == Some(b))
        && same(of.random.as_ref(), &setting.random)
        && same(of.write_percent.as_ref(), &setting.write_percent)
        && same(of.durable.as_ref(), &setting.durable)
        && same(of.in_flight.as_ref(), &setting.in_flight)
}

/// Holds a claim against every setting that it speaks of.
#[must_use]
pub fn judge(claim: &Claim, settings: &[Setting]) -> JudgedClaim {
    let tried: Vec<&Setting> = settings.iter().filter(|s| matches(&claim.of, s)).collect();
    let attained = |s: &Setting| -> Option<f64> {
        let each = claim.expect.iter().map(|e| Some(e.attained(s.figure(e.figure)?)));
        each.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)
    };
    let scored = tried.iter().filter_map(|s| Some((*s, attained(s)?)));
    let best = scored.max_by(|left, right| left.1.total_cmp(&right.1));
    let (outcome, sentence) = match best {
        Some((setting, share)) if share >= 1.0 => {
            (Outcome::Met, sentence(claim, setting, tried.len(), share))
        }
        Some((setting, share)) => (Outcome::NotMet, sentence(claim, setting, tried.len(), share)),
        None => (Outcome::NotMeasured, not_measured(claim, settings, tried.len())),
    };
    JudgedClaim {
        name: claim.name.clone(),
        expect: claim.expect.iter().map(ToString::to_string).collect(),
        outcome,
        settings: tried.len(),
        attained_percent: best.map(|(_, share)| 100.0 * share),
        sentence,
    }
}

fn begin(claim: &Claim) -> String {
    let all: Vec<String> = claim.expect.iter().map(|e| e.figure.claim(e.limit)).collect();
    let name = claim.name.as_ref().map_or_else(String::new, |name| format!("{name}: "));
    format!("{name}claimed {}", all.join(" with "))
}

/// `claimed 8 000 IOPS, best of 14 settings 3 912 (49 %): 8 KiB random read, 32 in flight on 20 GiB`.
fn sentence(claim: &Claim, best: &Setting, tried: usize, share: f64) -> String {
    let measured: Vec<String> = claim
        .expect
        .iter()
        .filter_map(|e| {
            let value = best.figure(e.figure)?;
            Some(format!("{} ({} %)", e.figure.show(value), percent(100.0 * value / e.limit)))
        })
        .collect();
    let of = if tried == 1 {
        "the only setting".to_owned()
    } else {
        format!("best of {tried} settings")
    };
    let near = best.half_width_percent.filter(|h| share < 1.0 && 100.0 * (1.0 - share) <= *h);
    let near = near.map_or_else(String::new, |h| {
        format!("; the difference is within the ±{} % of the measurement", percent(h))
    });
    format!(
        "{}, {of} {}: {}, {} in flight on {}{near}.",
        begin(claim),
        measured.join(" with "),
        best.title,
        grouped(best.in_flight as f64),
        size(best.file_bytes)
    )
}

fn not_measured(claim: &Claim, settings: &[Setting], tried: usize) -> String {
    if tried > 0 {
        return format!("{}, but too few I/Os were measured to say.", begin(claim));
    }
    let mut loads: Vec<&str> = settings.iter().map(|s| s.load.as_str()).collect();
    loads.sort_unstable();
    loads.dedup();
    let mut depths: Vec<u64> = settings.iter().map(|s| s.in_flight).collect();
    depths.sort_unstable();
    depths.dedup();
    let depths: Vec<String> = depths.iter().map(ToString::to_string).collect();
    format!(
        "{}, but nothing that it speaks of was measured (there are {}, at {} in flight).",
        begin(claim),
        loads.join(", "),
        depths.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(load: &str, in_flight: u64, iops: f64, p99_ms: f64) -> Setting {
        Setting {
            load: load.to_owned(),
            title: "8 KiB random read".to_owned(),
            block_bytes: Some(8192),
            random: true,
            write_percent: 0,
            durable: false,
            in_flight,
            file_bytes: 20 << 30,
            figures: vec![(Figure::Iops, iops), (Figure::LatencyP99, p99_ms * 1e6)],
            half_width_percent: Some(2.0),
        }
    }

    fn claim(expect: &[&str], of: Selector) -> Claim {
        let expect = expect.iter().map(|e| e.parse().unwrap()).collect();
        Claim { name: None, of, expect }
    }

    /// The founding story: a vendor promised 8 000 IOPS, less than half was measured whatever was set.
    #[test]
    fn the_vendors_promise_is_held_against_the_best_of_all_settings() {
        let best = |i: u64| if i == 7 { 3912.0 } else { 3000.0 + i as f64 };
        let settings: Vec<Setting> =
            (0..14).map(|i| setting("random_read_8k", i + 1, best(i), 3.0)).collect();
        let judged = judge(&claim(&["iops >= 8000"], Selector::default()), &settings);
        assert_eq!((judged.outcome, judged.settings), (Outcome::NotMet, 14));
        assert_eq!(
            judged.sentence,
            "claimed 8 000 IOPS, best of 14 settings 3 912 (49 %): 8 KiB random read, 8 in flight on 20 GiB."
        );
    }

    #[test]
    fn all_expectations_must_be_met_by_one_setting() {
        let settings = [setting("a", 1, 2000.0, 1.0), setting("a", 32, 9000.0, 20.0)];
        let of = |expect: &[&str]| judge(&claim(expect, Selector::default()), &settings);
        assert_eq!(of(&["iops >= 8000"]).outcome, Outcome::Met);
        assert_eq!(of(&["latency_p99 <= 5ms"]).outcome, Outcome::Met);
        let both = of(&["iops >= 8000", "latency_p99 <= 5ms"]);
        assert_eq!(both.outcome, Outcome::NotMet);
        assert!(
            both.sentence
                .contains("claimed 8 000 IOPS with a 99th percentile of latency up to 5 ms"),
            "{}",
            both.sentence
        );
    }

    #[test]
    fn a_load_can_be_named_with_its_depth() {
        let settings = [setting("a", 1, 2000.0, 1.0), setting("a", 32, 9000.0, 20.0)];
        let at = |in_flight| Selector { in_flight: Some(in_flight), ..Selector::default() };
        let of = |s: Selector| judge(&claim(&["latency_p99 <= 5ms"], s), &settings);
        assert_eq!(of(at(32)).outcome, Outcome::NotMet);
        assert!(of(at(32)).sentence.contains("the only setting 20 ms (400 %)"));
        assert_eq!(of(at(64)).outcome, Outcome::NotMeasured);
        assert!(of(at(64)).sentence.contains("at 1, 32 in flight"));
        let other = Selector { load: Some("b".to_owned()), ..Selector::default() };
        assert_eq!(of(other).outcome, Outcome::NotMeasured);
        let writes = Selector { write_percent: Some(100), ..Selector::default() };
        assert_eq!(of(writes).outcome, Outcome::NotMeasured);
    }

    #[test]
    fn a_miss_within_the_error_of_the_measurement_is_said_to_be_one() {
        let judged =
            judge(&claim(&["iops >= 8000"], Selector::default()), &[setting("a", 1, 7900.0, 1.0)]);
        assert_eq!(judged.outcome, Outcome::NotMet);
        assert!(judged.sentence.contains("within the ±2 % of the measurement"));
    }

    #[test]
    fn a_figure_that_was_not_measured_is_not_met() {
        let judged =
            judge(&claim(&["mib_per_s >= 5"], Selector::default()), &[setting("a", 1, 79.0, 1.0)]);
        assert_eq!((judged.outcome, judged.attained_percent), (Outcome::NotMeasured, None));
    }
}
