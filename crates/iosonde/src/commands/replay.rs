//! `iosonde replay` and `iosonde fit`: the load of a trace on other storage.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::Args;
use jobs::{
    FitPlan, Growth, JobError, LatencyLimit, PartPlan, Plan, ReplayPlan, ReplayTarget, TraceMoment,
};
use results::{ReplayMap, ReplayTiming};
use workload::{Mode, Workload};

use super::run::apply_targets;
use crate::conducting::{Manners, Rehearsal, search};
use crate::exit::{Failure, Outcome};
use crate::recording::RecordingArgs;
use crate::targets::TargetArgs;

/// What both commands are told.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Trace with the load, as `iosonde capture` writes it
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,

    #[command(flatten)]
    pub target: TargetArgs,

    /// Begin at this time of day (14:00), or so long after the beginning of the trace (90s)
    #[arg(long, value_name = "MOMENT")]
    pub from: Option<TraceMoment>,

    /// End before this moment of the trace
    #[arg(long, value_name = "MOMENT")]
    pub to: Option<TraceMoment>,

    /// Most I/Os in flight [default: 64 to 1024, by the largest I/O]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub depth: Option<u32>,

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

/// `iosonde replay`
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    pub load: LoadArgs,

    /// Issue each I/O at its time in the trace, however fast the target is; this is the default
    #[arg(long, group = "timing")]
    pub as_timed: bool,

    /// Issue I/Os in the order of the trace, with as many in flight as there, and without pauses
    #[arg(long, group = "timing")]
    pub closed: bool,

    /// Issue an I/O when the one that completed last before it has completed, and the think time is
    /// over
    #[arg(long, group = "timing")]
    pub dependent: bool,

    /// Multiply the speed of the users
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub speed: f64,

    /// Multiply the number of users: copies of the trace that begin at other moments of it
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub users: f64,

    /// Begin again when the trace is over, until `--seconds`
    #[arg(long = "loop")]
    pub looped: bool,

    /// End after this time [default: at the end of the trace]
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// Where the parts that the trace uses go: `compact` (side by side), `identity` (the same
    /// offsets), `stretched` (over the whole target) or `folded` (into one that is too small)
    #[arg(long, value_name = "MAP", default_value_t = ReplayMap::Compact)]
    pub map: ReplayMap,
}

/// `iosonde fit`
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    pub load: LoadArgs,

    /// Answer from a model, without the hardware: a simulated device as a TOML file, or a volume by
    /// what its provider documents (aws:gp3,iops=6000,mbps=250). May be given several times
    #[arg(long, value_name = "MODEL")]
    pub device: Vec<String>,

    /// Limit that has to hold, such as log=5ms@p99: for read, write, durable, flush or log (its
    /// writes and all flushes). May be given several times [default: the limits of the roles of
    /// `assess`]
    #[arg(long, value_name = "LIMIT")]
    pub limit: Vec<LatencyLimit>,

    /// Growth of the load, to say how long it will last: 4%/month or 50%/year
    #[arg(long, value_name = "GROWTH")]
    pub growth: Option<Growth>,

    /// Longest part of the trace to replay, some 15 times; its busiest one without `--from` and
    /// `--to`
    #[arg(long, value_name = "N", default_value_t = 180.0)]
    pub seconds: f64,
}

impl LoadArgs {
    /// Carries out the plan of this part of the trace on these targets.
    fn conduct(
        &self,
        stop: &AtomicBool,
        plan: impl FnOnce(PartPlan, Vec<ReplayTarget>, ReplayTarget) -> Result<Plan, JobError>,
    ) -> Result<Outcome, Failure> {
        let mut workload = Workload::default();
        apply_targets(&mut workload, &self.target)?;
        workload.mode = if self.buffered { Mode::Buffered } else { Mode::Direct };
        let like = ReplayTarget::of(&workload, self.depth);
        let targets = workload.targets.iter().map(|target| like.at(target)).collect();
        let part = PartPlan::new(&self.trace, self.from.as_ref(), self.to.as_ref());
        let plan = plan(part, targets, like)?;
        let manners = Manners::of(&self.target, self.json, self.recording.recording()?);
        let (print_plan, dry_run) = (self.print_plan, self.target.conduct.dry_run);
        search(&plan, &manners, Rehearsal { print_plan, dry_run }, stop)
    }
}

pub(crate) fn replay(args: &ReplayArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let ReplayArgs { speed, users, looped, seconds, map, .. } = *args;
    let timing = ReplayTiming::of_flags(args.closed, args.dependent);
    args.load.conduct(stop, |part, targets, _| {
        let part = PartPlan { speed, users, looped, ..part };
        Ok(Plan::Replay(Box::new(ReplayPlan { part, timing, map, seconds, targets })))
    })
}

pub(crate) fn fit(args: &FitArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (limits, growth, seconds) = (args.limit.clone(), args.growth, args.seconds);
    args.load.conduct(stop, |part, targets, like| {
        let targets = FitPlan::targets(targets, &args.device, &like)?;
        Ok(Plan::Fit(Box::new(FitPlan { part, seconds, limits, growth, targets })))
    })
}
