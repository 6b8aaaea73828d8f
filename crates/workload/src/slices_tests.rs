//! Tests of the slices that are used: DiskSpd's where it is right, and iosonde's where it is not.

use super::*;
use proptest::prelude::*;

fn shown(effective: &Effective) -> String {
    let slice =
        |s: &EffectiveSlice| format!("{}+{}@{}+{}", s.io_base, s.io_span, s.offset, s.length);
    effective.slices.iter().map(slice).collect::<Vec<_>>().join(" ")
}

fn pairs(text: &str) -> impl Iterator<Item = (u8, u64)> + '_ {
    let pair = |p: &str| p.split_once('/').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
    text.split_whitespace().map(move |p| pair(p).unwrap())
}

fn by_percent(text: &str) -> DiskspdSlices {
    DiskspdSlices::Percent(pairs(text).map(|(a, b)| (a, u8::try_from(b).unwrap())).collect())
}

fn by_length(text: &str) -> DiskspdSlices {
    DiskspdSlices::Absolute(pairs(text).map(|(a, b)| (a, Bytes(b))).collect())
}

#[test]
fn the_slices_are_those_of_diskspd() {
    let mut cases = 0;
    for line in include_str!("testdata/slices.txt").lines().filter(|l| !l.starts_with('#')) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let number = |i: usize| columns[i].parse::<u64>().unwrap();
        let given =
            if columns[0] == "pct" { by_percent(columns[4]) } else { by_length(columns[4]) };
        let effective = given.effective(number(1), number(2), number(3)).unwrap();
        assert_eq!(shown(&effective), columns[6], "{line}");
        assert_eq!(effective.io_span, number(5), "{line}");
        cases += 1;
    }
    assert_eq!(cases, 80);
}

/// `-rdpct80/20:15/30 -b8K` on 1 GiB: a slice had a place more than DiskSpd's, so that all of its
/// offsets were others.
#[test]
fn both_bounds_of_a_slice_are_rounded() {
    let effective = by_percent("80/20 15/30 5/50").effective(1 << 30, 8192, 8192).unwrap();
    let places: Vec<u64> = effective.slices.iter().map(|s| s.reach / 8192).collect();
    assert_eq!(places, [26_214, 39_322, 65_536]);
    let offsets: Vec<u64> = effective.slices.iter().map(|s| s.first / 8192).collect();
    assert_eq!(offsets, [0, 26_214, 65_536]);
}

/// DiskSpd crashes here: after a hole comes a slice of 1 % of 25 places.
#[test]
fn a_first_slice_without_a_place_has_the_next_one() {
    let of = |text| by_percent(text).effective(102_400, 4096, 4096).unwrap();
    assert_eq!(shown(&of("0/1 10/1 90/98")), "0+10@0+4096 10+90@4096+98304");
    assert_eq!(shown(&of("0/50 10/1 0/1 90/48")), "0+10@49152+0 10+90@53248+49152");
}

/// A slice between 48 KiB and 48 KiB has no place: the smaller of its neighbours receives its
/// share.
#[test]
fn a_slice_without_a_place_lends_its_share_to_the_smaller_neighbour() {
    let of = |text| shown(&by_percent(text).effective(102_400, 4096, 4096).unwrap());
    assert_eq!(of("50/50 1/1 49/49"), "0+50@0+49152 50+50@49152+53248");
    assert_eq!(of("49/50 1/1 50/49"), "0+50@0+49152 50+50@49152+53248");
    assert_eq!(of("60/50 1/1 0/9 39/40"), "0+60@0+49152 60+40@61440+40960");
}

/// The places of a slice of 64 KiB for I/Os of 3 KiB at multiples of 3 KiB: DiskSpd went to any
/// multiple of 1 KiB from the second slice on, and past the end of the target in the last.
#[test]
fn slices_that_are_no_whole_steps_are_aligned_and_end_inside() {
    let given = by_length("50/65536 50/65536");
    let effective = given.effective(131_072, 3072, 3072).unwrap();
    let places: Vec<(u64, u64)> = effective.slices.iter().map(|s| (s.first, s.reach)).collect();
    assert_eq!(places, [(0, 21 * 3072), (22 * 3072, 20 * 3072)]);
    let tail = by_length("10/98304 90/0").effective(102_400, 3072, 3072).unwrap();
    assert_eq!((tail.slices[1].first, tail.slices[1].reach), (98_304, 3072));
    // A tail of whole steps ends after the last place of a block that is longer than a step.
    let tail = by_length("10/98304 90/0").effective(1 << 20, 65_536, 512).unwrap();
    let last = tail.slices[1];
    assert_eq!(last.first + last.reach - 512 + 65_536, 1 << 20);
}

/// DiskSpd spread the I/Os over the whole target.
#[test]
fn nothing_left_is_an_error() {
    let error = by_length("0/1048576 100/65536").effective(102_400, 4096, 4096).unwrap_err();
    assert_eq!(error, SlicesError::NothingLeft(Bytes(102_400)));
    let error = by_percent("100/100").effective(4095, 4096, 4096).unwrap_err();
    assert_eq!(error, SlicesError::TooSmall(Bytes(4095)));
    assert!(DiskspdSlices::default().effective(1 << 20, 4096, 4096).is_err());
}

/// Whatever is asked of any target: places are in order, aligned, and whole I/Os fit.
fn sound(effective: &Effective, rel: u64, block: u64, step: u64) -> Result<(), TestCaseError> {
    let (mut shares, mut behind) = (0, 0);
    for slice in &effective.slices {
        prop_assert_eq!(slice.io_base, shares);
        shares += slice.io_span;
        prop_assert!(slice.io_span > 0 && slice.reach > 0);
        prop_assert!(slice.first >= behind && slice.first.is_multiple_of(step), "{:?}", slice);
        let last = slice.first + (slice.reach - 1) / step * step;
        prop_assert!(last.checked_add(block).is_some_and(|end| end <= rel), "{:?}", slice);
        behind = last + 1;
    }
    prop_assert_eq!(shares, effective.io_span);
    Ok(())
}

fn sizes() -> impl Strategy<Value = (u64, u64, u64)> {
    let rel = prop_oneof![0u64..1 << 20, Just(u64::MAX), Just(1 << 62), any::<u64>()];
    let block = prop_oneof![1u64..1 << 17, Just(4096), Just(1 << 30)];
    let step = prop_oneof![1u64..1 << 17, Just(4096), Just(u64::MAX), Just(0)];
    (rel, block, step)
}

proptest! {
    #[test]
    fn slices_in_percent_are_sound(
        (rel, block, step) in sizes(),
            given in prop::collection::vec((0u8..=100, prop_oneof![1u8..=15, 0u8..=100]), 0..12),
    ) {
        let sum = given.iter().map(|p| u64::from(p.0)).sum::<u64>();
        let extents = given.iter().map(|p| u64::from(p.1));
        let whole = extents.clone().sum::<u64>() <= 100 && extents.clone().all(|e| e > 0);
        if let Ok(effective) = DiskspdSlices::Percent(given).effective(rel, block, step) {
            sound(&effective, rel, block, step.max(1))?;
            prop_assert!(!whole || effective.io_span == sum, "no share is lost");
        }
    }

    #[test]
    fn slices_by_length_are_sound(
        (rel, block, step) in sizes(),
        given in prop::collection::vec((0u8..=100, prop_oneof![0u64..1 << 18, any::<u64>()]),
            0..12),
    ) {
        let given = given.into_iter().map(|(io, bytes)| (io, Bytes(bytes))).collect();
        if let Ok(effective) = DiskspdSlices::Absolute(given).effective(rel, block, step) {
            sound(&effective, rel, block, step.max(1))?;
        }
    }
}
