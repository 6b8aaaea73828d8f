//! Whether the server answers: silence of hosts is theirs only as long as it does.
//!
//! A server that is busy or frozen for two seconds makes all hosts silent, and so does a
//! coordinator that does not get to read what came. Neither is a lost host.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// One client asks the server this often whether it is there, and so hears it as often.
pub(crate) const PULSE: Duration = Duration::from_millis(500);

/// A server that said nothing for so long does not answer. Two answers are missing then, and hosts
/// that were heard a second before it fell silent do not count as lost yet.
const QUIET_NS: u64 = 1_000_000_000;

/// The thread that takes what comes looks about every 50 ms. After a longer time without a look,
/// what came meanwhile is not taken yet.
const STALLED_NS: u64 = 500_000_000;

/// Without a server for so long, hosts are lost: they have stopped by themselves long before.
const GRACE_NS: u64 = 30_000_000_000;

/// What the thread of the connection writes down, and that of the coordinator reads.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    is_connected: AtomicBool,
    answers: AtomicBool,
    /// Since when it answers, or since when it does not.
    since_ns: AtomicU64,
    /// When the thread of the connection last looked.
    looked_ns: AtomicU64,
    /// Bytes that had come then, and when the last of them did.
    bytes: AtomicU64,
    heard_ns: AtomicU64,
}

impl Pulse {
    /// Notes that the connection was made or lost.
    pub(crate) fn connected(&self, now_ns: u64, is_there: bool) {
        self.is_connected.store(is_there, Relaxed);
        self.looked_ns.store(now_ns, Relaxed);
        self.heard_ns.store(now_ns, Relaxed);
        self.turn(now_ns, is_there);
    }

    /// Whether the client was connected when it last said so.
    pub(crate) fn is_connected(&self) -> bool {
        self.is_connected.load(Relaxed)
    }

    /// Looks at how many bytes have come since the beginning.
    pub(crate) fn look(&self, now_ns: u64, bytes: u64) {
        if self.bytes.swap(bytes, Relaxed) != bytes {
            self.heard_ns.store(now_ns, Relaxed);
        }
        let looked_ns = self.looked_ns.swap(now_ns, Relaxed);
        let quiet_ns = now_ns.saturating_sub(self.heard_ns.load(Relaxed));
        let answers = self.is_connected() && quiet_ns <= QUIET_NS;
        let stalled = now_ns.saturating_sub(looked_ns) > STALLED_NS;
        if answers != self.answers.load(Relaxed) || (answers && stalled) {
            self.turn(now_ns, answers);
        }
    }

    fn turn(&self, now_ns: u64, answers: bool) {
        self.since_ns.store(now_ns, Relaxed);
        self.answers.store(answers, Relaxed);
    }

    /// Since when hosts can be heard; now, as long as they cannot and it may come back.
    pub(crate) fn since_ns(&self, now_ns: u64) -> u64 {
        let stalled = now_ns.saturating_sub(self.looked_ns.load(Relaxed)) > STALLED_NS;
        let waits = stalled || !self.answers.load(Relaxed);
        if waits && !self.is_gone(now_ns) { now_ns } else { self.since_ns.load(Relaxed) }
    }

    /// Whether the server has not answered for so long that hosts count as lost.
    pub(crate) fn is_gone(&self, now_ns: u64) -> bool {
        let since_ns = self.since_ns.load(Relaxed);
        !self.answers.load(Relaxed) && now_ns.saturating_sub(since_ns) > GRACE_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A pulse at which somebody looks every 50 ms; bytes come with each look where this is so.
    fn looked(pulse: &Pulse, from_ms: u64, to_ms: u64, mut bytes: u64, comes: bool) -> u64 {
        for at in (from_ms..=to_ms).step_by(50) {
            bytes += u64::from(comes);
            pulse.look(at * MS, bytes);
        }
        bytes
    }

    fn answering() -> (Pulse, u64) {
        let pulse = Pulse::default();
        pulse.connected(0, true);
        let bytes = looked(&pulse, 0, 10_000, 0, true);
        assert_eq!(pulse.since_ns(10_000 * MS), 0);
        (pulse, bytes)
    }

    /// Next to a soak, every host of a fleet was lost at once: the server had not got to work for
    /// 2.5 s.
    #[test]
    fn a_server_that_is_frozen_for_seconds_makes_no_host_silent() {
        let (pulse, bytes) = answering();
        // The last sign of a host may be a second older than that of the server. It would count as
        // lost at 11.5 s.
        looked(&pulse, 10_050, 11_450, bytes, false);
        assert_eq!(pulse.since_ns(11_450 * MS), 11_450 * MS);
        looked(&pulse, 11_500, 13_500, bytes, false);
        assert_eq!(pulse.since_ns(13_500 * MS), 13_500 * MS);
        // It comes back, and from then on silence counts.
        looked(&pulse, 13_550, 16_000, bytes, true);
        assert_eq!(pulse.since_ns(16_000 * MS), 13_550 * MS);
        assert!(!pulse.is_gone(16_000 * MS));
    }

    #[test]
    fn a_coordinator_that_does_not_get_to_work_makes_no_host_silent() {
        let (pulse, bytes) = answering();
        // Its other thread looks first.
        assert_eq!(pulse.since_ns(10_400 * MS), 0);
        assert_eq!(pulse.since_ns(11_800 * MS), 11_800 * MS);
        // What came is taken after this look.
        pulse.look(11_850 * MS, bytes + 1);
        assert_eq!(pulse.since_ns(11_900 * MS), 11_850 * MS);
    }

    #[test]
    fn a_server_that_stays_away_costs_its_hosts() {
        let (pulse, bytes) = answering();
        pulse.connected(10_050 * MS, false);
        looked(&pulse, 10_100, 40_000, bytes, false);
        assert_eq!(pulse.since_ns(40_000 * MS), 40_000 * MS);
        looked(&pulse, 40_050, 40_100, bytes, false);
        assert!(pulse.is_gone(40_100 * MS));
        assert_eq!(pulse.since_ns(40_100 * MS), 10_050 * MS);
    }
}
