//! Job files of every kind, there and back.

use proptest::prelude::*;
use workload::{
    Arrival, Block, Bytes, Content, DiskspdAccess, DiskspdSlices, Distribution, EngineChoice, Mode,
    Nanoseconds, OnError, Pattern, Pool, PoolShare, Priority, Rate, RateLimit, Stream, SyncCall,
    SyncPolicy, Target, Think, ThinkFrom, Workload,
};

use super::*;

/// A job file read where no variable is set.
pub(super) fn read(text: &str) -> Result<Vec<Group>, JobFileError> {
    super::read(text, Environment::NOTHING)?.into_iter().collect()
}

pub(super) fn one(text: &str) -> Group {
    let mut groups = read(text).unwrap();
    assert_eq!(groups.len(), 1);
    groups.remove(0)
}

#[test]
fn a_job_file_says_a_log_beside_data() {
    let Group { jobs, workload, lost } = one("\
[global]
direct=1
ioengine=libaio
runtime=2m
time_based
ramp_time=5
size=4g
group_reporting

[data]
filename=/data/a:/data/b
rw=randrw
rwmixread=70
bs=8k
iodepth=32
numjobs=4
[log]
filename=/log/x
size=1g
rw=write
bs=4k
fdatasync=1
prioclass=2
prio=0
");
    assert_eq!(jobs, ["data", "log"]);
    assert_eq!(lost, [""; 0]);
    assert_eq!(workload.violations(), []);
    assert_eq!(
        (workload.seconds, workload.warmup_seconds, workload.mode),
        (120.0, 5.0, Mode::Direct)
    );
    assert_eq!(workload.engine, EngineChoice::Aio);
    let [data, log] = workload.streams.as_slice() else { panic!("two streams") };
    assert_eq!(
        data.title(),
        "8 KiB random 70 % read / 30 % write, each thread on all targets in turn"
    );
    assert_eq!((data.threads, data.depth, workload.in_flight()), (4, 32, 129));
    assert_eq!(
        workload.targets[0].size_bytes,
        Some(Bytes(2 << 30)),
        "the size is that of both files"
    );
    assert_eq!(log.targets, [2]);
    assert_eq!(log.sync, Some(SyncPolicy { every_writes: 1, call: SyncCall::Fdatasync }));
    assert_eq!(log.priority, Some(Priority::BestEffort { level: 0 }));
}

#[test]
fn jobs_that_share_a_file_keep_to_their_own_part_of_it() {
    let group = |w: &str, r: &str| {
        one(&format!(
            "[w]\nfilename=/dev/sdb\nrw=randwrite\n{w}\n[r]\nfilename=/dev/sdb\nrw=randread\n{r}\n"
        ))
        .workload
    };
    let parts = |workload: &Workload| -> Vec<Option<u64>> {
        workload.streams.iter().map(|s| s.span_bytes.map(|b| b.0)).collect()
    };
    let both = group("size=1g", "size=100g");
    assert_eq!(both.targets[0].size_bytes, Some(Bytes(100 << 30)));
    assert_eq!(parts(&both), [Some(1 << 30), None]);
    for whole in [group("", "size=1g"), group("size=1g", "")] {
        assert_eq!(whole.targets[0].size_bytes, None, "who names no size uses all there is");
    }
    assert_eq!(parts(&group("", "size=1g")), [None, Some(1 << 30)]);
    assert_eq!(parts(&group("size=1g", "")), [Some(1 << 30), None]);
    assert_eq!(parts(&group("filesize=1g", "size=2g")), [Some(1 << 30), None]);
}

#[test]
fn a_path_that_fio_would_cut_is_written_nowhere() {
    let of = |path: &str| {
        let target = Target { path: path.into(), size_bytes: Some(Bytes(1 << 30)) };
        write(&Workload::single(target, Stream::default()))
    };
    for path in [
        "/data/db#1.dat",
        "/data/a;b",
        "/data/x\nrw=randwrite",
        "/data/${X}",
        "/data/x ",
        "/d/@X@",
        "/d/$ncpus",
    ] {
        assert_eq!(of(path), Err(NoFileName(path.into())));
    }
    assert!(of("/data/db:1 a.dat").unwrap().0.contains("filename=/data/db\\:1 a.dat\n"));
}

#[test]
fn a_mapped_depth_is_named() {
    let target = Target { path: "/data/x".into(), size_bytes: Some(Bytes(1 << 30)) };
    let lost = |depth| {
        let single = Workload::single(target.clone(), Stream { depth, ..Stream::default() });
        write(&Workload { mode: Mode::Mapped, ..single }).unwrap().1
    };
    let depth = |lost: Vec<String>| lost.iter().any(|l| l.contains("one I/O at a time"));
    assert!(depth(lost(8)) && !depth(lost(1)));
}

#[test]
fn more_threads_or_files_than_anybody_runs_are_refused() {
    let error = |text: &str| read(text).unwrap_err().to_string();
    let threads = error("[a]\nrw=read\nnumjobs=1000000\nnrfiles=1000\n");
    assert_eq!(
        threads,
        "line 3, column 1: the job `a` has 1000000 threads (numjobs); 4096 are the most"
    );
    let files = error("[a]\nrw=read\nnumjobs=100\n nrfiles=1000\n");
    assert!(files.starts_with("line 4, column 2: the job `a` has 100000 files"), "{files}");
    let files = error(&"[j]\nstonewall\nnrfiles=1000\n".repeat(11));
    assert!(files.contains("`j` has 1000 files, with those of the jobs before it 11000"));
    let odd = "odd\n".repeat(1000) + "[a]\nrw=read\nsize=1m\n";
    assert_eq!(one(&odd).lost.iter().filter(|l| l.contains("first section")).count(), 20);
}

#[test]
fn jobs_behind_a_wall_are_workloads_of_their_own() {
    let groups = read(
        "[global]\n\
        size=1m\n\
        runtime=1\n\
        time_based\n\
        [a]\n\
        rw=read\n\
        [b]\n\
        rw=read\n\
        [c]\n\
        stonewall\n\
        rw=write\n",
    )
    .unwrap();
    let names: Vec<&[String]> = groups.iter().map(|g| g.jobs.as_slice()).collect();
    assert_eq!(names, [&["a".to_owned(), "b".to_owned()][..], &["c".to_owned()]]);
    assert_eq!(groups[1].workload.streams[0].write_percent, 100);
    assert_eq!(read("bs=4k\n"), Err(JobFileError::NoJob));
    let error = read("[x]\nioengine=rbd\n").unwrap_err().to_string();
    assert_eq!(error, "line 1: the job `x` uses the engine `rbd`, which has no word here");
}

#[test]
fn what_is_lost_is_named_with_its_place() {
    let Group { lost, .. } = one("[x]\n\
            filename=/f\n\
            size=1m\n\
            rw=randread\n\
            iodepth=8\n\
            \x20 nice=5\n\
            hipri=1\n\
            ioengine=psync\n");
    assert_eq!(lost[0], "line 5, column 1: iodepth=8: the engine `psync` does one I/O at a time");
    assert_eq!(lost[1], "line 6, column 3: `nice=5` has no word here");
    assert_eq!(lost[2], "line 7, column 1: `hipri=1` has no word here");
    assert!(lost[3].contains("no `runtime`"), "{lost:?}");
    assert_eq!(lost.len(), 4);
}

/// fio takes `${DEVICE}` from the environment. Here the text was kept as the name of a file, and
/// `bs=${BS}` ran with 4 KiB: another load than fio's, with exit code 0.
#[test]
fn variables_have_their_values_from_the_environment() {
    let environment = |name: &str| match name {
        "DEVICE" => Some("/dev/sd#b".to_owned()),
        "BS" => Some("8k".to_owned()),
        "EMPTY" => Some(" ".to_owned()),
        _ => None,
    };
    let text =
        "[global]\nbs=${BS}\n[x]\nfilename=${DEVICE}1:/dev/${BS}${BS}\nsize=1${BS}\nrw=randread\n";
    let Group { workload, .. } =
        super::read(text, Environment { variable: &environment, ..Environment::NOTHING })
            .unwrap()
            .remove(0)
            .unwrap();
    assert_eq!(workload.streams[0].blocks[0].bytes, Bytes(8192));
    let paths: Vec<_> = workload.targets.iter().map(|t| t.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["/dev/sd#b1", "/dev/8k8k"]);
    assert_eq!(workload.targets[0].size_bytes, Some(Bytes(18 << 9)));
    for name in ["GONE", "EMPTY", ""] {
        let text = format!("[x]\nrw=read\n  filename=/d/${{{name}}}\n");
        let error =
            super::read(&text, Environment { variable: &environment, ..Environment::NOTHING })
                .unwrap_err()
                .to_string();
        assert_eq!(
            error,
            format!(
                "line 3, column 3: `filename=/d/${{{name}}}`: the environment variable `{name}` \
                 is not set or is empty; set it (`{name}=… iosonde …`), or write its value into \
                 the file"
            )
        );
    }
    let unset = "# ${GONE}\n[x]\nrw=read ; ${GONE}\nfilename=/f$GONE${\n";
    assert_eq!(one(unset).workload.targets[0].path.to_str(), Some("/f$GONE${"));
}

/// fio puts numbers of the machine in the place of its keywords. Here `size=$mb_memory` was lost,
/// and the load had the whole target.
#[test]
fn keywords_of_fio_are_refused() {
    for option in ["size=$mb_memory", "bs=$pagesize", "numjobs=2*$ncpus"] {
        let error = read(&format!("[x]\nrw=read\n{option}\n")).unwrap_err().to_string();
        assert!(error.starts_with(&format!("line 3, column 1: `{option}`: `$")), "{error}");
        assert!(error.ends_with("write the number"), "{error}");
    }
}

/// A template was half-read: `bs=@BS@` was lost, and the load had 4 KiB. An `.ini` of another
/// program was a job file as soon as one name in it was an option of fio.
#[test]
fn templates_and_other_files_are_not_jobs() {
    for (option, placeholder) in
        [("bs=@BS@", "@BS@"), ("filename=/d/{{ device }}", "{{ device }}"), ("rw=@a@b@RW@", "@a@")]
    {
        let error = read(&format!("[x]\nrw=read\n{option}\n")).unwrap_err().to_string();
        let says =
            format!("has the placeholder `{placeholder}`: this is not a fio job but a template");
        assert!(error.starts_with("line 3, column 1: ") && error.contains(&says), "{error}");
    }
    assert!(read("[x]\nrw=read\nfilename=/d/a@b:/d/user@host:/d/{x}\n").is_ok());
    let other = "[mysqld]\n\
        directory=/x\n\
        port=3306\n\
        max_connections=9\n\
        innodb_log=1\n\
        skip=2\n\
        [client]\n\
        user=a\n";
    assert!(!is_job_file(other));
    let error = read(other).unwrap_err().to_string();
    assert_eq!(
        error,
        "this is not a fio job: 4 of the 6 names in it are not options of fio, `innodb_log` for \
         one"
    );
    assert!(is_job_file("[x]\nrw=@RW@\n"), "that it is a template is said when it is read");
    let long = "[x]\nrw=read\nverify=0\nsteadystate=iops:2%\nss_dur=5\nmy_own=1\n";
    assert!(is_job_file(long) && read(long).is_ok());
}

/// `size=50%` was "lost", and the job ran on a file of another size; `rw=randomread` read at random
/// whatever was meant.
#[test]
fn a_value_that_decides_and_cannot_be_read_is_an_error() {
    for (line, words) in [
        ("size=150%", "`size=150%`: write a whole percentage"),
        ("size=50%", "`size=50%`: the size of `/f` is not known here"),
        ("bssplit=4k/many", "`bssplit=4096/many` cannot be read"),
        ("rate_iops=fast", "`rate_iops=fast` cannot be read"),
        ("rw=randomread", "`rw=randomread` cannot be read; write `read`, `write`"),
        ("bs=abc", "`bs=abc` cannot be read"),
        ("iodepth=many", "`iodepth=many` cannot be read"),
        ("numjobs=-1", "`numjobs=-1` cannot be read"),
        ("rwmixread=170", "`rwmixread=170` cannot be read"),
        ("runtime=soon", "`runtime=soon` cannot be read"),
    ] {
        let text = format!("[x]\nfilename=/f\nrw=randrw\nsize=1m\n{line}\n");
        let error = read(&text).unwrap_err().to_string();
        let place = "line 5, column 1: ";
        assert!(error.starts_with(place) && error.contains(words), "{error}");
    }
}

#[test]
fn files_without_names_are_called_as_fio_calls_them() {
    let paths = |options: &str| {
        let text = format!("[x]\nsize=1m\nrw=read\n{options}\n");
        let workload = one(&text).workload;
        let paths: Vec<_> =
            workload.targets.iter().map(|t| t.path.to_str().unwrap().to_owned()).collect();
        (paths, workload.threads())
    };
    let named =
        |names: &[&str], threads| (names.iter().map(|n| (*n).to_owned()).collect(), threads);
    assert_eq!(
        paths("filename_format=f.$jobname.$jobnum\nnumjobs=2"),
        named(&["f.x.0", "f.x.1"], 2)
    );
    assert_eq!(paths("filename_format=all.$jobname\nnumjobs=3"), named(&["all.x"], 3));
    assert_eq!(paths("filename_format=$filenum\nnrfiles=2"), named(&["0", "1"], 1));
    assert_eq!(paths("filename_format=$clientuid\nfilename=/f"), named(&["/f"], 1));
    let error = read("[x]\nrw=read\nfilename_format=$clientuid.x\n").unwrap_err().to_string();
    assert!(error.starts_with("line 3, column 1: `filename_format=$clientuid.x`"), "{error}");
}

#[test]
fn clones_without_names_have_files_of_their_own() {
    let Group { workload, .. } =
        one("[x]\ndirectory=/d\nsize=1m\nrw=randread\nnumjobs=3\nruntime=1\ntime_based\n");
    let paths: Vec<_> = workload.targets.iter().map(|t| t.path.as_path()).collect();
    assert_eq!(paths, ["/d/x.0.0", "/d/x.1.0", "/d/x.2.0"].map(std::path::Path::new));
    assert_eq!((workload.streams[0].threads, workload.threads()), (1, 3));
}

#[test]
fn reads_and_writes_of_other_sizes_are_a_mix() {
    let Group { workload, lost, .. } = one("[x]\n\
            filename=/f\n\
            size=1g\n\
            rw=randrw\n\
            rwmixread=75\n\
            bssplit=4k/60:8k/40,64k\n\
            runtime=1\n\
            time_based\n");
    assert_eq!(lost, [""; 0]);
    let parts = &workload.streams[0].mix.as_ref().unwrap().parts;
    let words: Vec<_> = parts
        .iter()
        .map(|p| (p.percent, p.block_bytes.0, p.write_percent, p.align_bytes.0))
        .collect();
    assert_eq!(words, [(45, 4096, 0, 4096), (30, 8192, 0, 4096), (25, 65_536, 100, 65_536)]);
    assert_eq!(workload.violations(), []);
}

#[test]
fn zones_holes_and_zipf_have_words() {
    let stream = |option: &str| {
        let text = format!("[x]\nfilename=/f\nsize=1g\nruntime=1\ntime_based\nbs=8k\n{option}\n");
        let Group { workload, lost, .. } = one(&text);
        assert_eq!(lost, [""; 0]);
        assert_eq!(workload.violations(), []);
        workload.streams[0].clone()
    };
    let hot = stream("rw=randread\nrandom_distribution=zoned:80/20:20/80");
    assert_eq!(hot.distribution, Distribution::Hot { span_percent: 20.0, access_percent: 80.0 });
    let three = stream("rw=randread\nrandom_distribution=zoned:60/10:30/20:10/70").diskspd.unwrap();
    assert_eq!(three.access, DiskspdAccess::Random);
    assert_eq!(three.slices, DiskspdSlices::Percent(vec![(60, 10), (30, 20), (10, 70)]));
    assert_eq!(
        stream("rw=randread\nrandom_distribution=zipf:1.1").distribution,
        Distribution::Zipf { theta: 1.1 }
    );
    assert_eq!(stream("rw=write:8k").pattern, Pattern::Stride { stride_bytes: Bytes(16_384) });
    let part = stream("rw=randread\npercentage_random=30");
    assert_eq!((part.pattern, part.random_percent), (Pattern::Sequential, 30));
}

#[test]
fn what_fio_cannot_do_is_named() {
    let stream = Stream {
        threads: 2,
        pattern: Pattern::SequentialShared,
        write_percent: 100,
        content: Content::Counting,
        rate: Some(Rate { limit: RateLimit::Iops(100.0), arrival: Arrival::Even }),
        pool: Some(Pool { share: PoolShare::Each }),
        ..Stream::default()
    };
    let target = Target { path: "/a:b".into(), size_bytes: Some(Bytes(1 << 20)) };
    let (text, lost) =
        write(&Workload { cooldown_seconds: 1.0, ..Workload::single(target, stream) }).unwrap();
    assert!(text.contains("filename=/a\\:b\n"), "{text}");
    for what in ["I/O after the window", "share", "on each target", "is due", "what is written"] {
        assert!(lost.iter().any(|l| l.contains(what)), "{what}: {lost:?}");
    }
}

fn some_order() -> impl Strategy<Value = (Pattern, u8)> {
    prop_oneof![
        Just((Pattern::Random, 0u8)),
        Just((Pattern::Sequential, 0)),
        (1u8..100).prop_map(|percent| (Pattern::Sequential, percent)),
        Just((Pattern::Stride { stride_bytes: Bytes(1 << 20) }, 0)),
    ]
}

fn some_pace() -> impl Strategy<Value = (Option<Rate>, Option<Think>)> {
    let rate = |limit, arrival| (Some(Rate { limit, arrival }), None);
    let think = |pause_ns, burst_ios| Think { pause_ns, burst_ios, from: ThinkFrom::Completion };
    prop_oneof![
        Just((None, None)),
        (1u32..9000)
            .prop_map(move |n| rate(RateLimit::Iops(f64::from(n) * 200.0), Arrival::Capped)),
        (1u32..900)
            .prop_map(move |n| rate(RateLimit::MibPerS(f64::from(n) * 100.0), Arrival::Poisson)),
        (1u64..100, 1u32..9)
            .prop_map(move |(ms, burst)| (None, Some(think(Nanoseconds(ms * 1_000_000), burst)))),
    ]
}

/// Fields that only writes have.
fn some_writes() -> impl Strategy<Value = (Content, bool, Option<SyncPolicy>)> {
    let content = prop_oneof![
        Just(Content::Random),
        Just(Content::Zero),
        Just(Content::Fixed),
        (1u8..100).prop_map(|percent| Content::Compressible { percent }),
    ];
    let sync = (1u32..99, any::<bool>()).prop_map(|(every_writes, all)| SyncPolicy {
        every_writes,
        call: if all { SyncCall::Fsync } else { SyncCall::Fdatasync },
    });
    (content, any::<bool>(), prop::option::of(sync))
}

fn some_priority() -> impl Strategy<Value = Option<Priority>> {
    prop_oneof![
        Just(None),
        Just(Some(Priority::Idle)),
        (0u8..8).prop_map(|level| Some(Priority::BestEffort { level })),
    ]
}

/// A stream of the common subset.
fn some_stream() -> impl Strategy<Value = Stream> {
    let sizes = (0u8..=100, 1u32..64, 9u32..20, 0u64..3, prop::option::of(1u64..5));
    (some_order(), some_pace(), some_writes(), some_priority(), sizes).prop_map(
        |(order, (rate, think), (content, durable, sync), priority, sizes)| {
            let (write_percent, depth, shift, offset, span) = sizes;
            // The parts of a rate are whole.
            let write_percent =
                if rate.is_some() { write_percent / 50 * 50 } else { write_percent };
            let writes = write_percent > 0;
            Stream {
                pattern: order.0,
                random_percent: order.1,
                write_percent,
                depth,
                blocks: vec![Block { bytes: Bytes(1 << shift), weight: 1 }],
                rate,
                think,
                content: if writes { content } else { Content::Random },
                priority,
                sync: sync.filter(|_| writes),
                durable: durable && writes,
                offset_bytes: Bytes(offset << 30),
                span_bytes: span.or((offset > 0).then_some(1)).map(|s| Bytes(s << 30)),
                ..Stream::default()
            }
        },
    )
}

fn some_workload() -> impl Strategy<Value = Workload> {
    let stream = prop::collection::vec(some_stream(), 1..4);
    let engine = prop_oneof![Just(EngineChoice::Aio), Just(EngineChoice::Uring)];
    let mode = prop_oneof![Just(Mode::Direct), Just(Mode::Buffered)];
    (stream, engine, mode, any::<u64>(), 1u32..999, any::<bool>()).prop_map(
        |(streams, engine, mode, seed, seconds, go_on)| {
            let target = |n: usize| Target {
                path: format!("/data/a:{n}").into(),
                size_bytes: Some(Bytes(16 << 30)),
            };
            let targets: Vec<Target> = (0..streams.len()).map(target).collect();
            let named =
                |(n, s): (usize, Stream)| Stream { name: format!("s{n}"), targets: vec![n], ..s };
            Workload {
                streams: streams.into_iter().enumerate().map(named).collect(),
                engine,
                mode,
                seed,
                seconds: f64::from(seconds),
                warmup_seconds: f64::from(seconds / 10),
                on_error: if go_on { OnError::Continue } else { OnError::Stop },
                targets,
                ..Workload::single(
                    Target { path: "/x".into(), size_bytes: None },
                    Stream::default(),
                )
            }
        },
    )
}

proptest! {
    #[test]
    fn hostile_bytes_are_read_without_panic(bytes: Vec<u8>) {
        let text = crate::text::decode(&bytes);
        let _ = (is_job_file(&text), read(&text));
    }

    #[test]
    fn no_variable_or_placeholder_panics(
        option in "(bs|filename|filename_format|size|include \
            )?=?([$@{}a-zß0-9]|\\$\\{|\\{\\{|\\}\\}|\\$jobnum|\\$ncpus){0,16}", value in "[$@{}=a\n\
            ]{0,6}",
    ) {
        let text = format!("[x]\nrw=read\n{option}\n");
        let variable = |_: &str| Some(value.clone());
        let environment = Environment { variable: &variable, ..Environment::NOTHING };
        if let Ok(groups) = super::read(&text, environment) {
            for group in groups.into_iter().flatten() {
                let _ = (group.workload.violations(), write(&group.workload));
            }
        }
    }

    #[test]
    fn hostile_options_are_read_without_panic(
        lines in prop::collection::vec(("(rw|bs|bssplit|size|offset|rate|rate_iops|runtime|numjobs|iodepth|nrfiles|filename|ba|random_distribution|cpus_allowed|prio|thinktime|filesize|percentage_random)", "[0-9a-z:/,.%-]{0,24}"), 0..12),
    ) {
        let options: String = lines.iter().map(|(name, value)| [name, "=", value, "\n"].concat())
            .collect();
        if let Ok(groups) = read(&format!("[x]\n{options}")) {
            for group in groups {
                let _ = (group.workload.violations(), write(&group.workload));
            }
        }
    }

    #[test]
    fn what_is_written_reads_back_the_same(workload in some_workload()) {
        prop_assert_eq!(workload.violations(), [], "{:?}", workload.streams);
        let (text, lost) = write(&workload).unwrap();
        prop_assert_eq!(lost, Vec::<String>::new(), "{}", text);
        let groups = read(&text).unwrap();
        prop_assert_eq!(&groups[0].lost, &Vec::<String>::new(), "{}", text);
        prop_assert_eq!(&groups[0].workload, &workload, "{}", text);
    }
}
