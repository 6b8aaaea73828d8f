//! Targets that are ready for I/O, what may be done to them, and why some are refused.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use inspect::files::Place;
use inspect::shell_word;
use thiserror::Error;
use workload::{Bytes, TargetFacts, Violation};

use crate::destroy::Destroy;
use crate::mark::{MARK_BYTES, Mark};
use crate::platform;
use crate::ready;

/// What the user allows to be done to the targets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Foreign files and block devices that may be overwritten, each named exactly, with a word for
    /// what it holds.
    pub destroy: Vec<Destroy>,
    /// Test files may fill their file system beyond 90 %.
    pub overfill: bool,
    /// Test files that are made stay after the run.
    pub keep: bool,
    /// What does not exist is a file to be made, also where its name has no extension and may be
    /// meant for a directory.
    pub any_name: bool,
}

/// What will be done to one target before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetPlan {
    /// The file or device that receives the I/O.
    pub path: PathBuf,
    /// The bytes of it that I/O may use.
    pub size_bytes: u64,
    /// The size of an earlier test file, or of a file or device that iosonde did not make; 0 if
    /// there is none yet. A test file that is larger than needed keeps its size.
    pub file_bytes: u64,
    /// What is done to it before the run.
    pub action: Action,
    /// What a file or device holds that is overwritten, in words; `None` if nothing known.
    pub content: Option<String>,
}

impl TargetPlan {
    /// The size of an earlier test file of which only a part is used.
    #[must_use]
    pub fn whole_bytes(&self) -> Option<u64> {
        let ours = matches!(self.action, Action::Refill | Action::Reuse);
        // Files have whole pages, whatever was asked for.
        let used = self.size_bytes.div_ceil(MARK_BYTES).saturating_mul(MARK_BYTES);
        Some(self.file_bytes).filter(|has| ours && *has > used)
    }

    /// What becomes of the target, in words.
    #[must_use]
    pub fn describe(&self) -> String {
        match (self.action, self.whole_bytes().map(Bytes)) {
            (Action::Refill, Some(whole)) => format!(
                "write the used part of an earlier test file of {whole} again; the file keeps its \
                 size"
            ),
            (Action::Reuse, Some(whole)) => {
                format!("use a part of an earlier test file of {whole} as it is")
            }
            (action, _) => match &self.content {
                Some(content) => format!("{}; it holds {content}", action.describe()),
                None => action.describe().to_owned(),
            },
        }
    }
}

/// What is done to a target before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A test file is made and wholly written.
    Make,
    /// A test file of an earlier run is written again.
    Refill,
    /// A test file of an earlier run is used as it is.
    Reuse,
    /// A file or device that iosonde did not make is only read.
    ReadOnly,
    /// A file or device that iosonde did not make is overwritten, as the user said; its used part
    /// is wholly written first.
    DestroyAndFill,
    /// A file or device that iosonde did not make is overwritten, as the user said.
    Destroy,
    /// No preparation, because the target is simulated.
    Nothing,
}

impl Action {
    /// Whether all of the target is written before the run.
    #[must_use]
    pub fn fills(self) -> bool {
        matches!(self, Self::Make | Self::Refill | Self::DestroyAndFill)
    }

    /// The action in words, for `--dry-run`.
    fn describe(self) -> &'static str {
        match self {
            Self::Make => "make a test file and write all of it",
            Self::Refill => "write all of an earlier test file again",
            Self::Reuse => "use an earlier test file as it is",
            Self::ReadOnly => "read only; never written to",
            Self::DestroyAndFill => "OVERWRITE all of the used part, then run",
            Self::Destroy => "OVERWRITE during the run",
            Self::Nothing => "nothing; no real target is touched",
        }
    }
}

/// A target that is open and ready for I/O.
#[derive(Debug)]
pub struct PreparedTarget {
    pub(crate) path: PathBuf,
    pub(crate) size_bytes: u64,
    pub(crate) direct_align_bytes: u64,
    pub(crate) content: String,
    /// The open target; `None` if the engine has no real one.
    pub(crate) file: Option<File>,
    /// The name of a test file, in the directory that it was opened in.
    pub(crate) place: Option<Place>,
    pub(crate) warnings: Vec<String>,
    /// The present mark of a test file.
    pub(crate) mark: Option<Mark>,
    /// The file is removed when the target is dropped, if its name still means this file.
    pub(crate) remove: bool,
}

impl PreparedTarget {
    /// The file or device that receives the I/O.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of it that I/O may use.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// Who wrote its content, and which bytes, in words.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.content
    }

    /// What a user should know about it.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Makes a device that may be destroyed forget its content, as if nothing had ever been
    /// written; `false` if the target is not a device, or cannot forget.
    pub fn purge(&self, permissions: &Permissions) -> io::Result<bool> {
        let may = permissions.destroy.iter().any(|d| d.names(&self.path));
        match &self.file {
            Some(file) if may && self.mark.is_none() => platform::purge(file, self.size_bytes),
            _ => Ok(false),
        }
    }

    /// The caller has written the first bytes of a target that was left to it: the rest of the used
    /// part is written here, and a test file that is used as a whole counts as wholly written.
    pub fn finish(&mut self, written_bytes: u64) -> Result<(), PrepareError> {
        let Some(mark) = self.mark.filter(|mark| !mark.filled) else { return Ok(()) };
        let filled = self.size_bytes >= mark.size_bytes;
        let mark = Mark { filled, ..mark };
        ready::finish(self, written_bytes, mark)?;
        self.mark = Some(mark);
        Ok(())
    }
}

impl Drop for PreparedTarget {
    fn drop(&mut self) {
        if let (Some(file), Some(place), true) = (&self.file, &self.place, self.remove) {
            // Nothing can be done here about a file that does not go; its mark says what it is.
            let _ = place.remove(file);
        }
    }
}

/// What became of a file that was to be removed if a run had left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cleaned {
    /// It was a test file, of this many bytes, and is gone.
    Removed(u64),
    /// It has no mark of iosonde.
    NotOurs,
    /// It is a test file of an iosonde that is running.
    InUse,
    /// It is a test file that was to be kept.
    Kept,
}

/// Removes a test file that nobody uses, known by its mark; one that was to be kept only if `kept`
/// says so. With `dry_run`, it is only said what would become of it.
pub fn clean(path: &Path, kept: bool, dry_run: bool) -> io::Result<Cleaned> {
    ready::clean(path, kept, dry_run)
}

/// All targets of a workload, ready. Test files that are not kept are removed when this is dropped.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) targets: Vec<PreparedTarget>,
}

impl Prepared {
    /// The targets, in the workload's order.
    #[must_use]
    pub fn targets(&self) -> &[PreparedTarget] {
        &self.targets
    }

    /// The targets, so that each can be finished.
    pub fn targets_mut(&mut self) -> &mut [PreparedTarget] {
        &mut self.targets
    }

    /// Whether test files that are not to be kept are removed when this is dropped.
    pub fn remove(&mut self, remove: bool) {
        for target in &mut self.targets {
            target.remove = remove && target.mark.is_some_and(|mark| !mark.keep);
        }
    }

    /// Sizes and alignments, in the workload's order.
    #[must_use]
    pub fn facts(&self) -> Vec<TargetFacts> {
        let fact = |t: &PreparedTarget| TargetFacts {
            size_bytes: t.size_bytes,
            direct_align_bytes: t.direct_align_bytes,
        };
        self.targets.iter().map(fact).collect()
    }
}

/// Why targets could not be made ready.
#[derive(Debug, Error)]
pub enum PrepareError {
    /// The workload breaks rules; all of them are named.
    #[error("{}", join(.0))]
    Invalid(Vec<Violation>),
    /// Targets are refused; all of them are named, and nothing was touched.
    #[error("{}", join(.0))]
    Refused(Vec<Refusal>),
    /// A test file could not be written.
    #[error("cannot write the test file `{}`: {source}; {remedy}", path.display())]
    Fill {
        /// The path of the test file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
        /// What the user can do about it.
        remedy: &'static str,
    },
    /// A target could not be opened.
    #[error("cannot open `{}`: {source}; {remedy}", path.display())]
    Open {
        /// The target, or the test file in it.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
        /// What the user can do about it.
        remedy: &'static str,
    },
    /// The file system has no direct I/O.
    #[error(
        "`{}` is on a file system without direct I/O (O_DIRECT), so every figure would be of the \
         operating system's cache; choose another directory, or measure the cache knowingly with \
         `--buffered`",
        path.display()
    )]
    NoDirect {
        /// The target, or the test file in it.
        path: PathBuf,
    },
    /// A signal came. Files that were begun are removed.
    #[error(
        "interrupted while preparing, before anything was measured; an unfinished test file was \
         removed"
    )]
    Interrupted,
    /// A backend that cannot be used.
    #[error(transparent)]
    Engine(#[from] crate::EngineError),
}

/// Why iosonde does not use a target.
#[derive(Debug, Error)]
pub enum Refusal {
    /// What a run that was killed is to have left is not there.
    #[error("`{}` does not exist any more, so nothing is left to continue; begin \
        anew", path.display())]
    Gone {
        /// The target, or the test file in it.
        path: PathBuf,
    },
    /// Neither the target nor its directory exists.
    #[error("`{}` does not exist, and neither does its directory; create the directory or name \
        another", path.display())]
    Missing {
        /// The target, as the user named it.
        path: PathBuf,
    },
    /// The target does not exist and looks like a directory: making a file of that name in the
    /// directory above would measure another disk than was meant.
    #[error(
        "`{}` does not exist; create the directory, or, if a test file of that name is meant, give \
            it an extension: `{}.test`",
        path.display(), path.display()
    )]
    NoSuchDirectory {
        /// The target, as the user named it.
        path: PathBuf,
    },
    /// The target cannot be looked at.
    #[error("`{}` cannot be examined: {source}", path.display())]
    Unreadable {
        /// The target, or the test file in it.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The target is a socket or the like.
    #[error("`{}` is {what}; name a directory, a file or a block device", path.display())]
    Unfit {
        /// The target, or the test file in it.
        path: PathBuf,
        /// What kind of thing it is.
        what: &'static str,
    },
    /// A foreign file would be written.
    #[error(
        "`{}` was not made by iosonde and would be overwritten; name a directory to have a test \
         file made, or, if its content may be lost, repeat its name: `--destroy {}`",
        path.display(), shell_word(path)
    )]
    Foreign {
        /// The target, as the user named it.
        path: PathBuf,
    },
    /// What is in a file or on a device would be lost, and `--destroy` does not name that.
    #[error("{}", holds(path, content, word, given.as_deref()))]
    Holds {
        /// The target, as the user named it.
        path: PathBuf,
        /// What is in it, in words.
        content: String,
        /// The word for that.
        word: &'static str,
        /// Another word that was given.
        given: Option<String>,
    },
    /// A test file of iosonde was made into something else.
    #[error(
        "`{}` was a test file of iosonde and now holds {content}; it is not written to. Remove the \
         file, if that may be lost, or name another",
        path.display()
    )]
    Changed {
        /// The test file.
        path: PathBuf,
        /// What is in it, in words.
        content: String,
    },
    /// The target is a part of something larger, which another host may use.
    #[error(
        "`{}` is never written to: it has a signature ({content}), and another host may use \
         it. If the signature is stale, remove it first: `{remedy}`",
        path.display()
    )]
    Member {
        /// The target, as the user named it.
        path: PathBuf,
        /// What it is a part of, in words.
        content: String,
        /// The command that removes the signature.
        remedy: String,
    },
    /// A database's file would be written.
    #[error("`{}` belongs to a database ({sign}) and is never written to", path.display())]
    Database {
        /// The target, or the test file in it.
        path: PathBuf,
        /// The sign by which iosonde knows it.
        sign: String,
    },
    /// Writing to a file or device that is in use.
    #[error("`{}` is never written to: it is {usage}", path.display())]
    InUse {
        /// The target, or the test file in it.
        path: PathBuf,
        /// What uses it, as the end of a sentence.
        usage: String,
    },
    /// The file system of the target is read-only.
    #[error("`{}` is on a read-only file system; no test file can be made there", path.display())]
    ReadOnly {
        /// The target, or the test file in it.
        path: PathBuf,
    },
    /// The test file does not fit.
    #[error("`{}` needs {needed} for its test file and the file system has {available} free; \
        choose a smaller `--size`", path.display())]
    NoSpace {
        /// The target, or the test file in it.
        path: PathBuf,
        /// Size of the test file to make.
        needed: Bytes,
        /// Space that is left for it, after the targets before it.
        available: Bytes,
    },
    /// The test file would fill the file system.
    #[error(
        "a test file of {needed} at `{}` would fill its file system to {percent:.0} %. Past 90 % \
         it needs `--overfill`, and up to 90 % there is room for {room}",
        path.display()
    )]
    Overfill {
        /// The target, or the test file in it.
        path: PathBuf,
        /// Size of the test file to make.
        needed: Bytes,
        /// How full the file system would be, in percent.
        percent: f64,
        /// The largest size that keeps it below 90 %.
        room: Bytes,
    },
    /// The size is larger than the target.
    #[error("`{}` has {has}, less than the {asked} asked for", path.display())]
    TooSmall {
        /// The target, or the test file in it.
        path: PathBuf,
        /// Bytes that the target has.
        has: Bytes,
        /// Bytes that were asked for.
        asked: Bytes,
    },
    /// The target has no size, so the user has to name one.
    #[error("`{}` has no size; give one with `--size`", path.display())]
    SizeNeeded {
        /// The target, as the user named it.
        path: PathBuf,
    },
    /// The name means something else on this system than it says.
    #[error("`{}` {problem}", path.display())]
    Name {
        /// The target, or the test file in it.
        path: PathBuf,
        /// What it means, and what to name instead.
        problem: &'static str,
    },
}

fn holds(path: &Path, content: &str, word: &str, given: Option<&str>) -> String {
    let (word, path) = (shell_word(format!("{}={word}", path.display())), path.display());
    let not = given.map_or_else(String::new, |given| format!(", not {given}"));
    format!(
        "`{path}` holds {content}{not}, and would be overwritten. If that may be lost, name it, \
         too: `--destroy {word}`"
    )
}

fn join<T: ToString>(lines: &[T]) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
