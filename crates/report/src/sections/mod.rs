//! Turns documents into a report, section by section, for every format.
//!
//! The order is that in which people read: the answer, what was tested, charts, tables,
//! environment, method, warnings. A chart needs at least two points. A sweep of hundreds of cells
//! gets a few dozen charts, not hundreds.

mod agreement;
mod assessment;
mod beside;
pub(crate) mod caption;
mod capture;
mod captured;
mod captured_files;
mod cases;
mod checks;
mod comparison;
mod contradiction;
mod cycle;
mod databases;
mod durability;
mod environment;
mod faults;
mod fit;
mod fleet;
mod fleet_job;
mod glance;
mod glossary;
mod grid;
mod hosts;
mod knee;
mod latency;
pub(crate) mod loads;
mod make;
mod matrix;
mod measurement;
mod method;
mod model;
mod overlay;
mod point;
mod recording;
mod records;
mod replay;
mod rounds;
mod runs;
mod saturation;
mod scale;
mod setup;
mod sizes;
mod sweep;
mod sweep_csv;
pub(crate) mod terms;
mod tested;
mod time;
mod trend;
mod utf8;
mod validation;
mod verdict;

pub use comparison::comparison_blocks;
pub use cycle::{CycleDetail, workers};
pub(crate) use loads::kept;
pub use overlay::{OverlaySide, names, overlay};
pub(crate) use records::columns_of_loads;
pub use sweep_csv::{SWEEP_CSV_HEAD, sweep_csv};
pub use trend::{drift_blocks, trend_blocks};
pub(crate) use utf8::in_utf8;

use results::{Document, Status};

use crate::language::{Language, count, say, speak, spoken};
use crate::model::{Block, Chart, Detail, Report, ResultPart, Section, resolved};
use crate::words;

/// What these documents say, in their order.
#[must_use]
pub fn build(documents: &[Document]) -> Report {
    let results: Vec<ResultPart> = documents.iter().map(|d| part(d, Detail::Full)).collect();
    let title = match results.as_slice() {
        [] => say!("page-no-results"),
        [one] => format!("{}: {}", one.kind, one.title),
        many => say!("page-several-results", results = count(many.len())),
    };
    Report { title, comparison: None, results }
}

/// The same, which begins with a comparison of the results.
#[must_use]
pub fn build_compared(documents: &[Document], mut comparison: Option<Section>) -> Report {
    if let Some(section) = &mut comparison {
        section.blocks = resolved(std::mem::take(&mut section.blocks), Detail::Full);
        make::make_unique(std::slice::from_mut(section));
    }
    Report { comparison, ..build(documents) }
}

/// What one document says to a format of this detail.
#[must_use]
pub fn part(document: &Document, detail: Detail) -> ResultPart {
    part_with(document, detail, None)
}

/// The same with a section more.
#[must_use]
pub fn part_with(document: &Document, detail: Detail, more: Option<Section>) -> ResultPart {
    let own = || own_sections(document).into_iter().chain(hosts::section(document)).collect();
    let mut sections: Vec<Section> = own();
    if spoken() != Language::English {
        let english = speak(Language::English, own);
        make::take_keys(&mut sections, english);
    }
    sections.extend(more);
    sections.extend(make::full_section(environment::section(document.environment())));
    sections.extend(method::sections(document));
    if detail == Detail::Full {
        sections.extend(glossary::of(&sections));
    }
    for section in &mut sections {
        section.blocks = resolved(std::mem::take(&mut section.blocks), detail);
    }
    sections.retain(|section| !section.blocks.is_empty());
    make::make_unique(&mut sections);
    ResultPart {
        kind: kind(document),
        title: title(document),
        subtitle: subtitle(document),
        answer: answer(document),
        banner: banner(document),
        sections,
        records: records::of(document),
        document: in_utf8(document.clone()),
    }
}

/// What there is to say of a document of its kind.
fn own_sections(document: &Document) -> Vec<Section> {
    match document {
        Document::Measurement(d) => measurement::sections(d),
        Document::Runs(d) => runs::sections(d),
        Document::Assessment(d) => assessment::sections(d),
        Document::Knee(d) => knee::sections(d),
        Document::Sweep(d) => sweep::sections(d),
        Document::Sizes(d) => sizes::sections(d),
        Document::Scale(d) => scale::sections(d),
        Document::Matrix(d) => matrix::sections(d),
        Document::Cycle(d) => cycle::sections(d),
        Document::Recording(d) => recording::sections(d),
        Document::Validation(d) => validation::sections(d),
        Document::Durability(d) => durability::sections(d),
        Document::Fleet(d) => fleet::sections(d),
        Document::FleetJob(d) => fleet_job::sections(d),
        Document::Capture(d) => capture::sections(d),
        Document::Model(d) => model::sections(d),
        Document::Replay(d) => replay::sections(d),
        Document::Fit(d) => fit::sections(d),
    }
}

/// The charts of a result, in the order in which they are read.
pub fn charts(part: &ResultPart) -> impl Iterator<Item = &Chart> {
    charts_of(&part.sections)
}

/// The charts of sections, in the order in which they are read.
pub fn charts_of(sections: &[Section]) -> impl Iterator<Item = &Chart> {
    sections.iter().flat_map(|s| &s.blocks).flat_map(|block| match block {
        Block::Chart(chart) => std::slice::from_ref(chart),
        Block::Charts(charts) => charts.as_slice(),
        _ => &[],
    })
}

fn kind(document: &Document) -> String {
    match document {
        Document::Measurement(_) => say!("kind-measurement"),
        Document::Runs(_) => say!("kind-runs"),
        Document::Assessment(_) => say!("kind-assessment"),
        Document::Knee(_) => say!("kind-knee"),
        Document::Sweep(_) => say!("kind-sweep"),
        Document::Sizes(_) => say!("kind-sizes"),
        Document::Scale(_) => say!("kind-scale"),
        Document::Matrix(_) => say!("kind-matrix"),
        Document::Cycle(_) => say!("kind-cycle"),
        Document::Recording(_) => say!("kind-recording"),
        Document::Validation(_) => say!("kind-validation"),
        Document::Durability(_) => say!("kind-durability"),
        Document::Fleet(_) => say!("kind-fleet"),
        Document::FleetJob(_) => say!("kind-fleet-job"),
        Document::Capture(_) => say!("kind-capture"),
        Document::Model(_) => say!("kind-model"),
        Document::Replay(_) => say!("kind-replay"),
        Document::Fit(_) => say!("kind-fit"),
    }
}

/// The load and where it was; an assessment is of the place alone.
fn title(document: &Document) -> String {
    let place = tested::place(document);
    match document {
        Document::Assessment(_) => place,
        other => match words::clean(&other.title()) {
            load if load.is_empty() => place,
            load => say!("page-load-on-place", load = load, place = place),
        },
    }
}

/// File size, time, host and storage.
fn subtitle(document: &Document) -> Vec<String> {
    let bytes = match document {
        Document::Measurement(m) => words::file_size(m),
        other => words::size(other.file_bytes()),
    };
    let mut parts = match document {
        // It watches whatever is there.
        Document::Recording(_) | Document::Capture(_) | Document::Model(_) => Vec::new(),
        Document::FleetJob(job) if job.conclusion.job == "monitor" => Vec::new(),
        _ => vec![say!("page-file-size", size = bytes)],
    };
    let tool = document.measurements().into_iter().find_map(words::tool);
    parts.extend(tool.map(|tool| say!("page-measured-by", tool = tool)));
    parts.push(words::moment(document.started()));
    let environment = document.environment();
    if let Some(host) = &environment.host {
        parts.push(say!("page-host", name = words::clean(&host.hostname)));
    }
    for storage in environment.storage.iter().map(words::storage) {
        if !parts.contains(&storage) {
            parts.push(storage);
        }
    }
    parts
}

fn answer(document: &Document) -> Option<String> {
    match document {
        Document::Validation(d) => Some(words::clean(&d.conclusion.sentence)),
        Document::Durability(d) => Some(words::clean(&d.conclusion.sentence)),
        Document::Model(d) => Some(words::clean(&d.conclusion.sentence)),
        Document::Fit(d) => {
            let sentences = d.conclusion.results.iter().map(|r| words::clean(&r.sentence));
            Some(sentences.collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

fn banner(document: &Document) -> Option<String> {
    match document.status() {
        Status::Complete => None,
        Status::Interrupted => Some(say!("page-interrupted")),
        Status::Failed => Some(say!("page-failed")),
    }
}
