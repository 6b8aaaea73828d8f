//! Manual pages, made from the flags.

use std::io;

use clap::Command;
use clap_mangen::Man;

/// Why a manual page cannot be made.
#[derive(Debug)]
pub enum PageError {
    /// The command has no such command in it; these it has.
    Unknown {
        /// The command that was looked into, such as `iosonde history`.
        of: String,
        /// The name that was asked for.
        name: String,
        /// The commands that it does have.
        known: Vec<String>,
    },
    /// The page cannot be made.
    Made(io::Error),
}

impl std::fmt::Display for PageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown { of, name, known } if known.is_empty() => {
                write!(f, "`{of}` has no command `{name}`")
            }
            Self::Unknown { of, name, known } => {
                write!(f, "`{of}` has no command `{name}`; it has {}", known.join(", "))
            }
            Self::Made(error) => write!(f, "the manual page cannot be made: {error}"),
        }
    }
}

impl std::error::Error for PageError {}

/// The command that these words name, such as `history compare`. The program must have been built
/// ([`Command::build`]).
pub fn found<'a>(program: &'a Command, words: &[String]) -> Result<&'a Command, PageError> {
    words.iter().try_fold(program, |command, name| {
        command.find_subcommand(name).ok_or_else(|| PageError::Unknown {
            of: command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned(),
            name: name.clone(),
            known: visible(command).map(|command| command.get_name().to_owned()).collect(),
        })
    })
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help")
}

/// `iosonde-history-compare`: how a page is called.
fn page_name(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).replace(' ', "-")
}

/// The manual page of a command, in roff; `version` is the program's.
pub fn page(command: &Command, version: &str) -> Result<Vec<u8>, PageError> {
    let mut page = Vec::new();
    let man =
        Man::new(command.clone()).title(page_name(command)).source(format!("iosonde {version}"));
    man.render(&mut page).map_err(PageError::Made)?;
    Ok(page)
}

/// The pages of a command and of all in it, each with its file name, such as `iosonde-run.1`.
pub fn pages(command: &Command, version: &str) -> Result<Vec<(String, Vec<u8>)>, PageError> {
    let mut found = vec![(format!("{}.1", page_name(command)), page(command, version)?)];
    for command in visible(command) {
        found.extend(pages(command, version)?);
    }
    Ok(found)
}
