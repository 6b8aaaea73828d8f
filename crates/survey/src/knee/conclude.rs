//! What follows from the measured loads.

use analysis::cause::{self, Evidence, Link, Observed, OtherBlock, QueueLimit};
use analysis::knee::Knee;
use analysis::numbers;
use results::{
    CurveLoad, Decides, Environment, Measurement, Purpose, Saturation, Split, WithinLatency,
};
use workload::{EngineChoice, show_number};

use super::{KneeLab, KneeOptions};
use crate::Publish;
use crate::lab::Lab;

/// More threads that bring this much more at the same number in flight have separate queues.
const MORE: f64 = 1.15;
/// The first moments of a measurement: this share of it.
const FIRST_SHARE: f64 = 0.05;

/// A measurement as a load of the curve.
pub(super) fn load(
    place: usize,
    purpose: Purpose,
    depth: u32,
    measurement: &Measurement,
) -> CurveLoad {
    let total = &measurement.total;
    CurveLoad {
        measurement: place,
        purpose,
        threads: measurement.threads,
        depth,
        in_flight: measurement.in_flight,
        achieved_in_flight: measurement.achieved_in_flight,
        block_bytes: block_bytes(measurement),
        iops: total.iops,
        mib_per_s: total.mib_per_s,
        half_width_percent: measurement.steady.as_ref().and_then(|s| s.half_width_percent),
        mean_ns: total.latency_ns.map(|l| l.mean),
        p99_ns: total.latency_ns.and_then(|l| l.p99),
        littles_law_percent: measurement.checks.littles_law_percent,
        device_in_flight: measurement.kernel.as_ref().map(|k| k.average_queue),
    }
}

/// The loads of the curve, in rising order.
pub(super) fn curve(loads: &[CurveLoad]) -> Vec<CurveLoad> {
    let mut curve: Vec<CurveLoad> =
        loads.iter().filter(|load| load.purpose == Purpose::Curve).cloned().collect();
    curve.sort_by_key(|load| load.in_flight);
    curve
}

/// The whole conclusion from the loads.
pub(super) fn saturation(
    found: &KneeLab<'_, '_>,
    knee: Option<Knee>,
    latency_target: Option<WithinLatency>,
) -> Saturation {
    let curve = curve(&found.loads);
    let split = knee.as_ref().and_then(|knee| split(found, &curve, knee));
    let causes = knee.as_ref().map(|knee| causes(found, &curve, knee, split.as_ref()));
    let controls = found.loads.iter().filter(|load| load.purpose != Purpose::Curve);
    Saturation {
        title: title(found.options),
        causes: causes.unwrap_or_default().publish(),
        controls: controls.cloned().collect(),
        knee: knee.publish(),
        curve,
        split,
        link: found.options.link.clone(),
        latency_target,
    }
}

/// The load in words: sizes, direction and order.
fn title(options: &KneeOptions) -> String {
    let stream = &options.stream;
    let blocks: Vec<String> = stream.blocks.iter().map(|block| block.bytes.to_string()).collect();
    let direction = match stream.write_percent {
        0 => "read".to_owned(),
        100 => "write".to_owned(),
        percent => format!("{percent} % write"),
    };
    let durable = if stream.durable && stream.writes() { ", durable" } else { "" };
    let pattern = stream.pattern_kind().word();
    format!("{} {pattern} {direction}{durable}", blocks.join(" + "))
}

fn split(found: &KneeLab<'_, '_>, curve: &[CurveLoad], knee: &Knee) -> Option<Split> {
    if !knee.reached.shows_a_limit() {
        return None;
    }
    let deepest = curve.last()?;
    let others = found.loads.iter().filter(|load| load.purpose == Purpose::Split);
    let others: Vec<&CurveLoad> = others.collect();
    let most = others.iter().map(|load| load.threads).max()?;
    let more = numbers::mean(&others.iter().map(|load| load.iops).collect::<Vec<_>>())?;
    // One point scatters; all beyond saturation have the same throughput.
    let beyond = curve.iter().filter(|load| load.in_flight as f64 >= 1.3 * knee.operating_load);
    let beyond = numbers::mean(&beyond.map(|load| load.iops).collect::<Vec<_>>());
    let ratio = more / beyond.filter(|iops| *iops > 0.0)?;
    let figures = format!(
        "{} in flight on {} to {most} threads instead of {} reach {} % of the throughput",
        deepest.in_flight,
        others.iter().map(|load| load.threads).min()?,
        deepest.threads,
        show_number(100.0 * ratio)
    );
    let (decides, explanation) = if ratio >= MORE {
        let load = show_number(knee.operating_load / deepest.threads as f64);
        let text = format!(
            "What saturates is each thread, at a depth of about {load}: {figures}, so that the \
             number of threads counts, too."
        );
        (Decides::DepthOfEachThread, text)
    } else {
        let load = show_number(knee.operating_load);
        let text = format!(
            "What saturates is the total, at about {load} in flight, however it is spread over \
             threads: {figures}."
        );
        (Decides::TotalInFlight, text)
    };
    Some(Split { decides, more_threads_ratio: ratio, explanation })
}

fn causes(
    found: &KneeLab<'_, '_>,
    curve: &[CurveLoad],
    knee: &Knee,
    split: Option<&Split>,
) -> Vec<cause::Likely> {
    let points: Vec<Observed> =
        curve.iter().map(|load| observed(&found.measurements[load.measurement])).collect();
    let larger = found.loads.iter().find(|load| load.purpose == Purpose::LargerBlock);
    let blocks: Vec<f64> = curve.iter().map(|load| load.block_bytes).collect();
    let splits = found.loads.iter().filter(|load| load.purpose == Purpose::Split);
    let link = found.options.link.clone().map(Link::from_published);
    let beside_iops: Vec<f64> = splits.map(|load| load.iops).collect();
    cause::causes(&Evidence {
        knee,
        points: &points,
        beside_iops: &beside_iops,
        block_bytes: numbers::median(&blocks).unwrap_or(0.0),
        writes: found.options.stream.writes(),
        link: link.as_ref(),
        queues: &queues(&found.lab),
        tool_ceiling_iops: found.ceiling_iops,
        more_threads_ratio: split.map(|split| split.more_threads_ratio),
        larger_block: larger.map(|l| OtherBlock { block_bytes: l.block_bytes, iops: l.iops }),
    })
}

/// Facts besides the points of a curve.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a> {
    /// The path to the storage, if named.
    pub(crate) link: Option<&'a Link>,
    /// What this program reaches without any I/O.
    pub(crate) ceiling: Option<f64>,
    /// The same load with larger blocks.
    pub(crate) larger: Option<&'a Measurement>,
}

/// Why a curve ends, from its points and other facts; the likeliest cause first.
pub(crate) fn causes_of(
    points: &[Measurement],
    knee: &Knee,
    beside: Beside<'_>,
    lab: &Lab<'_>,
) -> Vec<cause::Likely> {
    let larger = beside.larger;
    let blocks: Vec<f64> = points.iter().map(block_bytes).collect();
    cause::causes(&Evidence {
        knee,
        points: &points.iter().map(observed).collect::<Vec<_>>(),
        beside_iops: &[],
        block_bytes: numbers::median(&blocks).unwrap_or(0.0),
        writes: points.iter().any(|m| m.write.ios > 0),
        link: beside.link,
        queues: &queues(lab),
        tool_ceiling_iops: beside.ceiling,
        more_threads_ratio: None,
        larger_block: larger
            .map(|m| OtherBlock { block_bytes: block_bytes(m), iops: m.total.iops }),
    })
}

/// Mean size of an I/O in bytes.
fn block_bytes(measurement: &Measurement) -> f64 {
    let total = &measurement.total;
    if total.ios > 0 { total.bytes as f64 / total.ios as f64 } else { 0.0 }
}

fn observed(measurement: &Measurement) -> Observed {
    let latency = measurement.total.latency_ns;
    Observed {
        in_flight: measurement.in_flight as f64,
        achieved_in_flight: measurement.achieved_in_flight,
        iops: measurement.total.iops,
        half_width_percent: measurement.steady.as_ref().and_then(|s| s.half_width_percent),
        mean_ns: latency.map_or(0.0, |l| l.mean),
        p50_ns: latency.and_then(|l| l.p50).map(|ns| ns as f64),
        p99_ns: latency.and_then(|l| l.p99).map(|ns| ns as f64),
        burst_ratio: burst_ratio(measurement),
        device_in_flight: measurement.kernel.as_ref().map(|k| k.average_queue),
        thread_percent: measurement.cpu.busiest_thread_percent,
    }
}

/// The highest throughput of the first moments, those that were cut as warm-up included, by the
/// highest of the second half: points that hold few I/Os scatter, and their highest is compared
/// with no mean.
fn burst_ratio(measurement: &Measurement) -> Option<f64> {
    let points = || measurement.warmup_series.iter().chain(&measurement.series);
    let whole_s: f64 = points().map(|point| point.seconds).sum();
    let (mut until_s, mut first, mut last) = (0.0, 0.0_f64, 0.0_f64);
    for point in points() {
        let iops = point.read_iops + point.write_iops;
        if until_s <= FIRST_SHARE * whole_s {
            first = first.max(iops);
        }
        if until_s >= whole_s / 2.0 {
            last = last.max(iops);
        }
        until_s += point.seconds;
    }
    (last > 0.0 && points().count() >= 10).then(|| first / last)
}

/// What the operating system shows of queues on the way, and what the simulated device has.
fn queues(lab: &Lab<'_>) -> Vec<QueueLimit> {
    let setup = lab.setup();
    if setup.engine == EngineChoice::Sim {
        let limit = setup.sim.as_ref().and_then(|sim| sim.queue_limit);
        let name = "queue_limit of the simulated device".to_owned();
        return limit.map(|ios| QueueLimit { name, ios: ios.into() }).into_iter().collect();
    }
    let Environment { storage, .. } = lab.environment();
    let limit = |name: &str, of: fn(&inspect::Device) -> Option<u64>| {
        let rooms = storage.iter().map(|storage| storage.queue_room(of));
        let mut rooms: Vec<(u64, Vec<&str>)> = rooms.collect::<Option<_>>()?;
        // Targets on the same devices share their queues.
        rooms.sort_by(|(_, a), (_, b)| a.cmp(b));
        rooms.dedup_by(|(_, a), (_, b)| a == b);
        let names: Vec<&str> = rooms.iter().flat_map(|(_, names)| names).copied().collect();
        let ios = rooms.iter().fold(0_u64, |sum, (room, _)| sum.saturating_add(*room)) as f64;
        let name = format!("{name} of {}", names.join(" + "));
        (!names.is_empty()).then_some(QueueLimit { name, ios })
    };
    let both = [limit("nr_requests", |d| d.nr_requests), limit("queue_depth", |d| d.queue_depth)];
    both.into_iter().flatten().collect()
}

/// How the curve was measured, sentence by sentence.
pub(super) fn method(options: &KneeOptions, contents: &[String]) -> Vec<String> {
    let (from, to) = options.in_flight;
    let mut method = vec![
        format!("Content of the targets: {}.", contents.join("; ")),
        format!(
            "The depth of {} was doubled, from {from} up to {to} in flight in all, until two \
             doublings gained less than 5 % each and the fitted curve gained none. One more depth \
             was measured where 95 % of the highest throughput is reached.",
            show_threads(options)
        ),
        options.setup.timing_sentence(),
        "Beyond saturation, as many I/Os in flight were spread over twice and four times as many \
         threads, and blocks four times as large were used (up to 1 MiB), where possible. What \
         they change distinguishes causes."
            .to_owned(),
        "Every measurement drew new random offsets.".to_owned(),
    ];
    if let Some(target) = &options.latency_target {
        method.push(format!(
            "Depths between the last within {target} and the first beyond it were measured until \
             they were within 6 % of each other."
        ));
    }
    method
}

fn show_threads(options: &KneeOptions) -> String {
    match options.workers() {
        1 => "one thread".to_owned(),
        many => format!("each of {many} threads"),
    }
}
