//! Forms of sysstat beside its usual text: `sadf` and figures for people (`-h`).

use monitor::foreign::recognise;

use crate::foreign::{figure, near, one, reading};

const SADF: &str = "\
# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s;dkB/s;areq-sz;aqu-sz;await;%util
vm;1;2026-11-28 12:44:01 UTC;vda;2663.00;10496.00;33588.00;24576.00;25.78;0.26;0.09;14.80
vm;1;2026-11-28 12:44:02 UTC;vda;10922.00;109312.00;160828.00;120144.00;35.73;1.62;0.14;66.00
# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle
vm;1;2026-11-28 12:44:01 UTC;-1;20.00;0.00;5.00;5.00;0.00;70.00
vm;1;2026-11-28 12:44:02 UTC;-1;20.00;0.00;5.00;5.00;0.00;70.00
";

const SADF_JSON: &str = r#"{"sysstat": {"hosts": [{"nodename": "vm", "number-of-cpus": 2,
"statistics": [
{"timestamp": {"date": "2026-11-28", "time": "12:44:01", "utc": 1, "interval": 1},
"cpu-load": [{"cpu": "all", "user": 20.0, "iowait": 5.0, "steal": 0.0, "idle": 70.0}],
"disk": [{"disk-device": "vda", "tps": 2663.00, "rkB": 10496.00, "wkB": 33588.00,
"aqu-sz": 0.26, "await": 0.09, "util-percent": 14.80}]},
{"timestamp": {"date": "2026-11-28", "time": "12:44:02", "utc": 1, "interval": 1},
"cpu-load": [{"cpu": "all", "user": 20.0, "iowait": 5.0, "steal": 0.0, "idle": 70.0}],
"disk": [{"disk-device": "vda", "tps": 10922.00, "rkB": 109312.00, "wkB": 160828.00,
"aqu-sz": 1.62, "await": 0.14, "util-percent": 66.00}]}
]}]}}"#;

/// None of the known formats, it was said.
#[test]
fn the_lines_and_the_json_of_sadf_are_recordings() {
    let seconds = SADF.replace("2026-11-28 12:44:01 UTC", "1795869841");
    let seconds = seconds.replace("2026-11-28 12:44:02 UTC", "1795869842");
    for text in [SADF, &SADF.replace(" UTC", ""), &seconds, SADF_JSON] {
        let document = one(text);
        assert_eq!(document.environment.host.as_ref().unwrap().hostname, "vm");
        // Without a zone, it is that of this system.
        let local = !text.contains("UTC") && text.contains("12:44:01;");
        let hour = if local { 10 } else { 12 };
        assert_eq!(document.started, format!("2026-11-28T{hour}:44:00Z"), "{text}");
        near(figure(&document, "vda", "transfers_per_s"), 6792.5);
        near(figure(&document, "vda", "read_bytes_per_s"), 59_904.0 * 1024.0);
        near(figure(&document, "vda", "busy_percent"), 40.4);
        near(document.conclusion.totals.figures["iowait_percent"], 5.0);
    }
    let cut = SADF.strip_suffix("0.00;70.00\n").unwrap();
    assert_eq!(one(cut).conclusion.windows, one(SADF).conclusion.windows);
    let broken = SADF.replacen(";66.00", "", 1);
    let error = recognise(&broken, &reading()).unwrap_err().to_string();
    assert!(error.contains("line 3: 11 columns where the heading names 12"), "{error}");
}

/// Refused, since `10.2M` and `14.8%` were no numbers.
#[test]
fn figures_for_people_are_read() {
    let sar = "\
Linux 6.18 (vm) \t11/28/26 \t_x86_64_\t(2 CPU)

12:44:00          tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util DEV
12:44:01      2663.00     10.2M     32.8M     24.0M     25.8k      0.26      0.09     14.8% vda
12:44:02     10922.00    106.7M    157.1M    117.3M      0.5k      1.62      0.14     66.0% vda
";
    let document = one(sar);
    near(figure(&document, "vda", "transfers_per_s"), 6792.5);
    near(figure(&document, "vda", "busy_percent"), 40.4);
    near(figure(&document, "vda", "read_bytes_per_s"), 58.45 * 1_048_576.0);
    let iostat = "\
Linux 6.18 (vm) \t11/28/26 \t_x86_64_\t(2 CPU)

11/28/26 12:44:03
     r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device
    1.00      4.0k     0.00   0.0%    0.60     4.0k vda

11/28/26 12:44:04
     r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz Device
 1187.00     20.3M    35.00   2.9%    0.60    17.5k vda
";
    let document = one(iostat);
    near(figure(&document, "vda", "reads_per_s"), 1187.0);
    near(figure(&document, "vda", "read_bytes_per_s"), 20.3 * 1_048_576.0);
}

/// "None of the formats", which sent people looking for a fault in the file.
#[test]
fn tables_without_disks_are_named() {
    let sar = "\
Linux 6.18 (vm) \t11/28/26 \t_x86_64_\t(2 CPU)

12:45:45        CPU     %user     %nice   %system   %iowait    %steal     %idle
12:45:46        all     93.50      1.00      5.50      0.00      0.00      0.00
12:45:46          1      0.00
";
    let (_, lines) = SADF.split_at(SADF.find("# hostname;interval;timestamp;CPU").unwrap());
    for text in [sar, lines] {
        let error = recognise(text, &reading()).unwrap_err().to_string();
        assert!(error.contains("tables of sar, and none of disks"), "{error}");
    }
}

/// A row of a processor that was switched off refused the file.
#[test]
fn short_rows_of_processors_are_left_out() {
    let text = "\
Linux 6.18 (vm) \t11/28/26 \t_x86_64_\t(2 CPU)

12:45:45        CPU     %user     %nice   %system   %iowait    %steal     %idle
12:45:46        all     20.00      0.00      5.00      5.00      0.00     70.00
12:45:46          1      0.00

12:45:45          DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util
12:45:46          vda    100.00    400.00      0.00      4.00      0.10      1.00     10.00
";
    let document = one(text);
    near(figure(&document, "vda", "transfers_per_s"), 100.0);
    near(document.conclusion.totals.figures["iowait_percent"], 5.0);
}

/// JSON of a tool that was killed was refused as a whole.
#[test]
fn json_that_was_cut_has_its_whole_intervals() {
    let second = SADF_JSON.rfind("{\"timestamp\"").unwrap();
    let first_only = SADF_JSON.get(..SADF_JSON.rfind(',').unwrap()).unwrap();
    // Anywhere in the second interval, and just before it.
    for end in [second - 2, second, second + 40, first_only.len(), SADF_JSON.len() - 6] {
        let Some(text) = SADF_JSON.get(..end) else { continue };
        let document = one(text);
        let is_whole = end == SADF_JSON.len() - 6;
        near(figure(&document, "vda", "transfers_per_s"), if is_whole { 6792.5 } else { 2663.0 });
        assert!(document.warnings[0].starts_with("the JSON ends in the middle"), "{end}");
    }
    // Two runs in one file, and one that ended in its first interval.
    assert_eq!(one(SADF_JSON).warnings, Vec::<String>::new());
    let twice = recognise(&format!("{SADF_JSON}\n{SADF_JSON}"), &reading()).unwrap().unwrap();
    assert_eq!(twice.documents.len(), 2);
    let nothing = SADF_JSON.get(..SADF_JSON.find("\"disk\"").unwrap()).unwrap();
    assert!(recognise(nothing, &reading()).is_err());
}

const LINUX: &str = "Linux 6.1.0 (db1) \t25.11.2026 \t_x86_64_\t(2 CPU)\n\n";

/// The interval and `-z` were in the line above, and `--interval` had to be given all the same; a
/// disk that was idle at the end had the figures of its busy part.
#[test]
fn the_call_above_the_reports_is_read() {
    let report = |rows: &[(&str, u32)]| {
        let rows = rows.iter().map(|(disk, reads)| format!("{disk}  {reads}.00  {reads}.00\n"));
        format!("Device  r/s  rkB/s\n{}\n", rows.collect::<String>())
    };
    let first = report(&[("sda", 1), ("sdb", 1)]);
    let busy = report(&[("sda", 400), ("sdb", 100)]);
    let half = report(&[("sda", 200)]);
    let reports = format!("{LINUX}{first}{busy}{half}");
    let error = recognise(&reports, &reading()).unwrap_err().to_string();
    assert!(error.contains("as in `--interval 5`"), "{error}");
    let document = one(&format!("root@db1:~# iostat -x 30 3 | tee x.log\n{reports}"));
    assert_eq!(document.conclusion.seconds, 60.0);
    near(figure(&document, "sda", "reads_per_s"), 300.0);
    near(figure(&document, "sdb", "reads_per_s"), 100.0);
    let document = one(&format!("```\n$ iostat -xz 30\n{reports}```\n"));
    near(figure(&document, "sdb", "reads_per_s"), 50.0);
    // The first report is an interval, too, and the table that was cut is none.
    let text = format!("$ iostat -xyz 30\n{LINUX}{busy}{half}Device  r/s  rk");
    let document = one(&text);
    assert_eq!(document.conclusion.seconds, 60.0);
    near(figure(&document, "sdb", "reads_per_s"), 50.0);
    // Each session has its call.
    let both = format!("$ iostat -x 30\n{reports}$ iostat -x 10\n{reports}");
    let found = recognise(&both, &reading()).unwrap().unwrap();
    let seconds: Vec<f64> = found.documents.iter().map(|d| d.conclusion.seconds).collect();
    assert_eq!(seconds, [60.0, 20.0]);
}

const SAR: &str = "10:00:00   DEV   tps   rkB/s\n\
                   10:10:00   sda   100.00   800.00\n10:10:00   sdb   50.00   400.00\n\
                   10:20:00   sda   100.00   800.00\n10:20:00   sdb   50.00   400.00\n";

/// A last row without its end refused the file, and a number without its last digits was read. Of
/// the other devices in its interval, one would be idle under `-z`.
#[test]
fn a_row_of_sar_that_was_cut_is_left_out_with_its_interval() {
    let sadf = "# hostname;interval;timestamp;DEV;tps;rkB/s\n\
                vm;600;2026-11-28 10:10:00 UTC;sda;100.00;800.00\n\
                vm;600;2026-11-28 10:10:00 UTC;sdb;50.00;400.00\n\
                vm;600;2026-11-28 10:20:00 UTC;sda;100.00;800.00\n\
                vm;600;2026-11-28 10:20:00 UTC;sdb;50.00;400.00\n";
    for text in [&format!("{LINUX}{SAR}"), sadf] {
        let whole = text.trim_end();
        assert_eq!(one(whole).conclusion.seconds, 1200.0, "{whole}");
        let row = whole.lines().next_back().unwrap();
        for cut in 1..row.len() {
            let document = one(&whole[..whole.len() - cut]);
            assert_eq!(document.conclusion.seconds, 600.0, "{cut}: {text}");
            near(figure(&document, "sdb", "transfers_per_s"), 50.0);
            assert!(document.warnings[0].contains("in the middle of a row"), "{document:?}");
        }
    }
    let with_averages = format!("{LINUX}{SAR}Average:   sda   100.00   800");
    assert_eq!(one(&with_averages).conclusion.seconds, 1200.0);
}

/// Where one disk alone was busy, 20 minutes without a row were one long busy interval.
#[test]
fn the_call_of_sar_tells_that_idle_rows_are_omitted() {
    let rows = ["10:10:00", "10:20:00", "10:40:00"].map(|time| format!("{time}   sda   100.00\n"));
    let text = format!("{LINUX}10:00:00   DEV   tps\n{}", rows.concat());
    near(figure(&one(&text), "sda", "transfers_per_s"), 100.0);
    near(figure(&one(&format!("$ sar -d -z\n{text}")), "sda", "transfers_per_s"), 75.0);
}

/// `-nan` refused the file. Its figure is unknown, and the others count.
#[test]
fn what_sysstat_prints_as_nan_is_unknown() {
    let text = format!("{LINUX}{SAR}").replace("800.00", "-nan");
    let document = one(&text);
    assert_eq!(figure(&document, "sda", "read_bytes_per_s"), None);
    near(figure(&document, "sda", "transfers_per_s"), 100.0);
    let json = SADF_JSON.replace("\"await\": 0.09", "\"await\": -nan");
    near(figure(&one(&json), "vda", "transfers_per_s"), 6792.5);
    let damaged = SADF_JSON.replace("\"rkB\": 10496.00", "\"rkB\"");
    let error = recognise(&damaged, &reading()).unwrap_err().to_string();
    assert!(error.contains("line 5: ") && error.contains("as sysstat writes it"), "{error}");
}
