//! The streams of a workload from the I/Os of a trace: reads, writes of data, writes of the log.

use results::{ModelledArrivals, ModelledStream};
use trace::profile::{Locality, Profile, Sequence, Summary};
use trace::{Io, Kind, Logs};
use workload::{
    Arrival, Block, Bytes, Distribution, Nanoseconds, Pattern, Rate, RateLimit, Stream, SyncPolicy,
    Think, ThinkFrom, Workload,
};

use crate::conduct::JobError;
use crate::replay::Part;

/// The spacings that are tried.
pub(super) const ARRIVALS: [ModelledArrivals; 4] = [
    ModelledArrivals::Poisson,
    ModelledArrivals::Bursts { window_ns: 1_000_000 },
    ModelledArrivals::Bursts { window_ns: 10_000_000 },
    ModelledArrivals::Bursts { window_ns: 100_000_000 },
];
/// The time over which the document has the index of dispersion.
const SHOWN_NS: u64 = 10_000_000;
/// The largest burst, and I/Os in flight of a stream.
const BURST_MAX: f64 = 256.0;
const DEPTH: u32 = 256;
/// Less than this share in order is random, and more is sequential. Of a small hot part, random
/// I/Os often follow one of 32 others by chance.
const SEQUENTIAL: (f64, f64) = (0.25, 0.9);
/// A hot part that is this share of what is used is not one.
const HOT_MAX: f64 = 0.7;
/// Blocks are multiples of a sector, and at most as large as a replay makes them.
const SECTOR: u64 = 512;
const BLOCK_MAX: u64 = 4 << 20;
const MIB: u64 = 1 << 20;

/// The I/Os of a part by what they are for.
pub(crate) struct Groups {
    reads: Summary,
    data: Summary,
    log: Summary,
    log_bytes: u64,
}

/// A group, and how its stream is called.
struct Group<'a> {
    name: &'static str,
    summary: &'a Summary,
    sequence: Option<&'a Sequence>,
}

impl Groups {
    /// Reads the part again.
    pub(crate) fn read(part: &Part) -> Result<Self, JobError> {
        let logs = part.contents.logs();
        let mut profiles = [Profile::new(), Profile::new(), Profile::new()];
        part.each(&mut |io| {
            if let Some(group) = group_of(io, logs) {
                profiles[group].add(io);
            }
        })?;
        let [reads, data, log] = profiles.map(Profile::finish);
        Ok(Self { reads, data, log, log_bytes: logs.bytes() })
    }

    fn groups(&self) -> [Group<'_>; 3] {
        let group = |name, summary, sequence| Group { name, summary, sequence };
        [
            group("reads", &self.reads, self.reads.read_sequence.as_ref()),
            group("data writes", &self.data, self.data.write_sequence.as_ref()),
            group("log", &self.log, self.log.write_sequence.as_ref()),
        ]
    }

    /// The streams, and the size of a target that has room for them: first the data, then the log.
    pub(crate) fn streams(&self, span_ns: u64, how: ModelledArrivals) -> (Vec<Stream>, u64) {
        let used =
            |summary: &Summary| summary.locality.as_ref().map_or(0, |l| whole_mib(l.touched_bytes));
        let data_bytes = used(&self.reads).max(used(&self.data)).max(16 * MIB);
        let log_bytes = self.log_bytes.max(used(&self.log)).next_multiple_of(MIB);
        let mut streams = Vec::new();
        for group in self.groups() {
            let area = if group.name == "log" { (data_bytes, log_bytes) } else { (0, data_bytes) };
            streams.extend(group.stream(span_ns, area, how));
        }
        (streams, data_bytes + log_bytes)
    }

    /// What each stream of a workload stands for.
    pub(super) fn published(&self, workload: &Workload, span_ns: u64) -> Vec<ModelledStream> {
        let of = |stream: &Stream| {
            let group = self.groups().into_iter().find(|group| group.name == stream.name)?;
            let kinds = &group.summary.kinds;
            let flushes = kinds.iter().filter(|kind| kind.kind == Kind::Flush);
            Some(ModelledStream {
                name: stream.name.clone(),
                title: stream.title(),
                ios: group.ios(),
                iops: group.ios() as f64 * 1e9 / span_ns as f64,
                flushes: flushes.map(|kind| kind.ios).sum(),
                dispersion: group.dispersion(SHOWN_NS),
                other_sizes: kinds.iter().map(|kind| kind.other_sizes).sum(),
            })
        };
        workload.streams.iter().filter_map(of).collect()
    }
}

/// Which group an I/O belongs to. Flushes belong to the log, or to the writes where it is not told
/// apart.
fn group_of(io: &Io, logs: &Logs) -> Option<usize> {
    match io.kind {
        Kind::Read => Some(0),
        _ if logs.is_log_write(io) => Some(2),
        Kind::Write | Kind::DurableWrite => Some(1),
        Kind::Flush => Some(if logs.is_empty() { 1 } else { 2 }),
        Kind::Discard => None,
    }
}

impl Group<'_> {
    /// Its reads and writes.
    fn ios(&self) -> u64 {
        let moves = self.summary.kinds.iter().filter(|k| k.kind != Kind::Flush);
        moves.map(|kind| kind.ios).sum()
    }

    fn count(&self, kind: Kind) -> u64 {
        self.summary.kinds.iter().filter(|k| k.kind == kind).map(|k| k.ios).sum()
    }

    fn dispersion(&self, window_ns: u64) -> Option<f64> {
        let found = self.summary.bursts.iter().find(|b| b.window_ns == window_ns);
        found.map(|burst| burst.dispersion)
    }

    /// The sizes with their weights, as whole sectors.
    fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let moves = self.summary.kinds.iter().filter(|k| k.kind != Kind::Flush);
        for size in moves.flat_map(|kind| &kind.sizes) {
            let bytes = size.bytes.clamp(1, BLOCK_MAX).next_multiple_of(SECTOR);
            let weight = u32::try_from(size.ios).unwrap_or(u32::MAX);
            match blocks.iter_mut().find(|block| block.bytes.0 == bytes) {
                Some(block) => block.weight = block.weight.saturating_add(weight),
                None => blocks.push(Block { bytes: Bytes(bytes), weight }),
            }
        }
        blocks
    }

    fn stream(&self, span_ns: u64, area: (u64, u64), how: ModelledArrivals) -> Option<Stream> {
        let blocks = self.blocks();
        let smallest = blocks.iter().map(|block| block.bytes).min()?;
        let (pattern, random_percent) = match self.sequence.map(|s| s.sequential + s.repeated) {
            _ if self.name == "log" => (Pattern::Sequential, 0),
            Some(share) if share >= SEQUENTIAL.1 => (Pattern::Sequential, 0),
            Some(share) if share > SEQUENTIAL.0 => (Pattern::Sequential, percent(1.0 - share)),
            _ => (Pattern::Random, 0),
        };
        let is_sequential = pattern == Pattern::Sequential && random_percent == 0;
        let (writes, durable) = (self.count(Kind::Write), self.count(Kind::DurableWrite));
        let (moved, flushes) = (writes + durable, self.count(Kind::Flush));
        let every = moved.checked_div(flushes).unwrap_or(0).max(1);
        let sync = (flushes > 0 && moved > 0 && 2 * durable <= moved).then(|| SyncPolicy {
            every_writes: u32::try_from(every).unwrap_or(u32::MAX),
            call: workload::SyncCall::Fdatasync,
        });
        let locality = self.summary.locality.as_ref().filter(|_| !is_sequential);
        let stream = Stream {
            name: self.name.to_owned(),
            depth: DEPTH,
            align_bytes: (blocks.len() > 1 && !is_sequential).then_some(smallest),
            blocks,
            pattern,
            random_percent,
            distribution: locality.map_or(Distribution::Uniform, |l| distribution(l, area.1)),
            write_percent: if self.name == "reads" { 0 } else { 100 },
            durable: 2 * durable > moved,
            sync,
            offset_bytes: Bytes(area.0),
            span_bytes: Some(Bytes(area.1)),
            ..Stream::default()
        };
        Some(self.spaced(stream, span_ns, how))
    }

    /// The stream at its rate.
    fn spaced(&self, stream: Stream, span_ns: u64, how: ModelledArrivals) -> Stream {
        let iops = self.ios() as f64 * 1e9 / span_ns.max(1) as f64;
        let burst = match how {
            ModelledArrivals::Poisson => 1.0,
            ModelledArrivals::Bursts { window_ns } => self.dispersion(window_ns).unwrap_or(1.0),
        };
        if burst < 2.0 {
            let rate = Rate { limit: RateLimit::Iops(iops), arrival: Arrival::Poisson };
            return Stream { rate: Some(rate), ..stream };
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "2 to 256")]
        let burst_ios = burst.round().min(BURST_MAX) as u32;
        let pause_ns = Nanoseconds::from_seconds(f64::from(burst_ios) / iops);
        let think = Think { pause_ns, burst_ios, from: ThinkFrom::Submission };
        Stream { think: Some(think), ..stream }
    }
}

/// The hot part of what is used, as a part of the area: that which receives 80 % of the accesses.
fn distribution(locality: &Locality, area_bytes: u64) -> Distribution {
    let hot = locality.hot.iter().find(|part| (part.share - 0.8).abs() < 1e-9);
    let Some(hot) = hot.filter(|part| part.bytes <= HOT_MAX * locality.touched_bytes) else {
        return Distribution::Uniform;
    };
    let span_percent = (100.0 * hot.bytes / area_bytes.max(1) as f64).clamp(0.01, 100.0);
    Distribution::Hot { span_percent, access_percent: 80.0 }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a percentage")]
fn percent(share: f64) -> u8 {
    (100.0 * share).round().clamp(1.0, 100.0) as u8
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole_mib(bytes: f64) -> u64 {
    (bytes as u64).min(1 << 50).next_multiple_of(MIB)
}
