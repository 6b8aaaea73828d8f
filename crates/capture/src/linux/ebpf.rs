//! Recording with programs in the kernel. They end with this process, however it ends.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use trace::Io;

use super::bpf::{self, RunCounts};
use super::now_ns;
use super::ring::{Counters, Rings};
use crate::btf::Btf;
use crate::check::{Counts, Lost, Rest, Tally};
use crate::program::{self, Choice, Maps};
use crate::record::{Flags, Records};
use crate::{CaptureError, RecorderOptions};

const TYPES: &str = "/sys/kernel/btf/vmlinux";
/// The numbers that processors may have, such as `0-7`.
const PROCESSORS: &str = "/sys/devices/system/cpu/possible";
/// I/Os of chosen processes that may be in flight.
const CHOSEN_MAX: u32 = 65_536;
/// A program that runs on another processor while it is taken away is done before.
const LAST_RECORD: Duration = Duration::from_millis(5);

/// Records the I/Os of devices until it is finished or dropped.
#[derive(Debug)]
pub(super) struct EbpfRecorder {
    /// The tracepoints; closed, the programs run no more.
    links: Vec<OwnedFd>,
    programs: Vec<OwnedFd>,
    rings: Rings,
    counters: Counters,
    records: Records,
}

/// What to say where the kernel refuses a step.
fn refused(step: &'static str) -> impl Fn(io::Error) -> CaptureError {
    move |source| match source.kind() {
        ErrorKind::PermissionDenied => CaptureError::EbpfNotAllowed { source },
        _ if source.raw_os_error() == Some(libc::ENOSYS) => CaptureError::EbpfMissing {
            what: "the system call bpf (CONFIG_BPF_SYSCALL)".to_owned(),
        },
        _ => CaptureError::EbpfFailed { step, reason: source.to_string() },
    }
}

impl EbpfRecorder {
    /// Begins to record these devices, by the kernel's numbers.
    pub(super) fn start(
        options: &RecorderOptions<'_>,
        numbers: &[u64],
        look: &mut dyn FnMut(),
    ) -> Result<Self, CaptureError> {
        dated(options.devices)?;
        let bytes = fs::read(TYPES).map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                CaptureError::EbpfMissing { what: format!("{TYPES} (CONFIG_DEBUG_INFO_BTF)") }
            }
            _ => CaptureError::EbpfFailed { step: "read its types", reason: error.to_string() },
        })?;
        let btf = Btf::parse(&bytes)?;
        let flags = Flags::find(&btf)?;
        let cgroup = options.cgroup.map(number_of_cgroup).transpose()?;
        let devices: Vec<u32> =
            numbers.iter().filter_map(|number| u32::try_from(*number).ok()).collect();
        allow_memory();
        let rings = Rings::new(processors()).map_err(refused("make ring buffers"))?;
        let counters = Counters::new(program::COUNTERS).map_err(refused("make counters"))?;
        let is_chosen = !options.processes.is_empty();
        let chosen = is_chosen.then(|| bpf::make_table(CHOSEN_MAX)).transpose();
        let chosen = chosen.map_err(refused("make a table"))?;
        let maps = Maps {
            rings: rings.map.as_raw_fd(),
            slots: rings.slots(),
            counters: counters.map.as_raw_fd(),
            chosen: chosen.as_ref().map(OwnedFd::as_raw_fd),
        };
        let choice = Choice { devices: &devices, processes: options.processes, cgroup };
        let (mut programs, mut links) = (Vec::new(), Vec::new());
        for program in program::programs(&btf, maps, choice)? {
            programs.push(bpf::load(&program).map_err(|refusal| match refusal.source.kind() {
                ErrorKind::PermissionDenied if refusal.reason.is_empty() => {
                    CaptureError::EbpfNotAllowed { source: refusal.source }
                }
                _ => CaptureError::EbpfFailed {
                    step: "load a program",
                    reason: format!("{} ({})", refusal.source, refusal.reason),
                },
            })?);
        }
        look();
        for program in &programs {
            links.push(bpf::attach(program).map_err(refused("start a program"))?);
        }
        let records = Records::new(flags, now_ns());
        look();
        Ok(Self { links, programs, rings, counters, records })
    }

    /// Takes the I/Os that have ended.
    pub(super) fn poll(&mut self) -> Vec<Io> {
        let mut ios = Vec::new();
        let records = &mut self.records;
        self.rings.take(|record| ios.extend(records.io(record)));
        // Each ring is in order; merging them is what this sort does.
        ios.sort_by_key(|io: &Io| io.issued_ns.saturating_add(io.latency_ns.unwrap_or(0)));
        ios
    }

    pub(super) fn counts(&self) -> Result<Counts, CaptureError> {
        let lost = Lost {
            full: self.rings.full(),
            interrupted: self.run_counts()?.iter().map(|run| run.misses).sum(),
            unnoted: self.counters.get(program::UNNOTED_AT),
        };
        let twice = self.records.twice();
        Ok(Counts {
            lost,
            early: self.records.early(),
            others: self.others(),
            empty: self.counters.get(program::EMPTY_AT),
            waits: self.records.waits(),
            twice: twice.map(|twice| twice + self.counters.get(program::TWICE_AT)),
            undated: self.records.undated(),
        })
    }

    /// What the program saw of other processes or cgroups.
    fn others(&self) -> Tally {
        let mut all = Tally::default();
        for (operation, at) in (0..program::OPERATIONS).zip((program::OTHERS_AT..).step_by(16)) {
            let (ios, bytes) = (self.counters.get(at), self.counters.get(at + 8));
            if let Some(kind) = self.records.kind_of(u32::from(operation), bytes) {
                all.add_all(kind, ios, bytes);
            }
        }
        all
    }

    /// How often the programs ran and how long, the one at completion last. The kernel counts that
    /// only while its statistics are switched on.
    pub(super) fn run_counts(&self) -> Result<Vec<RunCounts>, CaptureError> {
        let all = self.programs.iter().map(bpf::run_counts).collect::<Result<_, _>>();
        all.map_err(refused("ask for what a program missed"))
    }

    /// Stops the programs, and takes the I/Os that they recorded last.
    pub(super) fn finish(mut self, look: &mut dyn FnMut()) -> Result<Rest, CaptureError> {
        look();
        self.links.clear();
        let until_ns = now_ns().saturating_sub(self.records.begin_ns());
        look();
        sleep(LAST_RECORD);
        let ios = self.poll();
        let counts = self.counts()?;
        Ok(Rest { ios, counts, until_ns })
    }
}

/// The processors that this machine can have.
fn processors() -> usize {
    let text = fs::read_to_string(PROCESSORS).unwrap_or_default();
    let last = text.trim().rsplit([',', '-']).next().and_then(|last| last.parse::<usize>().ok());
    let online = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    last.map_or_else(online, |last| last + 1)
}

/// The kernel notes when an I/O arrives where a device's statistics are on.
fn dated(devices: &[String]) -> Result<(), CaptureError> {
    let is_off = |name: &&String| {
        let text = fs::read_to_string(super::block(name).join("queue/iostats"));
        text.is_ok_and(|text| text.trim() == "0")
    };
    match devices.iter().find(is_off) {
        Some(name) => Err(CaptureError::NoStatistics(name.clone())),
        None => Ok(()),
    }
}

/// Before 5.11, maps count against the memory that a process may lock.
fn allow_memory() {
    let limit = getrlimit(Resource::Memlock);
    // Root may have any; others what they may have anyway. If that is too little, the map says so.
    let unlimited = Rlimit { current: None, maximum: None };
    let _ = setrlimit(Resource::Memlock, unlimited)
        .or_else(|_| setrlimit(Resource::Memlock, Rlimit { current: limit.maximum, ..limit }));
}

/// The number of a cgroup whose I/O the kernel tells apart.
fn number_of_cgroup(path: &Path) -> Result<u64, CaptureError> {
    let wrong = |reason: &str| CaptureError::Cgroup {
        path: path.display().to_string(),
        reason: reason.to_owned(),
    };
    let metadata = fs::metadata(path).map_err(|error| wrong(&error.to_string()))?;
    if !path.join("cgroup.procs").exists() {
        return Err(wrong("it is not the directory of a cgroup, as /sys/fs/cgroup/NAME is"));
    }
    // With the first version, the controller has its own tree.
    let accounts = ["io.stat", "blkio.throttle.io_service_bytes", "blkio.reset_stats"];
    if !accounts.iter().any(|file| path.join(file).exists()) {
        return Err(wrong(
            "the kernel does not tell its I/O apart. Switch the controller on: echo +io > \
             ../cgroup.subtree_control",
        ));
    }
    Ok(metadata.ino())
}
