//! A recording on the terminal: tables, rows, lines of JSON, the screen, and the metrics port.

use std::io::{self, ErrorKind, Write};

use jiff::Timestamp;
use jobs::{Event, MonitorPlan, Sink};
use monitor::{AlertEvent, Event as Watching, Observation, WatchStart, csv, lines};
use report::text::clean;
use results::Document;

use crate::{Display, Manner, RecordingModel, RecordingScreen, speaks_json, window};

/// What stdout is for while a recording is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdout {
    /// Tables, and the recording at the end.
    Text,
    /// A row per window and device.
    Csv,
    /// A line of JSON per event.
    JsonLines,
    /// Only the document, at the end.
    Json,
}

/// Another listener for each window, such as a metrics port.
pub type Ear = Box<dyn FnMut(&Observation)>;

/// What a recording prints and draws.
pub struct Console {
    stdout: Stdout,
    manner: Manner,
    /// Stdout belongs to a command that runs, and our text comes at the end, on stderr.
    aside: bool,
    name: String,
    ear: Option<Ear>,
    screen: Option<RecordingScreen>,
    display: Display,
    /// Whether a write to stdout has failed.
    broken: bool,
}

impl Console {
    /// A console. The ear is dropped when the recording ends.
    #[must_use]
    pub fn new(plan: &MonitorPlan, stdout: Stdout, ear: Option<Ear>, manner: Manner) -> Self {
        Self {
            stdout,
            manner,
            aside: !plan.command.is_empty(),
            name: plan.name.clone().unwrap_or_default(),
            ear,
            screen: None,
            display: Display::new(manner.quiet),
            broken: false,
        }
    }

    fn watch(&mut self, event: &Watching) {
        match event {
            Watching::Began(began) => self.begin(began),
            Watching::Window(observation) => self.window(observation),
            Watching::Alert(alert) => self.alert(alert),
            Watching::Notice { text } => self.note(&format!("note: {text}")),
        }
        if self.stdout == Stdout::JsonLines {
            self.out(&format!("{}\n", lines::line(event)));
        }
    }

    fn begin(&mut self, began: &WatchStart) {
        if self.manner.live {
            match RecordingScreen::open(RecordingModel::new(
                &self.name,
                &began.chains,
                &began.devices,
            )) {
                Ok(screen) => self.screen = Some(screen),
                Err(reason) => {
                    self.display.message(&format!("note: {reason}; tables are printed"));
                }
            }
        }
        match self.stdout {
            Stdout::Csv => self.out(&csv::heading()),
            Stdout::Text if self.has_tables() => {
                self.out(&window::heading(&began.chains, &began.devices));
            }
            _ => {}
        }
    }

    /// Whether a table is printed for each window.
    fn has_tables(&self) -> bool {
        !self.manner.quiet && !self.aside && self.screen.is_none()
    }

    fn window(&mut self, o: &Observation) {
        if let Some(ear) = &mut self.ear {
            ear(o);
        }
        if let Some(screen) = &mut self.screen {
            screen.hear(o, clock(o));
        }
        self.leave();
        match self.stdout {
            Stdout::Csv => self.out(&csv::rows(o)),
            Stdout::Text if self.has_tables() => {
                self.out(&format!("\n{}", window::window(o, &clock(o))));
            }
            _ => {}
        }
    }

    /// Shows an alert, even with `--quiet`.
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
        match self.screen.as_mut().filter(|screen| screen.is_up()) {
            Some(screen) => {
                screen.say(&text);
                screen.draw();
            }
            // Programs have the event.
            None if speaks_json() => {}
            None => self.display.aside(&text),
        }
    }

    fn note(&mut self, text: &str) {
        match &mut self.screen {
            Some(screen) => screen.say(text),
            None if speaks_json() => {}
            None => self.display.message(text),
        }
    }

    /// Once the screen is left, its messages are printed again.
    fn leave(&mut self) {
        if self.screen.as_ref().is_some_and(|screen| !screen.is_up()) {
            self.close();
        }
    }

    fn close(&mut self) {
        for text in self.screen.take().map(RecordingScreen::close).unwrap_or_default() {
            self.display.aside(&text);
        }
    }

    fn out(&mut self, text: &str) {
        let mut stdout = io::stdout().lock();
        let wrote = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        self.broken |= wrote.is_err();
    }
}

impl Sink for Console {
    fn hear(&mut self, event: &Event) {
        match (event, &self.screen) {
            (Event::Monitor(watching), _) => {
                self.display.hear(event);
                self.watch(watching);
            }
            (Event::Notice { text }, Some(_)) => self.note(text),
            _ => self.display.hear(event),
        }
    }

    fn is_left(&mut self) -> bool {
        if let Some(screen) = &mut self.screen {
            screen.look();
        }
        self.broken
    }

    fn command_output(&mut self) -> Box<dyn Write + Send> {
        match self.stdout {
            Stdout::Text => Box::new(io::stdout()),
            _ => Box::new(io::stderr()),
        }
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        self.close();
        self.display.finish();
        self.ear = None;
        let text = match self.stdout {
            Stdout::Json => document.to_indented_json().map_err(|error| error.to_string())? + "\n",
            Stdout::Text if !self.manner.quiet => {
                format!("\n{}", report::text::document(document))
            }
            _ => return Ok(()),
        };
        if self.stdout == Stdout::Text && self.aside {
            self.display.aside(text.trim_end());
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            // A reader that has gone away is not a failure.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(format!("cannot write to stdout: {error}"))
            }
            _ => Ok(()),
        }
    }
}

/// The time of the day, here.
fn clock(o: &Observation) -> String {
    let ms = i64::try_from(o.unix.as_millis()).unwrap_or(0);
    let moment = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    moment.to_zoned(report::zone::zone()).strftime("%H:%M:%S").to_string()
}
