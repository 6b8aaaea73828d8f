//! What was measured, with which tool, and for how long.

use results::{Document, Experiment, Measurement};
use workload::{Content, Workload, show_number};

use super::caption;
use super::make::{fact, section};
use crate::language::{count, say};
use crate::model::{Block, Fact, Section};
use crate::words;

/// Targets that are named one by one in a title.
const NAMED: usize = 3;

/// The targets as a phrase; many are only counted.
pub(super) fn place(document: &Document) -> String {
    let targets = document.targets();
    match targets.as_slice() {
        [] => say!("tested-no-target"),
        few if few.len() <= NAMED => {
            few.iter().map(|t| words::path(t)).collect::<Vec<_>>().join(", ")
        }
        many => say!("tested-targets", targets = count(many.len())),
    }
}

/// The section of a single measurement.
pub(super) fn of_measurement(m: &Measurement) -> Option<Section> {
    let mut facts = origin(m);
    facts.push(fact(say!("label-file-size"), words::file_size(m)));
    facts.push(fact(say!("label-targets"), targets_of(&m.workload)));
    facts.push(fact(say!("label-load"), words::clean(&m.workload.title())));
    facts.push(fact(say!("label-in-flight"), words::in_flight(m)));
    facts.extend(how(m));
    facts.push(fact(say!("label-measured"), measured(m)));
    section("tested", say!("heading-what-was-tested"), vec![Block::Facts(facts)])
}

/// The tool that measured, where it was not iosonde.
fn origin(m: &Measurement) -> Vec<Fact> {
    let (Some(tool), Some(origin)) = (words::tool(m), &m.origin) else { return Vec::new() };
    let is_own = origin.tool_version.as_deref().is_some_and(words::is_own);
    let other = if is_own { tool } else { say!("tested-other-tool", tool = tool) };
    let mut facts = vec![fact(say!("label-measured-by"), other)];
    if let Some(file) = &origin.file {
        facts.push(fact(say!("label-imported-from"), words::clean(file)));
    }
    if let Some(command) = &origin.command_line {
        facts.push(fact(say!("label-command-line"), words::clean(command)));
    }
    facts
}

/// The section of an experiment, with facts of its own.
pub(super) fn of_experiment<C>(e: &Experiment<C>, own: Vec<Fact>) -> Option<Section> {
    let mut facts = vec![fact(say!("label-file-size"), words::size(e.file_bytes))];
    let names: Vec<String> = e.targets.iter().map(|t| words::path(t)).collect();
    facts.push(fact(say!("label-targets"), names.join(", ")));
    facts.extend(own);
    if let Some(first) = e.measurements.first() {
        facts.push(fact(say!("label-loads"), caption::of(&e.measurements)));
        facts.extend(how(first));
    }
    let measured = say!(
        "tested-measurements",
        measurements = count(e.measurements.len()),
        from = words::moment(&e.started),
        to = words::moment(&e.finished)
    );
    facts.push(fact(say!("label-measured"), measured));
    section("tested", say!("heading-what-was-tested"), vec![Block::Facts(facts)])
}

fn targets_of(workload: &Workload) -> String {
    workload.targets.iter().map(|t| words::path(&t.path)).collect::<Vec<_>>().join(", ")
}

/// Cache, content and engine, as far as all measurements of an experiment agree.
pub(super) fn how(m: &Measurement) -> Vec<Fact> {
    let mut facts = vec![fact(say!("label-cache"), words::mode(&m.workload))];
    let mut contents: Vec<String> = Vec::new();
    for stream in m.workload.streams.iter().filter(|s| s.writes()) {
        let content = match stream.content {
            Content::Random => say!("content-random"),
            Content::Zero => say!("content-zero"),
            Content::Compressible { percent } => {
                say!("content-compressible", percent = percent.to_string())
            }
            Content::Counting => say!("content-counting"),
            Content::Repeating => say!("content-repeating"),
            Content::Fixed => say!("content-fixed"),
            Content::Source { bytes } => match &stream.content_file {
                Some(file) => {
                    let file = words::path(file);
                    say!("content-of-file", size = bytes.to_string(), file = file)
                }
                None => say!("content-of-buffer", size = bytes.to_string()),
            },
        };
        if !contents.contains(&content) {
            contents.push(content);
        }
    }
    if !contents.is_empty() {
        facts.push(fact(say!("label-written"), contents.join("; ")));
    }
    let mut found: Vec<String> = Vec::new();
    for target in &m.targets {
        let content = words::clean(&target.content);
        if m.origin.is_none() && !content.is_empty() && !found.contains(&content) {
            found.push(content);
        }
    }
    if !found.is_empty() {
        facts.push(fact(say!("label-content-of-the-file"), found.join("; ")));
    }
    if m.origin.is_none() || !m.engine.features.is_empty() {
        facts.push(fact(say!("label-engine"), words::engine(m)));
    }
    facts
}

fn measured(m: &Measurement) -> String {
    let asked = m.workload.seconds;
    let mut text = match m.seconds {
        seconds if m.origin.is_some() && seconds <= 0.0 => say!("tested-seconds-not-known"),
        seconds => words::seconds(seconds),
    };
    if m.seconds > 0.0 && (m.seconds - asked).abs() > 0.01 * asked {
        text = say!("tested-seconds-of", measured = text, asked = words::seconds(asked));
    }
    if let Some(precision) = &m.workload.precision {
        let percent = show_number(precision.percent);
        text = say!("tested-precision", measured = text, percent = percent);
    }
    format!("{text} {}", words::when(m))
}
