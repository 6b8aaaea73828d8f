//! Tables and wrapped paragraphs in plain text.

/// Where a paragraph is broken.
pub const WIDTH: usize = 96;

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Rows under a heading, in plain text; the first columns are set to the left, the others to the
/// right.
#[derive(Debug, Clone)]
pub struct Table {
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings, of which the first `left` head columns of text.
    #[must_use]
    pub fn new(left: usize, headings: &[&str]) -> Self {
        Self { left, rows: vec![headings.iter().map(|h| (*h).to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table with every column as wide as its widest cell.
    #[must_use]
    pub fn show(&self) -> String {
        aligned(&self.rows, |column| column < self.left)
    }
}

/// Rows with every column as wide as its widest cell, set to the left or to the right.
pub(super) fn aligned(rows: &[Vec<String>], left: impl Fn(usize) -> bool) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest =
        |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|t| width(t)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (c, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[c] - width(cell));
            line.push_str("  ");
            if left(c) {
                line.push_str(cell);
                line.push_str(&gap);
            } else {
                line.push_str(&gap);
                line.push_str(cell);
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A paragraph in lines of at most `limit` columns, the first after `first`, the others after as
/// many spaces.
#[must_use]
pub fn wrap(first: &str, text: &str, limit: usize) -> String {
    let indent = " ".repeat(width(first));
    let mut out = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && width(&line) + 1 + width(word) > limit {
            out.push_str(line.trim_end());
            out.push('\n');
            line.clone_from(&indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

/// A text of at most `limit` columns, cut with an ellipsis.
#[must_use]
pub fn shorten(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(limit.saturating_sub(1)).collect();
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

/// The end of a path that fits `limit` columns.
#[must_use]
pub fn shorten_path(text: &str, limit: usize) -> String {
    let length = width(text);
    if length <= limit {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(length - limit.saturating_sub(1)).collect();
    format!("…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(1, &["", "IOPS"]);
        table.row(vec!["read".into(), "41 200".into()]);
        table.row(vec!["x".into(), "7".into()]);
        assert_eq!(table.show(), "          IOPS\n  read  41 200\n  x          7\n");
    }

    #[test]
    fn a_paragraph_hangs_under_its_mark() {
        assert_eq!(wrap("- ", "aa bb cc", 7), "- aa bb\n  cc\n");
        assert_eq!(wrap("- ", "", 7), "-\n");
        assert_eq!(wrap("- ", "aaaaaaaaaa b", 4), "- aaaaaaaaaa\n  b\n");
    }

    #[test]
    fn what_is_too_long_is_cut_where_it_matters_least() {
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten_path("/a/b/data.ibd", 9), "…data.ibd");
    }
}
