//! The answer to a flag of fio, DiskSpd or SQLIO that iosonde does not have.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use dialects::habits::{self, Answer};

/// The hint for a refused flag that belongs to another tool; `None` for others.
#[must_use]
pub fn answer(error: &clap::Error, command: &Command, words: &[OsString]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(refused)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let words: Vec<&str> = words.iter().skip(1).map_while(|word| word.to_str()).collect();
    let words = words.split(|word| *word == "--").next().unwrap_or_default();
    let typed = Typed::of(command, words);
    let found: Vec<(&str, &str, String)> =
        words.iter().enumerate().filter_map(|(at, _)| typed.at(words, at)).collect();
    // The words that stopped it must be among those that are known.
    let name = refused.split('=').next().unwrap_or_default();
    found.iter().find(|(_, flag, _)| *flag == name)?;
    let mut lines: Vec<String> = found.iter().map(|(.., line)| line.clone()).collect();
    let several = |tool: &str| found.iter().filter(|(of, ..)| *of == tool).count() > 1;
    if several("fio") {
        lines.push("`iosonde run --workload FILE` runs a job file of fio as it is".to_owned());
    }
    if several("DiskSpd") {
        lines.push("`iosonde diskspd …` takes DiskSpd's own command line".to_owned());
    }
    if several("SQLIO") {
        lines.push("`iosonde sqlio …` takes SQLIO's own command line".to_owned());
    }
    Some(lines.join("\n"))
}

/// The command line that was typed.
struct Typed<'a> {
    command: &'a Command,
    path: String,
}

impl<'a> Typed<'a> {
    /// The innermost command that the words name.
    fn of(command: &'a Command, words: &[&str]) -> Self {
        let mut typed = Self { command, path: "iosonde".to_owned() };
        for word in words {
            if let Some(sub) = typed.command.find_subcommand(word) {
                typed = Self { command: sub, path: format!("{} {word}", typed.path) };
            }
        }
        typed
    }

    fn has_long(&self, long: &str) -> bool {
        self.command.get_arguments().any(|arg| arg.get_long() == Some(long))
    }

    fn has_short(&self, letter: char) -> bool {
        letter == 'h' || self.command.get_arguments().any(|arg| arg.get_short() == Some(letter))
    }

    /// Whose word this is, as it was typed, and what to say; `None` if it is ours or nobody's.
    fn at<'w>(&self, words: &[&'w str], at: usize) -> Option<(&'static str, &'w str, String)> {
        let word = *words.get(at)?;
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, words.get(at + 1).copied().filter(|next| !next.starts_with('-'))),
            };
            if self.has_long(name) {
                return None;
            }
            let said = self.said("fio", &word[..name.len() + 2], habits::fio(name, value)?);
            return Some(("fio", &word[..name.len() + 2], said));
        }
        let letter = word.strip_prefix('-')?.chars().next()?;
        if self.has_short(letter) {
            return None;
        }
        let (flag, joined) = word.split_at(1 + letter.len_utf8());
        let next = || words.get(at + 1).filter(|next| next.starts_with(|c: char| c.is_numeric()));
        let value = if joined.is_empty() { next().copied().unwrap_or_default() } else { joined };
        let (tool, answer) = habits::letter(letter, value)?;
        Some((tool, flag, self.said(tool, flag, answer)))
    }

    fn said(&self, tool: &str, word: &str, answer: Answer) -> String {
        let flags = match answer {
            Answer::Note(note) => return format!("{tool}'s `{word}` {note}"),
            Answer::Flags(flags) => flags,
        };
        let plural = |name: &str| format!("{name}s");
        let ours: Vec<(String, Option<String>)> = flags
            .iter()
            .map(|(name, value)| {
                let is_list = !self.has_long(name) && self.has_long(&plural(name));
                (if is_list { plural(name) } else { (*name).to_owned() }, value.clone())
            })
            .collect();
        let names: Vec<String> = ours.iter().map(|(name, _)| format!("`--{name}`")).collect();
        let names = names.join(" and ");
        if let Some((name, _)) = ours.iter().find(|(name, _)| !self.has_long(name)) {
            return format!(
                "{tool}'s `{word}` is {names} of `iosonde run`; `{}` has no `--{name}`",
                self.path
            );
        }
        let is_whole = ours.iter().any(|(_, value)| value.is_some());
        let words: Vec<String> = ours
            .iter()
            .map(|(name, value)| match value {
                Some(value) => format!("--{name} {value}"),
                None => format!("--{name}"),
            })
            .collect();
        let write = if is_whole { format!(": write `{}`", words.join(" ")) } else { String::new() };
        format!("{tool}'s `{word}` is {names} here{write}")
    }
}
