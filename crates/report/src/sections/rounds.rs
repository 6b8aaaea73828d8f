//! A sweep in rounds: whether the storage was steady, its IOPS by round, and the table of blocks
//! and shares of writes.

use results::{Experiment, Sweep, SweptCell, SweptRounds};
use workload::Bytes;

use super::make::{
    Drawn, Named, chart, cleaned, column, linear, log10, number, points, section, series, table,
    text,
};
use crate::language::{count, say};
use crate::model::{Block, Card, Judgement, Section, Shape, Side, Table, Unit};
use crate::words;

/// Columns of the table of blocks: more shares than a specification has.
const SHARES: [&str; 12] = [
    "iops_1", "iops_2", "iops_3", "iops_4", "iops_5", "iops_6", "iops_7", "iops_8", "iops_9",
    "iops_10", "iops_11", "iops_12",
];

/// One section per group of targets.
pub(super) fn of(e: &Experiment<Sweep>) -> Vec<Section> {
    let sections = e.conclusion.rounds.iter().map(|rounds| {
        let mut blocks = vec![Block::Cards(vec![card(rounds)])];
        blocks.extend(blocks_by_share(e, rounds).map(Block::Table));
        blocks.extend(tracked(rounds).map(Block::Table));
        blocks.extend(by_round(rounds).map(Block::Chart));
        let differences = cleaned(&rounds.differences);
        if !differences.is_empty() {
            blocks.push(Block::Paragraph(say!("rounds-differences")));
            blocks.push(Block::List(differences));
        }
        section("rounds", heading(e, rounds), blocks)
    });
    sections.flatten().collect()
}

fn heading(e: &Experiment<Sweep>, rounds: &SweptRounds) -> String {
    let heading = say!("heading-rounds");
    if e.conclusion.rounds.len() < 2 {
        return heading;
    }
    let targets = rounds.targets.iter().filter_map(|t| e.conclusion.plan.targets.get(*t));
    let names: Vec<String> = targets.map(|t| words::path(&t.path)).collect();
    format!("{heading}: {}", names.join(" + "))
}

fn card(rounds: &SweptRounds) -> Card {
    let done = count(u64::from(rounds.rounds));
    let (judgement, answer) = match (rounds.steady, rounds.window_from) {
        (true, Some(from)) => {
            let from = count(u64::from(from));
            (Judgement::Good, say!("rounds-steady", from = from, to = done))
        }
        (_, Some(_)) => (Judgement::Doubtful, say!("rounds-not-steady", rounds = done)),
        (_, None) => (Judgement::Unknown, say!("rounds-too-few", rounds = done)),
    };
    let mut evidence = vec![say!("rounds-rule")];
    if rounds.written_before_bytes > 0 {
        let written = words::size(rounds.written_before_bytes);
        evidence.push(say!("rounds-written-before", written = written));
    }
    Card {
        heading: say!("label-steady-state"),
        judgement,
        answer,
        evidence,
        original: Vec::new(),
        bullet: None,
    }
}

/// A table of the cells that decide.
fn tracked(rounds: &SweptRounds) -> Option<Table> {
    let columns = vec![
        column("load", say!("label-load"), Unit::Text),
        column("mean_iops", say!("rounds-mean"), Unit::Iops),
        column("range_percent", say!("rounds-range"), Unit::Percent),
        column("slope_percent", say!("rounds-slope"), Unit::Percent),
        column("steady", say!("rounds-is-steady"), Unit::Text),
    ];
    let rows = rounds.tracked.iter().map(|cell| {
        let is = if cell.steady { say!("rounds-yes") } else { say!("rounds-no") };
        vec![
            text(&cell.title),
            number(cell.mean_iops),
            number(cell.range_percent),
            number(cell.slope_percent),
            text(if cell.mean_iops.is_some() { is } else { String::new() }),
        ]
    });
    let title = say!("rounds-tracked");
    table("tracked", title, &say!("rounds-window"), columns, rows.collect())
}

/// IOPS of the cells that decide, round by round.
fn by_round(rounds: &SweptRounds) -> Option<crate::model::Chart> {
    let lines = rounds.tracked.iter().map(|cell| {
        let values = cell.iops.iter().enumerate().map(|(at, iops)| ((at + 1) as f64, Some(*iops)));
        series(&cell.title, Shape::Line, Side::Left, points(values))
    });
    let title = say!("rounds-chart");
    chart(
        &Named { key: "rounds", title: &title, caption: &say!("rounds-chart-caption") },
        Drawn {
            x: linear(say!("rounds-round"), Unit::Number),
            left: log10("IOPS", Unit::Iops),
            right: None,
            series: lines.collect(),
            marks: Vec::new(),
        },
    )
}

/// IOPS: a row per block, a column per share of reads and writes. Only where every cell has its own
/// place in it.
fn blocks_by_share(e: &Experiment<Sweep>, rounds: &SweptRounds) -> Option<Table> {
    let cells: Vec<&SweptCell> =
        e.conclusion.cells.iter().filter(|c| c.cell.targets == rounds.targets).collect();
    let (mut blocks, mut shares) = (Vec::<Bytes>::new(), Vec::<u8>::new());
    for cell in cells.iter().map(|c| &c.cell) {
        if !blocks.contains(&cell.block_bytes) {
            blocks.push(cell.block_bytes);
        }
        if !shares.contains(&cell.write_percent) {
            shares.push(cell.write_percent);
        }
    }
    if blocks.len() * shares.len() != cells.len() || shares.len() > SHARES.len() {
        return None;
    }
    let mut columns = vec![column("block_bytes", say!("label-block"), Unit::Bytes)];
    columns.extend(
        SHARES.iter().zip(&shares).map(|(key, share)| {
            column(key, format!("{}/{share}", 100 - share.min(&100)), Unit::Iops)
        }),
    );
    let row = |block: &Bytes| {
        let iops = shares.iter().map(|share| {
            let is_here =
                |c: &&&SweptCell| (c.cell.block_bytes, c.cell.write_percent) == (*block, *share);
            number(cells.iter().find(is_here).and_then(|c| c.iops))
        });
        [number(block.0 as f64)].into_iter().chain(iops).collect()
    };
    let rows = blocks.iter().map(row).collect();
    table("iops", say!("rounds-iops"), &say!("rounds-iops-caption"), columns, rows)
}
