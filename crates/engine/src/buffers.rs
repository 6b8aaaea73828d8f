//! Page-aligned memory for the I/Os of one queue.

use std::io;
use std::ops::Range;

use workload::Buffers as Layout;

use crate::platform::Pages;

/// Alignment of every buffer; enough for direct I/O on any device with sectors up to 4 KiB.
const ALIGN: usize = 4096;

/// Size of a large page, in bytes.
const LARGE: usize = 2 << 20;

/// One buffer for each slot, for reads and, apart from them, for writes.
///
/// Reads never land in a write buffer: what was read would otherwise become what is written.
pub(crate) struct Buffers {
    read: Region,
    write: Region,
    stride: usize,
    bytes: usize,
}

/// The I/Os that a queue's buffers are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BufferPlan {
    /// How many I/Os there are at a time.
    pub depth: u32,
    /// The size of the largest of them.
    pub bytes: u32,
    /// Whether any I/O reads, so that read buffers are needed.
    pub reads: bool,
    /// Whether any I/O writes, so that write buffers are needed.
    pub writes: bool,
    /// How the memory of one I/O is laid out.
    pub layout: Layout,
}

impl BufferPlan {
    /// What its buffers take when all of them are used.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let regions = u64::from(self.reads) + u64::from(self.writes);
        let stride = u64::from(self.bytes).next_multiple_of(ALIGN as u64);
        let region = u64::from(self.depth).saturating_mul(stride);
        // A single byte that is touched takes the whole large page.
        let unit = if self.layout == Layout::Large { LARGE as u64 } else { 1 };
        region.checked_next_multiple_of(unit).unwrap_or(u64::MAX).saturating_mul(regions)
    }
}

impl Buffers {
    /// Memory for `plan`; pages come into being when they are first used.
    pub(crate) fn new(plan: BufferPlan) -> io::Result<Self> {
        let bytes = plan.bytes as usize;
        let stride = bytes.next_multiple_of(ALIGN).max(ALIGN);
        let region = |used: bool| {
            let slots = if used { plan.depth as usize } else { 1 };
            let length = stride.checked_mul(slots).ok_or(io::ErrorKind::OutOfMemory)?;
            Region::new(length, plan.layout)
        };
        Ok(Self { read: region(plan.reads)?, write: region(plan.writes)?, stride, bytes })
    }

    fn range(&self, slot: u32) -> Range<usize> {
        let start = slot as usize * self.stride;
        start..start + self.bytes
    }

    /// The buffer that a slot's writes come from.
    pub(crate) fn write(&mut self, slot: u32) -> &mut [u8] {
        let range = self.range(slot);
        &mut self.write.bytes_mut()[range]
    }

    /// The buffer that a slot's reads go to.
    pub(crate) fn read(&self, slot: u32) -> &[u8] {
        &self.read.bytes()[self.range(slot)]
    }

    /// The same for code that fills it itself.
    pub(crate) fn read_mut(&mut self, slot: u32) -> &mut [u8] {
        let range = self.range(slot);
        &mut self.read.bytes_mut()[range]
    }

    /// Address and length of the whole read region and the whole write region.
    pub(crate) fn regions(&mut self) -> [(*mut u8, usize); 2] {
        [&mut self.read, &mut self.write].map(|r| (r.bytes_mut().as_mut_ptr(), r.used.len()))
    }

    /// Distance from one slot's buffer to the next.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }
}

/// Memory of all slots for one direction.
struct Region {
    map: Pages,
    /// The part that slots have: a mapping need not begin where a large page does.
    used: Range<usize>,
}

impl Region {
    fn new(length: usize, layout: Layout) -> io::Result<Self> {
        if layout != Layout::Large {
            let map = Pages::map_anon(length)?;
            advise(&map, 0..length, layout);
            return Ok(Self { map, used: 0..length });
        }
        let whole = length.checked_next_multiple_of(LARGE).and_then(|l| l.checked_add(LARGE));
        let map = Pages::map_anon(whole.ok_or(io::ErrorKind::OutOfMemory)?)?;
        let from = map.as_ptr().addr().next_multiple_of(LARGE) - map.as_ptr().addr();
        advise(&map, from..from + length.next_multiple_of(LARGE), layout);
        Ok(Self { map, used: from..from + length })
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        &self.map[self.used.clone()]
    }

    #[inline]
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.map[self.used.clone()]
    }
}

/// Large buffers in large pages, as databases have them: a 1 MiB request over 256 scattered pages
/// would be cut in two by devices that take fewer segments. Buffers that are meant to be scattered
/// are not in large pages. A system that has none changes nothing.
fn advise(map: &Pages, part: Range<usize>, layout: Layout) {
    #[cfg(target_os = "linux")]
    if matches!(layout, Layout::Scattered { .. } | Layout::Pages { .. }) {
        let _ = map.advise(memmap2::Advice::NoHugePage);
    } else if part.len() >= LARGE {
        let _ = map.advise_range(memmap2::Advice::HugePage, part.start, part.len());
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (map, part, layout);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_hold_what_small_buffers_need() {
        let plan = |layout| BufferPlan { depth: 3, bytes: 5000, reads: true, writes: true, layout };
        let mut buffers = Buffers::new(plan(Layout::Large)).unwrap();
        for slot in 0..3 {
            buffers.write(slot).fill(7);
            buffers.read_mut(slot).fill(9);
            assert!(
                buffers.write(slot).len() == 5000 && buffers.read(slot).iter().all(|b| *b == 9)
            );
        }
        for region in [&buffers.read, &buffers.write] {
            assert!(region.bytes().as_ptr().addr().is_multiple_of(LARGE));
            assert_eq!(region.used.len(), 3 * 8192);
        }
        assert_eq!(plan(Layout::Large).memory_bytes(), 2 * LARGE as u64);
        assert_eq!(plan(Layout::Single).memory_bytes(), 2 * 3 * 8192);
        let most = BufferPlan { depth: u32::MAX, bytes: u32::MAX, ..plan(Layout::Large) };
        assert!(most.memory_bytes() > 1 << 62);
    }
}
