//! The frame of a block: kind, lengths, sequence number and checksum around compressed bytes.

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use twox_hash::XxHash3_64;

/// The first bytes of a trace; the version follows.
pub(crate) const MAGIC: &[u8; 7] = b"IOTRACE";
/// The version of a trace without annexes, and of one that may have them.
pub(crate) const PLAIN: u8 = 1;
pub(crate) const ANNEXED: u8 = 2;
pub(crate) const HEADER: u8 = b'H';
pub(crate) const RECORDS: u8 = b'R';
pub(crate) const END: u8 = b'E';
/// The kinds of annexes, which version 2 has.
pub(crate) const FILES: u8 = b'F';
pub(crate) const EXTENTS: u8 = b'X';
pub(crate) const DATABASE: u8 = b'D';
/// The most records in a block.
pub(crate) const RECORDS_MAX: usize = 4096;
/// The most bytes in a block before compression: seven columns of varints, and the shift.
pub(crate) const RAW_MAX: usize = RECORDS_MAX * 7 * 10 + 1;
/// The most bytes of the header's JSON.
pub(crate) const HEADER_MAX: usize = 65536;
/// Deflate adds at most a few bytes per 16 KiB, and per column, to what it cannot
/// compress.
const PACKED_MAX: usize = RAW_MAX + RAW_MAX / 1024 + 256;
/// Bytes before the payload: magic, kind, both lengths, count, sequence number, loss and checksum.
const FRAME: usize = 4 + 1 + 4 + 4 + 4 + 8 + 8 + 8;
const BLOCK_MAGIC: &[u8; 4] = b"IOTB";

/// A block, uncompressed.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) kind: u8,
    pub(crate) count: u32,
    pub(crate) sequence: u64,
    pub(crate) lost_before: u64,
    pub(crate) raw: Vec<u8>,
}

/// What is found where a block should begin.
pub(crate) enum Found {
    Block(Block),
    /// The file ends before or inside the block.
    Cut,
    /// The bytes are not those that were written.
    Damaged,
}

fn checksum(head: &[u8], payload: &[u8]) -> u64 {
    let seed = XxHash3_64::oneshot(head);
    XxHash3_64::oneshot_with_seed(seed, payload)
}

impl Block {
    /// Writes the block in one call, so that a killed writer leaves at most one part of a block.
    /// Deflate begins a new table of codes at each split, because columns differ.
    pub(crate) fn write(&self, splits: &[usize], out: &mut impl Write) -> io::Result<()> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
        let mut rest = &self.raw[..];
        for split in splits {
            let done = self.raw.len() - rest.len();
            let Some((column, after)) = rest.split_at_checked(split - done) else { break };
            encoder.write_all(column)?;
            encoder.flush()?;
            rest = after;
        }
        encoder.write_all(rest)?;
        let payload = encoder.finish()?;
        let length = |bytes: usize| u32::try_from(bytes).map_err(io::Error::other);
        let mut bytes = Vec::with_capacity(FRAME + payload.len());
        bytes.extend_from_slice(BLOCK_MAGIC);
        bytes.push(self.kind);
        bytes.extend_from_slice(&length(payload.len())?.to_le_bytes());
        bytes.extend_from_slice(&length(self.raw.len())?.to_le_bytes());
        bytes.extend_from_slice(&self.count.to_le_bytes());
        bytes.extend_from_slice(&self.sequence.to_le_bytes());
        bytes.extend_from_slice(&self.lost_before.to_le_bytes());
        let sum = checksum(&bytes, &payload);
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes.extend_from_slice(&payload);
        out.write_all(&bytes)
    }

    /// Reads the next block. Lengths are checked before memory is taken for them. What is in blocks
    /// of the kind `skips` is checked and not unpacked.
    pub(crate) fn read(from: &mut impl Read, skips: Option<u8>) -> io::Result<Found> {
        let mut head = [0; FRAME];
        if !fill(from, &mut head)? {
            return Ok(Found::Cut);
        }
        let mut rest = &head[..];
        let (packed, raw_length);
        let mut block = Self { kind: 0, count: 0, sequence: 0, lost_before: 0, raw: Vec::new() };
        let magic = take::<4>(&mut rest);
        block.kind = take::<1>(&mut rest)[0];
        packed = u32::from_le_bytes(take(&mut rest)) as usize;
        raw_length = u32::from_le_bytes(take(&mut rest)) as usize;
        block.count = u32::from_le_bytes(take(&mut rest));
        block.sequence = u64::from_le_bytes(take(&mut rest));
        block.lost_before = u64::from_le_bytes(take(&mut rest));
        let sum = u64::from_le_bytes(take(&mut rest));
        if magic != *BLOCK_MAGIC || packed > PACKED_MAX || raw_length > RAW_MAX {
            return Ok(Found::Damaged);
        }
        let mut payload = vec![0; packed];
        if !fill(from, &mut payload)? {
            return Ok(Found::Cut);
        }
        if checksum(&head[..FRAME - 8], &payload) != sum {
            return Ok(Found::Damaged);
        }
        if skips == Some(block.kind) {
            return Ok(Found::Block(block));
        }
        let limit = raw_length as u64 + 1;
        let unpacked = DeflateDecoder::new(&payload[..]).take(limit).read_to_end(&mut block.raw);
        if unpacked.is_err() || block.raw.len() != raw_length {
            return Ok(Found::Damaged);
        }
        Ok(Found::Block(block))
    }
}

/// Takes `N` bytes from the front of a frame, which is long enough for all of its fields.
fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    if let Some((front, back)) = rest.split_at_checked(N) {
        bytes.copy_from_slice(front);
        *rest = back;
    }
    bytes
}

/// Fills the buffer; `false` if the input ends before.
pub(crate) fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
