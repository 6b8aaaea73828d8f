//! What fio prints for people, of several versions.

use dialects::foreign::ForeignRuns;
use dialects::recognise::recognise;
use proptest::prelude::*;
use results::contradiction::Identity;
use results::{Measurement, Status};
use workload::Pattern;

const READ: &str = "2026-11-27T00:00:00Z";
const V2: &str = include_str!("fio_text/v2.1.txt");
const V3_1: &str = include_str!("fio_text/v3.1.txt");
const V3_33: &str = include_str!("fio_text/v3.33.txt");

fn found(text: &str) -> ForeignRuns {
    recognise(text.as_bytes(), "fio.txt", READ).unwrap().expect("it is fio's")
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < expected.abs() * 1e-6 + 1e-9, "{found} for {expected}");
}

fn warns(m: &Measurement, text: &str) -> bool {
    m.checks.warnings.iter().any(|warning| warning.contains(text))
}

#[test]
fn fio_2_is_read() {
    let runs = found(V2);
    let [m] = runs.measurements.as_slice() else { panic!("{runs:?}") };
    let origin = m.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.tool_version.as_deref()), ("fio", Some("2.1.3")));
    assert_eq!(origin.command_line, None);
    // `io=4096.0MB` are MiB: what iosonde makes of KB and MB is what fio means.
    assert_eq!((m.total.ios, m.total.bytes), (1_048_576, 4 << 30));
    near(m.total.iops, 104_857.6);
    near(m.total.mib_per_s, 409.6);
    assert_eq!(m.seconds, 10.0);
    assert_eq!(m.started, "2014-01-06T12:00:20Z");
    let latency = m.read.latency_ns.unwrap();
    near(latency.mean, 610_000.0);
    near(latency.stddev.unwrap(), 91_000.0);
    assert_eq!((latency.min, latency.max), (Some(103_000), Some(5_003_000)));
    assert_eq!(
        (latency.p50, latency.p99, latency.p99_9),
        (Some(600_000), Some(900_000), Some(1_512_000))
    );
    let stream = &m.workload.streams[0];
    assert_eq!((stream.pattern, stream.write_percent, stream.depth), (Pattern::Random, 0, 64));
    assert_eq!(stream.blocks[0].bytes.0, 4096);
    assert_eq!(m.engine.features, ["libaio"]);
    near(m.cpu.user_s.unwrap(), 0.7);
    assert!(warns(m, "whether the I/O was direct"));
    assert!(warns(m, "without the zone"));
    assert!(!warns(m, "older than") && !warns(m, "converted"), "{:?}", m.checks.warnings);
    assert_eq!(m.file_bytes, 0);
}

#[test]
fn a_group_and_a_job_with_flushes_are_read() {
    let runs = found(V3_33);
    assert_eq!(runs.notes, Vec::<String>::new());
    let [oltp, log] = runs.measurements.as_slice() else { panic!("{runs:?}") };
    assert_eq!((oltp.threads, oltp.depth, oltp.in_flight), (4, Some(32), 128));
    // The share that was asked for is not printed; what was done is.
    assert_eq!(oltp.workload.streams[0].write_percent, 30);
    assert_eq!((oltp.read.ios, oltp.write.ios), (175_000, 75_000));
    // The bytes are printed with three digits; 8 KiB times the I/Os is what they are.
    assert_eq!(oltp.read.bytes, 175_000 * 8192);
    near(oltp.read.iops, 175_000.0 / 10.001);
    let (read, write) = (oltp.read.latency_ns.unwrap(), oltp.write.latency_ns.unwrap());
    near(read.mean, 4_104_300.0);
    assert_eq!((read.p99, write.p99), (Some(9_621_000), Some(13_000_000)));
    assert_eq!(write.max, Some(37_838_000));
    // Of four threads, a share of CPU in percent is not that of a known time.
    assert_eq!(oltp.cpu.user_s, None);
    assert_eq!((log.write.ios, log.sync.ios), (50, 50));
    near(log.sync.latency_ns.unwrap().mean, 3_662_810.0);
    assert_eq!((log.threads, log.depth), (1, Some(1)));
    near(log.cpu.user_s.unwrap(), 0.013_052);
}

#[test]
fn flushes_that_are_not_counted_stand_in_words() {
    let runs = found(&V3_33.replace("total=0,50,0,50", "total=0,50,0,0"));
    let log = &runs.measurements[1];
    assert_eq!((log.sync.ios, log.sync.latency_ns), (0, None));
    assert!(warns(log, "fio timed flushes, 3.66 ms in the mean"), "{:?}", log.checks.warnings);
}

/// The text alone does not tell whether I/O was direct; the command line above it does.
#[test]
fn a_command_line_above_the_text_tells_the_rest() {
    let call = "$ fio --name=randread --ioengine=libaio --direct=1 --rw=randread --bs=4k \
        --iodepth=64 --size=4g --filename=/dev/sdb --runtime=10\n";
    let runs = found(&format!("{call}{V2}"));
    let m = &runs.measurements[0];
    assert_eq!(m.workload.mode, workload::Mode::Direct);
    assert_eq!(m.workload.targets[0].path.to_str(), Some("/dev/sdb"));
    assert_eq!(m.file_bytes, 4 << 30);
    assert!(!warns(m, "whether the I/O was direct"), "{:?}", m.checks.warnings);
    let line = m.origin.as_ref().unwrap().command_line.as_deref();
    assert_eq!(line, Some(call.trim_start_matches("$ ").trim_end()));
    // It is of the run that follows it, and of no other.
    let runs = found(&format!("{call}{V2}{V3_33}"));
    assert!(warns(&runs.measurements[1], "whether the I/O was direct"));
}

#[test]
fn errors_and_shortened_numbers_are_read() {
    let runs = found(V3_1);
    let [m] = runs.measurements.as_slice() else { panic!("{runs:?}") };
    assert_eq!(m.status, Status::Failed);
    assert!(warns(m, "fio ended the job with error 5"));
    assert!(warns(m, "fio was asked for 8 I/Os at a time"));
    let latency = m.total.latency_ns.unwrap();
    assert_eq!((latency.min, latency.max), (Some(101_142), Some(5_358_300)));
    assert_eq!(latency.p90, Some(500_040));
    assert_eq!((m.total.ios, m.total.bytes), (4096, 4 << 30));
    assert_eq!(m.workload.streams[0].pattern, Pattern::Sequential);
}

/// Without the line before the run, a sequential read of 4 KiB would be made up.
#[test]
fn without_its_heading_the_load_is_not_known() {
    let from = V2.find("randread: (groupid").unwrap();
    let runs = found(&V2[from..]);
    let [m] = runs.measurements.as_slice() else { panic!("{runs:?}") };
    assert!(m.workload.streams.is_empty());
    assert_eq!((m.threads, m.depth), (0, None));
    assert!(warns(m, "its load is not known"));
    // What is printed holds all the same; bytes are as exact as fio prints them.
    assert_eq!((m.total.ios, m.total.bytes), (1_048_576, 4 << 30));
    let range = found(&V2.replace("bs=4K-4K/4K-4K/4K-4K", "bs=4K-64K/4K-64K/4K-64K"));
    assert!(range.measurements[0].workload.streams.is_empty());
    assert!(warns(&range.measurements[0], "a range, bs=4K-64K"));
}

#[test]
fn jobs_of_one_group_with_different_loads_are_named() {
    let second = "big: (g=0): rw=randrw, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) \
        64.0KiB-64.0KiB, ioengine=psync, iodepth=1\n";
    let runs = found(&V3_33.replacen("log: (g=1)", &format!("{second}log: (g=1)"), 1));
    assert!(warns(&runs.measurements[0], "with different loads"));
    assert!(!warns(&found(V3_33).measurements[0], "with different loads"));
}

#[test]
fn several_runs_in_one_file_keep_their_order_and_their_versions() {
    let runs = found(&format!("$ fio a.job\n{V3_1}\n\n$ fio b.job\n{V2}{V3_33}"));
    let versions: Vec<&str> = runs
        .measurements
        .iter()
        .filter_map(|m| m.origin.as_ref()?.tool_version.as_deref())
        .collect();
    assert_eq!(versions, ["3.1", "2.1.3", "3.33", "3.33"]);
    // Windows' line ends, and a file that is read again, give the same.
    let again = found(&format!("$ fio a.job\n{V3_1}\n\n$ fio b.job\n{V2}{V3_33}"));
    assert_eq!(again.measurements[3].id, runs.measurements[3].id);
    assert_eq!(
        found(&V2.replace('\n', "\r\n")).measurements[0].total,
        found(V2).measurements[0].total
    );
}

#[test]
fn what_is_not_whole_is_named() {
    let cut = &V2[..V2.find("  cpu ").unwrap()];
    let runs = found(cut);
    assert!(runs.measurements.is_empty());
    assert!(runs.notes[0].contains("line 5: the job `randread` is not whole"), "{:?}", runs.notes);
    let error =
        recognise(V2.replace("iops=104857", "iops=many").as_bytes(), "x", READ).unwrap_err();
    assert_eq!(error.line, 6, "{error}");
    assert!(error.what.contains("`iops`"), "{error}");
}

#[test]
fn figures_that_do_not_agree_are_those_that_fio_printed() {
    let runs = found(&V2.replace("iops=104857", "iops=99000"));
    near(runs.measurements[0].total.iops, 99_000.0);
    let [found] = runs.measurements[0].checks.contradictions.as_slice() else { panic!("one") };
    assert_eq!((found.identity, found.suspects.len()), (Identity::Product, 1));
    assert_eq!((found.suspects[0].value, found.follows), (99_000.0, 990_000.0));
}

/// fio cuts off the fraction of an I/O per second: 3 I/Os in 6 s were shown as 0 IOPS and 0 MiB/s.
#[test]
fn less_than_one_io_per_second_is_counted() {
    let slow = V2
        .replace(
            "io=4096.0MB, bw=419430KB/s, iops=104857, runt= 10000msec",
            "io=12288B, bw=2047B/s, iops=0, runt=  6002msec",
        )
        .replace("r=1048576", "r=3");
    let m = &found(&slow).measurements[0];
    near(m.total.iops, 3.0 / 6.002);
    assert_eq!((m.total.ios, m.total.bytes), (3, 12_288));
    assert_eq!(m.checks.contradictions, []);
}

/// Of `unified_rw_reporting`, the text has one count for reads and writes: it was shown as a load
/// of reads.
#[test]
fn a_mixed_load_without_its_share_of_writes_is_unknown() {
    let unified = V2.replace("rw=randread", "rw=randrw").replace("read : io", "mixed: io");
    let m = &found(&unified).measurements[0];
    assert!(m.workload.is_unknown());
    near(m.total.iops, 104_857.6);
    assert!(warns(m, "the share of writes of `rw=randrw"), "{:?}", m.checks.warnings);
    // A load of one direction has its share.
    let reads = V2.replace("read : io", "mixed: io");
    assert_eq!(found(&reads).measurements[0].workload.streams[0].write_percent, 0);
}

/// `fio --client` writes the server before each line of a load: the loads were unknown, the
/// version too, and the sum of all servers was a third result.
#[test]
fn servers_of_a_client_are_results_with_their_loads_and_their_sum_is_not() {
    let job = |pid: u32| {
        let result = &V2[V2.find("randread: (groupid").unwrap()..V2.find("Run status").unwrap()];
        format!("<db1> \n{}", result.replace("pid=1234", &format!("pid={pid}")))
    };
    let head = V2.lines().next().unwrap();
    let sum = job(0).replace("<db1> \nrandread:", "All clients:").replace("jobs=1", "jobs=2");
    let server = "hostname=db1, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.33, flags=1";
    let text = format!(
        "{server}\n{server}\n<db1> {head}\n<db1> {head}\n<db1> Starting 1 process\n{}{}{sum}",
        job(1),
        job(2)
    );
    let found = found(&text);
    let [one, other] = found.measurements.as_slice() else { panic!("{:?}", found.notes) };
    for m in [one, other] {
        assert_eq!(m.workload.streams[0].depth, 64);
        assert_eq!(m.origin.as_ref().unwrap().tool_version.as_deref(), Some("3.33"));
        assert_eq!(m.environment.host.as_ref().unwrap().hostname, "db1");
    }
    assert!(found.notes[0].contains("`All clients` is the sum of the others"), "{:?}", found.notes);
}

/// `--minimal` was of no known format.
#[test]
fn terse_output_is_read() {
    let times = "47;9548;95.534654;234.484070";
    let percentiles = format!("99.000000%=214;{}", "0%=0;".repeat(19));
    let reads = format!(
        "124660;41539;10384;3001;0;0;0;0;{times};{percentiles}{times};37240;42128;98.1%;40752.0;\
         1999.4;"
    );
    let none = format!("0;0;0;0;0;0;0;0;0;0;0;0;{}0;0;0;0;0;0;0%;0;0;", "0%=0;".repeat(20));
    let text = format!("3;fio-3.33;test;0;0;{reads}{none}1.833333%;42.900000%;31113;0;10;100.0%\n");
    let found = found(&text);
    let [m] = found.measurements.as_slice() else { panic!("{:?}", found.notes) };
    assert_eq!((m.total.bytes, m.total.iops, m.seconds), (124_660 << 10, 10_384.0, 3.001));
    let latency = m.read.latency_ns.unwrap();
    near(latency.mean, 95_534.654);
    assert_eq!((latency.min, latency.p99), (Some(47_000), Some(214_000)));
    assert!(m.workload.is_unknown() && warns(m, "how many I/Os"), "{:?}", m.checks.warnings);
    assert_eq!(m.checks.contradictions, []);
    let cut = recognise(&text.as_bytes()[..text.find(";47;").unwrap()], "x", READ).unwrap_err();
    assert!(cut.what.contains("the line ends after"), "{cut}");
}

/// Each `--status-interval` prints the run from its beginning on: four results were one run.
#[test]
fn of_intermediate_results_the_last_counts() {
    let start = V2.find("randread: (groupid").unwrap();
    let first = V2[start..].replace("runt= 10000", "runt=  5000").replace("r=1048576", "r=524288");
    let first = first.replace("io=4096.0MB", "io=2048.0MB");
    let found = found(&format!("{}{first}\n{}", &V2[..start], &V2[start..]));
    let [one] = found.measurements.as_slice() else { panic!("{:?}", found.notes) };
    assert_eq!((one.total.ios, one.seconds), (1_048_576, 10.0));
    assert!(found.notes[0].contains("is a later result of one before it"), "{:?}", found.notes);
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = recognise(text.as_bytes(), "x", READ);
    }

    /// A result with one stretch of it replaced by something else.
    #[test]
    fn no_damage_panics(which in 0_usize..3, at in 0_usize..8000, length in 0_usize..60,
        with in "[0-9a-zKM:/. ,=()\n%-]{0,20}") {
        let mut text: Vec<char> = [V2, V3_1, V3_33][which].chars().collect();
        let at = at % text.len();
        let end = (at + length).min(text.len());
        text.splice(at..end, with.chars());
        let text: String = text.into_iter().collect();
        if let Ok(Some(found)) = recognise(text.as_bytes(), "x", READ) {
            for m in found.measurements {
                prop_assert!(m.total.iops.is_finite());
                let _ = m.workload.title();
                let json = serde_json::to_value(&m).unwrap();
                prop_assert_eq!(&serde_json::from_value::<Measurement>(json).unwrap(), &m);
            }
        }
    }
}
