//! Conditions are alike where nothing that matters differs, and their name never changes.

use results::{
    Checks, Conditions, Cpu, Engine, Environment, Measurement, Stalls, Statistics, Status,
    TargetResult,
};
use workload::{
    Block, Bytes, Content, Distribution, Pattern, Rate, RateLimit, Stream, SyncCall, SyncPolicy,
    Target, Workload,
};

const FILE: u64 = 1 << 30;

fn of(file_bytes: u64, stream: Stream) -> Measurement {
    let none = Statistics::default;
    let target = Target { path: "sim".into(), size_bytes: None };
    let result = TargetResult {
        path: "sim".into(),
        file_bytes,
        content: "a test file of iosonde".to_owned(),
        total: none(),
        read: none(),
        write: none(),
        sync: none(),
    };
    Measurement {
        schema: results::MEASUREMENT_SCHEMA.to_owned(),
        id: "m".to_owned(),
        tool_version: "1".to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        origin: None,
        status: Status::Complete,
        workload: Workload::single(target, stream),
        environment: Environment { host: None, storage: Vec::new() },
        engine: Engine {
            name: "sim".to_owned(),
            reason: String::new(),
            features: Vec::new(),
            clock: "virtual".to_owned(),
        },
        seconds: 1.0,
        threads: 1,
        depth: Some(1),
        in_flight: 1,
        achieved_in_flight: 1.0,
        file_bytes,
        total: none(),
        read: none(),
        write: none(),
        sync: none(),
        streams: Vec::new(),
        targets: vec![result],
        threads_detail: Vec::new(),
        series: Vec::new(),
        warmup_series: Vec::new(),
        warmed: None,
        steady: None,
        phases: None,
        rounds: None,
        cpu: Cpu::default(),
        kernel: None,
        errors: Vec::new(),
        stalls: Stalls::default(),
        checks: Checks::default(),
        hosts: Vec::new(),
    }
}

fn conditions(stream: Stream) -> Conditions {
    Conditions::of(&of(FILE, stream))
}

fn blocks(blocks: &[(u64, u32)]) -> Vec<Block> {
    blocks.iter().map(|&(bytes, weight)| Block { bytes: Bytes(bytes), weight }).collect()
}

/// The names of what differs from the default stream.
fn differ(stream: Stream) -> Vec<String> {
    let differences = conditions(Stream::default()).differences(&conditions(stream));
    differences.into_iter().map(|d| d.name).collect()
}

/// Histories hold these ids. A change of one makes every stored result unlike every new one.
#[test]
fn the_id_is_the_same_in_every_version() {
    let plain = conditions(Stream::default());
    let json = r#"{"file_bytes":1073741824,"streams":[{"threads":1,"depth":1,"blocks":[[8192,1]],"pattern":"random"}]}"#;
    assert_eq!(serde_json::to_string(&plain).unwrap(), json);
    assert_eq!(plain.id(), "b9313dd802c3595f");
    let rich = conditions(Stream {
        threads: 4,
        depth: 16,
        blocks: blocks(&[(65536, 20), (8192, 80)]),
        pattern: Pattern::Stride { stride_bytes: Bytes(1 << 20) },
        random_percent: 10,
        distribution: Distribution::Zipf { theta: 0.99 },
        align_bytes: Some(Bytes(4096)),
        write_percent: 30,
        sync: Some(SyncPolicy { every_writes: 8, call: SyncCall::Fsync }),
        durable: true,
        rate: Some(Rate { limit: RateLimit::Iops(1000.5), arrival: workload::Arrival::Poisson }),
        offset_bytes: Bytes(4096),
        span_bytes: Some(Bytes(1 << 29)),
        content: Content::Compressible { percent: 40 },
        ..Stream::default()
    });
    assert_eq!(rich.id(), "f239aaa3a9330bac");
    let back: Conditions = serde_json::from_str(&serde_json::to_string(&rich).unwrap()).unwrap();
    assert_eq!(back, rich);
}

#[test]
fn what_cannot_matter_to_the_load_differs_in_nothing() {
    assert_eq!(differ(Stream { name: "other".into(), ..Stream::default() }), [""; 0]);
    let reads = Stream {
        durable: true,
        sync: Some(SyncPolicy { every_writes: 1, call: SyncCall::Fsync }),
        content: Content::Zero,
        align_bytes: Some(Bytes(8192)),
        span_bytes: Some(Bytes(FILE)),
        ..Stream::default()
    };
    assert_eq!(differ(reads.clone()), [""; 0]);
    assert_eq!(conditions(reads).id(), conditions(Stream::default()).id());
    let one = Stream { blocks: blocks(&[(8192, 30), (4096, 60), (8192, 30)]), ..Stream::default() };
    let other = Stream { blocks: blocks(&[(4096, 1), (8192, 1)]), ..Stream::default() };
    assert_eq!(conditions(one).id(), conditions(other).id());
}

/// Runs whose threads were bound to the CPUs near the disk and runs on the far socket compared as
/// alike, and the difference of the two was a verdict on the storage. Nothing changes for runs that
/// are not pinned: their id above is the same as ever.
#[test]
fn other_cpus_are_other_conditions() {
    let on = |cpus: &[u32], threads| {
        conditions(Stream { cpus: cpus.to_vec(), threads, ..Stream::default() })
    };
    let found = on(&[0, 1], 2).differences(&on(&[8, 9], 2));
    assert_eq!(found.len(), 1, "{found:?}");
    let said = (found[0].name.as_str(), found[0].a.as_str(), found[0].b.as_str());
    assert_eq!(said, ("CPUs of the threads", "0, 1", "8, 9"));
    assert_ne!(on(&[0, 1], 2).id(), on(&[8, 9], 2).id());
    let pinned = on(&[], 2).differences(&on(&[0], 2));
    assert_eq!((pinned[0].a.as_str(), pinned[0].b.as_str()), ("any", "0"));
    assert_eq!(on(&[0, 1, 2, 3], 2).id(), on(&[0, 1], 2).id(), "no thread is on CPU 2 or 3");
}

#[test]
fn every_condition_that_differs_is_named_with_both_values() {
    let small = Conditions::of(&of(256 << 20, Stream::default()));
    let large = Conditions::of(&of(128 << 30, Stream::default()));
    let found = small.differences(&large);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].name, "file size");
    assert_eq!((found[0].a.as_str(), found[0].b.as_str()), ("256 MiB", "128 GiB"));
    let little = Conditions::of(&of(FILE + 512, Stream::default()));
    let found = conditions(Stream::default()).differences(&little);
    assert_eq!((found[0].a.as_str(), found[0].b.as_str()), ("1073741824 B", "1073742336 B"));
    let all = Stream {
        threads: 2,
        depth: 8,
        blocks: blocks(&[(4096, 1)]),
        pattern: Pattern::Sequential,
        write_percent: 50,
        durable: true,
        content: Content::Zero,
        offset_bytes: Bytes(4096),
        ..Stream::default()
    };
    let names = [
        "block size",
        "pattern",
        "share of writes",
        "threads",
        "depth",
        "durable writes",
        "written data",
        "begin of the used part",
    ];
    assert_eq!(differ(all), names);
    let writes = |file: &str| Stream {
        write_percent: 100,
        content: Content::Source { bytes: Bytes(1 << 20) },
        content_file: Some(file.into()),
        ..Stream::default()
    };
    let (a, b) = (conditions(writes("/a")), conditions(writes("/b")));
    assert_ne!(a.id(), b.id(), "what was written came from another file");
    assert_eq!(a.differences(&b)[0].name, "file of the written data");
    let reads = Stream { write_percent: 0, ..writes("/b") };
    assert_eq!(conditions(reads).id(), conditions(Stream::default()).id());
}

#[test]
fn data_of_others_and_the_cache_of_the_system_are_conditions() {
    let mut foreign = of(FILE, Stream::default());
    foreign.targets[0].content = "not written by iosonde".to_owned();
    foreign.workload.mode = workload::Mode::Buffered;
    let found = conditions(Stream::default()).differences(&Conditions::of(&foreign));
    let names: Vec<&str> = found.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["operating system's cache", "data in the file"]);
}

/// Experiments begin sequential reads elsewhere each time, so that no cache answers the second of
/// them. They read the whole file: half of it fitted a cache that the whole does not fit.
#[test]
fn where_a_sequential_read_begins_is_no_condition() {
    let from = |begin: u64, span: Option<u64>| {
        conditions(Stream {
            pattern: Pattern::Sequential,
            begin_bytes: Bytes(begin),
            span_bytes: span.map(Bytes),
            ..Stream::default()
        })
        .id()
    };
    assert_eq!(from(0, None), from(37 << 20, Some(FILE)));
    assert_ne!(from(0, None), from(0, Some(FILE / 2)));
}
