//! The files that a result can be saved as.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use history::History;
use report::format::{Content, by_endings};
use report::{Format, ReportError};
use results::Document;

use super::words;
use crate::problem::Problem;

/// A link to a file of a result.
pub(super) struct Link {
    pub(super) name: &'static str,
    pub(super) link: String,
}

/// The links to every format of a result.
pub(super) fn links(id: &str) -> Vec<Link> {
    let link = |f: &Format| format!("/result/{}.{}", words::in_path(id), f.ending());
    by_endings().map(|f| Link { name: f.title, link: link(f) }).collect()
}

/// Splits `ID.json` into id and extension, where the extension is one of a format.
pub(super) fn split(name: &str) -> Option<(&str, &'static str)> {
    let (id, extension) = name.rsplit_once('.')?;
    let format = by_endings().find(|f| f.ending() == extension)?;
    Some((id, format.ending()))
}

/// The file of a result; for one that never came to its end, of what was measured before.
pub(super) fn file(history: &History, id: &str, extension: &str) -> Result<Response, Problem> {
    let format = Format::by_ending(extension).ok_or(Problem::NoSuchPage)?;
    let bytes = written(&history.documents(id)?, format)?;
    let name = format!("attachment; filename=\"{}\"", words::file_name(id, extension));
    let headers =
        [(header::CONTENT_TYPE, format.media.to_owned()), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, bytes).into_response())
}

fn written(documents: &[Document], format: &Format) -> Result<Vec<u8>, Problem> {
    if format.name == "json" {
        return json(documents);
    }
    let report = report::build(documents);
    let content = Content { report: &report, documents, pictures: &|_, _| None };
    Ok((format.write)(&content)?)
}

/// The document as it is; for an unfinished result, a list of its measurements.
fn json(documents: &[Document]) -> Result<Vec<u8>, Problem> {
    let text = match documents {
        [one] => one.to_indented_json(),
        several => results::list_to_indented_json(several),
    };
    let text = text.map_err(ReportError::from)?;
    Ok((text + "\n").into_bytes())
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
