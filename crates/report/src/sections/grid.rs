//! The grid that users of CrystalDiskMark know: one row per test, reads and writes side by side in
//! MB (10^6 bytes) per second.

use results::{Experiment, Sweep, SweptCell};

use super::make::{column, number, section, table, text};
use crate::language::say;
use crate::model::{Block, Section, Unit};

/// How the titles of plans begin that are shown so.
const TITLE: &str = "CrystalDiskMark";
/// Bytes of a MiB and of a MB.
const MIB: f64 = 1_048_576.0;
const MB: f64 = 1e6;

/// A test: what reads and writes have in common.
#[derive(Debug, PartialEq)]
struct Row<'a> {
    name: String,
    read: Option<&'a SweptCell>,
    write: Option<&'a SweptCell>,
}

/// The grid of a sweep; none of other plans.
pub(super) fn of(e: &Experiment<Sweep>) -> Option<Section> {
    if !e.conclusion.plan.title.starts_with(TITLE) || e.conclusion.plan.targets.len() > 1 {
        return None;
    }
    let columns = vec![
        column("test", say!("grid-test"), Unit::Text),
        column("read_mb_per_s", say!("grid-read-mb"), Unit::Number),
        column("write_mb_per_s", say!("grid-write-mb"), Unit::Number),
        column("read_iops", say!("grid-read-iops"), Unit::Iops),
        column("write_iops", say!("grid-write-iops"), Unit::Iops),
        column("read_latency_ns", say!("grid-read-latency"), Unit::Nanoseconds),
        column("write_latency_ns", say!("grid-write-latency"), Unit::Nanoseconds),
    ];
    let mb =
        |cell: Option<&SweptCell>| number(cell.and_then(|c| c.mib_per_s).map(|v| v * MIB / MB));
    let iops = |cell: Option<&SweptCell>| number(cell.and_then(|c| c.iops));
    let latency = |cell: Option<&SweptCell>| number(cell.and_then(|c| c.latency_ns));
    let rows = rows(&e.conclusion.cells);
    let cells = rows.iter().map(|row| {
        vec![
            text(&row.name),
            mb(row.read),
            mb(row.write),
            iops(row.read),
            iops(row.write),
            latency(row.read),
            latency(row.write),
        ]
    });
    let (title, caption) = (say!("grid-heading"), say!("grid-caption"));
    let table = table("grid", &title, &caption, columns, cells.collect())?;
    section("grid", title, vec![Block::Table(table)])
}

/// Each test once, in the order of the plan.
fn rows(cells: &[SweptCell]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for cell in cells {
        let name = name(cell);
        let at = rows.iter().position(|row| row.name == name).unwrap_or_else(|| {
            rows.push(Row { name, read: None, write: None });
            rows.len() - 1
        });
        match cell.cell.write_percent {
            0 => rows[at].read = Some(cell),
            100 => rows[at].write = Some(cell),
            _ => {}
        }
    }
    rows
}

/// CrystalDiskMark's name for a cell: `RND4K Q32T1`.
fn name(swept: &SweptCell) -> String {
    let cell = &swept.cell;
    let order = if cell.is_sequential() { "SEQ" } else { "RND" };
    let bytes = cell.block_bytes.0;
    let size = match bytes {
        _ if bytes > 0 && bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        _ if bytes > 0 && bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
        _ => format!("{bytes}"),
    };
    format!("{order}{size} Q{}T{}", cell.depth, cell.threads)
}
