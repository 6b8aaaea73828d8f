//! `iosonde history list`: what there is, the newest first.

use std::convert::Infallible;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use history::{Entry, Filter, History, Listing, Order, Page, State};
use jiff::Timestamp;
use report::listing::{self, ListedResult};
use report::text::clean;
use report::zone;
use results::Status;
use serde_json::json;
use workload::{Bytes, PatternKind};

use crate::commands::run;
use crate::exit::{Failure, Outcome, print};
use crate::recording::failure;

/// `iosonde history list`
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub filter: FilterArgs,

    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: u64,

    /// Print the list as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// Which results to list.
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

    /// Only since this moment: 2026-11-21, 2026-11-21T15:04 (local time) or with a zone,
    /// 2026-11-21T15:04Z; today, yesterday; or how long ago, such as 7d or 12h
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    pub since: Option<Timestamp>,

    /// Only before this moment
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    pub until: Option<Timestamp>,

    /// Only with this ending
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
    flags::moment(text, &Timestamp::now().to_zoned(zone::zone()))
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

/// A target as results name it: the whole path of an existing file, otherwise what was typed.
#[expect(clippy::unnecessary_wraps, reason = "the command line takes a parser that may fail")]
pub(super) fn target_name(typed: &str) -> Result<String, Infallible> {
    let path = std::fs::canonicalize(typed);
    Ok(path.map_or_else(|_| typed.to_owned(), |path| path.display().to_string()))
}

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
    let results: Vec<ListedResult<'_>> = listing.entries.iter().map(listed).collect();
    let page = listing::Page {
        total: listing.total,
        more: listing.more,
        width: screen::width().clamp(80, 200),
        zone: &zone::label(),
    };
    listing::table(&results, &page)
}

fn listed(entry: &Entry) -> ListedResult<'_> {
    let state = (entry.status != Some(Status::Complete)).then(|| entry.state().to_owned());
    let tags = entry.tags.iter().map(|tag| format!("@{tag}"));
    ListedResult {
        id: &entry.id,
        started: entry.started.parse().map_or_else(|_| clean(&entry.started), zone::minute),
        kind: &entry.kind,
        host: entry.host.as_deref(),
        targets: &entry.targets,
        title: &entry.title,
        state: state.into_iter().chain(tags).collect::<Vec<_>>().join(" "),
        // A recording has no file of its own.
        file_bytes: entry.file_bytes.filter(|bytes| *bytes > 0),
        best_iops: entry.best_iops,
        best_mib_per_s: entry.best_mib_per_s,
        in_flight: entry.best_in_flight,
        mean_ns: entry.best_mean_ns,
        p99_ns: entry.best_p99_ns,
    }
}
