//! The documents inside a page: JSON, compressed, as text that no parser can take for markup.

use std::io::{self, BufWriter, ErrorKind, Write};

use base64::engine::general_purpose::{GeneralPurpose, STANDARD};
use base64::write::EncoderStringWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use results::Document;
use serde_json::Value;

use crate::ReportError;

/// A document, packed for a page.
pub(super) struct Packed {
    /// The document as gzip in base64.
    pub(super) text: String,
    /// The parts that are left out, so that the page stays small.
    pub(super) left_out: Option<&'static str>,
}

/// What to leave out first if a document is too large: its name in words, the keys it is under, and
/// its own keys.
const STEPS: [(&str, &[&str], &[&str]); 4] = [
    ("figures that each host of a fleet measured", &["measurements"], &["hosts"]),
    ("histograms of single threads", &["threads_detail"], &["histogram"]),
    (
        "histograms of single threads, streams and targets",
        &["threads_detail", "streams", "targets"],
        &["histogram"],
    ),
    (
        "figures of single threads and of each interval",
        &[],
        &["threads_detail", "series", "warmup_series"],
    ),
];

/// The document as gzip in base64, in so many bytes if possible. If not, with fewer details.
pub(super) fn packed(document: &Document, room: usize) -> Result<Packed, ReportError> {
    if let Some(text) = written(&|out| document.write_json(out), room)? {
        return Ok(Packed { text, left_out: None });
    }
    let mut value = document.to_value()?;
    let mut left_out = None;
    for (name, inside, names) in STEPS {
        empty(&mut value, inside, names, inside.is_empty());
        left_out = Some(name);
        if let Some(text) = written(&|out| serde_json::to_writer(out, &value), room)? {
            return Ok(Packed { text, left_out });
        }
    }
    let text = written(&|out| serde_json::to_writer(out, &value), usize::MAX)?.unwrap_or_default();
    Ok(Packed { text, left_out })
}

/// Empties texts and lists of these names that are under certain other names.
fn empty(value: &mut Value, inside: &[&str], names: &[&str], within: bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|v| empty(v, inside, names, within)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(_) if within && names.contains(&name.as_str()) => {
                        *value = Value::Null;
                    }
                    Value::Array(items) if within && names.contains(&name.as_str()) => {
                        items.clear();
                    }
                    _ => empty(value, inside, names, within || inside.contains(&name.as_str())),
                }
            }
        }
        _ => {}
    }
}

/// The document as gzip in base64; `None` if that takes more room. It ends there: what follows is
/// not compressed in vain.
fn written(
    write: &dyn Fn(&mut dyn Write) -> serde_json::Result<()>,
    room: usize,
) -> Result<Option<String>, ReportError> {
    let limited = Limited { text: EncoderStringWriter::new(&STANDARD), left: room / 4 * 3 };
    let mut buffered =
        BufWriter::with_capacity(1 << 16, GzEncoder::new(limited, Compression::default()));
    let ended = write(&mut buffered).and_then(|()| {
        let gzip = buffered.into_inner().map_err(|e| serde_json::Error::io(e.into_error()))?;
        gzip.finish().map_err(serde_json::Error::io)
    });
    match ended {
        Ok(limited) => Ok(Some(limited.text.into_inner())),
        Err(error) if error.io_error_kind() == Some(ErrorKind::FileTooLarge) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Base64 of no more than so many bytes.
struct Limited {
    text: EncoderStringWriter<'static, GeneralPurpose, String>,
    left: usize,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.checked_sub(bytes.len()).ok_or(ErrorKind::FileTooLarge)?;
        self.text.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.text.flush()
    }
}

/// A name for the saved document that every file system takes.
pub(super) fn file_name(document: &Document) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let id: String = document.id().chars().take(80).map(plain).collect();
    format!("iosonde-{id}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_more_than_its_room_is_not_written() {
        // No generator of random numbers is needed for what does not compress.
        let digits: Vec<u64> =
            (1..40_000_u64).map(|n| n.wrapping_mul(n << 40 | 0x9E37_79B9)).collect();
        let write = |out: &mut dyn Write| serde_json::to_writer(out, &digits);
        let whole = written(&write, usize::MAX).ok().flatten().unwrap_or_default();
        assert!(whole.len() > 100_000, "{}", whole.len());
        assert_eq!(written(&write, whole.len() + 4).ok(), Some(Some(whole.clone())));
        assert_eq!(written(&write, whole.len() - 8).ok(), Some(None));
        assert_eq!(written(&write, 0).ok(), Some(None));
    }

    #[test]
    fn only_what_lies_under_the_names_is_emptied() {
        let text = r#"{"total":{"histogram":"a"},"threads_detail":[{"total":{"histogram":"b","ios":1}}],"series":[1]}"#;
        let mut value: Value = serde_json::from_str(text).unwrap_or_default();
        let (_, inside, names) = STEPS[1];
        empty(&mut value, inside, names, false);
        assert_eq!(value["total"]["histogram"], "a");
        assert!(value["threads_detail"][0]["total"]["histogram"].is_null());
        assert_eq!(value["threads_detail"][0]["total"]["ios"], 1);
        let (_, inside, names) = STEPS[3];
        empty(&mut value, inside, names, true);
        assert_eq!(value["series"], serde_json::json!([]));
        assert_eq!(value["threads_detail"], serde_json::json!([]));
        assert_eq!(value["total"]["histogram"], "a");
    }
}
