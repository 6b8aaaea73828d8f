//! Results of fio 3.33 that were made for this, and damaged ones.

use dialects::foreign::{ForeignRuns, ReadError};
use dialects::recognise::recognise;
use proptest::prelude::*;
use results::{Histogram, Measurement, Status};
use workload::{Arrival, Bytes, Mode, Pattern, RateLimit, SyncCall};

const READ: &str = "2026-02-03T04:05:06Z";
const TWO_JOBS: &str = include_str!("fio/two_jobs.json");
const GROUP: &str = include_str!("fio/group.txt");
const INTERVAL: &str = include_str!("fio/interval.json");

fn found(text: &str) -> Result<ForeignRuns, ReadError> {
    recognise(text.as_bytes(), "result.json", READ).map(Option::unwrap_or_default)
}

fn warns(measurement: &Measurement, of: &str) -> bool {
    measurement.checks.warnings.iter().any(|warning| warning.contains(of))
}

#[test]
fn each_job_is_a_measurement_with_its_histograms() {
    let found = found(TWO_JOBS).unwrap();
    assert_eq!(found.notes, Vec::<String>::new());
    let [one, other] = found.measurements.as_slice() else { panic!("two jobs") };
    assert_ne!(one.id, other.id);
    assert!(one.id.starts_with("fio-"));
    let origin = one.origin.as_ref().unwrap();
    assert_eq!((origin.tool.as_str(), origin.tool_version.as_deref()), ("fio", Some("3.33")));
    assert_eq!(origin.file.as_deref(), Some("result.json"));
    let line = origin.command_line.as_deref().unwrap();
    assert!(line.starts_with("fio --name=mix --bs=8k --direct=1 --filename=f1 "), "{line}");
    assert_eq!(one.tool_version, "fio 3.33");
    assert_eq!(one.engine.features, ["libaio"]);
    assert_eq!(one.status, Status::Complete);

    let stream = &one.workload.streams[0];
    assert_eq!((stream.name.as_str(), stream.threads, stream.depth), ("mix", 1, 4));
    assert_eq!((stream.pattern, stream.write_percent), (Pattern::Random, 30));
    assert_eq!(stream.blocks[0].bytes, Bytes(8192));
    assert_eq!(stream.rate.unwrap().limit, RateLimit::Iops(210.0));
    assert_eq!(stream.rate.unwrap().arrival, Arrival::Capped);
    assert_eq!(one.workload.mode, Mode::Direct);
    assert_eq!(one.file_bytes, 8 << 20);

    let read = json_of(TWO_JOBS, "/jobs/0/read");
    assert_eq!(one.read.ios, read["total_ios"].as_u64().unwrap());
    assert_eq!(one.read.bytes, read["io_bytes"].as_u64().unwrap());
    assert_eq!(one.total.ios, one.read.ios + one.write.ios);
    let latency = one.read.latency_ns.unwrap();
    assert!((latency.mean - read["lat_ns"]["mean"].as_f64().unwrap()).abs() < 1.0);
    assert_eq!(latency.max, read["lat_ns"]["max"].as_u64());
    assert_eq!(latency.p90, read["clat_ns"]["percentile"]["90.000000"].as_u64());
    // Of some 150 I/Os, one or two are above the 99th percentile: too few to say.
    assert_eq!(latency.p99, None);
    let histogram = Histogram::decode(one.read.histogram.as_deref().unwrap()).unwrap();
    assert_eq!(histogram.count(), one.read.ios);
    let whole = Histogram::decode(one.total.histogram.as_deref().unwrap()).unwrap();
    assert_eq!(whole.count(), one.total.ios);
    assert!(one.cpu.system_s > Some(0.0) && one.cpu.total_us_per_io > one.cpu.user_us_per_io);
}

/// A part of a fixture, by its JSON pointer.
fn json_of(text: &str, pointer: &str) -> serde_json::Value {
    let whole: serde_json::Value = serde_json::from_str(text).unwrap();
    whole.pointer(pointer).unwrap().clone()
}

/// The reads that verify writes were said to be those of other jobs; of a mixed job they counted
/// as reads of the load, whose share of writes was then wrong.
#[test]
fn reads_that_verify_writes_are_none_of_the_load() {
    let read = |rw: &str, options: &str, (reads, read_ms): (u64, u64)| {
        let side = |ios: u64, ms: u64| {
            let iops = ios * 1000 / ms.max(1);
            format!(
                r#"{{"io_bytes": {}, "total_ios": {ios}, "iops": {iops}, "runtime": {ms}}}"#,
                ios * 4096
            )
        };
        let text = format!(
            r#"{{"fio version": "fio-3.33", "timestamp_ms": 1795878312000, "jobs": [{{
            "jobname": "j", "groupid": 0, "usr_cpu": 9.0, "sys_cpu": 9.0,
            "job options": {{"rw": "{rw}", "filename": "f", "bs": "4k", "size": "8m"{options}}},
            "read": {}, "write": {}}}]}}"#,
            side(reads, read_ms),
            side(2000, 20),
        );
        found(&text).unwrap().measurements.remove(0)
    };
    let after = read("randwrite", r#", "verify": "crc32c""#, (2000, 25));
    assert_eq!((after.total.iops, after.read.ios, after.write.ios), (100_000.0, 0, 2000));
    assert_eq!((after.workload.title().as_str(), after.seconds), ("4 KiB random write", 0.02));
    assert_eq!(after.cpu, results::Cpu::default());
    assert!(warns(&after, "these 2000 reads"), "{:?}", after.checks.warnings);
    let ends = read("randwrite", r#", "verify": "crc32c", "time_based": "1""#, (0, 0));
    assert_eq!(ends.workload.title(), "4 KiB random write");
    for (rw, options, why) in [
        ("randrw", r#", "verify": "crc32c""#, "together"),
        ("randwrite", r#", "verify": "crc32c", "verify_backlog": "32""#, "between its writes"),
        ("randwrite", r#", "verify": "crc32c", "verify_only": "1""#, "made no writes"),
    ] {
        let other = read(rw, options, (2000, 25));
        assert!(other.workload.is_unknown(), "{rw}{options}");
        assert!(warns(&other, why) && !warns(&other, "group_reporting"), "{rw}{options}");
    }
    // fio does not write down `time_based`: reads that took no longer are those of the load.
    let by_time = read("randrw", r#", "verify": "crc32c""#, (2000, 20));
    assert_eq!(by_time.workload.title(), "4 KiB random 50 % read / 50 % write");
    let without = read("randrw", r#", "verify": "crc32c", "do_verify": "0""#, (2000, 20));
    assert_eq!(without.workload.title(), "4 KiB random 50 % read / 50 % write");
}

/// A file that was cut was refused as a whole.
#[test]
fn the_whole_jobs_of_a_cut_result_are_taken() {
    let whole = found(TWO_JOBS).unwrap().measurements;
    let second = TWO_JOBS.rfind("\"jobname\"").unwrap();
    let cut = found(&TWO_JOBS[..second + 400]).unwrap();
    assert_eq!(cut.measurements.len(), 1);
    assert_eq!(cut.measurements[0].total, whole[0].total);
    assert!(cut.notes[0].contains("ends in the middle of a result; its whole jobs"), "{cut:?}");
    // Nothing of it is whole, also after a result that is.
    assert!(found(&TWO_JOBS[..second - 400]).is_err());
    for end in [second - 400, second + 400] {
        let found = found(&format!("{TWO_JOBS}{}", &TWO_JOBS[..end])).unwrap();
        assert_eq!(found.measurements, whole);
        assert!(found.notes[0].contains("it is left out"), "{:?}", found.notes);
    }
}

#[test]
fn groups_stand_for_all_of_their_jobs() {
    // With the text for people before and after the JSON.
    let found = found(GROUP).unwrap();
    let [readers, log] = found.measurements.as_slice() else { panic!("two groups") };
    assert_eq!((readers.threads, log.threads), (3, 1));
    assert_eq!(readers.workload.mode, Mode::Buffered);
    assert_eq!(readers.workload.streams[0].rate.unwrap().limit, RateLimit::Iops(600.0));
    assert_eq!((readers.total.ios, readers.write.ios), (600, 0));
    assert_eq!(readers.write.latency_ns, None);
    let stream = &log.workload.streams[0];
    assert_eq!((stream.pattern, stream.write_percent), (Pattern::Sequential, 100));
    assert_eq!(stream.sync.unwrap().call, SyncCall::Fdatasync);
    assert_eq!((log.write.ios, log.sync.ios), (50, 50));
    assert!(log.sync.latency_ns.unwrap().mean > 0.0);
    assert!(!warns(readers, "several jobs"));
}

#[test]
fn of_intermediate_results_the_last_counts() {
    let both = found(&format!("{INTERVAL}\n{GROUP}")).unwrap();
    assert_eq!(both.measurements.len(), 3);
    assert_eq!(both.notes.len(), 2, "{:?}", both.notes);
    assert!(both.notes[0].starts_with("line 1: an intermediate result"), "{:?}", both.notes);
    assert_eq!(both.measurements[0].total.ios, 200);
    // The same text gives the same names.
    assert_eq!(found(INTERVAL).unwrap().measurements[0].id, both.measurements[0].id);
}

#[test]
fn what_is_not_known_is_said() {
    let text = GROUP.replace(
        "\"rw\": \"randread\"",
        "\"rw\": \"randwrite:8\", \"iodepth\": \"32\", \"norandommap\": \"1\"",
    );
    let found = found(&text).unwrap();
    let readers = &found.measurements[0];
    assert!(warns(readers, "several jobs (group_reporting)"));
    assert!(warns(readers, "its engine `psync` does one"));
    assert!(warns(readers, "without a word of iosonde: rw=randwrite:8"));
}

#[test]
fn errors_name_the_line_and_the_column() {
    let broken = TWO_JOBS.replacen("\"iops\": ", "\"iops\": -", 1);
    let error = found(&broken).unwrap_err();
    assert!(error.what.starts_with("`\"iops\": -"), "{error}");
    let line = broken.lines().position(|l| l.contains("\"iops\": -")).unwrap() + 1;
    assert_eq!(error.line, line, "{error}");
    // What fio prints before its JSON counts, too.
    let error = found(&format!("fio: io_u error\nfio: {broken}")).unwrap_err();
    assert_eq!(error.line, line + 1);

    let error = found("fio: {\"fio version\" : \"fio-3.33\", \"jobs\" : 7}").unwrap_err();
    assert_eq!((error.line, error.column), (1, 44), "{error}");
    let error = found(&TWO_JOBS[..TWO_JOBS.len() / 2]).unwrap_err();
    assert!(error.what.contains("in the middle of the first job"), "{error}");
    let error = found("x \"fio version\" : 3").unwrap_err();
    assert_eq!((error.line, error.column), (1, 3));
    let twice = TWO_JOBS.replacen("\"total_ios\": ", "\"total_ios\": -", 1);
    let error = found(&twice).unwrap_err();
    assert!(error.what.starts_with("`\"total_ios\": -"), "{error}");
    assert!(error.what.ends_with("import it as the tool wrote it"), "{error}");
}

/// The file was refused in the words of a library: "expected ident". fio prints `nan` for a mean or
/// a deviation that it could not compute.
#[test]
fn what_fio_prints_as_nan_is_unknown() {
    let plain = found(TWO_JOBS).unwrap().measurements.remove(0);
    let with = |name: &str, figure: &str| {
        let mut text = String::new();
        for line in TWO_JOBS.lines() {
            let is_it = line.trim_start().starts_with(&format!("\"{name}\": "));
            let end = if line.ends_with(',') { "," } else { "" };
            let line = if is_it { format!("\"{name}\": {figure}{end}") } else { line.to_owned() };
            text += &(line + "\n");
        }
        found(&text).unwrap().measurements.remove(0)
    };
    for figure in ["nan", "-nan", "inf", "-nan(ind)", "NaN", "null"] {
        let one = with("stddev", figure).read.latency_ns.unwrap();
        assert_eq!((one.stddev, one.mean), (None, plain.read.latency_ns.unwrap().mean));
        let one = with("mean", figure);
        assert_eq!((one.read.latency_ns, one.read.ios), (None, plain.read.ios));
        let one = with("iops", figure);
        assert!((one.read.iops / plain.read.iops - 1.0).abs() < 0.01, "{}", one.read.iops);
        assert_eq!(one.checks.contradictions, []);
        assert_eq!(with("usr_cpu", figure).cpu.user_s, None);
    }
}

#[test]
fn what_iosonde_wrote_in_this_shape_is_not_fio_s() {
    let own = TWO_JOBS.replace("fio-3.33", "fio-3.33 (iosonde 0.1.0)");
    let found = found(&own).unwrap();
    assert_eq!(found.measurements, Vec::new());
    assert!(found.notes[0].contains("a result of iosonde"), "{:?}", found.notes);
}

#[test]
fn what_belongs_to_no_tool_is_left_alone() {
    assert_eq!(recognise(b"{\"jobs\": []}", "x", READ), Ok(None));
    assert_eq!(recognise(b"", "x", READ), Ok(None));
}

/// What fio 2.1 printed: no options, no `total_ios`, KiB and microseconds.
const OLD: &str = r#"{
  "fio version" : "fio-2.1.11",
  "jobs" : [
    {
      "jobname" : "randread", "groupid" : 0, "error" : 0,
      "read" : {
        "io_bytes" : 1291456, "bw" : 129145, "iops" : 16143.20, "runtime" : 10000,
        "clat" : { "min" : 180, "max" : 9100, "mean" : 1970.5, "stddev" : 310.25,
          "percentile" : { "50.000000" : 1944, "99.000000" : 3120, "0.00" : 0 } },
        "lat" : { "min" : 190, "max" : 9110, "mean" : 1980.5, "stddev" : 311.00 }
      },
      "write" : { "io_bytes" : 0, "bw" : 0, "iops" : 0.00, "runtime" : 0 },
      "usr_cpu" : 1.5, "sys_cpu" : 4.5
    }
  ]
}"#;

/// The KiB of fio 2 were read as bytes, 0.12 MiB/s where it printed 126; without `total_ios` the
/// job "did no I/O"; and without its options it became a load that it never was.
#[test]
fn fio_2_has_kib_and_microseconds_and_no_options() {
    let found = found(OLD).unwrap();
    let [m] = found.measurements.as_slice() else { panic!("{:?}", found.notes) };
    assert_eq!((m.total.ios, m.total.bytes), (161_432, 1_291_456 * 1024));
    assert!((m.total.mib_per_s - 126.12).abs() < 0.01, "{}", m.total.mib_per_s);
    let latency = m.read.latency_ns.unwrap();
    assert_eq!(
        (latency.min, latency.max, latency.mean),
        (Some(190_000), Some(9_110_000), 1_980_500.0)
    );
    assert_eq!((latency.p50, latency.p99), (Some(1_944_000), Some(3_120_000)));
    assert!(warns(m, "they were converted") && warns(m, "follows from the rate"));
    assert!(m.workload.is_unknown() && m.workload.targets.is_empty());
    assert!(warns(m, "did not write the options of the job"));
    assert_eq!((m.threads, m.in_flight, m.seconds), (0, 0, 10.0));
    assert_eq!(m.origin.as_ref().unwrap().command_line, None);
}

/// Between the two: fio 2.17 has the options and `total_ios`, still in KiB; later ones name
/// `io_kbytes` and have bytes.
#[test]
fn units_follow_from_the_version_and_from_what_is_there() {
    let with = |version: &str, more: &str| {
        let text = OLD.replace("fio-2.1.11", version).replace("\"bw\" : 129145", more).replace(
            "\"error\" : 0,",
            "\"error\" : 0, \"job options\" : {\"rw\" : \"randread\", \"bs\" : \"8k\"},",
        );
        found(&text).unwrap().measurements.remove(0)
    };
    let m = with("fio-2.17", "\"total_ios\" : 161430");
    assert_eq!((m.total.ios, m.total.bytes), (161_430, 1_291_456 * 1024));
    assert_eq!(m.workload.title(), "8 KiB random read");
    assert!(warns(&m, "they were converted") && !warns(&m, "follows from the rate"));
    let m = with("fio-2.99", "\"io_kbytes\" : 1261, \"total_ios\" : 161430");
    assert_eq!(m.total.bytes, 1_291_456);
    let m = with("fio-3.1", "\"total_ios\" : 161430");
    assert_eq!((m.total.bytes, m.read.latency_ns), (1_291_456, None));
    assert!(!warns(&m, "converted"));
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        let _ = recognise(&bytes, "x", READ);
    }

    /// A result with one stretch of it replaced by other bytes.
    #[test]
    fn no_damage_panics(at in 0..TWO_JOBS.len(), length in 0usize..40,
        bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        let mut damaged = TWO_JOBS.as_bytes().to_vec();
        let end = (at + length).min(damaged.len());
        damaged.splice(at..end, bytes);
        let _ = recognise(&damaged, "x", READ);
    }

    /// Numbers of any size in the place of one that fio wrote.
    #[test]
    fn no_number_panics(place in 0usize..400,
        number in "[0-9]{1,25}(\\.[0-9]{1,5})?(e[0-9]{1,3})?") {
        let mut parts: Vec<&str> = TWO_JOBS.split(' ').collect();
        let numbers: Vec<usize> = (0..parts.len())
            .filter(|n| parts[*n].starts_with(|c: char| c.is_ascii_digit())).collect();
        let at = numbers[place % numbers.len()];
        let with = parts[at].replace(|c: char| c.is_ascii_digit() || c == '.', "");
        let with = format!("{number}{with}");
        parts[at] = &with;
        if let Ok(found) = found(&parts.join(" ")) {
            for measurement in found.measurements {
                prop_assert!(measurement.total.iops.is_finite());
                let _ = measurement.workload.title();
            }
        }
    }

    /// Options with any text.
    #[test]
    fn no_option_panics(option in "(bs|bssplit|rw|size|rate|rate_iops|thinktime|random_distribution|filename|numjobs|ramp_time)", value in "\\PC{0,20}") {
        let option = serde_json::json!({ option: value }).to_string();
        let text = GROUP.replace("\"rw\": \"randread\"", option.trim_matches(['{', '}']));
        let found = found(&text);
        prop_assert!(found.is_ok(), "{:?}", found);
    }
}

/// Two rates that add up to infinity, and a least latency above the largest, were imported, and
/// could not be read again or made a report panic.
#[test]
fn impossible_figures_are_left_out_and_named() {
    let whole = found(TWO_JOBS).unwrap().measurements.len();
    let infinite = TWO_JOBS.replacen("149.85015", "1.7e308", 1).replacen("59.94006", "1.7e308", 1);
    let upside_down = TWO_JOBS.replacen("15216074", "1", 1);
    for text in [infinite, upside_down] {
        assert_ne!(text, TWO_JOBS);
        let found = found(&text).unwrap();
        assert_eq!(found.measurements.len(), whole - 1, "{:?}", found.notes);
        assert!(found.notes.iter().any(|n| n.contains("1 run is left out")), "{:?}", found.notes);
        for measurement in &found.measurements {
            let json = serde_json::to_value(measurement).unwrap();
            assert_eq!(&serde_json::from_value::<Measurement>(json).unwrap(), measurement);
        }
    }
}
