//! Binary logs of Performance Monitor (`.blg`). Nobody has written down their format, so Windows'
//! own `relog` makes a table of one.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::time::Duration;

use inspect::reading;

use crate::import::{FOREIGN_BYTES_MAX, ImportError};
use crate::system_tool::{SystemTool, ToolError};

/// How long `relog` may take: logs of some GiB take minutes.
const LIMIT: Duration = Duration::from_secs(600);

/// The `relog` of this system; `None` where there is none.
pub(crate) fn relog() -> Option<SystemTool> {
    SystemTool::of_windows("relog.exe", LIMIT)
}

/// Whether a file is called as a binary log is.
pub(crate) fn is_binary_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("blg"))
}

/// The log as `relog` writes it in CSV: a file without a name.
///
/// # Errors
/// There is no `relog`, it refuses the log, or what it wrote is too large.
pub(crate) fn converted(path: &Path, relog: Option<&SystemTool>) -> Result<File, ImportError> {
    // What is not there need not be converted.
    reading::open(path)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let Some(relog) = relog else { return Err(ImportError::BinaryLog { name }) };
    let room = tempfile::tempdir()?;
    let table = room.path().join("log.csv");
    let words = [
        path.as_os_str(),
        "-f".as_ref(),
        "CSV".as_ref(),
        "-o".as_ref(),
        table.as_os_str(),
        "-y".as_ref(),
    ];
    relog.run(&words).map_err(|source| ImportError::Relog { name: name.clone(), source })?;
    let mut file = tempfile::tempfile()?;
    let nothing = |error: io::Error| ImportError::Relog {
        name,
        source: ToolError::Failed { program: "relog".into(), said: format!("its table: {error}") },
    };
    let mut written = File::open(&table).map_err(nothing)?.take(FOREIGN_BYTES_MAX + 1);
    if io::copy(&mut written, &mut file)? > FOREIGN_BYTES_MAX {
        return Err(ImportError::TooLarge);
    }
    file.rewind()?;
    Ok(file)
}
