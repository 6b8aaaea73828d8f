//! The contract of [`Queue`](crate::queue::Queue) on the backends of Linux, on real files.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use testing::skip;
use workload::{Buffers as Layout, Bytes, Completion, Mode};

use super::{aio, mmap, sync, uring};
use crate::buffers::BufferPlan;
use crate::contract::{
    BLOCK, DEPTH, Keeps, SIZE, gives_up_waiting, keeps_the_contract, plan, tells_errors,
};
use crate::queue::{Finished, Op, Queue, Request};

/// A file of the contract's size, open for I/O; `None` if its file system has no direct I/O.
fn file(mode: Mode, writes: bool) -> Option<File> {
    let direct = if mode == Mode::Direct { libc::O_DIRECT } else { 0 };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    File::create(&path).unwrap().set_len(SIZE).unwrap();
    let mut options = OpenOptions::new();
    match options.read(true).write(writes).custom_flags(direct).open(path) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            skip(
                "engine::contract::direct",
                "the file system of the temporary directory has no direct I/O",
            );
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
            let mut queue = sync::SyncQueue::new(vec![file], plan(DEPTH)).unwrap();
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
    }
    let read_only = file(Mode::Buffered, false).unwrap();
    let mut queue = sync::SyncQueue::new(vec![read_only], plan(DEPTH)).unwrap();
    tells_errors(&mut queue, Op::Write, libc::EBADF);
}

#[test]
fn the_aio_queue_keeps_the_contract() {
    if let Err(error) = aio::probe() {
        return skip("engine::contract::aio", error);
    }
    for (mode, completion) in WAYS {
        if let Some(file) = file(mode, true) {
            let mut queue = aio::AioQueue::new(vec![file], plan(DEPTH), completion).unwrap();
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
    }
    let read_only = file(Mode::Buffered, false).unwrap();
    let mut queue = aio::AioQueue::new(vec![read_only], plan(DEPTH), Completion::Block).unwrap();
    tells_errors(&mut queue, Op::Write, libc::EBADF);
}

#[test]
fn the_uring_queue_keeps_the_contract() {
    if let Err(error) = uring::probe() {
        return skip("engine::contract::uring", error);
    }
    for (mode, completion) in WAYS {
        if let Some(file) = file(mode, true) {
            let mut queue = uring::UringQueue::new(vec![file], plan(DEPTH), completion).unwrap().0;
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
    }
    let read_only = file(Mode::Buffered, false).unwrap();
    let mut queue =
        uring::UringQueue::new(vec![read_only], plan(DEPTH), Completion::Block).unwrap().0;
    tells_errors(&mut queue, Op::Write, libc::EBADF);
}

fn mapped(file: File, writes: bool, durable: bool) -> mmap::MmapQueue {
    let mapping = mmap::Mapping::new(file, SIZE, writes, durable).unwrap();
    mmap::MmapQueue::new(vec![mapping], plan(DEPTH)).unwrap()
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

/// The system ends a program that touches mapped memory whose file has become shorter. Here each
/// such I/O returns an error, including the second at the same place. If the file grows again, its
/// bytes come back.
#[test]
fn a_mapped_file_that_becomes_shorter_makes_errors() {
    let file = file(Mode::Mapped, true).unwrap();
    let (last, other) = (SIZE - u64::from(BLOCK), file.try_clone().unwrap());
    let mut queue = mapped(file, true, true);
    let mut perform = |op, slot, offset| {
        let buffer_offset = 0;
        queue
            .issue(&[Request { slot, op, target: 0, offset, bytes: BLOCK, buffer_offset }])
            .unwrap();
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

/// In pieces of 4 KiB, which suit every device, and in many small ones.
const SCATTERED: [(Mode, Layout); 4] = [
    (Mode::Direct, Layout::Scattered { pieces: 2 }),
    (Mode::Buffered, Layout::Scattered { pieces: 128 }),
    (Mode::Direct, Layout::Pages { bytes: Bytes(4096) }),
    (Mode::Buffered, Layout::Pages { bytes: Bytes(512) }),
];

/// What one write leaves in the file, and one read brings from it, is in the order of the buffer,
/// not only the one as wrong as the other.
fn keeps_the_order<Q: Queue>(queue: &mut Q, file: &File) {
    let block: Vec<u8> = (0..BLOCK).map(|i| u8::try_from(i / 64 % 251).unwrap()).collect();
    let perform = |queue: &mut Q, op, offset| {
        let request = Request { slot: 5, op, target: 0, offset, bytes: BLOCK, buffer_offset: 0 };
        queue.issue(&[request]).unwrap();
        let mut finished = Vec::new();
        while finished.is_empty() {
            queue.wait(queue.now() + 1_000_000).unwrap();
            queue.reap(&mut finished);
        }
        assert_eq!(finished, [Finished { slot: 5, result: BLOCK.cast_signed() }]);
    };
    queue.write_buffer(5).copy_from_slice(&block);
    perform(queue, Op::WriteDurable, 0);
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    assert!(std::fs::read(&path).unwrap()[..BLOCK as usize] == block[..], "written");
    let turned: Vec<u8> = block.iter().rev().copied().collect();
    OpenOptions::new().write(true).open(&path).unwrap().write_all(&turned).unwrap();
    perform(queue, Op::Read, 0);
    assert!(queue.read_buffer(5) == turned, "read");
}

#[test]
fn blocks_in_pieces_keep_the_contract_and_their_order() {
    for (mode, layout) in SCATTERED {
        let plan = BufferPlan { layout, ..plan(DEPTH) };
        let Some(file) = file(mode, true) else { continue };
        let open = || file.try_clone().unwrap();
        let mut queue = sync::SyncQueue::new(vec![open()], plan).unwrap();
        keeps_the_order(&mut queue, &file);
        keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        if aio::probe().is_ok() {
            let mut queue = aio::AioQueue::new(vec![open()], plan, Completion::Block).unwrap();
            keeps_the_order(&mut queue, &file);
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
        if uring::probe().is_ok() {
            let mut queue =
                uring::UringQueue::new(vec![open()], plan, Completion::Block).unwrap().0;
            keeps_the_order(&mut queue, &file);
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
    }
}

/// Writes to one place of two files at once, reads from both, and flushes both.
fn keeps_targets_apart<Q: Queue>(queue: &mut Q, files: &[File; 2]) {
    let perform = |queue: &mut Q, op, bytes| {
        let request = |target: u16| Request {
            slot: target.into(),
            op,
            target,
            offset: 0,
            bytes,
            buffer_offset: 0,
        };
        queue.issue(&[request(1), request(0)]).unwrap();
        let mut finished = Vec::new();
        while finished.len() < 2 {
            queue.wait(queue.now() + 1_000_000).unwrap();
            queue.reap(&mut finished);
        }
        assert!(finished.iter().all(|f| f.result == bytes.cast_signed()), "{finished:?}");
    };
    for slot in [0, 1] {
        queue.write_buffer(slot).fill(10 + u8::try_from(slot).unwrap());
    }
    perform(queue, Op::Write, BLOCK);
    perform(queue, Op::Fdatasync, 0);
    // That they are on stable media cannot be seen from here; that they are writes can.
    perform(queue, Op::WriteDurable, BLOCK);
    for (file, byte) in files.iter().zip([10, 11]) {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        assert!(std::fs::read(&path).unwrap()[..BLOCK as usize].iter().all(|b| *b == byte));
        let block = [byte + 10; BLOCK as usize];
        OpenOptions::new().write(true).open(&path).unwrap().write_all(&block).unwrap();
    }
    perform(queue, Op::Read, BLOCK);
    for (slot, byte) in [(0, 20), (1, 21)] {
        assert!(queue.read_buffer(slot).iter().all(|b| *b == byte), "slot {slot}");
    }
}

#[test]
fn queues_to_two_files_keep_them_apart() {
    let (one, other) = (file(Mode::Buffered, true).unwrap(), file(Mode::Buffered, true).unwrap());
    let files = [one, other];
    let open = || files.iter().map(|f| f.try_clone().unwrap()).collect::<Vec<_>>();
    keeps_targets_apart(&mut sync::SyncQueue::new(open(), plan(DEPTH)).unwrap(), &files);
    let mappings = open().into_iter().map(|f| mmap::Mapping::new(f, SIZE, true, false).unwrap());
    let mut queue = mmap::MmapQueue::new(mappings.collect(), plan(DEPTH)).unwrap();
    keeps_targets_apart(&mut queue, &files);
    let pages = Layout::Pages { bytes: Bytes(512) };
    for layout in [Layout::Single, Layout::Scattered { pieces: 2 }, pages] {
        let plan = BufferPlan { layout, ..plan(DEPTH) };
        if aio::probe().is_ok() {
            let mut queue = aio::AioQueue::new(open(), plan, Completion::Block).unwrap();
            keeps_targets_apart(&mut queue, &files);
        }
        if uring::probe().is_ok() {
            let mut queue = uring::UringQueue::new(open(), plan, Completion::Block).unwrap().0;
            keeps_targets_apart(&mut queue, &files);
        }
    }
}

/// Reading an empty pipe blocks until another thread writes to it: an I/O that is stuck as long as
/// the test wants.
#[test]
fn a_stuck_io_does_not_hold_up_the_uring_queue() {
    if let Err(error) = uring::probe() {
        return skip("engine::contract::uring", error);
    }
    for completion in [Completion::Block, Completion::Spin] {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(reader));
        let mut queue = uring::UringQueue::new(vec![file], plan(DEPTH), completion).unwrap().0;
        gives_up_waiting(&mut queue);
        writer.write_all(b"x").unwrap();
    }
}
