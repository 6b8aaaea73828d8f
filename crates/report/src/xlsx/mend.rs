//! Puts the parts of a chart's series into the order that the format asks for.
//!
//! The library writes the sign at the points of a scatter series before the looks of its line.
//! ECMA-376 has them the other way round (CT_ScatterSer), and Excel may refuse a drawing that is
//! out of order. Where the order is right, this changes nothing.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::ReportError;

const MARKER: (&str, &str) = ("<c:marker>", "</c:marker>");
const LOOKS: (&str, &str) = ("<c:spPr>", "</c:spPr>");

/// The workbook with its charts in order.
pub(crate) fn charts(workbook: Vec<u8>) -> Result<Vec<u8>, ReportError> {
    let mut from = ZipArchive::new(Cursor::new(workbook))?;
    let mut to = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    for index in 0..from.len() {
        let part = from.by_index_raw(index)?;
        let name = part.name()?.into_owned();
        if !name.starts_with("xl/charts/chart") {
            to.raw_copy_file(part)?;
            continue;
        }
        drop(part);
        let mut part = from.by_index(index)?;
        let mut text = String::new();
        part.read_to_string(&mut text).map_err(zip::result::ZipError::from)?;
        to.start_file(name, options)?;
        to.write_all(in_order(&text).as_bytes()).map_err(zip::result::ZipError::from)?;
    }
    Ok(to.finish()?.into_inner())
}

/// The text of a chart whose signs are in the right place, after the looks of their lines.
fn in_order(chart: &str) -> String {
    let mut ordered = String::with_capacity(chart.len());
    let mut rest = chart;
    while let Some(at) = rest.find(MARKER.0) {
        let (before, from_marker) = rest.split_at(at);
        ordered.push_str(before);
        let (marker, after) = through(from_marker, MARKER.1);
        if after.starts_with(LOOKS.0) {
            let (looks, after) = through(after, LOOKS.1);
            ordered.push_str(looks);
            rest = after;
        } else {
            rest = after;
        }
        ordered.push_str(marker);
    }
    ordered + rest
}

/// A text up to and with the next such end, and what follows.
fn through<'a>(text: &'a str, end: &str) -> (&'a str, &'a str) {
    text.split_at(text.find(end).map_or(text.len(), |at| at + end.len()))
}
