//! The words of a stream: threads doing one kind of I/O.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arrival::{Arrival, Rate, Think};
use crate::mix::Mix;
use crate::model::Mode;
use crate::order::{Buffers, DiskspdOrder, Hint, Pool, PoolMember, PoolShare};
use crate::rate_profile::RateProfile;
use crate::sim::is_default;
use crate::units::Bytes;

/// Threads doing one kind of I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stream {
    /// How the stream is called in results.
    pub name: String,
    /// Indexes into the workload's targets; empty means all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<usize>,
    /// Threads per target; of a pool, threads in all.
    pub threads: u32,
    /// Queue depth: outstanding I/Os per thread; of a pool where each target has them, of each
    /// thread on
    /// each target.
    pub depth: u32,
    /// Block sizes and how often each is chosen.
    pub blocks: Vec<Block>,
    /// The order in which places are accessed.
    pub pattern: Pattern,
    /// Share of I/Os that leave a sequential or strided order for a random place, in percent; the
    /// order continues from there.
    pub random_percent: u8,
    /// How random offsets are spread over the span.
    pub distribution: Distribution,
    /// Random offsets are multiples of this; by default of the largest block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align_bytes: Option<Bytes>,
    /// Share of I/Os that write, in percent.
    pub write_percent: u8,
    /// Whether the operating system's cache is used, where this stream has it otherwise than the
    /// workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The hint that the operating system's cache gets on the order of offsets. Direct I/O bypasses
    /// the cache and takes no hint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// Flush calls after every so many writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncPolicy>,
    /// Every write is on stable media before it completes (write-through, O_DSYNC).
    pub durable: bool,
    /// An open loop: I/Os are due at given moments, whether or not the storage keeps up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How the rate of an open loop changes over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_profile: Option<RateProfile>,
    /// Pauses between bursts of I/Os.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// Start of the used part of each target.
    pub offset_bytes: Bytes,
    /// Length of the used part of each target; by default up to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<Bytes>,
    /// Where sequential I/O begins, from the start of the used part. At the end of that part it
    /// goes on at its start.
    #[serde(skip_serializing_if = "is_default")]
    pub begin_bytes: Bytes,
    /// DiskSpd's order of offsets and directions instead of the one that `pattern`,
    /// `random_percent`, `distribution` and `align_bytes` describe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diskspd: Option<DiskspdOrder>,
    /// Kinds of I/O that each thread mixes, one burst after the other. Sizes, order and direction
    /// are then those of its parts, and the plain fields have their means; a workload file leaves
    /// them out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// Threads that work on all targets of the stream at once; without it, each thread has one
    /// target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pool>,
    /// The stream has no threads of its own: those of the pool before it work on its targets, too.
    #[serde(skip_serializing_if = "is_false")]
    pub joined: bool,
    /// Of a pool: which of its threads work on the targets of this stream; empty means all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<PoolMember>,
    /// How the memory of one I/O is laid out.
    #[serde(skip_serializing_if = "Buffers::is_single")]
    pub buffers: Buffers,
    /// What the written blocks hold.
    pub content: Content,
    /// The file whose bytes fill the buffer of the content `source`, repeated where it is shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_file: Option<PathBuf>,
    /// CPUs that the stream's threads are bound to, in turn; empty leaves it to the system.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// I/O priority of the stream's threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
}

impl Default for Stream {
    /// One thread of 8 KiB random reads, one at a time.
    fn default() -> Self {
        Self {
            name: "main".to_owned(),
            targets: Vec::new(),
            threads: 1,
            depth: 1,
            blocks: vec![Block { bytes: Bytes(8192), weight: 1 }],
            pattern: Pattern::Random,
            random_percent: 0,
            distribution: Distribution::Uniform,
            align_bytes: None,
            write_percent: 0,
            mode: None,
            hint: None,
            sync: None,
            durable: false,
            rate: None,
            rate_profile: None,
            think: None,
            offset_bytes: Bytes(0),
            span_bytes: None,
            begin_bytes: Bytes(0),
            diskspd: None,
            mix: None,
            pool: None,
            joined: false,
            members: Vec::new(),
            buffers: Buffers::Single,
            content: Content::Random,
            content_file: None,
            cpus: Vec::new(),
            priority: None,
        }
    }
}

impl Stream {
    /// The largest block of the stream, in bytes.
    #[must_use]
    pub fn largest_block(&self) -> u64 {
        self.blocks.iter().map(|b| b.bytes.0).max().unwrap_or(0)
    }

    /// The distance of possible random offsets, in bytes.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.align_bytes.map_or_else(|| self.largest_block(), |a| a.0)
    }

    /// Whether any I/O of the stream writes.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.write_percent > 0
    }

    /// Whether any I/O of the stream reads.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.write_percent < 100
    }

    /// Whether I/Os are due at given moments, whether or not the storage keeps up.
    #[must_use]
    pub fn is_open_loop(&self) -> bool {
        self.rate.is_some_and(|r| r.arrival != Arrival::Capped)
    }

    /// Indexes of the targets that the stream works on, of `count` targets in all.
    #[must_use]
    pub fn target_indexes(&self, count: usize) -> Vec<usize> {
        if self.targets.is_empty() { (0..count).collect() } else { self.targets.clone() }
    }

    /// Threads that work for the stream, of a workload with `count` targets.
    #[must_use]
    pub fn threads_in_all(&self, count: usize) -> u64 {
        let each = if self.pool.is_some() { 1 } else { self.targets_of(count) };
        let threads = match (self.pool.is_some(), self.members.len() as u64) {
            (true, named) if named > 0 => named,
            _ => self.threads.into(),
        };
        threads.saturating_mul(each)
    }

    /// How often a thread of a pool draws each target of the stream, next to those of other
    /// streams; `None` if it works on none.
    #[must_use]
    pub fn weight_for(&self, thread: u32) -> Option<Option<u32>> {
        if self.members.is_empty() {
            return (thread < self.threads).then_some(None);
        }
        let at = self.members.binary_search_by_key(&thread, |m| m.thread).ok()?;
        self.members.get(at).map(|member| member.weight)
    }

    /// Outstanding I/Os of one thread of the stream, on all of its targets, of a workload with
    /// `count` targets.
    #[must_use]
    pub fn depth_of_thread(&self, count: usize) -> u64 {
        let on_each = self.pool.as_ref().is_some_and(|p| p.share == PoolShare::Each);
        u64::from(self.depth).saturating_mul(if on_each { self.targets_of(count) } else { 1 })
    }

    /// Whether two streams do the same I/Os. They may differ in their names, in the threads that do
    /// the I/Os (threads, depth, CPUs and the places of threads in a pool) and in their speed (rate
    /// and think time).
    #[must_use]
    pub fn does_the_same_as(&self, other: &Self) -> bool {
        // Names, threads and speed are left out. A new field is compared until it is listed here.
        let what = |stream: &Self| Self {
            name: String::new(),
            threads: 0,
            depth: 0,
            rate: None,
            rate_profile: None,
            think: None,
            cpus: Vec::new(),
            joined: false,
            members: Vec::new(),
            ..stream.clone()
        };
        what(self) == what(other)
    }

    pub(crate) fn targets_of(&self, count: usize) -> u64 {
        (if self.targets.is_empty() { count } else { self.targets.len() }) as u64
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// A block size and its weight among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Bytes of one I/O of this size.
    pub bytes: Bytes,
    /// Relative frequency; only the ratio to the other weights counts.
    #[serde(default = "one")]
    pub weight: u32,
}

/// The order in which places are accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// Anywhere in the span, by the stream's distribution.
    #[default]
    Random,
    /// One after the other; each thread has its own cursor, and the threads start evenly spread
    /// over the span.
    Sequential,
    /// One after the other; all threads of a stream share one cursor per target, also with those of
    /// streams that differ in nothing but name, threads, depth, pace and CPUs.
    SequentialShared,
    /// Each thread steps by a fixed distance from the start of one I/O to the start of the next.
    Stride {
        /// From the start of one I/O to the start of the next.
        stride_bytes: Bytes,
    },
    /// SQLIO's matrix of blocks, row by row `columns` wide and `rows` high. Of `T` threads, thread
    /// `t` owns the columns from `t * (columns / T)` on. It goes down one of them, then down the
    /// next, and after its last it begins again: I/O `k` of run `r` is at block `k * columns + t *
    /// (columns / T) + r mod (columns / T)`.
    Matrix {
        /// Blocks of a row, at least as many as there are threads: SQLIO's stripe factor.
        columns: u32,
        /// I/Os of one run: blocks of a column.
        rows: u32,
        /// Every run is down the thread's first column, as in SQLIO 1.1.1.
        #[serde(default)]
        same_column: bool,
    },
}

/// How random offsets are spread over the span.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Distribution {
    /// Every place is equally likely.
    #[default]
    Uniform,
    /// The k-th most used place is used in proportion to k^-theta; the places are scattered over
    /// the span.
    Zipf {
        /// The exponent; 0.99 is the one of most key-value benchmarks.
        theta: f64,
    },
    /// A hot part at the start of the span receives a given share of the I/Os, the rest of the span
    /// the others.
    Hot {
        /// Share of the span that is hot, in percent.
        span_percent: f64,
        /// Share of the I/Os that go there, in percent.
        access_percent: f64,
    },
}

/// Flush calls after every so many writes of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyncPolicy {
    /// Each thread flushes after this many of its own writes.
    pub every_writes: u32,
    /// Which system call makes the writes durable.
    #[serde(default)]
    pub call: SyncCall,
}

/// The system call that makes earlier writes durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncCall {
    /// fsync: data and all metadata.
    Fsync,
    /// Data and the metadata needed to read it.
    #[default]
    Fdatasync,
}

/// What written blocks hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Content {
    /// Incompressible, and no two blocks alike.
    #[default]
    Random,
    /// Zeros: what storage with compression or zero detection likes best.
    Zero,
    /// A share of each 4 KiB is zeros, the rest incompressible.
    Compressible {
        /// The share of zeros, in percent.
        percent: u8,
    },
    /// The bytes 0 to 255, over and over: what compresses and repeats.
    Counting,
    /// One byte over and over, drawn anew for each write: IOMeter's repeating bytes.
    Repeating,
    /// The same random bytes in every write of a thread: IOMeter's pseudo-random data.
    Fixed,
    /// Parts of one buffer of this size, from random places in it. Its bytes are random, or those
    /// of the stream's `content_file`.
    Source {
        /// Size of the buffer, in bytes.
        bytes: Bytes,
    },
}

/// I/O priority of a thread, for schedulers that honour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Priority {
    /// Only when nobody else wants the device.
    Idle,
    /// The ordinary class with a level from 0 (first) to 7 (last).
    BestEffort {
        /// The level within the class: 0 (first) to 7 (last).
        level: u8,
    },
    /// Before everybody else, level 0 (first) to 7 (last). Needs privileges.
    Realtime {
        /// The level within the class: 0 (first) to 7 (last).
        level: u8,
    },
}

fn one() -> u32 {
    1
}
