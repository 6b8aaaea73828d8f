//! The results that a report is made of: from files, from stdin, from the history.

use std::path::{Path, PathBuf};

use history::{Entry, History};
use inspect::reading;
use results::Document;
use serde_json::Value;

use crate::exit::Failure;
use crate::recording::{HistoryPlace, failure};

/// Results, and where they come from.
#[derive(Default)]
pub(super) struct Sources {
    /// The results, each once, in the order in which they were named.
    pub(super) documents: Vec<Document>,
    /// The tag that each result was named by, if it was.
    pub(super) tags: Vec<Option<String>>,
    /// What the history stores about those that come from it.
    pub(super) entries: Vec<Entry>,
    /// The history, if a result was looked up in it.
    pub(super) history: Option<History>,
}

/// Every result that these names stand for, in their order, each once.
pub(super) fn documents(names: &[PathBuf], place: &HistoryPlace) -> Result<Sources, Failure> {
    let mut all = Sources::default();
    for name in names {
        let found = if name.as_os_str() == "-" || name.exists() {
            from_file(name)?
        } else {
            from_history(name, &mut all, place)?
        };
        let tag = name.to_str().filter(|name| name.starts_with('@') && found.len() == 1);
        for document in found {
            if !all.documents.contains(&document) {
                all.documents.push(document);
                all.tags.push(tag.map(str::to_owned));
            }
        }
    }
    Ok(all)
}

fn from_file(path: &Path) -> Result<Vec<Document>, Failure> {
    let name = format!("`{}`", path.display());
    let text = reading::bytes(path, reading::RESULTS_BYTES_MAX)
        .map_err(|e| Failure::CannotRun(format!("{name}: {e}")))?;
    let text = String::from_utf8(text).map_err(|_| {
        Failure::CannotRun(format!("{name} is not a result of iosonde: it is not text"))
    })?;
    parse(&text, &name)
}

/// Documents one after the other, as `--json` prints them, or in a JSON list.
fn parse(text: &str, name: &str) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let value =
            value.map_err(|e| Failure::CannotRun(format!("{name} is not complete JSON: {e}")))?;
        let values = match value {
            Value::Array(values) => values,
            one => vec![one],
        };
        for value in values {
            let document = Document::from_value(value)
                .map_err(|e| Failure::CannotRun(format!("{name}: {e}")))?;
            documents.push(document);
        }
    }
    if documents.is_empty() {
        return Err(Failure::CannotRun(format!("{name} holds no result")));
    }
    Ok(documents)
}

fn from_history(
    name: &Path,
    all: &mut Sources,
    place: &HistoryPlace,
) -> Result<Vec<Document>, Failure> {
    let is_file = super::by_ending(name).is_some() || name.components().count() != 1;
    let known = name.to_str().filter(|_| !is_file);
    let Some(selector) = known else {
        return Err(Failure::CannotRun(format!("there is no file `{}`", name.display())));
    };
    let history = match &all.history {
        Some(history) => history,
        None => all.history.insert(place.existing()?),
    };
    let mut documents = Vec::new();
    for entry in history.select(selector).map_err(failure)? {
        documents.extend(history.documents(&entry.id).map_err(failure)?);
        all.entries.push(entry);
    }
    if documents.is_empty() {
        let text =
            format!("nothing is kept of `{selector}`: it ended before its first measurement");
        return Err(Failure::CannotRun(text));
    }
    Ok(documents)
}
