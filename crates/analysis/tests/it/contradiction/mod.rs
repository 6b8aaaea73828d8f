//! What no result may say together, over what was concluded and over the words.

use analysis::cause::{Cause, Likely};
use analysis::knee::{Knee, Reached};

/// Phrases of which no two may stand in one result.
const ENDINGS: [&[&str]; 4] = [
    &["stops growing at", "already gives the full throughput", "is flat from"],
    &["declines past it", "throughput falls from"],
    &["still rising", "still rose", "limit was not reached"],
    &["unclear where throughput stops", "do not show whether throughput reached a limit"],
];

/// Every contradiction between a knee, its causes and whether something was said to saturate.
pub(crate) fn contradictions(
    knee: &Knee,
    causes: &[Likely],
    deepest: f64,
    saturates: Option<&str>,
) -> Vec<String> {
    let operates = knee.operating_point.in_flight;
    let mut found = Vec::new();
    let mut must = |holds: bool, rule: &str| {
        if !holds {
            found.push(rule.to_owned());
        }
    };
    let limits =
        |cause| matches!(cause, Cause::Device | Cause::Link | Cause::Queue | Cause::Throttle);
    let names_limit = causes.iter().any(|likely| limits(likely.cause));
    let names_none = causes.iter().any(|likely| likely.cause == Cause::NotReached);
    let falls = knee.peak.in_flight < deepest;
    match knee.reached {
        Reached::Saturated => must(operates < deepest, "flat from the deepest load on"),
        Reached::Retrograde => must(falls && operates < deepest, "falls without a peak"),
        Reached::NotReached => {
            must(!falls, "still rises below its peak");
            must(operates > deepest / 2.0, "still rises, yet half of the load is enough");
        }
        Reached::Unclear => {}
    }
    let shown = knee.reached.shows_a_limit();
    must(shown || !names_limit, "a limit is named where none was shown");
    must(shown || saturates.is_none(), "something saturates where nothing was shown to");
    must(!names_none || knee.reached == Reached::NotReached, "no limit was reached, and one was");
    must(knee.usl.is_none() || knee.reached == Reached::Retrograde, "a law of a fall that is none");
    let mut sentences = vec![knee.explanation.as_str()];
    sentences.extend(saturates);
    for likely in causes {
        sentences.push(&likely.sentence);
        sentences.extend(likely.evidence.iter().chain(&likely.against).map(String::as_str));
    }
    let says = |phrases: &&&[&str]| {
        phrases.iter().any(|phrase| sentences.iter().any(|sentence| sentence.contains(phrase)))
    };
    let said: Vec<&&[&str]> = ENDINGS.iter().filter(says).collect();
    if said.len() != 1 {
        found.push(format!("{said:?} in {sentences:#?}"));
    }
    found
}
