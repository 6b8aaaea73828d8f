//! Writes all of a test file, so that every later read finds data: incompressible, and no two
//! blocks alike, neither in this file nor, with its own seed, in any other.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use workload::Buffers as Layout;

use crate::buffers::BufferPlan;
use crate::clock::Clock;
use crate::event::Event;
use crate::queue::{Finished, Op, Queue, Request};
use crate::random::Random;

const BLOCK_BYTES: u32 = 1 << 20;
const DEPTH: u32 = 8;
/// Time between two progress events, in nanoseconds.
const REPORT_NS: u64 = 200_000_000;

/// The queue that a file is filled through.
pub(crate) const PLAN: BufferPlan = BufferPlan {
    depth: DEPTH,
    bytes: BLOCK_BYTES,
    reads: false,
    writes: true,
    layout: Layout::Single,
};

/// A file to be filled: its first `size_bytes`, a multiple of its alignment.
pub(crate) struct Fill<'a> {
    pub(crate) path: &'a Path,
    pub(crate) size_bytes: u64,
    pub(crate) random: Random,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) observe: &'a mut dyn FnMut(&Event),
}

impl Fill<'_> {
    /// Writes all of it, in ascending order. Gives false when `stop` became true before the end.
    pub(crate) fn run<Q: Queue>(&mut self, queue: &mut Q) -> io::Result<bool> {
        let clock = Clock::get();
        let (start, mut next_report) = (clock.now(), 0);
        let mut free: Vec<u32> = (0..DEPTH).collect();
        let mut under_way =
            [Request { slot: 0, op: Op::Write, target: 0, offset: 0, bytes: 0, buffer_offset: 0 };
                DEPTH as usize];
        let (mut next, mut done) = (0, 0);
        let (mut finished, mut requests) = (Vec::new(), Vec::new());
        while done < self.size_bytes {
            let stopped = self.stop.load(Ordering::Relaxed);
            if stopped && free.len() == DEPTH as usize {
                return Ok(false);
            }
            while next < self.size_bytes && !stopped {
                let Some(slot) = free.pop() else { break };
                let left = self.size_bytes - next;
                let bytes = u32::try_from(left).unwrap_or(BLOCK_BYTES).min(BLOCK_BYTES);
                self.random.fill(&mut queue.write_buffer(slot)[..bytes as usize]);
                let request = Request {
                    slot,
                    op: Op::Write,
                    target: 0,
                    offset: next,
                    bytes,
                    buffer_offset: 0,
                };
                under_way[slot as usize] = request;
                requests.push(request);
                next += u64::from(bytes);
            }
            queue.issue(&requests)?;
            requests.clear();
            queue.wait(clock.now() + REPORT_NS)?;
            queue.reap(&mut finished);
            for one in finished.drain(..) {
                let request = &mut under_way[one.slot as usize];
                done += u64::from(written(one)?);
                match rest(*request, one)? {
                    Some(rest) => {
                        *request = rest;
                        requests.push(rest);
                    }
                    None => free.push(one.slot),
                }
            }
            let now = clock.now();
            if now >= next_report || done == self.size_bytes {
                next_report = now + REPORT_NS;
                self.report(done, now - start);
            }
        }
        Ok(true)
    }

    fn report(&mut self, done_bytes: u64, elapsed_ns: u64) {
        let bytes_per_s = done_bytes as f64 * 1e9 / (elapsed_ns.max(1) as f64);
        let (path, total_bytes) = (self.path.to_owned(), self.size_bytes);
        (self.observe)(&Event::Filling { path, done_bytes, total_bytes, bytes_per_s });
    }
}

/// Bytes that a write moved; an error if it moved none.
fn written(one: Finished) -> io::Result<u32> {
    match u32::try_from(one.result) {
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(io::Error::from_raw_os_error(-one.result)),
    }
}

/// Writes the rest after a short write.
fn rest(request: Request, one: Finished) -> io::Result<Option<Request>> {
    let bytes = written(one)?;
    Ok((bytes < request.bytes).then(|| Request {
        offset: request.offset + u64::from(bytes),
        bytes: request.bytes - bytes,
        buffer_offset: request.buffer_offset + bytes,
        ..request
    }))
}
