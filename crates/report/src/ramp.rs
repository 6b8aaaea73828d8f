//! A ramp as both reports show it: its knee, and the unit of its throughput.

use results::cause::Certainty;
use results::knee::{CurvePoint, Knee, Reached};
use results::{Measurement, Ramp};
use workload::{show_ns, show_number};

use crate::language::say;
use crate::sections::terms;
use crate::words;

/// The measured point that a knee names. The knee holds its place, but a document may have been cut
/// since.
pub(crate) fn named<'a>(ramp: &'a Ramp, point: &CurvePoint) -> Option<&'a Measurement> {
    let fits = |m: &&Measurement| (m.in_flight as f64 - point.in_flight).abs() < 0.5;
    let first = ramp.points.get(point.index).filter(fits);
    first.or_else(|| ramp.points.iter().find(fits))
}

/// The unit of a ramp's throughput.
pub(crate) fn unit(ramp: &Ramp) -> &'static str {
    if is_bandwidth(ramp) { "MiB/s" } else { "IOPS" }
}

fn is_bandwidth(ramp: &Ramp) -> bool {
    ramp.points.first().is_some_and(words::is_bandwidth)
}

/// The throughput of a point in the unit of its ramp.
pub(crate) fn throughput(ramp: &Ramp, m: &Measurement) -> f64 {
    if is_bandwidth(ramp) { m.total.mib_per_s } else { m.total.iops }
}

/// How the curve ends, in a few words.
pub(crate) fn ending(knee: &Knee) -> String {
    match knee.reached {
        Reached::Saturated => say!("knee-saturated"),
        Reached::NotReached => say!("knee-still-rising"),
        Reached::Retrograde => say!("knee-past-its-peak"),
        Reached::Unclear => say!("knee-unclear"),
    }
}

/// Why throughput stops growing, in a few words; nothing where nothing is known.
pub(crate) fn limit(ramp: &Ramp) -> Option<String> {
    let first = ramp.causes.first()?;
    let cause = terms::cause(first.cause);
    Some(match (first.certainty, ramp.causes.get(1)) {
        (Certainty::Certain, _) => cause,
        (Certainty::Likely, _) => say!("cause-probably", cause = cause),
        (Certainty::Possible, None) => say!("cause-possibly", cause = cause),
        (Certainty::Possible, Some(next)) => {
            say!("cause-either", first = cause, second = terms::cause(next.cause))
        }
    })
}

/// The operating point in figures: `32 in flight, 41 200 IOPS, 0.78 ms`.
pub(crate) fn operating_point(ramp: &Ramp, knee: &Knee) -> String {
    let point = &knee.operating_point;
    let load = say!("in-flight", in_flight = show_number(point.in_flight));
    match named(ramp, point) {
        Some(m) => format!(
            "{load}, {} {}, {}",
            show_number(throughput(ramp, m)),
            unit(ramp),
            words::mean_time(words::mean_of(&m.total))
        ),
        None => format!("{load}, {}", show_ns(point.latency_ns)),
    }
}
