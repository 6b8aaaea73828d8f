//! `iosonde sweep`: a matrix of workloads, kept cell by cell.

mod plan;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use inspect::files::{Output, Seal};
use jobs::{Companion, Event, NoCompanion, PreparedSweep, Session, Sink, sweep_presets};
use results::Document;
use workload::Bytes;
use workload::sweep::Plan;

use crate::args::OverwriteArgs;
use crate::commands::plans::print_plan;
use crate::conducting::{Console, Manners, ended};
use crate::exit::{Failure, Outcome, print};
use crate::recording::RecordingArgs;
use crate::targets::TargetArgs;
use plan::{checked, nothing_left_aside, plan_of};
use screen::{Display, described};

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

    /// Print the plan as TOML on stdout and stop
    #[arg(long)]
    pub print_plan: bool,

    #[command(flatten)]
    pub lists: ListArgs,

    /// Longest pause before each cell; it ends once the storage is idle [default: 60]
    #[arg(long, value_name = "SECONDS")]
    pub settle: Option<f64>,

    /// Run every cell on all targets at the same time, instead of on each alone
    #[arg(long)]
    pub together: bool,

    /// Measure the cells of each target in an order drawn from the seed
    #[arg(long)]
    pub shuffle: bool,

    /// Measure only the cells needed to infer the others, each as long as its precision needs
    #[arg(long)]
    pub adaptive: bool,

    /// End a window when the 95 % confidence interval of its mean is within this many percent
    /// [default: 5
    /// with `--adaptive`]
    #[arg(long, value_name = "PERCENT")]
    pub precision: Option<f64>,

    /// Go through the operating system's cache
    #[arg(long)]
    pub buffered: bool,

    /// Resume an interrupted sweep: the one with the same plan or, without a plan, the newest
    #[arg(long, conflicts_with = "no_history")]
    pub resume: bool,

    /// Write a line of CSV per cell
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    #[command(flatten)]
    pub overwrite: OverwriteArgs,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// Lists of which every combination is a cell; they replace those of a preset or file.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Share of I/Os that write, in percent: 0,100 [default: 0]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub writes: Option<Vec<u8>>,

    /// Where the next I/O goes [default: random]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    pub patterns: Option<Vec<PatternName>>,

    /// Block sizes: 8K,64K [default: 8K]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub blocks: Option<Vec<Bytes>>,

    /// An access specification, such as "File Server", or one of an .icf file (`FILE.icf:NAME`),
    /// instead of `--writes`, `--patterns` and `--blocks`; `iosonde specs` lists them. May be given
    /// several times
    #[arg(long, value_name = "NAME", conflicts_with_all = ["writes", "patterns", "blocks"])]
    pub spec: Vec<String>,

    /// Threads per target: 1,2,4 [default: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub threads: Option<Vec<u32>>,

    /// Queue depth per thread: 1,2,4,8 [default: 1]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub depths: Option<Vec<u32>>,

    /// Length of each measured window [default: 30]
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// Warm-up before each window, which does not count [default: 3]
    #[arg(long, value_name = "SECONDS")]
    pub warmup: Option<f64>,

    /// Make every write reach stable storage before it completes (write-through)
    #[arg(long)]
    pub durable: bool,
}

/// Patterns by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatternName {
    /// Anywhere
    Random,
    /// One after the other, each thread from its own position
    Sequential,
    /// One after the other, all threads sharing one position
    SequentialShared,
}

pub(crate) fn sweep(args: &SweepArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    if args.list_presets {
        print(&sweep_presets())?;
        return Ok(Outcome::Done);
    }
    let asked = plan_of(args)?;
    if args.print_plan {
        let plan = asked.ok_or_else(nothing_asked)?;
        return print_plan(&jobs::Plan::Sweep(Box::new(plan)));
    }
    if args.resume && asked.is_none() {
        nothing_left_aside(args)?;
    }
    let how = SweepConduct {
        csv: args.csv.as_deref(),
        overwrite: args.overwrite.overwrite,
        manners: manners(args)?,
        resume: args.resume,
        dry_run: args.target.conduct.dry_run,
        place: None,
    };
    run_plan(asked, &how, &mut NoCompanion, stop)
}

/// How a sweep is shown and kept.
pub(crate) fn manners(args: &SweepArgs) -> Result<Manners, Failure> {
    Ok(Manners {
        manner: args.target.manner(),
        json: args.json,
        recording: args.recording.recording()?,
        permissions: args.target.permissions(),
    })
}

/// The plan that the flags make, for several hosts.
pub(crate) fn plan_for_fleet(args: &SweepArgs) -> Result<jobs::Plan, Failure> {
    if args.resume || args.csv.is_some() || args.list_presets {
        let text = "a sweep on several hosts takes no `--resume`, `--csv` and `--list-presets`; \
                    `iosonde report` writes its CSV";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    let plan = checked(plan_of(args)?.ok_or_else(nothing_asked)?)?;
    Ok(jobs::Plan::Sweep(Box::new(plan)))
}

/// How to run a sweep, apart from its plan.
pub(crate) struct SweepConduct<'a> {
    pub csv: Option<&'a Path>,
    /// The file may replace any other.
    pub overwrite: bool,
    pub manners: Manners,
    pub resume: bool,
    /// Only show what would be done.
    pub dry_run: bool,
    /// A line to print at its end, such as the place of a file.
    pub place: Option<String>,
}

/// Prints a sweep, and writes its cells as CSV.
struct SweepConsole<'a> {
    console: Console,
    csv: Option<&'a Path>,
    output: Option<Output>,
}

impl Sink for SweepConsole<'_> {
    fn hear(&mut self, event: &Event) {
        self.console.hear(event);
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        let printed = self.console.deliver(document);
        let (Some(path), Document::Sweep(sweep)) = (self.csv, document) else { return printed };
        let output = self
            .output
            .take()
            .map_or(Ok(()), |output| output.write(report::sections::sweep_csv(sweep)));
        let written = output.map_err(|e| csv_failure(path, &e, "the result is shown"));
        // A full disk must not cost the result, and a closed stdout must not cost the file.
        match (printed, written) {
            (Err(printed), Err(written)) => Err(format!("{printed}\n{written}")),
            (printed, written) => printed.and(written),
        }
    }
}

/// Runs a plan as `iosonde sweep` does; without a plan, resumes the newest sweep.
pub(crate) fn run_plan(
    asked: Option<Plan>,
    how: &SweepConduct<'_>,
    companion: &mut dyn Companion,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let asked = asked.map(checked).transpose()?;
    let Manners { permissions, recording, .. } = &how.manners;
    let prepared = match recording {
        Some(recording) if how.resume => {
            PreparedSweep::resume(&recording.place, asked.as_ref(), permissions)?
        }
        _ => PreparedSweep::new(asked.ok_or_else(nothing_asked)?),
    };
    let refused =
        |path, error| Failure::CannotRun(csv_failure(path, &error, "nothing was measured"));
    if how.dry_run {
        if let Some(path) = how.csv {
            let checked = Output::check(path, Seal::None, how.overwrite);
            checked.map_err(|error| refused(path, error))?;
        }
        print(&described(&prepared.describe(permissions)?))?;
        return Ok(Outcome::Done);
    }
    // Better now than after two days: the directory is missing, or the file is not ours.
    let output = how.csv.map(|path| {
        Output::claim(path, Seal::None, how.overwrite).map_err(|error| refused(path, error))
    });
    let output = output.transpose()?;
    let mut display = Display::new(how.manners.manner.quiet);
    display.message(&prepared.duration());
    let console = Console::of(&jobs::Plan::Sweep(Box::new(prepared.plan.clone())), &how.manners)?;
    let mut sink = SweepConsole { console, csv: how.csv, output };
    let (permissions, recording) = (permissions.clone(), recording.as_ref());
    let mut session = Session { permissions, recording, sink: &mut sink, stop, resumed: None };
    let conducted = prepared.run(companion, &mut session)?;
    let (_, outcome) = ended(conducted, stop)?;
    if let Some(place) = &how.place {
        display.message(place);
    }
    Ok(outcome)
}

fn csv_failure(path: &Path, error: &io::Error, state: &str) -> String {
    format!("cannot write `{}`: {error}; {state}", path.display())
}

fn nothing_asked() -> Failure {
    let text = "say what to sweep: `--preset NAME` (see `--list-presets`), `--plan FILE`, or \
                lists such as `--blocks 8K,64K --depths 1,2,4`; or `--resume` to continue a sweep";
    Failure::WrongUsage(text.to_owned())
}
