//! `iosonde iometer`: IOMeter's configurations, run by run, with its result file.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use clap::Args;
use engine::Permissions;
use jobs::{CycleCall, CyclePlan, Event, Plan, Sink};
use report::model::Detail;
use report::sections::{CycleDetail, part_with, workers};
use results::Document;
use workload::Bytes;

use super::PlaceFlags;
use crate::commands::fleet::ManagerArgs;
use crate::conducting::{Console, Manners, Rehearsal, conduct_into, rehearse};
use crate::exit::{Failure, Outcome};
use crate::recording::RecordingArgs;

/// `iosonde iometer`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct IometerArgs {
    /// IOMeter's order without letters: the configuration, the result file, the time to wait
    #[arg(value_name = "FILE", num_args = 0..=3)]
    pub files: Vec<PathBuf>,

    /// The configuration, an .icf file
    #[arg(short = 'c', long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Append the results to this file, as IOMeter 1.1.0 does
    #[arg(short = 'r', long, value_name = "FILE")]
    pub results: Option<PathBuf>,

    /// How long IOMeter waits for its managers; ignored, because none has to log in
    #[arg(short = 't', long, value_name = "SECONDS")]
    pub timeout: Option<u64>,

    #[command(flatten)]
    pub place: PlaceFlags,

    /// Size of the test file on a disk that the configuration fills [default: 1G]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<Bytes>,

    /// Keep the test files for the next run
    #[arg(long)]
    pub keep: bool,

    #[command(flatten)]
    pub managers: ManagerArgs,

    /// Length of every run, instead of the file's, for a rehearsal
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// Warm-up before every run, which does not count, instead of the file's ramp up time
    #[arg(long, value_name = "SECONDS")]
    pub warmup: Option<f64>,

    /// Also show each worker of each run
    #[arg(long)]
    pub workers: bool,

    /// Also show each target of each worker
    #[arg(long)]
    pub targets: bool,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    /// Show every run in order, the total time and what differs from IOMeter; touch nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Print the plan as TOML on stdout and stop; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

pub(crate) fn iometer(args: &IometerArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let places = args.place.places()?;
    let plan = CyclePlan::of(&CycleCall {
        config: config(args)?,
        results: results(args)?,
        has_timeout: args.timeout.is_some(),
        managers: &args.managers.manager,
        places: &places,
        size: args.size,
        seconds: args.seconds,
        warmup_seconds: args.warmup,
    })?;
    let permissions = Permissions { keep: args.keep, ..places.permissions(&plan.targets) };
    let plan = args.managers.over(Plan::Cycle(Box::new(plan)));
    let rehearsal = Rehearsal { print_plan: args.print_plan, dry_run: args.dry_run };
    args.recording.check()?;
    if let Some(outcome) = rehearse(&plan, rehearsal, &permissions)? {
        return Ok(outcome);
    }
    let recording = args.recording.recording()?;
    let manners = Manners { manner: args.place.manner(), json: args.json, recording, permissions };
    let detail = match (args.targets, args.workers) {
        (true, _) => CycleDetail::Targets,
        (false, true) => CycleDetail::Workers,
        (false, false) => CycleDetail::Total,
    };
    let mut console = CycleConsole { console: Console::of(&plan, &manners)?, detail };
    conduct_into(&plan, &manners, &mut console, stop).map(|(_, outcome)| outcome)
}

/// Prints a cycle in as much detail as was asked for.
struct CycleConsole {
    console: Console,
    detail: CycleDetail,
}

impl Sink for CycleConsole {
    fn hear(&mut self, event: &Event) {
        self.console.hear(event);
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        match document {
            Document::Cycle(cycle) => self.console.print(document, || {
                let workers = workers(cycle, self.detail);
                report::text::part(&part_with(document, Detail::Brief, workers))
            }),
            other => self.console.deliver(other),
        }
    }
}

/// The configuration that was named.
fn config(args: &IometerArgs) -> Result<&Path, Failure> {
    match (&args.config, args.files.first()) {
        (Some(_), Some(file)) => Err(Failure::WrongUsage(format!(
            "`{}`: with `-c`, files are named by their letters: `-r RESULTS.csv`",
            file.display()
        ))),
        (Some(path), None) | (None, Some(path)) => Ok(path),
        (None, None) => Err(Failure::WrongUsage(
            "name the configuration: `iosonde iometer -c FILE.icf -r RESULTS.csv`".to_owned(),
        )),
    }
}

/// The result file, if one was named.
fn results(args: &IometerArgs) -> Result<Option<&Path>, Failure> {
    match (args.results.as_deref(), args.files.get(1)) {
        (Some(_), Some(_)) => Err(Failure::WrongUsage("the result file is named twice".to_owned())),
        (named, file) => Ok(named.or(file.map(AsRef::as_ref))),
    }
}
