//! Tables as CSV: the differences between what was printed and what is printed now.

use std::collections::BTreeMap;

/// A row by the names of its columns.
type Row = BTreeMap<String, String>;

/// The fields of every line.
fn fields(text: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut field, mut quoted) =
        (Vec::new(), Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            // A quote within a field is doubled, which closes and opens it again.
            '"' => {
                quoted = !quoted;
                if quoted && !field.is_empty() {
                    field.push('"');
                }
            }
            ',' if !quoted => line.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                line.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut line));
            }
            '\r' if !quoted => (),
            _ => field.push(c),
        }
    }
    assert!(field.is_empty() && line.is_empty() && !quoted, "the last line ends");
    lines
}

/// The rows of a table.
pub(crate) fn rows(text: &str) -> Vec<Row> {
    let mut lines = fields(text).into_iter();
    let head = lines.next().unwrap();
    let row = |line: Vec<String>| {
        assert_eq!(line.len(), head.len(), "{line:?}");
        head.iter().cloned().zip(line).collect()
    };
    lines.map(row).collect()
}

/// What was printed and is not printed now. Columns that are new are no difference.
pub(crate) fn differences(file: &str, old: &str, new: &str) -> Vec<String> {
    let (old, new) = (rows(old), rows(new));
    assert!(!old.is_empty(), "{file}: nothing to compare");
    if old.len() != new.len() {
        return vec![format!("{file}: {} rows -> {}", old.len(), new.len())];
    }
    let mut found = Vec::new();
    for (number, (old, new)) in old.iter().zip(&new).enumerate() {
        for (column, was) in old {
            let is = new.get(column).map_or("missing", String::as_str);
            if is != was {
                found.push(format!("{file} {number} {column}: {was} -> {is}"));
            }
        }
    }
    found
}

#[test]
fn a_table_is_read_as_it_was_written() {
    let row = &rows("a,b\r\n\"x, \"\"y\"\"\",\"\"\r\n")[0];
    assert_eq!((row["a"].as_str(), row["b"].as_str()), ("x, \"y\"", ""));
    let (old, more, less) = ("a,b\n1,2\n", "b,a,c\n2,1,3\n", "a\n1\n");
    assert_eq!(differences("t", old, more), [""; 0]);
    assert_eq!(differences("t", old, less), ["t 0 b: 2 -> missing"]);
    assert_eq!(differences("t", old, "a,b\n1,3\n"), ["t 0 b: 2 -> 3"]);
    assert_eq!(differences("t", old, "a,b\n"), ["t: 1 rows -> 0"]);
}
