//! Amounts that a device moved, from the rates in a row of a table.

use counters::{Amount, CpuTally, DiskTally, Unreported};

/// The largest amount that is taken; a larger one means a damaged file.
pub(super) const AMOUNT_MAX: f64 = 9e18;
const SECTOR: f64 = 512.0;
const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

/// A number as a tool prints it, with a point or a comma; `None` if it is not a number, or below 0.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let read = match text.split_once(',') {
        Some((whole, rest)) if !whole.contains('.') && !rest.contains(['.', ',']) => {
            format!("{whole}.{rest}").parse()
        }
        _ => text.parse(),
    };
    read.ok().filter(|number: &f64| plain && number.is_finite() && *number < AMOUNT_MAX)
}

/// A number of sysstat, also as it writes for people (`-h`): `14.8%`, and kibibytes as `0.5k` or
/// `10.2M`.
fn sysstat_number(text: &str) -> Option<f64> {
    let text = text.strip_suffix('%').unwrap_or(text);
    let unit = [("B", 1.0 / KIB), ("k", 1.0), ("M", KIB), ("G", MIB), ("T", MIB * KIB)];
    let unit = unit.iter().find_map(|(name, kib)| Some((text.strip_suffix(name)?, *kib)));
    let (text, kib) = unit.unwrap_or((text, 1.0));
    number(text).map(|number| number * kib)
}

/// The figure in a cell of sysstat; `None` where it printed `nan`, which it does not know.
pub(super) fn sysstat_cell(column: &str, cell: &str) -> Result<Option<f64>, String> {
    match sysstat_number(cell) {
        None if cell.trim_start_matches('-').starts_with("nan") => Ok(None),
        None => Err(format!("`{column}` is `{cell}`, which is not a number")),
        figure => Ok(figure),
    }
}

/// Whether the last line of a file without its end is a row that was cut, given its cells, the
/// number of columns and the column of the name: it lacks cells, or its last number lacks digits
/// that the first one has. A number without decimals, and a name, do not show it.
pub(super) fn is_cut_row(cells: &[&str], columns: usize, name: Option<usize>) -> bool {
    let decimals =
        |cell: &&str| cell.split_once(['.', ',']).map_or(0, |(_, decimals)| decimals.len());
    let first = if name == Some(0) { cells.get(1) } else { cells.first() };
    let usual = first.map_or(0, decimals);
    let ends_in_name = name.is_some_and(|place| place > 0 && place + 1 == columns);
    cells.len() != columns
        || ends_in_name
        || usual == 0
        || cells.last().map(decimals) != Some(usual)
}

/// An amount as a whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
pub(super) fn whole(amount: f64) -> u64 {
    amount.clamp(0.0, AMOUNT_MAX).round() as u64
}

/// Rates of a device in one interval, with latencies in nanoseconds; `None` for what the tool does
/// not report.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) reads: Option<f64>,
    pub(super) writes: Option<f64>,
    pub(super) transfers: Option<f64>,
    pub(super) read_bytes: Option<f64>,
    pub(super) written_bytes: Option<f64>,
    pub(super) transfer_bytes: Option<f64>,
    pub(super) read_ns: Option<f64>,
    pub(super) write_ns: Option<f64>,
    pub(super) transfer_ns: Option<f64>,
    pub(super) read_merges: Option<f64>,
    pub(super) write_merges: Option<f64>,
    pub(super) queue: Option<f64>,
    pub(super) busy_percent: Option<f64>,
    pub(super) in_flight: Option<f64>,
    pub(super) splits: Option<f64>,
    pub(super) discards: Option<f64>,
    pub(super) discarded_bytes: Option<f64>,
    pub(super) discard_ns: Option<f64>,
    pub(super) flushes: Option<f64>,
    pub(super) flush_ns: Option<f64>,
}

impl Rates {
    /// The amounts of an interval of this length.
    pub(super) fn tally(&self, seconds: f64) -> DiskTally {
        let amount = |rate: Option<f64>| rate.map(|rate| whole(rate * seconds));
        let ms = |ns: Option<f64>, events: Option<u64>| {
            ns.zip(events).map_or(0, |(ns, events)| whole(ns * events as f64 / 1e6))
        };
        let mut t = DiskTally { unreported: Unreported::all(), ..DiskTally::default() };
        let unreported = &mut t.unreported;
        let mut set = |place: &mut u64, kind: Amount, amount: Option<u64>| {
            if let Some(amount) = amount {
                *place = amount;
                unreported.report(kind);
            }
        };
        let (reads, writes) = (amount(self.reads), amount(self.writes));
        set(&mut t.reads, Amount::Reads, reads);
        set(&mut t.writes, Amount::Writes, writes);
        set(&mut t.read_bytes, Amount::ReadBytes, amount(self.read_bytes));
        set(&mut t.written_bytes, Amount::WrittenBytes, amount(self.written_bytes));
        set(&mut t.read_merges, Amount::ReadMerges, amount(self.read_merges));
        set(&mut t.write_merges, Amount::WriteMerges, amount(self.write_merges));
        set(&mut t.queue_ms, Amount::Queue, amount(self.queue.map(|queue| queue * 1e3)));
        set(&mut t.busy_ms, Amount::Busy, amount(self.busy_percent.map(|p| p.min(100.0) * 10.0)));
        set(&mut t.in_flight, Amount::InFlight, self.in_flight.map(whole));
        let time = |latency: Option<f64>, events: Option<u64>| {
            latency.zip(events).map(|(ns, events)| whole(ns * events as f64))
        };
        let (read_ns, write_ns) = (time(self.read_ns, reads), time(self.write_ns, writes));
        set(&mut t.read_ms, Amount::ReadTime, read_ns.map(|ns| ns / 1_000_000));
        set(&mut t.write_ms, Amount::WriteTime, write_ns.map(|ns| ns / 1_000_000));
        t.read_rest_ns = read_ns.unwrap_or(0) % 1_000_000;
        t.write_rest_ns = write_ns.unwrap_or(0) % 1_000_000;
        let both = reads.zip(writes).map(|(reads, writes)| reads.saturating_add(writes));
        let transfers = both.or(amount(self.transfers));
        t.transfers = transfers.filter(|_| both.is_none());
        if self.read_bytes.is_none() || self.written_bytes.is_none() {
            t.transfer_bytes = amount(self.transfer_bytes);
        }
        if read_ns.is_none() || write_ns.is_none() {
            t.transfer_ns = time(self.transfer_ns, transfers);
        }
        t.splits = amount(self.splits);
        t.discards = amount(self.discards);
        t.discarded_bytes = amount(self.discarded_bytes).unwrap_or(0);
        t.discard_ms = ms(self.discard_ns, t.discards);
        t.flushes = amount(self.flushes);
        t.flush_ms = ms(self.flush_ns, t.flushes);
        t
    }
}

/// The columns of sysstat's tables, of every version, as rates.
pub(super) fn sysstat_rates(cell: impl Fn(&str) -> Option<f64>) -> Rates {
    let bytes = |names: &[(&str, f64)]| {
        names.iter().find_map(|(name, bytes)| cell(name).map(|rate| rate * bytes))
    };
    let ns = |name: &str| cell(name).map(|ms| ms * 1e6);
    Rates {
        reads: cell("r/s"),
        writes: cell("w/s"),
        transfers: cell("tps"),
        read_bytes: bytes(&[
            ("rkB/s", KIB),
            ("rMB/s", MIB),
            ("rsec/s", SECTOR),
            ("rd_sec/s", SECTOR),
            ("kB_read/s", KIB),
            ("MB_read/s", MIB),
            ("Blk_read/s", SECTOR),
        ]),
        written_bytes: bytes(&[
            ("wkB/s", KIB),
            ("wMB/s", MIB),
            ("wsec/s", SECTOR),
            ("wr_sec/s", SECTOR),
            ("kB_wrtn/s", KIB),
            ("MB_wrtn/s", MIB),
            ("Blk_wrtn/s", SECTOR),
        ]),
        read_ns: ns("r_await"),
        write_ns: ns("w_await"),
        transfer_ns: ns("await"),
        read_merges: cell("rrqm/s"),
        write_merges: cell("wrqm/s"),
        queue: cell("aqu-sz").or_else(|| cell("avgqu-sz")),
        busy_percent: cell("%util"),
        discards: cell("d/s"),
        discarded_bytes: bytes(&[("dkB/s", KIB), ("dMB/s", MIB), ("dsec/s", SECTOR)]),
        discard_ns: ns("d_await"),
        flushes: cell("f/s"),
        flush_ns: ns("f_await"),
        ..Rates::default()
    }
}

/// What the processors did, from sysstat's shares in percent; `None` if they are not all there.
/// Ticks are those of the kernel, 10 ms each.
pub(super) fn sysstat_cpu(
    cell: impl Fn(&str) -> Option<f64>,
    seconds: f64,
    cpus: Option<u32>,
) -> Option<CpuTally> {
    let all = seconds * f64::from(cpus.unwrap_or(1)) * 100.0;
    let (idle, iowait, steal) = (cell("%idle")?, cell("%iowait")?, cell("%steal")?);
    let ticks = |percent: f64| whole(all * percent / 100.0);
    Some(CpuTally {
        busy_ticks: ticks((100.0 - idle - iowait).max(0.0)),
        iowait_ticks: Some(ticks(iowait)),
        steal_ticks: Some(ticks(steal)),
        ticks: whole(all),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use counters::{DISK_FIELDS, Span};
    use proptest::prelude::*;

    /// `-nan`, which sysstat prints where it divides by zero, refused the file.
    #[test]
    fn a_figure_that_sysstat_does_not_know_is_absent() {
        for (cell, figure) in [("12,5", Some(12.5)), ("nan", None), ("-nan", None), ("-nan%", None)]
        {
            assert_eq!(sysstat_cell("await", cell), Ok(figure), "{cell}");
        }
        assert!(sysstat_cell("await", "-1").is_err());
    }

    #[test]
    fn numbers_have_a_point_or_a_comma() {
        for (text, read) in [
            ("12.50", Some(12.5)),
            (" 12,50 ", Some(12.5)),
            (".5", Some(0.5)),
            ("1.5e-05", Some(1.5e-5)),
            ("-1", None),
            ("1,234.5", None),
            ("inf", None),
            ("nan", None),
            ("1e300", None),
            ("", None),
        ] {
            assert_eq!(number(text), read, "{text}");
        }
    }

    /// What a tool does not report was 0 in every table: a `sar` that does not tell reads from
    /// writes would show a disk without either.
    #[test]
    fn what_is_not_reported_has_no_figure() {
        let sar = Rates {
            transfers: Some(40.0),
            transfer_ns: Some(2e6),
            read_bytes: Some(4096.0),
            written_bytes: Some(0.0),
            ..Rates::default()
        };
        let tally = sar.tally(10.0);
        let span = Span { seconds: 10.0, readings: 1 };
        let known: Vec<(&str, f64)> =
            DISK_FIELDS.iter().filter_map(|f| Some((f.name, f.of(&tally, span)?))).collect();
        assert_eq!(
            known,
            [
                ("read_bytes_per_s", 4096.0),
                ("write_bytes_per_s", 0.0),
                ("transfers_per_s", 40.0),
                ("transfer_latency_ns", 2e6),
                ("bytes_per_s", 4096.0),
            ]
        );
        // Sums know no more than their parts.
        let mut sum = tally;
        sum.add(&tally);
        assert_eq!(sum.all_transfers(), Some(800));
        assert_eq!(sum.reported(Amount::Reads), None);
        let json = serde_json::to_string(&sum).unwrap();
        assert_eq!(serde_json::from_str::<DiskTally>(&json).unwrap(), sum);
    }

    proptest! {
        /// A figure of one interval is what the tool printed.
        #[test]
        fn figures_of_an_interval_are_those_that_were_printed(
            reads in 1_u32..100_000, latency_us in 1_u32..10_000_000, seconds in 1_u32..600) {
            let rates = Rates {
                reads: Some(f64::from(reads)),
                read_ns: Some(f64::from(latency_us) * 1e3),
                ..Rates::default()
            };
            let span = Span { seconds: f64::from(seconds), readings: 1 };
            let tally = rates.tally(span.seconds);
            let figure = |name| counters::disk_field(name).unwrap().of(&tally, span).unwrap();
            prop_assert!((figure("reads_per_s") - f64::from(reads)).abs() < 1e-6);
            let ns = f64::from(latency_us) * 1e3;
            prop_assert!((figure("read_latency_ns") - ns).abs() < 1.0);
        }

        #[test]
        fn no_text_panics(text in ".{0,30}") {
            let _ = number(&text);
        }
    }
}
