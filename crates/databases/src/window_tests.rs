//! What follows from two samples.

use super::*;

fn object(name: &str, reads: u64, read_time_ps: Option<u64>) -> ObjectCounters {
    ObjectCounters {
        object: name.to_owned(),
        reads: Some(reads),
        read_time_ps,
        ..ObjectCounters::default()
    }
}

fn sample(at_s: u64, objects: Vec<ObjectCounters>) -> DatabaseSample {
    DatabaseSample {
        at_ns: at_s * 1_000_000_000,
        database_at_ns: None,
        instance: "a".to_owned(),
        uptime_s: None,
        reconnections: 0,
        objects,
        counters: Vec::new(),
        notes: Vec::new(),
    }
}

fn one(before: ObjectCounters, after: ObjectCounters) -> DatabaseWindow {
    DatabaseWindow::between(&sample(0, vec![before]), &sample(2, vec![after]))
}

#[test]
fn nothing_happened_is_no_latency_of_zero() {
    let window = one(object("f", 7, Some(900)), object("f", 7, Some(900)));
    let row = &window.rows[0];
    assert_eq!((row.reads, row.read_latency_ns, row.writes), (Some(0), None, None));
    assert!(row.is_idle());
    assert_eq!((row.reads_per_s(), row.writes_per_s()), (Some(0.0), None));
}

#[test]
fn operations_without_time_have_no_latency() {
    let window = one(object("f", 7, Some(900)), object("f", 9, Some(900)));
    assert_eq!((window.rows[0].reads, window.rows[0].read_latency_ns), (Some(2), None));
    let window = one(object("f", 7, None), object("f", 9, Some(900)));
    assert_eq!(window.rows[0].read_latency_ns, None, "the clock was turned on meanwhile");
}

#[test]
fn counters_that_go_back_began_anew() {
    let window = one(object("f", 7, Some(900)), object("f", 6, Some(950)));
    assert_eq!((window.rows.len(), window.anew), (0, vec!["f".to_owned()]));
    let mut reset = object("f", 8, Some(950));
    reset.since = Some("now".to_owned());
    assert_eq!(one(object("f", 7, Some(900)), reset).anew, ["f"]);
}

#[test]
fn a_sum_of_times_that_goes_back_alone_is_no_latency() {
    let window = one(object("f", 7, Some(900)), object("f", 8, Some(800)));
    assert_eq!((window.rows[0].reads, window.rows[0].read_latency_ns), (Some(1), None));
}

#[test]
fn objects_come_and_go() {
    let before = sample(0, vec![object("gone", 5, None), object("stays", 5, None)]);
    let after = sample(4, vec![object("stays", 6, None), object("new", 3, Some(3_000_000))]);
    let window = DatabaseWindow::between(&before, &after);
    assert_eq!(window.gone, ["gone"]);
    assert_eq!(window.rows[1].reads, Some(3));
    assert_eq!(window.rows[1].read_latency_ns, Some(1000.0));
    assert_eq!(window.rows[0].reads_per_s(), Some(0.25));
}

#[test]
fn the_database_s_clock_holds_unless_it_was_set() {
    let at = |ours: u64, theirs: u64| DatabaseSample {
        database_at_ns: Some(theirs * 1_000_000_000),
        ..sample(ours, Vec::new())
    };
    let length = |a: &DatabaseSample, b: &DatabaseSample| {
        let window = DatabaseWindow::between(a, b);
        (window.seconds, window.clock)
    };
    assert_eq!(length(&at(10, 100), &at(20, 110)), (10.0, Clock::Database));
    assert_eq!(length(&at(10, 100), &at(20, 111)), (11.0, Clock::Database));
    assert_eq!(length(&at(10, 100), &at(20, 3700)), (10.0, Clock::Ours));
    assert_eq!(length(&at(10, 100), &at(20, 50)), (10.0, Clock::Ours));
    assert_eq!(length(&at(20, 100), &at(20, 100)), (0.0, Clock::Ours));
}

#[test]
fn a_server_that_ran_for_less_than_the_window_is_a_new_one() {
    let at = |ours: u64, uptime_s| DatabaseSample { uptime_s, ..sample(ours, Vec::new()) };
    let other = |a, b| DatabaseWindow::between(&a, &b).other_instance;
    assert!(!other(at(0, Some(100)), at(10, Some(110))));
    assert!(!other(at(0, Some(100)), at(10, Some(108))), "whole seconds");
    assert!(other(at(0, Some(100)), at(10, Some(3))));
    assert!(other(at(0, Some(1)), at(60, Some(30))), "started a second before, and again");
    assert!(!other(at(0, None), at(10, Some(3))));
}

#[test]
fn a_new_connection_is_told() {
    let mut later = sample(2, Vec::new());
    later.reconnections = 1;
    assert!(DatabaseWindow::between(&sample(0, Vec::new()), &later).reconnected);
}

#[test]
fn the_total_weighs_by_operations() {
    let before =
        sample(0, vec![object("a", 0, Some(0)), object("b", 0, Some(0)), object("c", 0, None)]);
    let after = sample(
        1,
        vec![
            object("a", 3, Some(3_000_000)),
            object("b", 1, Some(5_000_000)),
            object("c", 100, None),
        ],
    );
    let total = DatabaseRow::total(&DatabaseWindow::between(&before, &after).rows).unwrap();
    assert_eq!((total.reads, total.read_latency_ns), (Some(104), Some(2000.0)));
    assert_eq!((total.writes, total.write_latency_ns), (None, None));
    assert_eq!(DatabaseRow::total(&[]), None);
}

proptest::proptest! {
    /// What happened in a window is what happened in its halves, whatever the counters do.
    #[test]
    fn halves_add_up(
        start in 0_u64..1 << 62,
        first in 0_u64..1 << 40,
        second in 0_u64..1 << 40,
        time in proptest::num::u64::ANY,
        times in (1_u64..1 << 60, 1_u64..1 << 60),
    ) {
        let at = |s, reads, time| sample(s, vec![object("f", reads, Some(time))]);
        let a = at(0, start, time);
        let b = at(1, start + first, time.wrapping_add(times.0));
        let c = at(2, start + first + second, time.wrapping_add(times.0).wrapping_add(times.1));
        let sum = |row: &DatabaseRow| row.reads.unwrap() as f64 * row.read_latency_ns.unwrap_or(0.0);
        let row = |a, b| DatabaseWindow::between(a, b).rows.remove(0);
        let (whole, left, right) = (row(&a, &c), row(&a, &b), row(&b, &c));
        proptest::prop_assert_eq!(whole.reads, Some(first + second));
        if first > 0 && second > 0 {
            let (whole, halves) = (sum(&whole), sum(&left) + sum(&right));
            proptest::prop_assert!((whole - halves).abs() <= 1e-9 * whole, "{} {}", whole, halves);
        }
    }
}
