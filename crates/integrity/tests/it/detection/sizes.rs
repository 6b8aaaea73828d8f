//! Files that become shorter and longer, and files with holes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use integrity::{
    Change, Hardening, PageDamage, PageUsers, Persistence, Place, Plan, Report, Resize, Resizing,
    Shape,
};
use proptest::prelude::*;

use crate::detection::storage::{Failure, PAGE, Shared, holes};
use crate::detection::{DATA_PAGES, LOG_BYTES, empty, places, plan, validate_on};

const STEP: usize = 40 * PAGE;

/// The plan with a thread that changes sizes all the time.
fn restless(stamp: bool) -> Plan {
    let milliseconds = Duration::from_millis;
    let (pause_min, pause_max) = (milliseconds(20), milliseconds(200));
    let resizing = Some(Resizing { pause_min, pause_max, steps: (1, 6), stamp });
    // Pages that were changed in memory soon give way.
    let checkpoint_every = milliseconds(50);
    let pages = PageUsers { users: 4, write_percent: 30.0, ..plan().pages };
    Plan { resizing, checkpoint_every, pages, ..plan() }
}

/// The first file begins with a half of what it may have.
fn changing(storage: &Shared) -> Vec<Place> {
    let mut all = places();
    let storage = Arc::clone(storage);
    let change =
        move |bytes: u64| storage.lock().unwrap().resize(0, usize::try_from(bytes).unwrap());
    all[0].shape.resize = Some(Resize {
        begin_bytes: (DATA_PAGES / 2 * PAGE) as u64,
        step_bytes: STEP as u64,
        change: Change::new(change),
    });
    all
}

fn sparse_places() -> Vec<Place> {
    let mut all = places();
    all[0].shape = Shape { sparse: true, resize: None };
    all[1].shape = Shape { sparse: true, resize: None };
    all
}

fn all_holes() -> Shared {
    holes(&[DATA_PAGES * PAGE, DATA_PAGES * PAGE / 2, LOG_BYTES])
}

fn is_right(report: &Report, storage: &Shared) {
    let first = report.faults.first().map(ToString::to_string);
    assert!(report.is_right() && report.ended.is_none(), "{first:?} {:?}", report.ended);
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    assert_eq!(storage.lock().unwrap().beyond, 0, "nothing is done behind the end of a file");
}

#[test]
fn files_that_change_their_size_raise_no_alarm() {
    for (threads, stamp, hardening) in [
        (1, false, Hardening::WriteThrough),
        (1, true, Hardening::Flush),
        (4, false, Hardening::Flush),
        (4, true, Hardening::WriteThrough),
    ] {
        let storage = empty();
        let plan = Plan { threads, hardening, ..restless(stamp) };
        let seconds = 40 / u64::from(threads);
        let report = validate_on(&plan, &changing(&storage), &storage, seconds);
        is_right(&report, &storage);
        let (shorter, longer) = storage.lock().unwrap().resized;
        // Before the first phase it was made as short as it begins.
        assert_eq!(report.work.shortened + 1, u64::from(shorter));
        assert_eq!(report.work.lengthened, u64::from(longer));
        // How often depends on how the threads are scheduled.
        assert!(shorter > 2 && longer > 2, "{threads} threads: {shorter} and {longer}");
        assert!(report.audit.is_some());
    }
}

/// What was there before a file was cut must not come back when it grows.
#[test]
fn what_comes_back_at_the_end_of_a_file_is_found() {
    let storage = all_holes();
    storage.lock().unwrap().keeps_ends = true;
    let report = validate_on(&restless(false), &changing(&storage), &storage, 30);
    let found: BTreeSet<u64> = report.faults.iter().map(|f| f.fault.id.page).collect();
    assert!(found.len() > 5, "{report:?}");
    for fault in &report.faults {
        assert_eq!(fault.fault.damage, PageDamage::LostWrite, "{fault}");
        assert_eq!((fault.fault.expected_version, fault.fault.kept), (0, Persistence::Persistent));
        assert!(fault.to_string().contains("zeros are expected, version "), "{fault}");
    }
    // Zeros that are written over it are right.
    let storage = all_holes();
    storage.lock().unwrap().keeps_ends = true;
    let report = validate_on(&restless(true), &changing(&storage), &storage, 30);
    is_right(&report, &storage);
    assert!(report.work.lengthened > 5);
}

/// Pages of which a reader was handed wrong bytes are those that are found, and each has one of
/// these names.
fn detects(plan: &Plan, places: &[Place], storage: &Shared, names: &[(PageDamage, Persistence)]) {
    let report = validate_on(plan, places, storage, 12);
    let storage = storage.lock().unwrap();
    assert!(storage.injected > 5 && report.fault_count <= 200, "{}", report.fault_count);
    let found = report.faults.iter();
    let found: BTreeSet<_> =
        found.map(|f| (u16::from(f.path.ends_with("b.mdx")), f.fault.id.page)).collect();
    assert_eq!(found, storage.seen_wrong, "{:?}", storage.failure);
    assert!(!found.is_empty());
    for report in &report.faults {
        let name = (report.fault.damage, report.fault.kept);
        assert!(names.contains(&name), "{:?}: {report}", storage.failure);
    }
}

fn fail(storage: &Shared, failure: Failure, every: u64) {
    let mut storage = storage.lock().unwrap();
    (storage.failure, storage.every, storage.from) = (Some(failure), every, 500);
    storage.failing_targets = 0..2;
}

/// A failure, how often it happens, and its names.
type Case = (Failure, u64, Vec<(PageDamage, Persistence)>);

/// Each failure, how often it happens, and the names that its faults may have. Of a page that was
/// zeros before its first write, one that did not arrive leaves zeros.
fn cases() -> Vec<Case> {
    use Persistence::{Persistent, Transient};
    let lost = (PageDamage::LostWrite, Persistent);
    let zeroed = (PageDamage::Zeroed, Persistent);
    vec![
        (Failure::BitFlipRead, 301, vec![(PageDamage::BitError, Transient)]),
        (Failure::BitFlipWrite, 201, vec![(PageDamage::BitError, Persistent)]),
        (Failure::LostWrite, 201, vec![lost, zeroed]),
        (Failure::TornWrite(7), 201, vec![(PageDamage::TornPage, Persistent), lost, zeroed]),
        (
            Failure::MisdirectedWrite,
            201,
            vec![(PageDamage::MisdirectedWrite, Persistent), lost, zeroed],
        ),
        (
            Failure::MisdirectedRead,
            1201,
            vec![(PageDamage::MisdirectedRead, Transient), (PageDamage::Zeroed, Transient)],
        ),
        (
            Failure::StaleRead,
            1201,
            vec![(PageDamage::StaleRead, Transient), (PageDamage::Zeroed, Transient)],
        ),
        (Failure::ZeroWrite, 201, vec![zeroed]),
    ]
}

#[test]
fn each_fault_is_found_while_sizes_change() {
    for (failure, every, names) in cases() {
        // What nobody has written yet is zeros, and read by mistake it is called so.
        let storage = all_holes();
        fail(&storage, failure, every);
        detects(&restless(false), &changing(&storage), &storage, &names);
    }
}

#[test]
fn files_with_holes_raise_no_alarm() {
    for threads in [1, 4] {
        let storage = all_holes();
        let plan = Plan { threads, ..plan() };
        let report = validate_on(&plan, &sparse_places(), &storage, 5);
        is_right(&report, &storage);
    }
    // Nobody writes: all of it is looked at, and is zeros.
    let storage = all_holes();
    let nobody = integrity::ScanUsers { users: 0, ..plan().bulk };
    let random = integrity::RandomUsers { update_percent: 0.0, ..plan().random };
    let plan = Plan { bulk: nobody, random, ..plan() };
    let report = validate_on(&plan, &sparse_places(), &storage, 2);
    is_right(&report, &storage);
    assert!(report.work.pages_checked > (DATA_PAGES * 3 / 2) as u64, "holes are checked");
    assert_eq!(report.targets[0].write.single + report.targets[0].write.several, 0);
}

/// The storage says that nothing is there and hands out something.
#[test]
fn a_hole_that_is_none_is_found() {
    let storage = empty();
    let report = validate_on(&plan(), &sparse_places(), &storage, 1);
    assert!(report.fault_count > 100, "{}", report.fault_count);
    for fault in &report.faults {
        assert_eq!(
            (fault.fault.damage, fault.fault.expected_version),
            (PageDamage::ForeignData, 0)
        );
    }
}

#[test]
fn each_fault_is_found_in_files_with_holes() {
    for (failure, every, names) in cases() {
        let storage = all_holes();
        fail(&storage, failure, every);
        detects(&plan(), &sparse_places(), &storage, &names);
    }
}

/// If there is no room to extend a file, the file stays as it is and the run continues. If a file
/// cannot be shortened, the run ends.
#[test]
fn what_cannot_be_done_to_a_file_is_told() {
    let storage = empty();
    storage.lock().unwrap().full = true;
    let report = validate_on(&restless(false), &changing(&storage), &storage, 20);
    assert!(report.is_right() && report.audit.is_some() && report.ended.is_none());
    let failure = report.failures.iter().find(|f| f.op == "resize").unwrap();
    assert!(failure.errno == 28 && failure.target == 0 && failure.count > 0);
    assert!(report.work.shortened > 0 && report.work.lengthened == 0);

    let mut places = changing(&storage);
    let change = |bytes: u64| {
        let begins = bytes == (DATA_PAGES / 2 * PAGE) as u64;
        if begins { Ok(()) } else { Err(std::io::Error::from_raw_os_error(5)) }
    };
    let resize = places[0].shape.resize.as_mut().unwrap();
    resize.change = Change::new(change);
    let report = validate_on(&restless(false), &places, &empty(), 60);
    assert!(report.is_right() && report.audit.is_none());
    assert!(report.ended.is_some_and(|why| why.contains("cannot be made shorter")));
}

/// A run that is killed in files with holes is resumed: pages that nothing has written are still
/// zeros.
#[test]
fn holes_are_known_when_a_run_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = directory.path().join("ledger");
    let storage = all_holes();
    let mut places = sparse_places();
    for (number, place) in places.iter_mut().enumerate() {
        place.path = directory.path().join(number.to_string());
        std::fs::write(&place.path, "").unwrap();
    }
    let plan = plan();
    let open = |bytes: u32| -> Result<Box<dyn engine::Queue>, String> {
        Ok(Box::new(crate::detection::storage::Memory::new(&storage, plan.depth, bytes)))
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let run = |kept: &integrity::KeptLedger| {
        let time = Duration::from_secs(1);
        integrity::run_kept(&plan, &places, time, &open, &stop, &|_| {}, Some(kept)).unwrap()
    };
    let kept = integrity::KeptLedger::create(&ledger, &plan, &places, "").unwrap();
    is_right(&run(&kept), &storage);
    drop(kept);
    let report = run(&integrity::KeptLedger::open(&ledger).unwrap());
    is_right(&report, &storage);
    assert!(report.resumed.is_some() && report.work.pages_checked >= 900, "{report:?}");

    let changing = changing(&storage);
    let kept = integrity::KeptLedger::open(&ledger).unwrap();
    let time = Duration::from_secs(1);
    let both = integrity::run_kept(&plan, &changing, time, &open, &stop, &|_| {}, Some(&kept));
    assert!(both.is_err());
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let storage = empty();
    for (begin, step) in
        [(0, STEP), (DATA_PAGES * PAGE * 2, STEP), (PAGE, 4096), (PAGE + 512, PAGE)]
    {
        let mut places = changing(&storage);
        let resize = places[0].shape.resize.as_mut().unwrap();
        (resize.begin_bytes, resize.step_bytes) = (begin as u64, step as u64);
        let open =
            |_: u32| -> Result<Box<dyn engine::Queue>, String> { Err("not needed".to_owned()) };
        let stop = std::sync::atomic::AtomicBool::new(false);
        let plan = restless(false);
        let error = integrity::run(&plan, &places, Duration::ZERO, &open, &stop, &|_| {});
        assert!(error.unwrap_err().to_string().contains("must be multiples of 8192"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn whatever_sizes_there_are_nothing_is_wrong(
        seed: u64, threads in 1u32..4, stamp: bool, sparse: bool, begin in 1usize..30,
            step in 1usize..12,
        steps in (1u32..4, 0u32..4), pause in (1u64..30, 0u64..50), cycles in 1u32..3
    ) {
        let storage = all_holes();
        let mut places = changing(&storage);
        places[0].shape.sparse = sparse;
        let resize = places[0].shape.resize.as_mut().unwrap();
        (resize.begin_bytes, resize.step_bytes) =
            ((begin * 20 * PAGE) as u64, (step * 10 * PAGE) as u64);
        let resizing = Some(Resizing {
            pause_min: Duration::from_millis(pause.0),
            pause_max: Duration::from_millis(pause.0 + pause.1),
            steps: (steps.0, steps.0 + steps.1),
            stamp,
        });
        let plan = Plan { seed, threads, cycles, resizing, ..restless(stamp) };
        let report = validate_on(&plan, &places, &storage, 3);
        is_right(&report, &storage);
        // The end that is known is the end that there is.
        let end = storage.lock().unwrap().ends[&0];
        prop_assert!((10 * PAGE..=DATA_PAGES * PAGE).contains(&end));
    }
}
