//! The contract of [`Queue`](crate::queue::Queue) on the backends of Windows, on real files.

use std::fs::File;

use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, GENERIC_READ, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED, FILE_FLAG_WRITE_THROUGH,
};
use workload::{Buffers as Layout, Bytes, Completion, Mode};

use super::open::Pair;
use super::{calls, iocp, sync};
use crate::buffers::BufferPlan;
use crate::contract::{BLOCK, DEPTH, Keeps, SIZE, keeps_the_contract, plan, tells_errors};
use crate::copied::CopiedQueue;
use crate::queue::{Finished, Op, Queue, Request};

/// A file of the contract's size, open for I/O, and its place.
fn pair(mode: Mode, writes: bool, overlapped: bool) -> (Pair, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("target");
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    file.set_len(SIZE).unwrap();
    let rights = GENERIC_READ | if writes { GENERIC_WRITE } else { 0 };
    let direct = if mode == Mode::Direct { FILE_FLAG_NO_BUFFERING } else { 0 };
    let flags = direct | if overlapped { FILE_FLAG_OVERLAPPED } else { 0 };
    let open = |flags| calls::reopen(&file, rights, flags).unwrap();
    let durable = writes.then(|| open(flags | FILE_FLAG_WRITE_THROUGH));
    (Pair { plain: open(flags), durable }, dir)
}

const DENIED: i32 = ERROR_ACCESS_DENIED.cast_signed();

#[test]
fn the_sync_queue_keeps_the_contract() {
    for mode in [Mode::Direct, Mode::Buffered] {
        let (pair, _dir) = pair(mode, true, false);
        let mut queue = sync::SyncQueue::new(vec![pair], plan(DEPTH)).unwrap();
        keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
    }
    let (pair, _dir) = pair(Mode::Buffered, false, false);
    let mut queue = sync::SyncQueue::new(vec![pair], plan(DEPTH)).unwrap();
    tells_errors(&mut queue, Op::Write, DENIED);
}

#[test]
fn the_iocp_queue_keeps_the_contract() {
    for mode in [Mode::Direct, Mode::Buffered] {
        for completion in [Completion::Block, Completion::Spin] {
            let (pair, _dir) = pair(mode, true, true);
            let mut queue = iocp::IocpQueue::new(vec![pair], plan(DEPTH), completion).unwrap();
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
    }
    let (pair, _dir) = pair(Mode::Buffered, false, true);
    let mut queue = iocp::IocpQueue::new(vec![pair], plan(DEPTH), Completion::Block).unwrap();
    tells_errors(&mut queue, Op::Write, DENIED);
}

#[test]
fn a_copied_queue_keeps_the_contract_on_a_port() {
    let (pair, _dir) = pair(Mode::Direct, true, true);
    let plan = plan(DEPTH);
    let queue = iocp::IocpQueue::new(vec![pair], plan, Completion::Block).unwrap();
    keeps_the_contract(&mut CopiedQueue::new(queue, plan, 4).unwrap(), DEPTH, Keeps::Data);
}

/// Buffers in pieces go to the system as pages of memory.
#[test]
fn a_scattered_queue_keeps_the_contract() {
    for layout in [Layout::Scattered { pieces: 1 }, Layout::Pages { bytes: Bytes(4096) }] {
        let (pair, _dir) = pair(Mode::Direct, true, true);
        let plan = BufferPlan { layout, ..plan(DEPTH) };
        let mut queue = iocp::IocpQueue::new(vec![pair], plan, Completion::Block).unwrap();
        keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
    }
}

/// Durable writes take another handle than plain ones, and land in the same file; two files of one
/// queue are kept apart.
#[test]
fn durable_writes_and_two_files_keep_their_places() {
    let (one, first) = pair(Mode::Direct, true, true);
    let (other, second) = pair(Mode::Direct, true, true);
    let mut queue = iocp::IocpQueue::new(vec![one, other], plan(DEPTH), Completion::Block).unwrap();
    for slot in [0, 1] {
        queue.write_buffer(slot).fill(10 + u8::try_from(slot).unwrap());
    }
    let request = |target: u16| Request {
        slot: target.into(),
        op: Op::WriteDurable,
        target,
        offset: u64::from(BLOCK),
        bytes: BLOCK,
        buffer_offset: 0,
    };
    queue.issue(&[request(1), request(0)]).unwrap();
    let mut finished: Vec<Finished> = Vec::new();
    while finished.len() < 2 {
        queue.wait(queue.now() + 5_000_000).unwrap();
        queue.reap(&mut finished);
    }
    assert!(finished.iter().all(|f| f.result == BLOCK.cast_signed()), "{finished:?}");
    for (dir, byte) in [(first, 10), (second, 11)] {
        let bytes = std::fs::read(dir.path().join("target")).unwrap();
        let block = BLOCK as usize;
        assert!(bytes[block..2 * block].iter().all(|b| *b == byte));
        assert!(bytes[..block].iter().all(|b| *b == 0));
    }
}

/// A queue that is dropped with I/Os under way takes them back before their memory goes.
#[test]
fn a_queue_may_be_dropped_with_ios_under_way() {
    for _ in 0..20 {
        let (pair, _dir) = pair(Mode::Direct, true, true);
        let mut queue = iocp::IocpQueue::new(vec![pair], plan(DEPTH), Completion::Block).unwrap();
        let request = |slot: u32| Request {
            slot,
            op: Op::Read,
            target: 0,
            offset: u64::from(slot * BLOCK),
            bytes: BLOCK,
            buffer_offset: 0,
        };
        queue.issue(&(0..DEPTH).map(request).collect::<Vec<_>>()).unwrap();
    }
}
