//! The charts of a report as files in a directory.

use std::fs;
use std::path::{Path, PathBuf};

use report::ReportError;
use report::model::{Chart, Report};
use report::pictures::{LIST, Pictures, listed, pictures};

use crate::exit::Failure;
use crate::files::write_whole;

/// No list of charts is longer.
const LIST_BYTES_MAX: u64 = 1 << 20;

/// Charts that were written, and their directory.
pub(super) struct Charts {
    pub pictures: Pictures,
    directory: PathBuf,
}

/// Writes each chart of a report. A file that an earlier report did not list is left alone.
pub(super) fn write(
    report: &Report,
    pictured: &Report,
    directory: &Path,
) -> Result<Charts, Failure> {
    let failed = |path: &Path, why: &dyn std::fmt::Display| {
        let path = path.display();
        Failure::CannotRun(format!(
            "cannot write the chart `{path}`: {why}; name another directory with `--charts DIR`"
        ))
    };
    let drawn = |error: ReportError| failed(directory, &error);
    let known =
        listed(&inspect::reading::text(&directory.join(LIST), LIST_BYTES_MAX).unwrap_or_default());
    let drawings = pictures(report, pictured).map_err(drawn)?;
    fs::create_dir_all(directory).map_err(|e| failed(directory, &e))?;
    let is_others = |file: &String| directory.join(file).exists() && !known.contains(file);
    if let Some((file, _)) = drawings.files().iter().find(|(file, _)| is_others(file)) {
        return Err(failed(&directory.join(file), &"it is there and no chart of iosonde"));
    }
    // The list is written first: files in it may be replaced, even if this run ends early.
    let list = (LIST.to_owned(), drawings.list().map_err(drawn)?.into_bytes());
    for (file, content) in [&list].into_iter().chain(drawings.files()) {
        let path = directory.join(file);
        write_whole(&path, content).map_err(|e| failed(&path, &e))?;
    }
    Ok(Charts { pictures: drawings, directory: directory.to_owned() })
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
