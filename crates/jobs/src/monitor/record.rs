//! A recording while it is recorded: what happens goes to the sink and into the history.

use std::path::Path;
use std::sync::atomic::Ordering;

use ::monitor::attach::Attached;
use ::monitor::{Event as Watching, Monitor, MonitorError, Observation, Series, SystemClock};
use counters::{BlockDevice, SystemSampler};
use engine::EngineError;
use jiff::Timestamp;
use results::{Conclusion as _, Document, Experiment, Recording, Status};
use workload::show_ns;

use super::beside::set_beside;
use super::command::{CommandEnd, Running};
use super::databases::Databases;
use super::keeper::Keeper;
use super::scope::Scope;
use super::{MonitorPlan, WatchError, subject};
use crate::conduct::{Conducted, JobError, Relay, Session, both};
use crate::event::Event;
use crate::job::Job as _;
use crate::subject::Subject;

/// Watches until the end of the plan, a signal, or the end of the command.
pub(super) fn record(plan: &MonitorPlan, session: &mut Session<'_>) -> Result<Conducted, JobError> {
    let (interval, end) = plan.times()?;
    let databases = Databases::connect(&plan.databases, interval)?;
    let scope = Scope::of(plan, databases.data_directories())?;
    let clock = SystemClock::new();
    let sampler = SystemSampler::new().map_err(MonitorError::from).map_err(WatchError::from)?;
    let monitor = Monitor::new(sampler, &clock, interval, scope.watched.clone());
    let monitor = monitor.map_err(WatchError::from)?.until(end).with_alerts(plan.alerts.clone());
    let mut document = document(plan, &scope, monitor.devices());
    document.conclusion.interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
    document.conclusion.databases = databases.recorded();
    document.method = method(&document.conclusion, &databases);
    let mut monitor = monitor.with_chains(scope.chains).with_extras(databases.into_extras());

    let (stop, output) = (session.stop, session.sink.command_output());
    let relay = Relay::open(session, plan)?;
    if let Some(name) = &plan.name {
        relay.recorder().borrow_mut().tag(name);
    }
    if !relay.wait_for_start() {
        relay.give_up();
        return Err(EngineError::CalledOff.into());
    }
    let mut record = Record { document, series: Series::default(), keeper: None, relay: &relay };
    record.begin(&mut monitor)?;
    let running = Running::start(&plan.command, output).inspect_err(|_| relay.give_up())?;
    let stopped = || {
        let is_left = relay.is_left();
        let signal = stop.load(Ordering::Relaxed);
        match &running {
            // It decides itself when it ends.
            Some(running) => {
                if signal {
                    running.signal();
                }
                running.has_ended()
            }
            None => signal || is_left,
        }
    };
    let watched = monitor.run(&stopped, &mut |event| record.hear(event));
    let ended = running.map(Running::end).transpose()?;
    record.document.conclusion.alerts = monitor.alerts();
    record.document.conclusion.devices = monitor.devices().to_vec();
    Ok(record.finish(plan, watched.err(), ended))
}

/// The most notices that are recorded while it lasts.
const WARNINGS_MAX: usize = 1000;

/// The state of a recording, which becomes the document.
struct Record<'r, 's> {
    document: Experiment<Recording>,
    series: Series,
    keeper: Option<Keeper>,
    relay: &'r Relay<'s>,
}

impl Record<'_, '_> {
    /// Takes the first sample: the recording is in the history from now on.
    fn begin(&mut self, monitor: &mut Monitor<'_>) -> Result<(), JobError> {
        let mut first = Vec::new();
        monitor.begin(&mut |event| first.push(event.clone())).map_err(WatchError::from)?;
        let began = first.iter().find_map(|event| match event {
            Watching::Began(began) => i128::try_from(began.unix.as_nanos()).ok(),
            _ => None,
        });
        let began = began.and_then(|ns| Timestamp::from_nanosecond(ns).ok());
        let began = began.unwrap_or_else(Timestamp::now);
        let (id, started) = (engine::new_id(began), began.to_string());
        self.document.id.clone_from(&id);
        self.document.started.clone_from(&started);
        {
            let mut recorder = self.relay.recorder().borrow_mut();
            recorder.begin_recording(&id, &started, skeleton(&self.document)?)?;
            let place = recorder.history().map(|history| history.place().clone());
            self.keeper = place.map(|place| Keeper::begin(place, id.clone()));
        }
        self.relay.pass(&Event::Began { id, started });
        for event in &first {
            self.hear(event);
        }
        Ok(())
    }

    /// Keeps and passes on what happened.
    fn hear(&mut self, event: &Watching) {
        match event {
            Watching::Window(observation) => self.window(observation),
            Watching::Notice { text } => self.warn(text.clone()),
            Watching::Began(_) | Watching::Alert(_) => {}
        }
        self.relay.pass(&Event::Monitor(event.clone()));
    }

    fn window(&mut self, o: &Observation) {
        let change = self.series.push(o.point());
        if let Some(keeper) = &mut self.keeper {
            keeper.hear(&self.series, change);
        }
        let cores = &mut self.document.conclusion.totals.cores;
        for core in &o.window.cores {
            match cores.iter_mut().find(|total| total.core == core.core) {
                Some(total) => total.cpu.add(&core.cpu),
                None => cores.push(*core),
            }
        }
    }

    /// A database that comes and goes for weeks says so each time.
    fn warn(&mut self, text: String) {
        let warnings = &mut self.document.warnings;
        match warnings.len() {
            0..WARNINGS_MAX => warnings.push(text),
            WARNINGS_MAX => warnings.push("Further notices were not recorded.".to_owned()),
            _ => {}
        }
    }

    /// What the reader of the document should know, and the user now.
    fn note(&mut self, note: String) {
        self.relay.notice(format!("note: {note}"));
        self.document.warnings.push(note);
    }

    /// Lays these files on the same time axis. The recording is worth more than one that cannot
    /// be.
    fn attach(&mut self, path: &Path) {
        let began: Result<Timestamp, _> = self.document.started.parse();
        let began = began.map_or(0.0, |began| began.as_duration().as_secs_f64());
        let shown = path.display();
        let read = attached(path).map(|attached| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            attached.on_axis(&file, began, self.document.conclusion.seconds)
        });
        match read {
            Err(error) => self.note(format!("`{shown}` is not attached: {error}")),
            Ok((series, _)) if series.is_empty() => self.note(format!(
                "`{shown}` is not attached: none of its times is within the recording"
            )),
            Ok((series, outside)) => {
                self.document.conclusion.attached.extend(series);
                if outside > 0 {
                    self.note(format!(
                        "`{shown}`: {outside} figures lie outside of the recording and are left \
                         out"
                    ));
                }
            }
        }
    }

    /// What the command was, and what it measured.
    fn command(&mut self, ended: CommandEnd) {
        let is_fio = is_fio(&ended.command.line);
        self.document.conclusion.command = Some(ended.command);
        let found = ended.measurements.len();
        let mut notes = ended.notes;
        notes.extend(set_beside(&mut self.document, ended.measurements, ended.has_time));
        if found == 0 {
            notes.push(not_understood(is_fio).to_owned());
        }
        for note in notes {
            self.note(note);
        }
    }

    /// Ends the recording and makes the document.
    fn finish(
        mut self,
        plan: &MonitorPlan,
        failed: Option<MonitorError>,
        ended: Option<CommandEnd>,
    ) -> Conducted {
        let recording = &mut self.document.conclusion;
        recording.points = std::mem::take(&mut self.series).into_points();
        recording.sum_up();
        if let Some(ended) = ended {
            self.command(ended);
        }
        for path in &plan.attach {
            self.attach(path);
        }
        self.document.finished = Timestamp::now().to_string();
        self.document.status = if failed.is_none() { Status::Complete } else { Status::Failed };
        let written = self.keeper.take().map_or(Ok(()), Keeper::end);
        let document = Document::Recording(Box::new(self.document));
        let Conducted { documents, kept } = self.relay.finish(document);
        if let (Err(error), Ok(())) = (&written, &kept) {
            self.relay.notice(format!(
                "note: the history could not be written while it was recorded ({error}); it is \
                 whole now"
            ));
        }
        let kept = both(kept, failed.map_or(Ok(()), |error| Err(error.to_string())));
        Conducted { documents, kept }
    }
}

/// Whether a command is fio, by the name of its program.
pub(super) fn is_fio(line: &[String]) -> bool {
    let name = |word: &String| word.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
    line.first().is_some_and(|word| matches!(name(word).as_str(), "fio" | "fio.exe"))
}

/// The message if a command printed no result.
fn not_understood(is_fio: bool) -> &'static str {
    if is_fio {
        "what fio printed is neither its usual text nor its JSON: nothing is compared. Call it \
         with `--output-format=json`, and without `--output`"
    } else {
        "what the command printed is not a result of SQLIO, DiskSpd, fio or iosonde: nothing is \
         compared"
    }
}

fn attached(path: &Path) -> Result<Attached, String> {
    let bytes = inspect::reading::bytes(path, inspect::reading::RESULTS_BYTES_MAX)
        .map_err(|error| error.to_string())?;
    Attached::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| error.to_string())
}

/// The document before anything was recorded.
fn document(plan: &MonitorPlan, scope: &Scope, devices: &[BlockDevice]) -> Experiment<Recording> {
    Experiment {
        plan: plan.plan().carried_json(),
        schema: Recording::SCHEMA.to_owned(),
        id: String::new(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: String::new(),
        finished: String::new(),
        // What it is as long as it has not come to its end.
        status: Status::Interrupted,
        targets: scope.targets.clone(),
        file_bytes: 0,
        environment: scope.environment.clone(),
        conclusion: Recording {
            name: plan.name.clone().unwrap_or_default(),
            devices: devices.to_vec(),
            ..Recording::default()
        },
        measurements: Vec::new(),
        method: Vec::new(),
        // The limits of this process hold for a command that it starts.
        warnings: scope.environment.findings(|finding| {
            let limits_command = !plan.command.is_empty() && finding.is_own_limit();
            finding.is_of_data() || limits_command && finding.is_doubt()
        }),
    }
}

/// How it is recorded, in sentences.
fn method(recording: &Recording, databases: &Databases) -> Vec<String> {
    let mut method = vec![
        format!(
            "The counters of the operating system ({}) were read every {}.",
            counters::SOURCES,
            show_ns(recording.interval_ns as f64)
        ),
        "Figures are sums over the whole time: latency is the sum of the times of all I/Os \
         divided by their number. So a second with many I/Os weighs more than one with few, \
         and an idle second nothing."
            .to_owned(),
        "The counters hold everybody's I/O, after merging and splitting, from the moment at which \
         it is queued in the kernel."
            .to_owned(),
    ];
    method.extend(databases.methods());
    method
}

/// What the history knows it by: the document without points, of which a recording is made that
/// does not come to its end.
fn skeleton(document: &Experiment<Recording>) -> Result<Subject, WatchError> {
    let plan = serde_json::to_string(document).map_err(|_| WatchError::NotUtf8)?;
    Ok(subject(document.conclusion.title(), &document.targets, plan))
}
