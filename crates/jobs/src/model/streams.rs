//! The streams of a workload from the I/Os of a trace: reads, writes of data, writes of the log.

use results::{ModelledArrivals, ModelledStream};
use trace::profile::{Locality, Profile, Sequence, Summary};
use trace::{Io, Kind, Logs};
use workload::{
    Arrival, Block, Bytes, Distribution, Pattern, Rate, RateLimit, Stream, SyncPolicy, Workload,
};

use super::spread::{DATA, FLUSHES, LANES, LOG, READS, Spread};
use crate::conduct::JobError;
use crate::replay::Part;

/// The windows in which I/Os are counted.
const WINDOWS_NS: [u64; 2] = [10_000_000, 1_000_000];
/// The spacings that are tried, the simplest first.
pub(super) const ARRIVALS: [ModelledArrivals; 5] = [
    ModelledArrivals::Poisson,
    ModelledArrivals::Windows { window_ns: WINDOWS_NS[0], evenly: false },
    ModelledArrivals::Windows { window_ns: WINDOWS_NS[0], evenly: true },
    ModelledArrivals::Windows { window_ns: WINDOWS_NS[1], evenly: false },
    ModelledArrivals::Windows { window_ns: WINDOWS_NS[1], evenly: true },
];
/// The time over which the document has the index of dispersion.
const SHOWN_NS: u64 = 10_000_000;
/// I/Os in flight of a stream, as of a replay: as many as this memory has room for.
const BUFFER_BYTES: u64 = 256 << 20;
const DEPTHS: (u64, u64) = (64, 8192);
/// Threads that write and then flush. A flush waits
/// for the write before it, and not for those of other threads, as in a replay.
const FLUSHERS: u32 = 256;
/// Fewer I/Os that are durable, plain, flushed or not flushed are counted among the others.
const APART_MIN: u64 = 100;
/// Less than this share in order is random, and more is sequential. Of a small hot part, random
/// I/Os often follow one of 32 others by chance.
const SEQUENTIAL: (f64, f64) = (0.25, 0.9);
/// A hot part that is this share of what is used is not one.
const HOT_MAX: f64 = 0.7;
/// Blocks are multiples of a sector, and at most as large as a replay makes them.
const SECTOR: u64 = 512;
const BLOCK_MAX: u64 = 4 << 20;
const MIB: u64 = 1 << 20;
/// How the streams of the log are called, at the start of their names.
pub(super) const LOG_NAME: &str = "log";

/// The I/Os of a part by what they are for.
pub(crate) struct Groups {
    reads: Summary,
    data: Summary,
    log: Summary,
    log_bytes: u64,
    spreads: Vec<Spread>,
    /// How many I/Os are in each lane.
    counts: [u64; LANES],
}

/// A group, and how its streams are called.
struct Group<'a> {
    name: &'static str,
    summary: &'a Summary,
    sequence: Option<&'a Sequence>,
}

/// The I/Os for which one stream stands.
struct Share<'a> {
    group: &'a Group<'a>,
    name: String,
    kinds: Vec<Kind>,
    durable: bool,
    flushed: bool,
    ios: u64,
    /// Lanes whose I/Os it has, and of which it leaves some to others.
    lanes: (Vec<usize>, Option<usize>),
}

impl Groups {
    /// Reads the I/Os of the part again, and sorts them into groups.
    pub(crate) fn read(part: &Part) -> Result<Self, JobError> {
        let logs = part.contents.logs();
        let mut profiles = [Profile::new(), Profile::new(), Profile::new()];
        let mut counts = [0; LANES];
        part.each(&mut |io| {
            if let Some((group, lane)) = group_of(io, logs).zip(super::spread::lane_of(io, logs)) {
                profiles[group].add(io);
                counts[lane] += 1;
            }
        })?;
        let [reads, data, log] = profiles.map(Profile::finish);
        let spreads = WINDOWS_NS.iter().map(|window_ns| Spread::read(part, *window_ns));
        let spreads = spreads.collect::<Result<_, _>>()?;
        Ok(Self { reads, data, log, log_bytes: logs.bytes(), spreads, counts })
    }

    fn groups(&self) -> [Group<'_>; 3] {
        let group = |name, summary, sequence| Group { name, summary, sequence };
        [
            group("reads", &self.reads, self.reads.read_sequence.as_ref()),
            group("data writes", &self.data, self.data.write_sequence.as_ref()),
            group(LOG_NAME, &self.log, self.log.write_sequence.as_ref()),
        ]
    }

    /// What there is a stream for. Flushes follow writes of the log; where there are more of them,
    /// or no log is known, writes of data.
    fn shares<'a>(&self, groups: &'a [Group<'a>; 3]) -> Vec<Share<'a>> {
        let [reads, data, log] = groups;
        let mut flushes = self.counts[FLUSHES];
        let of_log = self.shares_of(log, LOG, &mut flushes);
        let of_data = self.shares_of(data, DATA, &mut flushes);
        let reads = Share {
            group: reads,
            name: reads.name.to_owned(),
            kinds: vec![Kind::Read],
            durable: false,
            flushed: false,
            ios: self.counts[READS],
            lanes: (vec![READS], None),
        };
        let all = std::iter::once(reads).chain(of_data).chain(of_log);
        all.filter(|share| share.ios > 0).collect()
    }

    /// Writes of a group: those that are flushed, the others, and durable ones.
    fn shares_of<'a>(
        &self,
        group: &'a Group<'a>,
        [plain, durable]: [usize; 2],
        left: &mut u64,
    ) -> Vec<Share<'a>> {
        let mut counts = [self.counts[plain], self.counts[durable]];
        let mut lanes = [vec![plain], vec![durable]];
        let mut kinds = [vec![Kind::Write], vec![Kind::DurableWrite]];
        let more = usize::from(counts[1] > counts[0]);
        if counts[1 - more] < APART_MIN {
            counts[more] += std::mem::take(&mut counts[1 - more]);
            lanes[more] = vec![plain, durable];
            kinds[more] = vec![Kind::Write, Kind::DurableWrite];
        }
        // A flush follows one write of the more frequent kind.
        let flushed = (*left).min(counts[more]);
        *left -= flushed;
        let few = |ios: u64| ios < APART_MIN;
        *left = if flushed > 0 && few(*left) { 0 } else { *left };
        let all = flushed > 0 && few(counts[more] - flushed);
        let flushed = if all { counts[more] } else { flushed };
        let mut shares = Vec::new();
        let mut share = |index: usize, flushed: bool, ios: u64, lanes| {
            let durable = index == 1;
            let name = match (flushed, durable) {
                (false, false) => group.name.to_owned(),
                (true, false) => format!("{}, flushed", group.name),
                (false, true) => format!("{}, durable", group.name),
                (true, true) => format!("{}, durable and flushed", group.name),
            };
            let kinds = kinds[index].clone();
            shares.push(Share { group, name, kinds, durable, flushed, ios, lanes });
        };
        let rest = counts[more] - flushed;
        let leaves = (flushed > 0).then_some(FLUSHES);
        share(more, true, flushed, (vec![FLUSHES], None));
        share(more, false, rest, (lanes[more].clone(), leaves));
        share(1 - more, false, counts[1 - more], (lanes[1 - more].clone(), None));
        shares.retain(|share| share.ios > 0);
        if let [only] = shares.as_mut_slice() {
            group.name.clone_into(&mut only.name);
        }
        shares
    }

    /// The streams, and the size of a target that has room for them: first the data, then the log.
    pub(crate) fn streams(&self, span_ns: u64, how: ModelledArrivals) -> (Vec<Stream>, u64) {
        let used =
            |summary: &Summary| summary.locality.as_ref().map_or(0, |l| whole_mib(l.touched_bytes));
        let data_bytes = used(&self.reads).max(used(&self.data)).max(16 * MIB);
        let log_bytes = self.log_bytes.max(used(&self.log)).next_multiple_of(MIB);
        let groups = self.groups();
        let mut streams = Vec::new();
        for share in self.shares(&groups) {
            let is_log = share.group.name == LOG_NAME;
            let area = if is_log { (data_bytes, log_bytes) } else { (0, data_bytes) };
            let Some(stream) = share.stream(area) else { continue };
            streams.push(self.spaced(stream, &share, span_ns, how));
        }
        (streams, data_bytes + log_bytes)
    }

    /// Spaces a stream in time, at the rate of its share.
    fn spaced(
        &self,
        stream: Stream,
        share: &Share<'_>,
        span_ns: u64,
        how: ModelledArrivals,
    ) -> Stream {
        let limit = RateLimit::Iops(share.ios as f64 * 1e9 / span_ns.max(1) as f64);
        let poisson = Rate { limit, arrival: Arrival::Poisson };
        let ModelledArrivals::Windows { window_ns, evenly } = how else {
            return Stream { rate: Some(poisson), ..stream };
        };
        let spread = self.spreads.iter().find(|spread| spread.window_ns() == window_ns);
        let (lanes, left) = &share.lanes;
        let rate_profile = spread.and_then(|spread| {
            spread.profile(|window| {
                let all: u32 = lanes.iter().map(|lane| window[*lane]).sum();
                all.saturating_sub(left.map_or(0, |lane| window[lane]))
            })
        });
        let arrival = if evenly { Arrival::Even } else { Arrival::Poisson };
        Stream { rate: Some(Rate { limit, arrival }), rate_profile, ..stream }
    }

    /// What each stream of a workload stands for.
    pub(super) fn published(&self, workload: &Workload, span_ns: u64) -> Vec<ModelledStream> {
        let groups = self.groups();
        let shares = self.shares(&groups);
        let of = |stream: &Stream| {
            let share = shares.iter().find(|share| share.name == stream.name)?;
            let left_out = |kind: &&Kind| share.group.other_sizes(**kind);
            // The sizes of what is flushed and of what is not are the same list.
            let is_first = shares.iter().find(|s| s.name.starts_with(share.group.name));
            let is_first = is_first.is_some_and(|first| first.kinds != share.kinds)
                || is_first.is_some_and(|first| first.name == share.name);
            let other_sizes = share.kinds.iter().filter(|_| is_first);
            Some(ModelledStream {
                name: stream.name.clone(),
                title: stream.title(),
                ios: share.ios,
                iops: share.ios as f64 * 1e9 / span_ns as f64,
                flushes: if share.flushed { share.ios } else { 0 },
                dispersion: share.group.dispersion(SHOWN_NS),
                other_sizes: other_sizes.map(|kind| left_out(&kind)).sum(),
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
    fn other_sizes(&self, kind: Kind) -> u64 {
        self.summary.kinds.iter().filter(|k| k.kind == kind).map(|k| k.other_sizes).sum()
    }

    fn dispersion(&self, window_ns: u64) -> Option<f64> {
        let found = self.summary.bursts.iter().find(|b| b.window_ns == window_ns);
        found.map(|burst| burst.dispersion)
    }
}

impl Share<'_> {
    /// The sizes with their weights, as whole sectors.
    fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let kinds = self.group.summary.kinds.iter().filter(|k| self.kinds.contains(&k.kind));
        for size in kinds.flat_map(|kind| &kind.sizes) {
            let bytes = size.bytes.clamp(1, BLOCK_MAX).next_multiple_of(SECTOR);
            let weight = u32::try_from(size.ios).unwrap_or(u32::MAX);
            match blocks.iter_mut().find(|block| block.bytes.0 == bytes) {
                Some(block) => block.weight = block.weight.saturating_add(weight),
                None => blocks.push(Block { bytes: Bytes(bytes), weight }),
            }
        }
        blocks
    }

    fn stream(&self, area: (u64, u64)) -> Option<Stream> {
        let blocks = self.blocks();
        let smallest = blocks.iter().map(|block| block.bytes).min()?;
        let group = self.group;
        let (pattern, random_percent) = match group.sequence.map(|s| s.sequential + s.repeated) {
            _ if group.name == LOG_NAME => (Pattern::Sequential, 0),
            Some(share) if share >= SEQUENTIAL.1 => (Pattern::Sequential, 0),
            Some(share) if share > SEQUENTIAL.0 => (Pattern::Sequential, percent(1.0 - share)),
            _ => (Pattern::Random, 0),
        };
        let is_sequential = pattern == Pattern::Sequential && random_percent == 0;
        // One after the other, whichever of the threads writes.
        let pattern = match pattern {
            Pattern::Sequential if self.flushed => Pattern::SequentialShared,
            other => other,
        };
        let call = workload::SyncCall::Fdatasync;
        let sync = self.flushed.then_some(SyncPolicy { every_writes: 1, call });
        let locality = group.summary.locality.as_ref().filter(|_| !is_sequential);
        let largest = blocks.iter().map(|block| block.bytes.0).max().unwrap_or(SECTOR);
        let depth = (BUFFER_BYTES / largest).clamp(DEPTHS.0, DEPTHS.1);
        Some(Stream {
            name: self.name.clone(),
            threads: if self.flushed { FLUSHERS } else { 1 },
            depth: if self.flushed { 1 } else { u32::try_from(depth).unwrap_or(1) },
            align_bytes: (blocks.len() > 1 && !is_sequential).then_some(smallest),
            blocks,
            pattern,
            random_percent,
            distribution: locality.map_or(Distribution::Uniform, |l| distribution(l, area.1)),
            write_percent: if group.name == "reads" { 0 } else { 100 },
            durable: self.durable,
            sync,
            offset_bytes: Bytes(area.0),
            span_bytes: Some(Bytes(area.1)),
            ..Stream::default()
        })
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
