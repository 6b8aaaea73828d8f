//! The instance of tracefs that is ours: made, read, and removed on every way out but SIGKILL. Dead
//! ones of killed processes are removed at the next start.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use rustix::fs::OFlags;
use trace::Io;

use super::instance::{self, Instance};
use super::now_ns;
use crate::check::{Counts, Lost, Rest};
use crate::event::Events;
use crate::format::EventFormat;
use crate::{CaptureError, FormatError};

/// The buffer of each CPU: about 30,000 I/Os. It is emptied some fifty times a second.
const BUFFER_KIB: u64 = 4096;
/// Larger than any page of the kernel's ring buffers.
const PAGE_BYTES: usize = 65536;

/// Records the I/Os of devices until it is finished or dropped.
#[derive(Debug)]
pub(super) struct TracefsRecorder {
    // Closed before the instance is removed, which is refused while a file of it is open.
    cpus: Vec<File>,
    instance: Instance,
    events: Events,
    begin_ns: u64,
}

impl TracefsRecorder {
    /// Begins to record these devices, by the kernel's numbers.
    pub(super) fn start(numbers: &[u64], look: &mut dyn FnMut()) -> Result<Self, CaptureError> {
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
        let begin_ns = now_ns();
        let events = Events::new(formats, numbers.to_vec(), begin_ns);
        look();
        for event in ["block_rq_issue", "block_rq_complete"] {
            instance.write(&format!("events/block/{event}/enable"), "1")?;
        }
        look();
        Ok(Self { cpus, instance, events, begin_ns })
    }

    /// Takes the I/Os that have ended.
    pub(super) fn poll(&mut self) -> Result<Vec<Io>, CaptureError> {
        let mut ios = Vec::new();
        self.read(&mut ios)?;
        Ok(ios)
    }

    /// What was not recorded so far.
    pub(super) fn counts(&self) -> Result<Counts, CaptureError> {
        let lost = Lost { full: self.instance.lost()?, ..Lost::default() };
        Ok(Counts {
            lost,
            early: self.events.early(),
            empty: self.events.empty(),
            twice: None,
            ..Counts::default()
        })
    }

    /// Ends recording: the I/Os that are left, and those in flight without a latency.
    pub(super) fn finish(mut self, look: &mut dyn FnMut()) -> Result<Rest, CaptureError> {
        look();
        self.instance.write("tracing_on", "0")?;
        let until_ns = now_ns().saturating_sub(self.begin_ns);
        look();
        let mut ios = Vec::new();
        self.read(&mut ios)?;
        self.events.finish(&mut ios);
        let counts = self.counts()?;
        Ok(Rest { ios, counts, until_ns })
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

/// Where tracefs is mounted, as `/proc/self/mounts` has it.
fn mounted() -> Result<PathBuf, CaptureError> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut found = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, kind) = (words.next()?, words.next()?);
        (kind == "tracefs").then(|| PathBuf::from(place))
    });
    found.next().ok_or(CaptureError::NotMounted)
}
