//! Whether a measurement held still, and what it says about that.

use analysis::steady::{self, Rule, Steady};
use analysis::{noise, phases};
use results::{Measurement, Point};

use crate::Publish;

/// A series with fewer points cannot be judged.
const POINTS_MIN: usize = 10;

/// Adds to a measurement that was put together from others how well its mean is known.
pub fn add_steadiness(measurement: &mut Measurement) {
    add(measurement, None);
}

/// Adds how well the mean is known, the phases before and after a cache was full or credits were
/// used up, and of writes the steady state by the rule of the field.
///
/// `watched` is what the rule found that may have ended the run; it knows the warm-up that was cut.
pub(crate) fn add(measurement: &mut Measurement, watched: Option<Steady>) {
    let bucket_s = measurement.workload.interval_ns.0 as f64 / 1e9;
    if !is_paced(measurement) {
        let whole: Vec<f64> =
            measurement.warmup_series.iter().chain(&measurement.series).map(iops).collect();
        measurement.phases = phases::write_cache(&whole, bucket_s).publish();
    }
    if measurement.series.len() < POINTS_MIN || is_paced(measurement) {
        return;
    }
    let asked =
        measurement.workload.precision.map_or(Rule::default().precision_percent, |p| p.percent);
    let kept = || {
        let series: Vec<f64> = measurement.series.iter().map(iops).collect();
        // The figures are means over all of it, and so are the sentences about them.
        steady::judge_whole(&series, bucket_s, asked)
    };
    let cut_s: f64 = measurement.warmup_series.iter().map(|p| p.seconds).sum();
    // What the watch knows holds where the window begins at its cut, but for the rounding of that.
    let fits = |found: &Steady| cut_s >= found.cut_s && cut_s < 1.1 * found.cut_s + 2.0 * bucket_s;
    let steady = watched.filter(fits).unwrap_or_else(kept);
    if measurement.write.ios > 0 {
        let series: Vec<f64> = measurement.series.iter().map(iops).collect();
        measurement.rounds = Some(noise::stability(&series).publish());
    }
    measurement.steady = Some(steady.publish());
}

/// What gives reason to doubt that the storage will do tomorrow what it did in this window.
pub(crate) fn doubts(measurement: &Measurement) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(measurement.phases.as_ref().map(|phases| phases.explanation.clone()));
    found.extend(both_levels(measurement));
    if measurement.series.len() < POINTS_MIN || is_paced(measurement) {
        return found;
    }
    if measurement.workload.precision.is_some() {
        let unsettled = measurement.steady.as_ref().filter(|steady| !steady.settled);
        found.extend(unsettled.map(|steady| steady.explanation.clone()));
        return found;
    }
    let series: Vec<f64> = measurement.series.iter().map(iops).collect();
    let stability = noise::stability(&series);
    if !stability.settled {
        found.push(format!(
            "not settled: over the window IOPS ranged over {:.0} % of their mean and moved by \
             {:.0} %; measure longer",
            stability.range_percent, stability.slope_percent
        ));
    }
    found
}

/// The phases of a run whose first level could not be left out: `None` without a precision, and if
/// the last level is too short a part of the run.
fn both_levels(measurement: &Measurement) -> Option<String> {
    let sustained = measurement.phases.as_ref()?;
    let left_out_s: f64 = measurement.warmup_series.iter().map(|p| p.seconds).sum();
    let bucket_s = measurement.workload.interval_ns.0 as f64 / 1e9;
    (left_out_s + bucket_s < sustained.at_s).then(|| {
        "the figures of the whole hold both levels: they are higher than what is sustained; \
         measure longer, with `--precision`"
            .to_owned()
    })
}

fn iops(point: &Point) -> f64 {
    point.read_iops + point.write_iops
}

/// Whether the workload sets the pace, not the storage.
fn is_paced(measurement: &Measurement) -> bool {
    measurement.workload.streams.iter().any(|s| s.rate.is_some())
}
