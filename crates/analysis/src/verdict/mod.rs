//! Is the storage fast enough for this part of a database? Latency limits and what was measured, in
//! words.
//!
//! A verdict is about the load that was measured, with its file size, and no more than that.

mod limits;
mod unseen;

use serde::{Deserialize, Serialize};

pub use limits::{Limits, Role, Statistic};
pub use unseen::Extent;

use crate::words::{milliseconds, number, size};

/// A percentile is stated from ten I/Os beyond it; for the 99th that takes a thousand.
const IOS_FOR_P99: f64 = 1000.0;

/// One measurement that a verdict rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What was done, as it stands in a sentence: "random 8K reads".
    pub label: String,
    /// Mean latency.
    pub mean_ns: f64,
    /// 99th percentile of latency, where known.
    pub p99_ns: Option<f64>,
    /// I/Os a second.
    pub iops: f64,
    /// Throughput.
    pub mib_per_s: f64,
    /// I/Os in flight, over all threads and targets.
    pub in_flight: f64,
    /// Size of the test file or device.
    pub file_bytes: u64,
    /// Length of the measured window.
    pub seconds: f64,
    /// Bytes written in it.
    pub written_bytes: u64,
    /// Levels of throughput that differed, in this measurement or between it and others of the same
    /// load.
    pub level_changes: Vec<String>,
}

/// How well the storage serves a role. Ordered from best to worst, and what was not judged last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Far better than the role asks.
    Excellent,
    /// Within what the role ideally gets.
    Good,
    /// Within what the role can live with.
    Acceptable,
    /// Beyond it.
    Unfit,
    /// Nothing was measured that could be judged.
    NotJudged,
}

impl Grade {
    /// The grade as a word in a sentence.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Excellent => "excellent",
            Self::Good => "good",
            Self::Acceptable => "acceptable",
            Self::Unfit => "unfit",
            Self::NotJudged => "not judged",
        }
    }

    fn lowered(self) -> Self {
        match self {
            Self::Excellent => Self::Good,
            Self::Good => Self::Acceptable,
            Self::Acceptable | Self::Unfit => Self::Unfit,
            Self::NotJudged => Self::NotJudged,
        }
    }
}

/// A role, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The role.
    pub role: Role,
    /// The grade of the worst measurement.
    pub grade: Grade,
    /// The verdict in one sentence, with the figure and the file size that decided it.
    pub headline: String,
    /// One sentence for each measurement.
    pub evidence: Vec<String>,
    /// What keeps this verdict from being final.
    pub caveats: Vec<String>,
    /// The limits it was judged by.
    pub limits: Limits,
}

/// Judges measurements by the limits of a role; the worst of them decides.
#[must_use]
pub fn judge(limits: &Limits, evidence: &[Evidence]) -> Verdict {
    let ordered = limits.are_ordered();
    let judged: Vec<Judged> = evidence
        .iter()
        .filter(|_| ordered)
        .filter_map(|measured| Judged::new(limits, measured))
        .collect();
    let worst = judged.iter().max_by(|left, right| {
        left.grade.cmp(&right.grade).then(left.latency_ns.total_cmp(&right.latency_ns))
    });
    let headline = match worst {
        Some(worst) => worst.headline(limits),
        None if !ordered => format!(
            "{}: not judged. The limits must be above zero and rise from excellent over ideal to \
             acceptable.",
            limits.role.title()
        ),
        None => format!("{}: not judged. Nothing suitable was measured.", limits.role.title()),
    };
    Verdict {
        role: limits.role,
        grade: worst.map_or(Grade::NotJudged, |worst| worst.grade),
        headline,
        evidence: judged.iter().map(|judged| judged.sentence(limits)).collect(),
        caveats: caveats(limits, evidence, &judged),
        limits: limits.clone(),
    }
}

impl Verdict {
    /// Lowers the grade to `best` where it is better, and puts the reason before everything else.
    ///
    /// The reason is whole sentences. Where nothing was judged, it is a caveat and nothing more.
    #[must_use]
    pub fn at_best(mut self, best: Grade, reason: &str) -> Self {
        self.caveats.insert(0, reason.to_owned());
        if self.grade == Grade::NotJudged {
            return self;
        }
        let lead = |grade: Grade| format!("{}: {}. ", self.role.title(), grade.word());
        let (alone, grade) = (self.grade, self.grade.max(best));
        let rest = self.headline.strip_prefix(&lead(alone)).unwrap_or(&self.headline);
        let without = if alone < grade {
            format!(" If the figures are true, it is {}.", alone.word())
        } else {
            String::new()
        };
        self.headline = format!("{}{reason}{without} {rest}", lead(grade));
        self.grade = grade;
        self
    }
}

struct Judged<'a> {
    measured: &'a Evidence,
    latency_ns: f64,
    grade: Grade,
    long_tail: bool,
}

impl<'a> Judged<'a> {
    fn new(limits: &Limits, measured: &'a Evidence) -> Option<Self> {
        let latency_ns = match limits.statistic {
            Statistic::Mean => positive(measured.mean_ns)?,
            Statistic::P99 => p99(measured)?,
        };
        let grade = grade(limits, latency_ns);
        let far = limits.acceptable_ns as f64 * f64::from(limits.tail_factor);
        let long_tail = limits.statistic == Statistic::Mean
            && grade < Grade::Unfit
            && p99(measured).is_some_and(|p99| p99 > far);
        let grade = if long_tail { grade.lowered() } else { grade };
        Some(Self { measured, latency_ns, grade, long_tail })
    }

    fn headline(&self, limits: &Limits) -> String {
        let tail = match p99(self.measured).filter(|_| self.long_tail) {
            Some(p99) => format!(
                " One grade lower, because one I/O in a hundred took {} or longer.",
                milliseconds(p99)
            ),
            None => String::new(),
        };
        format!(
            "{}: {}. The {} of {} was {} at {} in flight on {}; ideal is up to {}, acceptable up \
             to {}.{tail}",
            limits.role.title(),
            self.grade.word(),
            limits.statistic.name(),
            self.measured.label,
            milliseconds(self.latency_ns),
            number(self.measured.in_flight),
            size(self.measured.file_bytes),
            milliseconds(limits.ideal_ns as f64),
            milliseconds(limits.acceptable_ns as f64),
        )
    }

    fn sentence(&self, limits: &Limits) -> String {
        let measured = self.measured;
        let p99 = match p99(measured) {
            Some(p99) => format!(", 99th percentile {}", milliseconds(p99)),
            None => String::new(),
        };
        let tail = if self.long_tail {
            let factor = limits.tail_factor;
            format!(
                ", one grade lower for a 99th percentile beyond {factor} times the acceptable \
                 limit"
            )
        } else {
            String::new()
        };
        format!(
            "{} on {}: {} IOPS, {} MiB/s at {} in flight; mean latency {}{p99}: {}{tail}.",
            measured.label,
            size(measured.file_bytes),
            number(measured.iops),
            number(measured.mib_per_s),
            number(measured.in_flight),
            milliseconds(measured.mean_ns),
            self.grade.word(),
        )
    }
}

fn grade(limits: &Limits, latency_ns: f64) -> Grade {
    if latency_ns <= limits.excellent_ns as f64 {
        Grade::Excellent
    } else if latency_ns <= limits.ideal_ns as f64 {
        Grade::Good
    } else if latency_ns <= limits.acceptable_ns as f64 {
        Grade::Acceptable
    } else {
        Grade::Unfit
    }
}

/// The 99th percentile, where enough I/Os stand behind it.
fn p99(measured: &Evidence) -> Option<f64> {
    let p99 = positive(measured.p99_ns?)?;
    (measured.iops * measured.seconds >= IOS_FOR_P99).then_some(p99)
}

fn positive(value: f64) -> Option<f64> {
    (value > 0.0 && value.is_finite()).then_some(value)
}

fn caveats(limits: &Limits, evidence: &[Evidence], judged: &[Judged]) -> Vec<String> {
    let mut caveats = Vec::new();
    let left_out = evidence.len() - judged.len();
    if left_out > 0 {
        caveats.push(format!(
            "{left_out} of {} measurements gave no {} that can be judged.",
            evidence.len(),
            limits.statistic.name()
        ));
    }
    caveats.extend(judged.iter().flat_map(|j| j.measured.level_changes.iter().cloned()));
    caveats.extend(Extent::of(judged.iter().map(|j| j.measured)).map(|e| e.unseen()));
    let few = judged.iter().filter(|j| j.measured.p99_ns.is_some() && p99(j.measured).is_none());
    if few.count() > 0 {
        caveats.push(
            "With fewer than 1000 I/Os in a measurement its 99th percentile is not stated."
                .to_owned(),
        );
    }
    caveats
}
