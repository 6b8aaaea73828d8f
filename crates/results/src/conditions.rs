//! What must be alike for two measurements to be compared, and a short name for it.
//!
//! Names of targets, host, tool version, engine, length and seed are not part of it: comparisons
//! look at them separately.

mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{
    Buffers, Bytes, Completion, Content, DiskspdOrder, Distribution, Hint, Mix, Mode, Pattern,
    Pool, PoolMember, Priority, Rate, Stream, SyncPolicy, Think, show_number,
};

use words::{
    buffers_words, content_words, distribution_words, member_words, mix_words, mode_word,
    pool_words, priority_words, profile_words, rate_words, sync_words, think_words,
};

use crate::measurement::Measurement;

/// The conditions of a measurement.
///
/// Everything that cannot matter to this load has its default: a stream that only reads has no
/// durability, and a wholly sequential one has no distribution. Defaults are not written, so that
/// later additions change no id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate condition")]
pub struct Conditions {
    /// Bytes of all targets that I/O could use.
    pub file_bytes: u64,
    /// How many targets the load had.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub targets: usize,
    /// Whether I/O went through the cache of the operating system.
    #[serde(default, skip_serializing_if = "is_default")]
    pub buffered: bool,
    /// Whether the targets were mapped into memory.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mapped: bool,
    /// Whether threads looked for completions without ever sleeping.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spin: bool,
    /// Whether a target held data that iosonde did not write, so that nobody knows how well it
    /// compresses.
    #[serde(default, skip_serializing_if = "is_default")]
    pub foreign_data: bool,
    /// If the load is not known, the name of the measurement, which is like no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// The streams, which ran at the same time.
    pub streams: Vec<StreamConditions>,
}

/// The conditions of one stream: whatever changes what its figures mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamConditions {
    /// Indexes of the targets; empty means all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<usize>,
    /// Threads on each of its targets.
    pub threads: u32,
    /// I/Os that each thread keeps in flight.
    pub depth: u32,
    /// Block sizes in rising order, each with its weight in the smallest whole numbers.
    pub blocks: Vec<(u64, u64)>,
    /// Whether offsets are random or in order.
    pub pattern: Pattern,
    /// DiskSpd's order of offsets, instead of the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diskspd: Option<DiskspdOrder>,
    /// Kinds of I/O that each thread mixed; the other fields have their means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// How a pool of threads shared the targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Pool>,
    /// Whether the threads were those of the pool before it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub joined: bool,
    /// Which threads of the pool worked on the stream's targets; empty means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<PoolMember>,
    /// How the memory of one I/O was laid out.
    #[serde(default, skip_serializing_if = "Buffers::is_single")]
    pub buffers: Buffers,
    /// Share of I/Os that ignore a sequential or strided order, in percent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub random_percent: u8,
    /// How random offsets are spread over the span.
    #[serde(default, skip_serializing_if = "is_default")]
    pub distribution: Distribution,
    /// What random offsets are multiples of, if that is not the largest block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align_bytes: Option<u64>,
    /// Share of I/Os that write, in percent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub write_percent: u8,
    /// Whether the operating system's cache was used, if streams differ in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The hint that the operating system's cache got on the order of offsets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// Whether every write was on stable media before it completed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub durable: bool,
    /// How many writes there were between flush calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<SyncPolicy>,
    /// The content of the written blocks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub content: Content,
    /// The file whose parts were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_file: Option<String>,
    /// The rate that an open loop offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How that rate changed over time: the windows, and a number that only the same have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_profile: Option<String>,
    /// Pauses of each thread between bursts of I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// Where the used part of each target began. Experiments begin sequential reads in another
    /// place each time; of those only what exceeds whole MiB counts: the alignment.
    #[serde(default, skip_serializing_if = "is_default")]
    pub offset_bytes: u64,
    /// Length of the used part of each target; absent if it was the whole target, or if sequential
    /// reads used half or more of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<u64>,
    /// I/O priority of the stream's threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// CPUs that the threads were bound to, in turn; empty leaves it to the system.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
}

/// A condition in which two measurements differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What differs, for example `file size`.
    pub name: String,
    /// What it is on the first side.
    pub a: String,
    /// What it is on the second.
    pub b: String,
}

impl Difference {
    /// The difference between two words; `None` if they are the same.
    #[must_use]
    pub fn between(name: &str, a: String, b: String) -> Option<Self> {
        (a != b).then(|| Self { name: name.to_owned(), a, b })
    }
}

impl Conditions {
    /// The conditions that a measurement was made under.
    #[must_use]
    pub fn of(measurement: &Measurement) -> Self {
        let workload = &measurement.workload;
        let count = workload.targets.len();
        let mut sizes: Vec<u64> = measurement.targets.iter().map(|t| t.file_bytes).collect();
        if sizes.len() != count {
            // Of a run that never came to its figures.
            sizes = vec![measurement.file_bytes / (count as u64).max(1); count];
        }
        let modes = workload.modes();
        // Of streams that differ in it, each tells its own.
        let common = if let [only] = modes[..] { only } else { workload.mode };
        let foreign = |content: &str| content.starts_with("not written by iosonde");
        Self {
            file_bytes: measurement.file_bytes,
            targets: count,
            buffered: common == Mode::Buffered,
            mapped: common == Mode::Mapped,
            spin: workload.completion == Completion::Spin,
            foreign_data: measurement.targets.iter().any(|t| foreign(&t.content)),
            unknown: workload.is_unknown().then(|| measurement.id.clone()),
            streams: workload
                .streams
                .iter()
                .map(|s| StreamConditions {
                    mode: (modes.len() > 1).then(|| workload.mode_of(s)),
                    ..StreamConditions::of(s, &sizes)
                })
                .collect(),
        }
    }

    /// Sixteen hexadecimal digits that name these conditions, the same in every version: FNV-1a of
    /// 64 bits over their JSON.
    #[must_use]
    pub fn id(&self) -> String {
        // Numbers, strings and lists of them: nothing in it can fail to be written.
        let json = serde_json::to_vec(self).unwrap_or_default();
        format!("{:016x}", fnv(&json))
    }

    /// Whatever differs, in the order in which it matters to a reader; empty if nothing does.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let (a, b) = (self, other);
        if a.unknown.is_some() || b.unknown.is_some() {
            let load = |c: &Self| if c.unknown.is_some() { "unknown" } else { "known" }.to_owned();
            return vec![Difference { name: "load".to_owned(), a: load(a), b: load(b) }];
        }
        let size = |c: &Self| Bytes(c.file_bytes).to_string();
        let cache = |c: &Self| {
            let mode = match (c.mapped, c.buffered) {
                (true, _) => Mode::Mapped,
                (false, true) => Mode::Buffered,
                (false, false) => Mode::Direct,
            };
            mode_word(mode).to_owned()
        };
        let data = |c: &Self| {
            let known = "written by iosonde, incompressible";
            if c.foreign_data { "not written by iosonde" } else { known }.to_owned()
        };
        let wait = |c: &Self| if c.spin { "spin" } else { "sleep" }.to_owned();
        let mut found: Vec<Difference> = [
            exact("file size", size(a), size(b), a.file_bytes, b.file_bytes),
            Difference::between("targets", a.targets.to_string(), b.targets.to_string()),
            Difference::between("operating system's cache", cache(a), cache(b)),
            Difference::between("data in the file", data(a), data(b)),
            Difference::between("waiting", wait(a), wait(b)),
        ]
        .into_iter()
        .flatten()
        .collect();
        let (n, m) = (a.streams.len(), b.streams.len());
        found.extend(Difference::between("streams", n.to_string(), m.to_string()));
        if n == m {
            for (number, (a, b)) in a.streams.iter().zip(&b.streams).enumerate() {
                let of = if n > 1 { format!(" of stream {}", number + 1) } else { String::new() };
                found.extend(
                    a.differences(b)
                        .into_iter()
                        .map(|d| Difference { name: format!("{}{of}", d.name), ..d }),
                );
            }
        }
        found
    }
}

/// A hash of 64 bits (FNV-1a), the same on every host.
fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Conditions of a mix that are means over its parts.
const MEANS: [&str; 4] = ["block size", "pattern", "alignment", "share of writes"];

impl StreamConditions {
    /// `sizes` are those of all targets, in their order.
    fn of(stream: &Stream, sizes: &[u64]) -> Self {
        // No `..` here: a new field of a stream has to be named, so its author decides whether it
        // is a condition.
        let Stream {
            name: _,
            targets: _,
            threads,
            depth,
            blocks: _,
            pattern,
            random_percent,
            distribution,
            align_bytes: _,
            write_percent,
            // `Conditions::of` knows whether streams differ in it.
            mode: _,
            hint,
            sync,
            durable,
            rate,
            rate_profile,
            think,
            offset_bytes: _,
            span_bytes: _,
            // Each measurement of an experiment begins elsewhere, so that no cache answers it.
            begin_bytes: _,
            diskspd,
            mix,
            pool,
            joined,
            members,
            buffers,
            content,
            content_file,
            cpus: _,
            priority,
        } = stream;
        let random = *pattern == Pattern::Random || *random_percent > 0;
        let writes = stream.writes();
        let align = stream.alignment();
        let targets = stream.target_indexes(sizes.len());
        let (offset_bytes, span_bytes) = used_part(stream, &targets, sizes);
        Self {
            targets: if targets.len() == sizes.len() { Vec::new() } else { targets },
            threads: *threads,
            depth: *depth,
            blocks: blocks(stream),
            pattern: *pattern,
            diskspd: diskspd.clone(),
            mix: mix.clone(),
            pool: pool.clone(),
            joined: *joined,
            members: members.clone(),
            mode: None,
            hint: *hint,
            buffers: *buffers,
            random_percent: if *pattern == Pattern::Random { 0 } else { *random_percent },
            distribution: if random { *distribution } else { Distribution::Uniform },
            align_bytes: (random && align != stream.largest_block()).then_some(align),
            write_percent: *write_percent,
            durable: *durable && writes,
            sync: sync.filter(|_| writes),
            content: if writes { *content } else { Content::Random },
            content_file: content_file
                .as_ref()
                .filter(|_| writes)
                .map(|file| file.display().to_string()),
            rate: *rate,
            rate_profile: rate_profile.as_ref().map(profile_words),
            think: *think,
            offset_bytes,
            span_bytes,
            priority: *priority,
            cpus: bound_cpus(stream, sizes.len()),
        }
    }

    fn differences(&self, other: &Self) -> Vec<Difference> {
        let (a, b) = (self, other);
        let found =
            |name: &str, of: &dyn Fn(&Self) -> String| Difference::between(name, of(a), of(b));
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        [
            found("block size", &Self::block_words),
            found("pattern", &Self::pattern_words),
            found("mix", &|s| s.mix.as_ref().map_or("none".into(), mix_words)),
            found("distribution", &|s| distribution_words(s.distribution)),
            found("alignment", &|s| {
                s.align_bytes.map_or("of the block".into(), |a| Bytes(a).to_string())
            }),
            found("share of writes", &|s| format!("{} %", s.write_percent)),
            found("threads on each target", &|s| {
                let joined = if s.joined { ", those of the stream before" } else { "" };
                let members = s.members.iter().map(member_words).collect::<Vec<_>>();
                let named = if members.is_empty() { "" } else { ", threads " };
                pool_words(s.pool.as_ref()) + joined + named + &members.join(", ")
            }),
            found("operating system's cache", &|s| {
                s.mode.map_or("as in the whole", mode_word).to_owned()
            }),
            found("hint to the operating system's cache", &|s| {
                match s.hint {
                    None => "none",
                    Some(Hint::Random) => "random",
                    Some(Hint::Sequential) => "sequential",
                }
                .to_owned()
            }),
            found("buffers", &|s| buffers_words(s.buffers)),
            found("threads", &|s| s.threads.to_string()),
            found("depth", &|s| s.depth.to_string()),
            found("durable writes", &|s| yes(s.durable)),
            found("flush calls", &|s| s.sync.map_or("none".into(), sync_words)),
            found("written data", &|s| content_words(s.content)),
            found("file of the written data", &|s| {
                s.content_file.clone().unwrap_or_else(|| "none".to_owned())
            }),
            found("offered rate", &|s| s.rate.map_or("as fast as it goes".into(), rate_words)),
            found("rate over time", &|s| {
                s.rate_profile.clone().unwrap_or_else(|| "the same all the time".to_owned())
            }),
            found("pauses", &|s| s.think.map_or("none".into(), think_words)),
            found("begin of the used part", &|s| exact_bytes(s.offset_bytes)),
            found("length of the used part", &|s| s.span_bytes.map_or("whole".into(), exact_bytes)),
            found("used targets", &|s| {
                let list: Vec<String> = s.targets.iter().map(usize::to_string).collect();
                if list.is_empty() { "all".into() } else { list.join(", ") }
            }),
            found("I/O priority", &|s| s.priority.map_or("default".into(), priority_words)),
            found("CPUs of the threads", &|s| {
                let list: Vec<String> = s.cpus.iter().map(u32::to_string).collect();
                if list.is_empty() { "any".into() } else { list.join(", ") }
            }),
        ]
        .into_iter()
        .flatten()
        // The means of two mixes say nothing that the mixes do not say.
        .filter(|d| a.mix.is_none() || b.mix.is_none() || !MEANS.contains(&d.name.as_str()))
        .collect()
    }

    fn block_words(&self) -> String {
        match self.blocks.as_slice() {
            [(bytes, _)] => exact_bytes(*bytes),
            many => {
                let total: u64 = many.iter().map(|(_, weight)| weight).sum();
                let part = |(bytes, weight): &(u64, u64)| {
                    let share = 100.0 * *weight as f64 / total.max(1) as f64;
                    format!("{} {} %", exact_bytes(*bytes), show_number(share))
                };
                many.iter().map(part).collect::<Vec<_>>().join(" + ")
            }
        }
    }

    fn pattern_words(&self) -> String {
        if let Some(order) = &self.diskspd {
            return format!("{}, DiskSpd's order", order.words());
        }
        let words = match self.pattern {
            Pattern::Random => "random".to_owned(),
            Pattern::Sequential => "sequential".to_owned(),
            Pattern::SequentialShared => "sequential (shared cursor)".to_owned(),
            Pattern::Stride { stride_bytes } => format!("every {}", exact_bytes(stride_bytes.0)),
            Pattern::Matrix { columns, rows, same_column } => {
                let column = if same_column { ", always the first column" } else { "" };
                format!("matrix of {columns} x {rows} blocks{column}")
            }
        };
        match self.random_percent {
            0 => words,
            percent => format!("{words} with {percent} % random"),
        }
    }
}

/// The CPUs that threads are bound to. Threads take them in turn, so without a pool those beyond
/// the last thread are unused.
fn bound_cpus(stream: &Stream, targets: usize) -> Vec<u32> {
    let threads = usize::try_from(stream.threads_in_all(targets)).unwrap_or(usize::MAX);
    let bound = if stream.pool.is_none() { threads } else { stream.cpus.len() };
    stream.cpus.iter().take(bound).copied().collect()
}

/// Where the part of each target that a stream uses begins, and how long it is; `None` if it is the
/// whole.
fn used_part(stream: &Stream, targets: &[usize], sizes: &[u64]) -> (u64, Option<u64>) {
    let offset = stream.offset_bytes.0;
    let smallest = targets.iter().filter_map(|t| sizes.get(*t)).min().copied();
    let whole = |span: &u64| smallest.is_some_and(|size| offset.saturating_add(*span) >= size);
    (offset, stream.span_bytes.map(|s| s.0).filter(|span| !whole(span)))
}

/// Block sizes of a stream, each once, in rising order and with the smallest weights of the same
/// ratio.
fn blocks(stream: &Stream) -> Vec<(u64, u64)> {
    let mut blocks: Vec<(u64, u64)> =
        stream.blocks.iter().map(|b| (b.bytes.0, u64::from(b.weight))).collect();
    blocks.sort_unstable();
    blocks.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = kept.1.saturating_add(next.1);
        }
        same
    });
    blocks.retain(|(_, weight)| *weight > 0);
    let common = blocks.iter().fold(0, |common, (_, weight)| divisor(common, *weight)).max(1);
    for (_, weight) in &mut blocks {
        *weight /= common;
    }
    blocks
}

/// The greatest common divisor, which makes weights small.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// A size in short if that is exact, otherwise in bytes as well.
fn exact_bytes(bytes: u64) -> String {
    let short = Bytes(bytes).to_string();
    match short.parse::<Bytes>() {
        Ok(same) if same.0 == bytes => short,
        _ => format!("{short} ({bytes} B)"),
    }
}

/// As `Difference::between`; sizes that differ by less than their words show are written in bytes.
fn exact(name: &str, a: String, b: String, n: u64, m: u64) -> Option<Difference> {
    if n != m && a == b {
        return Difference::between(name, format!("{n} B"), format!("{m} B"));
    }
    Difference::between(name, a, b)
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
