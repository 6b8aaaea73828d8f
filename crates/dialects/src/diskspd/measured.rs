//! Turns what iosonde measured into DiskSpd's result.

use std::path::Path;

use results::{
    Histogram, IntervalSpread, Latency, Measurement, Statistics, Status, ThreadPoint, ThreadResult,
};
use workload::Stream;

use super::job::Job;
use super::profile::TimeSpan;
use super::result::{
    CpuTicks, Figures, Intervals, Latencies, Measured, Slice, SpanResult, Spread, TargetFigures,
    ThreadFigures,
};

/// The result of a time span. `cpu_ticks` are of the processors in the order of the result's
/// topology.
#[must_use]
pub fn span_result(
    span: &TimeSpan,
    job: &Job,
    measurement: &Measurement,
    cpu_ticks: Vec<CpuTicks>,
) -> SpanResult {
    if measurement.seconds <= 0.0
        || measurement.status == Status::Interrupted && measurement.total.ios == 0
    {
        return SpanResult::Interrupted;
    }
    let mut threads: Vec<ThreadFigures> = Vec::new();
    let mut last = None;
    let crews = measurement.workload.crews();
    // Streams with the same threads come one after the other; where a thread changes from one to
    // the next it stays the same.
    let crew_of = |name: &str| {
        let streams = &measurement.workload.streams;
        let index = streams.iter().position(|s| s.name == name)?;
        crews.iter().position(|crew| crew.contains(&index))
    };
    for detail in &measurement.threads_detail {
        let stream = measurement.workload.streams.iter().find(|s| s.name == detail.stream);
        let figures = target_figures(span, job, measurement, stream, detail);
        // The targets of one thread of a pool come one after the other.
        let pooled = stream.is_some_and(|s| s.pool.is_some());
        let thread = pooled.then(|| (crew_of(&detail.stream), detail.thread));
        match threads.last_mut() {
            Some(open) if thread.is_some() && thread == last => open.targets.push(figures),
            _ => threads.push(ThreadFigures { targets: vec![figures] }),
        }
        last = thread;
    }
    SpanResult::Measured(Measured {
        seconds: measurement.seconds,
        cpu_ticks,
        threads,
        intervals: (span.iops_std_dev && !measurement.workload.thread_series)
            .then(|| intervals(span, measurement)),
    })
}

fn target_figures(
    span: &TimeSpan,
    job: &Job,
    measurement: &Measurement,
    stream: Option<&Stream>,
    detail: &ThreadResult,
) -> TargetFigures {
    // A file that iosonde makes has whole pages; its reported size is what was asked for.
    let made_bytes = measurement.targets.get(detail.target).map_or(0, |t| t.file_bytes);
    let file_bytes = job.asked(detail.target).map_or(made_bytes, |asked| asked.min(made_bytes));
    let path = job.names.get(detail.target).cloned().unwrap_or_else(|| {
        let path = measurement.targets.get(detail.target).map(|t| t.path.as_path());
        path.unwrap_or(Path::new("")).display().to_string()
    });
    // Of a single thread the histograms are those of the run.
    let alone = measurement.threads_detail.len() == 1;
    let has_series = span.iops_std_dev && measurement.workload.thread_series;
    let of = |own: &Statistics, all: &Statistics, pick: fn(&ThreadPoint) -> &IntervalSpread| {
        let histogram = own.histogram.as_ref().or(all.histogram.as_ref().filter(|_| alone));
        let intervals = has_series.then(|| thread_intervals(span, &detail.series, pick));
        Figures { intervals, ..figures(own, histogram.filter(|_| span.measure_latency)) }
    };
    TargetFigures {
        path,
        file_bytes,
        read: of(&detail.read, &measurement.read, |point| &point.read),
        write: of(&detail.write, &measurement.write, |point| &point.write),
        slices: stream.map(|stream| slices(stream, file_bytes)).unwrap_or_default(),
    }
}

fn figures(own: &Statistics, histogram: Option<&String>) -> Figures {
    let histogram = histogram.and_then(|text| Histogram::decode(text).ok());
    let latencies = match (&histogram, &own.latency_ns) {
        (Some(histogram), Some(Latency { min: Some(min), mean, max: Some(max), .. })) => {
            let us = |ns: u64| ns as f64 / 1e3;
            Latencies::of(histogram).with_exact(us(*min), us(*max), mean / 1e3)
        }
        _ => Latencies::default(),
    };
    Figures { bytes: own.bytes, ios: own.ios, latencies, intervals: None }
}

/// Where the random I/Os of a stream went, if the profile says something about it.
fn slices(stream: &Stream, file_bytes: u64) -> Vec<Slice> {
    let Some(order) = stream.diskspd.as_ref().filter(|order| !order.slices.is_empty()) else {
        return Vec::new();
    };
    let rest = file_bytes.saturating_sub(stream.offset_bytes.0);
    let used = stream.span_bytes.map_or(rest, |span| span.0.min(rest));
    let effective = order.slices.effective(used, stream.largest_block(), order.step_bytes.0);
    let percent = |share: u64| u32::try_from(share).unwrap_or(u32::MAX);
    let slice = |s: &workload::EffectiveSlice| Slice {
        io_from_percent: percent(s.io_base),
        io_percent: percent(s.io_span),
        offset_bytes: s.offset,
        bytes: s.length,
    };
    effective.map(|e| e.slices.iter().map(slice).collect()).unwrap_or_default()
}

/// What a thread did in one direction in each interval, and how long it took. A last interval that
/// was cut short is left out, as of the whole span.
fn thread_intervals(
    span: &TimeSpan,
    series: &[ThreadPoint],
    pick: fn(&ThreadPoint) -> &IntervalSpread,
) -> Intervals {
    let whole = series.iter().filter(|p| p.seconds >= whole_interval_s(span)).map(pick);
    let ms = |ns: Option<f64>| ns.unwrap_or(0.0) / 1e6;
    let counted = whole.map(|interval| {
        let spread = Spread {
            min: ms(interval.min_ns.map(|ns| ns as f64)),
            max: ms(interval.max_ns.map(|ns| ns as f64)),
            mean: ms(interval.mean_ns),
            stddev: ms(interval.stddev_ns),
        };
        (interval.ios, Some(spread))
    });
    Intervals::new(span.io_bucket_ms, counted.collect())
}

/// What counts as a whole interval.
fn whole_interval_s(span: &TimeSpan) -> f64 {
    f64::from(span.io_bucket_ms) / 1e3 * 0.99
}

/// Reads and writes of each interval; a last one that was cut short is left out, because it would
/// look like a slow one.
fn intervals(span: &TimeSpan, measurement: &Measurement) -> (Intervals, Intervals) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let count = |per_s: f64, seconds: f64| (per_s * seconds).round() as u64;
    let whole_s = whole_interval_s(span);
    let whole: Vec<_> = measurement.series.iter().filter(|p| p.seconds >= whole_s).collect();
    // The series does not say how the latencies of an interval are spread.
    let reads = whole.iter().map(|p| (count(p.read_iops, p.seconds), None)).collect();
    let writes = whole.iter().map(|p| (count(p.write_iops, p.seconds), None)).collect();
    (Intervals::new(span.io_bucket_ms, reads), Intervals::new(span.io_bucket_ms, writes))
}
