//! The kernel's counts, next to the measurement.

use results::Measurement;
use results::agreement::{AgreementRow, Figure};

use super::caption;
use super::make::{
    Drawn, Named, brief, chart, cleaned, column, full, full_section, linear, names, number, points,
    section, series, table, text, whole,
};
use crate::language::say;
use crate::model::{Block, Cell, Chart, Column, Section, Shape, Side, Table, Unit};
use crate::words;

const READ: [Figure; 3] = [Figure::ReadIops, Figure::ReadBytesPerS, Figure::ReadLatencyNs];
const WRITE: [Figure; 3] = [Figure::WriteIops, Figure::WriteBytesPerS, Figure::WriteLatencyNs];
const MIB: f64 = 1_048_576.0;
/// Cases of a chart that can still be read.
const CASES: usize = 24;

/// A load, with its name in the report.
type Load<'a> = (String, &'a Measurement);

/// One direction of one load, as a row.
struct Row<'a> {
    name: &'a str,
    in_flight: u64,
    device: &'a str,
    kind: &'static str,
    /// Whether a difference casts doubt on the figures.
    is_doubt: bool,
    /// I/Os, bytes and latency; `None` if one of the two observers has no figure.
    parts: [Option<&'a AgreementRow>; 3],
}

fn rows<'a>(name: &'a str, m: &'a Measurement) -> Vec<Row<'a>> {
    let Some(kernel) = &m.kernel else { return Vec::new() };
    let Some(agreement) = &kernel.agreement else { return Vec::new() };
    let row = |(kind, figures): (&'static str, [Figure; 3])| {
        let parts = figures.map(|f| agreement.rows.iter().find(|row| row.figure == f));
        let any = parts.iter().any(Option::is_some);
        let (device, in_flight) = (kernel.device.as_str(), m.in_flight);
        let is_doubt = agreement.is_doubt();
        any.then_some(Row { name, in_flight, device, kind, is_doubt, parts })
    };
    [("read", READ), ("write", WRITE)].into_iter().filter_map(row).collect()
}

/// The section of these loads, which a terminal has no room for.
pub(super) fn of(loads: &[Load<'_>]) -> Option<Section> {
    full_section(of_all(loads, Vec::new()))
}

/// The section of few loads, on a terminal figure by figure.
pub(super) fn of_each(loads: &[Load<'_>]) -> Option<Section> {
    let tables: Vec<Block> = loads.iter().filter_map(by_figure).map(Block::Table).collect();
    let is_compared = !tables.is_empty();
    let section = of_all(loads, tables);
    if is_compared { section } else { full_section(section) }
}

/// The section. On a terminal, these blocks replace chart and table.
fn of_all(loads: &[Load<'_>], instead: Vec<Block>) -> Option<Section> {
    let all: Vec<Row<'_>> = loads.iter().flat_map(|(name, m)| rows(name, m)).collect();
    let mut blocks = Vec::new();
    if all.is_empty() {
        blocks.push(Block::Paragraph(say!("agreement-nothing")));
        return section("agreement", say!("heading-agreement-with-the-kernel"), blocks);
    }
    let intro = Block::Paragraph(say!("agreement-what"));
    let caption = caption::of(loads.iter().map(|(_, m)| *m));
    let cells = all.iter().map(line).collect();
    let table = table("agreement", say!("heading-tool-against-kernel"), &caption, columns(), cells);
    let picture = picture(&all, &caption).map(Block::Chart);
    blocks.push(full([intro].into_iter().chain(picture).chain(table.map(Block::Table))));
    blocks.push(brief(instead));
    let (doubts, explained) = (differing(loads, true), differing(loads, false));
    if doubts.is_empty() && explained.is_empty() {
        blocks.push(Block::Paragraph(say!("agreement-all-within")));
    }
    blocks.extend([Block::Warnings(doubts), Block::List(explained)]);
    section("agreement", say!("heading-agreement-with-the-kernel"), blocks)
}

/// The comparison of one load, figure by figure.
fn by_figure((name, m): &Load<'_>) -> Option<Table> {
    let kernel = m.kernel.as_ref()?;
    let row = |row: &AgreementRow| {
        let line = crate::agreement::line(row);
        let beyond = if line.beyond { "!" } else { "" };
        let cells = [line.tool, line.kernel, line.difference, line.allowed, beyond.to_owned()];
        std::iter::once(text(line.figure)).chain(cells.iter().map(text)).collect()
    };
    let columns = [
        ("figure", ""),
        ("tool", "tool"),
        ("kernel", "kernel"),
        ("difference", "difference"),
        ("allowed", "allowed"),
        ("beyond", ""),
    ];
    let columns = columns.map(|(key, name)| column(key, name, Unit::Text)).to_vec();
    let rows = kernel.agreement.as_ref()?.rows.iter().map(row).collect();
    table("figures", format!("{name}, on {}", kernel.device), "", columns, rows)
}

/// The loads in which the two differ, each with what that looks like: those whose figures are in
/// doubt, or those whose difference is explained.
fn differing(loads: &[Load<'_>], in_doubt: bool) -> Vec<String> {
    let differs = |(name, m): &Load<'_>| {
        let agreement = m.kernel.as_ref()?.agreement.as_ref()?;
        let sentence = words::clean(&agreement.explanation);
        let differs = !agreement.within_tolerance && agreement.is_doubt() == in_doubt;
        differs.then(|| format!("{name}: {sentence}"))
    };
    cleaned(&loads.iter().filter_map(differs).collect::<Vec<_>>())
}

fn picture(all: &[Row<'_>], caption: &str) -> Option<Chart> {
    let shown = all.get(..CASES).unwrap_or(all);
    let label = |row: &Row<'_>| {
        let name = words::clean(row.name);
        let name = if name.contains(row.kind) { name } else { format!("{name}, {}", row.kind) };
        say!("chart-at", name = name, in_flight = words::count(row.in_flight))
    };
    let columns = |name: &str, of: &dyn Fn(&AgreementRow) -> f64| {
        let figures = shown.iter().enumerate().map(|(i, row)| (i as f64, row.parts[0].map(of)));
        series(name, Shape::Columns, Side::Left, points(figures))
    };
    let title = say!("chart-tool-against-kernel");
    let named = Named { key: "agreement", title: &title, caption };
    chart(
        &named,
        Drawn {
            x: names("", shown.iter().map(label).collect()),
            left: linear("IOPS", Unit::Iops),
            right: None,
            series: vec![columns("tool", &|r| r.tool), columns("kernel", &|r| r.kernel)],
            marks: Vec::new(),
        },
    )
}

fn columns() -> Vec<Column> {
    vec![
        column("load", say!("label-load"), Unit::Text),
        column("in_flight", say!("label-in-flight"), Unit::Count),
        column("device", say!("label-device"), Unit::Text),
        column("kind", say!("label-kind"), Unit::Text),
        column("tool_iops", say!("label-iops-tool"), Unit::Iops),
        column("kernel_iops", say!("label-iops-kernel"), Unit::Iops),
        column("iops_difference_percent", say!("label-difference"), Unit::Percent),
        column("tool_mib_per_s", say!("label-mib-per-second-tool"), Unit::MibPerS),
        column("kernel_mib_per_s", say!("label-mib-per-second-kernel"), Unit::MibPerS),
        column("mib_per_s_difference_percent", say!("label-difference"), Unit::Percent),
        column("tool_latency_ns", say!("label-mean-tool"), Unit::Nanoseconds),
        column("kernel_latency_ns", say!("label-mean-kernel"), Unit::Nanoseconds),
        column("latency_difference_percent", say!("label-difference"), Unit::Percent),
        column("allowed_percent", say!("label-allowed-plus-minus"), Unit::Percent),
        column("note", "", Unit::Text),
    ]
}

fn line(row: &Row<'_>) -> Vec<Cell> {
    let mut cells = vec![text(row.name), whole(row.in_flight), text(row.device), text(row.kind)];
    for (part, unit) in row.parts.iter().zip([1.0, MIB, 1.0]) {
        match part {
            Some(r) => cells.extend([
                number(r.tool / unit),
                number(r.kernel / unit),
                difference(r.difference_percent),
            ]),
            None => cells.extend([Cell::Empty, Cell::Empty, Cell::Empty]),
        }
    }
    let allowed = row.parts.iter().flatten().find_map(|r| r.allowed_percent);
    cells.push(number(allowed));
    let beyond =
        |r: &&AgreementRow| r.allowed_percent.is_some_and(|a| r.difference_percent.abs() > a);
    let any = row.parts.iter().flatten().copied().any(|r| beyond(&r));
    cells.push(text(match (any, row.is_doubt) {
        (false, _) => String::new(),
        (true, true) => say!("agreement-beyond"),
        (true, false) => say!("agreement-explained"),
    }));
    cells
}

fn difference(percent: f64) -> Cell {
    if crate::agreement::is_huge(percent) { text(crate::agreement::HUGE) } else { number(percent) }
}
