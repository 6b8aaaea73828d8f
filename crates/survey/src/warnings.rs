//! Every reason to doubt a figure, in words.

use counters::NoCounts;
use engine::Prepared;
use results::{Measurement, Status};
use workload::{Bytes, EngineChoice, Mode, show_number};

use crate::steadiness;

/// A submitting thread that uses more of its core than this is the bottleneck of the run.
const THREAD_SATURATED_PERCENT: f64 = 95.0;
/// Below this share of the asked depth, the load was not the one that was asked for.
const DEPTH_REACHED: f64 = 0.95;
/// Runs below this length have few intervals and little protection against chance.
const SHORT_SECONDS: f64 = 5.0;
/// Deviation from Little's law that points at a mistake in counting.
const LITTLE_PERCENT: f64 = 2.0;

/// Adds to a measurement what its figures and its surroundings give reason to say.
pub(crate) fn add(
    measurement: &mut Measurement,
    prepared: &Prepared,
    no_counters: Option<&NoCounts>,
) {
    let mut found = Vec::new();
    status(measurement, &mut found);
    for target in prepared.targets() {
        found.extend(target.warnings().iter().cloned());
    }
    surroundings(measurement, &mut found);
    tool(measurement, &mut found);
    kernel(measurement, no_counters, &mut found);
    found.extend(steadiness::doubts(measurement));
    // What the engine itself noticed comes first: it is about I/Os that went wrong.
    measurement.checks.warnings.append(&mut found);
}

fn status(measurement: &Measurement, found: &mut Vec<String>) {
    let asked = measurement.workload.seconds;
    let seconds = show_number(measurement.seconds);
    match measurement.status {
        Status::Interrupted => found.push(format!(
            "the run was interrupted: the figures are of {seconds} s instead of {} s",
            show_number(asked)
        )),
        Status::Failed if measurement.seconds < asked => found.push(format!(
            "an I/O error ended the run after {seconds} s of {} s; `--on-error continue` counts \
            errors and continues",
            show_number(asked)
        )),
        // What never returned has a separate warning.
        Status::Complete | Status::Failed => {}
    }
    let settled = measurement.workload.precision.is_some()
        && measurement.steady.as_ref().is_some_and(|steady| steady.settled);
    if measurement.status == Status::Complete && measurement.seconds < SHORT_SECONDS && !settled {
        found.push(format!("{seconds} s are too short for more than a first impression"));
    }
}

fn surroundings(measurement: &Measurement, found: &mut Vec<String>) {
    found.extend(measurement.environment.doubts());
    let Some(host) = &measurement.environment.host else { return };
    let modes = measurement.workload.modes();
    let how = match (modes.contains(&Mode::Buffered), modes.contains(&Mode::Mapped)) {
        (false, false) => return,
        (true, false) => "buffered",
        (false, true) => "mapped",
        (true, true) => "buffered and mapped",
    };
    let used = measurement.used_bytes();
    if used < 2 * host.memory_bytes {
        found.push(format!(
            "{how} I/O on {} with {} of memory: the operating system's cache takes part in every \
             figure",
            Bytes(used),
            Bytes(host.memory_bytes)
        ));
    }
}

fn tool(measurement: &Measurement, found: &mut Vec<String>) {
    // A thread of an open loop looks at the clock between I/Os; its delay says whether it kept up.
    let open_loop = measurement.workload.streams.iter().any(|s| s.rate.is_some());
    if let Some(percent) = measurement.cpu.busiest_thread_percent
        && percent >= THREAD_SATURATED_PERCENT
        && !open_loop
        && measurement.workload.engine != EngineChoice::Null
        && measurement.workload.completion == workload::Completion::Block
    {
        found.push(format!(
            "a submitting thread used {percent:.0} % of its core: the tool or the CPU was \
             measured, not the storage; use more threads"
        ));
    }
    let workload = &measurement.workload;
    if workload.engine == EngineChoice::Null {
        return;
    }
    let paced = |s: &workload::Stream| s.rate.is_some() || s.think.is_some() || s.sync.is_some();
    let closed = !workload.streams.iter().any(paced);
    let (asked, achieved) = (measurement.in_flight as f64, measurement.achieved_in_flight);
    if closed && measurement.seconds > 0.0 && achieved < DEPTH_REACHED * asked {
        found.push(format!(
            "{achieved:.1} I/Os were in flight on average instead of {asked:.0}: the queue was \
             not kept full"
        ));
    }
    if let Some(percent) = measurement.checks.rate_reached_percent
        && (percent - 100.0).abs() > 1.0
    {
        found.push(format!("{percent:.1} % of the asked rate was reached"));
    }
    if let Some(percent) = measurement.checks.littles_law_percent
        && percent.abs() > LITTLE_PERCENT
    {
        found.push(format!(
            "IOPS x mean latency differs by {percent:.1} % from the I/Os in flight: the run was \
             short or unsteady"
        ));
    }
}

fn kernel(measurement: &Measurement, no_counters: Option<&NoCounts>, found: &mut Vec<String>) {
    let agreement = measurement.kernel.as_ref().and_then(|k| k.agreement.as_ref());
    match (agreement, no_counters) {
        (Some(agreement), _) if agreement.is_doubt() => {
            found.push(agreement.explanation.clone());
        }
        (None, Some(why)) => {
            found.push(format!(
                "the kernel's counters could not be compared with these figures, nor I/O of others \
                 on the device be seen: {why}"
            ));
        }
        _ => {}
    }
}
