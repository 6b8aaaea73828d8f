//! Crashes by the thousand, in memory: storage that keeps its word is never accused, and storage
//! that does not is found out whenever something that was promised is really gone.

mod disk;
mod lab;

use std::collections::BTreeMap;

use integrity::durability::{Loss, Order, SyncMode};
use proptest::prelude::*;

use disk::{Conduct, Survival};
use lab::{Case, Outcome, run};

const SYNCS: [SyncMode; 4] =
    [SyncMode::Fsync, SyncMode::Fdatasync, SyncMode::ODsync, SyncMode::Fua];
const ORDERS: [Order; 2] = [Order::Page, Order::LogThenPage];
/// Sectors, blocks of 4 KiB, whole writes.
const UNITS: [u64; 3] = [512, 4096, 1 << 30];

fn survival() -> impl Strategy<Value = Survival> {
    (prop::sample::select(&UNITS[..]), 0.0..=1.0)
        .prop_map(|(unit_bytes, probability)| Survival { unit_bytes, probability })
}

fn case(conduct: impl Strategy<Value = Conduct>) -> impl Strategy<Value = Case> {
    let how =
        (prop::sample::select(&SYNCS[..]), prop::sample::select(&ORDERS[..]), conduct, survival());
    (any::<u64>(), 1u32..4, how, prop::collection::vec(0u64..300, 1..4)).prop_map(
        |(seed, threads, (sync, order, conduct, survival), rounds)| Case {
            seed,
            threads,
            sync,
            order,
            conduct,
            survival,
            honest: 0,
            rounds,
        },
    )
}

fn untrue() -> impl Strategy<Value = Conduct> {
    prop_oneof![(0.05..=1.0).prop_map(Conduct::Lies), (0.05..=1.0).prop_map(Conduct::Reorders)]
}

/// What is found is what is really gone, no less and no more.
fn assert_exact(outcome: &Outcome) {
    let found = outcome.found(false);
    let missed: Vec<_> =
        outcome.lost.difference(&found).filter(|u| !outcome.silent.contains(u)).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
    let invented: Vec<_> = found.difference(&outcome.lost).collect();
    assert!(invented.is_empty(), "nothing is wrong with {invented:?}");
    assert_eq!(outcome.found(true), outcome.ahead, "ahead of the log");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn storage_that_keeps_its_word_is_never_accused(case in case(Just(Conduct::Honest))) {
        let outcome = run(&case);
        prop_assert!(outcome.checked.is_kept(), "{:?}", outcome.checked.losses()
            .collect::<Vec<_>>());
        assert_exact(&outcome);
    }

    #[test]
    fn storage_that_lies_is_found_out_when_something_is_gone(case in case(untrue())) {
        assert_exact(&run(&case));
    }
}

/// Round three made an operation again, which was lost, on a page that still held a later operation
/// of round two. The oracle, which went by the time of writes alone, called that lost.
#[test]
fn what_is_newer_is_not_lost_though_it_was_written_earlier() {
    assert_exact(&run(&Case {
        seed: 403_642_894_873_393_577,
        threads: 3,
        sync: SyncMode::Fsync,
        order: Order::LogThenPage,
        conduct: Conduct::Lies(0.443_416_157_380_581_2),
        survival: Survival { unit_bytes: 4096, probability: 0.0 },
        honest: 0,
        rounds: vec![68, 263, 66],
    }));
}

/// How often each conduct, with each survival, is called what; the docs have this table.
#[test]
fn what_is_lost_has_the_right_name() {
    let mut table: BTreeMap<&str, (u32, u32, BTreeMap<Loss, u64>)> = BTreeMap::new();
    let conducts = [
        ("keeps its word", Conduct::Honest),
        ("acknowledges flushes and does nothing", Conduct::Lies(1.0)),
        ("makes a part stable at a flush", Conduct::Reorders(1.0)),
    ];
    for (name, conduct) in conducts {
        for number in 0..200u64 {
            let pick = |of: usize, step: u64| usize::try_from(number / step).unwrap() % of;
            let unit_bytes = UNITS[pick(3, 8)];
            let outcome = run(&Case {
                seed: number,
                threads: 2,
                sync: SYNCS[pick(4, 1)],
                order: ORDERS[pick(2, 4)],
                conduct,
                survival: Survival { unit_bytes, probability: 0.5 },
                // Every page was written and is stable before.
                honest: 2000,
                rounds: vec![2100 + number],
            });
            assert_exact(&outcome);
            let (cases, alarms, kinds) = table.entry(name).or_default();
            *cases += 1;
            *alarms += u32::from(!outcome.checked.is_kept());
            assert!(outcome.promised > 0);
            for (_, _, loss) in outcome.checked.losses() {
                *kinds.entry(loss).or_default() += 1;
                let torn = loss == Loss::Torn && unit_bytes > 4096;
                assert!(!torn, "what survives is whole writes, and none is torn");
            }
        }
    }
    for (name, (cases, alarms, kinds)) in &table {
        eprintln!("{name}: {cases} crashes, {alarms} alarms, {kinds:?}");
        let right = [Loss::Older, Loss::Torn, Loss::AheadOfLog];
        assert!(kinds.keys().all(|kind| right.contains(kind)), "{name}: {kinds:?}");
        // Where a part of everything is made stable, some crashes take nothing that was promised.
        let (least, most) = if *name == conducts[0].0 { (0, 0) } else { (180, 200) };
        assert!((least..=most).contains(alarms), "{name}: {alarms} alarms");
    }
}
