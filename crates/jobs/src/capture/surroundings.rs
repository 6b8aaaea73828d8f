//! What is kept next to the I/Os of a recording: the files under its targets, and what databases
//! counted.

use std::io::Write;

use capture::{FileWatch, FilesFound, FilesRequest};
use databases::{DatabaseRow, DatabaseSample, DatabaseUrl, DatabaseWindow, Watched};
use trace::{DatabaseUse, Moment, TraceError, Writer};

use super::record::RecordRequest;
use crate::conduct::JobError;

/// What is looked at before a recording and after it.
pub(super) struct Surroundings {
    watch: FileWatch,
    at_start: FilesFound,
    databases: Vec<Counted>,
    /// Some target is a file or has files.
    has_files: bool,
    notes: Vec<String>,
}

/// A database, and what it had counted before.
struct Counted {
    watched: Watched,
    before: DatabaseSample,
}

impl Surroundings {
    /// Looks at the files and asks the databases, before recording begins.
    ///
    /// # Errors
    /// A database does not answer, or names are wanted and no target has files.
    pub(super) fn begin(request: &RecordRequest<'_>, disks: &[String]) -> Result<Self, JobError> {
        let has_files = request.targets.iter().any(|target| target.is_dir() || target.is_file());
        if request.names && !has_files {
            let text = "`--names` keeps the names of the files under TARGET, and no TARGET is a \
                        file or a directory";
            return Err(JobError::Usage(text.to_owned()));
        }
        let urls = request.databases.iter().map(|url| DatabaseUrl::parse(url));
        let urls = urls.collect::<Result<Vec<_>, _>>();
        let urls = urls.map_err(|error| JobError::Usage(error.to_string()))?;
        let databases = urls.iter().map(counted).collect::<Result<Vec<_>, _>>()?;
        let (roots, names) = (request.targets, request.names);
        let mut watch = FileWatch::new(&FilesRequest { roots, devices: disks, names });
        let at_start = watch.look();
        let notes = at_start.notes.clone();
        Ok(Self { watch, at_start, databases, has_files, notes })
    }

    /// Whether a trace can have none of it.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_files && self.databases.is_empty()
    }

    /// Writes what is known before the first I/O.
    pub(super) fn write_start(&self, writer: &mut Writer<impl Write>) -> Result<(), TraceError> {
        writer.files(&self.at_start.files)?;
        writer.extents(Moment::Start, &self.at_start.extents)
    }

    /// Looks again, and writes that. Call it when recording has ended, so that this is not
    /// recorded.
    pub(super) fn write_end(&mut self, writer: &mut Writer<impl Write>) -> Result<(), TraceError> {
        if self.is_empty() {
            return Ok(());
        }
        for database in &mut self.databases {
            match database.counted() {
                Ok((counted, notes)) => {
                    writer.database(&counted)?;
                    self.notes.extend(notes);
                }
                Err(why) => self.notes.push(why),
            }
        }
        let found = self.watch.look();
        writer.files(&found.files)?;
        writer.extents(Moment::End, &found.extents)?;
        self.notes.extend(found.notes);
        Ok(())
    }

    /// What to tell the user, a line each.
    pub(super) fn notes(mut self) -> Vec<String> {
        self.notes.sort();
        self.notes.dedup();
        self.notes.into_iter().map(|note| format!("note: {note}")).collect()
    }
}

fn counted(url: &DatabaseUrl) -> Result<Counted, JobError> {
    let refused = |error: databases::DatabaseError| JobError::CannotRun(error.to_string());
    let mut watched = Watched::connect(url).map_err(refused)?;
    let before = watched.sample().map_err(refused)?;
    Ok(Counted { watched, before })
}

impl Counted {
    /// What was counted since, and what to tell the user about it; why there is nothing, otherwise.
    fn counted(&mut self) -> Result<(DatabaseUse, Vec<String>), String> {
        let name = self.watched.url().to_string();
        let after = self.watched.sample();
        let after = after.map_err(|error| format!("no figures of {name}: {error}"))?;
        let window = DatabaseWindow::between(&self.before, &after);
        if window.other_instance {
            return Err(format!("no figures of {name}: it was started anew, or is another server"));
        }
        let mut notes: Vec<String> = after.notes.iter().map(|n| format!("{name}: {n}")).collect();
        if !window.anew.is_empty() {
            notes.push(format!("{name} set some counters to 0, which are left out"));
        }
        let facts = self.watched.facts();
        let product = format!("{} {}", facts.kind, facts.version);
        Ok((use_of(&window, product), notes))
    }
}

/// The sum of all objects, and the counters of the whole database: these have no names of people.
fn use_of(window: &DatabaseWindow, product: String) -> DatabaseUse {
    let total = DatabaseRow::total(&window.rows);
    let counters = window.counters.iter().map(|row| (row.name.clone(), row.amount)).collect();
    let mut found = DatabaseUse {
        product: Some(product),
        seconds: window.seconds,
        counters,
        ..DatabaseUse::default()
    };
    if let Some(total) = total {
        found.reads = total.reads;
        found.read_bytes = total.read_bytes;
        found.read_latency_ns = total.read_latency_ns;
        found.writes = total.writes;
        found.written_bytes = total.written_bytes;
        found.write_latency_ns = total.write_latency_ns;
        found.syncs = total.syncs;
        found.sync_latency_ns = total.sync_latency_ns;
    }
    found
}
