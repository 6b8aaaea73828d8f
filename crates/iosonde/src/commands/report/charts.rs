//! The charts of a report as files: SVG and PNG, and a list of them that also says which files are
//! ours.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use report::model::{Chart, Report, Section};
use serde::{Deserialize, Serialize};

use crate::exit::Failure;
use crate::files::write_whole;

/// The list of the charts in a directory.
const LIST: &str = "iosonde-charts.json";

/// What is in the list.
#[derive(Debug, Default, Serialize, Deserialize)]
struct List {
    /// Each picture by its file name.
    iosonde_charts: BTreeMap<String, Entry>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Entry {
    title: String,
    caption: String,
}

/// The charts that were written.
pub(super) struct Charts {
    directory: PathBuf,
    /// How many results there are, where there are several.
    several: Option<usize>,
    count: usize,
}

/// Writes each chart of a report, as PNG the same chart of `pictured`: a report in letters that
/// pictures have. A file that is there and not in the list of an earlier report is left alone.
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
    fs::create_dir_all(directory).map_err(|e| failed(directory, &e))?;
    let several = report.results.len() > 1;
    let known = known(directory);
    let mut list = List::default();
    let mut files: Vec<(PathBuf, &Chart, &Chart)> = Vec::new();
    for (place, (sections, pictured)) in parts(report).zip(parts(pictured)).enumerate() {
        for (chart, picture) in report::charts_of(sections).zip(report::charts_of(pictured)) {
            let name = name(several.then_some(report.results.len()), place, chart);
            let entry = || Entry { title: chart.title.clone(), caption: chart.caption.clone() };
            for ending in ["svg", "png"] {
                let file = format!("{name}.{ending}");
                let path = directory.join(&file);
                if path.exists() && !known.iosonde_charts.contains_key(&file) {
                    return Err(failed(&path, &"it is there and no chart of iosonde"));
                }
                list.iosonde_charts.insert(file, entry());
            }
            files.push((directory.join(name), chart, picture));
        }
    }
    // The list goes first: what is in it may be replaced, even if this ends on the way.
    let at = directory.join(LIST);
    let mut text = serde_json::to_string_pretty(&list).map_err(|e| failed(&at, &e))?;
    text.push('\n');
    write_whole(&at, text.as_bytes()).map_err(|e| failed(&at, &e))?;
    for (path, chart, picture) in &files {
        let svg = report::chart::svg(chart);
        let picture = report::chart::svg(picture);
        let png = report::picture::png(&picture).map_err(|e| failed(path, &e))?;
        for (ending, content) in [("svg", svg.as_bytes()), ("png", &png)] {
            let path = PathBuf::from(format!("{}.{ending}", path.display()));
            write_whole(&path, content).map_err(|e| failed(&path, &e))?;
        }
    }
    let several = several.then_some(report.results.len());
    Ok(Charts { directory: directory.to_owned(), several, count: files.len() })
}

/// What charts are in: the results, then their comparison.
fn parts(report: &Report) -> impl Iterator<Item = &[Section]> {
    let of_results = report.results.iter().map(|part| part.sections.as_slice());
    of_results.chain([report.comparison.as_slice()])
}

/// The list that an earlier report left.
fn known(directory: &Path) -> List {
    let text = fs::read_to_string(directory.join(LIST)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// The name of a picture: of several results, with the number of the result. Keys of a comparison
/// are like no other.
fn name(several: Option<usize>, place: usize, chart: &Chart) -> String {
    match several {
        Some(results) if place < results => format!("{}-{}", place + 1, chart.key),
        _ => chart.key.clone(),
    }
}

impl Charts {
    /// How many charts there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The charts as they are reached from beside a file; from here where there is none.
    pub(super) fn beside(&self, file: Option<&Path>) -> Beside<'_> {
        let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let here = file.and_then(Path::parent).filter(|p| !p.as_os_str().is_empty());
        let from = whole(here.unwrap_or(Path::new(".")));
        Beside { charts: self, prefix: relative(&from, &whole(&self.directory)) }
    }
}

/// Charts and the way to them.
pub(super) struct Beside<'a> {
    charts: &'a Charts,
    prefix: PathBuf,
}

impl Beside<'_> {
    /// The picture of a chart.
    pub(super) fn picture(&self, place: usize, chart: &Chart) -> Option<String> {
        let name = format!("{}.svg", name(self.charts.several, place, chart));
        Some(self.prefix.join(name).to_str()?.replace('\\', "/"))
    }
}

/// The way from one directory to another, without the name of anything above both.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (from.components().collect(), to.components().collect());
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(same).map(|_| Component::ParentDir);
    up.chain(to.iter().skip(same).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_directory_is_relative() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/a/b", "/a/b/charts"), Path::new("charts"));
        assert_eq!(way("/a/b", "/a/c"), Path::new("../c"));
        assert_eq!(way("/a", "/a"), Path::new(""));
    }
}
