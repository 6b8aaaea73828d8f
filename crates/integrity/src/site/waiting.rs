//! A thread's list of its I/Os that are under way, for the watchdog.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Site, nanoseconds};
use crate::waiting::{NAMED_FROM, SlowIo};

/// A thread's report is no older than this. Looking at all of its I/Os whenever it waits would cost
/// more than most of its work.
const TOLD_EVERY_NS: u64 = 1_000_000;

impl Site<'_> {
    /// The same as [`Site::tell_of_long_ios`] now and then.
    pub(super) fn tell_sometimes(&mut self) {
        if self.queue.now() >= self.told_ns.saturating_add(TOLD_EVERY_NS) {
            self.tell_of_long_ios();
        }
    }

    /// Counts I/Os that take too long, each once, and names those that have been under way for some
    /// time.
    pub(super) fn tell_of_long_ios(&mut self) {
        let now = self.queue.now();
        self.told_ns = now;
        let limit = nanoseconds(self.shared.long_io);
        let (mut in_flight, mut oldest_ns) = (0, 0);
        let mut named = Vec::new();
        for busy in self.slots.iter_mut().flatten() {
            let age_ns = now.saturating_sub(busy.issued_ns);
            in_flight += 1;
            oldest_ns = age_ns.max(oldest_ns);
            let age = Duration::from_nanos(age_ns);
            if age >= NAMED_FROM {
                named.push(SlowIo { request: busy.request, age });
            }
            if age_ns >= limit && !busy.told {
                busy.told = true;
                self.shared.long_ios.fetch_add(1, Ordering::Relaxed);
            }
        }
        let before = std::mem::replace(&mut self.named, named.len());
        if before + named.len() > 0 {
            self.shared.names(self.thread, named);
        }
        self.cell().in_flight.set(in_flight);
        self.cell().oldest_ns.set(oldest_ns);
    }
}
