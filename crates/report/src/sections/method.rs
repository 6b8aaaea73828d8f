//! How it was measured, what the figures mean, and every reason to doubt them.

use results::Document;

use super::assessment;
use super::make::{brief, cleaned, fact, full, full_section, section};
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
        blocks.push(Block::Paragraph(words::SHAPE.to_owned()));
    }
    let tool = document.measurements().iter().find_map(|m| words::tool(m));
    blocks.push(full([Block::Facts(match document {
        Document::Validation(_) => vec![latency(None)],
        Document::Durability(_) => promises(),
        _ => terms(tool.as_deref()),
    })]));
    let warnings = match cleaned(document.warnings()) {
        none if none.is_empty() => {
            let what = match document {
                Document::Durability(_) => "the verdict",
                _ => "a figure",
            };
            Block::Paragraph(format!("There is no reason to doubt {what}."))
        }
        warnings => Block::Warnings(warnings),
    };
    let mut doubts = match document {
        Document::Assessment(a) => vec![full([warnings]), brief([assessment::first_warning(a)])],
        _ => vec![warnings],
    };
    let headroom = headroom(document).map(Block::Paragraph);
    doubts.extend(match document {
        Document::Assessment(_) => Some(full(headroom)),
        _ => headroom,
    });
    let method = section("method", "Method", blocks);
    let method = match document {
        Document::Assessment(_) => full_section(method),
        _ => method,
    };
    let sections = [method, section("warnings", "Warnings", doubts)];
    sections.into_iter().flatten().collect()
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
    Some(format!(
        "Without any I/O this program makes {} I/Os a second on this host. The largest rate \
         measured here is {} of that.",
        workload::show_number(ceiling),
        words::percent(used)
    ))
}

/// What a latency is: iosonde knows it of its own only.
fn latency(tool: Option<&str>) -> Fact {
    match tool {
        Some(tool) => fact("Latency", format!("As {tool} tells it; iosonde did not measure it.")),
        None => fact(
            "Latency",
            "From submission to completion of one I/O; at a set rate from the moment at which the \
             I/O was due. Every I/O is recorded; a percentile is within 0.8 % of the truth, \
             shortest and longest are exact.",
        ),
    }
}

/// What the words of a check behind a crash mean.
fn promises() -> Vec<Fact> {
    vec![
        fact(
            "Promised",
            "The storage had acknowledged the operation as durable, and the witness had stored \
             that on stable media.",
        ),
        fact(
            "In doubt",
            "It may have been written at the moment of the crash: what was promised before, the \
             new version or a mixture of both may be there, and none of it is an error.",
        ),
        fact(
            "Lost",
            "It does not hold what was promised, nor anything newer. Something between the \
             program and the medium acknowledged what it did not keep.",
        ),
        fact(
            "Kept",
            "Nothing was lost in this crash. What had left all caches before cannot be lost any \
             more, so one crash says little.",
        ),
    ]
}

fn terms(tool: Option<&str>) -> Vec<Fact> {
    vec![
        fact(
            "IOPS",
            "I/Os that completed without error inside the measured window, for each second of it. \
             Warm-up does not count.",
        ),
        fact("MiB/s", "Bytes moved by those I/Os for each second, in units of 2^20 bytes."),
        latency(tool),
        fact(
            "p99",
            "99 of 100 I/Os took no longer. A percentile is shown where at least ten I/Os lie \
             above it.",
        ),
        fact(
            "Depth, in flight",
            "Outstanding I/Os of each thread, and of all threads together. Achieved is the \
             average over the window.",
        ),
        fact(
            "Operating point",
            "The least measured load that gives at least 95 % of the highest throughput: more in \
             flight makes each I/O wait and gains next to nothing.",
        ),
        fact(
            "Little knee N*",
            "Saturated throughput × unloaded latency: how many I/Os the storage works on at once.",
        ),
        fact(
            "Direct, durable",
            "Direct I/O goes past the cache of the operating system. A durable write is on stable \
             media before it completes.",
        ),
        fact(
            "File size",
            "A small file may fit a cache of the storage and then shows the cache. No figure here \
             holds for another file size.",
        ),
    ]
}
