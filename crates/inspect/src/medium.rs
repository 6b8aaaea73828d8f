//! Bytes of a file or device, read at any offset in bounded pieces, to recognise its content.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;

/// How much is read at once.
const PIECE_BYTES: u64 = 16 << 10;
/// Pieces that are remembered.
const PIECES_MAX: usize = 128;

/// Fills a buffer from an offset.
type Read<'a> = &'a dyn Fn(u64, &mut [u8]) -> io::Result<()>;

/// An open file or device of a known size.
pub struct Medium<'a> {
    size_bytes: u64,
    read: Read<'a>,
    pieces: RefCell<HashMap<u64, Vec<u8>>>,
}

impl<'a> Medium<'a> {
    /// A medium that `read` reads: it fills the whole buffer from an offset, or fails.
    #[must_use]
    pub fn new(size_bytes: u64, read: Read<'a>) -> Self {
        Self { size_bytes, read, pieces: RefCell::default() }
    }

    /// All of it.
    pub(crate) fn whole(&self) -> Span<'_> {
        Span { medium: self, start: 0, size: self.size_bytes }
    }

    /// Bytes from an offset, all of which exist.
    fn bytes(&self, from: u64, length: usize) -> io::Result<Vec<u8>> {
        let end = from + length as u64;
        let mut bytes = Vec::with_capacity(length);
        let mut at = from;
        while at < end {
            let piece = at / PIECE_BYTES;
            let skipped = usize::try_from(at % PIECE_BYTES).unwrap_or_default();
            let mut pieces = self.pieces.borrow_mut();
            if pieces.len() >= PIECES_MAX && !pieces.contains_key(&piece) {
                pieces.clear();
            }
            if let std::collections::hash_map::Entry::Vacant(vacant) = pieces.entry(piece) {
                let start = piece * PIECE_BYTES;
                let size = PIECE_BYTES.min(self.size_bytes - start);
                let mut content = vec![0; usize::try_from(size).unwrap_or_default()];
                (self.read)(start, &mut content)?;
                vacant.insert(content);
            }
            let content = pieces.get(&piece).map_or(&[][..], |p| p.get(skipped..).unwrap_or(&[]));
            let wanted = usize::try_from(end - at).unwrap_or(usize::MAX);
            let part = &content[..content.len().min(wanted)];
            if part.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            bytes.extend_from_slice(part);
            at += part.len() as u64;
        }
        Ok(bytes)
    }
}

/// A part of a medium, such as a partition.
#[derive(Clone, Copy)]
pub(crate) struct Span<'m> {
    medium: &'m Medium<'m>,
    start: u64,
    size: u64,
}

impl<'m> Span<'m> {
    /// Size of this part.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Where it begins on the medium.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// A part of this part, as far as it exists.
    pub(crate) fn part(&self, start: u64, size: u64) -> Option<Span<'m>> {
        let room = self.size.checked_sub(start).filter(|room| *room > 0)?;
        let part = Span { medium: self.medium, start: self.start + start, size: size.min(room) };
        Some(part).filter(|part| part.size > 0)
    }

    /// `N` bytes at an offset; `None` if they are not all there.
    pub(crate) fn array<const N: usize>(&self, at: u64) -> io::Result<Option<[u8; N]>> {
        Ok(self.bytes(at, N)?.and_then(|bytes| bytes.try_into().ok()))
    }

    /// Bytes at an offset; `None` if they are not all there.
    pub(crate) fn bytes(&self, at: u64, length: usize) -> io::Result<Option<Vec<u8>>> {
        let fits = at.checked_add(length as u64).is_some_and(|end| end <= self.size);
        if fits { self.medium.bytes(self.start + at, length).map(Some) } else { Ok(None) }
    }

    /// Bytes at an offset, with zeros where the medium ends.
    pub(crate) fn padded(&self, at: u64, length: usize) -> io::Result<Vec<u8>> {
        let there = usize::try_from(self.size.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut bytes = self.bytes(at, length.min(there))?.unwrap_or_default();
        bytes.resize(length, 0);
        Ok(bytes)
    }

    /// A little-endian number at an offset; 0 if it is not there.
    pub(crate) fn le16(&self, at: u64) -> io::Result<u16> {
        Ok(self.array(at)?.map_or(0, u16::from_le_bytes))
    }

    /// The same with four bytes.
    pub(crate) fn le32(&self, at: u64) -> io::Result<u32> {
        Ok(self.array(at)?.map_or(0, u32::from_le_bytes))
    }

    /// The same with eight bytes.
    pub(crate) fn le64(&self, at: u64) -> io::Result<u64> {
        Ok(self.array(at)?.map_or(0, u64::from_le_bytes))
    }

    /// A big-endian number at an offset; 0 if it is not there.
    pub(crate) fn be16(&self, at: u64) -> io::Result<u16> {
        Ok(self.array(at)?.map_or(0, u16::from_be_bytes))
    }

    /// The same with four bytes.
    pub(crate) fn be32(&self, at: u64) -> io::Result<u32> {
        Ok(self.array(at)?.map_or(0, u32::from_be_bytes))
    }

    /// The same with eight bytes.
    pub(crate) fn be64(&self, at: u64) -> io::Result<u64> {
        Ok(self.array(at)?.map_or(0, u64::from_be_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_not_read() {
        let content: Vec<u8> = (0..40_000u32).map(|n| n.to_le_bytes()[0]).collect();
        let read = |at: u64, buffer: &mut [u8]| {
            let at = usize::try_from(at).unwrap();
            buffer.copy_from_slice(&content[at..at + buffer.len()]);
            Ok(())
        };
        let medium = Medium::new(40_000, &read);
        let whole = medium.whole();
        assert_eq!(whole.bytes(16_380, 8).unwrap().unwrap(), &content[16_380..16_388]);
        assert_eq!(whole.bytes(39_996, 8).unwrap(), None);
        assert_eq!(whole.bytes(u64::MAX, 8).unwrap(), None);
        assert_eq!(whole.padded(39_996, 8).unwrap()[4..], [0; 4]);
        let part = whole.part(512, u64::MAX).unwrap();
        assert_eq!((part.size(), part.start()), (39_488, 512));
        assert_eq!(part.le16(0).unwrap(), whole.le16(512).unwrap());
        assert!(whole.part(40_000, 1).is_none());
    }
}
