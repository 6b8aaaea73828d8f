//! The same load on the same model gives the same figures; what differs is known, too.

use std::sync::Arc;

use replay::{Figures, Mode, Selection};
use trace::{Io, Kind};
use workload::{Nanoseconds, SimDevice, SimService};

use crate::database::{self, Plan};
use crate::{queue, replayed, replayed_on};

/// A device that is about half used by the database.
fn model() -> SimDevice {
    SimDevice {
        servers: 8,
        read_ns: Nanoseconds(200_000),
        write_ns: Nanoseconds(150_000),
        durable_ns: Some(Nanoseconds(100_000)),
        ..SimDevice::default()
    }
}

fn plan() -> Plan {
    Plan {
        users: 48,
        think_ns: 8_000_000,
        reads: 3,
        pages: 100_000,
        checkpoint_ns: 2_000_000_000,
        seconds: 4.0,
    }
}

/// IOPS within one share of those of the trace, and p50 and p99 of each class within another.
fn assert_faithful(
    recorded: &database::Recorded,
    figures: &Figures,
    (iops_within, latency_within): (f64, f64),
) {
    let iops = figures.iops() * recorded.seconds / recorded.ios.len() as f64;
    assert!((iops - 1.0).abs() < iops_within, "{iops}");
    for class in [0, 1, 2] {
        for q in [0.5, 0.99] {
            let was = recorded.latencies[class].quantile(q).unwrap() as f64;
            let is = figures.classes[class].from_due.quantile(q).unwrap() as f64;
            assert!(
                (is / was - 1.0).abs() < latency_within,
                "class {class}, {q}: {is} instead of {was}"
            );
        }
    }
}

#[test]
fn a_replay_on_the_same_model_gives_the_recorded_figures() {
    for seed in 1..=3 {
        let recorded = database::run(plan(), &model(), seed);
        let ios = Arc::new(recorded.ios.clone());
        for mode in [Mode::AsTimed, Mode::Dependent] {
            let figures = replayed(&ios, &Selection::default(), mode, &model(), seed + 100);
            assert_faithful(&recorded, &figures, (0.01, 0.05));
            assert_eq!(figures.ios(), ios.len() as u64);
        }
    }
}

/// Where each I/O takes another time than when it was recorded, a user's next I/O does not come at
/// the time in the trace: what waits for completions is nearer than an open loop.
#[test]
fn on_a_device_of_chance_the_dependent_replay_is_faithful() {
    let model = SimDevice { service: SimService::Exponential, ..model() };
    let recorded = database::run(Plan { users: 36, seconds: 10.0, ..plan() }, &model, 5);
    let ios = Arc::new(recorded.ios.clone());
    let figures = replayed(&ios, &Selection::default(), Mode::Dependent, &model, 105);
    // Parents are those that took long when recorded: the second time they take less.
    assert_faithful(&recorded, &figures, (0.06, 0.12));
}

#[test]
fn a_target_that_is_too_slow_builds_up_a_backlog_only_in_an_open_loop() {
    let recorded = database::run(plan(), &model(), 1);
    let ios = Arc::new(recorded.ios);
    let slow = SimDevice { servers: 2, ..model() };
    let open = replayed(&ios, &Selection::default(), Mode::AsTimed, &slow, 1);
    assert!(open.backlog_ns > 500_000_000 && open.waited > 1000, "{}", open.backlog_ns);
    let dependent = replayed(&ios, &Selection::default(), Mode::Dependent, &slow, 1);
    assert_eq!((dependent.waited, dependent.ios()), (0, ios.len() as u64));
    assert!(dependent.elapsed_ns > 6_000_000_000, "{}", dependent.elapsed_ns);
}

#[test]
fn a_closed_loop_keeps_the_depth_and_leaves_out_pauses() {
    let io = |issued_ms: u64, latency_ms: u64| Io {
        issued_ns: issued_ms * 1_000_000,
        latency_ns: Some(latency_ms * 1_000_000),
        device: 0,
        stream: 0,
        offset_bytes: issued_ms << 20,
        length_bytes: 4096,
        kind: Kind::Read,
    };
    // Two at a time, then a pause of a second, then one.
    let ios = Arc::new(vec![io(0, 10), io(1, 10), io(1000, 10)]);
    let model = SimDevice { read_ns: Nanoseconds(1_000_000), ..SimDevice::default() };
    let figures = replayed(&ios, &Selection::default(), Mode::Closed, &model, 1);
    assert_eq!((figures.most_in_flight, figures.elapsed_ns), (2, 2_000_000));
}

#[test]
fn users_speed_and_thinning_change_the_load_as_they_say() {
    let recorded = database::run(plan(), &model(), 1);
    let ios = Arc::new(recorded.ios);
    let fast = SimDevice { servers: 64, ..model() };
    let of = |selection: Selection| replayed(&ios, &selection, Mode::AsTimed, &fast, 1);
    let (one, three) =
        (of(Selection::default()), of(Selection { users: 3.0, ..Selection::default() }));
    assert_eq!(three.ios(), 3 * one.ios(), "copies lose nothing where they are shifted");
    assert!(three.elapsed_ns.abs_diff(one.elapsed_ns) < 50_000_000);
    let half = of(Selection { users: 1.5, ..Selection::default() });
    let share = half.ios() as f64 / one.ios() as f64;
    assert!((share - 1.5).abs() < 0.1, "{share}");
    let quick = of(Selection { speed: 2.0, ..Selection::default() });
    assert_eq!(quick.ios(), one.ios());
    assert!((quick.elapsed_ns * 2).abs_diff(one.elapsed_ns) < 50_000_000);
    let part =
        of(Selection { from_ns: 1_000_000_000, to_ns: 2_000_000_000, ..Selection::default() });
    let inside = ios.iter().filter(|io| (1_000_000_000..2_000_000_000).contains(&io.issued_ns));
    assert_eq!(part.ios(), inside.count() as u64);
}

/// A real clock does not begin at 0. The first I/Os of a dependent replay were once due at their
/// times since the clock began, so all came at once and very late, and the host was blamed.
#[test]
fn a_clock_that_has_run_for_long_changes_nothing() {
    let ios = Arc::new(database::run(plan(), &model(), 1).ios);
    let selection = Selection { users: 2.0, ..Selection::default() };
    for mode in [Mode::AsTimed, Mode::Dependent, Mode::Closed] {
        let of = |clock_ns: u64| {
            let figures = replayed_on(&ios, &selection, mode, |size| {
                let mut queue = queue(&model(), size, 1);
                queue.wait(clock_ns).unwrap();
                queue
            });
            let lag = [0.5, 0.99, 1.0].map(|q| figures.lag.quantile(q));
            (figures.ios(), figures.elapsed_ns, figures.host.elapsed_ns, lag)
        };
        assert_eq!(of(50_000_000_000), of(0), "{mode:?}");
    }
}
