//! `iosonde sqlio parse`: the table of the SQLIO-Parse scripts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use dialects::sqlio::COLUMNS;
use jobs::sqlio::ResultTable;
use report::text::{Table, clean};

use crate::args::OverwriteArgs;
use crate::exit::{Failure, Outcome, print};
use crate::usage::parse_part;
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

    #[command(flatten)]
    overwrite: OverwriteArgs,

    /// Print no messages except errors
    #[arg(long)]
    quiet: bool,
}

pub(super) fn parse(tokens: &[OsString]) -> Result<Outcome, Failure> {
    let name = "iosonde sqlio parse";
    let words: Vec<OsString> =
        std::iter::once(OsString::from(name)).chain(tokens.iter().cloned()).collect();
    let args: ParseArgs = parse_part(name, &words)?;
    let table = ResultTable::of(&args.files)?;
    let mut display = Display::new(args.quiet);
    table.notes.iter().for_each(|note| display.message(&clean(note)));
    if let Some(path) = &args.csv {
        table.write_csv(path, args.overwrite.overwrite)?;
    }
    let mut shown = Table::new(1, &COLUMNS);
    for row in &table.rows {
        shown.row(row.iter().map(|cell| clean(cell)).collect());
    }
    print(&shown.show())?;
    Ok(Outcome::Done)
}
