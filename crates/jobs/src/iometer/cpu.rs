//! What the processors of this host do in a window, in IOMeter's words.

use counters::{CpuCounters, CpuTicks, Sampler};
use dialects::iometer::result::{CpuShares, HostCpu};
use engine::Event;

/// Looks at the processors at both ends of a window.
pub(super) struct Processors {
    sampler: Option<Sampler>,
    began: Option<CpuCounters>,
    ended: Option<CpuCounters>,
}

impl Processors {
    /// Watches nothing if no real storage does the I/O.
    pub(super) fn new(is_artificial: bool) -> Self {
        let sampler = if is_artificial { None } else { Sampler::new(Vec::new()).ok() };
        Self { sampler, began: None, ended: None }
    }

    /// Hears what happens in a run.
    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::WindowBegan { .. } => (self.began, self.ended) = (self.sample(), None),
            Event::WindowEnded => self.ended = self.sample(),
            _ => {}
        }
    }

    /// What they did in the last window.
    pub(super) fn shares(&self) -> HostCpu {
        let (Some(began), Some(ended)) = (&self.began, &self.ended) else {
            return HostCpu::default();
        };
        let each = ended.cores.iter().filter_map(|now| {
            let before = began.cores.iter().find(|core| core.core == now.core)?;
            Some((now.core, shares(&before.ticks, &now.ticks)))
        });
        HostCpu { all: shares(&began.total, &ended.total), each: each.collect() }
    }

    fn sample(&mut self) -> Option<CpuCounters> {
        self.sampler.as_mut()?.sample().ok().map(|sample| sample.cpus)
    }
}

/// Percent of the time between two readings.
fn shares(from: &CpuTicks, to: &CpuTicks) -> CpuShares {
    let all = to.total().saturating_sub(from.total());
    let percent = |of: fn(&CpuTicks) -> u64| {
        let ticks = of(to).saturating_sub(of(from)).min(all);
        if all == 0 { 0.0 } else { 100.0 * ticks as f64 / all as f64 }
    };
    CpuShares {
        busy: percent(CpuTicks::busy),
        user: percent(|t| t.user.saturating_add(t.nice)),
        privileged: percent(|t| t.system),
        deferred: percent(|t| t.softirq),
        interrupt: percent(|t| t.irq),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_between() {
        let from = CpuTicks { user: 100, idle: 100, ..CpuTicks::default() };
        let to = CpuTicks { user: 150, system: 20, softirq: 5, irq: 5, idle: 220, ..from };
        let shares = shares(&from, &to);
        assert_eq!((shares.busy, shares.user, shares.privileged), (40.0, 25.0, 10.0));
        assert_eq!((shares.deferred, shares.interrupt), (2.5, 2.5));
        assert_eq!(super::shares(&to, &to), CpuShares::default());
    }
}
