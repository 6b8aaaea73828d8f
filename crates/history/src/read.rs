//! Reads results and puts their parts together again.

use std::collections::HashMap;

use results::{Document, Measurement, Point};
use serde_json::Value as Json;

use crate::KeptMeasurement;
use crate::connection::Connection;
use crate::error::HistoryError;
use crate::record::unreadable;
use crate::value::{Mismatch, Row, values};
use crate::{parts, points, skeleton};

/// The number of an experiment's row.
pub(crate) fn number_of(connection: &Connection, id: &str) -> Result<Option<i64>, HistoryError> {
    let sql = "SELECT number FROM experiments WHERE id = $1";
    connection.query_one(sql, values![id], Row::take)
}

/// A measurement as JSON text, with its parts.
pub(crate) struct Whole {
    pub(crate) cell: u32,
    pub(crate) id: String,
    pub(crate) document: Json,
}

/// Which parts of a measurement to read besides its document.
#[derive(Default)]
struct Apart {
    histograms: Vec<(String, Option<String>, Option<String>)>,
    window: Vec<Json>,
    warmup: Vec<Json>,
}

/// How much of a measurement is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything, with series and histograms.
    Whole,
    /// Everything but series and histograms, which are most of it.
    Figures,
}

/// Every measurement of an experiment, in the order of the cells.
pub(crate) fn wholes(
    connection: &Connection,
    experiment: i64,
    extent: Extent,
) -> Result<Vec<Whole>, HistoryError> {
    let mut apart = match extent {
        Extent::Whole => apart(connection, experiment)?,
        Extent::Figures => HashMap::new(),
    };
    let environments = environments(connection, experiment)?;
    let sql = "SELECT m.number, m.cell, m.id, m.environment, d.document FROM measurements m JOIN \
               measurement_documents d ON d.measurement = m.number WHERE m.experiment = $1 ORDER \
               BY m.cell";
    let rows = connection.query(sql, values![experiment], |row| {
        let (number, cell, id): (i64, u32, String) = (row.take()?, row.take()?, row.take()?);
        Ok((number, cell, id, row.take::<i64>()?, row.take::<String>()?))
    })?;
    let whole = |(number, cell, id, environment, text): (i64, u32, String, i64, String)| {
        let rest = serde_json::from_str(&text).map_err(|e| unreadable(connection, &id, &e))?;
        let environment = environments.get(&environment).cloned().unwrap_or_default();
        let apart = apart.remove(&number).unwrap_or_default();
        let histograms = histograms(apart.histograms);
        let document =
            parts::put_together(rest, environment, histograms, apart.window, apart.warmup);
        Ok(Whole { cell, id, document })
    };
    rows.into_iter().map(whole).collect()
}

/// Series and histograms, by the number of their measurement.
fn apart(connection: &Connection, experiment: i64) -> Result<HashMap<i64, Apart>, HistoryError> {
    let mut apart: HashMap<i64, Apart> = HashMap::new();
    let sql = "SELECT h.measurement, h.place, h.same_as, h.histogram FROM measurements m JOIN \
               histograms h ON h.measurement = m.number WHERE m.experiment = $1";
    let read = |row: &mut Row| Ok((row.take()?, (row.take()?, row.take()?, row.take()?)));
    for (measurement, histogram) in connection.query(sql, values![experiment], read)? {
        apart.entry(measurement).or_default().histograms.push(histogram);
    }
    let sql = format!(
        "SELECT s.measurement, s.part, s.{} FROM measurements m JOIN series s ON s.measurement = \
         m.number WHERE m.experiment = $1 ORDER BY s.measurement, s.part, s.number",
        points::COLUMNS.join(", s.")
    );
    for (measurement, part, point) in connection.query(&sql, values![experiment], series_row)? {
        let apart = apart.entry(measurement).or_default();
        let points = if part == "warmup" { &mut apart.warmup } else { &mut apart.window };
        let point = serde_json::to_value(point);
        points.push(point.map_err(|e| unreadable(connection, "a series", &e))?);
    }
    Ok(apart)
}

fn series_row(row: &mut Row) -> Result<(i64, String, Point), Mismatch> {
    Ok((row.take()?, row.take()?, points::read(row)?))
}

/// Every histogram with its place, those that are kept at another place too.
fn histograms(rows: Vec<(String, Option<String>, Option<String>)>) -> Vec<(String, String)> {
    let texts: HashMap<String, String> =
        rows.iter().filter_map(|(place, _, text)| Some((place.clone(), text.clone()?))).collect();
    let text = |(place, same, text): (String, Option<String>, Option<String>)| {
        let text = text.or_else(|| texts.get(&same?).cloned())?;
        Some((place, text))
    };
    rows.into_iter().filter_map(text).collect()
}

fn environments(
    connection: &Connection,
    experiment: i64,
) -> Result<HashMap<i64, Json>, HistoryError> {
    let sql = "SELECT number, document FROM environments WHERE number IN (SELECT environment FROM \
               measurements WHERE experiment = $1)";
    let read = |row: &mut Row| Ok((row.take::<i64>()?, row.take::<String>()?));
    let rows = connection.query(sql, values![experiment], read)?;
    let parsed = rows.into_iter().map(|(number, text)| {
        let json = serde_json::from_str(&text);
        Ok((number, json.map_err(|e| unreadable(connection, "an environment", &e))?))
    });
    parsed.collect()
}

/// Every measurement of an experiment, in the order of the cells.
pub(crate) fn measurements(
    connection: &Connection,
    experiment: i64,
    extent: Extent,
) -> Result<Vec<KeptMeasurement>, HistoryError> {
    let kept = |whole: Whole| {
        let measurement: Measurement = serde_json::from_value(whole.document)
            .map_err(|error| unreadable(connection, &whole.id, &error))?;
        Ok(KeptMeasurement { cell: whole.cell, measurement })
    };
    wholes(connection, experiment, extent)?.into_iter().map(kept).collect()
}

/// The whole result of an experiment; `None` if it never came to its end.
pub(crate) fn document(
    connection: &Connection,
    id: &str,
    extent: Extent,
) -> Result<Option<Document>, HistoryError> {
    let sql = "SELECT e.number, d.document FROM experiments e JOIN documents d ON d.experiment = \
               e.number WHERE e.id = $1 AND d.document IS NOT NULL";
    let read = |row: &mut Row| Ok((row.take::<i64>()?, row.take::<String>()?));
    let Some((number, text)) = connection.query_one(sql, values![id], read)? else {
        return Ok(None);
    };
    let mut whole: Json =
        serde_json::from_str(&text).map_err(|error| unreadable(connection, id, &error))?;
    let kept: HashMap<String, Json> =
        wholes(connection, number, extent)?.into_iter().map(|w| (w.id, w.document)).collect();
    skeleton::resolve(&mut whole, &kept);
    let document =
        Document::from_value(whole).map_err(|error| unreadable(connection, id, &error))?;
    Ok(Some(document))
}
