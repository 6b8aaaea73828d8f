//! `iosonde history tag|untag|note|delete`: what people add to results, and what they take away.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::Args;
use history::{Entry, History};
use report::text::clean;
use workload::plural;

use crate::exit::{Failure, Outcome, print};
use crate::recording::{failure, tag as name};

/// `iosonde history tag` and `untag`
#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// Which results: an id, the beginning of one, `latest` or @NAME
    #[arg(value_name = "RESULT")]
    pub result: String,

    /// The name
    #[arg(value_name = "NAME", value_parser = name)]
    pub name: String,
}

/// `iosonde history note`
#[derive(Debug, Args)]
pub(crate) struct NoteArgs {
    /// Which result: an id, the beginning of one, `latest`, or @NAME where one result has that tag
    #[arg(value_name = "RESULT")]
    pub result: String,

    /// The note to add [default: show the notes]
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
}

/// `iosonde history delete`
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// Which results: an id, the beginning of one, `latest` or @NAME
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<String>,

    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

pub(crate) fn tag(args: &TagArgs, history: &History) -> Result<Outcome, Failure> {
    each(args, history, |id| history.tag(id, &args.name), "has the tag", "had the tag before")
}

pub(crate) fn untag(args: &TagArgs, history: &History) -> Result<Outcome, Failure> {
    each(args, history, |id| history.untag(id, &args.name), "lost the tag", "has no tag")
}

fn each(
    args: &TagArgs,
    history: &History,
    change: impl Fn(&str) -> Result<bool, history::HistoryError>,
    changed: &str,
    same: &str,
) -> Result<Outcome, Failure> {
    for entry in history.select(&args.result).map_err(failure)? {
        let word = if change(&entry.id).map_err(failure)? { changed } else { same };
        print(&format!("{} {word} @{}\n", entry.id, args.name))?;
    }
    Ok(Outcome::Done)
}

/// Adds a note to a result, or shows its notes.
pub(crate) fn note(args: &NoteArgs, history: &History) -> Result<Outcome, Failure> {
    let mut entries = history.select(&args.result).map_err(failure)?;
    let (Some(entry), true) = (entries.pop(), entries.is_empty()) else {
        let text = format!(
            "`{}` names {} results, and a note is of one: name it by its id",
            args.result,
            entries.len() + 1
        );
        return Err(Failure::WrongUsage(text));
    };
    match &args.text {
        Some(text) if text.trim().is_empty() => {
            return Err(Failure::WrongUsage("an empty note says nothing".to_owned()));
        }
        Some(text) => history.note(&entry.id, text).map_err(failure)?,
        None => {
            for note in history.notes(&entry.id).map_err(failure)? {
                print(&format!(
                    "{}  {}\n",
                    report::text::moment(&note.written),
                    clean(&note.text)
                ))?;
            }
        }
    }
    Ok(Outcome::Done)
}

/// Deletes results, after asking.
pub(crate) fn delete(args: &DeleteArgs, history: &History) -> Result<Outcome, Failure> {
    let entries = history.select_all(&args.results).map_err(failure)?;
    if !args.yes && !agreed(&entries)? {
        print("nothing was deleted\n")?;
        return Ok(Outcome::Done);
    }
    for entry in &entries {
        // No other run may be working on it. The hold ends with this turn of the loop.
        let _hold = history.hold(&entry.id).map_err(failure)?;
        let deleted = history.delete(&entry.id).map_err(failure)?;
        let measurements = plural(deleted.measurements, "measurement", "measurements");
        print(&format!("deleted {} with {measurements}: {}\n", entry.id, describe(entry)))?;
    }
    Ok(Outcome::Done)
}

/// Asks on the terminal whether to delete.
fn agreed(entries: &[Entry]) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        let text = "deleting asks first, and there is no terminal to ask on: say `--yes`";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    let mut stderr = io::stderr().lock();
    for entry in entries {
        let measurements = plural(entry.measurements.into(), "measurement", "measurements");
        writeln!(stderr, "{} with {measurements}: {}", entry.id, describe(entry))?;
    }
    let what = plural(entries.len() as u64, "result", "results");
    write!(stderr, "delete {what} permanently? [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn describe(entry: &Entry) -> String {
    clean(&format!("{} of {}, {}", entry.kind, entry.targets, entry.title))
}
