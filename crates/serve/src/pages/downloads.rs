//! The files that a result can be saved as.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use history::History;
use report::ReportError;
use results::Document;

use super::words;
use crate::problem::Problem;

/// A format: its extension, its name, and what a browser is told that it is.
struct Format {
    extension: &'static str,
    name: &'static str,
    media: &'static str,
}

const FORMATS: [Format; 5] = [
    format("html", "HTML", "text/html; charset=utf-8"),
    format("xlsx", "XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    format("csv", "CSV", "text/csv; charset=utf-8"),
    format("md", "Markdown", "text/markdown; charset=utf-8"),
    format("json", "JSON", "application/json"),
];

const fn format(extension: &'static str, name: &'static str, media: &'static str) -> Format {
    Format { extension, name, media }
}

/// A link to a file.
pub(super) struct Link {
    pub(super) name: &'static str,
    pub(super) link: String,
}

/// The links to every format of a result.
pub(super) fn links(id: &str) -> Vec<Link> {
    let link = |f: &Format| format!("/result/{}.{}", words::in_path(id), f.extension);
    FORMATS.iter().map(|f| Link { name: f.name, link: link(f) }).collect()
}

/// Splits `ID.json` into id and extension, where the extension is one of a format.
pub(super) fn split(name: &str) -> Option<(&str, &'static str)> {
    let (id, extension) = name.rsplit_once('.')?;
    let format = FORMATS.iter().find(|f| f.extension == extension)?;
    Some((id, format.extension))
}

/// The file of a result; of one that never came to its end, of what was measured before.
pub(super) fn file(history: &History, id: &str, extension: &str) -> Result<Response, Problem> {
    let format = FORMATS.iter().find(|f| f.extension == extension).ok_or(Problem::NoSuchPage)?;
    let bytes = written(&history.documents(id)?, extension)?;
    let name = format!("attachment; filename=\"{}\"", words::file_name(id, extension));
    let headers =
        [(header::CONTENT_TYPE, format.media.to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, bytes).into_response())
}

fn written(documents: &[Document], extension: &str) -> Result<Vec<u8>, Problem> {
    if extension == "json" {
        return json(documents);
    }
    let report = report::build(documents);
    Ok(match extension {
        "html" => report::html::page(&report)?.into_bytes(),
        "xlsx" => report::xlsx::workbook(&report)?,
        "csv" => report::csv::text(&report).into_bytes(),
        _ => report::markdown::text(&report).into_bytes(),
    })
}

/// The document as it is; several of them, of what is unfinished, as a list.
fn json(documents: &[Document]) -> Result<Vec<u8>, Problem> {
    let text = match documents {
        [one] => serde_json::to_vec_pretty(one),
        several => serde_json::to_vec_pretty(several),
    };
    let mut text = text.map_err(ReportError::from)?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_may_hold_dots_and_only_known_extensions_are_files() {
        assert_eq!(split("a.b.json"), Some(("a.b", "json")));
        assert_eq!(split("a.b"), None);
        assert_eq!(split("json"), None);
        assert_eq!(links("a/b")[0].link, "/result/a%2Fb.html");
    }
}
