//! What a text of elements must not be before a parser sees it: too long, too deep, or with tags of
//! too many attributes.
//!
//! The parser holds all of a document in memory, and compares each attribute of a tag with all
//! others.

use thiserror::Error;

/// The limits of a document that is read.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest document, in bytes.
    pub bytes: usize,
    /// How deeply elements may be nested.
    pub depth: usize,
    /// The largest tag with its attributes, in bytes.
    pub tag_bytes: usize,
}

/// Which limit a text breaks, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TooMuch {
    /// The text is longer than the limit.
    #[error("it has more than {0} bytes")]
    Long(usize),
    /// Elements are too deep in one another.
    #[error("line {line}, column {column}: more than {depth} elements are inside one another")]
    Deep {
        /// The number of the line, counted from 1.
        line: usize,
        /// The column in characters, counted from 1.
        column: usize,
        /// How deeply elements may be nested.
        depth: usize,
    },
    /// A tag is longer than the limit.
    #[error("line {line}, column {column}: the tag has more than {bytes} bytes")]
    Tag {
        /// The number of the line, counted from 1.
        line: usize,
        /// The column in characters, counted from 1.
        column: usize,
        /// How many bytes a tag may have.
        bytes: usize,
    },
}

/// Looks over a text, whether or not it is one of elements.
pub fn guard(text: &str, limits: Limits) -> Result<(), TooMuch> {
    if text.len() > limits.bytes {
        return Err(TooMuch::Long(limits.bytes));
    }
    let (mut at, mut depth) = (0, 0usize);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('<')) {
        at += found;
        let Some(rest) = text.get(at..) else { break };
        let behind = |end: &str| rest.find(end).map_or(rest.len(), |place| place + end.len());
        if rest.starts_with("<!--") {
            at += behind("-->");
        } else if rest.starts_with("<![CDATA[") {
            at += behind("]]>");
        } else if rest.starts_with("<?") {
            at += behind("?>");
        } else {
            let length = tag_bytes(rest);
            if length > limits.tag_bytes {
                let (line, column) = position(text, at);
                return Err(TooMuch::Tag { line, column, bytes: limits.tag_bytes });
            }
            if rest.starts_with("</") {
                depth = depth.saturating_sub(1);
            } else if !rest.starts_with("<!") {
                if depth == limits.depth {
                    let (line, column) = position(text, at);
                    return Err(TooMuch::Deep { line, column, depth: limits.depth });
                }
                // An element without content is as deep as any other, but nothing is inside it.
                depth += usize::from(!rest[..length].ends_with("/>"));
            }
            at += length;
        }
    }
    Ok(())
}

/// Length of the tag that a text begins with; a `>` in quotes does not end it.
fn tag_bytes(text: &str) -> usize {
    let mut quote = None;
    for (index, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return index + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// Line and column of a byte of a text, both from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { bytes: 1 << 20, depth: 3, tag_bytes: 100 };

    #[test]
    fn what_is_in_bounds_goes_through() {
        let text = "<?xml version='1.0'?><!-- <a><b><c><d> --><a \
                    x='>'><b/><b/><b><c/></b><![CDATA[<<<<<]]></a>";
        assert_eq!(guard(text, LIMITS), Ok(()));
        assert_eq!(guard("no elements", LIMITS), Ok(()));
    }

    #[test]
    fn each_limit_says_where_it_is_broken() {
        let deep = TooMuch::Deep { line: 2, column: 10, depth: 3 };
        assert_eq!(guard("\n<a><b><c><d>", LIMITS), Err(deep));
        // An empty element was not counted, and one more level went through.
        let empty = TooMuch::Deep { line: 1, column: 10, depth: 3 };
        assert_eq!(guard("<a><b><c><d/></c></b></a>", LIMITS), Err(empty));
        assert_eq!(guard("<a><b><c/></b></a>", LIMITS), Ok(()));
        let long = format!("<ä>\n<a {}>", "x='1' ".repeat(20));
        assert_eq!(guard(&long, LIMITS), Err(TooMuch::Tag { line: 2, column: 1, bytes: 100 }));
        assert_eq!(guard(&" ".repeat(2 << 20), LIMITS), Err(TooMuch::Long(1 << 20)));
        // A quote that does not end hides no depth.
        let quote = format!("<a x='{}", "<b>".repeat(50));
        assert_eq!(guard(&quote, LIMITS), Err(TooMuch::Tag { line: 1, column: 1, bytes: 100 }));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[<>/!a\"'= ?\\[\\]CDAT\n-]{0,200}", other in any::<String>()) {
            let _ = (guard(&text, LIMITS), guard(&other, LIMITS));
        }

        #[test]
        fn what_goes_through_is_no_deeper(text in "(<a>|</a>|<a/>|<!--|-->|x|'|\"){0,40}") {
            if guard(&text, LIMITS).is_ok() && let Ok(document) =
                roxmltree::Document::parse(&text) {
                let depth = |node: roxmltree::Node<'_, '_>| node.ancestors()
                    .filter(roxmltree::Node::is_element).count();
                prop_assert!(document.descendants().map(depth).max() <= Some(3));
            }
        }
    }
}
