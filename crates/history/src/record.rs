//! Records experiments, each measurement in its own transaction.

use std::collections::{HashMap, HashSet};

use results::{Document, Load, Measurement, Status};
use serde_json::Value as Json;

use crate::connection::Connection;
use crate::error::HistoryError;
use crate::parts::{self, Parts};
use crate::read::Extent;
use crate::value::{Value, values};
use crate::{Added, NewExperiment, environment, load, points, read, skeleton};

/// The error for a text in the store that is not a result of iosonde.
pub(crate) fn unreadable(
    connection: &Connection,
    id: &str,
    error: &dyn std::fmt::Display,
) -> HistoryError {
    HistoryError::Document { place: connection.place().clone(), what: format!("`{id}`: {error}") }
}

/// The error for an experiment that is not in the history.
pub(crate) fn unknown(connection: &Connection, id: &str) -> HistoryError {
    HistoryError::NotFound { selector: id.to_owned(), place: connection.place().clone() }
}

/// Inserts the row of an experiment that begins.
pub(crate) fn begin(connection: &Connection, new: &NewExperiment<'_>) -> Result<(), HistoryError> {
    let sql = "INSERT INTO experiments (id, schema, kind, title, started, plan_id, targets, \
               measurements, words) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let NewExperiment { id, schema, kind, title, started, plan_id, plan } = *new;
    let values =
        values![id, schema, kind, title, started, plan_id, "", 0_u32, words(&[id, kind, title])];
    let number = connection.insert_numbered(sql, values);
    let number = number.map_err(|error| {
        if error.is_duplicate() { HistoryError::Differs { id: id.to_owned() } } else { error }
    })?;
    let sql = "INSERT INTO documents (experiment, plan) VALUES ($1, $2)";
    connection.execute(sql, values![number, plan]).map(drop)
}

/// The text that a search looks through.
pub(crate) fn words(parts: &[&str]) -> String {
    parts.join(" ").to_lowercase()
}

/// The state of an experiment while it is recorded.
struct Open {
    number: i64,
    kind: String,
    title: String,
    measurements: u32,
    best_iops: Option<f64>,
    best_mib_per_s: Option<f64>,
}

fn open(connection: &Connection, id: &str) -> Result<Open, HistoryError> {
    let sql = "SELECT number, kind, title, measurements, best_iops, best_mib_per_s FROM \
               experiments WHERE id = $1";
    let open = connection.query_one(sql, values![id], |row| {
        Ok(Open {
            number: row.take()?,
            kind: row.take()?,
            title: row.take()?,
            measurements: row.take()?,
            best_iops: row.take()?,
            best_mib_per_s: row.take()?,
        })
    })?;
    open.ok_or_else(|| unknown(connection, id))
}

/// Keeps the measurement of one cell. Must be within a transaction.
pub(crate) fn keep(
    connection: &Connection,
    experiment: &str,
    cell: u32,
    measurement: &Measurement,
) -> Result<(), HistoryError> {
    let open = open(connection, experiment)?;
    let row = Load::of(measurement, experiment, &open.kind, cell);
    let parts =
        parts::take_apart(measurement).map_err(|e| unreadable(connection, experiment, &e))?;
    let environment = &measurement.environment;
    let number = environment::number_of(connection, environment, &parts.environment)?;
    put(connection, (open.number, number), &row, &parts)?;
    let best = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
    let first = open.measurements == 0;
    let sql = "UPDATE experiments SET measurements = $1, best_iops = $2, best_mib_per_s = $3 \
               WHERE number = $4";
    connection.execute(
        sql,
        values![
            open.measurements + 1,
            best(open.best_iops, row.iops),
            best(open.best_mib_per_s, row.mib_per_s),
            open.number
        ],
    )?;
    if first {
        let sql = "UPDATE experiments SET tool_version = $1, host = $2, targets = $3, device = \
                   $4, engine = $5, file_bytes = $6, words = $7 WHERE number = $8";
        let device = environment.device();
        let text = |part: &Option<String>| part.clone().unwrap_or_default();
        let (host, disk) = (text(&row.host), text(&device));
        let words = words(&[experiment, &open.kind, &open.title, &host, &row.target, &disk]);
        connection.execute(
            sql,
            values![
                row.tool_version,
                row.host,
                row.target,
                device,
                row.engine,
                row.file_bytes,
                words,
                open.number
            ],
        )?;
    }
    Ok(())
}

/// Puts a measurement into its tables, below these numbers of its experiment and its environment.
pub(crate) fn put(
    connection: &Connection,
    (experiment, environment): (i64, i64),
    row: &Load,
    parts: &Parts<'_>,
) -> Result<(), HistoryError> {
    let mut values = vec![Value::from(experiment), Value::from(environment)];
    values.extend(load::values(row));
    let number = connection.insert_numbered(&load::INSERT, &values).map_err(|error| {
        if error.is_duplicate() {
            HistoryError::KeptTwice { experiment: row.experiment_id.clone(), cell: row.cell }
        } else {
            error
        }
    })?;
    let number = number.unwrap_or_default();
    let sql = "INSERT INTO measurement_documents (measurement, document) VALUES ($1, $2)";
    connection.execute(sql, values![number, &parts.rest])?;
    let window = parts.window.iter().enumerate().map(|(n, p)| point(number, "window", n, p));
    let warmup = parts.warmup.iter().enumerate().map(|(n, p)| point(number, "warmup", n, p));
    let into = format!("series (measurement, part, number, {})", points::COLUMNS.join(", "));
    connection.insert(&into, window.chain(warmup).collect())?;
    let mut first: HashMap<&str, &str> = HashMap::new();
    let mut rows = Vec::new();
    for (place, text) in &parts.histograms {
        let same = *first.entry(text).or_insert(place);
        let (same, text) = if same == place { (None, Some(text)) } else { (Some(same), None) };
        rows.push(vec![number.into(), place.into(), same.into(), text.into()]);
    }
    connection.insert("histograms (measurement, place, same_as, histogram)", rows)
}

fn point(measurement: i64, part: &str, number: usize, point: &results::Point) -> Vec<Value> {
    let place = [measurement.into(), part.into(), (number as u64).into()];
    place.into_iter().chain(points::values(point)).collect()
}

/// Notes that an experiment continues. Must be within a transaction.
pub(crate) fn go_on(connection: &Connection, id: &str) -> Result<(), HistoryError> {
    end(connection, id, None, None)?;
    // The earlier result does not cover what is measured from now on; it is made again at the end.
    let sql = "UPDATE documents SET document = NULL WHERE experiment = (SELECT number FROM \
               experiments WHERE id = $1)";
    connection.execute(sql, values![id]).map(drop)
}

/// Notes how an experiment ended; without a status, that it continues.
pub(crate) fn end(
    connection: &Connection,
    id: &str,
    status: Option<Status>,
    finished: Option<&str>,
) -> Result<(), HistoryError> {
    let sql = "UPDATE experiments SET status = $1, finished = $2 WHERE id = $3";
    match connection.execute(sql, values![status.map(Status::word), finished, id])? {
        0 => Err(unknown(connection, id)),
        _ => Ok(()),
    }
}

/// Keeps the whole result of an experiment that was begun. Must be within a transaction.
pub(crate) fn finish(connection: &Connection, document: &Document) -> Result<(), HistoryError> {
    let id = document.id();
    let open = open(connection, id)?;
    let kept = keep_the_rest(connection, id, open.number, document)?;
    let mut whole = document.to_value().map_err(|e| unreadable(connection, id, &e))?;
    skeleton::refer(&mut whole, &kept);
    let sql = "UPDATE documents SET document = $1 WHERE experiment = $2";
    connection.execute(sql, values![whole.to_string(), open.number])?;
    let targets: Vec<String> =
        document.targets().iter().map(|path| path.display().to_string()).collect();
    let environment = document.environment();
    let sql = "UPDATE experiments SET status = $1, finished = $2, title = $3, tool_version = $4, \
               host = $5, targets = $6, device = $7, file_bytes = $8, words = $9 WHERE number = \
               $10";
    let (title, targets) = (document.title(), targets.join(", "));
    let (host, device) = (environment.hostname(), environment.device());
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    let words = words(&[id, &open.kind, &title, &text(&host), &targets, &text(&device)]);
    connection.execute(
        sql,
        values![
            document.status().word(),
            end_of(document),
            title,
            document.tool_version(),
            host,
            targets,
            device,
            document.file_bytes(),
            words,
            open.number
        ],
    )?;
    keep_total(connection, open.number, document)
}

/// Of a load on many hosts, what all of them did together is its figure, and not that of the best
/// host.
fn keep_total(
    connection: &Connection,
    number: i64,
    document: &Document,
) -> Result<(), HistoryError> {
    let Document::Fleet(fleet) = document else { return Ok(()) };
    let Some(all) = &fleet.conclusion.window else { return Ok(()) };
    let sql = "UPDATE experiments SET best_iops = $1, best_mib_per_s = $2 WHERE number = $3";
    let (iops, mib_per_s) =
        (all.read_iops + all.write_iops, all.read_mib_per_s + all.write_mib_per_s);
    connection.execute(sql, values![Some(iops), Some(mib_per_s), number]).map(drop)
}

/// When it ended: a single measurement says only how long it took.
pub(crate) fn end_of(document: &Document) -> Option<String> {
    if let Some(finished) = document.finished() {
        return Some(finished.to_owned());
    }
    let Document::Measurement(measurement) = document else { return None };
    let started: jiff::Timestamp = measurement.started.parse().ok()?;
    let length = jiff::SignedDuration::try_from_secs_f64(measurement.seconds).ok()?;
    started.checked_add(length).ok().map(|end| end.to_string())
}

/// Keeps those measurements of a result that are not kept yet, or otherwise; all of them, as they
/// are kept.
fn keep_the_rest(
    connection: &Connection,
    id: &str,
    number: i64,
    document: &Document,
) -> Result<HashMap<String, Json>, HistoryError> {
    let mut there = HashMap::new();
    for whole in read::wholes(connection, number, Extent::Whole)? {
        there.insert(whole.id, (whole.cell, whole.document));
    }
    let mut taken: HashSet<u32> = there.values().map(|(cell, _)| *cell).collect();
    let mut seen = HashMap::new();
    for (place, measurement) in (0_u32..).zip(document.measurements()) {
        if seen.contains_key(&measurement.id) {
            continue;
        }
        let shown =
            serde_json::to_value(measurement).map_err(|e| unreadable(connection, id, &e))?;
        let cell = match there.remove(&measurement.id) {
            // A result may show less of a measurement than was stored: the stored one stays.
            Some((_, kept)) if skeleton::left_out(&kept, &shown).is_some() => {
                seen.insert(measurement.id.clone(), kept);
                continue;
            }
            // If figures differ, those in the final result count.
            Some((cell, _)) => {
                forget(connection, id, cell)?;
                cell
            }
            None => (place..=u32::MAX).find(|cell| !taken.contains(cell)).unwrap_or(u32::MAX),
        };
        taken.insert(cell);
        keep(connection, id, cell, measurement)?;
        seen.insert(measurement.id.clone(), shown);
    }
    Ok(seen)
}

/// Removes the measurement of a cell. Must be within a transaction.
pub(crate) fn forget(connection: &Connection, id: &str, cell: u32) -> Result<(), HistoryError> {
    let open = open(connection, id)?;
    let sql = "DELETE FROM measurements WHERE experiment = $1 AND cell = $2";
    connection.execute(sql, values![open.number, cell])?;
    let sql = "UPDATE experiments SET measurements = $1 WHERE number = $2";
    let left = open.measurements.saturating_sub(1);
    connection.execute(sql, values![left, open.number]).map(drop)
}

/// Keeps a whole result at once. Must be within a transaction.
pub(crate) fn add(connection: &Connection, document: &Document) -> Result<Added, HistoryError> {
    let id = document.id();
    if let Some(number) = read::number_of(connection, id)? {
        return match read::document(connection, id, Extent::Whole)? {
            Some(there) if there == *document => Ok(Added::AlreadyThere),
            None if is_part(connection, number, document)? => {
                finish(connection, document).map(|()| Added::New)
            }
            _ => Err(HistoryError::Differs { id: id.to_owned() }),
        };
    }
    begin(
        connection,
        &NewExperiment {
            id,
            schema: document.schema(),
            kind: document.kind(),
            title: &document.title(),
            started: document.started(),
            plan_id: "",
            plan: "null",
        },
    )?;
    finish(connection, document)?;
    Ok(Added::New)
}

/// Whether everything that is kept of an experiment is in a result, as a whole or in part.
fn is_part(connection: &Connection, number: i64, of: &Document) -> Result<bool, HistoryError> {
    let all = of.measurements();
    for kept in read::wholes(connection, number, Extent::Whole)? {
        let Some(shown) = all.iter().find(|m| m.id == kept.id) else { return Ok(false) };
        let shown =
            serde_json::to_value(shown).map_err(|e| unreadable(connection, &kept.id, &e))?;
        if skeleton::left_out(&kept.document, &shown).is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}
