//! `iosonde history compare`: is it better, the same or worse?

use clap::{Args, ValueEnum};
use history::History;
use history::compare::{BAND_PERCENT, CompareOptions, KeptSide, baseline, compare_kept, rank_kept};
use results::Comparison;

use crate::commands::run::json;
use crate::exit::{Failure, Outcome, print};
use crate::language::LanguageArgs;
use crate::recording::failure;

/// `iosonde history compare`
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The result to compare with: an id or its unique beginning, `latest`, or `@TAG` for every
    /// result with that tag. With --baseline: the result to judge
    #[arg(value_name = "A")]
    pub a: String,

    /// The result to judge, named in the same way
    #[arg(value_name = "B", required_unless_present = "baseline", conflicts_with = "baseline")]
    pub b: Option<String>,

    /// More results: three or more are ranked, fastest first
    #[arg(value_name = "C", conflicts_with_all = ["baseline", "fail_on"])]
    pub others: Vec<String>,

    /// Judge A against every older result with this tag, of the same host and target
    #[arg(long, value_name = "TAG")]
    pub baseline: Option<String>,

    /// Difference that counts as no change, either way
    #[arg(long, value_name = "PERCENT", default_value_t = Band(BAND_PERCENT))]
    pub band: Band,

    /// Give verdicts even if the sides differ in their conditions
    #[arg(long)]
    pub anyway: bool,

    /// Exit with code 4 on this verdict; an undecided comparison does not count as worse
    #[arg(long, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,

    /// Print the comparison as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub language: LanguageArgs,
}

/// A verdict that fails a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Worse by more than the band
    Worse,
}

/// What counts as no change, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Band(pub f64);

impl std::fmt::Display for Band {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl std::str::FromStr for Band {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.trim().strip_suffix('%').unwrap_or(text.trim()).trim_end();
        match number.parse::<f64>() {
            Ok(percent) if (0.1..=50.0).contains(&percent) => Ok(Self(percent)),
            _ => Err("write a percentage from 0.1 to 50, such as `5%`".to_owned()),
        }
    }
}

pub(crate) fn compare(args: &CompareArgs, history: &History) -> Result<Outcome, Failure> {
    if !args.others.is_empty() {
        return ranked(args, history);
    }
    let comparison = compared(args, history)?;
    let mut text =
        if args.json { json(&comparison)? } else { report::text::comparison(&comparison) };
    if !args.json && comparison.withheld && !comparison.loads.is_empty() {
        text.push_str(report::ranking::ANYWAY);
    }
    print(&text)?;
    let worse = comparison.verdict == results::change::Change::Worse;
    Ok(if worse && args.fail_on == Some(FailOn::Worse) { Outcome::NotMet } else { Outcome::Done })
}

/// Ranks three or more sides, the fastest first; as JSON, compares each of the others with it.
fn ranked(args: &CompareArgs, history: &History) -> Result<Outcome, Failure> {
    let names: Vec<&String> = [&args.a].into_iter().chain(&args.b).chain(&args.others).collect();
    let sides: Result<Vec<_>, _> = names.iter().map(|name| history.select(name)).collect();
    let sides = sides.map_err(failure)?;
    let sides: Vec<KeptSide<'_>> = names
        .iter()
        .zip(&sides)
        .map(|(name, entries)| KeptSide { name: name.as_str(), entries })
        .collect();
    let comparisons = rank_kept(history, &sides, how(args)).map_err(failure)?;
    print(&if args.json { json(&comparisons)? } else { report::ranking::text(&comparisons) })?;
    Ok(Outcome::Done)
}

fn how(args: &CompareArgs) -> CompareOptions<'static> {
    CompareOptions {
        band_percent: args.band.0,
        anyway: args.anyway,
        tool_version: env!("CARGO_PKG_VERSION"),
    }
}

fn compared(args: &CompareArgs, history: &History) -> Result<Comparison, Failure> {
    let first = history.select(&args.a).map_err(failure)?;
    let (a, b, name_a, name_b) = match (&args.b, &args.baseline) {
        (Some(b), _) => (first, history.select(b).map_err(failure)?, args.a.clone(), b.clone()),
        (None, Some(tag)) => {
            let older = baseline(history, tag, &first).map_err(failure)?;
            (older, first, format!("@{tag}"), args.a.clone())
        }
        (None, None) => return Err(Failure::WrongUsage("name a second side".to_owned())),
    };
    let a = KeptSide { name: &name_a, entries: &a };
    let b = KeptSide { name: &name_b, entries: &b };
    compare_kept(history, a, b, how(args)).map_err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_a_percentage() {
        assert_eq!("5%".parse(), Ok(Band(5.0)));
        assert_eq!(" 2.5 % ".parse(), Ok(Band(2.5)));
        assert_eq!("10".parse(), Ok(Band(10.0)));
        for wrong in ["", "%", "0", "51", "-5", "NaN", "inf", "five"] {
            assert!(wrong.parse::<Band>().is_err(), "{wrong}");
        }
    }
}
