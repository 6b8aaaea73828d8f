//! The document of what the operating system's counters showed while `iosonde monitor` watched,
//! `iosonde.recording/1`.

use std::collections::BTreeMap;

use counters::{
    BlockDevice, CoreTally, DISK_FIELDS, DiskTally, Field, SYSTEM_FIELDS, Span, SystemTally, Unit,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{show_ns, show_number};

use crate::experiment::Conclusion;
use crate::measurement::Measurement;

/// Figures by their names, as in `counters::DISK_FIELDS`; absent if there is nothing to report.
pub type Figures = BTreeMap<String, Option<f64>>;

/// What the counters of a system showed over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recording {
    /// The name that the user gave it; empty without one.
    pub name: String,
    /// Time between two samples in nanoseconds, as asked.
    pub interval_ns: u64,
    /// Length of all windows together in seconds.
    pub seconds: f64,
    /// Windows that were watched; a point of a long recording holds several of them.
    pub windows: u64,
    /// The devices that were watched, upper layers before the devices under them.
    pub devices: Vec<BlockDevice>,
    /// What happened, in rising order of time.
    pub points: Vec<RecordedPoint>,
    /// All of it together: sums, and figures that weigh by I/Os.
    pub totals: RecordedTotals,
    /// The databases that were watched, and the devices that their files are on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<RecordedDatabase>,
    /// The command during which it was recorded; absent without a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<RecordedCommand>,
    /// Where in the recording the measurements of the document were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RecordedRun>,
    /// Limits that were watched, and when they were exceeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alerts: Vec<RecordedAlert>,
    /// Figures from other files, on the same time axis.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<AttachedSeries>,
}

/// What happened in one or several windows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedPoint {
    /// End of its last window, in seconds from the start of the recording.
    pub t: f64,
    /// Length of its windows in seconds.
    pub seconds: f64,
    /// How many windows it joins.
    pub windows: u32,
    /// What each device did. A device that did nothing is left out.
    pub disks: BTreeMap<String, DiskTally>,
    /// Devices without figures: they came, went, their counters were reset, or their I/O is not
    /// counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What the processors and the memory did.
    pub system: SystemTally,
    /// What others counted, such as databases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<RecordedRow>,
}

/// What a database counted in a window, for one file or object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedRow {
    /// The source that counted, such as `postgres://db1/app`.
    pub source: String,
    /// The file or object that was counted.
    pub object: String,
    /// Length of its own window in seconds.
    pub seconds: f64,
    /// Reads; absent if they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Writes; absent if they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// Bytes read; absent if they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes: Option<u64>,
    /// Bytes written; absent if they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Sum of the times of all reads in nanoseconds; absent if times are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ns: Option<f64>,
    /// Sum of the times of all writes in nanoseconds; absent if times are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_ns: Option<f64>,
    /// Flushes to stable media; absent if they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncs: Option<u64>,
    /// Sum of their times in nanoseconds; absent if times are not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_ns: Option<f64>,
    /// Reads whose times are in `read_ns`; absent if those are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_reads: Option<u64>,
    /// Writes whose times are in `write_ns`; absent if those are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_writes: Option<u64>,
    /// Flushes whose times are in `sync_ns`; absent if those are all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_syncs: Option<u64>,
    /// What else it counted, by name: amounts in the window, the unit last in the name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, f64>,
}

/// Everything that was recorded, summed up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedTotals {
    /// Each device that had figures, by name.
    pub disks: BTreeMap<String, DiskTotal>,
    /// What the processors and the memory did.
    pub system: SystemTally,
    /// The figures that follow from that, by name.
    pub figures: Figures,
    /// What each processor did; empty if that was not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<CoreTally>,
    /// What others counted, each object once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<RecordedRow>,
}

/// What one device did over the whole recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskTotal {
    /// Length of the windows in which it had figures.
    pub seconds: f64,
    /// What was counted for it, as amounts.
    pub tally: DiskTally,
    /// The figures that follow from them, by name.
    pub figures: Figures,
}

/// A database that was watched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedDatabase {
    /// The source of its rows.
    pub source: String,
    /// The devices that count the I/O to its files; empty if it is on another host, or its
    /// directory could not be seen.
    pub devices: Vec<String>,
}

/// The command that ran during a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedCommand {
    /// The program and its arguments, one text each.
    pub line: Vec<String>,
    /// Its exit code; absent if a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

/// Where in a recording a measurement was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedRun {
    /// Its place among the measurements of the document.
    pub measurement: usize,
    /// Beginning of the windows that are compared with it, in seconds from the start of the
    /// recording.
    pub from_s: f64,
    /// The end of those windows, in seconds from the start of the recording.
    pub to_s: f64,
    /// How those windows were found.
    pub found: FoundBy,
}

/// How the place of a measurement in a recording was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// By the time at which it began.
    Time,
    /// As the stretch of its length in which the device did the most.
    Activity,
}

/// A limit that was watched, and when it was exceeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedAlert {
    /// The condition as it was written.
    pub condition: String,
    /// Every time that it came true.
    pub times: Vec<AlertTime>,
}

/// A time during which a condition held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AlertTime {
    /// The device; absent if the figure is of the host.
    pub device: Option<String>,
    /// Since when, in seconds from the start of the recording. The time that the condition asks for
    /// is included.
    pub from_s: f64,
    /// Until when; absent if it held to the end.
    pub to_s: Option<f64>,
    /// The worst figure in that time.
    pub worst: f64,
}

/// A column of a table that another tool wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttachedSeries {
    /// Name of the file, without its directory.
    pub file: String,
    /// Heading of the column in the file.
    pub name: String,
    /// Seconds from the start of the recording, and the figure.
    pub points: Vec<(f64, f64)>,
}

impl RecordedPoint {
    /// The time that its amounts were counted over.
    #[must_use]
    pub fn span(&self) -> Span {
        Span { seconds: self.seconds, readings: self.windows }
    }

    /// Joins the next point to this one.
    pub fn join(&mut self, next: Self) {
        self.t = next.t;
        self.seconds += next.seconds;
        self.windows = self.windows.saturating_add(next.windows);
        for (device, tally) in next.disks {
            self.disks.entry(device).or_default().add(&tally);
        }
        for device in next.missing {
            if !self.missing.contains(&device) {
                self.missing.push(device);
            }
        }
        self.system.add(&next.system);
        for row in next.rows {
            row.put_into(&mut self.rows);
        }
        // A window leaves out objects that did nothing in it: they have its time all the same.
        let totals = self.rows.iter().filter(|row| row.object == RecordedRow::TOTAL);
        let times: BTreeMap<String, f64> =
            totals.map(|row| (row.source.clone(), row.seconds)).collect();
        for row in &mut self.rows {
            row.seconds = times.get(&row.source).copied().unwrap_or(row.seconds);
        }
    }
}

impl RecordedRow {
    /// The object that is the sum of a database's others.
    pub const TOTAL: &str = "total";

    /// Adds it to the row of its object, or as a new one.
    pub fn put_into(self, rows: &mut Vec<Self>) {
        let same = |row: &&mut Self| row.source == self.source && row.object == self.object;
        let Some(row) = rows.iter_mut().find(same) else {
            rows.push(self);
            return;
        };
        row.timed_reads = timed(
            (row.reads, row.read_ns, row.timed_reads),
            (self.reads, self.read_ns, self.timed_reads),
        );
        row.timed_writes = timed(
            (row.writes, row.write_ns, row.timed_writes),
            (self.writes, self.write_ns, self.timed_writes),
        );
        row.timed_syncs = timed(
            (row.syncs, row.sync_ns, row.timed_syncs),
            (self.syncs, self.sync_ns, self.timed_syncs),
        );
        let sum = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        let count = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        row.seconds += self.seconds;
        row.reads = count(row.reads, self.reads);
        row.writes = count(row.writes, self.writes);
        row.read_bytes = count(row.read_bytes, self.read_bytes);
        row.written_bytes = count(row.written_bytes, self.written_bytes);
        row.read_ns = sum(row.read_ns, self.read_ns);
        row.write_ns = sum(row.write_ns, self.write_ns);
        row.syncs = count(row.syncs, self.syncs);
        row.sync_ns = sum(row.sync_ns, self.sync_ns);
        for (name, amount) in self.counters {
            *row.counters.entry(name).or_default() += amount;
        }
    }

    /// Mean time of a read; `None` if nothing was read or times are not kept.
    #[must_use]
    pub fn read_latency_ns(&self) -> Option<f64> {
        mean(self.read_ns, self.timed_reads.or(self.reads)?)
    }

    /// Mean time of a write; `None` if nothing was written or times are not kept.
    #[must_use]
    pub fn write_latency_ns(&self) -> Option<f64> {
        mean(self.write_ns, self.timed_writes.or(self.writes)?)
    }

    /// Mean time of a flush; `None` without flushes or if times are not kept.
    #[must_use]
    pub fn sync_latency_ns(&self) -> Option<f64> {
        mean(self.sync_ns, self.timed_syncs.or(self.syncs)?)
    }

    /// Its figures by their names, those that devices have first.
    #[must_use]
    pub fn figures(&self) -> [(&'static str, Option<f64>); 8] {
        let rate = |amount: Option<u64>| amount.and_then(|amount| self.per_second(amount));
        [
            ("reads_per_s", rate(self.reads)),
            ("writes_per_s", rate(self.writes)),
            ("read_latency_ns", self.read_latency_ns()),
            ("write_latency_ns", self.write_latency_ns()),
            ("read_bytes_per_s", rate(self.read_bytes)),
            ("write_bytes_per_s", rate(self.written_bytes)),
            ("syncs_per_s", rate(self.syncs)),
            ("sync_latency_ns", self.sync_latency_ns()),
        ]
    }

    /// An amount per second of its window.
    #[must_use]
    pub fn per_second(&self, amount: u64) -> Option<f64> {
        (self.seconds > 0.0).then(|| amount as f64 / self.seconds)
    }
}

/// Operations, the sum of their times, and how many of them that is of where not of all.
type Timed = (Option<u64>, Option<f64>, Option<u64>);

/// How many operations of two rows have their times in the sum; `None` if all have.
fn timed(a: Timed, b: Timed) -> Option<u64> {
    let known = |(count, ns, timed): Timed| match ns {
        Some(_) => timed.or(count).unwrap_or(0),
        None => 0,
    };
    let all = a.0.unwrap_or(0).saturating_add(b.0.unwrap_or(0));
    let timed = known(a).saturating_add(known(b));
    (timed > 0 && timed < all).then_some(timed)
}

fn mean(ns: Option<f64>, events: u64) -> Option<f64> {
    ns.filter(|ns| events > 0 && *ns > 0.0).map(|ns| ns / events as f64)
}

/// The figures of amounts, by their names.
#[must_use]
pub fn figures_of<T>(fields: &[Field<T>], amounts: &T, span: Span) -> Figures {
    fields.iter().map(|field| (field.name.to_owned(), field.of(amounts, span))).collect()
}

impl Recording {
    /// Sums up what the points hold. The processors one by one are not in them and stay as they
    /// are.
    pub fn sum_up(&mut self) {
        let mut all = RecordedPoint::default();
        let mut absent: BTreeMap<&str, (f64, u32)> = BTreeMap::new();
        for point in &self.points {
            for device in &point.missing {
                let (seconds, windows) = absent.entry(device).or_default();
                *seconds += point.seconds;
                *windows = windows.saturating_add(point.windows);
            }
            all.join(point.clone());
        }
        (self.seconds, self.windows) = (all.seconds, u64::from(all.windows));
        let mut totals = RecordedTotals {
            system: all.system,
            figures: figures_of(&SYSTEM_FIELDS, &all.system, all.span()),
            cores: std::mem::take(&mut self.totals.cores),
            rows: std::mem::take(&mut all.rows),
            disks: BTreeMap::new(),
        };
        for device in &self.devices {
            let (away, windows) = absent.get(device.name.as_str()).copied().unwrap_or_default();
            let seconds = (all.seconds - away).max(0.0);
            if seconds > 0.0 {
                let tally = all.disks.get(&device.name).copied().unwrap_or_default();
                let readings = all.windows.saturating_sub(windows);
                let span = Span { seconds, readings };
                let figures = figures_of(&DISK_FIELDS, &tally, span);
                totals.disks.insert(device.name.clone(), DiskTotal { seconds, tally, figures });
            }
        }
        self.totals = totals;
    }

    /// What it is, in a phrase.
    #[must_use]
    pub fn title(&self) -> String {
        match (&self.command, self.name.as_str()) {
            (_, name) if !name.is_empty() => name.to_owned(),
            (Some(command), _) => format!("counters during {}", command.title()),
            (None, _) => "counters".to_owned(),
        }
    }
}

impl RecordedCommand {
    /// The name of the program, and its first words.
    #[must_use]
    pub fn title(&self) -> String {
        let program = self.line.first().map_or("", |p| p.rsplit(['/', '\\']).next().unwrap_or(p));
        let is_word = |word: &&String| !word.starts_with('-') && !word.contains(['/', '\\']);
        let first = self.line.get(1).filter(is_word);
        first.map_or_else(|| program.to_owned(), |word| format!("{program} {word}"))
    }
}

impl Conclusion for Recording {
    const SCHEMA: &'static str = "iosonde.recording/1";

    fn title(&self, _: &[Measurement]) -> String {
        self.title()
    }
}

/// A figure in words: three significant digits and the fitting unit.
#[must_use]
pub fn show_figure(unit: Unit, figure: f64) -> String {
    let bytes = |figure: f64| match figure {
        f if f >= 1_073_741_824.0 => format!("{} GiB", show_number(f / 1_073_741_824.0)),
        f if f >= 1_048_576.0 => format!("{} MiB", show_number(f / 1_048_576.0)),
        f if f >= 1024.0 => format!("{} KiB", show_number(f / 1024.0)),
        f => format!("{} B", show_number(f)),
    };
    match unit {
        Unit::Nanoseconds => show_ns(figure),
        Unit::Bytes => bytes(figure),
        Unit::BytesPerSecond => format!("{}/s", bytes(figure)),
        Unit::Percent => format!("{} %", show_number(figure)),
        Unit::PerSecond => format!("{}/s", show_number(figure)),
        Unit::Number => show_number(figure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(object: &str, seconds: f64, writes: u64, ms: Option<u64>) -> RecordedRow {
        RecordedRow {
            source: "postgres://db/x".to_owned(),
            object: object.to_owned(),
            seconds,
            writes: Some(writes),
            write_ns: ms.map(|ms| (writes * ms) as f64 * 1e6),
            ..RecordedRow::default()
        }
    }

    fn joined(windows: impl IntoIterator<Item = Vec<RecordedRow>>) -> Vec<RecordedRow> {
        let mut all = RecordedPoint::default();
        for rows in windows {
            all.join(RecordedPoint { rows, ..RecordedPoint::default() });
        }
        all.rows
    }

    /// An object that did 100 writes in one of ten seconds was shown with 100 writes a second, ten
    /// times as many as the total.
    #[test]
    fn rates_of_objects_are_over_the_time_of_their_database() {
        let busy = vec![row("total", 1.0, 100, None), row("a", 1.0, 100, None)];
        let idle = || vec![row("total", 1.0, 0, None)];
        let rows = joined(std::iter::once(busy).chain((0..9).map(|_| idle())));
        let rates: Vec<_> = rows.iter().map(|row| row.figures()[1].1).collect();
        assert_eq!(rates, [Some(10.0), Some(10.0)]);
        // The order of the windows does not matter.
        let late = vec![row("total", 1.0, 100, None), row("a", 1.0, 100, None)];
        let rows = joined((0..9).map(|_| idle()).chain([late]));
        assert_eq!(rows[1].figures()[1].1, Some(10.0));
    }

    /// 100 writes of 10 ms and 900 without times were shown as 1 ms.
    #[test]
    fn latency_is_that_of_the_operations_with_times() {
        let mut total = Vec::new();
        for part in [row("total", 1.0, 900, None), row("total", 1.0, 100, Some(10))] {
            part.put_into(&mut total);
        }
        let total = total.remove(0);
        assert_eq!((total.writes, total.write_latency_ns()), (Some(1000), Some(10e6)));
        // And so over several windows, whether or not one of them has times.
        let untimed = row("total", 1.0, 5000, None);
        let rows = joined([vec![untimed.clone()], vec![total.clone()], vec![untimed], vec![total]]);
        assert_eq!(rows[0].write_latency_ns(), Some(10e6));
        assert_eq!(rows[0].timed_writes, Some(200));
        let timed = joined([vec![row("a", 1.0, 1, Some(4))], vec![row("a", 1.0, 3, Some(8))]]);
        assert_eq!((timed[0].timed_writes, timed[0].write_latency_ns()), (None, Some(7e6)));
    }
}
