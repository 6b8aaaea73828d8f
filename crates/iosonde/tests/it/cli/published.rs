//! Results that were published before iosonde existed, as their readers copy them: what the history
//! shows of them are the figures that their authors wrote down.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testing::Place;

use crate::cli::program::{place, stderr, succeeds};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cli/published").join(name)
}

/// Imports a file; gives what is said on stderr.
fn import(place: &Place, file: &Path, words: &str) -> String {
    let output = place.run(&["history", "import", file.to_str().unwrap()]);
    succeeds(&output);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains(words), "{said}");
    stderr(&output)
}

#[track_caller]
fn near(found: &Value, expected: f64, within: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{expected} is absent"));
    assert!((found - expected).abs() <= within, "{found} for {expected}");
}

/// Three figures of 2007, typed by hand below one call with typographic dashes: the drive with the
/// small file seemed seven times as fast, because the other had a file of 128 GB.
#[test]
fn three_results_of_2007_are_shown_as_published() {
    let place = place();
    let notes = import(&place, &fixture("sqlio-2007.md"), "3 results imported");
    assert_eq!(notes.matches("nobody knows which load").count(), 2, "{notes}");
    let list = place.says(&["history", "list"]);
    let rows: Vec<&str> = list.lines().filter(|line| line.contains("sqlio-")).collect();
    for (row, words) in rows.iter().zip([
        ["unknown load", "16 635", "130", "1 ms"],
        ["unknown load", "19 871", "155", "1 ms"],
        ["8 KiB random read", "2 681", "21", "11 ms"],
    ]) {
        for word in words {
            assert!(row.contains(word), "`{word}` is not in: {row}");
        }
    }
    let entries = place.list(&[]);
    let ids: Vec<&str> = entries.iter().filter_map(|entry| entry["id"].as_str()).collect();
    let [small_e, small_f, large_e] = ids[..] else { panic!("{entries:?}") };
    for (id, iops, max_ms) in [(small_e, 16_635, 29), (small_f, 19_871, 16), (large_e, 2681, 310)] {
        let found = place.json(&["history", "show", id]);
        near(&found["total"]["iops"], f64::from(iops), 1e-9);
        near(&found["total"]["latency_ns"]["max"], f64::from(max_ms) * 1e6, 0.5);
    }
    let large = place.says(&["history", "show", large_e]);
    assert!(large.contains("at a mean latency of 11 ms to 12.5 ms"), "{large}");
    // The wrong conclusion of then is not drawn: nobody knows that the loads are alike. It said
    // besides that a run had not come to its end.
    let said = place.says(&["history", "compare", large_e, small_f]);
    assert!(said.contains("WITHHELD") && said.contains("nobody knows the load"), "{said}");
    assert!(!said.contains("left out"), "{said}");
}

/// A test of 2012, by SQLIO and by Performance Monitor next to it.
#[test]
fn a_result_of_2012_and_its_counters_are_shown_as_published() {
    let place = place();
    import(&place, &fixture("sqlio-2012.txt"), "1 result imported");
    let shown = place.says(&["history", "show", "latest"]);
    for words in [
        "526 IOPS, 4.11 MiB/s at a mean latency of 29 ms to 30.5 ms",
        "8 KiB random write",
        "2 threads × depth 8 = 16 in flight",
        "F:\\testfile.dat",
        "2 min 0 s",
    ] {
        assert!(shown.contains(words), "`{words}` is not in: {shown}");
    }
    let found = place.json(&["history", "show", "latest"]);
    assert_eq!(found["threads"], 2);
    near(&found["total"]["iops"], 526.34, 1e-9);

    import(&place, &fixture("perfmon-2012.csv"), "1 result imported");
    let [entry] = &place.list(&["--kind", "monitor"])[..] else { panic!() };
    let id = entry["id"].as_str().unwrap();
    let shown = place.says(&["history", "show", id]);
    // The idle second before the test weighs nothing in the latency, though it does in the rate.
    for words in ["30 ms", "8 KiB", "1 F:", "SP01"] {
        assert!(shown.contains(words), "`{words}` is not in: {shown}");
    }
    let recording = place.json(&["history", "show", id]);
    let points = recording["conclusion"]["points"].as_array().unwrap();
    let writes = |point: &Value| point["disks"]["1 F:"]["writes"].as_f64();
    let busy: Vec<f64> = points.iter().filter_map(writes).filter(|count| *count > 0.0).collect();
    assert_eq!(busy.len(), 4);
    // It counts whole I/Os: 525.423 were published.
    near(&Value::from(busy.iter().sum::<f64>() / 4.0), 525.423, 0.5);
    let total = &recording["conclusion"]["totals"]["disks"]["1 F:"]["figures"];
    near(&total["write_latency_ns"], 30e6, 0.1e6);
    near(&total["write_size_bytes"], 8192.0, 8.0);
}

/// A test of 2020 by DiskSpd 2.0.21, with the heading `total:` above its percentiles; also as a web
/// page shows it, where tabs became blanks.
#[test]
fn a_result_of_2020_is_shown_as_published() {
    let whole = fs::read_to_string(fixture("diskspd-2020.txt")).unwrap();
    let on_a_page = whole.replace('\t', "  ").replace(" -b8K", " \u{2013}b8K");
    for text in [whole, on_a_page] {
        let place = place();
        fs::write(place.path("resultfile.txt"), text).unwrap();
        let notes = import(&place, &place.path("resultfile.txt"), "1 result imported");
        assert_eq!(notes, "");
        let shown = place.says(&["history", "show", "latest"]);
        for words in [
            "303 IOPS, 2.37 MiB/s at a mean latency of 316 ms",
            "54 562",
            "13 639",
            "40 923",
            "25 % read / 75 % write",
            "3 threads × depth 32 = 96\n",
            "5 GiB",
            "direct (no OS cache), writes durable",
        ] {
            assert!(shown.contains(words), "`{words}` is not in: {shown}");
        }
        let found = place.json(&["history", "show", "latest"]);
        near(&found["total"]["iops"], 303.09, 1e-9);
        near(&found["total"]["latency_ns"]["mean"], 316_204_000.0, 0.5);
        assert_eq!(found["total"]["ios"], 54_562);
        assert_eq!(found["total"]["latency_ns"]["p99"], 600_500_000);
        near(&found["read"]["latency_ns"]["min"], 1_100_000.0, 0.5);
    }
}
