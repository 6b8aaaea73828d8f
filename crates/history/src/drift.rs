//! What a device does now next to the most that it was measured to do: is it busy at all?

use results::{Capacity, DRIFT_SCHEMA, Drift, DriftLoad, Figure, Status};
use workload::{PatternKind, show_ns, show_number};

use crate::Load;
use crate::compare::loads::with_depth;
use crate::trend::{date, show};

/// Up to this share of the most that was measured, in percent, the device is far from its limit.
const LITTLE_PERCENT: f64 = 50.0;
/// From this share on, it is at its limit.
const MUCH_PERCENT: f64 = 80.0;
/// An I/O that takes this many times as long as at full load is slow.
const SLOW_RATIO: f64 = 1.5;
/// Capacities are to be measured anew after this many days.
const OLD_DAYS: i64 = 183;

/// What the counters of a device say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CounterFigures {
    /// Length of the window in seconds.
    pub seconds: f64,
    /// Reads that the device completed per second.
    pub read_iops: f64,
    /// Writes that the device completed per second.
    pub write_iops: f64,
    /// MiB read and written per second.
    pub mib_per_s: f64,
    /// Mean time of a read; absent without reads.
    pub read_latency_ns: Option<f64>,
    /// Mean time of a write; absent without writes.
    pub write_latency_ns: Option<f64>,
    /// I/Os in flight at the device, averaged.
    pub average_queue: f64,
    /// Share of the window in which the device had anything to do, percent.
    pub utilisation_percent: f64,
}

/// Where and when the counters were read.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The name of the machine.
    pub host: &'a str,
    /// The target, as it was named.
    pub target: &'a str,
    /// The device whose counters were read.
    pub device: &'a str,
    /// The time of the comparison: UTC, RFC 3339.
    pub now: &'a str,
    /// Version of the program that compares.
    pub tool_version: &'a str,
}

/// The most that was measured, of each kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Capacities {
    /// The most random reads that were measured.
    pub reads: Option<Capacity>,
    /// The most writes that were measured.
    pub writes: Option<Capacity>,
    /// Sequential reads or writes, in MiB per second.
    pub sequential: Option<Capacity>,
}

impl Capacities {
    /// The best of these measurements of direct I/O to real storage: what a cache in memory gives
    /// does not come from the device. The columns of a load show what it is evidence for.
    pub fn of<'a>(loads: impl IntoIterator<Item = &'a Load>) -> Self {
        let mut best = Self::default();
        for l in loads {
            let artificial = ["sim", "null"].contains(&l.engine.as_str());
            if l.status != Status::Complete || l.direct != Some(true) || artificial {
                continue;
            }
            let order = PatternKind::of_word(&l.pattern);
            let kind = Kind {
                random: order == Some(PatternKind::Random),
                sequential: order.is_some_and(PatternKind::is_sequential),
                reads: l.write_percent == Some(0),
                writes: l.write_percent == Some(100),
            };
            let capacity = Capacity {
                value: 0.0,
                load: with_depth(&l.load, l.threads, l.depth, l.in_flight),
                latency_ns: l.latency_mean_ns,
                id: l.experiment_id.clone(),
                started: l.started.clone(),
            };
            best.raise(&kind, l.iops.unwrap_or(0.0), l.mib_per_s.unwrap_or(0.0), &capacity);
        }
        best
    }

    fn raise(&mut self, kind: &Kind, iops: f64, mib_per_s: f64, capacity: &Capacity) {
        let with = |value: f64| Capacity { value, ..capacity.clone() };
        if kind.random && kind.reads {
            raise(&mut self.reads, with(iops));
        }
        if kind.writes {
            raise(&mut self.writes, with(iops));
        }
        if kind.sequential {
            raise(&mut self.sequential, with(mib_per_s));
        }
    }
}

/// What a load is evidence for.
#[expect(clippy::struct_excessive_bools, reason = "each is a separate fact")]
struct Kind {
    random: bool,
    sequential: bool,
    reads: bool,
    writes: bool,
}

fn raise(best: &mut Option<Capacity>, other: Capacity) {
    let more = best.as_ref().is_none_or(|best| other.value > best.value);
    if more && other.value.is_finite() && other.value > 0.0 {
        *best = Some(other);
    }
}

/// Holds what the counters say against the most that was measured.
#[must_use]
pub fn drift(place: &Place<'_>, counted: &CounterFigures, capacities: Capacities) -> Drift {
    let load = |name: &str, figure, now: f64, capacity: Option<Capacity>, latency_now_ns| {
        let used = capacity.as_ref().map(|c| 100.0 * now / c.value);
        let used_percent = used.filter(|p| p.is_finite());
        DriftLoad { name: name.to_owned(), figure, now, capacity, used_percent, latency_now_ns }
    };
    let (reads, writes) = (counted.read_latency_ns, counted.write_latency_ns);
    let loads = vec![
        load("reads", Figure::Iops, counted.read_iops, capacities.reads, reads),
        load("writes", Figure::Iops, counted.write_iops, capacities.writes, writes),
        load("reads and writes", Figure::MibPerS, counted.mib_per_s, capacities.sequential, None),
    ];
    Drift {
        schema: DRIFT_SCHEMA.to_owned(),
        tool_version: place.tool_version.to_owned(),
        host: place.host.to_owned(),
        target: place.target.to_owned(),
        device: place.device.to_owned(),
        seconds: counted.seconds,
        average_queue: counted.average_queue,
        utilisation_percent: counted.utilisation_percent,
        findings: findings(&loads),
        warnings: warnings(&loads, place.now),
        loads,
    }
}

fn findings(loads: &[DriftLoad]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for load in loads {
        let Some((used, capacity)) = load.used_percent.zip(load.capacity.as_ref()) else {
            continue;
        };
        found.push(format!(
            "{}: {} now, {} % of the {} that were measured on {} ({})",
            load.name,
            show(load.now, load.figure),
            show_number(used),
            show(capacity.value, load.figure),
            date(&capacity.started),
            capacity.load
        ));
    }
    let most = loads.iter().filter_map(|l| l.used_percent).reduce(f64::max);
    found.extend(most.map(|most| {
        let most_words = show_number(most);
        if most >= MUCH_PERCENT {
            format!(
                "The storage works at {most_words} % of what it was measured to do: it is at its \
                 limit."
            )
        } else if most <= LITTLE_PERCENT {
            format!(
                "The storage works at no more than {most_words} % of what it was measured to do: \
                 throughput is not what holds anything up."
            )
        } else {
            format!("The storage works at {most_words} % of what it was measured to do.")
        }
    }));
    for load in loads {
        let at_most = load.capacity.as_ref().and_then(|c| c.latency_ns);
        let Some((now, full)) = load.latency_now_ns.zip(at_most) else { continue };
        if now > SLOW_RATIO * full && load.used_percent.is_some_and(|used| used <= LITTLE_PERCENT) {
            found.push(format!(
                "Yet {} take {}, longer than at full load ({}): larger I/Os, flushes or other \
                 users of the same storage may be the cause.",
                load.name,
                show_ns(now),
                show_ns(full)
            ));
        }
    }
    found
}

fn warnings(loads: &[DriftLoad], now: &str) -> Vec<String> {
    let mut found = Vec::new();
    let missing: Vec<&str> =
        loads.iter().filter(|l| l.capacity.is_none()).map(|l| l.name.as_str()).collect();
    if !missing.is_empty() {
        found.push(format!(
            "The history has no measurement of this target on this host to hold these against: \
             {}. `iosonde assess` measures all",
            missing.join(", ")
        ));
    }
    let oldest = loads.iter().filter_map(|l| l.capacity.as_ref()).map(|c| c.started.as_str()).min();
    let days = oldest.and_then(|oldest| {
        let (old, now): (jiff::Timestamp, jiff::Timestamp) =
            (oldest.parse().ok()?, now.parse().ok()?);
        Some(now.as_second().saturating_sub(old.as_second()) / 86_400)
    });
    if let Some(days) = days.filter(|days| *days >= OLD_DAYS) {
        found.push(format!(
            "What was measured is up to {days} days old. Measure a new baseline every 3 to 6 \
             months"
        ));
    }
    found
}
