//! `iosonde inspect`: how the storage is set up, with findings.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use inspect::files::{Output, Seal};
use inspect::{Inspector, PlannedLoad, Request, Severity};

use crate::args::OverwriteArgs;
use crate::commands::run::json;
use crate::exit::{Failure, Outcome, print};

/// `iosonde inspect`
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Directories, files or block devices [default: all mounted file systems on block devices and
    /// all other disks]
    #[arg(value_name = "TARGET")]
    targets: Vec<PathBuf>,

    /// I/Os that will be in flight per target; iosonde then checks whether the queues on the way
    /// hold them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    depth: Option<u64>,

    /// Print the document (iosonde.inspection/1) instead of text
    #[arg(long)]
    json: bool,

    /// Leave out host names, serial numbers, ports, addresses and paths, for a copy to pass on
    #[arg(long)]
    redact: bool,

    /// Exit with code 4 if a finding has this severity or a higher one
    #[arg(long, value_name = "SEVERITY", value_enum)]
    fail_on: Option<SeverityArg>,

    /// On Windows, also write every answer of the system to this file, as docs/windows.md says
    #[arg(long, value_name = "FILE", hide = true)]
    record: Option<PathBuf>,

    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SeverityArg {
    /// Good to know
    Info,
    /// Costs speed or safety
    Warning,
    /// Not fit for a database
    Serious,
}

impl From<SeverityArg> for Severity {
    fn from(severity: SeverityArg) -> Self {
        match severity {
            SeverityArg::Info => Self::Info,
            SeverityArg::Warning => Self::Warning,
            SeverityArg::Serious => Self::Serious,
        }
    }
}

pub(crate) fn inspect(args: &InspectArgs) -> Result<Outcome, Failure> {
    let request = Request {
        targets: args.targets.clone(),
        asked: PlannedLoad { depth: args.depth },
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        made: jiff::Timestamp::now().to_string(),
    };
    let mut inspection = match &args.record {
        None => Inspector::new().inspection(&request),
        Some(file) => Inspector::new().record(&request, |recording| {
            Output::claim(file, Seal::None, args.overwrite.overwrite)?.write(recording)
        }),
    }
    .map_err(|e| Failure::CannotRun(e.to_string()))?;
    let met = args.fail_on.is_none_or(|limit| inspection.worst() < Some(limit.into()));
    if args.redact {
        inspection = report::redact::redact_inspection(&inspection)
            .map_err(|e| Failure::CannotRun(e.to_string()))?;
    }
    let text = if args.json { json(&inspection)? } else { report::text::inspection(&inspection) };
    print(&text)?;
    Ok(if met { Outcome::Done } else { Outcome::NotMet })
}
