//! Tests of DiskSpd's order: its formulas where they are worked out by hand, and its shares.

use super::*;
use proptest::prelude::*;
use workload::{Block, Bytes, DiskspdSlices};

fn order(access: DiskspdAccess, step: u64) -> DiskspdOrder {
    DiskspdOrder {
        access,
        step_bytes: Bytes(step),
        thread_stride_bytes: Bytes(0),
        slices: DiskspdSlices::default(),
    }
}

fn stream(block: u64, order: DiskspdOrder) -> Stream {
    let blocks = vec![Block { bytes: Bytes(block), weight: 1 }];
    Stream { blocks, diskspd: Some(order), ..Stream::default() }
}

/// Some I/Os of each thread of a stream, the threads in turn.
fn take(stream: &Stream, span: u64, seed: u64, ios: u64) -> Vec<(u32, u64, Op)> {
    let cursor = Arc::default();
    let order = stream.diskspd.as_ref().unwrap();
    let mut threads: Vec<(Random, Ordered)> = (0..stream.threads)
        .map(|n| (Random::new(seed, n.into()), Ordered::new(stream, order, span, n, &cursor)))
        .collect();
    let mut taken = Vec::new();
    for io in 0..ios {
        for (n, (random, ordered)) in (0..).zip(&mut threads) {
            let slot = u32::try_from(io % u64::from(stream.depth)).unwrap();
            let (op, at) = ordered.next(random, slot);
            taken.push((n, at, op));
        }
    }
    taken
}

fn offsets(stream: &Stream, span: u64, ios: u64) -> Vec<u64> {
    take(stream, span, 0, ios).into_iter().map(|(_, at, _)| at).collect()
}

/// Five steps are just beyond 64 bits: the end was then no multiple of the step, and neither were
/// places of the last slice.
#[test]
fn steps_that_do_not_fit_64_bits_keep_to_their_multiples() {
    let step = u64::MAX / 5 + 1;
    let order = DiskspdOrder {
        slices: DiskspdSlices::Percent(vec![(1, 5), (1, 50), (1, 45)]),
        ..order(DiskspdAccess::Random, step)
    };
    for at in offsets(&stream(1, order), 16_025_122_990_507_370_582, 100) {
        assert!(at.is_multiple_of(step), "{at}");
    }
}

/// The cursor goes back to the remainder of the thread's start, not to the start itself.
#[test]
fn a_thread_that_comes_to_the_end_goes_to_the_beginning_of_the_target() {
    let order = DiskspdOrder {
        thread_stride_bytes: Bytes(40_960),
        ..order(DiskspdAccess::Sequential, 16_384)
    };
    let stream = Stream { threads: 2, ..stream(8192, order) };
    let second: Vec<u64> = take(&stream, 81_920, 0, 5)
        .into_iter()
        .filter_map(|(n, at, _)| (n == 1).then_some(at))
        .collect();
    assert_eq!(second, [40_960, 57_344, 73_728, 8192, 24_576]);
}

#[test]
fn steps_may_be_smaller_or_larger_than_the_block() {
    let of = |step| offsets(&stream(4096, order(DiskspdAccess::Sequential, step)), 10_000, 5);
    assert_eq!(of(2000), [0, 2000, 4000, 0, 2000]);
    assert_eq!(of(5000), [0, 5000, 0, 5000, 0]);
    assert_eq!(of(1 << 40), [0; 5]);
}

#[test]
fn each_outstanding_io_has_a_cursor_of_its_own() {
    let stream = Stream { depth: 2, ..stream(4096, order(DiskspdAccess::Parallel, 4096)) };
    assert_eq!(offsets(&stream, 12_288, 8), [0, 0, 4096, 4096, 8192, 8192, 0, 0]);
}

/// 9000 bytes have places at 0 and 4096 for 4096 bytes; offsets count from the beginning of the
/// used part.
#[test]
fn the_used_part_may_begin_anywhere() {
    let order = order(DiskspdAccess::Interlocked, 4096);
    let stream = Stream { offset_bytes: Bytes(100), ..stream(4096, order) };
    assert_eq!(offsets(&stream, 9000, 4), [100, 4196, 100, 4196]);
}

/// Until the next random step, a mixed order goes one way: runs are all reads or all writes.
#[test]
fn a_mixed_order_keeps_its_direction_until_it_jumps() {
    let order = order(DiskspdAccess::Mixed { random_percent: 20 }, 4096);
    let stream = Stream { write_percent: 50, ..stream(4096, order) };
    let taken = take(&stream, 1 << 40, 7, 2000);
    let (mut changes, mut jumps) = (0, 0);
    for pair in taken.windows(2) {
        let jumped = pair[1].1 != pair[0].1 + 4096;
        jumps += u32::from(jumped);
        if pair[0].2 != pair[1].2 {
            assert!(jumped, "{pair:?}");
            changes += 1;
        }
    }
    assert!((320..480).contains(&jumps), "{jumps}");
    assert!((140..260).contains(&changes), "{changes}");
}

#[test]
fn slices_receive_their_shares() {
    let slices =
        DiskspdSlices::Absolute(vec![(10, Bytes(65_536)), (0, Bytes(65_536)), (90, Bytes(0))]);
    let order = DiskspdOrder { slices, ..order(DiskspdAccess::Random, 4096) };
    let offsets = offsets(&stream(4096, order), 1 << 20, 10_000);
    let share = offsets.iter().filter(|at| **at < 65_536).count();
    assert!((900..1100).contains(&share), "{share}");
    assert!(!offsets.iter().any(|at| (65_536..131_072).contains(at)));
    assert!(offsets.iter().all(|at| at % 4096 == 0));
}

fn accesses() -> impl Strategy<Value = DiskspdAccess> {
    prop_oneof![
        Just(DiskspdAccess::Random),
        any::<u8>().prop_map(|random_percent| DiskspdAccess::Mixed { random_percent }),
        Just(DiskspdAccess::Sequential),
        Just(DiskspdAccess::Interlocked),
        Just(DiskspdAccess::Parallel),
    ]
}

fn any_slices() -> impl Strategy<Value = DiskspdSlices> {
    let share = || prop_oneof![1u8..=30, 0u8..=100];
    let length = prop_oneof![0u64..1 << 18, any::<u64>()].prop_map(Bytes);
    prop_oneof![
        prop::collection::vec((share(), share()), 0..6).prop_map(DiskspdSlices::Percent),
        prop::collection::vec((share(), length), 0..6).prop_map(DiskspdSlices::Absolute),
    ]
}

proptest! {
    /// Whatever is asked for, also what no check lets pass: no overflow, and every I/O inside the
    /// used part.
    #[test]
    fn every_io_is_inside_and_on_its_step(
        access in accesses(), slices in any_slices(),
        span in prop_oneof![1u64..1 << 20, Just(1 << 62), any::<u64>()],
        block in prop_oneof![1u64..1 << 17, Just(4096)],
        step in prop_oneof![1u64..1 << 17, Just(4096), any::<u64>()],
        stride in prop_oneof![Just(0), 0u64..1 << 20, any::<u64>()],
        start in prop_oneof![Just(0u64), any::<u64>()],
        thread in 0u32..5, depth in 1u32..4, write_percent: u8, seed: u64,
    ) {
        prop_assume!(span >= block && start.checked_add(span).is_some());
        let order = DiskspdOrder { access, step_bytes: Bytes(step),
            thread_stride_bytes: Bytes(stride), slices };
        let stream = Stream { depth, write_percent, offset_bytes: Bytes(start),
            ..stream(block, order.clone()) };
        let mut random = Random::new(seed, 0);
        let mut ordered =
            Ordered::new(&stream, &order, span, thread, &Arc::new(AtomicU64::new(seed)));
        let drawn = matches!(access, DiskspdAccess::Random);
        for io in 0..100 {
            let (_, at) = ordered.next(&mut random, io % depth);
            prop_assert!(at >= start && at - start <= span - block, "{at}");
            prop_assert!(!drawn || (at - start).is_multiple_of(step.max(1)), "{at}");
        }
    }
}
