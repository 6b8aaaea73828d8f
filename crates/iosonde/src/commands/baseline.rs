//! `iosonde baseline`: measure a place regularly, and find out when it gets worse.

use std::sync::atomic::AtomicBool;

use clap::Args;
use history::History;
use jobs::{Baseline, Plan, Recording, Session, compare_with_baseline, set_baseline};
use results::Document;
use results::change::Change;

use crate::args::AssessLoad;
use crate::commands::assess::options_of;
use crate::commands::run::json;
use crate::conducting::{Console, ended};
use crate::exit::{Failure, Outcome, print};
use crate::recording::{HistoryPlace, failure, tag};
use screen::described;

/// `iosonde baseline`
#[derive(Debug, Args)]
pub(crate) struct BaselineArgs {
    #[command(flatten)]
    pub load: AssessLoad,

    /// The tag of the results that are the baseline. The first call measures them; flags that
    /// choose what to measure count for that call and with `--renew`, later calls repeat it
    #[arg(long, value_name = "NAME", value_parser = tag, default_value = "baseline")]
    pub tag: String,

    /// Measure a new baseline, which replaces the one of this target
    #[arg(long)]
    pub renew: bool,

    #[command(flatten)]
    pub place: HistoryPlace,

    /// Print the comparison as JSON instead of one line
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn baseline(args: &BaselineArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let plan = Plan::Assess(Box::new(options_of(&args.load)?));
    let permissions = args.load.target.permissions();
    let place = args.place.place()?;
    let history = History::open(&place).map_err(failure)?;
    let found = Baseline::find(&history, &args.tag, &plan, args.renew);
    let baseline = found.map_err(|e| Failure::CannotRun(e.to_string()))?;
    if args.load.target.conduct.dry_run {
        for plan in &baseline.plans {
            print(&described(&plan.job().describe(&permissions)?))?;
        }
        return Ok(Outcome::Done);
    }
    let named = args.place.history.as_ref().map(|_| place.to_string());
    let recording = Recording { place, tags: Vec::new(), named };
    let mut measured = Vec::new();
    for plan in &baseline.plans {
        let mut console = Console::for_plan(plan, args.load.target.manner())?;
        console.silent = true;
        let recording = Some(&recording);
        let permissions = permissions.clone();
        let mut session =
            Session { permissions, recording, sink: &mut console, stop, resumed: None };
        let (documents, outcome) = ended(jobs::conduct(plan, &mut session)?, stop)?;
        // A result that did not come to its end is not a baseline, and is not compared with one.
        if !matches!(outcome, Outcome::Done | Outcome::NotMet) {
            return Ok(outcome);
        }
        measured.extend(documents);
    }
    if !baseline.is_new() {
        return compared(args, &history, &baseline, &measured);
    }
    let ids: Vec<String> = measured.iter().map(|document| document.id().to_owned()).collect();
    set_baseline(&history, &args.tag, &plan, &ids).map_err(failure)?;
    if !args.json {
        print(&report::text::new_baseline(&measured, &args.tag))?;
    }
    Ok(Outcome::Done)
}

/// Compares what was measured with the baseline.
fn compared(
    args: &BaselineArgs,
    history: &History,
    baseline: &Baseline,
    measured: &[Document],
) -> Result<Outcome, Failure> {
    let Some(new) = measured.first() else { return Ok(Outcome::Done) };
    let comparison = compare_with_baseline(history, &args.tag, &baseline.older, new);
    let comparison = comparison.map_err(failure)?;
    print(&if args.json {
        json(&comparison)?
    } else {
        report::text::against_baseline(&comparison, &args.tag)
    })?;
    // Without a verdict, a silent success would look as if somebody watched.
    let is_worse = comparison.verdict == Change::Worse;
    Ok(if is_worse || comparison.withheld { Outcome::NotMet } else { Outcome::Done })
}
