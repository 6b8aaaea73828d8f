//! Why a device cannot be had here, and how a test says so.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, Write as _};

use thiserror::Error;

/// A device of this kind cannot be had here.
#[derive(Debug, Error)]
#[error("{what}: {reason}")]
pub struct Unavailable {
    what: String,
    reason: String,
}

impl Unavailable {
    /// What failed, and why.
    pub(super) fn new(what: impl Into<String>, reason: impl Display) -> Self {
        Self { what: what.into(), reason: reason.to_string() }
    }

    /// Turns an error of the system into a reason.
    pub(super) fn because<E: Display>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        |error| Self::new(what, error)
    }
}

/// Says by name what cannot be tested here: on stderr, and where the tests collect such lines.
///
/// `test` is `crate::test`. The line goes to the end of the file that `IOSONDE_TEST_SKIPS` names, if it is set.
pub fn skip(test: &str, reason: &dyn Display) {
    let line = format!("{test}: {reason}");
    eprintln!("skipped: {line}");
    let noted = std::env::var_os("IOSONDE_TEST_SKIPS").map_or(Ok(()), |path| -> io::Result<()> {
        writeln!(OpenOptions::new().append(true).create(true).open(path)?, "{line}")
    });
    if let Err(error) = noted {
        eprintln!("and that cannot be noted: {error}");
    }
}
