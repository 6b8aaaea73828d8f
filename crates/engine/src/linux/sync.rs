//! The backend on pread and pwrite: one I/O at a time, the least overhead there is at depth 1.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::vectors::{self, Vectors};
use crate::buffers::{BufferPlan, Buffers};
use crate::inline::{InlineQueue, Perform};
use crate::queue::{Op, Request};

/// A queue that performs one I/O at a time, with pread and pwrite.
pub(super) type SyncQueue = InlineQueue<Files>;

/// Targets that are read and written by calls.
pub(super) struct Files {
    files: Vec<File>,
    vectors: Option<Vectors>,
}

impl SyncQueue {
    /// A queue that reads and writes these files by plain calls.
    pub(super) fn new(files: Vec<File>, plan: BufferPlan) -> io::Result<Self> {
        Self::to(Files { files, vectors: Vectors::new(&plan) }, plan)
    }
}

impl Perform for Files {
    fn perform(&mut self, buffers: &mut Buffers, request: &Request) -> io::Result<usize> {
        let Self { files, vectors } = self;
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
                vectors::write(file, pieces, offset, request.op == Op::WriteDurable)
            };
        }
        let from = request.buffer_offset as usize;
        let part = from..from + request.bytes as usize;
        match request.op {
            Op::Read => file.read_at(&mut buffers.read_mut(request.slot)[part], request.offset),
            Op::Write => file.write_at(&buffers.write(request.slot)[part], request.offset),
            Op::WriteDurable => {
                let block = &buffers.write(request.slot)[part];
                vectors::write(file, &[vectors::whole(block)], request.offset, true)
            }
            Op::Fsync => file.sync_all().map(|()| 0),
            Op::Fdatasync => file.sync_data().map(|()| 0),
        }
    }
}
