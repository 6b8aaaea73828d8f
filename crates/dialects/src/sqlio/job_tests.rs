//! Calls as workloads, and measurements as SQLIO prints them.

use super::*;
use crate::drives::Drive;
use crate::sqlio::{Invocation, parameters, parse};
use proptest::prelude::*;
use results::Latency;

fn drives() -> Drives {
    let lines = ["E=/mnt/e", "F=/mnt/f", "9=/dev/sdj"];
    Drives::new(lines.iter().map(|l| l.parse::<Drive>().unwrap()).collect()).on_windows(false)
}

fn command(line: &str) -> Command {
    match parse(&line.split_whitespace().collect::<Vec<_>>()) {
        Ok(Invocation::Run(command, _)) => *command,
        other => panic!("{line}: {other:?}"),
    }
}

/// The job of a call where every file has this size.
fn try_job(line: &str, lines: Option<&str>, current: Option<u64>) -> Result<Job, Complaints> {
    let around =
        Surroundings { drives: &drives(), current: &|_| current, size_bytes: None, seconds: None };
    let lines = lines.map(|text| parameters("param.txt", text).unwrap());
    job(&command(line), lines.as_deref().map(|l| ("param.txt", l)), &around)
}

fn job_of(line: &str, current: Option<u64>) -> Job {
    try_job(line, None, current).unwrap()
}

/// Buffers that are copied are one piece here, and the user learns that.
#[test]
fn copied_buffers_are_one_piece_with_a_note() {
    let Job { workload, notes, head } = job_of("-b64 -mC4 e.dat", Some(1 << 30));
    assert_eq!(workload.streams[0].buffers, Buffers::Single);
    assert!(notes.iter().any(|note| note.contains("-mC4")), "{notes:?}");
    assert!(head.to_text().contains("copy"), "{}", head.to_text());
}

#[test]
fn the_default_is_two_kib_reads_over_eight_mib() {
    let Job { workload, head, .. } = job_of("", None);
    let stream = &workload.streams[0];
    assert_eq!(stream.pattern, Pattern::Matrix { columns: 64, rows: 64, same_column: false });
    assert_eq!((stream.threads, stream.depth, stream.blocks[0].bytes.0), (1, 1, 2048));
    assert_eq!(
        (workload.seconds, workload.warmup_seconds, workload.mode),
        (30.0, 0.0, Mode::Direct)
    );
    assert_eq!(
        workload.targets,
        [Target { path: "testfile.dat".into(), size_bytes: Some(Bytes(8 << 20)) }]
    );
    let text = head.to_text();
    assert!(text.contains("\tusing 2KB IOs over 128KB stripes with 64 IOs per run\n"), "{text}");
    assert!(
        text.contains(
            "size of file testfile.dat needs to be: 8388608 bytes\ncurrent file size:\t0 bytes\n"
        ),
        "{text}"
    );
    // A larger file stays as it is.
    let Job { workload, head, .. } = job_of("", Some(1 << 30));
    assert_eq!((workload.targets[0].size_bytes, head.expansions.len()), (None, 0));
}

#[test]
fn each_letter_of_caches_is_a_mode() {
    let of = |line: &str| {
        let workload = job_of(line, Some(1 << 30)).workload;
        (workload.mode, workload.streams[0].durable)
    };
    assert_eq!(of("-kW -BN"), (Mode::Direct, true));
    assert_eq!(of("-kW -BH"), (Mode::Direct, false));
    assert_eq!(of("-kW -BS"), (Mode::Buffered, true));
    assert_eq!(of("-kW -BY"), (Mode::Buffered, false));
    assert_eq!(of("-kR -BN"), (Mode::Direct, false));
}

#[test]
fn sequential_has_one_cursor_for_each_file_and_a_base() {
    let Job { workload, head, .. } = job_of("-fsequential -b64 -S10 -t4 E:x.dat", Some(1 << 30));
    let stream = &workload.streams[0];
    assert_eq!((stream.pattern, stream.offset_bytes.0), (Pattern::SequentialShared, 640 << 10));
    assert_eq!(
        (workload.targets[0].path.as_path(), workload.targets[0].size_bytes),
        (std::path::Path::new("/mnt/e/x.dat"), None)
    );
    assert_eq!((head.sizes[0].mib, head.sizes[0].specified), (1024, false));
    assert_eq!(head.sizes[0].file, "E:x.dat", "as it was written");
}

#[test]
fn threads_go_round_several_files() {
    let Job { workload, head, .. } = job_of(r"-frandom -o8 -t2 -dEF \t.dat", Some(1 << 30));
    assert_eq!((workload.targets.len(), workload.streams[0].threads), (2, 2));
    assert_eq!(workload.streams[0].pool, Some(Pool { share: PoolShare::Each }));
    assert!(
        head.to_text().contains(r"2 threads reading for 30 secs from files E:\t.dat and F:\t.dat")
    );
    let alone = job_of(r"-frandom -t2 -dEF \t.dat", Some(1 << 30)).workload.streams;
    assert_eq!(alone[0].pool, Some(Pool { share: PoolShare::InTurn }));
}

/// The bucket of 3.000 ms begins below it: I/Os that all took just that stood in the column of 2
/// ms.
#[test]
fn no_io_stands_in_a_millisecond_that_none_took() {
    let mut histogram = Histogram::new();
    histogram.record_many(3_000_000, 10);
    let (latency_ns, text) = (Latency::of(&histogram), Some(histogram.encode()));
    let total = Statistics { latency_ns, histogram: text, ..Statistics::default() };
    let counts = ios_by_ms(&total);
    assert_eq!((counts[2], counts[3]), (0, 10));
}

/// The engine has one position for streams that differ in nothing but their threads.
#[test]
fn lines_of_the_same_file_differ_in_their_threads_only() {
    let lines = "E:\\a.dat 2\nF:\\a.dat 1\ne:\\a.dat 1 0x2\n";
    let Job { workload, .. } =
        try_job("-fsequential -kW -b8 -S4 -Fp.txt", Some(lines), Some(1 << 30)).unwrap();
    let [first, other, second] = workload.streams.as_slice() else { panic!("{workload:?}") };
    assert_eq!((first.targets[0], other.targets[0], second.targets[0]), (0, 1, 0));
    assert_eq!(first.pattern, Pattern::SequentialShared);
    let (threads, cpus, name) = (first.threads, first.cpus.clone(), first.name.clone());
    assert_eq!(&workload::Stream { threads, cpus, name, ..second.clone() }, first);
}

#[test]
fn each_line_of_a_parameter_file_has_its_own_threads_and_cpus() {
    let lines = "E:\\a.dat 2 0x5 100\n# E:\\b.dat 1\nF:\\a.dat 1 0 50\nE:\\a.dat 1 0 200\n";
    let Job { workload, head, notes } =
        try_job("-frandom -o4 -b8 -LS -Fparam.txt", Some(lines), Some(0)).unwrap();
    let sizes: Vec<_> = workload.targets.iter().map(|t| t.size_bytes.unwrap().0 >> 20).collect();
    assert_eq!(sizes, [200, 50], "one file for both of its lines");
    let streams: Vec<_> =
        workload.streams.iter().map(|s| (s.targets[0], s.threads, s.depth)).collect();
    assert_eq!(streams, [(0, 2, 4), (1, 1, 4), (0, 1, 4)]);
    assert_eq!(
        (workload.streams[0].cpus.as_slice(), workload.streams[1].cpus.len()),
        (&[0, 2][..], 0)
    );
    assert!(notes.iter().any(|n| n.contains("0x5")), "{notes:?}");
    let text = head.to_text();
    for line in [
        "parameter file used: param.txt",
        "\tfile E:\\a.dat with 2 threads (0-1) using mask 0x5 (5)",
        "\tfile F:\\a.dat with 1 thread (2) using mask 0x0 (0)",
        "\tfile E:\\a.dat with 1 thread (3) using mask 0x0 (0)",
        "4 threads reading for 30 secs from files E:\\a.dat, F:\\a.dat and E:\\a.dat",
        "using specified size: 50 MB for file: F:\\a.dat",
    ] {
        assert!(text.lines().any(|l| l == line), "`{line}` is not in {text}");
    }
}

#[test]
fn what_cannot_be_is_said_with_its_place() {
    let Complaints(wrong) =
        try_job("-f2 -Fparam.txt", Some("E:\\a 3 0 100\nG:\\b 1\n"), None).unwrap_err();
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    assert!(
        wrong[0].starts_with("`param.txt`, line 2, column 1: ")
            && wrong[0].contains("`--drive G=/a/directory`"),
        "{}",
        wrong[0]
    );
    let place = "`param.txt`, line 1, column";
    assert!(wrong[1].starts_with(&format!("{place} 6: 3 threads need `-f3`")), "{}", wrong[1]);
    assert!(wrong[2].starts_with(&format!("{place} 10: a size goes with")), "{}", wrong[2]);
}

#[test]
fn a_missing_file_of_no_stated_size_is_small_and_that_is_said() {
    let Job { workload, notes, .. } = job_of("-frandom -b8 E:new.dat", None);
    assert_eq!(workload.targets[0].size_bytes, Some(Bytes(32 << 20)));
    assert!(notes[0].contains("32 MiB") && notes[0].contains("--size"), "{notes:?}");
}

/// A measurement of these latencies, each a thousand times.
fn measured(job: &Job, iops: f64, latencies_ns: &[u64]) -> Measurement {
    let mut histogram = Histogram::new();
    for ns in latencies_ns {
        (0..1000).for_each(|_| histogram.record(*ns));
    }
    let run = crate::foreign::Run {
        origin: results::Origin::default(),
        started: "2026-11-21T12:00:00Z".to_owned(),
        status: results::Status::Complete,
        workload: job.workload.clone(),
        host: None,
        seconds: 30.0,
        target_bytes: Vec::new(),
        total: Statistics {
            iops,
            latency_ns: Latency::of(&histogram),
            histogram: Some(histogram.encode()),
            ..Statistics::default()
        },
        read: Statistics::default(),
        write: Statistics::default(),
        printed: crate::identities::PrintedRun::default(),
        warnings: Vec::new(),
    };
    run.measurement("", "2026-11-21T12:00:00Z")
}

#[test]
fn a_measurement_is_printed_with_fractions_cut_off() {
    let line = "-kR -s120 -frandom -b8 -t2 -o8 -BH -LS E:\\t.dat";
    let job = job_of(line, Some(1 << 30));
    // 962.458 MiB/s would be rounded up.
    let m = measured(&job, 123_194.62, &[400_000, 1_900_000, 2_000_000, 30_999_999]);
    let text = job.printout(&command(line), &m).to_text();
    let expected = "\
sqlio v1.5.SG
using system counter for latency timings, 1000000000 counts per second
2 threads reading for 120 secs from file E:\\t.dat
\tusing 8KB random IOs
\tenabling multiple I/Os per thread with 8 outstanding
\tbuffering set to use hardware disk cache (but not file cache)
using current size: 1024 MB for file: E:\\t.dat
initialization done
CUMULATIVE DATA:
throughput metrics:
IOs/sec: 123194.62
MBs/sec:   962.45
latency metrics:
Min_Latency(ms): 0
Avg_Latency(ms): 8
Max_Latency(ms): 30
histogram:
ms: 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24+
%: 25 25 25  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0 25
";
    assert_eq!(text, expected);
}

#[test]
fn without_latency_only_throughput_is_printed() {
    let job = job_of("E:\\t.dat", Some(1 << 30));
    let printout = job.printout(&command("E:\\t.dat"), &measured(&job, 1.0, &[]));
    let text = printout.to_text();
    assert!(
        text.ends_with("throughput metrics:\nIOs/sec:     1.00\nMBs/sec:     0.00\n"),
        "{text}"
    );
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(
        iops in 0.0..1e7f64,
        block_kib in 1u32..5000,
        latencies in prop::collection::vec(0u64..100_000_000, 1..5),
    ) {
        let line = format!("-frandom -b{block_kib} -LS E:\\t.dat");
        let job = job_of(&line, Some(1 << 30));
        let m = measured(&job, iops, &latencies);
        let printed = job.printout(&command(&line), &m);
        let (found, notes) = crate::sqlio::readings(&printed.to_text());
        prop_assert!(notes.is_empty() && found.len() == 1);
        prop_assert_eq!(&found[0].printout, &printed);
        let read = crate::sqlio::read(&printed.to_text(), "x", "2026-11-21T12:00:00Z");
        let [back] = read.measurements.as_slice() else { panic!("{:?}", read.notes) };
        prop_assert!((back.total.iops - iops).abs() < 0.006);
        prop_assert_eq!(&back.checks.contradictions, &[]);
        let [truth, told] = [m.total.latency_ns.unwrap(), back.total.latency_ns.unwrap()];
        prop_assert!(told.mean <= truth.mean && truth.mean < told.mean + 1e6);
    }
}
