//! The two ways to see block I/O on Linux: programs in the kernel (eBPF), and an instance of
//! tracefs.

mod bpf;
mod ebpf;
mod files;
mod instance;
mod ring;
mod tracefs;

use std::fs;
use std::path::{Path, PathBuf};

use rustix::time::{ClockId, clock_gettime};
use trace::{DeviceFacts, Io};

use crate::check::{Counts, Rest};
use crate::{CaptureError, Method, ProgramCost, RecorderOptions};
use ebpf::EbpfRecorder;
pub use files::FileWatch;
use tracefs::TracefsRecorder;

/// Records the I/Os of devices until it is finished or dropped.
#[derive(Debug)]
pub struct Recorder {
    source: Source,
    facts: Vec<DeviceFacts>,
    refused: Option<CaptureError>,
}

#[derive(Debug)]
enum Source {
    Ebpf(Box<EbpfRecorder>),
    Tracefs(Box<TracefsRecorder>),
}

impl Recorder {
    /// Begins to record. Calls `look` right before the kernel begins to, and right after.
    ///
    /// # Errors
    /// A device is not there, or the kernel refuses the method, or both if either may be used.
    pub fn start(
        options: &RecorderOptions<'_>,
        look: &mut dyn FnMut(),
    ) -> Result<Self, CaptureError> {
        let numbers = options.devices.iter().map(|name| number_of(name));
        let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
        let facts = options.devices.iter().map(|name| facts_of(name)).collect();
        let ebpf = |look: &mut dyn FnMut()| {
            EbpfRecorder::start(options, &numbers, look).map(|r| Source::Ebpf(Box::new(r)))
        };
        let tracefs = |look: &mut dyn FnMut()| {
            if !options.processes.is_empty() || options.cgroup.is_some() {
                return Err(CaptureError::NeedsEbpf);
            }
            TracefsRecorder::start(&numbers, look).map(|r| Source::Tracefs(Box::new(r)))
        };
        let (source, refused) = match options.method {
            Method::Ebpf => (ebpf(look)?, None),
            Method::Tracefs => (tracefs(look)?, None),
            Method::Auto => match ebpf(look) {
                Ok(source) => (source, None),
                Err(error @ CaptureError::Cgroup { .. }) => return Err(error),
                Err(first) => match tracefs(look) {
                    Ok(source) => (source, Some(first)),
                    Err(CaptureError::NeedsEbpf) => return Err(first),
                    Err(second) => {
                        let (ebpf, tracefs) = (Box::new(first), Box::new(second));
                        return Err(CaptureError::Neither { ebpf, tracefs });
                    }
                },
            },
        };
        Ok(Self { source, facts, refused })
    }

    /// The method that records: `ebpf` or `tracefs`.
    #[must_use]
    pub fn source(&self) -> &'static str {
        match self.source {
            Source::Ebpf(_) => "ebpf",
            Source::Tracefs(_) => "tracefs",
        }
    }

    /// Why eBPF does not record, where either method would do.
    #[must_use]
    pub fn refused(&self) -> Option<&CaptureError> {
        self.refused.as_ref()
    }

    /// What is known about the devices, in the order in which they were named.
    #[must_use]
    pub fn devices(&self) -> &[DeviceFacts] {
        &self.facts
    }

    /// Takes the I/Os that have ended. Call it some fifty times a second.
    ///
    /// # Errors
    /// The buffers cannot be read.
    pub fn poll(&mut self) -> Result<Vec<Io>, CaptureError> {
        match &mut self.source {
            Source::Ebpf(recorder) => Ok(recorder.poll()),
            Source::Tracefs(recorder) => recorder.poll(),
        }
    }

    /// What was not recorded so far, and why.
    ///
    /// # Errors
    /// The kernel's counters cannot be read.
    pub fn counts(&self) -> Result<Counts, CaptureError> {
        match &self.source {
            Source::Ebpf(recorder) => recorder.counts(),
            Source::Tracefs(recorder) => recorder.counts(),
        }
    }

    /// How often the program ran that sees completions, and how long. The kernel counts that while
    /// `kernel.bpf_stats_enabled` is 1; absent without a program.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn program_cost(&self) -> Result<Option<ProgramCost>, CaptureError> {
        let Source::Ebpf(recorder) = &self.source else { return Ok(None) };
        let runs = recorder.run_counts()?;
        Ok(runs.last().map(|run| ProgramCost { runs: run.runs, time_ns: run.time_ns }))
    }

    /// Ends recording: the I/Os that are left, those in flight without a latency (`tracefs`), and
    /// what was not recorded. Calls `look` right before the kernel stops recording, and right
    /// after.
    ///
    /// # Errors
    /// The buffers cannot be read.
    pub fn finish(self, look: &mut dyn FnMut()) -> Result<Rest, CaptureError> {
        match self.source {
            Source::Ebpf(recorder) => recorder.finish(look),
            Source::Tracefs(recorder) => recorder.finish(look),
        }
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
}

/// What the kernel calls a disk: major number times 2^20 plus minor number.
fn number_of(name: &str) -> Result<u64, CaptureError> {
    let missing = || CaptureError::NoDevice(name.to_owned());
    let text = fs::read_to_string(block(name).join("dev")).map_err(|_| missing())?;
    let (major, minor) = text.trim().split_once(':').ok_or_else(missing)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| missing());
    Ok((number(major)? << 20) | number(minor)?)
}

fn block(name: &str) -> PathBuf {
    // The kernel writes a slash in a name as an exclamation mark.
    Path::new("/sys/block").join(name.replace('/', "!"))
}

fn facts_of(name: &str) -> DeviceFacts {
    let read = |file: &str| fs::read_to_string(block(name).join(file)).ok();
    let sectors = read("size").and_then(|text| text.trim().parse::<u64>().ok());
    DeviceFacts {
        size_bytes: sectors.map(|sectors| sectors.saturating_mul(512)),
        write_back: read("queue/write_cache").map(|text| text.trim() == "write back"),
    }
}
