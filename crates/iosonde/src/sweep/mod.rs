//! `iosonde sweep`: a matrix of workloads, kept cell by cell.

mod csv;
mod forecast;
mod plan;
mod resume;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use engine::Permissions;
use results::{Conclusion, Document, Measurement, Sweep};
use survey::SweepOptions;
use workload::sweep::{Cell, Plan};
use workload::{Bytes, EngineChoice};

use crate::display::{Display, Manner};
use crate::exit::{Failure, Outcome, print};
use crate::experiment::conduct;
use crate::files::write_whole;
use crate::recording::{Recorder, RecordingArgs, Subject, failure};
use crate::targets::TargetArgs;
use csv::{claim_csv, csv_failure};
use forecast::{duration, forecast};
use plan::{checked, plan_of, presets};

/// `iosonde sweep`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    /// A plan by name; `--list-presets` shows them
    #[arg(long, value_name = "NAME", conflicts_with = "plan")]
    pub preset: Option<String>,

    /// A plan from a TOML file; see docs/sweep.md
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Show the names of all presets, with their cells and times
    #[arg(long)]
    pub list_presets: bool,

    /// Print the plan as TOML on stdout and do nothing else
    #[arg(long)]
    pub print_plan: bool,

    #[command(flatten)]
    pub lists: ListArgs,

    /// Longest pause before each cell; it ends when the storage is at rest [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub settle: Option<f64>,

    /// Every cell works on all targets at the same time, instead of on each alone
    #[arg(long)]
    pub together: bool,

    /// Measure the cells of each target in an order drawn from the seed
    #[arg(long)]
    pub shuffle: bool,

    /// Measure only the cells that the others can be inferred from, each as long as its precision needs
    #[arg(long)]
    pub adaptive: bool,

    /// A window ends when the 95 % interval of its mean is within this many percent [default: 5 with `--adaptive`]
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<f64>,

    /// Go through the operating system's cache
    #[arg(long)]
    pub buffered: bool,

    /// Go on with a sweep that was interrupted: that of the same plan, or without any plan the newest
    #[arg(long, conflicts_with = "no_history")]
    pub resume: bool,

    /// Write every cell as a line of CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// Lists of which every combination is a cell; they replace those of a preset or file.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Percent of I/Os that write: 0,100 [default: 0]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub writes: Option<Vec<u8>>,

    /// Where the next I/O goes [default: random]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    pub patterns: Option<Vec<PatternName>>,

    /// Block sizes: 8K,64K [default: 8K]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub blocks: Option<Vec<Bytes>>,

    /// An access specification by name in place of `--writes`, `--patterns` and `--blocks`, such as "File Server"; `iosonde
    /// specs` lists them. May be given several times
    #[arg(long, value_name = "NAME", conflicts_with_all = ["writes", "patterns", "blocks"])]
    pub spec: Vec<String>,

    /// Threads for each target: 1,2,4 [default: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub threads: Option<Vec<u32>>,

    /// Outstanding I/Os of each thread: 1,2,4,8 [default: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub depths: Option<Vec<u32>>,

    /// Length of each measured window [default: 30]
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// I/O before each window that is not counted [default: 3]
    #[arg(long, value_name = "SECONDS")]
    pub warmup: Option<f64>,

    /// Every write is on stable media before it completes (write-through)
    #[arg(long)]
    pub durable: bool,
}

/// Patterns by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatternName {
    /// Anywhere
    Random,
    /// One after the other, each thread on its own
    Sequential,
    /// One after the other, all threads sharing one position
    SequentialShared,
}

/// Runs the command.
pub(crate) fn sweep(args: &SweepArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    if args.list_presets {
        print(&presets())?;
        return Ok(Outcome::Done);
    }
    let asked = plan_of(args)?;
    if args.print_plan {
        let plan = asked.ok_or_else(nothing_asked)?;
        print(&plan.to_toml().map_err(|e| Failure::CannotRun(e.to_string()))?)?;
        return Ok(Outcome::Done);
    }
    if args.resume && asked.is_none() {
        resume::nothing_left_aside(args)?;
    }
    let permissions = args.target.permissions();
    let options = if args.resume {
        resume::options(&args.recording.place, asked.as_ref(), permissions)?
    } else {
        begin(checked(asked.ok_or_else(nothing_asked)?)?, permissions)
    };
    if args.target.dry_run {
        print(&forecast(&options.plan, &names(&options), &options.permissions)?)?;
        return Ok(Outcome::Done);
    }
    let how = How {
        csv: args.csv.as_deref(),
        recording: &args.recording,
        resume: args.resume,
        manner: args.target.manner(),
        json: args.json,
        resumption: resumption(args),
    };
    conduct_sweep(&how, options, &mut Nothing, stop)
}

/// The names under which measurements are kept already.
fn names(options: &SweepOptions) -> Vec<u32> {
    options.kept.iter().map(|(name, _)| *name).collect()
}

/// A new sweep. Nothing is written to the history before its first cell is finished.
fn begin(plan: Plan, permissions: Permissions) -> SweepOptions {
    let now = jiff::Timestamp::now();
    let (id, started) = (engine::new_id(now), now.to_string());
    SweepOptions { plan, permissions, id, started, kept: Vec::new() }
}

/// What is done beside a sweep, as its cells are finished.
pub(crate) trait Also {
    /// Before anything is measured; `kept` is what was measured before an interruption.
    fn begin(&mut self, kept: &[(&Cell, &Measurement)]) -> Result<(), Failure>;
    /// A cell was measured. An error ends the sweep.
    fn measured(&mut self, cell: &Cell, measurement: &Measurement) -> Result<(), String>;
    /// Where what it leaves is found.
    fn place(&self) -> String;
}

/// Runs a plan with everything that `iosonde sweep` does; `dry_run` only says what that is.
pub(crate) fn run_plan(
    plan: Plan,
    permissions: Permissions,
    dry_run: bool,
    how: &How<'_>,
    also: &mut dyn Also,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let plan = checked(plan)?;
    let options = if how.resume {
        resume::options(&how.recording.place, Some(&plan), permissions)?
    } else {
        begin(plan, permissions)
    };
    if dry_run {
        print(&forecast(&options.plan, &names(&options), &options.permissions)?)?;
        return Ok(Outcome::Done);
    }
    conduct_sweep(how, options, also, stop)
}

/// How a sweep is conducted, apart from its plan.
pub(crate) struct How<'a> {
    pub csv: Option<&'a Path>,
    pub recording: &'a RecordingArgs,
    pub resume: bool,
    pub manner: Manner,
    pub json: bool,
    /// The command that goes on with it after an interruption.
    pub resumption: String,
}

/// Nothing beside the sweep itself.
struct Nothing;

impl Also for Nothing {
    fn begin(&mut self, _: &[(&Cell, &Measurement)]) -> Result<(), Failure> {
        Ok(())
    }

    fn measured(&mut self, _: &Cell, _: &Measurement) -> Result<(), String> {
        Ok(())
    }

    fn place(&self) -> String {
        String::new()
    }
}

fn conduct_sweep(
    how: &How<'_>,
    mut options: SweepOptions,
    also: &mut dyn Also,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    if let Some(path) = how.csv {
        // Not after two days that there is no such directory, or somebody else's file.
        claim_csv(path).map_err(|e| csv_failure(path, &e, "nothing was measured"))?;
    }
    let mut recorder = Recorder::open(how.recording, subject(&options.plan))?;
    if how.resume {
        recorder.goes_on(&options.id, &options.started).map_err(failure)?;
        // Another process may have gone on with it until a moment ago.
        options.kept = resume::kept(recorder.history(), &options.id)?;
    } else {
        recorder.began(&options.id, &options.started).map_err(failure)?;
    }
    let cells = options.plan.cells();
    // A repetition has the number of its cell and so many times that of all cells.
    let cell_of = |name: u32| cells.get(name as usize % cells.len().max(1));
    let kept: Vec<(&Cell, &Measurement)> =
        options.kept.iter().filter_map(|(name, m)| Some((cell_of(*name)?, m))).collect();
    also.begin(&kept)?;
    announce(how, &recorder, &options)?;
    let recorder = RefCell::new(recorder);
    let mut keep = |name: u32, measurement: &Measurement| -> Result<(), String> {
        recorder.borrow_mut().keep(name, measurement).map_err(|e| e.to_string())?;
        cell_of(name).map_or(Ok(()), |cell| also.measured(cell, measurement))
    };
    let conducted = conduct(
        how.manner,
        how.json,
        &recorder,
        |observe| survey::sweep(options, stop, &mut keep, observe),
        Document::Sweep,
        report::text::sweep,
    );
    // A history on a full disk is no reason to lose the table, nor the other way round.
    let (experiment, noted) = conducted?;
    if let Some(path) = how.csv {
        let text = report::text::sweep_csv(&experiment);
        let state = if recorder.borrow().is_begun() {
            "the measurements are kept"
        } else {
            "the result is shown"
        };
        write_whole(path, &text).map_err(|e| csv_failure(path, &e, state))?;
    }
    let outcome = noted?;
    let place = also.place();
    if !how.manner.quiet && !place.is_empty() {
        Display::new(false).message(&place);
    }
    if outcome != Outcome::Done && recorder.borrow().is_begun() && !how.manner.quiet {
        Display::new(false).message(&format!("go on with `{}`", how.resumption));
    }
    Ok(outcome)
}

fn subject(plan: &Plan) -> Subject {
    let targets: Vec<String> = plan.targets.iter().map(|t| t.path.display().to_string()).collect();
    Subject {
        kind: "sweep",
        schema: Sweep::SCHEMA,
        title: plan.title.clone(),
        targets: targets.join(", "),
        plan: plan.to_json(),
        plan_id: plan.id(),
        watched: plan.engine != EngineChoice::Sim,
    }
}

/// Says what is begun, before anything is.
fn announce(how: &How<'_>, recorder: &Recorder, options: &SweepOptions) -> Result<(), Failure> {
    if how.manner.quiet {
        return Ok(());
    }
    let mut display = Display::new(false);
    let plan = &options.plan;
    display.message(&duration(plan, &names(options)));
    let Some(history) = recorder.history() else {
        display.message("recorded nowhere: what ends it early, ends it for good");
        return Ok(());
    };
    display.message(&format!("kept cell by cell in {}", history.place()));
    if !how.resume {
        let same = history.unfinished("sweep", Some(&plan.id())).map_err(failure)?;
        if let Some(before) = same.first() {
            display.message(&format!(
                "note: a sweep of the same plan that began {} is unfinished, with {} cells; `--resume` goes on with it",
                before.started, before.cells
            ));
        }
    }
    Ok(())
}

/// The command that goes on with an interrupted sweep.
fn resumption(args: &SweepArgs) -> String {
    let mut command = "iosonde sweep --resume".to_owned();
    let history = args
        .recording
        .place
        .history
        .iter()
        .map(|place| format!(" --history {}", Path::new(place).display()));
    let destroy = args.target.destroy.iter().map(|path| format!(" --destroy {}", path.display()));
    command.extend(history.chain(destroy));
    command
}

fn nothing_asked() -> Failure {
    let text = "say what to sweep: `--preset NAME` (see `--list-presets`), `--plan FILE`, or lists such as \
                `--blocks 8K,64K --depths 1,2,4`; or `--resume` to go on with a sweep";
    Failure::WrongUsage(text.to_owned())
}
