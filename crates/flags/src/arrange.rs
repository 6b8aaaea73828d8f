//! Letters of flags, which are the same in every command, and the order of the help: the flags that
//! most people need first, then the others under headings.

use clap::{Arg, Command};

use crate::{examples, values};

/// Flags with a letter. `-d` is a length of time, as in DiskSpd and SQLIOSim; `-b`, `-t` and `-w`
/// are as in DiskSpd, too. A depth has no letter, because `-o` is where output goes.
pub const LETTERS: [(&str, char); 10] = [
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
pub const COMMON: [(&str, &str); 18] = [
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
    ("replay", "from to users speed as-timed closed dependent map size destroy keep json"),
    ("fit", "device limit growth from to seconds size destroy keep json"),
    ("monitor", "interval seconds live alert database csv json name"),
    ("do", "dry-run destroy keep allow-command tag json"),
    ("baseline", "pace for size tag renew destroy dry-run json history"),
    ("again", "anyway dry-run destroy keep allow-command tag json"),
    ("iometer", "config results manager drive size seconds destroy dry-run json"),
    ("sqlio", "drive size destroy dry-run json"),
    ("sqliosim", "drive destroy dry-run json"),
    ("diskspd", "drive also destroy dry-run json"),
];

/// The flags that are not common, by their headings.
pub const HEADINGS: [(&str, &str); 7] = [
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
         continue rereads resize stamp timeout renew \
         as-timed closed dependent speed loop map device limit growth",
    ),
    ("Hosts", "manager site ssh-command agent"),
    ("Target", "size log log-size sparse destroy keep overfill drive engine sim seed"),
    (
        "Output",
        "report language json json-lines csv also results overwrite workers targets quiet live \
         progress \
         metrics token-file dry-run print-plan print-workload list-presets",
    ),
    ("History", "tag name no-history history"),
];

/// The names of the flags in a list.
pub fn names(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_whitespace()
}

/// A command with letters, headings, examples and values as all of them have them. The path is its
/// name after `iosonde`.
#[must_use]
pub fn arranged(mut command: Command, path: &str) -> Command {
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
        // A changed flag comes last: so the headings have their order.
        command = command.mut_arg(id, |arg| {
            arg.display_order(order).help_heading(heading).hide_short_help(true)
        });
    }
    // Headings that a command brings along stay after ours.
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
