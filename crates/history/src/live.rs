//! Runs that are in progress, so that others can watch them.
//!
//! They use a separate connection that never waits for a disk, and not long for another process:
//! watching must not disturb the measurement. The caller may ignore every error.

use crate::connection::Connection;
use crate::error::HistoryError;
use crate::value::{Mismatch, Row, values};

/// A run that was silent for longer is lost.
const SILENT_MS: i64 = 15_000;
/// A run that ended or was lost stays visible this long.
const KEPT_MS: i64 = 60_000;
/// Events of a run that are kept; what comes before is forgotten.
const EVENTS: u64 = 10_000;

/// After so many events, SQLite's log is moved into the file. Nothing else does that during a
/// measurement, and the log would grow by some KiB with each event.
const LOGGED: u64 = 2000;

/// A run that is in progress, or was a moment ago.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LiveRun {
    /// Unique name, that of its result.
    pub id: String,
    /// The command that is running, for example `knee`.
    pub kind: String,
    /// What is measured, in a phrase.
    pub title: String,
    /// The name of the machine, if the run gives it.
    pub host: Option<String>,
    /// The files and devices that receive the I/O.
    pub targets: String,
    /// When it started: UTC, RFC 3339.
    pub started: String,
    /// When it last gave a sign, UTC, RFC 3339, by the clock of the database. Not read when a run
    /// begins.
    pub updated: String,
    /// Seconds since then. Not read when a run begins.
    pub silent_seconds: f64,
    /// Whether it said that it ended. Not read when a run begins.
    pub ended: bool,
}

impl LiveRun {
    /// Whether it was silent for so long that it must have died.
    #[must_use]
    pub fn lost(&self) -> bool {
        !self.ended && self.silent_seconds * 1000.0 > SILENT_MS as f64
    }
}

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveEvent {
    /// Its number in the run, from 1.
    pub number: u64,
    /// The event as JSON, in the form of `docs/live.md`.
    pub event: String,
}

/// Shows a run; those that ended or were lost some time ago are swept away.
pub(crate) fn begin(connection: &Connection, run: &LiveRun) -> Result<(), HistoryError> {
    let now = connection.now_ms();
    connection.within(|| {
        let sql = format!("DELETE FROM live_runs WHERE id = $1 OR updated_ms < {now} - $2");
        connection.execute(&sql, values![&run.id, KEPT_MS])?;
        let sql = format!(
            "INSERT INTO live_runs (id, kind, title, host, targets, started, updated_ms, ended) \
             VALUES ($1, $2, $3, $4, $5, $6, {now}, 0)"
        );
        let LiveRun { id, kind, title, host, targets, started, .. } = run;
        connection.execute(&sql, values![id, kind, title, host.as_ref(), targets, started])?;
        Ok(())
    })
}

/// Says that a run is alive.
pub(crate) fn beat(connection: &Connection, id: &str) -> Result<(), HistoryError> {
    let sql = format!("UPDATE live_runs SET updated_ms = {} WHERE id = $1", connection.now_ms());
    connection.execute(&sql, values![id]).map(drop)
}

/// Stores an event for those who watch.
pub(crate) fn event(connection: &Connection, id: &str, event: &str) -> Result<(), HistoryError> {
    let number = connection.within(|| {
        let sql = "SELECT max(number) FROM live_events WHERE run = $1";
        let last = connection.query_one(sql, values![id], Row::take::<Option<u64>>)?;
        let number = last.flatten().unwrap_or(0) + 1;
        let sql = "INSERT INTO live_events (run, number, event) VALUES ($1, $2, $3)";
        connection.execute(sql, values![id, number, event])?;
        if number % 1000 == 0 && number > EVENTS {
            let sql = "DELETE FROM live_events WHERE run = $1 AND number <= $2";
            connection.execute(sql, values![id, number - EVENTS])?;
        }
        beat(connection, id).map(|()| number)
    })?;
    if number % LOGGED == 0 && connection.as_sqlite().is_some() {
        // As far as nobody needs it; without waiting for anybody.
        connection.query("PRAGMA wal_checkpoint(PASSIVE)", &[], |_| Ok(()))?;
    }
    Ok(())
}

/// Tells those who watch that a run ended.
pub(crate) fn end(connection: &Connection, id: &str) -> Result<(), HistoryError> {
    let now = connection.now_ms();
    let sql = format!("UPDATE live_runs SET ended = 1, updated_ms = {now} WHERE id = $1");
    connection.execute(&sql, values![id]).map(drop)
}

fn select(connection: &Connection) -> String {
    format!(
        "SELECT id, kind, title, host, targets, started, ended, updated_ms, {} - updated_ms FROM \
         live_runs",
        connection.now_ms()
    )
}

fn run(row: &mut Row) -> Result<LiveRun, Mismatch> {
    let mut run = LiveRun {
        id: row.take()?,
        kind: row.take()?,
        title: row.take()?,
        host: row.take()?,
        targets: row.take()?,
        started: row.take()?,
        ended: row.take()?,
        updated: String::new(),
        silent_seconds: 0.0,
    };
    let updated = jiff::Timestamp::from_millisecond(row.take()?);
    run.updated = updated.map(|moment| moment.to_string()).unwrap_or_default();
    run.silent_seconds = row.take::<i64>()?.max(0) as f64 / 1000.0;
    Ok(run)
}

/// The runs in progress, the newest first.
pub(crate) fn runs(connection: &Connection) -> Result<Vec<LiveRun>, HistoryError> {
    let sql = format!("{} WHERE ended = 0 ORDER BY started DESC, id DESC", select(connection));
    let mut runs = connection.query(&sql, &[], run)?;
    runs.retain(|run| !run.lost());
    Ok(runs)
}

/// One run, also where it ended or was lost a moment ago.
pub(crate) fn one(connection: &Connection, id: &str) -> Result<Option<LiveRun>, HistoryError> {
    let sql = format!("{} WHERE id = $1", select(connection));
    connection.query_one(&sql, values![id], run)
}

/// What happened in a run after an event.
pub(crate) fn events(
    connection: &Connection,
    id: &str,
    after: u64,
) -> Result<Vec<LiveEvent>, HistoryError> {
    let sql =
        "SELECT number, event FROM live_events WHERE run = $1 AND number > $2 ORDER BY number";
    let read = |row: &mut Row| Ok(LiveEvent { number: row.take()?, event: row.take()? });
    connection.query(sql, values![id, after], read)
}
