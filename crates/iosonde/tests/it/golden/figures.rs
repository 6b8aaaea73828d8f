//! Figures in text for people. Words may change; what stands in a row of a table may not.

/// Whether a cell holds a figure. What was cut is a title that begins with one.
fn is_figure(cell: &str) -> bool {
    if cell.ends_with('…') {
        return false;
    }
    let digits = cell.trim_start_matches(['+', '-', '−', '±', '<', '>', '≤', '≥', ' ']);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Units that stand in the heading or after the figure.
const UNITS: [&str; 3] = [" IOPS", " MiB/s", " in flight"];

fn without_unit(cell: &str) -> &str {
    UNITS.iter().fold(cell.trim(), |cell, unit| cell.trim_end_matches(unit))
}

/// The figures of each row of each table, sorted: columns stand apart by two blanks or more, in
/// Markdown by bars. Of threads × depth, each is a figure.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let mut rows = Vec::new();
    for line in text.lines().map(str::trim) {
        let between = if line.starts_with('|') { "|" } else { "  " };
        let cells = line.split(between).flat_map(|cell| cell.split(" × ")).map(without_unit);
        let mut figures: Vec<&str> = cells.filter(|cell| is_figure(cell)).collect();
        figures.sort_unstable();
        if figures.len() > 1 {
            rows.push(figures);
        }
    }
    rows
}

/// Whether all figures of one row stand in another.
fn holds(row: &[&str], figures: &[&str]) -> bool {
    let mut rest = row.iter();
    figures.iter().all(|figure| rest.any(|other| other == figure))
}

/// The rows of figures that were printed and are not printed now. Further rows, and further figures
/// in a row, are no difference.
pub(crate) fn differences(file: &str, old: &str, new: &str) -> Vec<String> {
    let mut left = rows(new);
    let mut lost = rows(old);
    for is_same in [|row: &[&str], old: &[&str]| row == old, holds] {
        lost.retain(|old| {
            let found = left.iter().position(|row| is_same(row, old));
            found.map(|position| left.swap_remove(position)).is_none()
        });
    }
    lost.iter().map(|row| format!("{file}: {}", row.join(" | "))).collect()
}

#[test]
fn a_figure_that_is_lost_is_found() {
    let old = "Throughput\n        IOPS  MiB/s\n  read  2 000   15.6\n  write   500      –\n";
    assert_eq!(rows(old), [["15.6", "2 000"]]);
    assert_eq!(rows("  2 × 4  80 000 IOPS"), [["2", "4", "80 000"]]);
    assert_eq!(rows("| a | 1 | +2 % |\n| --- | ---: | --- |"), [["+2 %", "1"]]);
    let reworded = "Rates\n  kind   I/Os per second  MiB/s  errors\n  reads  2 000  15.6  0\n";
    assert_eq!(differences("t", old, reworded), [""; 0]);
    assert_eq!(differences("t", old, &reworded.replace("15.6", "15.7")), ["t: 15.6 | 2 000"]);
    let twice = format!("{old}  again  2 000   15.6\n");
    assert_eq!(differences("t", &twice, old), ["t: 15.6 | 2 000"]);
}
