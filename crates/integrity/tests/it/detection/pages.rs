//! Users that read and write pages and nothing else: verified I/O at full depth.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use integrity::{
    PageDamage, PageOrder, PageUsers, Persistence, Place, Plan, RandomUsers, ScanUsers, Throttle,
};

use crate::detection::storage::{Failure, Memory, PAGE};
use crate::detection::{all_is_found, empty, failing, places, plan, validate_on};

/// A failure, how often it happens, and its names.
type Case = (Failure, u64, &'static [(PageDamage, Persistence)]);

/// As many of them as keep every thread's queue full.
fn only_pages(threads: u32, order: PageOrder, write_percent: f64, pages: (u32, u32)) -> Plan {
    let nobody = ScanUsers { users: 0, ..plan().audit };
    let users = threads * plan().depth;
    Plan {
        threads,
        random: RandomUsers { users: 0, ..plan().random },
        audit: nobody,
        read_ahead: nobody,
        bulk: nobody,
        pages: PageUsers { users, write_percent, pages, order },
        ..plan()
    }
}

/// There is no log.
fn data_places() -> Vec<Place> {
    places().into_iter().take(2).collect()
}

#[test]
fn the_queue_is_full_and_nothing_else_is_done() {
    for (order, pages) in
        [(PageOrder::Random, (1, 1)), (PageOrder::Random, (1, 8)), (PageOrder::Sequential, (4, 4))]
    {
        let throttle = Throttle { target: Duration::from_secs(100), bursts: true };
        let plan = Plan { throttle: Some(throttle), ..only_pages(1, order, 30.0, pages) };
        // One file, so that all I/Os in flight are on it.
        let report = validate_on(&plan, &data_places()[..1], &empty(), 20);
        assert!(report.is_right() && report.failures.is_empty(), "{report:?}");
        assert_eq!(report.paced[0].in_flight_max, u64::from(plan.depth), "{order:?}");
        let work = report.work;
        assert_eq!((work.changes, work.commits, report.log_blocks), (0, 0, 0));
        let file = &report.targets[0];
        let ios = |kind: &integrity::KindFigures| kind.single + kind.several;
        let (reads, writes) = (ios(&file.read), ios(&file.write));
        // 32 at a time, 10 ms each, for 20 s; some find all pages taken, and the load and the audit
        // come on top.
        assert!(reads + writes > 50_000, "{order:?} {pages:?}: {reads} and {writes}");
        let share = 100.0 * writes as f64 / (reads + writes) as f64;
        assert!((share - 30.0).abs() < 2.0, "{share}");
        assert_eq!(file.read.several > 1000, pages.1 > 1);
    }
}

/// Buffers of users of single pages were as large as what all pages are written with, and 256 KiB
/// apart.
#[test]
fn buffers_are_as_large_as_what_is_done_in_them() {
    let sizes = |plan: &Plan, places: &[Place]| {
        let (storage, asked) = (empty(), Mutex::new(Vec::new()));
        let open = |bytes: u32| -> Result<Box<dyn engine::Queue>, String> {
            asked.lock().unwrap().push(bytes);
            Ok(Box::new(Memory::new(&storage, plan.depth, bytes)))
        };
        let (stop, time) = (AtomicBool::new(false), Duration::from_secs(1));
        let report = integrity::run(plan, places, time, &open, &stop, &|_| {}).unwrap();
        assert!(report.is_right() && report.failures.is_empty(), "{report:?}");
        asked.into_inner().unwrap()
    };
    let page = u32::try_from(PAGE).unwrap();
    for (most, expected) in [(1, page), (5, 5 * page)] {
        let plan = only_pages(1, PageOrder::Random, 50.0, (1, most));
        let whole = integrity::slot_bytes(&plan);
        assert_eq!(sizes(&plan, &data_places()), [whole, expected, whole]);
    }
    // Checkpoints and the log need more than users do.
    let whole = integrity::slot_bytes(&plan());
    assert!(sizes(&plan(), &places()).iter().all(|bytes| *bytes == whole));
}

#[test]
fn pages_in_a_row_are_all_met_equally_often() {
    // Two threads pass over pages that the other has: how many is a matter of their speeds.
    let plan = only_pages(1, PageOrder::Sequential, 0.0, (4, 4));
    let report = validate_on(&plan, &data_places(), &empty(), 3);
    assert!(report.is_right(), "{report:?}");
    let [a, b] = report.targets.as_slice() else { panic!("two files") };
    let share = a.read.bytes as f64 / b.read.bytes as f64;
    // Each pass reads one file once and the other, which is twice as long, once. Up to a pass is
    // unfinished at the end, and less than another is in flight.
    let passes = b.read.bytes as f64 / (300 * PAGE) as f64;
    assert!((share - 2.0).abs() <= 2.0 * 2.0 / passes, "{share} after {passes} passes");
    assert!(passes > 8.0, "{passes}");
}

#[test]
fn several_threads_and_flushes_raise_no_alarm() {
    let hardening = integrity::Hardening::Flush;
    let plan = Plan { hardening, ..only_pages(4, PageOrder::Random, 50.0, (1, 4)) };
    let report = validate_on(&plan, &data_places(), &empty(), 5);
    assert!(report.is_right() && report.failures.is_empty(), "{report:?}");
    assert!(report.targets[0].sync.single > 20, "the queue is full, and flushes come through");
}

#[test]
fn each_fault_is_found_and_named() {
    use Persistence::{Persistent, Transient};
    let cases: [Case; 7] = [
        (Failure::BitFlipRead, 301, &[(PageDamage::BitError, Transient)]),
        (Failure::BitFlipWrite, 201, &[(PageDamage::BitError, Persistent)]),
        (Failure::LostWrite, 201, &[(PageDamage::LostWrite, Persistent)]),
        (Failure::TornWrite(7), 201, &[(PageDamage::TornPage, Persistent)]),
        (
            Failure::MisdirectedWrite,
            201,
            &[(PageDamage::MisdirectedWrite, Persistent), (PageDamage::LostWrite, Persistent)],
        ),
        (Failure::StaleRead, 601, &[(PageDamage::StaleRead, Transient)]),
        (Failure::ZeroWrite, 201, &[(PageDamage::Zeroed, Persistent)]),
    ];
    for order in [PageOrder::Random, PageOrder::Sequential] {
        for (failure, every, names) in cases {
            let storage = failing(failure, every);
            let plan = only_pages(1, order, 40.0, (1, 1));
            let report = validate_on(&plan, &data_places(), &storage, 3);
            all_is_found(&report, &storage, failure, names);
        }
    }
}

/// Pages of one I/O are read again each into its own place: what follows a wrong page is checked
/// afterwards.
#[test]
fn several_wrong_pages_of_one_read_are_all_found() {
    let storage = failing(Failure::ZeroRead, 101);
    let plan = only_pages(1, PageOrder::Sequential, 0.0, (4, 4));
    let report = validate_on(&plan, &data_places(), &storage, 1);
    all_is_found(
        &report,
        &storage,
        Failure::ZeroRead,
        &[(PageDamage::Zeroed, Persistence::Transient)],
    );
    assert!(report.fault_count > 20);
}

/// More users than pages: those that find none free try again, and time goes by.
#[test]
fn more_users_than_pages_go_on() {
    let mut few = data_places();
    few.truncate(1);
    few[0].size_bytes = 8 * PAGE as u64;
    let plan = only_pages(2, PageOrder::Random, 50.0, (1, 1));
    let report = validate_on(&plan, &few, &empty(), 2);
    assert!(report.is_right() && report.work.pages_checked > 100, "{report:?}");
}
