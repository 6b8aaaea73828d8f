//! What is stored, and what should be stored.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use super::Place;
use super::draw::DrawnFault;
use super::plan::{Fault, SECTOR_BYTES};
use super::record::{Records, Span, joined};

const SECTOR: usize = 512;
/// The unit of stale reads, in bytes.
const BLOCK_BYTES: u64 = 4096;

/// The sectors of all files that are stored wrongly, by file and sector.
#[derive(Default)]
pub(super) struct Sectors {
    wrong: BTreeMap<(u64, u64), Wrong>,
    /// What each block should have held before its last write, if that is needed.
    earlier: Option<BTreeMap<(u64, u64), Vec<u8>>>,
}

/// A sector that is stored wrongly.
struct Wrong {
    /// The content that should be there.
    right: Vec<u8>,
    /// The fault that it comes from.
    number: usize,
    /// Whether a reader was given it.
    seen: bool,
}

/// What a write brings to storage: parts and where they go; and the bit that was flipped.
type Pieces<'a> = (Vec<(u64, Cow<'a, [u8]>)>, Option<u64>);

/// The sectors that a part of a file is in.
fn sectors(offset: u64, bytes: usize) -> Range<u64> {
    offset / SECTOR_BYTES..(offset + bytes as u64).div_ceil(SECTOR_BYTES)
}

fn sector_span(sector: u64) -> Span {
    Span { offset: sector * SECTOR_BYTES, bytes: SECTOR_BYTES }
}

/// The stored content, with zeros after the end.
fn stored(content: &File, sectors: &Range<u64>) -> io::Result<Vec<u8>> {
    let bytes = usize::try_from((sectors.end - sectors.start) * SECTOR_BYTES).unwrap_or(0);
    let mut out = vec![0; bytes];
    let mut read = 0;
    while read < out.len() {
        let at = sectors.start * SECTOR_BYTES + read as u64;
        match content.read_at(&mut out[read..], at)? {
            0 => break,
            moved => read += moved,
        }
    }
    Ok(out)
}

/// Puts `data`, which begins at `offset`, over what it covers of `sectors`.
fn put_over(part: &mut [u8], sectors: &Range<u64>, offset: u64, data: &[u8]) {
    let start = sectors.start * SECTOR_BYTES;
    let from = offset.max(start);
    let end = (offset + data.len() as u64).min(start + part.len() as u64);
    let index = |position: u64, of: u64| usize::try_from(position - of).unwrap_or(usize::MAX);
    if from < end {
        let data = &data[index(from, offset)..index(end, offset)];
        part[index(from, start)..index(end, start)].copy_from_slice(data);
    }
}

impl Sectors {
    /// Whether it is to be kept what blocks held before. What they held until now is forgotten.
    pub(super) fn remember_earlier(&mut self, wanted: bool) {
        self.earlier = wanted.then(BTreeMap::new);
    }

    /// Notes that the file now ends here.
    pub(super) fn cut(&mut self, file: u64, bytes: u64) {
        let end = (file, bytes.div_ceil(SECTOR_BYTES));
        self.wrong.retain(|at, _| at.0 != file || *at < end);
        if let Some(last) = self.wrong.get_mut(&(file, bytes / SECTOR_BYTES)) {
            last.right.truncate(usize::try_from(bytes % SECTOR_BYTES).unwrap_or(SECTOR));
        }
        if let Some(earlier) = &mut self.earlier {
            earlier.retain(|at, _| at.0 != file || at.1 < bytes / BLOCK_BYTES);
        }
    }

    /// A sector that is stored is not what it should be.
    pub(super) fn set_wrong(&mut self, file: u64, sector: u64, right: Vec<u8>, number: usize) {
        self.wrong.insert((file, sector), Wrong { right, number, seen: false });
    }

    fn is_wrong(&self, file: u64, sectors: &Range<u64>) -> bool {
        self.wrong.range((file, sectors.start)..(file, sectors.end)).next().is_some()
    }

    /// The content that should be there.
    fn right(&self, place: &Place<'_>, sectors: &Range<u64>) -> io::Result<Vec<u8>> {
        let mut right = stored(place.content, sectors)?;
        for (at, wrong) in self.wrong.range((place.file, sectors.start)..(place.file, sectors.end))
        {
            put_over(&mut right, sectors, at.1 * SECTOR_BYTES, &wrong.right);
        }
        Ok(right)
    }

    fn keep_earlier(&mut self, place: &Place<'_>, bytes: usize) -> io::Result<()> {
        let first = place.offset / BLOCK_BYTES;
        let last = (place.offset + bytes as u64).div_ceil(BLOCK_BYTES);
        let each = BLOCK_BYTES / SECTOR_BYTES;
        for block in first..last {
            let held = self.right(place, &(block * each..(block + 1) * each))?;
            self.earlier.iter_mut().for_each(|earlier| {
                earlier.insert((place.file, block), held.clone());
            });
        }
        Ok(())
    }

    pub(super) fn write(
        &mut self,
        records: &mut Records,
        place: Place<'_>,
        data: &[u8],
        mut drawn: Option<DrawnFault>,
    ) -> io::Result<usize> {
        let moved = drawn.as_mut().map_or(data.len(), |d| d.moved(data.len()));
        let data = &data[..moved];
        if self.earlier.is_some() {
            self.keep_earlier(&place, moved)?;
        }
        let own = sectors(place.offset, moved);
        if drawn.is_none() && !self.is_wrong(place.file, &own) {
            return place.content.write_all_at(data, place.offset).map(|()| moved);
        }
        let elsewhere = drawn.as_ref().and_then(|d| d.elsewhere);
        let mut regions = Vec::new();
        for region in [Some(own), elsewhere.map(|at| sectors(at, moved))].into_iter().flatten() {
            let mut right = self.right(&place, &region)?;
            put_over(&mut right, &region, place.offset, data);
            regions.push((region, right));
        }
        let (pieces, bit) = match &mut drawn {
            Some(drawn) => drawn.pieces(place.offset, data),
            None => (vec![(place.offset, Cow::Borrowed(data))], None),
        };
        // No caller learns that the write did not arrive, so the file is as long as it should be.
        let end = place.offset + moved as u64;
        if place.content.metadata()?.len() < end {
            place.content.set_len(end)?;
        }
        for (offset, piece) in pieces {
            place.content.write_all_at(&piece, offset)?;
        }
        let number = drawn.map(|d| d.number);
        let mut changed = Vec::new();
        for (region, right) in regions {
            changed.extend(self.compare(records, &place, &region, &right, number)?);
        }
        if let Some(number) = number {
            records.happened(number, bit, joined(changed));
        }
        Ok(moved)
    }

    /// Compares the stored content with the right one; returns the sectors that this fault has made
    /// wrong.
    fn compare(
        &mut self,
        records: &mut Records,
        place: &Place<'_>,
        region: &Range<u64>,
        right: &[u8],
        number: Option<usize>,
    ) -> io::Result<Vec<Span>> {
        let is = stored(place.content, region)?;
        let (mut changed, mut healed) = (Vec::new(), BTreeMap::<usize, Vec<Span>>::new());
        for ((sector, is), right) in region.clone().zip(is.chunks(SECTOR)).zip(right.chunks(SECTOR))
        {
            let key = (place.file, sector);
            let old = self.wrong.remove(&key);
            let same_fault = number.is_none() && is != right;
            if let Some(old) = old.as_ref().filter(|old| !old.seen && !same_fault) {
                healed.entry(old.number).or_default().push(sector_span(sector));
            }
            if is == right {
                continue;
            }
            let seen = same_fault && old.as_ref().is_some_and(|old| old.seen);
            let Some(number) = number.or(old.map(|old| old.number)) else { continue };
            self.wrong.insert(key, Wrong { right: right.to_vec(), number, seen });
            if !same_fault {
                changed.push(sector_span(sector));
            }
        }
        for (number, spans) in healed {
            for span in joined(spans) {
                records.healed(number, place.at_ns, span);
            }
        }
        Ok(changed)
    }

    pub(super) fn read(
        &mut self,
        records: &mut Records,
        place: Place<'_>,
        out: &mut [u8],
        mut drawn: Option<DrawnFault>,
    ) -> io::Result<usize> {
        let read = place.content.read_at(out, place.offset)?;
        let region = sectors(place.offset, read);
        if drawn.is_none() && !self.is_wrong(place.file, &region) {
            return Ok(read);
        }
        let before = usize::try_from(place.offset % SECTOR_BYTES).unwrap_or(0);
        let right = self.right(&place, &region)?[before..before + read].to_vec();
        let stored = out[..read].to_vec();
        let moved = drawn.as_mut().map_or(read, |d| d.moved(read));
        let out = &mut out[..moved];
        let bit = drawn.as_mut().map_or(Ok(None), |d| self.falsify(d, &place, out))?;
        let (mut of_read, mut of_writes) = (Vec::new(), BTreeMap::<usize, Vec<Span>>::new());
        let mut from = 0;
        while from < moved {
            let at = place.offset + from as u64;
            let sector = at / SECTOR_BYTES;
            let rest = usize::try_from((sector + 1) * SECTOR_BYTES - at).unwrap_or(SECTOR);
            let part = from..(from + rest).min(moved);
            from = part.end;
            if out[part.clone()] == right[part.clone()] {
                continue;
            }
            let span = Span { offset: at, bytes: part.len() as u64 };
            if out[part.clone()] != stored[part] {
                of_read.push(span);
            } else if let Some(wrong) = self.wrong.get_mut(&(place.file, sector))
                && !std::mem::replace(&mut wrong.seen, true)
            {
                of_writes.entry(wrong.number).or_default().push(span);
            }
        }
        if let Some(drawn) = drawn {
            let changed = joined(of_read);
            records.happened(drawn.number, bit, changed.clone());
            of_writes.insert(drawn.number, changed);
        }
        for (number, spans) in of_writes {
            for span in joined(spans) {
                records.visible(number, place.at_ns, span);
            }
        }
        Ok(moved)
    }

    /// Makes what a reader is given what the fault says; gives the bit that was flipped.
    fn falsify(
        &self,
        drawn: &mut DrawnFault,
        place: &Place<'_>,
        out: &mut [u8],
    ) -> io::Result<Option<u64>> {
        match (drawn.fault, drawn.elsewhere, &self.earlier) {
            (Fault::BitFlipRead, ..) => return Ok(flip(drawn, place.offset, out)),
            (Fault::ZeroRead, ..) => out.fill(0),
            (Fault::MisdirectedRead, Some(elsewhere), _) => {
                let region = sectors(elsewhere, out.len());
                let from = usize::try_from(elsewhere % SECTOR_BYTES).unwrap_or(0);
                let there = stored(place.content, &region)?;
                out.copy_from_slice(&there[from..from + out.len()]);
            }
            (Fault::StaleRead, _, Some(earlier)) => {
                let region = sectors(place.offset, out.len());
                let each = BLOCK_BYTES / SECTOR_BYTES;
                let blocks = region.start / each..region.end.div_ceil(each);
                let before = (place.file, blocks.start)..(place.file, blocks.end);
                for (at, held) in earlier.range(before) {
                    // In the coordinates of the read.
                    let offset = at.1 * BLOCK_BYTES;
                    let from = place.offset.max(offset);
                    let end = (place.offset + out.len() as u64).min(offset + BLOCK_BYTES);
                    let index = |p: u64, of: u64| usize::try_from(p - of).unwrap_or(usize::MAX);
                    out[index(from, place.offset)..index(end, place.offset)]
                        .copy_from_slice(&held[index(from, offset)..index(end, offset)]);
                }
            }
            _ => {}
        }
        Ok(None)
    }
}

/// Flips a bit; gives its number in the file.
fn flip(drawn: &mut DrawnFault, offset: u64, data: &mut [u8]) -> Option<u64> {
    let bit = drawn.below(data.len() * 8);
    *data.get_mut(bit / 8)? ^= 1 << (bit % 8);
    Some(offset * 8 + bit as u64)
}

impl DrawnFault {
    /// What a write of `data` at `offset` brings to storage.
    fn pieces<'a>(&mut self, offset: u64, data: &'a [u8]) -> Pieces<'a> {
        let whole = || (offset, Cow::Borrowed(data));
        let pieces = match (self.fault, self.elsewhere) {
            (Fault::LostWrite, _) => Vec::new(),
            (Fault::BitFlipWrite, _) => {
                let mut flipped = data.to_vec();
                let bit = flip(self, offset, &mut flipped);
                return (vec![(offset, Cow::Owned(flipped))], bit);
            }
            (Fault::ZeroWrite, _) => vec![(offset, Cow::Owned(vec![0; data.len()]))],
            (Fault::TornWrite(torn), _) => {
                let parts = data.chunks(SECTOR);
                let arriving = self.arriving(torn, parts.len());
                let offsets = (offset..).step_by(SECTOR);
                let parts = offsets.zip(parts).zip(arriving);
                parts.filter(|(_, arrives)| *arrives).map(|((o, p), _)| (o, p.into())).collect()
            }
            (Fault::MisdirectedWrite, Some(elsewhere)) => vec![(elsewhere, Cow::Borrowed(data))],
            (Fault::DuplicatedWrite, _) => vec![whole(), whole()],
            _ => vec![whole()],
        };
        (pieces, None)
    }
}
