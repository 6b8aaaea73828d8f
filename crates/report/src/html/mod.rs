//! The report of an assessment as one HTML file.
//!
//! The file asks nothing of a network: style, pictures, script and the document itself are inside. It is readable and
//! printable without its script, which only sorts a table and saves the document. The template is compiled into the
//! program by `askama`, which escapes every text of the document; the pictures are SVG drawn with `charts-rs`.

mod agreement;
mod chart;
mod environment;
mod figure;
mod patterns;
mod ramps;
mod raw;
mod small;
mod spot;
mod table;
mod verdicts;
mod view;

use askama::Template;
use results::{Assessment, Measurement, Pace, Status};
use workload::show_number;

use crate::{ReportError, words};

pub use view::{blocks, is_report, page, part, script, style};

/// A name and what it stands for, in a list of facts.
struct Fact {
    name: &'static str,
    value: String,
}

impl Fact {
    fn new(name: &'static str, value: impl Into<String>) -> Self {
        Self { name, value: value.into() }
    }
}

#[derive(Template)]
#[template(path = "assessment.html")]
struct Page {
    target: String,
    file_size: String,
    subtitle: Vec<String>,
    broken: Option<&'static str>,
    summary: Vec<Fact>,
    verdicts: Vec<verdicts::Card>,
    claims: Vec<(&'static str, String)>,
    probes: Vec<String>,
    ramps: Vec<ramps::RampView>,
    patterns: patterns::Patterns,
    agreements: Vec<agreement::Row>,
    differing: Vec<(String, String)>,
    host: Vec<Fact>,
    storage: Vec<environment::StorageView>,
    method: Vec<String>,
    warnings: Vec<String>,
    headroom: Option<String>,
    id: String,
    tool_version: String,
    schema: String,
    file_name: String,
    json: String,
}

/// The report of an assessment: one HTML file that needs nothing else.
pub fn assessment(a: &Assessment) -> Result<String, ReportError> {
    let page = Page {
        target: words::path(&a.target),
        file_size: words::size(a.file_bytes),
        subtitle: subtitle(a),
        broken: broken(a.status),
        summary: summary(a),
        verdicts: verdicts::cards(a),
        claims: claims(a),
        probes: probes(a),
        ramps: ramps::views(a)?,
        patterns: patterns::Patterns::of(a),
        agreements: agreement::rows(a),
        differing: agreement::differing(a),
        host: environment::host(a),
        storage: environment::storage(a),
        method: a.method.iter().map(|m| words::clean(m)).collect(),
        warnings: a.warnings.iter().map(|w| words::clean(w)).collect(),
        headroom: headroom(a),
        id: words::clean(&a.id),
        tool_version: words::clean(&a.tool_version),
        schema: words::clean(&a.schema),
        file_name: file_name(a),
        json: island(a)?,
    };
    Ok(page.render()?)
}

/// What was expected: how it came out, and the sentence.
fn claims(a: &Assessment) -> Vec<(&'static str, String)> {
    a.claims.iter().map(|c| (words::claim(c.outcome), words::clean(&c.sentence))).collect()
}

/// What was seen beside the roles: durable writes and alignment.
fn probes(a: &Assessment) -> Vec<String> {
    let honesty = a.honesty.iter().map(|h| words::clean(&h.statement));
    honesty.chain(a.alignment.iter().map(|l| words::clean(&l.statement))).collect()
}

fn subtitle(a: &Assessment) -> Vec<String> {
    let mut parts = vec![words::moment(&a.started)];
    if let Some(host) = &a.environment.host {
        parts.push(format!("host {}", words::clean(&host.hostname)));
    }
    parts.extend(a.environment.storage.iter().map(words::storage));
    parts
}

fn broken(status: Status) -> Option<&'static str> {
    match status {
        Status::Complete => None,
        Status::Interrupted => {
            Some("Interrupted before its end. The figures are those of the part that was measured.")
        }
        Status::Failed => {
            Some("Ended by an I/O error. The figures are those of the part before it.")
        }
    }
}

fn summary(a: &Assessment) -> Vec<Fact> {
    let size = format!("{} ({})", words::size(a.file_bytes), words::clean(&a.file_size_reason));
    let pace = match a.pace {
        Pace::Quick => "quick: an indication",
        Pace::Normal => "normal",
        Pace::Long => "long: a baseline",
    };
    let findings: usize = a.environment.storage.iter().map(|s| s.findings.len()).sum();
    let doubts = words::plural(a.warnings.len() as u64, "warning", "warnings");
    let findings = words::plural(findings as u64, "finding", "findings");
    let times = format!("{} to {}", words::moment(&a.started), words::moment(&a.finished));
    let mut facts = vec![
        Fact::new("File size", size),
        Fact::new("Measured", format!("{times}; pace {pace}, loads of {}", a.database.title())),
        Fact::new(
            "To consider",
            format!("{doubts} about the figures, {findings} about the set-up"),
        ),
    ];
    if let Some(repeats) = &a.repeats {
        let found = words::clean(&repeats.trust.explanation);
        facts.push(Fact::new("Repeated", format!("{}: {found}", words::clean(&repeats.title))));
    }
    facts
}

/// How far the tool itself was from its limit.
fn headroom(a: &Assessment) -> Option<String> {
    let ceiling = a.tool_ceiling_iops?;
    let used = words::percent(a.tool_ceiling_used_percent);
    Some(format!(
        "Without any I/O this program makes {} I/Os a second on this host. The largest rate measured here is {used} of that.",
        show_number(ceiling)
    ))
}

/// A name for the saved document that every file system takes.
fn file_name(a: &Assessment) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let id: String = a.id.chars().take(80).map(plain).collect();
    format!("iosonde-{id}.json")
}

/// The document as JSON that no HTML parser can take for anything else.
fn island(a: &Assessment) -> Result<String, ReportError> {
    let mut document = a.clone();
    // A path that is not UTF-8 has no place in JSON; it is written with replacement characters.
    document.target = words::path_lossy(&document.target);
    document.patterns.iter_mut().for_each(|p| name_in_utf8(&mut p.measurement));
    document.repeats.iter_mut().flat_map(|r| &mut r.measurements).for_each(name_in_utf8);
    document.ramps.iter_mut().flat_map(|r| &mut r.points).for_each(name_in_utf8);
    let json = serde_json::to_string(&document)?;
    Ok(json
        .replace('&', "\\u0026")
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029"))
}

fn name_in_utf8(m: &mut Measurement) {
    let paths = m.workload.targets.iter_mut().map(|t| &mut t.path);
    let paths = paths.chain(m.targets.iter_mut().map(|t| &mut t.path));
    for path in paths.chain(m.errors.iter_mut().map(|e| &mut e.path)) {
        *path = words::path_lossy(path);
    }
}
