//! The charts of a report as files: SVG and PNG by name, a list that names the files of iosonde,
//! and links to them from a report. This module makes bytes and names; the caller writes the files.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use crate::ReportError;
use crate::model::{Chart, Report, Section};

/// The list of the charts in a directory.
pub const LIST: &str = "iosonde-charts.json";

/// The content of the list file.
#[derive(Debug, Default, Serialize)]
struct List {
    /// Each picture by its file name.
    iosonde_charts: BTreeMap<String, Entry>,
}

#[derive(Debug, Default, Serialize)]
struct Entry {
    title: String,
    caption: String,
}

/// The charts of a report, each as SVG and as PNG.
pub struct Pictures {
    /// How many results there are, where there are several.
    several: Option<usize>,
    list: List,
    files: Vec<(String, Vec<u8>)>,
}

/// Draws each chart of a report, as PNG the same chart of `pictured`: a report in letters that
/// pictures have.
pub fn pictures(report: &Report, pictured: &Report) -> Result<Pictures, ReportError> {
    let several = (report.results.len() > 1).then_some(report.results.len());
    let mut made = Pictures { several, list: List::default(), files: Vec::new() };
    for (place, (sections, pictured)) in parts(report).zip(parts(pictured)).enumerate() {
        for (chart, picture) in crate::charts_of(sections).zip(crate::charts_of(pictured)) {
            let name = name(several, place, chart);
            let svg = crate::chart::svg(chart);
            let png = crate::picture::png(&crate::chart::svg(picture))?;
            for (ending, content) in [("svg", svg.into_bytes()), ("png", png)] {
                let file = format!("{name}.{ending}");
                let entry = Entry { title: chart.title.clone(), caption: chart.caption.clone() };
                made.list.iosonde_charts.insert(file.clone(), entry);
                made.files.push((file, content));
            }
        }
    }
    Ok(made)
}

/// What charts are in: the results, then their comparison.
fn parts(report: &Report) -> impl Iterator<Item = &[Section]> {
    let of_results = report.results.iter().map(|part| part.sections.as_slice());
    of_results.chain([report.comparison.as_slice()])
}

/// The name of a picture: of several results, with the number of the result. Keys of a comparison
/// are like no other.
fn name(several: Option<usize>, place: usize, chart: &Chart) -> String {
    match several {
        Some(results) if place < results => format!("{}-{}", place + 1, chart.key),
        _ => chart.key.clone(),
    }
}

impl Pictures {
    /// How many charts the report has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.files.len() / 2
    }

    /// The files by their names, without their directory.
    #[must_use]
    pub fn files(&self) -> &[(String, Vec<u8>)] {
        &self.files
    }

    /// The text of the list file, [`LIST`].
    pub fn list(&self) -> Result<String, ReportError> {
        Ok(serde_json::to_string_pretty(&self.list)? + "\n")
    }

    /// The picture of a chart in a directory, as it is reached from another. Both are whole paths.
    #[must_use]
    pub fn way(&self, (from, to): (&Path, &Path), place: usize, chart: &Chart) -> Option<String> {
        let name = format!("{}.svg", name(self.several, place, chart));
        Some(relative(from, to).join(name).to_str()?.replace('\\', "/"))
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
