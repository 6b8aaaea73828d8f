//! Page-aligned memory for the I/Os of one queue.

use std::io;
use std::ops::Range;

use memmap2::MmapMut;
use workload::Buffers as Layout;

/// Alignment of every buffer; enough for direct I/O on any device with sectors up to 4 KiB.
const ALIGN: usize = 4096;

/// One buffer for each slot, for reads and, apart from them, for writes.
///
/// Reads never land in a write buffer: what was read would otherwise become what is written.
pub(crate) struct Buffers {
    read: MmapMut,
    write: MmapMut,
    stride: usize,
    bytes: usize,
}

/// Who uses a queue's buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BufferPlan {
    /// I/Os at a time.
    pub depth: u32,
    /// Largest I/O.
    pub bytes: u32,
    /// Whether any I/O reads.
    pub reads: bool,
    /// Whether any I/O writes.
    pub writes: bool,
    /// How the memory of one I/O is laid out.
    pub layout: Layout,
}

impl BufferPlan {
    /// What its buffers take when all of them are used.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let copies = if matches!(self.layout, Layout::Copied { .. }) { 2 } else { 1 };
        let regions = copies * (u64::from(self.reads) + u64::from(self.writes));
        let stride = u64::from(self.bytes).next_multiple_of(ALIGN as u64);
        u64::from(self.depth).saturating_mul(stride).saturating_mul(regions)
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
            let map = MmapMut::map_anon(length)?;
            advise(&map, plan.layout);
            Ok::<_, io::Error>(map)
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
        &mut self.write[range]
    }

    /// The buffer that a slot's reads go to.
    pub(crate) fn read(&self, slot: u32) -> &[u8] {
        &self.read[self.range(slot)]
    }

    /// The same for code that fills it itself.
    pub(crate) fn read_mut(&mut self, slot: u32) -> &mut [u8] {
        let range = self.range(slot);
        &mut self.read[range]
    }

    /// Address and length of the whole read region and the whole write region.
    #[cfg(target_os = "linux")]
    pub(crate) fn regions(&mut self) -> [(*mut u8, usize); 2] {
        [(self.read.as_mut_ptr(), self.read.len()), (self.write.as_mut_ptr(), self.write.len())]
    }

    /// Distance of two slots' buffers.
    #[cfg(target_os = "linux")]
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }
}

/// Large buffers in large pages, as databases have them: a 1 MiB request over 256 scattered pages would be cut in two
/// by devices that take fewer segments. Buffers that are meant to be scattered are not in large pages. A system that has
/// none changes nothing.
fn advise(map: &MmapMut, layout: Layout) {
    #[cfg(target_os = "linux")]
    if matches!(layout, Layout::Scattered { .. }) {
        let _ = map.advise(memmap2::Advice::NoHugePage);
    } else if map.len() >= 2 << 20 {
        let _ = map.advise(memmap2::Advice::HugePage);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (map, layout);
}
