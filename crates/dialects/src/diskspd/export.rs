//! A workload as a profile, as far as DiskSpd has words for it.

use workload::{
    Arrival, Buffers, Completion, Content, DiskspdAccess, DiskspdSlices, Distribution as Spread,
    Hint, Mode, OnError, Pattern, PoolShare, Priority, RateLimit, Stream, ThinkFrom, Workload,
};

use super::profile::{
    CacheMode, Distribution, DistributionKind, DistributionRange, FlushType, Processor, Profile,
    Target, ThreadTarget, Throughput, TimeSpan, WriteContent,
};
use crate::losses::Losses;

/// Processors of a group, as Windows counts them.
const GROUP_CPUS: u32 = 64;

/// A workload as a profile of one time span, and what of it is lost.
#[must_use]
pub fn profile_of(workload: &Workload) -> (Profile, Vec<String>) {
    let mut made = CommandBuilder::default();
    let pool = workload.streams.first().filter(|s| s.pool.is_some());
    let shared =
        pool.is_some() && workload.streams.iter().skip(1).all(|s| s.joined && s.pool.is_some());
    // One switch of a time span makes new random bytes of all buffers that would hold the bytes 0
    // to 255.
    let random = workload.streams.iter().any(|s| s.writes() && s.content == Content::Random);
    for stream in &workload.streams {
        made.losses.begin_stream(&stream.name);
        made.stream(workload, stream, shared);
        made.unlike(stream, random);
    }
    made.losses.end_streams();
    made.losses
        .add_if(workload.precision.is_some(), "the end of the window when a precision is reached");
    made.losses.add_if(
        workload.completion == Completion::Spin,
        "waiting without sleep (completion = \"spin\")",
    );
    made.losses.add_if(
        workload.on_error == OnError::Continue,
        "going on after a failed I/O; DiskSpd ends",
    );
    made.losses.add_if(workload.engine.is_artificial(), "the engine; DiskSpd makes real I/O");
    let cpus = workload.streams.first().map(|s| s.cpus.clone()).unwrap_or_default();
    let differ = workload.streams.iter().any(|s| s.cpus != cpus);
    made.losses.add_if(differ, "the CPUs of each stream; those of the first are written for all");
    let interval_ms = u32::try_from(workload.interval_ns.0 / 1_000_000).unwrap_or(u32::MAX);
    let span = TimeSpan {
        duration_s: made.whole("seconds", workload.seconds),
        warmup_s: made.whole("warmup_seconds", workload.warmup_seconds),
        cooldown_s: made.whole("cooldown_seconds", workload.cooldown_seconds),
        seed: u32::try_from(workload.seed).unwrap_or_else(|_| {
            made.losses.add("a seed of more than 32 bits");
            0
        }),
        thread_count: pool.filter(|_| shared).map_or(0, |s| s.threads),
        request_count: pool.filter(|_| shared).map_or(0, |s| match &s.pool {
            Some(p) if p.share != PoolShare::Each => s.depth,
            _ => 0,
        }),
        disable_affinity: cpus.is_empty(),
        affinity: cpus
            .iter()
            .map(|c| Processor { group: c / GROUP_CPUS, cpu: c % GROUP_CPUS })
            .collect(),
        random_write_data: random,
        measure_latency: true,
        iops_std_dev: interval_ms != 1000 || workload.thread_series,
        io_bucket_ms: interval_ms,
        targets: made.targets,
        ..TimeSpan::default()
    };
    (Profile { time_spans: vec![span], ..Profile::default() }, made.losses.into_sentences())
}

/// Collects the words of a command line.
#[derive(Default)]
struct CommandBuilder {
    losses: Losses,
    targets: Vec<Target>,
}

impl CommandBuilder {
    /// Whole seconds; a fraction is a loss.
    fn whole(&mut self, name: &str, seconds: f64) -> u32 {
        self.losses.add_if(seconds.fract() != 0.0, &format!("parts of a second of {name}"));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let whole = seconds.ceil() as u32;
        whole
    }

    /// A target for each of the stream's.
    fn stream(&mut self, workload: &Workload, stream: &Stream, shared: bool) {
        let indexes = stream.target_indexes(workload.targets.len());
        // DiskSpd knows targets by their numbers alone.
        let is_named = stream.name != Stream::default().name && !stream.name.starts_with("target ");
        self.losses.add_if(is_named, "the name of the stream");
        let mut one = self.common(workload, stream, shared);
        self.order(stream, &mut one);
        self.pace(stream, &mut one, indexes.len(), shared);
        self.losses.add_if(
            stream.sync.is_some(),
            "calls that flush (sync); DiskSpd has write-through only",
        );
        content(stream, &mut one);
        let weights = match stream.pool.as_ref().map(|p| &p.share) {
            Some(PoolShare::Drawn { weights }) => weights.clone(),
            Some(PoolShare::InTurn) => {
                self.losses.add("targets in turn; DiskSpd draws them");
                Vec::new()
            }
            _ => Vec::new(),
        };
        if stream.pool.is_some() && !shared {
            self.losses.add(
                "threads that work on all targets next to streams that have their own; each target \
                 has threads",
            );
        }
        for (number, index) in indexes.iter().enumerate() {
            let Some(place) = workload.targets.get(*index) else { continue };
            let end = stream.span_bytes.map(|s| s.0.saturating_add(stream.offset_bytes.0));
            let size = place.size_bytes.map(|s| s.0);
            self.targets.push(Target {
                path: place.path.to_string_lossy().into_owned(),
                create_bytes: size,
                max_offset_bytes: end.filter(|end| Some(*end) != size).unwrap_or(0),
                weight: weights.get(number).copied().unwrap_or(1),
                ..one.clone()
            });
        }
    }

    /// Caches, threads and everything else that needs no thought.
    fn common(&mut self, workload: &Workload, stream: &Stream, shared: bool) -> Target {
        let mode = stream.mode.unwrap_or(workload.mode);
        let members = stream.members.iter();
        let io_priority = match stream.priority {
            None => 3,
            Some(Priority::Idle) => 1,
            Some(Priority::BestEffort { level: 7 }) => 2,
            Some(_) => {
                self.losses.add("the I/O priority; DiskSpd has normal, low and very low");
                3
            }
        };
        let buffers = matches!(stream.buffers, Buffers::Single | Buffers::Large);
        self.losses.add_if(!buffers, "the layout of the buffers");
        let depth_is_shared = stream.pool.as_ref().is_some_and(|p| p.share != PoolShare::Each);
        Target {
            base_offset_bytes: stream.offset_bytes.0,
            cache: if mode == Mode::Direct { CacheMode::DisableOsCache } else { CacheMode::Cached },
            write_through: stream.durable && mode != Mode::Mapped,
            memory_mapped: mode == Mode::Mapped,
            flush: (stream.durable && mode == Mode::Mapped).then_some(FlushType::ViewOfFile),
            random_access: stream.hint == Some(Hint::Random),
            sequential_scan: stream.hint == Some(Hint::Sequential),
            large_pages: stream.buffers == Buffers::Large,
            threads_per_file: if shared { 1 } else { stream.threads },
            outstanding: if shared && depth_is_shared { 2 } else { stream.depth },
            write_percent: stream.write_percent.into(),
            io_priority,
            thread_targets: members
                .map(|m| ThreadTarget { thread: m.thread, weight: m.weight.unwrap_or(0) })
                .collect(),
            ..Target::default()
        }
    }

    /// Sizes and where the next I/O goes.
    fn order(&mut self, stream: &Stream, one: &mut Target) {
        if let Some(mix) = &stream.mix {
            let n = mix.parts.len();
            self.losses.add(&format!("the mix of {n} kinds; its means are written"));
        }
        let most = stream.blocks.iter().max_by_key(|b| b.weight).map_or(0, |b| b.bytes.0);
        one.block_bytes = u32::try_from(most).unwrap_or(u32::MAX);
        self.losses
            .add_if(stream.blocks.len() > 1, "block sizes but the most frequent; a target has one");
        if let Some(order) = &stream.diskspd {
            one.step_bytes = Some(order.step_bytes.0);
            one.thread_stride_bytes = order.thread_stride_bytes.0;
            one.random_percent = match order.access {
                DiskspdAccess::Random => 100,
                DiskspdAccess::Mixed { random_percent } => random_percent.into(),
                _ => 0,
            };
            one.interlocked = order.access == DiskspdAccess::Interlocked;
            one.parallel_async = order.access == DiskspdAccess::Parallel;
            one.distribution = distribution(&order.slices);
            return;
        }
        let random = stream.pattern == Pattern::Random || stream.random_percent > 0;
        one.random_percent =
            if stream.pattern == Pattern::Random { 100 } else { stream.random_percent.into() };
        one.step_bytes = random.then(|| stream.alignment());
        let partly = random && one.random_percent < 100 && stream.reads() && stream.writes();
        self.losses.add_if(partly, "a direction per I/O; DiskSpd draws it where a random I/O is");
        match stream.pattern {
            Pattern::Random | Pattern::Sequential => {}
            Pattern::SequentialShared => one.interlocked = !random,
            Pattern::Stride { stride_bytes } => one.step_bytes = Some(stride_bytes.0),
            Pattern::Matrix { .. } => {
                self.losses.add("SQLIO's matrix; a sequential order is written");
            }
        }
        let spread = stream.pattern == Pattern::Sequential && stream.threads > 1 && !random;
        self.losses.add_if(
            spread,
            "threads spread over the file; all begin at its first block (-T sets them apart)",
        );
        self.spread(stream.distribution, one);
    }

    fn spread(&mut self, spread: Spread, one: &mut Target) {
        match spread {
            Spread::Uniform => {}
            Spread::Hot { span_percent, access_percent }
                if span_percent.fract() == 0.0 && access_percent.fract() == 0.0 =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "1 to 99"
                )]
                let (span, access) = (span_percent as u8, access_percent as u8);
                let rest = (100u8.saturating_sub(access), 100u8.saturating_sub(span));
                one.distribution =
                    distribution(&DiskspdSlices::Percent(vec![(access, span), rest]));
            }
            Spread::Hot { .. } => self.losses.add("a hot part in fractions of a percent"),
            Spread::Zipf { .. } => self.losses.add("Zipf's distribution; offsets are even"),
        }
    }

    /// DiskSpd's limits are those of a thread on a target, its bursts those of all threads of a
    /// target.
    fn pace(&mut self, stream: &Stream, one: &mut Target, targets: usize, shared: bool) {
        if let Some(rate) = stream.rate {
            let users = f64::from(stream.threads.max(1)) * targets.max(1) as f64;
            let each = match rate.limit {
                RateLimit::Iops(iops) => iops / users,
                RateLimit::MibPerS(mib) => mib * 1_048_576.0 / 1000.0 / users,
            };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            let whole = (each.round() as u32).max(1);
            self.losses.add_if(
                (f64::from(whole) - each).abs() > 1e-6 * each,
                "parts of an I/O, or of a byte in a millisecond, in the rate",
            );
            self.losses.add_if(
                rate.arrival != Arrival::Capped,
                "an open loop: what it offers is the most that DiskSpd does",
            );
            self.losses.add_if(stream.rate_profile.is_some(), "how the rate changes over time");
            one.throughput = Some(match rate.limit {
                RateLimit::Iops(_) => Throughput::Iops(whole),
                RateLimit::MibPerS(_) => Throughput::BytesPerMs(whole),
            });
        }
        if let Some(think) = stream.think {
            let threads = if shared { 1 } else { stream.threads };
            let ms = think.pause_ns.0.div_ceil(1_000_000);
            one.think_ms = Some(u32::try_from(ms).unwrap_or(u32::MAX));
            one.burst_ios = Some(think.burst_ios.saturating_mul(threads));
            self.losses.add_if(
                !think.pause_ns.0.is_multiple_of(1_000_000),
                "parts of a millisecond in the pauses",
            );
            self.losses.add_if(
                think.from == ThinkFrom::Completion,
                "pauses from the completion of a burst; DiskSpd's begin when it is issued",
            );
        }
    }

    /// Names other bytes than the stream's; `random` where any stream of the workload writes random
    /// ones.
    fn unlike(&mut self, stream: &Stream, random: bool) {
        let unlike = match stream.content {
            _ if !stream.writes() => false,
            Content::Zero | Content::Random | Content::Source { .. } => false,
            Content::Counting => random,
            Content::Compressible { .. } | Content::Repeating | Content::Fixed => true,
        };
        let what = if random {
            "what is written; it is new random bytes, which another stream asks for and DiskSpd \
             has for all of them"
        } else {
            "what is written; it is the bytes 0 to 255 over and over"
        };
        self.losses.add_if(unlike, what);
    }
}

fn content(stream: &Stream, one: &mut Target) {
    if !stream.writes() {
        return;
    }
    one.write_content = match stream.content {
        Content::Zero => WriteContent::Zero,
        Content::Counting | Content::Random => WriteContent::Counting,
        Content::Source { bytes } => WriteContent::Random {
            bytes: bytes.0,
            file: stream.content_file.as_ref().map(|f| f.to_string_lossy().into_owned()),
        },
        Content::Compressible { .. } | Content::Repeating | Content::Fixed => {
            WriteContent::Counting
        }
    };
}

fn distribution(slices: &DiskspdSlices) -> Option<Distribution> {
    if slices.is_empty() {
        return None;
    }
    let range = |io: u8, extent: u64| DistributionRange { io_percent: io.into(), extent };
    Some(match slices {
        DiskspdSlices::Percent(slices) => Distribution {
            kind: DistributionKind::Percent,
            ranges: slices.iter().map(|(io, size)| range(*io, u64::from(*size))).collect(),
        },
        DiskspdSlices::Absolute(slices) => Distribution {
            kind: DistributionKind::Absolute,
            ranges: slices.iter().map(|(io, size)| range(*io, size.0)).collect(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diskspd::job::job;
    use crate::diskspd::profile::read;
    use crate::drives::Drives;
    use workload::{Bytes, Rate, Target as Place};

    #[test]
    fn random_bytes_of_one_stream_are_named_for_the_others() {
        let lost = |contents: [Content; 2]| {
            let stream = |content| Stream { write_percent: 100, content, ..Stream::default() };
            let place = Place { path: "/data/x".into(), size_bytes: Some(Bytes(1 << 30)) };
            let single = Workload::single(place, Stream::default());
            let streams = contents.map(stream).to_vec();
            let (profile, lost) = profile_of(&Workload { streams, ..single });
            let bytes = |l: &&String| l.contains("what is written");
            let lost: Vec<String> = lost.iter().filter(bytes).cloned().collect();
            (profile.time_spans[0].random_write_data, lost)
        };
        for other in [Content::Counting, Content::Fixed] {
            let (random, lost) = lost([Content::Random, other]);
            assert!(random && lost.len() == 1 && lost[0].contains("new random bytes"), "{lost:?}");
        }
        assert_eq!(lost([Content::Random, Content::Random]), (true, vec![]));
        let (random, lost) = lost([Content::Counting, Content::Repeating]);
        assert!(!random && lost.len() == 1 && lost[0].contains("0 to 255"), "{lost:?}");
    }

    #[test]
    fn what_a_profile_says_is_written_as_it_was() {
        let target = Target {
            path: "/data/a".to_owned(),
            block_bytes: 8192,
            random_percent: 100,
            step_bytes: Some(4096),
            create_bytes: Some(1 << 30),
            cache: CacheMode::DisableOsCache,
            write_through: true,
            write_percent: 30,
            outstanding: 32,
            threads_per_file: 4,
            throughput: Some(Throughput::Iops(500)),
            distribution: distribution(&DiskspdSlices::Percent(vec![(90, 10), (10, 90)])),
            ..Target::default()
        };
        let log = Target {
            path: "/data/log".to_owned(),
            write_percent: 100,
            burst_ios: Some(3),
            think_ms: Some(5),
            write_content: WriteContent::Zero,
            io_priority: 1,
            ..target.clone()
        };
        let log = Target { throughput: None, threads_per_file: 1, ..log };
        let span = TimeSpan {
            targets: vec![target, log],
            disable_affinity: true,
            measure_latency: true,
            ..TimeSpan::default()
        };
        let before = job(&span, &Drives::default()).unwrap().workload;
        let (profile, lost) = profile_of(&before);
        assert_eq!(lost, [""; 0]);
        assert_eq!(profile.time_spans[0].targets, span.targets);
        let mut xml = String::new();
        profile.write_xml(&mut xml, 0);
        let again = job(&read(xml.as_bytes()).unwrap().time_spans[0], &Drives::default()).unwrap();
        assert_eq!(again.workload, before);
    }

    #[test]
    fn threads_that_draw_their_targets_stay_so() {
        let target = |path: &str, weight| Target {
            path: path.to_owned(),
            weight,
            random_percent: 100,
            ..Target::default()
        };
        let targets = vec![target("/a", 3), target("/b", 1)];
        let span = TimeSpan { thread_count: 4, request_count: 16, targets, ..TimeSpan::default() };
        let before = job(&span, &Drives::default()).unwrap().workload;
        let (profile, lost) = profile_of(&before);
        assert_eq!(lost, [""; 0]);
        let again = job(&profile.time_spans[0], &Drives::default()).unwrap().workload;
        assert_eq!(again, before);
    }

    #[test]
    fn what_diskspd_cannot_do_is_named() {
        let stream = Stream {
            distribution: Spread::Zipf { theta: 0.99 },
            rate: Some(Rate { limit: RateLimit::Iops(100.5), arrival: Arrival::Poisson }),
            ..Stream::default()
        };
        let place = Place { path: "/a".into(), size_bytes: Some(Bytes(1 << 20)) };
        let (profile, lost) =
            profile_of(&Workload { seconds: 1.5, ..Workload::single(place, stream) });
        for what in ["Zipf", "open loop", "parts of an I/O", "parts of a second"] {
            assert!(lost.iter().any(|l| l.contains(what)), "{what}: {lost:?}");
        }
        assert_eq!(profile.time_spans[0].duration_s, 2);
    }
}
