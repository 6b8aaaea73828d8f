//! How it was measured, what the figures mean, and every reason to doubt them.

use results::Document;

use super::contradiction;
use super::make::{brief, cleaned, fact, full, full_section, section};
use crate::language::{Language, count, say, spoken};
use crate::model::{Block, Fact, Section};
use crate::words;

/// The sections of method and warnings.
pub(super) fn sections(document: &Document) -> Vec<Section> {
    let mut blocks = Vec::new();
    let method = cleaned(document.method());
    if !method.is_empty() {
        blocks.push(Block::List(method));
    }
    if document.measurements().iter().any(|m| words::is_shape(m)) {
        blocks.push(Block::Paragraph(say!("method-shape")));
    }
    blocks.extend(rule(document));
    let tool = document.measurements().iter().find_map(|m| words::tool(m));
    blocks.push(full([Block::Facts(match document {
        Document::Validation(_) => vec![latency(None)],
        Document::Durability(_) => promises(),
        Document::Capture(_) => Vec::new(),
        _ => vec![latency(tool.as_deref()), file_size()],
    })]));
    if spoken() != Language::English {
        blocks.push(full([Block::Paragraph(say!("page-english"))]));
    }
    let warnings = match warnings(document) {
        none if none.is_empty() => Block::Paragraph(match document {
            Document::Durability(_) => say!("method-no-doubt-of-the-verdict"),
            _ => say!("method-no-doubt-of-a-figure"),
        }),
        warnings => Block::Warnings(warnings),
    };
    let mut doubts = match document {
        // A terminal has the first of them beneath the verdicts.
        Document::Assessment(_) => vec![full([warnings])],
        _ => vec![warnings],
    };
    let headroom = headroom(document).map(Block::Paragraph);
    doubts.extend(match document {
        Document::Assessment(_) => Some(full(headroom)),
        _ => headroom,
    });
    let method = section("method", say!("heading-method"), blocks);
    let method = match document {
        Document::Assessment(_) => full_section(method),
        _ => method,
    };
    let sections = [method, section("warnings", say!("heading-warnings"), doubts)];
    sections.into_iter().flatten().collect()
}

/// Every reason to doubt a figure: of the document, and contradictions in each measurement, with
/// its load where there are several.
fn warnings(document: &Document) -> Vec<String> {
    let measurements = document.measurements();
    let contradictions = measurements.iter().flat_map(|m| {
        m.checks.contradictions.iter().map(|found| {
            let sentence = contradiction::sentence(found);
            if measurements.len() == 1 {
                return sentence;
            }
            let load = words::clean(&m.workload.title());
            say!("page-answer", heading = load, answer = sentence)
        })
    });
    cleaned(document.warnings()).into_iter().chain(contradictions).collect()
}

/// How far the tool itself was from its limit.
fn headroom(document: &Document) -> Option<String> {
    let (ceiling, used) = match document {
        Document::Assessment(a) => (a.tool_ceiling_iops?, a.tool_ceiling_used_percent),
        other => {
            let measurements = other.measurements();
            let ceiling = measurements.iter().find_map(|m| m.checks.tool_ceiling_iops)?;
            let most = measurements.iter().map(|m| m.total.iops).fold(0.0, f64::max);
            (ceiling, Some(100.0 * most / ceiling))
        }
    };
    let ceiling = workload::show_number(ceiling);
    Some(say!("method-headroom", ceiling = ceiling, used = words::percent(used)))
}

/// What a latency is: iosonde knows it of its own only.
fn latency(tool: Option<&str>) -> Fact {
    match tool {
        Some(tool) => fact(say!("label-latency"), say!("method-latency-of-tool", tool = tool)),
        None => fact(say!("label-latency"), say!("method-latency")),
    }
}

/// What the words of a check after a crash mean.
fn promises() -> Vec<Fact> {
    vec![
        fact(say!("label-promised"), say!("method-promised")),
        fact(say!("label-in-doubt"), say!("method-in-doubt")),
        fact(say!("label-lost"), say!("method-lost")),
        fact(say!("label-kept"), say!("method-kept")),
    ]
}

/// A reminder that figures hold for one file size.
fn file_size() -> Fact {
    fact(say!("label-file-size"), say!("method-file-size"))
}

/// A rule, and the loads that it was applied to.
type Rule = (String, Vec<String>);

/// The rules by which figures were judged, each sentence once. A terminal says where they are.
fn rule(document: &Document) -> Vec<Block> {
    let rules = said_once(&rules_of(document));
    if rules.is_empty() {
        return Vec::new();
    }
    let lead = Block::Paragraph(say!("method-rules", rules = count(rules.len())));
    let command = format!("iosonde report {}", words::clean(document.id()));
    let place = say!("method-rules-in-report", command = command);
    vec![full([lead, Block::List(rules)]), brief([Block::Paragraph(place)])]
}

/// The first rule in full, and of each other the part that differs, with its loads.
fn said_once(rules: &[Rule]) -> Vec<String> {
    let Some(((first, _), others)) = rules.split_first() else { return Vec::new() };
    let known: Vec<&str> = sentences(first);
    let more = others.iter().filter_map(|(rule, loads)| {
        let new = sentences(rule).into_iter().filter(|sentence| !known.contains(sentence));
        let new = new.collect::<Vec<_>>().join(" ");
        let loads = loads.join(&say!("list-between"));
        (!new.is_empty()).then(|| say!("page-answer", heading = loads, answer = new))
    });
    std::iter::once(first.clone()).chain(more).collect()
}

fn sentences(rule: &str) -> Vec<&str> {
    rule.split_inclusive(". ").map(str::trim).collect()
}

/// Every rule of a document that differs from the others.
fn rules_of(document: &Document) -> Vec<Rule> {
    let all: Vec<(&str, &str)> = match document {
        Document::Assessment(a) => {
            let knees = a.ramps.iter().filter_map(|ramp| Some((ramp, ramp.knee.as_ref()?)));
            let knees = knees.map(|(ramp, knee)| (knee.rule.as_str(), ramp.title.as_str()));
            let mixed = a.mixed.iter().map(|m| (m.matrix.rule.as_str(), m.title.as_str()));
            knees.chain(mixed).collect()
        }
        Document::Knee(e) => e.conclusion.knee.iter().map(|k| (k.rule.as_str(), "")).collect(),
        Document::Sizes(e) => e.conclusion.edge.iter().map(|e| (e.rule.as_str(), "")).collect(),
        Document::Scale(e) => e.conclusion.scaling.iter().map(|s| (s.rule.as_str(), "")).collect(),
        Document::Matrix(e) => vec![(e.conclusion.rule.as_str(), "")],
        _ => Vec::new(),
    };
    let mut rules: Vec<Rule> = Vec::new();
    for (rule, load) in all.into_iter().map(|(rule, load)| (words::clean(rule), words::clean(load)))
    {
        match rules.iter_mut().find(|(known, _)| *known == rule) {
            Some((_, loads)) => loads.push(load),
            None if rule.is_empty() => {}
            None => rules.push((rule, vec![load])),
        }
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rules_have_in_common_is_said_once() {
        let rule = |text: &str, load: &str| (text.to_owned(), vec![load.to_owned()]);
        let rules = [rule("A is b. C is d.", "reads"), rule("A is b. E is f.", "writes")];
        assert_eq!(said_once(&rules), ["A is b. C is d.", "writes: E is f."]);
        assert_eq!(said_once(&[rule("A is b. C is d.", "x"), rule("A is b.", "y")]).len(), 1);
        assert!(said_once(&[]).is_empty());
    }
}
