//! The comparison at the beginning of a report on several results: of the first result with each of
//! the others.

use history::compare::{self, BAND_PERCENT, Input, Noise, Rules};
use report::OverlaySide;
use report::model::{Block, Section};
use results::Document;

use super::sources::Sources;
use crate::exit::Failure;
use crate::recording::failure;

/// Most results that are compared with each other.
const MOST: usize = 26;

/// The section; `None` for a single result. `is_redacted` leaves tags out, because they may hold
/// names.
pub(super) fn section(sources: &Sources, is_redacted: bool) -> Result<Option<Section>, Failure> {
    let documents = &sources.documents;
    if documents.len() < 2 {
        return Ok(None);
    }
    if documents.len() > MOST {
        let text = format!(
            "The {} results are not compared: a report compares {MOST} at most. Name fewer.",
            documents.len()
        );
        let blocks = vec![Block::Paragraph(text)];
        return Ok(Some(Section { key: "comparison", heading: "Comparison".to_owned(), blocks }));
    }
    let noise = noise(sources)?;
    let rules = Rules {
        band_percent: BAND_PERCENT,
        anyway: false,
        noise: &noise,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    let tags = if is_redacted { &[][..] } else { &sources.tags };
    let names = report::names(&documents.iter().collect::<Vec<_>>(), tags);
    let sides: Vec<&[Document]> = documents.chunks(1).collect();
    let inputs: Vec<Input<'_>> =
        names.iter().zip(&sides).map(|(name, documents)| Input { name, documents }).collect();
    let comparisons: Vec<_> = match inputs.split_first() {
        Some((first, others)) => {
            others.iter().map(|other| compare::compare(*first, *other, &rules)).collect()
        }
        None => Vec::new(),
    };
    let sides: Vec<OverlaySide<'_>> = names
        .iter()
        .zip(documents)
        .map(|(name, document)| OverlaySide { name: name.clone(), documents: vec![document] })
        .collect();
    Ok(report::overlay(&sides, &comparisons))
}

/// How far runs differ anyway: from the history, if results come from it.
fn noise(sources: &Sources) -> Result<Noise, Failure> {
    match &sources.history {
        Some(history) => {
            compare::noise(history, &sources.entries, &sources.documents).map_err(failure)
        }
        None => Ok(Noise::of(&sources.documents)),
    }
}
