//! `iosonde matrix`: what writes cost readers.

use std::sync::atomic::AtomicBool;

use clap::Args;
use jobs::Plan;
use survey::{MATRIX_LEVELS, MatrixOptions, check_levels};
use workload::Stream;

use crate::args::StreamArgs;
use crate::exit::{Failure, Outcome};
use crate::experiment::{ExperimentArgs, stream};
use crate::targets::TargetArgs;

/// Enough in flight to find the highest rates, unless the user chooses another depth.
const DEPTH: u32 = 32;

/// `iosonde matrix`
#[derive(Debug, Args)]
pub(crate) struct MatrixArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    #[command(flatten)]
    pub stream: StreamArgs,

    /// Shares of the highest read rate and of the highest write rate, in percent; 0 is always
    /// among them [default: 0,20,40,60,80]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub levels: Vec<u8>,

    /// Time to measure each combination of rates
    #[arg(long, value_name = "SECONDS", default_value_t = 15.0)]
    pub cell_seconds: f64,

    #[command(flatten)]
    pub experiment: ExperimentArgs,
}

pub(crate) fn matrix(args: &MatrixArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let plan = Plan::Matrix(Box::new(options_of(args)?));
    args.experiment.conduct(&plan, &args.target, stop)
}

fn options_of(args: &MatrixArgs) -> Result<MatrixOptions, Failure> {
    let wrong = |text: &str| Err(Failure::WrongUsage(text.to_owned()));
    let flags = &args.stream;
    if flags.write.is_some() {
        return wrong("`matrix` sets the share of writes: it takes no --write");
    }
    if flags.rate.or(flags.rate_mib).is_some() || flags.arrival.is_some() {
        return wrong(
            "`matrix` sets the rates: choose their levels with --levels; it takes no --rate, \
             --rate-mib and --arrival",
        );
    }
    if flags.think.is_some() {
        return wrong("`matrix` offers I/Os at set rates, without pauses: it takes no --think");
    }
    let levels = if args.levels.is_empty() { MATRIX_LEVELS.to_vec() } else { args.levels.clone() };
    let options = MatrixOptions {
        setup: args.experiment.setup(&args.target)?,
        stream: stream(Stream { depth: DEPTH, ..Stream::default() }, flags)?,
        levels,
        cell_seconds: args.cell_seconds,
    };
    check_levels(&options).map_err(|e| Failure::WrongUsage(e.to_string()))?;
    Ok(options)
}
