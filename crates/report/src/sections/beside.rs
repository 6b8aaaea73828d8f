//! Loads that an assessment measured next to another: commits during a checkpoint, users during a
//! backup, reads next to writes.

use results::{Assessment, BesideLoad, Statistics, StreamResult};

use super::caption;
use super::make::{column, fact, full, full_section, number, section, table, text, whole};
use super::matrix::Grid;
use crate::language::say;
use crate::model::{Block, Cell, Fact, Section, Table, Unit};
use crate::words;

/// The section; `None` if nothing was measured so.
pub(super) fn of(a: &Assessment) -> Option<Section> {
    let sentences = a.beside.iter().map(|one| words::clean(&one.sentence)).collect();
    let mut blocks = Vec::new();
    if !a.beside.is_empty() {
        blocks.extend([Block::List(sentences)]);
        blocks.extend(beside(a).map(Block::Table));
    }
    if let Some(mixed) = &a.mixed {
        blocks.push(Block::Paragraph(words::clean(&mixed.matrix.sentence)));
        let grid = Grid { matrix: &mixed.matrix, measurements: &mixed.measurements };
        blocks.push(full(grid.blocks()));
        blocks.push(full(grid.costs()));
    }
    full_section(section("beside", say!("heading-beside"), blocks))
}

/// What writes cost readers, where a screen has room for a line.
pub(super) fn in_short(a: &Assessment) -> Option<Fact> {
    let mixed = a.mixed.as_ref()?;
    Some(fact(say!("label-writes-cost"), words::clean(&mixed.matrix.sentence)))
}

fn beside(a: &Assessment) -> Option<Table> {
    let columns = vec![
        column("load", say!("label-load"), Unit::Text),
        column("beside", say!("label-beside"), Unit::Text),
        column("alone_iops", say!("label-iops-alone"), Unit::Iops),
        column("beside_iops", say!("label-iops-then"), Unit::Iops),
        column("alone_p99_ns", say!("label-p99-alone-of-load"), Unit::Nanoseconds),
        column("beside_p99_ns", say!("label-p99-then"), Unit::Nanoseconds),
        column("other_mib_per_s", say!("label-other-mib-per-s"), Unit::MibPerS),
    ];
    let row = |one: &BesideLoad| {
        let pattern = a.patterns.iter().find(|p| p.name == one.name).map(|p| &p.measurement);
        let alone = one.alone.as_ref().or(pattern);
        let [then, other] = [0, 1].map(|at| one.measurement.streams.get(at));
        vec![
            text(&one.title),
            text(&one.beside),
            number(alone.map(|m| m.total.iops)),
            number(then.map(|s: &StreamResult| s.total.iops)),
            whole(alone.and_then(|m| p99(&m.read, &m.total))),
            whole(then.and_then(|s| p99(&s.read, &s.total))),
            number(other.map(|s| s.total.mib_per_s)),
        ]
    };
    let rows: Vec<Vec<Cell>> = a.beside.iter().map(row).collect();
    let caption = caption::of(a.beside.iter().map(|one| &one.measurement));
    table("beside", say!("heading-cost-of-another"), &caption, columns, rows)
}

/// Of reads, where there are any: a user waits for them.
fn p99(read: &Statistics, total: &Statistics) -> Option<u64> {
    let judged = if read.ios > 0 { read } else { total };
    judged.latency_ns.and_then(|latency| latency.p99)
}

/// How many measurements of each kind follow one another in the document.
pub(super) fn counts(a: &Assessment) -> [(usize, &'static str, String); 2] {
    let of = |one: &BesideLoad| one.alone.iter().chain([&one.measurement]).count();
    let beside = a.beside.iter().map(of).sum();
    let mixed = a.mixed.as_ref().map_or(0, |mixed| mixed.measurements.len());
    [
        (beside, "loads-beside", say!("heading-beside")),
        (mixed, "loads-mixed", say!("heading-every-mixed-measurement")),
    ]
}
