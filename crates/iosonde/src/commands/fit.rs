//! `iosonde fit`: how many times the load of a trace storage carries.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::Args;
use jobs::{FitPlan, FitTarget, Growth, LatencyLimit, PartPlan, Plan, ReplayTarget};
use workload::{Mode, Workload};

use super::replay::PartArgs;
use super::run::apply_targets;
use crate::conducting::{Manners, Rehearsal, search};
use crate::exit::{Failure, Outcome};
use crate::recording::RecordingArgs;
use crate::targets::TargetArgs;

/// `iosonde fit`
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Trace whose load is to fit, as `iosonde capture` writes it
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,

    #[command(flatten)]
    pub target: TargetArgs,

    /// Answer from a model, without the hardware: a simulated device as a TOML file, or a volume of
    /// a cloud provider by its documented limits (aws:gp3,iops=6000). May be given several times
    #[arg(long, value_name = "MODEL")]
    pub device: Vec<String>,

    /// Limit that has to hold, such as log=5ms@p99: for read, write, durable, flush or log (durable
    /// and flush). May be given several times [default: the limits of the roles of `assess`]
    #[arg(long, value_name = "LIMIT")]
    pub limit: Vec<LatencyLimit>,

    /// Growth of the load, to say how long it will last: 4%/month or 50%/year
    #[arg(long, value_name = "GROWTH")]
    pub growth: Option<Growth>,

    #[command(flatten)]
    pub part: PartArgs,

    /// Longest part of the trace to replay, some 15 times
    #[arg(long, value_name = "N", default_value_t = 180.0)]
    pub seconds: f64,

    /// Go through the operating system's cache
    #[arg(long)]
    pub buffered: bool,

    /// Print the plan as TOML on stdout and stop; `iosonde do` runs it
    #[arg(long)]
    pub print_plan: bool,

    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub recording: RecordingArgs,
}

/// Runs the command.
pub(crate) fn fit(args: &FitArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let mut workload = Workload::default();
    apply_targets(&mut workload, &args.target)?;
    let mode = if args.buffered { Mode::Buffered } else { Mode::Direct };
    let on = ReplayTarget::of(&workload, mode);
    let measured = workload.targets.iter().map(|target| FitTarget::measured(on.at(target)));
    let mut targets: Vec<FitTarget> = measured.collect();
    for device in &args.device {
        targets.push(FitTarget::model(device, &on)?);
    }
    let plan = Plan::Fit(Box::new(FitPlan {
        part: PartPlan::new(&args.trace, args.part.from.as_ref(), args.part.to.as_ref()),
        seconds: args.seconds,
        limits: args.limit.clone(),
        growth: args.growth,
        targets,
    }));
    let manners = Manners::of(&args.target, args.json, args.recording.recording()?);
    let rehearsal = Rehearsal { print_plan: args.print_plan, dry_run: args.target.conduct.dry_run };
    search(&plan, &manners, rehearsal, stop)
}
