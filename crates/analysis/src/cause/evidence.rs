//! The evidence for and against each cause of saturation.

use super::{Case, Cause, Evidence, Link, Observed, OtherBlock};
use crate::knee::Reached;
use crate::numbers;
use crate::words::{milliseconds, number, size};

/// A submitting thread this busy is the limit, or close to it.
const THREAD_FULL_PERCENT: f64 = 95.0;
/// This share of what the program can do at all is too near to its ceiling.
const CEILING_NEAR: f64 = 0.8;
/// More threads at the same number in flight that bring this much more show a limit of one thread.
const THREADS_HELP: f64 = 1.15;
/// In flight by asked for: less means that the I/O did not reach the storage.
const NOT_KEPT: f64 = 0.9;
/// A saturation point this near to the limit of a queue is that of the queue.
const QUEUE_NEAR: f64 = 0.15;
/// A rate that scatters by no more than this from one load to the next is set by a clock.
const EXACT_PERCENT: f64 = 0.05;
const NEARLY_EXACT_PERCENT: f64 = 0.3;
/// A rate that scatters by more is not.
const SCATTERS_PERCENT: f64 = 1.5;
/// Below saturation the share of each I/O in flight must rise by more than this many of the half
/// widths, and by this at least, to show that the storage differs from one load to the next.
const SURE: f64 = 2.0;
const DIFFERS_PERCENT: f64 = 1.0;
/// A figure is round when it lies this near, as a share of it, to one of two digits.
const ROUND: f64 = 0.0005;
/// Loads up to this share of the operating load are below saturation.
const BELOW: f64 = 0.8;
/// The first moments of a throttled volume are faster by this at least.
const BURST: f64 = 1.2;
/// Bytes a second that change by less than this with larger blocks stay the same.
const SAME: f64 = 0.08;
/// Saturation at so few in flight, in less time, is that of a path.
const PATH_IN_FLIGHT: f64 = 8.0;
const PATH_LATENCY_NS: f64 = 5e6;

pub(super) fn tool(e: &Evidence<'_>) -> Case {
    let mut case =
        Case::new(Cause::Tool, "The storage may do more with more threads or a faster CPU.");
    if let Some(percent) = busiest_thread(e) {
        let weight = if percent >= THREAD_FULL_PERCENT { 4.0 } else { -1.0 };
        let percent = number(percent);
        case.weigh(weight, format!("the busiest submitting thread used {percent} % of its CPU"));
    }
    if let Some(ceiling) = e.tool_ceiling_iops.filter(|ceiling| *ceiling > 0.0) {
        let share = highest(e) / ceiling;
        let text = format!(
            "{} % of what this program reaches here without any I/O",
            number(100.0 * share)
        );
        case.weigh(if share >= CEILING_NEAR { 3.0 } else { -1.0 }, text);
    }
    if let Some(ratio) = e.more_threads_ratio {
        let weight = if ratio >= THREADS_HELP { 4.0 } else { -2.0 };
        let percent = number(100.0 * ratio);
        let text =
            format!("more threads with as many I/Os in flight had {percent} % of the throughput");
        case.weigh(weight, text);
    }
    if let Some(deepest) = e.points.last() {
        let kept = deepest.achieved_in_flight / deepest.in_flight;
        if kept < NOT_KEPT {
            let (had, asked) = (number(deepest.achieved_in_flight), number(deepest.in_flight));
            case.prove(
                3.0,
                format!("only {had} of the {asked} asked I/Os were in flight, on average"),
            );
        }
    }
    case
}

pub(super) fn not_reached(e: &Evidence<'_>) -> Case {
    let mut case = Case::new(
        Cause::NotReached,
        "The storage can do at least what was measured, and more with more in flight.",
    );
    let deepest = e.points.last().map_or(0.0, |point| point.in_flight);
    case.prove(
        3.5,
        format!("throughput still rose at {} in flight, the deepest load", number(deepest)),
    );
    case
}

pub(super) fn device(e: &Evidence<'_>, rate: &Rate) -> Case {
    let sentence = match rate {
        Rate::Exact { differs: None, .. } => {
            "It works on as many I/Os at once as it can, and more in flight waits. Storage of even \
             service gives as exact a rate as a limit on I/Os does."
        }
        Rate::Exact { .. } | Rate::Scatters { .. } | Rate::Unknown => {
            "It works on as many I/Os at once as it can, and more in flight waits."
        }
    };
    let mut case = Case::new(Cause::Device, sentence);
    if let Some((knee, deepest)) = knee_and_deepest(e) {
        let course = match e.knee.reached {
            Reached::Retrograde => "falls",
            Reached::Saturated => "is flat",
            Reached::NotReached | Reached::Unclear => "was measured",
        };
        let text = format!(
            "throughput {course} from {} in flight on, while latency rises from {} to {}",
            number(knee.in_flight),
            milliseconds(knee.mean_ns),
            milliseconds(deepest.mean_ns)
        );
        case.note(2.5, text);
    }
    match blocks(e) {
        Blocks::Counted { text } => {
            case.note(1.0, text);
            // No path, then; and no set rate where the rate is not exact.
            if let Rate::Scatters { text } = rate {
                case.note(0.0, text.clone());
                case.proof += 1.0;
            }
        }
        Blocks::SameBytes { text } if e.writes => {
            case.note(1.0, format!("{text}, as a write cache does that drains at its own pace"));
        }
        Blocks::SameBytes { .. } | Blocks::Unknown => {}
    }
    if let Some(text) = burst(e).filter(|_| e.writes) {
        case.note(1.0, format!("{text}, as with a write cache that fills"));
    }
    if e.more_threads_ratio.is_some_and(|ratio| ratio >= THREADS_HELP) {
        case.note(-2.0, "more threads with as many I/Os in flight were faster".to_owned());
    }
    case
}

pub(super) fn link(e: &Evidence<'_>) -> Case {
    let bytes_per_s = e.knee.saturated_throughput.min(highest(e)) * e.block_bytes;
    let mib = number(bytes_per_s / 1_048_576.0);
    let mut case = Case::new(Cause::Link, path_sentence(e));
    if let Some(link) = e.link {
        let share = number(100.0 * bytes_per_s / link.bytes_per_s);
        let text = format!("{mib} MiB/s are {share} % of what {link} carries");
        case.weigh(if link.holds(bytes_per_s) { 4.0 } else { -3.0 }, text);
    } else if let Some(link) = Link::near(bytes_per_s) {
        case.note(0.5, format!("{mib} MiB/s are near what {link} carries"));
    }
    match blocks(e) {
        Blocks::SameBytes { text } => case.note(3.0, text),
        Blocks::Counted { text } => case.note(-3.0, text),
        Blocks::Unknown => {}
    }
    let load = e.knee.operating_load;
    let latency_ns = e.knee.operating_point.latency_ns;
    if load <= PATH_IN_FLIGHT && latency_ns <= PATH_LATENCY_NS {
        let (load, latency) = (number(load), milliseconds(latency_ns));
        case.note(0.5, format!("it is reached with {load} in flight already, at {latency}"));
    }
    case
}

fn path_sentence(e: &Evidence<'_>) -> String {
    match e.link {
        Some(link) => format!("{link} is full; the storage it leads to may do more."),
        None => "It may be the storage's own, or a limit set in bytes per second; name the path \
                 with --link to tell them apart."
            .to_owned(),
    }
}

pub(super) fn queue(e: &Evidence<'_>) -> Case {
    let mut case =
        Case::new(Cause::Queue, "It takes no more at once; a longer one may bring more.");
    let Some(knee) = e.knee.little_knee else { return case };
    let apart = |ios: f64| (knee / ios).ln().abs();
    let near = e.queues.iter().filter(|queue| queue.ios >= 1.0);
    let Some(queue) = near.min_by(|a, b| apart(a.ios).total_cmp(&apart(b.ios))) else {
        return case;
    };
    let text = format!(
        "saturation is that of {} at once, and {} is {}",
        number(knee),
        queue.name,
        number(queue.ios)
    );
    case.note(if apart(queue.ios) <= QUEUE_NEAR { 4.0 } else { -4.0 }, text);
    let Some(deepest) = e.points.last() else { return case };
    if let Some(device) = deepest.device_in_flight
        && (device / queue.ios - 1.0).abs() <= QUEUE_NEAR
        && deepest.achieved_in_flight >= 1.5 * queue.ios
    {
        let (device, all) = (number(device), number(deepest.achieved_in_flight));
        case.prove(3.0, format!("of {all} I/Os in flight, {device} were at the device"));
    }
    case
}

pub(super) fn throttle(e: &Evidence<'_>, rate: &Rate) -> Case {
    let blocks = blocks(e);
    let sentence = match (&blocks, rate) {
        (Blocks::SameBytes { .. }, _) => {
            "A limit set in bytes per second looks like a full path, unless a burst comes first."
        }
        (_, Rate::Exact { differs: None, .. }) => {
            "An I/O limit, or as many parallel servers of even service: both give such a rate."
        }
        _ => "The volume gives that and no more, whatever the storage under it can do.",
    };
    let mut case = Case::new(Cause::Throttle, sentence);
    match (&blocks, rate) {
        // A full path makes its rate as exact.
        (Blocks::SameBytes { text }, _) => case.note(3.0, text.clone()),
        (_, Rate::Exact { text, weight, differs, .. }) => {
            case.note(*weight, text.clone());
            if let Some(text) = differs {
                case.prove(2.5, text.clone());
            }
            exact(e, rate, &mut case);
        }
        (_, Rate::Scatters { text }) => case.note(-2.0, text.clone()),
        (_, Rate::Unknown) => {}
    }
    if let Some(text) = burst(e) {
        if e.writes {
            case.note(1.0, format!("{text}, which a write cache does, too"));
        } else {
            case.prove(4.0, text);
        }
    }
    case
}

/// What else is seen of a rate that is exact.
fn exact(e: &Evidence<'_>, rate: &Rate, case: &mut Case) {
    let Rate::Exact { iops: rate, .. } = *rate else { return };
    let same = |other: &OtherBlock| (other.iops / rate - 1.0).abs() <= NEARLY_EXACT_PERCENT / 100.0;
    if let Some(other) = e.larger_block.filter(same) {
        let bytes = size(whole(other.block_bytes));
        case.note(2.0, format!("it is the same with blocks of {bytes}"));
    }
    let mib = rate * e.block_bytes / 1_048_576.0;
    if is_round(rate) {
        case.note(0.5, format!("the rate is round: {} IOPS", number(rate)));
    } else if is_round(mib) {
        case.note(0.5, format!("the rate is round: {} MiB/s", number(mib)));
    }
    let plateau: Vec<&Observed> = plateau(e).collect();
    let two_humped = |point: &&&Observed| point.p50_ns.is_some_and(|p50| p50 < 0.5 * point.mean_ns);
    if plateau.iter().filter(two_humped).count() * 2 > plateau.len() {
        let text =
            "most I/Os are fast and some wait long: half take less than half of the mean latency";
        case.prove(1.5, text.to_owned());
    }
}

/// Whether a figure has two digits and then nothing: by chance, one in ten to one in a hundred do.
fn is_round(value: f64) -> bool {
    let unit = 10.0_f64.powf(value.log10().floor() - 1.0);
    unit >= 1.0 && (value - (value / unit).round() * unit).abs() <= ROUND * value
}

/// What came before the rate that lasts, where at least two measurements show it, or one of an
/// exact rate. Deep loads may use up a burst before they are measured; a write cache is filled by
/// the first load.
fn burst(e: &Evidence<'_>) -> Option<String> {
    let seen: Vec<&Observed> =
        if e.writes { e.points.iter().collect() } else { plateau(e).collect() };
    let began = seen.iter().filter_map(|point| point.burst_ratio);
    let bursts: Vec<f64> = began.filter(|ratio| *ratio >= BURST && ratio.is_finite()).collect();
    let one_is_enough = e.writes || matches!(rate(e), Rate::Exact { .. });
    if bursts.is_empty() || (bursts.len() == 1 && !one_is_enough) {
        return None;
    }
    let highest = number(bursts.iter().copied().fold(0.0, f64::max));
    let (some, all) = (bursts.len(), seen.len());
    Some(format!("{some} of {all} measurements began up to {highest} times as fast as they ended"))
}

/// How the rate beyond saturation differs from one load to the next.
pub(super) enum Rate {
    /// It does not. `differs` says that the storage below saturation does, by more than chance, so
    /// that it is not what makes the rate.
    Exact { iops: f64, weight: f64, text: String, differs: Option<String> },
    /// By more than a set rate would.
    Scatters { text: String },
    /// Neither of them, or too few loads.
    Unknown,
}

pub(super) fn rate(e: &Evidence<'_>) -> Rate {
    let of_curve = plateau(e).map(|point| point.iops);
    let iops: Vec<f64> = of_curve.chain(e.beside_iops.iter().copied()).collect();
    let Some(percent) = numbers::cv_percent(&iops).filter(|_| iops.len() >= 3) else {
        return Rate::Unknown;
    };
    let loads = iops.len();
    let text =
        format!("beyond saturation, throughput at {loads} loads scatters by {} %", number(percent));
    if percent > SCATTERS_PERCENT {
        return Rate::Scatters { text };
    }
    if percent > NEARLY_EXACT_PERCENT {
        return Rate::Unknown;
    }
    let weight = if percent <= EXACT_PERCENT { 2.0 } else { 1.0 };
    Rate::Exact { iops: numbers::mean(&iops).unwrap_or(0.0), weight, text, differs: differs(e) }
}

/// Whether the storage differs from one load to the next below saturation.
///
/// There each I/O in flight has the same share of the throughput, and I/Os that meet make it less.
/// A deeper load whose share is larger, by more than the two are uncertain of, was given faster
/// storage.
fn differs(e: &Evidence<'_>) -> Option<String> {
    let below = e.points.iter().filter(|point| point.in_flight <= BELOW * e.knee.operating_load);
    let below: Vec<&Observed> = below.collect();
    let mut most = 0.0_f64;
    for (place, deeper) in below.iter().enumerate() {
        for point in &below[..place] {
            let (Some(a), Some(b)) = (point.half_width_percent, deeper.half_width_percent) else {
                continue;
            };
            let share = |point: &Observed| point.iops / point.in_flight;
            let rise = 100.0 * (share(deeper) / share(point) - 1.0);
            if rise > (SURE * a.hypot(b)).max(DIFFERS_PERCENT) {
                most = most.max(rise);
            }
        }
    }
    let text =
        || format!("below saturation the storage differs from load to load by {} %", number(most));
    (most > 0.0).then(text)
}

/// The measured loads past the saturation point.
fn plateau<'a>(e: &'a Evidence<'_>) -> impl Iterator<Item = &'a Observed> {
    let from = 1.3 * e.knee.operating_load.max(e.knee.little_knee.unwrap_or(0.0));
    e.points.iter().filter(move |point| point.in_flight >= from)
}

fn knee_and_deepest<'a>(e: &'a Evidence<'_>) -> Option<(&'a Observed, &'a Observed)> {
    let knee = e.points.iter().find(|point| point.in_flight >= e.knee.operating_load)?;
    let deepest = e.points.last()?;
    (deepest.in_flight > knee.in_flight && deepest.mean_ns > knee.mean_ns)
        .then_some((knee, deepest))
}

fn busiest_thread(e: &Evidence<'_>) -> Option<f64> {
    let known = plateau(e).chain(e.points.last()).filter_map(|point| point.thread_percent);
    known.filter(|percent| percent.is_finite()).max_by(f64::total_cmp)
}

fn highest(e: &Evidence<'_>) -> f64 {
    e.points.iter().map(|point| point.iops).filter(|iops| iops.is_finite()).fold(0.0, f64::max)
}

/// A mean size in whole bytes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(bytes: f64) -> u64 {
    bytes.round() as u64
}

/// What larger blocks show about the bottleneck.
enum Blocks {
    /// They move as many bytes per second.
    SameBytes { text: String },
    /// They move more bytes: it is I/Os that are counted.
    Counted { text: String },
    /// They were not measured, or move fewer bytes.
    Unknown,
}

fn blocks(e: &Evidence<'_>) -> Blocks {
    let Some(other) = e.larger_block else { return Blocks::Unknown };
    let ratio = other.iops * other.block_bytes / (e.knee.saturated_throughput * e.block_bytes);
    if !ratio.is_finite() || ratio < 1.0 - SAME {
        return Blocks::Unknown;
    }
    let bytes = size(whole(other.block_bytes));
    let text = format!("with blocks of {bytes} it moves {} times the bytes", number(ratio));
    if ratio <= 1.0 + SAME {
        Blocks::SameBytes { text }
    } else {
        Blocks::Counted { text: format!("{text}: it is I/Os that it counts") }
    }
}
