//! The golden files, and today's program on a copy of the golden history.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn read(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    if path.extension().is_none_or(|e| e != "gz") {
        return bytes;
    }
    let mut content = Vec::new();
    GzDecoder::new(bytes.as_slice()).read_to_end(&mut content).unwrap();
    content
}

/// What the earlier version printed, by the name of the file.
pub(crate) fn printed(name: &str) -> String {
    let file = |name: &str| directory().join("printed").join(name);
    let path = if file(name).exists() { file(name) } else { file(&format!("{name}.gz")) };
    String::from_utf8(read(&path)).unwrap()
}

/// Every golden document with its name.
pub(crate) fn documents() -> Vec<(String, Value)> {
    let entries = fs::read_dir(directory().join("documents")).unwrap();
    let document = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let name = name.trim_end_matches(".gz").trim_end_matches(".json").to_owned();
        (name, serde_json::from_slice(&read(&path)).unwrap())
    };
    let mut documents: Vec<_> = entries.map(|entry| document(entry.unwrap().path())).collect();
    documents.sort_by(|a, b| a.0.cmp(&b.0));
    documents
}

/// The names of the documents that the golden history holds. Comparisons, trends and the like are kept nowhere.
pub(crate) fn kept() -> Vec<String> {
    let is_kept = |schema: &str| results::KINDS.iter().any(|kind| kind.schema == schema);
    let documents = documents().into_iter();
    documents
        .filter(|(_, d)| is_kept(d["schema"].as_str().unwrap()))
        .map(|(name, _)| name)
        .collect()
}

/// A place for files, with a history.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    /// With an empty history.
    pub(crate) fn empty() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// With a copy of the golden history.
    pub(crate) fn golden() -> Self {
        let place = Self::empty();
        fs::write(place.path("history.db"), read(&directory().join("history.db.gz"))).unwrap();
        place
    }

    /// A file of this name.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs today's program in this place, with its history.
    pub(crate) fn output(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_iosonde"));
        command.args(args).current_dir(&self.directory).env("TZ", "UTC");
        command.env("IOSONDE_HISTORY", self.path("history.db")).output().unwrap()
    }

    /// What today's program prints, without an error.
    #[track_caller]
    pub(crate) fn says(&self, args: &[&str]) -> String {
        let output = self.output(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The report on a result, as the file of this name.
    #[track_caller]
    pub(crate) fn report(&self, result: &str, name: &str) -> Vec<u8> {
        self.says(&["report", result, "-o", name]);
        fs::read(self.path(name)).unwrap()
    }
}
