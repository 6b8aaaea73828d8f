//! What speaks for each cause and against it.

use super::{Case, Cause, Evidence, Link, Observed, OtherBlock};
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
/// So many times the scatter of an exact rate, where throughput still grows, is unlike it.
const UNLIKE: f64 = 5.0;
/// Loads up to this share of the operating load are below saturation.
const BELOW: f64 = 0.8;
/// The first moments of a throttled volume are faster by this at least.
const BURST: f64 = 1.2;
/// Bytes a second that change by less than this with larger blocks stay the same.
const SAME: f64 = 0.08;
/// Saturation at so few in flight, in less time, is that of a path.
const PATH_IN_FLIGHT: f64 = 8.0;
const PATH_LATENCY_NS: f64 = 5e6;
/// Below this share of its throughput at saturation, the deepest load is on no plateau.
const FLAT: f64 = 0.85;

pub(super) fn tool(e: &Evidence<'_>) -> Case {
    let mut case =
        Case::new(Cause::Tool, "The storage may do more with more threads or a faster CPU.");
    if let Some(percent) = busiest_thread(e) {
        let weight = if percent >= THREAD_FULL_PERCENT { 4.0 } else { -1.0 };
        let percent = number(percent);
        case.note(weight, format!("the busiest submitting thread used {percent} % of its CPU"));
    }
    if let Some(ceiling) = e.tool_ceiling_iops.filter(|ceiling| *ceiling > 0.0) {
        let share = highest(e) / ceiling;
        let text = format!(
            "{} % of what this program reaches here without any I/O",
            number(100.0 * share)
        );
        case.note(if share >= CEILING_NEAR { 3.0 } else { -1.0 }, text);
    }
    if let Some(ratio) = e.more_threads_ratio {
        let weight = if ratio >= THREADS_HELP { 4.0 } else { -2.0 };
        let percent = number(100.0 * ratio);
        let text =
            format!("more threads with as many I/Os in flight had {percent} % of the throughput");
        case.note(weight, text);
    }
    if let Some(deepest) = e.points.last() {
        let kept = deepest.achieved_in_flight / deepest.in_flight;
        if kept < NOT_KEPT {
            let (had, asked) = (number(deepest.achieved_in_flight), number(deepest.in_flight));
            case.note(
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
    case.note(
        3.5,
        format!("throughput still rose at {} in flight, the deepest load", number(deepest)),
    );
    case
}

pub(super) fn device(e: &Evidence<'_>) -> Case {
    let mut case = Case::new(
        Cause::Device,
        "What it can work on at once is at work, and more in flight waits.",
    );
    if let Some((knee, deepest)) = knee_and_deepest(e) {
        let course = if deepest.iops < FLAT * knee.iops { "falls" } else { "is flat" };
        let text = format!(
            "throughput {course} from {} in flight on, while latency rises from {} to {}",
            number(knee.in_flight),
            milliseconds(knee.mean_ns),
            milliseconds(deepest.mean_ns)
        );
        case.note(2.5, text);
    }
    if let Some(ratio) = bytes_ratio(e)
        && let Some(other) = e.larger_block
        && ratio > 1.0 + SAME
    {
        let text = format!(
            "with blocks of {} it moves {} times the bytes: it is I/Os that it counts",
            size(whole(other.block_bytes)),
            number(ratio)
        );
        case.note(1.0, text);
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
        case.note(if link.holds(bytes_per_s) { 4.0 } else { -3.0 }, text);
    } else if let Some(link) = Link::near(bytes_per_s) {
        case.note(0.5, format!("{mib} MiB/s are near what {link} carries"));
    }
    if let Some(ratio) = bytes_ratio(e)
        && let Some(other) = e.larger_block
    {
        let text = format!(
            "with blocks of {} it moves {} times the bytes",
            size(whole(other.block_bytes)),
            number(ratio)
        );
        case.note(if (ratio - 1.0).abs() <= SAME { 3.0 } else { -3.0 }, text);
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
        Some(link) => format!("{link} is full; what is behind it may do more."),
        None => "It may be the storage's own, too; name the path with --link to tell them apart."
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
        case.note(3.0, format!("of {all} I/Os in flight, {device} were at the device"));
    }
    case
}

pub(super) fn throttle(e: &Evidence<'_>) -> Case {
    let mut case = Case::new(
        Cause::Throttle,
        "The volume gives that and no more, whatever the storage behind it can do.",
    );
    let plateau: Vec<&Observed> = plateau(e).collect();
    let exact = exactness(e, &mut case, &plateau);
    if bytes_ratio(e).is_some_and(|ratio| (ratio - 1.0).abs() <= SAME) {
        let text = "with larger blocks it moves as many bytes, as over a path that is full";
        case.note(-2.0, text.to_owned());
    }
    burst(e, &mut case, &plateau, exact);
    let two_humped = |point: &&&Observed| point.p50_ns.is_some_and(|p50| p50 < 0.5 * point.mean_ns);
    if exact && plateau.iter().filter(two_humped).count() * 2 > plateau.len() {
        let text =
            "most I/Os are fast and some wait long: half take less than half of the mean latency";
        case.note(1.5, text.to_owned());
    }
    case
}

/// What came before the rate that lasts. Deep loads use up a burst before they are measured; one of
/// them may be enough.
fn burst(e: &Evidence<'_>, case: &mut Case, plateau: &[&Observed], exact: bool) {
    let began = plateau.iter().filter_map(|point| point.burst_ratio);
    let bursts: Vec<f64> = began.filter(|ratio| *ratio >= BURST && ratio.is_finite()).collect();
    if bursts.is_empty() || (bursts.len() == 1 && !exact) {
        return;
    }
    let highest = number(bursts.iter().copied().fold(0.0, f64::max));
    let text = format!(
        "{} of {} measurements beyond saturation began up to {highest} times as fast as they went \
         on",
        bursts.len(),
        plateau.len()
    );
    if e.writes {
        case.note(1.0, format!("{text}, which a write cache does, too"));
    } else {
        case.note(if bursts.len() > 1 { 4.0 } else { 3.0 }, text);
    }
}

/// Whether the rate beyond saturation is exact though the storage is not, and what that says.
fn exactness(e: &Evidence<'_>, case: &mut Case, plateau: &[&Observed]) -> bool {
    let of_curve = plateau.iter().map(|point| point.iops);
    let iops: Vec<f64> = of_curve.chain(e.beside_iops.iter().copied()).collect();
    let Some(percent) = numbers::cv_percent(&iops).filter(|_| iops.len() >= 3) else {
        return false;
    };
    let text = format!(
        "beyond saturation, throughput at {} loads scatters by {} %",
        iops.len(),
        number(percent)
    );
    if percent > SCATTERS_PERCENT {
        case.note(-2.0, text);
        return false;
    }
    // Below saturation each I/O in flight has the same share of the throughput.
    let below = e.points.iter().filter(|point| point.in_flight <= BELOW * e.knee.operating_load);
    let shares: Vec<f64> = below.map(|point| point.iops / point.in_flight).collect();
    let rising = numbers::cv_percent(&shares);
    let like = |rising: f64| rising < UNLIKE * percent.max(EXACT_PERCENT);
    if percent > NEARLY_EXACT_PERCENT || rising.is_some_and(like) {
        return false;
    }
    case.note(if percent <= EXACT_PERCENT { 2.0 } else { 1.0 }, text);
    if let Some(rising) = rising {
        case.note(2.5, format!("while it grew it scattered by {} %", number(rising)));
    }
    let rate = numbers::mean(&iops).unwrap_or(0.0);
    let same = |other: &OtherBlock| (other.iops / rate - 1.0).abs() <= NEARLY_EXACT_PERCENT / 100.0;
    if let Some(other) = e.larger_block.filter(same) {
        let bytes = size(whole(other.block_bytes));
        case.note(2.0, format!("it is the same with blocks of {bytes}"));
    }
    let round = |value: f64, unit: f64| {
        value >= unit && (value / unit - (value / unit).round()).abs() * unit <= 0.002 * value
    };
    let mib = rate * e.block_bytes / 1_048_576.0;
    if round(rate, 100.0) {
        let rate = number((rate / 100.0).round() * 100.0);
        case.note(0.5, format!("the rate is round: {rate} IOPS"));
    } else if round(mib, 5.0) {
        case.note(0.5, format!("the rate is round: {} MiB/s", number(mib.round())));
    }
    true
}

/// The measured loads beyond saturation.
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

/// Bytes a second with larger blocks by those with the blocks of the curve, beyond saturation.
fn bytes_ratio(e: &Evidence<'_>) -> Option<f64> {
    let other = e.larger_block?;
    let ratio = other.iops * other.block_bytes / (e.knee.saturated_throughput * e.block_bytes);
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}
