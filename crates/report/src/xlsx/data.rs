//! The hidden sheets of figures that the charts are drawn from, one block of cells below the other.

use rust_xlsxwriter::utility::worksheet_range_absolute;
use rust_xlsxwriter::{ChartRange, Format, Workbook, Worksheet, XlsxError};

use super::cells::{Formats, ROWS, text};
use super::names::Names;
use super::plot::{At, Figure, Line, Place, Plot};

/// The sheets of figures of one result.
pub(crate) struct Data {
    wanted: String,
    sheets: Vec<Worksheet>,
    name: String,
    row: u32,
    ranges: Vec<(String, String)>,
}

/// Where the figures of a chart are.
pub(crate) struct Ranges {
    pub(crate) places: ChartRange,
    pub(crate) lines: Vec<LineRanges>,
    pub(crate) marks: Vec<MarkRanges>,
}

/// Where the figures of a series are.
pub(crate) struct LineRanges {
    pub(crate) name: ChartRange,
    pub(crate) figures: ChartRange,
    /// How far the intervals reach below and above.
    pub(crate) spread: Option<(ChartRange, ChartRange)>,
}

/// Where the places of a vertical line are.
pub(crate) struct MarkRanges {
    pub(crate) name: ChartRange,
    pub(crate) x: ChartRange,
    pub(crate) y: ChartRange,
}

/// Rows of a vertical line: below, where the word is, above.
const MARK_ROWS: u32 = 3;

impl Data {
    /// No sheet yet; the first is made when a chart needs it.
    pub(crate) fn new(wanted: &str) -> Self {
        let (name, ranges) = (String::new(), Vec::new());
        Self { wanted: wanted.to_owned(), sheets: Vec::new(), name, row: 0, ranges }
    }

    /// Writes the figures of a chart.
    pub(crate) fn write(
        &mut self,
        plot: &Plot<'_>,
        names: &mut Names,
        formats: &Formats,
    ) -> Result<Ranges, XlsxError> {
        let rows = u32::try_from(plot.places.len()).unwrap_or(ROWS);
        let deep = rows.max(if plot.named { rows } else { MARK_ROWS }) + 4;
        if self.sheets.is_empty() || self.row.saturating_add(deep) >= ROWS {
            self.name = names.sheet(&self.wanted);
            let mut sheet = Worksheet::new();
            sheet.set_name(&self.name)?.set_column_width(0, 18)?.set_hidden(true);
            self.sheets.push(sheet);
            self.row = 0;
        }
        let name = self.name.clone();
        let (top, first) = (self.row, self.row + 3);
        self.row += deep;
        let Some(sheet) = self.sheets.last_mut() else {
            return Err(XlsxError::RowColumnLimitError);
        };
        let mut block = Block { sheet, name: &name, first, rows, column: 0, formats };
        block.head(plot, top)?;
        let places = block.places(plot)?;
        let mut lines = Vec::new();
        for line in &plot.lines {
            lines.push(block.line(line, plot)?);
        }
        let last_column = block.column - 1;
        let mut marks = Vec::new();
        for (number, (at, label)) in plot.marks.iter().enumerate() {
            marks.push(block.mark(plot, *at, label, number)?);
        }
        let all = worksheet_range_absolute(&name, first - 1, 0, first + rows - 1, last_column);
        self.ranges.push((names.identifier("chart", &plot.chart.key), format!("={all}")));
        Ok(Ranges { places, lines, marks })
    }

    /// Puts the sheets after those that the workbook has, and names the blocks.
    pub(crate) fn into_book(self, book: &mut Workbook) -> Result<(), XlsxError> {
        for sheet in self.sheets {
            book.push_worksheet(sheet);
        }
        for (name, range) in self.ranges {
            book.define_name(name, &range)?;
        }
        Ok(())
    }
}

/// The cells of one chart while they are written, column by column.
struct Block<'a> {
    sheet: &'a mut Worksheet,
    name: &'a str,
    /// The first row of figures; the one above has the headings.
    first: u32,
    rows: u32,
    column: u16,
    formats: &'a Formats,
}

impl Block<'_> {
    /// What the figures are of, and what is left out.
    fn head(&mut self, plot: &Plot<'_>, top: u32) -> Result<(), XlsxError> {
        let title = text(&plot.chart.title);
        self.sheet.write_string_with_format(top, 0, title, &self.formats.section)?;
        let notes = plot.notes.join("; ");
        let between = if notes.is_empty() || plot.chart.caption.is_empty() { "" } else { " – " };
        let caption = text(&format!("{}{between}{notes}", plot.chart.caption));
        self.sheet.write_string_with_format(top + 1, 0, caption, &self.formats.quiet)?;
        Ok(())
    }

    /// A column of rows of this block.
    fn range(&self, rows: u32) -> ChartRange {
        let last = self.first + rows.max(1) - 1;
        ChartRange::new_from_range(self.name, self.first, self.column, last, self.column)
    }

    /// The heading of the current column.
    fn heading(&mut self, words: &str) -> Result<ChartRange, XlsxError> {
        let row = self.first - 1;
        let words = text(words);
        // A series named by an empty cell is called by its number.
        let words = if words.is_empty() { "–".to_owned() } else { words };
        self.sheet.write_string_with_format(row, self.column, words, &self.formats.header)?;
        Ok(ChartRange::new_from_range(self.name, row, self.column, row, self.column))
    }

    /// The column of places on the horizontal axis.
    fn places(&mut self, plot: &Plot<'_>) -> Result<ChartRange, XlsxError> {
        self.heading(&plot.x.title)?;
        let format = Format::new().set_num_format(plot.x.shown.format);
        for (row, place) in (self.first..).zip(&plot.places) {
            match place {
                Place::Name(name) => {
                    self.sheet.write_string(row, self.column, text(name))?;
                }
                Place::Number(x) => {
                    self.sheet.write_number_with_format(row, self.column, *x, &format)?;
                }
            }
        }
        let range = self.range(self.rows);
        self.column += 1;
        Ok(range)
    }

    /// The columns of a series: the figures, and how far their intervals reach.
    fn line(&mut self, line: &Line<'_>, plot: &Plot<'_>) -> Result<LineRanges, XlsxError> {
        let name = self.heading(&line.series.name)?;
        let figures = self.figures(line, plot, |figure| Some(figure.y))?;
        let mut spread = None;
        if line.spread {
            let of = |words: &str| format!("{}: {words}", line.series.name);
            self.heading(&of("below"))?;
            let below = self.figures(line, plot, |figure| figure.below_above.map(|s| s.0))?;
            self.heading(&of("above"))?;
            let above = self.figures(line, plot, |figure| figure.below_above.map(|s| s.1))?;
            spread = Some((below, above));
        }
        Ok(LineRanges { name, figures, spread })
    }

    fn figures(
        &mut self,
        line: &Line<'_>,
        plot: &Plot<'_>,
        of: impl Fn(&Figure) -> Option<f64>,
    ) -> Result<ChartRange, XlsxError> {
        let ruler = plot.right.as_ref().filter(|_| line.right).unwrap_or(&plot.left);
        let format = Format::new().set_num_format(ruler.shown.format);
        for (row, figure) in (self.first..).zip(&line.figures) {
            if let Some(value) = figure.as_ref().and_then(&of) {
                self.sheet.write_number_with_format(row, self.column, value, &format)?;
            }
        }
        let range = self.range(self.rows);
        self.column += 1;
        Ok(range)
    }

    /// The columns of a vertical line. On an axis of names it is one figure, and a bar from there
    /// to the axis.
    fn mark(
        &mut self,
        plot: &Plot<'_>,
        at: At,
        label: &str,
        number: usize,
    ) -> Result<MarkRanges, XlsxError> {
        let bounds = &plot.last_ruler().bounds;
        let x = self.range(MARK_ROWS);
        let x_at = match at {
            At::X(x) => x,
            At::Row(row) => {
                let name = self.heading(label)?;
                let row = self.first.saturating_add(u32::try_from(row).unwrap_or(ROWS));
                self.sheet.write_number(row, self.column, bounds.max)?;
                let y = self.range(self.rows);
                self.column += 1;
                return Ok(MarkRanges { name, x, y });
            }
        };
        self.heading(&format!("{label}: where"))?;
        for row in self.first..self.first + MARK_ROWS {
            self.sheet.write_number(row, self.column, x_at)?;
        }
        self.column += 1;
        let name = self.heading(label)?;
        // Words of neighbours are not at the same height.
        let height = bounds.between(0.97 - 0.07 * (number % 5) as f64);
        for (row, y) in (self.first..).zip([bounds.min, height, bounds.max]) {
            self.sheet.write_number(row, self.column, y)?;
        }
        let y = self.range(MARK_ROWS);
        self.column += 1;
        Ok(MarkRanges { name, x, y })
    }
}
