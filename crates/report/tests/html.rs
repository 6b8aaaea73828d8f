//! The HTML report is whole, well formed, self-contained and escaped, and holds its own document.

mod sample;

use std::path::PathBuf;

use report::html;
use results::{Assessment, Measurement};
use roxmltree::{Document, ParsingOptions};

/// Parses the page as XML, which is stricter than HTML: every element closed, every text escaped.
fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).expect("the page is well formed")
}

fn island(page: &str) -> String {
    let document = parsed(page);
    let element = document
        .descendants()
        .find(|n| n.attribute("id") == Some("iosonde-assessment"))
        .expect("the document is in the page");
    element.text().expect("the document is not empty").to_owned()
}

/// What reading a document back gives; the last digit of a number may differ from what was written.
fn through_json(a: &Assessment) -> Assessment {
    let json = serde_json::to_string(a).expect("the sample is JSON");
    serde_json::from_str(&json).expect("and can be read")
}

fn text_of(page: &str) -> String {
    let document = parsed(page);
    let wanted = document.descendants().filter(roxmltree::Node::is_text);
    let shown = wanted
        .filter(|n| !n.ancestors().any(|a| a.has_tag_name("script") || a.has_tag_name("style")));
    shown.filter_map(|n| n.text()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_whole_assessment_is_in_the_page() {
    let page = html::assessment(&sample::assessment()).unwrap();
    let text = text_of(&page);
    for part in [
        "/data/pg",
        "file size 100 GiB",
        "db01.example",
        "2026-11-20 10:12:13 UTC",
        "Transaction log",
        "OLTP data files",
        "excellent",
        "operating point",
        "I/Os in flight (threads × depth), log scale",
        "File size 100 GiB; 8 KiB random read; 1 thread × 1–256 I/Os each = 1–256 in flight",
        "noatime",
        "mq-deadline",
        "write back",
        "Set the scheduler to none",
        "512 KiB sequential read: throughput varied by 9 %",
        "3.8 % of that",
        "incompressible",
    ] {
        assert!(text.contains(part), "`{part}` is missing");
    }
    let charts =
        parsed(&page).descendants().filter(|n| n.attribute("class") == Some("chart")).count();
    assert_eq!(charts, 3, "one chart for each ramp");
}

#[test]
fn claims_and_probes_stand_under_the_verdicts() {
    let text = text_of(&html::assessment(&sample::assessment_with_findings()).unwrap());
    for part in [
        "What was expected",
        "the vendor: claimed 200 000 IOPS",
        "Durable writes and alignment",
        "From outside both look the same",
        "alignment matters here",
    ] {
        assert!(text.contains(part), "`{part}` is missing");
    }
    let plain = text_of(&html::assessment(&sample::assessment()).unwrap());
    assert!(!plain.contains("What was expected"), "no heading without anything under it");
}

#[test]
fn the_page_asks_nothing_of_a_network() {
    let page = html::assessment(&sample::assessment()).unwrap();
    let inert = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for reference in ["http:", "https:", "//cdn", "@import", "url(", "<link", "<img", "<iframe"] {
        assert!(!inert.contains(reference), "`{reference}` is in the page");
    }
    assert!(!parsed(&page).descendants().any(|n| n.has_attribute("src")));
    assert!(page.contains("<html lang=\"en\">") && page.contains("<meta charset=\"utf-8\"/>"));
}

#[test]
fn the_document_in_the_page_is_the_document() {
    for assessment in [sample::assessment(), sample::empty()] {
        let page = html::assessment(&assessment).unwrap();
        let read: Assessment = serde_json::from_str(&island(&page)).unwrap();
        assert!(read == through_json(&assessment));
    }
}

const HOSTILE: &str =
    "</script><script>alert(1)</script>\" onload='x' & <b> --> \u{1b}[31m \u{202E} \u{0}";

fn made_hostile(mut a: Assessment) -> Assessment {
    let hostile = || HOSTILE.to_owned();
    (a.id, a.tool_version, a.started, a.schema) = (hostile(), hostile(), hostile(), hostile());
    a.target = PathBuf::from(HOSTILE);
    a.warnings = vec![hostile()];
    a.method = vec![hostile()];
    a.claims.iter_mut().for_each(|c| c.sentence = hostile());
    a.honesty.iter_mut().for_each(|h| h.statement = hostile());
    a.alignment.iter_mut().for_each(|l| l.statement = hostile());
    if let Some(host) = &mut a.environment.host {
        (host.hostname, host.os, host.cpu_model) = (hostile(), hostile(), hostile());
    }
    for storage in &mut a.environment.storage {
        storage.devices.iter_mut().for_each(|d| d.model = Some(hostile()));
        storage.findings.iter_mut().for_each(|f| f.remedy = Some(hostile()));
    }
    for p in &mut a.patterns {
        (p.title, p.operation) = (hostile(), hostile());
        p.measurement.workload.streams[0].name = hostile();
    }
    for r in &mut a.ramps {
        r.title = hostile();
        r.knee.iter_mut().for_each(|k| k.explanation = hostile());
    }
    for v in &mut a.verdicts {
        (v.headline, v.limits.source) = (hostile(), hostile());
    }
    a
}

#[test]
fn nothing_in_a_document_becomes_markup() {
    let plain = html::assessment(&sample::assessment()).unwrap();
    let hostile = made_hostile(sample::assessment_with_findings());
    let page = html::assessment(&hostile).unwrap();
    let count = |page: &str, name: &str| {
        parsed(page).descendants().filter(|n| n.has_tag_name(name)).count()
    };
    for element in ["script", "b", "svg", "section", "tr"] {
        assert_eq!(count(&page, element), count(&plain, element), "<{element}>");
    }
    assert!(!parsed(&page).descendants().any(|n| n.has_attribute("onload")));
    assert!(!page.contains('\u{1b}') && !page.contains('\u{0}'));
    let read: Assessment = serde_json::from_str(&island(&page)).unwrap();
    assert!(read == through_json(&hostile), "the raw document is unchanged");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_shown_with_replacement_characters() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let path = || PathBuf::from(OsStr::from_bytes(b"/data/\xff\xfe.test"));
    let mut a = sample::assessment();
    a.target = path();
    let name = |m: &mut Measurement| {
        m.targets[0].path = path();
        m.workload.targets[0].path = path();
    };
    a.patterns.iter_mut().for_each(|p| name(&mut p.measurement));
    a.ramps.iter_mut().flat_map(|r| &mut r.points).for_each(name);
    let page = html::assessment(&a).unwrap();
    assert!(text_of(&page).contains("/data/\u{FFFD}\u{FFFD}.test"));
    let read: Assessment = serde_json::from_str(&island(&page)).unwrap();
    assert_eq!(read.target, PathBuf::from("/data/\u{FFFD}\u{FFFD}.test"));
}

#[test]
fn an_interrupted_assessment_without_figures_says_so() {
    let page = html::assessment(&sample::empty()).unwrap();
    let text = text_of(&page);
    assert!(text.contains("Interrupted before its end."));
    assert!(text.contains("Nothing was judged."));
    assert!(text.contains("No pattern was measured."));
    assert!(text.contains("No load was measured at rising depth."));
}

/// Makes every figure of a measurement one that cannot be.
fn spoil(m: &mut Measurement, value: f64) {
    (m.seconds, m.achieved_in_flight) = (value, value);
    for s in [&mut m.total, &mut m.read, &mut m.write] {
        (s.iops, s.mib_per_s) = (value, value);
        s.latency_ns.iter_mut().for_each(|l| (l.mean, l.max, l.p99_9) = (value, u64::MAX, None));
    }
    for p in &mut m.series {
        (p.t, p.read_iops, p.read_mib_per_s) = (value, value, value);
    }
    let agreements = m.kernel.iter_mut().filter_map(|k| k.agreement.as_mut());
    for row in agreements.flat_map(|a| &mut a.rows) {
        (row.tool, row.kernel, row.difference_percent) = (value, value, value);
    }
}

#[test]
fn figures_that_cannot_be_are_dashes_and_never_a_panic() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300, 1e-300, f64::MAX] {
        let mut a = sample::assessment();
        a.patterns.iter_mut().for_each(|p| spoil(&mut p.measurement, value));
        a.ramps.iter_mut().flat_map(|r| &mut r.points).for_each(|m| spoil(m, value));
        for r in &mut a.ramps {
            if let Some(knee) = &mut r.knee {
                knee.operating_point.index = 999;
                knee.operating_point.in_flight = value;
                knee.little_knee = Some(value);
                knee.unloaded_latency_ns = value;
            }
        }
        a.tool_ceiling_iops = Some(value);
        let page = html::assessment(&a).unwrap();
        let text = text_of(&page);
        assert!(!text.contains("NaN") && !text.contains("inf "), "{value}");
    }
}

#[test]
fn a_ramp_that_was_cut_has_no_chart_but_its_points() {
    let mut a = sample::assessment();
    a.ramps.iter_mut().for_each(|r| r.points.truncate(1));
    a.ramps[1].points.clear();
    a.ramps[2].knee = None;
    let page = html::assessment(&a).unwrap();
    assert!(!parsed(&page).descendants().any(|n| n.attribute("class") == Some("chart")));
    assert!(text_of(&page).contains("Too few loads for a chart."));
}

/// Writes the page where a person can look at it.
#[test]
fn the_page_can_be_looked_at() {
    let page = html::assessment(&sample::assessment()).unwrap();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("assessment.html");
    std::fs::write(path, page).unwrap();
}
