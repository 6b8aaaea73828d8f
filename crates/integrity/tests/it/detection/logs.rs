//! Blocks of the log that are missing: each is found, called by its name and reported like pages.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use integrity::{BlockSector, Event, NoticeKind, PageDamage, Persistence, Place, Report, run};

use super::storage::{Failure, Memory, PAGE, Shared, storage};
use super::{DATA_PAGES, places, plan};

/// It comes round many times in the seconds in which users work.
const SHORT_LOG: (usize, u64) = (1 << 20, 20);
/// It does not.
const LONG_LOG: (usize, u64) = (32 << 20, 2);

fn log_places(log_bytes: usize) -> Vec<Place> {
    let mut places = places();
    places.remove(1);
    places[1].size_bytes = log_bytes as u64;
    places
}

/// Runs on storage whose log fails so, and returns the reports, too.
fn log_fails(
    (log_bytes, seconds): (usize, u64),
    failure: Failure,
    every: u64,
) -> (Report, Shared, Vec<PageDamage>) {
    let (plan, storage) = (&plan(), storage(&[DATA_PAGES * PAGE, log_bytes]));
    {
        let mut storage = storage.lock().unwrap();
        (storage.failure, storage.every, storage.failing_targets) = (Some(failure), every, 1..2);
    }
    let open = |bytes: u32| -> Result<Box<dyn engine::Queue>, String> {
        Ok(Box::new(Memory::new(&storage, plan.depth, bytes)))
    };
    let told = Mutex::new(Vec::new());
    let hear = |event: &Event| {
        let Event::Notice(notice) = event else { return };
        match notice.kind {
            NoticeKind::WrongLog(damage) => {
                assert!(notice.text.contains("in the log of thread 0 in `/nowhere/a.ldx`"));
                told.lock().unwrap().push(damage);
            }
            NoticeKind::WrongData(_) if failure == Failure::StrayWrite => {}
            _ => panic!("{notice:?}"),
        }
    };
    let (time, stop) = (Duration::from_secs(seconds), AtomicBool::new(false));
    let report = run(plan, &log_places(log_bytes), time, &open, &stop, &hear).unwrap();
    (report, storage, told.into_inner().unwrap())
}

/// Parts of the log as long as a page, as the storage counts those of which a reader was handed
/// wrong bytes.
fn parts(report: &Report) -> BTreeSet<(u16, u64)> {
    let of = |offset: u64, bytes: u64| {
        (0..bytes).step_by(PAGE).map(move |at| (1, (offset + at) / PAGE as u64))
    };
    let faults = report.log_faults.iter();
    faults.flat_map(|f| of(f.offset_bytes, f.sectors.len() as u64 * 512)).collect()
}

/// Each of them had a number and a sentence, was called by the first words of it, and was not read
/// again.
#[test]
fn each_fault_of_the_log_is_found_and_named() {
    use Persistence::{Persistent, Transient};
    let lost = (PageDamage::LostWrite, Persistent);
    for (failure, every, names) in [
        (Failure::LostWrite, 5, vec![lost]),
        (Failure::ZeroWrite, 5, vec![(PageDamage::Zeroed, Persistent)]),
        (Failure::TornWrite(1), 5, vec![(PageDamage::TornPage, Persistent)]),
        (Failure::BitFlipWrite, 5, vec![(PageDamage::BitError, Persistent)]),
        (Failure::MisdirectedWrite, 4, vec![(PageDamage::MisdirectedWrite, Persistent), lost]),
        (Failure::BitFlipRead, 7, vec![(PageDamage::BitError, Transient)]),
        (Failure::ZeroRead, 7, vec![(PageDamage::Zeroed, Transient)]),
        (Failure::StaleRead, 7, vec![(PageDamage::StaleRead, Transient)]),
        (Failure::MisdirectedRead, 7, vec![(PageDamage::MisdirectedRead, Transient)]),
    ] {
        let (report, storage, told) = log_fails(SHORT_LOG, failure, every);
        assert!(report.log_fault_count > 2, "{failure:?}: {}", report.log_fault_count);
        assert_eq!(report.fault_count, 0, "{failure:?}: {}", report.faults[0]);
        assert_eq!(report.log_faults.len() as u64, report.log_fault_count, "all are kept");
        assert_eq!(told, report.log_faults.iter().map(|f| f.damage).collect::<Vec<_>>());
        let seen = &storage.lock().unwrap().seen_wrong;
        assert!(seen.is_subset(&parts(&report)), "{failure:?}: {seen:?}");
        for fault in &report.log_faults {
            let name = (fault.damage, fault.kept);
            assert!(names.contains(&name), "{failure:?}: {fault}");
            assert!(fault.dump.contains(" exp ") && fault.written_after.is_some(), "{fault}");
            let first = fault.sectors.iter().position(|s| *s != BlockSector::Right).unwrap();
            assert_eq!(fault.first_byte / 512, first, "{fault}");
            assert_eq!(fault.rereads, if fault.kept == Transient { 1 } else { 2 }, "{fault}");
        }
        let there = |n: &(PageDamage, Persistence)| {
            report.log_faults.iter().any(|f| (f.damage, f.kept) == *n)
        };
        assert!(names.iter().all(there), "{failure:?}: {told:?}");
    }
}

/// Before the log comes round nobody knows what was in a place: what is there is no block of this
/// log.
#[test]
fn what_nobody_has_written_is_foreign() {
    let (report, ..) = log_fails(LONG_LOG, Failure::LostWrite, 5);
    assert!(report.log_fault_count > 5, "{}", report.log_fault_count);
    assert!(report.log_faults.iter().all(|f| f.damage == PageDamage::ForeignData));
}

/// It was "foreign data": the log and the data of a database are on one array, where a write may
/// miss the file.
#[test]
fn what_belongs_into_the_log_is_recognised_in_a_page() {
    let (report, storage, _) = log_fails(SHORT_LOG, Failure::StrayWrite, 41);
    let seen = &storage.lock().unwrap().seen_wrong;
    assert!(report.fault_count > 2, "{}", report.fault_count);
    assert_eq!(report.faults.len() as u64, report.fault_count, "all are kept");
    let found: BTreeSet<_> = report.faults.iter().map(|f| (0, f.fault.id.page)).collect();
    assert!(seen.iter().filter(|place| place.0 == 0).all(|place| found.contains(place)));
    for fault in &report.faults {
        let name = (fault.fault.damage, fault.fault.kept);
        assert_eq!(name, (PageDamage::MisdirectedWrite, Persistence::Persistent), "{fault}");
        assert!(fault.to_string().contains(" of the log of thread 0 is there"), "{fault}");
    }
}
