//! The same load on each target alone, then on 1, 2, 4, 8 … together: do they add up, and what do
//! they share?

use analysis::scaling::{Rate, Together, scaling, unsaturated};
use engine::PrepareError;
use results::scaling::Scaling;
use results::{Experiment, Measurement, Scale, ScaleUnit, Status, TargetAlone, TargetsTogether};
use serde::{Deserialize, Serialize};
use workload::{Pattern, Stream, Violation};

use crate::Publish;
use crate::bench::{Bench, Here};
use crate::lab::{Lab, LabContext, Setup};

/// What to measure on which targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScaleOptions {
    /// Targets, engine, mode and timing of the experiment.
    pub setup: Setup,
    /// The load that each target gets.
    pub stream: Stream,
    /// Whether every pair is measured, to learn which targets share something.
    pub pairs: bool,
}

fn sets_of(options: &ScaleOptions) -> Result<Vec<Vec<usize>>, PrepareError> {
    let count = options.setup.targets.len();
    if count < 2 {
        let rule = "scale compares targets with each other; name two or more".to_owned();
        let violation = Violation { field: "targets".to_owned(), value: count.to_string(), rule };
        return Err(PrepareError::Invalid(vec![violation]));
    }
    Ok(sets(count, options.pairs))
}

/// Measures each target alone, then more and more of them together.
pub fn scale(
    options: &ScaleOptions,
    context: LabContext<'_>,
) -> Result<Experiment<Scale>, PrepareError> {
    let mut here = Here;
    scale_on(&mut here, options, context.within())
}

/// The same wherever the targets are.
pub fn scale_on<'a>(
    bench: &'a mut dyn Bench,
    options: &ScaleOptions,
    context: LabContext<'a>,
) -> Result<Experiment<Scale>, PrepareError> {
    let sets = sets_of(options)?;
    let mut lab = Lab::open_on(bench, options.setup.clone(), &options.stream, context)?;
    lab.expect_steps(sets.len() + 1);
    let unit = unit(&options.stream);
    let mut measurements = Vec::new();
    let (mut alone, mut together, mut doubled) = (Vec::new(), Vec::new(), None);
    for set in sets {
        if set.len() > 1 && together.is_empty() && !alone.is_empty() {
            doubled = twice(&mut lab, &options.stream, &mut measurements);
            if lab.is_over() {
                break;
            }
        }
        lab.begin(&title(&set));
        let stream = Stream { targets: set.clone(), ..options.stream.clone() };
        let Some(measurement) = lab.measure(vec![stream]) else { break };
        lab.keep(&measurement);
        match set.as_slice() {
            // A measurement that was cut short is kept and not compared.
            _ if measurement.status != Status::Complete => {}
            [one] => alone.push(target_alone(&measurement, *one)),
            _ => together.push(targets_together(&measurement, set, unit)),
        }
        measurements.push(measurement);
        if lab.is_over() {
            break;
        }
    }
    let scaling = conclude(unit, &alone, &together).map(|found| Scaling {
        findings: with_saturation(unit, (alone.first(), doubled.as_ref()), &found),
        ..found
    });
    let method = method(options, &lab, unit);
    Ok(lab.document(Scale { unit, alone, doubled, together, scaling }, measurements, method))
}

/// The first target alone with twice as many I/Os in flight; `None` if it cannot have so many.
fn twice(
    lab: &mut Lab<'_>,
    stream: &Stream,
    measurements: &mut Vec<Measurement>,
) -> Option<TargetAlone> {
    let depth = stream.depth.checked_mul(2)?;
    let stream = Stream { targets: vec![0], depth, ..stream.clone() };
    if lab.unfit(std::slice::from_ref(&stream)).is_some() {
        lab.expect_fewer(1);
        return None;
    }
    lab.begin("target 1 alone, with twice as many in flight");
    let measurement = lab.measure(vec![stream])?;
    lab.keep(&measurement);
    let complete = measurement.status == Status::Complete;
    let found = complete.then(|| target_alone(&measurement, 0));
    measurements.push(measurement);
    found
}

/// The findings. If targets add up, also whether this load could have shown otherwise.
fn with_saturation(
    unit: ScaleUnit,
    (alone, doubled): (Option<&TargetAlone>, Option<&TargetAlone>),
    found: &Scaling,
) -> Vec<String> {
    let rate = |t: &TargetAlone| Rate {
        per_s: in_unit(unit, t.iops, t.mib_per_s),
        half_width_percent: t.half_width_percent,
    };
    let more = alone.zip(doubled).filter(|_| found.first_non_linear.is_none());
    let more = more.and_then(|(alone, doubled)| {
        unsaturated(&alone.target.display().to_string(), rate(alone), rate(doubled))
    });
    found.findings.iter().cloned().chain(more).collect()
}

/// Each target, then the first 2, 4, 8 … and all of them; pairs last.
fn sets(count: usize, pairs: bool) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = (0..count).map(|t| vec![t]).collect();
    let doublings = std::iter::successors(Some(2), |n| Some(n * 2)).take_while(|n| *n < count);
    sets.extend(doublings.chain([count]).map(|n| (0..n).collect()));
    if pairs {
        let all = (0..count).flat_map(|a| (a + 1..count).map(move |b| vec![a, b]));
        // The first pair is among the doublings.
        sets.extend(all.skip(1));
    }
    sets
}

fn title(set: &[usize]) -> String {
    match set {
        [one] => format!("target {} alone", one + 1),
        [a, b] => format!("targets {} and {} together", a + 1, b + 1),
        many => format!("{} targets together", many.len()),
    }
}

/// Random I/O is judged by its number, sequential I/O by its bytes.
fn unit(stream: &Stream) -> ScaleUnit {
    if stream.pattern == Pattern::Random { ScaleUnit::Iops } else { ScaleUnit::MibPerS }
}

fn in_unit(unit: ScaleUnit, iops: f64, mib_per_s: f64) -> f64 {
    match unit {
        ScaleUnit::Iops => iops,
        ScaleUnit::MibPerS => mib_per_s,
    }
}

fn half_width(measurement: &Measurement) -> Option<f64> {
    measurement.steady.as_ref().and_then(|s| s.half_width_percent)
}

fn target_alone(measurement: &Measurement, target: usize) -> TargetAlone {
    let place = measurement.targets.get(target);
    TargetAlone {
        target: place.map(|t| t.path.clone()).unwrap_or_default(),
        file_bytes: place.map_or(0, |t| t.file_bytes),
        iops: measurement.total.iops,
        mib_per_s: measurement.total.mib_per_s,
        half_width_percent: half_width(measurement),
        mean_latency_ns: measurement.total.latency_ns.map(|l| l.mean),
    }
}

fn targets_together(
    measurement: &Measurement,
    targets: Vec<usize>,
    unit: ScaleUnit,
) -> TargetsTogether {
    let of = |target: &usize| {
        let result = measurement.targets.get(*target);
        result.map_or(0.0, |t| in_unit(unit, t.total.iops, t.total.mib_per_s))
    };
    TargetsTogether {
        each: targets.iter().map(of).collect(),
        targets,
        iops: measurement.total.iops,
        mib_per_s: measurement.total.mib_per_s,
        half_width_percent: half_width(measurement),
        mean_latency_ns: measurement.total.latency_ns.map(|l| l.mean),
    }
}

fn conclude(
    unit: ScaleUnit,
    alone: &[TargetAlone],
    together: &[TargetsTogether],
) -> Option<Scaling> {
    let names: Vec<String> = alone.iter().map(|t| t.target.display().to_string()).collect();
    let rates: Vec<Rate> = alone
        .iter()
        .map(|t| Rate {
            per_s: in_unit(unit, t.iops, t.mib_per_s),
            half_width_percent: t.half_width_percent,
        })
        .collect();
    let sets: Vec<Together> = together
        .iter()
        .map(|t| Together {
            targets: t.targets.clone(),
            total: Rate {
                per_s: in_unit(unit, t.iops, t.mib_per_s),
                half_width_percent: t.half_width_percent,
            },
            each: t.each.clone(),
        })
        .collect();
    scaling(&names, &rates, &sets).publish()
}

fn method(options: &ScaleOptions, lab: &Lab<'_>, unit: ScaleUnit) -> Vec<String> {
    let stream = &options.stream;
    let added = match unit {
        ScaleUnit::Iops => "I/Os",
        ScaleUnit::MibPerS => "MiB",
    };
    vec![
        format!(
            "The same load ran on each target alone and then on several at once, with {} I/Os in \
             flight on each target throughout (threads x depth: {} x {}). {added} per second were \
             added up.",
            u64::from(stream.threads) * u64::from(stream.depth),
            stream.threads,
            stream.depth
        ),
        "The first target was measured alone with twice as many I/Os in flight, too. Under a load \
         that does not saturate it, targets add up whatever they share."
            .to_owned(),
        lab.setup().timing_sentence(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_double_and_end_with_all() {
        let sizes =
            |count, pairs| -> Vec<usize> { sets(count, pairs).iter().map(Vec::len).collect() };
        assert_eq!(sizes(2, false), [1, 1, 2]);
        assert_eq!(sizes(4, false), [1, 1, 1, 1, 2, 4]);
        assert_eq!(sizes(5, false), [1, 1, 1, 1, 1, 2, 4, 5]);
        assert_eq!(sets(3, true)[3..], [vec![0, 1], vec![0, 1, 2], vec![0, 2], vec![1, 2]]);
        assert_eq!(sets(2, true).len(), 3, "the only pair is measured once");
    }
}
