//! `iosonde history import`: results from files, each file as a whole or not at all.

use std::path::{Path, PathBuf};

use clap::Args;
use history::Imported;
use jobs::Importer;
use report::text::clean;
use screen::Display;
use workload::{plural, show_number};

use crate::exit::{Failure, Outcome, print};
use crate::recording::HistoryPlace;

/// At most so many notes on one file are shown; a long file may have one on each line.
const NOTES_SHOWN: usize = 20;
/// At most so many results of one file are named.
const RESULTS_SHOWN: usize = 20;

/// `iosonde history import`
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Exports of `iosonde history export`, results as `--json` prints them, results of SQLIO
    /// (text), DiskSpd (text, XML), fio (JSON, text) and IOMeter (CSV), recordings of iostat,
    /// sar -d and Performance Monitor (CSV), logs of SQLIOSim; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Combine the runs in a file of another tool into one sweep, with its charts
    ///
    /// The runs must be of one file or device each, such as a log of SQLIO over threads and depths;
    /// those on several become a sweep each. Example: iosonde history import --as-sweep log.txt
    #[arg(long)]
    pub as_sweep: bool,

    /// The interval of iostat's reports, where they have no times, as in `iostat -x 5`
    #[arg(long, value_name = "SECONDS")]
    pub interval: Option<f64>,
}

/// Imports the files in order. If one is refused, the ones before it stay.
pub(crate) fn import(args: &ImportArgs, place: &HistoryPlace) -> Result<Outcome, Failure> {
    if let Some(seconds) = args.interval.filter(|s| !(s.is_finite() && *s > 0.0 && *s <= 1e6)) {
        let text = format!("`--interval {seconds}`: give the seconds between two reports, as in 5");
        return Err(Failure::WrongUsage(text));
    }
    let mut into =
        Importer::new(place.place()?).as_sweep(args.as_sweep).with_interval(args.interval);
    let mut display = Display::new(false);
    for path in &args.files {
        let name = name(path);
        let words = format!("interrupted: nothing of `{name}` was imported");
        display.leaves_behind(Some(&words));
        // The message may quote the file.
        let refused = |e: jobs::ImportError| Failure::CannotRun(clean(&e.of(&name)));
        let imported = into.import(path).map_err(refused)?;
        show_notes(&name, &imported.notes);
        display.leaves_behind(None);
        print(&format!("{name}: {}\n", counts(imported.counts)))?;
        print(&several(&imported.results))?;
    }
    Ok(Outcome::Done)
}

fn show_notes(name: &str, notes: &[String]) {
    for note in notes.iter().take(NOTES_SHOWN) {
        eprintln!("{}", clean(&format!("{name}: {note}")));
    }
    if let more @ 1.. = notes.len().saturating_sub(NOTES_SHOWN) {
        eprintln!("{name}: {} more notes like these", show_number(more as f64));
    }
}

/// The results of a file, a line each, if there are several.
fn several(results: &[String]) -> String {
    if results.len() < 2 {
        return String::new();
    }
    let line = |result: &String| format!("  {}\n", clean(result));
    let mut lines: String = results.iter().take(RESULTS_SHOWN).map(line).collect();
    if let more @ 1.. = results.len().saturating_sub(RESULTS_SHOWN) {
        lines.extend(["  and ", &show_number(more as f64), " more\n"]);
    }
    lines
}

fn name(path: &Path) -> String {
    if path.as_os_str() == "-" { "stdin".to_owned() } else { path.display().to_string() }
}

fn counts(imported: Imported) -> String {
    let Imported { new, completed, already_there } = imported;
    let results = |count| plural(count, "result", "results");
    let mut parts = vec![format!("{} imported", results(new))];
    if completed > 0 {
        parts.push(format!("{} completed", results(completed)));
    }
    if already_there > 0 {
        parts.push(format!("{} there already", results(already_there)));
    }
    parts.join(", ")
}
