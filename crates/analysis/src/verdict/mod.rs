//! Is the storage fast enough for this part of a database? How much load fits within the limits of
//! its latency, and how that compares with what is needed.
//!
//! Latency alone decides nothing: one disk is as quick as a hundred while nobody uses it. So a
//! verdict is an amount of load. A grade is given only against a need.

mod capacity;
mod class;
mod confidence;
mod limits;
mod need;
mod search;
mod unseen;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

pub use capacity::{Capacity, Fit, HeldBy, Level, Trial, capacities};
pub use class::Class;
pub use confidence::{Confidence, Doubt, Sureness};
pub use limits::{Limits, Role, Statistic};
pub use need::{NAMED_NEEDS, NamedNeed, Need};
pub use search::LoadSearch;
pub use unseen::Extent;

use crate::words::{grouped, milliseconds, number};

/// A capacity that is known no better than this, in percent either way, is judged by nobody.
const NOT_KNOWN_PERCENT: f64 = 50.0;
/// One that is known no better than this may change.
const VAGUE_PERCENT: f64 = 20.0;

/// How well the storage serves a role. Ordered from best to worst; roles that were not judged come
/// last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The need fits within far less latency than the role asks.
    Excellent,
    /// It fits within what the role ideally gets.
    Good,
    /// It fits within what the role can live with.
    Acceptable,
    /// It seems to fit, but the figures are not sure enough to say so.
    Indication,
    /// The need does not fit within what the role can live with.
    Unfit,
    /// There is no need to judge by, or nothing that could be judged.
    NotJudged,
}

impl Grade {
    /// The word for use in a sentence.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Excellent => "excellent",
            Self::Good => "good",
            Self::Acceptable => "acceptable",
            Self::Indication => "indication only",
            Self::Unfit => "unfit",
            Self::NotJudged => "not judged",
        }
    }
}

/// How well the storage serves a role, and how that was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The role that is judged: log, OLTP data or data warehouse.
    pub role: Role,
    /// How the storage meets the need; not judged where none was named.
    pub grade: Grade,
    /// How sure that is; absent if nothing could be judged.
    pub confidence: Option<Confidence>,
    /// How much load fits within each limit, the strictest first; empty where nothing was measured.
    pub capacities: Vec<Capacity>,
    /// The load that is needed, if the user named one.
    pub need: Option<Need>,
    /// How the storage compares with others of its class, in a sentence; absent if the class is not
    /// known.
    pub class: Option<String>,
    /// The verdict in one sentence, with the figure that decided it.
    pub headline: String,
    /// What was measured, in sentences: one per load, and maybe others before them.
    pub evidence: Vec<String>,
    /// What keeps this verdict from being final.
    pub caveats: Vec<String>,
    /// The limits it was judged by.
    pub limits: Limits,
}

/// What a verdict is based on, besides limits and need.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Basis {
    /// Every load that was tried for the role.
    pub trials: Vec<Trial>,
    /// How much figures vary from run to run, in percent.
    pub run_percent: f64,
    /// Every reason to doubt the figures.
    pub doubts: Vec<Doubt>,
    /// Whole sentences that belong before everything else, such as why the log is not believed.
    pub first: Vec<String>,
    /// A whole sentence that follows the headline.
    pub then: Option<String>,
    /// Whole sentences that come before those of the single loads.
    pub also: Vec<String>,
    /// What else keeps the verdict from being final, in sentences.
    pub caveats: Vec<String>,
    /// Loads that were not measured to their end, each with what happened.
    pub missing: Vec<String>,
    /// How the storage compares with others of its class.
    pub class: Option<String>,
}

/// Judges the trials by the limits of a role and by the load that it needs.
#[must_use]
pub fn judge(limits: &Limits, need: Option<Need>, basis: Basis) -> Verdict {
    let need = need.filter(|need| need.role == limits.role);
    let missing = !basis.missing.is_empty();
    let found =
        if missing { Vec::new() } else { capacities(limits, &basis.trials, basis.run_percent) };
    let Basis { trials, mut doubts, first, then, also, mut caveats, missing, class, .. } = basis;
    let grade = match grade(&found, need) {
        // One of the loads that are hardly known may carry the need.
        Grade::Unfit if trials.iter().any(|trial| !trial.is_known()) => Grade::NotJudged,
        grade => grade,
    };
    // If a need is far from what is known, uncertainty makes no difference.
    if grade == Grade::NotJudged {
        let widest = found.iter().find(|capacity| capacity.level == Level::Acceptable);
        doubts.extend(widest.and_then(|capacity| width_doubt(limits.role, capacity)));
    }
    let confidence = (!found.is_empty()).then(|| Confidence::of(doubts));
    let low = confidence.as_ref().is_some_and(|c| c.sureness == Sureness::Low);
    let grade = match grade {
        Grade::Excellent | Grade::Good if low => Grade::Indication,
        grade => grade,
    };
    let all_unsure = found.is_empty() && trials.iter().any(|trial| !trial.is_known());
    let headline = if missing.is_empty() && all_unsure {
        format!("not judged. Every figure may be more than {NOT_KNOWN_PERCENT} % off.")
    } else {
        headline(limits, need, grade, &found, &missing)
    };
    let headline = joined(vec![headline], then.filter(|_| missing.is_empty()));
    let also = also.into_iter().chain(by_mean(limits, &trials)).filter(|_| missing.is_empty());
    caveats.splice(0..0, first.iter().cloned());
    Verdict {
        role: limits.role,
        grade,
        confidence,
        need,
        class,
        headline: format!("{}: {}", limits.role.title(), joined(first, [headline])),
        evidence: also.chain(trials.iter().map(|trial| evidence(limits, trial))).collect(),
        capacities: found,
        caveats,
        limits: limits.clone(),
    }
}

/// Joins sentences into one text.
fn joined(mut first: Vec<String>, then: impl IntoIterator<Item = String>) -> String {
    first.extend(then);
    first.join(" ")
}

/// The need against the capacity within each limit.
fn grade(found: &[Capacity], need: Option<Need>) -> Grade {
    let Some(need) = need else { return Grade::NotJudged };
    for capacity in found {
        if capacity.low >= need.per_second {
            return match capacity.level {
                Level::Excellent => Grade::Excellent,
                Level::Ideal => Grade::Good,
                Level::Acceptable => Grade::Acceptable,
            };
        }
    }
    let widest = found.iter().find(|capacity| capacity.level == Level::Acceptable);
    match widest {
        Some(c) if c.high.is_some_and(|high| high < need.per_second) => Grade::Unfit,
        // Too close to call, or the interval has no end.
        _ => Grade::NotJudged,
    }
}

fn width_doubt(role: Role, capacity: &Capacity) -> Option<Doubt> {
    if capacity.per_second <= 0.0 {
        return None;
    }
    let unit = role.unit();
    match capacity.half_width_percent() {
        Some(percent) if percent > NOT_KNOWN_PERCENT => Some(Doubt::grave(format!(
            "the {unit} are known to ±{} % only",
            number(percent.round())
        ))),
        Some(percent) if percent > VAGUE_PERCENT => {
            Some(Doubt::slight(format!("the {unit} are known to ±{} %", number(percent.round()))))
        }
        Some(_) => None,
        None => Some(Doubt::slight("no greater load was tried")),
    }
}

fn headline(
    limits: &Limits,
    need: Option<Need>,
    grade: Grade,
    found: &[Capacity],
    missing: &[String],
) -> String {
    if !limits.are_ordered() {
        return "not judged. The limits must be above zero and rise from excellent over ideal to \
                acceptable."
            .to_owned();
    }
    if !missing.is_empty() {
        return format!("not judged. {}.", missing.join("; "));
    }
    let Some(widest) = found.iter().find(|capacity| capacity.level == Level::Acceptable) else {
        return "not judged. Nothing suitable was measured.".to_owned();
    };
    let fits = fits(limits, found, widest);
    let Some(need) = need else { return fits };
    let needed = format!("the {} {} needed", amount(need.per_second), limits.role.unit());
    let lead = match grade {
        Grade::NotJudged => format!("{needed} are within what is not known."),
        Grade::Unfit => format!("it does not carry {needed}."),
        Grade::Indication => format!("it seems to carry {needed}."),
        Grade::Excellent | Grade::Good | Grade::Acceptable => format!("it carries {needed}."),
    };
    format!("{}: {lead} {}", grade.word(), upper(&fits))
}

/// How much fits within each limit. What fits within a stricter limit as well is listed under that
/// one.
fn fits(limits: &Limits, found: &[Capacity], widest: &Capacity) -> String {
    let (unit, statistic) = (limits.role.unit(), limits.statistic.name());
    if widest.per_second <= 0.0 {
        let within = milliseconds(widest.limit_ns as f64);
        let load = &widest.load;
        return format!("no load that was tried has its {statistic} within {within} ({load}).");
    }
    let range = match widest.high {
        Some(high) => format!("{} to {}", amount(widest.low), amount(high)),
        None => format!("at least {}", amount(widest.low)),
    };
    let mut parts: Vec<(f64, &Capacity)> = Vec::new();
    for capacity in found.iter().rev() {
        match parts.last_mut() {
            // Two that read alike are one.
            Some((much, strictest))
                if capacity.per_second >= *much || amount(capacity.per_second) == amount(*much) =>
            {
                *strictest = capacity;
            }
            _ => parts.push((capacity.per_second, capacity)),
        }
    }
    let limit = |capacity: &Capacity| {
        let word = if capacity.level == Level::Ideal { "the ideal " } else { "" };
        format!("{word}{}", milliseconds(capacity.limit_ns as f64))
    };
    let (most, load) = (amount(widest.per_second), &widest.load);
    let first = parts.first().map_or_else(String::new, |(_, capacity)| limit(capacity));
    let mut text =
        format!("up to {most} {unit} ({range}) of {load} keep the {statistic} within {first}");
    for (much, capacity) in parts.iter().skip(1) {
        let much = if *much > 0.0 { amount(*much) } else { "none".to_owned() };
        let _ = write!(text, "; {much} within {}", limit(capacity));
    }
    text + "."
}

/// How much fits by the mean, which published limits are of; `None` if the mean is judged anyway,
/// or nothing more fits by it.
fn by_mean(limits: &Limits, trials: &[Trial]) -> Option<String> {
    if limits.statistic == Statistic::Mean {
        return None;
    }
    let widest = |statistic| {
        let limits = Limits { statistic, tail_factor: u32::MAX, ..limits.clone() };
        capacities(&limits, trials, 0.0).pop()
    };
    let (judged, mean) = (widest(limits.statistic)?, widest(Statistic::Mean)?);
    (mean.per_second > judged.per_second).then(|| {
        format!(
            "By the mean alone, which hides the slowest, at least {} {} are within {}.",
            grouped(mean.per_second),
            limits.role.unit(),
            milliseconds(mean.limit_ns as f64)
        )
    })
}

/// A load as it appears in a sentence.
fn amount(per_second: f64) -> String {
    if per_second < 99.95 {
        number((per_second * 10.0).round() / 10.0)
    } else {
        grouped(per_second)
    }
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().to_string() + letters.as_str())
}

fn evidence(limits: &Limits, trial: &Trial) -> String {
    let unit = limits.role.unit();
    let offered = match trial.offered.filter(|_| !trial.is_carried()) {
        Some(offered) => format!(" of {} offered", grouped(offered)),
        None => String::new(),
    };
    let percentile = |ns: Option<f64>, name: &str| {
        ns.map_or_else(String::new, |ns| format!(", {name} percentile {}", milliseconds(ns)))
    };
    let not_judged = if trial.is_known() {
        String::new()
    } else {
        format!("; not judged, as it may be more than {NOT_KNOWN_PERCENT} % off")
    };
    format!(
        "{}: {}{offered} {unit}, mean {}{}{}, over {} s{not_judged}.",
        trial.label,
        amount(trial.per_second),
        milliseconds(trial.mean_ns),
        percentile(trial.p99_ns, "99th"),
        percentile(trial.p99_9_ns, "99.9th"),
        number(trial.seconds),
    )
}
