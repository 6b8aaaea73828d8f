//! Between the start and the end of a run, nothing is allocated: four times the I/Os take the same
//! allocations.
//!
//! The counting allocator is the whole process's, so all that is measured runs in one test.
#![expect(unsafe_code, reason = "an allocator that counts is unsafe to write")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use workload::{Bytes, EngineChoice, Nanoseconds, Stream, Target, Workload};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What two runs may differ by: the odd waiter of a channel, never something per I/O.
const DIFFERENCE_MAX: u64 = 16;

/// Allocations and I/Os of one run.
fn run(engine: EngineChoice, stream: &Stream, seconds: f64) -> (u64, u64) {
    let target = Target { path: "none".into(), size_bytes: Some(Bytes(1 << 30)) };
    let mut workload = Workload::single(target, stream.clone());
    (workload.engine, workload.seconds, workload.warmup_seconds) = (engine, seconds, 0.0);
    // One point of the series in either run.
    workload.interval_ns = Nanoseconds(3_600_000_000_000);
    let stop = AtomicBool::new(false);
    let permissions = engine::Permissions::default();
    let prepared =
        engine::prepare(&workload, &permissions, &stop, &mut |_| {}).expect("no device is needed");
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let measurement = engine::run(&workload, &prepared, &stop, &mut |_: &engine::Event| {})
        .expect("no device is needed");
    (ALLOCATIONS.load(Ordering::Relaxed) - before, measurement.total.ios)
}

#[test]
fn more_ios_need_no_more_allocations() {
    let deep = Stream { depth: 32, ..Stream::default() };
    let mixed = Stream { write_percent: 50, threads: 2, ..deep.clone() };
    for (engine, seconds) in [(EngineChoice::Null, 0.05), (EngineChoice::Sim, 0.5)] {
        for stream in [&deep, &mixed] {
            // The first run of a process sets up what all later ones share.
            run(engine, stream, seconds);
            let (few, few_ios) = run(engine, stream, seconds);
            let (many, many_ios) = run(engine, stream, 4.0 * seconds);
            assert!(many_ios > 2 * few_ios, "{engine:?}: {few_ios} and {many_ios} I/Os");
            let difference = many.abs_diff(few);
            assert!(
                difference <= DIFFERENCE_MAX,
                "{engine:?}: {few} allocations for {few_ios} I/Os, {many} for {many_ios}"
            );
        }
    }
}
