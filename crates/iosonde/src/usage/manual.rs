//! `iosonde completions` and `iosonde man`: what shells and `man` read, made from the flags.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;

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
}

/// Prints a script that completes our commands and flags.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut whole(), "iosonde", &mut script);
    exit::print(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}

/// Prints one page, or writes all of them.
pub(crate) fn man(args: &ManArgs) -> Result<Outcome, Failure> {
    let program = whole();
    if let Some(directory) = &args.output {
        write_pages(&program, directory)?;
        return Ok(Outcome::Done);
    }
    let mut command = &program;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let known: Vec<&str> = visible(command).map(clap::Command::get_name).collect();
            let of = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
            Failure::WrongUsage(if known.is_empty() {
                format!("`{of}` has no command `{name}`")
            } else {
                format!("`{of}` has no command `{name}`; it has {}", known.join(", "))
            })
        })?;
    }
    exit::print(&String::from_utf8_lossy(&page(command)?))?;
    Ok(Outcome::Done)
}

/// All flags, each command with its whole name.
fn whole() -> clap::Command {
    let mut program = usage::command();
    program.build();
    program
}

fn visible(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help")
}

/// `iosonde-history-compare`: how a page is called.
fn page_name(command: &clap::Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).replace(' ', "-")
}

fn page(command: &clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let man = Man::new(command.clone())
        .title(page_name(command))
        .source(concat!("iosonde ", env!("CARGO_PKG_VERSION")));
    man.render(&mut page)
        .map_err(|error| Failure::CannotRun(format!("the manual page cannot be made: {error}")))?;
    Ok(page)
}

fn write_pages(command: &clap::Command, directory: &Path) -> Result<(), Failure> {
    let path = directory.join(format!("{}.1", page_name(command)));
    fs::write(&path, page(command)?).map_err(|error| {
        let shown = path.display();
        Failure::CannotRun(format!(
            "cannot write `{shown}`: {error}. Choose a directory that exists and that you may \
             write to"
        ))
    })?;
    visible(command).try_for_each(|command| write_pages(command, directory))
}
