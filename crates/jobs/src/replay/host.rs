//! How busy this host was while something was replayed.

use counters::{CpuTicks, Sampler};
use replay::HostFigures;

/// Watches the processors that this process may use, and the calling thread.
pub(super) struct Watch {
    sampler: Option<Sampler>,
    cpus: Option<CpuTicks>,
    thread_ns: Option<u64>,
}

impl Watch {
    /// Begins. What the system does not tell stays unknown.
    pub(super) fn begin() -> Self {
        let mut sampler = Sampler::new(Vec::new()).ok();
        let cpus = sampler.as_mut().and_then(ticks);
        Self { sampler, cpus, thread_ns: engine::thread_wanted_ns() }
    }

    /// Notes what this host did since the begin. Call it on the same thread.
    pub(super) fn end(mut self, figures: &mut HostFigures) {
        let thread_ns = engine::thread_wanted_ns().zip(self.thread_ns);
        figures.thread_ns = thread_ns.map(|(after, before)| after.saturating_sub(before));
        let after = self.sampler.as_mut().and_then(ticks);
        figures.idle = self.cpus.zip(after).and_then(|(before, after)| idle(&before, &after));
    }
}

/// Less than this many ticks say too little: they are some 10 ms long.
const TICKS_MIN: u64 = 20;

fn idle(before: &CpuTicks, after: &CpuTicks) -> Option<f64> {
    let since = |of: fn(&CpuTicks) -> u64| of(after).saturating_sub(of(before));
    let (all, busy) = (since(CpuTicks::total), since(CpuTicks::busy));
    (all >= TICKS_MIN).then(|| all.saturating_sub(busy) as f64 / all as f64)
}

/// The times of the processors that this process may use, added up.
fn ticks(sampler: &mut Sampler) -> Option<CpuTicks> {
    let cpus = sampler.sample().ok()?.cpus;
    let allowed = engine::allowed_cpus();
    if allowed.is_empty() {
        return Some(cpus.total);
    }
    let mut sum = CpuTicks::default();
    for core in cpus.cores.iter().filter(|core| allowed.contains(&core.core)) {
        sum.add(&core.ticks);
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_an_io_is_idle_and_stolen_time_is_not() {
        let before = CpuTicks { user: 1000, idle: 1000, ..CpuTicks::default() };
        let of = |idle_ticks, iowait, user, steal| {
            let idle_ticks = before.idle + idle_ticks;
            let (user, iowait, steal) = (before.user + user, Some(iowait), Some(steal));
            let after = CpuTicks { user, idle: idle_ticks, iowait, steal, ..CpuTicks::default() };
            idle(&before, &after)
        };
        assert_eq!(of(50, 50, 50, 50), Some(0.5));
        assert_eq!(of(0, 0, 30, 70), Some(0.0));
        assert_eq!(of(5, 5, 5, 4), None, "too short to say");
    }
}
