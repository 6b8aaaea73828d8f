//! What follows from a grid: where writes cost readers, and how much.

use results::{CellOutcome, Interference, MatrixCell, ReadWriteMatrix, WriteCost, WriteLimit};
use workload::{show_ns, show_number};

/// The 99th percentile of reads may grow to so many times that without writes.
const BEARABLE: f64 = 2.0;
/// Up to this ratio, a difference between two percentiles may be chance.
const SAME: f64 = 1.25;

const RULE: &str = "At each read rate, writes are bearable under two conditions: the storage keeps \
                    up with both, and the p99 latency of reads at most doubles. Writes interfere \
                    if it more than doubles or reads fall behind, slightly if it rises by more \
                    than a quarter, and not at all otherwise. Rates between two levels were not \
                    measured.";

pub(super) fn conclude(
    read: Option<f64>,
    write: Option<f64>,
    cells: Vec<MatrixCell>,
) -> ReadWriteMatrix {
    let mut levels: Vec<u8> = cells.iter().map(|c| c.read_percent).filter(|p| *p > 0).collect();
    levels.dedup();
    let row = |level: u8| cells.iter().filter(move |c| c.read_percent == level);
    let costs: Vec<WriteCost> = levels.iter().filter_map(|l| cost(row(*l))).collect();
    let interference = interference(&costs);
    let sentence = sentence(interference, &costs);
    let (highest_read_iops, highest_write_iops) = (read, write);
    let rule = RULE.to_owned();
    ReadWriteMatrix {
        highest_read_iops,
        highest_write_iops,
        cells,
        costs,
        interference,
        sentence,
        rule,
    }
}

/// What writes cost at one read rate, from its cells by rising write rate; `None` without a
/// percentile to compare with, or without writes.
fn cost<'a>(mut row: impl Iterator<Item = &'a MatrixCell>) -> Option<WriteCost> {
    let alone = row.next().filter(|cell| cell.write_percent == 0)?;
    let p99_alone_ns = alone.read_p99_ns?;
    let mut cost = WriteCost {
        read_percent: alone.read_percent,
        offered_read_iops: alone.offered_read_iops,
        p99_alone_ns,
        bearable_write_iops: 0.0,
        excessive_write_iops: None,
        limit: None,
        p99_ratio: 1.0,
    };
    let mut any = false;
    for cell in row {
        any = true;
        match judge(alone, cell, p99_alone_ns) {
            Ok(ratio) => {
                (cost.bearable_write_iops, cost.p99_ratio) = (cell.offered_write_iops, ratio);
            }
            Err(limit) => {
                cost.excessive_write_iops = Some(cell.offered_write_iops);
                cost.limit = Some(limit);
                break;
            }
        }
    }
    any.then_some(cost)
}

/// The 99th percentile of reads as a multiple of that without writes, or the reason that the cell
/// has none.
fn judge(alone: &MatrixCell, cell: &MatrixCell, p99_alone_ns: u64) -> Result<f64, WriteLimit> {
    if cell.outcome != CellOutcome::Reached {
        // A skipped cell offers more than one that was not reached.
        let reads_fell = |iops: f64| iops < 0.95 * alone.offered_read_iops;
        let fell = cell.read_iops.is_some_and(reads_fell);
        return Err(if fell { WriteLimit::ReadRate } else { WriteLimit::WriteRate });
    }
    let p99_ns = cell.read_p99_ns.ok_or(WriteLimit::TooFewReads)?;
    let ratio = p99_ns as f64 / p99_alone_ns.max(1) as f64;
    if ratio > BEARABLE { Err(WriteLimit::Latency) } else { Ok(ratio) }
}

fn interference(costs: &[WriteCost]) -> Interference {
    let limited = |limits: &[WriteLimit]| {
        costs.iter().any(|c| c.limit.is_some_and(|limit| limits.contains(&limit)))
    };
    if limited(&[WriteLimit::Latency, WriteLimit::ReadRate]) {
        Interference::Strong
    } else if costs.iter().any(|c| c.p99_ratio > SAME) {
        Interference::Slight
    } else if costs.iter().any(|c| c.bearable_write_iops > 0.0) {
        Interference::None
    } else {
        Interference::Unknown
    }
}

fn sentence(interference: Interference, costs: &[WriteCost]) -> String {
    let hurt = |c: &&WriteCost| matches!(c.limit, Some(WriteLimit::Latency | WriteLimit::ReadRate));
    match interference {
        Interference::Strong => costs.iter().find(hurt).map(hurt_sentence).unwrap_or_default(),
        Interference::Slight => {
            let worst = costs.iter().max_by(|a, b| a.p99_ratio.total_cmp(&b.p99_ratio));
            worst.map(slight_sentence).unwrap_or_default() + &exhausted(costs)
        }
        Interference::None => {
            let most = costs.iter().map(|c| c.bearable_write_iops).fold(0.0, f64::max);
            format!(
                "Writes do not slow reads down: up to {} writes per second, p99 of reads stays \
                 within a quarter of what it is without writes.",
                show_number(most)
            ) + &exhausted(costs)
        }
        Interference::Unknown => {
            "The measurements do not show what writes cost readers.".to_owned() + &exhausted(costs)
        }
    }
}

fn hurt_sentence(cost: &WriteCost) -> String {
    let reads = show_number(cost.offered_read_iops);
    let excess = show_number(cost.excessive_write_iops.unwrap_or_default());
    let what = match cost.limit {
        Some(WriteLimit::ReadRate) => "the storage no longer keeps up with the reads".to_owned(),
        _ => format!("p99 of reads more than doubles from {}", show_ns(cost.p99_alone_ns as f64)),
    };
    if cost.bearable_write_iops > 0.0 {
        let bearable = show_number(cost.bearable_write_iops);
        format!(
            "Writes slow reads down: at {reads} reads per second, {what} between {bearable} and \
             {excess} writes per second."
        )
    } else {
        format!(
            "Writes slow reads down: at {reads} reads per second, {what} at {excess} writes per \
             second or fewer."
        )
    }
}

fn slight_sentence(cost: &WriteCost) -> String {
    format!(
        "Writes slow reads down a little: p99 of reads rises at most {:.1} times, at {} reads and \
         {} writes per second.",
        cost.p99_ratio,
        show_number(cost.offered_read_iops),
        show_number(cost.bearable_write_iops)
    )
}

/// Where the storage stopped keeping up with the writes, while reads did not suffer.
fn exhausted(costs: &[WriteCost]) -> String {
    let out = costs.iter().find(|c| c.limit == Some(WriteLimit::WriteRate));
    let Some(cost) = out else { return String::new() };
    format!(
        " At {} reads per second, the storage does not keep up with {} writes per second.",
        show_number(cost.offered_read_iops),
        show_number(cost.excessive_write_iops.unwrap_or_default())
    )
}
