//! One sheet per table: an Excel table with filters, bands and a heading that stays in sight.

use std::collections::HashSet;

use rust_xlsxwriter::{Format, FormatAlign, Table, TableColumn, TableStyle, Worksheet, XlsxError};

use super::cells::{COLUMNS, Formats, ROWS, alternative, text};
use super::names::{Names, cut, link};
use super::paper;
use super::units::Shown;
use crate::model::{self, Cell, Column, Unit};
use crate::words;

/// Where the headings of the columns are; above them are the title, the caption and a note.
const HEADER: u32 = 3;

/// Most characters of a heading, some below what Excel takes.
const HEADING_LIMIT: usize = 200;

/// Most lines that a heading is given.
const HEADING_LINES: usize = 4;

/// Rows that are looked at to find out how wide a column is.
const LOOKED_AT: usize = 400;

/// Rows of a table that a sheet has room for.
pub(crate) const ROOM: usize = (ROWS - HEADER - 1) as usize;

/// The sheet of a table with at most so many rows; `None` if the table has no columns.
pub(crate) fn sheet(
    table: &model::Table,
    name: &str,
    names: &mut Names,
    formats: &Formats,
    report: &str,
    room: usize,
) -> Result<Option<Worksheet>, XlsxError> {
    let columns = table.columns.get(..COLUMNS).unwrap_or(&table.columns);
    let Some(last_column) = columns.len().checked_sub(1).and_then(|n| u16::try_from(n).ok()) else {
        return Ok(None);
    };
    let mut sheet = Worksheet::new();
    sheet.set_name(name)?;
    head(&mut sheet, table, formats, report, room)?;

    let rows = table.rows.get(..room).unwrap_or(&table.rows);
    let shown: Vec<Shown> = (0..columns.len()).map(|at| shown(table, columns, at)).collect();
    let headings = headings(columns, &shown);
    for (row, cells) in (HEADER + 1..).zip(rows) {
        for ((column, cell), shown) in (0..).zip(cells).zip(&shown) {
            write(&mut sheet, row, column, cell, shown, formats)?;
        }
    }
    let last_row = HEADER + u32::try_from(rows.len()).unwrap_or(u32::MAX).max(1);
    let made: Vec<TableColumn> = headings
        .iter()
        .zip(&shown)
        .zip(columns)
        .map(|((heading, shown), column)| {
            // Figures are right-aligned, and so are their headings.
            let right = column.unit != Unit::Text;
            let header = formats.header.clone();
            let header = if right { header.set_align(FormatAlign::Right) } else { header };
            let format = Format::new().set_num_format(shown.format);
            TableColumn::new().set_header(heading).set_format(format).set_header_format(header)
        })
        .collect();
    let of_excel = Table::new()
        .set_name(names.identifier("table", &table.key))
        .set_alt_text(alternative(&table.title))
        .set_style(TableStyle::Light9)
        .set_columns(&made);
    sheet.add_table(HEADER, 0, last_row, last_column, &of_excel)?;

    let width = widths(&mut sheet, columns, &headings, rows)?;
    sheet.set_freeze_panes(HEADER + 1, u16::from(last_column > 3))?;
    sheet.set_repeat_rows(HEADER, HEADER)?;
    paper::fit(&mut sheet, width);
    Ok(Some(sheet))
}

/// The title, the caption, and what the sheet does not hold.
fn head(
    sheet: &mut Worksheet,
    table: &model::Table,
    formats: &Formats,
    report: &str,
    room: usize,
) -> Result<(), XlsxError> {
    sheet.write_string_with_format(0, 0, text(&table.title), &formats.section)?;
    sheet.write_string_with_format(1, 0, text(&table.caption), &formats.quiet)?;
    sheet.write_url_with_text(2, 0, link(report, 0).as_str(), "Back to the report")?;
    let mut left_out = Vec::new();
    if table.rows.len() > room {
        left_out.push(format!("rows: {} of {}", table.rows.len() - room, table.rows.len()));
    }
    if table.columns.len() > COLUMNS {
        left_out.push(format!("columns: {}", table.columns.len() - COLUMNS));
    }
    if table.has_unsure() {
        sheet.write_string_with_format(2, 1, words::grey_note(), &formats.unsure)?;
    }
    if !left_out.is_empty() {
        let note = format!("More than a sheet holds. Left out, {}", left_out.join(", "));
        sheet.write_string_with_format(2, 2, note, &formats.quiet)?;
    }
    Ok(())
}

/// How the figures of a column are shown. All times of a table are in the same unit, so that they
/// can be compared.
fn shown(table: &model::Table, columns: &[Column], at: usize) -> Shown {
    let unit = columns.get(at).map_or(Unit::Text, |column| column.unit);
    let of_unit = (0..columns.len()).filter(move |other| {
        *other == at
            || unit == Unit::Nanoseconds && columns.get(*other).is_some_and(|c| c.unit == unit)
    });
    let figures = of_unit.flat_map(|other| {
        table.rows.iter().filter_map(move |row| match row.get(other) {
            Some(Cell::Number(figure) | Cell::Unsure(figure)) => Some(*figure),
            _ => None,
        })
    });
    Shown::of(unit, figures)
}

/// Headings with units, each but once, as a table needs them.
fn headings(columns: &[Column], shown: &[Shown]) -> Vec<String> {
    let mut used = HashSet::new();
    let mut headings = Vec::new();
    for (column, shown) in columns.iter().zip(shown) {
        let name = if column.name.trim().is_empty() { column.key } else { &column.name };
        let heading = text(&shown.heading(name));
        let heading = cut(&heading, HEADING_LIMIT).trim();
        let heading = if heading.is_empty() { "Column" } else { heading };
        let mut unique = heading.to_owned();
        let mut number = 2;
        while !used.insert(unique.to_lowercase()) {
            unique = format!("{heading} {number}");
            number += 1;
        }
        headings.push(unique);
    }
    headings
}

/// Writes a cell. Unknown values and values that are not numbers stay empty.
fn write(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    cell: &Cell,
    shown: &Shown,
    formats: &Formats,
) -> Result<(), XlsxError> {
    match cell {
        Cell::Empty => {}
        Cell::Unsure(figure) => match shown.convert(*figure) {
            Some(value) => {
                let grey = formats.unsure.clone().set_num_format(shown.format);
                sheet.write_number_with_format(row, column, value, &grey)?;
            }
            None => write(sheet, row, column, &Cell::Number(*figure), shown, formats)?,
        },
        Cell::Text(words) if column > 0 => {
            sheet.write_string_with_format(row, column, text(words), &formats.apart)?;
        }
        Cell::Text(words) => {
            sheet.write_string(row, column, text(words))?;
        }
        Cell::Number(figure) => match shown.convert(*figure) {
            Some(value) => {
                sheet.write_number(row, column, value)?;
            }
            None if figure.is_nan() => {}
            None if figure.is_infinite() => {
                sheet.write_string(row, column, if *figure > 0.0 { "∞" } else { "−∞" })?;
            }
            None => {
                sheet.write_string(row, column, format!("{figure:e}"))?;
            }
        },
    }
    Ok(())
}

/// Makes columns as wide as their content, within reason; returns the width of all of them.
fn widths(
    sheet: &mut Worksheet,
    columns: &[Column],
    headings: &[String],
    rows: &[Vec<Cell>],
) -> Result<f64, XlsxError> {
    let (mut all, mut lines) = (0.0, 1);
    for ((at, column), name) in columns.iter().enumerate().zip(headings) {
        let longest_word = name.split_whitespace().map(|w| w.chars().count()).max().unwrap_or(0);
        let cells = rows.iter().take(LOOKED_AT).map(|row| match row.get(at) {
            Some(Cell::Text(words)) => words.chars().count(),
            _ => 0,
        });
        // A heading takes two lines; the button of the filter takes three characters next to it.
        let heading = (longest_word + 3).max(name.chars().count().div_ceil(2) + 3);
        let figures = if column.unit == Unit::Moment { 19 } else { 9 };
        let width = cells.max().unwrap_or(0).clamp(figures, 60).max(heading.min(40));
        if let Ok(at) = u16::try_from(at) {
            sheet.set_column_width(at, width as f64 + 1.0)?;
            all += width as f64 + 1.0;
        }
        lines = lines.max(name.chars().count().div_ceil(width.saturating_sub(3).max(1)));
    }
    // Excel finds the height of a row by itself; LibreOffice does not always.
    sheet.set_row_height(HEADER, (lines.min(HEADING_LINES) * 16) as f64)?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use rust_xlsxwriter::Workbook;
    use zip::ZipArchive;

    use super::*;

    #[test]
    fn what_a_sheet_has_no_room_for_is_said() {
        let columns = vec![Column::new("n", "n", Unit::Count)];
        let rows = (0..7).map(|n| vec![Cell::Number(f64::from(n))]).collect();
        let (key, title, caption) = ("long".to_owned(), "Long".to_owned(), String::new());
        let table = model::Table { key, title, caption, columns, rows };
        let sheet = sheet(&table, "Long", &mut Names::new(), &Formats::new(), "Report", 5);
        let mut book = Workbook::new();
        book.push_worksheet(sheet.unwrap().unwrap());
        let mut archive = ZipArchive::new(Cursor::new(book.save_to_buffer().unwrap())).unwrap();
        let mut part = |name| {
            let mut text = String::new();
            archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
            text
        };
        assert!(part("xl/tables/table1.xml").contains("ref=\"A4:A9\""));
        assert!(part("xl/sharedStrings.xml").contains("Left out, rows: 2 of 7"));
        assert_eq!(ROOM, 1_048_572);
    }
}
