//! No trace makes a replay panic, run forever, or leave the target.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use replay::{AddressMap, Contents, MapKind, Mode, PlayOptions, Selection, Steps, play};
use trace::{Io, Kind};
use workload::SimDevice;

use crate::{DEPTH, queue, source};

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..100_000u64, Just(u64::MAX), Just(u64::MAX - 511), any::<u64>()]
}

fn io() -> impl Strategy<Value = Io> {
    let kind = prop::sample::select(Kind::ALL.to_vec());
    (number(), option::of(number()), 0..3u32, number(), number(), kind).prop_map(
        |(issued_ns, latency_ns, device, offset_bytes, length_bytes, kind)| Io {
            issued_ns,
            latency_ns,
            device,
            stream: 0,
            offset_bytes,
            length_bytes,
            kind,
        },
    )
}

fn selection() -> impl Strategy<Value = Selection> {
    (number(), number(), 0.01..1000.0f64, 0.01..5.0f64, any::<bool>()).prop_map(
        |(from_ns, to_ns, speed, users, looped)| Selection { from_ns, to_ns, speed, users, looped },
    )
}

proptest! {
    #[test]
    fn any_trace_is_replayed_within_its_target(
        ios in vec(io(), 0..40),
        selection in selection(),
        mode in prop::sample::select(vec![Mode::AsTimed, Mode::Closed, Mode::Dependent]),
        kind in prop::sample::select(vec![
            MapKind::Identity, MapKind::Compact, MapKind::Stretched, MapKind::Folded,
        ]),
        size in 1u64..64,
        align in prop::sample::select(vec![1u64, 512, 4096]),
    ) {
        let open = source(&Arc::new(ios));
        let contents = Contents::read(&open, &selection).unwrap();
        let size = size << 20;
        let map = AddressMap::new(kind, &contents, size, align);
        for step in Steps::new(&open, &selection, &contents, map.clone()).unwrap().take(200) {
            let step = step.unwrap();
            prop_assert!(step.offset + u64::from(step.bytes) <= size);
            prop_assert!(step.offset % align == 0 && u64::from(step.bytes) % align == 0);
        }
        let mut steps = Steps::new(&open, &selection, &contents, map).unwrap();
        let options = PlayOptions {
            mode,
            depth: DEPTH,
            // A loop may be a nanosecond long.
            at_most_ns: 500_000,
            interval_ns: 1,
            span_ns: contents.span_ns,
            stop: &AtomicBool::new(false),
            content: None,
        };
        let model = SimDevice::default();
        let played = play(queue(&model, size, 1).as_mut(), &mut steps, options).unwrap();
        prop_assert!(played.intervals.len() <= 256);
        prop_assert_eq!((played.errors, played.unfinished), (0, 0));
    }

    /// Side by side means: in their order, each once, and nothing between.
    #[test]
    fn the_compact_map_keeps_order_and_neighbours(
        ios in vec((0..3u32, 0..200u64), 1..60),
    ) {
        let io = |(device, region): &(u32, u64)| Io {
            issued_ns: 0,
            latency_ns: None,
            device: *device,
            stream: 0,
            offset_bytes: (region << 20) + 8192,
            length_bytes: 4096,
            kind: Kind::Read,
        };
        let open = source(&Arc::new(ios.iter().map(io).collect()));
        let contents = Contents::read(&open, &Selection::default()).unwrap();
        let mut used = ios;
        used.sort_unstable();
        used.dedup();
        prop_assert_eq!(contents.touched_bytes(), (used.len() as u64) << 20);
        let size = contents.touched_bytes();
        let map = AddressMap::new(MapKind::Compact, &contents, size, 512);
        prop_assert!(map.fits());
        for (index, (device, region)) in used.iter().enumerate() {
            let placed = map.place(*device, (region << 20) + 8192, 4096);
            prop_assert_eq!(placed, (((index as u64) << 20) + 8192, 4096));
        }
    }
}
