//! One run: starts the workers, watches over them, ends on time, and puts the measurement together.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use device::Device;
use results::{Measurement, Status};
use workload::{Content, EngineChoice, Stream, Workload};

use crate::buffers::BufferPlan;
use crate::clock::Clock;
use crate::collect::Collector;
use crate::drive;
use crate::error::EngineError;
use crate::event::{Event, Go, Observer};
use crate::job::{Job, MakeWorker};
use crate::memory;
use crate::offsets::Offsets;
use crate::outcome::{self, Facts};
use crate::pace::Pace;
use crate::platform;
use crate::prepared::{Prepared, PreparedTarget};
use crate::random::{Random, unrepeated};
use crate::recorder::Snapshot;
use crate::shared::{Ending, InFlight};
use crate::silent;
use crate::sim::SimQueue;
use crate::source;
use crate::watch::Watchdog;
use crate::worker::{Message, Timeline, Worker, WorkerPlan};

/// Snapshots of each worker that may be under way.
const SNAPSHOTS: usize = 4;
/// How long I/Os that are in flight at the end of the window are waited for.
const DRAIN_NS: u64 = 5_000_000_000;
/// How long a worker may need beyond that to say that it is done.
const LAST_WORDS_NS: u64 = 500_000_000;
/// An end that is decided on the way lies this much ahead, so that no worker has counted beyond it already.
const SOON_NS: u64 = 1_000_000;
/// The coordinator looks at signals and the watchdog this often.
const LOOK_UP: Duration = Duration::from_millis(20);

/// The backend of one worker: its name, why it was taken, and what it makes use of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backend {
    /// `uring`, `aio`, `sync`, `mmap`, `null` or `sim`.
    pub name: &'static str,
    /// Why this one.
    pub reason: String,
    /// Features in use.
    pub features: Vec<String>,
}

/// Where a worker belongs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Index of the stream.
    pub stream: usize,
    /// Index of the target.
    pub target: usize,
    /// Number among the threads of this stream and target.
    pub thread: u32,
    /// Number among all threads of this stream.
    pub rank: u32,
}

/// Does what the workload says on prepared targets, and measures.
///
/// The result's environment and kernel parts are left empty for whoever knows them, and so is what can be said of its
/// steadiness. `stop` ends the run early; what was measured until then is the result. The observer may end it, too, when it
/// knows enough.
pub fn run(
    workload: &Workload,
    prepared: &Prepared,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Measurement, EngineError> {
    let facts = prepared.facts();
    let mut violations = workload.violations();
    violations.extend(workload.violations_on(&facts));
    if !violations.is_empty() {
        return Err(EngineError::Invalid(violations));
    }
    memory::check(workload)?;
    let started = jiff::Timestamp::now();
    let sources = source::load(workload)?;
    let mut run = Run::new(workload, prepared, sources);
    let mut facts = if workload.engine == EngineChoice::Sim {
        run.simulate(stop, observer)?
    } else {
        run.perform(stop, observer)?
    };
    run.leave_out_warm_up(&mut facts, observer);
    Ok(outcome::measurement(workload, prepared, run.collector, &run.places, &facts, started))
}

/// A run in the making.
struct Run<'a> {
    workload: &'a Workload,
    prepared: &'a Prepared,
    places: Vec<Place>,
    collector: Collector,
    receiver: Receiver<Message>,
    sender: SyncSender<Message>,
    /// For each stream: what its writes are parts of.
    sources: Vec<Arc<Vec<u8>>>,
    empties: Vec<Receiver<Box<Snapshot>>>,
    watched: Vec<Arc<InFlight>>,
    ending: Arc<Ending>,
    /// CPU time of the process at the ends of the intervals, where the window may begin later in the end.
    cpu_at: Vec<(f64, f64)>,
}

impl<'a> Run<'a> {
    fn new(workload: &'a Workload, prepared: &'a Prepared, sources: Vec<Arc<Vec<u8>>>) -> Self {
        let places = places(workload);
        let (mut returns, mut empties, mut watched) = (Vec::new(), Vec::new(), Vec::new());
        for (number, place) in places.iter().enumerate() {
            let stream = &workload.streams[place.stream];
            let (give, take) = sync_channel(SNAPSHOTS);
            for _ in 1..SNAPSHOTS {
                let _ = give.try_send(Box::new(Snapshot::new(number, stream.is_open_loop())));
            }
            returns.push(give);
            empties.push(take);
            watched.push(Arc::new(InFlight::new(stream.depth)));
        }
        // Room for every snapshot there is and the last words, so that no worker ever finds it full.
        let (sender, receiver) = sync_channel(places.len() * (SNAPSHOTS + 3));
        let in_parts = workload.precision.is_some();
        let collector = Collector::new(returns, workload.interval_ns.0, in_parts);
        let (ending, cpu_at) = (Arc::new(Ending::at(u64::MAX)), Vec::new());
        Self {
            workload,
            prepared,
            places,
            collector,
            receiver,
            sender,
            sources,
            empties,
            watched,
            ending,
            cpu_at,
        }
    }

    /// What the observer takes for warm-up at the beginning of the window is left out of every figure.
    fn leave_out_warm_up(&mut self, facts: &mut Facts, observer: &mut dyn Observer) {
        // An I/O that never returned has been in flight in the part that would be cut, too.
        let ends = || self.collector.workers.iter().filter_map(|w| w.end.as_ref());
        let may_cut =
            self.workload.precision.is_some() && ends().all(|e| e.unfinished.ages_ns.is_empty());
        let asked = if may_cut { observer.warm_up_s() } else { 0.0 };
        let cut_ns = self.collector.finish(workload::Nanoseconds::from_seconds(asked).0);
        if cut_ns > 0 {
            let intervals = cut_ns / self.workload.interval_ns.0;
            let last = usize::try_from(intervals).unwrap_or(usize::MAX) - 1;
            facts.cut(cut_ns, self.cpu_at.get(last).copied());
        }
    }

    /// Takes one message of a worker, and shows the intervals that it completes. True when the observer knows enough.
    fn take(&mut self, message: Message, timeline: Timeline, observer: &mut dyn Observer) -> bool {
        match message {
            Message::Snapshot(snapshot) => self.collector.take(snapshot),
            Message::Done(end) => self.collector.finished(*end),
            Message::Ready(_) => {}
        }
        let window_s = self.ending.ns().saturating_sub(timeline.window_ns) as f64 / 1e9;
        let mut enough = false;
        for point in self.collector.close_intervals() {
            if self.workload.precision.is_some() {
                self.cpu_at.extend(platform::process_cpu());
            }
            // A last, shorter interval is not shown live; the result has it with its true length.
            if point.t <= window_s + 1e-9 {
                let seconds_left = (window_s - point.t).max(0.0);
                enough |= observer.event(&Event::Interval { point, seconds_left }) == Go::Enough;
            }
        }
        enough
    }

    fn timeline(&self, start_ns: u64) -> Timeline {
        let warmup = workload::Nanoseconds::from_seconds(self.workload.warmup_seconds).0;
        let interval_ns = self.workload.interval_ns.0;
        Timeline { start_ns, window_ns: start_ns + warmup, interval_ns, drain_ns: DRAIN_NS }
    }

    fn window_ns(&self) -> u64 {
        workload::Nanoseconds::from_seconds(self.workload.seconds).0
    }

    /// Ends the window at this moment, and the run when what follows the window is over.
    fn end_window(&self, end_ns: u64) {
        let cooldown = workload::Nanoseconds::from_seconds(self.workload.cooldown_seconds).0;
        self.ending.end_window(end_ns, cooldown);
    }

    /// Ends the run now if it has been asked to; true where that cuts the window.
    fn stop_if_asked(&self, stop: &AtomicBool, now: u64) -> bool {
        if !stop.load(Ordering::Relaxed) || now >= self.ending.stop_ns() {
            return false;
        }
        let cuts = now < self.ending.ns();
        self.ending.end_now(now);
        cuts
    }

    /// For each worker, what makes it, in its thread.
    fn worker_makers(&mut self) -> Vec<MakeWorker> {
        let cursors = cursors(self.workload);
        let mut makers: Vec<MakeWorker> = Vec::new();
        let empties = std::mem::take(&mut self.empties);
        for ((number, place), empties) in self.places.iter().copied().enumerate().zip(empties) {
            let mut stream = self.workload.streams[place.stream].clone();
            let cursor = Arc::clone(&cursors[place.stream][place.target]);
            let size = self.prepared.targets()[place.target].size_bytes();
            let offsets = Offsets::new(&stream, size, place.thread, &cursor);
            let same = |p: &&Place| p.stream == place.stream;
            let workers = self.places.iter().filter(same).count() as u64;
            let random = Random::new(self.workload.seed, number as u64);
            let diskspd_seed = self.workload.seed.wrapping_add(number as u64);
            let (ending, in_flight) = (Arc::clone(&self.ending), Arc::clone(&self.watched[number]));
            let (sender, on_error) = (self.sender.clone(), self.workload.on_error);
            let simulated = self.workload.engine == EngineChoice::Sim;
            if simulated {
                // Nobody sees what is written, so it need not be made.
                stream.content = Content::Zero;
            }
            let source = Arc::clone(&self.sources[place.stream]);
            let content_seed = unrepeated(self.workload.seed, number as u64);
            makers.push(Box::new(move || {
                Worker::new(WorkerPlan {
                    worker: number,
                    stream: &stream,
                    offsets,
                    pace: Pace::new(&stream, place.rank.into(), workers),
                    random,
                    diskspd_seed,
                    content_seed,
                    source,
                    on_error,
                    ending,
                    in_flight,
                    sender,
                    empties,
                    thread_cpu_ns: if simulated { || None } else { platform::thread_cpu_ns },
                })
            }));
        }
        makers
    }

    /// All workers in this thread, on a virtual clock.
    fn simulate(
        &mut self,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<Facts, EngineError> {
        let model = self.workload.sim.clone().unwrap_or_default();
        let sizes = self.prepared.targets().iter().map(PreparedTarget::size_bytes);
        let sizes: Vec<u64> = sizes.collect();
        let device = Rc::new(RefCell::new(Device::new(&model, &sizes, self.workload.seed)));
        let clock = Rc::new(Cell::new(0));
        // The virtual clock starts at 1, so that a time of zero can mean "none".
        let timeline = self.timeline(1);
        clock.set(timeline.start_ns);
        self.end_window(timeline.window_ns + self.window_ns());
        let mut workers = Vec::new();
        for (number, make) in self.worker_makers().into_iter().enumerate() {
            let place = self.places[number];
            let stream = &self.workload.streams[place.stream];
            let plan = buffer_plan(stream);
            let queue = SimQueue::new(&device, &clock, plan, vec![place.target], stream.durable)
                .map_err(|e| memory_error(plan, e))?;
            let mut worker = make();
            worker.start_at(timeline);
            workers.push((worker, queue));
        }
        let backend = Backend { name: "sim", reason: "asked for".into(), features: Vec::new() };
        let mut facts = Facts::new(vec![backend; workers.len()], "virtual", timeline);
        observer.event(&Event::WarmingUp { seconds: self.workload.warmup_seconds });
        let mut watch = Watchdog::new(&self.watched);
        let mut began = false;
        drive::drive_simulated(workers, &clock, |now| {
            if !began && now >= timeline.window_ns {
                began = true;
                observer.event(&Event::WindowBegan { seconds: self.workload.seconds });
            }
            if self.stop_if_asked(stop, now) {
                facts.status = Status::Interrupted;
            }
            watch.look(now, observer);
            while let Ok(message) = self.receiver.try_recv() {
                if self.take(message, timeline, observer) {
                    self.end_window(now + SOON_NS);
                }
            }
        });
        while let Ok(message) = self.receiver.try_recv() {
            self.take(message, timeline, observer);
        }
        observer.event(&Event::WindowEnded);
        facts.end(&self.ending, &self.collector.workers, watch.over_15_s());
        Ok(facts)
    }

    /// Each worker in a thread of its own.
    fn perform(
        &mut self,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<Facts, EngineError> {
        let choices = self.choose()?;
        let mut starts = Vec::new();
        for (number, make) in self.worker_makers().into_iter().enumerate() {
            let place = self.places[number];
            let (go, wait_for_go) = sync_channel(1);
            starts.push(go);
            let job = Job { make_worker: make, go: wait_for_go, sender: self.sender.clone() };
            let stream = &self.workload.streams[place.stream];
            let target = &self.prepared.targets()[place.target];
            let plan = buffer_plan(stream);
            let choice = choices[place.stream][place.target].clone();
            platform::spawn(self.workload, stream, place, target, plan, choice, job)?;
        }
        let backends = self.wait_until_ready(starts.len())?;
        let clock = Clock::get();
        let timeline = self.timeline(clock.now() + 1_000_000);
        self.end_window(timeline.window_ns + self.window_ns());
        for go in starts {
            let _ = go.send(timeline);
        }
        observer.event(&Event::WarmingUp { seconds: self.workload.warmup_seconds });
        let facts = Facts::new(backends, clock.name(), timeline);
        Ok(self.watch(facts, stop, observer))
    }

    /// The backend of each stream on each target.
    fn choose(&self) -> Result<Vec<Vec<platform::Choice>>, EngineError> {
        let targets = self.prepared.targets();
        let choose = |stream: &Stream| {
            targets.iter().map(|t| platform::choose(self.workload, stream, t)).collect()
        };
        self.workload.streams.iter().map(choose).collect()
    }

    fn wait_until_ready(&self, workers: usize) -> Result<Vec<Backend>, EngineError> {
        let mut backends = Vec::new();
        while backends.len() < workers {
            match self.receiver.recv() {
                Ok(Message::Ready(ready)) => backends.push(ready?),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        Ok(backends)
    }

    /// Sees the run through its phases, until every worker is done or has been given up.
    fn watch(&mut self, mut facts: Facts, stop: &AtomicBool, observer: &mut dyn Observer) -> Facts {
        let clock = Clock::get();
        let timeline = facts.timeline;
        let mut watch = Watchdog::new(&self.watched);
        let (mut began, mut ended) = (false, false);
        while !self.collector.all_finished() {
            let now = clock.now();
            if self.stop_if_asked(stop, now) {
                facts.status = Status::Interrupted;
            }
            let end = self.ending.ns();
            if !began && now >= timeline.window_ns {
                began = true;
                facts.cpu_at_begin = platform::process_cpu();
                observer.event(&Event::WindowBegan { seconds: self.workload.seconds });
            }
            if !ended && now >= end {
                ended = true;
                facts.cpu_at_end = platform::process_cpu();
                observer.event(&Event::WindowEnded);
            }
            let stopped = self.ending.stop_ns();
            if now >= stopped.saturating_add(timeline.drain_ns + LAST_WORDS_NS) {
                break;
            }
            watch.look(now, observer);
            let next = if began { end } else { timeline.window_ns.min(end) };
            let pause = Duration::from_nanos(next.saturating_sub(now).max(1));
            let pause = if ended { LOOK_UP } else { pause.min(LOOK_UP) };
            match self.receiver.recv_timeout(pause) {
                Ok(message) => {
                    if self.take(message, timeline, observer) {
                        self.end_window(clock.now() + SOON_NS);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if !ended {
            facts.cpu_at_end = platform::process_cpu();
            observer.event(&Event::WindowEnded);
        }
        let now = clock.now();
        silent::give_up(&mut self.collector, &self.watched, timeline, self.ending.ns(), now);
        facts.end(&self.ending, &self.collector.workers, watch.over_15_s());
        facts
    }
}

/// Every worker of a workload, in order of stream, target, thread.
fn places(workload: &Workload) -> Vec<Place> {
    let count = workload.targets.len();
    let mut places = Vec::new();
    for (stream, s) in workload.streams.iter().enumerate() {
        let threads =
            s.target_indexes(count).into_iter().flat_map(|t| (0..s.threads).map(move |n| (t, n)));
        let place = |(rank, (target, thread))| Place { stream, target, thread, rank };
        places.extend((0..).zip(threads).map(place));
    }
    places
}

/// One cursor for each stream and target, for those who share it.
fn cursors(workload: &Workload) -> Vec<Vec<Arc<AtomicU64>>> {
    let targets = || workload.targets.iter().map(|_| Arc::default()).collect();
    workload.streams.iter().map(|_| targets()).collect()
}

/// What buffers a worker of a stream needs.
pub(crate) fn buffer_plan(stream: &Stream) -> BufferPlan {
    BufferPlan {
        depth: stream.depth,
        bytes: u32::try_from(stream.largest_block()).unwrap_or(u32::MAX),
        reads: stream.reads(),
        writes: stream.writes(),
        layout: stream.buffers,
    }
}

/// The error for a queue whose memory cannot be had.
pub(crate) fn memory_error(plan: BufferPlan, source: std::io::Error) -> EngineError {
    EngineError::Memory { depth: plan.depth, bytes: plan.bytes, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Target;

    /// CPUs were given in turn to the threads of each target: with a thread for each of eight targets, all eight were
    /// bound to the first CPU.
    #[test]
    fn threads_of_a_stream_are_counted_over_all_of_its_targets() {
        let target = |name: &str| Target { path: name.into(), size_bytes: None };
        let stream = Stream { threads: 2, ..Stream::default() };
        let mut workload = Workload::single(target("a"), stream.clone());
        workload.targets.push(target("b"));
        workload.streams.push(Stream { targets: vec![1], ..stream });
        let places: Vec<_> =
            places(&workload).iter().map(|p| (p.stream, p.target, p.thread, p.rank)).collect();
        let first = [(0, 0, 0, 0), (0, 0, 1, 1), (0, 1, 0, 2), (0, 1, 1, 3)];
        assert_eq!(places[..4], first);
        assert_eq!(places[4..], [(1, 1, 0, 0), (1, 1, 1, 1)]);
    }
}
