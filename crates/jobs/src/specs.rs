//! Access specifications of IOMeter's files, by name.

use std::path::Path;

use dialects::iometer::AccessSpec;
use workload::specs::{spec, unknown};

use crate::conduct::JobError;
use inspect::reading;

/// More than any configuration of IOMeter has.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The file in `FILE.icf` or `FILE.icf:NAME`, and the name, unless the whole is a name that is
/// known.
#[must_use]
pub fn place_in_file(text: &str) -> Option<(&Path, Option<&str>)> {
    if spec(text).is_some() {
        return None;
    }
    let is_icf = |path: &str| {
        let ends_so = Path::new(path).extension().is_some_and(|e| e.eq_ignore_ascii_case("icf"));
        ends_so || Path::new(path).is_file()
    };
    if is_icf(text) {
        return Some((Path::new(text), None));
    }
    let colons = text.match_indices(':').map(|(at, _)| text.split_at(at));
    let mut places = colons.filter(|(path, _)| is_icf(path));
    places.next().map(|(path, name)| (Path::new(path), Some(name.trim_start_matches(':').trim())))
}

/// The access specifications of a file.
///
/// # Errors
/// The file cannot be read, or has none.
pub fn specs_of_file(path: &Path) -> Result<Vec<AccessSpec>, JobError> {
    let shown = path.display();
    let wrong = |what: &str| JobError::Usage(format!("`{shown}`: {what}"));
    let bytes = reading::bytes(path, FILE_BYTES_MAX);
    let bytes = bytes.map_err(|error| wrong(&error.to_string()))?;
    let read = dialects::iometer::read(&bytes).map_err(|error| wrong(&error.to_string()))?;
    if read.config.specs.is_empty() {
        return Err(wrong("it has no access specification; name an .icf file of IOMeter that has"));
    }
    Ok(read.config.specs)
}

/// The one that is meant by `FILE.icf:NAME`, or the only one of a file.
///
/// # Errors
/// There is no such file, or no such specification in it.
pub fn spec_of_file(text: &str) -> Result<AccessSpec, JobError> {
    let Some((path, name)) = place_in_file(text) else {
        return Err(JobError::Usage(format!("`{text}`: {}", unknown(text))));
    };
    let specs = specs_of_file(path)?;
    let named = |spec: &&AccessSpec| name.is_some_and(|n| spec.name.eq_ignore_ascii_case(n));
    let found = match (name, specs.as_slice()) {
        (None, [one]) => Some(one),
        _ => specs.iter().find(named),
    };
    found.cloned().ok_or_else(|| {
        let shown = path.display();
        let all: Vec<String> = specs.iter().map(|spec| format!("`{}`", spec.name)).collect();
        let what = match name {
            Some(name) => format!("it has no access specification `{name}`"),
            None => format!("it has several; name one, as in `--spec '{shown}:NAME'`"),
        };
        JobError::Usage(format!("`{shown}`: {what}. There are {}", all.join(", ")))
    })
}
