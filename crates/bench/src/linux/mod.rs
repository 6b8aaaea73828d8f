//! The benchmarks on Linux.

mod exact;
mod files;
mod machine;
mod own;
mod peers;
mod table;
mod tools;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use self::table::Row;

/// What a benchmark could not do, in words.
type Error = Box<dyn std::error::Error>;

/// What iosonde itself costs.
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

    /// Where the table is written
    #[arg(long, global = true, value_name = "FILE", default_value = "docs/performance.md")]
    output: PathBuf,
}

/// The program.
pub(crate) fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let iosonde = tools::find_iosonde(arguments.iosonde);
    let rows = iosonde.and_then(|iosonde| match arguments.command {
        Some(Command::Exact) => exact::run(&iosonde),
        Some(Command::Peers) | None => peers::run(&iosonde, &arguments.peers),
    });
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
