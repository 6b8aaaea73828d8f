//! Letters of flags, which are the same in every command, and the order of the help: the flags that
//! most people need first, then the others under headings.

use clap::{Arg, Command};

use super::{examples, values};

/// Flags with a letter. `-d` is a length of time, as in DiskSpd and SQLIOSim; `-b`, `-t` and `-w`
/// are as in DiskSpd, too. A depth has no letter, because `-o` is where output goes.
pub(super) const LETTERS: [(&str, char); 10] = [
    ("block", 'b'),
    ("blocks", 'b'),
    ("seconds", 'd'),
    ("size", 's'),
    ("threads", 't'),
    ("write", 'w'),
    ("writes", 'w'),
    ("json", 'j'),
    ("output", 'o'),
    ("quiet", 'q'),
];

/// The flags that the short help of a command shows, in this order. Commands that are not here have
/// few flags, and show all.
const COMMON: [(&str, &str); 15] = [
    ("assess", "pace for need expect size report destroy json"),
    ("run", "block pattern write threads depth seconds size rate workload destroy keep json"),
    ("knee", "block pattern write threads size from to latency-target destroy keep json"),
    (
        "sweep",
        "preset list-presets blocks patterns writes threads depths seconds size resume destroy csv",
    ),
    ("sizes", "sizes block pattern threads depth destroy keep json"),
    ("scale", "pairs block pattern write threads depth size destroy json"),
    ("matrix", "levels cell-seconds block threads depth size destroy json"),
    ("validate", "for seconds size users threads log destroy durability json"),
    ("monitor", "interval seconds live alert database csv json name"),
    ("do", "dry-run destroy keep tag json"),
    ("again", "anyway dry-run destroy keep tag json"),
    ("iometer", "config results drive size seconds destroy dry-run json"),
    ("sqlio", "drive size destroy dry-run json"),
    ("sqliosim", "drive destroy dry-run json"),
    ("diskspd", "drive also destroy dry-run json"),
];

/// What is not common, by its heading.
const HEADINGS: [(&str, &str); 6] = [
    (
        "Load",
        "workload spec preset plan block blocks page pattern patterns stride random distribution \
         align offset span write writes threads depth depths users update content durable \
         sync-every sync-call hardening buffered direct mapped rate rate-mib arrival think burst \
         cpus priority wait on-error",
    ),
    (
        "Length and precision",
        "seconds warmup precision at-least interval settle count cell-seconds fill-seconds \
         pass-seconds checkpoint",
    ),
    (
        "Procedure",
        "repeat alternate baseline together shuffle adaptive resume pairs levels sizes from to \
         link latency-target iops class limits need expect volumes all attach config ledger clean \
         continue rereads resize stamp timeout",
    ),
    ("Target", "size log log-size sparse destroy keep overfill drive engine sim seed"),
    (
        "Output",
        "report language json json-lines csv also results workers targets quiet live progress \
         metrics dry-run print-plan print-workload list-presets",
    ),
    ("History", "tag name no-history history"),
];

fn names(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_whitespace()
}

/// A command with letters, headings, examples and values as all of them have them. The path is its
/// name after `iosonde`.
pub(crate) fn arranged(mut command: Command, path: &str) -> Command {
    for sub in command.get_subcommands_mut() {
        let path = format!("{path} {}", sub.get_name());
        *sub = arranged(std::mem::take(sub), path.trim_start());
    }
    let tool = path.split(' ').next().unwrap_or_default();
    let is_ours = dialects::DIALECTS.iter().all(|dialect| dialect.name != tool);
    command = command.mut_args(|arg| {
        let arg = values::read(arg);
        if is_ours { lettered(arg) } else { arg }
    });
    let command = match COMMON.iter().find(|(name, _)| *name == path) {
        Some((_, common)) => ordered(command, common),
        None => command,
    };
    examples::with(command, path)
}

fn lettered(arg: Arg) -> Arg {
    let letter = LETTERS.iter().find(|(long, _)| arg.get_long() == Some(long));
    match letter {
        Some((_, letter)) if arg.get_short().is_none() => arg.short(*letter),
        _ => arg,
    }
}

/// The short help has the first sentence, the long help all of them.
fn briefly(arg: Arg) -> Arg {
    let Some(help) = arg.get_help().map(ToString::to_string) else { return arg };
    let long = arg.get_long_help().map_or_else(|| help.clone(), ToString::to_string);
    let Some(end) = [". ", "; "].iter().filter_map(|mark| help.find(mark)).min() else {
        return arg;
    };
    // A default is not a sentence that can be left out.
    let default = help.find(" [default").filter(|at| *at > end).map_or("", |at| &help[at..]);
    let first = format!("{}{default}", &help[..end]);
    arg.help(first).long_help(long)
}

/// Common flags first, the others under headings that only the long help shows.
fn ordered(mut command: Command, common: &'static str) -> Command {
    let common: Vec<&str> = names(common).collect();
    let flags: Vec<(String, String)> = command
        .get_arguments()
        .filter(|arg| arg.get_help_heading().is_none())
        .filter_map(|arg| Some((arg.get_long()?.to_owned(), arg.get_id().to_string())))
        .collect();
    let id = |long: &str| flags.iter().find(|(name, _)| name == long).map(|(_, id)| id.clone());
    let mut order = 0;
    let mut next = move || {
        order += 1;
        order
    };
    for id in common.iter().filter_map(|long| id(long)) {
        let order = next();
        command = command.mut_arg(id, |arg| briefly(arg.display_order(order)));
    }
    let others =
        HEADINGS.iter().flat_map(|(heading, all)| names(all).map(move |long| (*heading, long)));
    for (heading, long) in others.filter(|(_, long)| !common.contains(long)) {
        let Some(id) = id(long) else { continue };
        let order = next();
        // What is changed comes last: so the headings have their order.
        command = command.mut_arg(id, |arg| {
            arg.display_order(order).help_heading(heading).hide_short_help(true)
        });
    }
    // Headings that a command brings along stay behind ours.
    let own: Vec<String> = command
        .get_arguments()
        .filter(|arg| arg.get_help_heading().is_some())
        .filter(|arg| !arg.get_long().is_some_and(|long| common.contains(&long)))
        .map(|arg| arg.get_id().to_string())
        .collect();
    for id in own {
        command = command.mut_arg(id, |arg| arg.hide_short_help(true));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

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
        each(&super::super::command(), "", &mut |command, path| {
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
        each(&super::super::command(), "", &mut |command, path| {
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
}
