//! Documents as JSON text.
//!
//! Every kind of document is compiled once per writer, and there are many kinds: so all programs
//! write through the same one, and indent its text.

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
}
