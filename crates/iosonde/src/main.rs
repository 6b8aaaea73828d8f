//! The command line of iosonde: arguments in, calls out.

mod args;
mod commands;
mod conducting;
mod exit;
mod experiment;
mod language;
mod name;
mod recording;
mod signals;
mod targets;

use std::process::ExitCode;

use commands::Arguments;
use jobs::files;

fn main() -> ExitCode {
    let arguments = <Arguments as clap::Parser>::parse_from(name::arguments());
    let outcome = signals::install()
        .map_err(exit::Failure::from)
        .and_then(|stop| commands::execute(&arguments.command, &stop));
    exit::report(outcome)
}
