//! The list of formats that results are written in. The program, its help and the browser read it.

use inspect::files::Seal;
use results::Document;

use crate::ReportError;
use crate::model::{Chart, Report};
use crate::{csv, fio, html, io_properties, json, markdown, xlsx};

/// Every format, in the order in which people are offered them. Of two with the same ending, the
/// first is meant by it.
pub static FORMATS: [&Format; 7] = [
    &html::FORMAT,
    &XLSX,
    &csv::FORMAT,
    &markdown::FORMAT,
    &json::FORMAT,
    &fio::FORMAT,
    &io_properties::FORMAT,
];

/// The workbook. It is here because a build may leave out the code that writes it, while its name
/// and its extension are always known.
static XLSX: Format = Format {
    name: "xlsx",
    aliases: &[],
    title: "XLSX",
    help: "A workbook with charts",
    endings: &["xlsx"],
    media: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    write: |content| xlsx::workbook(content.report),
    seal: Seal::Zip,
    apart: None,
};

/// A format: how it is named, and how it is written.
#[derive(Debug)]
pub struct Format {
    /// Its name as people type it.
    pub name: &'static str,
    /// Other names by which people may ask for it.
    pub aliases: &'static [&'static str],
    /// Its name as people read it.
    pub title: &'static str,
    /// The use of the format, for help.
    pub help: &'static str,
    /// The endings of its files; the first is the one that they are given.
    pub endings: &'static [&'static str],
    /// The media type that a browser is sent.
    pub media: &'static str,
    /// Writes the whole content into one file.
    pub write: fn(&Content<'_>) -> Result<Vec<u8>, ReportError>,
    /// Where a file of this format shows that nobody changed it, so that it may be replaced.
    pub seal: Seal,
    /// How loads are written that do not belong in one file; `None` if they do.
    pub apart: Option<Apart>,
}

/// How to write one file per load.
#[derive(Debug)]
pub struct Apart {
    /// Writes the files; returns their names and contents.
    pub files: fn(&[Document]) -> Vec<(String, String)>,
    /// What to know where several loads are in one file all the same.
    pub note: &'static str,
}

/// Where the picture of a chart of a result is, if there is one. The place after the last result is
/// that of their comparison.
pub type Pictures<'a> = &'a dyn Fn(usize, &Chart) -> Option<String>;

/// Everything that a file may contain.
#[derive(Clone, Copy)]
pub struct Content<'a> {
    /// Everything that people read, without any layout.
    pub report: &'a Report,
    /// The documents that it is of.
    pub documents: &'a [Document],
    /// Where the pictures of its charts are.
    pub pictures: Pictures<'a>,
}

impl Format {
    /// The usual extension of its files.
    #[must_use]
    pub fn ending(&self) -> &'static str {
        self.endings.first().copied().unwrap_or_default()
    }

    /// The format with this name, if there is one.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.into_iter().find(|format| format.name == name || format.aliases.contains(&name))
    }

    /// The format that an ending means.
    #[must_use]
    pub fn by_ending(ending: &str) -> Option<&'static Self> {
        let ending = ending.to_ascii_lowercase();
        FORMATS.into_iter().find(|format| format.endings.contains(&ending.as_str()))
    }
}

/// The formats that have their own ending.
pub fn by_endings() -> impl Iterator<Item = &'static Format> {
    FORMATS.into_iter().filter(|format| {
        Format::by_ending(format.ending()).is_some_and(|first| first.name == format.name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_an_ending_means_one_format() {
        let names: Vec<&str> =
            FORMATS.iter().flat_map(|f| f.aliases.iter().chain([&f.name]).copied()).collect();
        let distinct: std::collections::HashSet<&&str> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{names:?}");
        assert!(FORMATS.iter().all(|f| !f.ending().is_empty() && !f.help.is_empty()));
        assert_eq!(Format::by_ending("HTM").map(|f| f.name), Some("html"));
        assert_eq!(Format::by_ending("json").map(|f| f.name), Some("json"));
        assert_eq!(Format::named("md").map(|f| f.title), Some("Markdown"));
        let endings: Vec<&str> = by_endings().map(Format::ending).collect();
        assert_eq!(endings, ["html", "xlsx", "csv", "md", "json", "yaml"]);
    }
}
