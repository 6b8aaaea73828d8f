//! Claims about storage, compared with everything that was measured.
//!
//! A claim is met when one setting gives all of it at once: 8 000 IOPS at one depth and 5 ms at
//! another are not 8 000 IOPS within 5 ms. It fails if every setting that it is about fails. At one
//! setting, one missed expectation decides, whatever could not be judged next to it
//! ([`Outcome::of_all`]); a setting that could not be judged may be the one that meets the claim
//! ([`Outcome::of_any`]).

mod expectation;

use serde::{Deserialize, Serialize};

pub use expectation::{Expectation, ExpectationError, Figure};

use crate::words::{grouped, percent, size};

/// Figures that are known no better than this, in percent either way, are not judged.
const NOT_KNOWN_PERCENT: f64 = 50.0;

/// The measurements that a claim is about; fields that are left open match all.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Selector {
    /// Short name of a load, for example `random_read_8k`.
    pub load: Option<String>,
    /// Size of one I/O in bytes.
    pub block_bytes: Option<u64>,
    /// Random (true) or sequential (false).
    pub random: Option<bool>,
    /// Share of I/Os that write, in percent.
    pub write_percent: Option<u8>,
    /// Whether each write is on stable media before it completes.
    pub durable: Option<bool>,
    /// I/Os in flight, over all threads and targets.
    pub in_flight: Option<u64>,
}

/// A claim: what the storage is said to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Who claims it, or what it is about.
    pub name: Option<String>,
    /// The measurements that it is about.
    pub of: Selector,
    /// What one of these measurements must give, all at once.
    pub expect: Vec<Expectation>,
    /// The documentation of a provider, if the claim comes from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub documented: Option<Documented>,
}

/// Where a claim comes from, and what the storage does beyond it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Documented {
    /// The source, with its date, in words.
    pub source: String,
    /// What the storage gives for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
}

/// More than is sustained, until credits are spent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// I/Os per second.
    pub iops: f64,
    /// How long all credits last at that rate.
    pub seconds: f64,
}

/// One measurement, as a claim sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Short stable name of its load.
    pub load: String,
    /// The load in words, for example `4 KiB sequential write, durable`.
    pub title: String,
    /// Size of one I/O; absent if there are several.
    pub block_bytes: Option<u64>,
    /// Whether it is random; false if sequential, none if neither.
    pub random: Option<bool>,
    /// Share of I/Os that write, in percent.
    pub write_percent: u8,
    /// Whether each write is on stable media before it completes.
    pub durable: bool,
    /// I/Os in flight, over all workers and targets.
    pub in_flight: u64,
    /// Size of the test file in bytes.
    pub file_bytes: u64,
    /// The figures that were measured; those in time are in nanoseconds.
    pub figures: Vec<(Figure, f64)>,
    /// Half width of the 95 % interval of the throughput in percent, if known.
    pub half_width_percent: Option<f64>,
}

impl Setting {
    /// A figure that can be judged. No I/Os at all are a throughput of zero, but no latency.
    fn figure(&self, figure: Figure) -> Option<f64> {
        if !self.is_known() {
            return None;
        }
        let found = self.figures.iter().find(|(f, _)| *f == figure)?.1;
        let known = found > 0.0 || found == 0.0 && !figure.is_latency();
        (found.is_finite() && known).then_some(found)
    }
}

impl Setting {
    /// Whether its figures are known well enough to be judged.
    fn is_known(&self) -> bool {
        self.half_width_percent.is_none_or(|percent| percent <= NOT_KNOWN_PERCENT)
    }
}

/// Whether a claim is met by what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A single setting gives all of it.
    Met,
    /// None of the settings gives all of it.
    NotMet,
    /// Nothing that the claim is about was measured, or too few I/Os to say.
    NotMeasured,
}

impl Outcome {
    /// The outcome of conditions that must all be met: one that is not met decides, whatever could
    /// not be judged next to it.
    #[must_use]
    pub fn of_all(conditions: impl IntoIterator<Item = Self>) -> Self {
        conditions.into_iter().fold(Self::Met, |all, one| match (all, one) {
            (Self::NotMet, _) | (_, Self::NotMet) => Self::NotMet,
            (Self::NotMeasured, _) | (_, Self::NotMeasured) => Self::NotMeasured,
            (Self::Met, Self::Met) => Self::Met,
        })
    }

    /// The outcome where one of several is enough: what could not be judged may be the one. Without
    /// any, nothing was measured.
    #[must_use]
    pub fn of_any(settings: impl IntoIterator<Item = Self>) -> Self {
        let better = |one: Self, other: Self| match (one, other) {
            (Self::Met, _) | (_, Self::Met) => Self::Met,
            (Self::NotMeasured, _) | (_, Self::NotMeasured) => Self::NotMeasured,
            (Self::NotMet, Self::NotMet) => Self::NotMet,
        };
        settings.into_iter().reduce(better).unwrap_or(Self::NotMeasured)
    }
}

/// A claim, and whether it is met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedClaim {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// What was expected, as it was written.
    pub expect: Vec<String>,
    /// Whether the measurements meet the claim.
    pub outcome: Outcome,
    /// How many settings were compared with it.
    pub settings: usize,
    /// What the best of them reaches of the expectation it misses most, in percent; at 100 and more
    /// the claim is met.
    pub attained_percent: Option<f64>,
    /// Whether it is met, in a sentence.
    pub sentence: String,
}

/// Whether a claim is about a setting.
#[must_use]
pub fn matches(of: &Selector, setting: &Setting) -> bool {
    fn same<T: PartialEq>(asked: Option<&T>, has: &T) -> bool {
        asked.is_none_or(|a| a == has)
    }
    same(of.load.as_ref(), &setting.load)
        && of.block_bytes.is_none_or(|b| setting.block_bytes == Some(b))
        && of.random.is_none_or(|r| setting.random == Some(r))
        && same(of.write_percent.as_ref(), &setting.write_percent)
        && same(of.durable.as_ref(), &setting.durable)
        && same(of.in_flight.as_ref(), &setting.in_flight)
}

/// A setting that a claim is about, and the outcome of each expectation there.
struct Tried<'a> {
    setting: &'a Setting,
    outcome: Outcome,
    /// What it reaches of the expectation it misses most, among those that can be judged; 1 and
    /// more is met.
    share: Option<f64>,
}

impl<'a> Tried<'a> {
    fn of(claim: &Claim, setting: &'a Setting) -> Self {
        let each = || claim.expect.iter().map(|e| Some(e.attained(setting.figure(e.figure)?)));
        let outcome = Outcome::of_all(each().map(|share| match share {
            None => Outcome::NotMeasured,
            Some(share) if share >= 1.0 => Outcome::Met,
            Some(_) => Outcome::NotMet,
        }));
        Self { setting, outcome, share: each().flatten().reduce(f64::min) }
    }
}

/// Judges a claim by every setting that it is about.
#[must_use]
pub fn judge(claim: &Claim, settings: &[Setting]) -> JudgedClaim {
    let of = settings.iter().filter(|s| matches(&claim.of, s));
    let tried: Vec<Tried<'_>> = of.map(|s| Tried::of(claim, s)).collect();
    let outcome = Outcome::of_any(tried.iter().map(|t| t.outcome));
    // What could not be judged proves nothing.
    let decided = tried.iter().filter(|t| t.outcome == outcome && outcome != Outcome::NotMeasured);
    let scored = decided.filter_map(|t| Some((t.setting, t.share?)));
    let best = scored.max_by(|left, right| left.1.total_cmp(&right.1));
    let sentence = match best {
        Some((setting, share)) => sentence(claim, setting, tried.len(), share),
        None => not_measured(claim, settings, &tried),
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

/// The expectations of a claim that cannot be judged at a setting:
/// `the 99.9th percentile of latency`.
fn not_judged(claim: &Claim, setting: &Setting) -> String {
    let missing = claim.expect.iter().filter(|e| setting.figure(e.figure).is_none());
    missing.map(|e| e.figure.words()).collect::<Vec<_>>().join(" and ")
}

fn begin(claim: &Claim) -> String {
    let all: Vec<String> = claim.expect.iter().map(|e| e.figure.claim(e.limit)).collect();
    let name = claim.name.as_ref().map_or_else(String::new, |name| format!("{name}: "));
    format!("{name}claimed {}", all.join(" with "))
}

/// `claimed 8 000 IOPS, best of 14 settings 3 912 (49 %): 8 KiB random read, 32 in flight on 20
/// GiB`.
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
    let missing = not_judged(claim, best);
    let missing = if missing.is_empty() {
        missing
    } else {
        format!("; too few I/Os were measured there to judge {missing}")
    };
    format!(
        "{}, {of} {}: {}, {} in flight on {}{near}{missing}.",
        begin(claim),
        measured.join(" with "),
        best.title,
        grouped(best.in_flight as f64),
        size(best.file_bytes)
    )
}

fn not_measured(claim: &Claim, settings: &[Setting], tried: &[Tried<'_>]) -> String {
    let open: Vec<&Tried<'_>> =
        tried.iter().filter(|t| t.outcome == Outcome::NotMeasured).collect();
    if let [first, others @ ..] = open.as_slice() {
        let place = if tried.len() == 1 {
            "at the only setting".to_owned()
        } else {
            format!("at {} of {} settings", 1 + others.len(), tried.len())
        };
        let (what, title) = (not_judged(claim, first.setting), &first.setting.title);
        let depth = grouped(first.setting.in_flight as f64);
        let example = if others.is_empty() { "" } else { "for example " };
        if !first.setting.is_known() {
            return format!(
                "{}, but {place} the figures may be more than {NOT_KNOWN_PERCENT} % off: \
                 {example}{title}, {depth} in flight.",
                begin(claim)
            );
        }
        return format!(
            "{}, but too few I/Os were measured {place} to judge {what}: {example}{title}, \
             {depth} in flight.",
            begin(claim)
        );
    }
    let mut loads: Vec<&str> = settings.iter().map(|s| s.load.as_str()).collect();
    loads.sort_unstable();
    loads.dedup();
    let mut depths: Vec<u64> = settings.iter().map(|s| s.in_flight).collect();
    depths.sort_unstable();
    depths.dedup();
    let depths: Vec<String> = depths.iter().map(ToString::to_string).collect();
    format!(
        "{}, but nothing that it is about was measured (there are {}, at {} in flight).",
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
            random: Some(true),
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
        Claim { name: None, of, expect, documented: None }
    }

    /// The founding story: a vendor promised 8 000 IOPS, less than half was measured whatever was
    /// set.
    #[test]
    fn the_vendors_promise_is_held_against_the_best_of_all_settings() {
        let best = |i: u64| if i == 7 { 3912.0 } else { 3000.0 + i as f64 };
        let settings: Vec<Setting> =
            (0..14).map(|i| setting("random_read_8k", i + 1, best(i), 3.0)).collect();
        let judged = judge(&claim(&["iops >= 8000"], Selector::default()), &settings);
        assert_eq!((judged.outcome, judged.settings), (Outcome::NotMet, 14));
        assert_eq!(
            judged.sentence,
            "claimed 8 000 IOPS, best of 14 settings 3 912 (49 %): 8 KiB random read, 8 in flight \
             on 20 GiB."
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

    /// A claim of 8 000 IOPS with a p99.9 was "not measured" on storage that gave 3 912: at each
    /// depth too few I/Os were measured for the percentile, and one condition that could not be
    /// judged hid the one that had failed.
    #[test]
    fn one_condition_that_failed_is_not_met_whatever_else_is_missing() {
        let settings = [setting("a", 1, 300.0, 1.0), setting("a", 32, 3912.0, 8.0)];
        let all = ["latency_p99_9 <= 5ms", "iops >= 8000", "latency_max <= 1s"];
        let judged = judge(&claim(&all, Selector::default()), &settings);
        assert_eq!(judged.outcome, Outcome::NotMet);
        assert!((judged.attained_percent.unwrap() - 48.9).abs() < 1e-9);
        assert!(
            judged.sentence.ends_with(
                "best of 2 settings 3 912 (49 %): 8 KiB random read, 32 in flight on 20 GiB; too \
                 few I/Os were measured there to judge the 99.9th percentile of latency and the \
                 longest latency."
            ),
            "{}",
            judged.sentence
        );
    }

    /// A percentile that is known and too high at 32 in flight does not decide about a depth at
    /// which too few I/Os were measured.
    #[test]
    fn a_setting_that_could_not_be_judged_may_be_the_one_that_meets_the_claim() {
        let mut settings = [setting("a", 1, 9000.0, 1.0), setting("a", 32, 9000.0, 80.0)];
        settings[0].figures.pop();
        let of = |settings: &[Setting]| {
            judge(&claim(&["iops >= 8000", "latency_p99 <= 5ms"], Selector::default()), settings)
        };
        let judged = of(&settings);
        assert_eq!((judged.outcome, judged.attained_percent), (Outcome::NotMeasured, None));
        assert!(
            judged.sentence.ends_with(
                ", but too few I/Os were measured at 1 of 2 settings to judge the 99th percentile \
                 of latency: 8 KiB random read, 1 in flight."
            ),
            "{}",
            judged.sentence
        );
        settings[0].figures[0].1 = 7000.0;
        assert_eq!(of(&settings).outcome, Outcome::NotMet, "too few IOPS, whatever the latency");
    }

    /// Storage that answered nothing within a whole measurement was "not measured".
    #[test]
    fn no_io_at_all_is_a_throughput_of_zero() {
        let judged =
            judge(&claim(&["iops >= 8000"], Selector::default()), &[setting("a", 1, 0.0, 0.0)]);
        assert_eq!((judged.outcome, judged.attained_percent), (Outcome::NotMet, Some(0.0)));
    }

    #[test]
    fn outcomes_combine_whatever_their_order() {
        use Outcome::{Met, NotMeasured, NotMet};
        for (two, all, any) in [
            ([Met, Met], Met, Met),
            ([Met, NotMeasured], NotMeasured, Met),
            ([Met, NotMet], NotMet, Met),
            ([NotMeasured, NotMeasured], NotMeasured, NotMeasured),
            ([NotMeasured, NotMet], NotMet, NotMeasured),
            ([NotMet, NotMet], NotMet, NotMet),
        ] {
            let turned = [two[1], two[0]];
            assert_eq!((Outcome::of_all(two), Outcome::of_all(turned)), (all, all), "{two:?}");
            assert_eq!((Outcome::of_any(two), Outcome::of_any(turned)), (any, any), "{two:?}");
        }
        assert_eq!((Outcome::of_all([]), Outcome::of_any([])), (Met, NotMeasured));
    }

    #[test]
    fn a_figure_that_was_not_measured_is_not_met() {
        let judged =
            judge(&claim(&["mib_per_s >= 5"], Selector::default()), &[setting("a", 1, 79.0, 1.0)]);
        assert_eq!((judged.outcome, judged.attained_percent), (Outcome::NotMeasured, None));
    }
}
