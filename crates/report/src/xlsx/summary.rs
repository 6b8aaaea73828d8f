//! The first sheet: what the report says, in the order in which people read, with links to the
//! tables and charts.

use rust_xlsxwriter::{Format, Url, Worksheet, XlsxError};

use super::cells::{Formats, ROWS, text};
use super::names::link;
use super::{Part, paper};
use crate::language::{count, say};
use crate::model::{self, Block, Card, Chart, Column, Judgement, Report, Table, Unit};

/// Where a table or chart is; `None` if it has nothing to show.
pub(crate) type Place = Option<(String, u32)>;

/// Where the tables and charts of a result are, in the order in which its blocks name them.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) tables: Vec<Place>,
    pub(crate) charts: Vec<Place>,
}

/// The section whose tables are on the first sheet in words, so that nobody has to search.
pub(crate) const GLANCE: &str = "glance";

/// The first sheet of the workbook.
pub(crate) fn sheet(
    (report, parts): (&Report, &[Part<'_>]),
    name: &str,
    places: &[Places],
    formats: &Formats,
) -> Result<Worksheet, XlsxError> {
    let mut page = Page { sheet: Worksheet::new(), row: 0, formats };
    page.sheet.set_name(name)?;
    page.sheet.set_column_width(0, FIRST as f64)?.set_column_width(1, SECOND as f64)?;
    page.sheet.set_screen_gridlines(false);
    paper::fit(&mut page.sheet, 0.0);
    page.line(Some((&report.title, &formats.title)), None)?;
    // The rows of the results are known when they are written; their links are put in afterwards.
    let overview = page.row + 1;
    if parts.len() > 1 {
        page.row += u32::try_from(parts.len()).unwrap_or(ROWS).saturating_add(1);
    }
    let mut begins = Vec::new();
    for (part, places) in parts.iter().zip(places) {
        page.row = page.row.saturating_add(1);
        begins.push(page.row);
        page.part(part, places)?;
    }
    if parts.len() > 1 {
        for ((part, begin), row) in parts.iter().zip(begins).zip(overview..ROWS) {
            page.row = row;
            let (kind, title) = part.title.split_once(": ").unwrap_or((&part.title, ""));
            page.link(kind, title, &Some((name.to_owned(), begin)))?;
        }
    }
    Ok(page.sheet)
}

/// Widths of the columns in characters, and most lines of a row.
const FIRST: usize = 30;
const SECOND: usize = 110;
const MOST_LINES: usize = 27;

/// About how many lines a text takes in a column so wide.
fn lines(cell: Cell<'_>, width: usize) -> usize {
    let characters = cell.map_or(0, |(words, _)| words.chars().count());
    // The last line alone is full: others end with a word.
    if characters <= width { 1 } else { characters.div_ceil(width - width / 10) }
}

/// A figure with its name: `p99 409 µs`, `95 000 IOPS`, `16 in flight`.
fn in_words(cell: &model::Cell, column: &Column) -> String {
    let figure = cell.show(column.unit);
    match column.unit {
        Unit::Iops | Unit::MibPerS => format!("{figure} {}", column.name),
        Unit::Count => format!("{figure} {}", column.name.to_lowercase()),
        _ if column.name.starts_with('±') => format!("± {figure} %"),
        _ => format!("{} {figure}", column.name.to_lowercase()),
    }
}

/// A sheet that is written from the top.
struct Page<'a> {
    sheet: Worksheet,
    row: u32,
    formats: &'a Formats,
}

/// A text and how it looks.
type Cell<'a> = Option<(&'a str, &'a Format)>;

impl Page<'_> {
    /// Writes the next row. What a sheet has no row for is left out; a million sentences are read
    /// by nobody.
    fn line(&mut self, label: Cell<'_>, words: Cell<'_>) -> Result<(), XlsxError> {
        if self.row < ROWS {
            for (column, cell) in [(0, label), (1, words)] {
                if let Some((words, format)) = cell {
                    self.sheet.write_string_with_format(self.row, column, text(words), format)?;
                }
            }
            if words.is_some() {
                // Excel finds the height of a row by itself; LibreOffice does not always.
                let lines = lines(words, SECOND).max(lines(label, FIRST)).min(MOST_LINES);
                self.sheet.set_row_height(self.row, (lines * 15) as f64)?;
            }
        }
        self.row = self.row.saturating_add(1);
        Ok(())
    }

    /// A row that leads to another place.
    fn link(&mut self, label: &str, words: &str, place: &Place) -> Result<(), XlsxError> {
        let formats = self.formats;
        let Some((sheet, row)) = place else {
            return self.line(Some((label, &formats.quiet)), Some((words, &formats.text)));
        };
        if self.row < ROWS {
            self.sheet.write_string_with_format(self.row, 0, text(label), &formats.quiet)?;
            let words = text(words);
            let words = if words.is_empty() { sheet.clone() } else { words };
            let url = Url::new(link(sheet, *row)).set_text(words);
            self.sheet.write_url_with_format(self.row, 1, &url, &formats.link)?;
        }
        self.row = self.row.saturating_add(1);
        Ok(())
    }

    fn part(&mut self, part: &Part<'_>, places: &Places) -> Result<(), XlsxError> {
        let formats = self.formats;
        self.line(Some((&part.title, &formats.result)), None)?;
        for phrase in &part.subtitle {
            self.line(Some((phrase, &formats.quiet)), None)?;
        }
        if let Some(banner) = part.banner {
            let format = formats.judgement(Judgement::Bad);
            self.line(Some((&say!("page-not-complete"), &format)), Some((banner, &format)))?;
        }
        let (mut tables, mut charts) = (places.tables.iter(), places.charts.iter());
        for section in part.sections {
            self.row = self.row.saturating_add(1);
            if section.heading != part.title {
                self.line(Some((&section.heading, &formats.section)), None)?;
            }
            for block in &section.blocks {
                match block {
                    Block::Chart(chart) => self.chart(chart, charts.next())?,
                    Block::Charts(several) => {
                        for chart in several {
                            self.chart(chart, charts.next())?;
                        }
                    }
                    Block::Table(table) => {
                        if section.key == GLANCE {
                            self.in_words(table)?;
                        }
                        self.table(table, tables.next())?;
                    }
                    block => self.words(block)?,
                }
            }
        }
        Ok(())
    }

    /// A block that is words alone.
    fn words(&mut self, block: &Block) -> Result<(), XlsxError> {
        let formats = self.formats;
        match block {
            Block::Paragraph(words) => self.line(None, Some((words, &formats.text)))?,
            Block::List(items) => {
                for item in items {
                    self.line(None, Some((&format!("• {item}"), &formats.text)))?;
                }
            }
            Block::Warnings(warnings) => {
                for warning in warnings {
                    self.line(
                        Some((&say!("page-warning"), &formats.label)),
                        Some((warning, &formats.warning)),
                    )?;
                }
            }
            Block::Facts(facts) => {
                for fact in facts {
                    let label = (fact.name.as_str(), &formats.label);
                    self.line(Some(label), Some((&fact.value, &formats.text)))?;
                }
            }
            Block::Cards(cards) => {
                for card in cards {
                    self.card(card)?;
                }
            }
            Block::Listing(listing) => {
                self.line(None, Some((&listing.title, &formats.label)))?;
                for line in &listing.lines {
                    self.line(None, Some((line, &formats.code)))?;
                }
            }
            Block::Chart(_) | Block::Charts(_) | Block::Table(_) | Block::Only(..) => {}
        }
        Ok(())
    }

    fn card(&mut self, card: &Card) -> Result<(), XlsxError> {
        let formats = self.formats;
        let answer = formats.judgement(card.judgement);
        self.line(Some((&card.heading, &formats.label)), Some((&card.answer, &answer)))?;
        for sentence in &card.evidence {
            self.line(None, Some((sentence, &formats.text)))?;
        }
        for (place, sentence) in card.original.iter().enumerate() {
            let label = if place == 0 { say!("page-original") } else { String::new() };
            self.line(Some((&label, &formats.quiet)), Some((sentence, &formats.quiet)))?;
        }
        Ok(())
    }

    fn table(&mut self, table: &Table, place: Option<&Place>) -> Result<(), XlsxError> {
        let rows = say!("page-rows", rows = count(table.rows.len()));
        let words = format!("{} – {rows}", table.title);
        self.link(&say!("page-table"), &words, place.unwrap_or(&None))
    }

    /// The rows of a short table as words: what the first cell names, then figure by figure.
    fn in_words(&mut self, table: &Table) -> Result<(), XlsxError> {
        let formats = self.formats;
        for row in &table.rows {
            let mut cells = row.iter().zip(&table.columns);
            let name = cells.next().map(|(cell, c)| cell.show(c.unit)).unwrap_or_default();
            let known = cells.filter(|(cell, _)| **cell != model::Cell::Empty);
            let words: Vec<String> = known.map(|(cell, column)| in_words(cell, column)).collect();
            let is_unsure = row.iter().any(|cell| matches!(cell, model::Cell::Unsure(_)));
            let format = if is_unsure { &formats.unsure } else { &formats.text };
            self.line(Some((&name, &formats.label)), Some((&words.join(", "), format)))?;
        }
        Ok(())
    }

    fn chart(&mut self, chart: &Chart, place: Option<&Place>) -> Result<(), XlsxError> {
        self.link(&say!("page-chart"), &chart.title, place.unwrap_or(&None))
    }
}
