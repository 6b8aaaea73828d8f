//! Recordings while they are recorded: each point is kept as it comes, so that whatever ends the
//! program leaves what came before.
//!
//! The plan of such an experiment is its document without points. They go through the connection
//! that waits for no disk: a crash of the program loses nothing, one of the system the last
//! moments.

use results::{Document, Experiment, RecordedPoint, Recording};

use crate::connection::Connection;
use crate::error::HistoryError;
use crate::record::unreadable;
use crate::value::{Row, values};

/// After so many points, SQLite's log is moved into the file.
const LOGGED: u64 = 2000;

/// Keeps a point below its number, in the place of one that was there.
pub(crate) fn keep(
    connection: &Connection,
    id: &str,
    number: u64,
    point: &RecordedPoint,
) -> Result<(), HistoryError> {
    let text = serde_json::to_string(point).map_err(|e| unreadable(connection, id, &e))?;
    let sql = "INSERT INTO recording_points (experiment, number, point) SELECT number, CAST($1 AS \
               BIGINT), CAST($2 AS TEXT) FROM experiments WHERE id = $3 ON CONFLICT (experiment, \
               number) DO UPDATE SET point = excluded.point";
    connection.execute(sql, values![number, text, id])?;
    if number % LOGGED == LOGGED - 1 && connection.as_sqlite().is_some() {
        // As far as nobody needs it; without waiting for anybody.
        connection.query("PRAGMA wal_checkpoint(PASSIVE)", &[], |_| Ok(()))?;
    }
    Ok(())
}

/// Keeps these points in the place of all that were there. Must be within a transaction.
pub(crate) fn replace(
    connection: &Connection,
    id: &str,
    points: &[RecordedPoint],
) -> Result<(), HistoryError> {
    forget(connection, id)?;
    (0..).zip(points).try_for_each(|(number, point)| keep(connection, id, number, point))
}

/// Takes the points of an experiment away, which are in its document now.
pub(crate) fn forget(connection: &Connection, id: &str) -> Result<(), HistoryError> {
    let sql = "DELETE FROM recording_points WHERE experiment = (SELECT number FROM experiments \
               WHERE id = $1)";
    connection.execute(sql, values![id]).map(drop)
}

/// What there is of a recording that never came to its end; `None` if the experiment is not a
/// recording.
pub(crate) fn unfinished(
    connection: &Connection,
    id: &str,
) -> Result<Option<Document>, HistoryError> {
    let sql = "SELECT d.plan FROM experiments e JOIN documents d ON d.experiment = e.number WHERE \
               e.id = $1 AND e.kind = 'monitor' AND d.document IS NULL";
    let Some(plan) = connection.query_one(sql, values![id], Row::take::<String>)? else {
        return Ok(None);
    };
    let wrong = |error: serde_json::Error| unreadable(connection, id, &error);
    let mut document: Experiment<Recording> =
        serde_json::from_str(&plan).and_then(serde_json::from_value).map_err(wrong)?;
    let sql = "SELECT p.point FROM recording_points p JOIN experiments e ON e.number = \
               p.experiment WHERE e.id = $1 ORDER BY p.number";
    for text in connection.query(sql, values![id], Row::take::<String>)? {
        let point = serde_json::from_str(&text).and_then(serde_json::from_value);
        document.conclusion.points.push(point.map_err(wrong)?);
    }
    document.conclusion.sum_up();
    let recorded = jiff::SignedDuration::try_from_secs_f64(document.conclusion.seconds);
    let started: Result<jiff::Timestamp, _> = document.started.parse();
    if let (Ok(started), Ok(recorded)) = (started, recorded)
        && let Ok(finished) = started.checked_add(recorded)
    {
        document.finished = finished.to_string();
    }
    Ok(Some(Document::Recording(Box::new(document))))
}
