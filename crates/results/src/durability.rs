//! The document of a check after a crash, `iosonde.durability/1`: is everything there that was
//! acknowledged as durable?

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{Bytes, Mode};

use crate::experiment::Conclusion;
use crate::measurement::Measurement;

/// What is left of a writer's promises after it is gone.
///
/// The host and storage around it are those on which it was checked; with `--verify`, times are
/// those of the check, too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Durability {
    /// Whether everything that was promised is there.
    pub verdict: DurabilityVerdict,
    /// The verdict in a sentence, for people.
    pub sentence: String,
    /// Unique name of the run that was checked. It may be checked several times, and each check has
    /// its own result.
    pub run_id: String,
    /// When that run began to write, UTC, RFC 3339.
    pub run_started: String,
    /// Name of the host that wrote.
    pub host: String,
    /// How often the writer resumed and was checked; absent if nobody saw that, because the check
    /// was asked for by `--verify`.
    pub rounds: Option<u32>,
    /// How the writer ended, the last time.
    pub ending: WriterEnd,
    /// The call or flag that made writes durable.
    pub sync: SyncMode,
    /// In which order things were made durable.
    pub order: DurableOrder,
    /// How many threads wrote at once.
    pub threads: u32,
    /// Operations that each thread keeps in flight.
    pub depth: u32,
    /// Size of a page, in bytes.
    pub page_bytes: u32,
    /// Whether I/O went past the cache of the operating system.
    pub mode: Mode,
    /// The files and devices that were written to.
    pub files: Vec<WrittenFile>,
    /// Seconds of writing up to the last promise, over all rounds.
    pub seconds: f64,
    /// Operations that were promised to be durable.
    pub promised_operations: u64,
    /// How many pages hold what was promised, and how many do not.
    pub data: CheckedArea,
    /// What became of the log, if there is one.
    pub log: Option<CheckedArea>,
    /// How often something was lost, by kind of loss.
    pub losses: Vec<LossCount>,
    /// The first 100 of the losses, one by one.
    pub findings: Vec<BrokenPromise>,
    /// About how long before the last promise the oldest of the lost operations was promised, by
    /// the mean rate.
    pub oldest_loss_seconds: Option<f64>,
    /// What the losses look like, and what to do.
    pub advice: Vec<String>,
}

/// Whether everything that was promised is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DurabilityVerdict {
    /// Everything that was promised is there.
    Kept,
    /// Something that was promised is not there.
    Lost,
    /// Nothing was promised, so nothing could be lost.
    NothingPromised,
}

impl DurabilityVerdict {
    /// The verdict in a word or two.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Lost => "LOST",
            Self::NothingPromised => "nothing promised",
        }
    }
}

/// How a writer ended, as far as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriterEnd {
    /// Its time was up, or it was asked to stop: there was no crash.
    InOrder,
    /// The process was killed, and the machine kept running.
    Killed,
    /// An error stopped it, such as a failed write.
    Failed,
    /// Nobody saw it: the check was asked for later, as after a loss of power.
    Unseen,
}

impl WriterEnd {
    /// How it ended, in a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::InOrder => "The writer ended in order and no crash came.",
            Self::Killed => "The writer was killed; the machine and its devices kept running.",
            Self::Failed => "The writer could not continue.",
            Self::Unseen => "It was checked later, without knowing what had ended the writer.",
        }
    }
}

/// The call or flag that makes a write durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SyncMode {
    /// fsync after the writes of a batch.
    Fsync,
    /// fdatasync after the writes of a batch.
    Fdatasync,
    /// The file is opened with O_DSYNC, so that every write is durable before it completes.
    ODsync,
    /// Every write has RWF_DSYNC, which asks a device for forced unit access (FUA).
    Fua,
}

impl SyncMode {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fsync => "fsync",
            Self::Fdatasync => "fdatasync",
            Self::ODsync => "o-dsync",
            Self::Fua => "fua",
        }
    }

    /// Whether a call after the writes makes them durable.
    #[must_use]
    pub fn flushes(self) -> bool {
        matches!(self, Self::Fsync | Self::Fdatasync)
    }
}

/// In which order things are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DurableOrder {
    /// Pages are written and made durable.
    Page,
    /// A record in the log is made durable first; its page is written later, and made durable by a
    /// checkpoint: write-ahead logging.
    LogThenPage,
}

impl DurableOrder {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::LogThenPage => "log-then-page",
        }
    }

    /// The order in words, for pages of this size.
    fn words(self, page_bytes: u32) -> String {
        let pages = format!("{} pages", Bytes(page_bytes.into()));
        match self {
            Self::Page => format!("{pages} in place"),
            Self::LogThenPage => format!("{pages} after a log"),
        }
    }
}

/// What a file or device of the test holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WrittenRole {
    /// Pages, each at its own place.
    Data,
    /// Records, one after the other: the log.
    Log,
}

impl WrittenRole {
    /// The word for it in tables: `data` or `log`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Log => "log",
        }
    }
}

/// A file or device that is written to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenFile {
    /// The path of the file or device.
    pub path: PathBuf,
    /// The bytes of it that may be used.
    pub size_bytes: u64,
    /// Whether it holds pages or the log.
    pub role: WrittenRole,
}

/// Pages, or records, that a write may have reached although it was not promised; none of it is an
/// error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct InDoubt {
    /// Pages, or records, that hold nothing of such a write.
    pub old: u64,
    /// Pages, or records, that hold such a write as a whole.
    pub new: u64,
    /// Pages, or records, that hold a part of such a write, or that it spoiled.
    pub torn: u64,
}

impl InDoubt {
    /// All pages, or records, that were in doubt.
    #[must_use]
    pub fn all(self) -> u64 {
        self.old + self.new + self.torn
    }
}

/// The pages of all files, or the records of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CheckedArea {
    /// Pages, or records, that were read.
    pub checked: u64,
    /// Pages, or records, of which something was promised.
    pub promised: u64,
    /// Pages, or records, that are as promised, with nothing in doubt.
    pub right: u64,
    /// Pages, or records, that were never written, nor promised.
    pub unused: u64,
    /// Those that may have been written at the moment of the crash, and keep what was promised.
    pub in_doubt: InDoubt,
    /// Pages, or records, that do not hold what was promised.
    pub lost: u64,
}

/// What became of something that was promised.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// It is whole and of an older version, or as it was before the run: the write is lost.
    Older,
    /// Some sectors are as promised, or newer, and others are older.
    Torn,
    /// Zeros are where it should be.
    Zeroed,
    /// Data that belongs to another place is there.
    Misplaced,
    /// Data that this run did not write is there.
    Foreign,
    /// The operating system fails to read it.
    Unreadable,
    /// The file has become shorter and ends before it.
    Missing,
    /// A page is newer than the log says: its record, which was durable before the page was
    /// written, is not there.
    AheadOfLog,
    /// Its version had not even begun when the witness last heard of it: the witness's file is
    /// older than the storage.
    Unknown,
}

impl Loss {
    /// All of them, in the order of the report.
    pub const ALL: [Self; 9] = [
        Self::Older,
        Self::Torn,
        Self::Zeroed,
        Self::Misplaced,
        Self::Foreign,
        Self::Unreadable,
        Self::Missing,
        Self::AheadOfLog,
        Self::Unknown,
    ];

    /// The loss in a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Older => "lost: an older version is there",
            Self::Torn => "torn: a part of it is there",
            Self::Zeroed => "zeroed",
            Self::Misplaced => "misplaced: what belongs elsewhere is there",
            Self::Foreign => "foreign: nothing that was written is there",
            Self::Unreadable => "unreadable",
            Self::Missing => "missing: the file ends before it",
            Self::AheadOfLog => "ahead of the log: the page is there, and its log record is not",
            Self::Unknown => "newer than the witness knows of",
        }
    }
}

/// How often something was lost in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossCount {
    /// In which way it was lost.
    pub loss: Loss,
    /// How many pages, or records, were lost in this way.
    pub count: u64,
}

/// One promise that was not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrokenPromise {
    /// In which way it was lost.
    pub loss: Loss,
    /// The path of the file or device.
    pub path: PathBuf,
    /// Whether that holds pages or the log.
    pub role: WrittenRole,
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// How long it is, in bytes.
    pub bytes: u64,
    /// Number of the thread that wrote it.
    pub thread: u32,
    /// The operation of that thread, counted from 1, that was promised, or whose record is missing.
    pub operation: u32,
    /// The operation of that thread whose version was found, if a version was found.
    pub found_operation: Option<u32>,
    /// Sectors of 512 bytes that are as promised or newer.
    pub right_sectors: u64,
}

impl Durability {
    /// What it was, in a phrase that begins with the verdict.
    #[must_use]
    pub fn title(&self) -> String {
        let asked = Self::phrase(self.sync, self.order, self.page_bytes);
        format!("{}: {asked}", self.verdict.words())
    }

    /// What such writing tests, in a phrase.
    #[must_use]
    pub fn phrase(sync: SyncMode, order: DurableOrder, page_bytes: u32) -> String {
        format!("durability by {}, {}", sync.name(), order.words(page_bytes))
    }

    /// How many pages, or records, were lost in this way.
    #[must_use]
    pub fn count(&self, loss: Loss) -> u64 {
        self.losses.iter().filter(|l| l.loss == loss).map(|l| l.count).sum()
    }

    /// How many pages, or records, were lost, in any way.
    #[must_use]
    pub fn loss_count(&self) -> u64 {
        self.losses.iter().map(|l| l.count).sum()
    }
}

impl Conclusion for Durability {
    const SCHEMA: &'static str = "iosonde.durability/1";

    fn title(&self, _: &[Measurement]) -> String {
        self.title()
    }

    fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
        let files = self.files.iter_mut().map(|f| &mut f.path);
        files.chain(self.findings.iter_mut().map(|f| &mut f.path)).collect()
    }
}
