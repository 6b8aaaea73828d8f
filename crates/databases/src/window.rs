//! What a database did between two samples.
//!
//! D in the formulas is the later counter minus the earlier one, dt the window's length in seconds.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::sample::{DatabaseSample, NamedCounter, ObjectCounters, Unit};

/// The name of the row that [`DatabaseRow::total`] makes.
pub const TOTAL: &str = "total";

/// Differences of the clocks up to this come from the network; a larger one means that a clock was
/// set.
const CLOCKS_APART_S: f64 = 1.0;

/// Whole seconds, of which one is always cut off, and another may be on the way.
const UPTIMES_APART_S: u64 = 3;

/// Which clock gave the length of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The clock of the database, at its two answers.
    Database,
    /// Ours: the database has none, or its clock was set in between.
    Ours,
}

/// The activity of a database between two samples.
#[derive(Debug, Clone, PartialEq)]
pub struct DatabaseWindow {
    /// Length in seconds; 0 when the second sample is not later than the first.
    pub seconds: f64,
    /// The clock that the length is of.
    pub clock: Clock,
    /// Whether another server answered, or this one was restarted, so that there are no figures.
    pub other_instance: bool,
    /// The connection was lost and made anew in between.
    pub reconnected: bool,
    /// The objects of the second sample, in its order.
    pub rows: Vec<DatabaseRow>,
    /// The counters of the database as a whole.
    pub counters: Vec<CounterRow>,
    /// Objects and counters that were reset in between, so that they have no figures.
    pub anew: Vec<String>,
    /// Objects that no longer exist; what they did since the first sample is not known.
    pub gone: Vec<String>,
}

/// The I/O for one object. `None` for what the database does not count, or for what did not happen:
/// never 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatabaseRow {
    /// A file, or a kind of process with a kind of object and a context; in the sum of all,
    /// `total`.
    pub object: String,
    /// Length of the window in seconds.
    pub seconds: f64,
    /// Reads in the window: D reads.
    pub reads: Option<u64>,
    /// Writes in the window: D writes.
    pub writes: Option<u64>,
    /// Bytes read in the window: D bytes.
    pub read_bytes: Option<u64>,
    /// Bytes written in the window: D bytes.
    pub written_bytes: Option<u64>,
    /// Mean time of a read in nanoseconds: D read time / D reads. None when nothing was read, or
    /// times are not counted.
    pub read_latency_ns: Option<f64>,
    /// Mean time of a write in nanoseconds, likewise.
    pub write_latency_ns: Option<f64>,
    /// Calls that wait until written data is on the device.
    pub syncs: Option<u64>,
    /// Mean time of such a call in nanoseconds.
    pub sync_latency_ns: Option<f64>,
}

/// What one counter of the whole database counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterRow {
    /// The counter's name, such as `wal_bytes`.
    pub name: String,
    /// What the amount is counted in.
    pub unit: Unit,
    /// How much it grew in the window.
    pub amount: u64,
}

impl DatabaseWindow {
    /// The activity from `earlier` to `later`.
    #[must_use]
    pub fn between(earlier: &DatabaseSample, later: &DatabaseSample) -> Self {
        let (seconds, clock) = length(earlier, later);
        let mut window = Self {
            seconds,
            clock,
            other_instance: earlier.instance != later.instance || started_anew(earlier, later),
            reconnected: earlier.reconnections != later.reconnections,
            rows: Vec::new(),
            counters: Vec::new(),
            anew: Vec::new(),
            gone: Vec::new(),
        };
        if !window.other_instance {
            window.add_rows(earlier, later);
            window.add_counters(&earlier.counters, &later.counters);
        }
        window
    }

    fn add_rows(&mut self, earlier: &DatabaseSample, later: &DatabaseSample) {
        let before: BTreeMap<&str, &ObjectCounters> =
            earlier.objects.iter().map(|object| (object.object.as_str(), object)).collect();
        for after in &later.objects {
            let row = match before.get(after.object.as_str()) {
                Some(before) => DatabaseRow::between(before, after, self.seconds),
                // It came into being in between, so all of it was in between.
                None => DatabaseRow::between(&zeros(after), after, self.seconds),
            };
            match row {
                Some(row) => self.rows.push(row),
                None => self.anew.push(after.object.clone()),
            }
        }
        let there: BTreeSet<&str> =
            later.objects.iter().map(|object| object.object.as_str()).collect();
        let gone = earlier.objects.iter().map(|object| &object.object);
        self.gone.extend(gone.filter(|name| !there.contains(name.as_str())).cloned());
    }

    fn add_counters(&mut self, earlier: &[NamedCounter], later: &[NamedCounter]) {
        for after in later {
            let Some(before) = earlier.iter().find(|before| before.name == after.name) else {
                continue;
            };
            if before.since != after.since || after.value < before.value {
                self.anew.push(after.name.to_owned());
                continue;
            }
            let amount = after.value - before.value;
            self.counters.push(CounterRow {
                name: after.name.to_owned(),
                unit: after.unit,
                amount,
            });
        }
    }

    /// What the counter of this name counted.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.counters.iter().find(|counter| counter.name == name).map(|counter| counter.amount)
    }
}

/// The length of the window, by the database's clock if that runs.
fn length(earlier: &DatabaseSample, later: &DatabaseSample) -> (f64, Clock) {
    let seconds = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e9;
    let ours = seconds(earlier.at_ns, later.at_ns);
    let theirs = earlier.database_at_ns.zip(later.database_at_ns).map(|(a, b)| seconds(a, b));
    match theirs {
        Some(theirs)
            if theirs > 0.0 && (theirs - ours).abs() <= CLOCKS_APART_S.max(ours / 10.0) =>
        {
            (theirs, Clock::Database)
        }
        _ => (ours, Clock::Ours),
    }
}

/// Whether a server that only says for how long it has been running has not been running for all of
/// the window.
fn started_anew(earlier: &DatabaseSample, later: &DatabaseSample) -> bool {
    let elapsed_s = later.at_ns.saturating_sub(earlier.at_ns) / 1_000_000_000;
    let running = earlier.uptime_s.zip(later.uptime_s);
    running.is_some_and(|(before, after)| {
        after.saturating_add(UPTIMES_APART_S) < before.saturating_add(elapsed_s)
    })
}

/// An object before it did anything, that counts what another one counts.
fn zeros(of: &ObjectCounters) -> ObjectCounters {
    let zero = |value: Option<u64>| value.map(|_| 0);
    ObjectCounters {
        object: of.object.clone(),
        since: of.since.clone(),
        reads: zero(of.reads),
        writes: zero(of.writes),
        read_bytes: zero(of.read_bytes),
        written_bytes: zero(of.written_bytes),
        syncs: zero(of.syncs),
        read_time_ps: zero(of.read_time_ps),
        write_time_ps: zero(of.write_time_ps),
        sync_time_ps: zero(of.sync_time_ps),
    }
}

/// Says that a counter has gone back.
struct Back;

/// How far a counter has come; `None` if one of the two is not there.
fn advance(before: Option<u64>, after: Option<u64>) -> Result<Option<u64>, Back> {
    match before.zip(after) {
        Some((before, after)) => after.checked_sub(before).map(Some).ok_or(Back),
        None => Ok(None),
    }
}

/// Mean time of an operation, from sums that start again at 2^64; None when nothing happened or no
/// time was counted.
fn latency_ns(count: Option<u64>, before: Option<u64>, after: Option<u64>) -> Option<f64> {
    let count = count.filter(|count| *count > 0)?;
    let picoseconds = after?.wrapping_sub(before?);
    // More than half of the range in one window is a sum that has gone back.
    let counted = picoseconds > 0 && picoseconds < 1 << 63;
    counted.then(|| picoseconds as f64 / 1e3 / count as f64)
}

impl DatabaseRow {
    /// None when the counters began anew.
    fn between(before: &ObjectCounters, after: &ObjectCounters, seconds: f64) -> Option<Self> {
        if before.since != after.since {
            return None;
        }
        Self::differences(before, after, seconds).ok()
    }

    fn differences(
        before: &ObjectCounters,
        after: &ObjectCounters,
        seconds: f64,
    ) -> Result<Self, Back> {
        let reads = advance(before.reads, after.reads)?;
        let writes = advance(before.writes, after.writes)?;
        let syncs = advance(before.syncs, after.syncs)?;
        Ok(Self {
            object: after.object.clone(),
            seconds,
            reads,
            writes,
            read_bytes: advance(before.read_bytes, after.read_bytes)?,
            written_bytes: advance(before.written_bytes, after.written_bytes)?,
            read_latency_ns: latency_ns(reads, before.read_time_ps, after.read_time_ps),
            write_latency_ns: latency_ns(writes, before.write_time_ps, after.write_time_ps),
            syncs,
            sync_latency_ns: latency_ns(syncs, before.sync_time_ps, after.sync_time_ps),
        })
    }

    /// Whether the object did no I/O.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        [self.reads, self.writes, self.syncs].iter().all(|count| count.unwrap_or(0) == 0)
    }

    /// Reads per second; `None` if they are not counted, or in a window of no length.
    #[must_use]
    pub fn reads_per_s(&self) -> Option<f64> {
        self.per_second(self.reads)
    }

    /// Writes per second; `None` if they are not counted.
    #[must_use]
    pub fn writes_per_s(&self) -> Option<f64> {
        self.per_second(self.writes)
    }

    /// Syncs per second; `None` if they are not counted.
    #[must_use]
    pub fn syncs_per_s(&self) -> Option<f64> {
        self.per_second(self.syncs)
    }

    /// Bytes read per second; `None` if they are not counted.
    #[must_use]
    pub fn read_bytes_per_s(&self) -> Option<f64> {
        self.per_second(self.read_bytes)
    }

    fn per_second(&self, amount: Option<u64>) -> Option<f64> {
        amount.filter(|_| self.seconds > 0.0).map(|amount| amount as f64 / self.seconds)
    }

    /// The sum of rows of one window: latencies are weighted by the operations whose time is
    /// counted. None of no rows.
    #[must_use]
    pub fn total(rows: &[Self]) -> Option<Self> {
        let seconds = rows.first()?.seconds;
        let sum = |of: fn(&Self) -> Option<u64>| {
            rows.iter()
                .filter_map(of)
                .fold(None, |sum: Option<u64>, value| Some(sum.unwrap_or(0).saturating_add(value)))
        };
        Some(Self {
            object: TOTAL.to_owned(),
            seconds,
            reads: sum(|row| row.reads),
            writes: sum(|row| row.writes),
            read_bytes: sum(|row| row.read_bytes),
            written_bytes: sum(|row| row.written_bytes),
            read_latency_ns: mean(rows.iter().map(|row| (row.reads, row.read_latency_ns))),
            write_latency_ns: mean(rows.iter().map(|row| (row.writes, row.write_latency_ns))),
            syncs: sum(|row| row.syncs),
            sync_latency_ns: mean(rows.iter().map(|row| (row.syncs, row.sync_latency_ns))),
        })
    }
}

/// The mean of latencies, weighted by their operations.
fn mean(rows: impl Iterator<Item = (Option<u64>, Option<f64>)>) -> Option<f64> {
    let (mut count, mut time) = (0.0, 0.0);
    for (operations, latency) in rows.filter_map(|(count, latency)| count.zip(latency)) {
        count += operations as f64;
        time += operations as f64 * latency;
    }
    (count > 0.0).then(|| time / count)
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
