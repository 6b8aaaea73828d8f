//! The document of a validation, `iosonde.validation/1`: did the storage return what was written?

use std::ops::AddAssign;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workload::Mode;

use crate::experiment::Conclusion;
use crate::measurement::{Latency, Measurement, Status};

/// What a simulated database did on the storage, and whether everything it read was what it had
/// written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    /// Whether the storage returned what was written.
    pub verdict: ValidationVerdict,
    /// The verdict in a sentence, for people.
    pub sentence: String,
    /// What was asked for: every field of the plan by its name in a file for `--config`. Sizes are
    /// in bytes, times in nanoseconds.
    pub plan: Map<String, Value>,
    /// The configuration of SQLIOSim that it was made from, if it was made from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<String>,
    /// How long the users were to work in each cycle.
    pub asked_seconds: f64,
    /// Whether I/O went past the cache of the operating system.
    pub mode: Mode,
    /// How long each phase took, in the order in which they were first reached; the cycles of a
    /// phase together.
    pub phases: Vec<ValidationPhase>,
    /// How often users worked, with a read of every page after that.
    pub cycles: u32,
    /// Whether every page was read once more at the end.
    pub audited: bool,
    /// How many pages all files have together.
    pub pages: u64,
    /// What the simulated users did, in counts.
    pub work: DatabaseWork,
    /// What was done to each file, in the order of the targets.
    pub files: Vec<ValidatedFile>,
    /// Acknowledged blocks of the log that were read at the end.
    pub log_blocks_checked: u64,
    /// How often a page was wrong, over all reads.
    pub fault_count: u64,
    /// How often pages were wrong in each way.
    pub fault_kinds: Vec<FaultCount>,
    /// Pages that were wrong, with all that is known of them; the first 200.
    pub faults: Vec<PageFault>,
    /// How many acknowledged blocks of the log were not there.
    #[serde(default)]
    pub log_fault_count: u64,
    /// Acknowledged blocks of the log that were not there, with all that is known of them; the
    /// first 200.
    pub log_faults: Vec<LogBlockFault>,
    /// I/Os that the system failed, by reason.
    pub failures: Vec<FailedIos>,
    /// I/Os that took longer than 15 s.
    pub long_ios: u64,
    /// Why it could not continue; absent if it could.
    pub ended: Option<String>,
    /// What it began with, if it resumes a run that was killed. Times and figures are those of this
    /// part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<ResumedRun>,
}

/// A run that was killed and resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumedRun {
    /// How often the run was resumed, this time included.
    pub times: u64,
    /// Pages that had been written, and were read first.
    pub pages_written: u64,
    /// Those of them that were being written when it was killed, and could be old or new.
    pub pages_unsure: u64,
}

/// Whether the storage returned what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValidationVerdict {
    /// Everything that was read was as it was written.
    Right,
    /// Pages or acknowledged blocks of the log were not as written.
    WrongData,
    /// The system failed I/Os; everything that could be read was right.
    IoFailed,
    /// The run could not continue; everything it read until then was right.
    EndedEarly,
    /// A user or a signal ended it; everything it read until then was right.
    Interrupted,
}

impl ValidationVerdict {
    /// The verdict in a word or two.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::WrongData => "WRONG DATA",
            Self::IoFailed => "I/Os FAILED",
            Self::EndedEarly => "ENDED EARLY",
            Self::Interrupted => "interrupted",
        }
    }
}

/// One phase of a validation, and how long it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidationPhase {
    /// `load`: every page is written for the first time; `work`: users work; `audit`: every page is
    /// read; `log`: the log is read.
    pub phase: String,
    /// How long it took in all cycles.
    pub seconds: f64,
}

/// What the users of a simulated database did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseWork {
    /// Pages that were read and compared with what they should hold.
    pub pages_checked: u64,
    /// Reads of pages that were in memory, or in use by the I/O of another user.
    pub cache_hits: u64,
    /// Pages that users changed in memory.
    pub changes: u64,
    /// Changes that were not made, because memory had no room.
    pub no_room: u64,
    /// Commits whose records users waited for.
    pub commits: u64,
    /// Checkpoints that came to their end.
    pub checkpoints: u64,
    /// How often a file became shorter.
    pub shortened: u64,
    /// How often a file became longer.
    pub lengthened: u64,
}

impl AddAssign for DatabaseWork {
    fn add_assign(&mut self, other: Self) {
        self.pages_checked += other.pages_checked;
        self.cache_hits += other.cache_hits;
        self.changes += other.changes;
        self.no_room += other.no_room;
        self.commits += other.commits;
        self.checkpoints += other.checkpoints;
        self.shortened += other.shortened;
        self.lengthened += other.lengthened;
    }
}

/// A file of the simulated database, and what was done to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidatedFile {
    /// The path of the file or device.
    pub path: PathBuf,
    /// What it holds: `data`, `log` or `doublewrite`.
    pub role: String,
    /// The bytes of it that were used.
    pub size_bytes: u64,
    /// Reads of pages or of the log.
    pub read: FileIos,
    /// Writes of pages or of the log.
    pub write: FileIos,
    /// Calls that made writes durable.
    pub sync: FileIos,
    /// How its I/Os were held back; absent if that was not wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<FileThrottling>,
}

/// I/Os of one kind on one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileIos {
    /// I/Os of one page, and all of the log.
    pub single: u64,
    /// I/Os of several pages: reads that were scattered to them, writes that were gathered from
    /// them.
    pub several: u64,
    /// How many bytes these I/Os moved.
    pub bytes: u64,
    /// How many I/Os failed; they are in no other figure here.
    pub errors: u64,
    /// From submission to completion; absent without I/O.
    pub latency_ns: Option<Latency>,
    /// The latencies in the HdrHistogram V2 compressed encoding, base64; absent without I/O.
    pub histogram: Option<String>,
}

/// How the I/Os on a file were held back because they took long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileThrottling {
    /// The smoothed duration of its I/Os at the end. It is not a mean of all of them.
    pub running_average_ns: f64,
    /// How often an I/O had to wait.
    pub throttled: u64,
    /// The most I/Os that were in flight at once.
    pub in_flight_max: u64,
}

/// What is wrong with a page, judged by what it holds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PageDamage {
    /// Some bits differ from what was written.
    BitError,
    /// Some sectors are of one version and some of another.
    TornPage,
    /// The page is whole and of an older version: its last write did not arrive.
    LostWrite,
    /// The page was of an older version when it was read first, and right later.
    StaleRead,
    /// The page is whole, and its version is newer than any that is known: another program writes,
    /// or what is known is older than the data.
    NewerThanKnown,
    /// What belongs to another page, or to the log, is stored here.
    MisdirectedWrite,
    /// The first read gave what belongs to another page, or to the log; later reads were right.
    MisdirectedRead,
    /// Zeros are where data should be.
    Zeroed,
    /// Data that this run did not write is there.
    ForeignData,
    /// Only the checksum of the page is wrong.
    ChecksumOnly,
}

/// Why a page may be of a version that the run has not written yet.
pub const NEWER_BECAUSE: &str =
    "another program writes to the file, or the ledger is older than the data";

impl PageDamage {
    /// Every damage, in the order in which it is listed.
    pub const ALL: [Self; 10] = [
        Self::BitError,
        Self::TornPage,
        Self::LostWrite,
        Self::StaleRead,
        Self::NewerThanKnown,
        Self::MisdirectedWrite,
        Self::MisdirectedRead,
        Self::Zeroed,
        Self::ForeignData,
        Self::ChecksumOnly,
    ];

    /// The damage in words, for a block of the log.
    #[must_use]
    pub fn words_of_block(self) -> &'static str {
        if self == Self::TornPage { "torn block" } else { self.words() }
    }

    /// The damage in a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::BitError => "bit error",
            Self::TornPage => "torn page",
            Self::LostWrite => "lost write",
            Self::StaleRead => "stale read",
            Self::NewerThanKnown => "newer than known",
            Self::MisdirectedWrite => "misdirected write",
            Self::MisdirectedRead => "misdirected read",
            Self::Zeroed => "zeroed",
            Self::ForeignData => "foreign data",
            Self::ChecksumOnly => "wrong checksum only",
        }
    }
}

/// Whether reading a wrong page again gave what should be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Persistence {
    /// It did: what is stored is right, and what was read was not.
    Transient,
    /// It did not: what is stored is wrong, as far as reads can tell.
    Persistent,
}

impl Persistence {
    /// The word for it in tables.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Persistent => "persistent",
        }
    }
}

/// How often pages were wrong in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultCount {
    /// The kind of damage that was found.
    pub damage: PageDamage,
    /// Whether they were still wrong when read again.
    pub persistence: Persistence,
    /// How many pages were wrong in this way.
    pub count: u64,
}

/// A page that was wrong, with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageFault {
    /// The kind of damage that was found.
    pub damage: PageDamage,
    /// Whether it was still wrong when read again.
    pub persistence: Persistence,
    /// The file that it is in.
    pub path: PathBuf,
    /// Its number in the file, from 0.
    pub page: u64,
    /// Where it begins in the file.
    pub offset_bytes: u64,
    /// Its sectors of 512 bytes in all.
    pub sectors: u64,
    /// Those that were wrong, and what was in them.
    pub wrong_sectors: Vec<WrongSector>,
    /// The first byte of the page that was wrong.
    pub first_byte: u64,
    /// The version that it should have; 0 where it should be zeros, because nobody has written it
    /// since it came to be.
    pub expected_version: u32,
    /// The version that was there, where it was a whole page or a part of another.
    pub found_version: Option<u32>,
    /// The page that the content belongs to, if it is another page's.
    pub belongs_to: Option<PagePlace>,
    /// When it was found, from the start of the run.
    pub found_after_seconds: f64,
    /// When it was last written, from the start of the run; absent if that was more than 24 days
    /// after it, or never.
    pub written_after_seconds: Option<f64>,
    /// How often it was read again.
    pub rereads: u32,
    /// How often it was to be read again, unless it was right before. Fewer reads were made if the
    /// run came to its end, or if it could not be read.
    #[serde(default)]
    pub rereads_planned: u32,
    /// Whether it was right when read through the cache of the operating system; absent if that
    /// could not be read.
    pub right_cached: Option<bool>,
    /// What it should hold and what it held, where these differ.
    pub dump: String,
    /// What was last done with it, in order of time.
    pub history: Vec<PageTouch>,
}

/// A sector of a page that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrongSector {
    /// Its number in the page, from 0.
    pub sector: u64,
    /// What was in it, in words: `version 3`, `zeros`, `2 bits differ`.
    pub holds: String,
}

/// A page of one of the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PagePlace {
    /// The file; absent if it is not a file of this run.
    pub path: Option<PathBuf>,
    /// The page in it, from 0.
    pub page: u64,
}

/// A page was read or written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PageTouch {
    /// When, from the start of the run.
    pub after_seconds: f64,
    /// The version that was written, or read and found right.
    pub version: u32,
    /// Whether it was written; otherwise it was read and was right.
    pub wrote: bool,
}

/// A block of the log that was acknowledged and is not there, with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogBlockFault {
    /// What was wrong with it; a torn page is a torn block here.
    pub damage: PageDamage,
    /// Whether it was still wrong when read again.
    pub persistence: Persistence,
    /// The file that the log is in.
    pub path: PathBuf,
    /// Whose log it is: the number of the thread.
    pub thread: u32,
    /// Its number in that thread's log.
    pub number: u64,
    /// Where it begins in the log file.
    pub offset_bytes: u64,
    /// Its sectors of 512 bytes in all.
    pub sectors: u64,
    /// Those that were wrong, and what was in them.
    pub wrong_sectors: Vec<WrongSector>,
    /// The first byte of the block that was wrong.
    pub first_byte: u64,
    /// When it was found, from the start of the run.
    pub found_after_seconds: f64,
    /// When its write was done, from the start of the run; absent if an earlier run wrote it.
    pub written_after_seconds: Option<f64>,
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

/// What to say of something that was wrong each time it was read again; `planned` is how often that
/// was to be.
#[must_use]
pub fn still_wrong(rereads: u32, planned: u32) -> String {
    let reads = if rereads == 1 { "read" } else { "reads" };
    match rereads {
        0 => "it could not be read again".to_owned(),
        _ if rereads < planned => {
            format!(
                "still so after {rereads} more {reads}; {planned} were to be made, and the run \
                 came to its end or they failed"
            )
        }
        _ => format!("still so after {rereads} more {reads}"),
    }
}

/// I/Os that the system failed alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedIos {
    /// What failed: `read`, `write` or `sync`.
    pub op: String,
    /// The file that they were for.
    pub path: PathBuf,
    /// The system's error number; 0 for an I/O that moved too few bytes.
    pub errno: i32,
    /// What the error means, in words.
    pub reason: String,
    /// How many failed for this reason.
    pub count: u64,
    /// Where the first of them was, in bytes.
    pub first_offset_bytes: u64,
}

impl Validation {
    /// What it was, in a phrase that begins with the verdict.
    #[must_use]
    pub fn title(&self) -> String {
        let size = |bytes: u64| workload::Bytes(bytes).to_string();
        let page = self.plan.get("page_bytes").and_then(Value::as_u64);
        let pages = page.map_or_else(|| "pages".to_owned(), |page| format!("{} pages", size(page)));
        let of = self.configuration.as_ref().map(|name| format!(", {name} of SQLIOSim"));
        format!("{}: simulated database, {pages}{}", self.verdict.words(), of.unwrap_or_default())
    }

    /// The status that an experiment with this conclusion has.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.verdict {
            ValidationVerdict::Right | ValidationVerdict::WrongData => Status::Complete,
            ValidationVerdict::IoFailed | ValidationVerdict::EndedEarly => Status::Failed,
            ValidationVerdict::Interrupted => Status::Interrupted,
        }
    }
}

impl Conclusion for Validation {
    const SCHEMA: &'static str = "iosonde.validation/1";

    fn title(&self, _: &[Measurement]) -> String {
        self.title()
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        let files = self.files.iter_mut().map(|f| &mut f.path);
        let faults = self.faults.iter_mut().flat_map(|f| {
            let other = f.belongs_to.as_mut().and_then(|place| place.path.as_mut());
            [Some(&mut f.path), other].into_iter().flatten()
        });
        let logs = self.log_faults.iter_mut().map(|f| &mut f.path);
        let failures = self.failures.iter_mut().map(|f| &mut f.path);
        files.chain(faults).chain(logs).chain(failures).collect()
    }
}
