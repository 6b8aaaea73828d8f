//! The documents inside a page: JSON, compressed, as text that no parser can take for markup.

use std::io::BufWriter;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderStringWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use results::Document;

use crate::ReportError;

/// The document as gzip in base64.
pub(super) fn packed(document: &Document) -> Result<String, ReportError> {
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
