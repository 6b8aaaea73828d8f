//! The upgrade from version 1, in which a measurement was one text, to the tables of today.

use results::Measurement;

use crate::connection::Connection;
use crate::error::HistoryError;
use crate::record;
use crate::value::{Row, values};
use crate::{Experiment, NewExperiment};

/// Names the tables of version 1 otherwise.
pub(crate) fn set_aside(connection: &Connection) -> Result<(), HistoryError> {
    connection.batch(
        "DROP INDEX experiments_by_kind;
         ALTER TABLE measurements RENAME TO measurements_1;
         ALTER TABLE experiments RENAME TO experiments_1;",
    )
}

/// Moves their content into the current tables, and removes them.
pub(crate) fn take_over(connection: &Connection) -> Result<(), HistoryError> {
    let sql = "SELECT id, schema, kind, title, started, finished, status, plan_id, plan, 0 FROM \
               experiments_1 ORDER BY rowid";
    let experiments = connection.query(sql, &[], crate::experiment_of)?;
    for experiment in &experiments {
        take_over_one(connection, experiment)?;
    }
    connection.batch("DROP TABLE measurements_1; DROP TABLE experiments_1;")
}

fn take_over_one(connection: &Connection, old: &Experiment) -> Result<(), HistoryError> {
    record::begin(
        connection,
        &NewExperiment {
            id: &old.id,
            schema: &old.schema,
            kind: &old.kind,
            title: &old.title,
            started: &old.started,
            plan_id: &old.plan_id,
            plan: &old.plan,
        },
    )?;
    let sql = "SELECT cell FROM measurements_1 WHERE experiment_id = $1 ORDER BY cell";
    let cells = connection.query(sql, values![&old.id], Row::take::<u32>)?;
    for cell in cells {
        // One at a time: an experiment may be larger than the memory that this should take.
        let sql = "SELECT document FROM measurements_1 WHERE experiment_id = $1 AND cell = $2";
        let text = connection.query_one(sql, values![&old.id, cell], Row::take::<String>)?;
        // By way of a JSON value, as measurements are read everywhere: one copy of that code.
        let measurement: Measurement = serde_json::from_str(&text.unwrap_or_default())
            .and_then(serde_json::from_value)
            .map_err(|error| record::unreadable(connection, &old.id, &error))?;
        record::keep(connection, &old.id, cell, &measurement)?;
    }
    if let Some(status) = old.status {
        let finished = old.finished.as_deref();
        record::end(connection, &old.id, Some(status), finished)?;
    }
    Ok(())
}
