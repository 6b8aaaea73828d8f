//! When a run begins: the observer decides, once everything is ready.

use std::sync::atomic::AtomicBool;

use engine::{Clock, EngineError, Event, Go, Observer, Permissions, Start};
use workload::{EngineChoice, Stream, Target, Workload};

const SOON_NS: u64 = 50_000_000;

/// Answers with this, and notes what it hears and when.
struct Gate {
    start: Start,
    heard: Vec<(u64, Event)>,
}

impl Observer for Gate {
    fn event(&mut self, event: &Event) -> Go {
        self.heard.push((Clock::get().now(), event.clone()));
        Go::On
    }

    fn start(&mut self) -> Start {
        assert!(self.heard.is_empty(), "I/O began before it was asked: {:?}", self.heard);
        self.start
    }
}

fn workload(engine: EngineChoice) -> Workload {
    let target = Target { path: "nothing".into(), size_bytes: None };
    let stream = Stream { threads: 2, ..Stream::default() };
    let whole = Workload::single(target, stream);
    Workload { engine, seconds: 0.05, warmup_seconds: 0.0, ..whole }
}

fn run(engine: EngineChoice, start: Start) -> (Result<u64, EngineError>, Vec<(u64, Event)>) {
    let (workload, stop) = (workload(engine), AtomicBool::new(false));
    let prepared =
        engine::prepare(&workload, &Permissions::default(), &stop, &mut |_: &Event| ()).unwrap();
    let mut gate = Gate { start, heard: Vec::new() };
    let measured = engine::run(&workload, &prepared, &stop, &mut gate);
    (measured.map(|measurement| measurement.total.ios), gate.heard)
}

fn late_ns(heard: &[(u64, Event)]) -> Vec<u64> {
    let late = heard.iter().filter_map(|(_, event)| match event {
        Event::ThreadsStarted { late_ns, after_ns } if after_ns <= late_ns => Some(*late_ns),
        _ => None,
    });
    late.collect()
}

#[test]
fn a_run_begins_at_the_moment_that_is_named_and_says_how_late_its_threads_were() {
    let named = Clock::get().now() + SOON_NS;
    let (ios, heard) = run(EngineChoice::Null, Start::At(named));
    assert!(ios.unwrap() > 0);
    assert!(heard.iter().all(|(at, _)| *at >= named), "{heard:?}");
    assert_eq!(late_ns(&heard).len(), 1);
}

#[test]
fn a_moment_that_has_passed_means_at_once() {
    let before = Clock::get().now();
    let (ios, heard) = run(EngineChoice::Null, Start::At(before));
    assert!(ios.unwrap() > 0);
    let late = late_ns(&heard);
    assert!(late.len() == 1 && late[0] > 0 && late[0] <= Clock::get().now() - before, "{late:?}");
}

#[test]
fn a_run_that_is_called_off_makes_no_io() {
    for engine in [EngineChoice::Null, EngineChoice::Sim] {
        let (ios, heard) = run(engine, Start::Never);
        assert!(matches!(ios, Err(EngineError::CalledOff)), "{ios:?}");
        assert_eq!(heard, []);
    }
}

#[test]
fn a_run_without_a_named_moment_says_nothing_of_it() {
    for (engine, start) in [(EngineChoice::Null, Start::Now), (EngineChoice::Sim, Start::Now)] {
        let (ios, heard) = run(engine, start);
        assert!(ios.unwrap() > 0);
        assert!(late_ns(&heard).is_empty());
    }
}
