//! Where the next I/O goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rand_distr::{Distribution as _, Zipf};
use workload::{Distribution, Pattern, Stream};

use crate::diskspd::Ordered;
use crate::matrix::Matrix;
use crate::random::Random;

/// The offsets of one thread on one target.
#[derive(Debug)]
pub(crate) struct Offsets {
    start: u64,
    span: u64,
    align: u64,
    order: Order,
    random_percent: u8,
    /// For each block size of the stream: the random places that fit it.
    places: Vec<Places>,
    /// DiskSpd's order, where it replaces all of this.
    diskspd: Option<Box<Ordered>>,
}

/// How the next offset follows from the one before.
#[derive(Debug)]
enum Order {
    Random,
    Step { next: u64, stride: Option<u64> },
    Shared { cursor: Arc<AtomicU64> },
    Matrix(Box<Matrix>),
}

/// Random places for one block size.
#[derive(Debug)]
enum Places {
    Uniform { count: u64 },
    Zipf { count: u64, zipf: Zipf<f64>, scatter: u64 },
    Hot { hot: u64, cold: u64, access: f64 },
}

impl Offsets {
    /// The offsets of thread number `thread` of `stream` on a target of `size_bytes`.
    ///
    /// `cursor` is shared by all threads of the stream on this target. The workload must have been
    /// checked.
    pub(crate) fn new(
        stream: &Stream,
        size_bytes: u64,
        thread: u32,
        cursor: &Arc<AtomicU64>,
    ) -> Self {
        let start = stream.offset_bytes.0;
        let span = stream.span_bytes.map_or(size_bytes.saturating_sub(start), |s| s.0);
        let align = stream.alignment().max(1);
        let share = span / u64::from(stream.threads.max(1)) * u64::from(thread);
        let first = share.saturating_add(stream.begin_bytes.0) % span.max(1) / align * align;
        let order = match stream.pattern {
            Pattern::Random => Order::Random,
            Pattern::Sequential => Order::Step { next: first, stride: None },
            Pattern::SequentialShared => Order::Shared { cursor: Arc::clone(cursor) },
            Pattern::Stride { stride_bytes } => {
                Order::Step { next: first, stride: Some(stride_bytes.0) }
            }
            Pattern::Matrix { columns, rows, same_column } => {
                let matrix = Matrix::new(stream, thread, (columns, rows), same_column);
                Order::Matrix(Box::new(matrix))
            }
        };
        let places = stream
            .blocks
            .iter()
            .map(|block| Places::new(span.saturating_sub(block.bytes.0) / align + 1, stream))
            .collect();
        let diskspd = stream.diskspd.as_ref();
        let diskspd = diskspd.map(|d| Box::new(Ordered::new(stream, d, span, thread, cursor)));
        Self { start, span, align, order, random_percent: stream.random_percent, places, diskspd }
    }

    /// DiskSpd's order of the thread on this target, if it has that.
    pub(crate) fn diskspd(&mut self) -> Option<&mut Ordered> {
        self.diskspd.as_deref_mut()
    }

    /// The offset of the next I/O of the block size with this index, which is `bytes` long.
    #[inline]
    pub(crate) fn next(&mut self, random: &mut Random, block: usize, bytes: u64) -> u64 {
        if matches!(self.order, Order::Random) {
            return self.start + self.places[block].pick(random) * self.align;
        }
        self.start + self.in_order(random, block, bytes)
    }

    // Apart, so that the random case is small enough to be part of its caller's loop.
    #[inline(never)]
    fn in_order(&mut self, random: &mut Random, block: usize, bytes: u64) -> u64 {
        if random.percent(self.random_percent) {
            let at = self.places[block].pick(random) * self.align;
            // An order that jumps continues from there, as in other tools.
            match &mut self.order {
                Order::Step { next, stride } => *next = at.saturating_add(stride.unwrap_or(bytes)),
                Order::Shared { cursor } => {
                    cursor.store(at.saturating_add(bytes), Ordering::Relaxed);
                }
                Order::Random | Order::Matrix(_) => {}
            }
            return at;
        }
        match &mut self.order {
            Order::Random => 0,
            Order::Step { next, stride } => {
                let at = wrapped(*next, bytes, self.span);
                *next = at.saturating_add(stride.unwrap_or(bytes));
                at
            }
            Order::Shared { cursor } => {
                // The thread that reaches the end begins the next lap for all, whatever the sizes
                // of the blocks.
                let mut next = cursor.load(Ordering::Relaxed);
                loop {
                    let at = wrapped(next, bytes, self.span);
                    let (order, after) = (Ordering::Relaxed, at.saturating_add(bytes));
                    match cursor.compare_exchange_weak(next, after, order, order) {
                        Ok(_) => break at,
                        Err(now) => next = now,
                    }
                }
            }
            Order::Matrix(matrix) => matrix.next(),
        }
    }
}

/// Where an I/O begins whose turn is at `next`: at the start of the span again when it does not fit
/// before the end.
#[inline]
fn wrapped(next: u64, bytes: u64, span: u64) -> u64 {
    if next > span.saturating_sub(bytes) { 0 } else { next }
}

impl Places {
    fn new(count: u64, stream: &Stream) -> Self {
        match stream.distribution {
            Distribution::Uniform => Self::Uniform { count },
            Distribution::Zipf { theta } => match Zipf::new(count as f64, theta) {
                Ok(zipf) => Self::Zipf { count, zipf, scatter: coprime_near_golden(count) },
                Err(_) => Self::Uniform { count },
            },
            Distribution::Hot { span_percent, access_percent } => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "<= count"
                )]
                let hot = ((count as f64 * span_percent / 100.0).round() as u64).clamp(1, count);
                Self::Hot { hot, cold: count - hot, access: access_percent / 100.0 }
            }
        }
    }

    #[inline]
    fn pick(&self, random: &mut Random) -> u64 {
        match self {
            Self::Uniform { count } => random.below(*count),
            _ => self.pick_unevenly(random),
        }
    }

    #[inline(never)]
    fn pick_unevenly(&self, random: &mut Random) -> u64 {
        match self {
            Self::Uniform { count } => random.below(*count),
            Self::Zipf { count, zipf, scatter } => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "1..=count"
                )]
                let rank = (zipf.sample(random.generator()) as u64).clamp(1, *count) - 1;
                let place = u128::from(rank) * u128::from(*scatter) % u128::from(*count);
                u64::try_from(place).unwrap_or(0)
            }
            Self::Hot { hot, cold, access } => {
                if *cold == 0 || random.unit() < *access {
                    random.below(*hot)
                } else {
                    hot + random.below(*cold)
                }
            }
        }
    }
}

/// A step that visits all of `count` places and sends neighbouring ranks far apart.
fn coprime_near_golden(count: u64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below count")]
    let mut step = ((count as f64 * 0.618_033_988_749_895) as u64).max(1);
    while gcd(step, count) != 1 {
        step += 1;
    }
    step
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};
    use workload::{Block, Bytes};

    fn stream(pattern: Pattern, block: u64) -> Stream {
        let blocks = vec![Block { bytes: Bytes(block), weight: 1 }];
        Stream { pattern, blocks, ..Stream::default() }
    }

    fn take(offsets: &mut Offsets, block: u64, n: usize) -> Vec<u64> {
        let mut random = Random::new(7, 0);
        (0..n).map(|_| offsets.next(&mut random, 0, block)).collect()
    }

    fn cursor() -> Arc<AtomicU64> {
        Arc::new(AtomicU64::new(0))
    }

    #[test]
    fn uniform_random_reaches_every_place_and_no_other() {
        let mut offsets = Offsets::new(&stream(Pattern::Random, 8192), 64 * 8192, 0, &cursor());
        let seen: HashSet<_> = take(&mut offsets, 8192, 2000).into_iter().collect();
        let all: HashSet<_> = (0..64).map(|i| i * 8192).collect();
        assert_eq!(seen, all);
    }

    #[test]
    fn sequential_threads_start_apart_and_wrap() {
        let stream = Stream { threads: 2, ..stream(Pattern::Sequential, 8192) };
        let mut second = Offsets::new(&stream, 8 * 8192, 1, &cursor());
        let places: Vec<_> = take(&mut second, 8192, 6).iter().map(|o| o / 8192).collect();
        assert_eq!(places, [4, 5, 6, 7, 0, 1]);
    }

    #[test]
    fn sequential_threads_begin_where_the_stream_says_and_wrap() {
        let begin_bytes = Bytes(5 * 8192);
        let stream = Stream { threads: 2, begin_bytes, ..stream(Pattern::Sequential, 8192) };
        let of = |thread| {
            let mut offsets = Offsets::new(&stream, 8 * 8192, thread, &cursor());
            take(&mut offsets, 8192, 9).iter().map(|o| o / 8192).collect::<Vec<_>>()
        };
        assert_eq!(of(0), [5, 6, 7, 0, 1, 2, 3, 4, 5]);
        assert_eq!(of(1), [1, 2, 3, 4, 5, 6, 7, 0, 1]);
    }

    #[test]
    fn a_shared_cursor_gives_each_block_to_one_thread() {
        let stream = Stream { threads: 2, ..stream(Pattern::SequentialShared, 4096) };
        let cursor = cursor();
        let mut threads = [0, 1].map(|t| Offsets::new(&stream, 10 * 4096 + 100, t, &cursor));
        let mut random = Random::new(1, 0);
        let places: Vec<_> =
            (0..12).map(|i| threads[i % 2].next(&mut random, 0, 4096) / 4096).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
    }

    /// Each block size had its own lap, so that in a mix of sizes every lap after the first jumped
    /// back and forth between the places of one and of the other.
    #[test]
    fn a_shared_cursor_goes_on_in_order_over_laps_of_mixed_blocks() {
        let sizes = [8192, 65536];
        let blocks = sizes.map(|bytes| Block { bytes: Bytes(bytes), weight: 1 }).to_vec();
        let stream = Stream { blocks, ..stream(Pattern::SequentialShared, 8192) };
        let span = (1 << 20) + 4096;
        let mut offsets = Offsets::new(&stream, span, 0, &cursor());
        let (mut random, mut next, mut laps) = (Random::new(1, 0), 0, 0);
        for i in 0..1000 {
            let block = usize::from(random.percent(50));
            let at = offsets.next(&mut random, block, sizes[block]);
            if at != next {
                assert_eq!(at, 0, "I/O {i} is neither the next nor the first");
                assert!(next + sizes[block] > span, "the lap ended at {next}");
                laps += 1;
            }
            next = at + sizes[block];
        }
        assert!(laps > 20, "{laps}");
    }

    #[test]
    fn a_stride_steps_from_start_to_start() {
        let stride = Pattern::Stride { stride_bytes: Bytes(65536) };
        let mut offsets = Offsets::new(&stream(stride, 4096), 200_000, 0, &cursor());
        assert_eq!(take(&mut offsets, 4096, 5), [0, 65536, 131_072, 0, 65536]);
    }

    #[test]
    fn zipf_prefers_few_places_that_lie_apart() {
        let zipf = Distribution::Zipf { theta: 1.2 };
        let stream = Stream { distribution: zipf, ..stream(Pattern::Random, 4096) };
        let mut offsets = Offsets::new(&stream, 1 << 30, 0, &cursor());
        let mut counts = HashMap::new();
        for offset in take(&mut offsets, 4096, 20_000) {
            *counts.entry(offset).or_insert(0) += 1;
        }
        let mut top: Vec<_> = counts.into_iter().collect();
        top.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        assert!(top[0].1 > 2000, "the first of Zipf 1.2 receives about a fifth: {top:?}");
        assert!(top[0].0.abs_diff(top[1].0) > 1 << 20, "the hottest two are not neighbours");
    }

    #[test]
    fn a_hot_zone_receives_its_share() {
        let hot = Distribution::Hot { span_percent: 20.0, access_percent: 80.0 };
        let stream = Stream { distribution: hot, ..stream(Pattern::Random, 4096) };
        let mut offsets = Offsets::new(&stream, 1000 * 4096, 0, &cursor());
        let offsets = take(&mut offsets, 4096, 20_000);
        let in_hot = offsets.iter().filter(|o| **o < 200 * 4096).count();
        assert!((15_700..16_300).contains(&in_hot), "{in_hot}");
    }

    /// A share of 30 % jumped and came back, so that 51 % of the I/Os were not adjacent to the one
    /// before.
    #[test]
    fn an_order_continues_from_where_it_jumped() {
        for pattern in [Pattern::Sequential, Pattern::SequentialShared] {
            let stream = Stream { random_percent: 30, ..stream(pattern, 4096) };
            let mut offsets = Offsets::new(&stream, 1 << 40, 0, &cursor());
            let offsets = take(&mut offsets, 4096, 20_000);
            let jumps = offsets.windows(2).filter(|pair| pair[1] != pair[0] + 4096).count();
            assert!((5700..6300).contains(&jumps), "{jumps} of 20 000");
        }
        let stride = Pattern::Stride { stride_bytes: Bytes(16_384) };
        let stream = Stream { random_percent: 30, ..stream(stride, 4096) };
        let mut offsets = Offsets::new(&stream, 1 << 40, 0, &cursor());
        let offsets = take(&mut offsets, 4096, 20_000);
        let jumps = offsets.windows(2).filter(|pair| pair[1] != pair[0] + 16_384).count();
        assert!((5700..6300).contains(&jumps), "{jumps} of 20 000");
    }

    proptest! {
        #[test]
        fn every_offset_is_aligned_and_inside(
            pattern in prop_oneof![
                Just(Pattern::Random), Just(Pattern::Sequential), Just(Pattern::SequentialShared),
                (1u64..100).prop_map(|n| Pattern::Stride { stride_bytes: Bytes(n * 512) }),
                Just(Pattern::Matrix { columns: 4, rows: 1, same_column: false }),
            ],
            distribution in prop_oneof![
                Just(Distribution::Uniform), Just(Distribution::Zipf { theta: 0.99 }),
                Just(Distribution::Hot { span_percent: 3.0, access_percent: 90.0 }),
            ],
            sectors in 1u64..64, extra in 0u64..5000, start in 0u64..100, thread in 0u32..4,
                random in 0u8..=100,
            seed: u64,
        ) {
            let block = sectors * 512;
            let stream = Stream {
                distribution, random_percent: random, threads: 4,
                offset_bytes: Bytes(start * 512), span_bytes: Some(Bytes(4 * block + extra * 512)),
                align_bytes: Some(Bytes(512)), ..stream(pattern, block)
            };
            let mut offsets = Offsets::new(&stream, u64::MAX, thread, &cursor());
            let mut choices = Random::new(seed, 0);
            for _ in 0..200 {
                let offset = offsets.next(&mut choices, 0, block);
                prop_assert_eq!(offset % 512, 0);
                prop_assert!(offset >= start * 512);
                prop_assert!(offset + block <= (start + extra) * 512 + 4 * block);
            }
        }

        /// Sums of sizes near 2^64 wrapped around, and I/Os went to the beginning of the target.
        #[test]
        fn nothing_overflows_at_the_end_of_the_range(
            pattern in prop_oneof![
                Just(Pattern::Random), Just(Pattern::Sequential), Just(Pattern::SequentialShared),
                (0u64..4).prop_map(|n| Pattern::Stride { stride_bytes: Bytes(u64::MAX >> n) }),
            ],
            distribution in prop_oneof![
                Just(Distribution::Uniform), Just(Distribution::Zipf { theta: 0.99 }),
                Just(Distribution::Hot { span_percent: 3.0, access_percent: 90.0 }),
            ],
            size in prop_oneof![Just(u64::MAX), Just(1u64 << 63), Just((1u64 << 62) + 5)],
            align in prop_oneof![Just(1u64), Just(512), Just(u64::MAX)],
            start in prop_oneof![Just(0u64), Just(1 << 62), Just(1 << 40)],
            block in 1u64..=1 << 30, thread in 0u32..4, seed: u64,
        ) {
            let stream = Stream {
                distribution, threads: 4, offset_bytes: Bytes(start),
                    align_bytes: Some(Bytes(align)),
                ..stream(pattern, block)
            };
            prop_assume!(size - start >= block);
            let mut offsets = Offsets::new(&stream, size, thread, &cursor());
            let mut choices = Random::new(seed, 0);
            for _ in 0..50 {
                let offset = offsets.next(&mut choices, 0, block);
                prop_assert!(offset >= start);
                prop_assert!(offset.checked_add(block).is_some_and(|end| end <= size));
            }
        }
    }
}
