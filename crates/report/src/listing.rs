//! Past results as a table, the newest first.

use workload::{Bytes, show_number};

use crate::text::{Table, clean, shorten, shorten_path, wrap};

/// The widest that a list is.
const WIDTH: usize = 100;
/// What is cut where a list would be wider is cut no further than this; the words for how a result
/// ended stay whole.
const NARROW: usize = 8;
const NARROW_STATE: usize = 11;
/// An id begins with its time: so many digits tell results apart that are a quarter of a second
/// from each other.
const SHORT_ID: usize = 10;

/// A result in a list.
#[derive(Debug, Clone)]
pub struct ListedResult<'a> {
    /// Unique name.
    pub id: &'a str,
    /// Start, in words.
    pub started: String,
    /// The command.
    pub kind: &'a str,
    /// The machine; none for a simulated device.
    pub host: Option<&'a str>,
    /// What received the I/O.
    pub targets: &'a str,
    /// What was done, in a phrase.
    pub title: &'a str,
    /// How it ended, where that was not as planned, and its tags.
    pub state: String,
    /// Bytes of all targets that I/O could use.
    pub file_bytes: Option<u64>,
    /// The most I/Os per second of any measurement.
    pub best_iops: Option<f64>,
    /// The most MiB per second of any measurement.
    pub best_mib_per_s: Option<f64>,
}

/// A list of results, of which there are so many in all, or more than that.
#[must_use]
pub fn table(entries: &[ListedResult<'_>], (total, more): (u64, bool)) -> String {
    let Some(first) = entries.first() else { return "nothing fits\n".to_owned() };
    let same_host = entries.iter().all(|entry| entry.host == first.host);
    let rows: Vec<Vec<String>> = entries.iter().map(|entry| row(entry, entries)).collect();
    let heads =
        ["id", "started", "kind", "host", "target", "load", "", "file size", "IOPS", "MiB/s"];
    let mut columns: Vec<usize> = (0..heads.len()).collect();
    if same_host {
        columns.retain(|column| *column != HOST);
    }
    if rows.iter().all(|row| row.get(STATE).is_none_or(String::is_empty)) {
        columns.retain(|column| *column != STATE);
    }
    let widths = widths(&heads, &rows, &columns);
    let heads: Vec<&str> = columns.iter().filter_map(|c| heads.get(*c).copied()).collect();
    // Words stand to the left of figures.
    let left = columns.iter().filter(|column| **column <= STATE).count();
    let mut table = Table::new(left, &heads);
    for row in &rows {
        let cell = |(column, width): (&usize, &usize)| {
            let text = row.get(*column).map(String::as_str).unwrap_or_default();
            if *column == TARGET { shorten_path(text, *width) } else { shorten(text, *width) }
        };
        table.row(columns.iter().zip(&widths).map(cell).collect());
    }
    let mut out = table.show();
    let (seen, more) = (entries.len(), if more { "more than " } else { "" });
    let mut foot = format!("the best IOPS and MiB/s of each; {seen} of {more}{total} results");
    if let (true, Some(host)) = (same_host, first.host) {
        foot = format!("{foot}, all on {}", clean(host));
    }
    out.push_str(&wrap("  ", &foot, WIDTH));
    out
}

const HOST: usize = 3;
const TARGET: usize = 4;
const STATE: usize = 6;
/// Columns that may be cut.
const SOFT: [usize; 4] = [HOST, TARGET, 5, STATE];

fn row(entry: &ListedResult<'_>, all: &[ListedResult<'_>]) -> Vec<String> {
    let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), show_number);
    vec![
        short_id(entry, all),
        entry.started.clone(),
        entry.kind.to_owned(),
        clean(entry.host.unwrap_or("–")),
        clean(entry.targets),
        clean(entry.title),
        clean(&entry.state),
        entry.file_bytes.map_or_else(|| "–".to_owned(), |bytes| Bytes(bytes).to_string()),
        figure(entry.best_iops),
        figure(entry.best_mib_per_s),
    ]
}

/// The beginning of an id that no other in the list has.
fn short_id(entry: &ListedResult<'_>, all: &[ListedResult<'_>]) -> String {
    let shared = |other: &ListedResult<'_>| {
        let pairs = entry.id.chars().zip(other.id.chars());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let others = all.iter().filter(|other| other.id != entry.id);
    let length = others.map(|other| shared(other) + 1).max().unwrap_or(0);
    entry.id.chars().take(length.max(SHORT_ID)).collect()
}

/// How wide each of these columns may be, so that the table is no wider than a hundred columns as
/// far as that is possible.
fn widths(heads: &[&str], rows: &[Vec<String>], columns: &[usize]) -> Vec<usize> {
    let count = |text: &str| text.chars().count();
    let widest = |column: &usize| {
        let cells = rows.iter().filter_map(|row| row.get(*column)).map(|cell| count(cell));
        cells.chain(heads.get(*column).map(|head| count(head))).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = columns.iter().map(widest).collect();
    // Two spaces stand before each column.
    while widths.iter().map(|width| width + 2).sum::<usize>() > WIDTH {
        let soft = columns.iter().zip(&mut widths).filter(|(column, width)| {
            let narrow = if **column == STATE { NARROW_STATE } else { NARROW };
            SOFT.contains(column) && **width > narrow
        });
        let Some((_, widest)) = soft.max_by_key(|(_, width)| **width) else { break };
        *widest -= 1;
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_table_is_cut_where_it_is_widest() {
        let long = "x".repeat(60);
        let row: Vec<String> =
            ["a", "b", "c", "host", &long, &long, "", "d", "e", "f"].map(str::to_owned).to_vec();
        let columns: Vec<usize> = (0..10).collect();
        let widths = widths(&[""; 10], &[row], &columns);
        assert_eq!(widths.iter().map(|w| w + 2).sum::<usize>(), WIDTH);
        assert_eq!(widths[HOST], 4, "what is short stays");
        assert!(widths[TARGET].abs_diff(widths[5]) <= 1);
    }
}
