//! The charts of a report as files in a directory.

use std::fs;
use std::path::{Path, PathBuf};

use inspect::files::{Output, Seal};
use report::ReportError;
use report::model::{Chart, Report};
use report::pictures::{LIST, Pictures, pictures};

use crate::exit::Failure;

/// Charts that were written, and their directory.
pub(super) struct Charts {
    pub pictures: Pictures,
    directory: PathBuf,
}

/// Writes each chart of a report. Nothing is written unless every file can be.
pub(super) fn write(
    report: &Report,
    pictured: &Report,
    directory: &Path,
    overwrite: bool,
) -> Result<Charts, Failure> {
    let failed = |path: &Path, why: &dyn std::fmt::Display| {
        let path = path.display();
        Failure::CannotRun(format!("cannot write the chart `{path}`: {why}"))
    };
    let drawn = |error: ReportError| failed(directory, &error);
    let drawings = pictures(report, pictured).map_err(drawn)?;
    fs::create_dir_all(directory).map_err(|e| failed(directory, &e))?;
    let list = (LIST.to_owned(), drawings.list().map_err(drawn)?.into_bytes());
    let mut claimed = Vec::new();
    for (file, content) in [&list].into_iter().chain(drawings.files()) {
        let path = directory.join(file);
        let output = Output::claim(&path, seal_of(&path), overwrite);
        claimed.push((output.map_err(|e| failed(&path, &e))?, content));
    }
    for (output, content) in claimed {
        let path = output.path().to_owned();
        output.write(content).map_err(|e| failed(&path, &e))?;
    }
    Ok(Charts { pictures: drawings, directory: directory.to_owned() })
}

/// Where a file of a chart has room for a checksum.
fn seal_of(path: &Path) -> Seal {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => Seal::Markup,
        Some("png") => Seal::Png,
        _ => Seal::Json,
    }
}

impl Charts {
    /// The path of a chart's picture, relative to the report; to the current directory without a
    /// file.
    pub(super) fn beside(&self, file: Option<&Path>) -> impl Fn(usize, &Chart) -> Option<String> {
        let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let here = file.and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
        let (from, to) = (whole(here.unwrap_or(Path::new("."))), whole(&self.directory));
        move |place, chart| self.pictures.way((&from, &to), place, chart)
    }
}
