//! Recordings of `iostat`, `sar` and Performance Monitor, of several versions and countries.

use counters::DISK_FIELDS;
use jiff::tz::{Offset, TimeZone};
use monitor::foreign::{ForeignError, ForeignRecordings, Reading, recognise};
use proptest::prelude::*;
use results::{Document, Experiment, Recording};

pub(crate) fn reading() -> Reading<'static> {
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

pub(crate) fn one(text: &str) -> Experiment<Recording> {
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

pub(crate) fn figure(document: &Experiment<Recording>, device: &str, name: &str) -> Option<f64> {
    figures(document, device).into_iter().find(|(known, _)| known == name).map(|(_, f)| f)
}

pub(crate) fn near(found: Option<f64>, expected: f64) {
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
    assert!(
        json.contains("does not know these counters of disks in this language: `Valami más`"),
        "{json}"
    );
}

#[test]
fn counters_of_another_language_are_refused_in_a_sentence() {
    let text = "\"(PDH-CSV 4.0)\",\"\\\\SRV\\Fysisk disk(0 C:)\\Disk - skrivna byte/s\"\n";
    let text = recognise(text, &reading()).unwrap_err().to_string();
    assert!(text.contains("Fysisk disk"), "{text}");
    assert!(text.contains("Rename the counters in the first line"), "{text}");
}

/// The file was refused: the counters were to be renamed by hand.
#[test]
fn french_names_are_read() {
    let document = one(include_str!("foreign/french.csv"));
    near(figure(&document, "0 C:", "reads_per_s"), 12.4);
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
    let text = include_str!("foreign/iostat-12.txt").replace("2400.00", "24x");
    let error = recognise(&text, &reading()).unwrap_err().to_string();
    assert!(error.contains("`rkB/s` is `24x`"), "{error}");
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

/// The text of `iostat -xt`: times, with devices and their reads per second.
fn iostat(rows: &[(&str, &[(&str, f64)])]) -> String {
    let reports = rows.iter().map(|(time, devices)| {
        let row = |(device, reads): &(&str, f64)| {
            format!("{device}   {reads:.2}   {:.2}   1.00\n", reads * 8.0)
        };
        let rows: String = devices.iter().map(row).collect();
        format!("\n25.10.2026 {time}\nDevice   r/s   rkB/s   %util\n{rows}\n")
    });
    let heading = "Linux 6.1.0 (db1) \t25.10.2026 \t_x86_64_\t(2 CPU)\n".to_owned();
    std::iter::once(heading).chain(reports).collect()
}

/// 3,000 reads per second "over the whole time", for 300: the rows of idle devices are left out.
#[test]
fn a_device_that_comes_and_goes_was_idle() {
    let busy: &[_] = &[("sda", 5.0), ("sdb", 100.0)];
    let idle: &[_] = &[("sda", 5.0)];
    let document = one(&iostat(&[
        ("10:00:00", busy),
        ("10:00:01", idle),
        ("10:00:02", busy),
        ("10:00:03", idle),
        ("10:00:04", idle),
    ]));
    near(figure(&document, "sdb", "reads_per_s"), 25.0);
    near(figure(&document, "sdb", "busy_percent"), 0.25);
    near(figure(&document, "sdb", "read_size_bytes"), 8192.0);
    assert!(document.warnings.is_empty(), "{:?}", document.warnings);
    // What is plugged in once has no figures before.
    let document = one(&iostat(&[("10:00:00", idle), ("10:00:01", idle), ("10:00:02", busy)]));
    near(figure(&document, "sdb", "reads_per_s"), 100.0);
    assert!(document.warnings[0].contains("lack a device"));

    let row = |time: &str, device: &str| {
        format!("{time}   {device}   50.00   400.00   0.00   8.00   0.05   1.00   5.00\n")
    };
    let sar = [
        "Linux 6.1.0 (db1) \t11/27/26 \t_x86_64_\t(2 CPU)\n\n".to_owned(),
        "19:53:00   DEV   tps   rkB/s   wkB/s   areq-sz   aqu-sz   await   %util\n".to_owned(),
        row("19:53:01", "vda"),
        row("19:53:02", "vda"),
        row("19:53:02", "sdb"),
        row("19:53:03", "vda"),
        // All were idle.
        row("19:53:06", "vda"),
    ];
    let document = one(&sar.concat());
    assert_eq!(document.conclusion.seconds, 6.0);
    near(figure(&document, "vda", "transfers_per_s"), 200.0 / 6.0);
    near(figure(&document, "sdb", "transfers_per_s"), 50.0 / 6.0);
}

/// Of the tables of `--pretty`, only the first was read: writes, queue and busy time were gone.
#[test]
fn a_report_may_have_several_tables() {
    let report = |(time, reads): (&str, &str)| {
        format!(
            "11/27/26 {time}\n  r/s   rkB/s r_await Device\n  {reads}  800.00    0.50 vda\n\n     \
             w/s   wkB/s w_await Device\n   20.00  160.00    2.00 vda\n\n  f/s f_await  aqu-sz  \
             %util Device\n 1.00    3.00    0.20  40.00 vda\n\n\n"
        )
    };
    let reports = [("10:00:00", "9.00"), ("10:00:05", "100.00"), ("10:00:10", "300.00")];
    let reports: String = reports.map(report).concat();
    let text = format!("Linux 6.1.0 (db1) \t11/27/26 \t_x86_64_\t(2 CPU)\n\n{reports}");
    let document = one(&text);
    assert_eq!((document.conclusion.points.len(), document.conclusion.seconds), (2, 10.0));
    near(figure(&document, "vda", "reads_per_s"), 200.0);
    near(figure(&document, "vda", "writes_per_s"), 20.0);
    near(figure(&document, "vda", "write_latency_ns"), 2e6);
    near(figure(&document, "vda", "busy_percent"), 40.0);
}

/// The first interval of `-y` was taken for the time since the system booted.
#[test]
fn with_y_the_first_report_is_an_interval() {
    let busy: &[_] = &[("sda", 60.0)];
    let text = iostat(&[("10:00:05", &[("sda", 30.0)]), ("10:00:10", busy), ("10:00:15", busy)]);
    let text = text.replacen("CPU)\n\n", "CPU)\n\n\n", 1);
    let document = one(&text);
    assert_eq!((document.conclusion.points.len(), document.conclusion.seconds), (3, 15.0));
    assert_eq!(document.started, "2026-10-25T08:00:00Z");
    near(figure(&document, "sda", "reads_per_s"), 50.0);
    let one = iostat(&[("10:00:05", busy)]).replacen("CPU)\n\n", "CPU)\n\n\n", 1);
    assert_eq!(recognise(&one, &reading()), Err(ForeignError::NoTimes));
}

/// A row without its end refused the file, and a number without its last digits was read.
#[test]
fn a_report_that_was_cut_is_left_out() {
    let busy: &[_] = &[("sda", 60.0)];
    let text = iostat(&[("10:00:00", busy), ("10:00:05", busy), ("10:00:10", busy)]);
    let text = text.trim_end();
    assert_eq!(one(text).conclusion.seconds, 10.0);
    for cut in 1..50 {
        let document = one(&text[..text.len() - cut]);
        assert_eq!(document.conclusion.seconds, 5.0, "{cut}");
        let is_told = document.warnings.iter().any(|w| w.contains("in the middle of a row"));
        assert_eq!(is_told, cut < "sda   60.00   480.00   1.00".len(), "{cut}");
    }
    let fenced = format!("```\n{text}\n```\n$ \n");
    assert_eq!(one(&fenced).conclusion.seconds, 10.0);
}

/// An hour back in autumn was taken for midnight: one window of 23 hours.
#[test]
fn an_hour_back_is_not_a_day() {
    let busy: &[_] = &[("sda", 60.0)];
    let text =
        iostat(&[("02:59:58", busy), ("02:59:59", busy), ("02:00:00", busy), ("02:00:01", busy)]);
    for zone in [TimeZone::UTC, TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()] {
        let mut found = recognise(&text, &Reading { zone, ..reading() }).unwrap().unwrap();
        assert_eq!(found.documents.remove(0).conclusion.seconds, 3.0);
    }
    let heading = "Linux 6.1.0 (db1) \t10/25/26 \t_x86_64_\t(2 CPU)\n\n02:40:01   DEV   tps\n";
    let rows = ["02:50:01", "02:00:01", "02:10:01", "02:20:01"];
    let rows = rows.map(|time| format!("{time}   vda   50.00\n")).concat();
    let document = one(&format!("{heading}{rows}"));
    assert_eq!(document.conclusion.seconds, 2400.0);
}

#[test]
fn chinese_and_japanese_times_are_read() {
    let row = "Device   r/s   rkB/s   %util\nvda   9.00   72.00   1.00\n\n";
    let text = format!(
        "Linux 6.1.0 (db1) \t2026年11月27日 \t_x86_64_\t(2 CPU)\n\n2026年11月27日 18時33分48秒\n{row}\
         2026年11月27日 18時33分53秒\n{row}"
    );
    for text in [text.replace('時', "时"), text] {
        let document = one(&text);
        assert_eq!(document.started, "2026-11-27T16:33:48Z");
        assert_eq!(document.conclusion.seconds, 5.0);
    }
    let sar = "Linux 6.1.0 (db1) \t2026年11月27日 \t_x86_64_\t(2 CPU)\n\n18時33分48秒   DEV   tps\n\
               18時33分49秒   vda   399.00\n平均時間:   vda   607.91\n";
    near(figure(&one(sar), "vda", "transfers_per_s"), 399.0);
}

/// "Not a result of iosonde": the same figures as in the text.
#[test]
fn the_json_of_iostat_is_read() {
    let report = |time: &str, reads: f64| {
        format!(
            r#"{{"timestamp": "11/27/26 {time}", "avg-cpu": {{"user": 10.0, "nice": 0.0,
             "system": 10.0, "iowait": 5.0, "steal": 0.0, "idle": 75.0}}, "disk": [{{
             "disk_device": "vda", "r/s": {reads}, "rkB/s": 800.0, "rrqm": 1.0, "util": 40.0}}]}}"#
        )
    };
    let reports = [report("10:00:00", 9.0), report("10:00:05", 100.0), report("10:00:10", 300.0)];
    let text = format!(
        r#"{{"sysstat": {{"hosts": [{{"nodename": "db1", "sysname": "Linux", "number-of-cpus": 2,
         "date": "11/27/26", "statistics": [{}]}}]}}}}"#,
        reports.join(",\n")
    );
    let document = one(&text);
    assert_eq!(document.environment.host.as_ref().unwrap().hostname, "db1");
    assert_eq!((document.conclusion.points.len(), document.conclusion.seconds), (2, 10.0));
    near(figure(&document, "vda", "reads_per_s"), 200.0);
    near(figure(&document, "vda", "busy_percent"), 40.0);
    near(document.conclusion.totals.figures["cpu_percent"], 20.0);
    // Of a tool that was killed: refused as a whole, once.
    let last = text.rfind("\"disk\"").unwrap();
    for (end, reads_per_s) in [(text.len() - 4, 200.0), (last, 100.0)] {
        let cut = one(&text[..end]);
        near(figure(&cut, "vda", "reads_per_s"), reads_per_s);
        assert!(cut.warnings[0].starts_with("the JSON ends in the middle"), "{cut:?}");
    }
    let wrong = recognise(&text.replace("\"util\"", "util"), &reading());
    assert!(matches!(wrong, Err(ForeignError::Line { line: 4, .. })), "{wrong:?}");
}

const PERFMON: &str = "\"(PDH-CSV 4.0) (GMT Standard Time)(0)\",\
    \"\\\\SQL01\\PhysicalDisk(1 D:)\\Disk Reads/sec\",\
    \"\\\\SQL01\\PhysicalDisk(1 D:)\\Disk Read Bytes/sec\"\n";

/// A second heading was a row without a time, and the hour before it one window.
#[test]
fn a_second_heading_of_performance_monitor_begins_a_second_recording() {
    let rows = |hour: u32, reads: u32| {
        let row = |second: u32| {
            format!("\"11/25/2026 {hour}:00:{second:02}.000\",\"{reads}\",\"{}\"\n", reads * 8192)
        };
        format!("{PERFMON}{}{}", row(0), row(5))
    };
    let found = all(&(rows(14, 200) + &rows(15, 300)));
    assert_eq!((found.documents.len(), found.notes.len()), (2, 0));
    for (document, reads) in found.documents.iter().zip([200.0, 300.0]) {
        assert_eq!(document.conclusion.seconds, 5.0);
        near(figure(document, "1 D:", "reads_per_s"), reads);
    }
}

/// `"204`, of `"2048000"`, counted as 204.
#[test]
fn a_row_of_performance_monitor_that_was_cut_is_left_out() {
    let row = |second: u32| format!("\"11/25/2026 14:00:{second:02}.000\",\"250\",\"2048000\"\n");
    let text = format!("{PERFMON}{}{}{}", row(0), row(5), row(10));
    assert_eq!(one(text.trim_end()).conclusion.seconds, 10.0);
    for cut in 2..row(10).len() - 26 {
        let found = all(&text[..text.len() - cut]);
        assert_eq!(found.documents[0].conclusion.seconds, 5.0, "{cut}");
        assert!(found.notes[0].contains("ends in the middle"), "{cut}: {:?}", found.notes);
    }
}
