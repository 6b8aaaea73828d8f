//! What is to be done, as plain data: targets, streams, block sizes, patterns, arrival and limits.
//!
//! A [`Workload`] is read from TOML or built from flags, checked as a whole by
//! [`Workload::violations`], and echoed unchanged into every result, so that a result says exactly
//! what made it. Nothing here touches a file or a clock.

mod arrival;
mod mix;
mod model;
mod order;
mod parse;
mod pattern_kind;
mod rate_profile;
pub mod secrets;
mod sim;
mod slices;
pub mod specs;
mod stream;
pub mod sweep;
mod title;
mod units;
mod validate;

pub use arrival::{Arrival, Rate, RateLimit, Think, ThinkFrom};
pub use mix::{Mix, MixPart};
pub use model::{Completion, EngineChoice, Mode, OnError, Precision, Target, Workload};
pub use order::{
    Buffers, DiskspdAccess, DiskspdOrder, DiskspdSlices, Hint, Pool, PoolMember, PoolShare,
};
pub use parse::{ParseError, parse_blocks, parse_cpus, parse_distribution};
pub use pattern_kind::PatternKind;
pub use rate_profile::{Counts, CountsError, RateProfile};
pub use sim::{
    SimAssignment, SimBucket, SimCache, SimCacheKind, SimDevice, SimDrift, SimMisaligned, SimNoise,
    SimService, SimStall, SimStuck, SimWarmup, SimWriteCache,
};
pub use slices::{Effective, EffectiveSlice, SlicesError, diskspd_reach};
pub use stream::{Block, Content, Distribution, Pattern, Priority, Stream, SyncCall, SyncPolicy};
pub use units::{Bytes, Nanoseconds, UnitError, plural, show_duration, show_ns, show_number};
pub use validate::{THREAD_POINTS_MAX, THREADS_MAX, TargetFacts, Violation};
