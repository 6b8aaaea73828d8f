//! Files that a command leaves: written whole or not at all, and never over a file that iosonde did
//! not make.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use inspect::reading;
use results::Measurement;

use crate::conduct::JobError;

/// Names that are tried for a new file before giving up.
const NAMES: u32 = 1000;

/// A new file next to another, with an unused name.
///
/// # Errors
/// It cannot be made.
pub fn create_beside(path: &Path, extension: &str) -> io::Result<(PathBuf, File)> {
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let beside = path.with_extension(format!("{extension}{suffix}"));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < NAMES => {
                number += 1;
            }
            made => return made.map(|file| (beside, file)),
        }
    }
}

/// Claims the file of a report before anything is measured. Two hours of measuring must not end at
/// a report that cannot be written, nor overwrite a file that iosonde did not make.
///
/// Returns the file that will be written, which for a link is its target. `is_ours` says of a text
/// whether iosonde wrote it.
///
/// # Errors
/// It cannot be written, or is somebody else's; a sentence with the remedy.
pub fn claim_report(path: &Path, is_ours: &dyn Fn(&str) -> bool) -> Result<PathBuf, String> {
    let refused = |why: &str| {
        let path = path.display();
        format!("cannot write the report `{path}`: {why}; name another with `--report FILE`")
    };
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => Err(refused("it is not an ordinary file")),
        Ok(metadata) if metadata.len() == 0 => Ok(path),
        Ok(_) => {
            let text = fs::read_to_string(&path).unwrap_or_default();
            if is_ours(&text) {
                return Ok(path);
            }
            Err(refused("it is there and no report of iosonde"))
        }
        Err(_) => {
            let made = OpenOptions::new().append(true).create_new(true).open(&path);
            made.map(|_| path.clone()).map_err(|error| refused(&error.to_string()))
        }
    }
}

/// Writes a file whole or not at all, replacing an existing one.
///
/// # Errors
/// It cannot be written; an existing file is unchanged.
pub fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    make_whole(path, |out| out.write_all(content.as_ref()))
}

/// The same for content that does not fit in memory: `write` gets the place to write it to.
///
/// # Errors
/// It cannot be written; an existing file is unchanged.
pub fn make_whole<T, E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    let (beside, file) = create_beside(path, "part")?;
    let mut out = BufWriter::new(file);
    let written = write(&mut out).and_then(|value| {
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        Ok(value)
    });
    if written.is_err() {
        // The part is ours and worth nothing.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Makes sure that a file is new, is empty, or is of the same kind, so that it may be written to.
///
/// `kind` names the kind, and `is_one` recognises a file of it. Also tests that the directory takes
/// a file.
///
/// # Errors
/// It may not be written to, or cannot be.
pub fn claim(
    path: &Path,
    kind: &str,
    is_one: impl FnOnce(File) -> io::Result<bool>,
) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            return Err(io::Error::other("it is not an ordinary file; name another"));
        }
        Ok(found) if found.len() > 0 && !is_one(File::open(path)?)? => {
            return Err(io::Error::other(format!("it is there and no {kind}; name another")));
        }
        _ => {}
    }
    takes_files(path)
}

/// A report's file that may be written: new, empty, or an earlier report of the same kind.
pub struct Claimed {
    /// Where it is: where a link leads, that is its end.
    pub path: PathBuf,
    /// Whether the file did not exist before.
    new: bool,
}

impl Claimed {
    /// Makes sure that a report can be written, before anything is done. `ending` is that of the
    /// names of such reports, and `is_report` tells whether a content is one.
    ///
    /// # Errors
    /// It may not be written to, or cannot be.
    pub fn of_report(
        path: &Path,
        ending: &str,
        is_report: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Self, JobError> {
        let refused = |why: String| {
            let path = path.display();
            let remedy = "name another with `--output FILE`";
            JobError::CannotRun(format!("cannot write the report `{path}`: {why}; {remedy}"))
        };
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&path) {
            Ok(found) if !found.is_file() => Err(refused("it is not an ordinary file".to_owned())),
            Ok(found) if found.len() == 0 => Ok(Self { path, new: false }),
            Ok(_) => {
                let content = fs::read(&path).map_err(|e| refused(e.to_string()))?;
                if is_report(&content) {
                    Ok(Self { path, new: false })
                } else {
                    let what = format!("it is there and no such report of iosonde ({ending})");
                    Err(refused(what))
                }
            }
            Err(_) => {
                let made = OpenOptions::new().append(true).create_new(true).open(&path);
                made.map_err(|e| refused(e.to_string()))?;
                Ok(Self { path, new: true })
            }
        }
    }

    /// Writes the report, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written; an existing file is unchanged.
    pub fn write(&self, content: &[u8]) -> Result<(), JobError> {
        write_whole(&self.path, content).map_err(|error| {
            let path = self.path.display();
            JobError::CannotRun(format!("cannot write the report `{path}`: {error}"))
        })
    }

    /// Leaves everything as it was.
    pub fn release(self) {
        if self.new && fs::metadata(&self.path).is_ok_and(|m| m.len() == 0) {
            // The empty file that proved that the report can be written.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Tests whether a file can be made next to this one.
///
/// # Errors
/// It cannot.
pub fn takes_files(path: &Path) -> io::Result<()> {
    let (beside, _) = create_beside(path, "part")?;
    fs::remove_file(beside)
}

/// The text of a file that a flag names.
///
/// # Errors
/// It cannot be read, is too large, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, JobError> {
    let wrong = |error| JobError::Usage(format!("`{}`: {error}", path.display()));
    let bytes = reading::bytes(path, reading::TEXT_BYTES_MAX).map_err(wrong)?;
    let refused = |why: &str| JobError::Usage(format!("`{}` {why}", path.display()));
    let is_utf16 =
        matches!(bytes.as_slice(), [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [0, _, ..] | [_, 0, ..]);
    if is_utf16 {
        return Err(refused(
            "is text in UTF-16, as Windows writes it, and TOML is UTF-8: save it as UTF-8 (in \
             Notepad: Save As, Encoding: UTF-8), or convert it with `iconv -f UTF-16 -t UTF-8`",
        ));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        refused(&format!("is not UTF-8 in line {line}: save it as UTF-8"))
    })?;
    // Notepad puts a mark in front.
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// The first bytes of a file, no more than `most`.
///
/// # Errors
/// It cannot be read.
pub fn first_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    reading::head(path, most)
}

/// Whether a file begins with this text.
///
/// # Errors
/// It cannot be read.
pub fn begins_with(file: File, head: &str) -> io::Result<bool> {
    let mut found = Vec::new();
    file.take(head.len() as u64).read_to_end(&mut found)?;
    Ok(found == head.as_bytes())
}

/// A journal for runs without a history: every finished measurement becomes a line of JSON in a
/// file next to the report, so that a crash loses none. The report holds all of them; once it is
/// written, the journal is removed.
pub struct Journal {
    report: PathBuf,
    path: PathBuf,
    file: Option<File>,
}

impl Journal {
    /// A journal of this report; made with its first measurement.
    #[must_use]
    pub fn beside(report: &Path) -> Self {
        Self { report: report.to_owned(), path: report.with_extension("partial.jsonl"), file: None }
    }

    /// Keeps a measurement.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&mut self, measurement: &Measurement) -> io::Result<()> {
        let mut line = serde_json::to_vec(measurement)?;
        line.push(b'\n');
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let (path, file) = create_beside(&self.report, "partial.jsonl")?;
                self.path = path;
                none.insert(file)
            }
        };
        file.write_all(&line)?;
        file.sync_data()
    }

    /// The path of the journal.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the journal, once the report is written.
    pub fn remove(self) {
        if self.file.is_some() {
            // A file that remains is a copy of what the report holds.
            let _ = fs::remove_file(&self.path);
        }
    }
}
