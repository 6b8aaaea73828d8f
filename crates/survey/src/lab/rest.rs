//! The pause before a step: the storage works off what the step before has left, and no longer than
//! that takes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use counters::{DiskCounters, Sampler, WriteBack};

/// What a device writes from a separate cache is in no counter, so that after writes the pause has
/// at least this length.
pub(crate) const AFTER_WRITES_S: f64 = 15.0;
/// From one look at the counters to the next.
const LOOK: Duration = Duration::from_millis(500);
/// So many looks in a row without any I/O are rest.
const QUIET_LOOKS: u32 = 3;
/// Every host has something to write that will not be written soon.
const DIRTY_BYTES: u64 = 16 << 20;

/// How long that usually takes, in seconds.
pub(super) fn usual_s(at_most_s: f64, wrote: bool) -> f64 {
    let quiet_s = LOOK.as_secs_f64() * f64::from(QUIET_LOOKS);
    if wrote { AFTER_WRITES_S.min(at_most_s) } else { quiet_s.min(at_most_s) }
}

/// Waits until the storage is idle, for at most `seconds`; returns how long it waited.
///
/// The storage is idle if there is no I/O on the devices, and the operating system writes nothing
/// back. Without counters, it waits the whole pause.
pub(super) fn rest(devices: &[String], seconds: f64, wrote: bool, stop: &AtomicBool) -> f64 {
    let begin = Instant::now();
    let at_least = if wrote { AFTER_WRITES_S.min(seconds) } else { 0.0 };
    let mut sampler = match devices {
        [] => None,
        devices => Sampler::new(devices.to_vec()).ok(),
    };
    let (mut quiet, mut before) = (0, None::<Vec<DiskCounters>>);
    loop {
        let waited = begin.elapsed().as_secs_f64();
        if waited >= seconds || stop.load(Ordering::Relaxed) {
            return waited;
        }
        let now = sampler.as_mut().and_then(|s| s.sample().ok()).map(|sample| sample.disks);
        let still = match (&before, &now) {
            (Some(before), Some(now)) => is_still(before, now) && nothing_to_write(),
            _ => false,
        };
        quiet = if still { quiet + 1 } else { 0 };
        if quiet >= QUIET_LOOKS && waited >= at_least {
            return waited;
        }
        before = now;
        std::thread::sleep(LOOK.min(Duration::from_secs_f64(seconds - waited)));
    }
}

/// Whether nothing happened on any of the devices from one look to the next. Of a device whose I/O
/// is not counted, that is not known.
fn is_still(before: &[DiskCounters], now: &[DiskCounters]) -> bool {
    let counts = |d: &DiskCounters| (d.reads, d.writes, d.flushes, d.discards);
    before.len() == now.len()
        && !now.is_empty()
        && now.iter().all(|disk| disk.in_flight == 0 && !disk.uncounted)
        && before.iter().zip(now).all(|(b, n)| counts(b) == counts(n))
}

fn nothing_to_write() -> bool {
    WriteBack::now().is_none_or(|w| w.writing_bytes == 0 && w.dirty_bytes <= DIRTY_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(writes: u64, in_flight: u64) -> DiskCounters {
        DiskCounters { writes, in_flight, ..DiskCounters::default() }
    }

    #[test]
    fn a_device_is_still_when_nothing_is_under_way_and_nothing_was_done() {
        assert!(is_still(&[disk(7, 1)], &[disk(7, 0)]));
        assert!(!is_still(&[disk(7, 0)], &[disk(8, 0)]), "somebody wrote");
        assert!(!is_still(&[disk(7, 0)], &[disk(7, 2)]), "two are under way");
        assert!(!is_still(&[disk(7, 0), disk(1, 0)], &[disk(7, 0)]), "one is gone");
        assert!(!is_still(&[], &[]), "nothing is known");
        let uncounted = DiskCounters { uncounted: true, ..disk(7, 0) };
        assert!(!is_still(&[disk(7, 0)], &[uncounted]), "nothing is counted");
    }

    #[test]
    fn without_counters_the_whole_pause_is_kept_and_a_signal_ends_it() {
        let stop = AtomicBool::new(false);
        assert!(rest(&[], 0.05, false, &stop) >= 0.05);
        stop.store(true, Ordering::Relaxed);
        assert!(rest(&[], 3600.0, true, &stop) < 60.0);
    }
}
