//! Pages whose write has failed: what a read has shown of them must stay, where a read says what is
//! on the media.

use integrity::{PageDamage, PageOrder, PageUsers, Persistence, Plan, Report, ScanUsers};

use super::storage::{Failure, Shared};
use super::{failing, places, plan, validate_on};

/// Users that mostly read, on a device whose writes fail and arrive all the same; what arrived is
/// gone after a read.
fn forgetful(align_bytes: u64) -> (Report, Shared) {
    let nobody = ScanUsers { users: 0, ..plan().audit };
    let mut plan = Plan { audit: nobody, read_ahead: nobody, bulk: nobody, ..plan() };
    plan.random.users = 0;
    plan.pages =
        PageUsers { users: 32, write_percent: 10.0, pages: (1, 1), order: PageOrder::Random };
    let storage = failing(Failure::Eio(1_000_000), 23);
    storage.lock().unwrap().forgets_after = Some(1);
    let mut places = places();
    places.truncate(2);
    for place in &mut places {
        place.align_bytes = align_bytes;
    }
    (validate_on(&plan, &places, &storage, 3), storage)
}

/// The new version was read, and the old one after it was taken for right, too, until the page was
/// written again.
#[test]
fn a_version_that_was_read_after_a_failed_write_and_is_gone_is_found() {
    let (report, storage) = forgetful(512);
    let storage = storage.lock().unwrap();
    assert!(report.fault_count > 5 && storage.injected > 20, "{}", report.fault_count);
    for fault in &report.faults {
        let name = (fault.fault.damage, fault.fault.kept);
        assert_eq!(name, (PageDamage::LostWrite, Persistence::Persistent), "{fault}");
        assert_eq!(fault.fault.found_version, Some(fault.fault.expected_version - 1), "{fault}");
    }
    // Each page of which the last version that was read is gone at the end was called so.
    let found = |file: u16, page: u64| {
        let name = ["a.mdx", "b.mdx"][usize::from(file)];
        report.faults.iter().any(|f| f.path.ends_with(name) && f.fault.id.page == page)
    };
    assert!(!storage.gone.is_empty());
    assert!(storage.gone.iter().all(|(file, page)| found(*file, *page)), "{:?}", storage.gone);
}

/// The cache of the operating system does the same by itself when it could not write a page: that
/// is a failed I/O, and not wrong data.
#[test]
fn through_the_cache_of_the_system_either_version_may_come() {
    let (report, storage) = forgetful(1);
    assert!(!storage.lock().unwrap().gone.is_empty());
    assert!(report.is_right() && !report.failures.is_empty(), "{:?}", report.faults.first());
}
