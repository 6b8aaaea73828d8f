//! The part of a trace that a replay is about.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use inspect::reading::{self, OnlyReading};
use jiff::tz::TimeZone;
use replay::{Contents, Ios, Selection};
use results::TracePart;
use serde::{Deserialize, Serialize};
use trace::{Annexes, BusiestWindows, Ending, FileFinder, Header, Io, Ordered, Reader, TraceError};

use super::moment::TraceMoment;
use crate::conduct::JobError;

/// Which part of which trace, how many users and how fast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartPlan {
    /// The path of the trace, in iosonde's format.
    pub trace: PathBuf,
    /// Skip all I/Os that were issued before. Without it and `to`, a fit takes the busiest part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<TraceMoment>,
    /// Skip all I/Os that were issued then or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<TraceMoment>,
    /// How many times as fast the users work; 1 for the speed of the trace.
    pub speed: f64,
    /// How many times as many users there are; 1 for those of the trace.
    pub users: f64,
    /// Whether the part begins again when it is over.
    pub looped: bool,
}

/// A part that was read once.
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    pub(crate) header: Header,
    pub(crate) lost: u64,
    pub(crate) ending: Ending,
    pub(crate) selection: Selection,
    pub(crate) contents: Contents,
}

fn file(path: &Path) -> Result<BufReader<File>, TraceError> {
    Ok(BufReader::with_capacity(1 << 20, reading::open(path)?))
}

/// Opens a trace at its beginning.
pub(crate) fn open(path: &Path) -> Result<Ios, TraceError> {
    opener(path)?()
}

/// Opens a trace as often as it is called. I/Os are marked by the classes of their files, which are
/// read once.
pub(crate) fn opener(
    path: &Path,
) -> Result<impl Fn() -> Result<Ios, TraceError> + Send + Sync, TraceError> {
    let finder = Arc::new(FileFinder::new(&Annexes::read(file(path)?)?.files));
    let path = path.to_owned();
    Ok(move || -> Result<Ios, TraceError> {
        let finder = Arc::clone(&finder);
        let ios = Reader::new(file(&path)?)?.map(move |io| io.map(|io| finder.marked(io)));
        Ok(Box::new(Ordered::new(ios)))
    })
}

/// The least of each factor, and the most: each user reads the trace through a file of its own.
const FACTOR_MIN: f64 = 0.01;
const SPEED_MAX: f64 = 1000.0;
const USERS_MAX: f64 = 256.0;
/// The longest time that a part may take at its speed: 31 days.
const SPAN_MAX_NS: u64 = 31 * 86_400 * 1_000_000_000;

impl PartPlan {
    /// A part of a trace as it was.
    #[must_use]
    pub fn new(trace: &Path, from: Option<&TraceMoment>, to: Option<&TraceMoment>) -> Self {
        let (trace, from, to) = (trace.to_owned(), from.cloned(), to.cloned());
        Self { trace, from, to, speed: 1.0, users: 1.0, looped: false }
    }

    /// Refuses a speed or a number of users that is out of range.
    pub(crate) fn check(&self) -> Result<(), JobError> {
        for (flag, value, most) in
            [("--speed", self.speed, SPEED_MAX), ("--users", self.users, USERS_MAX)]
        {
            if !(FACTOR_MIN..=most).contains(&value) {
                let text = format!("{flag} is {value}: it must be {FACTOR_MIN} to {most}");
                return Err(JobError::Usage(text));
            }
        }
        Ok(())
    }

    /// Reads the trace, and counts what is in the part.
    pub(crate) fn read(&self) -> Result<Part, JobError> {
        self.read_at_most(u64::MAX)
    }

    /// The same with the busiest part of this length, or all of a shorter trace.
    pub(crate) fn read_busiest(&self, length_ns: u64) -> Result<Part, JobError> {
        let begins = self.busiest(length_ns, 1)?;
        self.read_window(begins.first().copied().unwrap_or(0), length_ns)
    }

    /// The begins of the busiest parts of this length that do not overlap, the busiest first.
    pub(crate) fn busiest(&self, length_ns: u64, count: usize) -> Result<Vec<u64>, JobError> {
        let wrong =
            |error: TraceError| JobError::CannotRun(format!("`{}`: {error}", self.trace.display()));
        let _reading = OnlyReading::begin();
        let mut windows = BusiestWindows::new(length_ns);
        for io in open(&self.trace).map_err(wrong)? {
            windows.add(&io.map_err(wrong)?);
        }
        Ok(windows.finish(count))
    }

    /// The part of this length from a moment on.
    pub(crate) fn read_window(&self, from_ns: u64, length_ns: u64) -> Result<Part, JobError> {
        self.read_between(from_ns, from_ns.saturating_add(length_ns))
    }

    /// The same with a part that is at most so long.
    pub(crate) fn read_at_most(&self, length_ns: u64) -> Result<Part, JobError> {
        let wrong = |error: &dyn std::fmt::Display| {
            JobError::CannotRun(format!("`{}`: {error}", self.trace.display()))
        };
        let began = || -> Result<Option<u64>, TraceError> {
            let file = BufReader::new(reading::open(&self.trace)?);
            Ok(Reader::new(file)?.header().began_unix_ms)
        };
        let began_unix_ms = began().map_err(|error| wrong(&error))?;
        let zone = TimeZone::system();
        let at = |moment: &Option<TraceMoment>, otherwise| match moment {
            None => Ok(otherwise),
            Some(moment) => moment.in_trace(began_unix_ms, &zone).map_err(|e| wrong(&e)),
        };
        let from_ns = at(&self.from, 0)?;
        let to_ns = at(&self.to, u64::MAX)?.min(from_ns.saturating_add(length_ns));
        self.read_between(from_ns, to_ns)
    }

    fn read_between(&self, from_ns: u64, to_ns: u64) -> Result<Part, JobError> {
        self.check()?;
        // A long trace takes minutes, and nothing has begun.
        let _reading = OnlyReading::begin();
        let path = &self.trace;
        let wrong = |error: &dyn std::fmt::Display| {
            JobError::CannotRun(format!("`{}`: {error}", path.display()))
        };
        let (header, lost, ending) = self.ends().map_err(|error| wrong(&error))?;
        let selection =
            Selection { from_ns, to_ns, speed: self.speed, users: self.users, looped: self.looped };
        if selection.from_ns >= selection.to_ns {
            return Err(JobError::Usage("--from must be before --to".to_owned()));
        }
        let contents = opener(path)
            .and_then(|open| Contents::read(&open, &selection))
            .map_err(|error| wrong(&error))?;
        if contents.ios == 0 {
            let text = "no I/O of it can be replayed in this part; record more, or choose another \
                        part with --from and --to";
            return Err(wrong(&text));
        }
        if contents.span_at(selection.speed) > SPAN_MAX_NS {
            let text = "it is longer than 31 days, or its times are wrong; choose a part with \
                        --from and --to";
            return Err(wrong(&text));
        }
        Ok(Part { path: path.clone(), header, lost, ending, selection, contents })
    }

    /// What the trace says about itself, what it lost, and how it ended.
    fn ends(&self) -> Result<(Header, u64, Ending), TraceError> {
        let file = BufReader::with_capacity(1 << 20, reading::open(&self.trace)?);
        let mut reader = Reader::new(file)?;
        for io in reader.by_ref() {
            io?;
        }
        let ending = reader.ending().unwrap_or(Ending::Cut);
        Ok((reader.header().clone(), reader.lost(), ending))
    }
}

impl Part {
    /// Reads the I/Os of the part again, one by one.
    pub(crate) fn each(&self, take: &mut dyn FnMut(&Io)) -> Result<(), JobError> {
        let wrong =
            |error: TraceError| JobError::CannotRun(format!("`{}`: {error}", self.path.display()));
        for io in open(&self.path).map_err(wrong)? {
            let io = io.map_err(wrong)?;
            if io.issued_ns >= self.selection.to_ns {
                break;
            }
            if self.selection.contains(io.issued_ns) {
                take(&io);
            }
        }
        Ok(())
    }

    /// Describes the part in the form of a document.
    pub(crate) fn published(&self) -> TracePart {
        let contents = &self.contents;
        TracePart {
            trace: std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone()),
            source: self.header.source.clone(),
            from_seconds: contents.from_ns as f64 / 1e9,
            seconds: contents.span_ns as f64 / 1e9,
            ios: contents.ios,
            discards: contents.discards,
            lost_ios: self.lost,
            cut_ios: contents.cut,
            in_flight: contents.is_timed().then(|| contents.mean_in_flight()),
            speed: self.selection.speed,
            users: self.selection.users,
            looped: self.selection.looped,
        }
    }

    /// Every reason to doubt what a replay of it says.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.ending != Ending::Whole {
            let text = "The trace is cut off or damaged: what precedes that is replayed.";
            warnings.push(text.to_owned());
        }
        if self.lost > 0 {
            let lost = workload::plural(self.lost, "event", "events");
            warnings.push(format!("The source of the trace lost {lost}: the load was higher."));
        }
        if self.contents.cut > 0 {
            let cut = workload::plural(self.contents.cut, "I/O is", "I/Os are");
            warnings.push(format!("{cut} longer than 4 MiB and cut to that."));
        }
        if self.header.devices.iter().any(|device| device.write_back == Some(false)) {
            warnings.push(
                "The recorded device has no volatile write cache, so the kernel sent it no \
                 flushes: the replay is too kind to a target that has one."
                    .to_owned(),
            );
        }
        warnings
    }
}
