//! The busiest windows of a trace.

use std::collections::BTreeMap;

use crate::io::{Io, Kind};

/// Parts of a window: it begins at one of these.
const STEPS: u64 = 16;
/// Parts of the time that are counted; what is after more of them is not.
const PARTS_MAX: usize = 1 << 20;

/// Counts I/Os over time, to find the windows with the most of them.
#[derive(Debug)]
pub struct BusiestWindows {
    window_ns: u64,
    step_ns: u64,
    /// When the last I/O was issued.
    end_ns: u64,
    parts: BTreeMap<u64, u64>,
}

impl BusiestWindows {
    /// Starts with no I/O. Every window will have this length.
    #[must_use]
    pub fn new(window_ns: u64) -> Self {
        let step_ns = (window_ns / STEPS).max(1);
        Self { window_ns, step_ns, end_ns: 0, parts: BTreeMap::new() }
    }

    /// Adds an I/O. Discards do not count.
    pub fn add(&mut self, io: &Io) {
        let part = io.issued_ns / self.step_ns;
        self.end_ns = self.end_ns.max(io.issued_ns);
        let has_room = self.parts.len() < PARTS_MAX || self.parts.contains_key(&part);
        if io.kind != Kind::Discard && has_room {
            *self.parts.entry(part).or_default() += 1;
        }
    }

    /// The begins of at most `count` windows that do not overlap, in nanoseconds from the start of
    /// the trace, the busiest first. A trace that is no longer than a window has one, at 0.
    #[must_use]
    pub fn finish(mut self, count: usize) -> Vec<u64> {
        if self.end_ns < self.window_ns {
            return vec![0];
        }
        let mut found = Vec::new();
        // None ends after the trace.
        let latest = (self.end_ns - self.window_ns) / self.step_ns;
        while found.len() < count {
            let Some((begin, ios)) = self.busiest(latest) else { break };
            if ios == 0 {
                break;
            }
            self.taken(begin);
            found.push(begin.saturating_mul(self.step_ns));
        }
        found
    }

    /// Marks the parts of a window that was chosen: no other window may have one.
    fn taken(&mut self, begin: u64) {
        for part in begin..begin.saturating_add(STEPS) {
            self.parts.insert(part, u64::MAX);
        }
    }

    /// The window with the most I/Os that has no part of another.
    fn busiest(&self, latest: u64) -> Option<(u64, u64)> {
        let begins = self.parts.keys().flat_map(|part| [part.saturating_sub(STEPS - 1), *part]);
        let sum = |begin: u64| -> Option<(u64, u64)> {
            let begin = begin.min(latest);
            let mut ios = 0_u64;
            for (_, count) in self.parts.range(begin..begin.saturating_add(STEPS)) {
                if *count == u64::MAX {
                    return None;
                }
                ios += count;
            }
            Some((begin, ios))
        };
        begins.filter_map(sum).max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))
    }
}
