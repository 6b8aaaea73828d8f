//! `iosonde scale`: each target alone, then more and more of them together.

use std::sync::atomic::AtomicBool;

use clap::Args;
use results::{Document, Scale};
use survey::ScaleOptions;
use workload::Stream;

use crate::args::StreamArgs;
use crate::exit::{Failure, Outcome, print};
use crate::experiment::{ExperimentArgs, announce, conduct, dry_run, duration, stream};
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
    if args.target.dry_run {
        print(&format!("{}{duration}", dry_run(&options.setup, &options.stream)?))?;
        return Ok(Outcome::Done);
    }
    announce(&args.target, &options.setup, &duration);
    let title = options.stream.title();
    let recorder =
        args.experiment.recorder::<Scale, _>("scale", title, &options.setup, &options)?;
    let (_, outcome) = conduct(
        args.target.manner(),
        args.experiment.json,
        &recorder,
        |observe| survey::scale(&options, stop, observe),
        Document::Scale,
        report::text::scale,
    )?;
    outcome
}
