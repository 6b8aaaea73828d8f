//! Tables and wrapped paragraphs in plain text.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width at which paragraphs are broken.
pub const WIDTH: usize = 96;

/// The columns that a text takes on a terminal: letters of Chinese take two.
pub(super) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text with spaces after it, so that it takes so many columns.
pub(super) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
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

    /// Adds a row under the others.
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
    for word in words(text, limit.saturating_sub(width(first))) {
        for (place, piece) in pieces(&word).into_iter().enumerate() {
            let gap = usize::from(place == 0);
            if !empty && width(&line) + gap + width(piece) > limit {
                out.push_str(line.trim_end());
                out.push('\n');
                line.clone_from(&indent);
                empty = true;
            }
            if !empty && place == 0 {
                line.push(' ');
            }
            line.push_str(piece);
            empty = false;
        }
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

/// Words between which a line may end: the groups of a figure such as `44 843` stay together, and
/// so does a command at the end if a line has room for it, so that it can be copied.
fn words(text: &str, room: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let command = text.rfind(": iosonde ").map_or("", |at| &text[at + 2..]);
    let command = if width(command) <= room { command } else { "" };
    let text = text.strip_suffix(command).unwrap_or(text);
    for word in text.split_whitespace() {
        let digits = word.chars().take_while(char::is_ascii_digit).count();
        let is_group = digits == 3 && word.chars().nth(3).is_none_or(|c| !c.is_alphanumeric());
        match words.last_mut() {
            Some(last) if is_group && last.ends_with(|c: char| c.is_ascii_digit()) => {
                *last += " ";
                *last += word;
            }
            _ => words.push(word.to_owned()),
        }
    }
    words.extend((!command.is_empty()).then(|| command.to_owned()));
    words
}

/// The pieces of a word between which a line may be broken: Chinese has no spaces, and no line of
/// it begins with a mark that ends something.
fn pieces(word: &str) -> Vec<&str> {
    let is_wide = |c: char| c.width() == Some(2);
    let mut pieces = Vec::new();
    let (mut from, mut before) = (0, None);
    for (at, c) in word.char_indices() {
        let is_break = before.is_some_and(|before| {
            (is_wide(before) || is_wide(c)) && !"，。、；：？！）》”".contains(c) && before != '（'
        });
        if is_break {
            pieces.push(&word[from..at]);
            from = at;
        }
        before = Some(c);
    }
    pieces.push(&word[from..]);
    pieces
}

/// The beginning of a text that takes at most so many columns.
fn beginning(text: &str, columns: usize) -> &str {
    let mut room = columns;
    for (at, c) in text.char_indices() {
        match room.checked_sub(c.width().unwrap_or(0)) {
            Some(left) => room = left,
            None => return &text[..at],
        }
    }
    text
}

/// A text of at most `limit` columns, cut with an ellipsis.
#[must_use]
pub fn shorten(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut out = beginning(text, limit.saturating_sub(1)).to_owned();
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
    let mut over = length - limit.saturating_sub(1);
    let tail = text.trim_start_matches(|c: char| {
        let is_over = over > 0;
        over = over.saturating_sub(c.width().unwrap_or(0));
        is_over
    });
    format!("…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines ended in the middle of a figure: `274` stood on one, `402 commits` on the next.
    #[test]
    fn a_figure_stays_on_one_line() {
        assert_eq!(wrap("", "needs 274 402 commits", 12), "needs\n274 402\ncommits\n");
    }

    /// A command that was broken in the middle was another command when it was copied.
    #[test]
    fn a_command_stays_on_one_line_that_has_room_for_it() {
        let text = "Next: longer: iosonde run --for x";
        assert_eq!(wrap("", text, 20), "Next: longer:\niosonde run --for x\n");
        assert_eq!(wrap("", text, 40), format!("{text}\n"));
        assert_eq!(wrap("", text, 14), "Next: longer:\niosonde run\n--for x\n");
    }

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

    /// A table in Chinese had its columns shifted, and a paragraph of it was one long line.
    #[test]
    fn letters_that_take_two_columns_are_counted_as_two() {
        let mut table = Table::new(1, &["", "IOPS"]);
        table.row(vec!["随机读".into(), "7".into()]);
        table.row(vec!["read".into(), "8".into()]);
        assert_eq!(table.show(), "          IOPS\n  随机读     7\n  read       8\n");
        assert_eq!(wrap("- ", "随机读很慢。更多", 10), "- 随机读很\n  慢。更多\n");
        assert_eq!(wrap("", "很慢。 ab", 4), "很\n慢。\nab\n");
        assert_eq!(shorten("随机读", 5), "随机…");
        assert_eq!(shorten_path("/随机/读", 5), "…/读");
    }

    #[test]
    fn what_is_too_long_is_cut_where_it_matters_least() {
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten_path("/a/b/data.ibd", 9), "…data.ibd");
    }
}
