//! What of a replay is the work of this host: a step that fails because the host is too slow says
//! nothing about the storage.
//!
//! The replay either waits (for a completion, or for the time at which an I/O is due) or works. An
//! I/O that is late although a slot was free is late because of that work, and so is a completion
//! that lay there meanwhile. Where slots are what is short, the one that is busy all the time is
//! the bottleneck: the replay if it never waits, or else the target.

use results::Histogram;

use crate::outcome::{PARTS, SETS};

/// A replay that worked for this share of the time in which slots were short is the bottleneck.
const BOTTLENECK: f64 = 0.9;
/// The processors are the bottleneck where they were idle for less than this share of the time.
const IDLE_MIN: f64 = 0.05;
/// A thread that neither ran nor waited for a processor for this share of its work was blocked in
/// the I/O engine, which is not the host's fault.
const AT_WORK_MIN: f64 = 0.5;

/// What the host added to a replay, and how busy it was.
#[derive(Debug, Clone, Default)]
pub struct HostFigures {
    /// Latency from due of each third of the replay, by set, without what the host added.
    pub parts: [[Histogram; SETS]; PARTS],
    /// How late the last I/O would have been issued.
    pub backlog_ns: u64,
    /// How long the replay would have taken.
    pub elapsed_ns: u64,
    /// Time in which the replay worked: it waited neither for the target nor for a due time.
    pub working_ns: u64,
    /// For how much of that its thread ran or waited for a processor, where the system tells.
    pub thread_ns: Option<u64>,
    /// The share of the time in which the processors were idle, where the system tells.
    pub idle: Option<f64>,
}

impl HostFigures {
    /// Whether the processors that this process may use were busy all the time.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        self.idle.is_some_and(|share| share < IDLE_MIN)
    }

    /// Whether the work of the replay was that of the host, and not of an I/O engine that blocks.
    pub(crate) fn is_its_work(&self) -> bool {
        self.thread_ns.is_none_or(|ns| ns as f64 >= AT_WORK_MIN * self.working_ns as f64)
    }
}

/// Tells work from waiting while a replay goes on.
#[derive(Debug, Default)]
pub(crate) struct Share {
    looked_ns: u64,
    waited_ns: u64,
    /// Work since completions were last looked for, and whether there was nothing else.
    since_ns: u64,
    is_all_work: bool,
    working_ns: u64,
    is_behind: bool,
    /// Work and all time since slots became short.
    behind: (u64, u64),
    last_ns: u64,
}

impl Share {
    pub(crate) fn begin(&mut self, now: u64) {
        (self.looked_ns, self.last_ns) = (now, now);
    }

    /// Notes how long the thread has waited since its last look.
    pub(crate) fn waited(&mut self, ns: u64) {
        self.waited_ns = ns;
    }

    /// Notes that the thread looks for completions now: its time since the last look was work or
    /// wait.
    pub(crate) fn looked(&mut self, now: u64) {
        let all_ns = now.saturating_sub(self.looked_ns);
        self.since_ns = all_ns.saturating_sub(self.waited_ns);
        self.is_all_work = self.since_ns as f64 >= BOTTLENECK * all_ns as f64;
        self.working_ns += self.since_ns;
        if self.is_behind {
            self.behind = (self.behind.0 + self.since_ns, self.behind.1 + all_ns);
        }
        (self.looked_ns, self.waited_ns) = (now, 0);
    }

    /// Whether an I/O is due and has no slot.
    pub(crate) fn behind(&mut self, is_behind: bool) {
        self.is_behind = is_behind;
        if !is_behind {
            self.behind = (0, 0);
        }
    }

    /// Whether what is late now is so because the target keeps the slots, and not because the
    /// replay is never done with its work.
    pub(crate) fn is_for_slots(&self) -> bool {
        let (working_ns, all_ns) = self.behind;
        self.is_behind && (working_ns as f64) < BOTTLENECK * all_ns.max(1) as f64
    }

    /// For how long a completion that is found now lay there: after a round of nothing but work,
    /// as long as that if it was issued before, and on average half of the work otherwise.
    pub(crate) fn noticing_ns(&self) -> u64 {
        if self.is_all_work { self.since_ns } else { self.since_ns / 2 }
    }

    /// When an I/O would have completed.
    pub(crate) fn completed(&mut self, at_ns: u64) {
        self.last_ns = self.last_ns.max(at_ns);
    }

    pub(crate) fn finish(&self, start_ns: u64, figures: &mut HostFigures) {
        figures.elapsed_ns = self.last_ns.saturating_sub(start_ns).max(1);
        figures.working_ns = self.working_ns;
    }
}
