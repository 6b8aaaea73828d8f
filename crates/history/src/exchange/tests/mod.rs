//! An import reads what an export wrote, and reports what is not whole.

#[cfg(feature = "parquet")]
mod columnar;
mod sample;
mod store;
mod tables;

use std::io::{BufReader, Read as _};

use proptest::prelude::*;

use super::error::{ExchangeError, LineError};
use super::jsonl::{Item, LINE_BYTES, Line, Reader, write_head, write_result, write_tail};

/// An export that consists of these lines.
fn export(lines: &[Line]) -> Vec<u8> {
    let mut out = Vec::new();
    write_head(&mut out).unwrap();
    for line in lines {
        write_result(&mut out, line).unwrap();
    }
    write_tail(&mut out, lines.len() as u64).unwrap();
    out
}

fn read(bytes: &[u8]) -> Result<Vec<Item>, ExchangeError> {
    let mut reader = Reader::new(bytes, LINE_BYTES);
    let mut items = Vec::new();
    while let Some(item) = reader.next()? {
        items.push(item);
    }
    Ok(items)
}

fn whole() -> Vec<u8> {
    export(&[sample::line("a"), sample::unfinished("b"), sample::line("c")])
}

/// The error that these bytes are refused with.
#[track_caller]
fn refused(bytes: &[u8]) -> String {
    read(bytes).unwrap_err().to_string()
}

/// The export with one text instead of another, which must be there.
#[track_caller]
fn with(from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(whole()).unwrap();
    assert!(text.contains(from), "{from} is not in the export");
    text.replacen(from, to, 1).into_bytes()
}

#[test]
fn an_export_is_read_back_unchanged() {
    let lines = [sample::line("a"), sample::unfinished("b")];
    let items = read(&export(&lines)).unwrap();
    assert_eq!(items.len(), 2);
    for (item, line) in items.iter().zip(&lines) {
        let Item::Line(read) = item else { panic!("{item:?}") };
        assert_eq!(**read, *line);
    }
    assert!(read(&export(&[])).unwrap().is_empty(), "an empty history has an export too");
}

#[test]
fn windows_line_ends_do_no_harm() {
    let text = String::from_utf8(whole()).unwrap().replace('\n', "\r\n");
    assert_eq!(read(text.as_bytes()).unwrap().len(), 3);
}

#[test]
fn what_the_commands_print_is_read_one_or_several() {
    let mut text = serde_json::to_string_pretty(&sample::runs("a")).unwrap();
    assert!(matches!(read(text.as_bytes()).unwrap().as_slice(), [Item::Result(_)]));
    text.push_str(&serde_json::to_string(&sample::measurement("m")).unwrap());
    assert_eq!(read(text.as_bytes()).unwrap().len(), 2);
    let cut = refused(&text.as_bytes()[..text.len() - 5]);
    assert!(cut.starts_with("document 2: ") && cut.contains("not complete JSON"), "{cut}");
    let last = text.rfind("iosonde.measurement").unwrap();
    let other = format!("{}iosonde.measurement/9{}", &text[..last], &text[last + 21..]);
    let other = refused(other.as_bytes());
    assert!(other.starts_with("document 2: ") && other.contains("not known"), "{other}");
}

#[test]
fn a_cut_export_is_told_at_every_line() {
    let bytes = whole();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    for kept in 1..lines.len() {
        let error = read(&lines[..kept].concat()).unwrap_err();
        let ExchangeError::Line { line, what } = &error else { panic!("{error}") };
        let truncated = *line == kept as u64 && matches!(**what, LineError::Truncated);
        assert!(truncated, "after line {kept}: {error}");
    }
    for missing in 1..lines.len() - 1 {
        let mut rest = lines.clone();
        rest.remove(missing);
        let error = refused(&rest.concat());
        assert!(error.contains("says that it holds 3 results, but it holds 2"), "{error}");
    }
    assert!(matches!(read(b"").unwrap_err(), ExchangeError::Empty));
    assert!(matches!(read(b" \n\n").unwrap_err(), ExchangeError::Empty));
}

#[test]
fn what_is_something_else_is_told_with_its_line() {
    let newer = refused(&with("iosonde.export/1", "iosonde.export/2"));
    assert!(newer.starts_with("line 1: ") && newer.contains("`iosonde.export/2`"), "{newer}");
    let foreign = refused(b"{\"type\":\"other\"}\n{}\n");
    assert!(foreign.contains("not a result of iosonde"), "{foreign}");
    assert!(refused(b"PAR1\x15\xFF").contains("not valid UTF-8"));
    let mut broken = whole();
    let middle = broken.len() / 2;
    broken[middle] = 0xFF;
    let broken = refused(&broken);
    assert!(broken.starts_with("line 3: ") && broken.contains("UTF-8"), "{broken}");
    let damaged = refused(&with("\"plan_id\"", "\"plan_id"));
    assert!(damaged.starts_with("line 2: ") && damaged.contains("not complete JSON"), "{damaged}");
    let more = refused(&[whole(), whole()].concat());
    assert!(more.starts_with("line 6: ") && more.contains("after the end"), "{more}");
}

#[test]
fn what_would_be_lost_is_refused() {
    let in_line = refused(&with("\"tags\":", "\"colour\":1,\"tags\":"));
    assert!(in_line.starts_with("line 2: ") && in_line.contains("colour"), "{in_line}");
    let in_document = refused(&with("\"conclusion\":{", "\"conclusion\":{\"colour\":1,"));
    assert!(in_document.contains("`a` has `conclusion.colour`"), "{in_document}");
    let in_cell = refused(&with("\"measurement\":{", "\"measurement\":{\"colour\":1,"));
    assert!(in_cell.starts_with("line 3: ") && in_cell.contains("measurement.colour"), "{in_cell}");
}

#[test]
fn a_line_that_contradicts_itself_is_refused() {
    let other = refused(&with("{\"id\":\"a\"", "{\"id\":\"z\""));
    assert!(other.starts_with("line 2: ") && other.contains("its `id`"), "{other}");
    let missing = refused(&with("\"id\":\"a-m1\"", "\"id\":\"a-m9\""));
    assert!(missing.contains("the measurement `a-m9` of cell 1 is not in it"), "{missing}");
}

#[test]
fn a_name_that_nobody_can_type_is_refused() {
    for bad in ["", "../../h", "a b", "a\u{1b}[2J", &"x".repeat(101)] {
        let text = serde_json::to_string(&sample::runs(bad)).unwrap();
        let error = refused(text.as_bytes());
        assert!(error.starts_with("document 1: ") && error.contains("not an id"), "{error}");
        assert!(!error.contains('\u{1b}'), "{error:?}");
    }
}

#[test]
fn a_line_without_an_end_is_not_read_to_its_end() {
    let begin = whole();
    let head = begin.split_inclusive(|b| *b == b'\n').next().unwrap();
    for first in [head, b""] {
        let endless = BufReader::new(first.chain(std::io::repeat(b' ')));
        let error = Reader::new(endless, 10_000).next().unwrap_err().to_string();
        assert!(error.contains("longer than 10000 bytes"), "{error}");
    }
}

proptest! {
    #[test]
    fn no_bytes_are_too_bad(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
        let mut after_head = export(&[]);
        after_head.truncate(after_head.iter().position(|b| *b == b'\n').unwrap() + 1);
        after_head.extend(&bytes);
        prop_assert!(read(&after_head).is_err());
    }

    #[test]
    fn a_damaged_export_is_read_as_one_or_refused(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = whole();
        let length = bytes.len();
        // Only the end of the last line may be missing.
        let kept = cut.index(length);
        prop_assert!(kept == length - 1 || read(&bytes[..kept]).is_err(), "cut at {kept}");
        bytes[at.index(length)] = byte;
        if let Ok(items) = read(&bytes) {
            prop_assert_eq!(items.len(), 3);
        }
    }
}
