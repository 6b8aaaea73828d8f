//! Recording what a live system asks of its storage.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use capture::Recorder;
use counters::{BlockDevice, BlockKind, block_devices};
use inspect::Inspector;
use jiff::Timestamp;
use trace::{Header, TraceError, Writer};
use workload::{Bytes, plural, show_duration};

use super::{KIND, is_trace};
use crate::conduct::JobError;
use crate::event::{Event, Sink};
use crate::files;
use crate::monitor::look;

/// Time between two looks at the kernel's buffers.
const POLL: Duration = Duration::from_millis(20);
/// Looks between two questions for lost events.
const LOST_EVERY: u32 = 50;

/// What is to be recorded.
#[derive(Debug, Clone, Copy)]
pub struct RecordRequest<'a> {
    /// Files, directories, devices or names of devices: the disks under them are recorded.
    pub targets: &'a [PathBuf],
    /// Ends after this time; without, when it is stopped.
    pub seconds: Option<f64>,
    /// The trace to write; only what is not there, is empty or a trace is written over.
    pub output: &'a Path,
    /// Whether the trace may be on a disk that is recorded.
    pub onto_recorded: bool,
}

/// What was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// What to tell the user, a line each.
    pub lines: Vec<String>,
    /// It was stopped before its time.
    pub is_cut_short: bool,
}

/// Records until the time is over or `stop` is set, and writes the trace as it goes. A killed
/// recording loses what came after the last whole block, at most a second.
///
/// # Errors
/// The request cannot be met, the kernel's tracing cannot be used, or the trace cannot be written.
pub fn record_trace(
    request: &RecordRequest<'_>,
    sink: &mut dyn Sink,
    stop: &AtomicBool,
) -> Result<Recorded, JobError> {
    let RecordRequest { targets, seconds, output, onto_recorded } = *request;
    if let Some(seconds) = seconds.filter(|s| !(*s > 0.0 && *s <= 1e9)) {
        let text = format!("`--seconds` is {seconds}: it must be above 0, and below 30 years");
        return Err(JobError::Usage(text));
    }
    let disks = disks_of(targets)?;
    let own = disks_under(output)?.iter().any(|disk| disks.contains(disk));
    if own && !onto_recorded {
        let text = format!(
            "`{}` is on a disk that is recorded, so the trace would record its own writes. Name a \
             file on another disk or in memory (/dev/shm), or allow it with `--onto-recorded`",
            output.display()
        );
        return Err(JobError::Usage(text));
    }
    let refused = |error: &dyn std::fmt::Display| {
        JobError::CannotRun(format!("cannot write `{}`: {error}", output.display()))
    };
    files::claim(output, KIND, is_trace).map_err(|error| refused(&error))?;
    let cannot = |error: capture::CaptureError| JobError::CannotRun(error.to_string());
    let recorder = Recorder::start(&disks).map_err(cannot)?;
    let length =
        seconds.map_or_else(|| "until Ctrl-C".to_owned(), |s| format!("for {}", show_duration(s)));
    sink.hear(&Event::Notice { text: format!("recording {} {length}", disks.join(", ")) });
    let header = Header {
        source: "tracefs".to_owned(),
        devices: recorder.devices().to_vec(),
        began_unix_ms: u64::try_from(Timestamp::now().as_millisecond()).ok(),
    };
    let file = File::create(output).map_err(|error| refused(&error))?;
    let writer = Writer::new(file, &header).map_err(|error| refused(&error))?;
    let mut recording = Recording { recorder, writer, ios: 0, lost: 0, unfinished: 0 };
    let begin = Instant::now();
    let end = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let is_over = || end.is_some_and(|end| begin.elapsed() >= end);
    let mut polls = 0_u32;
    while !stop.load(Ordering::Relaxed) && !is_over() {
        sleep(POLL);
        polls = polls.wrapping_add(1);
        recording.poll(polls.is_multiple_of(LOST_EVERY)).map_err(|e| e.told(&refused))?;
    }
    let is_cut_short = end.is_some() && !is_over();
    let took = begin.elapsed().as_secs_f64();
    let (ios, lost, unfinished) = recording.finish().map_err(|e| e.told(&refused))?;
    let bytes = std::fs::metadata(output).map_or(0, |metadata| metadata.len());
    let mut lines = vec![format!(
        "{}: {} on {} in {}, {}, {} lost",
        output.display(),
        plural(ios, "I/O", "I/Os"),
        disks.join(", "),
        show_duration(took),
        Bytes(bytes),
        plural(lost, "event", "events")
    )];
    if unfinished > 0 {
        lines.push(format!("note: {} had not completed", plural(unfinished, "I/O", "I/Os")));
    }
    if own {
        lines.push("note: the trace records its own writes, too".to_owned());
    }
    Ok(Recorded { lines, is_cut_short })
}

/// A recorder and the trace that it fills.
struct Recording {
    recorder: Recorder,
    writer: Writer<File>,
    ios: u64,
    lost: u64,
    /// I/Os without a completion.
    unfinished: u64,
}

/// Why recording ended early.
enum RecordingError {
    Capture(capture::CaptureError),
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

impl From<capture::CaptureError> for RecordingError {
    fn from(error: capture::CaptureError) -> Self {
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
        self.write(&ios)?;
        if asks_for_lost {
            let lost = self.recorder.lost()?;
            self.note_lost(lost)?;
        }
        Ok(())
    }

    fn write(&mut self, ios: &[trace::Io]) -> Result<(), TraceError> {
        self.ios += ios.len() as u64;
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

    /// I/Os, lost events, and I/Os that had not completed.
    fn finish(mut self) -> Result<(u64, u64, u64), RecordingError> {
        let (ios, lost) = self.recorder.finish()?;
        self.ios += ios.len() as u64;
        self.unfinished += ios.iter().filter(|io| io.latency_ns.is_none()).count() as u64;
        ios.iter().try_for_each(|io| self.writer.write(*io))?;
        if lost > self.lost {
            self.writer.lost(lost - self.lost)?;
        }
        self.writer.finish()?;
        Ok((self.ios, lost, self.unfinished))
    }
}

/// The disks under all targets, each once.
fn disks_of(targets: &[PathBuf]) -> Result<Vec<String>, JobError> {
    if targets.is_empty() {
        let text = "name what to record: a file, a directory, a device or its name (vda)";
        return Err(JobError::Usage(text.to_owned()));
    }
    let known = block_devices(Path::new("/"));
    let inspector = Inspector::new();
    let mut disks: Vec<String> = Vec::new();
    for target in targets {
        let (_, chain) = look(target, &inspector, &known)?;
        let found = disks_in(&chain.devices, &known);
        if found.is_empty() {
            let text = format!("no disk under `{}` can be recorded", target.display());
            return Err(JobError::CannotRun(text));
        }
        disks.extend(found);
    }
    disks.sort();
    disks.dedup();
    Ok(disks)
}

/// The disks under a file that need not be there; none where it is in memory or elsewhere.
fn disks_under(file: &Path) -> Result<Vec<String>, JobError> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let place = if file.exists() { file } else { parent.unwrap_or(Path::new(".")) };
    let known = block_devices(Path::new("/"));
    match look(place, &Inspector::new(), &known) {
        // Every layer: what is written to a loop device is written to the disk under it, too.
        Ok((_, chain)) => Ok(chain.devices),
        Err(crate::monitor::WatchError::NoDevice { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// From devices on top of each other to those whose requests the kernel reports: the highest that
/// are not a mere map of others.
fn disks_in(devices: &[String], known: &[BlockDevice]) -> Vec<String> {
    let find = |name: &String| known.iter().find(|device| device.name == *name);
    let is_below = |name: &String| devices.iter().filter_map(find).any(|d| d.below.contains(name));
    // A loop device does not know what is below it; the list has that after it.
    let is_loop = |name: &String| find(name).is_some_and(|device| device.kind == BlockKind::Loop);
    let first_loop = devices.iter().position(is_loop).unwrap_or(devices.len());
    let is_top =
        |(at, name): &(usize, &String)| !is_below(name) && (*at <= first_loop || is_loop(name));
    let top = devices.iter().enumerate().filter(is_top);
    let mut open: Vec<&String> = top.map(|(_, name)| name).collect();
    let mut disks = Vec::new();
    while let Some(device) = open.pop().and_then(find) {
        match device.kind {
            BlockKind::Disk | BlockKind::NvmeNamespace | BlockKind::Loop => {
                disks.push(device.name.clone());
            }
            _ => open.extend(&device.below),
        }
    }
    disks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, kind: BlockKind, below: &[&str]) -> BlockDevice {
        let below = below.iter().map(|name| (*name).to_owned()).collect();
        BlockDevice { name: name.to_owned(), kind, label: None, size_bytes: 1, below }
    }

    #[test]
    fn maps_lead_to_their_disks_and_a_loop_device_is_one() {
        let known = [
            device("dm-0", BlockKind::LogicalVolume, &["sda1", "md0"]),
            device("sda1", BlockKind::Partition, &["sda"]),
            device("sda", BlockKind::Disk, &[]),
            device("md0", BlockKind::Raid, &["nvme0n1", "nvme1n1"]),
            device("nvme0n1", BlockKind::NvmeNamespace, &[]),
            device("nvme1n1", BlockKind::NvmeNamespace, &[]),
            device("loop0", BlockKind::Loop, &[]),
        ];
        let disks = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let mut disks = disks_in(&names, &known);
            disks.sort();
            disks
        };
        assert_eq!(
            disks(&["dm-0", "sda1", "sda", "md0", "nvme0n1", "nvme1n1"]),
            ["nvme0n1", "nvme1n1", "sda"]
        );
        assert_eq!(disks(&["loop0", "sda1", "sda"]), ["loop0"]);
        assert!(disks(&["zram0"]).is_empty());
    }
}
