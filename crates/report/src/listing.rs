//! Past results as a table, the newest first.

use workload::{Bytes, show_ns, show_number};

use crate::text::{Table, clean, shorten, shorten_path, wrap};

/// A narrow screen shortens cells to no less than this; the words for how a result ended stay
/// whole.
const NARROW: usize = 8;
const NARROW_STATE: usize = 11;
/// A load that would be cut further than this has its own line.
const NARROW_LOAD: usize = 30;
/// Below this, the year of a result is left out.
const NO_YEAR: usize = 120;
/// An id begins with its time: so many digits tell results apart that are a quarter of a second
/// from each other.
const SHORT_ID: usize = 10;

/// A result, as a list shows it.
#[derive(Debug, Clone, Default)]
pub struct ListedResult<'a> {
    /// Unique name; a list shows as much of its beginning as it needs.
    pub id: &'a str,
    /// When it started, in words.
    pub started: String,
    /// The command that makes such results, such as `run`.
    pub kind: &'a str,
    /// The machine; `None` for a simulated device.
    pub host: Option<&'a str>,
    /// The targets that received the I/O.
    pub targets: &'a str,
    /// What was measured, in a phrase.
    pub title: &'a str,
    /// How it ended, unless that was as planned, and its tags.
    pub state: String,
    /// Bytes of all targets that I/O could use.
    pub file_bytes: Option<u64>,
    /// The most I/Os per second of any measurement.
    pub best_iops: Option<f64>,
    /// The most MiB per second of any measurement.
    pub best_mib_per_s: Option<f64>,
    /// I/Os in flight of the measurement with the most I/Os per second.
    pub in_flight: Option<u32>,
    /// Mean latency of that measurement, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// The 99th percentile of its latency.
    pub p99_ns: Option<u64>,
}

/// How a part of a list is shown.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// How many results there are in all.
    pub total: u64,
    /// Whether there may be more results than `total`, which nobody counted.
    pub more: bool,
    /// Width of the screen, in columns.
    pub width: usize,
    /// The name of the times' zone.
    pub zone: &'a str,
}

/// Columns of the table, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Id,
    Started,
    Kind,
    Host,
    Target,
    Load,
    State,
    FileSize,
    InFlight,
    Iops,
    MibPerS,
    Mean,
    P99,
}

use Column::{
    FileSize, Host, Id, InFlight, Iops, Kind, Load, Mean, MibPerS, P99, Started, State, Target,
};

const COLUMNS: [(Column, &str); 13] = [
    (Id, "id"),
    (Started, "started"),
    (Kind, "kind"),
    (Host, "host"),
    (Target, "target"),
    (Load, "load"),
    (State, ""),
    (FileSize, "file size"),
    (InFlight, "depth"),
    (Iops, "IOPS"),
    (MibPerS, "MiB/s"),
    (Mean, "mean"),
    (P99, "p99"),
];

/// What a narrow screen leaves out, in this order: the first two before a load has its own line.
const LEFT_OUT: [(Column, &str); 4] =
    [(MibPerS, "MiB/s"), (Kind, "kind"), (Host, "host"), (FileSize, "file size")];
const LEFT_OUT_FIRST: usize = 2;

/// Lays out a list of results.
#[must_use]
pub fn table(entries: &[ListedResult<'_>], page: &Page<'_>) -> String {
    let Some(first) = entries.first() else { return "nothing fits\n".to_owned() };
    let same_host = entries.iter().all(|entry| entry.host == first.host);
    let year = first.started.get(..5).filter(|year| {
        page.width < NO_YEAR && entries.iter().all(|entry| entry.started.starts_with(year))
    });
    let cells = |entry| COLUMNS.map(|(column, _)| cell(column, entry, entries, year));
    let rows: Vec<[String; 13]> = entries.iter().map(cells).collect();
    let columns = (0..COLUMNS.len()).collect();
    let mut grid = Grid { rows, columns, widths: Vec::new(), is_tall: false };
    if same_host {
        grid.leave_out(Host);
    }
    if entries.iter().all(|entry| entry.state.is_empty()) {
        grid.leave_out(State);
    }
    let left_out = grid.fit(page.width);
    let mut out = grid.show(page.width);
    let (seen, more) = (entries.len(), if page.more { "more than " } else { "" });
    let mut foot = format!(
        "the best IOPS and MiB/s of each, depth and latency where the IOPS are best; {seen} of \
         {more}{} results; times are {}",
        page.total, page.zone
    );
    if let Some(year) = year {
        foot = format!("{foot}, in {}", year.trim_end_matches('-'));
    }
    if let (true, Some(host)) = (same_host, first.host) {
        foot = format!("{foot}; all on {}", clean(host));
    }
    if !left_out.is_empty() {
        foot = format!("{foot}; a wider screen also shows {}", left_out.join(", "));
    }
    out.push_str(&wrap("  ", &foot, page.width.min(crate::text::WIDTH)));
    out
}

fn cell(
    column: Column,
    entry: &ListedResult<'_>,
    all: &[ListedResult<'_>],
    year: Option<&str>,
) -> String {
    let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), show_number);
    let time = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), show_ns);
    match column {
        Id => short_id(entry, all),
        Started => entry.started.get(year.map_or(0, str::len)..).unwrap_or_default().to_owned(),
        Kind => entry.kind.to_owned(),
        Host => clean(entry.host.unwrap_or("–")),
        Target => clean(entry.targets),
        Load => clean(entry.title),
        State => clean(&entry.state),
        FileSize => entry.file_bytes.map_or_else(|| "–".to_owned(), |b| Bytes(b).to_string()),
        InFlight => figure(entry.in_flight.map(f64::from)),
        Iops => figure(entry.best_iops),
        MibPerS => figure(entry.best_mib_per_s),
        Mean => time(entry.mean_ns),
        P99 => time(entry.p99_ns.map(|ns| ns as f64)),
    }
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

/// The cells of a table, which of its columns are shown, and how wide these are.
struct Grid {
    rows: Vec<[String; 13]>,
    columns: Vec<usize>,
    widths: Vec<usize>,
    /// Load and state have their own line.
    is_tall: bool,
}

impl Grid {
    fn leave_out(&mut self, column: Column) -> bool {
        let before = self.columns.len();
        self.columns.retain(|c| COLUMNS[*c].0 != column);
        self.columns.len() < before
    }

    /// Makes the table as narrow as that: the target is cut first, then less important columns go,
    /// then the load moves to its own line. Names what went.
    fn fit(&mut self, width: usize) -> Vec<&'static str> {
        let mut left_out = Vec::new();
        for (number, (column, name)) in LEFT_OUT.iter().enumerate() {
            if self.is_narrow(width) {
                return left_out;
            }
            if number == LEFT_OUT_FIRST && !self.is_tall {
                self.is_tall = true;
                self.leave_out(Load);
                self.leave_out(State);
                if self.is_narrow(width) {
                    return left_out;
                }
            }
            if self.leave_out(*column) {
                left_out.push(*name);
            }
        }
        self.is_narrow(width);
        left_out
    }

    /// Whether these columns fit, some of them cut.
    fn is_narrow(&mut self, width: usize) -> bool {
        self.widths = self.columns.iter().map(|column| self.widest(*column)).collect();
        let names = |column| match column {
            Host | Target => Some(NARROW),
            State => Some(NARROW_STATE),
            _ => None,
        };
        self.cut(width, names) || self.cut(width, |column| (column == Load).then_some(NARROW_LOAD))
    }

    fn widest(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].chars().count());
        cells.chain([COLUMNS[column].1.chars().count()]).max().unwrap_or(0)
    }

    /// Cuts the widest of the columns that may be cut, each down to its own limit, until all of
    /// them fit; whether they do.
    fn cut(&mut self, width: usize, least: impl Fn(Column) -> Option<usize>) -> bool {
        // Two spaces separate columns.
        while self.widths.iter().map(|width| width + 2).sum::<usize>() > width {
            let soft = self.columns.iter().zip(&mut self.widths).filter(|(column, width)| {
                least(COLUMNS[**column].0).is_some_and(|least| **width > least)
            });
            let Some((_, widest)) = soft.max_by_key(|(_, width)| **width) else { return false };
            *widest -= 1;
        }
        true
    }

    fn show(&self, width: usize) -> String {
        let heads: Vec<&str> = self.columns.iter().map(|column| COLUMNS[*column].1).collect();
        // Words are left-aligned, figures right-aligned.
        let is_word = |column: &&usize| **column <= State as usize;
        let mut table = Table::new(self.columns.iter().filter(is_word).count(), &heads);
        for row in &self.rows {
            let cell = |(column, width): (&usize, &usize)| match COLUMNS[*column].0 {
                Target => shorten_path(&row[*column], *width),
                _ => shorten(&row[*column], *width),
            };
            table.row(self.columns.iter().zip(&self.widths).map(cell).collect());
        }
        let text = table.show();
        if !self.is_tall {
            return text;
        }
        let mut lines = text.lines();
        let mut out = lines.next().map_or_else(String::new, |heads| format!("{heads}\n"));
        for (line, row) in lines.zip(&self.rows) {
            let below = format!("{}  {}", row[Load as usize], row[State as usize]);
            out.push_str(&format!("{line}\n    {}\n", shorten(below.trim(), width - 4)));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(width: usize) -> String {
        let result = |number: u32| ListedResult {
            id: "01a20746c4f",
            started: format!("2026-11-2{number} 07:20"),
            kind: "run",
            host: Some("db1.example.com"),
            targets: "/srv/postgres/16/main/base/iosonde.test",
            title: "8 KiB random 30 % write, 4 threads",
            file_bytes: Some(10 << 30),
            best_iops: Some(59_232.0),
            best_mib_per_s: Some(463.0),
            in_flight: Some(128),
            mean_ns: Some(2.16e6),
            p99_ns: Some(4_800_000),
            ..ListedResult::default()
        };
        let entries = [ListedResult { id: "02", ..result(3) }, result(1)];
        table(&entries, &Page { total: 2, more: false, width, zone: "Europe/Berlin" })
    }

    /// At 100 columns the load was `8 KiB r…` next to a path of forty characters.
    #[test]
    fn the_load_is_not_cut_before_the_target() {
        for width in [80, 90, 100, 120, 160, 200, usize::MAX] {
            let text = shown(width);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width, "{width}:\n{text}");
            assert!(text.contains("4 threads"), "{width}:\n{text}");
            for figure in ["59 232", "128", "2.16 ms", "4.8 ms", "Europe/Berlin"] {
                assert!(text.contains(figure), "{width}: {figure}\n{text}");
            }
            assert_eq!(text.contains("2026-11-23"), width >= NO_YEAR, "{width}:\n{text}");
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(text.contains("463"), !words.contains("a wider screen"), "{width}:\n{text}");
        }
        assert!(shown(200).contains("/srv/postgres") && shown(160).contains("463"));
        assert!(shown(80).contains("10 GiB"), "{}", shown(80));
    }
}
