//! `iosonde history drift`: what a device does now, next to the most that it was measured to do.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use history::History;

use crate::commands::run::json;
use crate::exit::{Failure, Outcome, print};
use crate::language::LanguageArgs;

/// `iosonde history drift`
#[derive(Debug, Args)]
pub(crate) struct DriftArgs {
    /// The directory, file or device whose storage to check
    #[arg(value_name = "TARGET")]
    pub target: PathBuf,

    /// How long to watch the counters
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    pub seconds: f64,

    /// Print it as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub language: LanguageArgs,
}

pub(crate) fn drift(
    args: &DriftArgs,
    history: &History,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    if !(args.seconds.is_finite() && (0.1..=86_400.0).contains(&args.seconds)) {
        return Err(Failure::WrongUsage("--seconds must be from 0.1 to 86400".to_owned()));
    }
    let drift = jobs::drift(&args.target, args.seconds, history, stop);
    let drift = drift.map_err(|error| Failure::CannotRun(error.to_string()))?;
    print(&if args.json { json(&drift)? } else { report::text::drift(&drift) })?;
    Ok(if stop.load(Ordering::Relaxed) { Outcome::Interrupted } else { Outcome::Done })
}
