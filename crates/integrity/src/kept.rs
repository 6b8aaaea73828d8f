//! What a run knows, in a file that outlives it: the version of every page, the blocks of the logs,
//! and how far the run has come.
//!
//! The file is mapped memory: it keeps every store, whatever ends the program, and costs no I/O of
//! its own. The system keeps such memory in its cache and writes it back now and then, so it
//! survives the program, but not a loss of power.
//!
//! The first 4096 bytes are words (eight bytes, little-endian on the systems that have it): a
//! magic, the version of this layout, the length of the text, the number of words after it, a
//! checksum over these and the text, then the other words that [`State`] names, each with 16 bits
//! that say whether the word is as it was written; and zeros. The text says what the run was of, so
//! that it cannot be mistaken for another. After it, at a multiple of 4096 bytes, each data file
//! has a word per page, and each thread's part of a log a word per place where a block may begin.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use engine::mixed;
use inspect::files::Place as FilePlace;
use inspect::shell_word;
use thiserror::Error;
use twox_hash::XxHash3_64;

use crate::belonging::ForeignFile;
use crate::mapped::{Mapped, Part};
use crate::plan::Plan;
use crate::platform::{boot, identity};
use crate::run::{Phase, Place, Role};

const MAGIC: u64 = u64::from_le_bytes(*b"iosonled");
/// Version of the file's layout, and of the pages that it describes.
const LAYOUT: u64 = 4;
/// Bytes of the words at the beginning; the text and the entries begin at multiples of it, too.
const HEAD_BYTES: usize = 4096;
const WORD: usize = size_of::<u64>();
/// The longest text that is looked at.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// The words at the beginning, by their places.
#[derive(Debug, Clone, Copy)]
enum State {
    Magic,
    Layout,
    TextBytes,
    Words,
    /// Over the three before it and the text.
    Checksum,
    /// The phase that was begun last, from 1; 5 is the end.
    Stage,
    /// Everything is on stable media, and nobody works with it.
    Closed,
    /// The start of the machine at which it was used last.
    Boot,
    /// When the run began, in milliseconds of the system's clock.
    Began,
    /// The time that users still have to work, in microseconds.
    Left,
    /// Cycles of work and audit that are done.
    Cycles,
    /// How often it was taken up again.
    Resumed,
}

/// Those that change while it is used.
const CHANGING: [State; 7] = [
    State::Stage,
    State::Closed,
    State::Boot,
    State::Began,
    State::Left,
    State::Cycles,
    State::Resumed,
];
/// The words after them are zeros.
const CHANGING_END: usize = State::Resumed as usize + 1;
/// A word that changes has a number of so many bits.
const VALUE_BITS: u32 = 48;
const VALUE_MAX: u64 = (1 << VALUE_BITS) - 1;

/// A number, or the largest that there is room for, as the word of a place: above it are bits that
/// fit to both. It is one store, so a word is whole whenever the program ends.
fn sealed(state: State, value: u64) -> u64 {
    let value = value.min(VALUE_MAX);
    let place = (state as u64 + 1) << VALUE_BITS;
    value | mixed(value ^ place) << VALUE_BITS
}

/// The number in a word; `None` if the word is not one that [`sealed`] makes.
fn unsealed(state: State, word: u64) -> Option<u64> {
    let value = word & VALUE_MAX;
    (word == sealed(state, value)).then_some(value)
}

/// What does not change once the file is made.
fn checksum(text: &[u8], words: u64) -> u64 {
    let numbers = [LAYOUT, text.len() as u64, words];
    let start = numbers.into_iter().fold(0, |sum: u64, n| mixed(sum ^ n));
    XxHash3_64::oneshot_with_seed(start, text)
}

/// The time of the system's clock, in milliseconds since 1970.
pub(crate) fn now_milliseconds() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(0)
}

/// A number for this start of the machine.
fn this_boot() -> u64 {
    boot() & VALUE_MAX
}

/// Why a ledger cannot be used.
#[derive(Debug, Error)]
pub enum KeptError {
    /// The operating system failed a call.
    #[error("the ledger `{}` cannot be {what}: {source}", path.display())]
    Io {
        /// The file of the ledger.
        path: PathBuf,
        /// What iosonde tried to do, beginning with a participle.
        what: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// There is such a file already.
    #[error(
        "`{}` exists; if it is a ledger, continue its run with `--resume {}` or remove what that \
            left by `--clean {}`; otherwise name another file",
        path.display(), shell_word(path), shell_word(path)
    )]
    Exists {
        /// The file that exists already.
        path: PathBuf,
    },
    /// A run that has not ended uses the ledger.
    #[error("the ledger `{}` is in use by a run that has not ended", path.display())]
    InUse {
        /// The file of the ledger.
        path: PathBuf,
    },
    /// The file is not a ledger.
    #[error("`{}` is not a ledger of this version of iosonde; name the file that `--ledger` had \
        made", path.display())]
    NotOurs {
        /// The file that is not a ledger.
        path: PathBuf,
    },
    /// It is not as it was written.
    #[error(
        "the ledger `{}` is damaged: {what}. Its contents prove nothing any more: put it back as \
            it was, or remove what its run has left by \
         `--clean DIRECTORY` and begin anew", path.display()
    )]
    Damaged {
        /// The file of the ledger.
        path: PathBuf,
        /// What is wrong with it, in words.
        what: String,
    },
    /// The machine was started anew since.
    #[error(
        "the machine restarted after the run of `{}` was killed, so the last entries of the ledger \
        may be lost. Its contents prove nothing: begin anew, and use `--durability` for what must \
        survive a loss of \
         power", path.display()
    )]
    OtherBoot {
        /// The file of the ledger.
        path: PathBuf,
    },
    /// The run is of something else.
    #[error("`{}` is the ledger of another run: {difference}", path.display())]
    Differs {
        /// The file of the ledger.
        path: PathBuf,
        /// How that run differs from this one, in words.
        difference: String,
    },
    /// Another run wrote to the files.
    #[error(
        "the ledger `{}` and the files do not belong together: {}. Resume with the ledger of the \
            run that wrote the files, or put this \
         run's files back. To start afresh, remove both with `--clean {}` and run without \
         `--resume`. If nobody used or replaced the \
         files since, the storage has lost what this run wrote to \
         them", path.display(), foreign_words(files), shell_word(path)
    )]
    OtherFiles {
        /// The file of the ledger.
        path: PathBuf,
        /// The files that it wrote to.
        files: Vec<ForeignFile>,
    },
    /// This system cannot keep a ledger.
    #[error("a ledger in a file is not available on this system yet; leave out `--ledger`")]
    Unavailable,
}

/// What a run knows, in a file that outlives it.
#[derive(Debug)]
pub struct KeptLedger {
    path: PathBuf,
    mapped: Arc<Mapped>,
    text: String,
    /// Where the words of the pages begin.
    first: usize,
    resumed: bool,
}

/// The words that the data files and the threads' logs need, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub data: Vec<u64>,
    pub logs: Vec<u64>,
}

impl Needs {
    fn words(&self) -> u64 {
        self.data.iter().chain(&self.logs).sum()
    }
}

/// The parts of a file that data files and logs have.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub data: Vec<Part>,
    pub logs: Vec<Part>,
}

impl KeptLedger {
    /// Makes a file for a run of this plan on these places. `about` is handed back when it is
    /// opened.
    pub fn create(
        path: &Path,
        plan: &Plan,
        places: &[Place],
        about: &str,
    ) -> Result<Self, KeptError> {
        let text = format!("{}about\n{about}", text_of(path, plan, places)?);
        let words = crate::run::needs(plan, places).words();
        let first = (HEAD_BYTES + text.len()).next_multiple_of(HEAD_BYTES);
        let bytes = (first as u64).saturating_add(words.saturating_mul(WORD as u64));
        let mapped = Mapped::create(path, bytes).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => KeptError::Exists { path: path.to_owned() },
            _ => failed(path, "made", source),
        })?;
        let (mapped, path) = (Arc::new(mapped), path.to_owned());
        for (word, bytes) in
            mapped.words().iter().skip(HEAD_BYTES / WORD).zip(text.as_bytes().chunks(WORD))
        {
            let mut whole = [0; WORD];
            whole[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(whole), Ordering::Relaxed);
        }
        let text_bytes = text.len() as u64;
        let kept = Self { path, mapped, text, first: first / WORD, resumed: false };
        let sum = checksum(kept.text.as_bytes(), words);
        for (state, word) in [
            (State::Layout, LAYOUT),
            (State::TextBytes, text_bytes),
            (State::Words, words),
            (State::Checksum, sum),
        ] {
            kept.store(state, word);
        }
        for state in CHANGING {
            kept.set(state, 0);
        }
        kept.set(State::Stage, stage_of(Phase::Load));
        kept.set(State::Boot, this_boot());
        kept.set(State::Began, now_milliseconds());
        // A process that finds it half made sees no file.
        kept.store(State::Magic, MAGIC);
        kept.flush()?;
        Ok(kept)
    }

    /// Makes a file as large as that of a run of this plan on these places, which need not be there
    /// yet, and removes it.
    ///
    /// # Errors
    /// What [`create`](Self::create) would fail for.
    pub fn try_out(path: &Path, plan: &Plan, places: &[Place]) -> Result<(), KeptError> {
        let words = crate::run::needs(plan, places).words();
        let bytes = words.saturating_mul(WORD as u64).saturating_add(HEAD_BYTES as u64);
        let mapped = Mapped::create(path, bytes).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => KeptError::Exists { path: path.to_owned() },
            _ => failed(path, "made", source),
        })?;
        mapped.remove().map_err(|source| failed(path, "removed", source))
    }

    /// Opens the file of a run that was killed, or has ended, to continue with it.
    pub fn open(path: &Path) -> Result<Self, KeptError> {
        let kept = Self::look(path)?;
        if kept.get(State::Closed) == 0 && kept.get(State::Boot) != this_boot() {
            return Err(KeptError::OtherBoot { path: kept.path });
        }
        Ok(Self { resumed: true, ..kept })
    }

    /// Opens the file of a run to see what it was of, and to hold it meanwhile.
    pub fn look(path: &Path) -> Result<Self, KeptError> {
        let not_ours = || KeptError::NotOurs { path: path.to_owned() };
        let mapped = Mapped::open(path).map_err(|source| match source.kind() {
            io::ErrorKind::ResourceBusy => KeptError::InUse { path: path.to_owned() },
            io::ErrorKind::UnexpectedEof => not_ours(),
            _ => failed(path, "opened", source),
        })?;
        let word = |state: State| {
            mapped.words().get(state as usize).map_or(0, |word| word.load(Ordering::Acquire))
        };
        if word(State::Magic) != MAGIC || word(State::Layout) != LAYOUT {
            return Err(not_ours());
        }
        let damaged = |what: String| KeptError::Damaged { path: path.to_owned(), what };
        let changed = || damaged("its header is not as it was written".to_owned());
        let (has, words) = (mapped.bytes() as u64, word(State::Words));
        let text_bytes = Some(word(State::TextBytes)).filter(|bytes| *bytes <= TEXT_BYTES_MAX);
        let text_bytes = text_bytes.and_then(|bytes| usize::try_from(bytes).ok());
        let text_bytes = text_bytes.ok_or_else(changed)?;
        let first = (HEAD_BYTES + text_bytes).next_multiple_of(HEAD_BYTES);
        let should = words.saturating_mul(WORD as u64).saturating_add(first as u64);
        let text = mapped.words().iter().skip(HEAD_BYTES / WORD).take(text_bytes.div_ceil(WORD));
        let mut text: Vec<u8> =
            text.flat_map(|word| word.load(Ordering::Relaxed).to_ne_bytes()).collect();
        text.truncate(text_bytes);
        if has < first as u64 {
            return Err(damaged(format!("it has {has} bytes, and its header alone {first}")));
        }
        if checksum(&text, words) != word(State::Checksum) {
            return Err(changed());
        }
        if has != should {
            return Err(damaged(format!("it has {has} bytes and was made with {should}")));
        }
        let mut behind = mapped.words().iter().take(HEAD_BYTES / WORD).skip(CHANGING_END);
        let is_whole = CHANGING.iter().all(|state| unsealed(*state, word(*state)).is_some())
            && behind.all(|word| word.load(Ordering::Relaxed) == 0);
        let text = String::from_utf8(text).ok().filter(|_| is_whole).ok_or_else(changed)?;
        let mapped = Arc::new(mapped);
        Ok(Self { path: path.to_owned(), mapped, text, first: first / WORD, resumed: false })
    }

    /// Whether a file is one, as its first bytes say; it is only read.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        let mut magic = [0; WORD];
        let read = inspect::reading::open(path).and_then(|mut file| file.read_exact(&mut magic));
        read.is_ok() && u64::from_ne_bytes(magic) == MAGIC
    }

    /// Removes the file of a run that could not begin; a file that is not one stays.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_left(path: &Path) -> io::Result<()> {
        let is_one = |mut file: &File| {
            let mut magic = [0; WORD];
            let read = file.read_exact(&mut magic);
            Ok(read.is_ok() && u64::from_ne_bytes(magic) == MAGIC)
        };
        FilePlace::of(path)?.remove_if(is_one).map(|_| ())
    }

    /// What its maker stored with it.
    #[must_use]
    pub fn about(&self) -> &str {
        self.text.split_once("\nabout\n").map_or("", |(_, about)| about)
    }

    /// The phase that the run was in; none if it had come to its end.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        let stage = self.get(State::Stage);
        STAGES.into_iter().find(|phase| stage_of(*phase) == stage)
    }

    /// Ends its use. Everything is on stable media then, so the run may be resumed after a restart
    /// of the machine.
    pub fn close(&self) -> Result<(), KeptError> {
        self.flush()?;
        self.set(State::Closed, 1);
        self.flush()
    }

    /// Removes its file, when its last use ends at the latest.
    ///
    /// # Errors
    /// The system does not remove it.
    pub fn remove(&self) -> Result<(), KeptError> {
        self.mapped.remove().map_err(|source| failed(&self.path, "removed", source))
    }

    /// The parts of it for a run of this plan on these places; an error if it was not made for
    /// them.
    pub(crate) fn begin(&self, plan: &Plan, places: &[Place]) -> Result<Parts, KeptError> {
        let needs = crate::run::needs(plan, places);
        self.check(plan, places)?;
        let mut at = self.first;
        let mut part = |words: &u64| {
            let end = at.saturating_add(usize::try_from(*words).unwrap_or(usize::MAX));
            let range: Range<usize> = std::mem::replace(&mut at, end)..end;
            Part::of(&self.mapped, range)
                .ok_or_else(|| KeptError::NotOurs { path: self.path.clone() })
        };
        let data = needs.data.iter().map(&mut part).collect::<Result<_, _>>()?;
        let logs = needs.logs.iter().map(&mut part).collect::<Result<_, _>>()?;
        Ok(Parts { data, logs })
    }

    /// The run is resumed: from here on the ledger knows more than before.
    pub(crate) fn takes_up(&self) -> Result<(), KeptError> {
        self.set(State::Closed, 0);
        self.set(State::Boot, this_boot());
        self.set(State::Resumed, self.get(State::Resumed) + 1);
        self.flush()
    }

    /// The error for files that another run wrote.
    pub(crate) fn of_other_files(&self, files: Vec<ForeignFile>) -> KeptError {
        KeptError::OtherFiles { path: self.path.clone(), files }
    }

    /// The error for words of a log that no run of this program left.
    pub(crate) fn of_a_damaged_log(&self, thread: u32) -> KeptError {
        let what =
            format!("its list of the blocks of the log of thread {thread} contradicts itself");
        KeptError::Damaged { path: self.path.clone(), what }
    }

    /// Reports what has changed since the run was interrupted.
    fn check(&self, plan: &Plan, places: &[Place]) -> Result<(), KeptError> {
        let now = text_of(&self.path, plan, places)?;
        let before = self.text.split_once("about\n").map_or("", |(before, _)| before);
        let differs = |difference| {
            let path = self.path.clone();
            Err(KeptError::Differs { path, difference })
        };
        let (before, now): (Vec<_>, Vec<_>) = (before.lines().collect(), now.lines().collect());
        if before.len() != now.len() {
            let (had, has) = (before.len().saturating_sub(1), now.len() - 1);
            return differs(format!("it had {had} files, and there are {has}"));
        }
        let Some((before, now)) = before.iter().zip(&now).find(|(a, b)| a != b) else {
            return Ok(());
        };
        if now.starts_with("plan ") {
            let what = "its plan is another, as of another version of iosonde or other flags";
            return differs(what.to_owned());
        }
        differs(format!("a file was `{before}` and is `{now}`"))
    }

    /// Whether it resumes an earlier run.
    pub(crate) fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// How often the run was resumed.
    pub(crate) fn resumes(&self) -> u64 {
        self.get(State::Resumed)
    }

    /// Stores that a phase begins, so that a resumed run continues there.
    pub(crate) fn enters(&self, phase: Phase) {
        self.set(State::Stage, stage_of(phase));
    }

    /// The run has come to its end.
    pub(crate) fn ends(&self) {
        self.set(State::Stage, STAGES.len() as u64 + 1);
    }

    /// Stores the time that users still have.
    pub(crate) fn set_left(&self, left_ns: u64) {
        self.set(State::Left, left_ns / 1000);
    }

    pub(crate) fn left(&self) -> Duration {
        Duration::from_micros(self.get(State::Left))
    }

    /// Stores the number of finished cycles.
    pub(crate) fn set_cycles(&self, cycles: u32) {
        self.set(State::Cycles, cycles.into());
    }

    pub(crate) fn cycles(&self) -> u32 {
        u32::try_from(self.get(State::Cycles)).unwrap_or(0)
    }

    /// The time since the run began, including pauses between its parts.
    pub(crate) fn age(&self) -> Duration {
        Duration::from_millis(now_milliseconds().saturating_sub(self.began()))
    }

    /// When the run began, in milliseconds of the system's clock.
    pub(crate) fn began(&self) -> u64 {
        self.get(State::Began)
    }

    fn flush(&self) -> Result<(), KeptError> {
        self.mapped.flush().map_err(|source| failed(&self.path, "written", source))
    }

    fn word(&self, state: State) -> Option<&AtomicU64> {
        self.mapped.words().get(state as usize)
    }

    fn get(&self, state: State) -> u64 {
        let word = self.word(state).map_or(0, |word| word.load(Ordering::Acquire));
        unsealed(state, word).unwrap_or(0)
    }

    fn set(&self, state: State, value: u64) {
        self.store(state, sealed(state, value));
    }

    fn store(&self, state: State, word: u64) {
        if let Some(place) = self.word(state) {
            place.store(word, Ordering::Release);
        }
    }
}

const STAGES: [Phase; 4] = [Phase::Load, Phase::Work, Phase::Audit, Phase::Log];

fn stage_of(phase: Phase) -> u64 {
    match phase {
        Phase::Load => 1,
        Phase::Work => 2,
        Phase::Audit => 3,
        Phase::Log => 4,
    }
}

fn failed(path: &Path, what: &'static str, source: io::Error) -> KeptError {
    if source.kind() == io::ErrorKind::Unsupported {
        return KeptError::Unavailable;
    }
    KeptError::Io { path: path.to_owned(), what, source }
}

/// Which files, and how many of their pages or blocks.
fn foreign_words(files: &[ForeignFile]) -> String {
    let words = |file: &ForeignFile| {
        let ForeignFile { path, looked_at, others, own } = file;
        let path = path.display();
        let own = if *own == 0 { "none" } else { "one" };
        format!(
            "another run wrote {others} of the {looked_at} places that were read in `{path}`, and \
             this run {own} of them"
        )
    };
    files.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// The identity of a run: lines that stay the same when it is resumed.
fn text_of(path: &Path, plan: &Plan, places: &[Place]) -> Result<String, KeptError> {
    let mut text = format!("plan {plan:?}\n");
    for place in places {
        let role = match place.role {
            Role::Data if place.shape.sparse => "data with holes",
            Role::Data => "data",
            Role::Log => "log",
            Role::Doublewrite => "doublewrite",
        };
        let id = identity(&place.path).map_err(|e| failed(path, "made for its files", e))?;
        let (bytes, align) = (place.size_bytes, place.align_bytes);
        // In one line, whatever is in the name.
        let path = place.path.to_string_lossy().escape_debug().to_string();
        // A string takes everything.
        let _ = writeln!(text, "{role} {path}, {bytes} bytes, aligned to {align}, {id}");
    }
    Ok(text)
}
