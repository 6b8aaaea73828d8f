//! `iosonde workload`: converts workloads between the files of iosonde and of other tools.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use dialects::convert::{TOML, kind, kinds, listed};
use dialects::drives::Drive;
use dialects::{DIALECTS, WorkloadFile};
use jobs::{Conversion, Converted};

use crate::args::OverwriteArgs;
use crate::exit::{Failure, Outcome, print};
use screen::Display;

/// `iosonde workload`
#[derive(Debug, Args)]
pub(crate) struct WorkloadArgs {
    #[command(subcommand)]
    command: WorkloadCommand,
}

/// What to do with a file that holds a workload.
#[derive(Debug, Subcommand)]
enum WorkloadCommand {
    #[command(about = format!("Convert between {}", listed(kinds().map(|kind| kind.files))))]
    Convert(ConvertArgs),
}

/// `iosonde workload convert`
#[derive(Debug, Args)]
struct ConvertArgs {
    /// A file of any of these kinds; iosonde recognises it by its content
    #[arg(value_name = "FILE")]
    input: PathBuf,

    /// Write to this file, which must not exist yet; by default stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Kind of the file, if its content does not tell
    #[arg(long, value_name = "KIND", value_parser = kind_parser())]
    from: Option<&'static WorkloadFile>,

    /// Kind to convert to [default: by the extension of `--output`, else toml]
    #[arg(long, value_name = "KIND", value_parser = kind_parser())]
    to: Option<&'static WorkloadFile>,

    /// Which of several runs of a file: jobs between stonewalls, time spans, steps of IOMeter's
    /// cycle. `all` writes each to a separate file, with its number before the extension
    /// [default: 1]
    #[arg(long, value_name = "N|all")]
    step: Option<String>,

    /// Exit with code 1 if the conversion loses anything
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    overwrite: OverwriteArgs,

    /// Map a drive or disk of Windows to a place: E=/mnt/e, 1=/dev/sdb
    #[arg(long, value_name = "NAME=PLACE")]
    drive: Vec<Drive>,
}

/// What the command does, with the kinds of files that it knows.
pub(crate) fn about() -> String {
    let tools = DIALECTS.iter().rev().filter(|tool| tool.workloads.is_some());
    let tools = listed(tools.map(|tool| tool.title));
    format!("Convert workloads between iosonde's files and those of {tools}")
}

/// Kinds by their names on the command line.
fn kind_parser() -> impl clap::builder::TypedValueParser<Value = &'static WorkloadFile> {
    let values = kinds().map(|kind| PossibleValue::new(kind.word).help(kind.about));
    // The parser of the flag refuses other words.
    PossibleValuesParser::new(values).map(|word| kind(&word).unwrap_or(&TOML))
}

pub(crate) fn workload(args: &WorkloadArgs) -> Result<Outcome, Failure> {
    let WorkloadCommand::Convert(args) = &args.command;
    let conversion = Conversion {
        input: args.input.clone(),
        output: args.output.clone(),
        from: args.from,
        to: args.to,
        step: args.step.clone(),
        overwrite: args.overwrite.overwrite,
        drives: args.drive.clone(),
    };
    let Converted { texts, lost } = conversion.convert()?;
    let mut display = Display::new(false);
    for what in &lost {
        display.message(&format!("lost: {what}"));
    }
    for text in &texts {
        match &text.output {
            None => print(&text.text)?,
            Some(path) => conversion.write(path, &text.text)?,
        }
    }
    if args.strict && !lost.is_empty() {
        let lines = if lost.len() == 1 { "line names" } else { "lines name" };
        let text = format!("{} {lines} what is lost, and --strict was asked for", lost.len());
        return Err(Failure::CannotRun(text));
    }
    Ok(Outcome::Done)
}
