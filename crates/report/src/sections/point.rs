//! A saturation point in words: its figures, its rule, and what limits there.

use results::cause::{Certainty, Likely};
use results::knee::{Interval, Knee, Reached};
use workload::{show_ns, show_number};

use super::make::fact;
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
pub(super) fn reasons_heading(knee: &Knee) -> &'static str {
    match knee.reached {
        Reached::Saturated | Reached::Retrograde => {
            "Why throughput stops growing, the likeliest first:"
        }
        Reached::NotReached => "What limited the loads measured:",
        Reached::Unclear => "What may limit throughput, as far as is known:",
    }
}

/// What may limit, the likeliest first, each with all that was observed of it.
pub(super) fn reasons(causes: &[Likely]) -> Vec<String> {
    causes.iter().enumerate().map(|(place, likely)| reason(place, likely)).collect()
}

fn reason(place: usize, likely: &Likely) -> String {
    let lead = match (place, likely.certainty) {
        (0, Certainty::Certain) => "Certainly",
        (0, Certainty::Likely) => "Probably",
        (0, Certainty::Possible) => "Possibly",
        _ => "Also possible:",
    };
    let (title, sentence) = (likely.cause.title(), words::clean(&likely.sentence));
    let mut text = format!("{lead} {title}. {sentence}");
    for (lead, observations) in [("For it: ", &likely.evidence), ("Against it: ", &likely.against)]
    {
        if !observations.is_empty() {
            text.push_str(&format!(" {lead}{}.", words::clean(&observations.join("; "))));
        }
    }
    text
}

/// A figure with its interval behind it.
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
    let mut facts = vec![fact(say!("label-95-percent-of-the-highest-n95"), format!("{n95} in flight"))];
    facts.push(fact(
        say!("label-highest-throughput-measured"),
        format!(
            "{} {unit} at {} in flight",
            show_number(knee.peak.throughput * per_io),
            show_number(knee.peak.in_flight)
        ),
    ));
    let scaled = knee
        .saturated_throughput_interval
        .map(|i| Interval { low: i.low * per_io, high: i.high * per_io });
    if scaled.is_some() {
        let most = with_interval(knee.saturated_throughput * per_io, scaled);
        let name = match knee.reached {
            Reached::NotReached | Reached::Unclear => "The curve's ceiling",
            Reached::Saturated | Reached::Retrograde => "Saturated throughput",
        };
        facts.push(fact(name, format!("{most} {unit}")));
    }
    facts.push(fact(say!("label-unloaded-latency"), show_ns(knee.unloaded_latency_ns)));
    if let Some(little) = knee.little_knee {
        let little = with_interval(little, knee.little_knee_interval);
        facts.push(fact(say!("label-little-knee-n"), format!("{little} in flight")));
    }
    if let Some(error) = knee.fit_error_percent {
        facts.push(fact(say!("label-distance-of-points-from-the-fit"), words::percent(Some(error))));
    }
    if let Some(usl) = &knee.usl {
        let peak = usl.peak_in_flight.map_or_else(|| words::NONE.to_owned(), show_number);
        let text = format!(
            "contention {}, coherence {}, peak at {peak} in flight, typical error {}",
            show_number(usl.contention),
            show_number(usl.coherence),
            words::percent(Some(usl.error_percent))
        );
        facts.push(fact(say!("label-universal-scalability-law"), text));
    }
    facts
}
