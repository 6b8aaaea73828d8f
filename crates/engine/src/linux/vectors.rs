//! Vectored I/O: the buffer of each slot in pieces, as the system takes them.
#![expect(unsafe_code, reason = "requests carry addresses of buffers to the kernel")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use workload::Buffers as Layout;

use crate::buffers::BufferPlan;
use crate::queue::Request;

/// What the system takes in one call (`UIO_MAXIOV`).
const PIECES_MAX: usize = 1024;

/// Room for the pieces of every slot. A slot's stay where they are until it is used again.
pub(super) struct Vectors {
    /// The most pieces of one slot.
    pieces: usize,
    /// Bytes of each piece, if that and not their number is given.
    page_bytes: Option<usize>,
    all: Vec<libc::iovec>,
}

impl Vectors {
    /// Room for the slots of a plan; `None` if its I/Os are in one piece.
    pub(super) fn new(plan: &BufferPlan) -> Option<Self> {
        let (pieces, page_bytes) = match plan.layout {
            Layout::Scattered { pieces } => (pieces as usize, None),
            Layout::Pages { bytes } => {
                let page_bytes = usize::try_from(bytes.0).unwrap_or(usize::MAX).max(1);
                let pieces = (plan.bytes as usize).div_ceil(page_bytes).clamp(1, PIECES_MAX);
                (pieces, Some(page_bytes))
            }
            Layout::Single | Layout::Large => return None,
        };
        let empty = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        Some(Self { pieces, page_bytes, all: vec![empty; pieces * plan.depth as usize] })
    }

    /// The pieces of a request, in the slot's buffer that begins at `buffer`.
    pub(super) fn of(&mut self, request: &Request, buffer: *mut u8) -> &[libc::iovec] {
        let first = request.slot as usize * self.pieces;
        let room = &mut self.all[first..first + self.pieces];
        let done = request.buffer_offset as usize;
        // The rest of a short transfer ends where the block does; its first piece may have begun
        // already.
        let block = done + request.bytes as usize;
        let length = match self.page_bytes {
            None => (block / room.len()).max(1),
            Some(page) => page * block.div_ceil(page).div_ceil(room.len()),
        };
        let (mut at, mut used) = (done, 0);
        for piece in room {
            if at >= block {
                break;
            }
            let end = ((at / length + 1) * length).min(block);
            piece.iov_base = buffer.wrapping_add(at).cast();
            piece.iov_len = end - at;
            (at, used) = (end, used + 1);
        }
        &self.all[first..first + used]
    }
}

/// Reads into several pieces of memory by one `preadv`.
pub(super) fn read(file: &File, pieces: &[libc::iovec], offset: u64) -> io::Result<usize> {
    let (count, offset) = numbers(pieces, offset);
    // SAFETY: every piece is in the read buffer of a slot that nothing else uses until the call
    // returns.
    let done = unsafe { libc::preadv(file.as_raw_fd(), pieces.as_ptr(), count, offset) };
    usize::try_from(done).map_err(|_| io::Error::last_os_error())
}

/// A buffer in one piece, for a write.
pub(super) fn whole(block: &[u8]) -> libc::iovec {
    libc::iovec { iov_base: block.as_ptr().cast_mut().cast(), iov_len: block.len() }
}

/// Writes by one `pwritev`; by `pwritev2` if the data must be on stable media when the call
/// returns.
pub(super) fn write(
    file: &File,
    pieces: &[libc::iovec],
    offset: u64,
    durable: bool,
) -> io::Result<usize> {
    let (count, offset) = numbers(pieces, offset);
    let (file, address) = (file.as_raw_fd(), pieces.as_ptr());
    // SAFETY: every piece is in the write buffer of a slot that nothing else uses until the call
    // returns.
    let done = unsafe {
        if durable {
            libc::pwritev2(file, address, count, offset, libc::RWF_DSYNC)
        } else {
            libc::pwritev(file, address, count, offset)
        }
    };
    usize::try_from(done).map_err(|_| io::Error::last_os_error())
}

fn numbers(pieces: &[libc::iovec], offset: u64) -> (libc::c_int, libc::off_t) {
    let count = libc::c_int::try_from(pieces.len()).unwrap_or(libc::c_int::MAX);
    (count, libc::off_t::try_from(offset).unwrap_or(libc::off_t::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Op;
    use workload::Bytes;

    #[test]
    fn pieces_cover_a_request_in_order() {
        let layout = Layout::Scattered { pieces: 4 };
        let plan = BufferPlan { depth: 2, bytes: 400, reads: true, writes: false, layout };
        let mut vectors = Vectors::new(&plan).unwrap();
        let buffer = std::ptr::without_provenance_mut::<u8>(1 << 20);
        let mut of = |buffer_offset, bytes| {
            let request =
                Request { slot: 1, op: Op::Read, target: 0, offset: 0, bytes, buffer_offset };
            let at = |v: &libc::iovec| (v.iov_base.addr() - (1 << 20), v.iov_len);
            vectors.of(&request, buffer).iter().map(at).collect::<Vec<_>>()
        };
        assert_eq!(of(0, 400), [(0, 100), (100, 100), (200, 100), (300, 100)]);
        assert_eq!(of(0, 200), [(0, 50), (50, 50), (100, 50), (150, 50)]);
        // The rest of a block of 400 after 150 bytes.
        assert_eq!(of(150, 250), [(150, 50), (200, 100), (300, 100)]);
        assert!(Vectors::new(&BufferPlan { layout: Layout::Single, ..plan }).is_none());
    }

    #[test]
    fn pages_are_whole_however_many_there_are() {
        let of = |page: u64, slot_bytes, buffer_offset, bytes| {
            let layout = Layout::Pages { bytes: Bytes(page) };
            let plan =
                BufferPlan { depth: 2, bytes: slot_bytes, reads: true, writes: false, layout };
            let mut vectors = Vectors::new(&plan).unwrap();
            let buffer = std::ptr::without_provenance_mut::<u8>(1 << 20);
            let request =
                Request { slot: 1, op: Op::Read, target: 0, offset: 0, bytes, buffer_offset };
            let at = |v: &libc::iovec| (v.iov_base.addr() - (1 << 20), v.iov_len);
            vectors.of(&request, buffer).iter().map(at).collect::<Vec<_>>()
        };
        let page = |number: usize| (number * 8192, 8192);
        assert_eq!(of(8192, 65_536, 0, 8192), [page(0)]);
        assert_eq!(of(8192, 65_536, 0, 24_576), [page(0), page(1), page(2)]);
        // The rest after a page and a half.
        assert_eq!(of(8192, 65_536, 12_288, 12_288), [(12_288, 4096), page(2)]);
        let many = of(512, 1 << 20, 0, 1 << 20);
        assert_eq!((many.len(), many[1]), (1024, (1024, 1024)), "two pages each");
        assert_eq!(many.iter().map(|(_, length)| length).sum::<usize>(), 1 << 20);
    }
}
