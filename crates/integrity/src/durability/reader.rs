//! Reads all of a target, several pieces in flight, and tells what cannot be read.

use std::io;

use engine::{Finished, Op, Queue, Request};

/// So long is waited at a time.
const WAIT_NS: u64 = 100_000_000;

/// The outcome of reading a page.
pub(crate) enum Page<'a> {
    Bytes(&'a [u8]),
    /// The file has become shorter and ends before it.
    Missing,
    /// The operating system failed the read.
    Failed,
}

/// A target that is read from its beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) target: u16,
    pub(crate) page_bytes: usize,
    pub(crate) pages: u64,
    /// The bytes of the target that are there.
    pub(crate) available_bytes: u64,
}

/// Pages one after the other: the first, and how many.
type Piece = (u64, u64);

/// Reads every page, in any order. False if `stop` ended it.
pub(crate) fn read_all(
    queue: &mut dyn Queue,
    extent: Extent,
    (depth, io_bytes): (u32, u32),
    stop: &dyn Fn() -> bool,
    take: &mut dyn FnMut(u64, Page<'_>),
) -> io::Result<bool> {
    let Extent { target, page_bytes, pages, available_bytes } = extent;
    let size = page_bytes as u64;
    let there = (available_bytes / size).min(pages);
    for page in there..pages {
        take(page, Page::Missing);
    }
    let each = (u64::from(io_bytes) / size).max(1);
    let mut next = 0;
    let mut alone: Vec<u64> = Vec::new();
    let mut slots: Vec<Option<Piece>> = vec![None; depth.max(1) as usize];
    let mut finished: Vec<Finished> = Vec::new();
    loop {
        if stop() && slots.iter().all(Option::is_none) {
            return Ok(false);
        }
        for (slot, held) in (0u32..).zip(slots.iter_mut()).filter(|(_, held)| held.is_none()) {
            let piece = match alone.pop() {
                _ if stop() => break,
                Some(page) => (page, 1),
                None if next < there => (next, each.min(there - next)),
                None => break,
            };
            next = next.max(piece.0 + piece.1);
            let (offset, bytes) =
                (piece.0 * size, u32::try_from(piece.1 * size).unwrap_or(u32::MAX));
            queue.issue(&[Request {
                slot,
                op: Op::Read,
                target,
                offset,
                bytes,
                buffer_offset: 0,
            }])?;
            *held = Some(piece);
        }
        if slots.iter().all(Option::is_none) {
            return Ok(next >= there);
        }
        queue.wait(queue.now().saturating_add(WAIT_NS))?;
        queue.reap(&mut finished);
        for done in finished.drain(..) {
            let held = slots.get_mut(done.slot as usize).and_then(Option::take);
            let Some((first, count)) = held else { continue };
            let moved = u64::try_from(done.result).unwrap_or(0);
            if moved == count * size {
                let buffer = queue.read_buffer(done.slot);
                for (page, bytes) in (first..first + count).zip(buffer.chunks_exact(page_bytes)) {
                    take(page, Page::Bytes(bytes));
                }
            } else if count > 1 {
                // Which of them it is, reading each alone tells.
                alone.extend(first..first + count);
            } else {
                take(first, if done.result < 0 { Page::Failed } else { Page::Missing });
            }
        }
    }
}
