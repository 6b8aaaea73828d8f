//! A run that is killed at any moment continues: no alarm for what was under way, and all that was
//! damaged meanwhile is found.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use integrity::{
    KeptError, KeptLedger, PageDamage, Phase, Place, Plan, Report, RunError, run_kept,
};
use proptest::prelude::*;

use super::storage::{Memory, PAGE, Shared};
use super::{DATA_PAGES, empty, places, plan};

const TIME: Duration = Duration::from_secs(3);

/// Places whose files exist: a ledger knows a file by more than its name.
fn real_places(directory: &Path) -> Vec<Place> {
    let mut places = places();
    for place in &mut places {
        place.path = directory.join(place.path.file_name().unwrap());
        std::fs::write(&place.path, "").unwrap();
    }
    places
}

fn one(
    plan: &Plan,
    places: &[Place],
    storage: &Shared,
    kept: &KeptLedger,
) -> Result<Report, RunError> {
    let open = |bytes: u32| -> Result<Box<dyn engine::Queue>, String> {
        Ok(Box::new(Memory::new(storage, plan.depth, bytes)))
    };
    run_kept(plan, places, TIME, &open, &AtomicBool::new(false), &|_| (), Some(kept))
}

/// Runs the plan, killed after each of these numbers of I/Os, and then to its end. `meanwhile`
/// happens between the last kill and the rest.
fn killed(
    plan: &Plan,
    kills: &[(u64, usize)],
    meanwhile: &dyn Fn(&Shared, Option<Phase>),
) -> Vec<Report> {
    let directory = tempfile::tempdir().unwrap();
    let (places, storage) = (real_places(directory.path()), empty());
    let file = directory.path().join("run.ledger");
    let mut reports = Vec::new();
    for (n, kill) in kills.iter().enumerate() {
        storage.lock().unwrap().revive(Some(*kill));
        let kept = match n {
            0 => KeptLedger::create(&file, plan, &places, "of a test").unwrap(),
            _ => KeptLedger::open(&file).unwrap(),
        };
        reports.push(one(plan, &places, &storage, &kept).unwrap());
    }
    storage.lock().unwrap().revive(None);
    let kept = KeptLedger::open(&file).unwrap();
    assert_eq!(kept.about(), "of a test");
    meanwhile(&storage, kept.phase());
    reports.push(one(plan, &places, &storage, &kept).unwrap());
    if reports.last().unwrap().is_right() {
        assert_eq!(kept.phase(), None, "it has come to its end");
    }
    reports
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_run_goes_on_wherever_it_was_killed(
        kills in prop::collection::vec((1u64..6000, 0usize..40), 1..5), threads in 1u32..3,
            seed: u64
    ) {
        let plan = Plan { threads, seed, ..plan() };
        let reports = killed(&plan, &kills, &|_, _| ());
        for report in &reports {
            prop_assert!(report.is_right(), "{kills:?}: {} \
                {:?}", report.faults[0], report.log_faults);
        }
        let last = reports.last().unwrap();
        prop_assert!(last.audit.is_some() && last.ended.is_none(), "{last:?}");
        prop_assert_eq!(last.resumed.unwrap().times, kills.len() as u64);
    }
}

/// What was spoiled while nobody was there is found when the run continues, all of it and nothing
/// else; only of a page that was being written both versions are right.
#[test]
fn damage_between_a_kill_and_the_rest_is_found() {
    for (after, least) in [(40, 100), (400, 500), (3000, 500)] {
        let spoilt = |storage: &Shared, _| {
            for page in (0..DATA_PAGES).step_by(5) {
                storage.lock().unwrap().stored[0][page * PAGE + 600] ^= 4;
            }
        };
        let reports = killed(&plan(), &[(after, 3)], &spoilt);
        let last = reports.last().unwrap();
        let resumed = last.resumed.unwrap();
        let found: BTreeSet<u64> = last.faults.iter().map(|f| f.fault.id.page).collect();
        assert!(found.iter().all(|page| page.is_multiple_of(5)), "{found:?}");
        assert!(resumed.recovered.written > least && resumed.recovered.unsure < 300, "{resumed:?}");
        // Of those that were written, every fifth of the first file.
        let all = DATA_PAGES.div_ceil(5);
        assert!(found.len() > 15 && found.len() <= all, "{}", found.len());
        if after == 3000 {
            assert!(found.len() + 12 >= all, "{} of {all}", found.len());
        }
    }
}

/// A block that was spoiled before the run continued was written over by it, and the run continued.
#[test]
fn a_log_that_was_spoiled_meanwhile_ends_what_goes_on() {
    let spoilt = |storage: &Shared, _| {
        let log = &mut storage.lock().unwrap().stored[2];
        log.chunks_mut(64 << 10).for_each(|part| part[..512].fill(0));
    };
    let plan = Plan { stop_on_fault: true, ..plan() };
    let reports = killed(&plan, &[(3000, 0)], &spoilt);
    let last = reports.last().unwrap();
    assert!(last.log_fault_count > 0 && last.fault_count == 0 && last.work.changes == 0);
    for fault in &last.log_faults {
        assert!(matches!(fault.damage, PageDamage::TornPage | PageDamage::Zeroed), "{fault}");
        // When it was written is known of what this part of the run has written.
        assert_eq!(fault.written_after, None, "{fault}");
        assert!(fault.dump.contains(" exp ") && fault.rereads > 0, "{fault}");
    }
}

/// A finished run can be read again later.
#[test]
fn a_run_that_has_ended_can_be_read_again() {
    let spoilt = |storage: &Shared, phase: Option<Phase>| {
        assert_eq!(phase, None);
        storage.lock().unwrap().stored[0][7 * PAGE..8 * PAGE].fill(0);
    };
    let reports = killed(&plan(), &[(u64::MAX, 0)], &spoilt);
    let [first, second] = reports.as_slice() else { panic!("two") };
    assert!(first.is_right() && first.audit.is_some());
    let found: Vec<u64> = second.faults.iter().map(|f| f.fault.id.page).collect();
    assert_eq!((found, second.work.changes), (vec![7], 0));
    assert!(second.log_blocks > 10 && second.resumed.unwrap().recovered.unsure == 0);
    assert_eq!(second.work.pages_checked, (DATA_PAGES + DATA_PAGES / 2) as u64);
}

/// The ledger of a moment before was put back: pages that were written since were called lost
/// writes.
#[test]
fn a_ledger_older_than_the_data_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let (places, storage) = (real_places(directory.path()), empty());
    let (file, copy) = (directory.path().join("run.ledger"), directory.path().join("copy"));
    storage.lock().unwrap().revive(Some((3000, 0)));
    let kept = KeptLedger::create(&file, &plan(), &places, "").unwrap();
    assert!(one(&plan(), &places, &storage, &kept).unwrap().is_right());
    drop(kept);
    std::fs::copy(&file, &copy).unwrap();
    storage.lock().unwrap().revive(None);
    let kept = KeptLedger::open(&file).unwrap();
    assert!(one(&plan(), &places, &storage, &kept).unwrap().is_right());
    drop(kept);
    let kept = KeptLedger::open(&copy).unwrap();
    let report = one(&plan(), &places, &storage, &kept).unwrap();
    assert!(report.fault_count > 100, "{}", report.fault_count);
    for fault in &report.faults {
        assert_eq!(fault.fault.damage, PageDamage::NewerThanKnown, "{fault}");
        assert!(fault.to_string().contains("the ledger is older than the data"), "{fault}");
    }
}

/// Two runs on the same files, both killed; gives the places, the ledger of the first, and what the
/// storage holds after each.
fn two_runs(directory: &Path, seeds: [u64; 2]) -> (Vec<Place>, Shared, Vec<Vec<Vec<u8>>>) {
    let (places, storage) = (real_places(directory), empty());
    let mut left = Vec::new();
    for (seed, name) in seeds.into_iter().zip(["first", "second"]) {
        storage.lock().unwrap().revive(Some((3000, 0)));
        let plan = Plan { seed, ..plan() };
        let kept = KeptLedger::create(&directory.join(name), &plan, &places, "").unwrap();
        assert!(one(&plan, &places, &storage, &kept).unwrap().is_right());
        left.push(storage.lock().unwrap().stored.clone());
        // The next run begins at another moment.
        std::thread::sleep(Duration::from_millis(2));
    }
    storage.lock().unwrap().revive(None);
    (places, storage, left)
}

/// A ledger was resumed after another run had used the files again, which keep their names, sizes
/// and inodes. Every block of the log was read again and again, each for a second, and in the end
/// all of it was called foreign data: the storage was blamed for the wrong ledger. With
/// `--continue` it went page by page, for hours on a large file.
#[test]
fn a_ledger_and_files_of_two_runs_are_told_at_once() {
    for seeds in [[5, 6], [5, 5]] {
        let directory = tempfile::tempdir().unwrap();
        let (places, storage, _) = two_runs(directory.path(), seeds);
        let first = directory.path().join("first");
        for _ in 0..2 {
            storage.lock().unwrap().revive(None);
            let kept = KeptLedger::open(&first).unwrap();
            let plan = Plan { seed: seeds[0], ..plan() };
            let error = one(&plan, &places, &storage, &kept).unwrap_err();
            let RunError::Kept(KeptError::OtherFiles { files, .. }) = &error else {
                panic!("{error}")
            };
            assert!(storage.lock().unwrap().made <= 3 * 64, "a few reads of each file");
            assert_eq!(files.len(), 3, "{error}");
            for word in ["first", "a.mdx", "b.mdx", "a.ldx", "do not belong together", "--clean"] {
                assert!(error.to_string().contains(word), "{word}: {error}");
            }
        }
        // The right one continues.
        let plan = Plan { seed: seeds[1], ..plan() };
        let kept = KeptLedger::open(&directory.path().join("second")).unwrap();
        let report = one(&plan, &places, &storage, &kept).unwrap();
        assert!(report.is_right() && report.resumed.unwrap().times == 1, "{report:?}");
    }
}

/// Only the log was replaced: that file is named, and no other.
#[test]
fn one_file_of_another_run_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let (places, storage, left) = two_runs(directory.path(), [5, 6]);
    storage.lock().unwrap().stored[2].clone_from(&left[0][2]);
    let kept = KeptLedger::open(&directory.path().join("second")).unwrap();
    let error = one(&Plan { seed: 6, ..plan() }, &places, &storage, &kept).unwrap_err().to_string();
    assert!(error.contains("a.ldx") && !error.contains(".mdx"), "{error}");
}

/// Storage that lost or mixed up some blocks is at fault, even if what lies there is of an earlier
/// run: each is reported.
#[test]
fn some_pages_and_blocks_of_another_run_are_damage() {
    let directory = tempfile::tempdir().unwrap();
    let (places, storage, left) = two_runs(directory.path(), [5, 6]);
    for page in (0..DATA_PAGES).filter(|page| page % 10 != 0) {
        let bytes = page * PAGE..(page + 1) * PAGE;
        storage.lock().unwrap().stored[0][bytes.clone()].copy_from_slice(&left[0][0][bytes]);
    }
    let half = left[0][2].len() / 2;
    storage.lock().unwrap().stored[2][half..].copy_from_slice(&left[0][2][half..]);
    let kept = KeptLedger::open(&directory.path().join("second")).unwrap();
    let report = one(&Plan { seed: 6, ..plan() }, &places, &storage, &kept).unwrap();
    // A page that was being written may be old or new, and an older one is neither.
    let wrong = DATA_PAGES - DATA_PAGES.div_ceil(10);
    assert_eq!(report.fault_count, wrong as u64, "{:?}", report.faults.first());
    assert!(report.faults.iter().all(|f| f.fault.damage == PageDamage::ForeignData));
    assert!(report.log_blocks > report.log_fault_count);
}

/// Data of nobody, and of nothing, is damage: only another run's marks say that the files are
/// others.
#[test]
fn files_without_any_mark_are_damage() {
    for byte in [0, 0xA5] {
        let directory = tempfile::tempdir().unwrap();
        let (places, storage, _) = two_runs(directory.path(), [5, 6]);
        storage.lock().unwrap().stored.iter_mut().for_each(|file| file.fill(byte));
        let kept = KeptLedger::open(&directory.path().join("second")).unwrap();
        let report = one(&Plan { seed: 6, ..plan() }, &places, &storage, &kept).unwrap();
        assert!(report.fault_count > 100 && report.log_fault_count > 10, "{report:?}");
    }
}

#[test]
fn a_ledger_is_of_one_run_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let (places, storage) = (real_places(directory.path()), empty());
    let file = directory.path().join("run.ledger");
    assert!(matches!(KeptLedger::open(&file), Err(KeptError::Io { .. })));
    let kept = KeptLedger::create(&file, &plan(), &places, "").unwrap();
    assert!(matches!(KeptLedger::open(&file), Err(KeptError::InUse { .. })));
    drop(kept);
    let again = KeptLedger::create(&file, &plan(), &places, "");
    assert!(matches!(again, Err(KeptError::Exists { .. })));
    let differs = |plan: &Plan, places: &[Place]| {
        let kept = KeptLedger::open(&file).unwrap();
        match one(plan, places, &storage, &kept) {
            Err(RunError::Kept(KeptError::Differs { difference, .. })) => difference,
            other => panic!("{other:?}"),
        }
    };
    assert!(differs(&Plan { seed: 9, ..plan() }, &places).contains("plan"));
    let mut smaller = places.clone();
    smaller[1].size_bytes -= PAGE as u64;
    assert!(differs(&plan(), &smaller).contains("b.mdx"));
    assert!(differs(&plan(), &places[..2]).contains("3 files"));
    std::fs::rename(&places[0].path, directory.path().join("moved")).unwrap();
    std::fs::write(&places[0].path, "").unwrap();
    assert!(differs(&plan(), &places).contains("a.mdx"));
    for bytes in [&b""[..], b"short", &[0; 8192][..]] {
        std::fs::write(&file, bytes).unwrap();
        assert!(matches!(KeptLedger::open(&file), Err(KeptError::NotOurs { .. })));
    }
}

/// A ledger that was cut or changed at its beginning was not told from one that was whole, but for
/// its length.
#[test]
fn a_ledger_that_was_cut_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let (places, file) = (real_places(directory.path()), directory.path().join("run.ledger"));
    drop(KeptLedger::create(&file, &plan(), &places, "").unwrap());
    let whole = std::fs::read(&file).unwrap();
    for length in [600, 5000, whole.len() - 8, whole.len() - 1, whole.len() + 8] {
        let mut bytes = whole.clone();
        bytes.resize(length, 0);
        std::fs::write(&file, bytes).unwrap();
        let error = KeptLedger::open(&file).unwrap_err();
        assert!(matches!(error, KeptError::Damaged { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("it has {length} bytes")), "{text}");
        assert!(text.contains("run.ledger") && text.contains("--clean DIRECTORY"), "{text}");
    }
}

proptest! {
    #[test]
    fn a_ledger_whose_header_was_changed_is_refused(
        at in prop_oneof![0usize..16, 0usize..512, 512usize..560], value: u64,
            bit in prop::option::of(0u32..64)
    ) {
        let directory = tempfile::tempdir().unwrap();
        let (places, file) = (real_places(directory.path()), directory.path().join("l"));
        let plan = Plan { threads: 1, ..plan() };
        drop(KeptLedger::create(&file, &plan, &places[..1], "about").unwrap());
        let whole = KeptLedger::look(&file).unwrap();
        prop_assert_eq!(whole.about(), "about");
        drop(whole);
        let mut bytes = std::fs::read(&file).unwrap();
        let part = at * 8..at * 8 + 8;
        let before = u64::from_le_bytes(bytes[part.clone()].try_into().unwrap());
        // Any other word, or one of whose bits one is another.
        let after = bit.map_or(value, |bit| before ^ 1 << bit);
        prop_assume!(before != after);
        bytes[part].copy_from_slice(&after.to_le_bytes());
        std::fs::write(&file, &bytes).unwrap();
        let refused = KeptLedger::look(&file).unwrap_err();
        let is_named = matches!(refused, KeptError::NotOurs { .. } | KeptError::Damaged { .. });
        prop_assert!(is_named, "{}", refused);
    }
}
