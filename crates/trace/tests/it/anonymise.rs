//! Other offsets, and everything else as it was.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use trace::profile::{Profile, Summary};
use trace::{Io, Kind, Permutation, Regions};

const PAGE: u64 = 4096;
const MIB: u64 = 1 << 20;

/// An order that nobody knows without the secret.
fn key(secret: u64) -> impl Fn(u32, u64) -> u64 {
    move |device, region| {
        let mixed = (region ^ secret).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(device);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }
}

fn permutation(ios: &[Io], secret: u64) -> Permutation {
    let mut regions = Regions::default();
    for io in ios {
        regions.add(io);
    }
    regions.permuted(key(secret))
}

fn moved(ios: &[Io], secret: u64) -> Vec<Io> {
    let permutation = permutation(ios, secret);
    ios.iter().map(|io| permutation.io(io).unwrap()).collect()
}

fn io(issued_ns: u64, offset_bytes: u64, length_bytes: u64) -> Io {
    let (latency_ns, kind) = (Some(1000), Kind::Read);
    Io { issued_ns, latency_ns, device: 0, stream: 0, offset_bytes, length_bytes, kind }
}

/// Some hot places, some anywhere, some across the edge of a region, some in runs.
fn any_io() -> impl Strategy<Value = Io> {
    let offset = prop_oneof![
        (0..64_u64).prop_map(|page| page * PAGE),
        (0..1_u64 << 30).prop_map(|page| page * PAGE),
        (1..40_u64).prop_map(|region| region * MIB - PAGE),
        any::<u64>(),
    ];
    let length = prop_oneof![Just(PAGE), Just(2 * PAGE), Just(0), 0..4 * MIB, any::<u64>()];
    (offset, length, 0..3_u32, 0..5_usize, any::<u32>()).prop_map(|(offset, length, d, kind, t)| {
        Io { device: d, kind: Kind::ALL[kind], ..io(u64::from(t), offset, length) }
    })
}

fn profile(ios: &[Io]) -> Summary {
    let mut profile = Profile::new();
    for io in ios {
        profile.add(io);
    }
    profile.finish()
}

/// The pages that an I/O touches, by device, at both ends: what is in one piece has no others.
fn edges(io: &Io) -> [(u32, u64); 2] {
    let last = io.offset_bytes.saturating_add(io.length_bytes).max(1) - 1;
    [io.offset_bytes, last.max(io.offset_bytes)].map(|offset| (io.device, offset / PAGE))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Times, sizes, kinds and devices stay, and any trace is taken.
    #[test]
    fn only_offsets_change(ios in vec(any_io(), 0..100), secret in any::<u64>()) {
        for (before, after) in ios.iter().zip(moved(&ios, secret)) {
            prop_assert_eq!(Io { offset_bytes: before.offset_bytes, ..after }, *before);
            prop_assert_eq!(before.offset_bytes % MIB, after.offset_bytes % MIB);
        }
    }

    /// Two places are the same after that if they were before: a bijection of what is touched.
    #[test]
    fn what_is_the_same_place_stays_the_same(ios in vec(any_io(), 0..100), secret in any::<u64>()) {
        let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
        let placed = |io: &&Io| io.kind != Kind::Flush;
        let after = moved(&ios, secret);
        for (before, after) in ios.iter().filter(placed).zip(after.iter().filter(placed)) {
            // Beyond the last address, there is no page to compare.
            let fits = before.offset_bytes.checked_add(before.length_bytes).is_some();
            let edges = edges(before).into_iter().zip(edges(after));
            for (old, new) in edges.take(1 + usize::from(fits)) {
                prop_assert_eq!(*there.entry(old).or_insert(new), new);
                prop_assert_eq!(*back.entry(new).or_insert(old), old);
            }
        }
    }

    /// Hence so do the hot set, the cache's curve and what is read after it was written. Runs stay
    /// within a group.
    #[test]
    fn what_a_cache_serves_stays(
        pages in vec((0..8000_u64, 1..600_u64, any::<bool>()), 1..300), secret in any::<u64>(),
    ) {
        let ios: Vec<Io> = (0..)
            .zip(&pages)
            .map(|(i, (page, length, is_write))| {
                let kind = if *is_write { Kind::Write } else { Kind::Read };
                Io { kind, ..io(i * 1000, page * PAGE, length * PAGE) }
            })
            .collect();
        let (before, after) = (profile(&ios), profile(&moved(&ios, secret)));
        prop_assert_eq!(before.locality, after.locality);
        prop_assert_eq!((before.kinds, before.depth), (after.kinds, after.depth));
    }
}

/// A log that passes from region to region, between reads of pages anywhere.
#[test]
fn runs_stay_in_order() {
    let page = |i: u64| i.wrapping_mul(7919) % 100_000;
    let ios: Vec<Io> = (0..20_000)
        .flat_map(|i| {
            let log = Io { kind: Kind::Write, ..io(2 * i, (1 << 40) + i * PAGE, PAGE) };
            [log, io(2 * i + 1, page(i) * PAGE, PAGE)]
        })
        .collect();
    let (before, after) = (profile(&ios), profile(&moved(&ios, 7)));
    let (before, after) = (before.write_sequence.unwrap(), after.write_sequence.unwrap());
    // The log has 78 MiB: it is torn once, where a group would have more than 64 regions.
    assert!(before.sequential - after.sequential < 0.0002, "{before:?} {after:?}");
}

/// Who has a trace and its original order of regions does not learn the new one.
#[test]
fn the_order_depends_on_the_secret() {
    let ios: Vec<Io> = (0..100).map(|i| io(i, i * 10 * MIB, PAGE)).collect();
    let [first, second, again] = [1, 2, 1].map(|secret| moved(&ios, secret));
    assert_ne!(first, second);
    assert_eq!(first, again);
    let found = permutation(&ios, 1);
    assert_eq!((found.groups(), found.device_bytes(0)), (100, Some(100 * MIB)));
    let same = first.iter().zip(&ios).filter(|(a, b)| a.offset_bytes * 10 == b.offset_bytes);
    assert!(same.count() < 20, "most regions stayed where they were");
}
