//! Storage that does not answer while somebody wants an end.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use engine::{Finished, Queue, Request};
use integrity::{Event, Notice, NoticeKind, Phase, run};

use super::storage::Memory;
use super::{empty, places, plan};

/// Storage in memory, by the clock, which answers nothing for a while.
struct Hanging<'a> {
    inner: Memory,
    hangs: &'a AtomicBool,
    start: Instant,
}

impl Queue for Hanging<'_> {
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        self.inner.issue(requests)
    }

    fn wait(&mut self, _: u64) -> io::Result<()> {
        std::thread::sleep(Duration::from_millis(1));
        self.inner.wait(self.inner.now() + 20_000_000)
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        if !self.hangs.load(Ordering::Relaxed) {
            self.inner.reap(finished);
        }
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.inner.write_buffer(slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.inner.read_buffer(slot)
    }
}

/// Ctrl-C while storage hung was answered by nothing at all: nobody said what the end was waiting
/// for.
#[test]
fn who_wants_an_end_hears_what_it_waits_for() {
    static HANGS: AtomicBool = AtomicBool::new(false);
    let (plan, storage) = (plan(), empty());
    let start = Instant::now();
    let open = |bytes: u32| -> Result<Box<dyn Queue>, String> {
        let inner = Memory::new(&storage, plan.depth, bytes);
        Ok(Box::new(Hanging { inner, hangs: &HANGS, start }))
    };
    let (stop, glances) = (AtomicBool::new(false), AtomicU32::new(0));
    let told: Mutex<Vec<Notice>> = Mutex::default();
    let hear = |event: &Event| match event {
        Event::Began { phase: Phase::Work, .. } => {
            HANGS.store(true, Ordering::Relaxed);
        }
        Event::Began { .. } => {}
        Event::Glance(_) => {
            let seen = glances.fetch_add(1, Ordering::Relaxed);
            stop.store(true, Ordering::Relaxed);
            // Should nothing be told, the test ends all the same.
            if seen > 10 {
                HANGS.store(false, Ordering::Relaxed);
            }
        }
        Event::Notice(notice) => {
            told.lock().unwrap().push(notice.clone());
            HANGS.store(false, Ordering::Relaxed);
        }
    };
    let time = Duration::from_secs(3600);
    let report = run(&plan, &places(), time, &open, &stop, &hear).unwrap();
    assert!(report.is_right() && report.interrupted, "{report:?}");
    let told = told.into_inner().unwrap();
    let [Notice { kind: NoticeKind::EndWaits, text }] = told.as_slice() else { panic!("{told:?}") };
    assert!(text.starts_with("the end waits for I/Os that do not come back: "), "{text}");
    assert!(text.contains(" on `/nowhere/a.mdx`, the oldest a "), "{text}");
    assert!(glances.into_inner() < 10);
}

/// A run without a log told that it was reading the log.
#[test]
fn no_log_is_read_where_there_is_none() {
    let plan = integrity::Plan {
        random: integrity::RandomUsers { users: 0, ..plan().random },
        pages: integrity::PageUsers { users: 4, ..plan().pages },
        ..plan()
    };
    let storage = empty();
    let open = |bytes: u32| -> Result<Box<dyn Queue>, String> {
        Ok(Box::new(Memory::new(&storage, plan.depth, bytes)))
    };
    let phases: Mutex<Vec<Phase>> = Mutex::default();
    let hear = |event: &Event| {
        if let Event::Began { phase, .. } = event {
            phases.lock().unwrap().push(*phase);
        }
    };
    let time = Duration::from_secs(2);
    let stop = AtomicBool::new(false);
    let report = run(&plan, &places()[..2], time, &open, &stop, &hear).unwrap();
    assert!(report.is_right() && report.audit.is_some(), "{report:?}");
    assert_eq!(phases.into_inner().unwrap(), [Phase::Load, Phase::Work, Phase::Audit]);
}
