//! Figures over many dates, and what a device does now next to what it can.

use crate::sides::{FILE, five, load, reads, runs, single};
use history::Load;
use history::drift::{Capacities, CounterFigures, Place, drift};
use history::trend::{dated, trend};
use results::{Document, Figure, Measurement, Trend};
use workload::{Bytes, DiskspdAccess, DiskspdOrder, DiskspdSlices, EngineChoice, Pattern, Stream};

fn months(levels: &[f64]) -> Vec<Document> {
    let one = |(month, level): (usize, &f64)| {
        let day = format!("2026-{:02}-01T00:00:00Z", month + 1);
        five(&format!("r{month}"), &day, *level)
    };
    levels.iter().enumerate().map(one).collect()
}

fn of(documents: &[Document], figure: Figure) -> Trend {
    trend(dated(documents, figure), figure, "0.1.0")
}

#[test]
fn a_level_that_changed_is_dated() {
    let levels = [100.0, 101.0, 99.0, 100.0, 100.5, 80.0, 80.5, 79.5, 80.0];
    let mut documents = months(&levels);
    documents.reverse();
    let found = of(&documents, Figure::Iops);
    assert_eq!(found.loads.len(), 1);
    let load = &found.loads[0];
    assert_eq!(load.points.len(), 9);
    assert!(load.points.iter().all(|p| p.runs == 5));
    assert!(load.points.is_sorted_by_key(|p| p.started.clone()));
    assert!((load.points[0].value - 100.0).abs() < 0.1);
    assert_eq!(load.changes.iter().map(|c| c.index).collect::<Vec<_>>(), [5]);
    assert!(load.explanation.contains("from 2026-06-01 on 80 IOPS instead of 100"), "{load:?}");
    let slower = of(&documents, Figure::P99Ns);
    assert!(slower.loads[0].changes[0].change_percent > 20.0);
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Trend>(&text).unwrap(), found);
}

#[test]
fn other_loads_and_few_dates_stay_apart() {
    let mut documents = months(&[100.0, 50.0, 100.0]);
    documents.push(single(load(2 * FILE, &Stream::default(), 7.0)));
    let found = of(&documents, Figure::Iops);
    let counts: Vec<usize> = found.loads.iter().map(|l| l.points.len()).collect();
    assert_eq!(counts, [3, 1]);
    assert!(found.loads.iter().all(|l| l.changes.is_empty()));
    assert!(found.loads[0].explanation.contains("8 or more"), "{}", found.loads[0].explanation);
    assert!(of(&[], Figure::Iops).loads.is_empty());
}

/// Two loads that differed only in the part of the file that they used stood under one heading, and
/// nothing told which was which.
#[test]
fn loads_of_the_same_words_are_told_apart() {
    let part = Stream { offset_bytes: workload::Bytes(1 << 20), ..Stream::default() };
    let documents = vec![
        single(load(FILE, &Stream::default(), 7.0)),
        single(load(FILE, &part, 8.0)),
        single(load(2 * FILE, &Stream::default(), 9.0)),
    ];
    let found = of(&documents, Figure::Iops);
    let named: Vec<bool> = found
        .loads
        .iter()
        .map(|l| l.title.ends_with(&format!(" (conditions {})", l.conditions_id)))
        .collect();
    assert_eq!(named.iter().filter(|named| **named).count(), 2, "{found:?}");
}

const NOW: &str = "2026-11-20T00:00:00Z";

fn place() -> Place<'static> {
    Place { host: "h", target: "/data", device: "sda", now: NOW, tool_version: "0.1.0" }
}

fn measured() -> Vec<Document> {
    let stream = |pattern, write_percent| Stream { pattern, write_percent, ..Stream::default() };
    let mut cached = load(FILE, &stream(Pattern::Random, 0), 1e6);
    cached.workload.mode = workload::Mode::Buffered;
    let mut artificial = load(FILE, &stream(Pattern::Random, 0), 1e7);
    artificial.workload.engine = EngineChoice::Sim;
    "sim".clone_into(&mut artificial.engine.name);
    let all = vec![
        reads(20_000.0),
        reads(18_000.0),
        cached,
        artificial,
        load(FILE, &stream(Pattern::Random, 100), 10_000.0),
        load(FILE, &stream(Pattern::Random, 30), 90_000.0),
        load(FILE, &stream(Pattern::Sequential, 0), 128.0 * 400.0),
    ];
    vec![runs("best", "2026-11-01T00:00:00Z", all)]
}

/// What the columns of these results are evidence for: `iosonde history drift` asks the history for
/// such rows.
fn capacities(documents: &[Document]) -> Capacities {
    let row = |d: &Document, m: &Measurement| Load::of(m, d.id(), d.kind(), 0);
    let loads: Vec<Load> = documents
        .iter()
        .flat_map(|d| d.measurements().into_iter().map(|m| row(d, m)).collect::<Vec<_>>())
        .collect();
    Capacities::of(&loads)
}

/// There were two rules for what a load is evidence for. The one that was tested took a sequential
/// run of DiskSpd for random reads; the one that `history drift` used took 90 % random I/Os for
/// sequential ones. Either would have said that the device can do more, or less, than it was
/// measured to do.
#[test]
fn the_order_that_a_load_really_had_says_what_it_is_evidence_for() {
    let order = |access| DiskspdOrder {
        access,
        step_bytes: Bytes(8192),
        thread_stride_bytes: Bytes(0),
        slices: DiskspdSlices::default(),
    };
    let diskspd = |access| Stream { diskspd: Some(order(access)), ..Stream::default() };
    let of = |stream: &Stream| capacities(&[single(load(FILE, stream, 50_000.0))]);
    let found = of(&diskspd(DiskspdAccess::Sequential));
    assert!(found.reads.is_none() && found.sequential.is_some(), "{found:?}");
    let found = of(&diskspd(DiskspdAccess::Random));
    assert!(found.reads.is_some() && found.sequential.is_none(), "{found:?}");
    let mostly_random =
        Stream { pattern: Pattern::Sequential, random_percent: 90, ..Stream::default() };
    for stream in [mostly_random, diskspd(DiskspdAccess::Mixed { random_percent: 90 })] {
        let found = of(&stream);
        assert!(found.reads.is_none() && found.sequential.is_none(), "{found:?}");
    }
}

/// Document 004: a system was blamed that worked at 20 to 30 % of what it can.
#[test]
fn a_blamed_system_is_shown_to_be_idle() {
    let counted = CounterFigures {
        seconds: 10.0,
        read_iops: 5_000.0,
        write_iops: 1_000.0,
        mib_per_s: 40.0,
        read_latency_ns: Some(200_000.0),
        write_latency_ns: None,
        average_queue: 1.0,
        utilisation_percent: 60.0,
    };
    let found = drift(&place(), &counted, capacities(&measured()));
    let used: Vec<f64> = found.loads.iter().filter_map(|l| l.used_percent).collect();
    assert_eq!(used.iter().map(|u| u.round()).collect::<Vec<_>>(), [25.0, 10.0, 10.0]);
    let reads = found.loads[0].capacity.as_ref().unwrap();
    assert!((reads.value - 20_000.0).abs() < 1e-9, "no cache and no simulation");
    assert_eq!(reads.id, "best");
    let said = |words: &str| found.findings.iter().filter(|f| f.contains(words)).count();
    assert_eq!(said("no more than 25"), 1, "{:?}", found.findings);
    assert_eq!(said("Yet reads take 200 µs, longer than at full load (50 µs)"), 1);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    let busy = CounterFigures { read_iops: 19_000.0, ..counted };
    let found = drift(&place(), &busy, capacities(&measured()));
    assert!(found.findings.iter().any(|f| f.contains("at its limit")), "{:?}", found.findings);
}

#[test]
fn what_was_never_measured_or_long_ago_is_said() {
    let counted = CounterFigures {
        seconds: 10.0,
        read_iops: 0.0,
        write_iops: 0.0,
        mib_per_s: 0.0,
        read_latency_ns: None,
        write_latency_ns: None,
        average_queue: 0.0,
        utilisation_percent: 0.0,
    };
    let none = drift(&place(), &counted, Capacities::default());
    assert!(none.findings.is_empty() && none.loads.iter().all(|l| l.used_percent.is_none()));
    assert!(none.warnings[0].contains("reads, writes, reads and writes"), "{:?}", none.warnings);
    let old = vec![runs("old", "2026-01-01T00:00:00Z", vec![reads(100.0)])];
    let found = drift(&place(), &counted, capacities(&old));
    assert!(found.warnings.iter().any(|w| w.contains("323 days old")), "{:?}", found.warnings);
}
