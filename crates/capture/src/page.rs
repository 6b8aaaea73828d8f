//! The pages in which the kernel hands over its ring buffers.
//!
//! A page begins with a time (8 bytes) and the length of what follows (8 bytes, with flags in its
//! upper bits). Then come events: a head of 32 bits with five bits of type and 27 of time since the
//! event before, and data. `Documentation/trace/ring-buffer-design` and the file
//! `events/header_event` describe them.

/// Bytes before the first event: the time and the length.
const HEAD: usize = 16;
/// The bits of the length that count bytes; those above say that events are missing.
const LENGTH: u64 = 0x000f_ffff;
/// Types of events that are none.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// An event: its time and its data, which begin with the number of its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageEvent<'a> {
    /// The time, by the clock of the trace.
    pub time_ns: u64,
    /// The event, beginning with the number of its format.
    pub data: &'a [u8],
}

/// The events of a page. A page that is not one has those up to where it is wrong.
pub fn page_events(page: &[u8]) -> impl Iterator<Item = PageEvent<'_>> {
    let eight =
        |at: usize| page.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_ne_bytes);
    let (time_ns, length) = (eight(0).unwrap_or(0), eight(8).unwrap_or(0) & LENGTH);
    let body = page.get(HEAD..).unwrap_or_default();
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(body.len());
    let mut cursor = Cursor { rest: body.get(..length).unwrap_or_default(), time_ns };
    std::iter::from_fn(move || cursor.next_event())
}

struct Cursor<'a> {
    rest: &'a [u8],
    time_ns: u64,
}

impl<'a> Cursor<'a> {
    fn next_event(&mut self) -> Option<PageEvent<'a>> {
        loop {
            let head = self.take_word()?;
            // Bit fields are laid out from the other end on big-endian machines.
            let (kind, delta) = if cfg!(target_endian = "big") {
                (head >> 27, head & 0x07ff_ffff)
            } else {
                (head & 31, head >> 5)
            };
            match kind {
                PADDING if delta == 0 => return None,
                PADDING => {
                    let length = self.take_word()? as usize;
                    self.time_ns = self.time_ns.wrapping_add(u64::from(delta));
                    self.take(length.checked_sub(4)?)?;
                }
                TIME_EXTEND | TIME_STAMP => {
                    let time = (u64::from(self.take_word()?) << 27) + u64::from(delta);
                    if kind == TIME_EXTEND {
                        self.time_ns = self.time_ns.wrapping_add(time);
                    } else {
                        // It lacks the highest five bits.
                        self.time_ns = (self.time_ns & (31 << 59)) | time;
                    }
                }
                words => {
                    self.time_ns = self.time_ns.wrapping_add(u64::from(delta));
                    let length = match words {
                        0 => (self.take_word()? as usize).checked_sub(4)?,
                        words => words as usize * 4,
                    };
                    let data = self.take(length)?;
                    return Some(PageEvent { time_ns: self.time_ns, data });
                }
            }
        }
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        // Events begin at multiples of four.
        self.rest = rest.get((4 - length % 4) % 4..).unwrap_or_default();
        Some(taken)
    }

    fn take_word(&mut self) -> Option<u32> {
        self.take(4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_ne_bytes)
    }
}
