//! A trace that can be given away: other offsets, no date, no sizes of devices, no names.

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufReader, BufWriter};
use std::path::Path;

use inspect::files::{Output, Seal};
use inspect::reading;
use trace::{
    Annexes, DatabaseUse, Ending, FileExtent, Header, Moment, Ordered, Permutation, Reader,
    Regions, TraceError, TracedFile, Writer,
};
use workload::{Bytes, plural};

use super::{cannot_read, is_whole};
use crate::conduct::JobError;

/// Why a trace is not copied.
enum CopyError {
    Input(String),
    Output(io::Error),
}

impl From<io::Error> for CopyError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

fn input(error: &TraceError) -> CopyError {
    CopyError::Input(error.to_string())
}

fn output(error: TraceError) -> CopyError {
    CopyError::Output(io::Error::other(error))
}

/// Writes a trace whose groups of regions have changed places, in an order that a secret decides;
/// the secret is forgotten. Returns what was done, a line each.
///
/// # Errors
/// The file is not a trace or cannot be read, or the output cannot be written; then the output is
/// as it was.
pub fn anonymise_trace(trace: &Path, to: &Path, overwrite: bool) -> Result<Vec<String>, JobError> {
    let refused = |error| JobError::CannotRun(format!("cannot write `{}`: {error}", to.display()));
    let (permutation, annexes) = permutation(trace).map_err(|error| cannot_read(trace, &error))?;
    let claimed = Output::claim(to, Seal::Own(is_whole), overwrite).map_err(refused)?;
    let copied = claimed.make(|out| copy(trace, (&permutation, &annexes), out));
    let (ios, ending) = copied.map_err(|error| match error {
        CopyError::Input(error) => cannot_read(trace, &error),
        CopyError::Output(error) => refused(error),
    })?;
    let mut lines = vec![format!(
        "{}: {}, in {} of regions of {} that changed places",
        to.display(),
        plural(ios, "I/O", "I/Os"),
        plural(permutation.groups() as u64, "group", "groups"),
        Bytes(permutation.region_bytes()),
    )];
    if ending != Ending::Whole {
        lines.push("note: the trace stops before its end, and so does this one".to_owned());
    }
    Ok(lines)
}

fn opened(trace: &Path) -> Result<Reader<BufReader<File>>, TraceError> {
    Reader::new(BufReader::with_capacity(1 << 20, reading::open(trace)?))
}

fn permutation(trace: &Path) -> Result<(Permutation, Annexes), TraceError> {
    let mut regions = Regions::default();
    let mut reader = opened(trace)?;
    for io in Ordered::new(reader.by_ref()) {
        reading::go_on()?;
        regions.add(&io?);
    }
    // Keys come from the operating system's random numbers, and nothing keeps them.
    let secret = RandomState::new();
    let permutation = regions.permuted(|device, region| secret.hash_one((device, region)));
    Ok((permutation, reader.annexes().clone()))
}

/// Where files are after that; what no I/O touches is left out.
fn extents(permutation: &Permutation, extents: &[FileExtent]) -> Vec<FileExtent> {
    let mut moved: Vec<_> = extents.iter().flat_map(|e| permutation.extents(e)).collect();
    moved.sort_by_key(|extent| (extent.device, extent.offset_bytes));
    moved
}

/// The writer of the copy, with the files at the start. They have no names.
fn begun<'a>(
    out: &'a mut BufWriter<File>,
    header: &Header,
    (permutation, annexes): (&Permutation, &Annexes),
) -> Result<Writer<&'a mut BufWriter<File>>, TraceError> {
    if *annexes == Annexes::default() {
        return Writer::new(out, header);
    }
    let mut writer = Writer::with_annexes(out, header)?;
    let unnamed = |file: &TracedFile| TracedFile { name: None, ..file.clone() };
    writer.files(&annexes.files.files.iter().map(unnamed).collect::<Vec<_>>())?;
    writer.extents(Moment::Start, &extents(permutation, &annexes.files.at_start))?;
    Ok(writer)
}

/// Copies the trace with its losses. One that is cut off stays so.
fn copy(
    trace: &Path,
    (permutation, annexes): (&Permutation, &Annexes),
    out: &mut BufWriter<File>,
) -> Result<(u64, Ending), CopyError> {
    let mut reader = opened(trace).map_err(|error| input(&error))?;
    let header = header(reader.header(), permutation);
    let mut writer = begun(out, &header, (permutation, annexes)).map_err(output)?;
    let (mut ios, mut lost) = (0, 0);
    while let Some(io) = reader.next() {
        reading::go_on().map_err(|error| CopyError::Input(error.to_string()))?;
        let io = permutation.io(&io.map_err(|error| input(&error))?);
        let io = io.ok_or_else(|| CopyError::Input("it changes while it is read".to_owned()))?;
        if reader.lost() > lost {
            writer.lost(reader.lost() - lost).map_err(output)?;
            lost = reader.lost();
        }
        writer.write(io).map_err(output)?;
        ios += 1;
    }
    writer.lost(reader.lost() - lost).map_err(output)?;
    let at_end = extents(permutation, &annexes.files.at_end);
    writer.extents(Moment::End, &at_end).map_err(output)?;
    for counted in &annexes.databases {
        let counted = DatabaseUse { product: None, ..counted.clone() };
        writer.database(&counted).map_err(output)?;
    }
    let ending = reader.ending().unwrap_or(Ending::Cut);
    if ending != Ending::Whole {
        return writer.flush().map(|()| (ios, ending)).map_err(output);
    }
    if let Some(ns) = reader.recorded_until_ns() {
        writer.recorded_until(ns);
    }
    writer.finish().map(|_| (ios, ending)).map_err(output)
}

/// What the load depends on stays. When it was, and what would tell a disk by its size, does not.
fn header(header: &Header, permutation: &Permutation) -> Header {
    let mut header = Header { began_unix_ms: None, ..header.clone() };
    for (number, device) in (0..).zip(&mut header.devices) {
        device.size_bytes = permutation.device_bytes(number);
    }
    header
}
