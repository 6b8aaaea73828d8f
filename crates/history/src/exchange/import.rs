//! Imports results from files: all of a file, or nothing of it.

use std::collections::BTreeMap;
use std::io::BufRead;

use results::{Document, Measurement};

use super::error::{ExchangeError, LineError};
use super::jsonl::{Item, LINE_BYTES, Line, Reader, Remark};
use crate::foreign::Taker;
use crate::read::Extent;
use crate::{Added, History, HistoryError, NewExperiment, Note, marks, read, record};

/// What an import changed in the history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imported {
    /// Results that were new to the history.
    pub new: u64,
    /// Results of which the history had the beginning.
    pub completed: u64,
    /// Results that the history had already.
    pub already_there: u64,
}

/// What an import did with one result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ImportOutcome {
    New,
    Completed,
    AlreadyThere,
}

/// Reads everything that [`History::import`] would take, and reports what is wrong with it. Keeps
/// nothing.
pub fn check_import(input: impl BufRead) -> Result<(), ExchangeError> {
    let mut reader = Reader::new(input, LINE_BYTES);
    while let Some(item) = reader.next()? {
        if let Item::Line(line) = item {
            line.measurements().map_err(|what| reader.at(what))?;
        }
    }
    Ok(())
}

impl History {
    /// Takes every result of an export, or of documents as the commands print them. Where anything
    /// is wrong with any of it, the history stays as it was.
    pub fn import(&self, input: impl BufRead) -> Result<Imported, ExchangeError> {
        let mut reader = Reader::new(input, LINE_BYTES);
        self.connection.within(|| {
            let mut imported = Imported::default();
            while let Some(item) = reader.next()? {
                let taken = match item {
                    Item::Line(line) => self.take(&line),
                    Item::Result(document) => self.take_document(&document),
                };
                match taken.map_err(|what| reader.at(what))? {
                    ImportOutcome::New => imported.new += 1,
                    ImportOutcome::Completed => imported.completed += 1,
                    ImportOutcome::AlreadyThere => imported.already_there += 1,
                }
            }
            Ok(imported)
        })
    }

    /// Takes measurements of other tools. Their ids are made from the measurements: of two with the
    /// same id, the first stays. If one cannot be kept, none is.
    pub fn import_foreign(
        &self,
        measurements: impl IntoIterator<Item = Measurement>,
    ) -> Result<Imported, HistoryError> {
        let _room = self.connection.expect_much()?;
        self.connection.within(|| {
            let mut imported = Imported::default();
            let mut taker = Taker::new(&self.connection);
            for measurement in measurements {
                if taker.take(measurement)? {
                    imported.new += 1;
                } else {
                    imported.already_there += 1;
                }
            }
            Ok(imported)
        })
    }

    fn take_document(&self, document: &Document) -> Result<ImportOutcome, LineError> {
        match record::add(&self.connection, document) {
            Ok(Added::New) => Ok(ImportOutcome::New),
            Ok(Added::AlreadyThere) => Ok(ImportOutcome::AlreadyThere),
            Err(HistoryError::Differs { id }) => Err(conflict(&id, "the document")),
            Err(error) => Err(error.into()),
        }
    }

    fn take(&self, line: &Line) -> Result<ImportOutcome, LineError> {
        let id = line.about.id.as_str();
        let measurements: BTreeMap<u32, &Measurement> = line.measurements()?.into_iter().collect();
        let number = read::number_of(&self.connection, id)?;
        let taken = match number {
            None => {
                self.begin_line(line)?;
                self.put(line, measurements)?;
                ImportOutcome::New
            }
            Some(number) => self.complete(line, number, measurements)?,
        };
        self.describe(line, taken)?;
        Ok(taken)
    }

    fn begin_line(&self, line: &Line) -> Result<(), HistoryError> {
        let about = &line.about;
        record::begin(
            &self.connection,
            &NewExperiment {
                id: &about.id,
                schema: &about.schema,
                kind: &about.kind,
                title: &about.title,
                started: &about.started,
                plan_id: &about.plan_id,
                plan: &about.plan,
            },
        )
    }

    /// Keeps measurements, and how it ended.
    fn put(
        &self,
        line: &Line,
        measurements: BTreeMap<u32, &Measurement>,
    ) -> Result<(), HistoryError> {
        let connection = &self.connection;
        let about = &line.about;
        for (cell, measurement) in measurements {
            record::keep(connection, &about.id, cell, measurement)?;
        }
        if let Some(document) = &line.document {
            record::finish(connection, document)?;
        }
        record::end(connection, &about.id, about.status, about.finished.as_deref())
    }

    /// Adds to a result that is there what it does not have, if it is the same one.
    fn complete(
        &self,
        line: &Line,
        number: i64,
        mut measurements: BTreeMap<u32, &Measurement>,
    ) -> Result<ImportOutcome, LineError> {
        let id = line.about.id.as_str();
        let kept = read::measurements(&self.connection, number, Extent::Whole)?;
        let mut more_here = false;
        for kept in &kept {
            match measurements.remove(&kept.cell) {
                None => more_here = true,
                Some(measurement) if *measurement == kept.measurement => {}
                Some(_) => {
                    return Err(conflict(id, &format!("the measurement of cell {}", kept.cell)));
                }
            }
        }
        let there = read::document(&self.connection, id, Extent::Whole)?;
        match (more_here, measurements.is_empty()) {
            (true, true) => Ok(ImportOutcome::AlreadyThere),
            (true, false) => Err(conflict(id, "each has measurements that the other has not")),
            (false, true) if line.document.is_none() || there == line.document => {
                Ok(ImportOutcome::AlreadyThere)
            }
            (false, true) if there.is_some() => Err(conflict(id, "the document")),
            (false, _) => {
                self.put(line, measurements)?;
                Ok(ImportOutcome::Completed)
            }
        }
    }

    /// Adds the tags and notes that are not there.
    fn describe(&self, line: &Line, taken: ImportOutcome) -> Result<(), LineError> {
        let (connection, id) = (&self.connection, line.about.id.as_str());
        for tag in &line.about.tags {
            marks::tag(connection, id, tag)?;
        }
        let there =
            if taken == ImportOutcome::New { Vec::new() } else { marks::notes(connection, id)? };
        for Remark { written, text } in line.about.notes.iter().cloned() {
            let note = Note { written, text };
            if !there.contains(&note) {
                marks::note(connection, id, &note)?;
            }
        }
        Ok(())
    }
}

fn conflict(id: &str, what: &str) -> LineError {
    LineError::Conflict { id: id.to_owned(), what: what.to_owned() }
}
