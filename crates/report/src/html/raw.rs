//! The documents inside a page: JSON, compressed, as text that no parser can take for markup.

use std::io::BufWriter;

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderStringWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use results::Document;
use serde::Serialize;
use serde_json::Value;

use crate::ReportError;

/// A document in a page.
pub(super) struct Packed {
    /// Gzip in base64.
    pub(super) text: String,
    /// What is not in it, so that the page stays small.
    pub(super) left_out: Option<&'static str>,
}

/// What goes first where a document is too large: what it is called, under which names it lies, and its own names.
const STEPS: [(&str, &[&str], &[&str]); 3] = [
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

/// The document as gzip in base64, in so many bytes if it can be: with less of what is beside the point where it cannot.
pub(super) fn packed(document: &Document, room: usize) -> Result<Packed, ReportError> {
    let mut packed = Packed { text: written(document)?, left_out: None };
    if packed.text.len() <= room {
        return Ok(packed);
    }
    let mut value = serde_json::to_value(document)?;
    for (name, inside, names) in STEPS {
        empty(&mut value, inside, names, inside.is_empty());
        packed = Packed { text: written(&value)?, left_out: Some(name) };
        if packed.text.len() <= room {
            break;
        }
    }
    Ok(packed)
}

/// Makes texts and lists of these names empty, where they lie under one of some other names.
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

fn written(document: &impl Serialize) -> Result<String, ReportError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_under_the_names_is_emptied() {
        let text = r#"{"total":{"histogram":"a"},"threads_detail":[{"total":{"histogram":"b","ios":1}}],"series":[1]}"#;
        let mut value: Value = serde_json::from_str(text).unwrap_or_default();
        let (_, inside, names) = STEPS[0];
        empty(&mut value, inside, names, false);
        assert_eq!(value["total"]["histogram"], "a");
        assert!(value["threads_detail"][0]["total"]["histogram"].is_null());
        assert_eq!(value["threads_detail"][0]["total"]["ios"], 1);
        let (_, inside, names) = STEPS[2];
        empty(&mut value, inside, names, true);
        assert_eq!(value["series"], serde_json::json!([]));
        assert_eq!(value["threads_detail"], serde_json::json!([]));
        assert_eq!(value["total"]["histogram"], "a");
    }
}
