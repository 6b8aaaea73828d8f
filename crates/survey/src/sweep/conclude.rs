//! What a sweep found: the figures of every cell, and the best of each load.

use std::collections::BTreeMap;

use analysis::knee::{LoadPoint, find_knee};
use results::{Measurement, Source, SweptCell, SweptCurve};
use workload::sweep::Cell;

use super::checks::Standing;
use crate::Publish;

const MIB: f64 = 1_048_576.0;

/// The figures of a cell, over all of its rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figures {
    pub(super) iops: f64,
    pub(super) mib_per_s: f64,
    pub(super) latency_ns: Option<f64>,
    pub(super) p99_ns: Option<u64>,
    pub(super) error_percent: Option<f64>,
}

/// The figures of the measurements of one cell; `None` if nothing was done in any of them.
pub(super) fn figures(rounds: &[&Measurement]) -> Option<Figures> {
    let seconds: f64 = rounds.iter().map(|m| m.seconds).sum();
    let ios: u64 = rounds.iter().map(|m| m.total.ios).sum();
    if ios == 0 || seconds <= 0.0 {
        return None;
    }
    let latencies =
        || rounds.iter().filter_map(|m| Some((m.total.latency_ns?, m.total.ios as f64)));
    let known: f64 = latencies().map(|(_, ios)| ios).sum();
    let sum: f64 = latencies().map(|(latency, ios)| latency.mean * ios).sum();
    let p99 = |m: &&Measurement| m.total.latency_ns.and_then(|l| l.p99);
    let own = |m: &&Measurement| m.steady.as_ref().and_then(|s| s.half_width_percent);
    let errors: Vec<f64> = rounds.iter().filter_map(own).collect();
    Some(Figures {
        iops: ios as f64 / seconds,
        mib_per_s: rounds.iter().map(|m| m.total.mib_per_s * m.seconds).sum::<f64>() / seconds,
        latency_ns: (known > 0.0).then(|| sum / known),
        // Percentiles of several rounds cannot be added; the highest is the careful one.
        p99_ns: rounds.iter().filter_map(p99).max(),
        error_percent: (errors.len() == rounds.len()).then(|| of_mean(&errors)),
    })
}

/// The half width of a mean from those of its parts, which do not depend on each other.
fn of_mean(half_widths: &[f64]) -> f64 {
    half_widths.iter().map(|e| e * e).sum::<f64>().sqrt() / half_widths.len() as f64
}

fn is_whole(measurement: &Measurement) -> bool {
    measurement.workload.precision.is_none()
}

/// Every cell with its figures. `measured` holds, for each cell, the places of its measurements in
/// `measurements`.
pub(super) fn cells(
    cells: &[Cell],
    measurements: &[Measurement],
    measured: &BTreeMap<u32, Vec<usize>>,
    left_out: &BTreeMap<u32, String>,
) -> Vec<SweptCell> {
    let swept = |cell: &Cell| {
        let places = measured.get(&cell.number).cloned().unwrap_or_default();
        let rounds: Vec<&Measurement> = places.iter().map(|p| &measurements[*p]).collect();
        // Where rates change within a window, whole ones and short ones differ.
        let whole: Vec<&Measurement> = rounds.iter().filter(|m| is_whole(m)).copied().collect();
        let found = figures(if whole.is_empty() { &rounds } else { &whole });
        let reason = left_out.get(&cell.number).cloned();
        let source = match (rounds.is_empty(), &reason) {
            (false, _) => Source::Measured,
            (true, Some(_)) => Source::LeftOut,
            (true, None) => Source::Missing,
        };
        SweptCell {
            in_flight: cell.in_flight(),
            source,
            reason,
            measurements: places,
            iops: found.map(|f| f.iops),
            mib_per_s: found.map(|f| f.mib_per_s),
            latency_ns: found.and_then(|f| f.latency_ns),
            p99_ns: found.and_then(|f| f.p99_ns),
            error_percent: found.and_then(|f| f.error_percent),
            cell: cell.clone(),
        }
    };
    cells.iter().map(swept).collect()
}

pub(super) fn mib_per_s(cell: &Cell, iops: f64) -> f64 {
    iops * cell.block_bytes.0 as f64 / MIB
}

/// The cells of each load, in the order of the plan.
pub(super) fn loads(cells: &[SweptCell]) -> Vec<Vec<&SweptCell>> {
    let mut loads: Vec<Vec<&SweptCell>> = Vec::new();
    for cell in cells {
        match loads.iter_mut().find(|load| same_load(&load[0].cell, &cell.cell)) {
            Some(load) => load.push(cell),
            None => loads.push(vec![cell]),
        }
    }
    loads
}

/// Whether two cells differ in nothing but threads, depth and length.
fn same_load(a: &Cell, b: &Cell) -> bool {
    let key = |c: &Cell| (c.write_percent, c.pattern, c.block_bytes, c.durable, c.sync);
    let whose = |c: &Cell| (c.targets.clone(), c.operation.clone(), c.spec.clone());
    key(a) == key(b) && whose(a) == whose(b) && a.parts == b.parts
}

/// The best of each load that was measured at all.
pub(super) fn curves(cells: &[SweptCell]) -> Vec<SweptCurve> {
    loads(cells).iter().filter_map(|load| curve(load)).collect()
}

fn curve(load: &[&SweptCell]) -> Option<SweptCurve> {
    let first = &load[0].cell;
    let points = points(load);
    let best = load
        .iter()
        .filter(|c| c.iops.is_some())
        .max_by(|a, b| a.iops.unwrap_or(0.0).total_cmp(&b.iops.unwrap_or(0.0)))?;
    let best_iops = best.iops?;
    // Two points are a line, and a line has no knee.
    let knee = (points.len() > 2).then(|| find_knee(&points)).flatten();
    let operating = knee.as_ref().map(|k| k.operating_point);
    Some(SweptCurve {
        title: first.load_title(),
        operation: first.operation.clone(),
        targets: first.targets.clone(),
        cells: load.iter().map(|c| c.cell.number).collect(),
        source: Source::Measured,
        best_iops,
        best_mib_per_s: best.mib_per_s?,
        error_percent: best.error_percent,
        operating_in_flight: operating.map(|o| o.in_flight),
        operating_latency_ns: operating.map(|o| o.latency_ns),
        knee: knee.publish(),
        split_difference_percent: split_difference_percent(load),
    })
}

/// The cells of the same total in flight as one point each, in rising order.
fn points(load: &[&SweptCell]) -> Vec<LoadPoint> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let point = |(in_flight, cells): (u64, Vec<&SweptCell>)| {
        let iops: Vec<f64> = cells.iter().filter_map(|c| c.iops).collect();
        let latencies: Vec<f64> = cells.iter().filter_map(|c| c.latency_ns).collect();
        let errors: Vec<f64> = cells.iter().filter_map(|c| c.error_percent).collect();
        (!latencies.is_empty()).then(|| LoadPoint {
            in_flight: in_flight as f64,
            throughput: mean(&iops),
            latency_ns: mean(&latencies),
            half_width_percent: (errors.len() == cells.len()).then(|| of_mean(&errors)),
        })
    };
    by_total(load).into_iter().filter_map(point).collect()
}

/// Cells with figures by their total in flight.
fn by_total<'a>(load: &[&'a SweptCell]) -> BTreeMap<u64, Vec<&'a SweptCell>> {
    let mut totals: BTreeMap<u64, Vec<&SweptCell>> = BTreeMap::new();
    for &cell in load.iter().filter(|c| c.iops.is_some()) {
        totals.entry(cell.in_flight).or_default().push(cell);
    }
    totals
}

/// How far cells of the same total in flight are apart, in percent of their mean: the largest of
/// all totals.
fn split_difference_percent(load: &[&SweptCell]) -> Option<f64> {
    let difference = |cells: Vec<&SweptCell>| {
        let iops: Vec<f64> = cells.iter().filter_map(|c| c.iops).collect();
        let (least, most) =
            iops.iter().fold((f64::INFINITY, 0.0f64), |(l, m), x| (l.min(*x), m.max(*x)));
        let mean = iops.iter().sum::<f64>() / iops.len() as f64;
        (iops.len() > 1 && mean > 0.0).then(|| 100.0 * (most - least) / mean)
    };
    by_total(load).into_values().filter_map(difference).reduce(f64::max)
}

/// Takes back the figures of cells of which only the beginning of a window is known, where rates
/// change within windows: that of a burst is the best of everything.
pub(super) fn take_back(standing: &Standing<'_>, cells: &mut [SweptCell]) {
    let outdated = |c: &&mut SweptCell| {
        let here = standing.cells.iter().any(|cell| cell.number == c.cell.number);
        here && c.source == Source::Measured && standing.is_outdated(&c.cell)
    };
    for cell in cells.iter_mut().filter(outdated) {
        cell.source = Source::Missing;
        (cell.iops, cell.mib_per_s, cell.error_percent) = (None, None, None);
        (cell.latency_ns, cell.p99_ns) = (None, None);
    }
}

/// Adds what follows for the cells of a kind of I/O that were not measured, and the best of each of
/// its loads; gives measured cells the intervals that repetitions call for.
pub(super) fn infer(standing: &Standing<'_>, cells: &mut [SweptCell], curves: &mut [SweptCurve]) {
    let numbers: Vec<u32> = standing.cells.iter().map(|c| c.number).collect();
    for cell in cells.iter_mut().filter(|c| numbers.contains(&c.cell.number)) {
        if cell.source == Source::Measured {
            cell.error_percent =
                cell.error_percent.and_then(|e| standing.of_measured(&cell.cell, e));
        }
    }
    let of_kind = |curve: &&mut SweptCurve| curve.cells.iter().any(|n| numbers.contains(n));
    let mut falling: Vec<u32> = Vec::new();
    for curve in curves.iter_mut().filter(of_kind) {
        let here: Vec<&SweptCell> =
            curve.cells.iter().filter_map(|n| cells.get(usize::try_from(*n).ok()?)).collect();
        if best_of_load(standing, &here, curve) {
            falling.extend(&curve.cells);
        }
    }
    for cell in cells.iter_mut().filter(|c| numbers.contains(&c.cell.number)) {
        if cell.source != Source::Missing {
            continue;
        }
        if falling.contains(&cell.cell.number) {
            let reason = "throughput falls past a peak, which is not inferred";
            cell.reason = Some(reason.to_owned());
        } else {
            fill(cell, standing);
        }
    }
}

/// The best of a load, measured or inferred; gives whether its throughput falls past a peak.
fn best_of_load(standing: &Standing<'_>, load: &[&SweptCell], curve: &mut SweptCurve) -> bool {
    let here: Vec<&Cell> = load.iter().map(|c| &c.cell).collect();
    let falls = standing.design.has_peak(&here);
    let inferred = (!falls && !standing.every_cell && !contradicts(standing, load))
        .then(|| standing.design.best(&here))
        .flatten();
    if let (Some(best), Some(first)) = (inferred, here.first()) {
        curve.source = if best.own { Source::Measured } else { Source::Inferred };
        curve.best_iops = best.figures.iops;
        curve.best_mib_per_s = mib_per_s(first, best.figures.iops);
        curve.error_percent = standing.widened(best.figures.error_percent);
        curve.operating_in_flight = Some(best.operating_in_flight);
        curve.operating_latency_ns = Some(best.operating_latency_ns);
    } else {
        let best = load.iter().filter(|c| c.iops.is_some());
        let best = best.max_by(|a, b| a.iops.unwrap_or(0.0).total_cmp(&b.iops.unwrap_or(0.0)));
        curve.error_percent = best.and_then(|c| c.error_percent);
    }
    falls
}

/// Whether the inferred and the measured figure of a cell exclude each other: then the load has the
/// measured one.
fn contradicts(standing: &Standing<'_>, load: &[&SweptCell]) -> bool {
    let excluded = |cell: &&SweptCell| {
        let measured = cell.iops.zip(cell.error_percent);
        let inferred = standing.inferred(&cell.cell);
        measured.zip(inferred).is_some_and(|((iops, error_percent), inferred)| {
            let width = (error_percent / 100.0).ln_1p() + (inferred.error_percent / 100.0).ln_1p();
            (iops / inferred.iops).ln().abs() > width
        })
    };
    load.iter().filter(|c| c.source == Source::Measured).any(excluded)
}

/// Gives a cell the figures that follow for it.
fn fill(cell: &mut SweptCell, standing: &Standing<'_>) {
    if let Some(found) = standing.inferred(&cell.cell) {
        cell.source = Source::Inferred;
        cell.iops = Some(found.iops);
        cell.mib_per_s = Some(mib_per_s(&cell.cell, found.iops));
        cell.latency_ns = Some(found.latency_ns);
        cell.error_percent = Some(found.error_percent);
    }
}
