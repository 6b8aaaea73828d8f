//! IOMeter's configurations of every version and with everything that people did to them.

use dialects::drives::Drives;
use dialects::iometer::{
    AccessSpec, Assignment, Config, ConfigError, Cycling, DepthCycling, Kind, Manager, Read,
    Record, Row, Setup, Stepping, Target, TestType, Version, Worker, WorkerCount, read,
};
use proptest::prelude::*;

const V1_1: &str = include_str!("iometer/v1.1.0.icf");
const V2004: &str = include_str!("iometer/v2004.icf");
const V1998_10: &str = include_str!("iometer/v1998.10.icf");
const V1998_01: &str = include_str!("iometer/v1998.01.icf");
const WILD: &str = include_str!("iometer/wild.icf");

fn notes(read: &Read) -> Vec<String> {
    read.notes.iter().map(ToString::to_string).collect()
}

fn worker() -> Worker {
    Worker { name: "Worker 1".to_owned(), ..Worker::default() }
}

fn disk(name: &str) -> Target {
    Target { name: name.to_owned(), kind: Kind::Disk, manager: None }
}

fn row(size_bytes: u32, percent: u8, read_percent: u8, random_percent: u8) -> Row {
    Row { size_bytes, percent, read_percent, random_percent, align_bytes: 0, ..Row::default() }
}

#[test]
fn a_file_of_1_1_0_is_read_without_a_word_and_written_as_it_was() {
    let found = read(V1_1.as_bytes()).unwrap();
    assert_eq!(notes(&found), [""; 0]);
    assert_eq!(found.version, Some(Version(1, 1, 0)));
    assert_eq!(found.config.to_icf(), V1_1);
    let setup = found.config.setup.unwrap();
    assert_eq!(setup.description, "nightly, array A");
    assert_eq!(setup.run_seconds(), Some(480 * 60 + 30));
    assert_eq!((setup.ramp_seconds, setup.record), (15, Record::NoTargets));
    assert_eq!(setup.test_type, TestType::CycleOutstandingIos);
    assert_eq!(setup.depth_cycling.end, 128);
    assert_eq!(found.config.display.len(), 6);
    let oltp = &found.config.specs[0];
    assert_eq!((oltp.name.as_str(), oltp.assignment), ("OLTP; 67% Read", Assignment::None));
    let burst = Row { delay_ms: 5, burst_ios: 4, align_bytes: 65_536, ..row(65_536, 10, 0, 0) };
    assert_eq!(oltp.rows, [Row { align_bytes: 8192, ..row(8192, 90, 67, 100) }, burst]);
    let [server, peer] = found.config.managers.as_slice() else { panic!("two managers") };
    assert_eq!((server.id, server.name.as_str(), server.address.as_str()), (1, "DBSERVER", ""));
    assert_eq!(peer.address, "10.1.2.4");
    let expected = Worker {
        outstanding: 32,
        use_seed: true,
        seed: 12_345,
        maximum_sectors: 41_943_040,
        start_sector: 2048,
        pattern: Some(2),
        specs: vec!["OLTP; 67% Read".to_owned(), "Backup".to_owned()],
        targets: vec![disk("E: \"SQL data\""), disk("1: \"ACME FLASH (8")],
        ..worker()
    };
    assert_eq!(server.workers[0], expected);
    let net = &server.workers[1];
    assert_eq!((net.kind, net.network_interface.as_deref()), (Kind::Tcp, Some("10.1.2.3")));
    assert!(net.test_connection_rate);
    assert_eq!(net.transactions_per_connection, 500);
    assert_eq!(net.targets[0].manager, Some((2, "PEER".to_owned())));
}

#[test]
fn files_of_2004_have_fewer_columns_and_placeholders() {
    let found = read(V2004.as_bytes()).unwrap();
    assert_eq!(found.version.unwrap().to_string(), "2004.07.30");
    let [manager, target] = notes(&found).try_into().unwrap();
    assert!(manager.contains("[*MANAGER*]") && target.contains("[*TARGET*]"), "{manager} {target}");
    assert!(manager.starts_with("line 41: "), "{manager}");
    let setup = found.config.setup.unwrap();
    assert_eq!(
        (setup.disk_workers, setup.network_workers),
        (WorkerCount::Count(4), WorkerCount::EachCpu)
    );
    assert_eq!(setup.description, "");
    assert_eq!(found.config.managers[0].workers[0].pattern, None);
}

#[test]
fn files_of_1998_have_numbers_for_words() {
    let found = read(V1998_10.as_bytes()).unwrap();
    assert_eq!(notes(&found), [""; 0]);
    let setup = found.config.setup.unwrap();
    assert_eq!(setup.disk_workers, WorkerCount::EachCpu);
    assert_eq!(setup.record, Record::NoWorkers);
    let cycling = Cycling { start: 2, step: 3, stepping: Stepping::Exponential };
    assert_eq!(setup.target_cycling, cycling);
    let depth = DepthCycling { start: 4, end: 64, step: 4, stepping: Stepping::Exponential };
    assert_eq!(setup.depth_cycling, depth);
    assert_eq!(setup.test_type, TestType::CycleOutstandingIosAndTargets);
    assert_eq!(found.config.specs[0].assignment, Assignment::All);
}

#[test]
fn bare_rows_get_names_where_their_sum_ends_them() {
    let found = read(V1998_01.as_bytes()).unwrap();
    let names: Vec<&str> = found.config.specs.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(
        names,
        ["8 KiB random reads", "8 KiB random reads 2", "1 MiB sequential writes", "Untitled 1"]
    );
    let mix = Row { delay_ms: 10, burst_ios: 2, ..row(512, 60, 67, 30) };
    assert_eq!(found.config.specs[3].rows, [mix, Row { size_bytes: 4096, percent: 40, ..mix }]);
    assert_eq!(notes(&found), ["line 8: a row of 0 % is left out"]);
}

#[test]
fn a_spoiled_file_gives_what_is_sound_and_names_the_rest() {
    let found = read(WILD.as_bytes()).unwrap();
    let notes = notes(&found);
    let said = |line: usize, text: &str| {
        let start = format!("line {line}: ");
        let hit = notes.iter().any(|n| n.starts_with(&start) && n.contains(text));
        assert!(hit, "nothing of `{text}` in line {line}: {notes:#?}");
    };
    said(12, "`-1` is not a number of outstanding I/Os; 1 is taken");
    said(12, "`MAYBE` is neither ENABLED nor DISABLED");
    said(14, "targets of the worker differ");
    said(18, "no access specification of the file is called `gone`");
    said(19, "among the standard ones");
    said(28, "`'End target` ends nothing");
    said(29, "has the target `SDB` already");
    said(39, "has the target `c: \"two\"` already");
    said(2, "`'End manager` is missing");
    said(47, "`'a remark of somebody` is not a header");
    said(53, "a row of 0 % is left out");
    said(54, "a burst of 0");
    said(54, "an empty field is 0");
    said(58, "`4K` is not a whole number; IOMeter takes it for 4");
    said(56, "the access specification `letters` is left out");
    said(60, "its rows sum to 99 %");
    said(64, "`TWICE` takes the place of the one of this name in line 50");
    said(68, "has a comma, at which IOMeter cuts it off");
    said(70, "less than 8 numbers");
    said(48, "the section `ACCESS SPECIFICATIONS` has no end");
    said(75, "`x` is not a run time; 0 is taken");
    said(77, "`SOMETHING` is not one of the test types");
    said(79, "`` is not a number of a cycling; 2 is taken");
    said(80, "outside of the section `MANAGER LIST`");
    assert!(notes.last().unwrap().starts_with("the file does not say of which version"));
    let names: Vec<&str> = found.config.specs.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["TWICE", "4k; 100% Read- 0% Random"]);
    assert_eq!(found.config.specs[0].rows, [row(65_536, 100, 100, 0)]);
    let workers = &found.config.managers[0].workers;
    let targets: Vec<&str> = workers[0].targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(targets, ["sdb", "C: \"one\""]);
    assert_eq!(workers[0].specs, ["twice", "gone", "4K; 100% Read; 0% random", "idle"]);
    assert_eq!(workers[1].name, "after the end");
    assert_eq!(workers[1].specs, ["TWICE"], "a worker without a list gets what is for all");
    let setup = found.config.setup.unwrap();
    assert_eq!((setup.run_seconds(), setup.test_type), (Some(90), TestType::Normal));
    assert_eq!((setup.description.as_str(), setup.depth_cycling.end), ("", 8));
}

#[test]
fn rows_of_no_percent_are_one_note() {
    let row = "'Access specification name,default assignment\n\
        NAME,NONE\n\
        0,0,0,0,0,0,0,0\n\
        512,100,0,0,0,1,0,0\n";
    let specs: String = (0..24).map(|n| row.replace("NAME", &n.to_string())).collect();
    let text =
        format!("Version 1.1.0\n'ACCESS SPECIFICATIONS\n{specs}'END access specifications\n");
    let found = read(text.as_bytes()).unwrap();
    assert_eq!(notes(&found), ["line 5: a row of 0 % is left out, and so are 23 others below"]);
    assert_eq!(found.config.specs.len(), 24);
}

#[test]
fn what_was_read_stays_what_it_is_when_written_and_read_again() {
    for text in [V1_1, V2004, V1998_10, V1998_01, WILD] {
        let first = read(text.as_bytes()).unwrap();
        let again = read(first.config.to_icf().as_bytes()).unwrap();
        assert_eq!(again.config, first.config);
        let windows = text.replace('\n', "\r\n");
        assert_eq!(read(windows.as_bytes()).unwrap(), first);
        let units = windows.encode_utf16().flat_map(u16::to_le_bytes);
        let utf16: Vec<u8> = [0xFF, 0xFE].into_iter().chain(units).collect();
        assert_eq!(read(&utf16).unwrap(), first);
    }
}

#[test]
fn sections_come_in_any_order_and_alone() {
    let part = |begin: &str, end: &str| {
        let from = V1_1.find(begin).unwrap();
        let to = V1_1.find(end).unwrap() + end.len();
        &V1_1[from..to]
    };
    let setup = part("'TEST SETUP", "'END test setup\n");
    let specs = part("'ACCESS SPECIFICATIONS", "'END access specifications\n");
    let managers = part("'MANAGER LIST", "'END manager list\n");
    let whole = read(V1_1.as_bytes()).unwrap().config;
    let turned = read(format!("'Version 1.1.0\n{managers}{specs}{setup}").as_bytes()).unwrap();
    assert_eq!(turned.config, Config { display: Vec::new(), ..whole.clone() });
    assert_eq!(notes(&turned), [""; 0]);
    let alone = read(specs.as_bytes()).unwrap().config;
    assert_eq!(alone, Config { specs: whole.specs, ..Config::default() });
}

#[test]
fn what_is_no_configuration_is_an_error() {
    for text in ["", "hello\n\n", "Version 1.1.0\n", "'comment\n1,2,3\n"] {
        assert_eq!(read(text.as_bytes()), Err(ConfigError::Nothing), "{text}");
    }
    assert_eq!(read(&vec![b'\n'; (16 << 20) + 1]), Err(ConfigError::Long));
    let long = format!("'TEST SETUP\n{}\n'END test setup\n", "x".repeat(5000));
    let found = read(long.as_bytes()).unwrap();
    assert!(notes(&found)[0].starts_with("line 2: the line is too long"), "{:?}", found.notes);
}

#[test]
fn the_oldest_versions_come_before_the_newest() {
    let orders = [Version(3, 26, 97), Version(1998, 5, 21), Version(2008, 6, 18), Version(1, 1, 0)];
    assert!(orders.is_sorted_by_key(|v| v.order()));
    let old = read(b"Version 1997.02.03\n'TEST SETUP\n'END test setup\n").unwrap();
    assert!(notes(&old)[0].contains("older than the oldest"), "{:?}", old.notes);
}

fn text() -> impl Strategy<Value = String> {
    "[A-Za-z0-9(%\"\\[][A-Za-z0-9;%:.()\"+_=' \\[\\]-]{0,18}[A-Za-z0-9)\\]]"
}

fn cycling() -> impl Strategy<Value = Cycling> {
    (any::<u32>(), any::<u32>(), any::<bool>()).prop_map(|(start, step, linear)| Cycling {
        start,
        step,
        stepping: Stepping::ALL[usize::from(linear)],
    })
}

fn setup() -> impl Strategy<Value = Setup> {
    let numbers = any::<[u32; 6]>();
    let choices = (0..8usize, 0..5usize, any::<Option<u32>>());
    (
        prop_oneof![Just(String::new()), "[a-z][a-z, ;]{0,9}[a-z]"],
        numbers,
        cycling(),
        cycling(),
        choices,
    )
        .prop_map(
            |(
                description,
                numbers,
                worker_cycling,
                target_cycling,
                (test_type, record, workers),
            )| {
                let [hours, minutes, seconds, ramp_seconds, end, step] = numbers;
                let workers = workers.map_or(WorkerCount::EachCpu, WorkerCount::Count);
                Setup {
                    description,
                    hours,
                    minutes,
                    seconds,
                    ramp_seconds,
                    disk_workers: workers,
                    network_workers: workers,
                    record: Record::ALL[record],
                    worker_cycling,
                    target_cycling,
                    depth_cycling: DepthCycling { start: 1, end, step, stepping: Stepping::Linear },
                    test_type: TestType::ALL[test_type],
                }
            },
        )
}

/// Rows whose percents sum to 100.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        1..1u32 << 30,
        1..60u8,
        0..=100u8,
        0..=100u8,
        any::<[u32; 2]>(),
        1..u32::MAX,
        0..1u32 << 30,
    );
    prop::collection::vec(row, 1..12).prop_map(|drawn| {
        let mut rows: Vec<Row> = Vec::new();
        let mut left = 100;
        for (
            size_bytes,
            percent,
            read_percent,
            random_percent,
            [delay_ms, align_bytes],
            burst_ios,
            reply_bytes,
        ) in drawn
        {
            let percent = percent.min(left);
            left -= percent;
            if percent > 0 {
                rows.push(Row {
                    size_bytes,
                    percent,
                    read_percent,
                    random_percent,
                    delay_ms,
                    burst_ios,
                    align_bytes,
                    reply_bytes,
                });
            }
        }
        rows[0].percent += left;
        rows
    })
}

fn specs() -> impl Strategy<Value = Vec<AccessSpec>> {
    prop::collection::vec((text(), 0..4usize, rows()), 0..5).prop_map(|drawn| {
        let mut specs: Vec<AccessSpec> = Vec::new();
        for (index, (name, assignment, rows)) in drawn.into_iter().enumerate() {
            let assignment = Assignment::ALL[assignment];
            specs.push(AccessSpec { name: format!("{index}{name}"), assignment, rows });
        }
        specs
    })
}

fn any_worker() -> impl Strategy<Value = Worker> {
    let numbers = (any::<[u32; 2]>(), any::<[bool; 2]>(), any::<[u32; 3]>(), any::<Option<u32>>());
    let names = (text(), prop::collection::vec(text(), 0..4), prop::collection::vec(text(), 0..4));
    (0..3usize, numbers, names).prop_map(|(kind, numbers, (name, specs, targets))| {
        let kind = [Kind::Disk, Kind::Tcp, Kind::Vi][kind];
        let (
            [outstanding, transactions_per_connection],
            [test_connection_rate, use_seed],
            [seed, maximum, start],
            pattern,
        ) = numbers;
        let is_disk = kind == Kind::Disk;
        let manager = (!is_disk).then(|| (outstanding, name.clone()));
        let target = |(index, name): (usize, String)| Target {
            name: format!("{index}x{name}"),
            kind,
            manager: manager.clone(),
        };
        Worker {
            name: name.clone(),
            kind,
            outstanding,
            test_connection_rate,
            transactions_per_connection,
            use_seed,
            seed: u64::from(seed) << 20,
            maximum_sectors: if is_disk { u64::from(maximum) << 20 } else { 0 },
            start_sector: if is_disk { u64::from(start) } else { 0 },
            pattern: pattern.filter(|_| is_disk),
            network_interface: (!is_disk).then(|| "10.0.0.1".to_owned()),
            vi_outstanding: (kind == Kind::Vi).then_some(outstanding),
            specs,
            targets: targets.into_iter().enumerate().map(target).collect(),
        }
    })
}

fn config() -> impl Strategy<Value = Config> {
    let display = prop::collection::vec("(\t|'Bar )[a-z][a-z,]{0,9}", 0..5);
    let manager = (any::<u32>(), text(), prop::collection::vec(any_worker(), 0..4))
        .prop_map(|(id, name, workers)| Manager { id, address: name.clone(), name, workers });
    (prop::option::of(setup()), display, specs(), prop::collection::vec(manager, 0..3))
        .prop_map(|(setup, display, specs, managers)| Config { setup, display, specs, managers })
}

/// 4,000 bare rows of an old version took 37 s: the number of each name was searched from 1 on,
/// among all specifications.
#[test]
fn tens_of_thousands_of_rows_have_names_of_their_own() {
    let rows = "2048,100,67,100,0,1,0,0\n".repeat(20_000);
    let text =
        format!("Version 1998.01.05\n'ACCESS SPECIFICATIONS\n{rows}'END ACCESS SPECIFICATIONS\n");
    let found = read(text.as_bytes()).unwrap().config.specs;
    let names: std::collections::HashSet<&str> = found.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names.len(), found.len());
    assert!(found.len() > 10_000, "{}", found.len());
}

/// What is read of what is written; nothing where nothing was written.
fn read_back(config: &Config) -> Config {
    read(config.to_icf().as_bytes()).map_or_else(|_| Config::default(), |read| read.config)
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(config in config()) {
        prop_assert_eq!(read_back(&config), config);
    }

    #[test]
    fn every_mix_is_a_stream_that_can_run(rows in rows(), name in text()) {
        let spec = AccessSpec { name: name.repeat(4), assignment: Assignment::None, rows };
        let target = workload::Target { path: "/dev/null".into(), size_bytes: None };
        let (again, lost) = AccessSpec::from_mix(&spec.name, &spec.mix()).unwrap();
        prop_assert_eq!((&again.rows, lost), (&spec.rows, Vec::new()));
        // Nobody waits for longer than an hour, nor has so large a sector.
        let absurd = |v: &workload::Violation| v.field.ends_with(".delay_ns")
            || v.field.ends_with(".align_bytes");
        let mut violations = workload::Workload::single(target, spec.stream()).violations();
        violations.retain(|v| !absurd(v));
        prop_assert_eq!(violations, []);
    }

    #[test]
    fn every_run_is_a_workload_or_says_why_not(config in config()) {
        let drives = Drives::default();
        for step in config.runs().steps.iter().take(9) {
            if let Ok(run) = config.workload(step, &drives) {
                prop_assert!(!run.workload.streams.is_empty());
            }
        }
        for worker in config.managers.iter().flat_map(|m| &m.workers) {
            let _: Vec<_> = worker.targets.iter().map(|t| t.place(&drives)).collect();
        }
    }

    #[test]
    fn nothing_panics_and_what_is_read_is_stable(
        bytes: Vec<u8>,
        from in 0..WILD.len(),
        to in 0..WILD.len(),
        soup in "(.{0,9}|'Worker|'Target|'End target|\t1,1,1|Version 1|'RESULTS DISPLAY|'MANAGER \
            LIST|\n\
            ){0,30}",
    ) {
        let _ = read(&bytes);
        let cut = [&WILD.as_bytes()[..from], soup.as_bytes(), &bytes,
            &V1_1.as_bytes()[to.min(V1_1.len())..]].concat();
        if let Ok(first) = read(&cut) {
            prop_assert_eq!(read_back(&first.config), first.config);
        }
    }
}
