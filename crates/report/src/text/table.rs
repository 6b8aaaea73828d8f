//! A table of the model in columns of text.

use super::layout::{aligned, shorten_path, width, wrap};
use crate::language::say;
use crate::model::{Cell, Column, Table, Unit};
use crate::words;

/// The least width of a column of words that is folded.
const WORDS: usize = 9;
/// A row with so many times is read from top to bottom …
const TIMES: usize = 5;
/// … unless there are more rows than this.
const TURNED_ROWS: usize = 9;

/// Cells of a table as text, each in lines.
#[derive(Clone)]
struct Grid {
    heads: Vec<String>,
    left: Vec<bool>,
    rows: Vec<Vec<String>>,
}

/// The table under its headings; a wider one is folded.
pub(super) fn show(table: &Table, width: usize) -> String {
    if table.columns.is_empty() || table.rows.is_empty() {
        return format!("  {}\n", say!("page-none"));
    }
    let grid = if is_turned(table) { Grid::turned(table) } else { Grid::of(table) };
    let whole = grid.clone().without_repetitions();
    if whole.width() <= width {
        return whole.show();
    }
    let folded = whole.with_folded_heads();
    if folded.width() <= width {
        return folded.show();
    }
    let lines = folded.with_folded_words(width);
    let is_grouped = grid.has_groups() || lines.width() > width;
    let groups = if is_grouped { grid.groups(width) } else { None };
    groups.unwrap_or_else(|| lines.show())
}

/// Whether many times, such as percentiles, are next to each other, in few rows.
fn is_turned(table: &Table) -> bool {
    let times = table.columns.iter().filter(|column| column.unit == Unit::Nanoseconds).count();
    times >= TIMES && table.rows.len() <= TURNED_ROWS
}

fn length(text: &str) -> usize {
    text.lines().map(width).max().unwrap_or(0)
}

/// Whether a cell holds a figure with its unit, which is set to the right.
fn is_figure(cell: &str) -> bool {
    let is_word = |word: &&str| *word != "to" && word.starts_with(char::is_alphabetic);
    let first = cell.trim_start_matches(['+', '-', '−', '±', ' ']).chars().next();
    first.is_some_and(|c| c.is_ascii_digit()) && cell.split(' ').filter(is_word).count() < 2
}

/// A cell; a mark that is not there leaves no dash.
fn show_cell(cell: &Cell, column: &Column) -> String {
    let is_mark = column.name.is_empty() && *cell == Cell::Empty;
    if is_mark { String::new() } else { cell.show(column.unit) }
}

impl Grid {
    fn of(table: &Table) -> Self {
        let rows: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| row.iter().zip(&table.columns).map(|(cell, c)| show_cell(cell, c)).collect())
            .collect();
        let heads = table.columns.iter().map(Column::heading).collect();
        let is_words = |at: usize| {
            let mut cells = rows.iter().filter_map(|row| row.get(at));
            cells.find(|cell| *cell != words::NONE).is_none_or(|cell| !is_figure(cell))
        };
        let left = (0..table.columns.len())
            .map(|at| table.columns.get(at).is_some_and(|c| c.unit == Unit::Text) && is_words(at));
        Self { heads, left: left.collect(), rows }
    }

    /// The columns as rows: the first column heads the others.
    fn turned(table: &Table) -> Self {
        let Self { heads, rows, .. } = Self::of(table);
        let first = |row: &Vec<String>| row.first().cloned().unwrap_or_default();
        let line = |(at, head): (usize, &String)| {
            let cells = rows.iter().map(|row| row.get(at).cloned().unwrap_or_default());
            std::iter::once(head.clone()).chain(cells).collect()
        };
        let lines = heads.iter().enumerate().skip(1).map(line).collect();
        let heads = std::iter::once(String::new()).chain(rows.iter().map(first)).collect();
        let left = std::iter::once(true).chain(rows.iter().map(|_| false)).collect();
        Self { heads, left, rows: lines }
    }

    /// The first column without what the row above says.
    fn without_repetitions(mut self) -> Self {
        if self.left.first() == Some(&true) {
            let mut before = String::new();
            for cell in self.rows.iter_mut().filter_map(|row| row.first_mut()) {
                if *cell == before {
                    cell.clear();
                } else {
                    before.clone_from(cell);
                }
            }
        }
        self
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |at: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| length(cell));
            cells.chain([length(&self.heads[at])]).max().unwrap_or(0)
        };
        (0..self.heads.len()).map(widest).collect()
    }

    fn width(&self) -> usize {
        self.widths().iter().map(|width| width + 2).sum()
    }

    /// Headings broken into lines as wide as the cells under them.
    fn with_folded_heads(mut self) -> Self {
        for at in 0..self.heads.len() {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| length(cell));
            let widest = cells.max().unwrap_or(0);
            // `Disk Reads/sec` has a word that is longer than most figures.
            let head = &self.heads[at];
            let is_long = head.split(' ').any(|word| length(word) > widest);
            let head = if is_long {
                head.replace('/', "/ ").replace("MiB/ s", "MiB/s")
            } else {
                head.clone()
            };
            self.heads[at] = folded(&head, widest);
        }
        self
    }

    /// Words in lines, so that the table fits where it can.
    fn with_folded_words(mut self, width: usize) -> Self {
        let widths = self.widths();
        let words: Vec<usize> =
            (0..widths.len()).filter(|at| self.left[*at] && widths[*at] > WORDS).collect();
        let others: usize = self.width() - words.iter().map(|at| widths[*at]).sum::<usize>();
        let all: usize = words.iter().map(|at| widths[*at]).sum();
        for at in words {
            let room = width.saturating_sub(others) * widths[at] / all.max(1);
            let room = room.max(length(&self.heads[at]));
            for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(at)) {
                let path = cell.starts_with(['/', '.']) && !cell.contains(' ');
                let room = room.max(WORDS);
                *cell = if path { shorten_path(cell, room) } else { folded(cell, room) };
            }
        }
        self
    }

    /// The first column of words, by which rows are grouped.
    fn leading(&self) -> Option<usize> {
        (0..self.heads.len().min(2)).find(|at| self.left[*at])
    }

    /// Whether most rows say the same as the row above in that column.
    fn has_groups(&self) -> bool {
        self.leading().is_some_and(|at| {
            let others = self.rows.windows(2).filter(|pair| pair[0][at] != pair[1][at]).count();
            2 * (others + 1) <= self.rows.len()
        })
    }

    /// The rows, grouped by their first column of words; `None` without such a column.
    fn groups(&self, width: usize) -> Option<String> {
        let at = self.leading()?;
        let without = |list: &[String]| {
            let others = list.iter().enumerate().filter(|(place, _)| *place != at);
            others.map(|(_, cell)| cell.clone()).collect::<Vec<_>>()
        };
        let mut left = self.left.clone();
        left.remove(at);
        let rows = self.rows.iter().map(|row| without(row)).collect();
        let mut grid = Self { heads: without(&self.heads), left, rows };
        if grid.width() > width {
            grid = grid.with_folded_heads();
        }
        if grid.width() > width {
            grid = grid.with_folded_words(width);
        }
        let shown = grid.show();
        let mut lines = shown.lines();
        let mut take = |out: &mut String, number: usize| {
            lines.by_ref().take(number).for_each(|line| *out += &format!("{line}\n"));
        };
        let mut out = String::new();
        take(&mut out, height(&grid.heads));
        let mut before = None;
        for (row, shown) in self.rows.iter().zip(&grid.rows) {
            if before != Some(&row[at]) {
                out.push_str(&wrap("  ", &row[at], width));
            }
            before = Some(&row[at]);
            take(&mut out, height(shown).max(1));
        }
        Some(out)
    }

    fn show(&self) -> String {
        let mut lines = Vec::new();
        // Headings are at the bottom of their lines, words at the top of theirs.
        let high = height(&self.heads);
        for number in 0..high {
            let line = |head: &String| {
                let above = high - head.lines().count();
                let place = number.checked_sub(above);
                place.and_then(|place| head.lines().nth(place)).unwrap_or_default().to_owned()
            };
            lines.push(self.heads.iter().map(line).collect::<Vec<_>>());
        }
        for row in &self.rows {
            for number in 0..height(row).max(1) {
                let line = |cell: &String| cell.lines().nth(number).unwrap_or_default().to_owned();
                lines.push(row.iter().map(line).collect());
            }
        }
        aligned(&lines, |column| self.left.get(column) == Some(&true))
    }
}

/// How many lines a row has.
fn height(cells: &[String]) -> usize {
    cells.iter().map(|cell| cell.lines().count()).max().unwrap_or(0)
}

/// A text in lines of at most `room` columns, without a break at its end.
fn folded(text: &str, room: usize) -> String {
    wrap("", text, room).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &[(&str, Unit)], rows: &[&[Cell]]) -> Table {
        Table {
            key: String::new(),
            title: String::new(),
            caption: String::new(),
            columns: columns.iter().map(|(name, unit)| Column::new("key", *name, *unit)).collect(),
            rows: rows.iter().map(|row| row.to_vec()).collect(),
        }
    }

    fn text(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }

    #[test]
    fn what_the_row_above_says_is_not_repeated() {
        let columns = [("Load", Unit::Text), ("IOPS", Unit::Iops)];
        let rows = [&[text("read"), Cell::Number(41_200.0)][..], &[text("read"), Cell::Empty]];
        let shown = show(&table(&columns, &rows), 100).replace('\u{202f}', " ");
        assert_eq!(shown, "  Load    IOPS\n  read  41 200\n             –\n");
    }

    #[test]
    fn percentiles_of_few_loads_are_read_from_top_to_bottom() {
        let mut columns = vec![("Kind", Unit::Text)];
        columns
            .extend(["p50", "p90", "p95", "p99", "p99.9", "Max"].map(|n| (n, Unit::Nanoseconds)));
        let row = |kind: &str| {
            std::iter::once(text(kind)).chain((1..7).map(|n| Cell::Number(f64::from(n)))).collect()
        };
        let (read, write): (Vec<Cell>, Vec<Cell>) = (row("read"), row("write"));
        let shown = show(&table(&columns, &[&read, &write]), 100);
        assert!(shown.starts_with("         read  write\n  p50    1 ns   1 ns\n"), "{shown}");
    }

    #[test]
    fn a_wide_table_has_its_rows_in_groups_or_its_words_in_lines() {
        let long = "a load with a name that takes nearly half of the width of a terminal alone";
        let columns = [("Load", Unit::Text), ("Condition", Unit::Text), ("Runs", Unit::Count)];
        let row = |load: &str| [text(load), text(long), Cell::Number(3.0)];
        let (one, two) = (row(long), row("another"));
        let groups = show(&table(&columns, &[&one, &one, &one, &two]), 100);
        assert_eq!(groups.matches("a load with").count(), 5, "{groups}");
        assert!(groups.contains("\n  another\n"), "{groups}");
        let lines = show(&table(&columns, &[&one, &two]), 100);
        assert!(lines.lines().all(|line| line.chars().count() <= 100), "{lines}");
        assert!(lines.lines().count() > 4, "{lines}");
    }
}
