//! Details that a signature contains: label, UUID, size.

use std::fmt::Write as _;
use std::io;

use super::{Signature, SignatureKind};
use crate::medium::Span;

/// Letters of a label that are shown.
const LABEL_MAX: usize = 64;

/// Details of a signature; none by default.
#[derive(Debug, Default)]
pub(crate) struct Details {
    pub(crate) label: Option<String>,
    pub(crate) uuid: Option<String>,
    pub(crate) size_bytes: Option<u64>,
    /// A better name than that of the table, with its word.
    pub(crate) named: Option<(String, Option<&'static str>)>,
}

impl Details {
    /// A better name than that of the table.
    pub(crate) fn named(what: impl Into<String>) -> Self {
        Self { named: Some((what.into(), None)), ..Self::default() }
    }

    pub(crate) fn signature(
        self,
        span: &Span<'_>,
        offset: u64,
        kind: SignatureKind,
        what: &str,
        word: &'static str,
    ) -> Signature {
        let (what, word) = match self.named {
            Some((what, better)) => (what, better.unwrap_or(word)),
            None => (what.to_owned(), word),
        };
        Signature {
            kind,
            what,
            word,
            offset_bytes: span.start() + offset,
            label: self.label,
            uuid: self.uuid,
            size_bytes: self.size_bytes,
            partition: None,
            is_known_to_wipefs: true,
        }
    }
}

/// The check of a magic that is sufficient by itself, without details.
#[expect(clippy::unnecessary_wraps, reason = "others read more")]
pub(crate) fn plain(_: &Span<'_>, _: u64) -> io::Result<Option<Details>> {
    Ok(Some(Details::default()))
}

/// A label: up to the first zero, without control characters.
pub(crate) fn label(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    cleaned(&String::from_utf8_lossy(&bytes[..end]))
}

/// The same of UTF-16, little-endian.
pub(crate) fn wide_label(bytes: &[u8]) -> Option<String> {
    let units = bytes.as_chunks().0.iter().map(|unit| u16::from_le_bytes(*unit));
    let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
    cleaned(&String::from_utf16_lossy(&units))
}

fn cleaned(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|c| !c.is_control()).take(LABEL_MAX).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A UUID whose bytes are in the order in which they are printed; `None` if all are zero.
pub(crate) fn uuid(bytes: &[u8]) -> Option<String> {
    let bytes: &[u8; 16] = bytes.first_chunk()?;
    if *bytes == [0; 16] {
        return None;
    }
    let mut text = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&index) {
            text.push('-');
        }
        // A String takes whatever is written to it.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

/// A GUID as Windows and GPT store it: its first three groups are little-endian.
pub(crate) fn guid(bytes: &[u8]) -> Option<String> {
    let mut bytes: [u8; 16] = *bytes.first_chunk()?;
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    uuid(&bytes)
}
