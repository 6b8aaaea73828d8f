//! `iosonde run --repeat`: the same workload several times, to learn how well its figures repeat;
//! and several targets in turn, to compare them.

use std::sync::atomic::AtomicBool;

use clap::Args;
use jobs::{Event, Plan, RunsPlan, Sink, compare_sides};
use results::{Document, Experiment, Runs};
use serde_json::Value;
use workload::Workload;

use crate::commands::run::json;
use crate::conducting::{Console, Manners, conduct_into, words};
use crate::exit::{Failure, Outcome, print};
use crate::recording::tag;
use screen::Display;

/// How often a workload is run if it is to be well known and the user gives no number.
const REPEAT: u32 = 5;
/// Pause before a run that writes or follows one that wrote, as experiments make it.
const SETTLE_S: f64 = 5.0;

/// Flags of repeated runs.
#[derive(Debug, Args)]
pub(crate) struct RepeatArgs {
    /// Number of runs, 1 to 100 [default: 5 with `--alternate` and `--baseline`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: Option<u32>,

    /// Run it on each target alone, in turn (A B, B A, A B …), and compare the targets
    #[arg(long)]
    pub alternate: bool,

    /// Measure a baseline for later results: the same as `--repeat 5 --tag NAME`
    #[arg(long, value_name = "NAME", value_parser = tag, conflicts_with = "no_history")]
    pub baseline: Option<String>,

    /// Pause before a run that writes or follows one that wrote [default: 5]
    #[arg(long, value_name = "SECONDS")]
    pub settle: Option<f64>,
}

impl RepeatArgs {
    /// How often the workload is run; `None` if it is run once, as a single measurement.
    pub(crate) fn count(&self) -> Result<Option<u32>, Failure> {
        let several = self.alternate || self.baseline.is_some();
        let count = self.repeat.or(several.then_some(REPEAT));
        match self.settle {
            Some(_) if count.is_none() => {
                let text = "`--settle` is the pause between several runs: it needs `--repeat`";
                Err(Failure::WrongUsage(text.to_owned()))
            }
            Some(seconds) if !(0.0..=86_400.0).contains(&seconds) => {
                let text = format!("--settle is {seconds}: it must be 0 to 86400 seconds");
                Err(Failure::WrongUsage(text))
            }
            _ => Ok(count),
        }
    }
}

/// What takes turns: the workload, or with `--alternate` the workload on each of its targets.
pub(crate) fn sides(args: &RepeatArgs, workload: &Workload) -> Result<Vec<Workload>, Failure> {
    if !args.alternate {
        return Ok(vec![workload.clone()]);
    }
    let wrong = |text: &str| Err(Failure::WrongUsage(text.to_owned()));
    if workload.targets.len() < 2 {
        return wrong("`--alternate` compares targets with each other: name two or more");
    }
    if workload.streams.iter().any(|stream| !stream.targets.is_empty()) {
        return wrong(
            "`--alternate` runs the whole workload on each target alone: this one has streams \
             that name their targets",
        );
    }
    let alone =
        |target: &workload::Target| Workload { targets: vec![target.clone()], ..workload.clone() };
    Ok(workload.targets.iter().map(alone).collect())
}

/// The plan of the command.
pub(crate) fn plan(args: &RepeatArgs, workloads: Vec<Workload>, repeat: u32) -> RunsPlan {
    RunsPlan { workloads, repeat, settle_seconds: args.settle.unwrap_or(SETTLE_S) }
}

/// Runs workloads in turn, and shows how they compare.
pub(crate) fn run(
    plan: &RunsPlan,
    manners: &Manners,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let of = plan.workloads.len();
    let plan = Plan::Runs(plan.clone());
    let display = Console::of(&plan, manners)?.display;
    let mut view = RunsConsole { display, json: manners.json, of, documents: Vec::new() };
    conduct_into(&plan, manners, &mut view, stop).map(|(_, outcome)| outcome)
}

/// Shows the documents of all sides together, and how they compare.
struct RunsConsole {
    display: Display,
    json: bool,
    of: usize,
    documents: Vec<Experiment<Runs>>,
}

impl Sink for RunsConsole {
    fn hear(&mut self, event: &Event) {
        self.display.hear(event);
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        self.display.finish();
        if let Document::Runs(runs) = document {
            self.documents.push(runs.as_ref().clone());
        }
        if self.documents.len() < self.of {
            return Ok(());
        }
        words(shown(self.json, &self.documents).and_then(|text| print(&text)))
    }
}

/// The documents and how they compare, as text or as JSON: one document, or a list.
fn shown(as_json: bool, documents: &[Experiment<Runs>]) -> Result<String, Failure> {
    let comparisons = compare_sides(documents);
    match documents {
        [one] if as_json => json(one),
        several if as_json => {
            let several = several.iter().map(serde_json::to_value);
            let all = several.chain(comparisons.iter().map(serde_json::to_value));
            let all: Result<Vec<Value>, _> = all.collect();
            json(&all?)
        }
        all => {
            let document = |runs: &Experiment<Runs>| Document::Runs(Box::new(runs.clone()));
            let texts = all.iter().map(|runs| report::text::document(&document(runs)));
            let texts = texts.chain(comparisons.iter().map(report::text::comparison));
            Ok(texts.collect::<Vec<_>>().join("\n"))
        }
    }
}
