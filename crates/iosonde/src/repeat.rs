//! `iosonde run --repeat`: the same workload several times, to learn how well its figures repeat; and several targets in
//! turn, to compare them.

use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

use clap::Args;
use engine::Permissions;
use history::compare::{BAND_PERCENT, Input, Noise, Rules, compare};
use jiff::Timestamp;
use results::{Comparison, Conclusion, Document, Experiment, Runs};
use serde_json::Value;
use survey::{Progress, RunSide, RunsOptions};
use workload::Workload;

use crate::args::RunArgs;
use crate::display::Display;
use crate::exit::{Failure, Outcome, print};
use crate::experiment::outcome;
use crate::recording::{Recorder, Subject, tag};
use crate::run::json;

/// Runs of a workload that is to be known well, where nobody says how many.
const REPEAT: u32 = 5;
/// Pause before a run that writes or follows one that wrote, as experiments make it.
const SETTLE_S: f64 = 5.0;

/// Flags of repeated runs.
#[derive(Debug, Args)]
pub(crate) struct RepeatArgs {
    /// Run the workload so many times, 1 to 100 [default: 5 with `--alternate` and `--baseline`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: Option<u32>,

    /// Run it on each target alone, in turn (A B, B A, A B …), and compare the targets
    #[arg(long)]
    pub alternate: bool,

    /// Measure what later results are compared with: the same as `--repeat 5 --tag NAME`
    #[arg(long, value_name = "NAME", value_parser = tag, conflicts_with = "no_history")]
    pub baseline: Option<String>,

    /// Pause before each of several runs that writes or follows one that wrote [default: 5]
    #[arg(long, value_name = "SECONDS")]
    pub settle: Option<f64>,
}

impl RepeatArgs {
    /// How often the workload is run; none where it is run once, as a measurement of its own.
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

/// What is run in turn: the workload, or with `--alternate` the workload on each of its targets.
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
            "`--alternate` runs the whole workload on each target alone: this one has streams that name their targets",
        );
    }
    let alone =
        |target: &workload::Target| Workload { targets: vec![target.clone()], ..workload.clone() };
    Ok(workload.targets.iter().map(alone).collect())
}

/// Runs the command.
pub(crate) fn run(
    args: &RunArgs,
    sides: Vec<Workload>,
    repeat: u32,
    permissions: Permissions,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let now = Timestamp::now();
    let side = |workload| RunSide { id: engine::new_id(now), workload };
    let options = RunsOptions {
        sides: sides.into_iter().map(side).collect(),
        permissions,
        repeat,
        settle_seconds: args.repeat.settle.unwrap_or(SETTLE_S),
    };
    let recorders: Vec<RefCell<Recorder>> = (0..options.sides.len())
        .map(|place| recorder(args, &options, place).map(RefCell::new))
        .collect::<Result<_, _>>()?;
    let first = recorders.first().map(|recorder| recorder.borrow().subject().clone());
    let manner = args.target.manner();
    let display = first.map_or_else(|| Display::new(manner.quiet), |s| Display::of(manner, &s));
    let display = RefCell::new(display);
    let done = survey::runs(
        &options,
        stop,
        &mut |place, measurement| {
            if let Some(recorder) = recorders.get(place) {
                recorder.borrow_mut().measured(measurement, &mut display.borrow_mut());
            }
        },
        &mut |progress| {
            let mut display = display.borrow_mut();
            if let Progress::Began { id, .. } = &progress {
                let place = options.sides.iter().position(|side| side.id == **id);
                if let Some(recorder) = place.and_then(|place| recorders.get(place)) {
                    recorder.borrow_mut().hear(&progress, &mut display);
                }
            } else if let Some(first) = recorders.first() {
                first.borrow().tell(&progress);
            }
            display.progress(&progress);
        },
    );
    display.borrow_mut().finish();
    let documents =
        done.inspect_err(|_| recorders.iter().for_each(|r| r.borrow_mut().give_up()))?;
    print(&shown(args, &documents)?)?;
    record(args, &recorders, &documents)?;
    Ok(documents.iter().map(|d| outcome(d.status)).find(|o| *o != Outcome::Done).unwrap_or_else(
        || {
            let failed =
                documents.iter().flat_map(|d| &d.measurements).any(|m| !m.errors.is_empty());
            if failed { Outcome::IoFailed } else { Outcome::Done }
        },
    ))
}

/// What records a side; those who watch see all sides in the first.
fn recorder(args: &RunArgs, options: &RunsOptions, place: usize) -> Result<Recorder, Failure> {
    let nothing = || Failure::WrongUsage("there is nothing to run".to_owned());
    let side = options.sides.get(place).ok_or_else(nothing)?;
    let workload = &side.workload;
    let on = (workload.targets.as_slice(), workload.engine);
    let mut subject = Subject::new("run", Runs::SCHEMA, workload.title(), on, options)?;
    subject.watched &= place == 0;
    let mut recorder = Recorder::open(&args.recording, subject)?;
    if let Some(name) = &args.repeat.baseline {
        recorder.tag(name);
    }
    Ok(recorder)
}

/// The documents and how they compare, as text or as JSON: one document, or a list.
fn shown(args: &RunArgs, documents: &[Experiment<Runs>]) -> Result<String, Failure> {
    let comparisons = compared(documents);
    match documents {
        [one] if args.json => json(one),
        several if args.json => {
            let several = several.iter().map(serde_json::to_value);
            let all = several.chain(comparisons.iter().map(serde_json::to_value));
            let all: Result<Vec<Value>, _> = all.collect();
            json(&all.map_err(|e| Failure::CannotRun(e.to_string()))?)
        }
        all => {
            let texts = all.iter().map(report::text::runs);
            let texts = texts.chain(comparisons.iter().map(report::text::comparison));
            Ok(texts.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// Each of the others compared with the first, as far as both were measured.
fn compared(documents: &[Experiment<Runs>]) -> Vec<Comparison> {
    let measured = documents.iter().filter(|d| !d.measurements.is_empty());
    let sides: Vec<(String, Document)> = measured
        .map(|d| {
            let names: Vec<String> = d.targets.iter().map(|t| t.display().to_string()).collect();
            (names.join(", "), Document::Runs(Box::new(d.clone())))
        })
        .collect();
    let Some((first, others)) = sides.split_first() else { return Vec::new() };
    // How far runs differ is seen in the runs themselves.
    let noise = Noise::default();
    let rules = Rules {
        band_percent: BAND_PERCENT,
        anyway: false,
        noise: &noise,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    others.iter().map(|other| compare(side(first), side(other), &rules)).collect()
}

fn side((name, document): &(String, Document)) -> Input<'_> {
    Input { name, documents: std::slice::from_ref(document) }
}

/// The whole results. One that cannot be recorded does not keep the others from it.
fn record(
    args: &RunArgs,
    recorders: &[RefCell<Recorder>],
    documents: &[Experiment<Runs>],
) -> Result<(), Failure> {
    let mut done = Ok(());
    for (recorder, document) in recorders.iter().zip(documents) {
        let mut recorder = recorder.borrow_mut();
        let noted = recorder.finish(&Document::Runs(Box::new(document.clone())));
        if noted.is_ok() {
            recorder.say(args.target.quiet);
        }
        done = done.and(noted);
    }
    done
}
