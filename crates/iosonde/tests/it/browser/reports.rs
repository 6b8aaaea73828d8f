//! A report of every kind on a phone, a small and a wide screen, and on A4: nothing is clipped.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::browser::chromium::{self, Browser};
use crate::browser::program::iosonde;

/// Elements that reach beyond the right edge of the page, each with its place in the page. What is
/// inside a box that scrolls or is hidden from sight is not clipped.
const CLIPPED: &str = "(() => {
  const scrolls = e => { for (let p = e; p && p !== document.body; p = p.parentElement) {
    const style = getComputedStyle(p);
    if (p !== e && ['auto', 'scroll'].includes(style.overflowX)) return true;
    if (style.clipPath !== 'none' || style.position === 'absolute') return true;
  } return false; };
  const name = e => `${e.tagName}.${e.getAttribute('class')} ${e.textContent.slice(0, 60)}`;
  return [...document.body.querySelectorAll('*')]
    .filter(e => e.getBoundingClientRect().width > 0)
    .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5 && !scrolls(e))
    .map(name).slice(0, 5);
})()";

/// Elements that are wider than what they stand in, and boxes that cut off what is in them. On a
/// screen a box may scroll instead, which paper cannot.
const WIDER: &str = "(() => {
  const print = matchMedia('print').matches;
  const name = e => `${e.tagName}.${e.getAttribute('class')} ${e.textContent.slice(0, 60)}`;
  const hidden = e => { const s = getComputedStyle(e);
    return s.clipPath !== 'none' || s.position === 'absolute' || e.ownerSVGElement; };
  const all = [...document.querySelectorAll('main *')]
    .filter(e => e.getBoundingClientRect().width > 1 && !hidden(e));
  const cuts = e => { const over = getComputedStyle(e).overflowX;
    const cut = ['hidden', 'clip'].includes(over) || print && ['auto', 'scroll'].includes(over);
    return cut && e.scrollWidth > e.clientWidth + 1; };
  const boxes =
    'table, svg, pre, figure, section, article, div, p, ul, ol, dl, details, h1, h2, h3';
  const wide = e => { const parent = e.parentElement;
    const over = getComputedStyle(parent).overflowX;
    if (!e.matches(boxes) || !print && ['auto', 'scroll'].includes(over)) return false;
    return e.getBoundingClientRect().width > parent.getBoundingClientRect().width + 1; };
  return all.filter(e => !(e instanceof SVGSVGElement) && cuts(e) || wide(e)).map(name).slice(0, 5);
})()";

/// The golden documents that a report is made of.
fn documents(into: &Path) -> Vec<(String, PathBuf)> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden");
    let mut found = Vec::new();
    for entry in fs::read_dir(golden.join("documents")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut text = String::new();
        let file = File::open(&path).unwrap();
        let mut content: Box<dyn Read> = if path.extension().is_some_and(|e| e == "gz") {
            Box::new(GzDecoder::new(file))
        } else {
            Box::new(file)
        };
        content.read_to_string(&mut text).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        if results::KINDS.iter().any(|kind| document["schema"] == kind.schema) {
            let name = name.split('.').next().unwrap().to_owned();
            let file = into.join(format!("{name}.json"));
            fs::write(&file, text).unwrap();
            found.push((name, file));
        }
    }
    found.sort();
    found
}

#[test]
fn no_report_is_wider_than_its_window() {
    if !chromium::is_there("no_report_is_wider_than_its_window") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let documents = documents(directory.path());
    assert!(documents.len() > results::KINDS.len());
    let mut browser = Browser::start();
    let mut clipped = Vec::new();
    for (name, file) in documents {
        let page = directory.path().join(format!("{name}.html"));
        let mut report = iosonde(&directory.path().join("h.db"));
        let output = report.arg("report").arg(&file).arg("--output").arg(&page).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        browser.open(&format!("file://{}", page.display()));
        for width in [380, 800, 1200] {
            browser.show_as(width, 900, false);
            browser.look(&format!("report-{name}-{width}"));
            for found in [CLIPPED, WIDER] {
                let beyond = browser.eval(found);
                if beyond != json!([]) {
                    clipped.push(format!("{name} at {width} px: {beyond}"));
                }
            }
        }
        browser.show_as(696, 900, false);
        browser.call("Emulation.setEmulatedMedia", &json!({ "media": "print" }));
        for found in [CLIPPED, WIDER] {
            let beyond = browser.eval(found);
            if beyond != json!([]) {
                clipped.push(format!("{name} on A4: {beyond}"));
            }
        }
        browser.call("Emulation.setEmulatedMedia", &json!({ "media": "" }));
    }
    browser.is_content();
    browser.eval("document.querySelector('main h1').style.width = '3000px'");
    assert_ne!(browser.eval(CLIPPED), json!([]), "what is too wide is found");
    assert_ne!(browser.eval(WIDER), json!([]), "and what is wider than its box");
    assert!(clipped.is_empty(), "{clipped:#?}");
}
