//! The contract of [`Queue`](crate::queue::Queue) on the backends of Linux, on real files.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;

use workload::{Completion, Mode};

use super::{aio, mmap, sync, uring};
use crate::contract::{
    BLOCK, DEPTH, Keeps, SIZE, gives_up_waiting, keeps_the_contract, plan, skip, tells_errors,
};
use crate::queue::{Op, Queue, Request};

/// A file of the contract's size, open for I/O; none where its file system has no direct I/O.
fn file(mode: Mode, writes: bool) -> Option<File> {
    let direct = if mode == Mode::Direct { libc::O_DIRECT } else { 0 };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    File::create(&path).unwrap().set_len(SIZE).unwrap();
    let mut options = OpenOptions::new();
    match options.read(true).write(writes).custom_flags(direct).open(path) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            skip("direct", "the file system of the temporary directory has no direct I/O");
            None
        }
        file => Some(file.unwrap()),
    }
}

const WAYS: [(Mode, Completion); 4] = [
    (Mode::Direct, Completion::Block),
    (Mode::Direct, Completion::Spin),
    (Mode::Buffered, Completion::Block),
    (Mode::Buffered, Completion::Spin),
];

#[test]
fn the_sync_queue_keeps_the_contract() {
    for mode in [Mode::Direct, Mode::Buffered] {
        if let Some(file) = file(mode, true) {
            let mut queue = sync::SyncQueue::new(file, plan(DEPTH)).unwrap();
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
    }
    let read_only = file(Mode::Buffered, false).unwrap();
    let mut queue = sync::SyncQueue::new(read_only, plan(DEPTH)).unwrap();
    tells_errors(&mut queue, Op::Write, libc::EBADF);
}

#[test]
fn the_aio_queue_keeps_the_contract() {
    if let Err(error) = aio::probe() {
        return skip("aio", &error.to_string());
    }
    for (mode, completion) in WAYS {
        if let Some(file) = file(mode, true) {
            let mut queue = aio::AioQueue::new(file, plan(DEPTH), completion).unwrap();
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
    }
    let read_only = file(Mode::Buffered, false).unwrap();
    let mut queue = aio::AioQueue::new(read_only, plan(DEPTH), Completion::Block).unwrap();
    tells_errors(&mut queue, Op::Write, libc::EBADF);
}

#[test]
fn the_uring_queue_keeps_the_contract() {
    if let Err(error) = uring::probe() {
        return skip("uring", &error.to_string());
    }
    for (mode, completion) in WAYS {
        if let Some(file) = file(mode, true) {
            let mut queue = uring::UringQueue::new(file, plan(DEPTH), completion).unwrap().0;
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
    }
    let read_only = file(Mode::Buffered, false).unwrap();
    let mut queue = uring::UringQueue::new(read_only, plan(DEPTH), Completion::Block).unwrap().0;
    tells_errors(&mut queue, Op::Write, libc::EBADF);
}

fn mapped(file: File, writes: bool, durable: bool) -> mmap::MmapQueue {
    let mapping = mmap::Mapping::new(file, SIZE, writes, durable).unwrap();
    mmap::MmapQueue::new(mapping, plan(DEPTH)).unwrap()
}

#[test]
fn the_mmap_queue_keeps_the_contract() {
    for durable in [false, true] {
        let mut queue = mapped(file(Mode::Mapped, true).unwrap(), true, durable);
        keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
    }
    let mut queue = mapped(file(Mode::Mapped, false).unwrap(), false, false);
    tells_errors(&mut queue, Op::Write, libc::EBADF);
}

/// The system ends a program that touches mapped memory whose file has become shorter. Here it is an error of each such
/// I/O, also of the second one at the same place, and what comes back is what is there again.
#[test]
fn a_mapped_file_that_becomes_shorter_makes_errors() {
    let file = file(Mode::Mapped, true).unwrap();
    let (last, other) = (SIZE - u64::from(BLOCK), file.try_clone().unwrap());
    let mut queue = mapped(file, true, true);
    let mut perform = |op, slot, offset| {
        let buffer_offset = 0;
        queue.issue(&[Request { slot, op, offset, bytes: BLOCK, buffer_offset }]).unwrap();
        let mut finished = Vec::new();
        queue.wait(u64::MAX).unwrap();
        queue.reap(&mut finished);
        assert_eq!(finished.len(), 1);
        finished[0].result
    };
    let (whole, failed) = (BLOCK.cast_signed(), -libc::EIO);
    assert_eq!(perform(Op::Read, 0, last), whole);
    // The end of the file is in the middle of the last block.
    other.set_len(last + 4096).unwrap();
    for op in [Op::Read, Op::Read, Op::Write, Op::Read, Op::Write] {
        assert_eq!(perform(op, 1, last), failed, "{op:?}");
    }
    assert_eq!(perform(Op::Read, 2, 0), whole);
    other.set_len(SIZE).unwrap();
    assert_eq!(perform(Op::Write, 3, last), whole);
    assert_eq!(perform(Op::Read, 4, last), whole);
    assert_eq!(queue.write_buffer(3).to_vec(), queue.read_buffer(4));
}

/// Reading an empty pipe takes until somebody writes to it: an I/O that is stuck for as long as the test wants.
#[test]
fn a_stuck_io_does_not_hold_up_the_uring_queue() {
    if let Err(error) = uring::probe() {
        return skip("uring", &error.to_string());
    }
    for completion in [Completion::Block, Completion::Spin] {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(reader));
        let mut queue = uring::UringQueue::new(file, plan(DEPTH), completion).unwrap().0;
        gives_up_waiting(&mut queue);
        writer.write_all(b"x").unwrap();
    }
}
