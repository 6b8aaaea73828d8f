//! What a run of DiskSpd gave, as its result says it: figures of each thread on each target, and
//! the machine.
//!
//! Written as text and as XML in DiskSpd's layouts.

mod cpu;
mod intervals;
mod latencies;
mod text;
mod xml;

pub use intervals::{Intervals, Spread};
pub use latencies::Latencies;

/// The sentence of a time span that was ended before there was anything to tell.
const INTERRUPTED: &str =
    "The test was interrupted before the measurements began. No results are displayed.";
/// How the sentence of a time span begins that could not be run.
pub(super) const FAILED: &str = "The test failed before the measurements began:";

/// Everything in DiskSpd's result of a profile.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunResult {
    /// The machine that it was measured on.
    pub system: SystemInfo,
    /// What each time span of the profile gave, in their order.
    pub spans: Vec<SpanResult>,
}

/// The machine that measured, and the tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemInfo {
    /// The name of the machine in its network.
    pub computer_name: String,
    /// Version of the tool that wrote it.
    pub tool_version: String,
    /// Date of that version, as `2024/6/3`.
    pub tool_date: String,
    /// When the run began, as `2026/01/02 03:04:05 UTC`.
    pub start_time: String,
    /// Name of the active power scheme.
    pub power_scheme: String,
    /// GUID of the active power scheme; empty if there is none.
    pub power_scheme_guid: String,
    /// The groups, nodes, sockets and cores of the machine.
    pub topology: Topology,
}

/// Processors in groups of at most 64, as Windows has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topology {
    /// The groups of up to 64 processors.
    pub groups: Vec<ProcessorGroup>,
    /// The processors of each NUMA node.
    pub nodes: Vec<ProcessorSet>,
    /// The processors of each socket, as bits per group.
    pub sockets: Vec<ProcessorSet>,
    /// Each core, with its logical processors.
    pub cores: Vec<Core>,
}

/// A group of processors, as Windows has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessorGroup {
    /// The number of the group, which masks refer to.
    pub number: u16,
    /// How many processors it can have.
    pub maximum_processors: u32,
    /// How many of these are active.
    pub active_processors: u32,
    /// A bit for each of those.
    pub active_mask: u64,
}

/// A NUMA node or a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessorSet {
    /// The number of the node or socket.
    pub number: u32,
    /// Its processors: a group's number, and one bit per processor of that group.
    pub masks: Vec<(u16, u64)>,
}

/// A core and its logical processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Core {
    /// The group that it is in.
    pub group: u16,
    /// Its number within the group.
    pub number: u32,
    /// A bit for each of its processors.
    pub mask: u64,
    /// 0 for the slowest kind of core of the machine, more for faster ones.
    pub efficiency_class: u8,
}

/// The result of one time span.
#[derive(Debug, Clone, PartialEq)]
pub enum SpanResult {
    /// It was interrupted before anything was measured.
    Interrupted,
    /// It could not be run, for this reason.
    Failed(String),
    /// It was measured, maybe not to its end.
    Measured(Measured),
}

impl SpanResult {
    /// The sentence that DiskSpd prints instead of figures.
    fn sentence(&self) -> Option<String> {
        match self {
            Self::Interrupted => Some(INTERRUPTED.to_owned()),
            Self::Failed(reason) => {
                // What one line holds stays one line.
                let words: Vec<&str> = reason.split_whitespace().collect();
                let reason = words.join(" ");
                let reason = reason.trim_end_matches('.');
                Some(format!("{FAILED} {reason}. No results are displayed."))
            }
            Self::Measured(_) => None,
        }
    }
}

/// The figures of one time span.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measured {
    /// Length of the measured window in seconds.
    pub seconds: f64,
    /// What each processor did meanwhile: in the order of the groups, and of the active processors
    /// in each. Any unit of time.
    pub cpu_ticks: Vec<CpuTicks>,
    /// What each thread did, in the order of their numbers.
    pub threads: Vec<ThreadFigures>,
    /// I/Os of each interval of the whole span, reads and writes. None: the sum of those of the
    /// threads.
    pub intervals: Option<(Intervals, Intervals)>,
}

/// What one processor did in a time span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTicks {
    /// Time in which the processor was idle.
    pub idle: u64,
    /// Time in the kernel and without work together, as Windows counts it.
    pub kernel: u64,
    /// Time in programs, not in the kernel.
    pub user: u64,
}

/// What one thread did in a time span.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ThreadFigures {
    /// Its figures on each of its targets.
    pub targets: Vec<TargetFigures>,
}

/// What one thread did on one target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TargetFigures {
    /// The target, as the profile names it.
    pub path: String,
    /// Size of the target in bytes.
    pub file_bytes: u64,
    /// What it read from this target.
    pub read: Figures,
    /// What it wrote to this target.
    pub write: Figures,
    /// Where its random I/Os went, where the profile says something about it.
    pub slices: Vec<Slice>,
}

/// What one thread did on one target in one direction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// Bytes that the completed I/Os moved.
    pub bytes: u64,
    /// I/Os that completed.
    pub ios: u64,
    /// How long they took; empty where it was not measured.
    pub latencies: Latencies,
    /// How many completed in each interval; `None` if it was not counted.
    pub intervals: Option<Intervals>,
}

/// A part of a target and its share of the I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Where its share begins, in percent; a slice whose share begins later than the last one's
    /// ends has a hole before it.
    pub io_from_percent: u32,
    /// Its share in percent, before the shares of all slices are brought to 100 % in sum.
    pub io_percent: u32,
    /// Where it begins on the target.
    pub offset_bytes: u64,
    /// How long it is; 0 is up to the end of the target.
    pub bytes: u64,
}
