//! A document whose paths are UTF-8, so that it can be written as JSON.

use std::path::PathBuf;

use results::{Document, Measurement};

use crate::words;

/// The document with replacement characters where a path is not UTF-8: such a path has no place in
/// JSON.
pub(crate) fn in_utf8(mut document: Document) -> Document {
    match &mut document {
        Document::Measurement(d) => measurement(d),
        Document::Assessment(d) => {
            path(&mut d.target);
            d.patterns.iter_mut().for_each(|p| measurement(&mut p.measurement));
            d.ramps.iter_mut().flat_map(|r| &mut r.points).for_each(measurement);
            d.repeats.iter_mut().flat_map(|r| &mut r.measurements).for_each(measurement);
        }
        Document::Runs(d) => experiment(&mut d.targets, &mut d.measurements),
        Document::Knee(d) => experiment(&mut d.targets, &mut d.measurements),
        Document::Sweep(d) => {
            experiment(&mut d.targets, &mut d.measurements);
            d.conclusion.plan.targets.iter_mut().for_each(|t| path(&mut t.path));
        }
        Document::Sizes(d) => experiment(&mut d.targets, &mut d.measurements),
        Document::Cycle(d) => experiment(&mut d.targets, &mut d.measurements),
        Document::Recording(d) => experiment(&mut d.targets, &mut d.measurements),
        Document::Validation(d) => {
            experiment(&mut d.targets, &mut d.measurements);
            d.conclusion.paths_mut().for_each(path);
        }
        Document::Durability(d) => {
            experiment(&mut d.targets, &mut d.measurements);
            d.conclusion.paths_mut().for_each(path);
        }
        Document::Scale(d) => {
            experiment(&mut d.targets, &mut d.measurements);
            d.conclusion.alone.iter_mut().for_each(|t| path(&mut t.target));
        }
    }
    document
}

fn experiment(targets: &mut [PathBuf], measurements: &mut [Measurement]) {
    targets.iter_mut().for_each(path);
    measurements.iter_mut().for_each(measurement);
}

fn measurement(m: &mut Measurement) {
    m.workload.targets.iter_mut().for_each(|t| path(&mut t.path));
    m.targets.iter_mut().for_each(|t| path(&mut t.path));
    m.errors.iter_mut().for_each(|e| path(&mut e.path));
}

fn path(path: &mut PathBuf) {
    if path.to_str().is_none() {
        *path = words::path_lossy(path);
    }
}
