//! The command line of iosonde: arguments in, calls out.

mod args;
mod assess;
mod dialect;
mod diskspd;
mod display;
mod exit;
mod experiment;
mod files;
mod history;
mod iometer;
mod knee;
mod live;
mod loads;
mod name;
mod recording;
mod repeat;
mod report;
mod run;
mod scale;
mod screen;
mod serve;
mod signals;
mod sizes;
mod sqlio;
mod sqliosim;
mod sweep;
mod targets;
mod validate;

use std::process::ExitCode;

use args::{Arguments, Command};

fn main() -> ExitCode {
    let arguments = <Arguments as clap::Parser>::parse_from(name::arguments());
    let outcome =
        signals::install().map_err(exit::Failure::from).and_then(|stop| match arguments.command {
            Command::Run(run) => run::run(&run, &stop),
            Command::Assess(assess) => assess::assess(&assess, &stop),
            Command::Knee(knee) => knee::knee(&knee, &stop),
            Command::Sweep(sweep) => sweep::sweep(&sweep, &stop),
            Command::Sizes(args) => sizes::sizes(&args, &stop),
            Command::Scale(args) => scale::scale(&args, &stop),
            Command::Validate(args) => validate::validate(&args, &stop),
            Command::Workload(args) => loads::workload(&args),
            Command::Specs(args) => loads::specs(&args),
            Command::Report(args) => report::report(&args),
            Command::History(args) => history::history(&args, &stop),
            Command::Serve(args) => serve::serve(&args, &stop),
            Command::Diskspd(args) => diskspd::diskspd(&args, &stop),
            Command::Iometer(args) => iometer::iometer(&args, &stop),
            Command::Sqlio(args) => sqlio::sqlio(&args, &stop),
            Command::Sqliosim(args) => sqliosim::sqliosim(&args, &stop),
            Command::Schema { document } => run::print_schema(document),
        });
    exit::report(outcome)
}
