//! The same load over growing parts of one file: how large is the cache that answers instead of the
//! storage?
//!
//! One file of the largest size is made; each smaller size is its first part. A separate file for
//! every size would be elsewhere on the medium, and its caches would have to be filled again.

mod choose;

use analysis::edge::{SizePoint, find_edge};
use engine::PrepareError;
use results::edge::Edge;
use results::{Experiment, Histogram, Measurement, SizeResult, Sizes, Status, Warmed};
use serde::{Deserialize, Serialize};
use workload::{Block, Bytes, Distribution, EngineChoice, Mode, Pattern, PatternKind, Stream};

use crate::Publish;
use crate::lab::{Lab, LabContext, Setup, Timing, mix};
use crate::medium;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The sizes of L. Shea, "Benchmarking Disk I/O Performance: Size Matters!" (2007).
pub const STANDARD_SIZES: [Bytes; 7] = [
    Bytes(256 * MIB),
    Bytes(512 * MIB),
    Bytes(2 * GIB),
    Bytes(8 * GIB),
    Bytes(32 * GIB),
    Bytes(64 * GIB),
    Bytes(128 * GIB),
];

/// A pass reads in blocks of this size, so many at a time.
const PASS_BLOCK: u64 = MIB;
const PASS_DEPTH: u32 = 8;
/// The first part of a pass, from which the time of the rest is known.
const PASS_BEGIN_S: f64 = 0.5;

/// What to measure, and on which sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SizesOptions {
    /// Targets, engine, mode and timing of the experiment.
    pub setup: Setup,
    /// The load; its span is set to each size.
    pub stream: Stream,
    /// The sizes; those that do not fit are left out.
    pub sizes: Vec<Bytes>,
    /// The longest that writing the file may take, as far as that can be foreseen.
    pub fill_seconds: f64,
    /// The longest that reading a size before it is measured may take; 0 leaves it out.
    pub pass_seconds: f64,
}

/// What `sizes` would prepare, for `--dry-run`: the setup with the size of its file.
pub fn sizes_setup(options: &SizesOptions) -> Result<Setup, PrepareError> {
    Ok(choose::by_space(options)?.setup)
}

/// Measures the load on every size and looks for the edge of a cache.
pub fn sizes(
    options: &SizesOptions,
    mut context: LabContext<'_>,
) -> Result<Experiment<Sizes>, PrepareError> {
    let chosen = choose::by_space_and_time(options, &mut context)?;
    let largest = chosen.sizes.last().copied().unwrap_or_default();
    let whole = sized(&options.stream, largest);
    let mut lab = Lab::open(chosen.setup, &whole, context)?;
    lab.stay_in_place();
    lab.expect_steps(chosen.sizes.len());
    let (mut curve, mut measurements) = (Vec::new(), Vec::new());
    for size in chosen.sizes {
        lab.begin(&format!("{size} of the file"));
        let warmed = warm(&mut lab, options, size);
        let Some(mut measurement) = lab.measure(vec![sized(&options.stream, size)]) else { break };
        measurement.warmed = warmed;
        lab.keep(&measurement);
        // A measurement that was cut short is kept and not compared.
        if measurement.status == Status::Complete {
            curve.push(result(&measurement, size, warmed));
        }
        measurements.push(measurement);
        if lab.is_over() {
            break;
        }
    }
    let edge = edge(&options.stream, &curve, &measurements, medium::rotational(lab.environment()));
    let method = method(options, &lab, &curve);
    let conclusion = Sizes { curve, largest_reason: chosen.reason, edge };
    Ok(lab.document(conclusion, measurements, method))
}

/// The load on the first part of the file.
fn sized(stream: &Stream, size: Bytes) -> Stream {
    let span = size.0.saturating_sub(stream.offset_bytes.0);
    Stream { span_bytes: Some(Bytes(span)), ..stream.clone() }
}

/// Reads a size once in order, as far as the time for it goes.
///
/// The engine measures by time, so the pass is one short part to learn the speed and one part for
/// the rest.
fn warm(lab: &mut Lab<'_>, options: &SizesOptions, size: Bytes) -> Option<Warmed> {
    if lab.setup().engine.is_artificial() || options.pass_seconds <= 0.0 {
        return None;
    }
    if let Some(answer) = lab.answer() {
        return answer.warmed;
    }
    let align = lab.facts().first().map_or(1, |f| f.direct_align_bytes);
    // One thread that waits per I/O has one in flight.
    let depth = if lab.setup().engine == EngineChoice::Sync { 1 } else { PASS_DEPTH };
    let mut warmed = Warmed { bytes: 0, seconds: 0.0, whole: false };
    while warmed.bytes < size.0 {
        let left_s = options.pass_seconds - warmed.seconds;
        if left_s <= 0.0 || lab.is_over() {
            return Some(warmed);
        }
        let speed = warmed.bytes as f64 / warmed.seconds;
        let needed =
            if speed > 0.0 { (size.0 - warmed.bytes) as f64 / speed } else { PASS_BEGIN_S };
        let timing = Timing {
            seconds: needed.clamp(0.05, left_s.max(0.05)),
            warmup_seconds: 0.0,
            precision: None,
            settle_seconds: 0.0,
        };
        // How many parts a pass has does not change the seeds of what is measured.
        let own = mix(!lab.setup().seed, warmed.bytes);
        let pass = pass(warmed.bytes, size, align, depth);
        let measurement = lab.make_unrecorded(vec![pass], timing, own)?;
        if measurement.total.bytes == 0 {
            return Some(warmed);
        }
        warmed.bytes += measurement.total.bytes;
        warmed.seconds += measurement.seconds;
    }
    Some(Warmed { bytes: warmed.bytes.min(size.0), whole: true, ..warmed })
}

/// A read of the rest of a size, in order.
fn pass(from: u64, size: Bytes, align: u64, depth: u32) -> Stream {
    // Blocks end where the size ends, and begin where the last part ended.
    let align = align.max(1);
    let block = (PASS_BLOCK.min(size.0) / align * align).max(align);
    let from = from / PASS_BLOCK * PASS_BLOCK;
    let offset = from.min(size.0.saturating_sub(block)) / align * align;
    Stream {
        name: "pass".to_owned(),
        pattern: Pattern::Sequential,
        depth,
        blocks: vec![Block { bytes: Bytes(block), weight: 1 }],
        offset_bytes: Bytes(offset),
        span_bytes: Some(Bytes(size.0 - offset)),
        ..Stream::default()
    }
}

fn result(measurement: &Measurement, size: Bytes, warmed: Option<Warmed>) -> SizeResult {
    let latency = measurement.total.latency_ns;
    SizeResult {
        file_bytes: size.0,
        iops: measurement.total.iops,
        mib_per_s: measurement.total.mib_per_s,
        half_width_percent: measurement.steady.as_ref().and_then(|s| s.half_width_percent),
        mean_latency_ns: latency.map(|l| l.mean),
        p50_latency_ns: latency.and_then(|l| l.p50),
        p99_latency_ns: latency.and_then(|l| l.p99),
        warmed,
    }
}

/// The edge of a cache, from loads whose share of hits is known: uniformly random reads.
fn edge(
    stream: &Stream,
    curve: &[SizeResult],
    measurements: &[Measurement],
    rotational: Option<bool>,
) -> Option<Edge> {
    if !shows_caches(stream) {
        return None;
    }
    let point = |(result, m): (&SizeResult, &Measurement)| {
        let histogram = Histogram::decode(m.total.histogram.as_deref()?).ok()?;
        Some(SizePoint {
            file_bytes: result.file_bytes,
            mean_latency_ns: result.mean_latency_ns?,
            latencies: histogram.buckets().collect(),
        })
    };
    let points: Vec<SizePoint> = curve.iter().zip(measurements).filter_map(point).collect();
    find_edge(&points, rotational).publish()
}

fn shows_caches(stream: &Stream) -> bool {
    stream.pattern_kind() == PatternKind::Random
        && stream.distribution == Distribution::Uniform
        && !stream.writes()
}

fn method(options: &SizesOptions, lab: &Lab<'_>, curve: &[SizeResult]) -> Vec<String> {
    let (stream, setup) = (&options.stream, lab.setup());
    let mut method = vec![
        "One file of the largest size was made; each size is its first part, so that everything \
         else stays the same."
            .to_owned(),
        format!(
            "The load had {} I/Os in flight. With so few, I/Os that a cache answers do not wait \
            behind others, and the two kinds stay apart in the latencies.",
            u64::from(stream.threads) * u64::from(stream.depth)
        ),
        setup.timing_sentence(),
    ];
    let cut = curve.iter().filter(|r| r.warmed.is_some_and(|w| !w.whole)).count();
    method.push(if curve.iter().all(|r| r.warmed.is_none()) {
        "Nothing was read before a size was measured.".to_owned()
    } else if cut == 0 {
        "Before a size was measured, all of it was read once in order, so that caches could fill."
            .to_owned()
    } else {
        format!(
            "Before a size was measured, it was read in order for at most {} s, so that caches \
             could fill; {cut} of {} sizes were not read to their end.",
            options.pass_seconds,
            curve.len()
        )
    });
    if setup.mode == Mode::Buffered {
        method.push(
            "I/O went through the cache of the operating system, which is part of what was found."
                .into(),
        );
    }
    if !shows_caches(stream) {
        method.push(
            "A size of a cache follows from uniformly random reads only; of this load there is \
             the curve alone."
                .into(),
        );
    }
    method
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pass over 300 000 bytes read a block of 300 000, which direct I/O refuses: the experiment
    /// failed.
    #[test]
    fn a_pass_over_any_size_has_aligned_blocks_and_stays_inside() {
        for size in [300_000, PASS_BLOCK, 5 * PASS_BLOCK + 1000] {
            for from in [0, 299_520, PASS_BLOCK, size - 1] {
                let stream = pass(from, Bytes(size), 4096, 1);
                let (offset, block) = (stream.offset_bytes.0, stream.largest_block());
                assert!(offset.is_multiple_of(4096) && block.is_multiple_of(4096), "{stream:?}");
                assert!(block > 0 && offset + block <= size, "{stream:?}");
                assert_eq!(offset + stream.span_bytes.unwrap().0, size);
            }
        }
    }
}
