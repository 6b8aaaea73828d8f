//! Every figure survives: whatever a measurement holds, it is given back as it was.

use history::{History, Place};
use proptest::prelude::*;
use results::{Document, Measurement, Point};

use crate::store::made::{full, runs};
use crate::store::server::server;

/// Any number that JSON knows.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("JSON has no other", |n| n.is_finite()),
        Just(0.0),
        Just(-0.0),
        Just(f64::MIN_POSITIVE / 2.0),
        Just(f64::MAX),
        Just(1e15 + 0.5),
        (0u32..1_000_000).prop_map(f64::from),
    ]
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0u64..1000, Just(i64::MAX as u64), Just(u64::MAX)]
}

prop_compose! {
    fn point()(
        numbers in prop::collection::vec(number(), 6),
        means in prop::collection::vec(prop::option::of(number()), 2),
        counts in prop::collection::vec(prop::option::of(count()), 3),
        errors in count(),
    ) -> Point {
        Point {
            t: numbers[0],
            seconds: numbers[1],
            read_iops: numbers[2],
            write_iops: numbers[3],
            read_mib_per_s: numbers[4],
            write_mib_per_s: numbers[5],
            read_mean_ns: means[0],
            write_mean_ns: means[1],
            read_p99_ns: counts[0],
            write_p99_ns: counts[1],
            max_ns: counts[2],
            errors,
        }
    }
}

prop_compose! {
    fn measurement(id: String)(
        window in prop::collection::vec(point(), 0..40),
        warmup in prop::collection::vec(point(), 0..4),
        figures in prop::collection::vec(number(), 4),
        ios in count(),
        texts in prop::collection::vec("[^\u{0}]{0,12}", 4),
        has_host in any::<bool>(),
        memory in count(),
    ) -> Measurement {
        let mut m = full(&id, figures[0]);
        (m.series, m.warmup_series) = (window, warmup);
        (m.seconds, m.achieved_in_flight, m.total.mib_per_s) = (figures[1], figures[2], figures[3]);
        (m.total.ios, m.workload.seed) = (ios, ios);
        m.total.histogram = Some(texts[0].clone());
        m.read.histogram = None;
        m.checks.warnings = texts;
        m.environment.host.as_mut().unwrap().memory_available_bytes = memory;
        if !has_host {
            m.environment.host = None;
        }
        m
    }
}

/// The text, in which a negative zero differs from a positive one.
fn text(document: &Document) -> String {
    serde_json::to_string(document).unwrap()
}

fn survives(place: &Place, measurements: Vec<Measurement>) {
    let history = History::open(place).unwrap();
    let document = runs("e", "2026-11-21T12:00:00Z", measurements);
    // An earlier case of the same test.
    let _ = history.delete("e");
    history.add(&document).unwrap();
    let read = history.document("e").unwrap().unwrap();
    assert_eq!(text(&read), text(&document));
    let kept = history.measurements("e").unwrap();
    let kept: Vec<_> = kept.into_iter().map(|kept| kept.measurement).collect();
    assert_eq!(kept.iter().collect::<Vec<_>>(), document.measurements());
}

fn some() -> impl Strategy<Value = Vec<Measurement>> {
    (measurement("a".to_owned()), measurement("b".to_owned())).prop_map(|(a, b)| vec![a, b])
}

#[test]
fn every_figure_survives_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::File(directory.path().join("history.db"));
    proptest!(ProptestConfig::with_cases(64),
        |(measurements in some())| survives(&place, measurements));
}

#[test]
fn every_figure_survives_a_server() {
    let place = server().place().0;
    proptest!(ProptestConfig::with_cases(16),
        |(measurements in some())| survives(&place, measurements));
}

#[test]
fn a_measurement_that_is_in_a_result_twice_is_there_twice() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::File(directory.path().join("history.db"));
    survives_twice(&place, full("a", 1.0), full("a", 1.0));
    survives_twice(&place, full("a", 1.0), full("a", 2.0));
}

fn survives_twice(place: &Place, a: Measurement, b: Measurement) {
    let history = History::open(place).unwrap();
    let _ = history.delete("e");
    let document = runs("e", "2026-11-21T12:00:00Z", vec![a, b]);
    history.add(&document).unwrap();
    assert_eq!(history.document("e").unwrap().unwrap(), document);
}
