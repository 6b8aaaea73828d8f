//! SQLIO's parameter file: a file, its threads, their CPUs and its size in each line.

use super::command::{Complaints, mask};

/// An active line of a parameter file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// Its number in the file, from 1.
    pub line: usize,
    /// Where the file, the threads, the mask and the size begin in the line, in characters from 1;
    /// 0 for missing parts.
    pub columns: [usize; 4],
    /// The file, as it was written.
    pub file: String,
    /// Threads that work on it, and on nothing else.
    pub threads: u32,
    /// CPUs that they may run on; 0 is all.
    pub mask: u64,
    /// Size of the file in MiB.
    pub size_mib: Option<u64>,
}

/// The most lines of a file. Each has its own thread, and there are no more threads.
const LINES_MAX: usize = 4096;

/// Reads a parameter file. `name` is what it is called in complaints.
pub fn parameters(name: &str, text: &str) -> Result<Vec<Parameters>, Complaints> {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (index, raw) in text.lines().enumerate() {
        let around = |c: char| c.is_whitespace() || c == '\u{feff}';
        let line = raw.trim_end_matches(around);
        if line.trim_start_matches(around).is_empty()
            || line.trim_start_matches(around).starts_with('#')
        {
            continue;
        }
        match parsed(index + 1, line) {
            Ok(parameters) => found.push(parameters),
            Err((byte, rule)) => {
                wrong.push(format!("{}{rule}", place(name, index + 1, column(line, byte))));
            }
        }
        if found.len() + wrong.len() > LINES_MAX {
            wrong.push(format!(
                "`{name}` has more than {LINES_MAX} active lines; each has a thread at least, and \
                 no more can run"
            ));
            break;
        }
    }
    if found.is_empty() && wrong.is_empty() {
        wrong.push(format!(
            "`{name}` has no active line; write `FILE THREADS [MASK [SIZE IN MB]]`, such as \
             `E:\\test.dat 2 0x0 100`"
        ));
    }
    if wrong.is_empty() { Ok(found) } else { Err(Complaints(wrong)) }
}

/// The description of the place, before the error.
pub(super) fn place(name: &str, line: usize, column: usize) -> String {
    format!("`{name}`, line {line}, column {column}: ")
}

/// The column of a byte, in characters from 1. A byte order mark has none.
pub(super) fn column(line: &str, byte: usize) -> usize {
    let before = line.get(..byte).unwrap_or(line);
    before.chars().filter(|c| *c != '\u{feff}').count() + 1
}

/// A field and where it begins, in bytes of its line.
type Field<'a> = (usize, &'a str);

/// Reads a line. An error has the byte at which it is.
fn parsed(number: usize, line: &str) -> Result<Parameters, (usize, String)> {
    let (file, rest) = first(line)?;
    let fields = fields(line, rest);
    let end = line.len();
    let (at, threads) = *fields
        .first()
        .ok_or_else(|| (end, "the number of threads is missing after the file".to_owned()))?;
    let threads = threads.parse().ok().filter(|n| *n > 0).ok_or_else(|| {
        let text = format!(
            "`{threads}` is not a number of threads; put a name with blanks between quotation \
             marks"
        );
        (at, text)
    })?;
    let mask = match fields.get(1) {
        None => 0,
        Some((at, text)) => mask(text).ok_or_else(|| {
            (*at, format!("`{text}` is not a mask of CPUs, such as `0x3`; 0 is all"))
        })?,
    };
    let size_mib = match fields.get(2) {
        None => None,
        Some((at, text)) => {
            let size = text.parse().ok().filter(|n| (1..1 << 42).contains(n));
            Some(size.ok_or_else(|| {
                (*at, format!("`{text}` is not a size in MB, a whole number above 0"))
            })?)
        }
    };
    if let Some((at, more)) = fields.get(3) {
        let text =
            format!("`{more}` is one field too many; a line is `FILE THREADS [MASK [SIZE IN MB]]`");
        return Err((*at, text));
    }
    let begin = |field: Option<&Field<'_>>| field.map_or(0, |(at, _)| column(line, *at));
    let columns =
        [begin(Some(&file)), begin(fields.first()), begin(fields.get(1)), begin(fields.get(2))];
    Ok(Parameters { line: number, columns, file: file.1.to_owned(), threads, mask, size_mib })
}

/// The fields from a byte on. A star or a hash begins a comment.
fn fields(line: &str, from: usize) -> Vec<Field<'_>> {
    let rest = line.get(from..).unwrap_or_default();
    let rest = rest.split(['*', '#']).next().unwrap_or_default();
    let mut found = Vec::new();
    let mut at = from;
    for part in rest.split(char::is_whitespace) {
        if !part.is_empty() {
            found.push((at, part));
        }
        let blank = line.get(at + part.len()..).and_then(|behind| behind.chars().next());
        at += part.len() + blank.map_or(0, char::len_utf8);
    }
    found
}

/// The name, which may be in quotation marks, and the byte after it.
fn first(line: &str) -> Result<(Field<'_>, usize), (usize, String)> {
    let around = |c: char| c.is_whitespace() || c == '\u{feff}';
    let text = line.trim_start_matches(around);
    let at = line.len() - text.len();
    if let Some(quoted) = text.strip_prefix('"') {
        let Some((name, _)) = quoted.split_once('"') else {
            return Err((at, "the quotation mark is not closed".to_owned()));
        };
        return Ok(((at, name), at + name.len() + 2));
    }
    let name = text.split(char::is_whitespace).next().unwrap_or_default();
    Ok(((at, name), at + name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(file: &str, threads: u32, mask: u64, size_mib: Option<u64>) -> Parameters {
        Parameters { line: 1, columns: [0; 4], file: file.to_owned(), threads, mask, size_mib }
    }

    #[test]
    fn lines_are_read_and_those_with_a_hash_are_not() {
        let text = "\u{feff}c:\\testfile.dat 2 0x0 100\r\n\
            #d:\\testfile.dat 2 0x0 100\r\n\
            \r\n\
            \"E:\\my files\\x.dat\"\t16 3\n\
            F: 4 * raw\n";
        let found: Vec<Parameters> = parameters("p", text)
            .unwrap()
            .into_iter()
            .map(|p| Parameters { line: 1, columns: [0; 4], ..p })
            .collect();
        let expected = [
            line(r"c:\testfile.dat", 2, 0, Some(100)),
            line(r"E:\my files\x.dat", 16, 3, None),
            line("F:", 4, 0, None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn every_wrong_line_is_named() {
        let text = "a\nb x\nc 2 mask\nd  2 0\tbig\n  é 2 0 1 1\n \"f 2\n\"g g\" 0\nh 1 0 0";
        let columns = [2, 3, 5, 8, 11, 2, 7, 7];
        let Complaints(wrong) = parameters("p.txt", text).unwrap_err();
        assert_eq!(wrong.len(), 8, "{wrong:?}");
        for (number, (complaint, column)) in wrong.iter().zip(columns).enumerate() {
            let place = format!("`p.txt`, line {}, column {column}: ", number + 1);
            assert!(complaint.starts_with(&place), "{complaint}");
        }
        let found = parameters("p", "\u{feff}\"E:\\a b\"  2 0x1 100 # x").unwrap();
        assert_eq!(found[0].columns, [1, 11, 13, 17]);
        assert_eq!(parameters("p", "a 2").unwrap()[0].columns, [1, 3, 0, 0]);
        let Complaints(wrong) = parameters("p.txt", &"x 1\n".repeat(1_000_000)).unwrap_err();
        assert!(wrong.len() == 1 && wrong[0].contains("more than 4096 active lines"), "{wrong:?}");
        let error = parameters("p.txt", "# nothing\n").unwrap_err().to_string();
        assert!(error.contains("no active line"), "{error}");
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(.{0,30}\n?){0,5}", fields in "([a-z:\"#* ]|[0-9]|0x){0,40}") {
            let _ = (parameters("p", &text), parameters("p", &fields));
        }
    }
}
