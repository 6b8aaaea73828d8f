//! The saturation point of one load: how many I/Os in flight it takes, and what then keeps
//! throughput from growing.
//!
//! The search of `analysis::knee` raises the depth of the load. `analysis::cause` explains the
//! result with the help of a few loads off the curve, which distinguish causes: as many I/Os in
//! flight on more threads, and larger blocks.

pub(crate) mod conclude;
mod latency;

use analysis::knee::{Knee, LoadPoint, Search, find_knee};
use engine::PrepareError;
use results::{CurveLoad, Experiment, Measurement, Purpose, Saturation, Status};
use serde::{Deserialize, Serialize};
use workload::{Block, Bytes, Stream, Violation};

use crate::bench::{Bench, Here};
use crate::lab::{Lab, LabContext, Setup};

pub use latency::{LatencyTarget, LatencyTargetError};

/// How many times as many threads as the curve has take as many I/Os in flight.
const SPLITS: [u32; 2] = [2, 4];
/// Larger blocks are so many times as large, and no larger than this.
const LARGER: u64 = 4;
const LARGER_MAX: u64 = 1 << 20;
/// Memory that larger blocks may take.
const LARGER_MEMORY: u64 = 1 << 28;

/// The load, and how far to raise it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KneeOptions {
    /// Targets, engine, mode and timing of the search.
    pub setup: Setup,
    /// The load; the search varies its depth.
    pub stream: Stream,
    /// I/Os in flight in all: the least and the most to be measured.
    pub in_flight: (u32, u32),
    /// The path to the storage, where it is known.
    pub link: Option<results::cause::Link>,
    /// The most within a latency is sought, too.
    pub latency_target: Option<LatencyTarget>,
}

impl KneeOptions {
    /// How many threads there are on all targets together.
    fn workers(&self) -> u32 {
        let targets = u32::try_from(self.setup.targets.len()).unwrap_or(u32::MAX);
        self.stream.threads.saturating_mul(targets).max(1)
    }

    /// The least and the most depth of each thread.
    ///
    /// Refuses a range in which no depth gives a number in flight: with more threads than I/Os.
    fn depths(&self) -> Result<(u32, u32), PrepareError> {
        let (from, to) = self.in_flight;
        let workers = self.workers();
        let depths = (from.max(1).div_ceil(workers), to / workers);
        if depths.0 <= depths.1 {
            return Ok(depths);
        }
        let rule = format!(
            "{workers} threads have a multiple of {workers} I/Os in flight, and none is in this \
             range; widen it with --from and --to or use fewer threads"
        );
        let (field, value) = ("in flight".to_owned(), format!("{from} to {to}"));
        Err(PrepareError::Invalid(vec![Violation { field, value, rule }]))
    }
}

/// Finds where the load saturates.
///
/// `stop` ends it early: the result then has what was measured until then, and the status says so.
pub fn knee(
    options: &KneeOptions,
    context: LabContext<'_>,
) -> Result<Experiment<Saturation>, PrepareError> {
    let mut here = Here;
    knee_on(&mut here, options, context.within())
}

/// The same wherever the targets are.
pub fn knee_on<'a>(
    bench: &'a mut dyn Bench,
    options: &KneeOptions,
    context: LabContext<'a>,
) -> Result<Experiment<Saturation>, PrepareError> {
    let (least, most) = options.depths()?;
    let deepest = Stream { depth: most, ..options.stream.clone() };
    let lab = Lab::open_on(bench, options.setup.clone(), &deepest, context)?;
    let mut found =
        KneeLab { options, lab, ceiling_iops: None, measurements: Vec::new(), loads: Vec::new() };
    found.ceiling_iops = found.lab.tool_ceiling();
    let knee = found.curve(&Search::new(least, most));
    if let Some(knee) = &knee {
        found.splits(knee);
        found.larger_block(knee);
    }
    let latency_target = options.latency_target.as_ref().map(|target| found.within(target));
    let conclusion = conclude::saturation(&found, knee, latency_target);
    let method = conclude::method(options, &found.lab.contents());
    Ok(found.lab.document(conclusion, found.measurements, method))
}

/// The state of a search, with its measurements.
struct KneeLab<'a, 'o> {
    options: &'o KneeOptions,
    lab: Lab<'a>,
    /// What this program reaches on this host without any I/O.
    ceiling_iops: Option<f64>,
    measurements: Vec<Measurement>,
    /// One per measurement that came to its end.
    loads: Vec<CurveLoad>,
}

impl KneeLab<'_, '_> {
    /// The search, and what it found.
    fn curve(&mut self, search: &Search) -> Option<Knee> {
        self.lab.expect_steps(search.at_most());
        let mut by_depth = Vec::new();
        while let Some(depth) = search.next(&by_depth) {
            let Some(load) = self.measure(Purpose::Curve, self.at(depth)) else { break };
            let mut point = load_point(&self.measurements[load]);
            point.in_flight = f64::from(depth);
            by_depth.push(point);
        }
        find_knee(&self.points())
    }

    /// The points of the curve, in rising order.
    fn points(&self) -> Vec<LoadPoint> {
        conclude::curve(&self.loads)
            .iter()
            .map(|l| load_point(&self.measurements[l.measurement]))
            .collect()
    }

    /// The stream of the load at a depth.
    fn at(&self, depth: u32) -> Stream {
        Stream { depth, ..self.options.stream.clone() }
    }

    /// The deepest load of the curve on more threads.
    fn splits(&mut self, knee: &Knee) {
        let curve = conclude::curve(&self.loads);
        let Some(deepest) = curve.last() else { return };
        // Before saturation, total and depth of each thread bring the same.
        if !knee.reached.shows_a_limit() || deepest.in_flight as f64 <= 1.5 * knee.operating_load {
            return;
        }
        let depth = deepest.depth;
        // Others would have fewer in flight.
        for times in SPLITS.into_iter().filter(|times| depth.is_multiple_of(*times)) {
            let threads = self.options.stream.threads.saturating_mul(times);
            let stream = Stream { threads, ..self.at(depth / times) };
            self.measure_if_it_fits(Purpose::Split, stream);
        }
    }

    /// Larger blocks at the first depth of the curve that is twice as deep as its operating load.
    fn larger_block(&mut self, knee: &Knee) {
        let [Block { bytes, weight }] = self.options.stream.blocks.as_slice() else { return };
        let (bytes, weight) = (Bytes(bytes.0.saturating_mul(LARGER)), *weight);
        let curve = conclude::curve(&self.loads);
        let enough = |load: &CurveLoad| load.in_flight as f64 >= 1.9 * knee.operating_load;
        let Some(at) = curve.into_iter().find(enough) else { return };
        let stream = Stream { blocks: vec![Block { bytes, weight }], ..self.at(at.depth) };
        let sizes = self.lab.facts().into_iter().map(|facts| facts.size_bytes);
        let smallest = sizes.min().unwrap_or(0).min(stream.span_bytes.map_or(u64::MAX, |s| s.0));
        let fits = bytes.0 <= smallest / 4 && bytes.0 * at.in_flight <= LARGER_MEMORY;
        if bytes.0 <= LARGER_MAX && fits && stream.align_bytes.is_none() {
            self.measure_if_it_fits(Purpose::LargerBlock, stream);
        }
    }

    /// A load next to the curve: without it, less is known of the cause, and that is all.
    fn measure_if_it_fits(&mut self, purpose: Purpose, stream: Stream) {
        if self.lab.unfit(std::slice::from_ref(&stream)).is_none() {
            self.measure(purpose, stream);
        }
    }

    /// Measures a load and keeps it; its place, or nothing when the experiment is over.
    fn measure(&mut self, purpose: Purpose, stream: Stream) -> Option<usize> {
        if self.lab.is_over() {
            return None;
        }
        self.lab.begin(&title(purpose, &stream));
        let depth = stream.depth;
        let mut measurement = self.lab.measure(vec![stream])?;
        measurement.checks.tool_ceiling_iops = self.ceiling_iops;
        self.lab.keep(&measurement);
        let place = self.measurements.len();
        // What a signal or an error cut short is not a point of a curve, be it ever so short.
        let whole = measurement.status == Status::Complete;
        if whole {
            self.loads.push(conclude::load(place, purpose, depth, &measurement));
        }
        self.measurements.push(measurement);
        whole.then_some(place)
    }
}

fn title(purpose: Purpose, stream: &Stream) -> String {
    let plural = if stream.threads == 1 { "" } else { "s" };
    let load = format!("{} thread{plural} x depth {}", stream.threads, stream.depth);
    match purpose {
        Purpose::Curve => format!("saturation: {load}"),
        Purpose::Split => format!("other threads: {load}"),
        Purpose::LargerBlock => format!("larger blocks: {load}"),
        Purpose::LatencyTarget => format!("latency target: {load}"),
    }
}

/// A measurement as a point of a saturation curve.
pub(crate) fn load_point(measurement: &Measurement) -> LoadPoint {
    LoadPoint {
        in_flight: measurement.in_flight as f64,
        throughput: measurement.total.iops,
        latency_ns: measurement.total.latency_ns.map_or(0.0, |l| l.mean),
        half_width_percent: measurement.steady.as_ref().and_then(|s| s.half_width_percent),
    }
}
