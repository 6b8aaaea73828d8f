//! Traces of what a live system asks of its storage: recorded, brought in from other tools, shown.

mod anonymise;
mod check;
mod convert;
mod disks;
mod files;
mod import;
mod record;
mod surroundings;

pub use anonymise::anonymise_trace;
pub use capture::Method as CaptureMethod;
pub(crate) use convert::{kind, op};
pub use disks::device_path;
pub(crate) use import::BLKPARSE;
pub use import::{ImportRequest, TraceFormat, import_trace};
pub use record::{RecordRequest, Recorded, record_trace};

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Seek as _};
use std::path::Path;

use history::{Added, History};
use jiff::{SignedDuration, Timestamp};
use results::{Capture, Conclusion as _, Document, Environment, Experiment, Status};
use serde::Serialize;
use trace::profile::Profile;
use trace::{Annexes, Ending, Header, LogFinder, Ordered, Reader, TraceError};

use crate::conduct::{Conducted, JobError, Session, both};
use crate::event::Event;
use crate::model::ModelRequest;
use crate::recorder::Recording;
use crate::subject::name_of;

/// Says what a trace is like, or makes a model of it: delivers the document, and keeps it where
/// there is a history. The same trace shown again is the same document.
///
/// # Errors
/// The file is not a trace, cannot be read, or has no I/O; or the model cannot be written.
pub fn show_trace(
    path: &Path,
    model: Option<ModelRequest<'_>>,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    match model {
        Some(request) => crate::model::model_trace(&request, session),
        None => Ok(keep_shown(document(path)?, session)),
    }
}

/// Delivers a document of a trace, and keeps it where there is a history.
pub(crate) fn keep_shown(document: Document, session: &mut Session<'_>) -> Conducted {
    let delivered = session.sink.deliver(&document);
    let kept = session.recording.map_or(Ok(()), |recording| {
        keep(&document, recording)
            .map(|id| session.sink.hear(&Event::Kept { id, history: recording.named.clone() }))
            .map_err(|error| format!("{error}\nthe result is shown, but it is not recorded"))
    });
    Conducted { documents: vec![document], kept: both(delivered, kept) }
}

fn keep(document: &Document, recording: &Recording) -> Result<String, history::HistoryError> {
    let history = History::open(&recording.place)?;
    let (Added::New | Added::AlreadyThere) = history.add(document)?;
    let id = document.id().to_owned();
    recording.tags.iter().try_for_each(|tag| history.tag(&id, tag).map(drop))?;
    Ok(id)
}

fn document(path: &Path) -> Result<Document, JobError> {
    let wrong = |error: TraceError| cannot_read(path, &error);
    let file = crate::files::open(path).map_err(|error| cannot_read(path, &error))?;
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    let annexes = Annexes::read(BufReader::with_capacity(1 << 20, &file)).map_err(wrong)?;
    let mut files = files::FileCounts::new(&annexes.files);
    (&file).rewind().map_err(|error| cannot_read(path, &error))?;
    let mut reader = Reader::new(BufReader::with_capacity(1 << 20, file)).map_err(wrong)?;
    let mut profile = Profile::recorded_from(reader.header().recorded_from_ns);
    let mut finder = LogFinder::new();
    for io in Ordered::new(reader.by_ref()) {
        let io = io.map_err(wrong)?;
        profile.add(&io);
        finder.add(&files.finder.marked(io));
        files.add(&io);
    }
    let summary = profile.finish_at(reader.recorded_until_ns());
    if summary.ios == 0 {
        let text =
            format!("the trace `{}` has no I/O; record one, or name another", path.display());
        return Err(JobError::CannotRun(text));
    }
    let began = reader.header().began_unix_ms.and_then(|ms| i64::try_from(ms).ok());
    let began = began.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let written = || modified.ok().and_then(|time| Timestamp::try_from(time).ok());
    let started = began.or_else(written).unwrap_or(Timestamp::UNIX_EPOCH);
    let ending = reader.ending().unwrap_or(Ending::Cut);
    let mut conclusion = convert::capture(&summary, reader.header(), (ending, reader.lost()));
    conclusion.span = convert::span(reader.header(), reader.recorded_until_ns());
    let logs = finder.finish();
    conclusion.writes = crate::model::writes(path, &logs).map_err(wrong)?;
    conclusion.files = files.finish(path, &logs).map_err(wrong)?;
    conclusion.databases = annexes.databases.iter().map(files::database).collect();
    experiment(path, started, conclusion, reader.header())
}

/// Puts a conclusion into the document of a trace.
fn experiment(
    path: &Path,
    started: Timestamp,
    conclusion: Capture,
    header: &Header,
) -> Result<Document, JobError> {
    let seconds = conclusion.seconds;
    let length = SignedDuration::try_from_secs_f64(seconds).unwrap_or_default();
    let file_bytes =
        |device: &results::CapturedDevice| device.size_bytes.unwrap_or(device.end_bytes);
    let document = Experiment {
        schema: Capture::SCHEMA.to_owned(),
        id: String::new(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: started.to_string(),
        finished: started.checked_add(length).unwrap_or(started).to_string(),
        status: Status::Complete,
        plan: None,
        targets: vec![fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())],
        file_bytes: conclusion.devices.iter().map(file_bytes).fold(0, u64::saturating_add),
        environment: Environment { host: None, storage: Vec::new() },
        measurements: Vec::new(),
        method: convert::method(&conclusion),
        warnings: convert::warnings(&conclusion, header),
        conclusion,
    };
    conclude(document, started, |e| Document::Capture(Box::new(e)))
}

/// The document, whose name follows from what is in it.
pub(crate) fn conclude<C: Serialize>(
    mut document: Experiment<C>,
    started: Timestamp,
    wrap: impl FnOnce(Experiment<C>) -> Document,
) -> Result<Document, JobError> {
    let name = name_of(&serde_json::to_string(&document)?);
    document.id = format!("{:012x}-{name}-0", started.as_millisecond());
    Ok(wrap(document))
}

fn cannot_read(path: &Path, error: &dyn std::fmt::Display) -> JobError {
    JobError::CannotRun(format!("`{}`: {error}", path.display()))
}

/// Whether a file is a trace as iosonde wrote it: every block has its checksum, and nothing is
/// missing at the end or comes after it.
fn is_whole(file: &File) -> io::Result<bool> {
    let mut bytes = BufReader::with_capacity(1 << 20, file);
    let Ok(mut reader) = Reader::new(&mut bytes) else { return Ok(false) };
    if reader.by_ref().any(|io| io.is_err()) || reader.ending() != Some(Ending::Whole) {
        return Ok(false);
    }
    Ok(bytes.fill_buf()?.is_empty())
}
