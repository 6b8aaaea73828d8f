//! What the commands for experiments share: their flags, and how results are shown.

use std::sync::atomic::AtomicBool;

use clap::Args;
use jobs::Plan;
use survey::{Setup, Timing};
use workload::{Mode, Precision, Stream, Workload};

use crate::args::StreamArgs;
use crate::commands::run::{apply_stream, apply_targets};
use crate::conducting::{Manners, Rehearsal, search};
use crate::exit::{Failure, Outcome};
use crate::recording::RecordingArgs;
use crate::targets::TargetArgs;

/// Longest time of a measurement where nobody says how long.
const SECONDS: f64 = 60.0;

/// Flags that every experiment has.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// End a measurement when the 95 % confidence interval of its mean is within this many percent;
    /// 0 always measures for `--seconds`
    #[arg(long, value_name = "PERCENT", default_value_t = 2.0)]
    pub precision: f64,

    /// Longest time of a measurement [default: 60]
    #[arg(long, value_name = "N")]
    pub seconds: Option<f64>,

    /// Shortest time of a measurement
    #[arg(long, value_name = "SECONDS", default_value_t = 15.0)]
    pub at_least: f64,

    /// Warm-up before each measurement, which does not count
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub warmup: f64,

    /// Pause before and after measurements that write
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    pub settle: f64,

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

impl ExperimentArgs {
    /// Runs the plan that the flags make, or shows it.
    pub(crate) fn conduct(
        &self,
        plan: &Plan,
        target: &TargetArgs,
        stop: &AtomicBool,
    ) -> Result<Outcome, Failure> {
        let dry_run = target.conduct.dry_run;
        let rehearsal = Rehearsal { print_plan: self.print_plan, dry_run };
        let manners = Manners::of(target, self.json, self.recording.recording()?);
        search(plan, &manners, rehearsal, stop)
    }

    /// How long each measurement is where all have the same length.
    pub(crate) fn window_s(&self) -> f64 {
        self.seconds.unwrap_or(self.at_least)
    }

    /// How long each measurement is.
    pub(crate) fn timing(&self) -> Timing {
        let seconds = self.seconds.unwrap_or(SECONDS);
        let at_least_seconds = self.at_least.min(seconds);
        let precision =
            Precision { percent: self.precision, at_least_seconds, ..Precision::default() };
        Timing {
            seconds,
            warmup_seconds: self.warmup,
            // Not `> 0`: a value that is not a percentage is refused, not ignored.
            precision: (self.precision != 0.0).then_some(precision),
            settle_seconds: self.settle,
        }
    }

    /// The targets of the experiment, and how to use them.
    pub(crate) fn setup(&self, target: &TargetArgs) -> Result<Setup, Failure> {
        let mut workload = Workload::default();
        apply_targets(&mut workload, target)?;
        if workload.targets.is_empty() {
            let text = "name a directory on the storage, a file or a block device";
            return Err(Failure::WrongUsage(text.to_owned()));
        }
        if !(0.0..=86_400.0).contains(&self.settle) {
            let text = format!("--settle is {}: it must be 0 to 86400 seconds", self.settle);
            return Err(Failure::WrongUsage(text));
        }
        Ok(Setup {
            targets: workload.targets,
            permissions: target.permissions(),
            engine: workload.engine,
            sim: workload.sim,
            mode: if self.buffered { Mode::Buffered } else { Mode::Direct },
            seed: workload.seed,
            timing: self.timing(),
        })
    }
}

/// The stream that the flags describe, based on this one.
pub(crate) fn stream(start: Stream, args: &StreamArgs) -> Result<Stream, Failure> {
    let mut stream = start;
    apply_stream(&mut stream, args)?;
    Ok(stream)
}
