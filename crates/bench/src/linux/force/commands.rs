//! The commands that write, with the file that each one writes.

use std::path::Path;

/// What a command does with its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writes {
    /// Makes I/O on it: a test file, or what the user gives up.
    Target,
    /// Writes it once.
    Output,
    /// Appends to it, or keeps its own state in it.
    Log,
    /// Removes what an earlier run left, or continues it.
    Removes,
}

/// A command, with the file that is attacked.
#[derive(Debug)]
pub(super) struct Attacked {
    pub writes: Writes,
    /// The name of the file in the directory of an attempt.
    pub file: &'static str,
    /// Arguments: `{}` is the file, `{dir}` its directory, `{in}` the directory of inputs.
    pub words: &'static str,
    /// Arguments that permit to overwrite a foreign file; empty if no flag does.
    permit: &'static str,
    /// Whether its history with an unfinished experiment lies next to the file.
    pub continues: bool,
}

/// A line each: kind, file, arguments.
const COMMANDS: &str = include_str!("commands.txt");

/// All commands.
pub(super) fn all() -> Vec<Attacked> {
    let read = |line: &'static str| {
        let (kind, rest) = line.split_once(' ')?;
        let (file, words) = rest.trim_start().split_once(' ')?;
        let (writes, permit) = match kind {
            "target" => (Writes::Target, "--destroy {}"),
            // The host decides: its agent is started with `--allow-destroy`.
            "host" => (Writes::Target, "--ssh-command {in}/ssh-destroy"),
            "inside" => (Writes::Target, ""),
            "output" => (Writes::Output, "--overwrite"),
            "removes" => (Writes::Removes, ""),
            _ => (Writes::Log, ""),
        };
        Some(Attacked { writes, file, words: words.trim(), permit, continues: kind == "lock" })
    };
    COMMANDS.lines().filter_map(read).collect()
}

impl Attacked {
    /// Whether a flag permits to overwrite a foreign file.
    pub(super) fn has_permit(&self) -> bool {
        !self.permit.is_empty()
    }

    /// The command line for this file. A permit for a target ends with what the target holds.
    pub(super) fn line(&self, file: &Path, inputs: &Path, permit: Option<&str>) -> Vec<String> {
        let shown = |path: &Path| path.display().to_string();
        let filled = |word: &str| {
            let word = word.replace("{dir}", &shown(file.parent().unwrap_or(file)));
            word.replace("{in}", &shown(inputs)).replace("{}", &shown(file))
        };
        let mut line: Vec<String> = self.words.split(' ').map(filled).collect();
        if let Some(content) = permit {
            line.extend(self.permit.split(' ').map(filled));
            let ends = self.permit.ends_with("{}");
            line.last_mut().filter(|_| ends).into_iter().for_each(|word| word.push_str(content));
        }
        line
    }
}
