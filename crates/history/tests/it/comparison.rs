//! Like is compared with like; what is not alike is named and gets no verdict.

use crate::sides::{FILE, five, load, reads, runs, single};
use history::compare::{BAND_PERCENT, Input, Noise, Rules, compare, has_single_runs};
use inspect::{Device, Host, Layer, Raid, Settings, Storage};
use results::change::{Basis, Change};
use results::{Comparison, Document, Environment, Figure, Kernel};
use workload::{Block, Bytes, Pattern, Rate, RateLimit, Stream};

fn with(a: &[Document], b: &[Document], anyway: bool, noise: &Noise) -> Comparison {
    let rules = Rules { band_percent: BAND_PERCENT, anyway, noise, tool_version: "0.1.0" };
    compare(Input { name: "A", documents: a }, Input { name: "B", documents: b }, &rules)
}

fn plain(a: &[Document], b: &[Document]) -> Comparison {
    with(a, b, false, &Noise::default())
}

fn names(comparison: &Comparison) -> Vec<&str> {
    comparison.loads.iter().flat_map(|l| &l.unlike).map(|d| d.name.as_str()).collect()
}

fn change(comparison: &Comparison, figure: Figure) -> Option<Change> {
    let found = comparison.loads[0].figures.iter().find(|f| f.figure == figure)?;
    found.compared.as_ref().map(|c| c.verdict)
}

/// Document 003: a test file of 256 MB in the controller's cache gave 19 871 IOPS, one of 128 GB 2
/// 681, and the file was not mentioned.
#[test]
fn a_small_file_is_no_faster_storage() {
    let small = [single(load(256 << 20, &Stream::default(), 19_871.0))];
    let large = [single(load(128 << 30, &Stream::default(), 2_681.0))];
    let found = plain(&large, &small);
    assert!(found.withheld);
    assert_eq!(found.verdict, Change::CannotTell);
    assert_eq!(names(&found), ["file size"]);
    assert!(found.explanation.contains("file size 128 GiB against 256 MiB"), "{found:?}");
    assert!(found.loads[0].figures.iter().all(|f| f.compared.is_none()));
    let (a, b) = (found.loads[0].figures[0].a.mean, found.loads[0].figures[0].b.mean);
    assert!((a - 2_681.0).abs() < 1e-6 && (b - 19_871.0).abs() < 1e-6);
    // With `--anyway` there are figures, under what differs, and one run on each side still tells
    // nothing.
    let anyway = with(&large, &small, true, &Noise::default());
    assert!(!anyway.withheld);
    assert_eq!(names(&anyway), ["file size"]);
    assert_eq!(change(&anyway, Figure::Iops), Some(Change::CannotTell));
    let large = [five("a", "2026-11-01T00:00:00Z", 2_681.0)];
    assert!(!plain(&large, &large).withheld);
    assert!(anyway.explanation.contains("not alike"), "{}", anyway.explanation);
}

#[test]
fn five_runs_a_side_give_each_verdict() {
    let base = [five("a", "2026-11-01T00:00:00Z", 50_000.0)];
    let against = |iops: f64| plain(&base, &[five("b", "2026-11-02T00:00:00Z", iops)]);
    assert_eq!(against(50_100.0).verdict, Change::Same);
    assert_eq!(against(60_000.0).verdict, Change::Better);
    let worse = against(40_000.0);
    assert_eq!(worse.verdict, Change::Worse);
    assert_eq!(change(&worse, Figure::P99Ns), Some(Change::Worse));
    assert_eq!(change(&worse, Figure::CpuUsPerIo), Some(Change::Same));
    assert_eq!(worse.loads.len(), 1);
    assert_eq!((worse.loads[0].runs_a.len(), worse.loads[0].runs_b.len()), (5, 5));
    assert_eq!(against(47_600.0).verdict, Change::CannotTell);
    let interleaved = worse.warnings.iter().filter(|w| w.contains("not interleaved")).count();
    assert_eq!(interleaved, 1);
}

#[test]
fn single_runs_need_a_known_noise() {
    let (a, b) = ([single(reads(50_000.0))], [single(reads(40_000.0))]);
    let found = plain(&a, &b);
    assert_eq!(found.verdict, Change::CannotTell);
    assert!(!found.withheld);
    let quiet = Noise::of(&[five("n", "2026-10-01T00:00:00Z", 30_000.0)]);
    let spread = quiet.known(Figure::Iops).unwrap();
    assert_eq!(spread.runs, 5);
    assert!((0.5..1.0).contains(&spread.cv_percent), "{spread:?}");
    let found = with(&a, &b, false, &quiet);
    assert_eq!(found.verdict, Change::Worse);
    let iops = found.loads[0].figures.iter().find(|f| f.figure == Figure::Iops).unwrap();
    assert_eq!(iops.compared.as_ref().unwrap().basis, Basis::KnownSpread);
    // The widest of what was seen decides, and two runs do not show a spread.
    let wild =
        runs("w", "2026-10-02T00:00:00Z", [30_000.0, 60_000.0, 20_000.0].map(reads).to_vec());
    let two = runs("t", "2026-10-02T00:00:00Z", [30_000.0, 90_000.0].map(reads).to_vec());
    let noise = Noise::of(&[five("n", "2026-10-01T00:00:00Z", 30_000.0), wild]);
    assert_eq!(with(&a, &b, false, &noise).verdict, Change::CannotTell);
    let several = [five("f", "2026-10-01T00:00:00Z", 30_000.0)];
    assert!(has_single_runs(&a, &several) && !has_single_runs(&several, &several));
    assert_eq!(Noise::of(&[two]), Noise::default());
}

#[test]
fn everything_that_differs_is_named() {
    let durable = Stream { write_percent: 100, durable: true, ..Stream::default() };
    let plainly = Stream { write_percent: 100, ..Stream::default() };
    let [a, b] = [durable, plainly].map(|s| [single(load(FILE, &s, 1000.0))]);
    assert_eq!(names(&plain(&a, &b)), ["durable writes"]);
    let mut buffered = reads(1000.0);
    buffered.workload.mode = workload::Mode::Buffered;
    buffered.engine.name = "sync".to_owned();
    let found = plain(&[single(reads(1000.0))], &[single(buffered)]);
    assert_eq!(names(&found), ["operating system's cache", "engine"]);
    assert!(found.withheld);
}

#[test]
fn another_version_of_the_tool_withholds_and_another_device_is_only_named() {
    let a = five("a", "2026-11-01T00:00:00Z", 50_000.0);
    let Document::Runs(mut other) = five("b", "2026-11-02T00:00:00Z", 40_000.0) else { panic!() };
    other.targets = vec!["/fast".into()];
    for m in &mut other.measurements {
        m.workload.targets[0].path = "/fast".into();
    }
    let b = [Document::Runs(other.clone())];
    let found = plain(std::slice::from_ref(&a), &b);
    assert_eq!(found.verdict, Change::Worse);
    let target = found.differences.iter().find(|d| d.difference.name == "target").unwrap();
    assert_eq!((target.difference.a.as_str(), target.unlike), ("/data", false));
    other.tool_version = "0.2.0".to_owned();
    let b = [Document::Runs(other)];
    let found = plain(std::slice::from_ref(&a), &b);
    assert!(found.withheld && found.loads[0].figures.iter().all(|f| f.compared.is_none()));
    assert!(found.explanation.contains("version of iosonde 0.1.0 against 0.2.0"), "{found:?}");
    assert_eq!(with(&[a], &b, true, &Noise::default()).verdict, Change::Worse);
}

/// A side measured on a disk with this scheduler and depth, on a machine with this swappiness.
fn on_disk(
    id: &str,
    scheduler: &str,
    queue_depth: Option<u64>,
    swappiness: Option<u64>,
) -> Document {
    let Document::Runs(mut side) = five(id, "2026-11-01T00:00:00Z", 50_000.0) else { panic!() };
    let device = Device {
        name: "sda".into(),
        scheduler: Some(scheduler.into()),
        queue_depth,
        ..Device::default()
    };
    let raid = Raid { level: "raid5".into(), devices: 3, ..Raid::default() };
    let chain = vec![Layer { raid: Some(raid), ..Layer::default() }];
    let storage = Storage { devices: vec![device], chain, ..Storage::default() };
    let settings = swappiness.map(|n| Settings { swappiness: Some(n), ..Settings::default() });
    let host = Host { hostname: "db1".into(), settings, ..Host::default() };
    side.environment = Environment { host: Some(host), storage: vec![storage] };
    Document::Runs(side)
}

#[test]
fn changes_of_the_set_up_are_told_where_both_sides_know_them() {
    let compared = |a: Document, b: Document| {
        let found = plain(&[a], &[b]);
        assert!(!found.withheld, "the set-up may be the very thing that is compared");
        let told = |d: &results::SideDifference| {
            format!("{} {}->{}", d.difference.name, d.difference.a, d.difference.b)
        };
        found.differences.iter().map(told).collect::<Vec<_>>()
    };
    let before = || on_disk("a", "none", Some(32), Some(60));
    assert_eq!(compared(before(), before()), [""; 0]);
    let after = on_disk("b", "bfq", Some(64), Some(1));
    let expected = ["I/O scheduler none->bfq", "queue depth 32->64", "swappiness 60->1"];
    assert_eq!(compared(before(), after), expected);
    // What one side does not know has not changed.
    assert_eq!(compared(before(), on_disk("b", "none", None, None)), [""; 0]);
    let Document::Runs(mut degraded) = before() else { panic!() };
    degraded.environment.storage[0].chain[0].raid.as_mut().unwrap().degraded = Some(1);
    let told = compared(before(), Document::Runs(degraded));
    assert_eq!(told, ["RAID raid5 of 3->raid5 of 3 lacking 1"]);
}

#[test]
fn only_what_both_sides_have_is_judged() {
    let large =
        Stream { blocks: vec![Block { bytes: Bytes(65536), weight: 1 }], ..Stream::default() };
    let sequential = Stream { pattern: Pattern::Sequential, write_percent: 100, ..large.clone() };
    let mut both = vec![load(FILE, &large, 900.0)];
    both.extend([50_000.0, 50_100.0, 49_900.0, 50_050.0].map(reads));
    let more = [load(FILE, &sequential, 20.0)];
    let a = [runs("a", "2026-11-01T00:00:00Z", both.clone())];
    both.extend(more);
    let b = [runs("b", "2026-11-02T00:00:00Z", both)];
    let found = plain(&a, &b);
    assert_eq!(found.loads.len(), 2);
    assert!(found.only_a.is_empty());
    assert_eq!(found.only_b.len(), 1);
    assert!(found.only_b[0].starts_with("64 KiB sequential write"), "{:?}", found.only_b);
    assert!(!found.withheld);
    let nothing = plain(&[single(reads(1.0))], &[single(load(FILE, &sequential, 1.0))]);
    assert!(nothing.withheld);
    assert_eq!(names(&nothing), ["block size", "pattern", "share of writes"]);
}

#[test]
fn an_open_loop_is_judged_by_its_latency() {
    let rate = Some(Rate { limit: RateLimit::Iops(1000.0), arrival: workload::Arrival::Poisson });
    let open = Stream { rate, ..Stream::default() };
    let side = |id, latency: f64| {
        let part = [0.99, 1.0, 1.01, 1.002].map(|p| {
            let mut m = load(FILE, &open, 1000.0 * p);
            m.total.latency_ns.as_mut().unwrap().mean = latency * p;
            m
        });
        [runs(id, "2026-11-01T00:00:00Z", part.to_vec())]
    };
    let found = plain(&side("a", 100_000.0), &side("b", 200_000.0));
    assert_eq!(change(&found, Figure::Iops), Some(Change::Same));
    assert_eq!(found.verdict, Change::Worse);
}

#[test]
fn reasons_to_doubt_are_given() {
    let a = [five("a", "2026-01-01T00:00:00Z", 50_000.0)];
    let Document::Runs(mut late) = five("b", "2026-11-01T00:00:00Z", 50_000.0) else { panic!() };
    late.measurements[0].status = results::Status::Interrupted;
    late.measurements[1].kernel = Some(Kernel {
        device: "sda".to_owned(),
        seconds: 30.0,
        foreign_percent: Some(12.0),
        read_iops: 0.0,
        write_iops: 0.0,
        read_bytes_per_s: 0.0,
        write_bytes_per_s: 0.0,
        read_latency_ns: None,
        write_latency_ns: None,
        average_queue: 0.0,
        utilisation_percent: 0.0,
        flushes_per_s: 0.0,
        agreement_percent: None,
        agreement: None,
    });
    late.measurements.iter_mut().for_each(|m| m.seconds = 5.0);
    let found = plain(&a, &[Document::Runs(late)]);
    let said = |words: &str| found.warnings.iter().filter(|w| w.contains(words)).count();
    assert_eq!(said("304 days older"), 1, "{:?}", found.warnings);
    assert_eq!(said("were disturbed: up to 12 %"), 1);
    assert_eq!(said("1 of 5 measurements of the second side are left out"), 1);
    assert_eq!(said("measured 30 s, those of the second 5 s"), 1);
    assert_eq!(found.loads[0].runs_b.len(), 4);
    assert_eq!(plain(&a, &a).warnings.len(), 1, "the same result on both sides");
}

/// Several volumes on one side do not become runs of each other.
#[test]
fn the_same_load_on_two_targets_is_two_loads() {
    let on = |target: &str, iops: f64| {
        let mut m = reads(iops);
        m.workload.targets[0].path = target.into();
        m
    };
    let side = |id, factor: f64| {
        let each = [("/x", 100.0), ("/y", 900.0)].map(|(target, iops)| on(target, iops * factor));
        [runs(id, "2026-11-01T00:00:00Z", each.to_vec())]
    };
    let found = plain(&side("a", 1.0), &side("b", 1.0));
    assert_eq!(found.loads.len(), 2);
    let mut titles: Vec<&str> = found.loads.iter().map(|l| l.title.as_str()).collect();
    titles.sort_unstable();
    assert!(titles[0].ends_with("on /x") && titles[1].ends_with("on /y"), "{titles:?}");
    let changes = found.loads.iter().flat_map(|l| &l.figures).map(|f| f.compared.as_ref().unwrap());
    assert!(changes.into_iter().all(|c| c.change_percent.abs() < 1e-9));
    // And three of them are not noise.
    let three = ["/x", "/y", "/z"].map(|t| on(t, 100.0)).to_vec();
    assert_eq!(Noise::of(&[runs("n", "2026-11-01T00:00:00Z", three)]), Noise::default());
}

#[test]
fn a_comparison_reads_back_as_it_was_written() {
    let found = plain(&[five("a", "2026-11-01T00:00:00Z", 1.0)], &[single(reads(2.0))]);
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), found);
    let empty = plain(&[], &[]);
    assert!(empty.withheld && empty.loads.is_empty());
}

/// A run that knows its own figure no better than ± 643 % was called better.
#[test]
fn nothing_is_told_from_runs_that_are_hardly_known() {
    let known = |half: f64| {
        let steady = |mut m: results::Measurement| {
            m.steady = Some(results::steady::Steady {
                mean: m.total.iops,
                half_width_percent: Some(half),
                settled: true,
                cut_s: 0.0,
                drift_percent: 0.0,
                seconds: 30.0,
                precision_percent: 1.0,
                explanation: String::new(),
            });
            m
        };
        let around = [-0.01, 0.0, 0.01, 0.004, -0.004];
        let measured = around.map(|part| steady(reads(80_000.0 * (1.0 + part))));
        [runs("b", "2026-11-02T00:00:00Z", measured.to_vec())]
    };
    let base = [five("a", "2026-11-01T00:00:00Z", 50_000.0)];
    assert_eq!(plain(&base, &known(50.0)).verdict, Change::Better);
    for (a, b) in [(&base, &known(51.0)), (&known(643.0), &base)] {
        let found = plain(a, b);
        assert_eq!(found.verdict, Change::CannotTell);
        let compared = found.loads[0].figures.iter().filter_map(|f| f.compared.as_ref());
        for one in compared {
            assert_eq!((one.verdict, one.interval_percent), (Change::CannotTell, None));
            assert!(one.explanation.contains("more than 50 % off"), "{}", one.explanation);
        }
    }
}
