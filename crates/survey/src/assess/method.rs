//! How an assessment was made, in sentences.

use workload::Mode;

use super::plan::{Load, PLAIN_WRITE, Timing};
use super::{AssessOptions, beside};
use crate::lab;

/// The targets of an assessment, in words.
pub(super) struct Place {
    /// The whole paths of the targets, in words.
    pub(super) targets: String,
    /// What is known of their content, in a phrase.
    pub(super) content: String,
    /// They are on several hosts, which have every load at once.
    pub(super) together: bool,
}

/// How it was measured, sentence by sentence.
pub(super) fn sentences(
    options: &AssessOptions,
    timing: &Timing,
    loads: &[Load],
    place: &Place,
) -> Vec<String> {
    let mode = match options.mode {
        Mode::Direct => "I/O goes past the operating system's cache (O_DIRECT).",
        Mode::Buffered | Mode::Mapped => {
            "I/O goes through the operating system's cache, which takes part in every figure."
        }
    };
    let mut sentences = vec![
        format!("I/O went to {}: {}.", place.targets, place.content),
        mode.to_owned(),
        "Data are the first seven eighths of the file, the log is the rest. One thread submits \
         all I/O. Every measurement draws new random offsets, and sequential reads begin at \
         another place each time. So no read is answered from what an earlier measurement left in \
         a cache."
            .to_owned(),
        length("pattern", &timing.pattern),
        format!(
            "Measurements that write, and those after them, were preceded by a pause of {} s.",
            timing.pattern.settle_seconds
        ),
        "Latency is from the call that submits an I/O to the moment its completion is seen, of \
         every single I/O. An I/O counts when it completes inside the measured window."
            .to_owned(),
        format!(
            "The loads are shaped like the I/O of {}; they are not the database itself.",
            options.database.title()
        ),
    ];
    sentences.extend(ramps(timing, loads));
    if loads.iter().any(|load| load.offered) {
        sentences.push(format!(
            "How much fits within the limits of OLTP data was found in an open loop. I/Os came at \
             random moments, at a set rate, and latency counts from the moment at which one is \
             due. The rate was raised and lowered until one that fits and one that does not were \
             within a factor of {}; it was then held for {} s.",
            timing.offering.close, timing.offering.hold_seconds
        ));
    }
    let plain = loads.iter().any(|load| load.name.starts_with(PLAIN_WRITE));
    let plain = if plain { "; once more without that, to see what it costs" } else { "" };
    sentences.push(format!(
        "Log writes are sequential, one at a time, each on stable media before it completes \
         (O_DSYNC){plain}."
    ));
    sentences.extend(beside::method(options.database, timing));
    if place.together {
        sentences.push(
            "Every host had each load at the same moment, with its own data and its own log, and \
             a rate was offered in equal parts. What is judged is the sum over all hosts, with \
             the latencies of all their I/Os in one histogram. So a host that is slower than the \
             others may not show in a verdict; each measurement has those of the single hosts."
                .to_owned(),
        );
        return sentences;
    }
    sentences.push(
        "The kernel's own counters of the device were read at both ends of every window and \
         compared with the tool's."
            .to_owned(),
    );
    sentences
}

/// How depths were raised, where any were.
fn ramps(timing: &Timing, loads: &[Load]) -> Vec<String> {
    let titles: Vec<&str> = loads.iter().filter(|l| l.ramp).map(|l| l.title.as_str()).collect();
    if titles.is_empty() {
        return vec!["Every load was measured once, at one depth.".to_owned()];
    }
    vec![
        format!(
            "The depth of {} was raised 1, 2, 4 … until throughput stopped growing while latency \
            rose, and once more to a depth between. The loads were then measured at the operating \
             point, the smallest depth with 95 % of the highest throughput.",
            titles.join(", ")
        ),
        length("depth of a ramp", &timing.ramp),
    ]
}

fn length(what: &str, timing: &lab::Timing) -> String {
    let Some(precision) = timing.precision else {
        let lab::Timing { seconds, warmup_seconds, .. } = timing;
        return format!("Each {what} took {seconds} s after {warmup_seconds} s of warm-up.");
    };
    format!(
        "Each {what} was measured until the mean was known to within ±{} % (95 % interval), for \
         {} to {} s after {} s of warm-up.",
        precision.percent, precision.at_least_seconds, timing.seconds, timing.warmup_seconds
    )
}
