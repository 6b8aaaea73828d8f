//! Links in documents and reports lead somewhere, and METHODS.md defines what they promise.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::coming_from::pages;
use crate::cli::program::place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// The documents with links, by their paths from the root.
fn documents() -> Vec<(String, String)> {
    let names = ["README.md", "METHODS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut all: Vec<_> = names.iter().map(|name| ((*name).to_owned(), read(name))).collect();
    all.extend(pages().into_iter().map(|(name, page)| (format!("docs/{name}"), page)));
    all
}

/// The text outside of fences and of code within a line.
fn prose(page: &str) -> String {
    let text = page.split("```").step_by(2).collect::<Vec<_>>().join("\n");
    text.split('`').step_by(2).collect::<Vec<_>>().join("X")
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let is_kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars().filter(is_kept).collect::<String>().replace(' ', "-")
}

/// The anchors of a page. A heading that is there twice has two anchors, and links find the first.
fn anchors(page: &str) -> Vec<String> {
    let outside = page.split("```").step_by(2).collect::<Vec<_>>().join("\n");
    outside.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
}

/// The targets of links in a page that lead to other documents.
fn links(page: &str) -> Vec<String> {
    let text = prose(page);
    let parts = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    parts.map(|(link, _)| link.to_owned()).filter(|link| !link.contains("://")).collect()
}

#[test]
fn every_link_of_the_documents_leads_to_a_file_and_a_heading() {
    let mut wrong = String::new();
    let mut count = 0;
    for (name, page) in documents() {
        for link in links(&page) {
            count += 1;
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let path = match file {
                "" => root().join(&name),
                _ => root().join(&name).parent().unwrap().join(file),
            };
            if !path.exists() {
                let _ = writeln!(wrong, "{name}: {link}: there is no such file");
            } else if !heading.is_empty() {
                let there = anchors(&fs::read_to_string(&path).unwrap());
                if there.iter().filter(|other| *other == heading).count() != 1 {
                    let _ = writeln!(wrong, "{name}: {link}: there is no one such heading");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 100, "{count} links");
}

/// The anchors of METHODS.md that a text names.
fn methods_links(text: &str) -> BTreeSet<String> {
    let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let after = text.split("METHODS.md#").skip(1);
    after.map(|rest| rest.chars().take_while(is_part).collect()).collect()
}

#[test]
fn every_link_of_a_report_has_its_heading_in_methods() {
    let place = place();
    let sim = ["--engine", "sim", "--sim", "servers = 8, read_ns = \"400us\""];
    let load = ["--size", "4G", "--seconds", "2"];
    let open = ["--rate", "5000", "--arrival", "poisson", "--write", "30", "--durable"];
    place.says(&[&["run"], &sim[..], &load, &open].concat());
    let mut found = methods_links(&String::from_utf8(place.report("latest", "run.html")).unwrap());
    place.says(&[&["knee"], &sim[..], &load[..2]].concat());
    for name in ["knee.html", "knee.md"] {
        found.extend(methods_links(&String::from_utf8(place.report("latest", name)).unwrap()));
    }
    let there = anchors(&read("METHODS.md"));
    for link in &found {
        assert_eq!(there.iter().filter(|other| *other == link).count(), 1, "METHODS.md#{link}");
    }
    assert!(found.len() >= 8, "{found:?}");
}

/// The entries under a heading of METHODS.md: their names and texts.
fn entries(methods: &str) -> Vec<(&str, &str)> {
    let (_, rest) = methods.split_once("\n## Figures, one by one\n").unwrap();
    let (chapter, _) = rest.split_once("\n## ").unwrap();
    chapter.split("\n### ").skip(1).map(|entry| entry.split_once('\n').unwrap()).collect()
}

#[test]
fn every_figure_has_a_definition_a_formula_a_source_limits_and_an_example() {
    let methods = read("METHODS.md");
    let entries = entries(&methods);
    assert!(entries.len() >= 20, "{}", entries.len());
    for (name, text) in entries {
        let labels = text.lines().filter_map(|line| line.strip_prefix("- **")?.split(":**").next());
        let wanted = ["Definition", "Formula", "Source", "Limits", "Example"];
        assert_eq!(labels.collect::<Vec<_>>(), wanted, "{name}");
    }
}

#[test]
fn every_page_begins_with_what_its_reader_can_do() {
    for (name, page) in pages() {
        let (title, rest) = page.split_once("\n\n").unwrap();
        assert!(title.starts_with("# ") && title.lines().count() == 1, "{name}: {title}");
        let first = rest.split("\n\n").next().unwrap();
        if name == "README.md" {
            continue;
        }
        assert!(first.starts_with("After this page"), "{name}: {first}");
        assert_eq!(first.matches(". ").count(), 0, "{name}: one sentence: {first}");
    }
}

#[test]
fn links_and_anchors_are_found() {
    let page = "# Cache size (`sizes`)\n[a](b.md#c) [d](https://e) `[f](g)`\n```\n# h\n```\n";
    assert_eq!(anchors(page), ["cache-size-sizes"]);
    assert_eq!(links(page), ["b.md#c"]);
    assert_eq!(anchor("### Little's law, MiB/s"), "littles-law-mibs");
    let text = "see METHODS.md#little-knee-n.<METHODS.md#iops\">";
    assert_eq!(methods_links(text).into_iter().collect::<Vec<_>>(), ["iops", "little-knee-n"]);
}
