//! SQLIOSim's log: entries that look like XML, one after the other, without anything around them.

use jiff::Zoned;

/// How serious a message of the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any other message, such as the course of the test.
    Info,
    /// Something that may be a mistake.
    Warning,
    /// Something is wrong, as with wrong data.
    Error,
}

/// One message of the log.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    /// How serious the message is.
    pub kind: Kind,
    /// The simulated user that wrote it.
    pub user: &'a str,
    /// The message itself.
    pub text: &'a str,
}

/// How every entry of a log begins.
pub const BEGIN: &str = "<ENTRY ";

impl Entry<'_> {
    /// The entry as text, said at this time.
    #[must_use]
    pub fn to_text(&self, at: &Zoned) -> String {
        let kind = match self.kind {
            Kind::Info => "INFO",
            Kind::Warning => "WARN",
            Kind::Error => "ERROR",
        };
        format!(
            "{BEGIN}TYPE='{kind}' TIME='{}' DATE='{}' TID='{}' User='{}' File='' Func='' \
                HRESULT='' SYSTEXT=''>\n\
             <EXTENDED_DESCRIPTION>{}</EXTENDED_DESCRIPTION> </ENTRY>\n",
            at.strftime("%H:%M:%S"),
            at.strftime("%m/%d/%y"),
            std::process::id(),
            escaped(self.user),
            escaped(self.text)
        )
    }
}

/// Text that no reader takes for markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&apos;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_text_reads_back_as_it_was(text in ".*", user in ".*") {
            let at = Zoned::default();
            let one = Entry { kind: Kind::Error, user: &user, text: &text }.to_text(&at);
            prop_assert!(one.starts_with(BEGIN));
            let whole = format!("<LOG>{one}{one}</LOG>");
            let document = roxmltree::Document::parse(&whole).unwrap();
            let entries: Vec<_> = document.root_element().children()
                .filter(roxmltree::Node::is_element).collect();
            prop_assert_eq!(entries.len(), 2);
            let described = entries[0].children().find(|n| n.has_tag_name("EXTENDED_DESCRIPTION"))
                .unwrap();
            let expected: String = text
                .chars()
                .map(|c| if c != '\n' && c != '\t'
                    && (c.is_control() || ('\u{fffe}'..='\u{ffff}')
                    .contains(&c)) { '\u{fffd}' } else { c })
                .collect();
            prop_assert_eq!(described.text().unwrap_or_default(), expected);
        }
    }
}
