//! The identities of every recording, whatever the tool: a rate times the time is an amount, reads
//! and writes are the total, bytes are I/Os times the block where there is one.

use proptest::prelude::*;

use crate::foreign::{figure, near, one};

/// What a disk did in intervals of the same length, per second.
#[derive(Debug, Clone)]
struct Truth {
    seconds: u32,
    /// Reads and writes of each interval.
    rates: Vec<(u32, u32)>,
    block_kib: u32,
}

/// The row of an interval: its number from 1, reads, writes, KiB read and written per second.
type Row = fn(&Truth, usize, [u32; 4]) -> String;

/// Every tool: what it prints before its rows, the row of an interval, what it prints after all,
/// whether it counts reads and writes separately, and whether its first row is no interval.
const TOOLS: [(&str, &str, Row, &str, bool, bool); 9] = [
    ("iostat -x", LINUX, iostat, "", true, true),
    ("iostat --pretty", LINUX, iostat_pretty, "", true, true),
    ("iostat", LINUX, iostat_short, "", false, true),
    ("iostat -o JSON", JSON, iostat_json, " {}]}]}}", true, true),
    ("sar -d", SAR, sar, "Average:     sda  1.00  1.00  1.00\n", false, false),
    ("sadf -d", "# hostname;interval;timestamp;DEV;tps;rkB/s;wkB/s\n", sadf, "", false, false),
    ("sadf -j", JSON, sadf_json, " {}]}]}}", false, false),
    ("Performance Monitor", PERFMON, perfmon, "", true, true),
    ("Performance Monitor in German", GERMAN, perfmon_german, "", true, true),
];

const LINUX: &str = "Linux 6.1.0 (db1) \t25.11.2026 \t_x86_64_\t(2 CPU)\n\n";
const SAR: &str = concat!(
    "Linux 6.1.0 (db1) \t25.11.2026 \t_x86_64_\t(2 CPU)\n\n",
    "00:00:00     DEV     tps     rkB/s     wkB/s\n"
);
const JSON: &str =
    r#"{"sysstat": {"hosts": [{"nodename": "db1", "number-of-cpus": 2, "statistics": ["#;
const PERFMON: &str = concat!(
    r#""(PDH-CSV 4.0) (UTC)(0)","\\A\PhysicalDisk(sda)\Disk Reads/sec","#,
    r#""\\A\PhysicalDisk(sda)\Disk Writes/sec","\\A\PhysicalDisk(sda)\Disk Read Bytes/sec","#,
    r#""\\A\PhysicalDisk(sda)\Disk Write Bytes/sec""#,
    "\r\n"
);
const GERMAN: &str = concat!(
    r#""(PDH-CSV 4.0) (UTC)(0)";"\\A\Physikalischer Datenträger(sda)\Lesevorgänge/s";"#,
    r#""\\A\Physikalischer Datenträger(sda)\Schreibvorgänge/s";"#,
    r#""\\A\Physikalischer Datenträger(sda)\Bytes gelesen/s";"#,
    r#""\\A\Physikalischer Datenträger(sda)\Bytes geschrieben/s""#,
    "\r\n"
);

/// The time of day at the end of an interval.
fn clock(truth: &Truth, interval: usize) -> String {
    let all = truth.seconds as usize * interval;
    format!("{:02}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60)
}

fn iostat(t: &Truth, at: usize, [r, w, rkb, wkb]: [u32; 4]) -> String {
    format!(
        "25.11.2026 {}\nDevice  r/s  rkB/s  w/s  wkB/s\n\
         sda  {r}.00  {rkb}.00  {w}.00  {wkb}.00\n\n",
        clock(t, at)
    )
}

fn iostat_pretty(t: &Truth, at: usize, [r, w, rkb, wkb]: [u32; 4]) -> String {
    format!(
        "25.11.2026 {}\n  r/s  rkB/s Device\n {r}.00 {rkb}.00 sda\n\n  w/s  wkB/s Device\n \
         {w}.00 {wkb}.00 sda\n\n",
        clock(t, at)
    )
}

fn iostat_short(t: &Truth, at: usize, [r, w, rkb, wkb]: [u32; 4]) -> String {
    format!(
        "25.11.2026 {}\nDevice  tps  kB_read/s  kB_wrtn/s\nsda  {}.00  {rkb}.00  {wkb}.00\n\n",
        clock(t, at),
        r + w
    )
}

fn iostat_json(t: &Truth, at: usize, [r, w, rkb, wkb]: [u32; 4]) -> String {
    format!(
        r#"{{"timestamp": "25.11.2026 {}", "disk": [{{"disk_device": "sda", "r/s": {r}.0,
        "rkB/s": {rkb}.0, "w/s": {w}.0, "wkB/s": {wkb}.0}}]}},"#,
        clock(t, at)
    )
}

fn sar(t: &Truth, at: usize, [r, w, rkb, wkb]: [u32; 4]) -> String {
    format!("{}     sda     {}.00     {rkb}.00     {wkb}.00\n", clock(t, at), r + w)
}

fn sadf(t: &Truth, at: usize, [r, w, rkb, wkb]: [u32; 4]) -> String {
    let (seconds, clock) = (t.seconds, clock(t, at));
    format!("db1;{seconds};2026-11-25 {clock} UTC;sda;{}.00;{rkb}.00;{wkb}.00\n", r + w)
}

fn sadf_json(t: &Truth, at: usize, [r, w, rkb, wkb]: [u32; 4]) -> String {
    format!(
        r#"{{"timestamp": {{"date": "2026-11-25", "time": "{}", "utc": 1, "interval": {}}},
        "disk": [{{"disk-device": "sda", "tps": {}.0, "rkB": {rkb}.0, "wkB": {wkb}.0}}]}},"#,
        clock(t, at),
        t.seconds,
        r + w
    )
}

fn perfmon(t: &Truth, at: usize, [r, w, rkb, wkb]: [u32; 4]) -> String {
    let (clock, read, written) = (clock(t, at), u64::from(rkb) << 10, u64::from(wkb) << 10);
    format!("\"11/25/2026 {clock}.000\",\"{r}.0\",\"{w}.0\",\"{read}.0\",\"{written}.0\"\r\n")
}

fn perfmon_german(t: &Truth, at: usize, rates: [u32; 4]) -> String {
    perfmon(t, at, rates).replace("\",\"", "\";\"").replace(".0\"", ",0\"")
}

fn text(
    t: &Truth,
    (_, head, row, end, _, has_first): (&str, &str, Row, &str, bool, bool),
) -> String {
    let of = |&(r, w): &(u32, u32)| [r, w, r * t.block_kib, w * t.block_kib];
    // Of the time since the boot, or of an unknown time.
    let first = if has_first { row(t, 0, [7, 7, 7, 7]) } else { String::new() };
    let rows = t.rates.iter().enumerate().map(|(at, rates)| row(t, at + 1, of(rates)));
    format!("{head}{first}{}{end}", rows.collect::<String>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn rates_and_amounts_of_every_tool_agree(
        seconds in 1u32..600, shift in 2u32..10,
        rates in prop::collection::vec((1u32..50_000, 1u32..50_000), 2..6),
    ) {
        let truth = Truth { seconds, rates, block_kib: 1 << shift };
        let reads: u64 = truth.rates.iter().map(|(reads, _)| u64::from(*reads)).sum();
        let writes: u64 = truth.rates.iter().map(|(_, writes)| u64::from(*writes)).sum();
        let all_seconds = u64::from(seconds) * truth.rates.len() as u64;
        for tool in TOOLS {
            let (name, .., is_split, _) = tool;
            let text = text(&truth, tool);
            let document = one(&text);
            let apart = (document.conclusion.seconds - all_seconds as f64).abs();
            prop_assert!(apart < 1e-6, "{}\n{}", name, text);
            let amount = |figure_name: &str, events: u64, unit: u64| {
                let amount = (events * u64::from(seconds) * unit) as f64;
                let figure = figure(&document, "sda", figure_name);
                near(figure.map(|rate| rate * all_seconds as f64), amount);
            };
            let block = u64::from(truth.block_kib) << 10;
            if is_split {
                amount("reads_per_s", reads, 1);
                amount("writes_per_s", writes, 1);
            }
            amount("transfers_per_s", reads + writes, 1);
            amount("read_bytes_per_s", reads, block);
            amount("write_bytes_per_s", writes, block);
            amount("bytes_per_s", reads + writes, block);
        }
    }
}
