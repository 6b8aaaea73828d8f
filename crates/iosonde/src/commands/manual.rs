//! `iosonde completions` and `iosonde man`: texts for shells and for `man`, made from the flags.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::Shell;
use inspect::files::{Output, Seal};

use crate::args::OverwriteArgs;
use crate::exit::{self, Failure, Outcome};
use crate::usage;

/// `iosonde completions`
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// `iosonde man`
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command whose page to print, for example `history compare` [default: iosonde itself]
    #[arg(conflicts_with = "output")]
    pub command: Vec<String>,

    /// Write the pages of all commands into this directory instead
    #[arg(long, value_name = "DIRECTORY")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub overwrite: OverwriteArgs,
}

/// Prints a script that completes iosonde's commands and flags.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut whole(), "iosonde", &mut script);
    exit::print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}

/// Prints one page, or writes all of them.
pub(crate) fn man(args: &ManArgs) -> Result<Outcome, Failure> {
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    let program = whole();
    if let Some(directory) = &args.output {
        return write(&flags::pages(&program, VERSION)?, directory, args.overwrite.overwrite);
    }
    let page = flags::page(flags::found(&program, &args.command)?, VERSION)?;
    exit::print(&String::from_utf8_lossy(&page))?;
    Ok(Outcome::Done)
}

/// Writes pages into a directory. Nothing is written unless every page can be.
fn write(
    pages: &[(String, Vec<u8>)],
    directory: &Path,
    overwrite: bool,
) -> Result<Outcome, Failure> {
    let failed = |path: &Path, error: &io::Error| {
        Failure::CannotRun(format!("cannot write `{}`: {error}", path.display()))
    };
    let mut claimed = Vec::new();
    for (name, page) in pages {
        let path = directory.join(name);
        let output = Output::claim(&path, Seal::Roff, overwrite);
        claimed.push((output.map_err(|error| failed(&path, &error))?, page));
    }
    for (output, page) in claimed {
        let path = output.path().to_owned();
        output.write(page).map_err(|error| failed(&path, &error))?;
    }
    Ok(Outcome::Done)
}

/// All flags, with the whole name of each command.
fn whole() -> clap::Command {
    let mut program = usage::command();
    program.build();
    program
}
