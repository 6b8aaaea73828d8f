//! The command line of iosonde: arguments in, calls out.

mod args;
mod commands;
mod conducting;
mod config;
mod exit;
mod experiment;
mod language;
mod recording;
mod secrets;
mod signals;
mod targets;
mod usage;

use std::process::ExitCode;

use jobs::files;

fn main() -> ExitCode {
    report::zone::set_of_system();
    let words = flags::arguments();
    let outcome = secrets::check(&words).and_then(|()| {
        let arguments = usage::parse(&words)?;
        let stop = signals::install().map_err(exit::Failure::from)?;
        commands::execute(&arguments.command, &stop)
    });
    exit::report(outcome)
}
