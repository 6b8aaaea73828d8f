//! `iosonde sizes`: the same load over growing parts of a file.

use std::sync::atomic::AtomicBool;

use clap::Args;
use jobs::Plan;
use survey::{STANDARD_SIZES, SizesOptions};
use workload::{Bytes, Stream};

use crate::args::StreamArgs;
use crate::conducting::conduct;
use crate::exit::{Failure, Outcome, print};
use crate::experiment::{ExperimentArgs, announce, dry_run, duration, stream};
use crate::plans::print_plan;
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

    /// Sizes to measure, as far as they fit [default: 256M,512M,2G,8G,32G,64G,128G]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sizes: Vec<Bytes>,

    /// Leave out sizes whose file would take longer to write
    #[arg(long, value_name = "N", default_value_t = 600.0)]
    pub fill_seconds: f64,

    /// The longest that reading a size may take before it is measured, so that caches can fill; 0
    /// reads nothing
    #[arg(long, value_name = "N", default_value_t = 120.0)]
    pub pass_seconds: f64,

    /// Print the plan as TOML on stdout and do nothing else; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    #[command(flatten)]
    pub experiment: ExperimentArgs,
}

/// Runs the command.
pub(crate) fn sizes(args: &SizesArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let options = options_of(args)?;
    if args.print_plan {
        return print_plan(&Plan::Sizes(Box::new(options)));
    }
    if args.target.conduct.dry_run {
        let setup = survey::sizes_setup(&options)?;
        let largest = setup.targets.first().and_then(|t| t.size_bytes).unwrap_or_default();
        let count = options.sizes.iter().filter(|size| **size <= largest).count();
        // Before each size is measured it is read once.
        let duration = duration(count, &setup.timing, &options.stream, options.pass_seconds);
        print(&format!("{}{duration}", dry_run(&setup, &options.stream)?))?;
        return Ok(Outcome::Done);
    }
    let count = options.sizes.len();
    let longest = duration(count, &options.setup.timing, &options.stream, options.pass_seconds);
    announce(&args.target, &options.setup, &longest);
    let manners = args.experiment.manners(&args.target);
    conduct(&Plan::Sizes(Box::new(options)), &manners, stop)
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
