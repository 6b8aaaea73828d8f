//! The benchmarks on Linux.

mod exact;
mod faults;
mod files;
mod import;
pub(crate) mod machine;
mod own;
mod peers;
mod table;
mod tools;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use self::table::Row;
use crate::{accuracy, history, reports};

/// What a benchmark could not do, in words.
pub(crate) type Error = Box<dyn std::error::Error>;

/// What iosonde itself costs, and how right it is.
#[derive(Debug, Parser)]
#[command(name = "iosonde-bench", version)]
#[command(after_help = "Exit codes: 0 every limit holds; 1 one does not, or could not run.")]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    peers: PeersArgs,

    /// The program to measure [default: the one beside this, built first when run by cargo]
    #[arg(long, global = true, value_name = "PROGRAM")]
    iosonde: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Command {
    /// Count instructions and system calls for each I/O; under a minute
    Exact,
    /// Everything, in turns with fio, and write it down (the default)
    Peers,
    /// How long a history of a million measurements takes to answer; prints a table
    History(history::HistoryArgs),
    /// Where the answer is known: how far from it, and how sure of it
    Accuracy {
        /// Sections to print; all of them, written to the page, where none is named
        #[arg(value_name = "SECTION", value_parser = accuracy::names())]
        sections: Vec<String>,
    },
    /// What is found of the wrong data of a device whose faults are known, beside fio; writes docs/integrity.md
    Integrity,
    /// How long the report of 576 cells takes in each format, and how large it is; prints a table
    Reports,
    /// How long the import of 10,000 runs of SQLIO takes; prints a table
    Import(import::ImportArgs),
}

/// Flags of `peers`.
#[derive(Debug, Args)]
struct PeersArgs {
    /// Where the test files go; its file system receives the direct I/O [default: the system's temporary directory]
    #[arg(long, global = true, value_name = "DIRECTORY")]
    dir: Option<PathBuf>,

    /// Turns; at least 5
    #[arg(long, global = true, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(5..))]
    rounds: u32,

    /// Length of each run
    #[arg(long, global = true, value_name = "N", default_value_t = 2.0)]
    seconds: f64,

    /// Where the page is written [default: docs/performance.md, of `accuracy` docs/accuracy.md, of `integrity` docs/integrity.md, of `history` and `import` none]
    #[arg(long, global = true, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The program.
pub(crate) fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let peers = &arguments.peers;
    let iosonde = || tools::find_iosonde(arguments.iosonde);
    let rows = match arguments.command {
        Some(Command::Exact) => iosonde().and_then(|iosonde| exact::run(&iosonde)),
        Some(Command::Peers) | None => iosonde().and_then(|iosonde| peers::run(&iosonde, peers)),
        Some(Command::History(args)) => {
            let table = history::run(&args);
            table.and_then(|table| show_history(&table, peers.output.as_deref()))
        }
        Some(Command::Accuracy { sections }) => {
            accuracy::run(&sections, peers.output.as_deref()).map(|()| Vec::new())
        }
        Some(Command::Import(args)) => {
            iosonde().and_then(|iosonde| show_import(&iosonde, &args, peers.output.as_deref()))
        }
        Some(Command::Integrity) => faults::run(peers.output.as_deref()).and_then(|holds| {
            if holds { Ok(Vec::new()) } else { Err("iosonde missed or misnamed something".into()) }
        }),
        Some(Command::Reports) => reports::run().and_then(|(table, holds)| {
            write!(std::io::stdout(), "{table}")?;
            if holds {
                Ok(Vec::new())
            } else {
                Err("a report is slower or larger than it may be".into())
            }
        }),
    };
    match rows {
        Ok(rows) => {
            let shown = write!(std::io::stdout(), "{}", table::text(&rows));
            let held = rows.iter().all(Row::holds) && shown.is_ok();
            if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("iosonde-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the figures of the history, and writes them to a page where one is named.
fn show_history(table: &str, output: Option<&Path>) -> Result<Vec<Row>, Error> {
    write!(std::io::stdout(), "{table}")?;
    output.map_or(Ok(()), |output| history::write(table, output))?;
    Ok(Vec::new())
}

/// Prints the figures of the import, and writes them to a page where one is named.
fn show_import(
    iosonde: &Path,
    args: &import::ImportArgs,
    output: Option<&Path>,
) -> Result<Vec<Row>, Error> {
    let (table, holds) = import::run(iosonde, args)?;
    write!(std::io::stdout(), "{table}")?;
    output.map_or(Ok(()), |output| import::write(&table, args.times, output))?;
    if holds { Ok(Vec::new()) } else { Err("the import takes longer than it may".into()) }
}
