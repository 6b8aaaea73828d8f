//! Recording what a live system asks of its storage.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use capture::{CaptureError, Counts, Lost, Method, Recorder, RecorderOptions, Rest, Tally};
use inspect::files::{Output, Seal};
use jiff::Timestamp;
use trace::{Header, Io, TraceError, Writer};
use workload::{Bytes, plural, show_duration, show_number};

use super::check::{Comparison, CrossCheck};
use super::disks::{disks_of, disks_under};
use super::is_whole;
use super::surroundings::Surroundings;
use crate::conduct::JobError;
use crate::event::{Event, Sink};

/// Time between two looks at the kernel's buffers.
const POLL: Duration = Duration::from_millis(20);
/// Looks between two questions for lost events.
const LOST_EVERY: u32 = 50;

/// What to record, how, and into which file.
#[derive(Debug, Clone, Copy)]
pub struct RecordRequest<'a> {
    /// Files, directories, devices or names of devices: the disks under them are recorded.
    pub targets: &'a [PathBuf],
    /// Whether to use eBPF, tracefs, or the first that works.
    pub method: Method,
    /// Only the I/O of the processes with these numbers; empty for all.
    pub pids: &'a [u32],
    /// Only the I/O of this cgroup and those in it.
    pub cgroup: Option<&'a Path>,
    /// Ends after this time; without, when it is stopped.
    pub seconds: Option<f64>,
    /// The trace to write. It replaces a trace that is whole.
    pub output: &'a Path,
    /// Whether it may replace any other file.
    pub overwrite: bool,
    /// Whether the trace may be on a disk that is recorded.
    pub onto_recorded: bool,
    /// Whether the trace has the names of the files under the targets.
    pub names: bool,
    /// URLs of databases whose counters are kept in the trace. Nothing keeps the URLs.
    pub databases: &'a [String],
}

impl RecordRequest<'_> {
    /// Whether only some I/O of the disks is recorded.
    pub(super) fn is_filtered(&self) -> bool {
        !self.pids.is_empty() || self.cgroup.is_some()
    }
}

/// How a recording ended.
#[derive(Debug)]
pub struct Recorded {
    /// What to tell the user, in lines.
    pub text: String,
    /// Whether it was stopped before its time.
    pub is_cut_short: bool,
}

/// Records until the time is over or `stop` is set, and writes the trace as it goes. A killed
/// recording loses what came after the last whole block, at most a second.
///
/// # Errors
/// The request cannot be met, the kernel does not let I/O be recorded, or the trace cannot be
/// written.
pub fn record_trace(
    request: &RecordRequest<'_>,
    sink: &mut dyn Sink,
    stop: &AtomicBool,
) -> Result<Recorded, JobError> {
    let RecordRequest { seconds, output, .. } = *request;
    if let Some(seconds) = seconds.filter(|s| !(*s > 0.0 && *s <= 1e9)) {
        let text = format!("`--seconds` is {seconds}: it must be above 0, and below 30 years");
        return Err(JobError::Usage(text));
    }
    let disks = disks_of(request)?;
    let is_own = is_own(request, &disks)?;
    let refused = |error: &dyn std::fmt::Display| {
        JobError::CannotRun(format!("cannot write `{}`: {error}", output.display()))
    };
    let claimed = Output::claim(output, Seal::Own(is_whole), request.overwrite);
    let claimed = claimed.map_err(|error| refused(&error))?;
    let surroundings = Surroundings::begin(request, &disks)?;
    let (recorder, check) = started(request, &disks)?;
    for text in beginning(&recorder, request, &disks) {
        sink.hear(&Event::Notice { text });
    }
    let header = Header {
        source: recorder.source().to_owned(),
        devices: recorder.devices().to_vec(),
        began_unix_ms: u64::try_from(Timestamp::now().as_millisecond()).ok(),
        recorded_from_ns: Some(0),
    };
    // An earlier trace stays as it is until this one is complete.
    let begun = claimed.begin().map_err(|error| refused(&error))?;
    let text = format!("until it is complete, the trace is `{}`", begun.path().display());
    sink.hear(&Event::Notice { text });
    let writer = written(begun.file(), &header, &surroundings).map_err(|error| {
        JobError::CannotRun(format!("cannot write `{}`: {error}", begun.path().display()))
    })?;
    let log = Log { writer, ios: 0, tally: Tally::default(), lost: 0, unfinished: 0 };
    let cut_off = |error: &dyn std::fmt::Display| {
        let (output, path) = (output.display(), begun.path().display());
        let text = format!("cannot write `{output}`: {error}; what was recorded is in `{path}`");
        JobError::CannotRun(text)
    };
    let mut recording = Recording { recorder, check, log, surroundings };
    let start = Instant::now();
    let end = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let is_over = || end.is_some_and(|end| start.elapsed() >= end);
    let mut polls = 0_u32;
    while !stop.load(Ordering::Relaxed) && !is_over() {
        sleep(POLL);
        polls = polls.wrapping_add(1);
        recording.poll(polls.is_multiple_of(LOST_EVERY)).map_err(|e| e.told(&cut_off))?;
    }
    let is_cut_short = end.is_some() && !is_over();
    let took = start.elapsed().as_secs_f64();
    let summary = recording.finish().map_err(|e| e.told(&cut_off))?;
    begun.finish().map_err(|error| refused(&error))?;
    let mut lines = summary.lines(output, (&disks, &header.source), took);
    if is_own {
        lines.push("note: the trace records its own writes, too".to_owned());
    }
    Ok(Recorded { text: lines.join("\n") + "\n", is_cut_short })
}

/// The trace with its header and the files at its start.
fn written(
    file: &File,
    header: &Header,
    surroundings: &Surroundings,
) -> Result<Writer<File>, TraceError> {
    let file = file.try_clone()?;
    if surroundings.is_empty() {
        return Writer::new(file, header);
    }
    let mut writer = Writer::with_annexes(file, header)?;
    surroundings.write_start(&mut writer)?;
    Ok(writer)
}

/// Whether the trace is on a disk whose I/O is all recorded.
fn is_own(request: &RecordRequest<'_>, disks: &[String]) -> Result<bool, JobError> {
    let is_own = !request.is_filtered()
        && disks_under(request.output)?.iter().any(|disk| disks.contains(disk));
    if is_own && !request.onto_recorded {
        let text = format!(
            "`{}` is on a disk that is recorded, so the trace would record its own writes. Name a \
             file on another disk or in memory (/dev/shm), or allow it with `--onto-recorded`",
            request.output.display()
        );
        return Err(JobError::Usage(text));
    }
    Ok(is_own)
}

/// Starts, with the kernel's counters read before and after; or why these are not compared.
fn started(
    request: &RecordRequest<'_>,
    disks: &[String],
) -> Result<(Recorder, Result<CrossCheck, String>), JobError> {
    let RecordRequest { method, pids: processes, cgroup, .. } = *request;
    let options = RecorderOptions { devices: disks, method, processes, cgroup };
    let mut check = CrossCheck::new(disks).map_err(|error| error.to_string());
    let recorder = Recorder::start(&options, &mut || look(check.as_mut().ok()))
        .map_err(|error| JobError::CannotRun(error.to_string()))?;
    Ok((recorder, check))
}

/// Reads the kernel's counters if they are compared.
fn look(check: Option<&mut CrossCheck>) {
    if let Some(check) = check {
        check.look();
    }
}

/// What to say when recording begins.
fn beginning(recorder: &Recorder, request: &RecordRequest<'_>, disks: &[String]) -> Vec<String> {
    let length = request
        .seconds
        .map_or_else(|| "until Ctrl-C".to_owned(), |s| format!("for {}", show_duration(s)));
    let source = method_name(recorder.source());
    let refused =
        recorder.refused().map(|error| format!("tracefs is used instead of eBPF: {error}"));
    let begins = format!("recording {} by {source} {length}", disks.join(", "));
    refused.into_iter().chain([begins]).collect()
}

/// A source as people write it.
fn method_name(source: &str) -> &str {
    if source == "ebpf" { "eBPF" } else { source }
}

/// A recorder and the trace that it fills.
struct Recording {
    recorder: Recorder,
    check: Result<CrossCheck, String>,
    log: Log,
    surroundings: Surroundings,
}

/// A trace that is being written, and what is in it.
struct Log {
    writer: Writer<File>,
    ios: u64,
    /// Without those that had not completed, which the kernel does not count either.
    tally: Tally,
    lost: u64,
    /// I/Os without a latency: those that had not completed at the end, and those whose arrival the
    /// kernel did not note.
    unfinished: u64,
}

/// The figures of a finished recording, for the user.
struct Summary {
    ios: u64,
    unfinished: u64,
    counts: Counts,
    /// I/Os that the kernel counted and that were neither recorded nor reported as lost.
    missing: u64,
    /// How it agrees with the kernel's counters.
    comparison: Vec<String>,
    /// About the files and the databases.
    notes: Vec<String>,
}

impl Summary {
    fn lines(&self, output: &Path, (disks, source): (&[String], &str), took: f64) -> Vec<String> {
        let bytes = std::fs::metadata(output).map_or(0, |metadata| metadata.len());
        let mut lines = vec![format!(
            "{}: {} on {} in {} by {}, {}, {} lost",
            output.display(),
            plural(self.ios, "I/O", "I/Os"),
            disks.join(", "),
            show_duration(took),
            method_name(source),
            Bytes(bytes),
            plural(self.counts.lost.total() + self.missing, "event", "events")
        )];
        lines.extend(self.lost());
        if self.unfinished > 0 {
            let unfinished = plural(self.unfinished, "I/O", "I/Os");
            lines.push(format!("note: {unfinished} had not completed"));
        }
        if self.counts.undated > 0 {
            let undated = plural(self.counts.undated, "I/O has", "I/Os have");
            lines.push(format!("note: {undated} no latency: the kernel did not note the arrival"));
        }
        lines.extend(self.comparison.iter().cloned());
        lines.extend(self.notes.iter().cloned());
        lines
    }
}

impl Summary {
    /// How many events were lost for which reason; nothing where none was.
    fn lost(&self) -> Option<String> {
        let Lost { full, interrupted, unnoted } = self.counts.lost;
        let reasons = [
            (full, "found no room in the buffer"),
            (interrupted, "came while the program was running"),
            (unnoted, "found no room in the table of processes"),
            (self.missing, "never reached the program"),
        ];
        let some = reasons.into_iter().filter(|(events, _)| *events > 0);
        let some: Vec<String> =
            some.map(|(events, why)| format!("{} {why}", show_number(events as f64))).collect();
        (!some.is_empty()).then(|| format!("lost: {}", some.join(", ")))
    }
}

/// Why recording or writing the trace failed.
enum RecordingError {
    Capture(CaptureError),
    Trace(TraceError),
}

impl RecordingError {
    fn told(&self, refused: &dyn Fn(&dyn std::fmt::Display) -> JobError) -> JobError {
        match self {
            Self::Capture(error) => JobError::CannotRun(error.to_string()),
            Self::Trace(error) => refused(error),
        }
    }
}

impl From<CaptureError> for RecordingError {
    fn from(error: CaptureError) -> Self {
        Self::Capture(error)
    }
}

impl From<TraceError> for RecordingError {
    fn from(error: TraceError) -> Self {
        Self::Trace(error)
    }
}

impl Recording {
    fn poll(&mut self, asks_for_lost: bool) -> Result<(), RecordingError> {
        let ios = self.recorder.poll()?;
        self.log.write(&ios)?;
        if asks_for_lost {
            let lost = self.recorder.counts()?.lost.total();
            self.log.note_lost(lost)?;
            // What is in memory would be lost by a kill, however long nothing else happens.
            self.log.writer.flush()?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Summary, RecordingError> {
        let Self { recorder, mut check, mut log, mut surroundings } = self;
        let Rest { ios: rest, counts, until_ns } =
            recorder.finish(&mut || look(check.as_mut().ok()))?;
        log.write(&rest)?;
        log.writer.recorded_until(until_ns);
        let Comparison { lines: comparison, missing } =
            check.map_or_else(Comparison::not_made, |check| check.compare(log.tally, &counts));
        log.note_lost(counts.lost.total().saturating_add(missing))?;
        surroundings.write_end(&mut log.writer)?;
        let notes = surroundings.notes();
        let Log { writer, ios, unfinished, .. } = log;
        writer.finish()?;
        let unfinished = unfinished.saturating_sub(counts.undated);
        Ok(Summary { ios, unfinished, counts, missing, comparison, notes })
    }
}

impl Log {
    fn write(&mut self, ios: &[Io]) -> Result<(), TraceError> {
        self.ios += ios.len() as u64;
        for io in ios.iter().filter(|io| io.latency_ns.is_some()) {
            self.tally.add(io);
        }
        self.unfinished += ios.iter().filter(|io| io.latency_ns.is_none()).count() as u64;
        ios.iter().try_for_each(|io| self.writer.write(*io))
    }

    fn note_lost(&mut self, lost: u64) -> Result<(), TraceError> {
        if lost > self.lost {
            self.writer.lost(lost - self.lost)?;
            self.lost = lost;
        }
        Ok(())
    }
}
