//! The backend on ReadFile and WriteFile: one I/O at a time.

use std::io;
use std::os::windows::fs::FileExt;

use super::open::Pair;
use crate::buffers::{BufferPlan, Buffers};
use crate::inline::{InlineQueue, Perform};
use crate::queue::{Op, Request};

/// A queue that performs one I/O at a time.
pub(super) type SyncQueue = InlineQueue<Files>;

/// Targets that are read and written by calls.
pub(super) struct Files(Vec<Pair>);

impl SyncQueue {
    /// A queue to files that are open for plain calls.
    pub(super) fn new(files: Vec<Pair>, plan: BufferPlan) -> io::Result<Self> {
        Self::to(Files(files), plan)
    }
}

impl Perform for Files {
    fn perform(&mut self, buffers: &mut Buffers, request: &Request) -> io::Result<usize> {
        let Pair { plain, durable } = &self.0[usize::from(request.target)];
        let from = request.buffer_offset as usize;
        let part = from..from + request.bytes as usize;
        match request.op {
            Op::Read => plain.seek_read(&mut buffers.read_mut(request.slot)[part], request.offset),
            Op::Write => plain.seek_write(&buffers.write(request.slot)[part], request.offset),
            Op::WriteDurable => {
                let file = durable.as_ref().unwrap_or(plain);
                file.seek_write(&buffers.write(request.slot)[part], request.offset)
            }
            // Windows has one call for both.
            Op::Fsync | Op::Fdatasync => plain.sync_all().map(|()| 0),
        }
    }
}
