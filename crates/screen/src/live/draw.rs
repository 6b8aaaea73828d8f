//! Draws the model: what goes where at which size. Reads no clock and knows no terminal.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use workload::{Bytes, plural, show_duration, show_number};

use super::draw_validation;
use super::figure::Side;
use super::model::{Model, Phase, Weight};
use super::tables;
use super::tile::{Tile, bar, digit_rows, latency, plain};

/// The least that the screen needs.
pub(super) const COLUMNS_MIN: u16 = 60;
/// The fewest rows of a screen.
pub(super) const ROWS_MIN: u16 = 16;

/// Rows of the reads and the writes under their heading.
const SIDES: u16 = 3;

/// Colours help where the terminal has them; no meaning depends on colour alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub colour: bool,
}

impl Look {
    fn of(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    pub(super) fn bar(self) -> Style {
        self.of(Color::Cyan)
    }

    pub(super) fn faint() -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn strong() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn weight(self, weight: Weight) -> Style {
        match weight {
            Weight::Plain => Style::new(),
            Weight::Warning => self.of(Color::Yellow),
            Weight::Error => self.of(Color::Red).add_modifier(Modifier::BOLD),
        }
    }
}

/// Rows of the parts below the head, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rows {
    /// Scale and sparkline of IOPS and MiB/s.
    top: (u16, u16),
    /// The same of the others; absent if the workers take their place.
    low: Option<(u16, u16)>,
    sides: u16,
    workers: u16,
    log: u16,
}

impl Rows {
    /// What fits so many rows of tiles so wide.
    fn of(height: u16, tile_columns: (u16, u16), workers: Option<u16>) -> Self {
        let mut left = height.saturating_sub(10);
        let mut take = |rows: u16| {
            let fits = left >= rows;
            left -= if fits { rows } else { 0 };
            if fits { rows } else { 0 }
        };
        let sides = take(SIDES);
        let mut log = take(2);
        let mut top = (1, take(2));
        let mut low = (1, take(1));
        log += take(1);
        // A large screen shows the workers next to everything else, a small one instead of the
        // lower figures.
        let wanted = workers.map_or(0, |count| count.saturating_add(2));
        let beside = if left >= 12 { wanted.min(left - left / 3) } else { 0 };
        left -= beside;
        for scale in [2, 3] {
            let fits = |text, unit, tile| {
                super::digits::columns(text, usize::from(scale)) + unit <= usize::from(tile)
            };
            let more = 2 * (digit_rows(scale) - digit_rows(scale - 1));
            if left >= more
                && fits("8 888 888", 0, tile_columns.0)
                && fits("88.8", 3, tile_columns.1)
            {
                left -= more;
                (top.0, low.0) = (scale, scale);
            }
        }
        let share = left / 4;
        low.1 += share.min(4);
        log += share.min(5);
        left -= share.min(4) + share.min(5);
        top.1 += left.min(12);
        match workers {
            Some(_) if beside == 0 => {
                // Few workers leave reads and writes where they are.
                let instead = 2 + digit_rows(low.0) + low.1;
                let few = wanted <= instead;
                let (workers, sides) = if few { (instead, sides) } else { (instead + sides, 0) };
                Self { top, low: None, sides, workers, log }
            }
            _ => Self { top, low: Some(low), sides, workers: beside, log },
        }
    }
}

/// Draws all parts of the live screen that there is room for.
pub(super) fn paint(area: Rect, buffer: &mut Buffer, model: &Model, look: Look, now: Duration) {
    if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
        let text = format!("the screen needs {COLUMNS_MIN} x {ROWS_MIN}; q leaves it");
        line(area, buffer, &text, Style::new());
        return;
    }
    if let Some(validated) = &model.validated {
        return draw_validation::paint(area, buffer, (model, validated), look, now);
    }
    let mut rest = area;
    keys(bottom(&mut rest, 1), buffer, model);
    let head = 3 + u16::from(model.step.is_some());
    paint_head(top(&mut rest, head), buffer, model, look, now);
    let workers = u16::try_from(model.workers_most).unwrap_or(u16::MAX);
    let workers = model.view.workers.then_some(workers);
    let gap = if area.width < 100 { 1 } else { 3 };
    let tiles = ((area.width - gap) / 2, (area.width - 3 * gap) / 4);
    let rows = Rows::of(rest.height, tiles, workers);
    paint_top(
        top(&mut rest, 2 + digit_rows(rows.top.0) + rows.top.1),
        buffer,
        model,
        look,
        (rows.top.0, gap),
    );
    if let Some((scale, spark)) = rows.low {
        paint_low(top(&mut rest, 2 + digit_rows(scale) + spark), buffer, model, look, (scale, gap));
    }
    if rows.sides > 0 {
        sides(top(&mut rest, rows.sides), buffer, model, look);
    }
    if rows.workers > 0 {
        tables::workers(top(&mut rest, rows.workers), buffer, model, look);
    }
    if rows.log > 0 {
        messages(bottom(&mut rest, rows.log), buffer, model, look);
    }
    if model.view.help {
        tables::help(area, buffer);
    }
}

/// Takes rows off the top of an area.
pub(super) fn top(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    let taken = Rect { height: rows, ..*rest };
    rest.y += rows;
    rest.height -= rows;
    taken
}

/// Takes rows off the bottom of an area.
pub(super) fn bottom(rest: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(rest.height);
    rest.height -= rows;
    Rect { y: rest.y + rest.height, height: rows, ..*rest }
}

/// A text on the first row, cut where it ends. Gives the columns it took.
pub(super) fn line(area: Rect, buffer: &mut Buffer, text: &str, style: Style) -> u16 {
    if area.is_empty() {
        return 0;
    }
    let (end, _) = buffer.set_stringn(area.x, area.y, text, usize::from(area.width), style);
    end - area.x
}

/// A text on the first row; an ellipsis says where it is cut.
fn cut_line(area: Rect, buffer: &mut Buffer, text: &str) {
    let text = report::text::shorten(text, usize::from(area.width));
    line(area, buffer, &text, Style::new());
}

/// A text at the right end of the first row.
pub(super) fn line_right(area: Rect, buffer: &mut Buffer, text: &str, style: Style) {
    let width = u16::try_from(text.chars().count()).unwrap_or(u16::MAX);
    if width <= area.width {
        line(right_of(area, area.width - width), buffer, text, style);
    }
}

/// The part of an area that is right of so many columns.
pub(super) fn right_of(area: Rect, columns: u16) -> Rect {
    let columns = columns.min(area.width);
    Rect { x: area.x + columns, width: area.width - columns, ..area }
}

/// The row so far below the first.
pub(super) fn row(area: Rect, number: u16) -> Rect {
    let number = number.min(area.height);
    Rect { y: area.y + number, height: (area.height - number).min(1), ..area }
}

/// A heading in a rule across the area.
pub(super) fn rule(area: Rect, buffer: &mut Buffer, heading: &str, right: &str) {
    let width = usize::from(area.width);
    line(area, buffer, &"─".repeat(width), Look::faint());
    let after = line(right_of(area, 1), buffer, &format!(" {heading} "), Look::strong());
    let right = if right.is_empty() { String::new() } else { format!(" {right} ") };
    let room = right_of(Rect { width: area.width.saturating_sub(1), ..area }, after + 2);
    line_right(room, buffer, &right, Style::new());
}

/// The title: what is measured, on what, and for how long.
pub(super) fn paint_title(area: Rect, buffer: &mut Buffer, model: &Model, now: Duration) {
    let elapsed = clock(now);
    let about = &model.about;
    let mut at = row(area, 0);
    line_right(at, buffer, &elapsed, Style::new());
    at.width = at.width.saturating_sub(u16::try_from(elapsed.len() + 1).unwrap_or(10));
    let name = line(at, buffer, &format!("iosonde {}", about.kind), Look::strong());
    cut_line(right_of(at, name + 2), buffer, &about.title);
    let targets = report::text::shorten_path(&about.targets, usize::from(area.width));
    line(row(area, 1), buffer, &targets, Look::faint());
}

/// The title with the step: what is measured, on what, and how far it is.
fn paint_head(area: Rect, buffer: &mut Buffer, model: &Model, look: Look, now: Duration) {
    paint_title(area, buffer, model, now);
    if let Some((number, of, title)) = &model.step {
        let number = line(row(area, 2), buffer, &format!("step {number} of {of}"), Look::strong());
        cut_line(right_of(row(area, 2), number + 2), buffer, title);
    }
    paint_phase(row(area, area.height.saturating_sub(1)), buffer, model, look, now);
}

/// The phase in words, a bar, and the time that is left.
fn paint_phase(area: Rect, buffer: &mut Buffer, model: &Model, look: Look, now: Duration) {
    let word = match &model.phase {
        Phase::GettingReady => "getting ready",
        Phase::Filling { .. } => "writing the test file",
        Phase::WarmingUp { .. } => "warming up",
        Phase::Window { .. } => "measuring",
        Phase::Ending => "ending: what is in flight is waited for",
    };
    let Some((ratio, done_s, left_s)) = model.progress(now) else {
        line(area, buffer, word, Look::strong());
        return;
    };
    let seconds = |s: f64| show_duration(s.round());
    let detail = match &model.phase {
        Phase::Filling { total_bytes, bytes_per_s, .. } => format!(
            "{:.0} % of {}, {} MiB/s, {} left",
            100.0 * ratio,
            Bytes(*total_bytes),
            show_number(bytes_per_s / 1_048_576.0),
            seconds(left_s)
        ),
        _ => {
            format!("{} of {}, {} left", seconds(done_s), seconds(done_s + left_s), seconds(left_s))
        }
    };
    let taken = line(area, buffer, word, Look::strong());
    let room = right_of(area, taken + 1);
    line_right(room, buffer, &detail, Style::new());
    let detail = u16::try_from(detail.chars().count()).unwrap_or(u16::MAX);
    let width = room.width.saturating_sub(detail.saturating_add(1));
    bar(Rect { width, ..room }, buffer, Some(ratio), look);
}

/// Draws the upper row: IOPS and MiB/s, next to their means so far.
fn paint_top(area: Rect, buffer: &mut Buffer, model: &Model, look: Look, (scale, gap): (u16, u16)) {
    let mean = |total: f64| {
        let mean = show_number(model.window.rate(total));
        if model.window.seconds > 0.0 { format!("so far {mean}") } else { String::new() }
    };
    let both = model.window.both();
    let tiles = [
        Tile { name: "IOPS", beside: mean(both.ios), figure: &model.iops, show: plain, full: None },
        Tile { name: "MiB/s", beside: mean(both.mib), figure: &model.mib, show: plain, full: None },
    ];
    side_by_side(area, buffer, &tiles, look, (scale, gap));
}

/// Draws the lower row: latencies, and how busy the processors are.
fn paint_low(area: Rect, buffer: &mut Buffer, model: &Model, look: Look, (scale, gap): (u16, u16)) {
    let so_far = |ns: Option<f64>| {
        ns.map_or_else(String::new, |ns| format!("so far {}", workload::show_ns(ns)))
    };
    let own = model.own_cpu.map_or_else(String::new, |own| format!("ours {own:.0} %"));
    let longest = model.window.max_ns.map(|ns| ns as f64);
    let latency = |name, beside, figure| Tile { name, beside, figure, show: latency, full: None };
    let tiles = [
        latency("mean latency", so_far(model.window.both().mean_ns()), &model.mean_ns),
        latency("longest latency", so_far(longest), &model.max_ns),
        latency("p99 latency", String::new(), &model.p99_ns),
        Tile {
            name: "CPU",
            beside: own,
            figure: &model.cpu,
            show: |percent| (format!("{percent:.0}"), " %".to_owned()),
            full: Some(100.0),
        },
    ];
    side_by_side(area, buffer, &tiles, look, (scale, gap));
}

pub(super) fn side_by_side(
    area: Rect,
    buffer: &mut Buffer,
    tiles: &[Tile<'_>],
    look: Look,
    (scale, gap): (u16, u16),
) {
    let count = u16::try_from(tiles.len()).unwrap_or(1).max(1);
    let width = area.width.saturating_sub(gap * (count - 1)) / count;
    for (number, tile) in (0..count).zip(tiles) {
        let place = right_of(area, number * (width + gap));
        // The last takes what the division leaves.
        let width = if number + 1 == count { place.width } else { width.min(place.width) };
        tile.draw(Rect { width, ..place }, buffer, look, scale);
    }
}

/// Reads and writes apart, and errors.
fn sides(area: Rect, buffer: &mut Buffer, model: &Model, look: Look) {
    let errors =
        if model.errors > 0 { format!("{} ERRORS", model.errors) } else { "no errors".to_owned() };
    rule(row(area, 0), buffer, "reads and writes", "");
    let weight = if model.errors > 0 { Weight::Error } else { Weight::Plain };
    line_right(
        Rect { width: area.width.saturating_sub(2), ..row(area, 0) },
        buffer,
        &format!(" {errors} "),
        look.weight(weight),
    );
    let Some(now) = &model.now else { return };
    let ns = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), workload::show_ns);
    let words = |name: &str, side: &Side| {
        if side.ios == 0.0 {
            return format!("{name:<7}none");
        }
        let (iops, mib) = (show_number(now.rate(side.ios)), show_number(now.rate(side.mib)));
        let (mean, p99) = (ns(side.mean_ns()), ns(side.p99_ns.map(|ns| ns as f64)));
        format!("{name:<7}{iops:>9} IOPS {mib:>7} MiB/s  mean {mean:>7}  p99 {p99:>7}")
    };
    line(row(area, 1), buffer, &words("reads", &now.reads), Style::new());
    line(row(area, 2), buffer, &words("writes", &now.writes), Style::new());
}

/// Draws the latest messages, as many as fit.
pub(super) fn messages(area: Rect, buffer: &mut Buffer, model: &Model, look: Look) {
    let of = |weight| model.messages.iter().filter(|(w, _)| *w == weight).count();
    let counts =
        [(of(Weight::Warning), "warning", "warnings"), (of(Weight::Error), "error", "errors")];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let counts = counts.map(|(count, one, many)| plural(count as u64, one, many));
    rule(row(area, 0), buffer, "messages", &counts.collect::<Vec<_>>().join(", "));
    let rows = usize::from(area.height.saturating_sub(1));
    let first = model.messages.len().saturating_sub(rows);
    for (number, (weight, text)) in (1..).zip(model.messages.iter().skip(first)) {
        line(row(area, number), buffer, text, look.weight(*weight));
    }
}

/// Draws the keys that can be typed.
pub(super) fn keys(area: Rect, buffer: &mut Buffer, model: &Model) {
    let workers = match (model.view.workers, model.are_hosts) {
        (true, false) => "hide workers",
        (false, false) => "workers",
        (true, true) => "hide hosts",
        (false, true) => "hosts",
    };
    let mut rest = area;
    let all = [("q", "leave the screen"), ("w", workers), ("?", "help"), ("Ctrl-C", "end the run")];
    // A validation has no workers to show.
    for (key, does) in all.into_iter().filter(|(key, _)| *key != "w" || model.validated.is_none()) {
        let taken = line(rest, buffer, key, Look::strong());
        let after = line(right_of(rest, taken), buffer, &format!(" {does}   "), Look::faint());
        rest = right_of(rest, taken + after);
    }
}

/// A time since the beginning: `02:31`, `1:02:31`.
fn clock(time: Duration) -> String {
    let s = time.as_secs();
    let (hours, minutes, seconds) = (s / 3600, s / 60 % 60, s % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
