//! The page of a report is whole, well formed, self-contained, escaped, and holds its documents.

use std::io::Read;
use std::path::PathBuf;

use crate::models::HOSTILE;
use base64::Engine;
use proptest::prelude::*;
use report::html::{blocks, page, part, script, style};
use report::model::{Block, Fact, Report};
use results::Document;
use roxmltree::{Document as Xml, ParsingOptions};

use crate::models;
use crate::sample;

fn assessment() -> Document {
    Document::Assessment(Box::new(sample::assessment()))
}

/// The page without the text of style and script, which are not XML.
fn bare(page: &str) -> String {
    page.replace(style(), "").replace(script(), "")
}

fn parsed(bare: &str) -> Xml<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Xml::parse_with_options(bare, options).unwrap_or_else(|e| panic!("{e}"))
}

/// Nothing that a strict content security policy forbids, and nothing from elsewhere.
fn is_clean(xml: &Xml<'_>) {
    for node in xml.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        let foreign = [
            "iframe",
            "img",
            "link",
            "object",
            "embed",
            "base",
            "form",
            "use",
            "image",
            "foreignObject",
        ];
        assert!(!foreign.contains(&name), "<{name}>");
        for attribute in node.attributes() {
            let key = attribute.name();
            assert!(key != "style" && key != "src" && !key.starts_with("on"), "{key} of <{name}>");
            assert!(key != "href" || attribute.value().starts_with('#'), "{}", attribute.value());
            assert!(!attribute.value().contains("url("), "{key}");
        }
    }
}

fn fragment(blocks_of: &[Block]) -> String {
    format!("<div>{}</div>", blocks(blocks_of).unwrap())
}

#[test]
fn the_page_is_well_formed_and_asks_nothing_of_a_network() {
    for documents in [vec![], vec![assessment()], vec![assessment(), assessment()]] {
        let count = documents.len();
        let page = page(&models::report(documents, 600)).unwrap();
        let bare = bare(&page);
        let xml = parsed(&bare);
        is_clean(&xml);
        assert!(page.contains("Content-Security-Policy") && page.contains("<html lang=\"en\">"));
        assert!(
            !style().contains("url(") && !style().contains("@import") && !style().contains('<')
        );
        let documents = xml.descendants().filter(|n| n.attribute("type") == Some("text/plain"));
        assert_eq!(documents.count(), count);
        let first = xml.descendants().filter(|n| n.has_tag_name("h1")).count();
        assert_eq!(first, 1, "one first heading");
    }
}

#[test]
fn headings_and_names_are_in_order() {
    let page = page(&models::report(vec![assessment(), assessment()], 20)).unwrap();
    let bare = bare(&page);
    let xml = parsed(&bare);
    let mut last = 0;
    let mut ids: Vec<&str> = Vec::new();
    for node in xml.descendants().filter(roxmltree::Node::is_element) {
        ids.extend(node.attribute("id"));
        let level = node.tag_name().name().strip_prefix('h').and_then(|l| l.parse::<u32>().ok());
        if let Some(level) = level {
            assert!(level <= last + 1, "h{level} after h{last}");
            last = level;
        }
    }
    let count = ids.len();
    for link in xml.descendants().filter_map(|n| n.attribute("href")) {
        assert!(ids.contains(&link.trim_start_matches('#')), "{link} leads nowhere");
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "every id is there once");
}

#[test]
fn the_document_in_the_page_is_the_document() {
    let report = models::report(vec![assessment()], 3);
    let page = page(&report).unwrap();
    let bare = bare(&page);
    let xml = parsed(&bare);
    let packed = xml.descendants().find(|n| n.attribute("id") == Some("document-1")).unwrap();
    let gzip =
        base64::engine::general_purpose::STANDARD.decode(packed.text().unwrap().trim()).unwrap();
    let mut json = String::new();
    flate2::read::GzDecoder::new(gzip.as_slice()).read_to_string(&mut json).unwrap();
    assert_eq!(json, serde_json::to_string(&assessment()).unwrap());
    let line = page.lines().skip_while(|l| !l.contains("id=\"document-1\">")).nth(1).unwrap();
    assert_eq!(line, packed.text().unwrap().trim(), "alone on its line, for those without script");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_kept_with_replacement_characters() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let path = || PathBuf::from(OsStr::from_bytes(b"/data/\xff\xfe.test"));
    let mut a = sample::assessment();
    a.target = path();
    a.patterns.iter_mut().for_each(|p| p.measurement.targets[0].path = path());
    a.ramps
        .iter_mut()
        .flat_map(|r| &mut r.points)
        .for_each(|m| m.workload.targets[0].path = path());
    let page =
        report::html::page(&report::build(&[Document::Assessment(Box::new(a.clone()))])).unwrap();
    assert!(page.contains("/data/\u{FFFD}\u{FFFD}.test"));
}

#[test]
fn the_words_of_every_block_are_there_and_escaped() {
    let fact = Fact { name: HOSTILE.to_owned(), value: HOSTILE.to_owned() };
    let hostile = [
        Block::Paragraph(HOSTILE.to_owned()),
        Block::List(vec![HOSTILE.to_owned()]),
        Block::Warnings(vec![HOSTILE.to_owned()]),
        Block::Facts(vec![fact]),
        Block::Chart(models::gallery().pop().unwrap()),
    ];
    let html = fragment(&hostile);
    let xml = parsed(&html);
    is_clean(&xml);
    assert!(!xml.descendants().any(|n| n.has_tag_name("script") || n.has_tag_name("b")));
    assert!(!html.contains('\u{1b}') && !html.contains('\u{0}') && !html.contains('\u{202E}'));
    let shown: Vec<&str> =
        xml.descendants().filter(roxmltree::Node::is_text).filter_map(|n| n.text()).collect();
    assert!(shown.iter().filter(|t| t.starts_with("</script><script>alert(1)")).count() >= 5);
}

#[test]
fn a_part_stands_in_pages_of_others() {
    let report: Report = models::report(vec![assessment()], 20);
    let html = part(&report.results[0]).unwrap();
    let xml = parsed(&html);
    is_clean(&xml);
    assert!(html.contains("<section id=\"verdict\">") && !html.contains("document-1"));
    assert!(!html.contains("id=\"nothing\""), "no heading without anything under it");
}

#[test]
fn tables_say_what_they_sort_by() {
    let html = fragment(&[Block::Table(models::table(50))]);
    let xml = parsed(&html);
    let rows = xml.descendants().filter(|n| n.has_tag_name("tr")).count();
    assert_eq!(rows, 51);
    let widths: Vec<usize> = xml
        .descendants()
        .filter(|n| n.has_tag_name("tr"))
        .map(|row| row.children().filter(|c| c.has_tag_name("td") || c.has_tag_name("th")).count())
        .collect();
    assert!(widths.iter().all(|w| *w == 10), "{widths:?}");
    let keyed = xml.descendants().find(|n| n.attribute("data-key") == Some("81920")).unwrap();
    assert_eq!(keyed.text(), Some("80 KiB"));
    assert!(xml.descendants().any(|n| n.attribute("class") == Some("table long many")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn any_blocks_are_well_formed(blocks in proptest::collection::vec(models::any_block(), 0..5)) {
        let html = fragment(&blocks);
        is_clean(&parsed(&html));
    }
}

/// A sweep of 576 cells with histograms of every thread made a page of many megabytes.
#[test]
fn a_document_that_is_too_large_goes_without_histograms_of_threads() {
    let mut a = sample::assessment();
    let mut seed = 9_u64;
    let mut noise = || -> String {
        let letter = |_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'a' + u8::try_from(seed >> 60).unwrap())
        };
        (0..700_000).map(letter).collect()
    };
    for p in &mut a.patterns {
        let mut total = p.measurement.total.clone();
        total.histogram = Some(noise());
        p.measurement.streams[0].total = total;
    }
    let whole = Document::Assessment(Box::new(a.clone()));
    let page = page(&models::report(vec![whole], 3)).unwrap();
    assert!(page.len() < 5 << 20, "{} bytes", page.len());
    assert!(
        page.contains("Without the histograms of single threads, streams and targets, so that")
    );
}

/// Writes pages where a person can look at them.
#[test]
fn the_pages_can_be_looked_at() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let one = page(&models::report(vec![assessment()], 60)).unwrap();
    std::fs::write(directory.join("one.html"), one).unwrap();
    let two = page(&models::report(vec![assessment(), assessment()], 20)).unwrap();
    std::fs::write(directory.join("two.html"), two).unwrap();
}
