//! What each worker does, for live views while it runs. Nothing of it is in a result.
//!
//! It is made from the snapshots that the coordinator gets anyway, so workers do nothing for it.

use std::sync::Arc;

use workload::Workload;

use crate::event::{Event, WorkerNames, WorkerPoint};
use crate::recorder::{Snapshot, Span};
use crate::teams::Place;

/// Time of the window between two looks.
const EVERY_NS: u64 = 1_000_000_000;
/// If workers are held up and the others are this far ahead, the view is shown without the late
/// ones.
const PATIENCE_NS: u64 = 500_000_000;

/// What one worker did since the last look.
#[derive(Debug, Clone, Copy, Default)]
struct Recent {
    /// The begin of the time for which the counts stand.
    from_ns: u64,
    /// The end of that time.
    until_ns: u64,
    ios: u64,
    bytes: u64,
    errors: u64,
    latency_sum_ns: f64,
    latencies: u64,
    max_ns: Option<u64>,
}

/// What all workers did since the last look.
#[derive(Debug)]
pub(crate) struct Glance {
    names: Arc<WorkerNames>,
    places: Vec<Place>,
    recent: Vec<Recent>,
    /// When the next look is due, from the beginning of the window.
    due_ns: u64,
    /// Workers that have gone past it.
    past: usize,
    /// How far the first of them is.
    newest_ns: u64,
}

impl Glance {
    /// A view in which nothing is counted yet.
    pub(crate) fn new(workload: &Workload, places: &[Place]) -> Self {
        let names = WorkerNames {
            streams: workload.streams.iter().map(|s| s.name.clone()).collect(),
            targets: workload.targets.iter().map(|t| t.path.clone()).collect(),
        };
        Self {
            names: Arc::new(names),
            places: places.to_vec(),
            recent: vec![Recent::default(); places.len()],
            due_ns: EVERY_NS,
            past: 0,
            newest_ns: 0,
        }
    }

    /// Adds the counts that a worker sent.
    pub(crate) fn add(&mut self, snapshot: &Snapshot) {
        let Some(recent) = self.recent.get_mut(snapshot.worker) else { return };
        if snapshot.span == Span::WarmUp {
            return;
        }
        let was_past = recent.until_ns >= self.due_ns;
        recent.until_ns = snapshot.until_ns;
        self.past += usize::from(!was_past && recent.until_ns >= self.due_ns);
        self.newest_ns = self.newest_ns.max(snapshot.until_ns);
        // Reads and writes; a flush is not an I/O of the workload.
        for tally in snapshot.tallies.iter().take(2) {
            recent.ios += tally.ios;
            recent.bytes += tally.bytes;
            recent.errors += tally.errors;
            let latencies = tally.latency.count();
            recent.latency_sum_ns += tally.latency.mean().unwrap_or(0.0) * latencies as f64;
            recent.latencies += latencies;
            recent.max_ns = recent.max_ns.max(tally.latency.max());
        }
    }

    /// What the workers did, once a second of the window.
    pub(crate) fn due(&mut self) -> Option<Event> {
        let late = self.newest_ns >= self.due_ns.saturating_add(PATIENCE_NS);
        if self.past < self.recent.len() && !late {
            return None;
        }
        let newest_ns = self.newest_ns;
        let points = self.recent.iter().zip(&self.places);
        let points = points.map(|(recent, place)| recent.point(*place, newest_ns)).collect();
        for recent in &mut self.recent {
            let known_ns = recent.until_ns.max(recent.from_ns);
            *recent = Recent { from_ns: known_ns, until_ns: known_ns, ..Recent::default() };
        }
        self.due_ns = newest_ns.saturating_add(EVERY_NS);
        self.past = 0;
        Some(Event::Workers { names: Arc::clone(&self.names), points })
    }
}

impl Recent {
    fn point(&self, place: Place, newest_ns: u64) -> WorkerPoint {
        // Of a worker that is held up, nothing is known but that it has counted nothing since.
        let until_ns = if self.until_ns > self.from_ns { self.until_ns } else { newest_ns };
        let seconds = until_ns.saturating_sub(self.from_ns).max(1) as f64 / 1e9;
        WorkerPoint {
            stream: place.stream,
            target: place.target,
            thread: place.thread,
            iops: self.ios as f64 / seconds,
            mib_per_s: self.bytes as f64 / (1_048_576.0 * seconds),
            mean_ns: (self.latencies > 0).then(|| self.latency_sum_ns / self.latencies as f64),
            max_ns: self.max_ns,
            errors: self.errors,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Stream, Target};

    fn glance() -> Glance {
        let target = |path: &str| Target { path: path.into(), size_bytes: None };
        let workload = Workload {
            targets: vec![target("/a"), target("/b")],
            ..Workload::single(target("/a"), Stream::default())
        };
        let (places, _) = crate::teams::teams(&workload);
        Glance::new(&workload, &places)
    }

    fn snapshot(worker: usize, until_ns: u64, ios: u64) -> Snapshot {
        let mut snapshot = Snapshot::new(worker, false);
        snapshot.span = Span::Interval(0);
        snapshot.until_ns = until_ns;
        (0..ios).for_each(|_| snapshot.tallies[0].record(1 << 20, 0, 0, 2_000));
        snapshot
    }

    fn points(event: Option<Event>) -> Option<Vec<WorkerPoint>> {
        match event {
            Some(Event::Workers { points, .. }) => Some(points.to_vec()),
            _ => None,
        }
    }

    #[test]
    fn rates_are_those_of_each_workers_own_time() {
        let mut glance = glance();
        glance.add(&snapshot(0, 1_000_000_000, 10));
        assert_eq!(glance.due(), None, "one of two is not past the second yet");
        glance.add(&snapshot(1, 2_000_000_000, 40));
        let seen = points(glance.due()).unwrap_or_default();
        assert_eq!(seen.iter().map(|p| p.target).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(seen.iter().map(|p| p.iops).collect::<Vec<_>>(), [10.0, 20.0]);
        assert_eq!(seen.iter().map(|p| p.mib_per_s).collect::<Vec<_>>(), [10.0, 20.0]);
        assert!(seen.iter().all(|p| p.max_ns == Some(2_000) && p.mean_ns.is_some()));
        assert_eq!(glance.due(), None, "nothing is shown twice");
        glance.add(&snapshot(0, 3_000_000_000, 10));
        glance.add(&snapshot(1, 3_000_000_000, 10));
        let seen = points(glance.due()).unwrap_or_default();
        assert_eq!(seen.iter().map(|p| p.iops).collect::<Vec<_>>(), [5.0, 10.0]);
    }

    #[test]
    fn a_worker_that_is_held_up_is_shown_with_nothing() {
        let mut glance = glance();
        glance.add(&snapshot(0, 1_400_000_000, 14));
        assert_eq!(glance.due(), None, "the other may be on its way");
        glance.add(&snapshot(0, 2_000_000_000, 6));
        let seen = points(glance.due()).unwrap_or_default();
        assert_eq!(seen.iter().map(|p| p.iops).collect::<Vec<_>>(), [10.0, 0.0]);
        assert_eq!(seen.last().and_then(|p| p.max_ns), None);
    }
}
