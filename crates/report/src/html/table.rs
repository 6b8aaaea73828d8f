//! A table of the model as HTML.

use crate::chart::escape;
use crate::chart::figure;
use crate::language::say;
use crate::model::{Cell, Column, Table, Unit};
use crate::words::{self, NONE};

/// Tables with more rows get a box to filter them.
const FILTER_FROM: usize = 12;
/// Tables with more rows scroll under their heading.
const TALL_FROM: usize = 40;

/// Headings of tables with more columns are broken into lines.
const MANY_FROM: usize = 8;
/// Words with more letters need room.
const WIDE_FROM: usize = 20;

/// The table in a box that scrolls sideways where it is too wide.
pub(super) fn html(table: &Table) -> String {
    let title = escape(&table.title);
    let mut caption =
        if title.is_empty() { String::new() } else { format!("<strong>{title}</strong>") };
    if !table.caption.is_empty() {
        let point = if title.is_empty() || table.title.ends_with('.') { "" } else { "." };
        caption += &format!("{point} <span>{}</span>", escape(&table.caption));
    }
    if table.rows.is_empty() || table.columns.is_empty() {
        return format!("<p class=\"note\">{caption} {}</p>\n", say!("page-no-rows"));
    }
    let rows = table.rows.len();
    let filter = if rows > FILTER_FROM { " long" } else { "" };
    let tall = if rows > TALL_FROM { " tall" } else { "" };
    let many = if table.columns.len() > MANY_FROM { " many" } else { "" };
    let mut out = format!(
        "<div class=\"table{filter}{many}\"><p class=\"caption\">{caption}</p><div \
         class=\"scroll{tall}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\
         <table><caption>{}</caption>",
        escape(&say!("page-table-of", title = &table.title)),
        if title.is_empty() { escape(&say!("page-table")) } else { title }
    );
    let wide: Vec<bool> = (0..table.columns.len()).map(|i| is_wide(table, i)).collect();
    out += "<thead><tr>";
    out.extend(table.columns.iter().map(heading));
    out += "</tr></thead>\n<tbody>\n";
    let largest: Vec<f64> = (0..table.columns.len()).map(|i| largest(table, i)).collect();
    for row in &table.rows {
        out += "<tr>";
        for (i, column) in table.columns.iter().enumerate() {
            out += &cell(column, row.get(i).unwrap_or(&Cell::Empty), (i == 0, wide[i]), largest[i]);
        }
        out += "</tr>\n";
    }
    out += "</tbody></table></div>";
    if table.has_unsure() {
        out += &format!("<p class=\"note unsure\">{}</p>", escape(&words::grey_note()));
    }
    out + "</div>\n"
}

fn heading(column: &Column) -> String {
    let class = if column.unit == Unit::Text { "" } else { " class=\"n\"" };
    let word = figure::word_beside(column.unit);
    let unit = if word.is_empty() || column.name.contains(word) {
        String::new()
    } else {
        format!(" <small>{word}</small>")
    };
    format!("<th scope=\"col\"{class}>{}{unit}</th>", super::termed(&column.name))
}

/// The largest figure of a column whose figures get bars; zero where they get none.
fn largest(table: &Table, index: usize) -> f64 {
    let unit = table.columns.get(index).map(|c| c.unit);
    if !matches!(unit, Some(Unit::Iops | Unit::MibPerS)) || table.rows.len() < 2 {
        return 0.0;
    }
    let figures = table.rows.iter().filter_map(|row| match row.get(index) {
        Some(Cell::Number(v) | Cell::Unsure(v)) if v.is_finite() && *v <= figure::LARGEST => {
            Some(*v)
        }
        _ => None,
    });
    figures.fold(0.0, f64::max)
}

/// Whether a column has words that need room.
fn is_wide(table: &Table, index: usize) -> bool {
    table.rows.iter().any(|row| match row.get(index) {
        Some(Cell::Text(text)) => text.chars().count() > WIDE_FROM,
        _ => false,
    })
}

/// Whether words are a figure, which does not break over lines: `80 012`, `-67 %`.
fn is_figure(cell: &Cell) -> bool {
    let Cell::Text(text) = cell else { return false };
    text.trim_start_matches(['+', '-', '−', '±', '~']).starts_with(|c: char| c.is_ascii_digit())
}

fn cell(column: &Column, cell: &Cell, (first, wide): (bool, bool), largest: f64) -> String {
    let (open, close) = if first { ("th scope=\"row\"", "th") } else { ("td", "td") };
    let class = match (column.unit, wide) {
        (Unit::Text, false) if is_figure(cell) => " class=\"f\"",
        (Unit::Text, false) => "",
        (Unit::Text, true) => " class=\"w\"",
        _ => " class=\"n\"",
    };
    match cell {
        Cell::Empty if column.unit == Unit::Text => format!("<{open}></{close}>"),
        Cell::Empty => format!("<{open}{class}>{NONE}</{close}>"),
        Cell::Text(text) => format!("<{open}{class}>{}</{close}>", escape(text)),
        Cell::Number(value) => {
            let key = key(column.unit, *value);
            let text = figure::cell(column.unit, *value);
            let bar = bar(*value, largest);
            format!("<{open}{class}{key}>{text}{bar}</{close}>")
        }
        // Without a bar, which looks like a fact.
        Cell::Unsure(value) => {
            let key = key(column.unit, *value);
            let text = figure::cell(column.unit, *value);
            format!("<{open}{class}{key}><span class=\"unsure\">{text}</span></{close}>")
        }
    }
}

/// What a cell is sorted by, where its text does not say.
fn key(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Nanoseconds | Unit::Seconds | Unit::Bytes | Unit::Moment if value.is_finite() => {
            format!(" data-key=\"{}\"", brief(value))
        }
        _ => String::new(),
    }
}

/// A figure for a program in few letters, to six digits or as a whole number.
pub(super) fn brief(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let (plain, power) = (format!("{rounded}"), format!("{rounded:e}"));
    if plain.len() <= power.len() { plain } else { power }
}

fn bar(value: f64, largest: f64) -> String {
    let share = value / largest;
    if !(0.0..=1.0).contains(&share) {
        return String::new();
    }
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 100 3\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><path d=\"M0 0h{:.0}v3H0z\"/></svg>",
        share * 100.0
    )
}
