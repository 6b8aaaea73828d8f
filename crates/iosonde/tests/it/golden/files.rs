//! The golden files, and today's program on a copy of the golden history.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use testing::Place;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden")
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
    documents_in("documents")
}

/// Documents of what came later.
pub(crate) fn later() -> Vec<(String, Value)> {
    documents_in("later")
}

fn documents_in(name: &str) -> Vec<(String, Value)> {
    let entries = fs::read_dir(directory().join(name)).unwrap();
    let document = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let name = name.trim_end_matches(".gz").trim_end_matches(".json").to_owned();
        (name, serde_json::from_slice(&read(&path)).unwrap())
    };
    let mut documents: Vec<_> = entries.map(|entry| document(entry.unwrap().path())).collect();
    documents.sort_by(|a, b| a.0.cmp(&b.0));
    documents
}

/// The names of the documents that the golden history holds. Comparisons, trends and the like are
/// kept nowhere.
pub(crate) fn kept() -> Vec<String> {
    let is_kept = |schema: &str| results::KINDS.iter().any(|kind| kind.schema == schema);
    let documents = documents().into_iter();
    documents
        .filter(|(_, d)| is_kept(d["schema"].as_str().unwrap()))
        .map(|(name, _)| name)
        .collect()
}

/// A place with an empty history.
pub(crate) fn place() -> Place {
    Place::new(env!("CARGO_BIN_EXE_iosonde"))
}

/// A place with a copy of the golden history.
pub(crate) fn golden_place() -> Place {
    let place = place();
    fs::write(place.history(), read(&directory().join("history.db.gz"))).unwrap();
    place
}
