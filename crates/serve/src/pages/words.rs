//! How figures, times and names are written on the pages.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use results::Status;
use workload::{Bytes, show_ns, show_number};

/// What a cell without a figure shows.
pub(super) const NONE: &str = "–";

/// Characters that a path may contain unescaped (RFC 3986, section 2.3).
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A text on one line without control characters and marks that turn the direction of writing.
pub(super) fn clean(text: &str) -> String {
    let plain = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => '\u{FFFD}',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    };
    text.chars().map(plain).collect()
}

/// A part of an address: an id, with or without more after it.
pub(super) fn in_path(part: &str) -> String {
    utf8_percent_encode(part, PATH).to_string()
}

/// An RFC 3339 time in UTC to the minute in the zone of this server, `2026-11-20 11:12`; another
/// text as it is.
pub(super) fn minute(text: &str) -> String {
    text.parse().map_or_else(|_| clean(text), report::zone::minute)
}

/// A count or rate, or a dash.
pub(super) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), show_number)
}

/// A time in nanoseconds, or a dash.
pub(super) fn time(ns: Option<f64>) -> String {
    ns.map_or_else(|| NONE.to_owned(), show_ns)
}

/// A size with its unit, or a dash.
pub(super) fn size(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| NONE.to_owned(), |bytes| Bytes(bytes).to_string())
}

/// The word for how an experiment ended.
pub(super) fn status(status: Option<Status>) -> &'static str {
    status.map_or("unfinished", Status::word)
}

/// A name for a saved file that every file system takes.
pub(super) fn file_name(id: &str, extension: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let id: String = id.chars().take(80).map(plain).collect();
    format!("iosonde-{id}.{extension}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_short_and_other_texts_stay() {
        assert_eq!(minute("2026-11-20T10:12:13.25Z"), "2026-11-20 10:12");
        assert_eq!(minute("yesterday"), "yesterday");
        assert_eq!(minute("2026-11-20Té"), "2026-11-20Té");
    }

    proptest! {
        #[test]
        fn no_text_is_a_panic_and_none_breaks_out(text in any::<String>()) {
            let _ = minute(&text);
            let path = in_path(&text);
            prop_assert!(path.is_ascii() && !path.contains(['/', '?', '#', '"']));
            let turned = clean(&text).contains(['\n', '\u{202e}']);
            prop_assert!(!turned);
            let name = file_name(&text, "json");
            prop_assert!(name.is_ascii() && !name.contains(['/', '\\', '"', ' ']));
        }
    }
}
