//! The options of a job, as a workload.

use std::collections::BTreeMap;

use serde_json::Value;
use workload::{
    Arrival, Block, Bytes, Content, Distribution, Mode, Nanoseconds, Pattern, Rate, RateLimit,
    Stream, SyncCall, SyncPolicy, Target, Think, Workload,
};

use super::document::RawOptions;
use super::kinds::{self, OptionKind};
use super::verification::Verification;

/// Engines that have one I/O at a time, whatever depth they are asked for.
pub(super) const SYNCHRONOUS: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];

/// Options whose effect is in the figures of a result.
const NOT_OF_RESULTS: [&str; 6] =
    ["time_based", "runtime", "stonewall", "wait_for_previous", "verify_backlog", "verify_only"];

/// Names and values; those of the job come before the global ones.
#[derive(Debug)]
pub(super) struct Options(BTreeMap<String, String>);

impl Options {
    pub(super) fn of(global: &RawOptions, job: &RawOptions) -> Self {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let all = global.iter().chain(job);
        Self(all.map(|(name, value)| (name.clone(), text(value))).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The engine that did the I/O.
    pub(super) fn engine(&self) -> Option<&str> {
        self.0.get("ioengine").map(String::as_str)
    }

    /// When it reads back what it writes, if it writes.
    pub(super) fn verification(&self) -> Verification {
        Verification::of(&self.0)
    }

    /// How many jobs were asked for.
    pub(super) fn jobs(&self) -> u32 {
        self.0.get("numjobs").and_then(|n| n.parse().ok()).unwrap_or(1)
    }

    /// The workload, and what a reader must know of it.
    pub(super) fn workload(&self, job: &str, threads: u32) -> (Workload, Vec<String>) {
        let mut reader = Reader::new(self.0.clone());
        let engine = reader.take("ioengine").unwrap_or_default();
        let synchronous = SYNCHRONOUS.contains(&engine.as_str());
        let mut stream = Stream { name: job.to_owned(), threads, ..Stream::default() };
        let random = reader.pattern(&mut stream);
        if stream.reads() && stream.writes() && random[0] != random[1] {
            reader.odd("percentage_random", &format!("{},{}", random[0], random[1]));
        }
        reader.blocks(&mut stream);
        let depth = reader.number("iodepth").unwrap_or(1).max(1);
        stream.depth = if synchronous { 1 } else { depth };
        let text = reader.peek("rate_iops").or_else(|| reader.peek("rate"));
        match reader.pace(&mut stream, threads) {
            Some([Some(reads), Some(writes)]) => stream.rate = sum(reads, writes),
            Some(_) => reader.odd("rate", &text.unwrap_or_default()),
            None => {}
        }
        reader.writes(&mut stream);
        stream.offset_bytes = Bytes(reader.size("offset").unwrap_or(0));
        stream.align_bytes = reader.size("blockalign").or_else(|| reader.size("ba")).map(Bytes);
        let targets = reader.targets(job);
        let mut workload = Workload { targets, streams: vec![stream], ..Workload::default() };
        workload.warmup_seconds = reader.seconds("ramp_time").unwrap_or(0.0);
        workload.seed = reader.number("randseed").map_or(workload.seed, u64::from);
        let direct = reader.flag("direct");
        workload.mode = if engine == "mmap" {
            Mode::Mapped
        } else if direct {
            Mode::Direct
        } else {
            Mode::Buffered
        };
        let mut warnings = Vec::new();
        if synchronous && depth > 1 {
            warnings.push(format!(
                "fio was asked for {depth} I/Os at a time, and its engine `{engine}` does one"
            ));
        }
        warnings.extend(reader.rest());
        (workload, warnings)
    }
}

/// Takes options one after the other. Those that are left at the end have no counterpart in
/// iosonde.
pub(super) struct Reader {
    left: BTreeMap<String, String>,
    /// Options whose value has no meaning here, as they would be on a command line.
    odd: Vec<(String, String)>,
    /// Those of them whose value cannot be read at all, with it.
    unreadable: Vec<(String, String)>,
}

impl Reader {
    pub(super) fn new(left: BTreeMap<String, String>) -> Self {
        Self { left, odd: Vec::new(), unreadable: Vec::new() }
    }

    /// Options with values that cannot be read.
    pub(super) fn unreadable(&self) -> &[(String, String)] {
        &self.unreadable
    }

    /// Options whose value has no meaning here, as on a command line.
    pub(super) fn without_meaning(&self) -> &[(String, String)] {
        &self.odd
    }

    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.left.remove(name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.left.contains_key(name)
    }

    /// The value of an option, which stays.
    pub(super) fn peek(&self, name: &str) -> Option<String> {
        self.left.get(name).cloned()
    }

    pub(super) fn put(&mut self, name: &str, value: &str) {
        self.left.insert(name.to_owned(), value.to_owned());
    }

    /// Notes that the value of an option has no meaning here.
    pub(super) fn odd(&mut self, name: &str, value: &str) {
        self.odd.push((name.to_owned(), format!("{name}={value}")));
    }

    pub(super) fn read<T>(&mut self, name: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = self.take(name)?;
        let found = read(&value);
        if found.is_none() {
            self.cannot_read(name, &value);
        }
        found
    }

    fn cannot_read(&mut self, name: &str, value: &str) {
        self.odd(name, value);
        self.unreadable.push((name.to_owned(), value.to_owned()));
    }

    pub(super) fn number(&mut self, name: &str) -> Option<u32> {
        self.read(name, |text| text.parse().ok())
    }

    /// For options such as `bs=4k,8k`, the value for reads, or for writes if there are no reads.
    pub(super) fn size(&mut self, name: &str) -> Option<u64> {
        self.read(name, size)
    }

    /// An option without a value, or with `1`.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.take(name).is_some_and(|value| value != "0")
    }

    pub(super) fn seconds(&mut self, name: &str) -> Option<f64> {
        self.read(name, |text| microseconds(text, 1e6).map(|us| us / 1e6))
    }

    /// Direction and order of the I/Os; returns the share of random I/Os of reads and of writes.
    pub(super) fn pattern(&mut self, stream: &mut Stream) -> [u8; 2] {
        let rw = self.take("rw").or_else(|| self.take("readwrite")).unwrap_or_default();
        let word = rw.split(':').next().unwrap_or_default().to_owned();
        if word.len() != rw.len() {
            self.odd("rw", &rw);
        }
        let mixed = match (self.percent("rwmixread"), self.percent("rwmixwrite")) {
            (_, Some(writes)) => writes,
            (Some(reads), None) => 100 - reads,
            (None, None) => 50,
        };
        (stream.pattern, stream.write_percent) = match word.as_str() {
            "" | "read" => (Pattern::Sequential, 0),
            "write" => (Pattern::Sequential, 100),
            "rw" | "readwrite" => (Pattern::Sequential, mixed),
            "randread" => (Pattern::Random, 0),
            "randwrite" => (Pattern::Random, 100),
            "randrw" => (Pattern::Random, mixed),
            _ => {
                self.cannot_read("rw", &rw);
                (Pattern::Random, 0)
            }
        };
        // Of a random order, the share that is random; the rest continues after the last.
        let mut random = [100, 100];
        if stream.pattern == Pattern::Random {
            let pair = |text: &str| {
                let [reads, writes] = of_directions(text).map(|p| p.parse().ok());
                Some([reads?, writes?]).filter(|pair| pair.iter().all(|p| *p <= 100u8))
            };
            random = self.read("percentage_random", pair).unwrap_or(random);
            let percent = random[usize::from(!stream.reads())];
            if percent < 100 {
                (stream.pattern, stream.random_percent) = (Pattern::Sequential, percent);
            }
        }
        stream.distribution = self.read("random_distribution", distribution).unwrap_or_default();
        random
    }

    pub(super) fn percent(&mut self, name: &str) -> Option<u8> {
        self.read(name, |text| text.split(',').next()?.parse().ok().filter(|p| *p <= 100))
    }

    pub(super) fn blocks(&mut self, stream: &mut Stream) {
        let of_writes = usize::from(!stream.reads());
        let one = |bytes: u64| vec![Block { bytes: Bytes(bytes), weight: 1 }];
        let bs = self.take("bs").or_else(|| self.take("blocksize"));
        stream.blocks = one(4096);
        if let Some(text) = bs {
            let parts: Vec<&str> = text.split(',').collect();
            let differ = stream.reads() && stream.writes() && parts.iter().any(|p| *p != parts[0]);
            let part = parts.get(of_writes).filter(|p| !p.is_empty()).or(parts.first());
            match part.and_then(|p| size(p)) {
                Some(bytes) => stream.blocks = one(bytes),
                None => self.cannot_read("bs", &text),
            }
            if differ && parts.len() > 1 {
                self.odd("bs", &text);
            }
        }
        let weighed = |(bytes, weight): (u64, u32)| Block { bytes: Bytes(bytes), weight };
        let blocks = |text: &str| {
            Some(split(of_directions(text)[of_writes])?.into_iter().map(weighed).collect())
        };
        if let Some(blocks) = self.read("bssplit", blocks) {
            stream.blocks = blocks;
        }
    }

    /// Rates and pauses: of each job, while a stream's rate is that of all of its threads. The
    /// limits of a job that reads and writes decide its share of writes, whatever `rwmixread` says;
    /// where no share has the same effect, they are returned, and the stream has no rate.
    pub(super) fn pace(&mut self, stream: &mut Stream, threads: u32) -> Option<Limits> {
        let all = |each: f64| each * f64::from(threads);
        let iops = self.read("rate_iops", |text| limits(text, |part| part.parse().ok()));
        let mib = |part: &str| size(part).map(|bytes| bytes as f64 / 1_048_576.0);
        let bytes = self.read("rate", |text| limits(text, mib));
        let limits = match (iops, bytes) {
            (Some(iops), _) => iops.map(|each| Some(RateLimit::Iops(all(each?)))),
            (None, Some(mib)) => mib.map(|each| Some(RateLimit::MibPerS(all(each?)))),
            (None, None) => [None, None],
        };
        let limit = match (stream.reads(), stream.writes(), limits) {
            (true, true, [Some(reads), Some(writes)]) if stream.mix.is_none() => {
                share_of_limits(reads, writes, stream.write_percent).map(|(sum, percent)| {
                    stream.write_percent = percent;
                    sum
                })
            }
            (true, true, _) => None,
            (true, false, [reads, _]) => reads,
            (false, _, [_, writes]) => writes,
        };
        let is_apart = limit.is_none() && stream.reads() && stream.writes();
        let poisson = self.take("rate_process").is_some_and(|process| process == "poisson");
        // fio's latency begins at the call, not when the I/O was due.
        let arrival = if poisson { Arrival::Poisson } else { Arrival::Capped };
        stream.rate = limit.map(|limit| Rate { limit, arrival });
        let apart = limits.map(|limit| limit.map(|limit| Rate { limit, arrival }));
        if let Some(pause_us) = self.read("thinktime", |text| microseconds(text, 1.0)) {
            let burst_ios = self.number("thinktime_blocks").unwrap_or(1);
            stream.think = Some(Think {
                pause_ns: Nanoseconds::from_seconds(pause_us / 1e6),
                burst_ios,
                from: workload::ThinkFrom::default(),
            });
        }
        (is_apart && apart.iter().any(Option::is_some)).then_some(apart)
    }

    pub(super) fn writes(&mut self, stream: &mut Stream) {
        for (name, call) in [("fsync", SyncCall::Fsync), ("fdatasync", SyncCall::Fdatasync)] {
            let Some(every_writes) = self.number(name).filter(|every| *every > 0) else { continue };
            if stream.sync.is_some() {
                self.odd(name, &every_writes.to_string());
            } else {
                stream.sync = Some(SyncPolicy { every_writes, call });
            }
        }
        let sync = self.take("sync").unwrap_or_default();
        stream.durable = matches!(sync.as_str(), "1" | "sync" | "dsync");
        let zeros = self.flag("zero_buffers");
        let compressible = self.percent("buffer_compress_percentage").filter(|p| *p > 0);
        stream.content = match (zeros, compressible) {
            (true, _) => Content::Zero,
            (false, Some(percent)) => Content::Compressible { percent },
            (false, None) => Content::Random,
        };
    }

    fn targets(&mut self, job: &str) -> Vec<Target> {
        let whole = self.size("size").or_else(|| self.size("filesize"));
        let directory = self.take("directory");
        let files = self.number("nrfiles").unwrap_or(1).clamp(1, 1000);
        let names: Vec<String> = match self.take("filename") {
            Some(names) => split_names(&names),
            // What fio makes up itself.
            None => (0..files).map(|n| format!("{job}.0.{n}")).collect(),
        };
        let each = whole.map(|bytes| Bytes(bytes / names.len().max(1) as u64));
        let path = |name: String| match &directory {
            Some(directory) => std::path::Path::new(directory).join(name),
            None => name.into(),
        };
        names.into_iter().map(|name| Target { path: path(name), size_bytes: each }).collect()
    }

    /// The options that were not taken over, as one line for the user.
    fn rest(self) -> Option<String> {
        let left = self.left_over().into_iter();
        let left = left.filter(|(name, _)| !NOT_OF_RESULTS.contains(&name.as_str()));
        let all: Vec<String> = left.map(|(_, text)| text).collect();
        (!all.is_empty())
            .then(|| format!("options of fio without a word of iosonde: {}", all.join(", ")))
    }

    /// The names of options that have no word here, and what they would be on a command line.
    pub(super) fn left_over(mut self) -> Vec<(String, String)> {
        self.left.remove("numjobs");
        let silent = |name: &str, value: &str| {
            kinds::kind(name) == Some(OptionKind::Silent) || kinds::is_off(name, value)
        };
        let left = self.left.into_iter().filter(|(name, value)| !silent(name, value));
        let left = left.map(|(name, value)| match value.as_str() {
            "" => (name.clone(), name),
            value => (name.clone(), format!("{name}={value}")),
        });
        self.odd.into_iter().chain(left).collect()
    }
}

/// The limits of reads and of writes, where they are not one.
pub(super) type Limits = [Option<Rate>; 2];

/// The limits in `200,100`, `,100` and `200`, which is that of both; 0 is none.
fn limits(text: &str, read: impl Fn(&str) -> Option<f64>) -> Option<[Option<f64>; 2]> {
    let (reads, writes) = text.split_once(',').unwrap_or((text, text));
    let limit = |part: &str| match part.trim() {
        "" => Some(None),
        part => Some(Some(read(part)?).filter(|limit| *limit > 0.0)),
    };
    Some([limit(reads)?, limit(writes.split(',').next().unwrap_or_default())?])
}

/// Both limits as one.
fn sum(reads: Rate, writes: Rate) -> Option<Rate> {
    let limit = match (reads.limit, writes.limit) {
        (RateLimit::Iops(r), RateLimit::Iops(w)) => RateLimit::Iops(r + w),
        (RateLimit::MibPerS(r), RateLimit::MibPerS(w)) => RateLimit::MibPerS(r + w),
        _ => return None,
    };
    Some(Rate { limit, ..reads })
}

/// Both limits as one, with the share of writes in percent that has the same effect; `None` if no
/// whole percentage has.
fn share_of_limits(reads: RateLimit, writes: RateLimit, asked: u8) -> Option<(RateLimit, u8)> {
    let (reads, writes, sum) = match (reads, writes) {
        (RateLimit::Iops(r), RateLimit::Iops(w)) => (r, w, RateLimit::Iops(r + w)),
        (RateLimit::MibPerS(r), RateLimit::MibPerS(w)) => {
            (r * 1_048_576.0, w * 1_048_576.0, RateLimit::MibPerS(r + w))
        }
        _ => return None,
    };
    let percent = 100.0 * writes / (reads + writes);
    // The limits of a job are whole I/Os or bytes per second.
    if (percent - f64::from(asked)).abs() <= 100.0 / (reads + writes) {
        return Some((sum, asked));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100")]
    ((percent - percent.round()).abs() < 1e-9).then(|| (sum, percent.round() as u8))
}

/// Names between colons; `\:` is a colon of a name.
pub(super) fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, names.last_mut()) {
            // Other backslashes are those of a path.
            ('\\', Some(name)) if chars.as_str().starts_with(':') => name.extend(chars.next()),
            (':', _) => names.push(String::new()),
            (c, Some(name)) => name.push(c),
            (_, None) => {}
        }
    }
    names.retain(|name| !name.is_empty());
    if names.is_empty() { vec!["unknown".to_owned()] } else { names }
}

/// `4k`, `1m`, `512`, `1.5g`: powers of 1024, as fio has them unless it is asked for others.
fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * (1_u64 << shift) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    (bytes < 9e18).then_some(bytes as u64)
}

/// A time with a unit, or a number of `unit_us` microseconds each.
pub(super) fn microseconds(text: &str, unit_us: f64) -> Option<f64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit_us = match unit {
        "" => unit_us,
        "us" | "usec" => 1.0,
        "ms" | "msec" => 1e3,
        "s" => 1e6,
        "m" => 6e7,
        "h" => 3.6e9,
        "d" => 8.64e10,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|number| number * unit_us)
}

/// `zipf:1.2`; others have no word here.
fn distribution(text: &str) -> Option<Distribution> {
    match text.split_once(':') {
        None if text == "random" => Some(Distribution::Uniform),
        Some(("zipf", theta)) => {
            let theta = theta.split([':', '/']).next()?.parse().ok();
            theta
                .filter(|t: &f64| t.is_finite() && *t > 0.0)
                .map(|theta| Distribution::Zipf { theta })
        }
        _ => None,
    }
}

/// Splits `4k/60:8k/` into sizes and their percentages: those without one share the rest.
pub(super) fn split(text: &str) -> Option<Vec<(u64, u32)>> {
    let mut sizes: Vec<(u64, Option<u32>)> = Vec::new();
    for entry in text.split(':') {
        let (bytes, percent) = entry.split_once('/').unwrap_or((entry, ""));
        let percent = percent.trim();
        let percent = if percent.is_empty() { None } else { Some(percent.parse().ok()?) };
        sizes.push((size(bytes)?, percent));
    }
    let given =
        sizes.iter().filter_map(|(_, percent)| *percent).try_fold(0u32, u32::checked_add)?;
    let open = u32::try_from(sizes.iter().filter(|(_, percent)| percent.is_none()).count()).ok()?;
    let left = 100u32.checked_sub(given)?;
    let each = left.checked_div(open).unwrap_or(0);
    if open > 0 && left != each * open {
        return None;
    }
    let mut sizes: Vec<(u64, u32)> =
        sizes.into_iter().map(|(bytes, percent)| (bytes, percent.unwrap_or(each))).collect();
    if open == 0 {
        // fio gives what is left to the last.
        sizes.last_mut()?.1 += left;
    }
    sizes.retain(|(_, percent)| *percent > 0);
    (!sizes.is_empty()).then_some(sizes)
}

/// The part of an option for reads and that for writes, which is the same unless a comma is before
/// it.
pub(super) fn of_directions(text: &str) -> [&str; 2] {
    let (reads, rest) = text.split_once(',').unwrap_or((text, text));
    let writes = rest.split(',').next().unwrap_or_default();
    [reads.trim(), if writes.trim().is_empty() { reads.trim() } else { writes.trim() }]
}
