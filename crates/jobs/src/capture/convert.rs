//! The figures of a trace become the words of its document.

use results::{
    Capture, CaptureEnding, CapturedBursts, CapturedCache, CapturedDepth, CapturedDevice,
    CapturedKind, CapturedLatency, CapturedLocality, CapturedOp, CapturedPeak, CapturedPoint,
    CapturedSequence, CapturedSize, CapturedSpan, HotPart, LatencyClass,
};
use trace::profile::{
    Burstiness, DeviceTotal, KindTotal, Latency, Locality, Peak, Sequence, Summary, TimePoint,
};
use trace::{Ending, Header, Kind};
use workload::plural;

const MIB: f64 = 1_048_576.0;

/// Turns the figures of a trace into the conclusion of its document.
pub(super) fn capture(
    summary: &Summary,
    header: &Header,
    (ending, lost_ios): (Ending, u64),
) -> Capture {
    Capture {
        source: header.source.clone(),
        ending: match ending {
            Ending::Whole => CaptureEnding::Whole,
            Ending::Cut => CaptureEnding::Cut,
            Ending::Damaged => CaptureEnding::Damaged,
        },
        lost_ios,
        late_ios: summary.late,
        span: CapturedSpan::default(),
        seconds: summary.seconds,
        ios: summary.ios,
        kinds: summary.kinds.iter().map(kind).collect(),
        devices: summary.devices.iter().map(|total| device(total, header)).collect(),
        points: summary.timeline.iter().map(point).collect(),
        read_sequence: summary.read_sequence.as_ref().map(sequence),
        write_sequence: summary.write_sequence.as_ref().map(sequence),
        locality: summary.locality.as_ref().map(locality),
        writes: Vec::new(),
        files: None,
        databases: Vec::new(),
        bursts: summary.bursts.iter().map(|all| bursts(all, summary)).collect(),
        depth: summary.depth.map(|depth| CapturedDepth {
            mean: depth.mean,
            p50: depth.p50,
            p99: depth.p99,
            max: depth.max,
        }),
        busiest_second: summary.busiest_second.as_ref().map(|peak| peak_of(peak, 1.0)),
        busiest_minute: summary.busiest_minute.as_ref().map(|peak| peak_of(peak, 60.0)),
    }
}

/// What the length of a trace is, from what it says about its begin and its end.
pub(super) fn span(header: &Header, until_ns: Option<u64>) -> CapturedSpan {
    match (header.recorded_from_ns, until_ns) {
        (Some(_), Some(_)) => CapturedSpan::Recorded,
        (Some(_), None) => CapturedSpan::BeginToLast,
        (None, _) => CapturedSpan::FirstToLast,
    }
}

/// The method of the document, sentence by sentence: how the I/Os were recorded and counted.
pub(super) fn method(capture: &Capture) -> Vec<String> {
    let mut method = vec![
        "I/Os are counted at the time of their issue; latency is from there to completion."
            .to_owned(),
    ];
    match capture.source.as_str() {
        "ebpf" => method.push(
            "A program in the kernel (eBPF) noted each I/O when it completed. Its issue is when \
             the kernel took it, so latency includes the wait in the kernel's queue."
                .to_owned(),
        ),
        "tracefs" => method.push(
            "The kernel's tracing (tracefs) noted each I/O. Its issue is when the driver got it, \
             so latency is that of the device."
                .to_owned(),
        ),
        _ => {}
    }
    if let Some(locality) = &capture.locality {
        method.push(format!(
            "Use is counted in pages of 4 KiB, of which {} % were followed (SHARDS); the cache \
             drops what was used longest ago (LRU), and writes fill it, too.",
            workload::show_number(locality.sampled_percent)
        ));
    }
    method
}

/// Every reason to doubt a figure.
pub(super) fn warnings(capture: &Capture, header: &Header) -> Vec<String> {
    let mut warnings = Vec::new();
    match capture.ending {
        CaptureEnding::Whole => {}
        CaptureEnding::Cut => {
            warnings.push("The trace stops before its end: the capture was killed.".to_owned());
        }
        CaptureEnding::Damaged => warnings.push(
            "A block of the trace is damaged: the figures are those of what precedes it. Copy the \
             file again."
                .to_owned(),
        ),
    }
    let ios = |count| plural(count, "I/O", "I/Os");
    if capture.lost_ios > 0 {
        let (lost, made) = (capture.lost_ios as f64, capture.ios as f64);
        let share = workload::show_number(100.0 * lost / (lost + made));
        let lost = plural(capture.lost_ios, "event", "events");
        warnings.push(format!(
            "The source lost {lost}, each of at most one I/O: rates are up to {share} % too low."
        ));
    }
    if capture.late_ios > 0 {
        let late = ios(capture.late_ios);
        warnings.push(format!("{late} came too late to be put into order: depth may be wrong."));
    }
    if header.devices.iter().any(|device| device.write_back == Some(false)) {
        warnings.push(
            "A device has no volatile write cache, so the kernel sends it no flushes: on one that \
             has, the same load waits for flushes that are not in this trace."
                .to_owned(),
        );
    }
    if capture.kinds.iter().all(|kind| kind.latency_ns.is_none()) {
        warnings.push("The source does not tell latencies.".to_owned());
    }
    warnings
}

/// Bytes that fit a document; no storage has more.
fn bytes(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

pub(crate) fn op(kind: Kind) -> CapturedOp {
    match kind {
        Kind::Read => CapturedOp::Read,
        Kind::Write => CapturedOp::Write,
        Kind::DurableWrite => CapturedOp::DurableWrite,
        Kind::Flush => CapturedOp::Flush,
        Kind::Discard => CapturedOp::Discard,
    }
}

pub(crate) fn kind(total: &KindTotal) -> CapturedKind {
    let size = |size: &trace::profile::SizeCount| CapturedSize { bytes: size.bytes, ios: size.ios };
    CapturedKind {
        kind: op(total.kind),
        ios: total.ios,
        bytes: bytes(total.bytes),
        sizes: total.sizes.iter().map(size).collect(),
        other_sizes: total.other_sizes,
        latency_ns: total.latency.as_ref().map(latency),
    }
}

pub(super) fn latency(latency: &Latency) -> CapturedLatency {
    CapturedLatency {
        ios: latency.ios,
        mean: latency.mean_ns,
        p50: latency.p50_ns,
        p90: latency.p90_ns,
        p99: latency.p99_ns,
        p99_9: latency.p99_9_ns,
        max: latency.max_ns,
    }
}

fn device(total: &DeviceTotal, header: &Header) -> CapturedDevice {
    let facts = header.devices.get(total.device as usize);
    CapturedDevice {
        number: total.device,
        size_bytes: facts.and_then(|facts| facts.size_bytes),
        write_back: facts.and_then(|facts| facts.write_back),
        reads: total.reads,
        writes: total.writes,
        flushes: total.flushes,
        discards: total.discards,
        read_bytes: bytes(total.read_bytes),
        write_bytes: bytes(total.write_bytes),
        end_bytes: total.end_bytes,
    }
}

fn point(point: &TimePoint) -> CapturedPoint {
    let mut all = point.read_latency.clone();
    all.join(&point.write_latency);
    let latencies = all.octaves().into_iter();
    CapturedPoint {
        t: point.from_ns as f64 / 1e9,
        seconds: point.width_ns as f64 / 1e9,
        reads: point.reads,
        writes: point.writes,
        flushes: point.flushes,
        read_bytes: bytes(point.read_bytes),
        write_bytes: bytes(point.write_bytes),
        read_p50_ns: point.read_latency.quantile(0.5),
        read_p99_ns: point.read_latency.quantile(0.99),
        write_p50_ns: point.write_latency.quantile(0.5),
        write_p99_ns: point.write_latency.quantile(0.99),
        latencies: latencies.map(|(from_ns, ios)| LatencyClass { from_ns, ios }).collect(),
    }
}

fn sequence(sequence: &Sequence) -> CapturedSequence {
    CapturedSequence {
        sequential_percent: 100.0 * sequence.sequential,
        repeated_percent: 100.0 * sequence.repeated,
        run_bytes: sequence.run_bytes,
    }
}

fn locality(locality: &Locality) -> CapturedLocality {
    let hot = locality.hot.iter();
    let cache = locality.cache.iter();
    CapturedLocality {
        sampled_percent: 100.0 * locality.sampled,
        touched_bytes: locality.touched_bytes,
        hot: hot
            .map(|part| HotPart { access_percent: 100.0 * part.share, bytes: part.bytes })
            .collect(),
        cache: cache
            .map(|point| CapturedCache { bytes: point.bytes, miss_percent: 100.0 * point.miss })
            .collect(),
        read_after_write_percent: locality.read_after_write.map(|share| 100.0 * share),
    }
}

fn bursts(all: &Burstiness, summary: &Summary) -> CapturedBursts {
    let of = |bursts: &[Burstiness]| {
        bursts.iter().find(|b| b.window_ns == all.window_ns).map(|b| b.dispersion)
    };
    CapturedBursts {
        seconds: all.window_ns as f64 / 1e9,
        all: all.dispersion,
        reads: of(&summary.read_bursts),
        writes: of(&summary.write_bursts),
    }
}

fn peak_of(peak: &Peak, seconds: f64) -> CapturedPeak {
    CapturedPeak {
        t: peak.from_ns as f64 / 1e9,
        iops: peak.ios as f64 / seconds,
        mib_per_s: peak.bytes as f64 / MIB / seconds,
        most_mib_per_s: peak.most_bytes as f64 / MIB / seconds,
    }
}
