//! Files that SQLIO's text goes into: nothing that was there before a script began is lost by it.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use dialects::text::decode;

/// How much of a file is looked at to know whether it holds results.
const LOOK_BYTES: u64 = 256 << 10;

/// Whether a file has SQLIO's output, or the head of a log of it, in it.
pub(super) fn is_output(file: File) -> io::Result<bool> {
    let mut found = Vec::new();
    file.take(LOOK_BYTES).read_to_end(&mut found)?;
    let text = decode(&found);
    Ok(text.lines().any(|line| line.starts_with("sqlio v") || line.starts_with("ComputerName:")))
}

/// The files that the steps of a script write to.
#[derive(Default)]
pub(super) struct Outputs {
    /// Results in these may be replaced.
    destroy: Vec<PathBuf>,
    /// Files that steps were checked for, or that are open.
    known: HashMap<PathBuf, Out>,
}

struct Out {
    /// None while it is only checked.
    file: Option<File>,
    /// There is nothing in it that was there before, or it may go.
    replaceable: bool,
}

impl Outputs {
    /// None is open yet. Results in the files `destroy` may be replaced.
    pub(super) fn new(destroy: &[engine::Destroy]) -> Self {
        let destroy = destroy.iter().map(|named| same(named.as_path())).collect();
        Self { destroy, known: HashMap::new() }
    }

    /// Whether a step may write there, as far as is known before the script begins. Touches
    /// nothing.
    pub(super) fn check(&mut self, path: &Path, append: bool) -> io::Result<()> {
        let key = same(path);
        let known = self.known.get(&key).map(|out| out.replaceable);
        let replaceable = match (known, fs::metadata(path)) {
            (Some(replaceable), _) => replaceable,
            (None, Err(error)) if error.kind() == ErrorKind::NotFound => true,
            (None, Err(error)) => return Err(error),
            (None, Ok(found)) if !found.is_file() => return Err(no_file()),
            (None, Ok(_)) => self.judged(&key, File::open(path)?)?,
        };
        self.known.entry(key).or_insert(Out { file: None, replaceable });
        if append || replaceable { Ok(()) } else { Err(kept(path)) }
    }

    /// Prepares the file for the output of a step: empty, or with its earlier content.
    ///
    /// It stays open until [`Self::close`], so that output of this script can be distinguished from
    /// what another program writes meanwhile.
    pub(super) fn begin(&mut self, path: &Path, append: bool) -> io::Result<()> {
        let key = same(path);
        if !self.known.contains_key(&key) {
            let mut how = OpenOptions::new();
            how.read(true).append(true);
            let out = match how.clone().create_new(true).open(path) {
                Ok(file) => Out { file: Some(file), replaceable: true },
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    let file = how.open(path)?;
                    let replaceable = self.judged(&key, File::open(path)?)?;
                    Out { file: Some(file), replaceable }
                }
                Err(error) => return Err(error),
            };
            self.known.insert(key.clone(), out);
        }
        match self.known.get(&key) {
            _ if append => Ok(()),
            Some(Out { file: Some(file), replaceable: true }) => file.set_len(0),
            _ => Err(kept(path)),
        }
    }

    /// Appends to a file that was begun.
    pub(super) fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let file = self.known.get_mut(&same(path)).and_then(|out| out.file.as_mut());
        file.ok_or_else(|| io::Error::other("it is not open"))?.write_all(text.as_bytes())
    }

    /// Closes a file that no later step writes to.
    pub(super) fn close(&mut self, path: &Path) {
        self.known.remove(&same(path));
    }

    /// Whether the content of a file may be replaced; an error if even appending is not allowed.
    fn judged(&self, key: &PathBuf, file: File) -> io::Result<bool> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(no_file());
        }
        if metadata.len() == 0 {
            return Ok(true);
        }
        if !is_output(file)? {
            return Err(io::Error::other("it is there and no output of SQLIO; name another"));
        }
        Ok(self.destroy.contains(key))
    }
}

fn no_file() -> io::Error {
    io::Error::other("it is not an ordinary file; name another")
}

fn kept(path: &Path) -> io::Error {
    io::Error::other(format!(
        "it holds results that were there before; `>>` keeps them, `--destroy {}` gives them up",
        path.display()
    ))
}

/// One name of a file, however the directory is written.
pub(super) fn same(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(parent), path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}
