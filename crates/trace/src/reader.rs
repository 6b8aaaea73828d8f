//! Reads a trace in bounded memory: one block at a time, up to the last whole one.

use std::io::Read;

use crate::block::{
    ANNEXED, Block, DATABASE, END, EXTENTS, FILES, Found, HEADER, HEADER_MAX, MAGIC, PLAIN,
    RECORDS, RECORDS_MAX, fill,
};
use crate::columns::unpack;
use crate::io::{Header, Io};
use crate::{DatabaseUse, FileMap, TraceError};

/// The most databases of a trace.
const DATABASES_MAX: usize = 64;

/// What a trace has besides its I/Os.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Annexes {
    /// The files, and where they were.
    pub files: FileMap,
    /// What databases counted while the trace was recorded.
    pub databases: Vec<DatabaseUse>,
}

impl Annexes {
    /// Reads them, and nothing else, so it takes less time than reading the I/Os. A trace of
    /// version 1 is not read beyond its header. Those before a cut or damage are good.
    ///
    /// # Errors
    /// It is not a trace, or reading fails.
    pub fn read(from: impl Read) -> Result<Self, TraceError> {
        let mut reader = Reader::new(from)?;
        reader.skips_records = true;
        while reader.version != PLAIN && reader.ending.is_none() {
            reader.next_block()?;
        }
        Ok(reader.annexes)
    }

    /// Takes a block; `None` if it is not an annex, or not a good one.
    fn add(&mut self, block: &Block) -> Option<()> {
        let count = block.count as usize;
        match block.kind {
            FILES => self.files.add_files(&block.raw, count),
            EXTENTS => self.files.add_extents(&block.raw, count),
            DATABASE if self.databases.len() < DATABASES_MAX => {
                self.databases.push(serde_json::from_slice(&block.raw).ok()?);
                Some(())
            }
            _ => None,
        }
    }
}

/// How complete a trace is at its end.
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
    version: u8,
    header: Header,
    annexes: Annexes,
    /// Whether only the annexes are wanted, so records are not unpacked.
    skips_records: bool,
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
        let version = magic[7];
        if !(PLAIN..=ANNEXED).contains(&version) {
            return Err(TraceError::Version(version));
        }
        let Found::Block(block) = Block::read(&mut from, None)? else {
            return Err(TraceError::Header);
        };
        if block.kind != HEADER || block.sequence != 0 || block.raw.len() > HEADER_MAX {
            return Err(TraceError::Header);
        }
        let header = serde_json::from_slice(&block.raw).map_err(|_| TraceError::Header)?;
        let records = Vec::new().into_iter();
        Ok(Self {
            from,
            version,
            header,
            annexes: Annexes::default(),
            skips_records: false,
            records,
            sequence: 1,
            lost: 0,
            ending: None,
            recorded_until_ns: None,
        })
    }

    /// What the trace says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What the trace has besides its I/Os, as far as it was read.
    pub fn annexes(&self) -> &Annexes {
        &self.annexes
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
        let skips = self.skips_records.then_some(RECORDS);
        let block = match Block::read(&mut self.from, skips)? {
            Found::Block(block) => block,
            Found::Cut => return self.end(Ending::Cut),
            Found::Damaged => return self.end(Ending::Damaged),
        };
        let count = block.count as usize;
        if block.sequence != self.sequence || count > RECORDS_MAX {
            return self.end(Ending::Damaged);
        }
        match block.kind {
            RECORDS if self.skips_records => {}
            RECORDS => match unpack(&block.raw, count) {
                Some(records) => self.records = records.into_iter(),
                None => return self.end(Ending::Damaged),
            },
            END => {
                self.ending = Some(Ending::Whole);
                let until: Option<[u8; 8]> = block.raw.get(..8).and_then(|raw| raw.try_into().ok());
                self.recorded_until_ns = until.map(u64::from_le_bytes);
            }
            _ => {
                let is_annex = self.version == ANNEXED && self.annexes.add(&block).is_some();
                if !is_annex {
                    return self.end(Ending::Damaged);
                }
            }
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
