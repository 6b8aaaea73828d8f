//! One thread of a pool: a worker for each of its targets, all on one queue. The targets may be
//! those of several streams.
//!
//! Where each target has its stream's depth, the workers go their own ways. Otherwise the pool
//! hands out the outstanding I/Os one by one, with the thread's pace, and so it does with a mix,
//! whose bursts are the thread's and not a target's. Either way all of them draw from the
//! generators of the thread.

use std::io;
use std::mem::{swap, take};

use workload::{PoolShare, Stream};

use crate::crew::Machine;
use crate::mix::{Mixed, Mixer, Seek};
use crate::pace::Pace;
use crate::queue::{Finished, Queue, Request};
use crate::random::Random;
use crate::worker::{LOOK_UP_NS, Next, Timeline, Worker};

/// The workers of a thread, and how they share its queue.
pub(crate) struct Pool {
    workers: Vec<Worker>,
    /// I/Os that have finished, by worker.
    inboxes: Vec<Vec<Finished>>,
    finished: Vec<Finished>,
    requests: Vec<Request>,
    random: Random,
    /// The queue's slot that is the first of each worker's own.
    firsts: Vec<u32>,
    /// Whose each of the queue's slots is, or was last.
    owners: Vec<usize>,
    share: Share,
}

/// How the outstanding I/Os belong to the workers.
enum Share {
    /// Each worker has so many I/Os outstanding.
    Each,
    /// So many to each, but what starts on them is the thread's mix.
    Mixed(Mixing),
    /// Any worker whose turn it is.
    Handed(Hand),
}

impl Share {
    /// Whether all workers use the same slots of the queue.
    fn has_same_slots(&self) -> bool {
        match self {
            Self::Each => false,
            Self::Mixed(mixing) => mixing.free.is_some(),
            Self::Handed(hand) => hand.same_slots,
        }
    }
}

/// How a mix is spread over the workers.
struct Mixing {
    mixer: Mixer,
    /// The place of each worker in its order.
    seeks: Vec<Seek>,
    /// The worker that had the last I/O.
    last: usize,
    /// Slots that any worker may have, where the thread has its depth on all targets together.
    free: Option<Vec<u32>>,
}

/// Which slots are free, and whose turn it is.
struct Hand {
    turns: Turns,
    /// The worker whose turn it is, if that is settled but nothing was due yet.
    settled: Option<usize>,
    /// Slots without an I/O in flight.
    free: Vec<u32>,
    depth: usize,
    /// All workers use the same slots of the queue; otherwise each has as many of its own.
    same_slots: bool,
    pace: Pace,
}

impl Hand {
    fn new(stream: &Stream, turns: Turns, same_slots: bool) -> Self {
        let (depth, free) = (stream.depth as usize, (0..stream.depth).rev().collect());
        Self { turns, settled: None, free, depth, same_slots, pace: Pace::Free }
    }
}

/// How the next worker is chosen.
enum Turns {
    Cycle {
        last: usize,
    },
    /// The sums of the weights up to each worker; `None` if all weigh the same.
    Drawn {
        sums: Vec<u64>,
    },
}

impl Turns {
    /// Turns that are drawn by weights: none are equal ones.
    fn drawn(weights: &[u32], workers: usize) -> Self {
        let add = |sum: &mut u64, weight: &u32| {
            *sum += u64::from(*weight);
            Some(*sum)
        };
        let equal = weights.len() != workers || weights.windows(2).all(|w| w[0] == w[1]);
        let sums = if equal { Vec::new() } else { weights.iter().scan(0, add).collect() };
        Self::Drawn { sums }
    }

    fn next(&mut self, workers: usize, random: &mut Random) -> usize {
        match self {
            Self::Cycle { last } => {
                *last = after(*last, workers);
                *last
            }
            Self::Drawn { .. } if workers == 1 => 0,
            Self::Drawn { sums } => match sums.last() {
                None => usize::try_from(random.below(workers as u64)).unwrap_or(0),
                Some(total) => {
                    let place = random.below(*total);
                    sums.partition_point(|sum| *sum <= place)
                }
            },
        }
    }
}

/// The worker after this one, which may be the first.
#[inline]
fn after(worker: usize, workers: usize) -> usize {
    if worker + 1 < workers { worker + 1 } else { 0 }
}

/// A pool's queue as one of its workers sees it: its own queue to its own target.
struct View<'a, Q> {
    queue: &'a mut Q,
    target: u16,
    first_slot: u32,
    inbox: &'a mut Vec<Finished>,
    requests: &'a mut Vec<Request>,
}

impl<Q: Queue> Queue for View<'_, Q> {
    #[inline]
    fn now(&self) -> u64 {
        self.queue.now()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        self.requests.clear();
        let (target, first) = (self.target, self.first_slot);
        self.requests.extend(requests.iter().map(|r| Request {
            slot: r.slot + first,
            target,
            ..*r
        }));
        self.queue.issue(self.requests)
    }

    #[inline]
    fn batch(&self) -> usize {
        self.queue.batch()
    }

    fn start(&mut self) -> io::Result<()> {
        self.queue.start()
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        self.queue.wait(until_ns)
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        finished.append(self.inbox);
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.queue.write_buffer(slot + self.first_slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.queue.read_buffer(slot + self.first_slot)
    }
}

impl Pool {
    /// A pool of workers, one per target of the stream in their order, that all draw from `random`.
    ///
    /// Where it hands out, the first of them brings the thread's pace, the others none. `seeks` are
    /// the places of each worker.
    pub(crate) fn new(
        stream: &Stream,
        workers: Vec<Worker>,
        seeks: Vec<Seek>,
        random: Random,
    ) -> Self {
        let count = workers.len();
        let hand = |turns| Share::Handed(Hand::new(stream, turns, true));
        let share = match (stream.pool.as_ref().map(|p| &p.share), &stream.mix) {
            (share, Some(mix)) => {
                let free = (share == Some(&PoolShare::InTurn))
                    .then(|| (0..stream.depth).rev().collect::<Vec<u32>>());
                let each = workers.iter().map(|w| w.free.len()).sum();
                let mixer = Mixer::new(mix, free.as_ref().map_or(each, Vec::len));
                Share::Mixed(Mixing { mixer, seeks, last: count - 1, free })
            }
            (None | Some(PoolShare::Each), None) => Share::Each,
            (Some(PoolShare::InTurn), None) => hand(Turns::Cycle { last: count - 1 }),
            (Some(PoolShare::Drawn { weights }), None) => hand(Turns::drawn(weights, count)),
        };
        Self::of(workers, random, share)
    }

    /// A pool of workers of several streams, of which `lead` is the first: what they write and how
    /// long it is may differ, so that each has slots of its own. `weights` are those of the workers
    /// where targets are drawn.
    pub(crate) fn of_streams(
        lead: &Stream,
        workers: Vec<Worker>,
        weights: &[u32],
        random: Random,
    ) -> Self {
        let share = match lead.pool.as_ref().map(|p| &p.share) {
            Some(PoolShare::Drawn { .. }) => {
                let turns = Turns::drawn(weights, workers.len());
                Share::Handed(Hand::new(lead, turns, false))
            }
            _ => Share::Each,
        };
        Self::of(workers, random, share)
    }

    fn of(mut workers: Vec<Worker>, random: Random, share: Share) -> Self {
        let depths: Vec<usize> = workers.iter().map(|w| w.free.len()).collect();
        let (mut firsts, mut owners) = (Vec::new(), Vec::new());
        let same_slots = share.has_same_slots();
        for (index, depth) in depths.iter().enumerate() {
            if same_slots {
                owners.resize(owners.len().max(*depth), 0);
                firsts.push(0);
            } else {
                firsts.push(u32::try_from(owners.len()).unwrap_or(u32::MAX));
                owners.resize(owners.len() + depth, index);
            }
        }
        if same_slots || matches!(share, Share::Handed(_)) {
            for worker in &mut workers {
                worker.free.clear();
            }
        }
        Self {
            workers,
            inboxes: depths.iter().map(|depth| Vec::with_capacity(*depth)).collect(),
            finished: Vec::with_capacity(owners.len()),
            requests: Vec::with_capacity(depths.iter().copied().max().unwrap_or(0)),
            random,
            firsts,
            owners,
            share,
        }
    }

    /// Lets one worker do something on its view of the queue.
    fn with<Q: Queue, T>(
        &mut self,
        index: usize,
        queue: &mut Q,
        act: impl FnOnce(&mut Worker, &mut View<'_, Q>) -> T,
    ) -> T {
        let first_slot = self.firsts[index];
        let (target, inbox) = (u16::try_from(index).unwrap_or(0), &mut self.inboxes[index]);
        let mut view = View { queue, target, first_slot, inbox, requests: &mut self.requests };
        let worker = &mut self.workers[index];
        swap(&mut worker.choices.random, &mut self.random);
        let result = act(worker, &mut view);
        swap(&mut worker.choices.random, &mut self.random);
        result
    }

    /// Puts what has finished before those whose it is.
    fn sort<Q: Queue>(&mut self, queue: &mut Q) {
        queue.reap(&mut self.finished);
        for one in self.finished.drain(..) {
            let owner = self.owners[one.slot as usize];
            let slot = one.slot - self.firsts[owner];
            self.inboxes[owner].push(Finished { slot, ..one });
        }
    }

    /// All workers go their own ways.
    fn step_each<Q: Queue>(&mut self, queue: &mut Q) -> Next {
        let mut earliest = None;
        for index in 0..self.workers.len() {
            match self.with(index, queue, |w, view| w.step(view)) {
                Next::Wait(until) => {
                    earliest = Some(earliest.map_or(until, |e: u64| e.min(until)));
                }
                Next::Done if self.workers[index].is_broken() => return Next::Done,
                Next::Done => {}
            }
        }
        earliest.map_or(Next::Done, Next::Wait)
    }

    fn step_together<Q: Queue>(&mut self, queue: &mut Q) -> Next {
        let count = self.workers.len();
        let mut now = queue.now();
        for index in 0..count {
            now = self.with(index, queue, |w, view| w.absorb(view));
            if let Share::Mixed(mixing) = &mut self.share {
                mixing.mixer.ask(index, &mut self.workers[index].unanswered);
            }
        }
        self.take_back(now);
        let limit = self.over(now);
        let idle = self.workers.iter().all(|w| w.in_flight == 0);
        let until = match limit {
            Some(limit) if idle || now >= limit => return Next::Done,
            Some(limit) => limit.min(now + LOOK_UP_NS),
            None => {
                let due = match self.share {
                    Share::Mixed(_) => self.mix_out(queue, now),
                    _ => self.hand_out(queue, now),
                };
                self.workers.iter().fold(due, |until, w| until.min(w.next_look(now)))
            }
        };
        for index in 0..count {
            if self.with(index, queue, |w, view| w.send(view, now, until)) == Next::Done {
                return Next::Done;
            }
        }
        Next::Wait(until)
    }

    /// Takes the slots that are free again.
    fn take_back(&mut self, now: u64) {
        if let Share::Mixed(Mixing { free: Some(free), .. }) = &mut self.share {
            self.workers.iter_mut().for_each(|worker| free.append(&mut worker.free));
        }
        let Share::Handed(hand) = &mut self.share else { return };
        let before = hand.free.len();
        for worker in &mut self.workers {
            hand.free.append(&mut worker.free);
        }
        let idle = hand.free.len() == hand.depth;
        if let Pace::Bursts(bursts) = &mut hand.pace
            && idle
            && hand.free.len() > before
        {
            bursts.idle(now);
        }
    }

    /// Whether no I/O may start any more; the first worker tells how late the thread's pace was
    /// then.
    fn over(&mut self, now: u64) -> Option<u64> {
        let Self { share, workers, .. } = self;
        let mut lend = || {
            if let Share::Handed(hand) = share {
                swap(&mut hand.pace, &mut workers[0].pace);
            }
            workers.iter_mut().map(|w| w.over(now)).fold(None, Option::or)
        };
        let limit = lend();
        lend();
        limit
    }

    /// Lets everything of the mix begin that may begin now; gives the moment when more may.
    fn mix_out<Q: Queue>(&mut self, queue: &mut Q, now: u64) -> u64 {
        loop {
            match self.next_of_mix(now) {
                Ok((whose, io)) => self.with(whose, queue, |w, view| w.start(view, io, now)),
                Err(until) => return until,
            }
        }
    }

    /// The next I/O of the mix, and the worker that does it; otherwise when to ask again
    /// (`u64::MAX`: when one has finished).
    fn next_of_mix(&mut self, now: u64) -> Result<(usize, Mixed), u64> {
        let count = self.workers.len();
        let random = &mut self.random;
        let Share::Mixed(mixing) = &mut self.share else { return Err(u64::MAX) };
        let Mixing { mixer, seeks, last, free } = mixing;
        if let Some(free) = free {
            let whose = after(*last, count);
            let slot = *free.last().ok_or(u64::MAX)?;
            mixer.ready(now, random)?;
            free.pop();
            self.workers[whose].free.push(slot);
            self.owners[slot as usize] = whose;
            *last = whose;
            return Ok((whose, mixer.next(now, &mut seeks[whose], random)));
        }
        if let Some(answer) = mixer.answer(seeks, random) {
            return Ok(answer);
        }
        // What waits to be answered has given its slot back, but only for the answer.
        let mut whose = after(*last, count);
        while self.workers[whose].free.is_empty() {
            if whose == *last {
                return Err(u64::MAX);
            }
            whose = after(whose, count);
        }
        mixer.ready(now, random)?;
        *last = whose;
        Ok((whose, mixer.next(now, &mut seeks[whose], random)))
    }

    /// Lets everything begin that may begin now; gives the moment when more may.
    fn hand_out<Q: Queue>(&mut self, queue: &mut Q, now: u64) -> u64 {
        loop {
            let Share::Handed(hand) = &mut self.share else { return u64::MAX };
            let Some(slot) = hand.free.pop() else { return u64::MAX };
            let settled = hand.settled.take();
            let whose =
                settled.unwrap_or_else(|| hand.turns.next(self.workers.len(), &mut self.random));
            let mut pace = std::mem::replace(&mut hand.pace, Pace::Free);
            let (due, left) = self.with(whose, queue, |worker, view| {
                swap(&mut worker.pace, &mut pace);
                worker.free.push(slot);
                let due = worker.fill(view, now);
                swap(&mut worker.pace, &mut pace);
                (due, worker.free.pop())
            });
            let Share::Handed(hand) = &mut self.share else { return u64::MAX };
            hand.pace = pace;
            if let Some(slot) = left {
                hand.free.push(slot);
                hand.settled = Some(whose);
                return due;
            }
            if hand.same_slots {
                self.owners[slot as usize] = whose;
            }
        }
    }
}

impl Machine for Pool {
    fn prepare<Q: Queue>(&mut self, queue: &mut Q) {
        // Slots that are handed out are the same for all.
        let same = self.share.has_same_slots();
        let whose = if same { 1 } else { self.workers.len() };
        (0..whose).for_each(|index| self.with(index, queue, |w, view| w.prepare(view)));
    }

    fn start_at(&mut self, timeline: Timeline) {
        self.workers.iter_mut().for_each(|w| w.start_at(timeline));
        match &mut self.share {
            Share::Each => {}
            Share::Mixed(mixing) => mixing.mixer.begin(timeline.start_ns),
            Share::Handed(hand) => {
                hand.pace = std::mem::replace(&mut self.workers[0].pace, Pace::Free);
            }
        }
    }

    fn step<Q: Queue>(&mut self, queue: &mut Q) -> Next {
        self.sort(queue);
        match self.share {
            Share::Each => self.step_each(queue),
            Share::Mixed(_) | Share::Handed(_) => self.step_together(queue),
        }
    }

    fn finish(self, now: u64, queue_error: Option<String>) {
        let mut error = queue_error;
        for worker in self.workers {
            worker.finish(now, take(&mut error));
        }
    }
}
