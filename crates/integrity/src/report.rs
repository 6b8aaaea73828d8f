//! The findings of a run, as data.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use results::{DatabaseWork, PageDamage, Persistence};

use crate::block::BlockSector;
use crate::checks::Touched;
use crate::classify::{Fault, SectorState};
use crate::figures::FileFigures;
use crate::ledger::Recovered;
use crate::pace::Paced;

/// A page that was wrong, with all that is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultReport {
    /// What the page should hold, and how it was wrong.
    pub fault: Fault,
    /// The file that it is in.
    pub path: PathBuf,
    /// Where it begins in the file.
    pub offset_bytes: u64,
    /// When it was found, from the start of the run.
    pub found_after: Duration,
    /// When it was last written, from the start of the run; none if that was more than 24 days
    /// after it, or never.
    pub written_after: Option<Duration>,
    /// How often it was read again.
    pub rereads: u32,
    /// How often it was to be, unless it was right before.
    pub rereads_planned: u32,
    /// Whether it was right when read through the cache of the operating system; absent if that
    /// could not be read.
    pub right_cached: Option<bool>,
    /// What it should hold and what it held, where these differ.
    pub dump: String,
    /// The latest I/Os that touched the page.
    pub history: Vec<Touched>,
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { id, expected_version, damage, kept, belongs_to, found_version, examined } =
            &self.fault;
        let expected = match expected_version {
            0 => "zeros are".to_owned(),
            version => format!("version {version} is"),
        };
        write!(
            f,
            "{} in `{}`, page {} at {} bytes, first in byte {} of it: {expected} expected",
            damage.words(),
            self.path.display(),
            id.page,
            self.offset_bytes,
            examined.first_byte
        )?;
        if let Some(version) = found_version {
            write!(f, ", version {version} is there")?;
        }
        if *damage == PageDamage::NewerThanKnown {
            write!(
                f,
                " (another program writes to the file, or the ledger is older than the data)"
            )?;
        }
        if let Some(other) = belongs_to {
            write!(f, ", which belongs to page {} of file {}", other.page, other.file)?;
        }
        if let Some((log, number)) = examined.block() {
            write!(f, ", block {number} of the log of thread {log} is there")?;
        }
        let wrong: Vec<bool> = examined.sectors.iter().map(|s| *s != SectorState::Right).collect();
        write!(f, "{}", wrong_sectors(&wrong))?;
        write!(f, "; {}", reread_words(*kept, self.rereads, self.rereads_planned))
    }
}

/// The sectors that are wrong, if not all of them are.
fn wrong_sectors(wrong: &[bool]) -> String {
    let numbers: Vec<String> = (0..)
        .zip(wrong)
        .filter(|(_, wrong)| **wrong)
        .map(|(n, _): (u64, _)| n.to_string())
        .collect();
    let sectors = if numbers.len() == 1 { "sector" } else { "sectors" };
    if numbers.len() == wrong.len() {
        return String::new();
    }
    format!(", wrong in {sectors} {}", numbers.join(", "))
}

/// What reading again has shown, and how much that says.
fn reread_words(kept: Persistence, rereads: u32, planned: u32) -> String {
    match kept {
        Persistence::Transient => format!("right when read again ({rereads} times)"),
        Persistence::Persistent => results::still_wrong(rereads, planned),
    }
}

/// How often pages were wrong in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultKind {
    /// The kind of damage that was found.
    pub damage: PageDamage,
    /// Whether they were still wrong when read again.
    pub kept: Persistence,
    /// How often a page was wrong in this way.
    pub count: u64,
}

/// A block of the log that was acknowledged and is not there, with all that is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct LogFault {
    /// The kind of damage that was found.
    pub damage: PageDamage,
    /// Whether it was still wrong when read again.
    pub kept: Persistence,
    /// The file that the log is in.
    pub path: PathBuf,
    /// Whose log it is: the number of the thread.
    pub thread: u16,
    /// Its number in that thread's log.
    pub number: u64,
    /// Where it begins in the log file.
    pub offset_bytes: u64,
    /// What each sector held when it was read first, in order.
    pub sectors: Vec<BlockSector>,
    /// The first byte of it that was wrong.
    pub first_byte: usize,
    /// When it was found, from the start of the run.
    pub found_after: Duration,
    /// When its write was done, from the start of the run; absent if a run before this one wrote
    /// it.
    pub written_after: Option<Duration>,
    /// How often it was read again.
    pub rereads: u32,
    /// How often it was to be, unless it was right before.
    pub rereads_planned: u32,
    /// Whether it was right when read through the cache of the operating system; absent if that
    /// could not be read.
    pub right_cached: Option<bool>,
    /// What it should hold and what it held, where these differ.
    pub dump: String,
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wrong: Vec<bool> = self.sectors.iter().map(|s| *s != BlockSector::Right).collect();
        write!(
            f,
            "{} in the log of thread {} in `{}`, block {} at {} bytes, first in byte {} of it{}; \
             {}",
            self.damage.words_of_block(),
            self.thread,
            self.path.display(),
            self.number,
            self.offset_bytes,
            self.first_byte,
            wrong_sectors(&wrong),
            reread_words(self.kept, self.rereads, self.rereads_planned)
        )
    }
}

/// I/Os that the system failed, by reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IoFailure {
    /// What failed: `read`, `write` or `sync`.
    pub op: &'static str,
    /// The target, in the order of the run's targets.
    pub target: usize,
    /// The system's error number; 0 for an I/O that moved too few bytes.
    pub errno: i32,
    /// How many I/Os failed for this reason.
    pub count: u64,
    /// Where the first of them was, in bytes.
    pub first_offset_bytes: u64,
}

/// Why an I/O failed, in words.
#[must_use]
pub fn failure_words(errno: i32) -> String {
    match errno {
        0 => "moved less than was asked for".to_owned(),
        errno => std::io::Error::from_raw_os_error(errno).to_string(),
    }
}

/// What a run did and found.
#[derive(Debug, Clone)]
pub struct Report {
    /// How long it took to write every page for the first time.
    pub load: Duration,
    /// How long the users worked, over all cycles.
    pub work_time: Duration,
    /// How long it took to read every page, in all cycles; none if that was not done at the end.
    pub audit: Option<Duration>,
    /// How long it took to read the log at the end.
    pub log_time: Duration,
    /// How often users worked and every page was read after that.
    pub cycles: u32,
    /// The I/Os on each target, in the order of the targets.
    pub targets: Vec<FileFigures>,
    /// How the I/Os on each target were throttled; empty if the plan does not ask for it.
    pub paced: Vec<Paced>,
    /// What the simulated users did, in counts.
    pub work: DatabaseWork,
    /// Pages that were wrong; at most 200 of them.
    pub faults: Vec<FaultReport>,
    /// How often pages were wrong in each way, in the order in which it first happened.
    pub fault_kinds: Vec<FaultKind>,
    /// How often a page was wrong, over all reads.
    pub fault_count: u64,
    /// Acknowledged blocks of the log that were looked at.
    pub log_blocks: u64,
    /// How many of them were not there.
    pub log_fault_count: u64,
    /// Those that were not there; at most 200 of them.
    pub log_faults: Vec<LogFault>,
    /// I/Os that failed, counted by reason.
    pub failures: Vec<IoFailure>,
    /// I/Os that took longer than 15 s.
    pub long_ios: u64,
    /// Whether the user stopped the run early.
    pub interrupted: bool,
    /// Why it could not continue, if it could not.
    pub ended: Option<String>,
    /// What it began with, where it is the rest of a run that was killed.
    pub resumed: Option<Resumed>,
}

/// What a resumed run began with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    /// How often the run was resumed, this time included.
    pub times: u64,
    /// What the run before has left.
    pub recovered: Recovered,
}

impl Report {
    /// Whether all reads returned what was written.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.fault_count == 0 && self.log_fault_count == 0
    }
}
