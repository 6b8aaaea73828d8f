//! Every fault that a reader was handed is found and called by its name, and nothing else is.

mod doubt;
#[cfg(target_os = "linux")]
mod engines;
mod hanging;
mod killed;
mod logs;
mod pages;
mod rereads;
mod sizes;
mod sqliosim;
mod storage;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use integrity::{
    DatabaseWork, Event, Hardening, NoticeKind, PageDamage, Persistence, Phase, Place, Plan,
    Report, Role, ScanUsers, run,
};

use storage::{Failure, Memory, PAGE, Shared, storage};

const DATA_PAGES: usize = 600;
const LOG_BYTES: usize = 4 << 20;

/// A small database that is busy all the time.
fn plan() -> Plan {
    let scan =
        |users, pages| ScanUsers { users, pages, cycles: 2, delay: Duration::from_millis(3) };
    Plan {
        threads: 1,
        checkpoint_every: Duration::from_millis(200),
        dirty_pages: 200,
        gather_pages: 8,
        audit: scan(2, (1, 16)),
        read_ahead: scan(2, (8, 16)),
        bulk: scan(1, (1, 8)),
        rereads: 2,
        stop_on_fault: false,
        ..Plan::default()
    }
}

fn places() -> Vec<Place> {
    let place = |path: &str, size: usize, role| Place {
        path: path.into(),
        size_bytes: size as u64,
        role,
        align_bytes: 512,
        shape: integrity::Shape::default(),
    };
    vec![
        place("/nowhere/a.mdx", DATA_PAGES * PAGE, Role::Data),
        place("/nowhere/b.mdx", DATA_PAGES * PAGE / 2, Role::Data),
        place("/nowhere/a.ldx", LOG_BYTES, Role::Log),
    ]
}

fn empty() -> Shared {
    storage(&[DATA_PAGES * PAGE, DATA_PAGES * PAGE / 2, LOG_BYTES])
}

/// Runs it on these places.
fn validate_on(plan: &Plan, places: &[Place], storage: &Shared, seconds: u64) -> Report {
    let open = |bytes: u32| -> Result<Box<dyn engine::Queue>, String> {
        Ok(Box::new(Memory::new(storage, plan.depth, bytes)))
    };
    let stop = AtomicBool::new(false);
    let time = Duration::from_secs(seconds);
    run(plan, places, time, &open, &stop, &|_| {}).unwrap()
}

fn validate(plan: &Plan, storage: &Shared, seconds: u64) -> Report {
    validate_on(plan, &places(), storage, seconds)
}

#[test]
fn storage_that_is_right_has_no_fault() {
    for hardening in [Hardening::WriteThrough, Hardening::Flush] {
        let report = validate(&Plan { hardening, ..plan() }, &empty(), 30);
        assert!(report.is_right() && report.failures.is_empty(), "{report:?}");
        let work = report.work;
        assert!(work.pages_checked > 10_000 && work.changes > 5000, "{work:?}");
        assert!(work.commits > 100 && work.checkpoints > 50 && report.log_blocks > 50, "{work:?}");
        let [a, b, log] = report.targets.as_slice() else { panic!("three targets") };
        assert!(a.write.several > 100 && b.read.several > 100 && log.write.single > 100);
        assert_eq!(log.sync.single > 0, hardening == Hardening::Flush);
        assert!(report.audit.is_some());
    }
}

#[test]
fn several_threads_on_the_same_pages_raise_no_alarm() {
    let plan = Plan { threads: 4, ..plan() };
    let report = validate(&plan, &empty(), 5);
    assert!(report.is_right() && report.failures.is_empty(), "{report:?}");
}

#[test]
fn ios_that_move_only_a_part_are_gone_on_with() {
    let storage = empty();
    storage.lock().unwrap().short = true;
    let report = validate(&plan(), &storage, 5);
    assert!(report.is_right() && report.failures.is_empty(), "{report:?}");
}

/// Storage on which something goes wrong with every n-th I/O of pages, after the first writes have
/// made them: what is lost then was never there.
fn failing(failure: Failure, every: u64) -> Shared {
    let storage = empty();
    {
        let mut storage = storage.lock().unwrap();
        (storage.failure, storage.every, storage.from) = (Some(failure), every, 500);
        storage.failing_targets = 0..2;
    }
    storage
}

/// Lets something go wrong, and holds the pages that were found against those of which a reader was
/// handed wrong bytes.
fn detects(threads: u32, failure: Failure, every: u64, names: &[(PageDamage, Persistence)]) {
    let storage = failing(failure, every);
    let report = validate(&Plan { threads, ..plan() }, &storage, 20 / u64::from(threads));
    all_is_found(&report, &storage, failure, names);
}

/// Each page of which a reader was handed wrong bytes was found and has one of these names, and
/// each of the names there is.
fn all_is_found(
    report: &Report,
    storage: &Shared,
    failure: Failure,
    names: &[(PageDamage, Persistence)],
) {
    let storage = storage.lock().unwrap();
    assert!(storage.injected > 5, "{failure:?}: {} injected", storage.injected);
    assert!(report.fault_count <= 200, "all are kept: {}", report.fault_count);
    let found: BTreeSet<_> = report
        .faults
        .iter()
        .map(|f| (u16::from(f.path.ends_with("b.mdx")), f.fault.id.page))
        .collect();
    assert_eq!(found, storage.seen_wrong, "{failure:?}");
    assert!(!found.is_empty());
    for report in &report.faults {
        let name = (report.fault.damage, report.fault.kept);
        assert!(names.contains(&name), "{failure:?}: {report}");
        assert!(report.dump.contains(" exp ") && !report.history.is_empty(), "{report}");
    }
    let there = |n: &(PageDamage, Persistence)| {
        report.faults.iter().any(|f| (f.fault.damage, f.fault.kept) == *n)
    };
    assert!(names.iter().all(there), "{failure:?}");
}

#[test]
fn each_fault_is_found_and_named() {
    use Persistence::{Persistent, Transient};
    detects(1, Failure::BitFlipRead, 301, &[(PageDamage::BitError, Transient)]);
    detects(1, Failure::BitFlipWrite, 201, &[(PageDamage::BitError, Persistent)]);
    detects(1, Failure::LostWrite, 201, &[(PageDamage::LostWrite, Persistent)]);
    // A write of several pages that is torn in its first lacks all of the others.
    let torn = [(PageDamage::TornPage, Persistent), (PageDamage::LostWrite, Persistent)];
    for sectors in [1, 7, 15] {
        detects(1, Failure::TornWrite(sectors), 201, &torn);
    }
    // The page that should have been written has lost its write.
    let misdirected =
        [(PageDamage::MisdirectedWrite, Persistent), (PageDamage::LostWrite, Persistent)];
    detects(1, Failure::MisdirectedWrite, 201, &misdirected);
    detects(1, Failure::MisdirectedRead, 1201, &[(PageDamage::MisdirectedRead, Transient)]);
    detects(1, Failure::StaleRead, 1201, &[(PageDamage::StaleRead, Transient)]);
    detects(1, Failure::ZeroRead, 1201, &[(PageDamage::Zeroed, Transient)]);
    detects(1, Failure::ZeroWrite, 201, &[(PageDamage::Zeroed, Persistent)]);
}

#[test]
fn threads_find_what_others_have_written_wrong() {
    detects(4, Failure::LostWrite, 61, &[(PageDamage::LostWrite, Persistence::Persistent)]);
    detects(4, Failure::BitFlipRead, 301, &[(PageDamage::BitError, Persistence::Transient)]);
}

#[test]
fn the_first_fault_ends_the_run_where_that_is_wanted() {
    let storage = failing(Failure::LostWrite, 50);
    let report = validate(&Plan { stop_on_fault: true, ..plan() }, &storage, 3600);
    assert_eq!((report.fault_count, report.audit), (1, None), "{:?}", report.faults);
}

/// An I/O that the system fails is not wrong data: the page may hold what it held, what it should
/// have become, or sectors of both, however often the write is tried.
#[test]
fn failed_ios_are_told_apart_from_wrong_data() {
    for (every, sectors) in [(97, 0), (3, 5), (2, 1_000_000)] {
        let storage = failing(Failure::Eio(sectors), every);
        let report = validate(&plan(), &storage, 10);
        let first = report.faults.first().map(ToString::to_string);
        assert!(report.is_right() && report.ended.is_none(), "{first:?} {:?}", report.ended);
        let count: u64 = report.failures.iter().map(|f| f.count).sum();
        assert_eq!(count, storage.lock().unwrap().injected);
        assert!(report.failures.iter().all(|f| f.errno == 5), "{:?}", report.failures);
    }
}

/// What cannot be flushed may have arrived or not: that is an I/O error, and no page may be called
/// wrong afterwards.
#[test]
fn a_failed_flush_ends_the_run() {
    let report = validate(
        &Plan { hardening: Hardening::Flush, ..plan() },
        &failing(Failure::FailedFlush, 1),
        60,
    );
    assert!(report.is_right() && report.audit.is_none(), "{report:?}");
    assert!(report.ended.is_some_and(|why| why.contains("flush")));
    assert!(report.failures.iter().any(|f| f.op == "sync"));
}

#[test]
fn a_log_that_cannot_be_written_ends_the_run_and_keeps_what_was_found() {
    let storage = failing(Failure::Eio(0), 20);
    storage.lock().unwrap().failing_targets = 2..3;
    let report = validate(&plan(), &storage, 3600);
    assert!(report.is_right() && report.audit.is_none(), "{report:?}");
    assert!(report.ended.is_some_and(|why| why.contains("log")));
    assert!(report.failures.iter().any(|f| f.target == 2 && f.op == "write"));
}

/// A lost block of the log is reported although it was acknowledged, and no page is.
#[test]
fn a_lost_log_block_is_found() {
    let storage = failing(Failure::LostWrite, 10);
    storage.lock().unwrap().failing_targets = 2..3;
    let report = validate(&plan(), &storage, 60);
    assert!(report.log_blocks > 50 && report.fault_count == 0, "{report:?}");
    assert!(report.log_faults.len() > 5, "{:?}", report.log_faults);
}

/// The end that a user wants came only after every page had been read, and was then forgotten.
#[test]
fn an_end_is_heard_in_every_phase() {
    for asked in [Phase::Load, Phase::Work, Phase::Audit, Phase::Log] {
        let (plan, storage) = (plan(), empty());
        let open = |bytes: u32| -> Result<Box<dyn engine::Queue>, String> {
            Ok(Box::new(Memory::new(&storage, plan.depth, bytes)))
        };
        let stop = AtomicBool::new(false);
        let hear = |event: &Event| {
            if matches!(event, Event::Began { phase, .. } if *phase == asked) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let time = Duration::from_secs(2);
        let report = run(&plan, &places(), time, &open, &stop, &hear).unwrap();
        assert!(report.is_right() && report.interrupted, "{asked:?}: {report:?}");
        assert_eq!(report.audit.is_some(), asked == Phase::Log, "{asked:?}");
        assert_eq!(report.log_blocks, 0, "{asked:?}");
    }
}

/// The events during a run agree with the report after it.
#[test]
fn glances_tell_what_the_report_says() {
    let (plan, storage) = (plan(), failing(Failure::LostWrite, 201));
    let open = |bytes: u32| -> Result<Box<dyn engine::Queue>, String> {
        Ok(Box::new(Memory::new(&storage, plan.depth, bytes)))
    };
    let (sender, seen) = std::sync::mpsc::channel();
    let (sender, seen) = (Mutex::new(sender), Mutex::new(seen));
    let last = Mutex::new(None);
    let notices = AtomicU64::new(0);
    let hear = |event: &Event| match event {
        Event::Glance(glance) => sender.lock().unwrap().send(**glance).unwrap(),
        Event::Notice(notice) => {
            assert!(matches!(notice.kind, NoticeKind::WrongData(_)), "{notice:?}");
            notices.fetch_add(1, Ordering::Relaxed);
        }
        // Two glances after everything but the log was done: the first of them may have begun
        // before.
        Event::Began { phase: Phase::Log, .. } => {
            let seen = seen.lock().unwrap();
            while seen.try_recv().is_ok() {}
            seen.recv().unwrap();
            *last.lock().unwrap() = Some(seen.recv().unwrap());
        }
        Event::Began { .. } => {}
    };
    let stop = AtomicBool::new(false);
    let report = run(&plan, &places(), Duration::from_secs(5), &open, &stop, &hear).unwrap();
    let last = last.into_inner().unwrap().unwrap();
    let DatabaseWork { pages_checked, changes, commits, checkpoints, .. } = report.work;
    assert_eq!(
        (last.pages_checked, last.changes, last.commits, last.checkpoints, last.faults),
        (pages_checked, changes, commits, checkpoints, report.fault_count)
    );
    assert_eq!(notices.into_inner(), report.fault_count);
    assert_eq!((last.phase, last.in_flight, last.read.iops), (Phase::Log, 0, 0.0));
    let kinds: u64 = report.fault_kinds.iter().map(|kind| kind.count).sum();
    assert!(kinds == report.fault_count && kinds > 0, "{:?}", report.fault_kinds);
}
