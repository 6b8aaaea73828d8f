//! Views on demand: the workers, and the help on keys and figures.

use std::path::PathBuf;

use engine::WorkerPoint;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};
use report::text::{clean, shorten, shorten_path};
use workload::{show_ns, show_number};

use super::draw::{Look, line, right_of, row, rule};
use super::model::Model;
use super::tile::bar;

/// Columns of the figures of a worker.
const FIGURES: u16 = 48;

const HELP: [&str; 15] = [
    "q, Esc   leave the screen; the run continues, with lines",
    "w        workers: what each thread does on each target",
    "↑ ↓      other workers, where not all fit",
    "?        this text; any key closes it",
    "Ctrl-C   end the run; what was measured is the result",
    "Ctrl-Z   stop everything until `fg`: spoils a measurement",
    "",
    "Figures are of the last second, or of the interval where",
    "that is longer. A meter is full at the value at its end:",
    "the highest seen, of CPU 100 % of all processors. Under it",
    "are the figures before, the newest at the right.",
    "p99 is the higher of reads and writes. `so far` is of the",
    "measured window, `ours` the part of this program in CPU.",
    "Nothing of this screen costs the threads that measure any",
    "time: it is drawn from what they report anyway.",
];

/// Draws the table of workers or hosts, as many rows as fit.
pub(super) fn workers(area: Rect, buffer: &mut Buffer, model: &Model, look: Look) {
    let title = if model.are_hosts { "hosts" } else { "workers" };
    let Some((names, points)) = &model.workers else {
        rule(row(area, 0), buffer, title, "");
        line(row(area, 1), buffer, "known after the first second of a window", Style::new());
        return;
    };
    let rows = usize::from(area.height.saturating_sub(2));
    let skipped = model.view.skipped.min(points.len().saturating_sub(rows));
    let shown = points.len().saturating_sub(skipped).min(rows);
    let which = format!("{} to {} of {}", skipped + 1, skipped + shown, points.len());
    rule(row(area, 0), buffer, title, if shown < points.len() { &which } else { "" });
    let figures = right_of(area, area.width.saturating_sub(FIGURES));
    let names_area = Rect { width: area.width - figures.width, ..area };
    let head =
        format!("{:>9} {:>8} {:>9} {:>9} {:>9}", "IOPS", "MiB/s", "mean", "longest", "errors");
    let what = if model.are_hosts { "host" } else { "stream, target, thread" };
    line(row(names_area, 1), buffer, what, Look::faint());
    line(row(figures, 1), buffer, &head, Look::faint());
    let highest = points.iter().map(|point| point.iops).fold(0.0, f64::max);
    for (number, point) in (2..).zip(points.iter().skip(skipped).take(rows)) {
        let streams = if names.streams.len() > 1 { names.streams.get(point.stream) } else { None };
        let name = name(
            streams.map(String::as_str),
            names.targets.get(point.target),
            (!model.are_hosts).then_some(point.thread + 1),
            names_area.width,
        );
        let taken = line(row(names_area, number), buffer, &name, Style::new());
        line(row(figures, number), buffer, &figures_of(point), Style::new());
        // A wide screen has room for a bar between the two.
        let room = right_of(row(names_area, number), taken.max(40) + 1);
        if room.width > 8 && highest > 0.0 {
            bar(Rect { width: room.width - 1, ..room }, buffer, Some(point.iops / highest), look);
        }
    }
}

fn name(stream: Option<&str>, target: Option<&PathBuf>, thread: Option<u32>, width: u16) -> String {
    let thread = thread.map_or_else(String::new, |thread| format!("  {thread}"));
    let stream = stream.map_or_else(String::new, |name| format!("{}  ", shorten(&clean(name), 12)));
    let target = target.map_or_else(String::new, |path| clean(&path.to_string_lossy()));
    let room = usize::from(width.min(60)).saturating_sub(stream.chars().count() + thread.len() + 1);
    format!("{stream}{}{thread}", shorten_path(&target, room.max(4)))
}

fn figures_of(point: &WorkerPoint) -> String {
    let ns = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), show_ns);
    let (iops, mib) = (show_number(point.iops), show_number(point.mib_per_s));
    let (mean, longest) = (ns(point.mean_ns), ns(point.max_ns.map(|ns| ns as f64)));
    format!("{iops:>9} {mib:>8} {mean:>9} {longest:>9} {:>9}", point.errors)
}

/// Keys and figures, over everything else.
pub(super) fn help(area: Rect, buffer: &mut Buffer) {
    let longest = HELP.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let width = u16::try_from(longest + 2).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(HELP.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 2);
    let place = Rect { x, y, width, height };
    Clear.render(place, buffer);
    let block = Block::bordered().title(" the live screen ");
    let inner = block.inner(place);
    block.render(place, buffer);
    for (number, text) in (0..).zip(HELP) {
        line(row(inner, number), buffer, text, Style::new());
    }
}
