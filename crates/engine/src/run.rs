//! One run: starts the workers, watches over them, ends on time, and puts the measurement together.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use device::Device;
use results::{Measurement, Status};
use workload::{Content, EngineChoice, Mode, OnError, PoolShare, Stream, Workload};

use crate::begin::Beginning;
use crate::buffers::BufferPlan;
use crate::clock::Clock;
use crate::collect::Collector;
use crate::crew::{Crew, Machine};
use crate::drive;
use crate::error::EngineError;
use crate::event::{Event, Go, Observer};
use crate::glance::Glance;
use crate::job::{Job, MakeCrew};
use crate::late::LateWaits;
use crate::memory;
use crate::mix::Seek;
use crate::offsets::Offsets;
use crate::outcome::{self, Facts};
use crate::pace::Pace;
use crate::platform;
use crate::pool::Pool;
use crate::prepared::{Prepared, PreparedTarget};
use crate::random::{Random, unrepeated};
use crate::recorder::Snapshot;
use crate::shared::{Ending, InFlight};
use crate::silent;
use crate::sim::SimQueue;
use crate::source;
use crate::teams::{Place, Team, cursors, teams};
use crate::watch::Watchdog;
use crate::worker::{Message, Timeline, Worker, WorkerPlan};
use crate::write_out;

/// Snapshots of each worker that may be under way: at least so many, more of short intervals, so
/// that they cover this time, and never more than the most.
const SNAPSHOTS: (usize, usize) = (4, 32);
const SNAPSHOTS_COVER_NS: u64 = 64_000_000;
/// How long I/Os that are in flight at the end of the window are waited for.
const DRAIN_NS: u64 = 5_000_000_000;
/// How long a worker may need beyond that to say that it is done.
const LAST_WORDS_NS: u64 = 500_000_000;
/// Threads are given this long to hear when the run begins.
const START_NS: u64 = 1_000_000;
/// A new end of the window is this far ahead, so that no worker has counted beyond it already.
const SOON_NS: u64 = 1_000_000;
/// The coordinator looks at signals and the watchdog this often.
const LOOK_UP: Duration = Duration::from_millis(20);

/// The backend of one worker: its name, why it was taken, and what it makes use of.
#[derive(Debug, Clone)]
pub struct Backend {
    /// `uring`, `aio`, `iocp`, `sync`, `mmap`, `null` or `sim`.
    pub name: &'static str,
    /// Why this backend was chosen, in words for the user.
    pub reason: String,
    /// Features of the backend that are in use.
    pub features: Vec<String>,
    /// How late its waits are ended, while it works; `None` if no timer ends them.
    pub late: Option<Arc<LateWaits>>,
}

/// Runs a workload on prepared targets, and measures.
///
/// The caller fills in the result's environment, its kernel figures and its steadiness. `stop` ends
/// the run early; the result then holds what was measured until then. The observer may end the run,
/// too, when it knows enough.
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
    let sources = source::load(workload)?;
    let mut run = Run::new(workload, prepared, sources);
    let mut facts = if workload.engine == EngineChoice::Sim {
        run.simulate(stop, observer)?
    } else {
        run.perform(stop, observer)?
    };
    run.leave_out_warm_up(&mut facts, observer);
    if facts.status == Status::Complete && workload.mode != Mode::Direct {
        facts.lost(write_out::lost(prepared, &run.collector.workers, &run.places, stop));
    }
    let started = run.beginning.started;
    Ok(outcome::measurement(workload, prepared, run.collector, &run.places, &facts, started))
}

/// What a worker is made from, apart from what it shares with the others of its thread.
struct Member {
    number: usize,
    offsets: Offsets,
    pace: Pace,
    content_seed: u64,
    source: Arc<Vec<u8>>,
    on_error: OnError,
    ending: Arc<Ending>,
    in_flight: Arc<InFlight>,
    sender: SyncSender<Message>,
    empties: Receiver<Box<Snapshot>>,
    thread_cpu_ns: fn() -> Option<u64>,
}

impl Member {
    fn worker(self, stream: &Stream, random: Random) -> Worker {
        Worker::new(WorkerPlan {
            worker: self.number,
            stream,
            offsets: self.offsets,
            pace: self.pace,
            random,
            content_seed: self.content_seed,
            source: self.source,
            on_error: self.on_error,
            ending: self.ending,
            in_flight: self.in_flight,
            sender: self.sender,
            empties: self.empties,
            thread_cpu_ns: self.thread_cpu_ns,
        })
    }
}

/// The state of a run while it lasts.
struct Run<'a> {
    workload: &'a Workload,
    prepared: &'a Prepared,
    places: Vec<Place>,
    teams: Vec<Team>,
    collector: Collector,
    glance: Glance,
    receiver: Receiver<Message>,
    sender: SyncSender<Message>,
    /// For each stream: what its writes are parts of.
    sources: Vec<Arc<Vec<u8>>>,
    empties: Vec<Receiver<Box<Snapshot>>>,
    watched: Vec<Arc<InFlight>>,
    ending: Arc<Ending>,
    /// CPU time of the process at the ends of the intervals, where the window may begin later in
    /// the end.
    cpu_at: Vec<(f64, f64)>,
    beginning: Beginning,
}

impl<'a> Run<'a> {
    fn new(workload: &'a Workload, prepared: &'a Prepared, sources: Vec<Arc<Vec<u8>>>) -> Self {
        let (places, teams) = teams(workload);
        let cover = SNAPSHOTS_COVER_NS / workload.interval_ns.0.max(1);
        let cover = usize::try_from(cover).unwrap_or(usize::MAX);
        let snapshots = cover.clamp(SNAPSHOTS.0, SNAPSHOTS.1);
        let (mut returns, mut empties, mut watched) = (Vec::new(), Vec::new(), Vec::new());
        for (number, place) in places.iter().enumerate() {
            let stream = &workload.streams[place.stream];
            let (give, take) = sync_channel(snapshots);
            for _ in 1..snapshots {
                let _ = give.try_send(Box::new(Snapshot::new(number, stream.is_open_loop())));
            }
            returns.push(give);
            empties.push(take);
            watched.push(Arc::new(InFlight::new(stream.depth)));
        }
        // Room for every snapshot there is and the last words, so that no worker ever finds it
        // full.
        let (sender, receiver) = sync_channel(places.len() * (snapshots + 3));
        let in_parts = workload.precision.is_some();
        let collector = Collector::new(returns, workload.interval_ns.0, in_parts)
            .keep_workers(workload.thread_series);
        let glance = Glance::new(workload, &places);
        let (ending, cpu_at) = (Arc::new(Ending::at(u64::MAX)), Vec::new());
        Self {
            workload,
            prepared,
            places,
            teams,
            collector,
            glance,
            receiver,
            sender,
            sources,
            empties,
            watched,
            ending,
            cpu_at,
            beginning: Beginning::new(),
        }
    }

    /// What the observer takes for warm-up at the beginning of the window is left out of every
    /// figure.
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

    /// Takes one message of a worker, and shows the intervals that it completes. True when the
    /// observer knows enough.
    fn take(&mut self, message: Message, timeline: Timeline, observer: &mut dyn Observer) -> bool {
        match message {
            Message::Snapshot(snapshot) => {
                self.glance.add(&snapshot);
                self.collector.take(snapshot);
            }
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
        if let Some(event) = self.glance.due() {
            observer.event(&event);
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

    /// Ends the run now if a signal or an observer asks for that; true if that cuts the window.
    fn stop_if_asked(&self, stop: &AtomicBool, now: u64) -> bool {
        if !stop.load(Ordering::Relaxed) || now >= self.ending.stop_ns() {
            return false;
        }
        let cuts = now < self.ending.ns();
        self.ending.end_now(now);
        cuts
    }

    /// For each thread, what makes its workers, in that thread.
    fn crew_makers(&mut self) -> Vec<MakeCrew> {
        let cursors = cursors(self.workload);
        let mut empties = std::mem::take(&mut self.empties).into_iter();
        let mut makers: Vec<MakeCrew> = Vec::new();
        for (number, team) in self.teams.iter().enumerate() {
            let mut streams = self.workload.streams[team.streams.clone()].to_vec();
            if self.workload.engine == EngineChoice::Sim {
                // Nobody sees what is written, so no content is made.
                for stream in &mut streams {
                    stream.content = Content::Zero;
                }
            }
            let (first, joined) = (team.streams.start, team.streams.len() > 1);
            let of = |n: usize| self.places[n].stream - first;
            let members = team.workers.clone().zip(&mut empties);
            let members: Vec<(usize, Member)> = members
                .map(|(n, empties)| (of(n), self.member(&streams[of(n)], &cursors, n, empties)))
                .collect();
            let weights: Vec<u32> = team.workers.clone().map(|n| self.weight(n)).collect();
            let stream = &streams[0];
            let pooled = stream.pool.is_some() || stream.mix.is_some();
            let seeks = team.workers.clone().map(|n| Seek::new(stream, self.size_bytes(n)));
            let seeks = seeks.collect();
            let random = Random::new(self.workload.seed, number as u64);
            makers.push(Box::new(move || {
                let worker =
                    |(of, member): (usize, Member)| member.worker(&streams[of], random.clone());
                let mut workers: Vec<Worker> = members.into_iter().map(worker).collect();
                match (pooled, workers.pop()) {
                    (false, Some(worker)) => Crew::One(Box::new(worker)),
                    (_, last) => {
                        workers.extend(last);
                        let lead = &streams[0];
                        Crew::Pool(Box::new(if joined {
                            Pool::of_streams(lead, workers, &weights, random)
                        } else {
                            Pool::new(lead, workers, seeks, random)
                        }))
                    }
                }
            }));
        }
        makers
    }

    /// How often a worker's target is drawn, next to the others of its thread.
    fn weight(&self, number: usize) -> u32 {
        let place = self.places[number];
        let stream = &self.workload.streams[place.stream];
        if let Some(Some(weight)) = stream.weight_for(place.thread) {
            return weight;
        }
        let Some(PoolShare::Drawn { weights }) = stream.pool.as_ref().map(|p| &p.share) else {
            return 1;
        };
        let targets = stream.target_indexes(self.workload.targets.len());
        let at = targets.iter().position(|target| *target == place.target);
        at.and_then(|at| weights.get(at)).copied().unwrap_or(1)
    }

    /// The size of a worker's target.
    fn size_bytes(&self, number: usize) -> u64 {
        self.prepared.targets()[self.places[number].target].size_bytes()
    }

    /// What the worker of this number is made from.
    fn member(
        &self,
        stream: &Stream,
        cursors: &[Vec<Arc<AtomicU64>>],
        number: usize,
        empties: Receiver<Box<Snapshot>>,
    ) -> Member {
        let place = self.places[number];
        let cursor = &cursors[place.stream][place.target];
        let size = self.size_bytes(number);
        let simulated = self.workload.engine == EngineChoice::Sim;
        Member {
            number,
            offsets: Offsets::new(stream, size, place.thread, cursor),
            pace: self.pace(stream, number),
            content_seed: unrepeated(self.workload.seed, number as u64),
            source: Arc::clone(&self.sources[place.stream]),
            on_error: self.workload.on_error,
            ending: Arc::clone(&self.ending),
            in_flight: Arc::clone(&self.watched[number]),
            sender: self.sender.clone(),
            empties,
            thread_cpu_ns: if simulated { || None } else { platform::thread_cpu_ns },
        }
    }

    /// The pace of a worker: its part of its stream's, or of its thread's, which the first worker
    /// of the thread brings.
    fn pace(&self, stream: &Stream, number: usize) -> Pace {
        let place = self.places[number];
        let each = stream.pool.as_ref().is_none_or(|p| p.share == PoolShare::Each);
        if each {
            let mine = |places: &[Place]| {
                places.iter().filter(|p| p.stream == place.stream).count() as u64
            };
            return Pace::new(stream, mine(&self.places[..number]), mine(&self.places));
        }
        let mine = || self.teams.iter().filter(|t| t.stream == place.stream);
        match mine().find(|t| t.workers.start == number) {
            Some(team) => Pace::new(stream, team.rank.into(), mine().count() as u64),
            None => Pace::Free,
        }
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
        self.beginning.ask(observer, || 1)?;
        let timeline = self.timeline(1);
        clock.set(timeline.start_ns);
        self.end_window(timeline.window_ns + self.window_ns());
        let mut crews = Vec::new();
        for (number, make) in self.crew_makers().into_iter().enumerate() {
            let team = &self.teams[number];
            let plan = team.plan(self.workload, &self.places);
            let target = |p: &Place| (p.target, self.workload.streams[p.stream].durable);
            let targets = self.places[team.workers.clone()].iter().map(target).collect();
            let queue =
                SimQueue::new(&device, &clock, plan, targets).map_err(|e| memory_error(plan, e))?;
            let mut crew = make();
            crew.start_at(timeline);
            crews.push((crew, queue));
        }
        let backend =
            Backend { name: "sim", reason: "asked for".into(), features: Vec::new(), late: None };
        let mut facts = Facts::new(vec![backend], "virtual", timeline);
        observer.event(&Event::WarmingUp { seconds: self.workload.warmup_seconds });
        let mut watch = Watchdog::new(&self.watched);
        let mut began = false;
        drive::drive_simulated(crews, &clock, |now| {
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

    /// Each worker in its own thread.
    fn perform(
        &mut self,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<Facts, EngineError> {
        let choices = self.choose()?;
        let mut starts = Vec::new();
        for (number, make_crew) in self.crew_makers().into_iter().enumerate() {
            let team = &self.teams[number];
            let (go, wait_for_go) = sync_channel(1);
            starts.push(go);
            let (sender, begun) = (self.sender.clone(), Arc::clone(&self.beginning.begun));
            let job = Job { make_crew, go: wait_for_go, sender, begun };
            let stream = &self.workload.streams[team.stream];
            let plan = team.plan(self.workload, &self.places);
            let (targets, choice) = (self.targets(team), choices[number].clone());
            platform::spawn(self.workload, stream, team.rank, &targets, plan, choice, job)?;
        }
        let backends = self.wait_until_ready(starts.len())?;
        let clock = Clock::get();
        let start_ns = self.beginning.ask(observer, || clock.now() + START_NS)?;
        let timeline = self.timeline(start_ns);
        self.end_window(timeline.window_ns + self.window_ns());
        for go in starts {
            let _ = go.send(timeline);
        }
        drive::sleep_until(clock, start_ns);
        observer.event(&Event::WarmingUp { seconds: self.workload.warmup_seconds });
        let facts = Facts::new(backends, clock.name(), timeline);
        Ok(self.watch(facts, stop, observer))
    }

    /// The targets of a thread, and the streams that it works for on them.
    fn targets(&self, team: &Team) -> Vec<(&'a Stream, &'a PreparedTarget)> {
        let target =
            |p: &Place| (&self.workload.streams[p.stream], &self.prepared.targets()[p.target]);
        self.places[team.workers.clone()].iter().map(target).collect()
    }

    /// The backend of each thread: of a stream on a target, or on all targets of a pool.
    fn choose(&self) -> Result<Vec<platform::Choice>, EngineError> {
        let mut choices: Vec<platform::Choice> = Vec::new();
        for (number, team) in self.teams.iter().enumerate() {
            // Threads that differ in nothing else come one after the other.
            let uses = |t: &Team| {
                let places = self.places[t.workers.clone()].iter();
                places.map(|p| (p.stream, p.target)).collect::<Vec<_>>()
            };
            let before = number.checked_sub(1).map(|n| &self.teams[n]);
            let same = choices.last().filter(|_| before.map(uses) == Some(uses(team)));
            let choice = if let Some(same) = same {
                same.clone()
            } else {
                let in_flight = team.in_flight(self.workload, &self.places);
                platform::choose(self.workload, in_flight, &self.targets(team))?
            };
            choices.push(choice);
        }
        Ok(choices)
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
            self.beginning.say(self.teams.len(), observer);
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

/// The error for a queue whose memory cannot be had.
pub(crate) fn memory_error(plan: BufferPlan, source: std::io::Error) -> EngineError {
    EngineError::Memory { depth: plan.depth, bytes: plan.bytes, source }
}
