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
