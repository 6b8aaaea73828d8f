//! The end of `iosonde sizes`: a curve over the sizes, and the edge of the cache.

use results::{Experiment, SizeResult, Sizes};
use workload::show_number;

use super::experiment::{foot, head};
use super::layout::{Table, WIDTH, wrap};
use crate::words;

/// Width of the longest bar.
const BAR: u8 = 24;

/// The result of an experiment over file sizes for a terminal.
#[must_use]
pub fn sizes(experiment: &Experiment<Sizes>) -> String {
    let conclusion = &experiment.conclusion;
    let mut out = head(experiment);
    out.push_str(&curve(conclusion));
    out.push_str(&wrap("  largest    ", &words::clean(&conclusion.largest_reason), WIDTH));
    if let Some(edge) = &conclusion.edge {
        out.push_str("\nCache\n");
        out.push_str(&wrap("  ", &words::clean(&edge.explanation), WIDTH));
        out.push_str(&wrap("  Rule: ", &words::clean(&edge.rule), WIDTH));
    }
    out.push_str(&foot(experiment));
    out
}

fn curve(conclusion: &Sizes) -> String {
    if conclusion.curve.is_empty() {
        return "\nNo size was measured.\n".to_owned();
    }
    let most = conclusion.curve.iter().map(|r| r.iops).fold(0.0, f64::max);
    let headings = ["file size", "IOPS", "±", "MiB/s", "mean", "p50", "p99", "fast", "C/F", ""];
    let mut table = Table::new(1, &headings);
    for result in &conclusion.curve {
        table.row(row(conclusion, result, most));
    }
    format!("\nSizes\n{}", table.show())
}

fn row(conclusion: &Sizes, result: &SizeResult, most: f64) -> Vec<String> {
    let shares = conclusion.edge.iter().flat_map(|e| &e.shares);
    let share = shares.into_iter().find(|s| s.file_bytes == result.file_bytes);
    vec![
        words::size(result.file_bytes),
        show_number(result.iops),
        words::percent(result.half_width_percent),
        show_number(result.mib_per_s),
        words::mean_time(result.mean_latency_ns),
        words::time(result.p50_latency_ns),
        words::time(result.p99_latency_ns),
        words::percent(share.map(|s| s.fast_percent)),
        words::percent(share.and_then(|s| s.expected_percent)),
        // Padded, so that bars begin at the same column in a cell that is set to the right.
        format!("{:<width$}", bar(result.iops, most), width = usize::from(BAR)),
    ]
}

fn bar(value: f64, most: f64) -> String {
    let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to BAR")]
    "█".repeat((share * f64::from(BAR)).round() as usize)
}
