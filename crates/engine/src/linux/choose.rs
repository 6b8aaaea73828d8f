//! Which backend a stream gets on a target: the one that was asked for, or the better of those that
//! work.

use std::io;
use std::os::unix::fs::FileTypeExt;

use workload::{EngineChoice, Mode, Stream, Workload};

use super::{aio, extents, open_for_io, uring};
use crate::error::EngineError;
use crate::prepared::PreparedTarget;

/// The kinds of backends on Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Uring,
    Aio,
    Sync,
    Mmap,
    Null,
}

impl Kind {
    /// The word for it in results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Uring => "uring",
            Self::Aio => "aio",
            Self::Sync => "sync",
            Self::Mmap => "mmap",
            Self::Null => "null",
        }
    }
}

/// The backend that one stream uses on one target.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(super) kind: Kind,
    pub(super) reason: String,
}

impl Choice {
    fn new(kind: Kind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }
}

/// Takes the backend that was asked for, or the best one that works here, for a thread that has so
/// many I/Os in flight on these targets, each for a stream.
pub(crate) fn choose(
    workload: &Workload,
    in_flight: u64,
    targets: &[(&Stream, &PreparedTarget)],
) -> Result<Choice, EngineError> {
    check(workload.engine)?;
    let asked = |kind| Ok(Choice::new(kind, "asked for"));
    match workload.engine {
        EngineChoice::Auto if targets.iter().any(|(s, _)| workload.mode_of(s) == Mode::Mapped) => {
            Ok(Choice::new(Kind::Mmap, "the target is mapped"))
        }
        // `check` has refused those of Windows.
        EngineChoice::Auto | EngineChoice::Iocp => Ok(best(workload, in_flight, targets)),
        EngineChoice::Uring => asked(Kind::Uring),
        EngineChoice::Aio => asked(Kind::Aio),
        EngineChoice::Sync => asked(Kind::Sync),
        EngineChoice::Null | EngineChoice::Sim => asked(Kind::Null),
    }
}

/// Whether the backend that was asked for works here: known before a test file is written.
pub(crate) fn check(engine: EngineChoice) -> Result<(), EngineError> {
    let cause = match engine {
        EngineChoice::Uring => uring::probe().err().map(|error| hint(&error)),
        EngineChoice::Aio => aio::probe().err().map(|error| hint(&error)),
        EngineChoice::Iocp => Some("it is an interface of Windows".to_owned()),
        _ => None,
    };
    cause.map_or(Ok(()), |cause| Err(EngineError::Unavailable { engine: engine.name(), cause }))
}

/// What an error of a backend's set-up means, as far as that is known.
pub(super) fn hint(error: &io::Error) -> String {
    let why = match error.raw_os_error() {
        Some(libc::ENOSYS) => " (the kernel does not have it)",
        Some(libc::EPERM) => {
            " (forbidden by the system: see kernel.io_uring_disabled, or the seccomp profile of \
             the container)"
        }
        Some(libc::EAGAIN) => " (the system's limit is reached: see fs.aio-max-nr)",
        Some(libc::ENOMEM) => " (the limit of locked memory is reached: see ulimit -l)",
        _ => "",
    };
    format!("{error}{why}")
}

/// What `auto` knows of a stream and its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TargetTraits {
    mode: Mode,
    /// The stream only writes, to a file or a block device.
    only_writes: bool,
    /// A read that would have to wait can be refused at once: what io_uring needs to stay in the
    /// submitting thread.
    refuses_to_wait: bool,
    /// The file system is in memory, where nothing waits.
    in_memory: bool,
}

impl TargetTraits {
    fn of(workload: &Workload, stream: &Stream, target: &PreparedTarget) -> Self {
        let mode = workload.mode_of(stream);
        let only_writes = !stream.reads();
        let Ok(file) = open_for_io(target, mode, stream) else {
            // Opening it for the run will report why it cannot be opened.
            return Self { mode, only_writes, refuses_to_wait: true, in_memory: false };
        };
        let align = if mode == Mode::Buffered { 1 } else { target.direct_align_bytes };
        let kind = rustix::fs::fstatfs(&file).map(|fs| fs.f_type);
        // Character devices may lack what aio needs, which shows only when an I/O fails.
        let only_writes =
            only_writes && file.metadata().is_ok_and(|m| !m.file_type().is_char_device());
        Self {
            mode,
            only_writes,
            refuses_to_wait: extents::read_nowait(&file, align),
            in_memory: file.metadata().is_ok_and(|m| m.is_file())
                && kind.is_ok_and(|k| k == libc::TMPFS_MAGIC || k == RAMFS_MAGIC),
        }
    }

    /// The better of io_uring and aio for a deep queue, and why.
    fn better(self) -> (Kind, &'static str) {
        match self {
            Self { mode: Mode::Buffered, in_memory: true, .. } => (
                Kind::Aio,
                "the file system is in memory, where aio makes each I/O in the submitting call",
            ),
            // io_uring hands such writes to a kernel thread where the file system cannot refuse one
            // that would wait. Whether it can cannot be tried without writing.
            Self { mode: Mode::Buffered, only_writes: true, .. } => (
                Kind::Aio,
                "whether a buffered write that would wait is refused cannot be checked without \
                 writing, and aio does not depend on it",
            ),
            Self { refuses_to_wait: true, .. } => (
                Kind::Uring,
                "this target refuses reads that would wait (RWF_NOWAIT), so io_uring needs no \
                 kernel thread for them",
            ),
            // aio would make buffered reads one after the other, whatever the depth.
            Self { mode: Mode::Buffered | Mode::Mapped, .. } => (
                Kind::Uring,
                "this target does not refuse buffered reads that would wait (no RWF_NOWAIT): \
                 io_uring makes them in kernel threads, aio would make them one after the other",
            ),
            Self { mode: Mode::Direct, .. } => (
                Kind::Aio,
                "this target has no non-blocking I/O (RWF_NOWAIT), so io_uring would hand each \
                 I/O to a kernel thread",
            ),
        }
    }
}

/// ramfs, which libc does not name.
const RAMFS_MAGIC: libc::c_long = 0x8584_58F6;

fn best(workload: &Workload, in_flight: u64, targets: &[(&Stream, &PreparedTarget)]) -> Choice {
    if in_flight == 1 {
        let reason = "at depth 1 plain pread/pwrite has the least overhead";
        return Choice::new(Kind::Sync, reason);
    }
    // The targets of a pool share a queue; of each stream, the first of them decides.
    let mut wanted: Vec<(Kind, &'static str)> = Vec::new();
    for (number, (stream, target)) in targets.iter().enumerate() {
        let first = number.checked_sub(1).and_then(|n| targets.get(n));
        if first.is_none_or(|(before, _)| !std::ptr::eq(*before, *stream)) {
            wanted.push(TargetTraits::of(workload, stream, target).better());
        }
    }
    let Some(&(first, reason)) = wanted.first() else {
        return Choice::new(Kind::Sync, "there is no target");
    };
    let (better, reason) = if wanted.iter().all(|(kind, _)| *kind == first) {
        (first, reason)
    } else {
        // aio may make an I/O to one target in the submitting call, and those to the others would
        // wait for it.
        let reason = "the targets of a thread would be best with different backends, and with \
                      io_uring none of them waits for another";
        (Kind::Uring, reason)
    };
    let probe = |kind| if kind == Kind::Aio { aio::probe() } else { uring::probe() };
    let Err(error) = probe(better) else { return Choice::new(better, reason) };
    let other = if better == Kind::Aio { Kind::Uring } else { Kind::Aio };
    let cannot =
        |kind: Kind, error: &io::Error| format!("{} cannot be used: {}", kind.name(), hint(error));
    let mut reasons = vec![cannot(better, &error)];
    reasons.extend(probe(other).err().map(|error| cannot(other, &error)));
    Choice::new(other, reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_ports_are_refused_with_the_reason() {
        let error = check(EngineChoice::Iocp).unwrap_err().to_string();
        assert!(error.contains("iocp") && error.contains("Windows"), "{error}");
    }

    /// Buffered I/O always went to io_uring, which on tmpfs and for buffered writes on ext4 handed
    /// each I/O to a kernel thread: a fifth slower than aio.
    #[test]
    fn buffered_io_takes_what_stays_in_the_thread() {
        let reads = TargetTraits {
            mode: Mode::Buffered,
            only_writes: false,
            refuses_to_wait: true,
            in_memory: false,
        };
        let direct = TargetTraits { mode: Mode::Direct, ..reads };
        let cases = [
            (reads, Kind::Uring),
            (TargetTraits { refuses_to_wait: false, ..reads }, Kind::Uring),
            (TargetTraits { refuses_to_wait: false, in_memory: true, ..reads }, Kind::Aio),
            (TargetTraits { only_writes: true, ..reads }, Kind::Aio),
            (direct, Kind::Uring),
            (TargetTraits { only_writes: true, ..direct }, Kind::Uring),
            (TargetTraits { refuses_to_wait: false, ..direct }, Kind::Aio),
        ];
        for (known, better) in cases {
            let (kind, reason) = known.better();
            assert_eq!(kind, better, "{known:?}: {reason}");
        }
    }
}
