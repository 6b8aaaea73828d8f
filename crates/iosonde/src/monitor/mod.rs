//! `iosonde monitor`: what the operating system counts, shown and recorded.

mod args;
mod beside;
mod command;
mod databases;
mod keeper;
mod live;
mod plan;
mod served;
mod session;
mod table;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::monitor::{Monitor, MonitorError, SystemClock, Why};
use counters::SystemSampler;

pub(crate) use args::MonitorArgs;
pub(crate) use beside::set_all_beside;
use command::Running;
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
    let running = match args.command.as_slice() {
        [] => None,
        line => Some(Running::start(line, args.has_format()).inspect_err(|_| session.give_up())?),
    };
    let (broken, live) = (session.broken(), session.live());
    let stopped = || {
        if let Some(live) = live.borrow_mut().as_mut() {
            live.look();
        }
        let signal = stop.load(Ordering::Relaxed);
        match &running {
            // It decides itself when it ends.
            Some(running) => {
                if signal {
                    running.signal();
                }
                running.has_ended()
            }
            None => signal || broken.get(),
        }
    };
    let why = monitor.run(&stopped, &mut |event| session.hear(event));
    let ended = running.map(Running::end).transpose()?;
    let code = ended.as_ref().map(|ended| match ended.command {
        results::RecordedCommand { exit_code: Some(code), .. } => code,
        // As a shell says it.
        results::RecordedCommand { signal, .. } => 128 + signal.unwrap_or(0),
    });
    let alerts = (monitor.alerts(), monitor.devices());
    let fired = session.finish(alerts, why.as_ref().ok().copied(), ended)?;
    let why = why.map_err(failure)?;
    let has_end = args.seconds.is_some() || args.count.is_some();
    Ok(match (why, code) {
        (_, Some(code)) if code != 0 => Outcome::Code(u8::try_from(code).unwrap_or(1)),
        (Why::Stopped, None) if has_end => Outcome::Interrupted,
        _ if fired => Outcome::NotMet,
        _ => Outcome::Done,
    })
}
