//! DiskSpd's command lines as workloads.

use std::path::Path;

use dialects::diskspd::command::{Call, Reading, parse};
use dialects::diskspd::job::{Job, job};
use dialects::diskspd::profile::{Profile, TimeSpan, read};
use dialects::drives::Drives;
use proptest::prelude::*;
use workload::{
    Arrival, Bytes, Content, DiskspdAccess, DiskspdSlices, Hint, Mode, Nanoseconds, Pool,
    PoolShare, Priority, RateLimit, Think, ThinkFrom,
};

fn profile(line: &str) -> Profile {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    match parse(&words, Reading::default()) {
        Ok(Call::Profile(call)) => call.profile,
        other => panic!("{line}: {other:?}"),
    }
}

fn drives() -> Drives {
    Drives::new(vec!["C=/mnt/c".parse().unwrap(), "1=/dev/sdb".parse().unwrap()])
}

fn tried(line: &str) -> Result<Job, Vec<String>> {
    job(&profile(line).time_spans[0], &drives())
}

fn of(line: &str) -> Job {
    tried(line).unwrap()
}

#[test]
fn the_published_database_load() {
    let job = of(r"-b8K -d180 -h -L -o32 -t3 -r -w75 -c5G C:\Testdata\IO.dat");
    let (workload, stream) = (&job.workload, &job.workload.streams[0]);
    assert_eq!(workload.targets[0].path, Path::new("/mnt/c/Testdata/IO.dat"));
    assert_eq!(workload.targets[0].size_bytes, Some(Bytes(5 << 30)));
    assert_eq!(job.names, [r"C:\Testdata\IO.dat"]);
    assert_eq!(
        (workload.seconds, workload.warmup_seconds, workload.cooldown_seconds),
        (180.0, 5.0, 0.0)
    );
    assert_eq!((workload.mode, workload.seed), (Mode::Direct, 0));
    assert_eq!(
        (stream.threads, stream.depth, stream.write_percent, stream.durable),
        (3, 32, 75, true)
    );
    assert_eq!(stream.largest_block(), 8192);
    let order = stream.diskspd.as_ref().unwrap();
    assert_eq!((order.access, order.step_bytes), (DiskspdAccess::Random, Bytes(8192)));
    assert_eq!(stream.content, Content::Counting);
    assert_eq!(workload.violations(), []);
    assert!(job.notes.is_empty() && stream.cpus.is_empty() && stream.rate.is_none());
}

#[test]
fn orders() {
    let order = |line: &str| of(line).workload.streams[0].diskspd.clone().unwrap();
    let access = |line: &str| order(line).access;
    assert_eq!(access("f"), DiskspdAccess::Sequential);
    assert_eq!(access("-si f"), DiskspdAccess::Interlocked);
    assert_eq!(access("-p f"), DiskspdAccess::Parallel);
    assert_eq!(access("-rs30 f"), DiskspdAccess::Mixed { random_percent: 30 });
    let strided = order("-b8K -s64K -t4 -T1G f");
    assert_eq!((strided.step_bytes, strided.thread_stride_bytes), (Bytes(65536), Bytes(1 << 30)));
    let slices = order("-r -rdpct90/10:0/10:5/20 f").slices;
    assert_eq!(slices, DiskspdSlices::Percent(vec![(90, 10), (0, 10), (5, 20), (5, 60)]));
    let slices = order("-r -rdabs50/1G f").slices;
    assert_eq!(slices, DiskspdSlices::Absolute(vec![(50, Bytes(1 << 30)), (50, Bytes(0))]));
}

#[test]
fn caches() {
    let mode = |line: &str| of(line).workload.mode;
    assert_eq!(mode("f"), Mode::Buffered);
    assert_eq!(mode("-Sb f"), Mode::Buffered);
    assert_eq!(mode("-Su f"), Mode::Direct);
    assert_eq!(mode("-Sm f"), Mode::Mapped);
    let durable = |line: &str| of(line).workload.streams[0].durable;
    assert!(durable("-Sw -w10 f") && durable("-Suw -w100 f") && durable("-Sm -Nv -w50 f"));
    assert!(!durable("-Sw -w0 f") && !durable("-Su -w100 f") && !durable("-Smw -w100 f"));
    let remote = of("-Sr f");
    assert_eq!(remote.workload.mode, Mode::Direct);
    assert!(remote.notes[0].starts_with("-Sr: "), "{:?}", remote.notes);
}

#[test]
fn contents() {
    let content = |line: &str| {
        (of(line).workload.streams[0].content, of(line).workload.streams[0].content_file.clone())
    };
    assert_eq!(content("-Z f"), (Content::Zero, None));
    assert_eq!(content("-Zr f"), (Content::Random, None));
    assert_eq!(content("-Zr -Z f"), (Content::Zero, None));
    assert_eq!(content("-Z -Z1M f"), (Content::Source { bytes: Bytes(1 << 20) }, None));
    let source = (Content::Source { bytes: Bytes(1 << 20) }, Some("/mnt/c/x.bin".into()));
    assert_eq!(content(r"-Z1M,C:\x.bin f"), source);
    // Nothing after the comma is not a file; that was refused.
    assert_eq!(content("-Z1M, f"), (Content::Source { bytes: Bytes(1 << 20) }, None));
}

#[test]
fn limits_and_pauses() {
    let stream = |line: &str| of(line).workload.streams[0].clone();
    let rate = stream("-t4 -r -g250i f").rate.unwrap();
    assert_eq!((rate.limit, rate.arrival), (RateLimit::Iops(1000.0), Arrival::Capped));
    let rate = stream("-g1048576 f").rate.unwrap();
    assert_eq!(rate.limit, RateLimit::MibPerS(1000.0));
    let rate = stream("-F2 -r -g10i f g").rate.unwrap();
    assert_eq!(rate.limit, RateLimit::Iops(40.0), "per thread on each target");
    let pause = |burst_ios| Think {
        pause_ns: Nanoseconds(5_000_000),
        burst_ios,
        from: ThinkFrom::Submission,
    };
    assert_eq!(stream("-r -t2 -i8 -j5 f").think, Some(pause(4)));
    assert_eq!(stream("-r -t4 -i2 -j5 f").think, Some(pause(1)));
    assert!(of("-r -t4 -i2 -j5 f").notes[0].contains("each pauses after every 1"));
    let both = of("-r -i2 -j5 -g100 f");
    assert!(both.workload.streams[0].think.is_none() && both.notes[0].starts_with("-i, -j: "));
}

#[test]
fn threads_and_processors() {
    let job = of("-t2 -o4 -r -a0,2,g1,1 f g");
    let cpus: Vec<&[u32]> = job.workload.streams.iter().map(|s| s.cpus.as_slice()).collect();
    assert_eq!(
        cpus,
        [&[0, 2, 65][..], &[65, 0, 2]],
        "the third thread of all has the third processor"
    );
    assert_eq!(job.workload.threads(), 4);
    let pooled = of("-F3 -o4 -r f g");
    let stream = &pooled.workload.streams[0];
    assert_eq!((pooled.workload.streams.len(), stream.threads, stream.depth), (1, 3, 4));
    assert_eq!(stream.pool, Some(Pool { share: PoolShare::Each }));
    let drawn = of("-F3 -O7 -r f g").workload.streams[0].clone();
    assert_eq!(
        (drawn.depth, drawn.pool),
        (7, Some(Pool { share: PoolShare::Drawn { weights: Vec::new() } }))
    );
    let priority = |line: &str| of(line).workload.streams[0].priority;
    assert_eq!(priority("-I1 f"), Some(Priority::Idle));
    assert_eq!(priority("-I2 f"), Some(Priority::BestEffort { level: 7 }));
    assert_eq!(priority("-I3 f"), None);
}

#[test]
fn used_parts_end_within_the_target() {
    let mut job = of("-B1M:4M f");
    job.fit(&[1 << 30]);
    let stream =
        |job: &Job| (job.workload.streams[0].offset_bytes, job.workload.streams[0].span_bytes);
    assert_eq!(stream(&job), (Bytes(1 << 20), Some(Bytes(4 << 20))));
    job.fit(&[3 << 20]);
    assert_eq!(stream(&job), (Bytes(1 << 20), Some(Bytes(2 << 20))));
    let mut whole = of("-B1M f");
    whole.fit(&[1 << 30]);
    assert_eq!(stream(&whole), (Bytes(1 << 20), None));
}

#[test]
fn what_is_used_of_a_file_is_what_was_asked_for() {
    let span = |line: &str, sizes: &[u64]| {
        let mut job = of(line);
        job.fit(sizes);
        // A second look changes nothing.
        let before = job.clone();
        job.fit(sizes);
        assert_eq!(job, before);
        job.workload.streams.iter().map(|s| s.span_bytes.map(|b| b.0)).collect::<Vec<_>>()
    };
    // The file that is made has whole pages.
    for size in [1_003_520, 1_000_000] {
        assert_eq!(span("-c1000000 -b4K -r f", &[size]), [Some(1_000_000)]);
        assert_eq!(span("-c1000000 -B4K f", &[size]), [Some(995_904)]);
    }
    assert_eq!(span("-F2 -r f g", &[100 << 20, 2 << 30]), [None], "each to its end");
    assert_eq!(span("-F2 -f1M -r f g", &[4 << 20, 8 << 20]), [Some(1 << 20)]);
    let each = span("-F2 -f1G -r f g", &[100 << 20, 2 << 30]);
    assert_eq!(each, [Some(100 << 20), Some(1 << 30)], "each to its own end");
}

/// Threads that share targets of which they use different parts work for a stream of each.
#[test]
fn a_pool_is_taken_apart_where_its_targets_end_differently() {
    let mut job = of("-F3 -O4 -f1G -r -w30 f g");
    job.fit(&[100 << 20, 2 << 30]);
    let streams = &job.workload.streams;
    assert_eq!(streams.iter().map(|s| s.joined).collect::<Vec<_>>(), [false, true]);
    assert_eq!(streams.iter().map(|s| s.targets.clone()).collect::<Vec<_>>(), [[0], [1]]);
    assert_eq!((job.workload.threads(), job.workload.in_flight()), (3, 12));
    assert_eq!(job.workload.violations(), []);
    let mut limited = of("-F3 -g600i -f1G -r f g");
    let whole = limited.workload.streams[0].rate.unwrap().limit;
    assert_eq!(whole, RateLimit::Iops(3600.0));
    limited.fit(&[100 << 20, 2 << 30]);
    let limits: Vec<_> = limited.workload.streams.iter().map(|s| s.rate.unwrap().limit).collect();
    assert_eq!(limits, [RateLimit::Iops(1800.0); 2]);
    assert_eq!(limited.workload.violations(), []);
}

#[test]
fn several_targets_of_a_profile_may_be_one_file() {
    let xml = "<Profile><TimeSpans><TimeSpan><Targets><Target><Path>a.dat</\
               Path><FileSize>1048576</FileSize><Random>4096</Random></Target><Target><Path>a.\
               dat</Path><FileSize>2097152</FileSize><WriteRatio>100</WriteRatio></\
               Target><Target><Path>b.dat</Path></Target></Targets></TimeSpan></TimeSpans></\
               Profile>";
    let span = read(xml.as_bytes()).unwrap().time_spans.remove(0);
    let workload = job(&span, &drives()).unwrap().workload;
    assert_eq!(workload.targets.len(), 2);
    assert_eq!(workload.targets[0].size_bytes, Some(Bytes(2 << 20)));
    let of_streams: Vec<_> = workload.streams.iter().map(|s| s.targets[0]).collect();
    assert_eq!(of_streams, [0, 0, 1]);
    let names: Vec<_> = workload.streams.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["target 1", "target 2", "target 3"]);
}

/// A target of a pool: its name, its weight, and the threads that it names with theirs.
type OfPool<'a> = (&'a str, u32, &'a [(u32, u32)]);

/// A time span of a pool.
fn pool_of(threads: u32, more: &str, targets: &[OfPool]) -> TimeSpan {
    let one = |(thread, weight): &(u32, u32)| {
        format!("<ThreadTarget><Thread>{thread}</Thread><Weight>{weight}</Weight></ThreadTarget>")
    };
    let target = |(path, weight, named): &OfPool| {
        let named = match named.iter().map(one).collect::<Vec<_>>().concat() {
            none if none.is_empty() => none,
            named => format!("<ThreadTargets>{named}</ThreadTargets>"),
        };
        format!("<Target><Path>{path}</Path><Weight>{weight}</Weight>{more}{named}</Target>")
    };
    let targets = targets.iter().map(target).collect::<Vec<_>>().concat();
    let xml = format!(
        "<Profile><TimeSpans><TimeSpan><ThreadCount>{threads}</ThreadCount><RequestCount>4</\
         RequestCount><Targets>{targets}</Targets></TimeSpan></TimeSpans></Profile>"
    );
    read(xml.as_bytes()).unwrap().time_spans.remove(0)
}

#[test]
fn threads_of_a_pool_may_each_have_their_own_targets() {
    let random = "<Random>4096</Random>";
    let targets: [OfPool; 3] =
        [("a", 5, &[]), ("b", 7, &[(1, 0), (2, 0), (3, 9), (1, 4)]), ("c", 1, &[(3, 2)])];
    let made = job(&pool_of(5, random, &targets), &drives()).unwrap().workload;
    assert_eq!(made.violations(), []);
    assert_eq!((made.threads(), made.in_flight(), made.crews().len()), (5, 20, 1));
    let rows: Vec<_> = made
        .streams
        .iter()
        .map(|s| (s.targets[0], s.depth, s.joined, s.pool.clone().unwrap()))
        .collect();
    let drawn = |weight| Pool { share: PoolShare::Drawn { weights: vec![weight] } };
    let first = (0, 4, false, drawn(5));
    assert_eq!(rows, [first, (1, 4, true, drawn(7)), (2, 4, true, drawn(1))]);
    let weights = |thread| made.streams.iter().map(|s| s.weight_for(thread)).collect::<Vec<_>>();
    let all = Some(None);
    assert_eq!(weights(0), [all, None, None]);
    assert_eq!(weights(1), [all, all, None]);
    assert_eq!(weights(3), [all, Some(Some(9)), Some(Some(2))]);
    let idle = job(&pool_of(2, random, &[("a", 1, &[(1, 0)])]), &drives()).unwrap_err();
    assert!(idle[0].contains("thread 0 has no target"), "{idle:?}");
    let many = pool_of(4_000_000_000, random, &[("a", 1, &[]), ("b", 1, &[(0, 0)])]);
    let many = job(&many, &drives()).unwrap().workload.violations();
    assert_eq!(many.iter().map(|v| v.field.as_str()).collect::<Vec<_>>(), ["threads"]);
}

/// A time span of a pool whose targets are these.
fn unlike(targets: &str) -> TimeSpan {
    let xml = format!(
        "<Profile><TimeSpans><TimeSpan><ThreadCount>2</ThreadCount><Targets>{targets}</Targets></\
         TimeSpan></TimeSpans></Profile>"
    );
    read(xml.as_bytes()).unwrap().time_spans.remove(0)
}

#[test]
fn targets_of_a_pool_may_differ() {
    let span = unlike(
        "<Target><Path>a</Path><BlockSize>8192</BlockSize><Random>8192</Random><WriteRatio>30</\
         WriteRatio><RequestCount>7</RequestCount><RandomAccess>true</RandomAccess></\
         Target><Target><Path>b</Path><BlockSize>65536</BlockSize><DisableOSCache>true</\
         DisableOSCache><WriteThrough>true</WriteThrough><WriteRatio>100</\
         WriteRatio><RequestCount>1</RequestCount><RandomAccess>true</\
         RandomAccess><WriteBufferContent><Pattern>zero</Pattern></WriteBufferContent></\
         Target><Target><Path>a</Path><SequentialScan>true</SequentialScan></Target>",
    );
    let made = job(&span, &drives()).unwrap().workload;
    assert_eq!(made.violations(), []);
    assert_eq!((made.threads(), made.in_flight(), made.mode), (2, 20, Mode::Buffered));
    let rows: Vec<_> = made
        .streams
        .iter()
        .map(|s| (s.targets[0], s.depth, s.largest_block(), s.mode, s.durable, s.hint))
        .collect();
    let (direct, buffered) = (Some(Mode::Direct), Some(Mode::Buffered));
    assert_eq!(
        rows,
        [
            (0, 7, 8192, buffered, false, Some(Hint::Random)),
            (1, 1, 65_536, direct, true, None),
            (0, 2, 65_536, buffered, false, Some(Hint::Sequential)),
        ]
    );
    assert_eq!(made.streams[1].content, Content::Zero);
}

#[test]
fn targets_of_a_time_span_may_use_different_caches() {
    let xml = "<Profile><TimeSpans><TimeSpan><Targets><Target><Path>a</Path><MemoryMappedIo>true</\
               MemoryMappedIo></Target><Target><Path>b</Path><DisableOSCache>true</\
               DisableOSCache></Target></Targets></TimeSpan></TimeSpans></Profile>";
    let span = read(xml.as_bytes()).unwrap().time_spans.remove(0);
    let made = job(&span, &drives()).unwrap().workload;
    assert_eq!(made.modes(), [Mode::Mapped, Mode::Direct]);
    assert_eq!(made.violations(), []);
    let alike = of("-Su a b").workload;
    assert!(alike.mode == Mode::Direct && alike.streams.iter().all(|s| s.mode.is_none()));
}

#[test]
fn what_cannot_be_is_said() {
    assert!(tried(r"D:\x.dat").unwrap_err()[0].contains("--drive D="));
    assert_eq!(of("-D5 f").workload.interval_ns, Nanoseconds(5_000_000));
    assert!(tried("-D3600001 f").unwrap_err()[0].contains("1 ms to 1 h"));
    assert_eq!(of("-c1G #1").workload.targets[0].size_bytes, None);
    assert!(of("-c1G #1").notes[0].starts_with("-c: "));
    let span = unlike(
        "<Target><Path>a</Path></Target><Target><Path>b</Path><IOPriority>1</IOPriority></\
         Target><Target><Path>c</Path><MemoryMappedIo>true</MemoryMappedIo></Target>",
    );
    assert_eq!(job(&span, &drives()).unwrap_err().len(), 2);
}

#[test]
fn targets_without_number_are_refused() {
    let span = profile("-w10 f").time_spans.remove(0);
    let targets = vec![span.targets[0].clone(); 10_001];
    let wrong = job(&TimeSpan { targets, ..span }, &drives()).unwrap_err();
    assert_eq!(wrong, ["a time span has at most 10000 targets here"]);
}

#[test]
fn files_of_a_profile_are_made_by_its_rule() {
    let made = |rule: &str| {
        let target = |path: &str, bytes: u64| {
            format!("<Target><Path>{path}</Path><FileSize>{bytes}</FileSize></Target>")
        };
        let span = |targets: &[String]| {
            format!("<TimeSpan><Targets>{}</Targets></TimeSpan>", targets.concat())
        };
        let spans = [
            span(&[target("same", 5), target("grows", 1), target("later", 0)]),
            span(&[target("same", 5), target("grows", 2), target("later", 7)]),
        ];
        let xml = format!(
            "<Profile><PrecreateFiles>{rule}</PrecreateFiles><TimeSpans>{}</TimeSpans></Profile>",
            spans.concat()
        );
        read(xml.as_bytes()).unwrap().precreated()
    };
    let named =
        |list: &[(&str, u64)]| list.iter().map(|(n, s)| ((*n).to_owned(), *s)).collect::<Vec<_>>();
    assert_eq!(made("UseMaxSize"), named(&[("same", 5), ("grows", 2), ("later", 7)]));
    assert_eq!(made("CreateOnlyFilesWithConstantSizes"), named(&[("same", 5)]));
    assert_eq!(made("CreateOnlyFilesWithConstantOrZeroSizes"), named(&[("same", 5), ("later", 7)]));
}

proptest! {
    #[test]
    fn whatever_is_taken_is_a_workload_or_says_why_not(
        words in prop::collection::vec("-[BbcdFfgijoOPprsTtWwZz][0-9]{0,10}[KMGTbi]?", 0..6),
            paths in prop::collection::vec("[a-z#:*]{1,3}", 1..4),
    ) {
        let words: Vec<String> = words.into_iter().chain(paths).collect();
        if let Ok(Call::Profile(call)) = parse(&words, Reading::default()) {
            match job(&call.profile.time_spans[0], &drives()) {
                Ok(mut job) => {
                    job.fit(&vec![1 << 20; job.workload.targets.len()]);
                    let _ = job.workload.violations();
                }
                Err(wrong) => prop_assert!(!wrong.is_empty()),
            }
        }
    }
}
