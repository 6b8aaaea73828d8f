//! Records what a live system asks of its storage: one [`Io`](trace::Io) per request that the
//! kernel gives to a device, with the time until it completes.
//!
//! There are two sources. A program of ours runs in the kernel where an I/O completes (eBPF): this
//! crate assembles it, with the places of fields from the kernel's own description of its types.
//! Or an instance of the kernel's tracefs, which belongs to this process, holds the events
//! `block_rq_issue` and `block_rq_complete`. Nothing else of the system's tracing is touched. No
//! content is seen. A [`FileWatch`] finds which parts of the disks belong to which files; their
//! names are kept only if they are asked for.

#[cfg(target_os = "linux")]
mod assembler;
mod btf;
mod check;
mod event;
mod files;
mod format;
mod page;
#[cfg(target_os = "linux")]
mod program;
mod record;

use std::path::Path;
use std::str::FromStr;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod linux;

pub use btf::{Btf, BtfError};
pub use check::{Counts, Lost, Rest, Tally};
pub use event::{BlockEvent, EventKind, Events};
pub use files::{FilesFound, FilesRequest};
pub use format::{EventFormat, FormatError};
pub use linux::{FileWatch, Recorder};
pub use page::{PageEvent, page_events};
pub use record::{Flags, Records};

/// How the recorder learns about I/Os.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Method {
    /// By eBPF if the kernel allows that, otherwise by tracefs.
    #[default]
    Auto,
    /// By a program in the kernel.
    Ebpf,
    /// By the kernel's own block events, through tracefs.
    Tracefs,
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "ebpf" => Ok(Self::Ebpf),
            "tracefs" => Ok(Self::Tracefs),
            _ => Err(format!("`{text}` is not a method: write auto, ebpf or tracefs")),
        }
    }
}

/// Which disks and processes to record, and by which method.
#[derive(Debug, Clone, Copy)]
pub struct RecorderOptions<'a> {
    /// Whole disks, by their names such as `nvme0n1`.
    pub devices: &'a [String],
    /// How the recorder learns about I/Os.
    pub method: Method,
    /// Processes whose I/O is recorded; none for all. Needs eBPF.
    pub processes: &'a [u32],
    /// The directory of a cgroup whose I/O is recorded, with that of cgroups in it. Needs eBPF.
    pub cgroup: Option<&'a Path>,
}

/// What a program in the kernel cost so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramCost {
    /// How often the program ran.
    pub runs: u64,
    /// How long it ran, all runs together.
    pub time_ns: u64,
}

/// Why recording cannot begin or continue.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The kernel's tracing is not there.
    #[error(
        "tracefs is not mounted, so the kernel's block events cannot be read. Run as root: mount \
         -t tracefs tracefs /sys/kernel/tracing"
    )]
    NotMounted,
    /// This user may not use the kernel's tracing.
    #[error(
        "cannot use the kernel's tracing at `{path}`: {source}. It needs root or CAP_DAC_OVERRIDE \
         in the first user namespace, and is off where the kernel is locked down to \
         confidentiality."
    )]
    NotAllowed {
        /// The file or directory of tracefs.
        path: String,
        /// The error of the kernel.
        source: std::io::Error,
    },
    /// The kernel's tracing does not work as expected.
    #[error("cannot record with the kernel's tracing, `{path}`: {source}.")]
    Failed {
        /// The file or directory of tracefs.
        path: String,
        /// The error of the kernel.
        source: std::io::Error,
    },
    /// The kernel describes an event in a way that is not understood.
    #[error("the kernel's event `{event}` is not understood: {source}.")]
    Format {
        /// The name of the event, such as `block_rq_issue`.
        event: &'static str,
        /// What its description lacks.
        source: FormatError,
    },
    /// A device that was named is not there.
    #[error("the device `{0}` is not there or is not a whole disk. `lsblk` lists the disks.")]
    NoDevice(String),
    /// This user may not load programs into the kernel.
    #[error(
        "the kernel refuses eBPF: {source}. It needs root, or CAP_BPF and CAP_PERFMON, in the \
         first user namespace."
    )]
    EbpfNotAllowed {
        /// The error of the kernel.
        source: std::io::Error,
    },
    /// The kernel was built without a part of eBPF.
    #[error("this kernel lacks what eBPF needs: {what}. Linux 5.8 or newer has it if built so.")]
    EbpfMissing {
        /// The part, with the option of the kernel's configuration.
        what: String,
    },
    /// The kernel refuses a step of eBPF for another reason.
    #[error("eBPF does not work here; the kernel refuses to {step}: {reason}.")]
    EbpfFailed {
        /// What iosonde asked of the kernel, as a verb.
        step: &'static str,
        /// The error of the kernel, with what its verifier says about a program.
        reason: String,
    },
    /// The kernel's types are not those that are needed.
    #[error("the kernel's types in /sys/kernel/btf/vmlinux are not understood: {0}.")]
    Types(#[from] BtfError),
    /// The kernel does not note when I/Os of a device arrive.
    #[error(
        "the kernel keeps no statistics of `{0}`, so eBPF cannot know when an I/O arrived. Switch \
         them on: echo 1 > /sys/block/{0}/queue/iostats"
    )]
    NoStatistics(String),
    /// A cgroup whose I/O cannot be told apart.
    #[error("cannot record the cgroup `{path}`: {reason}.")]
    Cgroup {
        /// The directory of the cgroup.
        path: String,
        /// Why its I/O cannot be told apart.
        reason: String,
    },
    /// Only eBPF knows who asked for an I/O.
    #[error("tracefs cannot tell processes or cgroups apart; eBPF can: `--method ebpf`.")]
    NeedsEbpf,
    /// Both methods were tried, and neither works.
    #[error("eBPF: {ebpf}\ntracefs: {tracefs}")]
    Neither {
        /// Why eBPF does not work.
        ebpf: Box<CaptureError>,
        /// Why tracefs does not work.
        tracefs: Box<CaptureError>,
    },
    /// This system is not Linux.
    #[error("recording I/Os needs Linux; traces can be imported and shown on every system.")]
    NotLinux,
}
