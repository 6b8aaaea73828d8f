//! The backend on pread and pwrite: one I/O at a time, the least overhead there is at depth 1.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::vectors::{self, Vectors};
use crate::buffers::{BufferPlan, Buffers};
use crate::clock::Clock;
use crate::drive::sleep_until;
use crate::queue::{Finished, Op, Queue, Request};

/// A queue of one.
pub(super) struct SyncQueue {
    files: Vec<File>,
    buffers: Buffers,
    vectors: Option<Vectors>,
    issued: Vec<Request>,
    done: Vec<Finished>,
    clock: Clock,
}

impl SyncQueue {
    /// A queue to `files`.
    pub(super) fn new(files: Vec<File>, plan: BufferPlan) -> io::Result<Self> {
        let depth = plan.depth as usize;
        Ok(Self {
            files,
            buffers: Buffers::new(plan)?,
            vectors: Vectors::new(&plan),
            issued: Vec::with_capacity(depth),
            done: Vec::with_capacity(depth),
            clock: Clock::get(),
        })
    }

    fn perform(&mut self, request: &Request) -> io::Result<usize> {
        let Self { files, buffers, vectors, .. } = self;
        let file = &files[usize::from(request.target)];
        if let Some(vectors) = vectors
            && request.op.kind() < 2
        {
            let (slot, offset) = (request.slot, request.offset);
            return if request.op == Op::Read {
                let pieces = vectors.of(request, buffers.read_mut(slot).as_mut_ptr());
                vectors::read(file, pieces, offset)
            } else {
                let pieces = vectors.of(request, buffers.write(slot).as_mut_ptr());
                vectors::write(file, pieces, offset)
            };
        }
        let from = request.buffer_offset as usize;
        let part = from..from + request.bytes as usize;
        match request.op {
            Op::Read => file.read_at(&mut buffers.read_mut(request.slot)[part], request.offset),
            Op::Write => file.write_at(&buffers.write(request.slot)[part], request.offset),
            Op::Fsync => file.sync_all().map(|()| 0),
            Op::Fdatasync => file.sync_data().map(|()| 0),
        }
    }
}

impl Queue for SyncQueue {
    #[inline]
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn issue(&mut self, requests: &[Request]) -> io::Result<()> {
        self.issued.extend_from_slice(requests);
        Ok(())
    }

    fn wait(&mut self, until_ns: u64) -> io::Result<()> {
        if self.issued.is_empty() {
            sleep_until(self.clock, until_ns);
        }
        let mut issued = std::mem::take(&mut self.issued);
        for request in issued.drain(..) {
            let result = match self.perform(&request) {
                Ok(bytes) => i32::try_from(bytes).unwrap_or(i32::MAX),
                Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
            };
            self.done.push(Finished { slot: request.slot, result });
        }
        self.issued = issued;
        Ok(())
    }

    fn reap(&mut self, finished: &mut Vec<Finished>) {
        finished.append(&mut self.done);
    }

    fn write_buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.write(slot)
    }

    fn read_buffer(&mut self, slot: u32) -> &[u8] {
        self.buffers.read(slot)
    }
}
