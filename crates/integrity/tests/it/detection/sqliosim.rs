//! What SQLIOSim's configurations ask for beyond users: throttling, cycles, hits, single pages,
//! several logs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use integrity::{
    Event, Phase, Place, Plan, RandomUsers, Report, Role, ScanUsers, Throttle, run, slot_bytes,
};

use crate::detection::storage::{Failure, Memory, PAGE, storage};
use crate::detection::{DATA_PAGES, LOG_BYTES, empty, places, plan, validate, validate_on};

/// Every I/O of the storage takes 10 ms.
fn with_target(milliseconds: u64, bursts: bool) -> Report {
    let throttle = Throttle { target: Duration::from_millis(milliseconds), bursts };
    let report = validate(&Plan { throttle: Some(throttle), ..plan() }, &empty(), 5);
    assert!(report.is_right() && report.failures.is_empty(), "{report:?}");
    report
}

#[test]
fn ios_slower_than_the_target_let_users_wait() {
    let fast = with_target(20, true);
    assert_eq!(fast.paced.len(), 3);
    assert!(
        fast.paced.iter().all(|p| p.throttled == 0 && p.in_flight_max >= 1),
        "{:?}",
        fast.paced
    );
    // The average began at 20 ms and has come down to what every I/O takes.
    assert!((fast.paced[0].running_average_ns / 1e6 - 10.0).abs() < 0.1, "{:?}", fast.paced);

    let slow = with_target(5, true);
    assert!(slow.paced[0].throttled > 20, "{:?}", slow.paced);
    assert!(slow.work.pages_checked < fast.work.pages_checked / 2);
    assert!(slow.work.checkpoints > 1 && slow.audit.is_some());
    assert_eq!(validate(&plan(), &empty(), 1).paced, []);
}

/// The first writing of all pages waits for nothing; reading them at the end does.
#[test]
fn bursts_are_not_throttled() {
    let one = ScanUsers { pages: (1, 1), ..plan().audit };
    let throttled = |bursts| {
        let throttle = Some(Throttle { target: Duration::from_millis(5), bursts });
        let (audit, read_ahead, bulk) = (one, one, one);
        let plan = Plan { throttle, gather_pages: 1, audit, read_ahead, bulk, ..plan() };
        let report = validate(&plan, &empty(), 0);
        assert!(report.is_right());
        report.paced[0].throttled
    };
    let (with, without) = (throttled(true), throttled(false));
    assert!(with > 100 && without > with + with / 2, "{with} and {without}");
}

#[test]
fn every_cycle_ends_with_an_audit() {
    let cycles = Plan { cycles: 3, ..plan() };
    let storage = empty();
    let seen = Mutex::new(Vec::new());
    let open = |bytes: u32| -> Result<Box<dyn engine::Queue>, String> {
        Ok(Box::new(Memory::new(&storage, cycles.depth, bytes)))
    };
    let stop = AtomicBool::new(false);
    let hear = |event: &Event| {
        if let Event::Began { phase, cycle } = event {
            seen.lock().unwrap().push((*phase, *cycle));
        }
    };
    let time = Duration::from_secs(2);
    let report = run(&cycles, &places(), time, &open, &stop, &hear).unwrap();
    assert!(report.is_right() && report.cycles == 3 && report.audit.is_some(), "{report:?}");
    assert_eq!(
        seen.into_inner().unwrap(),
        [
            (Phase::Load, 1),
            (Phase::Work, 1),
            (Phase::Audit, 1),
            (Phase::Work, 2),
            (Phase::Audit, 2),
            (Phase::Work, 3),
            (Phase::Audit, 3),
            (Phase::Log, 3)
        ]
    );

    // For ever is until somebody ends it: here in the third cycle.
    let endless = Plan { cycles: 0, ..cycles };
    let hear = |event: &Event| {
        if matches!(event, Event::Began { phase: Phase::Work, cycle: 3 }) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let report = run(&endless, &places(), time, &open, &stop, &hear).unwrap();
    assert!(report.is_right() && report.interrupted && report.cycles == 2, "{report:?}");
    assert!(report.audit.is_none());
}

#[test]
fn pages_that_are_in_memory_are_not_read() {
    let random = RandomUsers { update_percent: 0.0, ..plan().random };
    let nobody = ScanUsers { users: 0, ..plan().audit };
    let share = |percent: f64, force: bool, ahead: u32| {
        let plan = Plan {
            random: RandomUsers { users: if ahead > 0 { 0 } else { 8 }, ..random },
            read_ahead: ScanUsers { users: ahead, ..plan().read_ahead },
            cache_hit_percent: percent,
            force_read_ahead: force,
            audit: nobody,
            bulk: nobody,
            ..plan()
        };
        let report = validate(&plan, &empty(), 5);
        assert!(report.is_right());
        let read = &report.targets[0].read;
        let others = &report.targets[1].read;
        let reads = read.single + read.several + others.single + others.several;
        (report.work.cache_hits, reads)
    };
    // Two users may meet on a page now and then.
    let (hits, reads) = share(0.0, true, 0);
    assert!(hits < reads / 20, "{hits} of {reads}");
    let (hits, reads) = share(75.0, true, 0);
    assert!(hits > 2 * reads && hits < 4 * reads, "{hits} of {reads}");
    let (_, reads) = share(100.0, true, 0);
    assert!(reads < 200, "only the audit reads: {reads}");
    let (_, forced) = share(100.0, true, 2);
    let (_, found) = share(100.0, false, 2);
    assert!(forced > found + 100, "{forced} and {found}");
}

#[test]
fn without_scatter_and_gather_every_page_is_an_io() {
    let single = Plan { scatter_gather: false, ..plan() };
    assert!(slot_bytes(&single) < slot_bytes(&Plan { scatter_gather: true, ..single.clone() }) * 2);
    let report = validate(&single, &empty(), 5);
    assert!(report.is_right() && report.failures.is_empty(), "{report:?}");
    for figures in &report.targets[..2] {
        assert_eq!((figures.read.several, figures.write.several), (0, 0));
        assert!(figures.read.single > 100 && figures.write.single > 100);
        assert_eq!(figures.read.bytes, figures.read.single * PAGE as u64);
    }
}

#[test]
fn threads_take_several_logs_in_turn() {
    let place = |path: &str, size: usize, role| Place {
        path: path.into(),
        size_bytes: size as u64,
        role,
        align_bytes: 512,
        shape: integrity::Shape::default(),
    };
    let places = [
        place("/nowhere/a.ldx", LOG_BYTES, Role::Log),
        place("/nowhere/a.mdx", DATA_PAGES * PAGE, Role::Data),
        place("/nowhere/b.ldx", LOG_BYTES, Role::Log),
    ];
    let sizes = [LOG_BYTES, DATA_PAGES * PAGE, LOG_BYTES];
    let three = Plan { threads: 3, ..plan() };
    let report = validate_on(&three, &places, &storage(&sizes), 3);
    assert!(report.is_right() && report.failures.is_empty(), "{report:?}");
    assert!(report.targets[0].write.single > 10 && report.targets[2].write.single > 10);
    assert!(report.log_blocks > 20);

    // What is lost in the second log is found there.
    let failing = storage(&sizes);
    {
        let mut storage = failing.lock().unwrap();
        (storage.failure, storage.every, storage.from) = (Some(Failure::ZeroWrite), 50, 0);
        storage.failing_targets = 2..3;
    }
    let report = validate_on(&Plan { seed: 5, ..three }, &places, &failing, 3);
    assert!(!report.log_faults.is_empty(), "{report:?}");

    let one = Plan { threads: 1, ..plan() };
    let stop = AtomicBool::new(false);
    let open = |_: u32| -> Result<Box<dyn engine::Queue>, String> { Err("not needed".to_owned()) };
    let wrong = run(&one, &places, Duration::ZERO, &open, &stop, &|_| {}).unwrap_err();
    assert!(wrong.to_string().contains("2 logs need as many threads"), "{wrong}");
}
