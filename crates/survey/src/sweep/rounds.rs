//! Rounds of a sweep: how the targets are prepared before the first, whether the last five are
//! steady, and how this differs from the specification of the procedure.

use std::collections::BTreeMap;

use analysis::noise;
use results::{Measurement, SweptRounds, TrackedCell};
use workload::sweep::{Cell, Plan, ROUNDS_WINDOW, Rounds, preset};
use workload::{Block, Bytes, Mode, Pattern, Stream, Target};

use crate::lab::{Lab, Timing};

/// How long one window of the writing before the first round lasts at most: people see that it
/// continues.
const WINDOW_MAX_S: f64 = 10.0;
/// The first window: how fast the target is, nobody knows yet.
const WINDOW_MIN_S: f64 = 0.5;
/// I/Os in flight while a target is written over.
const DEPTH: u32 = 32;
/// Length of a window and the most rounds, as the specification has them.
const WINDOW_OF_SPECIFICATION_S: f64 = 60.0;

/// The preparation of a group's targets before the first round.
#[derive(Debug, Clone, Default)]
pub(super) struct Preparation {
    /// Every target was discarded as a whole; absent if an earlier session did it, or did not.
    pub(super) purged: Option<bool>,
    /// What was done to the targets, in sentences for the document.
    pub(super) method: Vec<String>,
    /// How many bytes were written before the first round.
    pub(super) written_bytes: u64,
}

/// Purges the targets if possible, and writes them over. `Err` says why the sweep must end; a
/// signal ends it without a reason.
pub(super) fn prepare(rounds: &Rounds, lab: &mut Lab<'_>) -> Result<Preparation, String> {
    let mut done = Preparation::default();
    let mut window_s = WINDOW_MIN_S;
    if rounds.purge {
        purge(lab, &mut done)?;
    }
    let sizes: Vec<u64> = lab.facts().iter().map(|f| f.size_bytes).collect();
    for (target, size) in sizes.iter().enumerate() {
        for time in 0..rounds.precondition_times {
            let title = format!("writing all of it, {} of {}", time + 1, rounds.precondition_times);
            lab.begin(&title);
            let block = rounds.precondition_block_bytes.0;
            done.written_bytes += write_all(lab, (target, *size), block, &mut window_s)?;
            if lab.is_over() {
                return Ok(done);
            }
        }
    }
    if rounds.precondition_times > 0 {
        done.method.push(format!(
            "Before the first round, all of the used part of each target was written at least {} \
             times with sequential writes of {}, {} in all.",
            rounds.precondition_times,
            rounds.precondition_block_bytes,
            Bytes(done.written_bytes)
        ));
    }
    Ok(done)
}

fn purge(lab: &Lab<'_>, done: &mut Preparation) -> Result<(), String> {
    let permissions = lab.setup().permissions.clone();
    let mut all = true;
    for target in lab.prepared() {
        let path = target.path().display();
        let purged = target.purge(&permissions).map_err(|error| {
            format!("`{path}` cannot be discarded: {error}; set `purge = false` in the plan")
        })?;
        all &= purged;
        done.method.push(if purged {
            format!("{path} was discarded as a whole before it was written.")
        } else {
            format!(
                "{path} was not purged: only a whole device that `--destroy` names and that can \
                 discard is."
            )
        });
    }
    done.purged = Some(all);
    Ok(())
}

/// Writes a target from its beginning to its end; gives the bytes that this took.
fn write_all(
    lab: &mut Lab<'_>,
    (target, size): (usize, u64),
    block: u64,
    window_s: &mut f64,
) -> Result<u64, String> {
    let (mut at, mut written) = (0, 0);
    while size.saturating_sub(at) >= block && !lab.is_over() {
        let stream = Stream {
            targets: vec![target],
            depth: DEPTH,
            blocks: vec![Block { bytes: Bytes(block), weight: 1 }],
            pattern: Pattern::Sequential,
            write_percent: 100,
            offset_bytes: Bytes(at),
            span_bytes: Some(Bytes((size - at) / block * block)),
            ..Stream::default()
        };
        let timing = Timing {
            seconds: *window_s,
            warmup_seconds: 0.0,
            precision: None,
            settle_seconds: 0.0,
        };
        let seed = lab.setup().seed ^ at;
        let Some(measurement) = lab.make_unrecorded(vec![stream], timing, seed) else { break };
        let bytes = measurement.total.bytes / block * block;
        if bytes == 0 {
            return Err(format!("nothing was written in {window_s} s"));
        }
        written += measurement.total.bytes;
        // Past the end it began anew, and wrote some blocks twice.
        at += bytes.min(size - at);
        let left = if size - at >= block { size - at } else { size };
        let left_s = left as f64 / (measurement.total.bytes as f64 / measurement.seconds);
        *window_s = left_s.clamp(WINDOW_MIN_S, WINDOW_MAX_S);
    }
    Ok(written)
}

/// The cell to measure next in rounds; `None` if the storage is steady or all rounds are over.
pub(super) fn next<'c>(
    plan: &Plan,
    cells: &[&'c Cell],
    done: &BTreeMap<u32, Measurement>,
) -> Option<(&'c Cell, u32)> {
    let rounds = plan.rounds.as_ref()?;
    let count = u32::try_from(plan.cells().len()).ok()?;
    for round in 0..rounds.at_most {
        let name = |cell: &Cell| cell.number.saturating_add(round.saturating_mul(count));
        if let Some(cell) = cells.iter().find(|cell| !done.contains_key(&name(cell))) {
            return Some((cell, round));
        }
        if round + 1 >= ROUNDS_WINDOW && is_steady(rounds, cells, done, (round + 1, count)) {
            return None;
        }
    }
    None
}

/// The IOPS of a cell, one value for each of the first rounds.
fn iops(cell: &Cell, done: &BTreeMap<u32, Measurement>, (complete, count): (u32, u32)) -> Vec<f64> {
    let name = |round: u32| cell.number.saturating_add(round.saturating_mul(count));
    (0..complete).filter_map(|round| Some(done.get(&name(round))?.total.iops)).collect()
}

fn is_steady(
    rounds: &Rounds,
    cells: &[&Cell],
    done: &BTreeMap<u32, Measurement>,
    so_far: (u32, u32),
) -> bool {
    let mut tracked = cells.iter().filter(|cell| rounds.tracks(cell)).peekable();
    // A tracked cell that cannot be done here decides nothing, and without any nothing is decided.
    tracked.peek().is_some() && tracked.all(|cell| noise::rounds(&iops(cell, done, so_far)).settled)
}

/// The rounds of a group of targets so far.
pub(super) fn found(
    plan: &Plan,
    cells: &[&Cell],
    done: &BTreeMap<u32, Measurement>,
    preparation: &Preparation,
) -> Option<SweptRounds> {
    let rounds = plan.rounds.as_ref()?;
    let count = u32::try_from(plan.cells().len()).ok()?;
    let is_whole = |round: &u32| {
        let name = |cell: &Cell| cell.number.saturating_add(round.saturating_mul(count));
        !cells.is_empty() && cells.iter().all(|cell| done.contains_key(&name(cell)))
    };
    let complete = u32::try_from((0..rounds.at_most).take_while(is_whole).count()).ok()?;
    let tracked = cells.iter().filter(|cell| rounds.tracks(cell)).map(|cell| {
        let iops = iops(cell, done, (complete, count));
        let stability = noise::rounds(&iops);
        let is_known = iops.len() >= ROUNDS_WINDOW as usize;
        TrackedCell {
            cell: cell.number,
            title: cell.load_title(),
            mean_iops: is_known.then_some(stability.mean),
            range_percent: is_known.then_some(stability.range_percent),
            slope_percent: is_known.then_some(stability.slope_percent),
            steady: stability.settled,
            iops,
        }
    });
    let tracked: Vec<TrackedCell> = tracked.collect();
    Some(SweptRounds {
        targets: cells.first().map(|cell| cell.targets.clone()).unwrap_or_default(),
        rounds: complete,
        window_from: (complete >= ROUNDS_WINDOW).then(|| complete - ROUNDS_WINDOW + 1),
        steady: !tracked.is_empty() && tracked.iter().all(|cell| cell.steady),
        tracked,
        written_before_bytes: preparation.written_bytes,
        differences: differences(plan, rounds, preparation),
    })
}

/// In what the sweep differs from the IOPS test of the SNIA specification, one sentence each.
fn differences(plan: &Plan, rounds: &Rounds, preparation: &Preparation) -> Vec<String> {
    let mut all = Vec::new();
    let mut when = |is: bool, text: &str| all.extend(is.then(|| text.to_owned()));
    let standard = preset("snia-pts").map(|preset| preset.plan());
    let standard_rounds = standard.as_ref().and_then(|plan| plan.rounds.clone());
    let loads = |plan: &Plan| -> Vec<(u8, Pattern, u64)> {
        let load = |cell: &Cell| (cell.write_percent, cell.pattern, cell.block_bytes.0);
        plan.matrix
            .iter()
            .flat_map(|m| Plan::new("", vec![m.clone()]).cells())
            .map(|c| load(&c))
            .collect()
    };
    when(plan.engine.is_artificial(), "The device is simulated.");
    let is_whole = |target: &Target| {
        let sized = target.size_bytes.or(plan.size_bytes).is_some();
        !sized && std::fs::metadata(&target.path).is_ok_and(|metadata| is_device(&metadata))
    };
    when(
        !plan.engine.is_artificial() && !plan.targets.iter().all(is_whole),
        "A target is a test file or a part of a device, and the specification tests whole devices.",
    );
    when(plan.mode == Mode::Buffered, "I/O goes through the operating system's cache.");
    match preparation.purged {
        Some(true) => {}
        Some(false) => when(true, "Not every target was purged."),
        None if rounds.purge => {
            when(true, "The sweep was resumed after an interruption, and the device was at rest.");
        }
        None => when(true, "Purging was not asked for."),
    }
    let preconditioned = standard_rounds.as_ref().is_some_and(|standard| {
        (standard.precondition_times, standard.precondition_block_bytes)
            == (rounds.precondition_times, rounds.precondition_block_bytes)
    });
    when(!preconditioned, "It is not written twice with 128 KiB before the first round.");
    let seconds =
        plan.cells().iter().all(|c| c.seconds.total_cmp(&WINDOW_OF_SPECIFICATION_S).is_eq());
    when(!seconds, "The windows do not last a minute each.");
    let same_loads = standard.as_ref().is_some_and(|standard| loads(standard) == loads(plan));
    when(!same_loads, "The shares of writes and the blocks are not the 56 of the specification.");
    let tracks = |standard: &Rounds| standard.tracked.iter().all(|t| rounds.tracked.contains(t));
    when(
        !standard_rounds.as_ref().is_some_and(tracks),
        "The cells that decide on steady state are others.",
    );
    when(
        standard_rounds.is_some_and(|standard| rounds.at_most < standard.at_most),
        "It ends after fewer rounds.",
    );
    all
}

/// A device, or what no file system made.
fn is_device(metadata: &std::fs::Metadata) -> bool {
    !metadata.is_file() && !metadata.is_dir()
}
