//! What SQLIO's hidden levels show of single threads and files; on stderr, so that stdout stays
//! what scripts expect.

use std::fmt::Write as _;

use results::{Measurement, Statistics};
use workload::{Bytes, show_number};

use super::{HISTOGRAM_MS, ios_by_ms};

/// What the level `-D` asks for, line by line; higher levels show what lower ones do.
#[must_use]
pub fn threads(level: u32, measurement: &Measurement) -> Vec<String> {
    let mut lines = Vec::new();
    if level == 0 {
        return lines;
    }
    for (number, thread) in measurement.threads_detail.iter().enumerate() {
        // Of one thread, the figures of the run are its own.
        let alone = measurement.threads_detail.len() == 1;
        lines.push(line(number, if alone { &measurement.total } else { &thread.total }, level));
    }
    if level >= 9 {
        for target in &measurement.targets {
            let (path, size) = (target.path.display(), target.file_bytes);
            lines.push(format!("file {path}: {size} bytes ({})", Bytes(size)));
        }
    }
    lines
}

fn line(number: usize, total: &Statistics, level: u32) -> String {
    let (iops, mib) = (show_number(total.iops), show_number(total.mib_per_s));
    let mut line = format!("thread {number}: {iops} IOs/sec, {mib} MBs/sec");
    if let Some(latency) = total.latency_ns.filter(|_| level >= 3) {
        let known = [("min", latency.min.map(|ns| ns as f64)), ("avg", Some(latency.mean))];
        let known = known.into_iter().chain([("max", latency.max.map(|ns| ns as f64))]);
        line.push_str(", latency");
        for (name, ns) in known.filter_map(|(name, ns)| Some((name, ns?))) {
            let _ = write!(line, " {name} {:.3}", ns / 1e6);
        }
        line.push_str(" ms");
    }
    if level >= 4 {
        let _ = write!(line, "\n  ms: percent {}", histogram(total));
    }
    line
}

/// The milliseconds that have any I/O.
fn histogram(total: &Statistics) -> String {
    let counts = ios_by_ms(total);
    let all = counts.iter().sum::<u64>().max(1) as f64;
    let share = |(ms, count): (usize, &u64)| {
        let more = if ms == HISTOGRAM_MS - 1 { "+" } else { "" };
        (*count > 0).then(|| format!("{ms}{more}: {}", show_number(100.0 * *count as f64 / all)))
    };
    counts.iter().enumerate().filter_map(share).collect::<Vec<_>>().join(", ")
}
