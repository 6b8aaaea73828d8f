//! `--live`: the figures of the last window as a table, and the minutes before it as sparklines, on
//! a separate screen.
//!
//! What it shows is a list of lines made of the model alone, so it is tested without a terminal.
//! The terminal is that of the other screens, with the same ways out.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use counters::{DISK_FIELDS, Span};
use monitor::{Chain, Observation};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::style::{Modifier, Style};
use report::text::{clean, device_figures, host_line, shorten};
use results::show_figure;

use crate::live::{Signals, Taken, fits};
use crate::window;

/// Windows that a sparkline goes back.
const BACK: usize = 240;
/// The most messages that are kept.
const MESSAGES: usize = 100;
/// What has a sparkline per device.
const LINES: [&str; 3] = ["transfers_per_s", "transfer_latency_ns", "average_queue"];
/// The short names of the lines.
const NAMES: [&str; LINES.len()] = ["I/Os", "latency", "queue"];
const KEYS: &str = "q leaves the screen   Ctrl-C ends";

/// The content of a recording's screen.
pub struct RecordingModel {
    /// The name of the recording, and the devices that are watched.
    head: Vec<String>,
    back: BTreeMap<String, VecDeque<[Option<f64>; LINES.len()]>>,
    last: Option<(String, Box<Observation>)>,
    messages: VecDeque<String>,
}

/// A line, and whether it is a heading.
type Line = (String, bool);

impl RecordingModel {
    /// The model of a recording with this name.
    #[must_use]
    pub fn new(name: &str, chains: &[Chain], devices: &[counters::BlockDevice]) -> Self {
        let title = match name {
            "" => "iosonde monitor".to_owned(),
            name => format!("iosonde monitor  {}", clean(name)),
        };
        let chains = window::heading(chains, devices);
        let head = std::iter::once(title).chain(chains.lines().map(str::to_owned)).collect();
        Self { head, back: BTreeMap::new(), last: None, messages: VecDeque::new() }
    }

    /// Hears of a window that ended at this time of the day.
    pub fn hear(&mut self, o: &Observation, at: String) {
        let span = Span { seconds: o.window.seconds, readings: 1 };
        for (name, tally) in &o.window.disks {
            let figure = |name: &str| {
                let field = DISK_FIELDS.iter().find(|field| field.name == name)?;
                field.of(tally, span)
            };
            let back = self.back.entry(name.clone()).or_default();
            if back.len() == BACK {
                back.pop_front();
            }
            back.push_back(LINES.map(figure));
        }
        self.last = Some((at, Box::new(o.clone())));
    }

    /// Adds a message for the user.
    pub fn say(&mut self, text: &str) {
        if self.messages.len() == MESSAGES {
            self.messages.pop_front();
        }
        self.messages.push_back(clean(text));
    }

    /// The messages, for the terminal after the screen is gone.
    fn messages(&self) -> Vec<String> {
        self.messages.iter().cloned().collect()
    }

    /// The lines that fit so many columns and rows.
    pub(crate) fn lines(&self, width: usize, height: usize) -> Vec<Line> {
        let mut lines: Vec<Line> =
            self.head.iter().enumerate().map(|(n, text)| (text.clone(), n == 0)).collect();
        let mut foot: Vec<Line> = Vec::new();
        let said = self.messages.len().min(height / 4);
        foot.extend(
            self.messages.iter().skip(self.messages.len() - said).map(|m| (m.clone(), true)),
        );
        foot.push((KEYS.to_owned(), false));
        if let Some((at, o)) = &self.last {
            let span = Span { seconds: o.window.seconds, readings: 1 };
            lines.push((format!("{at}  {}", host_line(&o.window.system, span)), false));
            lines.push((String::new(), false));
            let figures = device_figures(&o.window.disks, span, &o.rows);
            lines.extend(figures.lines().enumerate().map(|(n, text)| (text.to_owned(), n == 0)));
            lines.push((String::new(), false));
            let room = height.saturating_sub(lines.len() + foot.len());
            lines.extend(self.sparklines(o, width, room));
        }
        lines.truncate(height.saturating_sub(foot.len()));
        lines.resize(height.saturating_sub(foot.len()), (String::new(), false));
        lines.extend(foot);
        lines.into_iter().map(|(text, strong)| (shorten(&text, width), strong)).collect()
    }

    /// Devices in the order in which they are watched, as many as there is room for.
    fn sparklines(&self, o: &Observation, width: usize, room: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        for (name, _) in &o.window.disks {
            let Some(back) = self.back.get(name) else { continue };
            if lines.len() + LINES.len() > room {
                break;
            }
            for (place, (field_name, title)) in LINES.iter().zip(NAMES).enumerate() {
                let Some(field) = DISK_FIELDS.iter().find(|f| f.name == *field_name) else {
                    continue;
                };
                let figures: Vec<Option<f64>> =
                    back.iter().map(|figures| figures.get(place).copied().flatten()).collect();
                let highest = figures.iter().flatten().fold(0.0_f64, |a, b| a.max(*b));
                let device = if place == 0 { clean(name) } else { String::new() };
                let most = show_figure(field.unit, highest);
                let before = format!("{device:<10.10} {title:<8} ");
                let after = format!(" up to {most}");
                let columns = width.saturating_sub(before.chars().count() + after.chars().count());
                lines.push((
                    format!("{before}{}{after}", sparkline(&figures, highest, columns)),
                    false,
                ));
            }
        }
        lines
    }
}

/// The last figures as bars of eight heights; empty without figures.
fn sparkline(figures: &[Option<f64>], highest: f64, columns: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let skipped = figures.len().saturating_sub(columns);
    let bar = |figure: &Option<f64>| match figure {
        Some(figure) if highest > 0.0 => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 7")]
            let height = (figure / highest * 7.0).round().clamp(0.0, 7.0) as usize;
            BARS.get(height).copied().unwrap_or(' ')
        }
        Some(_) => '▁',
        None => ' ',
    };
    let bars: String = figures.iter().skip(skipped).map(bar).collect();
    let missing = columns.saturating_sub(figures.len());
    format!("{}{bars}", " ".repeat(missing))
}

/// The screen while it is up.
pub struct RecordingScreen {
    taken: Option<Taken>,
    model: RecordingModel,
}

impl RecordingScreen {
    /// Takes the terminal; the error says why it cannot be drawn on.
    pub fn open(model: RecordingModel) -> Result<Self, String> {
        fits()?;
        let taken = Taken::take().map_err(|error| error.to_string())?;
        let mut live = Self { taken: Some(taken), model };
        live.draw();
        Ok(live)
    }

    /// Whether the terminal still shows it.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.taken.is_some()
    }

    /// Draws the content anew; leaves the screen if that fails.
    pub fn draw(&mut self) {
        let Some(taken) = &mut self.taken else { return };
        let model = &self.model;
        let drawn = taken.terminal.draw(|frame| {
            let area = frame.area();
            let lines = model.lines(usize::from(area.width), usize::from(area.height));
            for (row, (text, strong)) in (area.y..area.bottom()).zip(lines) {
                let style = Style::new();
                let style = if strong { style.add_modifier(Modifier::BOLD) } else { style };
                let width = usize::from(area.width);
                frame.buffer_mut().set_stringn(area.x, row, text, width, style);
            }
        });
        if drawn.is_err() {
            self.taken = None;
        }
    }

    /// Handles the keys that were typed since the last call.
    pub fn look(&mut self) {
        while self.taken.is_some() && event::poll(Duration::ZERO).unwrap_or(false) {
            match event::read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                    let control = key.modifiers.contains(KeyModifiers::CONTROL);
                    match key.code {
                        KeyCode::Char('c') if control => {
                            // First, so that whatever prints next prints on a clean terminal.
                            self.taken = None;
                            Signals::end();
                        }
                        KeyCode::Char('q') | KeyCode::Esc => self.taken = None,
                        _ => {}
                    }
                }
                Ok(Event::Resize(..)) => self.draw(),
                Ok(_) => {}
                Err(_) => self.taken = None,
            }
        }
    }

    /// Hears of a window that ended at this time of the day, and draws it.
    pub fn hear(&mut self, o: &Observation, at: String) {
        self.model.hear(o, at);
        self.draw();
    }

    /// Notes what the user should know.
    pub fn say(&mut self, text: &str) {
        self.model.say(text);
    }

    /// Leaves the screen, and prints the messages that it showed.
    #[must_use]
    pub fn close(mut self) -> Vec<String> {
        self.taken = None;
        self.model.messages()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counters::{DiskTally, SystemWindow};

    fn observation(writes: u64) -> Observation {
        let tally = DiskTally { writes, write_ms: writes * 2, ..DiskTally::default() };
        let disks = vec![("vda".to_owned(), tally)];
        let window = SystemWindow { seconds: 1.0, disks, ..SystemWindow::default() };
        Observation { number: 1, unix: Duration::ZERO, t: 1.0, window, rows: Vec::new() }
    }

    #[test]
    fn the_screen_has_figures_sparklines_messages_and_keys_at_every_size() {
        let mut model = RecordingModel::new("nightly\u{1b}[2J", &[], &[]);
        for writes in [0, 100, 400, 800] {
            model.hear(&observation(writes), "12:00:00".to_owned());
        }
        model.say("ALERT vda: too slow\u{7}");
        for (width, height) in [(200, 60), (100, 30), (60, 16), (20, 4), (1, 1), (0, 0)] {
            let lines = model.lines(width, height);
            assert_eq!(lines.len(), height.max(1), "{width} x {height}");
            assert!(lines.iter().all(|(text, _)| text.chars().count() <= width.max(1)));
            assert!(!lines.iter().any(|(text, _)| text.chars().any(char::is_control)));
        }
        let all: Vec<String> = model.lines(100, 30).into_iter().map(|(text, _)| text).collect();
        let all = all.join("\n");
        for words in ["iosonde monitor  nightly", "vda", "▂▅█ up to 800/s", "ALERT vda", KEYS]
        {
            assert!(all.contains(words), "`{words}` is not in:\n{all}");
        }
        assert!(all.contains(" ███ up to 2 ms"), "the idle second has no latency:\n{all}");
    }
}
