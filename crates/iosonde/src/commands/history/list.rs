//! `iosonde history list`: what there is, the newest first.

use std::convert::Infallible;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use history::{Entry, Filter, History, Listing, Order, Page, State};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use report::listing::{self, ListedResult};
use report::text::clean;
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
    let results: Vec<ListedResult<'_>> = listing.entries.iter().map(listed).collect();
    listing::table(&results, (listing.total, listing.more))
}

fn listed(entry: &Entry) -> ListedResult<'_> {
    let state = (entry.status != Some(Status::Complete)).then(|| entry.state().to_owned());
    let tags = entry.tags.iter().map(|tag| format!("@{tag}"));
    ListedResult {
        id: &entry.id,
        started: local(&entry.started),
        kind: &entry.kind,
        host: entry.host.as_deref(),
        targets: &entry.targets,
        title: &entry.title,
        state: state.into_iter().chain(tags).collect::<Vec<_>>().join(" "),
        // A recording has no file of its own.
        file_bytes: entry.file_bytes.filter(|bytes| *bytes > 0),
        best_iops: entry.best_iops,
        best_mib_per_s: entry.best_mib_per_s,
    }
}

/// A moment in local time, to the minute; a text that is none, as it is.
fn local(started: &str) -> String {
    let zoned = started.parse::<Timestamp>().map(|at| at.to_zoned(TimeZone::system()));
    zoned.map_or_else(|_| clean(started), |at| at.strftime("%Y-%m-%d %H:%M").to_string())
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
}
