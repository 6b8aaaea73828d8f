//! What was measured, kept: one SQLite file in which every finished measurement is committed before the next begins.
//!
//! A [`History`] holds experiments and their measurements. It is safe with several processes at once and after a
//! crash at any moment. It leaves alone what is not its own: a file that is no history, one that is damaged, and one
//! of a newer program are refused and stay as they are. It decides nothing: what an experiment does next is its own
//! matter.

mod error;
mod place;
mod schema;

use std::path::{Path, PathBuf};
use std::time::Duration;

use results::{Measurement, Status};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

pub use error::HistoryError;
pub use place::place;

/// How long a writer waits for another one.
const BUSY: Duration = Duration::from_secs(30);

/// The store, open.
#[derive(Debug)]
pub struct History {
    path: PathBuf,
    connection: Connection,
}

/// An experiment that is about to begin.
#[derive(Debug, Clone, Copy)]
pub struct NewExperiment<'a> {
    /// Unique name; the result document carries the same.
    pub id: &'a str,
    /// Schema name of the result document, for example `iosonde.sweep/1`.
    pub schema: &'a str,
    /// The command, for example `sweep`.
    pub kind: &'a str,
    /// What a list shows.
    pub title: &'a str,
    /// Start, UTC, RFC 3339.
    pub started: &'a str,
    /// Name of the plan; the same plan has the same name.
    pub plan_id: &'a str,
    /// The plan as JSON: all that is needed to go on with it later.
    pub plan: &'a str,
}

/// An experiment as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// Unique name.
    pub id: String,
    /// Schema name of the result document.
    pub schema: String,
    /// The command.
    pub kind: String,
    /// What a list shows.
    pub title: String,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// End, UTC, RFC 3339; none while it runs and after a crash.
    pub finished: Option<String>,
    /// How it ended; none while it runs and after a crash.
    pub status: Option<Status>,
    /// Name of the plan.
    pub plan_id: String,
    /// The plan as JSON.
    pub plan: String,
    /// Measurements that are kept.
    pub cells: u32,
}

/// One measurement that was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// The cell of the plan, counted from 0.
    pub cell: u32,
    /// The figures.
    pub measurement: Measurement,
}

const EXPERIMENT: &str = "SELECT id, schema, kind, title, started, finished, status, plan_id, plan, \
     (SELECT count(*) FROM measurements WHERE experiment_id = experiments.id) FROM experiments";

impl History {
    /// Opens a history, or makes one where there is no file or an empty one.
    ///
    /// Anything else that is no history is an error, and is not written to.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        schema::refuse_foreign(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let at = |error| HistoryError::of(path, error);
        let mut connection = Connection::open_with_flags(path, flags).map_err(at)?;
        connection.busy_timeout(BUSY).map_err(at)?;
        schema::bring_up_to_date(path, &mut connection)?;
        Ok(Self { path: path.to_owned(), connection })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes that an experiment begins.
    pub fn begin(&self, new: &NewExperiment<'_>) -> Result<(), HistoryError> {
        let sql = "INSERT INTO experiments (id, schema, kind, title, started, plan_id, plan) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let NewExperiment { id, schema, kind, title, started, plan_id, plan } = *new;
        let done = self.connection.execute(sql, [id, schema, kind, title, started, plan_id, plan]);
        done.map(drop).map_err(self.at())
    }

    /// Keeps the measurement of one cell. When this returns, it is on the disk.
    pub fn keep(
        &self,
        experiment: &str,
        cell: u32,
        measurement: &Measurement,
    ) -> Result<(), HistoryError> {
        let document = serde_json::to_string(measurement)
            .map_err(|source| HistoryError::Document { path: self.path.clone(), source })?;
        let sql = "INSERT INTO measurements (id, experiment_id, cell, started, document) \
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![measurement.id, experiment, cell, measurement.started, document];
        match self.connection.execute(sql, values) {
            Ok(_) => Ok(()),
            Err(error) if error::is_duplicate(&error) => {
                Err(HistoryError::KeptTwice { experiment: experiment.to_owned(), cell })
            }
            Err(error) => Err(HistoryError::of(&self.path, error)),
        }
    }

    /// Notes how an experiment ended.
    pub fn finish(
        &self,
        experiment: &str,
        status: Status,
        finished: &str,
    ) -> Result<(), HistoryError> {
        let sql = "UPDATE experiments SET status = ?2, finished = ?3 WHERE id = ?1";
        let values = params![experiment, status_name(status), finished];
        self.connection.execute(sql, values).map(drop).map_err(self.at())
    }

    /// Notes that an experiment goes on.
    pub fn go_on(&self, experiment: &str) -> Result<(), HistoryError> {
        let sql = "UPDATE experiments SET status = NULL, finished = NULL WHERE id = ?1";
        self.connection.execute(sql, [experiment]).map(drop).map_err(self.at())
    }

    /// The experiments of a kind that did not come to their end, the newest first; those of one plan, or of any.
    pub fn unfinished(
        &self,
        kind: &str,
        plan_id: Option<&str>,
    ) -> Result<Vec<Experiment>, HistoryError> {
        let sql = format!(
            "{EXPERIMENT} WHERE kind = ?1 AND status IS NOT 'complete' AND (?2 IS NULL OR plan_id = ?2) \
             ORDER BY started DESC, id DESC"
        );
        self.all(&sql, params![kind, plan_id], experiment_of)
    }

    /// One experiment.
    pub fn experiment(&self, id: &str) -> Result<Option<Experiment>, HistoryError> {
        let sql = format!("{EXPERIMENT} WHERE id = ?1");
        self.connection.query_row(&sql, [id], experiment_of).optional().map_err(self.at())
    }

    /// The measurements of an experiment in the order of their cells.
    pub fn measurements(&self, experiment: &str) -> Result<Vec<Kept>, HistoryError> {
        let sql = "SELECT cell, document FROM measurements WHERE experiment_id = ?1 ORDER BY cell";
        let rows = self.all(sql, params![experiment], |row| {
            Ok((row.get::<_, u32>(0)?, row.get::<_, String>(1)?))
        })?;
        let read = |(cell, document): (u32, String)| match serde_json::from_str(&document) {
            Ok(measurement) => Ok(Kept { cell, measurement }),
            Err(source) => Err(HistoryError::Document { path: self.path.clone(), source }),
        };
        rows.into_iter().map(read).collect()
    }

    fn all<T>(
        &self,
        sql: &str,
        values: &[&dyn rusqlite::ToSql],
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, HistoryError> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            self.connection.prepare(sql)?.query_map(values, read)?.collect()
        };
        rows().map_err(self.at())
    }

    fn at(&self) -> impl Fn(rusqlite::Error) -> HistoryError + '_ {
        |error| HistoryError::of(&self.path, error)
    }
}

fn experiment_of(row: &Row<'_>) -> rusqlite::Result<Experiment> {
    Ok(Experiment {
        id: row.get(0)?,
        schema: row.get(1)?,
        kind: row.get(2)?,
        title: row.get(3)?,
        started: row.get(4)?,
        finished: row.get(5)?,
        status: row.get::<_, Option<String>>(6)?.as_deref().and_then(status_of),
        plan_id: row.get(7)?,
        plan: row.get(8)?,
        cells: row.get(9)?,
    })
}

const STATUSES: [(Status, &str); 3] = [
    (Status::Complete, "complete"),
    (Status::Interrupted, "interrupted"),
    (Status::Failed, "failed"),
];

fn status_name(status: Status) -> &'static str {
    STATUSES.iter().find(|(s, _)| *s == status).map_or("failed", |(_, name)| name)
}

fn status_of(name: &str) -> Option<Status> {
    STATUSES.iter().find(|(_, n)| *n == name).map(|(status, _)| *status)
}
