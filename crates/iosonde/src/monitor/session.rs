//! A recording while it is recorded: every event goes to what shows it and to what keeps it.

use std::cell::{Cell, RefCell};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ::monitor::attach::Attached;
use ::monitor::{AlertEvent, Change, Event, Observation, Series, Why, csv, lines};
use counters::BlockDevice;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use jobs::{Recorder, Subject};
use report::text::clean;
use results::{Conclusion as _, Document, Experiment, RecordedAlert, Recording, Status};

use super::args::MonitorArgs;
use super::beside::set_beside;
use super::command::Ended;
use super::keeper::Keeper;
use super::live::{Live, Model};
use super::plan::Plan;
use super::served::Served;
use super::table;
use crate::exit::{Failure, print};
use crate::recording::say_kept;
use crate::run::json;
use screen::Display;

/// What stdout is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stdout {
    Text,
    Csv,
    JsonLines,
    /// The document at the end.
    Json,
}

/// What hears of all that happens.
pub(super) struct Session {
    stdout: Stdout,
    quiet: bool,
    /// Stdout belongs to a command that runs, and our text comes at the end, on stderr.
    aside: bool,
    plan: Plan,
    document: Experiment<Recording>,
    series: Series,
    recorder: Recorder,
    keeper: Option<Keeper>,
    metrics: Option<Served>,
    /// The screen; shared with who looks at what is typed.
    live: Rc<RefCell<Option<Live>>>,
    attach: Vec<PathBuf>,
    display: Display,
    /// Whether stdout took no more.
    broken: Rc<Cell<bool>>,
}

impl Session {
    pub(super) fn new(
        args: &MonitorArgs,
        plan: Plan,
        devices: &[BlockDevice],
    ) -> Result<Self, Failure> {
        let stdout = match (args.csv, args.json_lines, args.json) {
            (true, ..) => Stdout::Csv,
            (_, true, _) => Stdout::JsonLines,
            (.., true) => Stdout::Json,
            _ => Stdout::Text,
        };
        let mut document = document(args, &plan, devices);
        document.method.extend(plan.methods.iter().cloned());
        let subject = subject(&document)?;
        let mut recorder = args.recording.open(subject)?;
        if let Some(name) = &args.name {
            recorder.tag(name);
        }
        let live = if args.live { open(&document, &plan, devices) } else { None };
        Ok(Self {
            live: Rc::new(RefCell::new(live)),
            stdout,
            quiet: args.quiet,
            aside: !args.command.is_empty(),
            plan,
            document,
            series: Series::default(),
            recorder,
            keeper: None,
            metrics: args.metrics.map(Served::begin).transpose()?,
            attach: args.attach.clone(),
            display: Display::new(args.quiet),
            broken: Rc::default(),
        })
    }

    /// The first sample is taken: the recording is in the history from now on.
    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        let (id, started) = (self.document.id.clone(), self.document.started.clone());
        let plan = skeleton(&self.document)?;
        self.recorder.begin_recording(&id, &started, plan).map_err(crate::recording::failure)?;
        let place = self.recorder.history().map(|history| history.place().clone());
        self.keeper = place.map(|place| Keeper::begin(place, id));
        Ok(())
    }

    /// Shows and keeps what happened.
    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::Began(began) => {
                let ns = i128::try_from(began.unix.as_nanos()).unwrap_or(0);
                let started = Timestamp::from_nanosecond(ns).unwrap_or_else(|_| Timestamp::now());
                self.document.started = started.to_string();
                self.document.id = engine::new_id(started);
                match self.stdout {
                    Stdout::Csv => self.out(&csv::heading()),
                    Stdout::Text if self.has_tables() => {
                        self.out(&table::heading(&self.plan.chains, &began.devices));
                    }
                    _ => {}
                }
            }
            Event::Window(observation) => self.window(observation),
            Event::Alert(alert) => self.alert(alert),
            Event::Notice(text) => {
                let note = format!("note: {text}");
                match self.live.borrow_mut().as_mut() {
                    Some(live) => live.model.say(&note),
                    None => self.display.message(&note),
                }
                self.document.warnings.push(clean(text));
            }
        }
        if self.stdout == Stdout::JsonLines {
            self.out(&format!("{}\n", lines::line(event)));
        }
    }

    /// Whether each window is printed.
    fn has_tables(&self) -> bool {
        !self.quiet && !self.aside && self.live.borrow().is_none()
    }

    fn window(&mut self, o: &Observation) {
        if let Some(metrics) = &mut self.metrics {
            metrics.hear(o);
        }
        let change: Change = self.series.push(o.point());
        if let Some(keeper) = &mut self.keeper {
            keeper.hear(&self.series, change);
        }
        for core in &o.window.cores {
            let cores = &mut self.document.conclusion.totals.cores;
            match cores.iter_mut().find(|total| total.core == core.core) {
                Some(total) => total.cpu.add(&core.cpu),
                None => cores.push(*core),
            }
        }
        if let Some(live) = self.live.borrow_mut().as_mut() {
            live.model.hear(o, clock(o));
            live.draw();
        }
        self.leave();
        match self.stdout {
            Stdout::Csv => self.out(&csv::rows(o)),
            Stdout::Text if self.has_tables() => {
                self.out(&format!("\n{}", table::window(o, &clock(o))));
            }
            _ => {}
        }
    }

    /// Said to everybody, also to who wants no messages.
    fn alert(&mut self, alert: &AlertEvent) {
        let device = alert.device.as_deref().map(|d| format!("{}: ", clean(d))).unwrap_or_default();
        let AlertEvent { condition, figure, from_s, t, .. } = alert;
        let text = if alert.begins {
            format!("ALERT {device}{condition}: {figure} at {t:.1} s, since {from_s:.1} s")
        } else {
            format!(
                "alert over {device}{condition}: from {from_s:.1} s to {t:.1} s, at worst {figure}"
            )
        };
        if let Some(live) = self.live.borrow_mut().as_mut().filter(|live| live.is_up()) {
            live.model.say(&text);
            live.draw();
            return;
        }
        self.display.aside(&text);
    }

    /// Where the screen was left, what it has said is said again.
    fn leave(&mut self) {
        let left = self.live.borrow().as_ref().is_some_and(|live| !live.is_up());
        if left {
            self.close();
        }
    }

    fn close(&mut self) {
        let live = self.live.borrow_mut().take();
        for text in live.map(Live::close).unwrap_or_default() {
            self.display.aside(&text);
        }
    }

    /// The screen, for who looks at what is typed.
    pub(super) fn live(&self) -> Rc<RefCell<Option<Live>>> {
        Rc::clone(&self.live)
    }

    fn out(&mut self, text: &str) {
        let mut stdout = io::stdout().lock();
        let wrote = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        if wrote.is_err() {
            self.broken.set(true);
        }
    }

    /// Says whether nobody reads stdout any more.
    pub(super) fn broken(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.broken)
    }

    /// What is laid on the same time axis. What cannot be is told; the recording is worth more.
    fn attach(&mut self) {
        let began: Result<Timestamp, _> = self.document.started.parse();
        let began = began.map_or(0.0, |began| began.as_duration().as_secs_f64());
        for path in std::mem::take(&mut self.attach) {
            let shown = clean(&path.display().to_string());
            let read = attached(&path).map(|attached| {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                attached.on_axis(&file, began, self.document.conclusion.seconds)
            });
            let note = match read {
                Err(error) => format!("`{shown}` is not attached: {error}"),
                Ok((series, _)) if series.is_empty() => {
                    format!("`{shown}` is not attached: none of its times lies in the recording")
                }
                Ok((series, outside)) => {
                    self.document.conclusion.attached.extend(series);
                    if outside == 0 {
                        continue;
                    }
                    format!(
                        "`{shown}`: {outside} figures lie outside of the recording and are left \
                         out"
                    )
                }
            };
            self.display.message(&format!("note: {note}"));
            self.document.warnings.push(note);
        }
    }

    /// What the command was, and what it measured.
    fn command(&mut self, ended: Ended) {
        self.document.conclusion.command = Some(ended.command);
        let found = ended.measurements.len();
        let mut notes = ended.notes;
        notes.extend(set_beside(&mut self.document, ended.measurements, ended.has_time));
        if found == 0 {
            notes.push(
                "what the command printed is no result of SQLIO, DiskSpd, fio or iosonde: nothing \
                 is compared"
                    .to_owned(),
            );
        }
        for note in notes {
            self.display.message(&format!("note: {}", clean(&note)));
            self.document.warnings.push(clean(&note));
        }
    }

    /// The command could not be started.
    pub(super) fn give_up(&mut self) {
        self.keeper = None;
        self.recorder.give_up();
    }

    /// Ends the recording; whether a condition came true.
    pub(super) fn finish(
        &mut self,
        (alerts, devices): (Vec<RecordedAlert>, &[BlockDevice]),
        why: Option<Why>,
        ended: Option<Ended>,
    ) -> Result<bool, Failure> {
        self.close();
        self.display.finish();
        let fired = alerts.iter().any(|alert| !alert.times.is_empty());
        let recording = &mut self.document.conclusion;
        recording.alerts = alerts;
        recording.devices = devices.to_vec();
        recording.points = std::mem::take(&mut self.series).into_points();
        recording.sum_up();
        if let Some(ended) = ended {
            self.command(ended);
        }
        self.metrics = None;
        self.attach();
        self.document.finished = Timestamp::now().to_string();
        self.document.status = match why {
            Some(_) => Status::Complete,
            None => Status::Failed,
        };
        let kept = self.keeper.take().map_or(Ok(()), Keeper::end);
        let text = match self.stdout {
            Stdout::Json => json(&self.document)?,
            Stdout::Text if !self.quiet => {
                let document = Document::Recording(Box::new(self.document.clone()));
                format!("\n{}", report::text::document(&document))
            }
            _ => String::new(),
        };
        if self.aside && self.stdout == Stdout::Text {
            self.display.aside(text.trim_end());
        } else {
            print(&text)?;
        }
        let noted = self.recorder.finish(&Document::Recording(Box::new(self.document.clone())));
        if let (Err(error), true) = (&kept, noted.is_ok()) {
            self.display.message(&format!(
                "note: the history could not be written while it was recorded ({error}); it is \
                 whole now"
            ));
        }
        noted.map_err(Failure::CannotRun)?;
        say_kept(&self.recorder, self.quiet);
        Ok(fired)
    }
}

/// A file of another system is not read into memory without end.
const ATTACHED_BYTES_MAX: u64 = 256 << 20;

fn attached(path: &Path) -> Result<Attached, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = file.take(ATTACHED_BYTES_MAX).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    Attached::parse(&String::from_utf8_lossy(&bytes)).map_err(|error| error.to_string())
}

/// The screen, or why there is none.
fn open(document: &Experiment<Recording>, plan: &Plan, devices: &[BlockDevice]) -> Option<Live> {
    let model = Model::new(&document.conclusion.name, &plan.chains, devices);
    match Live::open(model) {
        Ok(live) => Some(live),
        Err(reason) => {
            Display::new(false).message(&format!("note: {reason}; tables are printed"));
            None
        }
    }
}

/// The time of the day, here.
fn clock(o: &Observation) -> String {
    let ms = i64::try_from(o.unix.as_millis()).unwrap_or(0);
    let moment = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string()
}

/// The document before anything was recorded.
fn document(args: &MonitorArgs, plan: &Plan, devices: &[BlockDevice]) -> Experiment<Recording> {
    let interval = args.interval();
    Experiment {
        plan: None,
        schema: Recording::SCHEMA.to_owned(),
        id: String::new(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: String::new(),
        finished: String::new(),
        // What it is as long as it has not come to its end.
        status: Status::Interrupted,
        targets: plan.targets.clone(),
        file_bytes: 0,
        environment: plan.environment.clone(),
        conclusion: Recording {
            name: args.name.clone().unwrap_or_default(),
            interval_ns: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
            devices: devices.to_vec(),
            ..Recording::default()
        },
        measurements: Vec::new(),
        method: vec![
            format!(
                "The counters of the operating system (/proc/diskstats, /proc/stat, \
                 /proc/pressure, /proc/meminfo, /proc/vmstat) were read every {}.",
                workload::show_ns(interval.as_nanos() as f64)
            ),
            "Figures are sums over the whole time: latency is the sum of the times of all I/Os \
             divided by their number, so that a second with many I/Os weighs more than one with \
             few, and an idle second nothing."
                .to_owned(),
            "The counters hold everybody's I/O, after merging and splitting, from the moment at \
             which it is queued in the kernel."
                .to_owned(),
        ],
        warnings: Vec::new(),
    }
}

/// What the history knows it by.
fn subject(document: &Experiment<Recording>) -> Result<Subject, Failure> {
    let targets = document.targets.iter().map(|t| t.display().to_string()).collect::<Vec<_>>();
    Ok(Subject {
        kind: "monitor",
        schema: Recording::SCHEMA,
        title: document.conclusion.title(),
        targets: targets.join(", "),
        plan: skeleton(document)?,
        plan_id: String::new(),
        watched: true,
    })
}

/// The document without points, of which a recording is made that does not come to its end.
fn skeleton(document: &Experiment<Recording>) -> Result<String, Failure> {
    let text = serde_json::to_string(document);
    text.map_err(|error| Failure::CannotRun(format!("a path is not UTF-8: {error}")))
}
