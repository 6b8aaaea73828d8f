//! The command line of iosonde: arguments in, calls out.

mod args;
mod commands;
mod conducting;
mod config;
mod exit;
mod experiment;
mod language;
#[cfg(target_os = "linux")]
mod linux;
mod recording;
mod secrets;
mod signals;
mod targets;
mod usage;

use std::process::ExitCode;

fn main() -> ExitCode {
    report::zone::set_of_system();
    let words = flags::arguments();
    #[cfg(target_os = "linux")]
    linux::conceal(&words);
    let outcome = secrets::check(&words).and_then(|()| {
        let arguments = usage::parse(&words)?;
        let stop = signals::install().map_err(exit::Failure::from)?;
        commands::execute(&arguments.command, &stop)
    });
    exit::report(outcome)
}
