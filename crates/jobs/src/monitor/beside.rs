//! The measurement of a tool, next to what was recorded during it.

use analysis::agreement::DEFAULT_TOLERANCE_PERCENT;
use counters::{BlockKind, DiskWindow, Window};
use inspect::Inspector;
use jiff::Timestamp;
use monitor::crop::{self, Run};
use results::{Document, Experiment, FoundBy, Measurement, RecordedRun, Recording};

/// Puts each measurement next to the part of the recording in which it was made, and reports those
/// that cannot be placed.
///
/// The beginning is known for a measurement that records when it ran; `has_time` distinguishes
/// those of other tools.
pub(super) fn set_beside(
    document: &mut Experiment<Recording>,
    measurements: Vec<Measurement>,
    has_time: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    let mut not_before_s = 0.0;
    for mut measurement in measurements {
        let name = name(&measurement);
        let devices = devices(document, &measurement);
        if devices.is_empty() {
            notes.push(format!(
                "{name}: the recording has no counts of I/O of its kind; nothing is compared"
            ));
            continue;
        }
        let began_s = if has_time { began_s(document, &measurement) } else { None };
        let run = Run {
            reads: measurement.read.ios > 0,
            writes: measurement.write.ios > 0,
            warmup_s: measurement.workload.warmup_seconds.max(0.0),
            seconds: measurement.seconds,
            began_s,
            not_before_s,
        };
        let names: Vec<&str> = devices.iter().map(String::as_str).collect();
        let points = &document.conclusion.points;
        let Some(place) = crop::find(points, &names, &run) else {
            let text = "the recording does not hold its time; nothing is compared";
            notes.push(format!("{name}: {text}"));
            continue;
        };
        let (sums, seconds) = crop::sums(points, &names, &place);
        let disks = names.iter().zip(&sums);
        let disks = disks.map(|(name, tally)| DiskWindow::of(name, tally, seconds)).collect();
        let window = Window { seconds, disks, ..Window::default() };
        let tolerance_percent = DEFAULT_TOLERANCE_PERCENT + place.edge_percent;
        measurement.kernel = Some(survey::beside(&measurement, &window, tolerance_percent));
        if place.found == FoundBy::Activity {
            not_before_s = place.to_s;
        }
        document.conclusion.runs.push(RecordedRun {
            measurement: document.measurements.len(),
            from_s: place.from_s,
            to_s: place.to_s,
            found: place.found,
        });
        document.measurements.push(measurement);
    }
    notes
}

/// Sets all that these results measured next to a recording. Notes go among its warnings.
pub fn set_all_beside(document: &mut Experiment<Recording>, results: &[Document]) {
    for result in results {
        let measurements: Vec<Measurement> = result.measurements().into_iter().cloned().collect();
        // The date of another tool's result is often that of its file.
        let own = measurements.iter().all(|m| m.origin.is_none());
        let notes = set_beside(document, measurements, own);
        document.warnings.extend(notes);
    }
}

fn name(m: &Measurement) -> String {
    let tool = m.origin.as_ref().map_or("iosonde", |origin| origin.tool.as_str());
    format!("{tool}, {}", m.workload.title())
}

/// When it began to measure, in seconds from the start of the recording.
fn began_s(document: &Experiment<Recording>, m: &Measurement) -> Option<f64> {
    let recorded: Timestamp = document.started.parse().ok()?;
    let began: Timestamp = m.started.parse().ok()?;
    let cut_s: f64 = m.warmup_series.iter().map(|point| point.seconds).sum();
    Some((began - recorded).total(jiff::Unit::Second).ok()? + m.workload.warmup_seconds + cut_s)
}

/// The recorded devices that hold its targets; where none does, the one that did the most of its
/// kind.
fn devices(document: &Experiment<Recording>, m: &Measurement) -> Vec<String> {
    let recording = &document.conclusion;
    let recorded = |name: &String| recording.totals.disks.contains_key(name);
    let inspector = Inspector::new();
    let targets = m.workload.targets.iter().filter_map(|t| inspector.storage(&t.path).ok());
    let known = m.environment.storage.iter().cloned();
    let storages: Vec<_> =
        if m.environment.storage.is_empty() { targets.collect() } else { known.collect() };
    let mut found: Vec<String> = Vec::new();
    let watched = |name: &String| recording.devices.iter().any(|device| device.name == *name);
    let mut is_uncounted = false;
    for name in storages.into_iter().filter_map(|storage| storage.counted_device) {
        is_uncounted |= watched(&name) && !recorded(&name);
        if recorded(&name) && !found.contains(&name) {
            found.push(name);
        }
    }
    if !found.is_empty() || is_uncounted {
        return found;
    }
    let ios = |name: &str| {
        let tally = recording.totals.disks.get(name).map(|total| total.tally).unwrap_or_default();
        let reads = if m.read.ios > 0 { tally.reads } else { 0 };
        reads + if m.write.ios > 0 { tally.writes } else { 0 }
    };
    let whole = recording.devices.iter().filter(|device| device.kind != BlockKind::Partition);
    // The uppermost of equals: devices below have the I/O of others, too.
    let best = whole.map(|device| (ios(&device.name), &device.name)).filter(|(ios, _)| *ios > 0);
    let best = best.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, name)| name.clone()).into_iter().collect()
}
