//! The threads of a run, and the workers of each.
//!
//! A worker has one target, and its own figures. An ordinary thread is one worker. A thread of a
//! pool is one worker per target of the stream, all on one queue.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use workload::{Buffers, Pattern, PoolShare, Stream, Workload};

use crate::buffers::BufferPlan;

/// The stream, target and thread of a worker.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Index of the stream in the workload.
    pub stream: usize,
    /// Index of the target in the workload.
    pub target: usize,
    /// Number among the threads of this stream and target; in a pool, among all threads of the
    /// stream.
    pub thread: u32,
}

/// One thread, and the workers that it carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Team {
    /// Index of the stream, or of the first of those that share their threads.
    pub stream: usize,
    /// The streams that the thread works for.
    pub streams: Range<usize>,
    /// Number among all threads of the stream.
    pub rank: u32,
    /// Its workers, by their numbers in the run.
    pub workers: Range<usize>,
}

/// Every worker of a workload, and the teams, in order of stream, target, thread; in a pool of
/// thread, stream, target.
pub(crate) fn teams(workload: &Workload) -> (Vec<Place>, Vec<Team>) {
    let count = workload.targets.len();
    let (mut places, mut teams) = (Vec::new(), Vec::new());
    for crew in workload.crews() {
        let (stream, lead) = (crew.start, &workload.streams[crew.start]);
        let mut team = |rank, members: &mut dyn Iterator<Item = Place>| {
            let first = places.len();
            places.extend(members);
            let (streams, workers) = (crew.clone(), first..places.len());
            teams.push(Team { stream, streams, rank, workers });
        };
        if lead.pool.is_some() {
            for thread in 0..lead.threads {
                let works = |stream: &usize| workload.streams[*stream].weight_for(thread).is_some();
                let mut members = crew.clone().filter(works).flat_map(|stream| {
                    let targets = workload.streams[stream].target_indexes(count).into_iter();
                    targets.map(move |target| Place { stream, target, thread })
                });
                team(thread, &mut members);
            }
            continue;
        }
        let targets = lead.target_indexes(count);
        let threads = targets.iter().flat_map(|&t| (0..lead.threads).map(move |n| (t, n)));
        for (rank, (target, thread)) in (0..).zip(threads) {
            team(rank, &mut std::iter::once(Place { stream, target, thread }));
        }
    }
    (places, teams)
}

/// One cursor per stream and target that share one: the threads of the stream, and streams that do
/// the same I/Os in the same order.
pub(crate) fn cursors(workload: &Workload) -> Vec<Vec<Arc<AtomicU64>>> {
    let mut all: Vec<Vec<Arc<AtomicU64>>> = Vec::new();
    for stream in &workload.streams {
        let mut before = workload.streams.iter().zip(&all);
        let shared = before.find(|(other, _)| goes_on_together(stream, other));
        let cursor = |_| Arc::new(AtomicU64::new(stream.begin_bytes.0));
        let new = || workload.targets.iter().map(cursor).collect();
        let cursors = shared.map_or_else(new, |(_, cursors)| cursors.clone());
        all.push(cursors);
    }
    all
}

/// Whether two streams go through a target with one cursor: both share theirs, and they differ at
/// most in their threads and their speed.
fn goes_on_together(a: &Stream, b: &Stream) -> bool {
    a.pattern == Pattern::SequentialShared && a.diskspd.is_none() && a.does_the_same_as(b)
}

/// What buffers a thread of a stream needs that it shares with no other, of a workload with this
/// many targets.
pub(crate) fn buffer_plan(stream: &Stream, targets: usize) -> BufferPlan {
    BufferPlan {
        depth: u32::try_from(stream.depth_of_thread(targets)).unwrap_or(u32::MAX),
        bytes: u32::try_from(stream.largest_block()).unwrap_or(u32::MAX),
        reads: stream.reads(),
        writes: stream.writes(),
        layout: stream.buffers,
    }
}

/// What buffers one worker of a thread needs that works for all of these streams.
pub(crate) fn joined_plan(streams: &[Stream], depth: u32) -> BufferPlan {
    let largest = streams.iter().map(Stream::largest_block).max().unwrap_or(0);
    BufferPlan {
        depth,
        bytes: u32::try_from(largest).unwrap_or(u32::MAX),
        reads: streams.iter().any(Stream::reads),
        writes: streams.iter().any(Stream::writes),
        layout: streams.first().map_or(Buffers::Single, |s| s.buffers),
    }
}

impl Team {
    /// The buffers that its queue needs.
    pub(crate) fn plan(&self, workload: &Workload, places: &[Place]) -> BufferPlan {
        let streams = &workload.streams[self.streams.clone()];
        let [_, _, ..] = streams else {
            return buffer_plan(&workload.streams[self.stream], workload.targets.len());
        };
        let depths = places[self.workers.clone()].iter().map(|p| workload.streams[p.stream].depth);
        joined_plan(streams, depths.fold(0, u32::saturating_add))
    }

    /// I/Os that it has in flight at most.
    pub(crate) fn in_flight(&self, workload: &Workload, places: &[Place]) -> u64 {
        let lead = &workload.streams[self.stream];
        match lead.pool.as_ref().map(|p| &p.share) {
            Some(PoolShare::Each) => places[self.workers.clone()]
                .iter()
                .map(|p| u64::from(workload.streams[p.stream].depth))
                .fold(0, u64::saturating_add),
            _ => lead.depth.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{
        Arrival, Bytes, Content, Hint, Mode, Pool, PoolShare, Priority, Rate, RateLimit, SyncCall,
        SyncPolicy, Target,
    };

    fn two_targets(stream: Stream) -> Workload {
        let target = |name: &str| Target { path: name.into(), size_bytes: None };
        let mut workload = Workload::single(target("a"), stream);
        workload.targets.push(target("b"));
        workload
    }

    /// CPUs were given in turn to the threads of each target: with a thread for each of eight
    /// targets, all eight were bound to the first CPU.
    #[test]
    fn threads_of_a_stream_are_counted_over_all_of_its_targets() {
        let stream = Stream { threads: 2, ..Stream::default() };
        let mut workload = two_targets(stream.clone());
        workload.streams.push(Stream { targets: vec![1], ..stream });
        let (places, teams) = teams(&workload);
        let rows: Vec<_> = teams
            .iter()
            .map(|t| (t, places[t.workers.start]))
            .map(|(t, p)| (p.stream, p.target, p.thread, t.rank, t.workers.len()))
            .collect();
        let first = [(0, 0, 0, 0, 1), (0, 0, 1, 1, 1), (0, 1, 0, 2, 1), (0, 1, 1, 3, 1)];
        assert_eq!(rows[..4], first);
        assert_eq!(rows[4..], [(1, 1, 0, 0, 1), (1, 1, 1, 1, 1)]);
    }

    /// SQLIO has one position per file, however many lines of its parameter file name it.
    #[test]
    fn streams_that_do_the_same_share_their_cursor() {
        let stream = Stream { pattern: Pattern::SequentialShared, ..Stream::default() };
        let mut workload = two_targets(stream.clone());
        workload.streams.push(Stream { threads: 4, name: "more".to_owned(), ..stream.clone() });
        workload.streams.push(Stream { write_percent: 100, ..stream.clone() });
        workload.streams.push(Stream { span_bytes: Some(Bytes(1 << 20)), ..stream.clone() });
        workload.streams.push(Stream { pattern: Pattern::Sequential, ..stream });
        let cursors = cursors(&workload);
        let same = |a: usize, b: usize| Arc::ptr_eq(&cursors[a][0], &cursors[b][0]);
        assert!(same(0, 1), "the same I/Os");
        for other in 2..5 {
            assert!(!same(0, other), "{:?}", workload.streams[other]);
        }
        assert!(!Arc::ptr_eq(&cursors[0][0], &cursors[0][1]), "each target has its own");
    }

    /// A log that is written through shared its cursor with one that is not: each then skipped what
    /// the other had written.
    #[test]
    fn streams_that_differ_in_what_they_do_have_their_own_cursors() {
        let stream =
            Stream { pattern: Pattern::SequentialShared, write_percent: 100, ..Stream::default() };
        let sync = SyncPolicy { every_writes: 1, call: SyncCall::Fsync };
        let priority = Some(Priority::BestEffort { level: 7 });
        let one = || stream.clone();
        let mut workload = two_targets(one());
        workload.streams.extend([
            Stream { durable: true, ..one() },
            Stream { mode: Some(Mode::Buffered), ..one() },
            Stream { mode: Some(Mode::Buffered), hint: Some(Hint::Random), ..one() },
            Stream { sync: Some(sync), ..one() },
            Stream { buffers: Buffers::Large, ..one() },
            Stream { content: Content::Zero, ..one() },
            Stream { priority, ..one() },
            Stream { targets: vec![0], ..one() },
        ]);
        let cursors = cursors(&workload);
        for (a, b) in (0..cursors.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
            assert!(!Arc::ptr_eq(&cursors[a][0], &cursors[b][0]), "{:?}", workload.streams[b]);
        }
        let rate = Some(Rate { limit: RateLimit::Iops(10.0), arrival: Arrival::Capped });
        workload.streams = vec![
            one(),
            Stream { depth: 8, rate, ..one() },
            Stream { cpus: vec![1], threads: 2, ..one() },
        ];
        let cursors = super::cursors(&workload);
        assert!((1..3).all(|n| Arc::ptr_eq(&cursors[0][0], &cursors[n][0])));
    }

    #[test]
    fn a_thread_of_a_pool_has_a_worker_for_each_target() {
        let pool = Some(Pool { share: PoolShare::Each });
        let workload = two_targets(Stream { threads: 2, pool, ..Stream::default() });
        let (places, teams) = teams(&workload);
        let places: Vec<_> = places.iter().map(|p| (p.thread, p.target)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        let team = |rank: u32| Team {
            stream: 0,
            streams: 0..1,
            rank,
            workers: rank as usize * 2..rank as usize * 2 + 2,
        };
        assert_eq!(teams, [team(0), team(1)]);
    }
}
