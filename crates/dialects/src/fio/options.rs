//! The options of a job, as a workload.

use std::collections::BTreeMap;

use serde_json::Value;
use workload::{
    Arrival, Block, Bytes, Content, Distribution, Mode, Nanoseconds, Pattern, Rate, RateLimit,
    Stream, SyncCall, SyncPolicy, Target, Think, Workload,
};

use super::document::RawOptions;

/// Engines that have one I/O at a time, whatever depth they are asked for.
pub(super) const SYNCHRONOUS: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];

/// Options that change nothing about the measurement, or whose effect is in the figures.
const SILENT: [&str; 26] = [
    "name",
    "description",
    "group_reporting",
    "time_based",
    "runtime",
    "stonewall",
    "new_group",
    "wait_for_previous",
    "output",
    "output-format",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "log_avg_msec",
    "per_job_logs",
    "lat_percentiles",
    "clat_percentiles",
    "slat_percentiles",
    "percentile_list",
    "thread",
    "eta",
    "invalidate",
    "unified_rw_reporting",
    "disable_slat",
    "disable_clat",
    "exitall",
];

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
        reader.pattern(&mut stream);
        reader.blocks(&mut stream);
        let depth = reader.number("iodepth").unwrap_or(1).max(1);
        stream.depth = if synchronous { 1 } else { depth };
        reader.pace(&mut stream, threads);
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

    pub(super) fn pattern(&mut self, stream: &mut Stream) {
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
        if stream.pattern == Pattern::Random
            && let Some(percent @ ..100) = self.percent("percentage_random")
        {
            (stream.pattern, stream.random_percent) = (Pattern::Sequential, percent);
        }
        stream.distribution = self.read("random_distribution", distribution).unwrap_or_default();
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
        if let Some(blocks) = self.read("bssplit", split) {
            stream.blocks = blocks;
        }
    }

    /// Rates and pauses: of each job, while a stream's rate is that of all of its threads.
    pub(super) fn pace(&mut self, stream: &mut Stream, threads: u32) {
        let (reads, writes) = (stream.reads(), stream.writes());
        // Reads and writes have limits of their own; the only one that is given is that of both.
        let sum = |text: &str, read: fn(&str) -> Option<f64>| {
            let (first, second) = text.split_once(',').unwrap_or((text, text));
            let second = second.split(',').next().filter(|s| !s.is_empty()).unwrap_or(first);
            let limit = |counts: bool, text: &str| if counts { read(text) } else { Some(0.0) };
            Some(limit(reads, first)? + limit(writes, second)?)
        };
        let all = |each: f64| each * f64::from(threads);
        let iops = self.read("rate_iops", |text| sum(text, |part| part.parse().ok()));
        let bytes = self.read("rate", |text| sum(text, |part| size(part).map(|b| b as f64)));
        let limit = match (iops, bytes) {
            (Some(iops), _) => Some(RateLimit::Iops(all(iops))),
            (None, Some(bytes)) => Some(RateLimit::MibPerS(all(bytes / 1_048_576.0))),
            (None, None) => None,
        };
        let poisson = self.take("rate_process").is_some_and(|process| process == "poisson");
        // fio's latency begins at the call, not when the I/O was due.
        let arrival = if poisson { Arrival::Poisson } else { Arrival::Capped };
        stream.rate = limit.map(|limit| Rate { limit, arrival });
        if let Some(pause_us) = self.read("thinktime", |text| microseconds(text, 1.0)) {
            let burst_ios = self.number("thinktime_blocks").unwrap_or(1);
            stream.think = Some(Think {
                pause_ns: Nanoseconds::from_seconds(pause_us / 1e6),
                burst_ios,
                from: workload::ThinkFrom::default(),
            });
        }
    }

    pub(super) fn writes(&mut self, stream: &mut Stream) {
        for (name, call) in [("fsync", SyncCall::Fsync), ("fdatasync", SyncCall::Fdatasync)] {
            if let Some(every_writes) = self.number(name).filter(|every| *every > 0) {
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
        let all: Vec<String> = self.left_over().into_iter().map(|(_, text)| text).collect();
        (!all.is_empty())
            .then(|| format!("options of fio without a word of iosonde: {}", all.join(", ")))
    }

    /// The names of options that have no word here, and what they would be on a command line.
    pub(super) fn left_over(mut self) -> Vec<(String, String)> {
        self.left.remove("numjobs");
        let left = self.left.into_iter().filter(|(name, _)| !SILENT.contains(&name.as_str()));
        let left = left.map(|(name, value)| match value.as_str() {
            "" => (name.clone(), name),
            value => (name.clone(), format!("{name}={value}")),
        });
        self.odd.into_iter().chain(left).collect()
    }
}

/// Names between colons; `\:` is a colon of a name.
pub(super) fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, names.last_mut()) {
            ('\\', Some(name)) => name.extend(chars.next()),
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

/// Splits `4k/60:8k/40` into sizes with their weights.
pub(super) fn split(text: &str) -> Option<Vec<Block>> {
    let text = text.split(',').next()?;
    let part = |part: &str| {
        let (bytes, percent) = part.split_once('/')?;
        Some(Block { bytes: Bytes(size(bytes)?), weight: percent.parse().ok().filter(|w| *w > 0)? })
    };
    text.split(':').map(part).collect()
}
