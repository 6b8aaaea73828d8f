//! The load of a trace within an assessment: what the roles get while it is replayed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capture::CapturedOp;
use crate::fit::{FitAttempt, FitCause};
use crate::replay::TracePart;
use crate::verdict::Role;

/// The load of a trace, replayed on the target after it was assessed, and judged by the limits of
/// the roles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedLoad {
    /// The part of the trace that is the load.
    pub part: TracePart,
    /// Whether the storage carries it within the limits.
    pub verdict: CapturedVerdict,
    /// The main reason why not everything held at the times of the trace; absent if everything did,
    /// or if nothing was replayed.
    pub cause: Option<FitCause>,
    /// Why it was not replayed to its end; absent if it was.
    pub failure: Option<String>,
    /// The limits of the roles whose I/O is in the trace, with what was measured.
    pub limits: Vec<CapturedLimit>,
    /// The replays: at the times of the trace, and if that did not hold, with users who wait.
    pub attempts: Vec<FitAttempt>,
}

/// Whether the storage carries the load within the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapturedVerdict {
    /// The limits hold when each I/O is issued at its time in the trace.
    Holds,
    /// They hold only if I/Os wait for those before them, as those of users do, so whether users
    /// are slowed down is not known.
    HoldsIfUsersWait,
    /// The limits do not hold at the times of the trace. Where the trace has latencies, they do not
    /// hold with I/Os that wait, either.
    Exceeded,
    /// It is not known: the host that replayed was too slow, or the load was not replayed.
    NotJudged,
}

/// A limit of a role, and what the replay at the times of the trace came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedLimit {
    /// The role whose limit it is.
    pub role: Role,
    /// The kind of I/O that it limits.
    pub kind: CapturedOp,
    /// The quantile that is limited, 0 to 1.
    pub quantile: f64,
    /// The largest latency that the quantile may have.
    pub at_most_ns: u64,
    /// What it was when the trace was recorded; absent where the trace has no latencies.
    pub recorded_ns: Option<u64>,
    /// What it was in the replay; absent if there was none.
    pub was_ns: Option<u64>,
    /// I/Os of this kind per second in the trace.
    pub per_second: f64,
    /// Whether the replay has enough of them to say whether the limit holds: 20.
    pub is_judged: bool,
}
