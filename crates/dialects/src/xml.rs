//! Elements written with two blanks of indent for each level.

use std::fmt::{Display, Write as _};

/// A text of elements that grows.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut String,
    depth: usize,
}

impl<'a> Writer<'a> {
    /// Continues a text, `depth` levels deep.
    pub fn new(out: &'a mut String, depth: usize) -> Self {
        Self { out, depth }
    }

    /// An element with what `inside` writes.
    pub fn element(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.with(name, &[], inside);
    }

    /// An element with attributes and with what `inside` writes.
    pub fn with(
        &mut self,
        name: &str,
        of: &[(&str, &dyn Display)],
        inside: impl FnOnce(&mut Self),
    ) {
        self.open(name, of, ">\n");
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.indent();
        let _ = writeln!(self.out, "</{name}>");
    }

    /// An element that holds only a text.
    pub fn text(&mut self, name: &str, value: impl Display) {
        self.indent();
        let _ = writeln!(self.out, "<{name}>{}</{name}>", escape(&value.to_string()));
    }

    /// An element with attributes and a text.
    pub fn text_with(&mut self, name: &str, of: &[(&str, &dyn Display)], value: impl Display) {
        self.open(name, of, ">");
        let _ = writeln!(self.out, "{}</{name}>", escape(&value.to_string()));
    }

    /// An element with attributes and nothing inside.
    pub fn empty(&mut self, name: &str, of: &[(&str, &dyn Display)]) {
        self.open(name, of, "/>\n");
    }

    /// What other code writes at this depth.
    pub fn raw(&mut self, write: impl FnOnce(&mut String, usize)) {
        write(self.out, self.depth);
    }

    fn open(&mut self, name: &str, of: &[(&str, &dyn Display)], end: &str) {
        self.indent();
        let _ = write!(self.out, "<{name}");
        for (name, value) in of {
            let _ = write!(self.out, " {name}=\"{}\"", escape(&value.to_string()));
        }
        self.out.push_str(end);
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }
}

/// A text between tags or in an attribute. What XML cannot hold at all becomes U+FFFD.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(escaped, "&#{};", u32::from(c));
            }
            '\u{0}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => {
                escaped.push(char::REPLACEMENT_CHARACTER);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn elements_are_indented() {
        let mut out = String::new();
        Writer::new(&mut out, 1).with("A", &[("n", &1), ("m", &"\"<")], |w| {
            w.text("B", "x & y");
            w.empty("C", &[("n", &2)]);
        });
        let wanted =
            "  <A n=\"1\" m=\"&quot;&lt;\">\n    <B>x &amp; y</B>\n    <C n=\"2\"/>\n  </A>\n";
        assert_eq!(out, wanted);
    }

    proptest! {
        #[test]
        fn any_text_is_read_back(text in any::<String>()) {
            let mut out = String::new();
            Writer::new(&mut out, 0).with("A", &[("n", &text)], |w| w.text("B", &text));
            let document = roxmltree::Document::parse(&out).unwrap();
            let root = document.root_element();
            let sound = |c: char| match c {
                '\t' | '\n' | '\r' => c,
                '\u{0}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => char::REPLACEMENT_CHARACTER,
                c => c,
            };
            let wanted: String = text.chars().map(sound).collect();
            prop_assert_eq!(root.attribute("n"), Some(wanted.as_str()));
            let inside = root.children().find(|n| n.has_tag_name("B")).unwrap();
            prop_assert_eq!(inside.text().unwrap_or_default(), wanted.as_str());
        }
    }
}
