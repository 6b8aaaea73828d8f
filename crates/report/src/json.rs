//! The documents themselves, a line for each.

use inspect::files::Seal;

use crate::format::Format;

/// For programs, and for other histories.
pub(crate) static FORMAT: Format = Format {
    name: "json",
    aliases: &[],
    title: "JSON",
    help: "The documents themselves, one per line",
    endings: &["json", "jsonl", "ndjson"],
    media: "application/json",
    write: |content| {
        let mut lines = Vec::new();
        for document in content.documents {
            document.write_json(&mut lines)?;
            lines.push(b'\n');
        }
        Ok(lines)
    },
    seal: Seal::None,
    apart: None,
};
