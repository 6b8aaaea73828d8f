//! `iosonde sizes`: the same load over growing parts of a file.

use std::sync::atomic::AtomicBool;

use clap::Args;
use jobs::Plan;
use survey::{STANDARD_SIZES, SizesOptions};
use workload::{Bytes, Stream};

use crate::args::StreamArgs;
use crate::exit::{Failure, Outcome};
use crate::experiment::{ExperimentArgs, stream};
use crate::targets::TargetArgs;

/// Few enough in flight that hits do not wait behind misses.
const DEPTH: u32 = 4;

/// `iosonde sizes`
#[derive(Debug, Args)]
pub(crate) struct SizesArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    #[command(flatten)]
    pub stream: StreamArgs,

    /// Sizes to measure, as many as fit [default: 256M,512M,2G,8G,32G,64G,128G]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sizes: Vec<Bytes>,

    /// Skip sizes whose file would take longer than this to write
    #[arg(long, value_name = "N", default_value_t = 600.0)]
    pub fill_seconds: f64,

    /// Longest time to read a size before measuring it, so that caches can fill; 0 reads nothing
    #[arg(long, value_name = "N", default_value_t = 120.0)]
    pub pass_seconds: f64,

    #[command(flatten)]
    pub experiment: ExperimentArgs,
}

pub(crate) fn sizes(args: &SizesArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let plan = Plan::Sizes(Box::new(options_of(args)?));
    args.experiment.conduct(&plan, &args.target, stop)
}

fn options_of(args: &SizesArgs) -> Result<SizesOptions, Failure> {
    if args.stream.span.is_some() {
        let text = "`--span` is what sizes changes; name the sizes with `--sizes`";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    for (flag, seconds) in
        [("--fill-seconds", args.fill_seconds), ("--pass-seconds", args.pass_seconds)]
    {
        if !(0.0..=86_400.0).contains(&seconds) {
            let text = format!("{flag} is {seconds}: it must be 0 to 86400 seconds");
            return Err(Failure::WrongUsage(text));
        }
    }
    let sizes = if args.sizes.is_empty() { STANDARD_SIZES.to_vec() } else { args.sizes.clone() };
    Ok(SizesOptions {
        setup: args.experiment.setup(&args.target)?,
        stream: stream(Stream { depth: DEPTH, ..Stream::default() }, &args.stream)?,
        sizes,
        fill_seconds: args.fill_seconds,
        pass_seconds: args.pass_seconds,
    })
}
