//! Runs that are found in recordings.

use counters::DiskTally;
use monitor::crop::{Run, find, sums};
use proptest::prelude::*;
use results::{FoundBy, RecordedPoint};

/// Points of a tenth of a second in which a device made so many writes.
fn points(writes: impl IntoIterator<Item = u64>) -> Vec<RecordedPoint> {
    let point = |(n, writes): (usize, u64)| {
        let tally = DiskTally { writes, written_bytes: writes * 8192, ..DiskTally::default() };
        let disks = if writes > 0 { [("vda".to_owned(), tally)].into() } else { [].into() };
        let t = (n + 1) as f64 / 10.0;
        RecordedPoint { t, seconds: 0.1, windows: 1, disks, ..RecordedPoint::default() }
    };
    writes.into_iter().enumerate().map(point).collect()
}

fn run(seconds: f64) -> Run {
    Run { reads: false, writes: true, warmup_s: 0.0, seconds, began_s: None, not_before_s: 0.0 }
}

#[test]
fn a_run_between_idle_seconds_is_found_by_itself() {
    // A test of SQLIO: 526 writes a second for 12 s, between 3 s of nothing, a file that is made,
    // and 5 s of nothing.
    let before = std::iter::repeat_n(0, 30).chain(std::iter::repeat_n(9, 20));
    let writes = before.chain(std::iter::repeat_n(53, 120)).chain(std::iter::repeat_n(0, 50));
    let points = points(writes);
    let place = find(&points, &["vda"], &run(12.0)).unwrap();
    assert!((place.from_s - 5.0).abs() < 1e-6 && (place.to_s - 17.0).abs() < 1e-6, "{place:?}");
    assert_eq!(place.found, FoundBy::Activity);
    let (sums, seconds) = sums(&points, &["vda"], &place);
    assert_eq!((sums[0].writes, (seconds * 10.0).round()), (53 * 120, 120.0));
    assert!((place.edge_percent - 100.0 / 120.0).abs() < 1e-6);
}

#[test]
fn what_came_before_the_measured_time_is_left_out() {
    let points = points([0, 0, 0, 0].into_iter().chain([40; 70]).chain([0; 10]));
    let warm = Run { warmup_s: 2.0, ..run(5.0) };
    let place = find(&points, &["vda"], &warm).unwrap();
    assert!((place.from_s - 2.4).abs() < 1e-6 && (place.to_s - 7.4).abs() < 1e-6, "{place:?}");
    let second = Run { not_before_s: 3.0, ..run(2.0) };
    assert!(find(&points, &["vda"], &second).unwrap().from_s >= 3.0 - 1e-6);
    let known = Run { began_s: Some(1.0), ..run(3.0) };
    let place = find(&points, &["vda"], &known).unwrap();
    assert_eq!((place.found, place.end - place.first), (FoundBy::Time, 30));
}

/// Seconds without counts were taken for idle ones, so that the kernel's figures were too low.
#[test]
fn a_run_is_not_compared_with_a_device_that_was_not_counted_all_the_time() {
    let mut points = points([10; 50]);
    points[20].missing = vec!["vda".to_owned()];
    points[20].disks.clear();
    let known = |began_s| Run { began_s: Some(began_s), ..run(1.0) };
    assert_eq!(find(&points, &["vda"], &known(1.5)), None);
    assert!(find(&points, &["vda"], &known(2.5)).is_some());
}

#[test]
fn a_run_that_is_not_in_the_recording_is_not_found() {
    let busy = points([10; 50]);
    assert_eq!(find(&busy, &["vda"], &run(60.0)), None, "longer than the recording");
    assert_eq!(find(&busy, &["sda"], &run(2.0)), None, "another device");
    assert_eq!(find(&busy, &["vda"], &Run { reads: true, writes: false, ..run(2.0) }), None);
    assert_eq!(find(&busy, &["vda"], &Run { began_s: Some(90.0), ..run(2.0) }), None);
    assert_eq!(find(&[], &["vda"], &run(2.0)), None);
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(find(&busy, &["vda"], &run(seconds)), None);
    }
}

proptest! {
    #[test]
    fn a_run_that_is_busier_than_what_is_around_it_is_found_where_it_was(
        before in 0..100_usize,
        length in 20..200_usize,
        after in 0..100_usize,
        noise in 0..20_u64,
    ) {
        let writes = std::iter::repeat_n(noise, before)
            .chain(std::iter::repeat_n(noise + 30, length))
            .chain(std::iter::repeat_n(noise, after));
        let points = points(writes);
        let place = find(&points, &["vda"], &run(length as f64 / 10.0)).unwrap();
        prop_assert!(place.first.abs_diff(before) <= 1, "{place:?} {before}");
        prop_assert!(place.end.abs_diff(before + length) <= 1, "{place:?}");
    }

    #[test]
    fn no_recording_and_no_run_makes_it_panic(
        writes in prop::collection::vec(0..100_u64, 0..60),
        seconds in any::<f64>(),
        warmup_s in any::<f64>(),
        began_s in prop::option::of(any::<f64>()),
        not_before_s in any::<f64>(),
    ) {
        let points = points(writes);
        let run = Run { reads: true, writes: true, warmup_s, seconds, began_s, not_before_s };
        if let Some(place) = find(&points, &["vda"], &run) {
            prop_assert!(place.first < place.end && place.end <= points.len());
        }
    }
}
