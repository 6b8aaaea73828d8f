//! The instance of tracefs that is ours: made, read, and removed on every way out but SIGKILL. Dead
//! ones of killed processes are removed at the next start.

mod instance;

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};
use trace::{DeviceFacts, Io};

use crate::event::Events;
use crate::format::EventFormat;
use crate::{CaptureError, FormatError};
use instance::Instance;

/// The buffer of each CPU: about 30,000 I/Os. It is emptied some fifty times a second.
const BUFFER_KIB: u64 = 4096;
/// Larger than any page of the kernel's ring buffers.
const PAGE_BYTES: usize = 65536;

/// Records the I/Os of devices until it is finished or dropped.
#[derive(Debug)]
pub struct Recorder {
    // Closed before the instance is removed, which is refused while a file of it is open.
    cpus: Vec<File>,
    instance: Instance,
    events: Events,
    facts: Vec<DeviceFacts>,
}

impl Recorder {
    /// Begins to record these devices, by their names such as `nvme0n1`.
    ///
    /// # Errors
    /// A device is not there, or the kernel's tracing cannot be used.
    pub fn start(devices: &[String]) -> Result<Self, CaptureError> {
        let numbers = devices.iter().map(|name| number_of(name)).collect::<Result<Vec<_>, _>>()?;
        let root = mounted()?;
        instance::remove_dead(&root);
        let instance = Instance::make(&root)?;
        let format = |event: &'static str| -> Result<EventFormat, CaptureError> {
            let text = instance.read(&format!("events/block/{event}/format"))?;
            EventFormat::parse(&text)
                .map_err(|source: FormatError| CaptureError::Format { event, source })
        };
        let formats = (format("block_rq_issue")?, format("block_rq_complete")?);
        instance.write("trace_clock", "mono")?;
        instance.write("buffer_size_kb", &BUFFER_KIB.to_string())?;
        // What comes when the buffer is full is counted and not kept.
        instance.write("options/overwrite", "0")?;
        let filter: Vec<String> = numbers.iter().map(|number| format!("dev == {number}")).collect();
        for event in ["block_rq_issue", "block_rq_complete"] {
            instance.write(&format!("events/block/{event}/filter"), &filter.join(" || "))?;
        }
        let cpus = instance.open_cpus()?;
        let events = Events::new(formats, numbers, now_ns());
        for event in ["block_rq_issue", "block_rq_complete"] {
            instance.write(&format!("events/block/{event}/enable"), "1")?;
        }
        let facts = devices.iter().map(|name| facts_of(name)).collect();
        Ok(Self { cpus, instance, events, facts })
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
        let mut ios = Vec::new();
        self.read(&mut ios)?;
        Ok(ios)
    }

    /// Events that the buffers had no room for, so far. Each is the issue or the completion of an
    /// I/O.
    ///
    /// # Errors
    /// The kernel's counters cannot be read.
    pub fn lost(&self) -> Result<u64, CaptureError> {
        self.instance.lost()
    }

    /// Ends recording: the I/Os that are left, those in flight without a latency, and the events
    /// that were lost.
    ///
    /// # Errors
    /// The buffers cannot be read.
    pub fn finish(mut self) -> Result<(Vec<Io>, u64), CaptureError> {
        self.instance.write("tracing_on", "0")?;
        let mut ios = Vec::new();
        self.read(&mut ios)?;
        self.events.finish(&mut ios);
        let lost = self.lost()?;
        Ok((ios, lost))
    }

    /// Empties all buffers; what happened before that began is complete.
    fn read(&mut self, ios: &mut Vec<Io>) -> Result<(), CaptureError> {
        let before_ns = now_ns();
        let mut page = vec![0; PAGE_BYTES];
        for cpu in &mut self.cpus {
            loop {
                match cpu.read(&mut page) {
                    Ok(0) => break,
                    Ok(length) => self.events.add_page(page.get(..length).unwrap_or_default()),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(source) => {
                        let path = "trace_pipe_raw".to_owned();
                        return Err(CaptureError::Failed { path, source });
                    }
                }
            }
        }
        self.events.finished(before_ns, ios);
        Ok(())
    }
}

impl Instance {
    /// The raw buffers of all CPUs, read without waiting.
    fn open_cpus(&self) -> Result<Vec<File>, CaptureError> {
        let mut found = Vec::new();
        for path in self.cpu_directories()? {
            let path = path.join("trace_pipe_raw");
            let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
            let opened = OpenOptions::new().read(true).custom_flags(flags).open(&path);
            found.push(opened.map_err(|source| instance::failed(&path, source))?);
        }
        Ok(found)
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(now.tv_sec) * 1_000_000_000 + part(now.tv_nsec)
}

/// Where tracefs is mounted.
fn mounted() -> Result<PathBuf, CaptureError> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut found = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, kind) = (words.next()?, words.next()?);
        (kind == "tracefs").then(|| PathBuf::from(place))
    });
    found.next().ok_or(CaptureError::NotMounted)
}

/// What tracing calls a disk: major number times 2^20 plus minor number.
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
