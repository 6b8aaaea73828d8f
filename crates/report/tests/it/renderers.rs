//! A format writes sections down, and knows no kind of document.

use std::fs;
use std::path::{Path, PathBuf};

use report::model::{Block, Detail};
use report::sections;

use crate::documents;

/// What knows kinds: the sections of each, and the copy without names, which is not a format.
const KNOW_KINDS: [&str; 2] = ["sections", "redact.rs"];

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if KNOW_KINDS.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Whether a source names a kind, or looks into what a kind has concluded.
fn knows_kinds(text: &str) -> bool {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.into_iter().any(|line| {
        let mut named = line.split("Document::").skip(1);
        named.any(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
            || line.contains(".conclusion")
    })
}

/// The terminal said everything again, kind by kind: 3,400 lines that each change of a document had
/// to be made in twice, and was not.
#[test]
fn no_format_knows_a_kind_of_document() {
    assert!(knows_kinds("match d { Document::Sweep(d) => {} }"));
    assert!(!knows_kinds("documents.iter().flat_map(Document::measurements)"));
    let mut paths = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut paths);
    assert!(paths.len() > 30 && paths.iter().any(|path| path.ends_with("text/page.rs")));
    for path in paths {
        assert!(!knows_kinds(&fs::read_to_string(&path).unwrap()), "{}", path.display());
    }
}

/// Every figure that a terminal shows is in a report, too, unless it stands for something longer.
#[test]
fn no_mark_is_left_and_every_section_of_a_terminal_is_in_a_report() {
    for document in documents::all() {
        let parts = [Detail::Brief, Detail::Full].map(|d| sections::part(&document, d));
        for part in &parts {
            let mut blocks = part.sections.iter().flat_map(|section| &section.blocks);
            assert!(blocks.all(|block| !matches!(block, Block::Only(..))), "{}", part.kind);
        }
        let [brief, full] = parts;
        let keys: Vec<&str> = full.sections.iter().map(|section| section.key).collect();
        assert!(brief.sections.len() < full.sections.len(), "{}", full.kind);
        for section in &brief.sections {
            assert!(keys.contains(&section.key), "{}: {}", full.kind, section.key);
        }
        let text = report::text::document(&document);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
