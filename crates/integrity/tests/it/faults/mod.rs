//! On the real path through the kernel: every fault that a reader was handed is found and called by
//! its name, and nothing else is.

mod lab;

use integrity::{Hardening, PageDamage, Plan};
use truth::{Fault, FaultPlan, Torn, When};
use workload::Nanoseconds;

use lab::{DATA, Lab, found, names, plan, visible};

/// So many faults are of so few pages that the report keeps all of them.
const MOST: u64 = 12;

/// Holds what was found against what readers were handed.
fn detects(test: &str, fault: Fault, every: u64, expected: &[PageDamage]) {
    let plan = plan();
    let Some(lab) = Lab::new(test, &plan) else { return };
    let fault_plan = FaultPlan::new(fault, When::Every(every)).in_file(DATA).at_most(MOST);
    let report = lab.run(&plan, &[fault_plan.in_range(lab.pages())]);
    let injected = lab.truth.injected();
    let (found, visible, names) = (found(&report), visible(&injected), names(&injected));
    let kept: usize = found.values().map(Vec::len).sum();
    assert_eq!(kept as u64, report.fault_count, "all are kept");
    assert!(!visible.is_empty(), "{fault:?}: {injected:?}");
    let (detected, seen): (Vec<_>, Vec<_>) = (found.keys().collect(), visible.keys().collect());
    assert_eq!(detected, seen, "{fault:?}: {injected:#?}");
    for (page, called) in &found {
        assert!(called.len() <= visible[page], "{fault:?} on page {page}: {called:?}");
        for one in called {
            let names = &names[page];
            assert!(names.contains(one), "{fault:?} on page {page}: {called:?}, not {names:?}");
        }
    }
    let damages: Vec<PageDamage> = found.values().flatten().map(|(damage, _)| *damage).collect();
    assert!(expected.iter().all(|e| damages.contains(e)), "{fault:?}: {damages:?}");
    assert!(report.failures.is_empty() && report.log_faults.is_empty(), "{report:?}");
}

macro_rules! detected {
    ($($name:ident: $fault:expr, every $every:literal => $expected:expr;)*) => {
        $(#[test] fn $name() { detects(stringify!($name), $fault, $every, &$expected); })*
    };
}

detected! {
    bits_flipped_in_reads: Fault::BitFlipRead, every 61 => [PageDamage::BitError];
    bits_flipped_in_writes: Fault::BitFlipWrite, every 13 => [PageDamage::BitError];
    lost_writes: Fault::LostWrite, every 13 => [PageDamage::LostWrite];
    writes_torn_behind_the_first_sector: Fault::TornWrite(Torn::Prefix(1)),
        every 13 => [PageDamage::TornPage];
    writes_torn_before_the_last_sector: Fault::TornWrite(Torn::Suffix(1)),
        every 13 => [PageDamage::TornPage];
    writes_torn_everywhere: Fault::TornWrite(Torn::Random), every 13 => [PageDamage::TornPage];
    misdirected_writes: Fault::MisdirectedWrite,
        every 13 => [PageDamage::MisdirectedWrite, PageDamage::LostWrite];
    misdirected_reads: Fault::MisdirectedRead, every 61 => [PageDamage::MisdirectedRead];
    stale_reads: Fault::StaleRead, every 61 => [PageDamage::StaleRead];
    zeroed_reads: Fault::ZeroRead, every 61 => [PageDamage::Zeroed];
    zeroed_writes: Fault::ZeroWrite, every 13 => [PageDamage::Zeroed];
}

/// A page of 8 KiB has fifteen edges between its sectors.
#[test]
fn writes_torn_at_every_edge_of_a_page() {
    let plan = Plan { gather_pages: 1, ..plan() };
    let Some(lab) = Lab::new("writes_torn_at_every_edge_of_a_page", &plan) else { return };
    let torn = |edge| {
        let fault = Fault::TornWrite(Torn::Prefix(edge));
        FaultPlan::new(fault, When::Every(7)).in_file(DATA).in_range(lab.pages()).at_most(1)
    };
    let faults: Vec<FaultPlan> = (1..16).map(torn).collect();
    let report = lab.run(&plan, &faults);
    let injected = lab.truth.injected();
    assert_eq!(injected.len(), 15, "each happens once");
    let (found, visible, names) = (found(&report), visible(&injected), names(&injected));
    assert!(found.keys().eq(visible.keys()), "{found:?}, but {visible:?}");
    assert!(found.iter().all(|(page, called)| called.iter().all(|c| names[page].contains(c))));
}

/// What the system says of an I/O, and what takes long, is not wrong data.
#[test]
fn what_is_told_or_harmless_raises_no_alarm() {
    let test = "what_is_told_or_harmless_raises_no_alarm";
    let plan = Plan { hardening: Hardening::Flush, ..plan() };
    for (fault, errno) in [
        (Fault::ReadError(5), Some(5)),
        (Fault::WriteError(5), Some(5)),
        (Fault::WriteError(28), Some(28)),
        (Fault::SyncError(5), Some(5)),
        (Fault::ShortRead, None),
        // Linux does not tell programs with several I/Os in flight how much of a write was made.
        (Fault::ShortWrite, Some(5)),
        (Fault::DuplicatedWrite, None),
        (Fault::Stall(Nanoseconds(50_000_000)), None),
    ] {
        let Some(lab) = Lab::new(test, &plan) else { return };
        let every = if matches!(fault, Fault::SyncError(_)) { 2 } else { 13 };
        let when = FaultPlan::new(fault, When::Every(every)).in_file(DATA).at_most(50);
        let report = lab.run(&plan, &[when]);
        assert!(report.is_right(), "{fault:?}: {}", report.faults[0]);
        let injected = lab.truth.injected();
        assert!(!injected.is_empty() && injected.iter().all(|i| i.changed.is_empty()));
        let failed: u64 = report.failures.iter().map(|f| f.count).sum();
        let expected = if errno.is_some() { injected.len() } else { 0 };
        let told = failed == expected as u64 || (fault == Fault::ShortWrite && failed == 0);
        assert!(told, "{fault:?}: {:?} of {expected}", report.failures);
        assert!(report.failures.iter().all(|f| Some(f.errno) == errno), "{:?}", report.failures);
    }
}

#[test]
fn a_device_that_is_right_raises_no_alarm() {
    let test = "a_device_that_is_right_raises_no_alarm";
    for hardening in [Hardening::WriteThrough, Hardening::Flush] {
        let plan = Plan { hardening, ..plan() };
        let Some(lab) = Lab::new(test, &plan) else { return };
        let report = lab.run(&plan, &[]);
        assert!(report.is_right() && report.failures.is_empty(), "{report:?}");
        assert!(report.work.pages_checked > 600 && report.log_blocks > 0, "{report:?}");
    }
}

/// A block of the log that was acknowledged and is not as it was written.
#[test]
fn a_log_that_was_damaged_is_found() {
    for fault in [Fault::LostWrite, Fault::BitFlipWrite, Fault::ZeroWrite] {
        let plan = plan();
        let Some(lab) = Lab::new("a_log_that_was_damaged_is_found", &plan) else { return };
        let when = FaultPlan::new(fault, When::Nth(5)).in_file("records.ldx");
        let report = lab.run(&plan, &[when]);
        let injected = lab.truth.injected();
        assert_eq!((injected.len(), report.fault_count), (1, 0), "{fault:?}: {report:?}");
        // The log goes round: the block may have been written over since.
        assert_eq!(report.log_faults.is_empty(), injected[0].visible.is_empty(), "{fault:?}");
    }
}
