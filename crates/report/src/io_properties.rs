//! The four figures that ScyllaDB's tuner writes into its `io_properties.yaml`, one entry for each
//! place: IOPS of random reads and writes, and bandwidth of sequential ones in bytes per second.
//!
//! The best measurement of each kind counts, as the tuner looks for the concurrency that gives
//! most. Where one of the four is missing, nothing is written: a zero would be believed.

use std::fmt::Write as _;

use inspect::files::Seal;
use results::{Document, Measurement, Status};
use workload::PatternKind;

use crate::ReportError;
use crate::format::{Content, Format};

/// The first words of such a file.
const HEAD: &str = "# Measured by iosonde ";

/// How this format is named and written.
pub static FORMAT: Format = Format {
    name: "io-properties",
    aliases: &[],
    title: "io_properties.yaml",
    help: "The four figures of ScyllaDB's tuner, from a sweep with the preset iotune",
    endings: &["yaml", "yml"],
    media: "application/yaml",
    write: |content: &Content<'_>| text(content.documents).map(String::into_bytes),
    seal: Seal::Hash,
    apart: None,
};

/// The figures of one mount point.
#[derive(Debug, Default, PartialEq)]
struct Place {
    mount_point: String,
    read_iops: Option<f64>,
    read_bandwidth: Option<f64>,
    write_iops: Option<f64>,
    write_bandwidth: Option<f64>,
}

/// The file.
///
/// # Errors
/// One of the four figures was not measured.
pub fn text(documents: &[Document]) -> Result<String, ReportError> {
    let mut places: Vec<Place> = Vec::new();
    for measurement in documents.iter().flat_map(Document::measurements) {
        add(&mut places, measurement);
    }
    if places.is_empty() {
        places.push(Place::default());
    }
    let ids: Vec<&str> = documents.iter().map(Document::id).collect();
    let mut out = format!("{HEAD}{}: {}\ndisks:\n", env!("CARGO_PKG_VERSION"), ids.join(", "));
    for place in &places {
        let [read_iops, read_bandwidth, write_iops, write_bandwidth] = whole(place)?;
        let name = serde_json::to_string(&place.mount_point)?;
        let _ = write!(
            out,
            "  - mountpoint: {name}\n    read_iops: {read_iops}\n    read_bandwidth: \
             {read_bandwidth}\n    write_iops: {write_iops}\n    write_bandwidth: \
             {write_bandwidth}\n"
        );
    }
    Ok(out)
}

/// All four figures of a place.
fn whole(place: &Place) -> Result<[u64; 4], ReportError> {
    let figures = [
        ("random reads", place.read_iops),
        ("sequential reads", place.read_bandwidth),
        ("random writes", place.write_iops),
        ("sequential writes", place.write_bandwidth),
    ];
    let missing: Vec<&str> =
        figures.iter().filter(|(_, figure)| figure.is_none()).map(|(name, _)| *name).collect();
    if !missing.is_empty() {
        return Err(ReportError::Missing {
            missing: format!("the results have no {}", missing.join(" and no ")),
            remedy: "`iosonde sweep TARGET --preset iotune` measures all four",
        });
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Ok(figures.map(|(_, figure)| figure.unwrap_or_default().round() as u64))
}

/// Takes the best of what a measurement says of its place. One that failed or ended early does not
/// count, nor does one of several targets or streams.
fn add(places: &mut Vec<Place>, m: &Measurement) {
    let ([stream], [target]) = (m.workload.streams.as_slice(), m.targets.as_slice()) else {
        return;
    };
    if m.status != Status::Complete || !m.errors.is_empty() {
        return;
    }
    let storage = m.environment.storage.first().and_then(|storage| storage.file_system.as_ref());
    let name = storage.map_or(&target.path, |system| &system.mount_point).display().to_string();
    let at = places.iter().position(|place| place.mount_point == name).unwrap_or_else(|| {
        places.push(Place { mount_point: name, ..Place::default() });
        places.len() - 1
    });
    let place = &mut places[at];
    let iops = m.total.iops;
    let bandwidth = m.total.mib_per_s * 1_048_576.0;
    let is_sequential =
        matches!(stream.pattern_kind(), PatternKind::Sequential | PatternKind::SequentialShared);
    let (best, figure) = match (stream.write_percent, stream.pattern_kind()) {
        (0, PatternKind::Random) => (&mut place.read_iops, iops),
        (100, PatternKind::Random) => (&mut place.write_iops, iops),
        (0, _) if is_sequential => (&mut place.read_bandwidth, bandwidth),
        (100, _) if is_sequential => (&mut place.write_bandwidth, bandwidth),
        _ => return,
    };
    if figure.is_finite() && figure > best.unwrap_or(0.0) {
        *best = Some(figure);
    }
}
