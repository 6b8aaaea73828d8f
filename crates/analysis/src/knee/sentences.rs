//! Sentences about the knee.

use super::{Curve, CurvePoint, Reached, SoftHinge};
use crate::words::{milliseconds, number};

pub(super) fn rule(smoothed: bool, hinge: Option<SoftHinge>, ceiling_seen: bool) -> String {
    let source =
        if smoothed { "read from the fitted curve at the measured loads" } else { "as measured" };
    let points = format!(
        "Operating point: the least measured load with at least 95 % of the highest throughput, \
         {source}; N95 is the least load with that, between the measured ones. Still rising: the \
         deepest load has the highest throughput, and gained 5.3 % or more for the last doubling \
         and more than the points scatter. Retrograde: the deepest point is at least 15 % below \
         the middle of the points within 10 % of the highest. Those past the highest are 10 % \
         below it on average, and both by three times the scatter. Scatter: the distance of the \
         points from the nearest curve, their own half widths, and 5 % from run to run, whichever \
         is largest. Unclear: what is neither, nor flat within the scatter."
    );
    let Some(hinge) = hinge else {
        return format!("{points} No curve was fitted: that takes three points.");
    };
    let curve = format!(
        "Fitted curve: X(N) = ((aN)^-p + b^-p)^(-1/p), least squares in log X, p = {}, typical \
         error {} %.",
        number(hinge.sharpness),
        number(100.0 * hinge.error)
    );
    if ceiling_seen {
        let little_knee = number(hinge.little_knee);
        format!(
            "{points} {curve} Little knee N* = b/a = {little_knee}. Intervals hold 95 % of 200 \
             curves drawn around this one and fitted again, and at least 5 % either way."
        )
    } else {
        format!(
            "{points} {curve} No Little knee is given: the points do not show the curve's ceiling."
        )
    }
}

pub(super) fn explanation(
    curve: &Curve,
    operating_point: &CurvePoint,
    peak: &CurvePoint,
) -> String {
    let (shallowest, deepest) = curve.ends();
    let load = number(operating_point.in_flight);
    let latency = milliseconds(operating_point.latency_ns);
    match curve.reached {
        Reached::Saturated if operating_point.index == shallowest.index => format!(
            "The least load measured, {load} in flight, already gives the full throughput, at a \
            mean latency of {latency}. The bottleneck is the path, a set rate or a target that \
            serves one I/O at a time. More in flight only makes each I/O wait longer."
        ),
        Reached::Saturated => format!(
            "Throughput stops growing at about {load} in flight, at a mean latency of {latency}; \
             more in flight only makes each I/O wait longer."
        ),
        Reached::NotReached => format!(
            "Throughput was still rising at {} in flight, the deepest load measured, so the limit \
             was not reached: the capacity is at least what was measured there.",
            number(deepest.in_flight)
        ),
        Reached::Retrograde => {
            let enough = if operating_point.index == peak.index {
                format!("the mean latency there is {latency}")
            } else {
                format!(
                    "{load} in flight already give nearly all of it, at a mean latency of \
                     {latency}"
                )
            };
            format!(
                "Throughput is highest at {} in flight and declines past it, by {} % at {} in \
                 flight; {enough}.",
                number(peak.in_flight),
                number(100.0 * (1.0 - deepest.throughput / peak.throughput)),
                number(deepest.in_flight)
            )
        }
        Reached::Unclear => format!(
            "It is unclear where throughput stops growing. At {} in flight, the deepest load \
            measured, the change is within the scatter of about {} % from one measurement to the \
             next, or too recent to tell. The highest throughput was measured at {} in flight. \
             Measure for longer or with more in flight to decide.",
            number(deepest.in_flight),
            number(100.0 * curve.scatter),
            number(peak.in_flight)
        ),
    }
}
