//! Progress on stderr: a live line on a terminal, a plain line now and then elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use engine::Event;
use report::text::clean;
use results::Point;
use survey::Progress;
use workload::{Bytes, show_ns, show_number};

/// Without a terminal, a line comes at most this often.
const PLAIN_PERIOD: Duration = Duration::from_secs(10);

/// Shows what happens.
pub(crate) struct Display {
    quiet: bool,
    terminal: bool,
    /// What is being done, in front of the line.
    title: String,
    last_plain: Option<Instant>,
    live: bool,
}

impl Display {
    /// A display on stderr.
    pub(crate) fn new(quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        Self { quiet, terminal, title: String::new(), last_plain: None, live: false }
    }

    /// Names what is done from now on.
    pub(crate) fn title(&mut self, title: &str) {
        if self.terminal {
            // What the title says may go on for a while before there is a figure, as a pause does.
            self.line(title, false);
        } else {
            self.message(title);
            self.last_plain = Some(Instant::now());
        }
        self.title = format!("{title}: ");
    }

    /// Shows what happens in an experiment.
    pub(crate) fn progress(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Step { number, of, title } => self.title(&format!("[{number}/{of}] {title}")),
            Progress::Engine(event) => self.show(event),
            Progress::Began { .. } | Progress::Measured(_) => {}
        }
    }

    /// Shows one event.
    pub(crate) fn show(&mut self, event: &Event) {
        match event {
            Event::Filling { path, done_bytes, total_bytes, bytes_per_s } => {
                let left = (total_bytes - done_bytes) as f64 / bytes_per_s.max(1.0);
                let percent = 100.0 * *done_bytes as f64 / (*total_bytes).max(1) as f64;
                let text = format!(
                    "writing {}: {percent:.0} % of {}, {} MiB/s, {left:.0} s left",
                    path.display(),
                    Bytes(*total_bytes),
                    show_number(bytes_per_s / 1_048_576.0),
                );
                self.line(&text, done_bytes == total_bytes);
            }
            Event::WarmingUp { seconds } if *seconds > 0.0 => {
                // A new phase is worth a line, however short the one before it was, if it has none in its title.
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
            Event::Warning(text) => self.message(&format!("warning: {text}")),
            Event::WarmingUp { .. } | Event::WindowBegan { .. } | Event::WindowEnded => {}
        }
    }

    /// Leaves the terminal clean.
    pub(crate) fn finish(&mut self) {
        if self.live {
            self.live = false;
            // What cannot be shown is not worth failing for.
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    /// A line that stays.
    pub(crate) fn message(&mut self, text: &str) {
        self.finish();
        if !self.quiet {
            say(text);
        }
    }

    /// What went wrong, while others go on; shown even to who wants no messages.
    pub(crate) fn error(&mut self, text: &str) {
        self.finish();
        for line in text.lines() {
            say(&format!("error: {line}"));
        }
    }

    fn line(&mut self, text: &str, last: bool) {
        if self.quiet {
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

impl Drop for Display {
    /// An error that ends the command is not written behind half a live line.
    fn drop(&mut self) {
        self.finish();
    }
}

/// Writes lines. What files say in them is no command to a terminal.
fn say(text: &str) {
    let mut stderr = io::stderr().lock();
    for line in text.split('\n') {
        // What cannot be shown is not worth failing for.
        let _ = writeln!(stderr, "{}", clean(line));
    }
}

/// Columns of the terminal, as far as the environment tells.
fn terminal_width() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
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
