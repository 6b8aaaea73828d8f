//! `iosonde monitor`: what the operating system counts, shown and recorded.

mod args;
mod databases;
mod keeper;
mod plan;
mod session;
pub(crate) mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::monitor::{Monitor, MonitorError, SystemClock, Why};
use counters::SystemSampler;

pub(crate) use args::MonitorArgs;
use databases::Databases;
use session::Session;

use crate::exit::{Failure, Outcome};

#[expect(clippy::needless_pass_by_value, reason = "the signature of map_err")]
fn failure(error: MonitorError) -> Failure {
    match error {
        MonitorError::Interval { .. } => Failure::WrongUsage(error.to_string()),
        _ => Failure::CannotRun(error.to_string()),
    }
}

/// Watches until the end, a signal, or the end of the command.
pub(crate) fn monitor(args: &MonitorArgs, stop: &Arc<AtomicBool>) -> Result<Outcome, Failure> {
    let databases = Databases::connect(&args.database, args.interval())?;
    let mut plan = plan::plan(args, &databases)?;
    plan.methods = databases.methods();
    let clock = SystemClock::new();
    let sampler = SystemSampler::new().map_err(|error| failure(error.into()))?;
    let monitor = Monitor::new(sampler, &clock, args.interval(), plan.watched.clone());
    let mut monitor = monitor.map_err(failure)?.until(plan.end).with_alerts(args.alert.clone());
    monitor = monitor.with_extras(databases.into_extras());
    let mut session = Session::new(args, plan, monitor.devices())?;
    monitor.begin(&mut |event| session.hear(event)).map_err(failure)?;
    session.begin()?;
    let broken = session.broken();
    let stopped = || stop.load(Ordering::Relaxed) || broken.get();
    let why = monitor.run(&stopped, &mut |event| session.hear(event));
    let fired = session.finish(monitor.alerts(), monitor.devices(), why.as_ref().ok().copied())?;
    let why = why.map_err(failure)?;
    let has_end = args.seconds.is_some() || args.count.is_some();
    Ok(match why {
        Why::Stopped if has_end => Outcome::Interrupted,
        _ if fired => Outcome::NotMet,
        _ => Outcome::Done,
    })
}
