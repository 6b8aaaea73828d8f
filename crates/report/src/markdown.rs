//! A report as Markdown (`CommonMark` with tables): for wikis, tickets and pull requests.

use inspect::files::Seal;

use crate::format::Format;
use crate::language::say;
use crate::model::{
    Block, Card, Cell, Chart, Judgement, Listing, Report, ResultPart, Table, UNSURE_MARK, Unit,
};
use crate::words;

/// How this format is named and written.
pub static FORMAT: Format = Format {
    name: "markdown",
    aliases: &["md"],
    title: "Markdown",
    help: "For wikis and tickets",
    endings: &["md", "markdown"],
    media: "text/markdown; charset=utf-8",
    write: |content| Ok(text_with(content.report, content.pictures).into_bytes()),
    seal: Seal::Markup,
    apart: None,
};

/// The beginning of every report of iosonde in Markdown; readers do not see it.
const SIGN: &str = "<!-- report of iosonde -->";

/// The report without its charts, whose figures are in the tables.
#[must_use]
pub fn text(report: &Report) -> String {
    text_with(report, &|_, _| None)
}

/// The report; `picture` says where the picture of a chart of a result is, if there is one. The
/// place after the last result is that of their comparison.
#[must_use]
pub fn text_with(report: &Report, picture: &dyn Fn(usize, &Chart) -> Option<String>) -> String {
    let mut out = format!("{SIGN}\n\n# {}\n", plain(&report.title));
    if let Some(section) = &report.comparison {
        let place = |chart: &Chart| picture(report.results.len(), chart);
        let blocks: String = section.blocks.iter().map(|b| block(b, &place)).collect();
        out.push_str(&format!("\n## {}\n{blocks}", section.heading));
    }
    for (place, part) in report.results.iter().enumerate() {
        out.push_str(&result(part, &|chart| picture(place, chart)));
    }
    out
}

fn result(part: &ResultPart, picture: &dyn Fn(&Chart) -> Option<String>) -> String {
    let mut out = format!("\n## {}: {}\n", part.kind, plain(&part.title));
    let subtitle: Vec<String> = part.subtitle.iter().map(|s| plain(s)).collect();
    out.push_str(&format!("\n{}\n", subtitle.join(" · ")));
    if let Some(banner) = &part.banner {
        out.push_str(&format!("\n> {} {}\n", strong(&say!("page-not-complete")), plain(banner)));
    }
    for section in &part.sections {
        let blocks: String = section.blocks.iter().map(|b| block(b, picture)).collect();
        if !blocks.is_empty() {
            out.push_str(&format!("\n### {}\n{blocks}", section.heading));
        }
    }
    let (id, schema) = (plain(part.document.id()), plain(part.document.schema()));
    out.push_str(&format!("\n{}\n", say!("page-document", id = id, schema = schema)));
    out
}

fn block(block: &Block, picture: &dyn Fn(&Chart) -> Option<String>) -> String {
    match block {
        Block::Only(..) => String::new(),
        Block::Paragraph(text) => format!("\n{}\n", plain(text)),
        Block::List(texts) => list(texts, ""),
        Block::Warnings(texts) => list(texts, "**!** "),
        Block::Facts(facts) => {
            let line =
                |f: &crate::model::Fact| format!("- {}: {}\n", strong(&f.name), plain(&f.value));
            let lines: String = facts.iter().map(line).collect();
            if lines.is_empty() { lines } else { format!("\n{lines}") }
        }
        Block::Cards(cards) => cards.iter().map(card).collect(),
        Block::Chart(one) => chart(one, picture),
        Block::Charts(charts) => charts.iter().map(|c| chart(c, picture)).collect(),
        Block::Table(one) => table(one),
        Block::Listing(one) => listing(one),
    }
}

/// Indented by four, so that nothing in it is markup.
fn listing(listing: &Listing) -> String {
    let line = |line: &String| format!("    {}\n", line.replace(['\n', '\r'], " "));
    let lines: String = listing.lines.iter().map(line).collect();
    format!("\n{}\n\n{lines}", strong(&listing.title))
}

fn list(texts: &[String], lead: &str) -> String {
    let line = |text: &String| format!("- {lead}{}\n", plain(text));
    let lines: String = texts.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn strong(text: &str) -> String {
    let text = plain(text.trim());
    if text.is_empty() { text } else { format!("**{text}**") }
}

fn card(card: &Card) -> String {
    let sign = match card.judgement {
        Judgement::Good => "✓",
        Judgement::Doubtful => "△",
        Judgement::Bad => "✗",
        Judgement::Unknown => "?",
    };
    let evidence = list(&card.evidence, "");
    let mut original = list(&card.original, "");
    if !original.is_empty() {
        original = format!("\n{}\n{original}", strong(&say!("page-original")));
    }
    format!("\n{sign} {}: {}\n{evidence}{original}", strong(&card.heading), plain(&card.answer))
}

fn chart(chart: &Chart, picture: &dyn Fn(&Chart) -> Option<String>) -> String {
    let Some(place) = picture(chart) else { return String::new() };
    let title = plain(&chart.title);
    format!(
        "\n![{title}](<{}>)\n\n*{}*\n",
        place.replace(['<', '>', '\n'], ""),
        plain(&chart.caption)
    )
}

fn table(table: &Table) -> String {
    let mut out = format!("\n{}\n", strong(&table.title));
    if !table.caption.is_empty() {
        out.push_str(&format!("\n{}\n", plain(&table.caption)));
    }
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out.push('\n');
    out.push_str(&row(table.columns.iter().map(|c| plain(&c.heading())).collect()));
    let rule = |unit: Unit| if unit == Unit::Text { "---" } else { "---:" };
    out.push_str(&row(table.columns.iter().map(|c| rule(c.unit).to_owned()).collect()));
    for cells in &table.rows {
        let shown = cells.iter().zip(&table.columns).map(|(one, c)| cell(one, c.unit));
        out.push_str(&row(shown.collect()));
    }
    if table.has_unsure() {
        out.push_str(&format!("\n*{}*\n", words::mark_note(UNSURE_MARK)));
    }
    out
}

/// A cell; a figure that is hardly known is in italics.
fn cell(cell: &Cell, unit: Unit) -> String {
    let text = plain(&cell.show(unit));
    if matches!(cell, Cell::Unsure(_)) { format!("*{text}*") } else { text }
}

/// A text in which nothing is Markdown or HTML.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in words::clean(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
