//! Writes a trace in bounded memory: at most one block of records waits.

use std::io::Write;

use crate::block::{
    ANNEXED, Block, DATABASE, END, EXTENTS, FILES, HEADER, HEADER_MAX, MAGIC, PLAIN, RAW_MAX,
    RECORDS, RECORDS_MAX,
};
use crate::columns::pack;
use crate::files::{self, NAME_MAX};
use crate::io::{Header, Io};
use crate::{DatabaseUse, FileExtent, Moment, TraceError, TracedFile};

/// A block is written when its records span this much, so that a killed capture loses little.
const SPAN_NS: u64 = 1_000_000_000;

/// A trace that is being written. Without [`finish`](Self::finish), its last block is missing and a
/// reader says that it is cut off.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    version: u8,
    records: Vec<Io>,
    sequence: u64,
    lost: u64,
    recorded_until_ns: Option<u64>,
}

impl<W: Write> Writer<W> {
    /// Begins a trace of I/Os alone, format version 1.
    pub fn new(out: W, header: &Header) -> Result<Self, TraceError> {
        Self::of_version(PLAIN, out, header)
    }

    /// Begins a trace that may also have files, extents and what a database counted: version 2.
    pub fn with_annexes(out: W, header: &Header) -> Result<Self, TraceError> {
        Self::of_version(ANNEXED, out, header)
    }

    fn of_version(version: u8, mut out: W, header: &Header) -> Result<Self, TraceError> {
        let raw = serde_json::to_vec(header).map_err(std::io::Error::other)?;
        if raw.len() > HEADER_MAX {
            return Err(TraceError::HeaderTooLarge(raw.len()));
        }
        out.write_all(MAGIC)?;
        out.write_all(&[version])?;
        let records = Vec::with_capacity(RECORDS_MAX);
        let (sequence, lost, recorded_until_ns) = (0, 0, None);
        let mut writer = Self { out, version, records, sequence, lost, recorded_until_ns };
        writer.block(HEADER, 0, raw, &[])?;
        Ok(writer)
    }

    /// Adds an I/O. Its times are rounded down to 100 ns.
    pub fn write(&mut self, io: Io) -> Result<(), TraceError> {
        let spans = |first: &Io| first.issued_ns.abs_diff(io.issued_ns) >= SPAN_NS;
        if self.records.len() == RECORDS_MAX || self.records.first().is_some_and(spans) {
            self.flush()?;
        }
        self.records.push(io);
        Ok(())
    }

    /// Notes that the source lost I/Os after the last one written. A reader adds these up.
    pub fn lost(&mut self, ios: u64) -> Result<(), TraceError> {
        self.flush()?;
        self.lost = self.lost.saturating_add(ios);
        Ok(())
    }

    /// Writes the records that wait, as a block.
    pub fn flush(&mut self) -> Result<(), TraceError> {
        if self.records.is_empty() {
            return Ok(());
        }
        let count = u32::try_from(self.records.len()).map_err(std::io::Error::other)?;
        let (raw, splits) = pack(&self.records);
        self.records.clear();
        self.block(RECORDS, count, raw, &splits)
    }

    /// Adds files. The first has number 0, and the numbers continue with each call. A name that is
    /// too long is left out.
    ///
    /// # Errors
    /// The trace was begun without annexes, or cannot be written.
    pub fn files(&mut self, files: &[TracedFile]) -> Result<(), TraceError> {
        let mut left = files;
        while !left.is_empty() {
            let (mut bytes, mut count) = (2, 0);
            for file in left.iter().take(RECORDS_MAX) {
                // Each byte of a name has at most six in JSON.
                let name = file.name.as_ref().map_or(0, String::len).min(NAME_MAX);
                bytes += 64 + 6 * name;
                if bytes > RAW_MAX {
                    break;
                }
                count += 1;
            }
            let (now, later) = left.split_at(count.max(1).min(left.len()));
            let fits = |file: &TracedFile| TracedFile {
                class: file.class,
                name: file.name.clone().filter(|name| name.len() <= NAME_MAX),
            };
            let now: Vec<TracedFile> = now.iter().map(fits).collect();
            let raw = serde_json::to_vec(&now).map_err(std::io::Error::other)?;
            self.annex(FILES, now.len(), raw, &[])?;
            left = later;
        }
        Ok(())
    }

    /// Adds where files are; best in the order of device and offset.
    ///
    /// # Errors
    /// The trace was begun without annexes, or cannot be written.
    pub fn extents(&mut self, moment: Moment, extents: &[FileExtent]) -> Result<(), TraceError> {
        for part in extents.chunks(RECORDS_MAX) {
            let (raw, splits) = files::pack(moment, part);
            self.annex(EXTENTS, part.len(), raw, &splits)?;
        }
        Ok(())
    }

    /// Adds what a database counted while the trace was recorded.
    ///
    /// # Errors
    /// The trace was begun without annexes, or cannot be written.
    pub fn database(&mut self, counted: &DatabaseUse) -> Result<(), TraceError> {
        let raw = serde_json::to_vec(counted).map_err(std::io::Error::other)?;
        self.annex(DATABASE, 1, raw, &[])
    }

    fn annex(
        &mut self,
        kind: u8,
        count: usize,
        raw: Vec<u8>,
        splits: &[usize],
    ) -> Result<(), TraceError> {
        if self.version == PLAIN || raw.len() > RAW_MAX {
            return Err(TraceError::AnnexTooLarge);
        }
        self.flush()?;
        let count = u32::try_from(count).map_err(std::io::Error::other)?;
        self.block(kind, count, raw, splits)
    }

    /// Notes when recording ended, on the clock of the I/Os. It is written with the end.
    pub fn recorded_until(&mut self, ns: u64) {
        self.recorded_until_ns = Some(ns);
    }

    /// Writes what is left and the block that marks the end, and returns the output.
    pub fn finish(mut self) -> Result<W, TraceError> {
        self.flush()?;
        let until = self.recorded_until_ns.map_or_else(Vec::new, |ns| ns.to_le_bytes().to_vec());
        self.block(END, 0, until, &[])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn block(
        &mut self,
        kind: u8,
        count: u32,
        raw: Vec<u8>,
        splits: &[usize],
    ) -> Result<(), TraceError> {
        let lost_before = std::mem::take(&mut self.lost);
        let block = Block { kind, count, sequence: self.sequence, lost_before, raw };
        block.write(splits, &mut self.out)?;
        self.sequence += 1;
        Ok(())
    }
}
