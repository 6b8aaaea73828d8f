//! `iosonde history show`: one result, as its command showed it.

use clap::Args;
use history::{Entry, History};
use report::text::{self, clean, moment, wrap};
use results::{Document, Measurement, Status};

use crate::commands::run::{document_json, json};
use crate::exit::{Failure, Outcome, print, styled};
use crate::language::LanguageArgs;
use crate::recording::failure;

/// `iosonde history show`
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The result: an id, the beginning of one, `latest`, or @NAME for all with that tag
    #[arg(value_name = "RESULT", default_value = "latest")]
    pub result: String,

    /// Print the document as JSON on stdout
    #[arg(long)]
    pub json: bool,

    /// Of a recording of `iosonde monitor`: compare this result with the part of the recording in
    /// which it was measured
    #[arg(long, value_name = "RESULT")]
    pub during: Option<String>,

    #[command(flatten)]
    pub language: LanguageArgs,
}

pub(crate) fn show(args: &ShowArgs, history: &History) -> Result<Outcome, Failure> {
    let entries = history.select(&args.result).map_err(failure)?;
    let texts: Vec<String> =
        entries.iter().map(|entry| one(args, history, entry)).collect::<Result<_, _>>()?;
    print(&texts.join(if args.json { "" } else { "\n" }))?;
    Ok(Outcome::Done)
}

fn one(args: &ShowArgs, history: &History, entry: &Entry) -> Result<String, Failure> {
    let mut document = history.document(&entry.id).map_err(failure)?;
    if let Some(during) = &args.during {
        if document.is_none() && entry.kind == "monitor" {
            document = history.documents(&entry.id).map_err(failure)?.into_iter().next();
        }
        let Some(Document::Recording(recording)) = &mut document else {
            let text = format!("`{}` is not a recording of `iosonde monitor`", entry.id);
            return Err(Failure::WrongUsage(text));
        };
        let mut results = Vec::new();
        for entry in history.select(during).map_err(failure)? {
            results.extend(history.documents(&entry.id).map_err(failure)?);
        }
        jobs::set_all_beside(recording, &results);
    }
    match document {
        Some(document) if args.json => document_json(&document),
        Some(document) => {
            Ok(styled(format!("{}{}", head(history, entry)?, text::document(&document))))
        }
        None if entry.kind == "monitor" => {
            let documents = history.documents(&entry.id).map_err(failure)?;
            let Some(document) = documents.first() else { return head(history, entry) };
            if args.json {
                return document_json(document);
            }
            Ok(styled(format!("{}{}", head(history, entry)?, text::document(document))))
        }
        None => {
            let kept = history.measurements(&entry.id).map_err(failure)?;
            let kept: Vec<Measurement> = kept.into_iter().map(|kept| kept.measurement).collect();
            if args.json {
                return json(&kept);
            }
            Ok(styled(format!("{}\n{}", head(history, entry)?, text::kept(&kept))))
        }
    }
}

/// The lines about a result that its document does not have.
fn head(history: &History, entry: &Entry) -> Result<String, Failure> {
    let first = format!("{}, {}, {}", entry.id, entry.kind, moment(&entry.started));
    let tags = entry.tags.iter().map(|tag| format!("@{tag}"));
    let first: Vec<String> = std::iter::once(first).chain(tags).collect();
    let mut out = format!("{}\n", first.join(" "));
    match entry.status {
        Some(Status::Complete) => {}
        Some(Status::Interrupted) => out.push_str("interrupted\n"),
        Some(Status::Failed) => out.push_str("ended by an error\n"),
        None => {
            let count = entry.measurements;
            let why = if history.is_running(&entry.id) {
                "it is running now"
            } else {
                "it did not come to its end"
            };
            let kept = match entry.kind.as_str() {
                "monitor" => "what was recorded until then is kept".to_owned(),
                _ => format!("{count} finished measurements are kept"),
            };
            let what = [clean(&entry.targets), clean(&entry.title)];
            let what = what.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
            let text = format!("{}: {why}; {kept}", what.join(", "));
            out.push_str(&wrap("", &text, text::WIDTH));
        }
    }
    for note in history.notes(&entry.id).map_err(failure)? {
        let mark = format!("note of {}: ", moment(&note.written));
        out.push_str(&wrap(&mark, &clean(&note.text), text::WIDTH));
    }
    Ok(out)
}
