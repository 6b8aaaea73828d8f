//! What was recorded, compared with what the kernel counted on the same disks in the same time.

use std::fmt::Display;

use capture::{Counts, Tally};
use counters::{CountersError, DiskCounters, NoCounts, Sampler};
use workload::{Bytes, plural, show_number};

/// The kernel's counters of the recorded disks, read on both sides of the begin and of the end.
pub(super) struct CrossCheck {
    sampler: Sampler,
    samples: Vec<Tally>,
    uncounted: Option<String>,
}

/// How the recorded I/Os agree with the kernel's counters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    /// The comparison in words, a line each.
    pub(super) lines: Vec<String>,
    /// I/Os that the kernel counted at least and that were not recorded, without those that it
    /// reported as lost.
    pub(super) missing: u64,
}

impl Comparison {
    /// Nothing was compared, for this reason.
    pub(super) fn not_made(reason: impl Display) -> Self {
        Self { lines: vec![format!("check: not made, because {reason}")], missing: 0 }
    }
}

impl CrossCheck {
    pub(super) fn new(disks: &[String]) -> Result<Self, CountersError> {
        Ok(Self { sampler: Sampler::new(disks.to_vec())?, samples: Vec::new(), uncounted: None })
    }

    /// Reads the counters; to be called before and after the begin, and before and after the end.
    /// Counters that cannot be read are not compared.
    pub(super) fn look(&mut self) {
        if let Ok(sample) = self.sampler.sample() {
            let off = sample.disks.iter().find(|disk| disk.uncounted);
            self.uncounted = self.uncounted.take().or(off.map(|disk| disk.device.clone()));
            let all = sample.disks.iter().map(tally);
            self.samples.push(all.fold(Tally::default(), Tally::plus));
        }
    }

    pub(super) fn compare(&self, recorded: Tally, counts: &Counts) -> Comparison {
        let [before, begun, ending, after] = self.samples.as_slice() else {
            return Comparison::not_made("/proc/diskstats could not be read");
        };
        if let Some(device) = &self.uncounted {
            return Comparison::not_made(NoCounts::AccountingOff { device: device.clone() });
        }
        let window = [minus(ending, begun), minus(after, before)];
        compare(recorded.plus(counts.early).plus(counts.others), counts, &window)
    }
}

fn tally(disk: &DiskCounters) -> Tally {
    Tally {
        reads: disk.reads,
        read_bytes: disk.read_bytes,
        writes: disk.writes,
        write_bytes: disk.write_bytes,
        flushes: disk.flushes.unwrap_or(0),
        discards: disk.discards.unwrap_or(0),
    }
}

fn minus(later: &Tally, earlier: &Tally) -> Tally {
    Tally {
        reads: later.reads.saturating_sub(earlier.reads),
        read_bytes: later.read_bytes.saturating_sub(earlier.read_bytes),
        writes: later.writes.saturating_sub(earlier.writes),
        write_bytes: later.write_bytes.saturating_sub(earlier.write_bytes),
        flushes: later.flushes.saturating_sub(earlier.flushes),
        discards: later.discards.saturating_sub(earlier.discards),
    }
}

/// One amount: what was seen at least and at most, and what the kernel counted at least and at
/// most.
struct Amount {
    name: &'static str,
    seen: (u64, u64),
    counted: (u64, u64),
    is_bytes: bool,
}

impl Amount {
    fn agrees(&self) -> bool {
        self.seen.0 <= self.counted.1 && self.counted.0 <= self.seen.1
    }

    /// What was counted at least beyond what was seen at most.
    fn missing(&self) -> u64 {
        self.counted.0.saturating_sub(self.seen.1)
    }

    fn show(&self, (least, most): (u64, u64)) -> String {
        let one = |value| {
            if self.is_bytes { Bytes(value).to_string() } else { show_number(value as f64) }
        };
        let (least, most) = (one(least), one(most));
        if least == most { least } else { format!("{least} to {most}") }
    }
}

/// The kernel counts the wait of a caller for a flush as a write without bytes; a write that
/// flushes precede or follow is completed twice and counted once. An event that was lost may be
/// any I/O, so with losses only the number of I/Os is bounded, and bytes are not.
fn compare(seen: Tally, counts: &Counts, window: &[Tally; 2]) -> Comparison {
    let [least, most] = window;
    let waits = match counts.twice {
        Some(twice) => (counts.empty.saturating_sub(twice), counts.empty.saturating_sub(twice)),
        None => (0, counts.empty),
    };
    let lost = counts.lost.total();
    let lost_bytes = if lost > 0 { u64::MAX } else { 0 };
    let amount = |name, (from, to): (u64, u64), counted, is_bytes| {
        let most = to.saturating_add(if is_bytes { lost_bytes } else { lost });
        Amount { name, seen: (from, most), counted, is_bytes }
    };
    let exact = |value| (value, value);
    let writes = (seen.writes + waits.0, seen.writes + waits.1);
    let amounts = [
        amount("reads", exact(seen.reads), (least.reads, most.reads), false),
        amount("bytes read", exact(seen.read_bytes), (least.read_bytes, most.read_bytes), true),
        amount("writes", writes, (least.writes, most.writes), false),
        amount(
            "bytes written",
            exact(seen.write_bytes),
            (least.write_bytes, most.write_bytes),
            true,
        ),
        amount(
            "flushes",
            exact(seen.flushes.saturating_sub(counts.waits)),
            (least.flushes, most.flushes),
            false,
        ),
    ];
    if *most == Tally::default() && seen != Tally::default() {
        return Comparison::not_made("/proc/diskstats does not count these disks");
    }
    let mut lines: Vec<String> = amounts
        .iter()
        .filter(|amount| !amount.agrees())
        .map(|amount| {
            let (name, counted) = (amount.name, amount.show(amount.counted));
            let seen = amount.show(amount.seen);
            format!("warning: {name}: {seen} seen, {counted} counted by /proc/diskstats")
        })
        .collect();
    if lines.is_empty() {
        let reads = plural(seen.reads, "read", "reads");
        let writes = plural(seen.writes, "write", "writes");
        let flushes = plural(seen.flushes, "flush", "flushes");
        let is_all = counts.others == Tally::default();
        let others = if is_all { "" } else { ", with those that are not recorded" };
        let (read, written) = (Bytes(seen.read_bytes), Bytes(seen.write_bytes));
        lines.push(format!(
            "check: /proc/diskstats agrees: {reads} of {read}, {writes} of {written}, \
             {flushes}{others}"
        ));
    }
    let missing = amounts.iter().filter(|amount| !amount.is_bytes).map(Amount::missing).sum();
    Comparison { lines, missing }
}

#[cfg(test)]
mod tests {
    use capture::Lost;

    use super::*;

    const SEEN: Tally = Tally {
        reads: 10,
        read_bytes: 40_960,
        writes: 5,
        write_bytes: 81_920,
        flushes: 2,
        discards: 0,
    };

    const INTERRUPTED: Lost = Lost { full: 0, interrupted: 1, unnoted: 0 };

    fn agrees(lines: &[String]) -> bool {
        matches!(lines, [line] if line.starts_with("check: /proc/diskstats agrees"))
    }

    #[test]
    fn waits_for_a_flush_count_as_writes_unless_they_end_one() {
        let counts = Counts { empty: 3, twice: Some(1), ..Counts::default() };
        let counted = Tally { writes: 7, ..SEEN };
        assert!(agrees(&compare(SEEN, &counts, &[counted, counted]).lines));
        let unknown = Counts { empty: 3, twice: None, ..Counts::default() };
        for (writes, is_right) in [(4, false), (5, true), (8, true), (9, false)] {
            let counted = Tally { writes, ..SEEN };
            let found = compare(SEEN, &unknown, &[counted, counted]);
            assert_eq!(agrees(&found.lines), is_right, "{writes}: {found:?}");
        }
    }

    #[test]
    fn what_differs_is_named_with_both_figures() {
        let least = Tally { reads: 12, ..SEEN };
        let most = Tally { reads: 13, ..SEEN };
        let found = compare(SEEN, &Counts::default(), &[least, most]);
        let line = "warning: reads: 10 seen, 12 to 13 counted by /proc/diskstats";
        assert_eq!((found.lines.as_slice(), found.missing), (&[line.to_owned()][..], 2));
        // Two events were lost: they may have been the two reads.
        let lost = Counts { lost: Lost { full: 1, ..INTERRUPTED }, ..Counts::default() };
        assert!(agrees(&compare(SEEN, &lost, &[least, most]).lines));
        // Fewer were counted than were recorded.
        let fewer = Tally { read_bytes: 0, ..SEEN };
        let found = compare(SEEN, &lost, &[fewer, fewer]);
        assert_eq!((found.lines.len(), found.missing), (1, 0), "{found:?}");
        assert!(found.lines[0].starts_with("warning: bytes read: 40 KiB"), "{found:?}");
    }

    /// With `--pid`, all that the program saw is compared, also the I/O of other processes.
    #[test]
    fn what_others_did_is_compared_too() {
        let others = Tally { reads: 3, read_bytes: 12_288, flushes: 1, ..Tally::default() };
        // One of the two flushes is a caller's wait for it, which the kernel counts as a write.
        let counts = Counts { others, empty: 1, waits: 1, twice: Some(0), ..Counts::default() };
        let counted = Tally { reads: 13, read_bytes: 53_248, writes: 6, ..SEEN };
        let found = compare(SEEN.plus(counts.others), &counts, &[counted, counted]);
        assert!(agrees(&found.lines), "{found:?}");
        let more = Tally { reads: 15, ..counted };
        assert_eq!(compare(SEEN.plus(counts.others), &counts, &[more, more]).missing, 2);
    }

    #[test]
    fn a_disk_that_the_kernel_does_not_count_is_not_checked() {
        let found = compare(SEEN, &Counts::default(), &[Tally::default(); 2]);
        assert!(found.lines[0].starts_with("check: not made"), "{found:?}");
    }
}
