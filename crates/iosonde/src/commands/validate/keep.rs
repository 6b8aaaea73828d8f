//! The flags of runs that can be resumed after a kill, and of `--clean`, which removes what they
//! left.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory};

use super::ValidateArgs;
use crate::commands::Arguments;
use crate::exit::{Failure, Outcome, print};

/// Flags for what remains of a run.
#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// Keep what the run knows in this new file, 8 bytes per page, so that `--resume` can continue
    /// the run after a kill
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub ledger: Option<PathBuf>,

    /// Resume the run of this ledger, on its targets and with its flags, after reading what it had
    /// written
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Remove what a killed run left: each TARGET is a ledger with its files, a directory with test
    /// files, or a test file. iosonde removes only its own files
    #[arg(long, conflicts_with_all = ["ledger", "resume"])]
    pub clean: bool,
}

/// Flags that are allowed with `--resume`.
const WITH_RESUME: [&str; 9] =
    ["resume", "quiet", "live", "progress", "json", "history", "no_history", "tags", "language"];
/// Flags that are allowed with `--clean`.
const WITH_CLEAN: [&str; 5] = ["clean", "targets", "dry_run", "quiet", "history"];

/// Refuses flags that would have no effect on a resumed run.
pub(super) fn check_resume() -> Result<(), Failure> {
    nothing_else(&WITH_RESUME, "`--resume` continues the run as it was")
}

/// Refuses all flags but these.
fn nothing_else(allowed: &[&str], why: &str) -> Result<(), Failure> {
    let Ok(matches) = Arguments::command().try_get_matches_from(std::env::args_os()) else {
        return Ok(());
    };
    let Some((_, typed)) = matches.subcommand() else { return Ok(()) };
    let command = Arguments::command();
    // Only arguments: clap also lists the groups that they are declared in as typed.
    let known = command.get_subcommands().flat_map(clap::Command::get_arguments);
    let is_other = |arg: &&clap::Arg| {
        let id = arg.get_id().as_str();
        let is_typed = typed.try_contains_id(id).is_ok()
            && typed.value_source(id) == Some(ValueSource::CommandLine);
        is_typed && !allowed.contains(&id)
    };
    match known.filter(is_other).map(|arg| arg.get_long()).next() {
        None => Ok(()),
        Some(None) => Err(Failure::WrongUsage(format!("{why}; leave out the TARGETs"))),
        Some(Some(flag)) => Err(Failure::WrongUsage(format!("{why}; leave out `--{flag}`"))),
    }
}

/// Removes what runs left.
pub(super) fn clean(args: &ValidateArgs) -> Result<Outcome, Failure> {
    nothing_else(&WITH_CLEAN, "`--clean` only removes what is left")?;
    let target = &args.target;
    if target.targets.is_empty() {
        let text = "name what is left: a ledger, a directory with test files, or a test file";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    let cleaning = jobs::clean(&target.targets, target.conduct.dry_run)?;
    if !target.conduct.quiet {
        let nothing = cleaning.lines.is_empty() && cleaning.failures.is_empty();
        print(if nothing { "nothing is left\n" } else { &cleaning.lines })?;
    }
    if cleaning.failures.is_empty() {
        return Ok(Outcome::Done);
    }
    Err(Failure::CannotRun(cleaning.failures.join("\n")))
}
