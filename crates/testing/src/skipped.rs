//! A test that cannot run here says so by name.

use std::env;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, Write as _};

/// Names a test that cannot run here, and why: on stderr, and in the file that `IOSONDE_TEST_SKIPS`
/// names. `./x test` counts these lines.
///
/// `test` is `crate::test`, or `crate::target::test`. The caller returns right after, and so
/// passes.
pub fn skip(test: &str, reason: impl Display) {
    let line = format!("{test}: {reason}");
    eprintln!("skipped: {line}");
    let noted = env::var_os("IOSONDE_TEST_SKIPS").map_or(Ok(()), |path| -> io::Result<()> {
        writeln!(OpenOptions::new().append(true).create(true).open(path)?, "{line}")
    });
    if let Err(error) = noted {
        eprintln!("cannot note the skipped test: {error}");
    }
}
