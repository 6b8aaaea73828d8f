//! The same workload several times on simulated devices.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Permissions, PrepareError};
use results::{Measurement, Status};
use survey::{Progress, RunSide, RunsOptions, runs};
use workload::{Bytes, EngineChoice, Stream, Target, Workload};

fn side(name: &str) -> RunSide {
    let target = Target { path: name.into(), size_bytes: Some(Bytes(1 << 30)) };
    let stream = Stream { depth: 4, ..Stream::default() };
    let workload = Workload {
        engine: EngineChoice::Sim,
        seconds: 1.0,
        warmup_seconds: 0.0,
        ..Workload::single(target, stream)
    };
    RunSide { id: format!("id-of-{name}"), workload }
}

fn options(sides: &[&str], repeat: u32) -> RunsOptions {
    RunsOptions {
        sides: sides.iter().map(|name| side(name)).collect(),
        permissions: Permissions::default(),
        repeat,
        settle_seconds: 0.0,
    }
}

#[test]
fn each_run_is_kept_before_the_next_begins_and_has_offsets_of_its_own() {
    let stop = AtomicBool::new(false);
    let steps = std::cell::Cell::new(0_u32);
    let mut kept: Vec<(u32, Measurement)> = Vec::new();
    let documents = runs(
        &options(&["a"], 3),
        &stop,
        &mut |place, m| {
            assert_eq!(place, 0);
            kept.push((steps.get(), m.clone()));
        },
        &mut |progress| match progress {
            Progress::Step { title, .. } if title.starts_with("run ") => steps.set(steps.get() + 1),
            Progress::Began { id, .. } => assert_eq!(id, "id-of-a"),
            _ => {}
        },
    )
    .unwrap();
    let [document] = documents.as_slice() else { panic!("one side, one document") };
    assert_eq!((document.id.as_str(), document.status), ("id-of-a", Status::Complete));
    let (steps, kept): (Vec<u32>, Vec<Measurement>) = kept.into_iter().unzip();
    assert_eq!(steps, [1, 2, 3], "kept before the next step");
    assert_eq!(document.measurements, kept);
    let mut seeds: Vec<u64> = kept.iter().map(|m| m.workload.seed).collect();
    assert_eq!(seeds[0], side("a").workload.seed, "the first is what one run would be");
    seeds.dedup();
    assert_eq!(seeds.len(), 3);
    assert_eq!(document.conclusion.trust.runs, 3);
    assert!(document.conclusion.trust.cv_percent.is_some());
}

#[test]
fn two_sides_take_turns_and_each_has_its_document() {
    let stop = AtomicBool::new(false);
    let mut turns = Vec::new();
    let documents =
        runs(&options(&["a", "b"], 3), &stop, &mut |place, _| turns.push(place), &mut |_| {})
            .unwrap();
    assert_eq!(turns, [0, 1, 1, 0, 0, 1]);
    let ids: Vec<&str> = documents.iter().map(|d| d.id.as_str()).collect();
    assert_eq!(ids, ["id-of-a", "id-of-b"]);
    for document in &documents {
        assert_eq!((document.measurements.len(), document.status), (3, Status::Complete));
        assert_eq!(document.targets.len(), 1);
    }
}

/// A run that a signal cuts short stays in the document and is compared with nothing; a side that
/// had all of its runs is complete.
#[test]
fn what_ends_the_runs_is_in_every_document_that_misses_one() {
    let stop = AtomicBool::new(false);
    let documents = runs(&options(&["a", "b"], 2), &stop, &mut |_, _| {}, &mut |progress| {
        if let Progress::Step { number: 4, .. } = progress {
            stop.store(true, Ordering::Relaxed);
        }
    })
    .unwrap();
    let ended: Vec<(Status, usize)> =
        documents.iter().map(|d| (d.status, d.conclusion.trust.runs)).collect();
    assert_eq!(ended, [(Status::Interrupted, 1), (Status::Complete, 2)]);
}

#[test]
fn a_number_of_runs_that_makes_no_sense_is_refused_before_anything_is_touched() {
    let stop = AtomicBool::new(false);
    for repeat in [0, 101] {
        let refused = runs(&options(&["a"], repeat), &stop, &mut |_, _| {}, &mut |progress| {
            panic!("nothing happens: {progress:?}");
        });
        assert!(matches!(refused, Err(PrepareError::Invalid(_))), "{repeat}");
    }
}
