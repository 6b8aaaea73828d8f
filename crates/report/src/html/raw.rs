//! The documents inside a page: JSON, compressed, as text that no parser can take for markup.

use std::io::BufWriter;
use std::path::PathBuf;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderStringWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use results::{Document, Measurement};

use crate::{ReportError, words};

/// The document as gzip in base64.
pub(super) fn packed(document: &Document) -> Result<String, ReportError> {
    // Only a path that is not UTF-8 fails, and is rare: then a copy is made.
    written(document).or_else(|_| written(&in_utf8(document)))
}

fn written(document: &Document) -> Result<String, ReportError> {
    let gzip = GzEncoder::new(EncoderStringWriter::new(&STANDARD), Compression::default());
    let mut buffered = BufWriter::with_capacity(1 << 16, gzip);
    serde_json::to_writer(&mut buffered, document)?;
    let gzip = buffered.into_inner().map_err(|e| serde_json::Error::io(e.into_error()))?;
    Ok(gzip.finish().map_err(serde_json::Error::io)?.into_inner())
}

/// A name for the saved document that every file system takes.
pub(super) fn file_name(document: &Document) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let id: String = document.id().chars().take(80).map(plain).collect();
    format!("iosonde-{id}.json")
}

/// A path that is not UTF-8 has no place in JSON; it is written with replacement characters.
fn in_utf8(document: &Document) -> Document {
    let mut document = document.clone();
    match &mut document {
        Document::Measurement(d) => name_in_utf8(d),
        Document::Assessment(d) => {
            d.target = words::path_lossy(&d.target);
            d.patterns.iter_mut().for_each(|p| name_in_utf8(&mut p.measurement));
            d.repeats.iter_mut().flat_map(|r| &mut r.measurements).for_each(name_in_utf8);
            d.ramps.iter_mut().flat_map(|r| &mut r.points).for_each(name_in_utf8);
        }
        Document::Runs(d) => names_in_utf8(&mut d.targets, &mut d.measurements),
        Document::Knee(d) => names_in_utf8(&mut d.targets, &mut d.measurements),
        Document::Sweep(d) => names_in_utf8(&mut d.targets, &mut d.measurements),
        Document::Sizes(d) => names_in_utf8(&mut d.targets, &mut d.measurements),
        Document::Scale(d) => names_in_utf8(&mut d.targets, &mut d.measurements),
    }
    document
}

fn names_in_utf8(targets: &mut [PathBuf], measurements: &mut [Measurement]) {
    for target in targets {
        *target = words::path_lossy(target);
    }
    measurements.iter_mut().for_each(name_in_utf8);
}

fn name_in_utf8(m: &mut Measurement) {
    let paths = m.workload.targets.iter_mut().map(|t| &mut t.path);
    let paths = paths.chain(m.targets.iter_mut().map(|t| &mut t.path));
    for path in paths.chain(m.errors.iter_mut().map(|e| &mut e.path)) {
        *path = words::path_lossy(path);
    }
}
