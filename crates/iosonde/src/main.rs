//! The command line of iosonde: arguments in, calls out.

mod args;
mod commands;
mod conducting;
mod config;
mod exit;
mod experiment;
mod language;
mod recording;
mod signals;
mod targets;
mod usage;

use std::process::ExitCode;

fn main() -> ExitCode {
    report::zone::set_of_system();
    let outcome = usage::parse(&flags::arguments()).and_then(|arguments| {
        let stop = signals::install().map_err(exit::Failure::from)?;
        commands::execute(&arguments.command, &stop)
    });
    exit::report(outcome)
}
