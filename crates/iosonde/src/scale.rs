//! `iosonde scale`: each target alone, then more and more of them together.

use std::sync::atomic::AtomicBool;

use clap::Args;
use jobs::Plan;
use survey::ScaleOptions;
use workload::Stream;

use crate::args::StreamArgs;
use crate::conducting::conduct;
use crate::exit::{Failure, Outcome, print};
use crate::experiment::{ExperimentArgs, announce, dry_run, duration, stream};
use crate::plans::print_plan;
use crate::targets::TargetArgs;

/// Enough that a target shows what it can do, where nothing else is asked for.
const DEPTH: u32 = 32;

/// `iosonde scale`
#[derive(Debug, Args)]
pub(crate) struct ScaleArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    #[command(flatten)]
    pub stream: StreamArgs,

    /// Measure every pair of targets as well, to learn which share something
    #[arg(long)]
    pub pairs: bool,

    /// Print the plan as TOML on stdout and do nothing else; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    #[command(flatten)]
    pub experiment: ExperimentArgs,
}

/// Runs the command.
pub(crate) fn scale(args: &ScaleArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let options = ScaleOptions {
        setup: args.experiment.setup(&args.target)?,
        stream: stream(Stream { depth: DEPTH, ..Stream::default() }, &args.stream)?,
        pairs: args.pairs,
    };
    let count = survey::scale_measurements(&options)?;
    let duration = duration(count, &options.setup.timing, &options.stream, 0.0);
    if args.print_plan {
        return print_plan(&Plan::Scale(Box::new(options)));
    }
    if args.target.conduct.dry_run {
        print(&format!("{}{duration}", dry_run(&options.setup, &options.stream)?))?;
        return Ok(Outcome::Done);
    }
    announce(&args.target, &options.setup, &duration);
    let manners = args.experiment.manners(&args.target);
    conduct(&Plan::Scale(Box::new(options)), &manners, stop)
}
