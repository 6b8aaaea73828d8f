//! What was tested, with what, and how long.

use results::{Document, Experiment, Measurement};
use workload::{Content, Workload, show_number};

use super::caption;
use super::make::{fact, section};
use crate::model::{Block, Fact, Section};
use crate::words;

/// Targets that are named one by one in a title.
const NAMED: usize = 3;

/// The targets in a phrase.
pub(super) fn place(document: &Document) -> String {
    let targets = document.targets();
    match targets.as_slice() {
        [] => "no target".to_owned(),
        few if few.len() <= NAMED => {
            few.iter().map(|t| words::path(t)).collect::<Vec<_>>().join(", ")
        }
        many => format!("{} targets", many.len()),
    }
}

/// The section of a single measurement.
pub(super) fn of_measurement(m: &Measurement) -> Option<Section> {
    let mut facts = origin(m);
    facts.push(fact("File size", words::file_size(m)));
    facts.push(fact("Targets", targets_of(&m.workload)));
    facts.push(fact("Load", words::clean(&m.workload.title())));
    facts.push(fact("In flight", words::in_flight(m)));
    facts.extend(how(m));
    facts.push(fact("Measured", measured(m)));
    section("tested", "What was tested", vec![Block::Facts(facts)])
}

/// The tool that measured, where it was not iosonde.
fn origin(m: &Measurement) -> Vec<Fact> {
    let (Some(tool), Some(origin)) = (words::tool(m), &m.origin) else { return Vec::new() };
    let mut facts = vec![fact("Measured by", format!("{tool}, not iosonde"))];
    if let Some(file) = &origin.file {
        facts.push(fact("Imported from", words::clean(file)));
    }
    if let Some(command) = &origin.command_line {
        facts.push(fact("Command line", words::clean(command)));
    }
    facts
}

/// The section of an experiment, with facts of its own.
pub(super) fn of_experiment<C>(e: &Experiment<C>, own: Vec<Fact>) -> Option<Section> {
    let mut facts = vec![fact("File size", words::size(e.file_bytes))];
    let names: Vec<String> = e.targets.iter().map(|t| words::path(t)).collect();
    facts.push(fact("Targets", names.join(", ")));
    facts.extend(own);
    if let Some(first) = e.measurements.first() {
        facts.push(fact("Loads", caption::of(&e.measurements)));
        facts.extend(how(first));
    }
    let count = words::plural(e.measurements.len() as u64, "measurement", "measurements");
    let (from, to) = (words::moment(&e.started), words::moment(&e.finished));
    facts.push(fact("Measured", format!("{count}, {from} to {to}")));
    section("tested", "What was tested", vec![Block::Facts(facts)])
}

fn targets_of(workload: &Workload) -> String {
    workload.targets.iter().map(|t| words::path(&t.path)).collect::<Vec<_>>().join(", ")
}

/// Cache, content and engine: what is alike in all measurements of an experiment.
pub(super) fn how(m: &Measurement) -> Vec<Fact> {
    let mut facts = vec![fact("Cache", words::mode(&m.workload))];
    let mut contents: Vec<String> = Vec::new();
    for stream in m.workload.streams.iter().filter(|s| s.writes()) {
        let content = match stream.content {
            Content::Random => "incompressible, no two blocks alike".to_owned(),
            Content::Zero => "zeros".to_owned(),
            Content::Compressible { percent } => format!("{percent} % of each 4 KiB is zeros"),
            Content::Counting => "the bytes 0 to 255, over and over".to_owned(),
            Content::Repeating => "one byte repeated, another in each write".to_owned(),
            Content::Fixed => "the same random bytes in each write of a thread".to_owned(),
            Content::Source { bytes } => match &stream.content_file {
                Some(file) => format!("parts of {bytes} of `{}`", file.display()),
                None => format!("parts of a random buffer of {bytes}"),
            },
        };
        if !contents.contains(&content) {
            contents.push(content);
        }
    }
    if !contents.is_empty() {
        facts.push(fact("Written", contents.join("; ")));
    }
    let mut found: Vec<String> = Vec::new();
    for target in &m.targets {
        let content = words::clean(&target.content);
        if m.origin.is_none() && !content.is_empty() && !found.contains(&content) {
            found.push(content);
        }
    }
    if !found.is_empty() {
        facts.push(fact("Content of the file", found.join("; ")));
    }
    if m.origin.is_none() || !m.engine.features.is_empty() {
        facts.push(fact("Engine", words::engine(m)));
    }
    facts
}

fn measured(m: &Measurement) -> String {
    let asked = m.workload.seconds;
    let mut text = match m.seconds {
        seconds if m.origin.is_some() && seconds <= 0.0 => format!("length {}", words::UNKNOWN),
        seconds => words::seconds(seconds),
    };
    if m.seconds > 0.0 && (m.seconds - asked).abs() > 0.01 * asked {
        text.push_str(&format!(" of {}", words::seconds(asked)));
    }
    if let Some(precision) = &m.workload.precision {
        text.push_str(&format!(" (asked: ± {} %)", show_number(precision.percent)));
    }
    format!("{text} {}", words::when(m))
}
