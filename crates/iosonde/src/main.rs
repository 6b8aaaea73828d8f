//! The command line of iosonde: arguments in, calls out.

mod args;
mod assess;
mod commands;
mod conducting;
mod dialect;
mod exit;
mod experiment;
mod history;
mod inspect;
mod knee;
mod loads;
mod monitor;
mod name;
mod plans;
mod recording;
mod repeat;
mod report;
mod run;
mod scale;
mod schema;
mod serve;
mod signals;
mod sizes;
mod sqliosim;
mod sweep;
mod targets;
mod validate;

use std::process::ExitCode;

use args::Arguments;
use jobs::files;

fn main() -> ExitCode {
    let arguments = <Arguments as clap::Parser>::parse_from(name::arguments());
    let outcome = signals::install()
        .map_err(exit::Failure::from)
        .and_then(|stop| commands::execute(&arguments.command, &stop));
    exit::report(outcome)
}
