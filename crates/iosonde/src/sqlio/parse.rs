//! `iosonde sqlio parse`: the table of the SQLIO-Parse scripts.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;

use clap::Parser;
use dialects::sqlio::{COLUMNS, csv, readings, row};
use report::text::{Table, clean};

use super::input::{RESULTS_BYTES_MAX, text_of};
use crate::exit::{Failure, Outcome, print};
use crate::files::{claim, write_whole};
use screen::Display;

/// Shows every run in files of SQLIO's output as a line of a table, with the columns of the
/// SQLIO-Parse scripts
#[derive(Debug, Parser)]
#[command(name = "iosonde sqlio parse")]
struct ParseArgs {
    /// Logs, console captures, pasted text
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write the table as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// No messages but errors
    #[arg(long)]
    quiet: bool,
}

/// Runs the command.
pub(super) fn parse(tokens: &[OsString]) -> Result<Outcome, Failure> {
    let name = OsString::from("iosonde sqlio parse");
    let args = ParseArgs::try_parse_from(std::iter::once(&name).chain(tokens))
        .unwrap_or_else(|e| e.exit());
    let mut display = Display::new(args.quiet);
    let mut rows = Vec::new();
    for path in &args.files {
        let shown = path.display();
        let text = text_of(path, RESULTS_BYTES_MAX)
            .map_err(|e| Failure::CannotRun(format!("`{shown}`: {e}")))?;
        let (readings, notes) = readings(&text);
        if readings.is_empty() {
            return Err(Failure::CannotRun(format!(
                "`{shown}` has no run of SQLIO: none of its lines begins with `sqlio v`"
            )));
        }
        for note in notes {
            display.message(&clean(&format!("note: `{shown}`, {note}")));
        }
        for reading in readings {
            if let Some(missing) = reading.missing {
                let line = reading.line;
                display.message(&format!(
                    "note: `{shown}`, line {line}: the run is incomplete, {missing} is missing"
                ));
            }
            rows.push(row(&reading.printout));
        }
    }
    if let Some(path) = &args.csv {
        let failed = |e| Failure::CannotRun(format!("cannot write `{}`: {e}", path.display()));
        claim(path, "table of SQLIO's results", is_table).map_err(failed)?;
        write_whole(path, csv(&rows)).map_err(failed)?;
    }
    let mut table = Table::new(1, &COLUMNS);
    for row in &rows {
        table.row(row.iter().map(|cell| clean(cell)).collect());
    }
    print(&table.show())?;
    Ok(Outcome::Done)
}

/// Whether a file is such a table.
fn is_table(file: fs::File) -> std::io::Result<bool> {
    let head = COLUMNS.join(",");
    let mut found = Vec::new();
    file.take(head.len() as u64).read_to_end(&mut found)?;
    Ok(found == head.as_bytes())
}
