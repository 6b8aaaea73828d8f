//! A saturation point in words: its figures, its rule, and what limits there.

use results::cause::{Certainty, Likely};
use results::knee::{Interval, Knee, Reached};
use workload::{show_ns, show_number};

use super::make::fact;
use super::terms;
use crate::language::say;
use crate::model::{Fact, Judgement};
use crate::words;

/// How sure a saturation point is: one that was reached is.
pub(super) fn judgement(knee: Option<&Knee>) -> Judgement {
    match knee.map(|k| k.reached) {
        Some(Reached::Saturated) => Judgement::Good,
        Some(Reached::NotReached | Reached::Retrograde) => Judgement::Doubtful,
        Some(Reached::Unclear) | None => Judgement::Unknown,
    }
}

/// The heading of what may limit.
pub(super) fn reasons_heading(knee: &Knee) -> String {
    match knee.reached {
        Reached::Saturated | Reached::Retrograde => {
            say!("cause-heading-reached")
        }
        Reached::NotReached => say!("cause-heading-not-reached"),
        Reached::Unclear => say!("cause-heading-unclear"),
    }
}

/// What may limit, the likeliest first, each with all that was observed of it.
pub(super) fn reasons(causes: &[Likely]) -> Vec<String> {
    causes.iter().enumerate().map(|(place, likely)| reason(place, likely)).collect()
}

fn reason(place: usize, likely: &Likely) -> String {
    let cause = terms::cause(likely.cause);
    let lead = match (place, likely.certainty) {
        (0, Certainty::Certain) => say!("cause-is-certainly", cause = cause),
        (0, Certainty::Likely) => say!("cause-is-probably", cause = cause),
        (0, Certainty::Possible) => say!("cause-is-possibly", cause = cause),
        _ => say!("cause-is-also-possible", cause = cause),
    };
    let mut text = say!("two-sentences", first = lead, second = words::clean(&likely.sentence));
    let joined = |observations: &[String]| words::clean(&observations.join("; "));
    let parts = [
        (&likely.evidence, say!("cause-for-it", seen = joined(&likely.evidence))),
        (&likely.against, say!("cause-against-it", seen = joined(&likely.against))),
    ];
    for (_, part) in parts.into_iter().filter(|(observations, _)| !observations.is_empty()) {
        text = say!("two-sentences", first = text, second = part);
    }
    text
}

/// A figure with its interval after it.
fn with_interval(value: f64, interval: Option<Interval>) -> String {
    let value = show_number(value);
    interval.map_or(value.clone(), |i| {
        format!("{value} ({}–{})", show_number(i.low), show_number(i.high))
    })
}

/// The figures of a saturation point beyond the operating point itself. `unit` is that of the
/// throughput.
pub(super) fn facts(knee: &Knee, unit: &str, per_io: f64) -> Vec<Fact> {
    let n95 = with_interval(knee.operating_load, knee.operating_load_interval);
    let mut facts =
        vec![fact(say!("label-95-percent-of-the-highest-n95"), say!("in-flight", in_flight = n95))];
    facts.push(fact(
        say!("label-highest-throughput-measured"),
        say!(
            "knee-peak",
            throughput = format!("{} {unit}", show_number(knee.peak.throughput * per_io)),
            in_flight = show_number(knee.peak.in_flight)
        ),
    ));
    let scaled = knee
        .saturated_throughput_interval
        .map(|i| Interval { low: i.low * per_io, high: i.high * per_io });
    if scaled.is_some() {
        let most = with_interval(knee.saturated_throughput * per_io, scaled);
        let name = match knee.reached {
            Reached::NotReached | Reached::Unclear => say!("label-ceiling-of-the-curve"),
            Reached::Saturated | Reached::Retrograde => say!("label-saturated-throughput"),
        };
        facts.push(fact(name, format!("{most} {unit}")));
    }
    facts.push(fact(say!("label-unloaded-latency"), show_ns(knee.unloaded_latency_ns)));
    if let Some(little) = knee.little_knee {
        let little = with_interval(little, knee.little_knee_interval);
        facts.push(fact(say!("label-little-knee-n"), say!("in-flight", in_flight = little)));
    }
    if let Some(error) = knee.fit_error_percent {
        facts
            .push(fact(say!("label-distance-of-points-from-the-fit"), words::percent(Some(error))));
    }
    if let Some(usl) = &knee.usl {
        let peak = usl.peak_in_flight.map_or_else(|| words::NONE.to_owned(), show_number);
        let text = say!(
            "knee-scalability-law",
            contention = show_number(usl.contention),
            coherence = show_number(usl.coherence),
            peak = peak,
            error = words::percent(Some(usl.error_percent))
        );
        facts.push(fact(say!("label-universal-scalability-law"), text));
    }
    facts
}
