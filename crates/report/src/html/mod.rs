//! A report as one HTML file, and its parts for other pages.
//!
//! The file asks nothing of a network: style, pictures, script and the documents themselves are
//! inside, and its content security policy allows nothing else. It is readable and printable
//! without its script, which reads charts out, hides series, sorts and filters tables and saves
//! documents. The templates are compiled into the program by `askama`, which escapes every text.
//! The parts need no inline style and no inline script, so that a strict policy takes them.

mod bullet;
mod figure;
mod raw;
mod table;

use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use inspect::files::Seal;
use sha2::{Digest, Sha256};

use crate::ReportError;
use crate::chart::escape;
use crate::format::Format;
use crate::language::say;
use crate::model::{Block, Card, Chart, Judgement, Report, ResultPart, Section};

/// How this format is named and written.
pub static FORMAT: Format = Format {
    name: "html",
    aliases: &[],
    title: "HTML",
    help: "One page for the browser and the printer",
    endings: &["html", "htm"],
    media: "text/html; charset=utf-8",
    write: |content| Ok(page(content.report)?.into_bytes()),
    seal: Seal::Markup,
    apart: None,
};

/// The style sheet of every page, for light and dark, screen and paper.
#[must_use]
pub fn style() -> &'static str {
    include_str!("../../templates/style.css")
}

/// The script of every page: reads charts out, sorts and filters tables, saves documents. Pages are
/// whole without it.
///
/// It offers `window.iosonde.enhance(element)` for what is put into a page later.
#[must_use]
pub fn script() -> &'static str {
    include_str!("../../templates/script.js")
}

/// All documents in a page take no more than this, if that can be.
const DOCUMENTS_BYTES: usize = 7 << 19;

/// A report as one HTML file that needs nothing else: opens from a disk, prints, and holds its own
/// documents.
pub fn page(report: &Report) -> Result<String, ReportError> {
    let several = report.results.len() != 1;
    let room = DOCUMENTS_BYTES / report.results.len().max(1);
    let mut parts = Vec::new();
    let mut documents = Vec::new();
    for (i, result) in report.results.iter().enumerate() {
        let prefix = if several { format!("r{}-", i + 1) } else { String::new() };
        parts.push(part_at(result, &prefix, if several { 2 } else { 1 })?);
        documents.push(Raw {
            id: format!("document-{}", i + 1),
            name: raw::file_name(&result.document),
            title: format!("{}: {}", result.kind, result.title),
            schema: result.document.schema().to_owned(),
            packed: raw::packed(&result.document, room)?,
        });
    }
    let comparison = match &report.comparison {
        Some(section) => Some((section, blocks_at(&section.blocks, 3)?)),
        None => None,
    };
    let mut made_by: Vec<String> = report.results.iter().map(|r| made_by(&r.document)).collect();
    made_by.dedup();
    let page = Page {
        title: &report.title,
        several,
        overview: overview(report),
        comparison,
        parts,
        documents,
        made_by: made_by.join(", "),
        style: style(),
        script: script(),
        style_hash: hash(style()),
        script_hash: hash(script()),
    };
    Ok(scrubbed(page.render()?))
}

/// The version of iosonde, or the other tool that measured.
fn made_by(document: &results::Document) -> String {
    let tool = document.measurements().iter().find_map(|m| crate::words::tool(m));
    tool.unwrap_or_else(|| format!("version {}", document.tool_version()))
}

/// One result with its title as the first heading, contents and sections, for a page with [`style`]
/// and [`script`].
///
/// Sections have their key as `id`. The document is not in it.
pub fn part(result: &ResultPart) -> Result<String, ReportError> {
    Ok(scrubbed(part_at(result, "", 1)?))
}

/// Blocks for a page with [`style`] and [`script`]. Their headings are of the third level.
pub fn blocks(blocks: &[Block]) -> Result<String, ReportError> {
    Ok(scrubbed(blocks_at(blocks, 3)?))
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: &'a str,
    several: bool,
    overview: Vec<Overview<'a>>,
    /// What the results say next to each other.
    comparison: Option<(&'a Section, String)>,
    parts: Vec<String>,
    documents: Vec<Raw>,
    made_by: String,
    style: &'static str,
    script: &'static str,
    style_hash: String,
    script_hash: String,
}

/// A result on the cover of several.
struct Overview<'a> {
    number: usize,
    result: &'a ResultPart,
    cards: Vec<&'a Card>,
}

/// A document in the page, packed.
struct Raw {
    id: String,
    name: String,
    title: String,
    schema: String,
    packed: raw::Packed,
}

#[derive(Template)]
#[template(path = "part.html")]
struct Part<'a> {
    result: &'a ResultPart,
    prefix: &'a str,
    level: u8,
    sections: Vec<(&'a Section, String)>,
}

#[derive(Template)]
#[template(path = "blocks.html")]
struct Blocks<'a> {
    pieces: Vec<Piece<'a>>,
    level: u8,
}

/// A block, or the charts of several that follow each other.
enum Piece<'a> {
    Block(&'a Block),
    Charts(Vec<&'a Chart>),
}

fn pieces(blocks: &[Block]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for block in blocks {
        match (block, pieces.last_mut()) {
            (Block::Charts(charts), Some(Piece::Charts(beside))) => beside.extend(charts),
            (Block::Charts(charts), _) => pieces.push(Piece::Charts(charts.iter().collect())),
            _ => pieces.push(Piece::Block(block)),
        }
    }
    pieces
}

fn overview(report: &Report) -> Vec<Overview<'_>> {
    let of = |(i, result)| Overview { number: i + 1, result, cards: cards_of(result) };
    report.results.iter().enumerate().map(of).collect()
}

/// Whether the title of a report says what its only result says of itself.
fn said(title: &str, result: &ResultPart) -> bool {
    title == result.title || title == format!("{}: {}", result.kind, result.title)
}

/// Every answer with a judgement in a result.
fn cards_of(result: &ResultPart) -> Vec<&Card> {
    let blocks = result.sections.iter().flat_map(|s| &s.blocks);
    let lists = blocks.filter_map(|block| match block {
        Block::Cards(cards) => Some(cards),
        _ => None,
    });
    lists.flatten().collect()
}

fn part_at(result: &ResultPart, prefix: &str, level: u8) -> Result<String, ReportError> {
    let mut sections = Vec::new();
    for section in &result.sections {
        let inner = blocks_at(&section.blocks, level + 2)?;
        if !inner.trim().is_empty() {
            sections.push((section, inner));
        }
    }
    Ok(Part { result, prefix, level, sections }.render()?)
}

fn blocks_at(blocks: &[Block], level: u8) -> Result<String, ReportError> {
    Ok(Blocks { pieces: pieces(blocks), level }.render()?)
}

/// The CSS class of a judgement.
fn tone(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Good => "good",
        Judgement::Doubtful => "doubtful",
        Judgement::Bad => "bad",
        Judgement::Unknown => "unknown",
    }
}

/// A heading, with what it means as a tooltip where it is a word of the glossary.
fn termed(heading: &str) -> String {
    let words = escape(heading);
    match crate::glossary::meaning(heading) {
        Some(meaning) => format!("<abbr title=\"{}\">{words}</abbr>", escape(meaning)),
        None => words,
    }
}

/// The sign of a judgement, for readers who do not see its colour.
fn symbol(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Good => "✓",
        Judgement::Doubtful => "!",
        Judgement::Bad => "✕",
        Judgement::Unknown => "?",
    }
}

/// What a content security policy calls a text that it allows.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// A page without what neither XML nor a reader takes: control characters, and marks that turn the
/// direction of writing.
fn scrubbed(page: String) -> String {
    let refused = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FFFE}' | '\u{FFFF}')
    };
    if page.contains(refused) { page.replace(refused, "\u{FFFD}") } else { page }
}
