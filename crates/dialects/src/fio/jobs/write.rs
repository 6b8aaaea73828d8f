//! A workload as a job file.

use std::fmt::{Display, Write as _};
use std::path::{Path, PathBuf};

use thiserror::Error;
use workload::{
    Arrival, Completion, Content, DiskspdAccess, DiskspdSlices, Distribution, EngineChoice, Mode,
    OnError, Pattern, PoolShare, Priority, RateLimit, Stream, SyncCall, Target, ThinkFrom,
    Workload,
};

use super::directions;
use super::values::is_literal;
use crate::losses::Losses;

/// A path that no line of a job file can hold: fio would work on another file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "the target `{}` cannot be written in a job file. fio would end the name at a `;`, a `#` or \
     the end of a line, fill in a `${{`, and strip blanks from its ends. Give the file another \
     name, or a link to it",
    .0.display()
)]
pub struct NoFileName(pub PathBuf);

/// A workload as the text of a job file, and what of it is lost.
pub fn write(workload: &Workload) -> Result<(String, Vec<String>), NoFileName> {
    if let Some(target) = workload.targets.iter().find(|t| !can_be_named(&t.path)) {
        return Err(NoFileName(target.path.clone()));
    }
    let mut out = Out::default();
    out.global(workload);
    let mut names: Vec<String> = vec!["global".to_owned()];
    for stream in &workload.streams {
        let indexes = stream.target_indexes(workload.targets.len());
        let targets: Vec<&Target> =
            indexes.iter().filter_map(|t| workload.targets.get(*t)).collect();
        let groups: Vec<Vec<&Target>> = match stream.pool {
            Some(_) => vec![targets],
            None => targets.into_iter().map(|t| vec![t]).collect(),
        };
        out.losses.begin_stream(&stream.name);
        for (number, targets) in groups.iter().enumerate() {
            let name = section_name(stream, number, groups.len(), &names);
            let _ = write!(out.text, "\n[{name}]\n");
            names.push(name);
            out.job(workload, stream, targets, groups.len());
        }
    }
    Ok((out.text, out.losses.into_sentences()))
}

/// Whether fio reads a path as it is written.
fn can_be_named(path: &Path) -> bool {
    let odd = |c: char| c.is_control() || matches!(c, ';' | '#');
    let is_one = |p: &str| p.trim() == p && !p.contains(odd) && !p.ends_with('\\') && is_literal(p);
    path.to_str().is_some_and(is_one)
}

/// The name of a stream's job on one of its targets: one that no other has, without what would end
/// it.
fn section_name(stream: &Stream, number: usize, of: usize, names: &[String]) -> String {
    let plain = |c: char| if c.is_control() || "[];#".contains(c) { '-' } else { c };
    let name: String = stream.name.chars().map(plain).collect();
    let name = if name.trim().is_empty() { "job" } else { name.trim() };
    let name = if of > 1 { format!("{name}-{}", number + 1) } else { name.to_owned() };
    let twin = |n: usize| if n == 1 { name.clone() } else { format!("{name}-{n}") };
    (1..=names.len() + 1).map(twin).find(|name| !names.contains(name)).unwrap_or_default()
}

/// The job file, and what is lost in it.
#[derive(Default)]
struct Out {
    text: String,
    losses: Losses,
}

impl Out {
    fn set(&mut self, option: &str, value: impl Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{option}={value}");
    }

    fn global(&mut self, workload: &Workload) {
        self.text.push_str("; written by iosonde\n[global]\n");
        let engine = match (workload.mode, workload.engine) {
            (Mode::Mapped, _) => "mmap",
            (_, EngineChoice::Uring) => "io_uring",
            (_, EngineChoice::Iocp) => "windowsaio",
            (_, EngineChoice::Sync) => "psync",
            (_, EngineChoice::Null) => "null",
            // iosonde chooses by the target; fio must be told.
            (_, EngineChoice::Aio | EngineChoice::Auto) => "libaio",
            (_, EngineChoice::Sim) => {
                self.losses.add("the simulated device; the file names the engine `null`");
                "null"
            }
        };
        self.set("ioengine", engine);
        self.set("direct", u8::from(workload.mode == Mode::Direct));
        self.set("time_based", 1);
        self.set("runtime", seconds(workload.seconds));
        if workload.warmup_seconds > 0.0 {
            self.set("ramp_time", seconds(workload.warmup_seconds));
        }
        self.set("randseed", workload.seed);
        if workload.on_error == OnError::Continue {
            self.set("continue_on_error", "all");
        }
        self.losses.add_if(
            workload.precision.is_some(),
            "the end of the window when a precision is reached",
        );
        self.losses
            .add_if(workload.cooldown_seconds > 0.0, "I/O after the window (cooldown_seconds)");
        self.losses.add_if(
            workload.completion == Completion::Spin,
            "waiting without sleep (completion = \"spin\")",
        );
    }

    /// A job of one stream on some targets; `jobs` is how many the stream has.
    fn job(&mut self, workload: &Workload, stream: &Stream, targets: &[&Target], jobs: usize) {
        self.order(stream);
        if let Some(mode) = stream.mode {
            self.set("direct", u8::from(mode == Mode::Direct));
            self.losses.add_if(
                mode == Mode::Mapped,
                "memory mapping of one stream; fio has it as a separate engine",
            );
        }
        self.losses.add_if(
            stream.hint.is_some(),
            "the hint to the operating system about the \
            order",
        );
        let shares = stream.joined || !stream.members.is_empty();
        self.losses.add_if(
            shares,
            "threads that work on the targets of several streams; each has its own threads",
        );
        let mapped = workload.mode == Mode::Mapped;
        self.losses.add_if(
            mapped && stream.depth > 1,
            "the depth: fio's engine `mmap` does one I/O at a time in each clone",
        );
        self.set("iodepth", stream.depth);
        self.set("numjobs", stream.threads);
        self.region(stream, targets);
        if let Some(pool) = &stream.pool {
            match &pool.share {
                PoolShare::InTurn => {}
                PoolShare::Drawn { weights } => {
                    self.set("file_service_type", "random");
                    self.losses.add_if(
                        !weights.is_empty(),
                        "the weights of the targets; each is drawn as often",
                    );
                }
                PoolShare::Each => {
                    self.losses
                        .add("a depth on each target; fio has it for all files of a job together");
                }
            }
        }
        self.pace(stream, jobs);
        self.writes(stream);
        self.placement(stream);
        self.losses.add_if(!stream.buffers.is_single(), "the layout of the buffers");
    }

    /// Writes the direction, the order of offsets and the sizes.
    fn order(&mut self, stream: &Stream) {
        let mixed = stream.mix.as_ref().map(directions::of_mix);
        let random_percent = self.random_percent(stream);
        let share = match &mixed {
            Some(Some((_, share, _))) => *share,
            _ => stream.write_percent,
        };
        let word = match (random_percent > 0, share) {
            (true, 0) => "randread",
            (true, 100) => "randwrite",
            (true, _) => "randrw",
            (false, 0) => "read",
            (false, 100) => "write",
            (false, _) => "rw",
        };
        match self.gap(stream) {
            Some(gap) if random_percent == 0 => self.set("rw", format_args!("{word}:{gap}")),
            _ => self.set("rw", word),
        }
        if !matches!(share, 0 | 100) {
            self.set("rwmixwrite", share);
        }
        if random_percent > 0 {
            self.set("norandommap", 1);
            if random_percent < 100 {
                self.set("percentage_random", random_percent);
            }
        }
        match mixed {
            Some(Some((split, _, rounded))) => {
                self.set("bssplit", split);
                let align = stream.alignment();
                self.set("ba", align);
                let several =
                    stream.mix.iter().flat_map(|m| &m.parts).any(|p| p.alignment() != align);
                self.losses.add_if(
                    several,
                    "the alignment of each part of the mix; the smallest is written",
                );
                self.losses.add_if(rounded, "parts of a percent in the shares of the mix");
            }
            Some(None) => {
                self.blocks(stream);
                self.losses.add(
                    "the mix: its parts differ in more than size and direction; means are written",
                );
            }
            None => self.blocks(stream),
        }
        self.distribution(stream);
    }

    fn blocks(&mut self, stream: &Stream) {
        match stream.blocks.as_slice() {
            [one] => self.set("bs", one.bytes.0),
            many => {
                let (split, exact) = directions::blocks(many);
                self.set("bssplit", split);
                self.losses.add_if(!exact, "parts of a percent in the weights of the blocks");
            }
        }
        let smallest = stream.blocks.iter().map(|b| b.bytes.0).min().unwrap_or(0);
        let random = stream.pattern == Pattern::Random || stream.random_percent > 0;
        let step = stream.diskspd.as_ref().map(|order| order.step_bytes.0);
        let align = step.unwrap_or(stream.alignment());
        if random && align != smallest {
            self.set("ba", align);
        }
    }

    /// The share of I/Os that go anywhere.
    fn random_percent(&mut self, stream: &Stream) -> u8 {
        if let Some(order) = &stream.diskspd {
            self.losses
                .add_if(order.thread_stride_bytes.0 > 0, "the distance of the threads' first I/Os");
            return match order.access {
                DiskspdAccess::Random => 100,
                DiskspdAccess::Mixed { random_percent } => {
                    self.losses
                        .add("DiskSpd's directions, which change only where a random I/O is");
                    random_percent
                }
                DiskspdAccess::Sequential => 0,
                DiskspdAccess::Interlocked | DiskspdAccess::Parallel => {
                    self.losses
                        .add("a cursor that threads share, or that each outstanding I/O has");
                    0
                }
            };
        }
        match stream.pattern {
            Pattern::Random => 100,
            Pattern::Sequential | Pattern::Stride { .. } => {
                let spread = stream.threads > 1 && stream.random_percent < 100;
                self.losses.add_if(
                    spread,
                    "threads spread over the file; all clones of a job begin at its first block",
                );
                stream.random_percent
            }
            Pattern::SequentialShared => {
                self.losses.add("a cursor that threads share; each clone has its own");
                stream.random_percent
            }
            Pattern::Matrix { .. } => {
                self.losses.add("SQLIO's matrix; a sequential order is written");
                0
            }
        }
    }

    /// Bytes that are left out after each sequential I/O.
    fn gap(&mut self, stream: &Stream) -> Option<u64> {
        let step = match (&stream.diskspd, stream.pattern) {
            (Some(order), _) => order.step_bytes.0,
            (None, Pattern::Stride { stride_bytes }) => stride_bytes.0,
            _ => return None,
        };
        let gap = match stream.blocks.as_slice() {
            [block] => step.checked_sub(block.bytes.0),
            _ => None,
        };
        let sequential = stream.diskspd.as_ref().is_none_or(|o| {
            !matches!(o.access, DiskspdAccess::Random | DiskspdAccess::Mixed { .. })
        });
        self.losses.add_if(
            gap.is_none() && sequential,
            "a distance of I/Os that is less than the block, or of several block sizes",
        );
        gap.filter(|gap| *gap > 0)
    }

    fn distribution(&mut self, stream: &Stream) {
        let whole = |percent: f64| percent.fract() == 0.0 && (1.0..=99.0).contains(&percent);
        match stream.distribution {
            Distribution::Uniform => {}
            Distribution::Zipf { theta } => {
                self.set("random_distribution", format_args!("zipf:{theta}"));
            }
            Distribution::Hot { span_percent, access_percent }
                if whole(span_percent) && whole(access_percent) =>
            {
                let (rest, left) = (100.0 - access_percent, 100.0 - span_percent);
                let zones = format!("zoned:{access_percent}/{span_percent}:{rest}/{left}");
                self.set("random_distribution", zones);
            }
            Distribution::Hot { .. } => self.losses.add("a hot part in fractions of a percent"),
        }
        match stream.diskspd.as_ref().map(|order| &order.slices) {
            Some(DiskspdSlices::Percent(slices)) if !slices.is_empty() => {
                let zones: Vec<String> =
                    slices.iter().map(|(io, size)| format!("{io}/{size}")).collect();
                self.set("random_distribution", format_args!("zoned:{}", zones.join(":")));
            }
            Some(DiskspdSlices::Absolute(slices)) if !slices.is_empty() => {
                self.losses.add("slices of the target in bytes");
            }
            _ => {}
        }
    }

    /// Writes the files, and which part of them is used.
    fn region(&mut self, stream: &Stream, targets: &[&Target]) {
        let name = |t: &&Target| t.path.to_string_lossy().replace(':', "\\:");
        let names: Vec<String> = targets.iter().map(name).collect();
        self.set("filename", names.join(":"));
        let offset = stream.offset_bytes.0;
        let files = targets.len().max(1) as u64;
        let file = targets.first().and_then(|t| t.size_bytes).map(|b| b.0);
        self.losses.add_if(
            targets.iter().any(|t| t.size_bytes.map(|b| b.0) != file),
            "targets of different sizes in one job; the first one's is written",
        );
        let size = stream.span_bytes.map(|s| s.0).or(file.map(|f| f.saturating_sub(offset)));
        if offset > 0 {
            self.set("offset", offset);
        }
        if let Some(size) = size {
            // Of all files of a job together.
            self.set("size", size.saturating_mul(files));
        }
        if let Some(file) =
            file.filter(|file| size.is_some_and(|s| s.saturating_add(offset) != *file))
        {
            self.set("filesize", file);
        }
    }

    /// fio's rates are those of a clone and a direction.
    fn pace(&mut self, stream: &Stream, jobs: usize) {
        if let Some(rate) = stream.rate {
            let users = f64::from(stream.threads.max(1)) * jobs as f64;
            let writes = f64::from(stream.write_percent) / 100.0;
            let (option, all) = match rate.limit {
                RateLimit::Iops(iops) => ("rate_iops", iops / users),
                RateLimit::MibPerS(mib) => ("rate", mib * 1_048_576.0 / users),
            };
            let each = [all * (1.0 - writes), all * writes].map(f64::round);
            let value = match (stream.reads(), stream.writes()) {
                (true, true) => format!("{},{}", each[0].max(1.0), each[1].max(1.0)),
                _ => all.round().max(1.0).to_string(),
            };
            self.set(option, value);
            let exact = if stream.reads() && stream.writes() {
                each.iter().sum::<f64>()
            } else {
                all.round()
            };
            self.losses.add_if(
                (exact - all).abs() > 1e-6 * all,
                "parts of an I/O, or of a byte, in the rate",
            );
            self.losses.add_if(stream.rate_profile.is_some(), "how the rate changes over time");
            match rate.arrival {
                Arrival::Poisson => self.set("rate_process", "poisson"),
                Arrival::Capped => {}
                Arrival::Even => self.losses.add(
                    "latency from the moment at which an I/O is due; fio counts from the call",
                ),
            }
        }
        if let Some(think) = stream.think {
            self.set("thinktime", format_args!("{}us", think.pause_ns.0.div_ceil(1000)));
            self.set("thinktime_blocks", think.burst_ios);
            self.losses.add_if(
                !think.pause_ns.0.is_multiple_of(1000),
                "parts of a microsecond in the pauses",
            );
            self.losses.add_if(
                think.from == ThinkFrom::Submission,
                "pauses from the submission of a burst; fio's begin when it is complete",
            );
        }
    }

    /// Writes the content of writes, and when they become durable.
    fn writes(&mut self, stream: &Stream) {
        if !stream.writes() {
            return;
        }
        if stream.durable {
            self.set("sync", "dsync");
        }
        if let Some(sync) = stream.sync {
            let call = match sync.call {
                SyncCall::Fsync => "fsync",
                SyncCall::Fdatasync => "fdatasync",
            };
            self.set(call, sync.every_writes);
        }
        match stream.content {
            Content::Random => self.set("refill_buffers", 1),
            Content::Zero => self.set("zero_buffers", 1),
            Content::Fixed => self.set("scramble_buffers", 0),
            Content::Compressible { percent } => {
                self.set("refill_buffers", 1);
                self.set("buffer_compress_percentage", percent);
                self.set("buffer_compress_chunk", 4096);
            }
            Content::Counting | Content::Repeating | Content::Source { .. } => {
                self.losses.add("what is written; fio fills its buffers with random bytes");
            }
        }
    }

    fn placement(&mut self, stream: &Stream) {
        if !stream.cpus.is_empty() {
            let cpus: Vec<String> = stream.cpus.iter().map(u32::to_string).collect();
            self.set("cpus_allowed", cpus.join(","));
            self.set("cpus_allowed_policy", "split");
        }
        let (class, level) = match stream.priority {
            None => return,
            Some(Priority::Realtime { level }) => (1, Some(level)),
            Some(Priority::BestEffort { level }) => (2, Some(level)),
            Some(Priority::Idle) => (3, None),
        };
        self.set("prioclass", class);
        if let Some(level) = level {
            self.set("prio", level);
        }
    }
}

/// fio has whole units of time.
fn seconds(seconds: f64) -> String {
    if seconds.fract() == 0.0 {
        format!("{seconds}")
    } else {
        format!("{}us", (seconds * 1e6).round())
    }
}
