//! Figures that are hardly known, dimmed on a terminal.

use crate::model::UNSURE_MARK;

const DIM: &str = "\u{1b}[2m";
const NORMAL: &str = "\u{1b}[22m";

/// The text with escape codes that dim each figure that is hardly known. The mark after it stays,
/// for terminals that dim nothing.
#[must_use]
pub fn dimmed(text: &str) -> String {
    if !text.contains(UNSURE_MARK) {
        return text.to_owned();
    }
    text.split_inclusive('\n').map(line).collect()
}

/// Cells of a table are two blanks apart.
fn line(line: &str) -> String {
    let cells: Vec<String> = line.split("  ").map(cell).collect();
    cells.join("  ")
}

fn cell(cell: &str) -> String {
    let figure = cell.trim();
    let is_unsure = figure.starts_with(|c: char| c.is_ascii_digit())
        && (figure.ends_with(UNSURE_MARK) || figure.contains(&format!("{UNSURE_MARK} ")));
    if is_unsure {
        cell.replacen(figure, &format!("{DIM}{figure}{NORMAL}"), 1)
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_figures_with_the_mark_are_dimmed_and_nothing_else_changes() {
        let text = "  Random read   91 888?   172 µs?  16  643\n  Is 5 enough?  yes\n";
        let shown = dimmed(text);
        assert!(shown.contains("\u{1b}[2m91 888?\u{1b}[22m"), "{shown:?}");
        assert_eq!(shown.matches(DIM).count(), 2, "{shown:?}");
        assert_eq!(shown.replace(DIM, "").replace(NORMAL, ""), text);
        assert_eq!(dimmed("16  90 282? IOPS  x\n"), format!("16  {DIM}90 282? IOPS{NORMAL}  x\n"));
    }
}
