//! Exports results one after the other, so that memory does not grow with the history.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read as _, Write};

use results::Measurement;

use super::columns::Column;
use super::error::ExchangeError;
use super::jsonl::{self, About, Cell, Line, Remark};
use super::tables::{LOADS, SERIES, SQLIO, SeriesRow};
use super::{csv, parquet};
use crate::read::Extent;
use crate::{Filter, History, HistoryError, KeptMeasurement, Load, Order, Page, list, marks, read};

/// Rows that are held before they are written; a row group of Parquet.
const ROWS: usize = 8192;
/// Results that are asked for at once.
const RESULTS: u64 = 500;

/// What a table has for rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// One row per measurement, with every column.
    Measurements,
    /// Measurements, with the columns of SQLIO's tools only.
    Sqlio,
    /// The points of the measurements' series.
    Series,
}

impl Rows {
    fn name(self) -> &'static str {
        match self {
            Self::Measurements => "measurements/1",
            Self::Sqlio => "sqlio/1",
            Self::Series => "series/1",
        }
    }

    fn csv_head(self) -> String {
        match self {
            Self::Measurements => csv::head(&LOADS),
            Self::Sqlio => csv::head(SQLIO),
            Self::Series => csv::head(SERIES),
        }
    }
}

/// In which format results are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One result on a line, with all that a history knows of it.
    JsonLines,
    /// A table as text, one line per row.
    Csv(Rows),
    /// A table with types, compressed (Parquet).
    Parquet(Rows),
}

impl Format {
    /// Whether a file is an export of this format.
    pub fn is_one(self, file: File) -> io::Result<bool> {
        match self {
            Self::JsonLines => begins_with(file, &jsonl::head()),
            Self::Csv(rows) => begins_with(file, &format!("{}\n", rows.csv_head())),
            Self::Parquet(rows) => Ok(parquet::holds(file, rows.name())),
        }
    }
}

fn begins_with(file: File, head: &str) -> io::Result<bool> {
    let mut found = Vec::new();
    file.take(head.len() as u64).read_to_end(&mut found)?;
    Ok(found == head.as_bytes())
}

/// The results that an export contains.
#[derive(Debug, Clone, PartialEq)]
pub enum Chosen {
    /// All that fit, the oldest first. Of a table, only the measurements that fit.
    Fitting(Box<Filter>),
    /// The results with these ids, in this order.
    These(Vec<String>),
}

/// How much an export wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// How many results were exported. Of a table, also those that gave no row.
    pub results: u64,
    /// Rows of a table; absent for JSON lines.
    pub rows: Option<u64>,
}

impl History {
    /// Writes the chosen results to `out`, in this format.
    pub fn export(
        &self,
        chosen: &Chosen,
        format: Format,
        out: &mut (dyn Write + Send),
    ) -> Result<Exported, ExchangeError> {
        match format {
            Format::JsonLines => self.export_lines(chosen, out),
            Format::Csv(Rows::Measurements) => self.export_csv(chosen, &LOADS, Self::loads_of, out),
            Format::Csv(Rows::Sqlio) => self.export_csv(chosen, SQLIO, Self::loads_of, out),
            Format::Csv(Rows::Series) => self.export_csv(chosen, SERIES, Self::series_of, out),
            Format::Parquet(rows) => match rows {
                Rows::Measurements => {
                    self.export_parquet(chosen, rows, &LOADS, Self::loads_of, out)
                }
                Rows::Sqlio => self.export_parquet(chosen, rows, SQLIO, Self::loads_of, out),
                Rows::Series => self.export_parquet(chosen, rows, SERIES, Self::series_of, out),
            },
        }
    }

    fn export_lines(
        &self,
        chosen: &Chosen,
        out: &mut dyn Write,
    ) -> Result<Exported, ExchangeError> {
        jsonl::write_head(out).map_err(ExchangeError::Write)?;
        let results = self.each(chosen, |id| {
            // Deleted meanwhile: there is nothing to write.
            let Some(line) = self.connection.snapshot(|| self.line(id))? else {
                return Ok(false);
            };
            jsonl::write_result(out, &line).map_err(ExchangeError::Write)?;
            Ok(true)
        })?;
        jsonl::write_tail(out, results).map_err(ExchangeError::Write)?;
        out.flush().map_err(ExchangeError::Write)?;
        Ok(Exported { results, rows: None })
    }

    fn export_csv<R>(
        &self,
        chosen: &Chosen,
        columns: &'static [Column<R>],
        of: RowsOf<R>,
        out: &mut dyn Write,
    ) -> Result<Exported, ExchangeError> {
        writeln!(out, "{}", csv::head(columns)).map_err(ExchangeError::Write)?;
        let exported = self.each_batch(chosen, of, |rows| csv::write(out, columns, rows))?;
        out.flush().map_err(ExchangeError::Write)?;
        Ok(exported)
    }

    fn export_parquet<R>(
        &self,
        chosen: &Chosen,
        rows: Rows,
        columns: &'static [Column<R>],
        of: RowsOf<R>,
        out: &mut (dyn Write + Send),
    ) -> Result<Exported, ExchangeError> {
        let mut table =
            parquet::Table::begin(out, rows.name(), columns).map_err(ExchangeError::Write)?;
        let exported = self.each_batch(chosen, of, |rows| table.write(rows))?;
        table.finish().map_err(ExchangeError::Write)?;
        Ok(exported)
    }

    /// Hands over the rows of every chosen result, so many at once.
    fn each_batch<R>(
        &self,
        chosen: &Chosen,
        of: RowsOf<R>,
        mut write: impl FnMut(&[R]) -> io::Result<()>,
    ) -> Result<Exported, ExchangeError> {
        let all = Filter::default();
        let fitting = if let Chosen::Fitting(filter) = chosen { filter } else { &all };
        let mut batch: Vec<R> = Vec::new();
        let mut count = 0;
        let results = self.each(chosen, |id| {
            let filter = Filter { experiment_id: Some(id.to_owned()), ..fitting.clone() };
            for row in self.connection.snapshot(|| of(self, id, &filter))? {
                batch.push(row);
                count += 1;
                if batch.len() >= ROWS {
                    write(&batch).map_err(ExchangeError::Write)?;
                    batch.clear();
                }
            }
            Ok(true)
        })?;
        if !batch.is_empty() {
            write(&batch).map_err(ExchangeError::Write)?;
        }
        Ok(Exported { results, rows: Some(count) })
    }

    /// Does something with the id of every chosen result; how many it counted.
    fn each(
        &self,
        chosen: &Chosen,
        mut work: impl FnMut(&str) -> Result<bool, ExchangeError>,
    ) -> Result<u64, ExchangeError> {
        let mut count = 0;
        match chosen {
            Chosen::These(ids) => {
                for id in ids {
                    count += u64::from(work(id)?);
                }
            }
            Chosen::Fitting(filter) => {
                let mut last = None;
                loop {
                    let next = list::following(&self.connection, filter, last.as_ref(), RESULTS)?;
                    for (_, id) in &next {
                        count += u64::from(work(id)?);
                    }
                    let Some(end) = next.into_iter().next_back() else { break };
                    last = Some(end);
                }
            }
        }
        Ok(count)
    }

    /// All that is known of a result; `None` if no result has that id.
    fn line(&self, id: &str) -> Result<Option<Line>, HistoryError> {
        let connection = &self.connection;
        let Some(number) = read::number_of(connection, id)? else { return Ok(None) };
        let entry = list::find(connection, id)?;
        let document = read::document(connection, id, Extent::Whole)?;
        let inside: HashMap<&str, &Measurement> = document
            .iter()
            .flat_map(results::Document::measurements)
            .map(|m| (m.id.as_str(), m))
            .collect();
        let kept = read::measurements(connection, number, Extent::Whole)?.into_iter();
        let cells = kept.map(|KeptMeasurement { cell: number, measurement }| {
            let same = inside.get(measurement.id.as_str()) == Some(&&measurement);
            let id = measurement.id.clone();
            Cell { number, id, measurement: (!same).then(|| Box::new(measurement)) }
        });
        let cells = cells.collect();
        let notes = marks::notes(connection, id)?.into_iter();
        let about = About {
            id: entry.id,
            schema: entry.schema,
            kind: entry.kind,
            title: entry.title,
            started: entry.started,
            finished: entry.finished,
            status: entry.status,
            plan_id: entry.plan_id,
            plan: entry.plan,
            tags: entry.tags,
            notes: notes.map(|note| Remark { written: note.written, text: note.text }).collect(),
            cells,
        };
        Ok(Some(Line { about, document }))
    }

    fn loads_of(&self, _: &str, filter: &Filter) -> Result<Vec<Load>, HistoryError> {
        let mut loads = self.loads(filter, Order::OLDEST, Page::ALL)?;
        loads.sort_by_key(|load| load.cell);
        Ok(loads)
    }

    fn series_of(&self, id: &str, filter: &Filter) -> Result<Vec<SeriesRow>, HistoryError> {
        let cells: HashSet<u32> = self.loads_of(id, filter)?.iter().map(|l| l.cell).collect();
        let Some(number) = read::number_of(&self.connection, id)? else { return Ok(Vec::new()) };
        let kept = read::measurements(&self.connection, number, Extent::Whole)?;
        let fitting = kept.iter().filter(|kept| cells.contains(&kept.cell));
        Ok(fitting.flat_map(|kept| SeriesRow::all(&kept.measurement, id, kept.cell)).collect())
    }
}

/// The rows of one result, of which a filter names the fitting measurements.
type RowsOf<R> = fn(&History, &str, &Filter) -> Result<Vec<R>, HistoryError>;
