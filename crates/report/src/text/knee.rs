//! What `iosonde knee` says at its end.

use results::cause::{Certainty, Likely};
use results::knee::{Interval, Knee, Reached};
use results::{CurveLoad, Experiment, Purpose, Saturation, Status};
use workload::{show_ns, show_number};

use super::layout::{Table, WIDTH, wrap};
use crate::words;

/// The saturation point of a load for a terminal.
#[must_use]
pub fn knee(e: &Experiment<Saturation>) -> String {
    let c = &e.conclusion;
    let mut out = head(e);
    out.push_str(&curve(c));
    match &c.knee {
        Some(knee) => out.push_str(&figures(knee)),
        None => out.push_str("\nNo saturation point: fewer than two loads could be measured.\n"),
    }
    out.push_str(&causes(&c.causes));
    if let Some(split) = &c.split {
        out.push_str("\nThreads\n");
        out.push_str(&wrap("  ", &words::clean(&split.explanation), WIDTH));
    }
    if let Some(within) = &c.latency_target {
        out.push_str("\nLatency target\n");
        out.push_str(&wrap("  ", &words::clean(&within.explanation), WIDTH));
    }
    if let Some(knee) = &c.knee {
        out.push_str("\nRule\n");
        out.push_str(&wrap("  ", &words::clean(&knee.rule), WIDTH));
    }
    if !e.warnings.is_empty() {
        out.push_str("\nWarnings\n");
        for warning in &e.warnings {
            out.push_str(&wrap("  - ", &words::clean(warning), WIDTH));
        }
    }
    out
}

fn head(e: &Experiment<Saturation>) -> String {
    let names: Vec<String> = e.targets.iter().map(|target| words::path(target)).collect();
    let size = words::size(e.file_bytes);
    let mut out = format!("{}, file size {size}\n", names.join(", "));
    let mut line = |text: &str| out.push_str(&wrap("  ", text, WIDTH));
    line(&format!("Saturation of {}", words::clean(&e.conclusion.title)));
    if let Some(first) = e.measurements.first() {
        line(&words::mode(&first.workload));
    }
    match e.status {
        Status::Complete => {}
        Status::Interrupted => {
            line("INTERRUPTED: these are the figures of the part that was measured.");
        }
        Status::Failed => line("FAILED: these are the figures of the part before that."),
    }
    out
}

fn curve(c: &Saturation) -> String {
    let heads =
        ["load", "", "in flight", "achieved", "IOPS", "±", "MiB/s", "mean", "p99", "Little"];
    let mut table = Table::new(2, &heads);
    for load in c.curve.iter().chain(&c.controls) {
        table.row(row(load, mark(c, load)));
    }
    format!("\nCurve\n{}", table.show())
}

fn row(load: &CurveLoad, mark: &str) -> Vec<String> {
    vec![
        format!("{} × {}", load.threads, load.depth),
        mark.to_owned(),
        words::count(load.in_flight),
        show_number(load.achieved_in_flight),
        show_number(load.iops),
        words::percent(load.half_width_percent),
        show_number(load.mib_per_s),
        words::mean_time(load.mean_ns),
        words::time(load.p99_ns),
        // Far below what matters, the sign is that of a rounding.
        words::percent(load.littles_law_percent.map(|p| if p.abs() < 0.005 { 0.0 } else { p })),
    ]
}

fn mark(c: &Saturation, load: &CurveLoad) -> &'static str {
    let place = |index: usize| c.curve.get(index).is_some_and(|l| std::ptr::eq(l, load));
    match load.purpose {
        Purpose::Split => "other threads",
        Purpose::LargerBlock => "larger blocks",
        Purpose::LatencyTarget => "latency target",
        Purpose::Curve => match &c.knee {
            Some(knee) if place(knee.operating_point.index) => "operating point",
            Some(knee) if place(knee.peak.index) => "peak",
            _ => "",
        },
    }
}

fn figures(knee: &Knee) -> String {
    let mut out = "\nSaturation point\n".to_owned();
    out.push_str(&wrap("  ", &words::clean(&knee.explanation), WIDTH));
    let mut table = Table::new(1, &["", "", "95 % interval"]);
    let mut line = |name: &str, value: Option<f64>, unit: &str, interval: Option<Interval>| {
        let Some(value) = value else { return };
        let range = interval.map_or_else(
            || words::NONE.to_owned(),
            |i| format!("{} – {}", show_number(i.low), show_number(i.high)),
        );
        table.row(vec![name.to_owned(), format!("{}{unit}", show_number(value)), range]);
    };
    let rising = knee.reached == Reached::NotReached;
    let n95 = if rising { "95 % of what was seen" } else { "operating load N95" };
    line(n95, Some(knee.operating_load), " in flight", knee.operating_load_interval);
    line("Little knee N*", knee.little_knee, " in flight", knee.little_knee_interval);
    let (most, interval) = (knee.saturated_throughput, knee.saturated_throughput_interval);
    let name = match (rising, knee.little_knee) {
        (false, _) => "saturated throughput",
        // Above all that was measured: where the fitted curve ends.
        (true, Some(_)) => "the curve's ceiling",
        (true, None) => "throughput seen",
    };
    line(name, Some(most), " IOPS", interval);
    out.push_str(&table.show());
    out.push_str(&format!("  unloaded latency {}\n", show_ns(knee.unloaded_latency_ns)));
    if let Some(usl) = &knee.usl {
        let peak = usl.peak_in_flight.map_or_else(|| words::NONE.to_owned(), show_number);
        let text = format!(
            "The universal scalability law describes it with contention {}, coherence {} and a \
             peak at {peak} in flight (typical error {}).",
            show_number(usl.contention),
            show_number(usl.coherence),
            words::percent(Some(usl.error_percent))
        );
        out.push_str(&wrap("  ", &text, WIDTH));
    }
    out
}

fn causes(causes: &[Likely]) -> String {
    let mut out = String::new();
    for (place, likely) in causes.iter().enumerate() {
        out.push_str(if place == 0 { "\nLimit\n" } else { "" });
        let title = likely.cause.title();
        let text = match (place, likely.certainty) {
            (0, Certainty::Certain) => format!("Certainly {title}. {}", likely.sentence),
            (0, Certainty::Likely) => format!("Probably {title}. {}", likely.sentence),
            (0, Certainty::Possible) => format!("Possibly {title}. {}", likely.sentence),
            _ => format!("Also possible: {title}."),
        };
        out.push_str(&wrap("  ", &words::clean(&text), WIDTH));
        for text in &likely.evidence {
            out.push_str(&wrap("    + ", &words::clean(text), WIDTH));
        }
        for text in &likely.against {
            out.push_str(&wrap("    - ", &words::clean(text), WIDTH));
        }
    }
    out
}
