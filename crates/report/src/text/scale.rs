//! The end of `iosonde scale`: what targets give alone and together.

use results::scaling::Step;
use results::{Experiment, Scale, ScaleUnit, TargetsTogether};
use workload::show_number;

use super::experiment::{foot, head};
use super::layout::{Table, WIDTH, shorten_path, wrap};
use crate::words;

/// The longest a path may be in a table.
const PATH: usize = 40;

/// The result of an experiment over several targets for a terminal.
#[must_use]
pub fn scale(experiment: &Experiment<Scale>) -> String {
    let conclusion = &experiment.conclusion;
    let mut out = head(experiment);
    out.push_str(&alone(conclusion));
    out.push_str(&together(conclusion));
    if let Some(scaling) = &conclusion.scaling {
        out.push_str("\nScaling\n");
        for finding in &scaling.findings {
            out.push_str(&wrap("  - ", &words::clean(finding), WIDTH));
        }
        out.push_str(&wrap("  Rule: ", &words::clean(&scaling.rule), WIDTH));
    }
    out.push_str(&foot(experiment));
    out
}

fn alone(conclusion: &Scale) -> String {
    let headings = ["", "alone", "file size", "IOPS", "MiB/s", "±", "mean"];
    let mut table = Table::new(2, &headings);
    for (place, target) in conclusion.alone.iter().enumerate() {
        table.row(vec![
            (place + 1).to_string(),
            shorten_path(&words::path(&target.target), PATH),
            words::size(target.file_bytes),
            show_number(target.iops),
            show_number(target.mib_per_s),
            words::percent(target.half_width_percent),
            words::mean_time(target.mean_latency_ns),
        ]);
    }
    format!("\nTargets\n{}", table.show())
}

fn together(conclusion: &Scale) -> String {
    if conclusion.together.is_empty() {
        return String::new();
    }
    let unit = match conclusion.unit {
        ScaleUnit::Iops => "IOPS",
        ScaleUnit::MibPerS => "MiB/s",
    };
    let headings = ["together", unit, "±", "sum alone", "efficiency", "mean", "kept by each"];
    let mut table = Table::new(1, &headings);
    for set in &conclusion.together {
        table.row(row(conclusion, set));
    }
    format!("\nTogether\n{}", table.show())
}

fn row(conclusion: &Scale, set: &TargetsTogether) -> Vec<String> {
    let steps = conclusion.scaling.iter().flat_map(|s| &s.steps);
    let step: Option<&Step> = steps.into_iter().find(|s| s.targets == set.targets);
    let measured = match conclusion.unit {
        ScaleUnit::Iops => set.iops,
        ScaleUnit::MibPerS => set.mib_per_s,
    };
    let kept = |step: &Step| {
        let each = step.kept_percent.iter().map(|k| show_number(k.round()));
        each.collect::<Vec<_>>().join(" ") + " %"
    };
    vec![
        set.targets.iter().map(|t| (t + 1).to_string()).collect::<Vec<_>>().join(" "),
        show_number(measured),
        words::percent(set.half_width_percent),
        step.map_or_else(|| words::NONE.to_owned(), |s| show_number(s.expected_per_s)),
        words::percent(step.map(|s| s.efficiency_percent)),
        words::mean_time(set.mean_latency_ns),
        step.map_or_else(|| words::NONE.to_owned(), kept),
    ]
}
