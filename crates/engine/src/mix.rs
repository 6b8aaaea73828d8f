//! IOMeter's order: which part of a mix the next burst is of, when it may begin, and where its I/Os
//! go.

use std::collections::VecDeque;

use workload::{Mix, Stream};

use crate::queue::Op;
use crate::random::Random;

/// Percents: each part has as many of these places as its share.
const PLACES: u64 = 100;

/// Draws the I/Os of one thread from its mix.
#[derive(Debug)]
pub(crate) struct Mixer {
    parts: Vec<Part>,
    /// Sums of the percents up to each part.
    sums: Vec<u64>,
    current: usize,
    /// I/Os of the burst that have not started.
    left: u32,
    /// When the last I/O started, or the run.
    last_ns: u64,
    not_before_ns: u64,
    /// Whether any part of the mix has replies.
    replies: bool,
    /// I/Os that wait for their reply, in the order in which they finished.
    unanswered: VecDeque<Unanswered>,
}

/// An I/O that has finished and is to be answered.
#[derive(Debug, Clone, Copy)]
struct Unanswered {
    /// The worker that issued the I/O.
    whose: usize,
    op: Op,
    /// The part that says how, counted from 1.
    part: u8,
}

/// A part, in the numbers of the loop.
#[derive(Debug, Clone, Copy)]
struct Part {
    bytes: u32,
    reply_bytes: u32,
    write_percent: u8,
    random_percent: u8,
    align: u64,
    delay_ns: u64,
    burst_ios: u32,
}

/// An I/O of a mix, before it is put in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mixed {
    pub op: Op,
    pub offset: u64,
    pub bytes: u32,
    /// The part that says how it is answered, counted from 1; 0: it is not.
    pub answered_by: u8,
}

/// Where the I/Os of a thread continue one target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seek {
    start: u64,
    end: u64,
    next: u64,
}

impl Mixer {
    /// The mix of a thread with this many I/Os outstanding at most. It must have been checked.
    pub(crate) fn new(mix: &Mix, in_flight: usize) -> Self {
        let length = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let parts = mix.parts.iter().map(|p| Part {
            bytes: length(p.block_bytes.0),
            reply_bytes: length(p.reply_bytes.0),
            write_percent: p.write_percent,
            random_percent: p.random_percent,
            align: p.alignment(),
            delay_ns: p.delay_ns.0,
            burst_ios: p.burst_ios.max(1),
        });
        let add = |sum: &mut u64, percent: u64| {
            *sum += percent;
            Some(*sum)
        };
        let replies = mix.parts.iter().any(|p| p.reply_bytes.0 > 0);
        let percents = mix.parts.iter().map(|p| u64::from(p.percent));
        Self {
            parts: parts.collect(),
            sums: percents.scan(0, add).collect(),
            current: 0,
            left: 0,
            last_ns: 0,
            not_before_ns: 0,
            replies,
            unanswered: VecDeque::with_capacity(if replies { in_flight } else { 0 }),
        }
    }

    /// Moves the mix to a run that starts at this moment.
    pub(crate) fn begin(&mut self, start_ns: u64) {
        self.last_ns = start_ns;
    }

    /// Whether an I/O may start now; otherwise when.
    pub(crate) fn ready(&mut self, now: u64, random: &mut Random) -> Result<(), u64> {
        if self.left == 0 {
            let place = random.below(PLACES);
            let last = self.parts.len().saturating_sub(1);
            self.current = self.sums.partition_point(|sum| *sum <= place).min(last);
            let part = self.parts[self.current];
            self.left = part.burst_ios;
            self.not_before_ns = self.last_ns.saturating_add(part.delay_ns);
        }
        if now < self.not_before_ns { Err(self.not_before_ns) } else { Ok(()) }
    }

    /// The next I/O of the burst, which starts now.
    pub(crate) fn next(&mut self, now: u64, seek: &mut Seek, random: &mut Random) -> Mixed {
        self.left = self.left.saturating_sub(1);
        self.last_ns = now;
        let part = self.parts[self.current];
        let op = if random.percent(part.write_percent) { Op::Write } else { Op::Read };
        let answered_by = if part.reply_bytes > 0 { self.current + 1 } else { 0 };
        let offset = seek.place(&part, part.bytes, random);
        let answered_by = u8::try_from(answered_by).unwrap_or(0);
        Mixed { op, offset, bytes: part.bytes, answered_by }
    }

    /// Notes what a worker has to answer: the directions and the parts of I/Os that have finished,
    /// oldest first.
    #[inline]
    pub(crate) fn ask(&mut self, whose: usize, finished: &mut Vec<(Op, u8)>) {
        if self.replies {
            let finished = finished.drain(..);
            self.unanswered.extend(finished.map(|(op, part)| Unanswered { whose, op, part }));
        }
    }

    /// What answers the I/O that has waited longest, and whose it was: an I/O in the other
    /// direction. `seeks` are the places of each worker.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        seeks: &mut [Seek],
        random: &mut Random,
    ) -> Option<(usize, Mixed)> {
        if !self.replies {
            return None;
        }
        let Unanswered { whose, op, part } = self.unanswered.pop_front()?;
        let part = *self.parts.get(usize::from(part).checked_sub(1)?)?;
        let op = if op == Op::Read { Op::Write } else { Op::Read };
        let offset = seeks[whose].place(&part, part.reply_bytes, random);
        Some((whose, Mixed { op, offset, bytes: part.reply_bytes, answered_by: 0 }))
    }
}

impl Seek {
    /// The used part of a target of this size, at its start.
    pub(crate) fn new(stream: &Stream, size_bytes: u64) -> Self {
        let start = stream.offset_bytes.0;
        let end = stream.span_bytes.map_or(size_bytes, |span| start.saturating_add(span.0));
        Self { start, end, next: start }
    }

    fn place(&mut self, part: &Part, bytes: u32, random: &mut Random) -> u64 {
        let at = if random.percent(part.random_percent) {
            self.start + random.below(self.end.saturating_sub(self.start))
        } else {
            self.next
        };
        let at = rounded_up(at, part.align).unwrap_or(u64::MAX);
        let fits = at.checked_add(u64::from(bytes)).is_some_and(|end| end <= self.end);
        let at = if fits { at } else { self.start };
        self.next = at + u64::from(bytes);
        at
    }
}

/// The next multiple, where there is one. Nearly every alignment is a power of two, which needs no
/// division.
#[inline]
fn rounded_up(at: u64, align: u64) -> Option<u64> {
    if align.is_power_of_two() {
        at.checked_add(align - 1).map(|up| up & !(align - 1))
    } else {
        at.checked_next_multiple_of(align)
    }
}

#[cfg(test)]
#[path = "mix_answer_tests.rs"]
mod answer_tests;
#[cfg(test)]
#[path = "mix_tests.rs"]
mod tests;
