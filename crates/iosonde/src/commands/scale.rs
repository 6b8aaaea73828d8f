//! `iosonde scale`: each target alone, then more and more of them together.

use std::sync::atomic::AtomicBool;

use clap::Args;
use jobs::Plan;
use survey::ScaleOptions;
use workload::Stream;

use crate::args::StreamArgs;
use crate::exit::{Failure, Outcome};
use crate::experiment::{ExperimentArgs, stream};
use crate::targets::TargetArgs;

/// Enough in flight that a target shows what it can do, unless the user chooses another depth.
const DEPTH: u32 = 32;

/// `iosonde scale`
#[derive(Debug, Args)]
pub(crate) struct ScaleArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    #[command(flatten)]
    pub stream: StreamArgs,

    /// Also measure every pair of targets, to find which share something
    #[arg(long)]
    pub pairs: bool,

    #[command(flatten)]
    pub experiment: ExperimentArgs,
}

pub(crate) fn scale(args: &ScaleArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    args.experiment.conduct(&plan(args)?, &args.target, stop)
}

/// The plan that the flags make.
pub(crate) fn plan(args: &ScaleArgs) -> Result<Plan, Failure> {
    let options = ScaleOptions {
        setup: args.experiment.setup(&args.target)?,
        stream: stream(Stream { depth: DEPTH, ..Stream::default() }, &args.stream)?,
        pairs: args.pairs,
    };
    Ok(Plan::Scale(Box::new(options)))
}
