//! IOMeter's result files: of 80 and of 56 columns, of several sessions, cut off, and as
//! measurements.

use std::collections::BTreeMap;

use dialects::iometer::result::{
    Column, End, Number, ResultFile, ResultRow, ResultRun, RowKind, Session, import, is_result,
    read,
};
use dialects::iometer::{AccessSpec, Assignment, Row, Version};
use dialects::recognise::recognise;
use proptest::prelude::*;
use results::{Measurement, Status};

const V1_1: &str = include_str!("iometer/v1.1.0.csv");
const V2006: &str = include_str!("iometer/v2006.csv");
const INSTANTANEOUS: &str = include_str!("iometer/inst.csv");
const READ: &str = "2026-01-01T00:00:00Z";

fn imported(text: &str) -> Vec<Measurement> {
    let found = import(text, "results.csv", READ);
    assert_eq!(found.notes, [""; 0]);
    found.measurements
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * b.abs()
}

fn warns(measurement: &Measurement, of: &str) -> bool {
    measurement.checks.warnings.iter().any(|w| w.contains(of))
}

#[test]
fn a_file_of_1_1_0_is_written_as_it_was() {
    let (file, notes) = read(V1_1);
    assert_eq!(notes, []);
    assert_eq!(file.to_csv(), V1_1);
    let [first, second] = file.sessions.as_slice() else { panic!("two sessions") };
    assert_eq!(first.description, "array A, second try, QD sweep");
    assert_eq!((first.test_type, first.version), (Some(6), Some(Version(1, 1, 0))));
    assert_eq!((first.end, second.end), (End::Whole, End::Aborted));
    assert_eq!((first.runs.len(), second.runs.len()), (2, 1));
    assert!(first.runs[1].specs.is_none(), "they stand there where they change");
    let disk = first.runs[0].rows.iter().find(|r| r.kind == RowKind::Disk).unwrap();
    assert_eq!(disk.name, "1: \"( ACME FLASH 4711");
    assert_eq!(disk.cells.get(&Column::TransactionsPerConnection), Some(&Number::Whole(-1)));
    assert_eq!(disk.count(Column::TransactionsPerConnection), None);
}

/// A file that `iosonde iometer` wrote was said to be "measured by IOMeter 1.1.0".
#[test]
fn a_file_of_ours_is_known_by_its_clock() {
    let version = |text: &str| imported(text)[0].origin.clone().unwrap().tool_version;
    assert_eq!(version(&V1_1.replace(",10000000,", ",1000000000,")).as_deref(), Some("iosonde"));
    assert_eq!(version(V1_1).as_deref(), Some("1.1.0"));
}

#[test]
fn each_run_is_a_measurement_with_its_workers_and_disks() {
    let runs = imported(V1_1);
    assert_eq!(runs.len(), 3);
    let first = &runs[0];
    let origin = first.origin.clone().unwrap();
    assert_eq!((origin.tool.as_str(), origin.tool_version.as_deref()), ("IOMeter", Some("1.1.0")));
    assert_eq!(first.started, "2014-07-03T22:15:00Z");
    assert_eq!(first.environment.host.as_ref().unwrap().hostname, "DBSERVER");
    assert!(is_near(first.seconds, 60.0));
    assert_eq!((first.total.ios, first.read.ios, first.write.ios), (180_000, 120_000, 60_000));
    assert_eq!(first.total.bytes, 180_000 * 8192);
    assert!(is_near(first.total.iops, 3000.0) && is_near(first.total.mib_per_s, 23.4375));
    assert_eq!((first.total.errors, first.read.errors, first.write.errors), (3, 1, 2));
    let latency = first.total.latency_ns.unwrap();
    assert!(is_near(latency.mean, 666_667.0) && latency.max == Some(55_500_000), "{latency:?}");
    assert_eq!(first.cpu.host_percent, Some(12.0));
    assert_eq!((first.in_flight, runs[1].in_flight), (3, 6), "outstanding on each target");
    assert!(is_near(first.achieved_in_flight, 2.0));
    assert_eq!(first.workload.streams[0].write_percent, 33);
    assert_eq!(first.workload.streams[0].blocks[0].bytes.0, 8192);
    let names: Vec<&str> = first.streams.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["Worker 1", "Worker 2"]);
    assert_eq!(first.streams[0].total.ios, 90_000);
    let threads: Vec<(&str, usize, u64)> =
        first.threads_detail.iter().map(|t| (t.stream.as_str(), t.target, t.total.ios)).collect();
    assert_eq!(
        threads,
        [("Worker 1", 0, 45_000), ("Worker 1", 1, 45_000), ("Worker 2", 1, 90_000)]
    );
    let targets: Vec<u64> = first.targets.iter().map(|t| t.total.ios).collect();
    assert_eq!(targets, [45_000, 135_000]);
    let shared = first.targets[1].total.latency_ns.unwrap();
    assert!(is_near(shared.mean, 666_667.0) && shared.max == Some(50_000_000), "{shared:?}");
    assert!(warns(first, "200 to 500 uS 179000, 15 to 20 mS 1000"), "{:?}", first.checks);
    assert!(!warns(first, "none of IOMeter's bins"));
    assert!(warns(&runs[1], "4 I/Os are in none of IOMeter's bins"));
    assert!(warns(first, "called `array A, second try, QD sweep`"));
    assert!(warns(first, "raw times of a worker"));
    let statuses: Vec<Status> = runs.iter().map(|m| m.status).collect();
    assert_eq!(statuses, [Status::Complete, Status::Complete, Status::Interrupted]);
    let again = imported(V1_1);
    assert!(runs.iter().zip(&again).all(|(a, b)| a.id == b.id));
    let twice = imported(&[V1_1, V1_1].concat());
    assert_eq!(twice[3].id, format!("{}-2", runs[0].id));
}

#[test]
fn older_files_have_56_columns_and_mib_under_another_name() {
    let runs = imported(V2006);
    let [run] = runs.as_slice() else { panic!("one run") };
    assert_eq!(run.origin.as_ref().unwrap().tool_version.as_deref(), Some("2006.07.27"));
    assert!(is_near(run.total.iops, 11_964.833));
    assert!(is_near(run.total.mib_per_s, run.total.iops * 8192.0 / 1_048_576.0));
    assert!(warns(run, "MBps are MiB per second") && !warns(run, "bins:"));
    let mix = run.workload.streams[0].mix.as_ref().unwrap();
    let parts: Vec<_> =
        mix.parts.iter().map(|p| (p.block_bytes.0, p.write_percent, p.random_percent)).collect();
    assert_eq!(parts, [(8192, 0, 0), (4096, 100, 100)]);
    assert_eq!(run.workload.streams[0].write_percent, 50, "the mean of the mix");
    assert_eq!(run.targets[0].path.to_str(), Some("PHYSICALDRIVE:1"));
    let columns = V2006.replace("MBps", "MBps (Binary)");
    assert!(
        is_near(imported(&columns)[0].total.mib_per_s, run.total.mib_per_s),
        "as in release candidates"
    );
}

/// The file that iosonde had made up began its header with the mark, and IOMeter's, which has it
/// before the second word, was of no tool that is known.
#[test]
fn the_header_of_instantaneous_results_is_iometer_s() {
    let real = INSTANTANEOUS.replace("'TimeStamp,Target Type", "TimeStamp,'Target Type");
    assert_ne!(real, INSTANTANEOUS);
    let found = |text: &str| recognise(text.as_bytes(), "inst.csv", READ).unwrap().unwrap();
    let (real, made_up) = (found(&real), found(INSTANTANEOUS));
    assert_eq!(real.measurements[0].series, made_up.measurements[0].series);
    assert!(!real.measurements[0].series.is_empty());
}

#[test]
fn instantaneous_results_are_a_series() {
    let runs = imported(INSTANTANEOUS);
    let [run] = runs.as_slice() else { panic!("one run") };
    assert!(is_near(run.total.iops, 2500.0), "written as 2.5e+003");
    let times: Vec<(f64, f64)> = run.series.iter().map(|p| (p.t, p.seconds)).collect();
    assert_eq!(times, [(2.0, 2.0), (4.0, 2.0), (6.0, 2.0)]);
    let rates: Vec<f64> = run.series.iter().map(|p| p.read_iops).collect();
    assert_eq!(rates, [1000.0, 2000.0, 3000.0], "of both workers together");
    assert!(is_near(run.series[0].read_mean_ns.unwrap(), 750_000.0));
    assert_eq!(run.series[0].max_ns, Some(30_000_000));
    assert!(warns(run, "instantaneous"));
}

#[test]
fn what_is_cut_off_or_not_of_disks_is_named() {
    let cut = &V1_1[..V1_1.find("'Time Stamp\n2014-07-03 22:16").unwrap() - 20];
    let found = import(cut, "f", READ);
    assert_eq!(found.measurements.len(), 1);
    assert!(found.notes[0].contains("ends within the row"), "{:?}", found.notes);
    let empty =
        "'Results\n'Target Type,Target Name,Access Specification Name,IOps\nWORKER,Worker 1,x,5\n";
    let found = import(empty, "f", READ);
    assert!(
        found.measurements.is_empty() && found.notes[0].contains("no row `ALL`"),
        "{:?}",
        found.notes
    );
    let network = V2006.replace("DISK,", "NETWORK,");
    let found = import(&network, "f", READ);
    assert!(
        found.measurements.is_empty() && found.notes[0].contains("a network, not storage"),
        "{:?}",
        found.notes
    );
    let stray = format!("hello\nworld\n{V1_1}");
    assert_eq!(
        import(&stray, "f", READ).notes,
        ["line 1: `hello` belongs to no run; it is left out"]
    );
}

#[test]
fn a_file_without_workers_has_one_stream_and_an_unknown_target() {
    let lines = V1_1.lines().filter(|l| !l.starts_with("WORKER") && !l.starts_with("DISK"));
    let text = lines.collect::<Vec<_>>().join("\r\n") + "\r\n";
    let run = &imported(&text)[0];
    assert_eq!((run.in_flight, run.streams.len(), run.targets.len()), (3, 1, 1));
    assert_eq!(run.workload.streams[0].write_percent, 33);
    assert!(warns(run, "no rows of workers"));
}

/// The load of a file that was cut was that of the workers before the cut.
#[test]
fn a_file_that_lacks_rows_has_an_unknown_load() {
    for last in ["WORKER,Worker 2", "DISK,"] {
        let end = V1_1.rfind(last).unwrap();
        let found = import(&V1_1[..end], "f", READ);
        let cut = found.measurements.last().unwrap();
        assert!(cut.workload.is_unknown() && warns(cut, "are missing"), "{last}");
        assert_eq!(cut.total, imported(V1_1).last().unwrap().total);
        assert!(!found.measurements[0].workload.is_unknown());
    }
}

#[test]
fn it_is_recognised_whatever_its_encoding() {
    for text in [V1_1, V2006, INSTANTANEOUS] {
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let found = recognise(&utf16, "results.csv", READ).unwrap().unwrap();
        assert_eq!(found.measurements, imported(text));
    }
    assert!(!is_result(include_str!("iometer/v1.1.0.icf")));
}

fn text() -> impl Strategy<Value = String> {
    "[A-Za-z0-9(\"\\[]([A-Za-z0-9;%:.()\" \\[\\]-]{0,12}[A-Za-z0-9)\\]])?"
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<u64>().prop_map(|n| Number::Whole(i128::from(n))),
        Just(Number::Whole(-1)),
        (0u64..1 << 40).prop_map(|n| Number::Figure(n as f64 / 1e6)),
    ]
}

fn row(is_instantaneous: bool) -> impl Strategy<Value = ResultRow> {
    let kinds = [
        RowKind::All,
        RowKind::Manager,
        RowKind::Processor,
        RowKind::Worker,
        RowKind::Disk,
        RowKind::Network,
    ];
    let cells = prop::collection::btree_map(0..77usize, number(), 0..30);
    (0..kinds.len(), text(), prop_oneof![Just(String::new()), text()], cells).prop_map(
        move |(kind, name, spec, cells)| {
            let kind = kinds[kind];
            let is_kept =
                |column: &Column| kind != RowKind::Processor || !Column::BINS.contains(column);
            let cells: BTreeMap<Column, Number> = cells
                .into_iter()
                .map(|(c, n)| (Column::ALL[c], n))
                .filter(|(c, _)| is_kept(c))
                .collect();
            let stamp = is_instantaneous.then(|| "2020-01-02 03:04:05:006".to_owned());
            ResultRow { stamp, kind, name, spec, cells }
        },
    )
}

fn run() -> impl Strategy<Value = ResultRun> {
    let specs =
        prop::collection::vec((text(), 0..4usize, any::<[u32; 4]>()), 0..3).prop_map(|specs| {
            let spec = |(name, assignment, [size_bytes, delay_ms, burst_ios, align_bytes]): (
                String,
                usize,
                [u32; 4],
            )| {
                let row = Row { size_bytes, delay_ms, burst_ios, align_bytes, ..Row::default() };
                AccessSpec {
                    name: format!("a{name}"),
                    assignment: Assignment::ALL[assignment],
                    rows: vec![row; 2],
                }
            };
            specs.into_iter().map(spec).collect::<Vec<_>>()
        });
    (prop::option::of(specs), any::<bool>()).prop_flat_map(|(specs, is_instantaneous)| {
        prop::collection::vec(row(is_instantaneous), 0..5).prop_map(move |rows| {
            let ended = "2020-01-02 03:04:05:006".to_owned();
            ResultRun { specs: specs.clone(), is_instantaneous, rows, ended }
        })
    })
}

fn file() -> impl Strategy<Value = ResultFile> {
    let description = prop_oneof![Just(String::new()), "[a-z][a-z ,;\"]{0,12}[a-z]"];
    let ends = [End::Unsaid, End::Whole, End::Aborted];
    let session =
        (prop::option::of(0..8u8), description, prop::collection::vec(run(), 0..3), 0..3usize)
            .prop_map(move |(test_type, description, runs, end)| Session {
                test_type,
                description,
                version: Some(Version(1, 1, 0)),
                started: "2020-01-02 03:00:00:000".to_owned(),
                runs,
                end: ends[end],
            });
    prop::collection::vec(session, 0..3).prop_map(|sessions| ResultFile { sessions })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(file in file()) {
        let (again, notes) = read(&file.to_csv());
        prop_assert_eq!(notes, []);
        prop_assert_eq!(again, file);
    }

    #[test]
    fn any_model_can_be_imported(file in file()) {
        let found = import(&file.to_csv(), "f", READ);
        for measurement in &found.measurements {
            let json = serde_json::to_string(measurement).unwrap();
            // What is not a number would be null there, and not be read.
            prop_assert!(serde_json::from_str::<Measurement>(&json).is_ok(), "{}", json);
        }
    }

    #[test]
    fn nothing_panics(
        bytes: Vec<u8>,
        cut in 0..V1_1.len(),
        at in 0..V1_1.len(),
        soup in "('Results\n\
            |'Target Type,Target Name,IOps\n\
            |ALL,All,.{0,9}\n\
            |'Time Stamp\n\
            |WORKER,|DISK,|9{1,25}|[-0-9:., \n\
            ]{1,9}){0,20}",
    ) {
        let _ = recognise(&bytes, "f", READ);
        let _ = import(&soup, "f", READ);
        let spoiled = [&V1_1.as_bytes()[..cut], soup.as_bytes(), &bytes, &V1_1.as_bytes()[at..]]
            .concat();
        let _ = recognise(&spoiled, "f", READ);
    }
}
