//! Shares, bursts, pauses, places and answers of a mix, on a device that takes one set time per
//! I/O.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use workload::{Bytes, Mix, MixPart, Nanoseconds, OnError, Pool as PoolPlan, PoolShare, Stream};

use super::*;
use crate::crew::Machine;
use crate::offsets::Offsets;
use crate::pace::Pace;
use crate::pool::Pool;
use crate::queue::{Finished, Queue, Request};
use crate::random::Random;
use crate::shared::{Ending, InFlight};
use crate::worker::{Message, Next, Timeline, Worker, WorkerPlan};

const SPAN: u64 = 1 << 30;
const MS: u64 = 1_000_000;

/// An I/O that was made, and when.
type TimedRequest = (u64, Request);

/// A queue on its own clock, on which each I/O takes the same time.
struct ClockedQueue {
    now: u64,
    service_ns: u64,
    pending: Vec<(u64, Request)>,
    made: Vec<TimedRequest>,
    buffer: Vec<u8>,
}

impl Queue for ClockedQueue {
    fn now(&self) -> u64 {
        self.now
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        self.made.extend(requests.iter().map(|r| (self.now, *r)));
        self.pending.extend(requests.iter().map(|r| (self.now + self.service_ns, *r)));
        Ok(())
    }

    fn batch(&self) -> usize {
        usize::MAX
    }

    fn start(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        let first = self.pending.iter().map(|(at, _)| *at).min().unwrap_or(until_ns);
        self.now = self.now.max(first.min(until_ns));
        Ok(())
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        let now = self.now;
        let done = self.pending.extract_if(.., |(at, _)| *at <= now);
        finished.extend(
            done.map(|(_, r)| Finished { slot: r.slot, result: i32::try_from(r.bytes).unwrap() }),
        );
    }

    fn write_buffer(&mut self, _slot: u32) -> &mut [u8] {
        &mut self.buffer
    }

    fn read_buffer(&self, _slot: u32) -> &[u8] {
        &self.buffer
    }
}

/// The first I/Os that one thread makes of a mix.
fn made(mix: &Mix, targets: usize, depth: u32, service_ns: u64, ios: usize) -> Vec<TimedRequest> {
    made_by(PoolShare::Each, mix, (targets, depth), service_ns, ios)
}

fn made_by(
    share: PoolShare,
    mix: &Mix,
    (targets, depth): (usize, u32),
    service_ns: u64,
    ios: usize,
) -> Vec<TimedRequest> {
    let stream =
        Stream { depth, pool: Some(PoolPlan { share }), ..Stream::of_mix("mix", mix.clone()) };
    let (sender, _messages) = sync_channel::<Message>(1 << 16);
    let random = Random::new(42, 0);
    let worker = |number| {
        Worker::new(WorkerPlan {
            worker: number,
            stream: &stream,
            offsets: Offsets::new(&stream, SPAN, 0, &Arc::default()),
            pace: Pace::new(&stream, 0, 1),
            random: random.clone(),
            content_seed: 1,
            source: Arc::default(),
            on_error: OnError::Stop,
            ending: Arc::new(Ending::at(u64::MAX / 2)),
            in_flight: Arc::new(InFlight::new(depth)),
            sender: sender.clone(),
            empties: sync_channel(1).1,
            thread_cpu_ns: || None,
        })
    };
    let workers = (0..targets).map(worker).collect();
    let seeks = vec![Seek::new(&stream, SPAN); targets];
    let mut pool = Pool::new(&stream, workers, seeks, random.clone());
    let largest = usize::try_from(stream.largest_block()).unwrap();
    let mut queue = ClockedQueue {
        now: 1,
        service_ns,
        pending: Vec::new(),
        made: Vec::new(),
        buffer: vec![0; largest],
    };
    let day = 86_400_000 * MS;
    pool.start_at(Timeline { start_ns: 1, window_ns: 1, interval_ns: day, ..Timeline::default() });
    while queue.made.len() < ios {
        let Next::Wait(until) = pool.step(&mut queue) else { panic!("over too soon") };
        queue.wait(until).unwrap();
    }
    queue.made.truncate(ios);
    queue.made
}

fn part(percent: u8, block_bytes: u64) -> MixPart {
    MixPart { percent, block_bytes: Bytes(block_bytes), ..MixPart::default() }
}

/// A mix had its depth on each of its targets, so that a thread with one I/O at a time could not
/// work on two files.
#[test]
fn targets_in_turn_share_the_depth() {
    let mix = Mix { parts: vec![part(50, 4096), part(50, 65_536)] };
    for depth in [1, 3] {
        let made = made_by(PoolShare::InTurn, &mix, (2, depth), MS, 300);
        let first = made.iter().filter(|(_, r)| r.target == 0).count();
        assert_eq!(first, 150, "half of the I/Os");
        let in_flight = |at: u64| made.iter().filter(|(t, _)| *t <= at && at < t + MS).count();
        let most = made.iter().map(|(at, _)| in_flight(*at)).max();
        assert_eq!(most, Some(depth as usize));
    }
}

fn share<'a>(of: impl Iterator<Item = &'a TimedRequest>, is: impl Fn(&Request) -> bool) -> f64 {
    let all: Vec<bool> = of.map(|(_, r)| is(r)).collect();
    100.0 * all.iter().filter(|is| **is).count() as f64 / all.len() as f64
}

#[test]
fn four_kinds_on_three_targets_have_their_shares() {
    let kinds = [
        MixPart { write_percent: 33, ..part(55, 4096) },
        MixPart { write_percent: 100, random_percent: 0, ..part(20, 65_536) },
        MixPart { random_percent: 40, ..part(15, 8192) },
        MixPart { write_percent: 50, ..part(10, 524_288) },
    ];
    let ios = made(&Mix { parts: kinds.to_vec() }, 3, 8, MS, 100_000);
    for target in 0..3 {
        let here = share(ios.iter(), |r| r.target == target);
        assert!((here - 100.0 / 3.0).abs() < 0.5, "target {target}: {here} %");
    }
    for kind in kinds {
        let is = |r: &Request| u64::from(r.bytes) == kind.block_bytes.0;
        let percent = share(ios.iter(), is);
        assert!((percent - f64::from(kind.percent)).abs() < 0.5, "{kind:?}: {percent} %");
        let mine = || ios.iter().filter(|(_, r)| is(r));
        let writes = share(mine(), |r| r.op == Op::Write);
        let three_sigma = 150.0 / (mine().count() as f64).sqrt();
        assert!((writes - f64::from(kind.write_percent)).abs() < three_sigma, "{kind:?}: {writes}");
        // Where the I/O before on the same target ended; an I/O that jumps goes there by chance
        // once in thousands.
        let mut next = HashMap::new();
        let (mut on, mut all) = (0u32, 0u32);
        for (_, r) in &ios {
            let before = next.insert(r.target, r.offset + u64::from(r.bytes));
            if is(r) {
                all += 1;
                on += u32::from(before == Some(r.offset));
            }
        }
        let jumped = 100.0 * (1.0 - f64::from(on) / f64::from(all));
        let wanted = f64::from(kind.random_percent);
        assert!((jumped - wanted).abs() < three_sigma + 0.1, "{kind:?}: {jumped} %");
    }
}

/// Each burst is of one kind, begins exactly its delay after the last I/O before it started, and is
/// spread over the targets.
#[test]
fn bursts_and_delays_are_exact() {
    let kinds = [
        MixPart { delay_ns: Nanoseconds(5 * MS), burst_ios: 7, ..part(70, 4096) },
        MixPart { delay_ns: Nanoseconds(11 * MS), burst_ios: 3, ..part(30, 65_536) },
    ];
    // The device is done with a burst before the next begins, and it holds back none of them.
    let ios = made(&Mix { parts: kinds.to_vec() }, 3, 32, MS, 10_000);
    let mut at = 1;
    let mut rest = ios.as_slice();
    let mut bursts = 0;
    while let Some((_, first)) = rest.first() {
        let kind = kinds.iter().find(|k| k.block_bytes.0 == u64::from(first.bytes)).unwrap();
        at += kind.delay_ns.0;
        let length = (kind.burst_ios as usize).min(rest.len());
        let (burst, behind) = rest.split_at(length);
        assert!(burst.iter().all(|(t, r)| *t == at && r.bytes == first.bytes), "{burst:?}");
        rest = behind;
        bursts += 1;
    }
    assert!(bursts > 1500, "{bursts}");
    // In turn over the targets, from burst to burst.
    let on = |target| ios.iter().take(1000).filter(|(_, r)| r.target == target).count();
    assert!([0, 1, 2].into_iter().all(|target| on(target).abs_diff(333) <= 2));
}

/// A pause holds back all targets of a thread, while I/Os in flight continue; without room a burst
/// waits for it.
#[test]
fn a_burst_larger_than_the_depth_waits_for_room() {
    let kind = MixPart { delay_ns: Nanoseconds(10 * MS), burst_ios: 6, ..part(100, 4096) };
    let ios = made(&Mix { parts: vec![kind] }, 2, 2, 4 * MS, 18);
    let times: Vec<u64> = ios.iter().map(|(at, _)| (at - 1) / MS).collect();
    assert_eq!(times, [10, 10, 10, 10, 14, 14, 24, 24, 24, 24, 28, 28, 38, 38, 38, 38, 42, 42]);
}

#[test]
fn what_follows_is_rounded_up_and_wraps() {
    let kind = MixPart { random_percent: 0, align_bytes: Bytes(5000), ..part(100, 4096) };
    let ios = made(&Mix { parts: vec![kind] }, 1, 1, MS, 300_000);
    let last = (SPAN - 4096) / 5000;
    for (n, (_, r)) in (0u64..).zip(&ios) {
        assert_eq!(
            r.offset,
            n % (last + 1) * 5000,
            "I/O {n}: with holes, and from the start again"
        );
    }
    assert!(ios.len() as u64 > last, "the end was reached");
}

#[test]
fn what_jumps_is_aligned_and_stays_inside() {
    let kind = MixPart { align_bytes: Bytes(96 << 20), ..part(100, 64 << 20) };
    let ios = made(&Mix { parts: vec![kind] }, 1, 4, MS, 20_000);
    let mut places = HashMap::new();
    for (_, r) in &ios {
        assert!(r.offset.is_multiple_of(96 << 20) && r.offset + u64::from(r.bytes) <= SPAN);
        *places.entry(r.offset).or_insert(0u32) += 1;
    }
    // Ten places hold a block. An offset that is rounded up past the last starts at the first,
    // which otherwise only 0 itself would do.
    assert_eq!(places.len(), 11);
}

#[test]
fn each_io_is_answered_in_the_other_direction() {
    let kind = MixPart {
        write_percent: 40,
        burst_ios: 4,
        delay_ns: Nanoseconds(20 * MS),
        reply_bytes: Bytes(512),
        ..part(100, 4096)
    };
    let ios = made(&Mix { parts: vec![kind] }, 2, 2, 3 * MS, 8000);
    for (n, burst) in ios.chunks(8).enumerate() {
        let (asked, answers) = burst.split_at(4);
        let at = burst[0].0;
        assert!(asked.iter().all(|(t, r)| *t == at && r.bytes == 4096), "{n}: {burst:?}");
        assert!(answers.iter().all(|(t, r)| *t == at + 3 * MS && r.bytes == 512), "{burst:?}");
        let count = |ios: &[TimedRequest], op| ios.iter().filter(|(_, r)| r.op == op).count();
        assert_eq!(count(asked, Op::Read), count(answers, Op::Write), "{n}: {burst:?}");
        // The pause begins when the last request starts, whatever its answers do.
        assert_eq!(at, 1 + 20 * MS * (n as u64 + 1));
    }
}
