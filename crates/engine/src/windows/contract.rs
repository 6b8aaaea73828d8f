//! The contract of [`Queue`](crate::queue::Queue) on the backends of Windows, on real files.
#![expect(unsafe_code, reason = "a pipe takes a system call without a safe wrapper")]

use std::fs::File;
use std::os::windows::io::FromRawHandle;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, GENERIC_READ, GENERIC_WRITE, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED, FILE_FLAG_WRITE_THROUGH, PIPE_ACCESS_DUPLEX,
};
use windows_sys::Win32::System::Pipes::{CreateNamedPipeW, PIPE_TYPE_BYTE};
use workload::{Buffers as Layout, Bytes, Completion, Mode};

use super::open::Pair;
use super::timer::Timer;
use super::{calls, iocp, sync};
use crate::buffers::BufferPlan;
use crate::contract::{
    BLOCK, DEPTH, Keeps, SIZE, gives_up_waiting, keeps_the_contract, plan, tells_errors,
};
use crate::queue::{Finished, Op, Queue, Request};

/// A queue whose waits are ended by a timer.
fn iocp_queue(files: Vec<Pair>, plan: BufferPlan, completion: Completion) -> iocp::IocpQueue {
    let timer = Timer::new();
    assert!(timer.is_some(), "Windows 10 and Wine have one");
    iocp::IocpQueue::new(files, plan, completion, timer).unwrap()
}

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
            let mut queue = iocp_queue(vec![pair], plan(DEPTH), completion);
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
    }
    let (pair, _dir) = pair(Mode::Buffered, false, true);
    let mut queue = iocp_queue(vec![pair], plan(DEPTH), Completion::Block);
    tells_errors(&mut queue, Op::Write, DENIED);
}

/// Windows has had a high-resolution timer since version 1803 of Windows 10.
#[test]
fn a_queue_without_a_timer_keeps_the_contract() {
    let (pair, _dir) = pair(Mode::Direct, true, true);
    let mut queue = iocp::IocpQueue::new(vec![pair], plan(DEPTH), Completion::Block, None).unwrap();
    assert_eq!(queue.features(), ["1 ms ticks"]);
    keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
}

/// A pipe that nobody writes to, so that a read of it does not come back; with its other end.
fn silent_pipe(name: &str) -> (Pair, File) {
    let name = format!(r"\\.\pipe\iosonde-{name}-{}", std::process::id());
    let wide: Vec<u16> = name.encode_utf16().chain([0]).collect();
    // SAFETY: the name ends in 0, and the handle is owned by the file.
    let file = unsafe {
        let (access, none) = (PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, std::ptr::null());
        let handle = CreateNamedPipeW(wide.as_ptr(), access, PIPE_TYPE_BYTE, 1, 0, 0, 0, none);
        assert_ne!(handle, INVALID_HANDLE_VALUE);
        File::from_raw_handle(handle)
    };
    let other = File::options().read(true).write(true).open(&name).unwrap();
    (Pair { plain: file, durable: None }, other)
}

/// A moment ends a wait for an I/O that does not come back: by the timer, and where there is none
/// by a tick.
#[test]
fn a_moment_ends_the_wait_for_an_io() {
    let (pipe, _other) = silent_pipe("ticks");
    let mut queue = iocp::IocpQueue::new(vec![pipe], plan(1), Completion::Block, None).unwrap();
    gives_up_waiting(&mut queue);
    assert_eq!(queue.interruptions(), 0);

    let (pipe, _other) = silent_pipe("timer");
    let (file, _dir) = pair(Mode::Direct, true, true);
    let mut queue = iocp_queue(vec![pipe, file], plan(DEPTH), Completion::Block);
    assert_eq!(queue.features(), ["high-resolution timer"]);
    gives_up_waiting(&mut queue);
    // A timer of an earlier wait, for a later moment, does not keep this one.
    let read =
        Request { slot: 1, op: Op::Read, target: 1, offset: 0, bytes: BLOCK, buffer_offset: 0 };
    let (mut finished, start) = (Vec::new(), queue.now());
    while queue.interruptions() < 3 {
        queue.issue(&[read]).unwrap();
        while finished.is_empty() {
            queue.wait(start + 600_000_000_000).unwrap();
            queue.reap(&mut finished);
        }
        assert_eq!(finished.drain(..).as_slice(), [Finished { slot: 1, result: 8192 }]);
        queue.wait(queue.now() + 3_000_000).unwrap();
        assert!(queue.now() - start < 60_000_000_000, "the timer rings late or not at all");
    }
}

/// Buffers in pieces go to the system as pages of memory.
#[test]
fn a_scattered_queue_keeps_the_contract() {
    for layout in [Layout::Scattered { pieces: 1 }, Layout::Pages { bytes: Bytes(4096) }] {
        let (pair, _dir) = pair(Mode::Direct, true, true);
        let plan = BufferPlan { layout, ..plan(DEPTH) };
        let mut queue = iocp_queue(vec![pair], plan, Completion::Block);
        keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
    }
}

/// Durable writes take another handle than plain ones, and land in the same file; two files of one
/// queue are kept apart.
#[test]
fn durable_writes_and_two_files_keep_their_places() {
    let (one, first) = pair(Mode::Direct, true, true);
    let (other, second) = pair(Mode::Direct, true, true);
    let mut queue = iocp_queue(vec![one, other], plan(DEPTH), Completion::Block);
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
        let mut queue = iocp_queue(vec![pair], plan(DEPTH), Completion::Block);
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
