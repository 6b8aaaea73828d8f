//! What holds for the command line as a whole: letters, headings and examples of its help, how
//! values are written, and the answer to words of other tools.
//!
//! The flags themselves are declared where their commands are.

mod arrange;
mod examples;
mod fields;
mod foreign;
pub(crate) mod language;
pub(crate) mod manual;
mod values;

use std::ffi::OsString;

use clap::{Args, Command, CommandFactory, FromArgMatches, Parser};

use crate::commands::Arguments;
use crate::exit::{Failure, Outcome};

pub(crate) use arrange::arranged;
pub(crate) use fields::in_flags;

/// The whole command line of the program, arranged for people.
pub(crate) fn command() -> Command {
    arranged(Arguments::command(), "")
}

/// What was typed. Help that was asked for and flags that are wrong end the program here.
pub(crate) fn parse(words: &[OsString]) -> Result<Arguments, Failure> {
    parse_as(command(), words)
}

/// The same for the flags of a command with another grammar.
pub(crate) fn parse_part<T: Parser>(name: &str, words: &[OsString]) -> Result<T, Failure> {
    let path = name.trim_start_matches("iosonde").trim();
    parse_as(arranged(T::command(), path), words)
}

fn parse_as<T: FromArgMatches>(mut command: Command, words: &[OsString]) -> Result<T, Failure> {
    let found = command.try_get_matches_from_mut(words);
    let found = found.and_then(|matches| T::from_arg_matches(&matches));
    found.or_else(|error| match foreign::answer(&error, &command, words) {
        Some(text) => Err(Failure::WrongUsage(text)),
        None => error.exit(),
    })
}

/// `iosonde help`
#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// The command, such as `run` or `history compare`
    #[arg(value_name = "COMMAND")]
    pub words: Vec<OsString>,
}

/// Shows the help of a command, as its `--help` does. Commands with a grammar of their own show it
/// when they are carried out.
pub(crate) fn help(
    args: &HelpArgs,
    execute: impl FnOnce(&Arguments) -> Result<Outcome, Failure>,
) -> Result<Outcome, Failure> {
    let program = [OsString::from("iosonde")];
    let asked = [OsString::from("--help")];
    let words = program.iter().chain(&args.words).chain(&asked);
    execute(&parse(&words.cloned().collect::<Vec<_>>())?)
}
