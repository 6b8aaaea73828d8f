//! The benchmarks on Linux.

mod capturing;
mod checking;
mod clean;
mod exact;
mod faults;
mod files;
mod fleet;
mod force;
mod import;
pub(crate) mod machine;
mod own;
mod peers;
mod replay;
mod soak;
mod table;
mod tools;
mod watching;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use self::table::Row;
use crate::{accuracy, fuzz, history, reports};

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
    /// Count instructions and system calls per I/O; under a minute
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
    /// What is found of the wrong data of a device whose faults are known, next to fio; that
    /// nothing is found where nothing is wrong; what checking costs. Writes docs/integrity.md
    Integrity {
        /// Parts; all of them where none is named
        #[arg(value_name = "PART", value_enum)]
        parts: Vec<IntegrityPart>,

        /// How long the database works on each file system where nothing is wrong
        #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
        clean: f64,
    },
    /// How long the report of 576 cells takes in each format, and how large it is; prints a table
    Reports,
    /// How long the import of 10,000 runs of SQLIO takes; prints a table
    Import(import::ImportArgs),
    /// What a second of watching two hundred disks costs; prints a table
    Monitor,
    /// What `iosonde capture` costs the load that it records, by each method; prints a table
    Capture,
    /// How punctually a trace of 50,000 reads per second is replayed, next to fio; prints a table
    Replay,
    /// End 20 commands at random that record into one history: nothing may be lost, damaged or
    /// left. Prints a table
    Soak(soak::SoakArgs),
    /// What many hosts cost their coordinator, how soon losses are seen, start skew in network
    /// namespaces, and random faults. Prints tables
    Fleet(fleet::FleetArgs),
    /// Attack files of others with every command that writes; nothing foreign may change. Needs
    /// root. Writes a part of docs/destroy.md
    Force(force::ForceArgs),
    /// Give changed fixtures of every kind of input to what reads them: no panic, no abort, no
    /// hang, and at most 256 MiB for one
    Fuzz(fuzz::FuzzArgs),
}

/// The parts of `integrity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum IntegrityPart {
    /// Faults that are known
    Faults,
    /// File systems on which nothing is wrong, with kills
    Clean,
    /// Verified I/O next to unverified I/O, and next to fio
    Checking,
}

/// Flags of `peers`.
#[derive(Debug, Args)]
struct PeersArgs {
    /// Where the test files go; its file system receives the direct I/O [default: the system's
    /// temporary directory]
    #[arg(long, global = true, value_name = "DIRECTORY")]
    dir: Option<PathBuf>,

    /// Turns; at least 5
    #[arg(long, global = true, value_name = "N", default_value_t = 5, value_parser =
        clap::value_parser!(u32).range(5..))]
    rounds: u32,

    /// Length of each run
    #[arg(long, global = true, value_name = "N", default_value_t = 2.0)]
    seconds: f64,

    /// Where the page is written [default: docs/performance.md, of `accuracy` docs/accuracy.md, of
    /// `integrity` docs/integrity.md, of `history`, `import` and `monitor` none]
    #[arg(long, global = true, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Prints a text; an error where not all is well.
fn show(outcome: Result<(String, bool), Error>, otherwise: &str) -> Result<Vec<Row>, Error> {
    let (text, is_well) = outcome?;
    write!(std::io::stdout(), "{text}")?;
    if is_well { Ok(Vec::new()) } else { Err(otherwise.into()) }
}

/// Runs the program, and returns its exit code.
pub(crate) fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let peers = &arguments.peers;
    let iosonde = || tools::find_iosonde(arguments.iosonde.clone());
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
        Some(Command::Integrity { parts, clean }) => {
            let clean = std::time::Duration::from_secs_f64(clean.clamp(0.0, 1e6));
            integrity(&parts, clean, peers, &iosonde)
        }
        Some(Command::Soak(args)) => {
            let iosonde = tools::find_debug_iosonde(arguments.iosonde);
            iosonde.and_then(|iosonde| soak::run(&iosonde, &args))
        }
        Some(Command::Capture) => {
            let table = iosonde().and_then(|iosonde| capturing::run(&iosonde, peers));
            show(table, "recording costs more than it may")
        }
        Some(Command::Replay) => {
            let table = iosonde().and_then(|iosonde| replay::run(&iosonde, peers));
            show(table, "I/Os are issued too late")
        }
        Some(Command::Fleet(args)) => {
            let iosonde = || tools::find_debug_iosonde(arguments.iosonde.clone());
            show(fleet::run(&args, &iosonde), "a promise of docs/fleet.md does not hold")
        }
        Some(Command::Force(args)) => {
            let iosonde = tools::find_debug_iosonde(arguments.iosonde);
            let table = iosonde.and_then(|iosonde| force::run(&iosonde, &args, peers));
            show(table, "foreign files were harmed")
        }
        Some(Command::Monitor) => show_watching(peers.output.as_deref()),
        Some(Command::Reports) => {
            show(reports::run(), "a report is slower or larger than it may be")
        }
        Some(Command::Fuzz(args)) => {
            let iosonde = tools::find_debug_iosonde(arguments.iosonde);
            show(iosonde.and_then(|iosonde| fuzz::run(&args, &iosonde)), "inputs failed")
        }
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

/// Does the parts, and puts each into the page.
fn integrity(
    parts: &[IntegrityPart],
    time: std::time::Duration,
    peers: &PeersArgs,
    iosonde: &dyn Fn() -> Result<PathBuf, Error>,
) -> Result<Vec<Row>, Error> {
    let output = peers.output.as_deref().unwrap_or(Path::new("docs/integrity.md"));
    let wanted = |part| parts.is_empty() || parts.contains(&part);
    let mut failed = Vec::new();
    if wanted(IntegrityPart::Faults) && !faults::run(Some(output))? {
        failed.push("iosonde missed or misnamed something");
    }
    if wanted(IntegrityPart::Clean) {
        let (table, holds) = clean::run(&iosonde()?, time)?;
        write!(std::io::stdout(), "{table}")?;
        machine::put_apart(output, clean::HEADING, &clean::page(&table, time))?;
        if !holds {
            failed.push("iosonde raised an alarm where nothing is wrong");
        }
    }
    if wanted(IntegrityPart::Checking) {
        let (text, holds) = checking::run(&iosonde()?, peers)?;
        write!(std::io::stdout(), "{text}")?;
        machine::put_apart(output, checking::HEADING, &text)?;
        if !holds {
            failed.push("checking costs more than it may");
        }
    }
    if failed.is_empty() { Ok(Vec::new()) } else { Err(failed.join("; ").into()) }
}

/// Prints the figures of the history, and writes them to a page where one is named.
fn show_history(table: &str, output: Option<&Path>) -> Result<Vec<Row>, Error> {
    write!(std::io::stdout(), "{table}")?;
    output.map_or(Ok(()), |output| history::write(table, output))?;
    Ok(Vec::new())
}

/// Prints the figures of watching, and writes them to a page where one is named.
fn show_watching(output: Option<&Path>) -> Result<Vec<Row>, Error> {
    let (table, holds) = watching::run()?;
    write!(std::io::stdout(), "{table}")?;
    output.map_or(Ok(()), |output| watching::write(&table, output))?;
    if holds { Ok(Vec::new()) } else { Err("watching costs more than it may".into()) }
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
