//! What a command measures is recorded: each measurement before the next begins, and at the end the whole result.
//!
//! The history is opened before anything is measured, and one that cannot be used ends the command then. One that fails
//! later, on a full disk for example, does not end the measurement: its result is shown, and the command says what is
//! not recorded.

use std::ffi::OsString;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use history::{History, HistoryError, Hold, LiveRun, NewExperiment, Place};
use results::{Document, Measurement};
use serde::Serialize;
use survey::Progress;

use crate::display::Display;
use crate::exit::Failure;
use crate::live::Live;

/// Which history is read or written; the same flag for every command.
#[derive(Debug, Args)]
pub(crate) struct HistoryPlace {
    /// Where results are kept: a file, or postgres://… [default: iosonde/history.db in the user's data directory] [env:
    /// IOSONDE_HISTORY]
    #[arg(long, value_name = "PLACE", global = true, value_parser = OsStringValueParser::new().try_map(named))]
    pub history: Option<OsString>,
}

impl HistoryPlace {
    /// Where it is.
    pub(crate) fn place(&self) -> Result<Place, Failure> {
        // An empty variable of the environment is one that is not set. Read here, because an empty flag is a mistake.
        let variable = || std::env::var_os(VARIABLE).filter(|place| !place.is_empty());
        history::place(self.history.clone().or_else(variable)).map_err(failure)
    }

    /// The history, which must be there.
    pub(crate) fn existing(&self) -> Result<History, Failure> {
        History::open_existing(&self.place()?).map_err(failure)
    }
}

/// The variable of the environment that names the history.
const VARIABLE: &str = "IOSONDE_HISTORY";

/// A place that was named.
fn named(place: OsString) -> Result<OsString, &'static str> {
    if place.is_empty() {
        return Err("it is empty; name a file or a database, or leave the flag out");
    }
    Ok(place)
}

/// A history that cannot be used, as a failure of the command.
#[expect(clippy::needless_pass_by_value, reason = "the signature of map_err")]
pub(crate) fn failure(error: HistoryError) -> Failure {
    Failure::CannotRun(error.to_string())
}

/// Whether and where a result is recorded.
#[derive(Debug, Args)]
pub(crate) struct RecordingArgs {
    #[command(flatten)]
    pub place: HistoryPlace,

    /// Record nothing
    #[arg(long)]
    pub no_history: bool,

    /// A name under which the result is found again, as @NAME; may be given several times
    #[arg(long = "tag", value_name = "NAME", value_parser = tag, conflicts_with = "no_history")]
    pub tags: Vec<String>,
}

/// A name for results.
pub(crate) fn tag(text: &str) -> Result<String, HistoryError> {
    history::check_tag(text).map(|()| text.to_owned())
}

/// What is about to be measured.
#[derive(Debug, Clone)]
pub(crate) struct Subject {
    /// The command.
    pub kind: &'static str,
    /// Schema name of its document.
    pub schema: &'static str,
    /// What is done, in a phrase.
    pub title: String,
    /// What receives the I/O, in words.
    pub targets: String,
    /// The options as JSON.
    pub plan: String,
    /// Name of the plan.
    pub plan_id: String,
    /// Whether it takes real time, in which others can watch.
    pub watched: bool,
}

impl Subject {
    /// What is measured by these options.
    pub(crate) fn new<T: Serialize>(
        kind: &'static str,
        schema: &'static str,
        title: String,
        workload: (&[workload::Target], workload::EngineChoice),
        options: &T,
    ) -> Result<Self, Failure> {
        let plan = serde_json::to_string(options).map_err(|e| Failure::CannotRun(e.to_string()))?;
        let (targets, engine) = workload;
        let name = |target: &workload::Target| {
            let path = if engine.is_artificial() { None } else { target.path.canonicalize().ok() };
            path.as_ref().unwrap_or(&target.path).display().to_string()
        };
        let names: Vec<String> = targets.iter().map(name).collect();
        Ok(Self {
            kind,
            schema,
            title,
            targets: names.join(", "),
            plan_id: name_of(&plan),
            plan,
            watched: engine != workload::EngineChoice::Sim,
        })
    }
}

impl Subject {
    /// What those who watch see of it.
    fn live(&self, id: &str, started: &str) -> LiveRun {
        LiveRun {
            id: id.to_owned(),
            kind: self.kind.to_owned(),
            title: self.title.clone(),
            host: Some(inspect::Inspector::new().host().hostname),
            targets: self.targets.clone(),
            started: started.to_owned(),
            updated: String::new(),
            silent_seconds: 0.0,
            ended: false,
        }
    }
}

/// The same plan has the same name: FNV-1a of 64 bits over its JSON form.
fn name_of(plan: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", plan.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

/// Records one experiment. Without a history it does nothing.
pub(crate) struct Recorder {
    history: Option<History>,
    subject: Subject,
    tags: Vec<String>,
    /// How the place was named, for those who are to type it again.
    named: Option<OsString>,
    id: String,
    started: String,
    hold: Option<Hold>,
    begun: bool,
    cells: u32,
    /// Measurements that are in the history.
    kept: u32,
    /// Why one is not; said once.
    failed: bool,
    live: Option<Live>,
}

impl Recorder {
    /// Opens the history, which is made where there is none.
    pub(crate) fn open(args: &RecordingArgs, subject: Subject) -> Result<Self, Failure> {
        let open = || History::open(&args.place.place()?).map_err(failure);
        let history = if args.no_history { None } else { Some(open()?) };
        Ok(Self {
            history,
            subject,
            tags: args.tags.clone(),
            named: args.place.history.clone(),
            id: String::new(),
            started: String::new(),
            hold: None,
            begun: false,
            cells: 0,
            kept: 0,
            failed: false,
            live: None,
        })
    }

    /// What is measured.
    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// The history; none where nothing is recorded.
    pub(crate) fn history(&self) -> Option<&History> {
        self.history.as_ref()
    }

    /// The result gets another name.
    pub(crate) fn tag(&mut self, name: &str) {
        self.tags.push(name.to_owned());
    }

    /// Whether something of the experiment is in the history.
    pub(crate) fn is_begun(&self) -> bool {
        self.begun
    }

    /// Hears what happens in an experiment.
    pub(crate) fn hear(&mut self, progress: &Progress<'_>, display: &mut Display) {
        match progress {
            Progress::Began { id, started } if self.id.is_empty() => {
                if let Err(error) = self.began(id, started) {
                    self.warn(&error, display);
                }
            }
            Progress::Measured(measurement) => self.measured(measurement, display),
            _ => {}
        }
        self.tell(progress);
    }

    /// Tells those who watch.
    pub(crate) fn tell(&self, progress: &Progress<'_>) {
        if let Some(live) = &self.live {
            live.hear(progress);
        }
    }

    /// The experiment has a name: nobody else works on it from now on.
    pub(crate) fn began(&mut self, id: &str, started: &str) -> Result<(), HistoryError> {
        (self.id, self.started) = (id.to_owned(), started.to_owned());
        let Some(history) = &self.history else { return Ok(()) };
        self.hold = Some(history.hold(id)?);
        if self.subject.watched {
            let run = self.subject.live(id, started);
            self.live = Some(Live::begin(history.place().clone(), run));
        }
        Ok(())
    }

    /// The experiment goes on where it was interrupted.
    pub(crate) fn goes_on(&mut self, id: &str, started: &str) -> Result<(), HistoryError> {
        self.began(id, started)?;
        if let Some(history) = &self.history {
            history.go_on(id)?;
        }
        self.begun = true;
        Ok(())
    }

    /// A measurement is finished: it is kept before the next begins.
    pub(crate) fn measured(&mut self, measurement: &Measurement, display: &mut Display) {
        let cell = self.cells;
        self.cells += 1;
        if let Err(error) = self.keep(cell, measurement) {
            self.warn(&error, display);
        }
    }

    /// Keeps the measurement of a cell.
    pub(crate) fn keep(&mut self, cell: u32, m: &Measurement) -> Result<(), HistoryError> {
        patiently(|| self.begin())?;
        if let Some(history) = &self.history {
            patiently(|| history.keep(&self.id, cell, m))?;
            self.kept += 1;
        }
        Ok(())
    }

    /// A recording begins, with all that is known before its first point: it is in the history at once.
    pub(crate) fn begin_recording(
        &mut self,
        id: &str,
        started: &str,
        plan: String,
    ) -> Result<(), HistoryError> {
        self.subject.plan = plan;
        self.began(id, started)?;
        self.begin()
    }

    /// Nothing is recorded of an experiment that measured nothing: it begins with its first measurement.
    fn begin(&mut self) -> Result<(), HistoryError> {
        let Some(history) = self.history.as_ref().filter(|_| !self.begun) else { return Ok(()) };
        let Subject { kind, schema, title, plan, plan_id, .. } = &self.subject;
        let (id, started) = (&self.id, &self.started);
        history.begin(&NewExperiment { id, schema, kind, title, started, plan_id, plan })?;
        self.begun = true;
        self.tags.iter().try_for_each(|tag| history.tag(id, tag).map(drop))
    }

    fn warn(&mut self, error: &HistoryError, display: &mut Display) {
        if !self.failed {
            self.failed = true;
            display.message(&format!("warning: {error}; measuring goes on without it"));
        }
    }

    /// The whole result. What could not be kept before is kept now, if that has become possible.
    pub(crate) fn finish(&mut self, document: &Document) -> Result<(), Failure> {
        self.end_live();
        // A recording, a validation and a check behind a crash say something without a measurement.
        let says = matches!(
            document,
            Document::Recording(_) | Document::Validation(_) | Document::Durability(_)
        );
        let measured = says || document.measurements().iter().any(|m| m.seconds > 0.0);
        let Some(history) = self.history.as_ref().filter(|_| measured) else { return Ok(()) };
        let history_of = history.place().to_string();
        if !self.begun {
            document.started().clone_into(&mut self.started);
        }
        let begun = self.begin();
        let finish = |history: &History| history.finish(document);
        let done = begun.and_then(|()| self.history.as_ref().map_or(Ok(()), finish));
        self.hold = None;
        done.map_err(|error| {
            let what = match (self.kept, document.measurements().len()) {
                (_, 0) => format!("it is not recorded in {history_of}"),
                (kept, of) => {
                    format!("{kept} of its {of} measurements are recorded in {history_of}")
                }
            };
            Failure::CannotRun(format!("{error}\nthe result is shown, but {what}"))
        })
    }

    /// The experiment ended without a result.
    pub(crate) fn give_up(&mut self) {
        self.end_live();
        self.hold = None;
    }

    fn end_live(&mut self) {
        if let Some(mut live) = self.live.take() {
            live.end();
        }
    }

    /// Says where the result is found again.
    pub(crate) fn say(&self, quiet: bool) {
        if self.begun && !quiet {
            // What the environment says need not be typed.
            let named = self.named.is_some() && std::env::var_os(VARIABLE) != self.named;
            let place = self.history.as_ref().filter(|_| named).map(|h| h.place().to_string());
            let place = place.map_or_else(String::new, |place| format!(" --history {place}"));
            let id = &self.id;
            let text = format!("kept as {id}; iosonde history show {id}{place}");
            Display::new(false).message(&text);
        }
    }
}

/// How often what was measured waits for a writer that holds the history for long, such as an import: half a minute each
/// time.
const PATIENCE: u32 = 20;

/// Tries again while another program holds the history. A measurement is worth more than the wait.
fn patiently(mut record: impl FnMut() -> Result<(), HistoryError>) -> Result<(), HistoryError> {
    for _ in 1..PATIENCE {
        match record() {
            Err(HistoryError::Busy { .. }) => {}
            done => return done,
        }
    }
    record()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_outlasts_a_long_import() {
        let busy = || Err(HistoryError::Busy { place: Place::File("history.db".into()) });
        let mut asked = 0;
        let kept = patiently(|| {
            asked += 1;
            if asked < 5 { busy() } else { Ok(()) }
        });
        assert!(kept.is_ok() && asked == 5);
        let mut asked = 0;
        let given_up = patiently(|| {
            asked += 1;
            busy()
        });
        assert!(matches!(given_up, Err(HistoryError::Busy { .. })) && asked == PATIENCE);
    }

    #[test]
    fn the_same_plan_has_the_same_name() {
        assert_eq!(name_of("{}"), name_of("{}"));
        assert_ne!(name_of("{}"), name_of("[]"));
        assert_eq!(name_of(""), "cbf29ce484222325", "the offset basis of FNV-1a");
    }
}
