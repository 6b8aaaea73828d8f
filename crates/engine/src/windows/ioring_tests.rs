//! The queue on I/O rings, over a ring that makes its I/Os with plain calls: no test machine has
//! rings.
#![expect(unsafe_code, reason = "the ring is given addresses of buffers")]

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::windows::fs::FileExt;
use std::os::windows::io::FromRawHandle;

use workload::{Completion, Mode};

use super::contract::{DENIED, pair};
use super::ioring::{Completed, Entry, Ring, RingQueue};
use crate::contract::{BLOCK, DEPTH, Keeps, keeps_the_contract, plan, tells_errors};
use crate::queue::{Finished, Op, Queue, Request};

/// Completions come in the reverse order of the submissions, and not at once: to those who submit
/// again, or look twice.
struct FakeRing {
    room: usize,
    put: Vec<Entry>,
    submitted: Vec<Entry>,
    done: Vec<Completed>,
    submissions: u32,
    /// Somebody has looked, and found nothing.
    looked: bool,
}

impl FakeRing {
    /// What was submitted is done.
    fn complete(&mut self) {
        for entry in self.submitted.drain(..).rev() {
            let done = perform(&entry);
            let win32 = |e: &io::Error| 0x8007_0000 | e.raw_os_error().unwrap().cast_unsigned();
            self.done.push(Completed {
                slot: entry.slot as usize,
                code: done.as_ref().err().map_or(0, |e| win32(e).cast_signed()),
                bytes: done.unwrap_or(0),
            });
        }
    }

    fn new(room: usize) -> Self {
        let (put, submitted, done) = (Vec::new(), Vec::new(), Vec::new());
        Self { room, put, submitted, done, submissions: 0, looked: false }
    }
}

fn perform(entry: &Entry) -> io::Result<usize> {
    // SAFETY: the file is open, and stays open.
    let file = ManuallyDrop::new(unsafe { File::from_raw_handle(entry.file) });
    // SAFETY: the buffer is as long as the I/O, and nobody else uses it.
    let buffer = || unsafe { std::slice::from_raw_parts_mut(entry.buffer, entry.bytes as usize) };
    match entry.op {
        Op::Read => file.seek_read(buffer(), entry.offset),
        Op::Write | Op::WriteDurable => file.seek_write(buffer(), entry.offset),
        Op::Fsync | Op::Fdatasync => file.sync_all().map(|()| 0),
    }
}

impl Ring for FakeRing {
    unsafe fn put(&mut self, entry: &Entry) -> io::Result<bool> {
        if self.put.len() == self.room {
            return Ok(false);
        }
        self.put.push(*entry);
        Ok(true)
    }

    fn submit(&mut self, wait_for: u32, _: u32) -> io::Result<()> {
        assert!(wait_for <= 1, "one completion ends a wait");
        self.submissions += 1;
        self.complete();
        self.submitted.append(&mut self.put);
        Ok(())
    }

    fn pop(&mut self) -> Option<Completed> {
        if self.done.is_empty() && self.looked {
            self.complete();
        }
        let one = self.done.pop();
        self.looked = one.is_none();
        one
    }
}

#[test]
fn the_ring_queue_keeps_the_contract() {
    for mode in [Mode::Direct, Mode::Buffered] {
        for (completion, room) in
            [(Completion::Block, 8), (Completion::Block, 3), (Completion::Spin, 8)]
        {
            let (pair, _dir) = pair(mode, true, false);
            let ring = FakeRing::new(room);
            let mut queue = RingQueue::new(ring, vec![pair], plan(DEPTH), completion).unwrap();
            keeps_the_contract(&mut queue, DEPTH, Keeps::Data);
        }
    }
    let (pair, _dir) = pair(Mode::Buffered, false, false);
    let ring = FakeRing::new(8);
    let mut queue = RingQueue::new(ring, vec![pair], plan(DEPTH), Completion::Block).unwrap();
    tells_errors(&mut queue, Op::Write, DENIED);
}

/// Dropping the queue ends what it has begun, also what was not submitted.
#[test]
fn a_queue_on_a_ring_is_dropped_after_its_ios() {
    let (pair, dir) = pair(Mode::Direct, true, false);
    let ring = FakeRing::new(8);
    let mut queue = RingQueue::new(ring, vec![pair], plan(DEPTH), Completion::Block).unwrap();
    queue.write_buffer(0).fill(9);
    let (op, bytes) = (Op::WriteDurable, BLOCK);
    let request = Request { slot: 0, op, target: 0, offset: 0, bytes, buffer_offset: 0 };
    queue.issue(&[request]).unwrap();
    drop(queue);
    let bytes = std::fs::read(dir.path().join("target")).unwrap();
    assert!(bytes[..BLOCK as usize].iter().all(|byte| *byte == 9));
}

/// A full submission queue is submitted, and one call takes many I/Os.
#[test]
fn many_ios_are_one_call() {
    let (pair, _dir) = pair(Mode::Direct, true, false);
    let ring = FakeRing::new(4);
    let mut queue = RingQueue::new(ring, vec![pair], plan(DEPTH), Completion::Block).unwrap();
    let read = |slot: u32| {
        let offset = u64::from(slot * BLOCK);
        Request { slot, op: Op::Read, target: 0, offset, bytes: BLOCK, buffer_offset: 0 }
    };
    queue.issue(&(0..DEPTH).map(read).collect::<Vec<_>>()).unwrap();
    assert_eq!(queue.ring().submissions, 1, "the queue of 4 was full once");
    let mut finished: Vec<Finished> = Vec::new();
    while finished.len() < DEPTH as usize {
        queue.wait(queue.now() + 20_000_000).unwrap();
        queue.reap(&mut finished);
    }
    assert!(finished.iter().all(|one| one.result == BLOCK.cast_signed()), "{finished:?}");
}
