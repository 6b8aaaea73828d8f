//! Jobs that run at the same time as one workload, each job a stream.

use std::path::{Path, PathBuf};

use workload::{
    Bytes, Content, EngineChoice, Mode, OnError, Pattern, Pool, PoolShare, Priority, Stream,
    Target, Workload, parse_cpus,
};

use super::parse::{Job, Place};
use super::refuse::{check_values, losses, without_paces};
use super::sizes::{Shares, sizes, take_stride, take_zones, zones};
use super::{Environment, Group, JobFileError, at, directions};
use crate::fio::options::{Limits, Reader, SYNCHRONOUS, split_names};

/// Engines with what they are here; others work through these calls, too, or not on files.
const ENGINES: [(&str, EngineChoice); 12] = [
    ("libaio", EngineChoice::Aio),
    ("io_uring", EngineChoice::Uring),
    ("io_uring_cmd", EngineChoice::Uring),
    ("sync", EngineChoice::Sync),
    ("psync", EngineChoice::Sync),
    ("vsync", EngineChoice::Sync),
    ("pvsync", EngineChoice::Sync),
    ("pvsync2", EngineChoice::Sync),
    ("mmap", EngineChoice::Auto),
    ("null", EngineChoice::Null),
    ("posixaio", EngineChoice::Auto),
    ("windowsaio", EngineChoice::Auto),
];

/// What the engine is where a job names none.
const ENGINE: &str = "psync";

/// How fio calls files without names.
const FILE_NAME_FORMAT: &str = "$jobname.$jobnum.$filenum";

/// The most threads of a job, which is what a workload may have.
const THREADS_MAX: u32 = 4096;
/// The most files of all jobs of a job file, each counted once for each job that uses it.
const FILES_MAX: usize = 10_000;

/// Losses that are reported once for all jobs of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Common {
    seconds: Option<f64>,
    warmup_seconds: f64,
    engine: EngineChoice,
    mode: Mode,
    seed: Option<u64>,
    on_error: OnError,
}

/// Collects the streams and targets of a group.
struct WorkloadBuilder<'a> {
    environment: Environment<'a>,
    /// Files of all jobs so far, those of other groups among them.
    files: &'a mut usize,
    targets: Vec<Target>,
    streams: Vec<Stream>,
    lost: Vec<String>,
}

/// The jobs of a group. `odd` are lines that do not belong in a job file, and `files` counts the
/// files of all groups.
pub(super) fn group(
    jobs: &[Job],
    odd: &[String],
    environment: Environment<'_>,
    files: &mut usize,
) -> Result<Group, JobFileError> {
    let (targets, streams) = (Vec::new(), Vec::new());
    let mut made = WorkloadBuilder { environment, files, targets, streams, lost: odd.to_vec() };
    // One for each stream, of which a job may have two.
    let mut all: Vec<(&Job, Common)> = Vec::new();
    for job in jobs {
        let common = made.job(job)?;
        all.resize(made.streams.len(), (job, common));
    }
    made.drop_whole_spans();
    let usual = Workload::default();
    let Some((first, common)) = all.first() else { return Err(JobFileError::NoJob) };
    for (stream, (_, own)) in made.streams.iter_mut().zip(&all) {
        stream.mode = (own.mode != common.mode).then_some(own.mode);
    }
    let longest = all.iter().filter_map(|(_, c)| c.seconds).reduce(f64::max);
    for (job, other) in all.iter().skip(1) {
        let same = Common { mode: common.mode, seconds: common.seconds, ..*other };
        let alike = same == *common && other.seconds == common.seconds;
        if !alike {
            let what = format!(
                "jobs that run at the same time share length, ramp, engine and seed here. But \
                 `{}` has others than `{}`; the longest time and the rest of `{}` are taken",
                job.name, first.name, first.name
            );
            made.lost.push(at(job.place, &what));
        }
    }
    if longest.is_none() {
        let what = format!(
            "no `runtime`: fio ends when all of `size` is done; {} s are taken",
            usual.seconds
        );
        made.lost.push(at(first.place, &what));
    }
    let workload = Workload {
        targets: made.targets,
        streams: made.streams,
        seconds: longest.unwrap_or(usual.seconds),
        warmup_seconds: all.iter().map(|(_, c)| c.warmup_seconds).fold(0.0, f64::max),
        engine: common.engine,
        mode: common.mode,
        seed: common.seed.unwrap_or(usual.seed),
        on_error: common.on_error,
        ..usual
    };
    Ok(Group { jobs: jobs.iter().map(|j| j.name.clone()).collect(), workload, lost: made.lost })
}

impl WorkloadBuilder<'_> {
    fn job(&mut self, job: &Job) -> Result<Common, JobFileError> {
        let mut reader = Reader::new(job.options.clone());
        let mut notes: Vec<(&str, String)> = Vec::new();
        reader.take("stonewall");
        let engine = reader.take("ioengine").unwrap_or_else(|| ENGINE.to_owned());
        let no_files = |what: String| {
            Err(JobFileError::NoFiles { line: job.place.line, job: job.name.clone(), what })
        };
        let Some((_, choice)) = ENGINES.iter().find(|(name, _)| *name == engine) else {
            return no_files(format!("uses the engine `{engine}`, which has no word here"));
        };
        if job.options.get("rw").is_some_and(|rw| rw.contains("trim")) {
            return no_files("trims, which iosonde does not".to_owned());
        }
        let (numjobs, depth) = (reader.number("numjobs"), reader.number("iodepth"));
        let (jobs, depth) = (numjobs.unwrap_or(1).max(1), depth.unwrap_or(1).max(1));
        let synchronous = SYNCHRONOUS.contains(&engine.as_str());
        if synchronous && depth > 1 {
            notes.push((
                "iodepth",
                format!("iodepth={depth}: the engine `{engine}` does one I/O at a time"),
            ));
        }
        let name: String = job.name.chars().take(64).collect();
        let name = if name.is_empty() { "job".to_owned() } else { name };
        let mut stream =
            Stream { name, depth: if synchronous { 1 } else { depth }, ..Stream::default() };
        let stride = take_stride(&mut reader);
        let zones = take_zones(&mut reader);
        let random = reader.pattern(&mut stream);
        sizes(&mut reader, &mut stream, stride, random);
        if let Some(zones) = zones {
            self::zones(&mut reader, &mut stream, &zones);
        }
        let limits = reader.pace(&mut stream, jobs);
        if (stream.rate.is_some() || limits.is_some()) && stream.think.take().is_some() {
            notes.push(("thinktime", "pauses of a job that has a rate".to_owned()));
        }
        content(&mut reader, &mut stream);
        placement(&mut reader, &mut stream);
        let common = common(&mut reader, *choice, &engine, &mut notes);
        stream.targets = self.files(&mut reader, job, jobs, &mut stream, &mut notes)?;
        if stream.threads > 1 && stream.pattern != Pattern::Random {
            notes.push((
                "numjobs",
                "all clones of a job begin at the first block; threads are spread over the file \
                 here"
                    .to_owned(),
            ));
        }
        if limits.is_none() {
            without_paces(job, &stream)?;
        } else {
            notes.push((
                if job.options.contains_key("rate_iops") { "rate_iops" } else { "rate" },
                "reads and writes have separate limits: they are two streams, each with the \
                 whole depth"
                    .to_owned(),
            ));
        }
        check_values(job, &reader)?;
        self.lost.extend(losses(job, reader, notes, stream.writes())?);
        match limits {
            None => self.streams.push(stream),
            Some(limits) => self.streams.extend(apart(&stream, limits)),
        }
        Ok(common)
    }

    /// The indexes of a job's files, with the threads that work on them.
    fn files(
        &mut self,
        reader: &mut Reader,
        job: &Job,
        jobs: u32,
        stream: &mut Stream,
        notes: &mut Vec<(&str, String)>,
    ) -> Result<Vec<usize>, JobFileError> {
        let directory = reader.take("directory");
        let count = reader.number("nrfiles").unwrap_or(1).max(1) as usize;
        let written = reader.take("filename").map(|names| split_names(&names));
        let share = reader.take("file_service_type");
        // A clone of a job without names has files of its own.
        let format = Self::format(reader, job, written.is_some())?;
        let own = written.is_none() && jobs > 1 && format.contains("$jobnum");
        let clones = if own { jobs as usize } else { 1 };
        let all = written.as_ref().map_or(clones.saturating_mul(count), Vec::len);
        self.count(job, jobs, all)?;
        let names = written.unwrap_or_else(|| {
            let of = |clone: usize| (0..count).map(move |n| (clone, n));
            (0..clones).flat_map(of).map(|(c, n)| named(&format, &job.name, c, n)).collect()
        });
        let each_clone = (names.len() / clones).max(1) as u64;
        let path = |name: String| match &directory {
            Some(directory) => Path::new(directory).join(name),
            None => PathBuf::from(name),
        };
        let names: Vec<PathBuf> = names.into_iter().map(path).collect();
        let whole = reader.size("filesize");
        let shares = Shares { job, paths: &names, whole, size_of: self.environment.size_of };
        let offset = shares.bytes(reader, "offset")?.unwrap_or(0);
        let size = shares.bytes(reader, "size")?.map(|size| size / each_clone);
        stream.offset_bytes = Bytes(offset);
        let end = size.map(|s| s.saturating_add(offset));
        let file = whole.or(end).map(Bytes);
        // Another job may use more of the file; `drop_whole_spans` has the last word.
        stream.span_bytes = size.or(whole.map(|w| w.saturating_sub(offset))).map(Bytes);
        stream.threads = if own { 1 } else { jobs };
        if own && count > 1 {
            stream.threads = jobs;
            notes.push((
                "nrfiles",
                format!(
                    "each of the {jobs} clones has {count} own files; all threads work on \
                     all of them here"
                ),
            ));
        }
        if names.len() > 1 && (!own || count > 1) {
            let service = share.unwrap_or_else(|| "roundrobin".to_owned());
            let share = share_of(&service, stream.mix.is_some());
            if share.is_none() {
                reader.odd("file_service_type", &service);
            }
            stream.pool = share.map(|share| Pool { share });
        }
        let mut indexes = Vec::new();
        for path in names {
            let index = self.target(path, file);
            if !indexes.contains(&index) {
                indexes.push(index);
            }
        }
        if indexes.len() < 2 {
            stream.pool = None;
        }
        Ok(indexes)
    }

    /// How the files of a job without names are called.
    fn format(reader: &mut Reader, job: &Job, unused: bool) -> Result<String, JobFileError> {
        let format = reader.take("filename_format").filter(|_| !unused);
        let format = format.unwrap_or_else(|| FILE_NAME_FORMAT.to_owned());
        if named(&format, "", 0, 0).contains('$') {
            let Place { line, column } =
                job.places.get("filename_format").copied().unwrap_or(job.place);
            let what = format!(
                "`filename_format={format}`: iosonde knows `$jobname`, `$jobnum` and `$filenum` \
                 in it; name the files with `filename`"
            );
            return Err(JobFileError::Value { line, column, what });
        }
        Ok(format)
    }

    /// Counts the files of a job, unless they are too many.
    fn count(&mut self, job: &Job, jobs: u32, files: usize) -> Result<(), JobFileError> {
        *self.files = self.files.saturating_add(files);
        let (option, what) = if jobs > THREADS_MAX {
            ("numjobs", format!("has {jobs} threads (numjobs); {THREADS_MAX} are the most"))
        } else if *self.files > FILES_MAX {
            let what = format!(
                "has {files} files, with those of the jobs before it {}; {FILES_MAX} are the most",
                self.files
            );
            (if job.places.contains_key("nrfiles") { "nrfiles" } else { "filename" }, what)
        } else {
            return Ok(());
        };
        let Place { line, column } = job.places.get(option).copied().unwrap_or(job.place);
        Err(JobFileError::TooMany { line, column, job: job.name.clone(), what })
    }

    /// The index of a path, as large as the job that uses most of it needs.
    fn target(&mut self, path: PathBuf, size_bytes: Option<Bytes>) -> usize {
        let index = self.targets.iter().position(|t| t.path == path).unwrap_or(self.targets.len());
        match self.targets.get_mut(index) {
            // A job without a size uses the whole file.
            Some(known) => {
                let both = known.size_bytes.zip(size_bytes);
                known.size_bytes = both.map(|(a, b)| a.max(b));
            }
            None => self.targets.push(Target { path, size_bytes }),
        }
        index
    }

    /// Streams that use their targets from begin to end need not say how much of them.
    fn drop_whole_spans(&mut self) {
        for stream in self.streams.iter_mut().filter(|s| s.offset_bytes.0 == 0) {
            let sizes = stream.targets.iter().filter_map(|t| self.targets.get(*t));
            if sizes.map(|t| t.size_bytes).all(|size| size == stream.span_bytes) {
                stream.span_bytes = None;
            }
        }
    }
}

/// A stream of reads and one of writes, each with its own limit.
fn apart(stream: &Stream, limits: Limits) -> [Stream; 2] {
    let mut ways = [("reads", 0), ("writes", 100)].map(|(way, write_percent)| {
        let part =
            Stream { name: format!("{} {way}", stream.name), write_percent, ..stream.clone() };
        match &stream.mix {
            Some(mix) => directions::of_way(part, mix),
            None => part,
        }
    });
    for (way, limit) in ways.iter_mut().zip(limits) {
        way.rate = limit;
    }
    let [reads, _] = &mut ways;
    (reads.content, reads.sync, reads.durable) = (Content::Random, None, false);
    ways
}

/// What a file is called, of a clone of a job.
fn named(format: &str, job: &str, clone: usize, file: usize) -> String {
    format
        .replace("$jobnum", &clone.to_string())
        .replace("$filenum", &file.to_string())
        .replace("$jobname", job)
}

fn content(reader: &mut Reader, stream: &mut Stream) {
    reader.writes(stream);
    let refilled = reader.flag("refill_buffers");
    let scrambled = reader.take("scramble_buffers").is_none_or(|value| value != "0");
    if reader.peek("buffer_compress_chunk").as_deref() == Some("4096") {
        reader.take("buffer_compress_chunk");
    }
    if !stream.writes() {
        stream.content = Content::Random;
        (stream.sync, stream.durable) = (None, false);
    } else if stream.content == Content::Random && !refilled && !scrambled {
        stream.content = Content::Fixed;
    }
}

/// Takes over the CPUs and the I/O priority of a job.
fn placement(reader: &mut Reader, stream: &mut Stream) {
    if let Some(cpus) = reader.read("cpus_allowed", |text| parse_cpus(text).ok()) {
        stream.cpus = cpus;
        let policy = reader.take("cpus_allowed_policy").unwrap_or_else(|| "shared".to_owned());
        if policy != "split" && stream.cpus.len() > 1 {
            reader.odd("cpus_allowed_policy", &policy);
        }
    }
    let level = reader.read("prio", |text| text.parse().ok().filter(|level| *level <= 7u8));
    stream.priority = match (reader.number("prioclass"), level) {
        (Some(1), level) => Some(Priority::Realtime { level: level.unwrap_or(4) }),
        (Some(2), level) => Some(Priority::BestEffort { level: level.unwrap_or(4) }),
        (Some(3), _) => Some(Priority::Idle),
        (_, Some(level)) => Some(Priority::BestEffort { level }),
        (_, None) => None,
    };
}

fn common(
    reader: &mut Reader,
    engine: EngineChoice,
    name: &str,
    notes: &mut Vec<(&str, String)>,
) -> Common {
    let direct = reader.flag("direct");
    let buffered = reader.take("buffered").map(|value| value != "0");
    let mode = match (name, buffered.map_or(direct, |buffered| !buffered)) {
        ("mmap", _) => Mode::Mapped,
        (_, true) => Mode::Direct,
        (_, false) => Mode::Buffered,
    };
    let seconds = reader.seconds("runtime").filter(|seconds| *seconds > 0.0);
    if !reader.flag("time_based") && seconds.is_some() && reader.has("size") {
        let text = "without `time_based` fio ends when all of `size` is done, here after `runtime`";
        notes.push(("runtime", text.to_owned()));
    }
    let on_error = match reader.take("continue_on_error").as_deref() {
        Some("all" | "io" | "1") => OnError::Continue,
        None | Some("none" | "0") => OnError::Stop,
        Some(other) => {
            reader.odd("continue_on_error", other);
            OnError::Continue
        }
    };
    Common {
        seconds,
        warmup_seconds: reader.seconds("ramp_time").unwrap_or(0.0),
        engine,
        mode,
        seed: reader.read("randseed", |text| text.parse().ok()),
        on_error,
    }
}

/// How the I/Os of a job with several files go to them; `None` if iosonde has no such way.
fn share_of(service: &str, mixed: bool) -> Option<PoolShare> {
    match service {
        "roundrobin" => Some(PoolShare::InTurn),
        "random" if !mixed => Some(PoolShare::Drawn { weights: Vec::new() }),
        _ => None,
    }
}
