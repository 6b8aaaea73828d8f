//! Where in a recording a run was made, and what the devices did meanwhile.
//!
//! A run whose beginning is known is found by its time. Of another, such as one of SQLIO, which
//! tells only how long it measured, the place is the stretch of that length in which the devices
//! did the most I/Os of its kind: nothing of what it measured decides, so that the comparison
//! afterwards is one.

use counters::DiskTally;
use results::{FoundBy, RecordedPoint};

/// A run of a tool that was recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// Whether it read anything.
    pub reads: bool,
    /// Whether it wrote anything.
    pub writes: bool,
    /// I/O before what it measured, in seconds.
    pub warmup_s: f64,
    /// How long it measured, in seconds.
    pub seconds: f64,
    /// When it began to measure, in seconds from the start of the recording, if known.
    pub began_s: Option<f64>,
    /// It did not begin before, as the one before it had not ended.
    pub not_before_s: f64,
}

/// The part of a recording that is set next to a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The index of its first point.
    pub first: usize,
    /// The index of the point after its last.
    pub end: usize,
    /// Its beginning in seconds from the start of the recording.
    pub from_s: f64,
    /// Its end, in seconds from the start of the recording.
    pub to_s: f64,
    /// How its place was found.
    pub found: FoundBy,
    /// The edges may be off by so much, in percent of its length: one point.
    pub edge_percent: f64,
}

fn begin_of(point: &RecordedPoint) -> f64 {
    point.t - point.seconds
}

/// I/Os of the run's kind on these devices.
fn activity(point: &RecordedPoint, devices: &[&str], run: &Run) -> u64 {
    let tallies = devices.iter().filter_map(|name| point.disks.get(*name));
    let ios = |tally: &DiskTally| {
        let reads = if run.reads { tally.reads } else { 0 };
        let writes = if run.writes { tally.writes } else { 0 };
        reads.saturating_add(writes).saturating_add(tally.transfers.unwrap_or(0))
    };
    tallies.map(ios).fold(0, u64::saturating_add)
}

/// Where the run was made; `None` if the recording does not hold it.
#[must_use]
pub fn find(points: &[RecordedPoint], devices: &[&str], run: &Run) -> Option<Place> {
    if !(run.seconds > 0.0 && run.seconds.is_finite() && run.warmup_s >= 0.0) {
        return None;
    }
    let (first, end, found) = match run.began_s {
        Some(began_s) => by_time(points, began_s, run.seconds)?,
        None => by_activity(points, devices, run)?,
    };
    let part = points.get(first..end)?;
    // Sums over a time in which a device had no figures would be too low.
    let lacks = |point: &RecordedPoint| point.missing.iter().any(|m| devices.contains(&m.as_str()));
    if part.iter().any(lacks) {
        return None;
    }
    let (from_s, to_s) = (begin_of(part.first()?), part.last()?.t);
    let length: f64 = part.iter().map(|point| point.seconds).sum();
    let edge_percent = 100.0 * length / part.len() as f64 / run.seconds;
    Some(Place { first, end, from_s, to_s, found, edge_percent: edge_percent.min(100.0) })
}

/// The points of which the larger part is in the run.
fn by_time(
    points: &[RecordedPoint],
    began_s: f64,
    seconds: f64,
) -> Option<(usize, usize, FoundBy)> {
    let inside = |point: &RecordedPoint| {
        let middle = point.t - point.seconds / 2.0;
        middle >= began_s && middle < began_s + seconds
    };
    let first = points.iter().position(inside)?;
    let count = points.get(first..)?.iter().take_while(|point| inside(point)).count();
    // Half of a run does not count as one.
    let held: f64 = points.get(first..first + count)?.iter().map(|point| point.seconds).sum();
    (held >= 0.5 * seconds).then_some((first, first + count, FoundBy::Time))
}

fn by_activity(
    points: &[RecordedPoint],
    devices: &[&str],
    run: &Run,
) -> Option<(usize, usize, FoundBy)> {
    let start = points.iter().position(|point| begin_of(point) >= run.not_before_s - 1e-6)?;
    let points = points.get(start..)?;
    let whole_s = run.warmup_s + run.seconds;
    let held_s: f64 = points.iter().map(|point| point.seconds).sum();
    // A recording that began a moment late, or ended a moment early, holds the run as far as it
    // goes.
    if held_s < 0.9 * whole_s {
        return None;
    }
    let activity: Vec<u64> = points.iter().map(|point| activity(point, devices, run)).collect();
    let (mut end, mut length_s, mut ios) = (0, 0.0, 0_u64);
    let mut best: Option<(u64, usize, usize)> = None;
    for first in 0..points.len() {
        while let Some(next) = points.get(end)
            && length_s < whole_s - next.seconds / 2.0
        {
            length_s += next.seconds;
            ios += activity.get(end).copied().unwrap_or(0);
            end += 1;
        }
        let is_whole = length_s >= 0.9 * whole_s;
        if is_whole && best.is_none_or(|(most, ..)| ios > most) {
            best = Some((ios, first, end));
        }
        if first < end {
            length_s -= points.get(first).map_or(0.0, |point| point.seconds);
            ios = ios.saturating_sub(activity.get(first).copied().unwrap_or(0));
        } else {
            end = first + 1;
        }
    }
    let (ios, mut first, end) = best?;
    let mut warmup_s = 0.0;
    while let Some(point) = points.get(first)
        && warmup_s + point.seconds / 2.0 <= run.warmup_s
        && first + 1 < end
    {
        warmup_s += point.seconds;
        first += 1;
    }
    (ios > 0).then_some((start + first, start + end, FoundBy::Activity))
}

/// What each device did in a place, and how long that was.
#[must_use]
pub fn sums(points: &[RecordedPoint], devices: &[&str], place: &Place) -> (Vec<DiskTally>, f64) {
    let part = points.get(place.first..place.end).unwrap_or_default();
    let mut sums = vec![DiskTally::default(); devices.len()];
    for point in part {
        for (sum, name) in sums.iter_mut().zip(devices) {
            if let Some(tally) = point.disks.get(*name) {
                sum.add(tally);
            }
        }
    }
    (sums, part.iter().map(|point| point.seconds).sum())
}
