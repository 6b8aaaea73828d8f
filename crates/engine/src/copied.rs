//! A queue whose data is copied to or from several pieces of memory, as part of each I/O's latency:
//! a write is assembled from them before submission, a read is taken apart before its completion is
//! reported.

use std::io;
use std::ops::Range;

use crate::buffers::{BufferPlan, Buffers};
use crate::queue::{Finished, Op, Queue, Request};

/// Any queue, with memory in pieces in front of it.
pub(crate) struct CopiedQueue<Q> {
    queue: Q,
    memory: Buffers,
    pieces: usize,
    /// What each slot was last asked for.
    asked: Vec<Option<Request>>,
}

impl<Q: Queue> CopiedQueue<Q> {
    /// `queue`, which was made with the same plan, and as much memory again, each block of it in
    /// this many pieces.
    pub(crate) fn new(queue: Q, plan: BufferPlan, pieces: u32) -> io::Result<Self> {
        let asked = vec![None; plan.depth as usize];
        Ok(Self { queue, memory: Buffers::new(plan)?, pieces: pieces as usize, asked })
    }

    /// Copies a read into its pieces.
    fn take_apart(&mut self, finished: Finished) {
        let Some(request) = self.asked[finished.slot as usize] else { return };
        let bytes = usize::try_from(finished.result).unwrap_or(0);
        if request.op != Op::Read || bytes == 0 {
            return;
        }
        let start = request.buffer_offset as usize;
        let from = self.queue.read_buffer(request.slot);
        let to = self.memory.read_mut(request.slot);
        for piece in pieces(&request, self.pieces, start..start + bytes) {
            to[piece.clone()].copy_from_slice(&from[piece]);
        }
    }
}

/// A part of a slot's buffer, cut at the bounds of the pieces.
fn pieces(
    request: &Request,
    count: usize,
    part: Range<usize>,
) -> impl Iterator<Item = Range<usize>> {
    // The rest of a short transfer ends where the block does.
    let block = request.buffer_offset as usize + request.bytes as usize;
    let length = (block / count.max(1)).max(1);
    let first = part.start / length * length;
    let cut = move |at: usize| at.max(part.start)..(at + length).min(part.end);
    (first..part.end).step_by(length).map(cut)
}

impl<Q: Queue> Queue for CopiedQueue<Q> {
    #[inline]
    fn now(&self) -> u64 {
        self.queue.now()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        for request in requests {
            self.asked[request.slot as usize] = Some(*request);
            if request.op.writes() {
                let start = request.buffer_offset as usize;
                let part = start..start + request.bytes as usize;
                let from = self.memory.write(request.slot);
                let to = self.queue.write_buffer(request.slot);
                for piece in pieces(request, self.pieces, part) {
                    to[piece.clone()].copy_from_slice(&from[piece]);
                }
            }
        }
        self.queue.issue(requests)
    }

    #[inline]
    fn batch(&self) -> usize {
        self.queue.batch()
    }

    fn start(&mut self) -> io::Result<()> {
        self.queue.start()
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        self.queue.wait(until_ns)
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        let before = finished.len();
        self.queue.reap(finished);
        for one in &finished[before..] {
            self.take_apart(*one);
        }
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.memory.write(slot)
    }

    fn read_buffer(&self, slot: u32) -> &[u8] {
        self.memory.read(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_at_the_bounds_of_the_pieces() {
        let request = |buffer_offset, bytes| Request {
            slot: 0,
            op: Op::Read,
            target: 0,
            offset: 0,
            bytes,
            buffer_offset,
        };
        let cut = |r: &Request, part| pieces(r, 4, part).collect::<Vec<_>>();
        assert_eq!(cut(&request(0, 400), 0..400), [0..100, 100..200, 200..300, 300..400]);
        assert_eq!(cut(&request(0, 400), 0..150), [0..100, 100..150]);
        assert_eq!(cut(&request(150, 250), 150..400), [150..200, 200..300, 300..400]);
        assert_eq!(cut(&request(0, 0), 0..0), []);
    }
}
