//! A text as one field of CSV, the same in every table that iosonde writes.

/// A text as a CSV field (RFC 4180). What a spreadsheet would take for a formula is marked as text.
#[must_use]
pub fn csv_field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_csv_is_quoted_where_it_must_be() {
        assert_eq!(csv_field("/data"), "/data");
        assert_eq!(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(csv_field("=1+1"), "'=1+1");
    }
}
