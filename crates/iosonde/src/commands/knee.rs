//! `iosonde knee`: where one load saturates, and why.

use std::sync::atomic::AtomicBool;

use analysis::cause::Link;
use clap::Args;
use jobs::Plan;
use survey::{KneeOptions, LatencyTarget, Publish};
use workload::Stream;

use crate::args::StreamArgs;
use crate::exit::{Failure, Outcome};
use crate::experiment::{self, ExperimentArgs};
use crate::targets::TargetArgs;

/// `iosonde knee`
#[derive(Debug, Args)]
pub(crate) struct KneeArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    #[command(flatten)]
    pub stream: StreamArgs,

    #[command(flatten)]
    pub experiment: ExperimentArgs,

    /// Fewest I/Os in flight, over all threads and targets
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub from: u32,

    /// Most I/Os in flight, over all threads and targets
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub to: u32,

    /// The link to the storage: 2GFC, 10GbE, PCIe3x4, SATA3, … or its bandwidth, such as 400MiB/s
    #[arg(long, value_name = "LINK")]
    pub link: Option<Link>,

    /// Also find the highest IOPS within a latency, such as 5ms@p99; or mean, p50, p90, p95 or
    /// p99.9
    #[arg(long, value_name = "TIME@STATISTIC")]
    pub latency_target: Option<LatencyTarget>,

    /// Exit with code 4 unless the load reaches this many IOPS within the latency target
    #[arg(long, value_name = "N", requires = "latency_target")]
    pub iops: Option<f64>,
}

pub(crate) fn knee(args: &KneeArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    args.experiment.conduct(&plan(args)?, &args.target, stop)
}

/// The plan that the flags make.
pub(crate) fn plan(args: &KneeArgs) -> Result<Plan, Failure> {
    let wrong = |text: &str| Err(Failure::WrongUsage(text.to_owned()));
    if args.stream.depth.is_some() {
        return wrong("the depth is what `knee` searches: say how far with --from and --to");
    }
    if args.stream.rate.or(args.stream.rate_mib).is_some() {
        return wrong(
            "with a set rate the storage does not saturate: `knee` takes no --rate and no \
             --rate-mib",
        );
    }
    if args.from == 0 || args.from > args.to {
        let text = format!(
            "--from {} --to {}: the range begins at 1 and does not end before that",
            args.from, args.to
        );
        return Err(Failure::WrongUsage(text));
    }
    if args.iops.is_some_and(|iops| !(iops > 0.0 && iops.is_finite())) {
        return wrong("--iops: write a number above 0");
    }
    let latency_target = args.latency_target.clone();
    let options = KneeOptions {
        setup: args.experiment.setup(&args.target)?,
        stream: experiment::stream(Stream::default(), &args.stream)?,
        in_flight: (args.from, args.to),
        link: args.link.clone().publish(),
        latency_target: latency_target
            .map(|target| LatencyTarget { expected_iops: args.iops, ..target }),
    };
    Ok(Plan::Knee(Box::new(options)))
}
