//! The figures in the text format of OpenMetrics 1.0, for Prometheus and others that ask from time
//! to time.
//!
//! Amounts since watching began are counters, so that a client takes rates over any time it likes;
//! the figures of the last window are gauges with the names of the table. What has no figure is
//! left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use counters::{DISK_FIELDS, DiskTally, SYSTEM_FIELDS, Span};

use crate::watch::Observation;

/// The media type of the text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// An amount that counts up, in the unit of its name.
type Amount = (&'static str, &'static str, fn(&DiskTally) -> f64);

const AMOUNTS: [Amount; 11] = [
    ("reads", "Reads completed", |d| d.reads as f64),
    ("writes", "Writes completed", |d| d.writes as f64),
    ("read_bytes", "Bytes read", |d| d.read_bytes as f64),
    ("written_bytes", "Bytes written", |d| d.written_bytes as f64),
    ("read_time_seconds", "Sum of the times of all reads", |d| d.read_ms as f64 / 1e3),
    ("write_time_seconds", "Sum of the times of all writes", |d| d.write_ms as f64 / 1e3),
    ("queue_time_seconds", "Time of all I/Os in flight, each counted", |d| d.queue_ms as f64 / 1e3),
    ("busy_time_seconds", "Time with an I/O in flight", |d| d.busy_ms as f64 / 1e3),
    ("flushes", "Cache flushes completed", |d| d.flushes.unwrap_or(0) as f64),
    ("flush_time_seconds", "Sum of the times of all flushes", |d| d.flush_ms as f64 / 1e3),
    ("discards", "Discards completed", |d| d.discards.unwrap_or(0) as f64),
];

/// The counts so far, in OpenMetrics format.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    disks: BTreeMap<String, DiskTally>,
    last: Option<Observation>,
}

impl Metrics {
    /// Adds the counts of a window.
    pub fn hear(&mut self, observation: &Observation) {
        for (name, tally) in &observation.window.disks {
            self.disks.entry(name.clone()).or_default().add(tally);
        }
        self.last = Some(observation.clone());
    }

    /// The whole text that a scraper reads.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (name, help, of) in AMOUNTS {
            head(&mut out, &format!("iosonde_disk_{name}"), "counter", help);
            for (device, tally) in &self.disks {
                let device = escaped(device);
                let _ =
                    writeln!(out, "iosonde_disk_{name}_total{{device=\"{device}\"}} {}", of(tally));
            }
        }
        if let Some(last) = &self.last {
            let span = Span { seconds: last.window.seconds, readings: 1 };
            for field in &DISK_FIELDS {
                let name = format!("iosonde_disk_{}", field.name);
                head(&mut out, &name, "gauge", &format!("{}: {}", field.title, field.formula));
                for (device, tally) in &last.window.disks {
                    if let Some(figure) = field.of(tally, span) {
                        let _ = writeln!(out, "{name}{{device=\"{}\"}} {figure}", escaped(device));
                    }
                }
            }
            for field in &SYSTEM_FIELDS {
                let name = format!("iosonde_host_{}", field.name);
                head(&mut out, &name, "gauge", &format!("{}: {}", field.title, field.formula));
                if let Some(figure) = field.of(&last.window.system, span) {
                    let _ = writeln!(out, "{name} {figure}");
                }
            }
            rows(&mut out, last);
        }
        out.push_str("# EOF\n");
        out
    }
}

/// What others counted in the last window.
fn rows(out: &mut String, last: &Observation) {
    let Some(first) = last.rows.first() else { return };
    for (place, (name, _)) in first.figures().iter().enumerate() {
        let name = format!("iosonde_object_{name}");
        head(out, &name, "gauge", "as counted by the source");
        let mut seen = std::collections::BTreeSet::new();
        for row in &last.rows {
            let labels =
                format!("source=\"{}\",object=\"{}\"", escaped(&row.source), escaped(&row.object));
            if let Some((_, Some(figure))) = row.figures().get(place)
                && seen.insert(labels.clone())
            {
                let _ = writeln!(out, "{name}{{{labels}}} {figure}");
            }
        }
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# TYPE {name} {kind}\n# HELP {name} {}", escaped(help));
}

/// A text in quotes, or a help.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"")
}
