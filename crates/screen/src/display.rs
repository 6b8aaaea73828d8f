//! Progress on stderr: a live line on a terminal, a plain line now and then elsewhere, or with
//! `--live` a screen.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use engine::Event;
use inspect::shell_word;
use integrity::{Notice, NoticeKind};
use jobs::{Notices, Sink, Subject};
use report::text::clean;
use results::Point;
use workload::{Bytes, show_duration, show_ns, show_number};

use crate::live::{About, Screen, ScreenEvent};
use crate::progress;

/// Without a terminal, a line comes at most this often.
const PLAIN_PERIOD: Duration = Duration::from_secs(10);

/// Whether stderr has events as lines of JSON instead of words. Set once, before anything is shown.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// From now on, everything on stderr is an event of docs/live.md as a line of JSON, but for the
/// error that ends a command.
pub fn speak_json() {
    AS_JSON.store(true, Ordering::Relaxed);
}

/// Whether stderr has lines of JSON.
pub fn speaks_json() -> bool {
    AS_JSON.load(Ordering::Relaxed)
}

/// Writes an event as a line of JSON.
fn write_json(event: &jobs::Event) {
    if let Ok(line) = serde_json::to_string(event) {
        // What cannot be shown is not worth failing for.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
}

/// How much is shown while a command measures.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manner {
    /// Show nothing but errors.
    pub quiet: bool,
    /// A screen where the terminal can show one.
    pub live: bool,
}

/// Shows the progress of a job on stderr.
pub struct Display {
    quiet: bool,
    /// The live screen, until the user leaves it.
    screen: Option<Screen>,
    /// What the screen has shown that is to stay.
    shown: Vec<String>,
    terminal: bool,
    /// The current step, at the beginning of the line.
    title: String,
    last_plain: Option<Instant>,
    live: bool,
    /// How many findings of a validation were printed.
    notices: Notices,
    /// The files that remain if a second Ctrl-C ends the program.
    left_behind: Option<String>,
}

impl Display {
    /// A display on stderr, without a live screen.
    #[must_use]
    pub fn new(quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal() && !speaks_json();
        Self {
            quiet,
            screen: None,
            shown: Vec::new(),
            terminal,
            title: String::new(),
            last_plain: None,
            live: false,
            notices: Notices::default(),
            left_behind: None,
        }
    }

    /// The display of a measurement: a live screen if the user wants one and the terminal can show
    /// it, lines otherwise.
    #[must_use]
    pub fn of(manner: Manner, subject: &Subject) -> Self {
        let mut display = Self::new(manner.quiet);
        if manner.live {
            let about = About {
                kind: subject.kind,
                title: subject.title.clone(),
                targets: subject.targets.clone(),
            };
            match Screen::open(about) {
                Ok(screen) => display.screen = screen,
                Err(reason) => display.message(&format!("note: {reason}; progress comes in lines")),
            }
        }
        display
    }

    /// The screen, where it is still up; once it is left, what it has shown of lasting interest is
    /// shown again.
    fn screen(&mut self) -> Option<&Screen> {
        if self.screen.as_ref().is_some_and(|screen| !screen.is_up()) {
            self.leave();
        }
        self.screen.as_ref()
    }

    /// Whether a screen shows what happens.
    pub fn is_screen(&mut self) -> bool {
        self.screen().is_some()
    }

    /// Closes the live screen, and prints the messages that it had shown.
    fn leave(&mut self) {
        if let Some(mut screen) = self.screen.take() {
            screen.close();
            self.shown.drain(..).for_each(|text| say(&text));
        }
    }

    /// Takes the title of the step that begins. Prints it if there is neither a live screen nor
    /// JSON.
    pub fn title(&mut self, title: &str) {
        if speaks_json() {
            return;
        }
        if self.terminal && self.screen.is_none() {
            // What the title says may continue for a while before there is a figure, as a pause
            // does.
            self.line(title, false);
        } else if self.screen.is_none() {
            self.message(title);
            self.last_plain = Some(Instant::now());
        }
        self.title = format!("{title}: ");
    }

    /// Shows what happens in a job.
    pub fn hear(&mut self, event: &jobs::Event) {
        use jobs::Event;
        if speaks_json() {
            return write_json(event);
        }
        match event {
            Event::Measured { measurement: m } => {
                if let Some(screen) = self.screen() {
                    let title =
                        format!("{}, {} in flight", m.workload.title(), m.workload.in_flight());
                    let (iops, mib_per_s) = (m.total.iops, m.total.mib_per_s);
                    screen.hear(ScreenEvent::Measured { title, iops, mib_per_s });
                }
            }
            Event::Step { number, of, title, seconds_left } => {
                let (number, of) = (*number, *of);
                let to_go = seconds_left.map(to_go).unwrap_or_default();
                if let Some(screen) = self.screen() {
                    screen.hear(ScreenEvent::Step { number, of, title: format!("{title}{to_go}") });
                }
                self.title(&format!("[{number}/{of}{to_go}] {title}"));
            }
            Event::Engine(event) => self.show(event),
            Event::Validation(event) => self.validation(event),
            Event::Notice { text } => self.message(text),
            Event::Error { text } => self.error(text),
            Event::Kept { id, history } => {
                let place = history
                    .as_ref()
                    .map(|place| format!(" --history {}", shell_word(place)))
                    .unwrap_or_default();
                self.message(&format!("kept as {id}; iosonde history show {id}{place}"));
            }
            Event::Began { .. } | Event::Monitor(_) => {}
        }
    }

    /// Shows one event on the line or on the screen, whichever is in use.
    pub fn show(&mut self, event: &Event) {
        if speaks_json() {
            return write_json(&jobs::Event::Engine(event.clone()));
        }
        if let Some(screen) = self.screen() {
            screen.hear(ScreenEvent::Engine(event.clone()));
            if !matches!(event, Event::Warning { .. }) {
                return;
            }
        }
        match event {
            Event::Filling { path, done_bytes, total_bytes, bytes_per_s } => {
                // At no speed nobody knows.
                let left = (total_bytes - done_bytes) as f64 / bytes_per_s;
                let left = if left.is_finite() {
                    format!(", {} left", show_duration(left.ceil()))
                } else {
                    String::new()
                };
                let percent = 100.0 * *done_bytes as f64 / (*total_bytes).max(1) as f64;
                let text = format!(
                    "writing {}: {percent:.0} % of {}, {} MiB/s{left}",
                    path.display(),
                    Bytes(*total_bytes),
                    show_number(bytes_per_s / 1_048_576.0),
                );
                self.line(&text, done_bytes == total_bytes);
            }
            Event::WarmingUp { seconds } if *seconds > 0.0 => {
                // A new phase is worth a line, however short the one before it was, if it has none
                // in its title.
                if self.title.is_empty() {
                    self.last_plain = None;
                }
                let text = format!("{}warming up for {seconds} s", self.title);
                self.line(&text, false);
            }
            Event::Interval { point, seconds_left } => {
                let text = format!("{}{}, {seconds_left:.0} s left", self.title, rates(point));
                self.line(&text, false);
            }
            Event::Warning { text } => self.message(&format!("warning: {text}")),
            Event::WarmingUp { .. }
            | Event::ThreadsStarted { .. }
            | Event::WindowBegan { .. }
            | Event::Workers { .. }
            | Event::WindowEnded => {}
        }
    }

    /// Takes the names of the files that remain if a second Ctrl-C ends the program.
    pub fn leaves_behind(&mut self, words: Option<&str>) {
        #[cfg(target_os = "linux")]
        crate::set_last_words(words.map(|it| format!("ended at once, which {it}")).as_deref());
        self.left_behind = words.map(str::to_owned);
    }

    /// Shows what happens in a validation.
    fn validation(&mut self, event: &integrity::Event) {
        use integrity::Event;
        let notice = match event {
            Event::Notice(notice) => self.notice(notice),
            _ => None,
        };
        if let Some(screen) = self.screen() {
            screen.hear(ScreenEvent::Validation(event.clone()));
            // What a notice says is also said when the screen is left.
            self.shown.extend(notice);
            return;
        }
        match event {
            // The step that it is was shown.
            Event::Began { .. } => {}
            Event::Glance(glance) => self.line(&progress::line(glance, self.terminal), false),
            // Shown even with `--quiet`.
            Event::Notice(_) => notice.iter().for_each(|text| self.aside(text)),
        }
    }

    /// What people hear of a notice.
    fn notice(&mut self, notice: &Notice) -> Option<String> {
        let text = self.notices.told(notice, Instant::now())?;
        Some(match (notice.kind, &self.left_behind) {
            (NoticeKind::WrongData(_) | NoticeKind::WrongLog(_) | NoticeKind::IoFailed, _) => {
                format!("error: {text}")
            }
            (NoticeKind::LongIo, _) => format!("warning: {text}"),
            (NoticeKind::EndWaits, Some(left)) => {
                format!("{text}; a second Ctrl-C ends the program at once, which {left}")
            }
            (NoticeKind::EndWaits, None) => text,
        })
    }

    /// Clears the live line, so that the terminal is clean.
    pub fn finish(&mut self) {
        self.leave();
        self.clear_line();
    }

    fn clear_line(&mut self) {
        if self.live {
            self.live = false;
            // What cannot be shown is not worth failing for.
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    /// Prints a line that stays, unless output is quiet.
    pub fn message(&mut self, text: &str) {
        if !self.quiet {
            self.aside(text);
        }
    }

    /// What went wrong, while others continue; shown even with `--quiet`.
    pub fn error(&mut self, text: &str) {
        let lines: Vec<String> = text.lines().map(|line| format!("error: {line}")).collect();
        self.aside(&lines.join("\n"));
    }

    /// A line that stays and is shown to everybody.
    pub fn aside(&mut self, text: &str) {
        if let Some(screen) = self.screen() {
            screen.hear(ScreenEvent::Message(text.to_owned()));
            self.shown.push(text.to_owned());
            return;
        }
        self.clear_line();
        say(text);
    }

    fn line(&mut self, text: &str, last: bool) {
        if self.quiet || speaks_json() {
            return;
        }
        if self.terminal {
            let width = terminal_width().saturating_sub(1);
            let text: String = clean(text).chars().take(width).collect();
            self.live = true;
            let _ = write!(io::stderr(), "\r\x1b[K{text}");
            let _ = io::stderr().flush();
            return;
        }
        let due = self.last_plain.is_none_or(|t| t.elapsed() >= PLAIN_PERIOD);
        if due || last {
            self.last_plain = Some(Instant::now());
            say(text);
        }
    }
}

/// Shows a job that has no other sink.
impl Sink for Display {
    fn hear(&mut self, event: &jobs::Event) {
        Self::hear(self, event);
    }
}

impl Drop for Display {
    /// An error that ends the command is not written at the end of a live line.
    fn drop(&mut self) {
        self.finish();
    }
}

/// Writes lines. What files say in them is not a command to a terminal.
fn say(text: &str) {
    if speaks_json() {
        return write_json(&jobs::Event::Notice { text: text.to_owned() });
    }
    let mut stderr = io::stderr().lock();
    for line in text.split('\n') {
        // What cannot be shown is not worth failing for.
        let _ = writeln!(stderr, "{}", clean(line));
    }
}

/// Columns for text on stdout: those of the terminal, otherwise the variable COLUMNS, otherwise as
/// many as the text needs, because a program reads it.
#[must_use]
pub fn width() -> usize {
    let variable = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    let terminal = terminal_size::terminal_size_of(io::stdout());
    terminal.map(|(width, _)| usize::from(width.0)).or_else(variable).unwrap_or(usize::MAX)
}

/// Columns of the terminal, as far as the environment tells.
fn terminal_width() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}

/// The remaining time of the whole job, as exactly as it is known.
fn to_go(seconds: f64) -> String {
    let unit = if seconds >= 120.0 { 60.0 } else { 10.0 };
    format!(", about {} to go", show_duration((seconds / unit).ceil().max(1.0) * unit))
}

fn rates(point: &Point) -> String {
    let iops = show_number(point.read_iops + point.write_iops);
    let mib = show_number(point.read_mib_per_s + point.write_mib_per_s);
    let p99 = point.read_p99_ns.max(point.write_p99_ns);
    let p99 = p99.map_or_else(|| "–".to_owned(), |ns| show_ns(ns as f64));
    let errors =
        if point.errors > 0 { format!(", {} ERRORS", point.errors) } else { String::new() };
    format!("{iops} IOPS, {mib} MiB/s, p99 {p99}{errors}")
}
