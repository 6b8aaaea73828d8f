//! How a command line is read: the flags of all commands, arranged for people, and the error for
//! anything else.

use std::ffi::OsString;

use clap::{Args, Command, CommandFactory, FromArgMatches, Parser};

use crate::commands::Arguments;
use crate::exit::{Failure, Outcome};

/// The whole command line of the program, arranged for people.
pub(crate) fn command() -> Command {
    flags::arranged(Arguments::command(), "")
}

/// Reads the command line. `--help` and wrong flags end the program here.
pub(crate) fn parse(words: &[OsString]) -> Result<Arguments, Failure> {
    parse_as(command(), words)
}

/// The same for the flags of a command with another grammar.
pub(crate) fn parse_part<T: Parser>(name: &str, words: &[OsString]) -> Result<T, Failure> {
    let path = name.trim_start_matches("iosonde").trim();
    parse_as(flags::arranged(T::command(), path), words)
}

fn parse_as<T: FromArgMatches>(mut command: Command, words: &[OsString]) -> Result<T, Failure> {
    let found = command.try_get_matches_from_mut(words);
    let found = found.and_then(|matches| T::from_arg_matches(&matches));
    found.or_else(|error| match flags::answer(&error, &command, words) {
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
    execute(&parse_words(args.words.iter().cloned().chain(["--help".into()]))?)
}

/// Reads a command line that does not begin with the name of the program.
fn parse_words(words: impl IntoIterator<Item: Into<OsString>>) -> Result<Arguments, Failure> {
    let words = words.into_iter().map(Into::into);
    parse(&std::iter::once("iosonde".into()).chain(words).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    use flags::{COMMON, EXAMPLES, HEADINGS, LETTERS, names};

    fn each(command: &Command, path: &str, look: &mut impl FnMut(&Command, &str)) {
        look(command, path);
        for sub in command.get_subcommands() {
            each(sub, format!("{path} {}", sub.get_name()).trim_start(), look);
        }
    }

    /// A flag that is in no list would be first in the help, as `--destroy` was.
    #[test]
    fn every_flag_of_a_command_with_many_is_in_a_list() {
        let mut seen = Vec::new();
        each(&command(), "", &mut |command, path| {
            let Some((_, common)) = COMMON.iter().find(|(name, _)| *name == path) else { return };
            let common: Vec<&str> = names(common).collect();
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let Some(long) = arg.get_long() else { continue };
                let is_placed = common.contains(&long) || arg.get_help_heading().is_some();
                assert!(is_placed, "`iosonde {path}` has `--{long}`, which is in no list");
                seen.push(long.to_owned());
            }
            for long in common {
                let mut all = command.get_arguments();
                let is_there = all.any(|arg| arg.get_long() == Some(long));
                let is_tool = dialects::DIALECTS.iter().any(|dialect| dialect.name == path);
                assert!(is_there || is_tool, "`iosonde {path}` has no `--{long}`");
            }
        });
        for long in HEADINGS.iter().flat_map(|(_, all)| names(all)) {
            let is_tools = ["also"].contains(&long);
            assert!(is_tools || seen.iter().any(|name| name == long), "no command has `--{long}`");
        }
    }

    /// A letter that means another thing elsewhere is typed wrong some day.
    #[test]
    fn a_letter_is_the_same_flag_in_every_command() {
        each(&command(), "", &mut |command, path| {
            let tool = path.split(' ').next().unwrap_or_default();
            if dialects::DIALECTS.iter().any(|dialect| dialect.name == tool) {
                return;
            }
            for arg in command.get_arguments() {
                let (Some(letter), Some(long)) = (arg.get_short(), arg.get_long()) else {
                    continue;
                };
                let known = LETTERS.contains(&(long, letter));
                assert!(known, "`iosonde {path}`: -{letter} is --{long}");
            }
            for (long, letter) in LETTERS {
                let mut all = command.get_arguments().filter(|arg| arg.get_long() == Some(long));
                assert!(all.all(|arg| arg.get_short() == Some(letter)), "{path}: --{long}");
            }
        });
    }

    /// Words as a shell has them, up to a pipe or a file.
    fn words(line: &str) -> Vec<String> {
        let (mut all, mut word, mut quoted) = (Vec::new(), String::new(), false);
        for c in line.chars().chain([' ']) {
            match c {
                '"' => quoted = !quoted,
                '>' | '|' if !quoted => break,
                ' ' if !quoted => all.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
                c => word.push(c),
            }
        }
        all
    }

    #[test]
    fn every_command_has_an_example_that_can_be_typed() {
        let command = command();
        each(&command, "", &mut |command, path| {
            assert!(
                command.is_hide_set() || EXAMPLES.iter().any(|(name, _)| *name == path),
                "`iosonde {path}` has none"
            );
        });
        for (path, lines) in EXAMPLES {
            for line in lines {
                let words = words(line);
                let read = command.clone().try_get_matches_from(&words);
                assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
                let is_of =
                    words[1..].join(" ").starts_with(path) || path == "do" || path == "again";
                assert!(is_of, "{line} is not an example of `{path}`");
            }
        }
    }

    /// A name in the list without a command behind it would only be found by who calls it.
    #[test]
    fn every_tool_with_a_command_line_is_a_command() {
        let command = command();
        for dialect in dialects::DIALECTS {
            let is_command = command.find_subcommand(dialect.name).is_some();
            assert_eq!(is_command, dialect.is_command, "{}", dialect.name);
        }
    }
}
