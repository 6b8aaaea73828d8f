//! What the texts of all experiments begin and end with.

use results::{Experiment, Status};

use super::layout::{WIDTH, wrap};
use crate::words;

/// On what, with which load, and how it ended; the file size is in the first line.
pub(crate) fn head<C>(experiment: &Experiment<C>) -> String {
    let load = experiment.measurements.first().map(|m| m.workload.title());
    head_with(experiment, load.map(|load| ("load", load)))
}

/// The same with another line where the load stands.
pub(crate) fn head_with<C>(experiment: &Experiment<C>, load: Option<(&str, String)>) -> String {
    let size = words::size(experiment.file_bytes);
    let names: Vec<String> = experiment.targets.iter().map(|t| words::path(t)).collect();
    let mut out = match names.as_slice() {
        [one] => format!("{one}, file size {size}\n"),
        many => format!("{} targets, file size {size} in all\n", many.len()),
    };
    let mut line = |label: &str, text: &str| {
        out.push_str(&wrap(&format!("  {label:<10} "), text, WIDTH));
    };
    let mut storage: Vec<String> =
        experiment.environment.storage.iter().map(words::storage).collect();
    storage.dedup();
    if !storage.is_empty() {
        line("storage", &storage.join("; "));
    }
    if let Some((label, load)) = load {
        line(label, &load);
    }
    if let Some(first) = experiment.measurements.first() {
        line("mode", &words::mode(&first.workload));
    }
    line(
        "measured",
        &format!(
            "{} measurements from {}",
            experiment.measurements.len(),
            words::moment(&experiment.started)
        ),
    );
    match experiment.status {
        Status::Complete => {}
        Status::Interrupted => {
            line("STATUS", "INTERRUPTED: the figures are of the part that was measured.");
        }
        Status::Failed => {
            line("STATUS", "FAILED on an I/O error: the figures are of the part before it.");
        }
    }
    out
}

/// How it was measured, and every reason to doubt.
pub(crate) fn foot<C>(experiment: &Experiment<C>) -> String {
    let mut out = String::new();
    if !experiment.method.is_empty() {
        out.push_str("\nMethod\n");
    }
    for sentence in &experiment.method {
        out.push_str(&wrap("  - ", &words::clean(sentence), WIDTH));
    }
    if !experiment.warnings.is_empty() {
        out.push_str("\nWarnings\n");
    }
    for warning in &experiment.warnings {
        out.push_str(&wrap("  ! ", &words::clean(warning), WIDTH));
    }
    out
}
