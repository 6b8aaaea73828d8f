//! Which part of the program does what was asked for.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::args::Command;
use crate::exit::{Failure, Outcome};
use crate::targets::ProgressForm;
use crate::{
    assess, history, inspect, knee, loads, monitor, plans, report, run, scale, serve, sizes, sweep,
    validate,
};

/// How a command that measures shows its progress; none for the others.
fn progress(command: &Command) -> Option<ProgressForm> {
    let conduct = match command {
        Command::Run(args) => &args.target.conduct,
        Command::Assess(args) => &args.target.conduct,
        Command::Knee(args) => &args.target.conduct,
        Command::Sweep(args) => &args.target.conduct,
        Command::Sizes(args) => &args.target.conduct,
        Command::Scale(args) => &args.target.conduct,
        Command::Validate(args) => &args.target.conduct,
        Command::Do(args) => &args.conduct,
        Command::Again(args) => &args.conduct,
        Command::Monitor(args) => return Some(args.progress),
        _ => return None,
    };
    Some(conduct.progress)
}

/// Does it.
pub(crate) fn execute(command: &Command, stop: &Arc<AtomicBool>) -> Result<Outcome, Failure> {
    // Before anything is said: a line of words among the events would end whoever reads them.
    if progress(command) == Some(ProgressForm::Json) {
        screen::speak_json();
    }
    match command {
        Command::Run(run) => run::run(run, stop),
        Command::Assess(assess) => assess::assess(assess, stop),
        Command::Inspect(args) => inspect::inspect(args),
        Command::Do(args) => plans::from_file(args, stop),
        Command::Again(args) => plans::repeat(args, stop),
        Command::Knee(knee) => knee::knee(knee, stop),
        Command::Sweep(sweep) => sweep::sweep(sweep, stop),
        Command::Sizes(args) => sizes::sizes(args, stop),
        Command::Scale(args) => scale::scale(args, stop),
        Command::Validate(args) => validate::validate(args, stop),
        Command::Monitor(args) => monitor::monitor(args, stop),
        Command::Workload(args) => loads::workload(args),
        Command::Specs(args) => loads::specs(args),
        Command::Report(args) => report::report(args),
        Command::History(args) => history::history(args, stop),
        Command::Serve(args) => serve::serve(args, stop),
        Command::Tool(tool) => tool.execute(stop),
        Command::Schema { document } => document.print(),
    }
}
