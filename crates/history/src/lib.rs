//! A store in which every finished measurement is committed before the next begins.
//!
//! A [`History`] holds experiments and their measurements, in one SQLite file or in a database of a
//! PostgreSQL server; the tables are the same and documented in `docs/history.md`. It is safe with
//! several processes at once and after a crash at any moment. It refuses and does not change files
//! that are not a history, that are damaged, or that another version made. It decides nothing: what
//! an experiment does next is its own matter.

pub mod compare;
mod connection;
pub mod drift;
mod environment;
mod error;
mod exchange;
mod foreign;
mod hold;
mod list;
mod live;
mod load;
mod marks;
mod opened;
mod parts;
mod place;
mod points;
pub mod published;
mod read;
mod record;
mod recordings;
mod schema;
mod skeleton;
pub mod trend;
mod upkeep;
mod value;

#[cfg(unix)]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod platform;

use std::cell::OnceCell;
use std::path::Path;

use results::{Document, Measurement, RecordedPoint, Status};

use crate::connection::{Connection, Use};
use crate::read::Extent;
use crate::value::{Row, values};

pub use error::{DatabaseError, HistoryError};
pub use exchange::{
    Chosen, ExchangeError, Exported, Format, Imported, LineError, Rows, check_import,
};
pub use hold::Hold;
pub use list::{By, Entry, Filter, Listing, Order, Page, State};
pub use live::{LiveEvent, LiveRun};
pub use marks::{Deleted, Note, check_tag};
pub use place::{Place, place};
pub use results::Load;
pub use servers::ServerUrl;

/// A history that is open for reading and writing.
#[derive(Debug)]
pub struct History {
    place: Place,
    connection: Connection,
    /// The separate connection for live events; made when it is first needed.
    live: OnceCell<Connection>,
}

/// An experiment that is about to begin.
#[derive(Debug, Clone, Copy)]
pub struct NewExperiment<'a> {
    /// Unique name; the result document carries the same.
    pub id: &'a str,
    /// Schema name of the result document, for example `iosonde.sweep/1`.
    pub schema: &'a str,
    /// The command that measures, for example `sweep`.
    pub kind: &'a str,
    /// The title that a list shows.
    pub title: &'a str,
    /// When it starts: UTC, RFC 3339.
    pub started: &'a str,
    /// Name of the plan; the same plan has the same name.
    pub plan_id: &'a str,
    /// The plan as JSON: all that is needed to continue with it later.
    pub plan: &'a str,
}

/// An experiment as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// Unique name; the result document carries the same.
    pub id: String,
    /// Schema name of the result document.
    pub schema: String,
    /// The command that measures, for example `sweep`.
    pub kind: String,
    /// The title that a list shows.
    pub title: String,
    /// When it started: UTC, RFC 3339.
    pub started: String,
    /// End, UTC, RFC 3339; none while it runs and after a crash.
    pub finished: Option<String>,
    /// How it ended; none while it runs and after a crash.
    pub status: Option<Status>,
    /// Name of the plan; the same plan has the same name.
    pub plan_id: String,
    /// The plan as JSON; `null` if the result was added without one.
    pub plan: String,
    /// How many measurements are stored so far.
    pub cells: u32,
}

/// A stored measurement, and its cell.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptMeasurement {
    /// The cell of the plan, counted from 0.
    pub cell: u32,
    /// The figures, with the workload that gave them.
    pub measurement: Measurement,
}

/// What became of a result that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is in the history now.
    New,
    /// It was there before, the same.
    AlreadyThere,
}

const EXPERIMENT: &str = "SELECT e.id, e.schema, e.kind, e.title, e.started, e.finished, \
                          e.status, e.plan_id, d.plan, e.measurements FROM experiments e JOIN \
                          documents d ON d.experiment = e.number";

/// Whether this process has the file open as a history. Then nothing else in the process may open
/// it: closing it would drop the locks by which SQLite protects the recording.
#[must_use]
pub fn is_open(path: &Path) -> bool {
    opened::is_open(path)
}

impl History {
    /// Opens a history, or makes one where there is nothing.
    ///
    /// Anything that is not a history, also an empty file, is an error, and is not written to.
    pub fn open(place: &Place) -> Result<Self, HistoryError> {
        let connection = match place {
            Place::File(path) => {
                if !schema::refuse_foreign(path)? {
                    schema::make(path)?;
                }
                Connection::sqlite(path, Use::Records)?
            }
            Place::Postgres(url) => Connection::postgres(url, Use::Records)?,
        };
        schema::make_ready(&connection)?;
        Ok(Self { place: place.clone(), connection, live: OnceCell::new() })
    }

    /// Refuses a file that [`open`](Self::open) would refuse; for a rehearsal, which touches
    /// nothing.
    pub fn rehearse(place: &Place) -> Result<(), HistoryError> {
        match place {
            Place::File(path) => schema::rehearse(path),
            Place::Postgres(_) => Ok(()),
        }
    }

    /// Opens an existing history for reading.
    pub fn open_existing(place: &Place) -> Result<Self, HistoryError> {
        let there = match place {
            Place::File(path) => schema::refuse_foreign(path)?,
            Place::Postgres(url) => schema::version(&Connection::postgres(url, Use::Records)?)? > 0,
        };
        if there { Self::open(place) } else { Err(HistoryError::NotThere { place: place.clone() }) }
    }

    /// Whether the disk of its file is full: it can be read, and nothing can be stored.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.connection.is_full()
    }

    /// The place that it was opened at.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Does several things in one transaction: all of them, or none if one fails.
    pub fn all_or_nothing<T, E: From<HistoryError>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.connection.within(work)
    }

    /// Stores that an experiment begins, before its first measurement.
    pub fn begin(&self, new: &NewExperiment<'_>) -> Result<(), HistoryError> {
        self.connection.within(|| record::begin(&self.connection, new))
    }

    /// Keeps the measurement of one cell. When this returns, it is on the disk.
    pub fn keep(
        &self,
        experiment: &str,
        cell: u32,
        measurement: &Measurement,
    ) -> Result<(), HistoryError> {
        self.connection.within(|| record::keep(&self.connection, experiment, cell, measurement))
    }

    /// Keeps the whole result of an experiment that was begun, with those of its measurements that
    /// are not kept yet.
    pub fn finish(&self, document: &Document) -> Result<(), HistoryError> {
        self.connection.within(|| {
            record::finish(&self.connection, document)?;
            recordings::forget(&self.connection, document.id())
        })
    }

    /// Keeps a point of a recording while it is recorded, in the place of the one with its number.
    /// Waits for no disk: a crash of the program loses nothing, one of the system the last moments.
    pub fn keep_point(
        &self,
        id: &str,
        number: u64,
        point: &RecordedPoint,
    ) -> Result<(), HistoryError> {
        recordings::keep(self.live()?, id, number, point)
    }

    /// Keeps these points of a recording in the place of all that were kept.
    pub fn replace_points(&self, id: &str, points: &[RecordedPoint]) -> Result<(), HistoryError> {
        let connection = self.live()?;
        connection.within(|| recordings::replace(connection, id, points))
    }

    /// Stores how an experiment without a result ended.
    pub fn end(&self, id: &str, status: Status, finished: &str) -> Result<(), HistoryError> {
        let finished = Some(finished);
        self.connection.within(|| record::end(&self.connection, id, Some(status), finished))
    }

    /// Notes that an experiment continues: it has no result until it comes to its end again.
    pub fn go_on(&self, id: &str) -> Result<(), HistoryError> {
        self.connection.within(|| record::go_on(&self.connection, id))
    }

    /// Removes the measurement of a cell, which is to be made again.
    pub fn forget(&self, id: &str, cell: u32) -> Result<(), HistoryError> {
        self.connection.within(|| record::forget(&self.connection, id, cell))
    }

    /// Keeps other processes from working on an experiment; an error where one does.
    pub fn hold(&self, id: &str) -> Result<Hold, HistoryError> {
        hold::hold(&self.place, id)
    }

    /// Keeps a whole result at once. The same id with other content is an error.
    pub fn add(&self, document: &Document) -> Result<Added, HistoryError> {
        self.connection.within(|| record::add(&self.connection, document))
    }

    /// The experiments of a kind that did not come to their end, the newest first; those of one
    /// plan, or of any.
    pub fn unfinished(
        &self,
        kind: &str,
        plan_id: Option<&str>,
    ) -> Result<Vec<Experiment>, HistoryError> {
        let plan = if plan_id.is_some() { "AND e.plan_id = $2" } else { "" };
        let sql = format!(
            "{EXPERIMENT} WHERE e.kind = $1 AND (e.status IS NULL OR e.status <> 'complete') \
             {plan} ORDER BY e.started DESC, e.id DESC"
        );
        let mut values = vec![kind.into()];
        values.extend(plan_id.map(Into::into));
        self.connection.query(&sql, &values, experiment_of)
    }

    /// An unfinished or finished experiment by its id.
    pub fn experiment(&self, id: &str) -> Result<Option<Experiment>, HistoryError> {
        let sql = format!("{EXPERIMENT} WHERE e.id = $1");
        self.connection.query_one(&sql, values![id], experiment_of)
    }

    /// The measurements of an experiment in the order of their cells.
    pub fn measurements(&self, experiment: &str) -> Result<Vec<KeptMeasurement>, HistoryError> {
        self.connection.snapshot(|| match read::number_of(&self.connection, experiment)? {
            Some(number) => read::measurements(&self.connection, number, Extent::Whole),
            None => Ok(Vec::new()),
        })
    }

    /// The results that fit a filter.
    pub fn list(&self, filter: &Filter, order: Order, page: Page) -> Result<Listing, HistoryError> {
        list::list(&self.connection, filter, order, page)
    }

    /// The one result that is meant: by its id, by the beginning of its id that no other has, or
    /// `latest`.
    pub fn find(&self, selector: &str) -> Result<Entry, HistoryError> {
        list::find(&self.connection, selector)
    }

    /// The results that are meant: as [`History::find`], or by `@TAG` every result with that tag,
    /// the oldest first.
    pub fn select(&self, selector: &str) -> Result<Vec<Entry>, HistoryError> {
        list::select(&self.connection, selector)
    }

    /// The results that several selectors mean, each once.
    pub fn select_all(&self, selectors: &[String]) -> Result<Vec<Entry>, HistoryError> {
        let mut entries: Vec<Entry> = Vec::new();
        for selector in selectors {
            for entry in self.select(selector)? {
                if !entries.iter().any(|known| known.id == entry.id) {
                    entries.push(entry);
                }
            }
        }
        Ok(entries)
    }

    /// The whole result of an experiment; `None` if it never came to its end.
    pub fn document(&self, id: &str) -> Result<Option<Document>, HistoryError> {
        self.connection.snapshot(|| read::document(&self.connection, id, Extent::Whole))
    }

    /// What there is of an experiment: the whole result, or every kept measurement of one that
    /// never came to its end.
    pub fn documents(&self, id: &str) -> Result<Vec<Document>, HistoryError> {
        self.some_documents(id, Extent::Whole)
    }

    /// The same without series and histograms: several times faster, and enough where only the
    /// figures are needed.
    pub fn figures(&self, id: &str) -> Result<Vec<Document>, HistoryError> {
        self.some_documents(id, Extent::Figures)
    }

    fn some_documents(&self, id: &str, extent: Extent) -> Result<Vec<Document>, HistoryError> {
        let connection = &self.connection;
        connection.snapshot(|| {
            if let Some(document) = read::document(connection, id, extent)? {
                return Ok(vec![document]);
            }
            if let Some(recording) = recordings::unfinished(connection, id)? {
                return Ok(vec![recording]);
            }
            let Some(number) = read::number_of(connection, id)? else { return Ok(Vec::new()) };
            let kept = read::measurements(connection, number, extent)?.into_iter();
            Ok(kept.map(|kept| Document::Measurement(Box::new(kept.measurement))).collect())
        })
    }

    /// The measurements that fit a filter, as rows.
    pub fn loads(
        &self,
        filter: &Filter,
        order: Order,
        page: Page,
    ) -> Result<Vec<Load>, HistoryError> {
        list::loads(&self.connection, filter, order, page)
    }

    /// Gives a result a tag. True if it did not have that tag before.
    pub fn tag(&self, id: &str, tag: &str) -> Result<bool, HistoryError> {
        self.connection.within(|| marks::tag(&self.connection, id, tag))
    }

    /// Takes a tag away from a result; whether it was there.
    pub fn untag(&self, id: &str, tag: &str) -> Result<bool, HistoryError> {
        self.connection.within(|| marks::untag(&self.connection, id, tag))
    }

    /// Every tag, and how many results have it.
    pub fn tags(&self) -> Result<Vec<(String, u64)>, HistoryError> {
        marks::tags(&self.connection)
    }

    /// Adds a note to a result, written now.
    pub fn note(&self, id: &str, text: &str) -> Result<(), HistoryError> {
        let written = jiff::Timestamp::now().to_string();
        self.add_note(id, &Note { written, text: text.to_owned() })
    }

    /// Adds a note that was written before.
    pub fn add_note(&self, id: &str, note: &Note) -> Result<(), HistoryError> {
        self.connection.within(|| marks::note(&self.connection, id, note))
    }

    /// The notes on a result, the oldest first.
    pub fn notes(&self, id: &str) -> Result<Vec<Note>, HistoryError> {
        marks::notes(&self.connection, id)
    }

    /// Takes a result away with everything that belongs to it.
    pub fn delete(&self, id: &str) -> Result<Deleted, HistoryError> {
        self.connection.within(|| marks::delete(&self.connection, id))
    }

    /// Everything that is wrong with the history, in words; nothing where all is well.
    pub fn check(&self) -> Result<Vec<String>, HistoryError> {
        upkeep::check(&self.connection)
    }

    /// A copy of the whole history in a file of SQLite that is not there yet, while others continue
    /// writing.
    pub fn backup(&self, to: &Path) -> Result<(), HistoryError> {
        upkeep::backup(&self.connection, to)
    }

    /// Shows a run to others. The `live_` functions do not wait for a disk (but for one event in
    /// 2000), nor long for anybody.
    pub fn live_begin(&self, run: &LiveRun) -> Result<(), HistoryError> {
        live::begin(self.live()?, run)
    }

    /// Says that a run is alive; one that is silent for 15 s is taken for lost.
    pub fn live_beat(&self, id: &str) -> Result<(), HistoryError> {
        live::beat(self.live()?, id)
    }

    /// Shows what happened in a run, as JSON.
    pub fn live_event(&self, id: &str, event: &str) -> Result<(), HistoryError> {
        live::event(self.live()?, id, event)
    }

    /// Tells those who watch that a run ended.
    pub fn live_end(&self, id: &str) -> Result<(), HistoryError> {
        live::end(self.live()?, id)
    }

    /// The runs in progress, the newest first.
    pub fn live_runs(&self) -> Result<Vec<LiveRun>, HistoryError> {
        live::runs(&self.connection)
    }

    /// Whether a process works on a result: it holds it, and no longer when it has ended in
    /// whatever way. Runs in progress are no proof: their signs of life may be missing on a busy
    /// host.
    #[must_use]
    pub fn is_running(&self, id: &str) -> bool {
        matches!(self.hold(id), Err(HistoryError::Held { .. }))
    }

    /// One run, also where it ended or was lost a moment ago.
    pub fn live_run(&self, id: &str) -> Result<Option<LiveRun>, HistoryError> {
        live::one(&self.connection, id)
    }

    /// What happened in a run after the event of a number; 0 is before the first.
    pub fn live_events(&self, id: &str, after: u64) -> Result<Vec<LiveEvent>, HistoryError> {
        live::events(&self.connection, id, after)
    }

    fn live(&self) -> Result<&Connection, HistoryError> {
        if let Some(connection) = self.live.get() {
            return Ok(connection);
        }
        let connection = match &self.place {
            Place::File(path) => Connection::sqlite(path, Use::Live)?,
            Place::Postgres(url) => Connection::postgres(url, Use::Live)?,
        };
        Ok(self.live.get_or_init(|| connection))
    }
}

fn experiment_of(row: &mut Row) -> Result<Experiment, value::Mismatch> {
    Ok(Experiment {
        id: row.take()?,
        schema: row.take()?,
        kind: row.take()?,
        title: row.take()?,
        started: row.take()?,
        finished: row.take()?,
        status: row.take::<Option<String>>()?.as_deref().and_then(Status::of_word),
        plan_id: row.take()?,
        plan: row.take()?,
        cells: row.take()?,
    })
}
