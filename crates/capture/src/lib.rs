//! Records what a live system asks of its storage: one [`Io`](trace::Io) per request that the
//! kernel gives to a device, with the time until it completes.
//!
//! The source is an instance of the kernel's tracefs that belongs to this process: its buffers hold
//! the events `block_rq_issue` and `block_rq_complete` of the devices that were named, and nothing
//! else of the system's tracing is touched. No content is seen, and no name is kept.

mod event;
mod format;
mod page;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
#[path = "other.rs"]
mod linux;

pub use event::{BlockEvent, EventKind, Events};
pub use format::{EventFormat, FormatError};
pub use linux::Recorder;
pub use page::{PageEvent, page_events};

/// Why nothing can be recorded.
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
        /// The file.
        path: String,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The kernel's tracing does not work as expected.
    #[error("cannot record with the kernel's tracing, `{path}`: {source}.")]
    Failed {
        /// The file.
        path: String,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The kernel describes an event in a way that is not understood.
    #[error("the kernel's event `{event}` is not understood: {source}.")]
    Format {
        /// The event.
        event: &'static str,
        /// What is wrong.
        source: FormatError,
    },
    /// A device that was named is not there.
    #[error("the device `{0}` is not there or is not a whole disk. `lsblk` lists the disks.")]
    NoDevice(String),
    /// The system is not Linux.
    #[error("recording I/Os needs Linux; traces can be imported and shown on every system.")]
    NotLinux,
}
