//! Reads a trace in bounded memory: one block at a time, up to the last whole one.

use std::io::Read;

use crate::TraceError;
use crate::block::fill;
use crate::block::{Block, END, Found, HEADER, HEADER_MAX, MAGIC, RECORDS, RECORDS_MAX, VERSION};
use crate::columns::unpack;
use crate::io::{Header, Io};

/// How a trace ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Its end is marked: nothing is missing.
    Whole,
    /// It stops before its end, as after a killed capture. All whole blocks were read.
    Cut,
    /// A block is not what was written, or not where it was written. All before it was read.
    Damaged,
}

/// The I/Os of a trace, in the order in which they were written.
#[derive(Debug)]
pub struct Reader<R: Read> {
    from: R,
    header: Header,
    records: std::vec::IntoIter<Io>,
    sequence: u64,
    lost: u64,
    ending: Option<Ending>,
    recorded_until_ns: Option<u64>,
}

impl<R: Read> Reader<R> {
    /// Reads the header. Give a buffered reader.
    pub fn new(mut from: R) -> Result<Self, TraceError> {
        let mut magic = [0; 8];
        if !fill(&mut from, &mut magic)? || magic[..7] != *MAGIC {
            return Err(TraceError::NotATrace);
        }
        if magic[7] != VERSION {
            return Err(TraceError::Version(magic[7]));
        }
        let Found::Block(block) = Block::read(&mut from)? else { return Err(TraceError::Header) };
        if block.kind != HEADER || block.sequence != 0 || block.raw.len() > HEADER_MAX {
            return Err(TraceError::Header);
        }
        let header = serde_json::from_slice(&block.raw).map_err(|_| TraceError::Header)?;
        let records = Vec::new().into_iter();
        let (ending, recorded_until_ns) = (None, None);
        Ok(Self { from, header, records, sequence: 1, lost: 0, ending, recorded_until_ns })
    }

    /// What the trace says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How many I/Os the source lost, as far as the trace was read.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How the trace ended; `None` before everything is read. After an error, it is cut.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// When recording ended, on the clock of the I/Os; known after the end was read. Absent where
    /// the trace is not whole, or its source does not say.
    pub fn recorded_until_ns(&self) -> Option<u64> {
        self.recorded_until_ns
    }

    /// Takes the next block; the trace ends with anything that is not the block expected here.
    fn next_block(&mut self) -> Result<(), TraceError> {
        let block = match Block::read(&mut self.from)? {
            Found::Block(block) => block,
            Found::Cut => return self.end(Ending::Cut),
            Found::Damaged => return self.end(Ending::Damaged),
        };
        let count = block.count as usize;
        if block.sequence != self.sequence || count > RECORDS_MAX {
            return self.end(Ending::Damaged);
        }
        match block.kind {
            RECORDS => match unpack(&block.raw, count) {
                Some(records) => self.records = records.into_iter(),
                None => return self.end(Ending::Damaged),
            },
            END => {
                self.ending = Some(Ending::Whole);
                let until: Option<[u8; 8]> = block.raw.get(..8).and_then(|raw| raw.try_into().ok());
                self.recorded_until_ns = until.map(u64::from_le_bytes);
            }
            _ => return self.end(Ending::Damaged),
        }
        self.sequence += 1;
        self.lost = self.lost.saturating_add(block.lost_before);
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "the last word of a function that can fail")]
    fn end(&mut self, ending: Ending) -> Result<(), TraceError> {
        self.ending = Some(ending);
        Ok(())
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Io, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(io) = self.records.next() {
                return Some(Ok(io));
            }
            if self.ending.is_some() {
                return None;
            }
            if let Err(error) = self.next_block() {
                self.ending = Some(Ending::Cut);
                return Some(Err(error));
            }
        }
    }
}
