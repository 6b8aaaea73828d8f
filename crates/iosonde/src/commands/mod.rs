//! The commands: what can be typed, and which function runs it.

mod assess;
mod baseline;
mod capture;
mod config;
pub(crate) mod dialect;
mod fleet;
mod history;
mod inspect;
mod knee;
pub(crate) mod loads;
mod manual;
mod matrix;
pub(crate) mod monitor;
pub(crate) mod plans;
pub(crate) mod repeat;
mod replay;
mod report;
pub(crate) mod run;
mod scale;
mod schema;
mod serve;
mod sizes;
mod sqliosim;
mod sweep;
pub(crate) mod validate;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::inspect::reading::OnlyReading;
use ::report::Language;
use ::report::language::speak;
use clap::{Parser, Subcommand};

use crate::args::{AssessArgs, RunArgs};
use crate::exit::{Failure, Outcome, Words};
use crate::targets::{ConductArgs, ProgressForm};
use crate::usage::{self, HelpArgs};

use baseline::BaselineArgs;
use capture::{CaptureArgs, CaptureCommand};
use config::ConfigArgs;
use dialect::ToolCommand;
use fleet::{AgentArgs, FleetCommand};
use history::HistoryArgs;
use inspect::InspectArgs;
use knee::KneeArgs;
use loads::{SpecsArgs, WorkloadArgs};
use manual::{CompletionsArgs, ManArgs};
use matrix::MatrixArgs;
use monitor::MonitorArgs;
use plans::{AgainArgs, DoArgs};
use report::ReportArgs;
use scale::ScaleArgs;
use schema::PublishedSchema;
use serve::ServeArgs;
use sizes::SizesArgs;
use sweep::SweepArgs;
use validate::ValidateArgs;

/// Find out what a storage system can do before you put a database on it.
#[derive(Debug, Parser)]
#[command(name = "iosonde", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = crate::exit::codes())]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure and judge the I/O patterns of a database, and write a report
    Assess(Box<AssessArgs>),
    /// Show how the storage is set up, and what of that matters for a database
    Inspect(InspectArgs),
    /// Find where one load saturates, and what the bottleneck is
    Knee(Box<KneeArgs>),
    /// Run one workload
    Run(Box<RunArgs>),
    /// Measure every combination of lists of patterns, sizes, threads and depths
    Sweep(Box<SweepArgs>),
    /// Run the same load over growing parts of a file and find the size of the cache
    Sizes(Box<SizesArgs>),
    /// Run the same load on each target alone, then on several together
    Scale(Box<ScaleArgs>),
    /// Measure reads and writes at combined rates, and find what writes cost readers
    Matrix(Box<MatrixArgs>),
    /// Run a simulated database and verify every page it reads
    Validate(Box<ValidateArgs>),
    /// Watch and record the system's counters: I/Os, bytes, latency and queues of devices, CPU,
    /// pressure
    Monitor(Box<MonitorArgs>),
    /// Run one load on many hosts, started at the same moment
    #[command(subcommand)]
    Fleet(FleetCommand),
    /// Carry out on this host what a coordinator sends, as far as the flags allow it
    Agent(Box<AgentArgs>),
    /// Record what a live system asks of its storage, import such traces, and show what they are
    /// like
    Capture(Box<CaptureArgs>),
    /// Replay a trace on other storage, and compare the latencies
    Replay(Box<replay::ReplayArgs>),
    /// Find how many times the load of a trace storage carries
    Fit(Box<replay::FitArgs>),
    /// Run a plan from a file, as `--print-plan` prints it
    Do(Box<DoArgs>),
    /// Repeat an earlier result exactly, and compare the new one with it
    Again(Box<AgainArgs>),
    /// Assess a place regularly: the first call measures a baseline, each later one compares
    Baseline(Box<BaselineArgs>),
    #[command(about = crate::commands::loads::about())]
    Workload(WorkloadArgs),
    /// List the standard loads that `--spec` takes, with their rows and their sources
    Specs(SpecsArgs),
    /// List, compare and manage past results
    History(Box<HistoryArgs>),
    /// Write results into one file: HTML, XLSX, CSV, Markdown or JSON
    Report(ReportArgs),
    /// Show the history in a browser
    Serve(Box<ServeArgs>),
    #[command(flatten)]
    Tool(ToolCommand),
    /// Show what is set in files and in the environment, and where
    Config(ConfigArgs),
    /// Show the help of a command, as its `--help` does
    Help(HelpArgs),
    /// Print the JSON Schema of a result document
    Schema {
        /// Which document
        document: PublishedSchema,
    },
    /// Print a script that lets a shell complete commands and flags
    Completions(CompletionsArgs),
    /// Print the manual page of a command, or write those of all
    Man(ManArgs),
}

/// The flags that commands which measure share; `None` for other commands.
fn conduct(command: &Command) -> Option<&ConductArgs> {
    Some(match command {
        Command::Run(args) => &args.target.conduct,
        Command::Assess(args) => &args.load.target.conduct,
        Command::Baseline(args) => &args.load.target.conduct,
        Command::Knee(args) => &args.target.conduct,
        Command::Sweep(args) => &args.target.conduct,
        Command::Sizes(args) => &args.target.conduct,
        Command::Scale(args) => &args.target.conduct,
        Command::Matrix(args) => &args.target.conduct,
        Command::Validate(args) => &args.target.conduct,
        Command::Replay(args) => &args.load.target.conduct,
        Command::Fit(args) => &args.load.target.conduct,
        Command::Fleet(command) => return command.conduct(),
        Command::Do(args) => &args.conduct,
        Command::Again(args) => &args.conduct,
        _ => return None,
    })
}

/// How a command that measures shows its progress; `None` for other commands.
fn progress(command: &Command) -> Option<ProgressForm> {
    match command {
        Command::Monitor(args) => Some(args.progress),
        other => conduct(other).map(|conduct| conduct.progress),
    }
}

/// The language in which a command shows results; English for commands that show none.
fn language(command: &Command) -> Language {
    let args = match command {
        Command::Report(args) => args.language,
        Command::Monitor(args) => args.language,
        Command::Capture(args) => match &args.command {
            Some(CaptureCommand::Show(args)) => args.language,
            _ => return Language::English,
        },
        Command::History(args) => return history::language(&args.command),
        // Threads that answer requests make the pages.
        Command::Serve(_) => return Language::English,
        other => match conduct(other) {
            Some(conduct) => conduct.language,
            None => return Language::English,
        },
    };
    args.language
}

pub(crate) fn execute(command: &Command, stop: &Arc<AtomicBool>) -> Result<Outcome, Failure> {
    speak(language(command), || execute_here(command, stop))
}

fn execute_here(command: &Command, stop: &Arc<AtomicBool>) -> Result<Outcome, Failure> {
    // Help works even if the settings are broken, because it helps to mend them.
    let needs_none =
        matches!(command, Command::Help(_) | Command::Man(_) | Command::Completions(_));
    if !needs_none {
        crate::config::checked()?;
    }
    // Before any message: a line of words among JSON events would break the program that reads
    // them.
    if progress(command) == Some(ProgressForm::Json) {
        screen::speak_json();
    }
    let _reading = only_reads(command).then(OnlyReading::begin);
    let outcome = carry_out(command, stop);
    outcome.map_err(|failure| failure.in_flags(words_of(command)))
}

/// Whether the user described the load in flags or in a file, for error messages.
fn words_of(command: &Command) -> Words {
    match command {
        Command::Run(args) if args.workload.is_some() => Words::Fields,
        Command::Sweep(args) if args.plan.is_some() => Words::Fields,
        Command::Sweep(_) => Words::Lists,
        Command::Validate(args) if args.config.is_some() => Words::Fields,
        Command::Do(_) | Command::Again(_) | Command::Tool(_) => Words::Fields,
        _ => Words::Flags,
    }
}

/// Whether a signal may end a command at once, because it leaves nothing that would have to be
/// ended in order. A history takes a whole import or nothing of it.
fn only_reads(command: &Command) -> bool {
    match command {
        Command::Inspect(_)
        | Command::Specs(_)
        | Command::Config(_)
        | Command::Schema { .. }
        | Command::Help(_) => true,
        Command::History(args) => args.command.only_reads(),
        Command::Capture(args) => matches!(args.command, Some(CaptureCommand::Show(_))),
        _ => false,
    }
}

fn carry_out(command: &Command, stop: &Arc<AtomicBool>) -> Result<Outcome, Failure> {
    match command {
        Command::Run(run) => run::run(run, stop),
        Command::Assess(assess) => assess::assess(assess, stop),
        Command::Inspect(args) => inspect::inspect(args),
        Command::Do(args) => plans::from_file(args, stop),
        Command::Again(args) => plans::repeat(args, stop),
        Command::Baseline(args) => baseline::baseline(args, stop),
        Command::Knee(knee) => knee::knee(knee, stop),
        Command::Sweep(sweep) => sweep::sweep(sweep, stop),
        Command::Sizes(args) => sizes::sizes(args, stop),
        Command::Scale(args) => scale::scale(args, stop),
        Command::Matrix(args) => matrix::matrix(args, stop),
        Command::Validate(args) => validate::validate(args, stop),
        Command::Monitor(args) => monitor::monitor(args, stop),
        Command::Fleet(command) => fleet::fleet(command, stop),
        Command::Agent(args) => fleet::agent(args, stop),
        Command::Capture(args) => capture::capture(args, stop),
        Command::Replay(args) => replay::replay(args, stop),
        Command::Fit(args) => replay::fit(args, stop),
        Command::Workload(args) => loads::workload(args),
        Command::Specs(args) => loads::specs(args),
        Command::Report(args) => report::report(args),
        Command::History(args) => history::history(args, stop),
        Command::Serve(args) => serve::serve(args, stop),
        Command::Tool(tool) => tool.execute(stop),
        Command::Schema { document } => document.print(),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
        Command::Config(args) => config::config(args),
        Command::Help(args) => usage::help(args, |asked| execute(&asked.command, stop)),
    }
}
