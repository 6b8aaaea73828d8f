//! A sweep, as plain data: lists of kinds, patterns, block sizes, threads and depths, and the cells
//! that they make.
//!
//! A [`Plan`] is read from TOML, built from flags or taken from a [`Preset`]. The same plan always
//! gives the same cells in the same order under the same name, so that a sweep that was interrupted
//! continues where it ended.

mod check;
mod estimate;
mod named;
mod presets;
mod rounds;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mix::MixPart;
use crate::model::{
    EngineChoice, Mode, Precision, Target, Workload, default_seconds, default_seed, default_warmup,
};
use crate::parse::ParseError;
use crate::sim::SimDevice;
use crate::specs::{OwnSpec, spec};
use crate::stream::{Block, Pattern, Stream, SyncPolicy};
use crate::units::Bytes;

pub use estimate::{Speed, Times};
pub use presets::{PRESETS, Preset, preset};
pub use rounds::{ROUNDS_WINDOW, Rounds, Tracked};

/// Many measurements, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What a report is headed with.
    #[serde(default = "default_title")]
    pub title: String,
    /// The files, directories or devices that receive the I/O.
    #[serde(default)]
    pub targets: Vec<Target>,
    /// Size of the test file, or used part of a target, where the target names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<Bytes>,
    /// Every cell works on all targets at the same time; otherwise there are all cells per target
    /// alone.
    #[serde(default)]
    pub together: bool,
    /// Longest pause before each cell, in seconds: the storage works off what the cell before has
    /// left.
    #[serde(default = "default_settle")]
    pub settle_seconds: f64,
    /// The cells of each group of targets come in an order that the seed decides.
    #[serde(default)]
    pub shuffle: bool,
    /// Only those cells are measured that the others can be inferred from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adaptive: bool,
    /// When the window of a cell may end before its length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// All cells are measured again and again until the storage is in steady state; otherwise each
    /// is measured once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Rounds>,
    /// Seed of every random choice in the sweep.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// The engine that does the I/O.
    #[serde(default)]
    pub engine: EngineChoice,
    /// Whether the operating system's cache is used.
    #[serde(default)]
    pub mode: Mode,
    /// The simulated device of the engine `sim`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sim: Option<SimDevice>,
    /// The cells: every combination of the lists of each matrix, one matrix after the other.
    pub matrix: Vec<Matrix>,
}

/// Lists of which every combination is a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Matrix {
    /// What a database does this for, for example `transaction log`; the cells have its shape, they
    /// are not it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Shares of I/Os that write, in percent: 0 reads only, 100 writes only.
    pub writes: Vec<u8>,
    /// Orders of offsets; the list is one dimension of the matrix.
    pub patterns: Vec<Pattern>,
    /// Sizes of an I/O; the list is one dimension of the matrix.
    pub blocks: Vec<Bytes>,
    /// Access specifications by their names, instead of `writes`, `patterns` and `blocks`; `iosonde
    /// specs` lists them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub specs: Vec<String>,
    /// Access specifications of one's own, such as those of an `.icf` file, after `specs`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_specs: Vec<OwnSpec>,
    /// Numbers of threads on each target.
    pub threads: Vec<u32>,
    /// Queue depth: outstanding I/Os per thread.
    pub depths: Vec<u32>,
    /// Length of the measured window in seconds.
    pub seconds: f64,
    /// I/O in this many seconds before the window is done but not counted.
    pub warmup_seconds: f64,
    /// Every write is on stable media before it completes; of no effect on cells that only read.
    pub durable: bool,
    /// Flush calls between writes; of no effect on cells that only read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncPolicy>,
}

impl Default for Matrix {
    /// One cell: 8 KiB random reads, one at a time.
    fn default() -> Self {
        Self {
            operation: None,
            writes: vec![0],
            patterns: vec![Pattern::Random],
            blocks: vec![Bytes(8192)],
            specs: Vec::new(),
            own_specs: Vec::new(),
            threads: vec![1],
            depths: vec![1],
            seconds: default_seconds(),
            warmup_seconds: default_warmup(),
            durable: false,
            sync: None,
        }
    }
}

/// One measurement of a plan: one point of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Its number in the order of the lists, from 0; the name under which it is kept.
    pub number: u32,
    /// Where it is measured: indexes into the plan's targets.
    pub targets: Vec<usize>,
    /// What a database does this for.
    pub operation: Option<String>,
    /// The access specification that it does; the share of writes, the pattern and the block are
    /// then its means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// The kinds of I/O of the access specification, where `iosonde specs` does not list it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<MixPart>,
    /// Share of I/Os that write, in percent.
    pub write_percent: u8,
    /// The order in which it accesses places.
    pub pattern: Pattern,
    /// Share of I/Os that leave a sequential order, in percent.
    #[serde(default, skip_serializing_if = "is_none")]
    pub random_percent: u8,
    /// The size of each of its I/Os; of a specification, the mean.
    pub block_bytes: Bytes,
    /// How many threads it has on each target.
    pub threads: u32,
    /// Queue depth: outstanding I/Os per thread.
    pub depth: u32,
    /// Every write is on stable media before it completes.
    pub durable: bool,
    /// Flush calls after every so many writes.
    pub sync: Option<SyncPolicy>,
    /// Length of the measured window in seconds.
    pub seconds: f64,
    /// Length of the warm-up in seconds.
    pub warmup_seconds: f64,
}

impl Cell {
    /// I/Os in flight in all, when every thread holds its depth.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let targets = self.targets.len().max(1) as u64;
        u64::from(self.threads).saturating_mul(u64::from(self.depth)).saturating_mul(targets)
    }

    /// The cell in words, without its target: `8 KiB random read, 2 threads x depth 16`.
    #[must_use]
    pub fn title(&self) -> String {
        let (threads, depth) = (self.threads, self.depth);
        let plural = if threads == 1 { "" } else { "s" };
        format!("{}, {threads} thread{plural} x depth {depth}", self.load_title())
    }

    /// Whether most of its I/Os follow one another, so that it is judged by bytes per second.
    #[must_use]
    pub fn is_sequential(&self) -> bool {
        let pattern = matches!(self.pattern, Pattern::Sequential | Pattern::SequentialShared);
        pattern && self.random_percent < 50
    }

    /// Whether most of its I/Os go anywhere.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.pattern == Pattern::Random || self.random_percent >= 50
    }

    /// The load without its depth: `8 KiB random read`, `60 KiB sequential write, durable`.
    #[must_use]
    pub fn load_title(&self) -> String {
        if let Some(title) = self.spec_title() {
            let durable = if self.durable { ", durable" } else { "" };
            return format!("{title}{durable}");
        }
        let pattern = match self.pattern {
            Pattern::Random => "random".to_owned(),
            Pattern::Sequential => "sequential".to_owned(),
            Pattern::SequentialShared => "sequential shared".to_owned(),
            Pattern::Stride { stride_bytes } => format!("stride {stride_bytes}"),
            Pattern::Matrix { columns, rows, .. } => format!("{columns} x {rows} matrix"),
        };
        let kind = match self.write_percent {
            0 => "read".to_owned(),
            100 => "write".to_owned(),
            percent => format!("mix with {percent} % writes"),
        };
        let durable = if self.durable { ", durable" } else { "" };
        let sync = match self.sync {
            Some(SyncPolicy { every_writes: 1, .. }) => ", flushed".to_owned(),
            Some(policy) => format!(", flushed every {} writes", policy.every_writes),
            None => String::new(),
        };
        format!("{} {pattern} {kind}{durable}{sync}", self.block_bytes)
    }
}

impl Cell {
    /// The stream that makes the cell's I/O.
    #[must_use]
    pub fn stream(&self) -> Stream {
        if let Some(stream) = self.spec_stream() {
            return Stream {
                threads: self.threads,
                depth: self.depth,
                durable: self.durable,
                sync: self.sync,
                ..stream
            };
        }
        Stream {
            threads: self.threads,
            depth: self.depth,
            blocks: vec![Block { bytes: self.block_bytes, weight: 1 }],
            pattern: self.pattern,
            write_percent: self.write_percent,
            durable: self.durable,
            sync: self.sync,
            ..Stream::default()
        }
    }
}

impl Plan {
    /// A plan of these matrices, everything else by default.
    #[must_use]
    pub fn new(title: &str, matrix: Vec<Matrix>) -> Self {
        Self {
            title: title.to_owned(),
            targets: Vec::new(),
            size_bytes: None,
            together: false,
            settle_seconds: default_settle(),
            shuffle: false,
            adaptive: false,
            precision: None,
            rounds: None,
            seed: default_seed(),
            engine: EngineChoice::default(),
            mode: Mode::default(),
            sim: None,
            matrix,
        }
    }

    /// Reads the TOML form of a plan.
    pub fn from_toml(text: &str) -> Result<Self, ParseError> {
        toml::from_str(text).map_err(|e| ParseError::Toml(e.to_string()))
    }

    /// The TOML form, with every value written out.
    pub fn to_toml(&self) -> Result<String, ParseError> {
        toml::to_string_pretty(self).map_err(|e| ParseError::Toml(e.to_string()))
    }

    /// How many cells the plan has.
    #[must_use]
    pub fn count(&self) -> u64 {
        let lists = |m: &Matrix| {
            let loads = match m.specs.len() + m.own_specs.len() {
                0 => [m.writes.len(), m.patterns.len(), m.blocks.len()],
                specs => [specs, 1, 1],
            };
            let lengths = loads.into_iter().chain([m.threads.len(), m.depths.len()]);
            lengths.fold(1u64, |product, n| product.saturating_mul(n as u64))
        };
        let each = self.matrix.iter().map(lists).fold(0, u64::saturating_add);
        each.saturating_mul(self.groups().len() as u64)
    }

    /// The targets that are used at the same time, one group after the other.
    #[must_use]
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let all = 0..self.targets.len().max(1);
        if self.together { vec![all.collect()] } else { all.map(|t| vec![t]).collect() }
    }

    /// Every cell in the order of the lists: target, matrix, writes, pattern, block, threads,
    /// depth; the last changes fastest. Without targets, those of one.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for targets in self.groups() {
            for matrix in &self.matrix {
                matrix.expand(&targets, &mut cells);
            }
        }
        cells
    }

    /// Every cell in the order in which they are measured. If the plan says so, the seed shuffles
    /// the cells of each group of targets.
    #[must_use]
    pub fn sequence(&self) -> Vec<Cell> {
        let mut cells = self.cells();
        if self.shuffle {
            let each = cells.len() / self.groups().len();
            for (group, cells) in cells.chunks_mut(each.max(1)).enumerate() {
                shuffle(cells, mix(self.seed, u64::MAX - group as u64));
            }
        }
        cells
    }

    /// The targets of a group, each with its size.
    #[must_use]
    pub fn sized_targets(&self, group: &[usize]) -> Vec<Target> {
        let sized =
            |t: &Target| Target { size_bytes: t.size_bytes.or(self.size_bytes), ..t.clone() };
        group.iter().filter_map(|t| self.targets.get(*t)).map(sized).collect()
    }

    /// The workload of a cell, and of its repetitions: round 0 is the first.
    #[must_use]
    pub fn workload(&self, cell: &Cell, round: u32) -> Workload {
        Workload {
            targets: self.sized_targets(&cell.targets),
            streams: vec![cell.stream()],
            seconds: cell.seconds,
            warmup_seconds: cell.warmup_seconds,
            precision: self.precision,
            engine: self.engine,
            mode: self.mode,
            seed: self.seed_of(cell, round),
            sim: self.sim.clone(),
            ..Workload::default()
        }
    }

    /// The seed of a cell. Each has one of its own, so that none is answered from what the one
    /// before has left in a cache; the same round of the same cell of the same plan always has the
    /// same.
    #[must_use]
    pub fn seed_of(&self, cell: &Cell, round: u32) -> u64 {
        mix(self.seed, u64::from(round) << 32 | u64::from(cell.number))
    }

    /// The plan's name: the same for the same plan, another for any other (FNV-1a, 64 bits, over
    /// its JSON form).
    #[must_use]
    pub fn id(&self) -> String {
        let json = self.to_json();
        let hash = json.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{hash:016x}")
    }

    /// The JSON form, which the history keeps.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Nothing in a plan is a map with other keys than texts, and nothing fails to be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the JSON form of a plan.
    pub fn from_json(text: &str) -> Result<Self, ParseError> {
        serde_json::from_str(text).map_err(|e| ParseError::Json(e.to_string()))
    }
}

impl Matrix {
    fn expand(&self, targets: &[usize], cells: &mut Vec<Cell>) {
        for load in self.loads() {
            for &threads in &self.threads {
                for &depth in &self.depths {
                    cells.push(Cell {
                        number: u32::try_from(cells.len()).unwrap_or(u32::MAX),
                        targets: targets.to_vec(),
                        threads,
                        depth,
                        ..load.clone()
                    });
                }
            }
        }
    }

    /// A cell of each load, of one I/O at a time.
    fn loads(&self) -> Vec<Cell> {
        let load = |write_percent: u8, pattern, block_bytes| {
            let writes = write_percent > 0;
            Cell {
                number: 0,
                targets: Vec::new(),
                operation: self.operation.clone(),
                spec: None,
                parts: Vec::new(),
                write_percent,
                pattern,
                random_percent: 0,
                block_bytes,
                threads: 1,
                depth: 1,
                durable: self.durable && writes,
                sync: self.sync.filter(|_| writes),
                seconds: self.seconds,
                warmup_seconds: self.warmup_seconds,
            }
        };
        if !self.specs.is_empty() || !self.own_specs.is_empty() {
            let cell = |name: &str, stream: &Stream, block: Bytes, parts: &[MixPart]| {
                let cell = load(stream.write_percent, stream.pattern, block);
                let (spec, parts) = (Some(name.to_owned()), parts.to_vec());
                Cell { spec, parts, random_percent: stream.random_percent, ..cell }
            };
            let known = self.specs.iter().filter_map(|name| spec(name));
            let known = known.map(|s| cell(s.name, &s.stream(), s.mean_block(), &[]));
            let own = self.own_specs.iter();
            let own = own.map(|s| cell(&s.name, &s.stream(), s.mean_block(), &s.parts));
            return known.chain(own).collect();
        }
        let mut loads = Vec::new();
        for &write_percent in &self.writes {
            for &pattern in &self.patterns {
                loads.extend(self.blocks.iter().map(|block| load(write_percent, pattern, *block)));
            }
        }
        loads
    }
}

/// Puts them in an order that the seed decides (Fisher and Yates).
fn shuffle<T>(items: &mut [T], seed: u64) {
    for last in (1..items.len()).rev() {
        // The rest of a division of so large a number by so small a one is even enough.
        let drawn = mix(seed, last as u64) % (last as u64 + 1);
        items.swap(last, usize::try_from(drawn).unwrap_or(0));
    }
}

/// One number per pair of numbers, well mixed (the finaliser of SplitMix64; Steele, Lea, Flood
/// 2014).
fn mix(seed: u64, number: u64) -> u64 {
    let z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(percent: &u8) -> bool {
    *percent == 0
}

fn default_title() -> String {
    "sweep".to_owned()
}

/// One minute is what the practice of storage baselines gives an array to come to rest (M.
/// Ruthruff, 2007).
fn default_settle() -> f64 {
    60.0
}

#[cfg(test)]
mod tests;
