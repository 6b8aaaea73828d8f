//! SQLIO's parameter file: a file, its threads, their CPUs and its size in each line.

use super::command::{Complaints, mask};

/// An active line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameters {
    /// Its number, from 1.
    pub line: usize,
    /// The file, as it was written.
    pub file: String,
    /// Threads that work on it, and on nothing else.
    pub threads: u32,
    /// CPUs that they may run on; 0 is all.
    pub mask: u64,
    /// Its size in MiB.
    pub size_mib: Option<u64>,
}

/// Lines of a file: each has a thread of its own, and there are no more threads.
const LINES_MAX: usize = 4096;

/// Reads a parameter file. `name` is what it is called in complaints.
pub fn parameters(name: &str, text: &str) -> Result<Vec<Parameters>, Complaints> {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match parsed(index + 1, line) {
            Ok(parameters) => found.push(parameters),
            Err(rule) => wrong.push(format!("`{name}`, line {}: {rule}", index + 1)),
        }
        if found.len() + wrong.len() > LINES_MAX {
            wrong.push(format!("`{name}` has more than {LINES_MAX} active lines; each has a thread at least, and no more can run"));
            break;
        }
    }
    if found.is_empty() && wrong.is_empty() {
        wrong.push(format!("`{name}` has no active line; write `FILE THREADS [MASK [SIZE IN MB]]`, such as `E:\\test.dat 2 0x0 100`"));
    }
    if wrong.is_empty() { Ok(found) } else { Err(Complaints(wrong)) }
}

fn parsed(line: usize, text: &str) -> Result<Parameters, String> {
    let (file, rest) = first(text)?;
    // What stands behind a star or a hash is a comment.
    let rest = rest.split(['*', '#']).next().unwrap_or_default();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let threads = fields.first().ok_or("the number of threads is missing behind the file")?;
    let threads = threads.parse().ok().filter(|n| *n > 0).ok_or_else(|| {
        format!(
            "`{threads}` is no number of threads; a name with blanks stands between quotation marks"
        )
    })?;
    let mask = match fields.get(1) {
        None => 0,
        Some(text) => mask(text)
            .ok_or_else(|| format!("`{text}` is no mask of CPUs, such as `0x3`; 0 is all"))?,
    };
    let size_mib = match fields.get(2) {
        None => None,
        Some(text) => {
            let size = text.parse().ok().filter(|n| (1..1 << 42).contains(n));
            Some(size.ok_or_else(|| format!("`{text}` is no size in MB, a whole number above 0"))?)
        }
    };
    if let Some(more) = fields.get(3) {
        return Err(format!(
            "`{more}` is one field too many; a line is `FILE THREADS [MASK [SIZE IN MB]]`"
        ));
    }
    Ok(Parameters { line, file: file.to_owned(), threads, mask, size_mib })
}

/// The name, which may stand between quotation marks, and the rest.
fn first(text: &str) -> Result<(&str, &str), String> {
    if let Some(quoted) = text.strip_prefix('"') {
        return quoted.split_once('"').ok_or_else(|| "the quotation mark is not closed".to_owned());
    }
    Ok(text.split_once(char::is_whitespace).unwrap_or((text, "")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(file: &str, threads: u32, mask: u64, size_mib: Option<u64>) -> Parameters {
        Parameters { line: 1, file: file.to_owned(), threads, mask, size_mib }
    }

    #[test]
    fn lines_are_read_and_those_with_a_hash_are_not() {
        let text = "\u{feff}c:\\testfile.dat 2 0x0 100\r\n#d:\\testfile.dat 2 0x0 100\r\n\r\n\"E:\\my files\\x.dat\"\t16 3\nF: 4 * raw\n";
        let found: Vec<Parameters> = parameters("p", text)
            .unwrap()
            .into_iter()
            .map(|p| Parameters { line: 1, ..p })
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
        let text = "a\nb x\nc 2 mask\nd 2 0 big\ne 2 0 1 1\n\"f 2\ng 0\nh 1 0 0";
        let Complaints(wrong) = parameters("p.txt", text).unwrap_err();
        assert_eq!(wrong.len(), 8, "{wrong:?}");
        for (number, complaint) in wrong.iter().enumerate() {
            assert!(
                complaint.starts_with(&format!("`p.txt`, line {}: ", number + 1)),
                "{complaint}"
            );
        }
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
