//! Why throughput stops growing: observations for and against the storage, the path to it, a queue,
//! a throttle, and iosonde itself.
//!
//! Each possible cause collects observations for and against it, each with a weight; the sum ranks
//! them. An observation that two causes explain equally supports both and proves neither: a cause
//! is likely or certain only if no other can explain an observation. The weights are rules of
//! thumb, so the observations are given with the answer.

mod evidence;
mod link;

use serde::{Deserialize, Serialize};

use crate::knee::{Knee, Reached};

pub use link::{Link, LinkError};

/// Below this weight nothing has been found.
const WEIGHT_MIN: f64 = 1.0;
/// The next cause must be lighter by so much, and what no other cause gives must weigh so much, for
/// the first to be certain, or likely.
const CERTAIN: f64 = 3.0;
const LIKELY: f64 = 1.0;
/// A load whose throughput is known no better than this, in percent either way, is not evidence.
const NOT_KNOWN_PERCENT: f64 = 50.0;

/// The bottleneck: what keeps throughput from growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The storage is saturated: it already serves as many I/Os at once as it can.
    Device,
    /// The bandwidth of the path to the storage, or of the storage itself.
    Link,
    /// A queue on the way that takes no more I/Os at once.
    Queue,
    /// A set rate, as cloud volumes have.
    Throttle,
    /// iosonde itself, or the CPU that it runs on.
    Tool,
    /// There is none yet: throughput was still growing.
    NotReached,
    /// Nothing that is known explains it.
    Unknown,
}

/// How far ahead of the next a cause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// Nothing else comes near, and nothing else could cause what was seen.
    Certain,
    /// More supports it than anything else, including observations that nothing else could cause.
    Likely,
    /// It is one of several causes that fit what was seen.
    Possible,
}

/// A possible cause with its observations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Likely {
    /// The cause that the evidence is about.
    pub cause: Cause,
    /// How far ahead of the next it is.
    pub certainty: Certainty,
    /// What it means, in one sentence.
    pub sentence: String,
    /// Observations that support it, one sentence each.
    pub evidence: Vec<String>,
    /// Observations that contradict it, one sentence each.
    pub against: Vec<String>,
}

/// One measured load, as far as it is evidence. In the order of the points that the knee was found
/// from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Observed {
    /// I/Os in flight as asked, over all threads.
    pub in_flight: f64,
    /// I/Os in flight, averaged over the measured window.
    pub achieved_in_flight: f64,
    /// I/Os per second.
    pub iops: f64,
    /// How far the true throughput may be from it, in percent, with 95 % confidence, if known.
    pub half_width_percent: Option<f64>,
    /// Mean latency in nanoseconds.
    pub mean_ns: f64,
    /// Median latency in nanoseconds, if known.
    pub p50_ns: Option<f64>,
    /// 99th percentile in nanoseconds, if known.
    pub p99_ns: Option<f64>,
    /// Highest throughput of the first moments by the highest of the second half; absent if the
    /// series does not tell.
    pub burst_ratio: Option<f64>,
    /// I/Os in flight at the device as the kernel counted them.
    pub device_in_flight: Option<f64>,
    /// CPU of the busiest submitting thread, percent.
    pub thread_percent: Option<f64>,
}

/// A limit on I/Os at once that the operating system shows.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueLimit {
    /// Its name, such as `nr_requests of vda`.
    pub name: String,
    /// How many I/Os it allows at once.
    pub ios: f64,
}

/// The same load with another block size, beyond saturation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OtherBlock {
    /// Its mean size of an I/O, in bytes.
    pub block_bytes: f64,
    /// I/Os per second.
    pub iops: f64,
}

/// Everything that is known about a load and its storage.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence<'a> {
    /// The saturation point of the load.
    pub knee: &'a Knee,
    /// Every measured load, in rising order.
    pub points: &'a [Observed],
    /// I/Os a second at loads beyond saturation that are next to the curve, with the same blocks.
    pub beside_iops: &'a [f64],
    /// Mean size of an I/O, in bytes.
    pub block_bytes: f64,
    /// Whether any of the load's I/Os writes.
    pub writes: bool,
    /// The path, where the user has named it.
    pub link: Option<&'a Link>,
    /// Limits of queues under the targets.
    pub queues: &'a [QueueLimit],
    /// What this program reaches without I/O, I/Os a second.
    pub tool_ceiling_iops: Option<f64>,
    /// Throughput with more threads by that with fewer, at the same number in flight beyond
    /// saturation.
    pub more_threads_ratio: Option<f64>,
    /// A measurement of the same load with larger blocks.
    pub larger_block: Option<OtherBlock>,
}

/// A possible cause with the observations so far.
pub(crate) struct Case {
    cause: Cause,
    weight: f64,
    /// The part of it that no other cause could give.
    proof: f64,
    sentence: String,
    evidence: Vec<String>,
    against: Vec<String>,
}

impl Case {
    fn new(cause: Cause, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self { cause, weight: 0.0, proof: 0.0, sentence, evidence: Vec::new(), against: Vec::new() }
    }

    /// An observation that no other cause could give.
    fn prove(&mut self, weight: f64, text: String) {
        self.proof += weight;
        self.note(weight, text);
    }

    /// Proves the cause, or contradicts it if the weight is negative.
    fn weigh(&mut self, weight: f64, text: String) {
        if weight >= 0.0 { self.prove(weight, text) } else { self.note(weight, text) }
    }

    /// An observation; a negative weight contradicts the cause.
    fn note(&mut self, weight: f64, text: String) {
        self.weight += weight;
        if weight >= 0.0 { self.evidence.push(text) } else { self.against.push(text) }
    }
}

/// Every cause with an observation for it, the likeliest first; never empty. Uncertain loads are
/// left out.
#[must_use]
pub fn causes(evidence: &Evidence<'_>) -> Vec<Likely> {
    let is_known = |p: &&Observed| p.half_width_percent.is_none_or(|h| h <= NOT_KNOWN_PERCENT);
    let known: Vec<Observed> = evidence.points.iter().filter(is_known).copied().collect();
    let evidence = &Evidence { points: &known, ..evidence.clone() };
    let mut cases = vec![evidence::tool(evidence)];
    match evidence.knee.reached {
        Reached::NotReached => cases.push(evidence::not_reached(evidence)),
        Reached::Saturated | Reached::Retrograde => {
            let rate = evidence::rate(evidence);
            cases.extend([
                evidence::device(evidence, &rate),
                evidence::link(evidence),
                evidence::queue(evidence),
                evidence::throttle(evidence, &rate),
            ]);
        }
        // The bottleneck is unknown as long as it is unknown whether there is one.
        Reached::Unclear => {}
    }
    cases.retain(|case| case.weight >= WEIGHT_MIN);
    cases.sort_by(|left, right| right.weight.total_cmp(&left.weight));
    if cases.is_empty() {
        let sentence = match evidence.knee.reached {
            Reached::Unclear => "The points do not show whether throughput reached a limit.",
            Reached::Saturated | Reached::NotReached | Reached::Retrograde => {
                "Nothing that was seen explains the limit."
            }
        };
        cases.push(Case::new(Cause::Unknown, sentence));
    }
    let weights: Vec<f64> = cases.iter().map(|case| case.weight).collect();
    let ranked = cases.into_iter().enumerate();
    ranked.map(|(place, case)| case.rank(place, &weights)).collect()
}

impl Case {
    fn rank(self, place: usize, weights: &[f64]) -> Likely {
        let next = weights.get(1).copied().unwrap_or(0.0);
        let certainty = match (weights[0] - next).min(self.proof) {
            _ if place > 0 || self.cause == Cause::Unknown => Certainty::Possible,
            ahead if ahead >= CERTAIN => Certainty::Certain,
            ahead if ahead >= LIKELY => Certainty::Likely,
            _ => Certainty::Possible,
        };
        let Self { cause, sentence, evidence, against, .. } = self;
        Likely { cause, certainty, sentence, evidence, against }
    }
}
