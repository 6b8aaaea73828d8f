//! Recordings of `iostat`, `sar` and Performance Monitor, of several versions and countries.

use counters::DISK_FIELDS;
use jiff::tz::{Offset, TimeZone};
use monitor::foreign::{ForeignError, ForeignRecordings, Reading, recognise};
use proptest::prelude::*;
use results::{Document, Experiment, Recording};

fn reading() -> Reading<'static> {
    Reading {
        file: "file.txt",
        read: "2026-11-27T00:00:00Z",
        zone: TimeZone::fixed(Offset::from_hours(2).unwrap()),
        interval_seconds: None,
    }
}

fn all(text: &str) -> ForeignRecordings {
    recognise(text, &reading()).unwrap().expect("it is recognised")
}

fn one(text: &str) -> Experiment<Recording> {
    let mut found = all(text);
    assert_eq!(found.documents.len(), 1, "{:?}", found.notes);
    let document = found.documents.remove(0);
    let json = serde_json::to_string(&document).unwrap();
    let read = Document::parse(&json).unwrap();
    assert_eq!(read, Document::Recording(Box::new(document.clone())));
    document
}

/// The figures of a device over the whole time, by name.
fn figures(document: &Experiment<Recording>, device: &str) -> Vec<(String, f64)> {
    let total = &document.conclusion.totals.disks[device];
    let known = DISK_FIELDS
        .iter()
        .filter_map(|field| Some((field.name.to_owned(), total.figures[field.name]?)));
    known.collect()
}

fn figure(document: &Experiment<Recording>, device: &str, name: &str) -> Option<f64> {
    figures(document, device).into_iter().find(|(known, _)| known == name).map(|(_, f)| f)
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap_or_else(|| panic!("{expected} is absent"));
    assert!((found - expected).abs() < expected.abs() * 1e-6 + 1e-9, "{found} for {expected}");
}

#[test]
fn the_first_report_of_iostat_is_no_interval() {
    let document = one(include_str!("foreign/iostat-12.txt"));
    let r = &document.conclusion;
    assert_eq!((r.points.len(), r.seconds, r.windows), (2, 10.0, 2));
    assert_eq!(document.started, "2026-11-25T12:06:20Z");
    assert_eq!(document.finished, "2026-11-25T12:06:30Z");
    assert_eq!(document.environment.host.as_ref().unwrap().hostname, "db7");
    assert_eq!(r.interval_ns, 5_000_000_000);
    // Reads weigh by their number: (500 x 0.5 ms + 1500 x 1.5 ms) / 2000.
    near(figure(&document, "sda", "reads_per_s"), 200.0);
    near(figure(&document, "sda", "read_latency_ns"), 1_250_000.0);
    near(figure(&document, "sda", "write_latency_ns"), 2_500_000.0);
    near(figure(&document, "sda", "read_size_bytes"), 8192.0);
    near(figure(&document, "sda", "busy_percent"), 40.0);
    near(figure(&document, "sda", "average_queue"), 0.3);
    near(figure(&document, "sda", "flushes_per_s"), 0.5);
    near(figure(&document, "sda", "flush_latency_ns"), 3e6);
    near(figure(&document, "sda", "discard_latency_ns"), 1e6);
    // iostat does not print how many I/Os are in flight at a moment.
    assert_eq!(figure(&document, "sda", "current_queue"), None);
    // It came later: its figures are of the time that it was there.
    near(figure(&document, "nvme0n1", "reads_per_s"), 10.0);
    assert_eq!(r.points[0].missing, ["nvme0n1"]);
    assert!(document.warnings.iter().any(|w| w.contains("lack a device")));
    let cpu = &r.totals.figures;
    near(cpu["cpu_percent"], 20.5);
    near(cpu["iowait_percent"], 15.0);
    near(cpu["steal_percent"], 0.5);
    assert_eq!(cpu["io_some_percent"], None);
}

#[test]
fn twelve_hours_and_midnight_are_read() {
    let document = one(include_str!("foreign/iostat-10.txt"));
    assert_eq!(document.started, "2026-11-25T21:59:50Z");
    assert_eq!(document.conclusion.seconds, 10.0);
    near(figure(&document, "sda", "read_latency_ns"), 2e6);
    near(figure(&document, "sda", "write_bytes_per_s"), 480.0 * 1024.0);

    let document = one(include_str!("foreign/sar-12.txt"));
    assert_eq!(document.started, "2026-11-25T21:59:40Z");
    let r = &document.conclusion;
    assert_eq!((r.points.len(), r.seconds), (2, 20.0));
    near(r.totals.figures["iowait_percent"], 15.0);
}

#[test]
fn iostat_without_times_needs_the_interval() {
    let text = include_str!("foreign/iostat-9.txt");
    assert_eq!(recognise(text, &reading()), Err(ForeignError::NoTimes));
    assert!(ForeignError::NoTimes.to_string().contains("`--interval 5`"));
    let with = Reading { interval_seconds: Some(10.0), ..reading() };
    let document = recognise(text, &with).unwrap().unwrap().documents.remove(0);
    assert_eq!(document.started, "2026-11-27T00:00:00Z");
    assert!(document.warnings[0].contains("the date is that of the file"));
    assert_eq!(document.conclusion.seconds, 10.0);
    near(figure(&document, "sda", "reads_per_s"), 20.0);
    near(figure(&document, "sda", "read_bytes_per_s"), 160.0 * 512.0);
    // One time for both is not that of either.
    near(figure(&document, "sda", "transfer_latency_ns"), 5e6);
    assert_eq!(figure(&document, "sda", "read_latency_ns"), None);
}

#[test]
fn the_short_table_of_iostat_has_no_latencies() {
    let document = one(include_str!("foreign/iostat-short.txt"));
    assert_eq!(document.started, "2026-11-25T13:06:20Z");
    let known: Vec<String> = figures(&document, "vda").into_iter().map(|(name, _)| name).collect();
    assert_eq!(known, ["read_bytes_per_s", "write_bytes_per_s", "transfers_per_s", "bytes_per_s"]);
    near(figure(&document, "vda", "transfers_per_s"), 87.0);
}

#[test]
fn a_single_report_of_iostat_is_said_to_be_no_interval() {
    let text = include_str!("foreign/iostat-12.txt");
    let first = &text[..text.find("11/25/26 14:06:25").unwrap()];
    let found = all(first);
    assert!(found.documents.is_empty());
    assert!(found.notes[0].contains("since the system booted"), "{:?}", found.notes);
}

#[test]
fn sar_counts_reads_and_writes_together() {
    let document = one(include_str!("foreign/sar-12.txt"));
    near(figure(&document, "sda", "transfers_per_s"), 220.0);
    near(figure(&document, "sda", "transfer_latency_ns"), (1400.0 * 1.07 + 3000.0 * 1.5) / 4.4e-3);
    near(figure(&document, "sda", "read_bytes_per_s"), 1600.0 * 1024.0);
    assert_eq!(figure(&document, "sda", "reads_per_s"), None);
    near(figure(&document, "sdb", "transfers_per_s"), 0.0);
}

#[test]
fn a_restart_is_no_interval_of_sar() {
    let document = one(include_str!("foreign/sar-9.txt"));
    let r = &document.conclusion;
    let lengths: Vec<(f64, f64)> = r.points.iter().map(|p| (p.t, p.seconds)).collect();
    assert_eq!(lengths, [(600.0, 600.0), (1200.0, 600.0), (2400.0, 600.0)]);
    assert!(document.warnings.iter().any(|w| w.contains("restarted")), "{:?}", document.warnings);
    near(figure(&document, "dev8-0", "read_bytes_per_s"), 400.0 / 3.0 * 512.0);
}

#[test]
fn the_name_of_a_device_may_come_last() {
    let document = one(include_str!("foreign/sar-pretty.txt"));
    near(figure(&document, "vda", "transfers_per_s"), 236.0);
    assert_eq!(document.conclusion.seconds, 2.0);
}

#[test]
fn typeperf_is_read_with_what_it_says_around_its_rows() {
    let document = one(include_str!("foreign/typeperf.csv"));
    assert_eq!(document.started, "2026-11-25T08:00:00Z");
    assert_eq!(document.environment.host.as_ref().unwrap().hostname, "DB7");
    let r = &document.conclusion;
    assert_eq!((r.points.len(), r.seconds), (2, 2.0));
    let devices: Vec<&str> = r.devices.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(devices, ["0 C:"]);
    // 100 reads of 250 us, 300 of 750 us: Linux's milliseconds could not hold the former.
    near(figure(&document, "0 C:", "read_latency_ns"), 625_000.0);
    near(figure(&document, "0 C:", "write_latency_ns"), 1_500_000.0);
    assert_eq!(figure(&document, "0 C:", "read_bytes_per_s"), None);
    assert_eq!(figure(&document, "0 C:", "busy_percent"), None);
    assert!(r.attached.is_empty());
}

#[test]
fn a_collector_set_names_its_zone_and_has_more_than_disks() {
    let document = one(include_str!("foreign/collector.csv"));
    assert_eq!(document.started, "2026-11-25T09:00:00.1Z");
    let r = &document.conclusion;
    assert_eq!(r.points.len(), 3);
    assert_eq!(r.points[2].missing, ["D:"], "an empty cell is not 0");
    near(figure(&document, "D:", "reads_per_s"), 30.0);
    near(figure(&document, "D:", "read_latency_ns"), (300.0 * 2e6 + 600.0 * 1e6) / 900.0);
    near(figure(&document, "D:", "read_size_bytes"), 8192.0);
    near(figure(&document, "D:", "busy_percent"), 7.0);
    near(figure(&document, "D:", "idle_percent"), 93.0);
    near(figure(&document, "D:", "current_queue"), 0.5);
    near(figure(&document, "D:", "splits_per_s"), 1.0);
    let names: Vec<&str> = r.attached.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(
        names,
        [
            r"LogicalDisk(D:)\% Disk Time",
            r"Processor(_Total)\% Processor Time",
            r"SQLServer:Buffer Manager\Page life expectancy"
        ]
    );
    assert_eq!(r.attached[2].points.len(), 4);
    // Windows has no such figure: it is not 0.
    assert_eq!(r.totals.figures["iowait_percent"], None);
}

#[test]
fn sums_of_all_disks_stand_for_them_where_they_are_alone() {
    let document = one(include_str!("foreign/totals.tsv"));
    near(figure(&document, "_Total", "transfers_per_s"), 150.5);
    near(figure(&document, "_Total", "transfer_latency_ns"), 500_000.0);
    near(figure(&document, "_Total", "bytes_per_s"), 1_024_000.0);
    // A mean of reads without their number weighs nothing: it is attached as it is.
    assert_eq!(document.conclusion.attached[0].name, r"PhysicalDisk(_Total)\Avg. Disk sec/Read");
}

/// A German Windows named its counters in German, and the file was refused. As Windows writes it,
/// as a spreadsheet saves it again (`;`, decimal commas, German dates), and in a code page of
/// Windows, whose umlauts are lost.
#[test]
fn german_names_are_read() {
    let windows = include_str!("foreign/german.csv");
    let lost = windows.replace(['ä', 'Ü'], "?");
    for text in [windows, include_str!("foreign/german-spreadsheet.csv"), &lost] {
        let document = one(text);
        assert_eq!(document.environment.host.as_ref().unwrap().hostname, "SRV");
        let figure = |name| figure(&document, "0 C:", name);
        near(figure("reads_per_s"), 100.5);
        near(figure("writes_per_s"), 50.0);
        near(figure("read_bytes_per_s"), 823_296.0);
        near(figure("write_bytes_per_s"), 409_600.0);
        near(figure("read_latency_ns"), 250_000.0);
        near(figure("write_latency_ns"), 1_500_000.0);
        near(figure("busy_percent"), 25.0);
        let recording = &document.conclusion;
        let attached: Vec<&str> = recording.attached.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(attached, [r"Prozessor(_Total)\Prozessorzeit (%)"]);
    }
}

/// Of Hungarian names few are known for sure: what is not known is attached, and said.
#[test]
fn names_that_are_not_known_are_attached_and_said() {
    let document = one(include_str!("foreign/hungarian.csv"));
    let recording = &document.conclusion;
    near(figure(&document, "0 C:", "write_bytes_per_s"), 4096.0);
    assert_eq!(figure(&document, "0 C:", "reads_per_s"), None);
    assert_eq!(recording.attached[0].name, r"Fizikai lemez(0 C:)\Valami más");
    let json = serde_json::to_string(&document).unwrap();
    assert!(json.contains("1 counters of disks have names that iosonde does not know"), "{json}");
}

#[test]
fn counters_of_another_language_are_refused_in_a_sentence() {
    let error = recognise(include_str!("foreign/french.csv"), &reading()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("Disque physique"), "{text}");
    assert!(text.contains("Rename the counters in the first line"), "{text}");
}

#[test]
fn several_calls_in_one_file_are_several_recordings() {
    let text = include_str!("foreign/iostat-12.txt");
    let found = all(&format!("{text}{text}").replacen("db7", "db8", 1));
    let hosts: Vec<String> = found
        .documents
        .iter()
        .map(|d| d.environment.host.as_ref().unwrap().hostname.clone())
        .collect();
    assert_eq!(hosts, ["db8", "db7"]);
    assert_ne!(found.documents[0].id, found.documents[1].id);
    // The same text gives the same name.
    assert_eq!(found.documents[1].id, one(text).id);
}

#[test]
fn damage_is_named_with_its_line() {
    let text = include_str!("foreign/iostat-12.txt").replace("2400.00", "24k");
    let error = recognise(&text, &reading()).unwrap_err().to_string();
    assert!(error.contains("`rkB/s` is `24k`"), "{error}");
    assert!(error.starts_with("line 24:"), "{error}");
    let short = include_str!("foreign/sar-12.txt").replace(" 1.07     30.00", "");
    let error = recognise(&short, &reading()).unwrap_err().to_string();
    assert!(error.contains("7 columns where the heading names 9"), "{error}");
}

#[test]
fn a_day_that_may_be_two_is_not_guessed() {
    let text = include_str!("foreign/iostat-12.txt").replace("11/25/26", "03/05/26");
    let document = one(&text);
    assert_eq!(document.started, "2026-11-27T00:00:00Z");
    assert_eq!(document.conclusion.seconds, 10.0);
    assert!(document.warnings[0].contains("the date is that of the file"));
}

#[test]
fn other_texts_are_left_alone() {
    for text in ["", "Device", "Linux 6.1 (x) 11/25/26", "{}", "a,b,c\n1,2,3"] {
        assert_eq!(recognise(text, &reading()), Ok(None), "{text}");
    }
}

const FIXTURES: [&str; 14] = [
    include_str!("foreign/iostat-12.txt"),
    include_str!("foreign/iostat-10.txt"),
    include_str!("foreign/iostat-9.txt"),
    include_str!("foreign/iostat-short.txt"),
    include_str!("foreign/sar-12.txt"),
    include_str!("foreign/sar-9.txt"),
    include_str!("foreign/sar-pretty.txt"),
    include_str!("foreign/typeperf.csv"),
    include_str!("foreign/collector.csv"),
    include_str!("foreign/totals.tsv"),
    include_str!("foreign/german.csv"),
    include_str!("foreign/german-spreadsheet.csv"),
    include_str!("foreign/hungarian.csv"),
    include_str!("foreign/french.csv"),
];

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = recognise(&text, &reading());
    }

    /// A file with one stretch of it replaced by something else.
    #[test]
    fn no_damage_panics(fixture in 0..FIXTURES.len(), at in 0_usize..4000, length in 0_usize..60,
        with in "[0-9:/. ,A-Z\"\n%-]{0,20}") {
        let mut text: Vec<char> = FIXTURES[fixture].chars().collect();
        let at = at % text.len();
        let end = (at + length).min(text.len());
        text.splice(at..end, with.chars());
        let text: String = text.into_iter().collect();
        let reading = Reading { interval_seconds: Some(5.0), ..reading() };
        if let Ok(Some(found)) = recognise(&text, &reading) {
            for document in found.documents {
                let json = serde_json::to_string(&document).unwrap();
                prop_assert!(Document::parse(&json).is_ok());
            }
        }
    }
}
