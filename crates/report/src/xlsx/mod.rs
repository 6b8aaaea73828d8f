//! The report as a workbook for Excel, LibreOffice and what else reads XLSX.
//!
//! The first sheet says what the report says. Each table has its own sheet, each result one with
//! its charts; the figures of the charts are in cells of hidden sheets. Sheets are numbered in the
//! order in which they are read, and every page fits its paper. The same report makes the same
//! bytes: the time in the file is that of the newest result. What Excel cannot hold is left out
//! with a note, and no text is ever a formula.

mod axes;
mod cells;
mod data;
mod draw;
mod mend;
mod names;
mod paper;
mod plot;
mod summary;
mod tables;
mod units;

use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook, Worksheet, XlsxError};

use self::cells::{Formats, ROWS, text};
use self::data::Data;
use self::names::{Names, cut};
use self::summary::{Place, Places};
use crate::ReportError;
use crate::language::say;

use crate::model::{Block, Chart, Report, ResultPart, Section};

/// Charts side by side on a sheet, and the cells that each has.
const BESIDE: u16 = 2;
const CHART_COLUMNS: u16 = 12;
const CHART_ROWS: u32 = 23;

/// Most charts of a result: beyond it, nobody looks for one, and programs take minutes to open the
/// file.
const CHARTS: usize = 400;

/// Most table sheets in a workbook; a workbook with thousands of sheets opens in none of the
/// programs.
const TABLES: usize = 400;

/// Where the figures of the charts are: hidden, so that nobody prints them by accident.
const FIGURES_ARE: &str = "The figures of the charts are on hidden sheets: right-click the tab \
                           of a sheet and choose Unhide.";

/// A part of a report that has sheets of its own: the comparison, or a result.
pub(crate) struct Part<'a> {
    title: String,
    subtitle: Vec<String>,
    banner: Option<&'a str>,
    sections: &'a [Section],
}

impl<'a> Part<'a> {
    /// The comparison of all results, if there is one, then each result.
    fn all(report: &'a Report) -> Vec<Self> {
        let comparison = report.comparison.as_ref().map(|section| Part {
            title: section.heading.clone(),
            subtitle: Vec::new(),
            banner: None,
            sections: std::slice::from_ref(section),
        });
        let of_result = |result: &'a ResultPart| Part {
            title: format!("{}: {}", result.kind, result.title),
            subtitle: result.subtitle.clone(),
            banner: result.banner.as_deref(),
            sections: &result.sections,
        };
        comparison.into_iter().chain(report.results.iter().map(of_result)).collect()
    }
}

/// What the first sheet is called: what a reader finds first on it.
fn first_name(report: &Report) -> String {
    match (report.comparison.as_ref(), report.results.as_slice()) {
        (Some(section), _) => section.heading.clone(),
        (None, [only]) if only.sections.iter().any(|s| s.key == summary::GLANCE) => {
            say!("heading-at-a-glance")
        }
        _ => say!("page-report"),
    }
}

/// The report as an XLSX file.
pub fn workbook(report: &Report) -> Result<Vec<u8>, ReportError> {
    let formats = Formats::new();
    let mut names = Names::new();
    let first = names.numbered(&first_name(report));
    let parts = Part::all(report);
    let mut sheets = Vec::new();
    let mut figures = Vec::new();
    let mut places = Vec::new();
    for part in &parts {
        let mut found = Places::default();
        let mut data = Data::new("Chart data");
        found.charts = charts(part, &mut sheets, &mut data, &mut names, &formats)?;
        let room = TABLES.saturating_sub(sheets.len());
        found.tables = tables(part, &mut sheets, room, &mut names, &formats, &first)?;
        figures.push(data);
        places.push(found);
    }
    let mut book = Workbook::new();
    book.set_properties(&properties(report));
    book.push_worksheet(summary::sheet((report, &parts), &first, &places, &formats)?);
    for sheet in sheets {
        book.push_worksheet(sheet);
    }
    for data in figures {
        data.into_book(&mut book)?;
    }
    mend::charts(book.save_to_buffer()?)
}

/// The sheet with the charts of a part, and where on it each is.
fn charts(
    part: &Part<'_>,
    sheets: &mut Vec<Worksheet>,
    data: &mut Data,
    names: &mut Names,
    formats: &Formats,
) -> Result<Vec<Place>, XlsxError> {
    let mut places = Vec::new();
    let mut sheet = Gallery::new();
    for section in part.sections {
        sheet.new_row();
        let mut headed = false;
        for chart in section.blocks.iter().flat_map(of_block) {
            let plot = plot::of(chart).filter(|_| sheet.count < CHARTS);
            let Some(plot) = plot else {
                places.push(None);
                continue;
            };
            if sheet.name.is_empty() {
                sheet.begin(names, part, formats)?;
            }
            if !headed {
                sheet.heading(section, formats)?;
                headed = true;
            }
            let ranges = data.write(&plot, names, formats)?;
            places.push(Some(sheet.insert(&draw::chart(&plot, &ranges))?));
        }
    }
    if !sheet.name.is_empty() {
        sheet.finish()?;
        sheets.push(sheet.sheet);
    }
    Ok(places)
}

/// The charts that a block holds.
fn of_block(block: &Block) -> &[Chart] {
    match block {
        Block::Chart(chart) => std::slice::from_ref(chart),
        Block::Charts(charts) => charts,
        _ => &[],
    }
}

/// The sheet that has the charts in rows.
struct Gallery {
    sheet: Worksheet,
    name: String,
    row: u32,
    column: u16,
    count: usize,
    breaks: Vec<u32>,
}

impl Gallery {
    fn new() -> Self {
        let sheet = Worksheet::new();
        Self { sheet, name: String::new(), row: 0, column: 0, count: 0, breaks: Vec::new() }
    }

    /// Names the sheet and writes what all charts on it are of.
    fn begin(
        &mut self,
        names: &mut Names,
        part: &Part<'_>,
        formats: &Formats,
    ) -> Result<(), XlsxError> {
        self.name = names.numbered(&say!("page-charts"));
        self.sheet.set_name(&self.name)?.set_screen_gridlines(false);
        self.sheet.set_landscape().set_paper_size(paper::A4).set_print_scale(50);
        self.sheet.set_margins(0.4, 0.4, 0.5, 0.5, 0.3, 0.3).set_footer(paper::FOOTER);
        self.sheet.write_string_with_format(0, 0, text(&part.title), &formats.result)?;
        let phrases = text(&part.subtitle.join(" · "));
        self.sheet.write_string_with_format(1, 0, phrases, &formats.quiet)?;
        self.sheet.write_string_with_format(2, 0, FIGURES_ARE, &formats.quiet)?;
        self.row = 4;
        Ok(())
    }

    /// Begins a row, if the present one has a chart.
    fn new_row(&mut self) {
        if self.column > 0 {
            self.column = 0;
            self.row += CHART_ROWS;
        }
    }

    fn heading(&mut self, section: &Section, formats: &Formats) -> Result<(), XlsxError> {
        self.row += u32::from(self.count > 0);
        self.break_page();
        let heading = text(&section.heading);
        self.sheet.write_string_with_format(self.row, 0, heading, &formats.section)?;
        self.row += 1;
        Ok(())
    }

    /// Two rows of charts fit on a page of paper.
    fn break_page(&mut self) {
        let begun = self.breaks.last().copied().unwrap_or(0);
        if self.row + CHART_ROWS > begun + 2 * CHART_ROWS + 6 {
            self.breaks.push(self.row);
        }
    }

    fn insert(&mut self, chart: &rust_xlsxwriter::Chart) -> Result<(String, u32), XlsxError> {
        if self.row + CHART_ROWS >= ROWS {
            return Err(XlsxError::RowColumnLimitError);
        }
        if self.column == 0 {
            self.break_page();
        }
        let column = self.column * CHART_COLUMNS;
        self.sheet.insert_chart(self.row, column, chart)?;
        let place = (self.name.clone(), self.row);
        self.count += 1;
        self.column += 1;
        if self.column == BESIDE {
            self.new_row();
        }
        Ok(place)
    }

    fn finish(&mut self) -> Result<(), XlsxError> {
        if !self.breaks.is_empty() {
            self.sheet.set_page_breaks(&self.breaks)?;
        }
        Ok(())
    }
}

/// One sheet per table of a part, and which.
fn tables(
    part: &Part<'_>,
    sheets: &mut Vec<Worksheet>,
    room: usize,
    names: &mut Names,
    formats: &Formats,
    report: &str,
) -> Result<Vec<Place>, XlsxError> {
    let mut places = Vec::new();
    let mut made = 0;
    for block in part.sections.iter().flat_map(|section| &section.blocks) {
        let Block::Table(table) = block else { continue };
        if table.columns.is_empty() || made >= room {
            places.push(None);
            continue;
        }
        let key = if table.key.trim().is_empty() { "Table" } else { &table.key };
        let name = names.numbered(&names::words(key));
        let sheet = tables::sheet(table, &name, names, formats, report, tables::ROOM)?;
        made += usize::from(sheet.is_some());
        places.push(sheet.as_ref().map(|_| (name, 0)));
        sheets.extend(sheet);
    }
    Ok(places)
}

/// What the file says of itself.
fn properties(report: &Report) -> DocProperties {
    let newest = report.results.iter().map(|result| {
        let document = &result.document;
        document.finished().unwrap_or(document.started())
    });
    let made = newest.max().and_then(moment);
    // The file must not depend on when it was written.
    let made = made.or_else(|| ExcelDateTime::from_ymd(2000, 1, 1).ok());
    let properties = DocProperties::new()
        .set_title(cut(&text(&report.title), 250))
        .set_author(concat!("iosonde ", env!("CARGO_PKG_VERSION")))
        .set_subject("Measurements of storage");
    match made {
        Some(made) => properties.set_creation_datetime(&made),
        None => properties,
    }
}

/// A time as documents write it, without parts of a second.
fn moment(text: &str) -> Option<ExcelDateTime> {
    let whole = text.split(['.', 'Z']).next().unwrap_or(text);
    ExcelDateTime::parse_from_str(whole).ok()
}
