//! Several results in one report begin with a comparison: the same load on the same chart, one row
//! per load, and no overlay of what is not alike.

use history::compare::{BAND_PERCENT, Input, Noise, Rules, compare};
use report::model::{Block, Chart, Report, Section, Table, Unit};
use report::{OverlaySide, build_compared, html, markdown, names, overlay, xlsx};
use results::{Comparison, Document};

use crate::documents;

/// The comparison of the first result with each other.
fn comparisons(all: &[Document]) -> Vec<Comparison> {
    let noise = Noise::of(all);
    let rules =
        Rules { band_percent: BAND_PERCENT, anyway: false, noise: &noise, tool_version: "0.1.0" };
    let input = |documents| Input { name: "side", documents };
    let first = input(&all[..1]);
    all[1..].chunks(1).map(|other| compare(first, input(other), &rules)).collect()
}

fn section(all: &[Document], names: &[&str]) -> Option<Section> {
    let side = |(document, name): (_, &&str)| OverlaySide {
        name: (*name).to_owned(),
        documents: vec![document],
    };
    let sides: Vec<OverlaySide<'_>> = all.iter().zip(names).map(side).collect();
    overlay(&sides, &comparisons(all))
}

fn report(all: &[Document], names: &[&str]) -> Report {
    build_compared(all, section(all, names))
}

fn charts(section: &Section) -> Vec<&Chart> {
    fn of(block: &Block) -> &[Chart] {
        match block {
            Block::Charts(charts) => charts,
            _ => &[],
        }
    }
    section.blocks.iter().flat_map(of).collect()
}

fn tables(section: &Section) -> Vec<&Table> {
    fn of(block: &Block) -> Option<&Table> {
        match block {
            Block::Table(table) => Some(table),
            _ => None,
        }
    }
    section.blocks.iter().filter_map(of).collect()
}

fn words(section: &Section) -> String {
    let of = |block: &Block| match block {
        Block::Paragraph(text) => text.clone(),
        Block::List(texts) | Block::Warnings(texts) => texts.join("\n"),
        Block::Facts(facts) => {
            facts.iter().map(|f| format!("{} {}", f.name, f.value)).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    section.blocks.iter().map(of).collect::<Vec<_>>().join("\n")
}

/// The same search on another day, with every figure by this factor.
fn later(document: &Document, factor: f64) -> Document {
    let mut later = document.clone();
    let Document::Knee(knee) = &mut later else { panic!("a search") };
    knee.id = format!("{}-later", knee.id);
    "2027-02-03T04:05:06Z".clone_into(&mut knee.started);
    for m in &mut knee.measurements {
        m.id = format!("{}-later", m.id);
        m.total.iops *= factor;
        m.total.mib_per_s *= factor;
    }
    for load in &mut knee.conclusion.curve {
        load.iops *= factor;
        load.mib_per_s *= factor;
    }
    later
}

/// Two reports were one after the other; to compare them, the reader had to turn pages.
#[test]
fn curves_of_two_dates_are_on_one_chart() {
    let first = documents::knee();
    let all = [first.clone(), later(&first, 0.5)];
    let found = section(&all, &["May", "June"]).unwrap();
    let charts = charts(&found);
    let keys: Vec<&str> = charts.iter().map(|c| c.key.as_str()).collect();
    assert_eq!(keys.len(), 2, "throughput against latency, and saturation: {keys:?}");
    for chart in &charts {
        let legend: Vec<&str> = chart.series.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(legend, ["A: May", "B: June"], "{}", chart.title);
        assert!(chart.title.starts_with("8 KiB random read"), "{}", chart.title);
    }
    let highest = |c: &Chart, i: usize| c.series[i].points.iter().map(|p| p.y).fold(0.0, f64::max);
    let share = highest(charts[1], 1) / highest(charts[1], 0);
    assert!((share - 0.5).abs() < 0.01, "{share}");
    let throughput = tables(&found).into_iter().find(|t| t.title == "Throughput").unwrap();
    let heads: Vec<&str> = throughput.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(heads, ["Load", "A: May", "B: June", "Change"]);
    assert_eq!(throughput.columns[1].unit, Unit::Iops);
    for row in &throughput.rows {
        let change = row[3].show(Unit::Text);
        assert_eq!(change, "-50 %: cannot tell");
    }
    let said = words(&found);
    assert!(said.contains("A May; Saturation, 8 KiB random read"), "{said}");
    assert!(said.contains("there is one run on each side"), "why nothing can be told: {said}");
}

#[test]
fn every_format_begins_with_the_comparison() {
    let first = documents::knee();
    let all = [first.clone(), later(&first, 1.0)];
    let report = report(&all, &["May", "June"]);
    let page = html::page(&report).unwrap();
    let place = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words}"));
    assert!(place("<section id=\"comparison\">") < place("id=\"r1-top\""));
    let text = markdown::text(&report);
    let comparison = text.find("\n## Comparison\n").unwrap();
    assert!(comparison < text.find("\n## Saturation").unwrap());
    assert!(text.contains("| A: May, IOPS | B: June, IOPS |"), "{text}");
    let book = xlsx::workbook(&report).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(book)).unwrap();
    let mut sheets = String::new();
    let mut part = archive.by_name("xl/workbook.xml").unwrap();
    std::io::Read::read_to_string(&mut part, &mut sheets).unwrap();
    for name in ["1 Comparison", "2 Charts", "3 Compared"] {
        assert!(sheets.contains(&format!("name=\"{name}")), "{name} in {sheets}");
    }
}

#[test]
fn what_is_not_alike_is_not_overlaid_and_the_reason_is_a_sentence() {
    let first = documents::knee();
    let mut other = later(&first, 1.0);
    let Document::Knee(knee) = &mut other else { panic!("a search") };
    for m in &mut knee.measurements {
        m.file_bytes *= 4;
    }
    let found = section(&[first.clone(), other], &["May", "June"]).unwrap();
    assert!(charts(&found).is_empty() && tables(&found).is_empty(), "{found:?}");
    let said = words(&found);
    assert!(said.contains("B is not overlaid: file size is 4 GiB instead of 1 GiB."), "{said}");
    // Of three, those that are alike are overlaid.
    let Document::Knee(alike) = later(&first, 1.0) else { panic!("a search") };
    let mut far = alike.clone();
    far.measurements.iter_mut().for_each(|m| m.file_bytes *= 4);
    let all = [first, Document::Knee(far), Document::Knee(alike)];
    let found = section(&all, &["May", "June", "July"]).unwrap();
    let legend: Vec<&str> = charts(&found)[0].series.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(legend, ["A: May", "C: July"]);
}

#[test]
fn every_kind_with_loads_can_be_compared_with_itself() {
    for document in documents::all() {
        let kind = document.kind().to_owned();
        let found = section(&[document.clone(), document.clone()], &["one", "two"]).unwrap();
        assert!(!charts(&found).is_empty() && !tables(&found).is_empty(), "{kind}");
        for chart in charts(&found) {
            assert!(chart.series.len() <= 6, "{kind}: {}", chart.title);
            assert!(chart.series.iter().any(|s| s.name == "B: two"), "{kind}: {}", chart.title);
            assert!(!chart.title.is_empty() && !chart.caption.is_empty(), "{kind}");
        }
        for table in tables(&found) {
            assert!(table.rows.iter().all(|r| r.len() == table.columns.len()), "{kind}");
        }
        let report = report(&[document.clone(), document], &["one", "two"]);
        html::page(&report).unwrap();
        xlsx::workbook(&report).unwrap();
    }
}

#[test]
fn six_results_are_drawn_and_the_others_named() {
    let first = documents::knee();
    let all: Vec<Document> = std::iter::once(first.clone())
        .chain((1..8).map(|n| later(&first, 1.0 + f64::from(n) / 10.0)))
        .collect();
    let titles = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let found = section(&all, &titles).unwrap();
    assert!(charts(&found).iter().all(|chart| chart.series.len() == 6));
    assert!(words(&found).contains("G: g; H: h"), "{}", words(&found));
    let heads = &tables(&found)[0].columns;
    assert_eq!(heads.len(), 1 + 8 + 7, "the table has all");
}

#[test]
fn one_result_is_not_compared() {
    let document = documents::measurement();
    assert_eq!(section(&[document], &["only"]), None);
    assert_eq!(overlay(&[], &[]), None);
}

#[test]
fn results_are_named_by_what_differs() {
    let first = documents::knee();
    let second = later(&first, 1.0);
    let both = [&first, &second];
    let tags = [Some("@before".to_owned()), Some("@after".to_owned())];
    assert_eq!(names(&both, &tags), ["@before", "@after"]);
    let dates = names(&both, &[]);
    assert_eq!(dates[1], "2027-02-03");
    let mut elsewhere = first.clone();
    let Document::Knee(knee) = &mut elsewhere else { panic!("a search") };
    knee.targets = vec!["/srv/other".into()];
    assert_eq!(names(&[&first, &elsewhere], &[])[1], "/srv/other");
    let same = names(&[&first, &first], &[]);
    assert_ne!(same[0], same[1], "{same:?}");
}

/// Two results a second apart were named by their seconds alone, and the tag that had chosen one of
/// them was gone.
#[test]
fn a_tag_of_one_side_outlives_the_time() {
    let first = documents::knee();
    let tags = [Some("@before".to_owned()), None];
    for second in [later(&first, 1.0), first.clone()] {
        let found = names(&[&first, &second], &tags);
        assert!(found[0].starts_with("@before"), "{found:?}");
        assert_ne!(found[0], found[1]);
    }
}
