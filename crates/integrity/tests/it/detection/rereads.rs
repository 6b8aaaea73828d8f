//! What is wrong is read again as often as the plan says, and nobody else's times suffer from that.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use integrity::{PageOrder, PageUsers, Persistence, Plan, RunError, ScanUsers, run};

use super::storage::{Failure, Memory};
use super::{failing, places, plan, validate, validate_on};

/// Users that only read and write pages.
fn pages(rereads: u32) -> Plan {
    let nobody = ScanUsers { users: 0, ..plan().audit };
    let mut plan = Plan { audit: nobody, read_ahead: nobody, bulk: nobody, rereads, ..plan() };
    plan.random.users = 0;
    plan.pages =
        PageUsers { users: 32, write_percent: 40.0, pages: (1, 1), order: PageOrder::Random };
    plan
}

/// What finished while a page was looked into was taken for what had finished after that.
#[test]
fn ios_that_finish_while_a_page_is_read_again_have_their_own_times() {
    let storage = failing(Failure::ZeroWrite, 201);
    let report = validate_on(&pages(15), &places()[..2], &storage, 2);
    assert!(report.faults.iter().any(|f| f.rereads == 15), "fifteen times 10 ms");
    for file in &report.targets {
        for kind in [&file.read, &file.write] {
            // Each I/O of this storage takes 10 ms.
            let (count, max) = (kind.latency.count(), kind.latency.max().unwrap());
            assert!(count > 300 && max <= 21_000_000, "{count} of at most {max} ns");
        }
    }
}

#[test]
fn a_page_is_read_again_as_often_as_the_plan_says() {
    let storage = failing(Failure::LostWrite, 401);
    let report = validate(&Plan { rereads: 7, ..plan() }, &storage, 3);
    assert!(!report.faults.is_empty());
    for fault in report.faults.iter().take(20) {
        assert_eq!((fault.rereads, fault.rereads_planned), (7, 7), "{fault}");
    }
    // The most that a plan may say; what is right again is not read any more.
    let storage = failing(Failure::ZeroRead, 1201);
    let report = validate(&Plan { rereads: 1000, ..plan() }, &storage, 3);
    let fault = &report.faults[0];
    assert_eq!(
        (fault.fault.kept, fault.rereads, fault.rereads_planned),
        (Persistence::Transient, 1, 1000)
    );
    for rereads in [0, 1001] {
        let plan = Plan { rereads, ..plan() };
        let open =
            |_: u32| -> Result<Box<dyn engine::Queue>, String> { Err("not needed".to_owned()) };
        let stop = AtomicBool::new(false);
        let refused = run(&plan, &places(), Duration::ZERO, &open, &stop, &|_| {}).unwrap_err();
        assert!(matches!(refused, RunError::Plan(_)), "{refused}");
        assert!(refused.to_string().contains("rereads"), "{refused}");
    }
}

/// What an end had cut short was called persistent on one read like on fifteen.
#[test]
fn reads_that_an_end_cut_short_are_told() {
    let (plan, storage) = (pages(15), failing(Failure::LostWrite, 201));
    let stop = Arc::new(AtomicBool::new(false));
    storage.lock().unwrap().wrong = Some(Arc::clone(&stop));
    let open = |bytes: u32| -> Result<Box<dyn engine::Queue>, String> {
        Ok(Box::new(Memory::new(&storage, plan.depth, bytes)))
    };
    let time = Duration::from_secs(20);
    let report = run(&plan, &places()[..2], time, &open, &stop, &|_| {}).unwrap();
    let fault = &report.faults[0];
    assert_eq!(
        (fault.fault.kept, fault.rereads, fault.rereads_planned),
        (Persistence::Persistent, 1, 15)
    );
    assert!(
        fault.to_string().contains("still so after 1 more read; 15 were to be made"),
        "{fault}"
    );
}
