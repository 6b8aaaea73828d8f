//! Documents as JSON text.
//!
//! Every kind of document is compiled once per writer, and there are many kinds: so all programs
//! write through the same one, and indent its text.

use std::borrow::Cow;
use std::io::Write;

use serde::Serialize;
use serde_json::Value;

use crate::kinds::Document;

impl Document {
    /// Writes it in one line, without an end of line.
    ///
    /// # Errors
    /// The output fails.
    pub fn write_json(&self, out: &mut dyn Write) -> serde_json::Result<()> {
        serde_json::to_writer(out, self)
    }

    /// The text for people: indented, without an end of line.
    ///
    /// # Errors
    /// A path is not UTF-8.
    pub fn to_indented_json(&self) -> serde_json::Result<String> {
        let mut text = Vec::new();
        self.write_json(&mut text)?;
        Ok(indented(&text))
    }

    /// Its fields.
    ///
    /// # Errors
    /// A path is not UTF-8.
    pub fn to_value(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}

/// A list of documents as text for people: indented, without an end of line.
///
/// # Errors
/// A path is not UTF-8.
pub fn list_to_indented_json(documents: &[Document]) -> serde_json::Result<String> {
    let mut text = vec![b'['];
    for (place, document) in documents.iter().enumerate() {
        if place > 0 {
            text.push(b',');
        }
        document.write_json(&mut text)?;
    }
    text.push(b']');
    Ok(indented(&text))
}

/// JSON that was cut, up to the last whole object of a list with this name, and closed there;
/// `None` if no such object is whole.
#[must_use]
pub fn whole_part(text: &str, list: &str) -> Option<String> {
    // The signs that close what is open, and whether it is such a list.
    let mut open: Vec<(char, bool)> = Vec::new();
    let (mut name, mut whole) = ("", None);
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => {
                let mut is_escaped = false;
                let end = signs.find(|(_, c)| {
                    let is_end = *c == '"' && !is_escaped;
                    is_escaped = *c == '\\' && !is_escaped;
                    is_end
                });
                let Some((end, _)) = end else { break };
                name = text.get(at + 1..end).unwrap_or_default();
            }
            '{' => open.push(('}', false)),
            '[' => {
                let is_inside = open.iter().any(|(_, is_list)| *is_list);
                open.push((']', name == list && !is_inside));
            }
            '}' | ']' => {
                open.pop();
                if sign == '}' && open.last().is_some_and(|(_, is_list)| *is_list) {
                    whole = Some((at + 1, open.clone()));
                }
            }
            _ => {}
        }
    }
    let (end, open) = whole?;
    let closed = open.iter().rev().map(|(sign, _)| sign);
    Some(text.get(..end)?.chars().chain(closed.copied()).collect())
}

/// JSON in which C programs wrote `nan` and `inf`, which JSON does not have: each is a `null`
/// there, of the same length, so that every other byte keeps its position.
#[must_use]
pub fn null_for_nan(text: &str) -> Cow<'_, str> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    // Text between documents may have a single quotation mark; no text of JSON has an end of line.
    let (mut is_text, mut is_escaped, mut is_value) = (false, false, false);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' => {
                is_text = false;
                continue;
            }
            _ if is_text => {
                is_text = *byte != b'"' || is_escaped;
                is_escaped = *byte == b'\\' && !is_escaped;
            }
            b'"' => is_text = true,
            b' ' | b'\t' | b'\r' => continue,
            _ if is_value => found.extend(not_finite(text, at)),
            _ => {}
        }
        is_value = matches!(byte, b':' | b',' | b'[') && !is_text;
    }
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut mended = text.to_owned();
    for (begin, end) in found {
        mended.replace_range(begin..end, &format!("{:1$}", "null", end - begin));
    }
    Cow::Owned(mended)
}

/// The place of a `nan` or `inf` that begins at a byte, with a blank before it where it is shorter
/// than `null`.
fn not_finite(text: &str, at: usize) -> Option<(usize, usize)> {
    let word = text.get(at..)?.split([',', '}', ']', ' ', '\r', '\n']).next()?;
    let name = word.trim_start_matches(['-', '+']).to_ascii_lowercase();
    let is_one = ["nan", "inf", "infinity"].contains(&&*name) || name.starts_with("nan(");
    let begin = if word.len() < 4 { at.checked_sub(1)? } else { at };
    let is_free = begin == at || text.get(begin..at) == Some(" ");
    (is_one && is_free).then_some((begin, at + word.len()))
}

/// Anything else as text for people: indented, without an end of line.
///
/// # Errors
/// A path is not UTF-8, or a key is not text.
pub fn to_indented_json(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(indented(&serde_json::to_vec(value)?))
}

/// JSON without blanks between its parts, by two blanks per level.
fn indented(text: &[u8]) -> String {
    let mut made = Vec::with_capacity(text.len() * 2);
    let (mut level, mut in_string, mut escaped) = (0, false, false);
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if in_string {
            made.push(byte);
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'{' | b'[' => {
                made.push(byte);
                if let Some(end) = bytes.next_if(|next| matches!(next, b'}' | b']')) {
                    made.push(end);
                } else {
                    level += 1;
                    line(&mut made, level);
                }
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                line(&mut made, level);
                made.push(byte);
            }
            b',' => {
                made.push(byte);
                line(&mut made, level);
            }
            b':' => made.extend_from_slice(b": "),
            _ => {
                in_string = byte == b'"';
                made.push(byte);
            }
        }
    }
    String::from_utf8_lossy(&made).into_owned()
}

fn line(made: &mut Vec<u8>, level: usize) {
    made.push(b'\n');
    made.resize(made.len() + 2 * level, b' ');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
            "[\"\\\\{}\\[\\]:, \n]*".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(".*", inner, 0..4)
                    .prop_map(|fields| Value::Object(Map::from_iter(fields))),
            ]
        })
    }

    #[test]
    fn empty_lists_and_objects_stay_in_their_line() {
        let value = json!({"a": [], "b": {}, "c": [{}, [[]]], "d\"\\": "{\\\"[,:]"});
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(to_indented_json(&value).unwrap(), pretty);
    }

    proptest! {
        #[test]
        fn text_is_indented_as_by_the_library(value in any_json()) {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(to_indented_json(&value).unwrap(), pretty);
        }
    }

    /// A whole result of fio was refused for a deviation of `-nan`.
    #[test]
    fn what_is_no_number_is_null_of_the_same_length() {
        for (text, mended) in [
            (r#"{"a": nan, "b": 1}"#, r#"{"a":null, "b": 1}"#),
            (r#"{"a" : -nan,"b": [1,-inf, NaN]}"#, r#"{"a" : null,"b": [1,null,null]}"#),
            (r#"{"a": -nan(ind)}"#, r#"{"a": null     }"#),
            (r#"{"a": Infinity}"#, r#"{"a": null    }"#),
        ] {
            assert_eq!(null_for_nan(text), mended);
            assert!(serde_json::from_str::<Value>(mended).is_ok(), "{mended}");
        }
        for text in [r#"{"a": "b\": nan, c", "nan": null}"#, r#"{"a":nan}"#, "it's \" so\nnan"] {
            assert_eq!(null_for_nan(text), text);
        }
        let log = "fio: a \" alone\n{\"a\": nan}";
        assert_eq!(null_for_nan(log), "fio: a \" alone\n{\"a\":null}");
    }

    proptest! {
        #[test]
        fn json_stays_as_it_is(value in any_json()) {
            let text = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(null_for_nan(&text), text.as_str());
        }

        #[test]
        fn the_length_of_a_text_stays(text in "[\"\\\\{}\\[\\]:, \na-inf+é-]*") {
            prop_assert_eq!(null_for_nan(&text).len(), text.len());
        }
    }

    #[test]
    fn what_is_whole_of_a_cut_list_is_json() {
        let text = r#"{"list": "no", "a": {"list": [{"x": "}]\"é\\"}, {"list": [1, {"y": 2}]}]}}"#;
        let count = |end: usize| {
            let value: Value =
                serde_json::from_str(&whole_part(text.get(..end)?, "list")?).unwrap();
            let found = value["a"]["list"].as_array().unwrap();
            assert!(found.get(1).is_none_or(|second| second["list"][1]["y"] == 2), "{found:?}");
            Some(found.len())
        };
        let counts: Vec<usize> = (0..text.len()).filter_map(count).collect();
        assert!(counts.is_sorted() && counts.first() == Some(&1) && counts.last() == Some(&2));
        assert_eq!(whole_part(text.get(..40).unwrap(), "list"), None);
    }
}
