//! `iosonde history list`: what there is, the newest first.

use std::convert::Infallible;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use history::{Entry, Filter, History, Listing, Order, Page, State};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use report::text::{Table, clean, shorten, shorten_path, wrap};
use results::Status;
use serde_json::json;
use workload::{Bytes, PatternKind, show_number};

use crate::exit::{Failure, Outcome, print};
use crate::recording::failure;
use crate::run;

/// The widest that a list is.
const WIDTH: usize = 100;
/// What is cut where a list would be wider is cut no further than this; the words for how a result
/// ended stay whole.
const NARROW: usize = 8;
const NARROW_STATE: usize = 11;
/// An id begins with its time: so many digits tell results apart that are a quarter of a second
/// from each other.
const SHORT_ID: usize = 10;

/// `iosonde history list`
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub filter: FilterArgs,

    /// Show at most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: u64,

    /// Print the list as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// Which results are meant.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    /// Only of this command
    #[arg(long, value_name = "COMMAND", value_parser =
        PossibleValuesParser::new(results::kind_words()))]
    pub kind: Option<String>,

    /// Only of this host
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,

    /// Only of this target: a path, or a name as the list shows it
    #[arg(long, value_name = "PATH", value_parser = target_name)]
    pub target: Option<String>,

    /// Only with this tag
    #[arg(long, value_name = "NAME")]
    pub tag: Option<String>,

    /// Only from this moment on: 2026-11-21, 2026-11-21T15:04 (local time) or with a zone,
    /// 2026-11-21T15:04Z
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    pub since: Option<Timestamp>,

    /// Only before this moment
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    pub until: Option<Timestamp>,

    /// Only that ended so, or did not end
    #[arg(long, value_enum)]
    pub status: Option<StatusArg>,

    /// Only with a measurement of this pattern
    #[arg(long, value_name = "PATTERN", value_parser = PossibleValuesParser::new(patterns()))]
    pub pattern: Option<String>,

    /// Only with a measurement of this block size
    #[arg(long, value_name = "SIZE")]
    pub block: Option<Bytes>,

    /// Only with all of these words in title, targets, host, device, tags or notes
    #[arg(long, value_name = "WORDS")]
    pub text: Option<String>,
}

/// How a result ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusArg {
    /// As planned
    Complete,
    /// By a signal
    Interrupted,
    /// By an error
    Failed,
    /// Not yet, or by a crash
    Unfinished,
}

/// The patterns of measurements.
fn patterns() -> Vec<PossibleValue> {
    PatternKind::ALL.iter().map(|kind| PossibleValue::new(kind.word()).help(kind.help())).collect()
}

/// A moment as people write it.
fn moment(text: &str) -> Result<Timestamp, String> {
    let zoned = || {
        let local: DateTime = text.parse().ok()?;
        local.to_zoned(TimeZone::system()).ok().map(|zoned| zoned.timestamp())
    };
    let wrong = || "write a date such as 2026-11-21, or a time such as 2026-11-21T15:04".to_owned();
    text.parse().ok().or_else(zoned).ok_or_else(wrong)
}

impl FilterArgs {
    /// The filter that the flags describe.
    pub(crate) fn filter(&self) -> Filter {
        let status = self.status.map(|status| match status {
            StatusArg::Complete => State::Ended(Status::Complete),
            StatusArg::Interrupted => State::Ended(Status::Interrupted),
            StatusArg::Failed => State::Ended(Status::Failed),
            StatusArg::Unfinished => State::Unfinished,
        });
        Filter {
            text: self.text.clone(),
            kind: self.kind.clone(),
            host: self.host.clone(),
            target: self.target.clone(),
            tag: self.tag.clone(),
            status,
            since: self.since.map(|moment| moment.to_string()),
            until: self.until.map(|moment| moment.to_string()),
            pattern: self.pattern.clone(),
            block_bytes: self.block.map(|bytes| bytes.0),
            ..Filter::default()
        }
    }
}

/// A target as results name it: the whole path of what is there, else what was typed.
#[expect(clippy::unnecessary_wraps, reason = "the command line takes a parser that may fail")]
pub(super) fn target_name(typed: &str) -> Result<String, Infallible> {
    let path = std::fs::canonicalize(typed);
    Ok(path.map_or_else(|_| typed.to_owned(), |path| path.display().to_string()))
}

/// Runs the command.
pub(crate) fn list(args: &ListArgs, history: &History) -> Result<Outcome, Failure> {
    let page = Page { offset: 0, limit: args.limit };
    let listing = history.list(&args.filter.filter(), Order::NEWEST, page).map_err(failure)?;
    let text = if args.json {
        let Listing { total, more, entries } = &listing;
        run::json(&json!({ "total": total, "more": more, "results": entries }))?
    } else {
        shown(&listing)
    };
    print(&text)?;
    Ok(Outcome::Done)
}

/// The list as a table.
fn shown(listing: &Listing) -> String {
    let entries = &listing.entries;
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
    let (seen, more) = (entries.len() as u64, if listing.more { "more than " } else { "" });
    let mut foot =
        format!("the best IOPS and MiB/s of each; {seen} of {more}{} results", listing.total);
    if let (true, Some(host)) = (same_host, &first.host) {
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

fn row(entry: &Entry, all: &[Entry]) -> Vec<String> {
    let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), show_number);
    let tags = entry.tags.iter().map(|tag| format!("@{tag}"));
    let state = (entry.status != Some(Status::Complete)).then(|| entry.state());
    let state: Vec<String> = state.map(str::to_owned).into_iter().chain(tags).collect();
    vec![
        short_id(entry, all),
        local(&entry.started),
        entry.kind.clone(),
        clean(entry.host.as_deref().unwrap_or("–")),
        clean(&entry.targets),
        clean(&entry.title),
        clean(&state.join(" ")),
        // A recording has no file of its own.
        entry
            .file_bytes
            .filter(|bytes| *bytes > 0)
            .map_or_else(|| "–".to_owned(), |bytes| Bytes(bytes).to_string()),
        figure(entry.best_iops),
        figure(entry.best_mib_per_s),
    ]
}

/// The beginning of an id that no other in the list has.
fn short_id(entry: &Entry, all: &[Entry]) -> String {
    let shared = |other: &Entry| {
        let pairs = entry.id.chars().zip(other.id.chars());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let others = all.iter().filter(|other| other.id != entry.id);
    let length = others.map(|other| shared(other) + 1).max().unwrap_or(0);
    entry.id.chars().take(length.max(SHORT_ID)).collect()
}

/// A moment in local time, to the minute; a text that is none, as it is.
fn local(started: &str) -> String {
    let zoned = started.parse::<Timestamp>().map(|at| at.to_zoned(TimeZone::system()));
    zoned.map_or_else(|_| clean(started), |at| at.strftime("%Y-%m-%d %H:%M").to_string())
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
    fn a_moment_is_a_date_or_a_time_with_or_without_a_zone() {
        assert_eq!(
            moment("2026-11-21T15:04:00Z").map(|t| t.to_string()).as_deref(),
            Ok("2026-11-21T15:04:00Z")
        );
        assert!(moment("2026-11-21").is_ok() && moment("2026-11-21T15:04").is_ok());
        assert!(moment("yesterday").is_err() && moment("").is_err());
    }

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
