//! A recording while it is recorded: every event goes to what shows it and to what keeps it.

use std::cell::Cell;
use std::io::{self, Write as _};
use std::rc::Rc;

use ::monitor::{AlertEvent, Change, Event, Observation, Series, Why, csv, lines};
use counters::BlockDevice;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use report::text::clean;
use results::{Conclusion as _, Document, Experiment, RecordedAlert, Recording, Status};

use super::args::MonitorArgs;
use super::keeper::Keeper;
use super::plan::Plan;
use super::table;
use crate::display::Display;
use crate::exit::{Failure, print};
use crate::recording::{Recorder, Subject};
use crate::run::json;

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
    plan: Plan,
    document: Experiment<Recording>,
    series: Series,
    recorder: Recorder,
    keeper: Option<Keeper>,
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
        let mut recorder = Recorder::open(&args.recording, subject)?;
        if let Some(name) = &args.name {
            recorder.tag(name);
        }
        Ok(Self {
            stdout,
            quiet: args.quiet,
            plan,
            document,
            series: Series::default(),
            recorder,
            keeper: None,
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
                    Stdout::Text if !self.quiet => {
                        self.out(&table::heading(&self.plan.chains, &began.devices));
                    }
                    _ => {}
                }
            }
            Event::Window(observation) => self.window(observation),
            Event::Alert(alert) => self.alert(alert),
            Event::Notice(text) => {
                self.display.message(&format!("note: {text}"));
                self.document.warnings.push(clean(text));
            }
        }
        if self.stdout == Stdout::JsonLines {
            self.out(&format!("{}\n", lines::line(event)));
        }
    }

    fn window(&mut self, o: &Observation) {
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
        match self.stdout {
            Stdout::Csv => self.out(&csv::rows(o)),
            Stdout::Text if !self.quiet => self.out(&format!("\n{}", table::window(o, &clock(o)))),
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
        self.display.aside(&text);
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

    /// Ends the recording; whether a condition came true.
    pub(super) fn finish(
        &mut self,
        alerts: Vec<RecordedAlert>,
        devices: &[BlockDevice],
        why: Option<Why>,
    ) -> Result<bool, Failure> {
        self.display.finish();
        let fired = alerts.iter().any(|alert| !alert.times.is_empty());
        let recording = &mut self.document.conclusion;
        recording.alerts = alerts;
        recording.devices = devices.to_vec();
        recording.points = std::mem::take(&mut self.series).into_points();
        recording.sum_up();
        self.document.finished = Timestamp::now().to_string();
        self.document.status = match why {
            Some(_) => Status::Complete,
            None => Status::Failed,
        };
        let kept = self.keeper.take().map_or(Ok(()), Keeper::end);
        let text = match self.stdout {
            Stdout::Json => json(&self.document)?,
            Stdout::Text if !self.quiet => {
                format!("\n{}", report::text::recording(&self.document))
            }
            _ => String::new(),
        };
        print(&text)?;
        let noted = self.recorder.finish(&Document::Recording(Box::new(self.document.clone())));
        if let (Err(error), true) = (&kept, noted.is_ok()) {
            self.display.message(&format!(
                "note: the history could not be written while it was recorded ({error}); it is whole now"
            ));
        }
        noted?;
        self.recorder.say(self.quiet);
        Ok(fired)
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
                "The counters of the operating system (/proc/diskstats, /proc/stat, /proc/pressure, /proc/meminfo, /proc/vmstat) \
                 were read every {}.",
                workload::show_ns(interval.as_nanos() as f64)
            ),
            "Figures are sums over the whole time: latency is the sum of the times of all I/Os divided by their number, so that a \
             second with many I/Os weighs more than one with few, and an idle second nothing."
                .to_owned(),
            "The counters hold everybody's I/O, after merging and splitting, from the moment at which it is queued in the kernel."
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
