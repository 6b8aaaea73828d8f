//! On a device whose power fails: what each call makes durable on the way through the kernel, with
//! every queue.

use std::sync::atomic::AtomicBool;

use engine::{Op, Permissions, Prepared, Queue, Request};
use truth::{Cache, Fault, FaultPlan, Truth, When};
use workload::{
    Block, Bytes, EngineChoice, Mode, Nanoseconds, Pool, PoolShare, SimDevice, Stream, Target,
    Workload,
};

const SIZE: u64 = 1 << 20;
const BLOCK: u32 = 8192;

struct Lab {
    workload: Workload,
    prepared: Prepared,
    truth: Truth,
}

/// A file on a device that forgets what is not stable; `None` if it cannot be had, which is noted.
fn lab(test: &str, engine: EngineChoice) -> Option<Lab> {
    let time = Nanoseconds(1000);
    let model = SimDevice { servers: 64, read_ns: time, write_ns: time, ..SimDevice::default() };
    let truth = Truth::mount(model, &[SIZE + 4096])
        .inspect_err(|reason| testing::skip(&format!("integrity::{test}"), reason))
        .ok()?;
    let path = truth.directory().join("made.test");
    let plain = Stream {
        name: "plain".to_owned(),
        blocks: vec![Block { bytes: Bytes(BLOCK.into()), weight: 1 }],
        write_percent: 100,
        pool: Some(Pool { share: PoolShare::InTurn }),
        ..Stream::default()
    };
    let through = Stream { name: "through".to_owned(), durable: true, ..plain.clone() };
    let mut workload = Workload::single(Target { path, size_bytes: Some(Bytes(SIZE)) }, plain);
    workload.streams.push(through);
    (workload.engine, workload.mode) = (engine, Mode::Direct);
    let stop = AtomicBool::new(false);
    let prepared = engine::prepare(&workload, &Permissions::default(), &stop, &mut |_| ()).unwrap();
    truth.begin_cache(Cache { survives: 0.0, ..Cache::default() });
    Some(Lab { workload, prepared, truth })
}

fn make(queue: &mut dyn Queue, op: Op) {
    let bytes = if matches!(op, Op::Write | Op::WriteDurable) { BLOCK } else { 0 };
    queue.issue(&[Request { slot: 0, op, target: 0, offset: 0, bytes, buffer_offset: 0 }]).unwrap();
    let mut finished = Vec::new();
    while finished.is_empty() {
        queue.wait(queue.now() + 1_000_000).unwrap();
        queue.reap(&mut finished);
    }
    assert_eq!(finished[0].result, bytes.cast_signed());
}

const ENGINES: [EngineChoice; 3] = [EngineChoice::Uring, EngineChoice::Aio, EngineChoice::Sync];

/// What is there after a block of `byte` was written in this way and the power has failed.
fn left(lab: &Lab, byte: u8, stream: usize, ops: &[Op]) -> u8 {
    let mut queue = engine::open_queue(&lab.workload, &lab.prepared, stream).unwrap().0;
    queue.write_buffer(0)[..BLOCK as usize].fill(byte);
    for op in ops {
        make(queue.as_mut(), *op);
    }
    drop(queue);
    lab.truth.crash().unwrap();
    let found = std::fs::read(lab.prepared.targets()[0].path()).unwrap();
    assert!(found[..BLOCK as usize].iter().all(|b| *b == found[0]), "all or nothing");
    found[0]
}

#[test]
fn flushes_and_durable_writes_reach_the_device_as_such() {
    let test = "flushes_and_durable_writes_reach_the_device_as_such";
    for engine in ENGINES {
        let Some(lab) = lab(test, engine) else { return };
        assert_eq!(left(&lab, 1, 0, &[Op::WriteDurable]), 1, "{engine:?}: RWF_DSYNC");
        assert_eq!(left(&lab, 2, 0, &[Op::Write]), 1, "{engine:?}: nothing makes a write durable");
        assert_eq!(left(&lab, 3, 0, &[Op::Write, Op::Fsync]), 3, "{engine:?}: fsync");
        assert_eq!(left(&lab, 4, 0, &[Op::Write, Op::Fdatasync]), 4, "{engine:?}: fdatasync");
        assert_eq!(left(&lab, 5, 1, &[Op::Write]), 5, "{engine:?}: O_DSYNC");
        // Each of them, on a device that says so and does nothing.
        let lies = || vec![FaultPlan::new(Fault::FsyncLies, When::Every(1))];
        lab.truth.inject(lies());
        assert_eq!(left(&lab, 6, 0, &[Op::WriteDurable]), 5, "{engine:?}: RWF_DSYNC");
        assert_eq!(left(&lab, 7, 0, &[Op::Write, Op::Fsync]), 5, "{engine:?}: fsync");
        assert_eq!(left(&lab, 8, 0, &[Op::Write, Op::Fdatasync]), 5, "{engine:?}: fdatasync");
        assert_eq!(left(&lab, 9, 1, &[Op::Write]), 5, "{engine:?}: O_DSYNC");
        let injected = lab.truth.injected();
        assert_eq!(injected.len(), 4, "{engine:?}: {injected:?}");
        assert!(
            injected
                .iter()
                .all(|i| i.changed.iter().map(|s| s.bytes).sum::<u64>() == u64::from(BLOCK))
        );
        let mut log = Vec::new();
        lab.truth.write_fault_log(&mut log).unwrap();
        let log = String::from_utf8(log).unwrap();
        assert_eq!(log.matches("\"event\":\"lost\"").count(), 4, "{log}");
        assert_eq!(log.matches("\"event\":\"visible\"").count(), 4, "{log}");
    }
}
