//! The same workload several times on simulated devices.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Permissions, PrepareError};
use results::{Experiment, Measurement, Runs, Status};
use survey::{LabContext, Progress, RunsOptions, runs};
use workload::{Bytes, EngineChoice, Stream, Target, Workload};

fn side(name: &str) -> Workload {
    let target = Target { path: name.into(), size_bytes: Some(Bytes(1 << 30)) };
    let stream = Stream { depth: 4, ..Stream::default() };
    Workload {
        engine: EngineChoice::Sim,
        seconds: 1.0,
        warmup_seconds: 0.0,
        ..Workload::single(target, stream)
    }
}

fn options(sides: &[&str], repeat: u32) -> RunsOptions {
    RunsOptions {
        sides: sides.iter().map(|name| side(name)).collect(),
        permissions: Permissions::default(),
        repeat,
        settle_seconds: 0.0,
    }
}

/// The runs, whose events `observe` hears with the place of their side.
fn run_sides(
    options: &RunsOptions,
    stop: &AtomicBool,
    observe: impl Fn(usize, Progress<'_>),
) -> Result<Vec<Experiment<Runs>>, PrepareError> {
    let mut observers: Vec<_> = (0..options.sides.len())
        .map(|place| {
            let observe = &observe;
            move |progress: Progress<'_>| observe(place, progress)
        })
        .collect();
    let contexts = observers.iter_mut().map(|observe| LabContext::new(stop, observe)).collect();
    runs(options, contexts)
}

#[test]
fn each_run_is_kept_before_the_next_begins_and_has_offsets_of_its_own() {
    let stop = AtomicBool::new(false);
    let (steps, kept) = (Cell::new(0_u32), RefCell::new(Vec::new()));
    let documents = run_sides(&options(&["a"], 3), &stop, |_, progress| match progress {
        Progress::Step { title, .. } if title.starts_with("run ") => steps.set(steps.get() + 1),
        Progress::Measured(m) => kept.borrow_mut().push((steps.get(), m.clone())),
        _ => {}
    })
    .unwrap();
    let [document] = documents.as_slice() else { panic!("one side, one document") };
    assert_eq!(document.status, Status::Complete);
    let (steps, kept): (Vec<u32>, Vec<Measurement>) = kept.into_inner().into_iter().unzip();
    assert_eq!(steps, [1, 2, 3], "kept before the next step");
    assert_eq!(document.measurements, kept);
    let mut seeds: Vec<u64> = kept.iter().map(|m| m.workload.seed).collect();
    assert_eq!(seeds[0], side("a").seed, "the first is what one run would be");
    seeds.dedup();
    assert_eq!(seeds.len(), 3);
    assert_eq!(document.conclusion.trust.runs, 3);
    assert!(document.conclusion.trust.cv_percent.is_some());
}

#[test]
fn two_sides_take_turns_and_each_has_its_document() {
    let (stop, turns) = (AtomicBool::new(false), RefCell::new(Vec::new()));
    let documents = run_sides(&options(&["a", "b"], 3), &stop, |place, progress| {
        if let Progress::Measured(_) = progress {
            turns.borrow_mut().push(place);
        }
    })
    .unwrap();
    assert_eq!(turns.into_inner(), [0, 1, 1, 0, 0, 1]);
    assert_ne!(documents[0].id, documents[1].id);
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
    let made = Cell::new(0);
    let documents = run_sides(&options(&["a", "b"], 2), &stop, |_, progress| match progress {
        Progress::Measured(_) => made.set(made.get() + 1),
        Progress::Step { title, .. } if title.starts_with("run ") && made.get() == 3 => {
            stop.store(true, Ordering::Relaxed);
        }
        _ => {}
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
        let refused = run_sides(&options(&["a"], repeat), &stop, |_, progress| {
            panic!("nothing happens: {progress:?}");
        });
        assert!(matches!(refused, Err(PrepareError::Invalid(_))), "{repeat}");
    }
}
