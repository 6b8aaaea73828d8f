//! A big figure with its meter and what it was before.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{RenderDirection, Sparkline, Widget};
use workload::{show_ns, show_number};

use super::digits::{big, columns, rows};
use super::draw::{Look, line, line_right, right_of, row, rule};
use super::figure::Figure;

/// Steps of a sparkline from nothing to the highest; more than any screen has.
const STEPS: f64 = 10_000.0;

/// A figure and how it is shown.
pub(super) struct Tile<'a> {
    pub name: &'static str,
    /// The text at the right of the name, if there is room.
    pub beside: String,
    pub figure: &'a Figure,
    /// The value in digits, and its unit.
    pub show: fn(f64) -> (String, String),
    /// What fills the meter; by default the highest value seen.
    pub full: Option<f64>,
}

/// A number as digits, without a unit.
pub(super) fn plain(value: f64) -> (String, String) {
    (show_number(value), String::new())
}

/// A time: digits and unit apart.
pub(super) fn latency(ns: f64) -> (String, String) {
    let text = show_ns(ns);
    match text.rsplit_once(' ') {
        Some((digits, unit)) => (digits.to_owned(), format!(" {unit}")),
        None => (text, String::new()),
    }
}

/// Rows of the digits of a tile.
pub(super) fn digit_rows(scale: u16) -> u16 {
    u16::try_from(rows(usize::from(scale))).unwrap_or(u16::MAX)
}

impl Tile<'_> {
    /// From the top: a rule with the name, digits, meter, and a sparkline in the remaining rows.
    pub(super) fn draw(&self, area: Rect, buffer: &mut Buffer, look: Look, scale: u16) {
        rule(area, buffer, self.name, &self.beside);
        let digits = digit_rows(scale);
        let at = Rect {
            y: area.y.saturating_add(1),
            height: digits.min(area.height.saturating_sub(1)),
            ..area
        };
        self.digits(at, buffer, usize::from(scale));
        self.meter(row(area, 1 + digits), buffer, look);
        let above = (2 + digits).min(area.height);
        self.sparkline(
            Rect { y: area.y + above, height: area.height - above, ..area },
            buffer,
            look,
        );
    }

    fn digits(&self, area: Rect, buffer: &mut Buffer, scale: usize) {
        let (text, unit) =
            self.figure.now.map_or_else(|| ("–".to_owned(), String::new()), self.show);
        let width = usize::from(area.width);
        let with_unit = |scale| columns(&text, scale) + unit.chars().count();
        // A figure that is larger than was thought is shown smaller, and at last as text.
        let Some(scale) = (1..=scale).rev().find(|scale| with_unit(*scale) <= width) else {
            line(row(area, 1), buffer, &format!("{text}{unit}"), Look::strong());
            return;
        };
        for (number, drawn) in (0..).zip(big(&text, scale)) {
            line(row(area, number), buffer, &drawn, Style::new());
        }
        let at = right_of(area, u16::try_from(columns(&text, scale)).unwrap_or(u16::MAX));
        let base = u16::try_from(rows(scale) - 1).unwrap_or(2);
        line(row(at, base), buffer, &unit, Look::strong());
    }

    /// The value next to the highest value, which is at the end of the bar.
    fn meter(&self, area: Rect, buffer: &mut Buffer, look: Look) {
        let full = self.full.unwrap_or(self.figure.highest);
        let (digits, unit) = (self.show)(full);
        let end = if full > 0.0 { format!(" {digits}{unit}") } else { String::new() };
        line_right(area, buffer, &end, Look::faint());
        let end = u16::try_from(end.chars().count()).unwrap_or(0);
        let ratio = self.figure.now.filter(|_| full > 0.0).map(|now| now / full);
        bar(Rect { width: area.width.saturating_sub(end), ..area }, buffer, ratio, look);
    }

    fn sparkline(&self, area: Rect, buffer: &mut Buffer, look: Look) {
        if area.is_empty() {
            return;
        }
        let full = self.full.unwrap_or(self.figure.highest);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let step = |value: f64| if full > 0.0 { (STEPS * value / full).ceil() as u64 } else { 0 };
        let newest_first = self.figure.history.iter().rev().take(usize::from(area.width));
        let data: Vec<Option<u64>> = newest_first.map(|value| value.map(step)).collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a constant")]
        let line = Sparkline::default()
            .data(data)
            .max(STEPS as u64)
            .direction(RenderDirection::RightToLeft)
            .absent_value_symbol(" ")
            .style(look.bar());
        line.render(area, buffer);
    }
}

/// A bar that is filled to this part; empty where nothing is known.
pub(super) fn bar(area: Rect, buffer: &mut Buffer, ratio: Option<f64>, look: Look) {
    let width = f64::from(area.width);
    let ratio = ratio.filter(|ratio| ratio.is_finite()).unwrap_or(0.0).clamp(0.0, 1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to the width"
    )]
    let filled = (ratio * width).round() as u16;
    let done = line(area, buffer, &"━".repeat(usize::from(filled)), look.bar());
    let rest = right_of(area, done);
    line(rest, buffer, &"╌".repeat(usize::from(rest.width)), Look::faint());
}
