//! What an assessment measures, and for how long.

use engine::PrepareError;
use results::Pace;
use results::verdict::{Database, Role};
use workload::specs::{self, OwnSpec};
use workload::{Block, Bytes, Pattern, Precision, Stream, Violation};

use super::AssessOptions;
use super::beside::SideTiming;
use super::databases::{self, Shape};
use super::offer::Offering;
use crate::limits::{limits_of, roles_of};
use crate::{Publish, lab};

/// The least and the most depth at which the saturation of a load is looked for.
pub(super) const RAMP_DEPTHS: (u32, u32) = (1, 256);
/// A file of this size has every load.
pub(super) const ANY_SIZE: u64 = 1 << 30;
/// The log is this share of the file, at its end.
const LOG_SHARE: u64 = 8;
/// Smaller log writes are those of special devices.
const LEAST_LOG_BLOCK: u64 = 4096;
/// Larger blocks are so many times as large, and no larger than this.
const LARGER: u64 = 4;
const LARGER_MAX: u64 = 1 << 20;
/// The least by which I/O is shifted off the boundaries.
const SECTOR: u64 = 512;

/// Lengths of the parts of an assessment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timing {
    /// A pattern at the depth to be judged.
    pub(super) pattern: lab::Timing,
    /// Timing of one point of a ramp.
    pub(super) ramp: lab::Timing,
    /// How much fits within the limits.
    pub(super) offering: Offering,
    /// Timing of loads next to each other.
    pub(super) sides: SideTiming,
    /// How often the first pattern is measured again at the end.
    pub(super) repeats: usize,
    /// How long writing the test file should take at most.
    pub(super) fill_s: f64,
    /// How many times the memory of the host the file should be, space and time permitting.
    pub(super) memory_times: u64,
}

impl Timing {
    /// Windows of one length, so that several hosts end them together.
    pub(super) fn fixed(self) -> Self {
        let fixed = |timing: lab::Timing| lab::Timing { precision: None, ..timing };
        Self { pattern: fixed(self.pattern), ramp: fixed(self.ramp), ..self }
    }

    pub(super) fn of(pace: Pace) -> Self {
        match pace {
            Pace::Glance => Self {
                pattern: timing(5.0, (2.0, 3.0), 2.5, (0.3, 0.3)),
                ramp: timing(5.0, (1.0, 2.0), 2.0, (0.3, 0.3)),
                offering: offering((1.0, 2.0), 2.0, (0.3, 0.3), 1.25, 1),
                sides: SideTiming::default(),
                repeats: 0,
                fill_s: 5.0,
                memory_times: 2,
            },
            Pace::Quick => Self {
                pattern: timing(5.0, (2.0, 4.0), 5.0, (0.5, 0.5)),
                ramp: timing(5.0, (1.0, 2.0), 2.0, (0.3, 0.5)),
                offering: offering((2.0, 15.0), 10.0, (0.3, 0.5), 1.25, 9),
                sides: SideTiming::default(),
                repeats: 2,
                fill_s: 25.0,
                memory_times: 2,
            },
            Pace::Normal => Self {
                pattern: timing(2.5, (10.0, 40.0), 40.0, (2.0, 5.0)),
                ramp: timing(5.0, (5.0, 15.0), 15.0, (1.0, 5.0)),
                offering: offering((8.0, 60.0), 60.0, (1.0, 5.0), 1.12, 12),
                sides: SideTiming::of(20.0, false),
                repeats: 2,
                fill_s: 240.0,
                memory_times: 4,
            },
            Pace::Long => Self {
                pattern: timing(2.0, (60.0, 300.0), 300.0, (10.0, 30.0)),
                ramp: timing(2.5, (15.0, 60.0), 60.0, (5.0, 30.0)),
                offering: offering((20.0, 120.0), 300.0, (5.0, 10.0), 1.06, 16),
                sides: SideTiming::of(60.0, true),
                repeats: 2,
                fill_s: 900.0,
                memory_times: 4,
            },
        }
    }
}

/// A precision in percent, the shortest and the longest window, the shortest of a workload that
/// writes, and warm-up and settling.
fn timing(
    percent: f64,
    (at_least_seconds, seconds): (f64, f64),
    written_seconds: f64,
    (warmup_seconds, settle_seconds): (f64, f64),
) -> lab::Timing {
    let precision =
        Precision { percent, at_least_seconds, written_seconds, ..Precision::default() };
    lab::Timing { seconds, warmup_seconds, precision: Some(precision), settle_seconds }
}

/// The shortest and the longest window of a search, for how long its end is held, warm-up and
/// settling, how close it comes, and the most windows.
fn offering(
    seconds: (f64, f64),
    hold_seconds: f64,
    warmup_settle_seconds: (f64, f64),
    close: f64,
    at_most: usize,
) -> Offering {
    Offering { seconds, hold_seconds, warmup_settle_seconds, close, at_most }
}

/// One load of the assessment, with its depths.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Load {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) operation: String,
    pub(super) stream: Stream,
    /// Whether its depth is raised to find where it saturates; it is then measured at the depth
    /// found.
    pub(super) ramp: bool,
    /// The role that it is evidence for, if any.
    pub(super) role: Option<Role>,
    /// The load whose depth it takes.
    pub(super) like: Option<String>,
    /// It is offered in an open loop, to find how much of it fits within the limits of its role.
    pub(super) offered: bool,
    /// Whether it is an access specification that the user named.
    pub(super) is_named: bool,
}

impl Load {
    fn new(name: String, title: String, operation: &str, stream: Stream) -> Self {
        let stream = Stream { name: name.clone(), ..stream };
        let operation = operation.to_owned();
        Self {
            name,
            title,
            operation,
            stream,
            ramp: false,
            role: None,
            like: None,
            offered: false,
            is_named: false,
        }
    }

    fn ramped(self, ramp: bool) -> Self {
        Self { ramp, ..self }
    }

    fn speaks_for(self, role: Role) -> Self {
        Self { role: Some(role), ..self }
    }

    /// What it is evidence for, in the words of the mathematics.
    pub(super) fn analysis_role(&self) -> Option<analysis::verdict::Role> {
        Option::from_published(self.role)
    }
}

/// Every load, in the order in which they are measured: reads first, then the log, then heavier
/// writes.
pub(super) fn loads(database: Database, file_bytes: u64, align_bytes: u64) -> Vec<Load> {
    let profile = databases::profile(database);
    let areas = Areas::of(file_bytes);
    let fits = |shape: &&Shape| shape.block.is_multiple_of(align_bytes.max(1));
    let mut loads = Vec::new();
    for (place, shape) in profile.page_reads.iter().enumerate() {
        let load = random(&areas, shape, 0).ramped(place == 0);
        loads.push(load.speaks_for(Role::OltpData));
    }
    let long = if roles_of(database).contains(&Role::Compaction) {
        Role::Compaction
    } else {
        Role::DssData
    };
    for (place, shape) in profile.scans.iter().enumerate() {
        loads.push(sequential(&areas, shape, 0).ramped(place == 0).speaks_for(long));
    }
    loads.extend(profile.log_random_reads.iter().map(|s| rollback(&areas, s)));
    loads.extend(profile.log_scans.iter().map(|s| log_scan(&areas, s)));
    let log_writes: Vec<&Shape> = profile.log_writes.iter().filter(fits).collect();
    loads.extend(log_writes.iter().map(|s| log_write(&areas, s).speaks_for(Role::Log)));
    // The smallest block that most storage works in, without durability: what a cache alone takes.
    let plain = log_writes.iter().find(|s| s.block >= LEAST_LOG_BLOCK);
    loads.extend(plain.map(|s| plain_write(&areas, s)));
    for shape in profile.bulk_writes {
        let load = sequential(&areas, shape, 100);
        loads.push(if long == Role::Compaction { load.speaks_for(long) } else { load });
    }
    if let Some(shape) = &profile.page_write {
        loads.push(random(&areas, shape, 100).ramped(true).speaks_for(Role::OltpData));
    }
    loads.extend(shifted(&loads, align_bytes));
    match (profile.page_reads.first(), &profile.page_write) {
        (Some(shape), Some(_)) => loads.push(mixed(&areas, shape, &loads)),
        // Nothing is written in place: its users only read.
        _ => loads.iter_mut().take(1).for_each(|load| load.offered = true),
    }
    loads
}

/// What users of small transactions do: of ten pages, seven are read and three are written.
fn mixed(areas: &Areas, shape: &Shape, loads: &[Load]) -> Load {
    let load = Load::new(
        format!("random_mixed_{}", short(shape.block)),
        format!("{} random read and write, 70/30", Bytes(shape.block)),
        "small transactions: reads and writes together",
        areas.data(shape.block, Pattern::Random, MIXED_WRITE_PERCENT, shape.depth),
    );
    let like = loads.first().map(|load| load.name.clone());
    Load { like, offered: true, ..load.speaks_for(Role::OltpData) }
}

fn random(areas: &Areas, shape: &Shape, write_percent: u8) -> Load {
    let verb = if write_percent == 0 { "read" } else { "write" };
    Load::new(
        format!("random_{verb}_{}", short(shape.block)),
        format!("{} random {verb}", Bytes(shape.block)),
        shape.operation,
        areas.data(shape.block, Pattern::Random, write_percent, shape.depth),
    )
}

fn sequential(areas: &Areas, shape: &Shape, write_percent: u8) -> Load {
    let verb = if write_percent == 0 { "read" } else { "write" };
    Load::new(
        format!("sequential_{verb}_{}", short(shape.block)),
        format!("{} sequential {verb}", Bytes(shape.block)),
        shape.operation,
        areas.data(shape.block, Pattern::Sequential, write_percent, shape.depth),
    )
}

fn rollback(areas: &Areas, shape: &Shape) -> Load {
    Load::new(
        format!("rollback_read_{}", short(shape.block)),
        format!("{} random read of the log", Bytes(shape.block)),
        shape.operation,
        Stream { depth: shape.depth, ..areas.log(shape.block, Pattern::Random, 0) },
    )
}

fn log_scan(areas: &Areas, shape: &Shape) -> Load {
    Load::new(
        format!("log_read_{}", short(shape.block)),
        format!("{} sequential read of the log", Bytes(shape.block)),
        shape.operation,
        Stream { depth: shape.depth, ..areas.log(shape.block, Pattern::Sequential, 0) },
    )
}

fn log_write(areas: &Areas, shape: &Shape) -> Load {
    Load::new(
        format!("log_write_{}", short(shape.block)),
        format!("{} sequential write, durable", Bytes(shape.block)),
        shape.operation,
        Stream { durable: true, ..areas.log(shape.block, Pattern::Sequential, 100) },
    )
}

/// Writes among the I/Os of small transactions.
const MIXED_WRITE_PERCENT: u8 = 30;
/// The name of the load that writes as the log does, but without durability.
pub(super) const PLAIN_WRITE: &str = "plain_write_";
/// What the name of a load ends in that is shifted off the boundaries.
pub(super) const SHIFTED: &str = "_shifted";

fn plain_write(areas: &Areas, shape: &Shape) -> Load {
    Load::new(
        format!("{PLAIN_WRITE}{}", short(shape.block)),
        format!("{} sequential write, not durable", Bytes(shape.block)),
        "what durability costs: the same as the log, without it",
        areas.log(shape.block, Pattern::Sequential, 100),
    )
}

/// The same load with larger blocks and twice the depth that saturates it; `None` of more than one
/// block size, and where blocks would be too large.
pub(super) fn larger(stream: &Stream, operating_depth: f64) -> Option<Stream> {
    let [Block { bytes, weight }] = stream.blocks.as_slice() else { return None };
    let bytes = Bytes(bytes.0.saturating_mul(LARGER));
    let fits = bytes.0 <= LARGER_MAX && stream.span_bytes.is_none_or(|s| bytes.0 <= s.0 / 4);
    let most = f64::from(RAMP_DEPTHS.1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within a ramp")]
    let depth = (2.0 * operating_depth).ceil().clamp(1.0, most) as u32;
    let blocks = vec![Block { bytes, weight: *weight }];
    // Its own name: a database may have a load of that size.
    let name = format!("{}_larger", stream.name);
    (fits && stream.align_bytes.is_none()).then(|| Stream { name, blocks, depth, ..stream.clone() })
}

/// The last random load once more, every I/O shifted by the least that the target takes.
fn shifted(loads: &[Load], align_bytes: u64) -> Option<Load> {
    let load = loads.iter().rev().find(|l| l.stream.pattern == Pattern::Random && l.ramp)?;
    let (block, shift) = (load.stream.largest_block(), align_bytes.max(SECTOR));
    if block <= shift {
        return None;
    }
    let span = load.stream.span_bytes?.0;
    let stream = Stream {
        offset_bytes: Bytes(load.stream.offset_bytes.0 + shift),
        span_bytes: Some(Bytes(span.checked_sub(block)?)),
        ..load.stream.clone()
    };
    let name = format!("{}{SHIFTED}", load.name);
    let title = format!("{}, shifted by {}", load.title, Bytes(shift));
    let shifted = Load::new(name, title, "a misaligned partition or volume", stream);
    Some(Load { like: Some(load.name.clone()), ..shifted })
}

/// One load of each kind, at the depth that the database uses, and nothing more: enough for an
/// impression.
pub(super) fn one_of_each(loads: &[Load]) -> Vec<Load> {
    let is = |load: &Load, pattern: Pattern, write_percent: u8| {
        load.stream.pattern == pattern && load.stream.write_percent == write_percent
    };
    let size = |load: &&Load| load.stream.largest_block();
    let find = |kind: &dyn Fn(&Load) -> bool| loads.iter().find(|load| kind(load));
    let bulk = |l: &Load| is(l, Pattern::Sequential, 100) && !l.stream.durable;
    let log = |l: &Load| l.stream.durable && l.stream.largest_block() >= LEAST_LOG_BLOCK;
    let kinds = [
        find(&|l| is(l, Pattern::Random, 0)),
        find(&|l| is(l, Pattern::Sequential, 0)),
        find(&log).or_else(|| find(&|l| l.stream.durable)),
        loads.iter().filter(|l| bulk(l)).max_by_key(size),
        find(&|l| is(l, Pattern::Random, 100)),
        find(&|l| is(l, Pattern::Random, MIXED_WRITE_PERCENT)),
    ];
    let alone = |load: &Load| Load { ramp: false, offered: false, ..load.clone() };
    kinds.into_iter().flatten().map(alone).collect()
}

/// Access specifications on the part of the file that holds data, each at rising depths. Unknown
/// names are left out.
pub(super) fn named(specs: &[String], own: &[OwnSpec], file_bytes: u64) -> Vec<Load> {
    let areas = Areas::of(file_bytes);
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let load = |name: &str, source: &str, title: String, stream: Stream| {
        let operation = format!("the access specification `{name}` ({source})");
        let name = format!("spec_{}", name.chars().map(word).collect::<String>());
        let stream = Stream { span_bytes: Some(Bytes(areas.data_bytes)), ..stream };
        let load = Load::new(name, title, &operation, stream);
        Load { is_named: true, ramp: true, ..load }
    };
    let known = specs.iter().filter_map(|name| specs::spec(name));
    let known = known.map(|s| load(s.name, s.source, s.title(), s.stream()));
    let own = own.iter().map(|s| load(&s.name, "of a file", s.title(), s.stream()));
    let mut loads: Vec<Load> = Vec::new();
    for mut load in known.chain(own) {
        // Two of the same name, or with names that differ in signs only, are two loads.
        let plain = load.name.clone();
        for number in 2.. {
            if loads.iter().all(|other| other.name != load.name) {
                break;
            }
            load.name = format!("{plain}_{number}");
        }
        loads.push(load);
    }
    loads
}

/// A size as part of a name: `512b`, `4k`, `60k`, `1m`.
fn short(bytes: u64) -> String {
    match bytes {
        b if b < 1024 => format!("{b}b"),
        b if b < 1 << 20 => format!("{}k", b >> 10),
        b => format!("{}m", b >> 20),
    }
}

/// Where in the file the data are and where the log is.
pub(super) struct Areas {
    data_bytes: u64,
    log_bytes: u64,
}

impl Areas {
    pub(super) fn of(file_bytes: u64) -> Self {
        let mib = 1 << 20;
        let log_bytes = (file_bytes / LOG_SHARE / mib * mib).max(mib.min(file_bytes / 2));
        Self { data_bytes: file_bytes - log_bytes, log_bytes }
    }

    pub(super) fn data(
        &self,
        block: u64,
        pattern: Pattern,
        write_percent: u8,
        depth: u32,
    ) -> Stream {
        Stream {
            depth,
            pattern,
            write_percent,
            blocks: vec![Block { bytes: Bytes(block), weight: 1 }],
            span_bytes: Some(Bytes(self.data_bytes)),
            ..Stream::default()
        }
    }

    fn log(&self, block: u64, pattern: Pattern, write_percent: u8) -> Stream {
        let log = self.data(block, pattern, write_percent, 1);
        let (offset_bytes, span_bytes) = (Bytes(self.data_bytes), Some(Bytes(self.log_bytes)));
        Stream { offset_bytes, span_bytes, ..log }
    }
}

/// Refuses needs and limits where nothing is judged.
pub(super) fn check_judged(options: &AssessOptions) -> Result<(), PrepareError> {
    let is_judged = options.pace != Pace::Glance;
    let has_defaults = options.limits == limits_of(options.database);
    let given = match (options.needs.is_empty(), has_defaults) {
        _ if is_judged => return Ok(()),
        (true, true) => return Ok(()),
        (false, _) => "need",
        (true, false) => "limits",
    };
    let rule = format!("nothing is judged then, so `{given}` needs a slower pace");
    let (field, value) = ("pace".to_owned(), "glance".to_owned());
    Err(PrepareError::Invalid(vec![Violation { field, value, rule }]))
}

/// The smallest file that every load fits in.
const SIZE_MIN: Bytes = Bytes(64 << 20);

/// Refuses a size that some load would not fit in, before anything is written.
pub(super) fn check_size(size: Bytes) -> Result<(), PrepareError> {
    if size >= SIZE_MIN {
        return Ok(());
    }
    let rule =
        format!("an assessment needs at least {SIZE_MIN}, and many times that to mean anything");
    let violation = Violation { field: "size".to_owned(), value: size.to_string(), rule };
    Err(PrepareError::Invalid(vec![violation]))
}

/// A stream that reads and writes everything that any load does: what the target is made ready for.
pub(super) fn preparing_stream() -> Stream {
    Stream { write_percent: 50, ..Stream::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_stays_in_its_part_of_the_file() {
        for database in Database::ALL {
            for file_bytes in [64 << 20, 1 << 30, (3 << 40) + 4096] {
                for load in loads(database, file_bytes, 512) {
                    let stream = &load.stream;
                    let end = stream.offset_bytes.0 + stream.span_bytes.unwrap().0;
                    assert!(end <= file_bytes, "{} of {file_bytes}", load.name);
                    let shifted = load.name.ends_with(SHIFTED);
                    assert_eq!(stream.offset_bytes.0.is_multiple_of(4096), !shifted);
                }
            }
        }
    }

    #[test]
    fn log_blocks_that_the_device_cannot_write_are_left_out() {
        let names = |align| -> Vec<String> {
            let log = |l: &Load| l.name.starts_with("log_write");
            loads(Database::Generic, 1 << 30, align)
                .into_iter()
                .filter(log)
                .map(|l| l.name)
                .collect()
        };
        assert_eq!(names(512), ["log_write_512b", "log_write_4k", "log_write_60k"]);
        assert_eq!(names(4096), ["log_write_4k", "log_write_60k"]);
    }

    #[test]
    fn every_role_of_a_database_has_evidence_and_every_name_is_there_once() {
        for database in Database::ALL {
            let loads = loads(database, 1 << 30, 512);
            for role in roles_of(database) {
                let evidence = loads.iter().any(|l| l.role == Some(*role));
                assert!(evidence, "{role:?} of {}", database.title());
            }
            let foreign =
                loads.iter().filter_map(|l| l.role).all(|r| roles_of(database).contains(&r));
            assert!(foreign, "{}", database.title());
            let mut names: Vec<&str> = loads.iter().map(|l| l.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), loads.len(), "{}", database.title());
        }
    }

    #[test]
    fn the_probe_of_alignment_takes_the_depth_of_the_aligned_load() {
        let shifted = |database, align| {
            let mut loads = loads(database, 1 << 30, align).into_iter();
            let load = loads.find(|l| l.name.ends_with(SHIFTED));
            load.map(|l| (l.name, l.like.unwrap(), l.stream.offset_bytes.0))
        };
        let write =
            |size: &str| (format!("random_write_{size}_shifted"), format!("random_write_{size}"));
        let (name, like) = write("16k");
        assert_eq!(shifted(Database::MySql, 512), Some((name, like, 512)));
        let (name, like) = write("8k");
        assert_eq!(shifted(Database::Generic, 4096), Some((name, like, 4096)));
        assert_eq!(shifted(Database::Sqlite, 4096), None, "a block cannot be shifted by itself");
        let log_structured = shifted(Database::RocksDb, 512).unwrap();
        assert_eq!(log_structured.1, "random_read_4k", "nothing is written in place");
    }
}
