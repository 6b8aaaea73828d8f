//! A sweep out of measurements that are there already, such as those of another tool's log.

use std::collections::BTreeMap;

use results::{Conclusion as _, Environment, Experiment, Measurement, Status, Sweep};
use thiserror::Error;
use workload::sweep::{Cell, Matrix, Plan};
use workload::{EngineChoice, Mode, Stream};

use super::conclude;
use crate::doubts;

/// Why measurements do not make a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CollectError {
    /// There are fewer than two measurements.
    #[error("a sweep has at least two runs of one file, and there are not so many")]
    TooFew,
    /// A measurement has a load that no cell can have.
    #[error("run {number} (`{title}`) cannot be part of a sweep: {why}")]
    Load {
        /// Its number in the list, from 1.
        number: usize,
        /// The title of the measurement's load.
        title: String,
        /// Why a cell cannot have it.
        why: &'static str,
    },
}

/// One sweep per file and cache mode of these measurements, whose cells are in their order. `file`
/// is the name of what they were read from.
pub fn collected_sweeps(
    measurements: Vec<Measurement>,
    file: &str,
) -> Result<Vec<Experiment<Sweep>>, CollectError> {
    let mut groups: Vec<(Key, Vec<(Cell, Measurement)>)> = Vec::new();
    for (index, measurement) in measurements.into_iter().enumerate() {
        let cell = cell_of(&measurement).map_err(|why| CollectError::Load {
            number: index + 1,
            title: measurement.workload.title(),
            why,
        })?;
        let key = Key::of(&measurement);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push((cell, measurement)),
            None => groups.push((key, vec![(cell, measurement)])),
        }
    }
    if groups.iter().all(|(_, group)| group.len() < 2) {
        return Err(CollectError::TooFew);
    }
    Ok(groups.into_iter().map(|(key, group)| sweep_of(&key, group, file)).collect())
}

/// What all cells of one sweep have in common.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    host: Option<String>,
    targets: Vec<workload::Target>,
    mode: Mode,
}

impl Key {
    fn of(m: &Measurement) -> Self {
        let targets = m.workload.targets.clone();
        Self { host: m.environment.hostname(), targets, mode: m.workload.mode }
    }
}

/// The cell that a measurement is of.
fn cell_of(m: &Measurement) -> Result<Cell, &'static str> {
    let [stream] = m.workload.streams.as_slice() else {
        return Err(if m.workload.is_unknown() {
            "its load is not known"
        } else {
            "it has several streams"
        });
    };
    let [block] = stream.blocks.as_slice() else { return Err("it has blocks of several sizes") };
    if m.workload.targets.len() > 1 {
        return Err("it has several files at once");
    }
    let cell = Cell {
        number: 0,
        targets: vec![0],
        operation: None,
        spec: None,
        parts: Vec::new(),
        write_percent: stream.write_percent,
        pattern: stream.pattern,
        random_percent: 0,
        block_bytes: block.bytes,
        threads: stream.threads,
        depth: stream.depth,
        durable: stream.durable && stream.writes(),
        sync: stream.sync.filter(|_| stream.writes()),
        seconds: m.seconds,
        warmup_seconds: m.workload.warmup_seconds,
    };
    // A cell has no word for anything else, and two that differ in it would look alike.
    let plain = Stream {
        name: stream.name.clone(),
        targets: stream.targets.clone(),
        content: stream.content,
        content_file: stream.content_file.clone(),
        hint: stream.hint,
        buffers: stream.buffers,
        mode: stream.mode,
        cpus: stream.cpus.clone(),
        priority: stream.priority,
        durable: stream.durable,
        sync: stream.sync,
        diskspd: stream.diskspd.clone(),
        ..cell.stream()
    };
    let is_plain = plain == *stream;
    let is_whole_order =
        stream.diskspd.as_ref().is_none_or(|order| order.slices.is_empty() && is_known(stream));
    if is_plain && is_whole_order {
        Ok(Cell { pattern: pattern_of(stream), ..cell })
    } else {
        Err("it has more to it than a block size, an order, a share of writes, threads and a depth")
    }
}

/// Whether the order of DiskSpd is one that other tools have, too.
fn is_known(stream: &Stream) -> bool {
    use workload::PatternKind::{Random, Sequential, SequentialShared};
    matches!(stream.pattern_kind(), Random | Sequential | SequentialShared)
}

fn pattern_of(stream: &Stream) -> workload::Pattern {
    use workload::{Pattern, PatternKind};
    match (&stream.diskspd, stream.pattern_kind()) {
        (Some(_), PatternKind::Sequential) => Pattern::Sequential,
        (Some(_), PatternKind::SequentialShared) => Pattern::SequentialShared,
        (Some(_), _) => Pattern::Random,
        (None, _) => stream.pattern,
    }
}

/// Whether two cells are rounds of the same test.
fn is_round(a: &Cell, b: &Cell) -> bool {
    let key = |c: &Cell| (c.write_percent, c.pattern, c.block_bytes, c.durable, c.sync);
    key(a) == key(b) && (a.threads, a.depth) == (b.threads, b.depth)
}

fn sweep_of(key: &Key, group: Vec<(Cell, Measurement)>, file: &str) -> Experiment<Sweep> {
    let mut cells: Vec<Cell> = Vec::new();
    let mut measured: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut measurements = Vec::with_capacity(group.len());
    for (place, (cell, measurement)) in group.into_iter().enumerate() {
        let known = cells.iter().position(|known| is_round(known, &cell));
        let at = known.unwrap_or(cells.len());
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        if known.is_none() {
            cells.push(Cell { number, ..cell });
        }
        measured.entry(number).or_default().push(place);
        measurements.push(measurement);
    }
    let plan = plan(key, &cells, file);
    let swept = conclude::cells(&cells, &measurements, &measured, &BTreeMap::new());
    let device_seconds = measurements.iter().map(|m| m.seconds).sum();
    let first = measurements.first();
    let text = |of: fn(&Measurement) -> &str| first.map(of).unwrap_or_default().to_owned();
    let ids: String = measurements.iter().map(|m| m.id.as_str()).collect();
    let unknown = Environment { host: None, storage: Vec::new() };
    let worst = [Status::Failed, Status::Interrupted]
        .into_iter()
        .find(|status| measurements.iter().any(|m| m.status == *status));
    Experiment {
        plan: None,
        schema: Sweep::SCHEMA.to_owned(),
        id: format!("{}-sweep-{:016x}", text(|m| &m.engine.name), fnv_1a(&ids)),
        tool_version: text(|m| &m.tool_version),
        started: text(|m| &m.started),
        finished: finished(&measurements),
        status: worst.unwrap_or(Status::Complete),
        targets: key.targets.iter().map(|t| t.path.clone()).collect(),
        file_bytes: measurements.iter().map(|m| m.file_bytes).max().unwrap_or(0),
        environment: first.map_or(unknown, |m| m.environment.clone()),
        conclusion: Sweep {
            plan_id: plan.id(),
            curves: conclude::curves(&swept),
            checks: Vec::new(),
            rounds: Vec::new(),
            cells: swept,
            device_seconds,
            matrix_seconds: device_seconds,
            plan,
        },
        method: vec![format!(
            "The runs of `{file}` were made by another tool, one after the other; they were put \
             together as one sweep, in their order. Runs of the same test are rounds of one cell."
        )],
        warnings: doubts::each_once(measurements.iter().map(|m| ("", m))),
        measurements,
    }
}

/// A plan of these cells: the lists that give them in this order, or one after the other.
fn plan(key: &Key, cells: &[Cell], file: &str) -> Plan {
    let listed = lists(cells);
    let one_by_one = || cells.iter().map(|cell| lists(std::slice::from_ref(cell))).collect();
    let mut plan = Plan {
        targets: key.targets.clone(),
        settle_seconds: 0.0,
        engine: EngineChoice::Auto,
        mode: key.mode,
        ..Plan::new(&format!("Imported from {file}"), vec![listed])
    };
    let same = |plan: &Plan| plan.count() == cells.len() as u64 && plan.cells() == cells;
    if !same(&plan) {
        plan.matrix = one_by_one();
    }
    plan
}

fn lists(cells: &[Cell]) -> Matrix {
    fn each<T: PartialEq>(cells: &[Cell], of: impl Fn(&Cell) -> T) -> Vec<T> {
        let mut found = Vec::new();
        for value in cells.iter().map(of) {
            if !found.contains(&value) {
                found.push(value);
            }
        }
        found
    }
    let first = cells.first();
    Matrix {
        writes: each(cells, |c| c.write_percent),
        patterns: each(cells, |c| c.pattern),
        blocks: each(cells, |c| c.block_bytes),
        threads: each(cells, |c| c.threads),
        depths: each(cells, |c| c.depth),
        seconds: first.map_or(0.0, |c| c.seconds),
        warmup_seconds: first.map_or(0.0, |c| c.warmup_seconds),
        durable: cells.iter().any(|c| c.durable),
        sync: cells.iter().find_map(|c| c.sync),
        ..Matrix::default()
    }
}

/// When the last run ended, as far as that is known.
fn finished(measurements: &[Measurement]) -> String {
    let ends = measurements.iter().filter_map(|m| {
        let length = jiff::SignedDuration::try_from_secs_f64(m.seconds).ok()?;
        m.started.parse::<jiff::Timestamp>().ok()?.checked_add(length).ok()
    });
    let started = measurements.first().map(|m| m.started.clone()).unwrap_or_default();
    ends.max().map_or(started, |end| end.to_string())
}

/// The hash FNV-1a of 64 bits.
fn fnv_1a(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
