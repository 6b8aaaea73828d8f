//! Loads in the shape of fio's JSON.

use proptest::prelude::*;
use report::fio;
use results::{Document, Histogram, Latency, Measurement};
use serde_json::Value;

use crate::sample;

/// The mixed load of the sample, with a histogram of a thousand reads from 1 to 1000 µs.
fn measured() -> Measurement {
    let mut m = sample::mixed();
    let mut histogram = Histogram::new();
    (1..=1000).for_each(|us| histogram.record(us * 1000));
    for s in [&mut m.total, &mut m.read] {
        s.ios = 1000;
        s.latency_ns = Latency::of(&histogram);
        s.histogram = Some(histogram.encode());
    }
    (m.streams[0].total, m.streams[0].read) = (m.total.clone(), m.read.clone());
    m
}

fn shape(m: Measurement) -> Value {
    serde_json::from_str(&fio::text(&[Document::Measurement(Box::new(m))])).unwrap()
}

#[test]
fn a_load_has_the_keys_and_units_of_fio() {
    let m = measured();
    let whole = shape(m.clone());
    let version = whole["fio version"].as_str().unwrap();
    assert!(version.starts_with("fio-3.") && version.contains("(iosonde "), "{version}");
    let job = &whole["jobs"][0];
    let options = &job["job options"];
    assert_eq!((options["rw"].as_str(), options["bs"].as_str()), (Some("randrw"), Some("8k")));
    assert_eq!((options["iodepth"].as_str(), options["numjobs"].as_str()), (Some("32"), Some("4")));
    assert_eq!(
        (options["rwmixread"].as_str(), options["sync"].as_str()),
        (Some("70"), Some("dsync"))
    );
    assert_eq!(options["ioengine"].as_str(), Some("io_uring"));
    let read = &job["read"];
    assert_eq!(read["total_ios"], 1000);
    assert_eq!(read["runtime"], 30_000);
    assert_eq!(read["iops"].as_f64(), Some(m.read.iops));
    let kib = m.read.bytes as f64 / m.seconds / 1024.0;
    assert!((read["bw"].as_f64().unwrap() - kib).abs() <= 0.5);
    assert_eq!(read["clat_ns"], read["lat_ns"]);
    assert_eq!(read["slat_ns"]["N"], 0);
    let lat = &read["lat_ns"];
    assert_eq!((lat["min"].as_u64(), lat["N"].as_u64()), (Some(1000), Some(1000)));
    for (name, us) in [("1.000000", 10.0), ("50.000000", 500.0), ("99.900000", 999.0)] {
        let ns = lat["percentile"][name].as_f64().unwrap();
        assert!((ns / us / 1000.0 - 1.0).abs() < 0.02, "{name}: {ns}");
    }
    let bins = lat["bins"].as_object().unwrap();
    assert_eq!(bins.values().map(|n| n.as_u64().unwrap()).sum::<u64>(), 1000);
}

#[test]
fn classes_of_latency_are_shares_of_all() {
    let job = &shape(measured())["jobs"][0];
    let share = |kind: &str, class: &str| job[kind][class].as_f64().unwrap();
    // 100 to 249 µs, and 1 ms.
    assert!((share("latency_us", "250") - 15.0).abs() < 0.5);
    let names = ["latency_ns", "latency_us", "latency_ms"];
    let sum: f64 = names
        .iter()
        .flat_map(|n| job[*n].as_object().unwrap().values())
        .map(|v| v.as_f64().unwrap())
        .sum();
    assert!((sum - 100.0).abs() < 1e-6, "{sum}");
    assert!(job["latency_ms"].get(">=2000").is_some());
}

#[test]
fn files_are_named_by_their_loads() {
    let mut other = sample::mixed();
    other.workload.streams[0].write_percent = 0;
    let documents =
        [sample::mixed(), sample::mixed(), other].map(|m| Document::Measurement(Box::new(m)));
    let names: Vec<String> = fio::files(&documents).into_iter().map(|(name, _)| name).collect();
    let wanted = [
        "8k-w30/randrw-iodepth-32-numjobs-4.json",
        "8k-w30/randrw-iodepth-32-numjobs-4-2.json",
        "8k/randread-iodepth-32-numjobs-4.json",
    ];
    assert_eq!(names, wanted);
}

proptest! {
    #[test]
    fn no_figures_panic(iops: f64, seconds: f64, ios: u64, bytes: u64, min: u64, max: u64, p50: u64,
        mean: f64, text in ".{0,20}", depth: u32) {
        let mut m = sample::mixed();
        (m.seconds, m.started, m.workload.seconds) = (seconds, text.clone(), seconds);
        m.workload.streams[0].depth = depth;
        let (min, max, p50) = (Some(min), Some(max), Some(p50));
        let latency = Latency { min, mean, max, p50, ..Latency::default() };
        let s = &mut m.total;
        (s.ios, s.bytes, s.iops) = (ios, bytes, iops);
        s.latency_ns = Some(latency);
        s.histogram = Some(text.clone());
        (m.streams[0].total, m.streams[0].read) = (m.total.clone(), m.total.clone());
        let document = Document::Measurement(Box::new(m));
        prop_assert!(serde_json::from_str::<Value>(&fio::text(&[document])).is_ok());
    }
}
