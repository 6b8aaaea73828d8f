//! The text, as scripts expect it to the letter.

use super::*;

/// As the batch of a parameter file prints it.
pub(crate) fn whole() -> Printout {
    let mut histogram = [0; HISTOGRAM_MS];
    histogram[..5].copy_from_slice(&[22, 43, 22, 6, 2]);
    histogram[24] = 1;
    Printout {
        version: VERSION.to_owned(),
        timer: Some(Timer { processor: false, per_second: 2_539_060 }),
        parameter_file: Some(r"G:\param.txt".to_owned()),
        pools: vec![PoolLine {
            file: r"G:\testfile.dat".to_owned(),
            threads: 64,
            first: 0,
            mask: 0,
        }],
        load: Some(Load {
            threads: 64,
            writes: false,
            seconds: 15,
            files: vec![r"G:\testfile.dat".to_owned()],
        }),
        access: Some(Access { block_kib: 4, order: Order::Random }),
        outstanding: Some(8),
        buffers: None,
        buffering: Buffering::Hardware,
        expansions: vec![Expansion {
            file: r"G:\testfile.dat".to_owned(),
            needed_bytes: 52_428_800_000,
            current_bytes: 0,
        }],
        sizes: vec![FileSize { file: r"G:\testfile.dat".to_owned(), mib: 50_000, specified: true }],
        iops: Some(Figure::hundredths(2_626_398)),
        mib_per_s: Some(Figure::hundredths(10_259)),
        cpu: None,
        initiation_us: [None; 3],
        latency_ms: [Some(0.0), Some(1.0), Some(138.0)],
        histogram: Some(histogram),
    }
}

#[test]
fn a_run_is_printed_line_for_line() {
    let text = "\
sqlio v1.5.SG
using system counter for latency timings, 2539060 counts per second
parameter file used: G:\\param.txt
\tfile G:\\testfile.dat with 64 threads (0-63) using mask 0x0 (0)
64 threads reading for 15 secs from file G:\\testfile.dat
\tusing 4KB random IOs
\tenabling multiple I/Os per thread with 8 outstanding
\tbuffering set to use hardware disk cache (but not file cache)
size of file G:\\testfile.dat needs to be: 52428800000 bytes
current file size:\t0 bytes
need to expand by:\t52428800000 bytes
expanding G:\\testfile.dat ... done.
using specified size: 50000 MB for file: G:\\testfile.dat
initialization done
CUMULATIVE DATA:
throughput metrics:
IOs/sec: 26263.98
MBs/sec:   102.59
latency metrics:
Min_Latency(ms): 0
Avg_Latency(ms): 1
Max_Latency(ms): 138
histogram:
ms: 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24+
%: 22 43 22  6  2  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  1
";
    assert_eq!(whole().to_text(), text);
}

#[test]
fn one_thread_is_singular_and_a_full_column_touches_its_name() {
    let mut histogram = [0; HISTOGRAM_MS];
    histogram[0] = 100;
    let file = "testfile.dat".to_owned();
    let printout = Printout {
        parameter_file: None,
        pools: Vec::new(),
        load: Some(Load { threads: 1, writes: true, seconds: 1, files: vec![file] }),
        access: Some(Access {
            block_kib: 2,
            order: Order::Striped { stripe_kib: 128, run_ios: 64 },
        }),
        outstanding: None,
        buffering: Buffering::None,
        expansions: Vec::new(),
        sizes: Vec::new(),
        initiation_us: [Some(1.0), Some(5.0), Some(51.0)],
        histogram: Some(histogram),
        cpu: Some(CpuBlock {
            columns: vec!["ALL".to_owned(), "0".to_owned()],
            rows: vec![("UserTime(%)".to_owned(), vec![1.5, 3.0])],
        }),
        ..whole()
    };
    let text = printout.to_text();
    for line in [
        "1 thread writing for 1 sec to file testfile.dat",
        "\tusing 2KB IOs over 128KB stripes with 64 IOs per run",
        "ProcessorNumber:  ALL 0",
        "UserTime(%):  1.50 3.00",
        "Min_Init_Latency(us): 1",
        "Max_Init_Latency(us): 51",
    ] {
        assert!(text.lines().any(|l| l == line), "`{line}` is not in {text}");
    }
    assert!(text.contains("\n%:100  0  0"), "{text}");
    assert!(!text.contains("buffering") && !text.contains("outstanding"), "{text}");
}

#[test]
fn several_files_are_named_in_one_line() {
    let named = |names: &[&str]| joined(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
    assert_eq!(named(&["a", "b"]), ("files", "a and b".to_owned()));
    assert_eq!(named(&["a", "b", "c"]), ("files", "a, b and c".to_owned()));
}
