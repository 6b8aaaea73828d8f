//! Writes a trace in bounded memory: at most one block of records waits.

use std::io::Write;

use crate::TraceError;
use crate::block::{Block, END, HEADER, HEADER_MAX, MAGIC, RECORDS, RECORDS_MAX, VERSION};
use crate::columns::pack;
use crate::io::{Header, Io};

/// A block is written when its records span this much, so that a killed capture loses little.
const SPAN_NS: u64 = 1_000_000_000;

/// A trace that is being written. Without [`finish`](Self::finish), its last block is missing and a
/// reader says that it is cut off.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    records: Vec<Io>,
    sequence: u64,
    lost: u64,
    recorded_until_ns: Option<u64>,
}

impl<W: Write> Writer<W> {
    /// Begins a trace.
    pub fn new(mut out: W, header: &Header) -> Result<Self, TraceError> {
        let raw = serde_json::to_vec(header).map_err(std::io::Error::other)?;
        if raw.len() > HEADER_MAX {
            return Err(TraceError::HeaderTooLarge(raw.len()));
        }
        out.write_all(MAGIC)?;
        out.write_all(&[VERSION])?;
        let records = Vec::with_capacity(RECORDS_MAX);
        let mut writer = Self { out, records, sequence: 0, lost: 0, recorded_until_ns: None };
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
