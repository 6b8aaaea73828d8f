//! What other engines do: pages that are written twice, images of pages in the log, tables that are
//! written whole and merged.

use std::collections::BTreeSet;

use integrity::{
    Hardening, Logging, PageDamage, Persistence, Place, Plan, RandomUsers, Report, Role, ScanUsers,
    Shape, TableUsers,
};

use crate::detection::storage::{Failure, PAGE, Shared, storage};
use crate::detection::{
    DATA_PAGES, LOG_BYTES, all_is_found, empty, failing, places, plan, validate_on,
};

/// A failure, how often it happens, and its names.
type Case = (Failure, u64, &'static [(PageDamage, Persistence)]);

const TWICE: u32 = 16;

/// Pages are written to an area of 16 per thread before they are written in their places.
fn twice(threads: u32, hardening: Hardening) -> Plan {
    let bulk = ScanUsers { users: 0, ..plan().bulk };
    Plan { threads, hardening, doublewrite_pages: TWICE, gather_pages: 4, bulk, ..plan() }
}

fn area_places(threads: u32) -> Vec<Place> {
    let area = Place {
        path: "/nowhere/a.dbl".into(),
        size_bytes: u64::from(threads * TWICE) * PAGE as u64,
        role: Role::Doublewrite,
        align_bytes: 512,
        shape: Shape::default(),
    };
    places().into_iter().chain([area]).collect()
}

fn area_storage(threads: u32) -> Shared {
    storage(&[
        DATA_PAGES * PAGE,
        DATA_PAGES * PAGE / 2,
        LOG_BYTES,
        (threads * TWICE) as usize * PAGE,
    ])
}

fn is_right(report: &Report) {
    let first = report.faults.first().map(ToString::to_string);
    assert!(report.is_right() && report.ended.is_none(), "{first:?} {:?}", report.ended);
    assert!(report.failures.is_empty() && report.audit.is_some(), "{:?}", report.failures);
}

#[test]
fn pages_that_are_written_twice_raise_no_alarm() {
    for (threads, hardening) in
        [(1, Hardening::Flush), (1, Hardening::WriteThrough), (3, Hardening::Flush)]
    {
        let storage = area_storage(threads);
        let report = validate_on(&twice(threads, hardening), &area_places(threads), &storage, 20);
        is_right(&report);
        let [a, b, _, area] = report.targets.as_slice() else { panic!("four targets") };
        let page = PAGE as u64;
        let loaded = (DATA_PAGES + DATA_PAGES / 2) as u64 + u64::from(threads * TWICE);
        let written = (a.write.bytes + b.write.bytes + area.write.bytes) / page - loaded;
        let doubled = area.write.bytes / page - u64::from(threads * TWICE);
        assert_eq!(2 * doubled, written, "each page is written once to each");
        assert_eq!(doubled, report.work.changes);
        assert_eq!(area.sync.single > 10, hardening == Hardening::Flush);
        assert!(report.work.checkpoints > 5 && report.work.changes > 500, "{:?}", report.work);
    }
}

/// While the area is written, no page of it is in its place yet; and no page of a group is there
/// before the area is flushed.
#[test]
fn the_area_comes_first() {
    let storage = area_storage(1);
    storage.lock().unwrap().ordered = Some(2);
    let report = validate_on(&twice(1, Hardening::Flush), &area_places(1), &storage, 10);
    is_right(&report);
    // What was done to targets, in order, after the load: of data files, the area and its flushes.
    let steps = storage.lock().unwrap().steps.clone();
    let mut clean = true;
    let mut places = 0;
    for step in steps {
        match step {
            (3, false) => clean = false,
            (3, true) => clean = true,
            (_, false) => {
                assert!(clean, "a page is in its place before the area was flushed");
                places += 1;
            }
            _ => {}
        }
    }
    assert!(places > 100);
}

/// What was written to the area is read at the end, and is found to be wrong by its own name.
#[test]
fn faults_in_the_area_are_found() {
    let storage = area_storage(1);
    {
        let mut storage = storage.lock().unwrap();
        (storage.failure, storage.every, storage.from) = (Some(Failure::LostWrite), 2, 10);
        storage.failing_targets = 3..4;
    }
    let report = validate_on(&twice(1, Hardening::Flush), &area_places(1), &storage, 20);
    let found: BTreeSet<_> = report.faults.iter().map(|f| (3, f.fault.id.page)).collect();
    assert_eq!(found, storage.lock().unwrap().seen_wrong);
    assert!(!found.is_empty());
    assert!(report.faults.iter().all(|f| f.path.ends_with("a.dbl")));
    assert!(report.faults.iter().all(|f| f.fault.damage == PageDamage::LostWrite));
}

#[test]
fn an_area_is_there_where_one_is_needed() {
    let refused = |plan: &Plan, places: &[Place], text: &str| {
        let open =
            |_: u32| -> Result<Box<dyn engine::Queue>, String> { Err("not needed".to_owned()) };
        let stop = std::sync::atomic::AtomicBool::new(false);
        let time = std::time::Duration::ZERO;
        let error = integrity::run(plan, places, time, &open, &stop, &|_| {}).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
    };
    refused(&twice(1, Hardening::Flush), &places(), "where there is one place for that");
    refused(&plan(), &area_places(1), "not otherwise");
    refused(&twice(3, Hardening::Flush), &area_places(2), "48 are written twice");
}

#[test]
fn images_of_pages_and_larger_blocks_are_in_the_log() {
    let log_bytes = |log: Logging| {
        let report = validate_on(&Plan { log, ..plan() }, &places(), &empty(), 10);
        is_right(&report);
        assert!(report.log_blocks > 10);
        let written = &report.targets[2].write;
        if log.block_bytes > 512 {
            assert!(written.bytes.is_multiple_of(log.block_bytes.into()));
        }
        written.bytes as f64 / report.work.changes as f64
    };
    let usual = log_bytes(Logging::default());
    let images = log_bytes(Logging { page_images: true, block_bytes: 8192, ..Logging::default() });
    // Records of 4 KiB on average, and 8 KiB more.
    assert!(usual < 6000.0 && images > usual + 7000.0, "{usual} and {images}");
}

#[test]
fn commits_wait_for_a_flush_or_do_not() {
    let flushes = |commits_flush| {
        let log = Logging { commits_flush, ..Logging::default() };
        let plan = Plan { log, hardening: Hardening::Flush, ..plan() };
        let report = validate_on(&plan, &places(), &empty(), 5);
        is_right(&report);
        report.targets[2].sync.single
    };
    assert!(flushes(true) > 50);
    assert_eq!(flushes(false), 0);
}

/// Users that write tables, and some that read here and there.
fn tables(threads: u32) -> Plan {
    let nobody = ScanUsers { users: 0, ..plan().audit };
    let how = TableUsers {
        users: 2 * threads,
        table_pages: 30,
        io_pages: 8,
        commits: 2,
        merge_after: 2,
        merged: 2,
        ..TableUsers::default()
    };
    Plan {
        threads,
        hardening: Hardening::Flush,
        random: RandomUsers { users: 0, ..plan().random },
        audit: nobody,
        read_ahead: nobody,
        bulk: nobody,
        pages: integrity::PageUsers { users: 8, write_percent: 0.0, ..plan().pages },
        tables: how,
        ..plan()
    }
}

#[test]
fn tables_raise_no_alarm() {
    for threads in [1, 3] {
        let report = validate_on(&tables(threads), &places(), &empty(), 20 / u64::from(threads));
        is_right(&report);
        let [a, b, log] = report.targets.as_slice() else { panic!("three targets") };
        assert!(a.write.several > 100 && b.write.several > 50 && log.write.single > 20);
        assert!(a.sync.single > 5 && report.work.commits > 20 && report.log_blocks > 10);
        assert!(a.read.several > 20 && a.read.single > 500, "merging reads many at once");
        assert_eq!(report.work.changes, 0);
    }
}

#[test]
fn each_fault_is_found_among_tables() {
    use Persistence::{Persistent, Transient};

    const LOST: (PageDamage, Persistence) = (PageDamage::LostWrite, Persistence::Persistent);
    let cases: [Case; 6] = [
        (Failure::BitFlipRead, 301, &[(PageDamage::BitError, Transient)]),
        (Failure::BitFlipWrite, 41, &[(PageDamage::BitError, Persistent)]),
        (Failure::LostWrite, 41, &[LOST]),
        (Failure::MisdirectedWrite, 41, &[(PageDamage::MisdirectedWrite, Persistent), LOST]),
        (Failure::StaleRead, 601, &[(PageDamage::StaleRead, Transient)]),
        (Failure::ZeroWrite, 41, &[(PageDamage::Zeroed, Persistent)]),
    ];
    for (failure, every, names) in cases {
        let storage = failing(failure, every);
        let report = validate_on(&tables(1), &places(), &storage, 15);
        all_is_found(&report, &storage, failure, names);
    }
}
