//! The workbook, read again as what it is: a ZIP archive of XML parts that refer to each other.

use std::collections::{BTreeMap, HashSet};
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use report::model::{
    Block, Cell, Chart, Column, Mark, Point, Report, Scale, Shape, Side, Table, Unit,
};
use report::xlsx;
use roxmltree::{Document, Node};
use zip::ZipArchive;

use crate::handmade;

/// The parts of a workbook by name.
type Parts = BTreeMap<String, String>;

fn parts(report: &Report) -> Parts {
    let bytes = xlsx::workbook(report).unwrap();
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut parts = Parts::new();
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).unwrap();
        let mut text = String::new();
        part.read_to_string(&mut text).unwrap();
        parts.insert(part.name().unwrap().into_owned(), text);
    }
    parts
}

/// The names of the sheets with their parts, in the order of the tabs.
fn sheets(parts: &Parts) -> Vec<(String, String)> {
    let book = Document::parse(&parts["xl/workbook.xml"]).unwrap();
    let sheets = book.descendants().filter(|n| n.has_tag_name_local("sheet"));
    sheets
        .zip(1..)
        .map(|(n, number)| {
            (n.attribute("name").unwrap().to_owned(), format!("xl/worksheets/sheet{number}.xml"))
        })
        .collect()
}

trait Local {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl Local for Node<'_, '_> {
    fn has_tag_name_local(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

/// The cells of a sheet: what they show as text, by their place (`B7`).
fn cells(parts: &Parts, sheet: &str) -> BTreeMap<String, String> {
    let shared = Document::parse(&parts["xl/sharedStrings.xml"]).unwrap();
    let strings: Vec<String> = shared
        .descendants()
        .filter(|n| n.has_tag_name_local("si"))
        .map(|n| n.descendants().filter_map(|t| t.text().filter(|_| t.is_text())).collect())
        .collect();
    let sheet = Document::parse(&parts[sheet]).unwrap();
    let mut cells = BTreeMap::new();
    for cell in sheet.descendants().filter(|n| n.has_tag_name_local("c")) {
        let Some(value) = cell.children().find(|n| n.has_tag_name_local("v")) else { continue };
        let value = value.text().unwrap();
        let shown = match cell.attribute("t") {
            Some("s") => strings[value.parse::<usize>().unwrap()].clone(),
            _ => value.to_owned(),
        };
        cells.insert(cell.attribute("r").unwrap().to_owned(), shown);
    }
    cells
}

/// `'Chart data'!$A$4:$A$12` as the sheet and the cells from the first to the last row.
fn referred(range: &str) -> (String, Vec<String>) {
    let (sheet, cells) = range.rsplit_once('!').unwrap();
    let plain = cells.replace('$', "");
    let (first, last) = plain.split_once(':').unwrap_or((&plain, &plain));
    let split = |cell: &str| {
        let at = cell.find(|c: char| c.is_ascii_digit()).unwrap();
        (cell[..at].to_owned(), cell[at..].parse::<u32>().unwrap())
    };
    let ((column, first), (other, last)) = (split(first), split(last));
    assert_eq!(column, other, "a column of cells");
    let sheet = sheet.trim_matches('\'').replace("''", "'");
    (sheet, (first..=last).map(|row| format!("{column}{row}")).collect())
}

fn charts(parts: &Parts) -> impl Iterator<Item = (&String, &String)> {
    parts.iter().filter(|(name, _)| name.starts_with("xl/charts/chart"))
}

#[test]
fn each_table_and_chart_has_its_place() {
    let parts = parts(&handmade::report(2));
    let sheets = sheets(&parts);
    let names: Vec<&str> = sheets.iter().map(|s| s.0.as_str()).collect();
    let wanted =
        ["1 Report", "2 Charts", "3 Loads", "4 Charts", "5 Loads", "Chart data", "Chart data 2"];
    assert_eq!(names, wanted);
    assert_eq!(charts(&parts).count(), 14);
    let tables: Vec<&String> = parts.keys().filter(|n| n.starts_with("xl/tables/")).collect();
    assert_eq!(tables.len(), 2);
    let table = Document::parse(&parts[tables[0]]).unwrap();
    let root = table.root_element();
    assert_eq!(root.attribute("ref"), Some("A4:J24"));
    assert_eq!(root.attribute("name"), Some("table_loads"));
    let filter = root.children().find(|n| n.has_tag_name_local("autoFilter"));
    assert_eq!(filter.unwrap().attribute("ref"), Some("A4:J24"));
    assert!(
        parts["xl/worksheets/sheet3.xml"].contains("ySplit=\"4\""),
        "the heading stays in sight"
    );
    let core = &parts["docProps/core.xml"];
    assert!(core.contains("<dc:title>Storage of db01</dc:title>"));
    assert!(core.contains(concat!("<dc:creator>iosonde ", env!("CARGO_PKG_VERSION"))));
}

/// A printed workbook had pages of chart data, and tables that were cut off at the edge.
#[test]
fn every_sheet_that_is_printed_fits_its_paper() {
    let parts = parts(&handmade::report(2));
    let book = Document::parse(&parts["xl/workbook.xml"]).unwrap();
    let hidden: Vec<bool> = book
        .descendants()
        .filter(|n| n.has_tag_name_local("sheet"))
        .map(|n| n.attribute("state") == Some("hidden"))
        .collect();
    for ((name, part), hidden) in sheets(&parts).into_iter().zip(hidden) {
        assert_eq!(hidden, name.starts_with("Chart data"), "{name}");
        if hidden {
            continue;
        }
        let sheet = Document::parse(&parts[&part]).unwrap();
        let setup = sheet.descendants().find(|n| n.has_tag_name_local("pageSetup")).unwrap();
        if name.ends_with("Charts") {
            assert_eq!(setup.attribute("scale"), Some("50"), "{name}");
        } else {
            assert_eq!(setup.attribute("fitToHeight"), Some("0"), "{name}: as long as it is");
            assert!(parts[&part].contains("<pageSetUpPr fitToPage=\"1\"/>"), "{name}");
        }
        assert!(parts[&part].contains("Page &amp;P of &amp;N"), "{name}: pages are numbered");
    }
    let titles = &parts["xl/workbook.xml"];
    assert_eq!(titles.matches("_xlnm.Print_Titles").count(), 2, "headings are repeated");
}

#[test]
fn figures_are_in_the_unit_that_the_heading_says() {
    let parts = parts(&handmade::report(1));
    let cells = cells(&parts, "xl/worksheets/sheet3.xml");
    let of = |place: &str| cells.get(place).map_or("", String::as_str);
    let headings: Vec<&str> =
        ["A4", "D4", "F4", "G4", "H4", "I4", "J4"].into_iter().map(of).collect();
    let wanted = [
        "Text",
        "Iops (IOPS)",
        "Nanoseconds (µs)",
        "Seconds (s)",
        "Bytes (KiB)",
        "Percent (%)",
        "Moment (UTC)",
    ];
    assert_eq!(headings, wanted);
    let figures: Vec<&str> = ["A5", "B5", "D5", "F5", "H5", "I5"].into_iter().map(of).collect();
    assert_eq!(figures, ["=1+0", "0", "81234.5", "412.345", "8", "0.425"]);
    let moment: f64 = of("J5").parse().unwrap();
    assert!((moment - (25_569.0 + 1.764e9 / 86_400.0)).abs() < 1e-9);
    // The second row has no numbers, infinite ones, and ones without a date.
    let second: Vec<&str> =
        ["A6", "B6", "C6", "D6", "E6", "F6", "G6"].into_iter().map(of).collect();
    assert_eq!(second[..3], ["", "∞", "−∞"]);
    assert_eq!(second[3].parse::<f64>().ok(), Some(1e300));
    assert_eq!(second[4..], ["0", "", "none"]);
    for format in ["[&lt;10]0.00;[&lt;1000]0.0;#,##0", "yyyy-mm-dd hh:mm:ss", "0.0%"] {
        assert!(parts["xl/styles.xml"].contains(&format!("formatCode=\"{format}\"")), "{format}");
    }
}

#[test]
fn charts_are_drawn_from_cells_that_exist() {
    let parts = parts(&handmade::report(1));
    let sheets: BTreeMap<String, String> = sheets(&parts).into_iter().collect();
    let mut series = 0;
    for (name, text) in charts(&parts) {
        let chart = Document::parse(text).unwrap();
        for node in chart.descendants().filter(|n| n.has_tag_name_local("ser")) {
            series += 1;
            for kind in ["xVal", "cat", "yVal", "val", "tx"] {
                let Some(of) = node.children().find(|n| n.has_tag_name_local(kind)) else {
                    continue;
                };
                let range = of.descendants().find(|n| n.has_tag_name_local("f")).unwrap();
                let (sheet, places) = referred(range.text().unwrap());
                let cells = cells(&parts, &sheets[&sheet]);
                let there = places.iter().filter(|place| cells.contains_key(*place)).count();
                let all = matches!(kind, "xVal" | "cat" | "tx");
                assert!(there > 0 && (!all || there == places.len()), "{name} {kind}: {range:?}");
            }
        }
        let axes = chart.descendants().filter(|n| n.has_tag_name_local("valAx")).count();
        let titles = chart.descendants().filter(|n| n.has_tag_name_local("title")).count();
        assert!(axes >= 1 && titles >= 3, "{name}: a title for the chart and each axis");
        assert!(text.contains("File 64 GiB · 8 KiB random read"), "{name}: the caption");
    }
    assert_eq!(series, 16);
    let all: String = charts(&parts).map(|(_, text)| text.as_str()).collect();
    for feature in [
        "<c:logBase val=\"2\"/>",
        "<c:logBase val=\"10\"/>",
        "<c:errBars>",
        "val=\"dash\"",
        "<c:barChart>",
        "<c:lineChart>",
        "<c:scatterChart>",
    ] {
        assert!(all.contains(feature), "{feature}");
    }
    assert_eq!(parts["xl/workbook.xml"].matches("<definedName name=\"chart_").count(), 7);
}

/// What ECMA-376 says of the order of elements; Excel refuses a drawing that is out of order.
const ORDER: [(&str, &[&str]); 12] = [
    (
        "ser",
        &[
            "idx",
            "order",
            "tx",
            "spPr",
            "invertIfNegative",
            "marker",
            "dPt",
            "dLbls",
            "trendline",
            "errBars",
            "cat",
            "xVal",
            "val",
            "yVal",
            "smooth",
            "extLst",
        ],
    ),
    ("marker", &["symbol", "size", "spPr"]),
    (
        "dLbls",
        &["dLbl", "numFmt", "spPr", "txPr", "dLblPos", "showLegendKey", "showVal", "showSerName"],
    ),
    (
        "dLbl",
        &[
            "idx",
            "delete",
            "layout",
            "tx",
            "numFmt",
            "spPr",
            "txPr",
            "dLblPos",
            "showVal",
            "showSerName",
        ],
    ),
    (
        "errBars",
        &["errDir", "errBarType", "errValType", "noEndCap", "plus", "minus", "val", "spPr"],
    ),
    ("scaling", &["logBase", "orientation", "max", "min"]),
    (
        "valAx",
        &[
            "axId",
            "scaling",
            "delete",
            "axPos",
            "majorGridlines",
            "minorGridlines",
            "title",
            "numFmt",
            "majorTickMark",
            "minorTickMark",
            "tickLblPos",
            "spPr",
            "txPr",
            "crossAx",
            "crosses",
            "crossesAt",
            "crossBetween",
            "majorUnit",
            "minorUnit",
            "dispUnits",
        ],
    ),
    (
        "catAx",
        &[
            "axId",
            "scaling",
            "delete",
            "axPos",
            "majorGridlines",
            "minorGridlines",
            "title",
            "numFmt",
            "majorTickMark",
            "minorTickMark",
            "tickLblPos",
            "spPr",
            "txPr",
            "crossAx",
            "crosses",
            "crossesAt",
            "auto",
            "lblAlgn",
            "lblOffset",
            "noMultiLvlLbl",
        ],
    ),
    ("scatterChart", &["scatterStyle", "varyColors", "ser", "dLbls", "axId"]),
    (
        "lineChart",
        &[
            "grouping",
            "varyColors",
            "ser",
            "dLbls",
            "dropLines",
            "hiLowLines",
            "upDownBars",
            "marker",
            "axId",
        ],
    ),
    (
        "barChart",
        &["barDir", "grouping", "varyColors", "ser", "dLbls", "gapWidth", "overlap", "axId"],
    ),
    ("legend", &["legendPos", "legendEntry", "layout", "overlay", "spPr", "txPr"]),
];

/// Checks the order of the elements of a chart.
fn check_order(chart: &str) {
    let chart = Document::parse(chart).unwrap();
    for (name, order) in ORDER {
        // `marker` is also the switch of a chart of lines, which has nothing in it.
        for node in chart.descendants().filter(|n| n.has_tag_name_local(name)) {
            let found = node.children().filter(Node::is_element).map(|child| {
                let name = child.tag_name().name();
                let place = order.iter().position(|o| *o == name);
                place.unwrap_or_else(|| panic!("{} in {}", name, node.tag_name().name()))
            });
            let found: Vec<usize> = found.collect();
            assert!(found.is_sorted(), "{name}: {found:?}");
        }
    }
}

#[test]
fn the_elements_of_a_chart_are_in_the_order_of_the_standard() {
    // Scatter series came with the sign at the points before the looks of the line, as the library
    // writes them.
    for (_, chart) in charts(&parts(&handmade::report(1))) {
        check_order(chart);
    }
}

#[test]
fn texts_are_texts_whatever_they_hold() {
    let mut report = handmade::report(1);
    let long = "=".to_owned() + &"🦀".repeat(20_000);
    report.results[0].sections[1].blocks = vec![
        Block::Paragraph(long),
        Block::Paragraph("=HYPERLINK(\"x\")\u{0}\u{FFFE}<b>".to_owned()),
    ];
    let parts = parts(&report);
    assert!(parts.values().all(|part| !part.contains("<f>") || part.contains("c:chartSpace")));
    let cells = cells(&parts, "xl/worksheets/sheet1.xml");
    let longest = cells.values().max_by_key(|c| c.len()).unwrap();
    assert!(longest.encode_utf16().count() <= 32_767, "what a cell holds");
    assert!(longest.contains("more characters"), "and what is left out is said");
    assert!(cells.values().any(|c| c.starts_with("=HYPERLINK(\"x\")") && c.ends_with("<b>")));
}

/// A chart or a table with a long title had no alternative text, and "Alternative text is greater
/// than Excel's limit" stood on the terminal for each of them.
#[test]
fn long_titles_are_cut_to_what_an_alternative_text_may_have() {
    let mut report = handmade::report(1);
    let long = "🦀 what was measured ".repeat(40);
    for block in report.results.iter_mut().flat_map(|r| &mut r.sections).flat_map(|s| &mut s.blocks)
    {
        match block {
            Block::Chart(chart) => chart.caption.clone_from(&long),
            Block::Table(table) => table.title.clone_from(&long),
            _ => {}
        }
    }
    let parts = parts(&report);
    let described = |folder: &str, attribute: &str| {
        let is_xml = |name: &str| Path::new(name).extension().is_some_and(|kind| kind == "xml");
        let of = parts.iter().filter(|(name, _)| name.starts_with(folder) && is_xml(name));
        let all = of.flat_map(|(_, part)| {
            let part = Document::parse(part).unwrap();
            let texts = part.descendants().filter_map(|node| node.attribute(attribute));
            texts.map(str::to_owned).collect::<Vec<_>>()
        });
        all.filter(|text| text.contains("what was measured")).collect::<Vec<_>>()
    };
    let texts = described("xl/drawings/", "descr");
    assert!(!texts.is_empty(), "charts");
    for text in texts {
        assert!(
            (200..=255).contains(&text.encode_utf16().count()) && text.ends_with('…'),
            "{text}"
        );
    }
}

#[test]
fn the_same_report_makes_the_same_bytes() {
    let report = handmade::report(1);
    let first = xlsx::workbook(&report).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert_eq!(first, xlsx::workbook(&report).unwrap());
}

#[test]
fn a_report_of_nothing_is_a_workbook() {
    let nothing = Report { title: String::new(), comparison: None, results: Vec::new() };
    assert_eq!(sheets(&parts(&nothing)).len(), 1);
}

fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -10.0..1e7_f64,
        Just(0.0),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(1e300),
        Just(5e-324)
    ]
}

fn unit() -> impl Strategy<Value = Unit> {
    prop::sample::select(handmade::UNITS.to_vec())
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,40}", "[=!'\\[\\]:*?/\\\\A-Z$0-9]{0,12}", any::<String>()]
}

fn axis() -> impl Strategy<Value = report::model::Axis> {
    let names = prop::collection::vec(words(), 0..5);
    let scale = prop_oneof![
        Just(Scale::Linear),
        Just(Scale::Log2),
        Just(Scale::Log10),
        names.prop_map(Scale::Names)
    ];
    (words(), unit(), scale).prop_map(|(title, unit, scale)| report::model::Axis {
        title,
        unit,
        scale,
    })
}

fn series() -> impl Strategy<Value = report::model::Series> {
    let interval = prop::option::of((figure(), figure()));
    let x = prop_oneof![figure(), (0..6_u8).prop_map(f64::from)];
    let point =
        (x, figure(), interval).prop_map(|(x, y, interval)| Point { x, y, interval, label: None });
    let shape = prop::sample::select(vec![Shape::Line, Shape::Dashed, Shape::Columns, Shape::Dots]);
    let side = prop::sample::select(vec![Side::Left, Side::Right]);
    (words(), shape, side, prop::collection::vec(point, 0..8))
        .prop_map(|(name, shape, side, points)| report::model::Series { name, shape, side, points })
}

fn chart() -> impl Strategy<Value = Chart> {
    let mark = (figure(), words()).prop_map(|(x, label)| Mark { x, label });
    let all = prop::collection::vec(series(), 0..5);
    let marks = prop::collection::vec(mark, 0..3);
    (words(), words(), axis(), axis(), prop::option::of(axis()), all, marks).prop_map(
        |(key, title, x, left, right, series, marks)| Chart {
            key,
            caption: title.clone(),
            title,
            x,
            left,
            right,
            series,
            marks,
        },
    )
}

fn table() -> impl Strategy<Value = Table> {
    let column = (words(), unit()).prop_map(|(name, unit)| Column::new("key", name, unit));
    let cell = prop_oneof![
        Just(Cell::Empty),
        words().prop_map(Cell::Text),
        figure().prop_map(Cell::Number)
    ];
    let row = prop::collection::vec(cell, 0..6);
    let columns = prop::collection::vec(column, 0..5);
    (words(), words(), columns, prop::collection::vec(row, 0..6)).prop_map(
        |(key, title, columns, rows)| Table { key, caption: title.clone(), title, columns, rows },
    )
}

/// Made once, because its document takes longer to make than a workbook.
static BASE: LazyLock<Report> = LazyLock::new(|| handmade::report(1));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whatever is in a report, the workbook is whole: names are unique and allowed, parts are XML,
    /// charts in order.
    #[test]
    fn no_report_breaks_the_workbook(
        title in words(),
        charts_of in prop::collection::vec(chart(), 0..3),
        tables in prop::collection::vec(table(), 0..3),
        started in words(),
    ) {
        let mut report = BASE.clone();
        report.title = title;
        let part = &mut report.results[0];
        if let results::Document::Assessment(assessment) = &mut part.document {
            assessment.finished = started;
        }
        part.title.clone_from(&report.title);
        part.sections[3].blocks =
            charts_of.into_iter().map(Block::Chart).chain(tables.into_iter().map(Block::Table))
                .collect();
        let parts = parts(&report);
        let mut names = HashSet::new();
        for (name, _) in sheets(&parts) {
            prop_assert!(name.encode_utf16().count() <= 31
                && !name.contains(['[', ']', ':', '*', '?', '/', '\\']));
            prop_assert!(names.insert(name.to_lowercase()));
        }
        for (name, part) in &parts {
            prop_assert!(Document::parse(part).is_ok(), "{name}");
        }
        for (_, chart) in charts(&parts) {
            check_order(chart);
        }
    }
}
