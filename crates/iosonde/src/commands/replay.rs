//! `iosonde replay`: a trace again, on other storage.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use clap::Args;
use jobs::{PartPlan, Plan, ReplayPlan, ReplayTarget, TraceMoment};
use results::{ReplayMap, ReplayTiming};
use workload::{Mode, Workload};

use super::run::apply_targets;
use crate::conducting::{Manners, Rehearsal, search};
use crate::exit::{Failure, Outcome};
use crate::recording::RecordingArgs;
use crate::targets::TargetArgs;

/// `iosonde replay`
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Trace to replay, as `iosonde capture` writes it
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,

    #[command(flatten)]
    pub target: TargetArgs,

    /// Issue each I/O at its time in the trace, however fast the target is [default]
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

    #[command(flatten)]
    pub part: PartArgs,

    /// End after this time [default: at the end of the trace]
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// How addresses of the trace become those of the target: the parts that are used side by side,
    /// the same offsets, spread over the target, or folded into one that is too small
    #[arg(long, value_name = "MAP", value_enum, default_value_t = MapArg::Compact)]
    pub map: MapArg,

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

/// Which part of a trace.
#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    /// Begin at this time of day (14:00), or so long after the beginning of the trace (90s)
    #[arg(long, value_name = "MOMENT")]
    pub from: Option<TraceMoment>,

    /// End before this moment of the trace
    #[arg(long, value_name = "MOMENT")]
    pub to: Option<TraceMoment>,
}

/// Maps by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MapArg {
    /// The parts that are used, side by side
    Compact,
    /// Each I/O to its own offset
    Identity,
    /// The parts that are used, with gaps, over the whole target
    Stretched,
    /// Side by side, and from the start again where the target ends
    Folded,
}

/// Runs the command.
pub(crate) fn replay(args: &ReplayArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let mut workload = Workload::default();
    apply_targets(&mut workload, &args.target)?;
    let mode = if args.buffered { Mode::Buffered } else { Mode::Direct };
    let on = ReplayTarget { depth: args.depth, ..ReplayTarget::of(&workload, mode) };
    let targets = workload.targets.iter().map(|target| on.at(target)).collect();
    let plan = Plan::Replay(Box::new(ReplayPlan {
        part: PartPlan {
            speed: args.speed,
            users: args.users,
            looped: args.looped,
            ..PartPlan::new(&args.trace, args.part.from.as_ref(), args.part.to.as_ref())
        },
        timing: match (args.closed, args.dependent) {
            (true, _) => ReplayTiming::Closed,
            (_, true) => ReplayTiming::Dependent,
            _ => ReplayTiming::AsTimed,
        },
        map: match args.map {
            MapArg::Compact => ReplayMap::Compact,
            MapArg::Identity => ReplayMap::Identity,
            MapArg::Stretched => ReplayMap::Stretched,
            MapArg::Folded => ReplayMap::Folded,
        },
        seconds: args.seconds,
        targets,
    }));
    let recording = args.recording.recording()?;
    let manners = Manners::of(&args.target, args.json, recording);
    let rehearsal = Rehearsal { print_plan: args.print_plan, dry_run: args.target.conduct.dry_run };
    search(&plan, &manners, rehearsal, stop)
}
