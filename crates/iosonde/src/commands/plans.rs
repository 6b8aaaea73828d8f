//! `iosonde do` and `iosonde again`: run a plan from a file, or repeat an earlier result.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::Args;
use engine::Permissions;
use history::compare::{BAND_PERCENT, CompareOptions, KeptSide, compare_kept};
use history::{History, Place};
use jobs::{
    Again, Original, Plan, PlanError, Recording, Resumable, Session, again, check_destroy,
    resumable,
};

use crate::commands::run::json;
use crate::conducting::{Console, Manners, conduct, ended};
use crate::exit::{Failure, Outcome, print};
use crate::recording::{HistoryPlace, RecordingArgs, failure, tag};
use crate::targets::ConductArgs;
use ::inspect::reading::OnlyReading;
use jobs::files::read_text;
use screen::described;
use workload::secrets::concealed;

/// `iosonde do`
#[derive(Debug, Args)]
pub(crate) struct DoArgs {
    /// A plan that `--print-plan` printed, or a result as JSON that holds one
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,

    #[command(flatten)]
    pub conduct: ConductArgs,

    /// Allow the plan to start the programs that it names: the command of a recording, or another
    /// way to the hosts of a fleet than ssh and iosonde
    #[arg(long)]
    pub allow_command: bool,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// `iosonde again`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct AgainArgs {
    /// The result: an id or its unique beginning, `latest`, or `@TAG` for the newest with that tag
    #[arg(value_name = "RESULT")]
    pub result: String,

    /// Repeat and compare, or resume, even if the host or the storage is a different one
    #[arg(long)]
    pub anyway: bool,

    /// Resume an experiment that was interrupted: only what is missing is measured
    #[arg(long)]
    pub resume: bool,

    #[command(flatten)]
    pub conduct: ConductArgs,

    /// Allow the result's plan to start the programs that it names
    #[arg(long)]
    pub allow_command: bool,

    /// Print the comparison as JSON on stdout, instead of result and comparison as text; for a
    /// validation, the result
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub place: HistoryPlace,

    /// Tag the new result, so that @NAME finds it again; may be given several times
    #[arg(long = "tag", value_name = "NAME", value_parser = tag)]
    pub tags: Vec<String>,
}

pub(crate) fn from_file(args: &DoArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let wrong = |e: PlanError| Failure::WrongUsage(format!("`{}`: {e}", args.plan.display()));
    // A plan of 16 MiB takes its time, and nothing has begun.
    let reading = OnlyReading::begin();
    let plan = Plan::in_text(&read_text(&args.plan)?).map_err(wrong)?;
    drop(reading);
    let permissions = args.conduct.permissions();
    check_destroy(&plan.job().targets(), &permissions.destroy)?;
    args.recording.check()?;
    if args.conduct.dry_run {
        print(&described(&plan.job().describe(&permissions)?))?;
        return Ok(Outcome::Done);
    }
    check_command(&plan, (args.allow_command, &permissions))?;
    let manner = args.conduct.manner();
    let manners =
        Manners { manner, json: args.json, recording: args.recording.recording()?, permissions };
    conduct(&plan, &manners, stop)
}

/// A plan is a file that others may have written: what it would start must be allowed by name.
fn check_command(
    plan: &Plan,
    (is_allowed, permissions): (bool, &Permissions),
) -> Result<(), Failure> {
    let Some(program) = plan.program().filter(|_| !is_allowed) else { return Ok(()) };
    // What is wrong with it comes first.
    plan.job().describe(permissions)?;
    Err(Failure::WrongUsage(format!(
        "the plan starts a program: {}. If that is what you want, add --allow-command",
        concealed(&program)
    )))
}

/// Prints a plan as TOML on stdout.
pub(crate) fn print_plan(plan: &Plan) -> Result<Outcome, Failure> {
    print(&plan.to_toml().map_err(jobs::JobError::from)?)?;
    Ok(Outcome::Done)
}

pub(crate) fn repeat(args: &AgainArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let place = args.place.place()?;
    let history = History::open_existing(&place).map_err(failure)?;
    let wanted = Again { selector: &args.result, anyway: args.anyway };
    if args.resume {
        let found = resumable(&history, wanted).map_err(|e| Failure::CannotRun(e.to_string()))?;
        drop(history);
        return resume(args, found, place, stop);
    }
    let original = again(&history, wanted).map_err(|e| Failure::CannotRun(e.to_string()))?;
    let permissions = args.conduct.permissions();
    check_destroy(&original.plan.job().targets(), &permissions.destroy)?;
    if args.conduct.dry_run {
        print(&described(&original.plan.job().describe(&permissions)?))?;
        return Ok(Outcome::Done);
    }
    check_command(&original.plan, (args.allow_command, &permissions))?;
    let named = args.place.history.as_ref().map(|_| place.to_string());
    let recording = Recording { place, tags: args.tags.clone(), named };
    let (outcome, id) = conduct_again(args, &original, (&recording, permissions), stop)?;
    if original.document.has_figures() {
        compare(args, &history, &original, &id)?;
    }
    Ok(outcome)
}

/// Measures what is missing of an experiment.
fn resume(
    args: &AgainArgs,
    found: Resumable,
    place: Place,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let Resumable { job, plan } = found;
    let permissions = args.conduct.permissions();
    check_destroy(&plan.job().targets(), &permissions.destroy)?;
    if args.conduct.dry_run {
        print(&described(&plan.job().describe(&permissions)?))?;
        return Ok(Outcome::Done);
    }
    check_command(&plan, (args.allow_command, &permissions))?;
    let named = args.place.history.as_ref().map(|_| place.to_string());
    let recording = Recording { place, tags: args.tags.clone(), named };
    let mut console = Console::for_plan(&plan, args.conduct.manner())?;
    console.json = args.json;
    let (recording, sink) = (Some(&recording), &mut console);
    let mut session = Session { permissions, recording, sink, stop, resumed: Some(job) };
    let conducted = hosts::conduct(&plan, &mut session)?;
    ended(conducted, stop).map(|(_, outcome)| outcome)
}

/// Repeats it; how that ended, and the id of the new result.
fn conduct_again(
    args: &AgainArgs,
    original: &Original,
    (recording, permissions): (&Recording, Permissions),
    stop: &AtomicBool,
) -> Result<(Outcome, String), Failure> {
    let mut console = Console::for_plan(&original.plan, args.conduct.manner())?;
    let compares = original.document.has_figures();
    (console.silent, console.json) = (args.json && compares, args.json && !compares);
    let recording = Some(recording);
    let mut session = Session { permissions, recording, sink: &mut console, stop, resumed: None };
    let conducted = hosts::conduct(&original.plan, &mut session)?;
    let targets = original.document.targets();
    let (documents, outcome) = ended(conducted, stop)?;
    // Of several results that took turns, the one on the same target.
    let same = documents.iter().find(|document| document.targets() == targets);
    let new = same.or(documents.first()).map(|document| document.id().to_owned());
    Ok((outcome, new.unwrap_or_default()))
}

/// Compares the new result with the original.
fn compare(
    args: &AgainArgs,
    history: &History,
    original: &Original,
    id: &str,
) -> Result<(), Failure> {
    let new = [history.find(id).map_err(failure)?];
    let old = std::slice::from_ref(&original.entry);
    let how = CompareOptions {
        band_percent: BAND_PERCENT,
        anyway: args.anyway,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    let (a, b) =
        (KeptSide { name: &original.entry.id, entries: old }, KeptSide { name: id, entries: &new });
    let comparison = compare_kept(history, a, b, how).map_err(failure)?;
    print(&if args.json {
        json(&comparison)?
    } else {
        format!("\n{}", report::text::comparison(&comparison))
    })
}
