//! How right iosonde is where the answer is known; written to `docs/accuracy.md`.
//!
//! A section is a module with one function that gives its Markdown, and one line in [`SECTIONS`].

mod adaptive;
mod cause;
mod fit;
mod generate;
mod knee;
mod panel;
mod phases;
mod series;
mod sizes;
mod sweep;
mod truth;

use std::io::Write as _;
use std::path::Path;

use clap::builder::PossibleValuesParser;

use crate::linux::{Error, machine};

/// A section of the page about accuracy.
struct Section {
    /// As it is named on the command line.
    name: &'static str,
    title: &'static str,
    /// Does the work and returns the text under the heading. If this host lacks something that a
    /// section needs, its text says so; an error leaves the page as it was.
    run: fn() -> Result<String, Error>,
}

/// In the order of the page.
const SECTIONS: &[Section] = &[
    Section { name: "series", title: "When a figure is settled", run: series::run },
    Section { name: "phases", title: "When throughput falls on the way", run: phases::run },
    Section { name: "knee", title: "Where a load saturates", run: knee::run },
    Section { name: "cause", title: "Bottleneck", run: cause::run },
    Section { name: "panel", title: "Verdicts on known devices", run: panel::run },
    Section { name: "sizes", title: "The size of a cache", run: sizes::run },
    Section { name: "sweep", title: "Sweeps", run: sweep::run },
    Section { name: "adaptive", title: "Sweeps that check themselves", run: adaptive::run },
    Section { name: "fit", title: "How many times a load fits", run: fit::run },
    Section { name: "truth", title: "Devices of known behaviour", run: truth::run },
];

const PAGE: &str = include_str!("accuracy.md");

/// What may be asked for by name.
pub(crate) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(SECTIONS.iter().map(|section| section.name))
}

/// Prints the named sections, or writes the page with all of them.
pub(crate) fn run(names: &[String], output: Option<&Path>) -> Result<(), Error> {
    let all = names.is_empty();
    let wanted = |section: &&Section| all || names.iter().any(|name| name == section.name);
    let mut text = Vec::new();
    for section in SECTIONS.iter().filter(wanted) {
        eprintln!("{}: {}", section.name, section.title);
        let body = (section.run)().map_err(|error| format!("{}: {error}", section.name))?;
        text.push(format!("## {}\n\n{}\n", section.title, body.trim_end()));
    }
    let text = text.join("\n");
    if !all {
        write!(std::io::stdout(), "{text}")?;
        return Ok(());
    }
    let page = machine::here(PAGE)
        .replace("{VERSION}", env!("CARGO_PKG_VERSION"))
        .replace("{SECTIONS}", text.trim_end());
    machine::write(&page, output.unwrap_or(Path::new("docs/accuracy.md")))
}

fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let lines = rows.iter().map(|cells| format!("| {} |\n", cells.join(" | ")));
    format!("| {} |\n{rule}{}", head.join(" | "), lines.collect::<String>())
}
