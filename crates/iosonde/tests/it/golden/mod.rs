//! Documents of every kind, and what the program prints of them, of a simulated device and as help.

mod commands;
mod documents;
mod exchanged;

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden")
}

/// Asserts that the program prints what this file has. `IOSONDE_UPDATE=1` writes the file instead;
/// give each difference its reason in the commit.
#[track_caller]
pub(crate) fn assert_printed(name: &str, text: &str) {
    let path = directory().join(name);
    if std::env::var_os("IOSONDE_UPDATE").is_some() {
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    let differs = golden.lines().zip(text.lines()).find(|(old, new)| old != new);
    assert!(golden == text, "{name}: first {differs:?}; IOSONDE_UPDATE=1 accepts it");
}
