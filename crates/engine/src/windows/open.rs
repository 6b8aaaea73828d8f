//! Opens prepared targets for I/O.

use std::fs::File;
use std::io;

use windows_sys::Win32::Foundation::{GENERIC_READ, GENERIC_WRITE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED, FILE_FLAG_RANDOM_ACCESS,
    FILE_FLAG_SEQUENTIAL_SCAN, FILE_FLAG_WRITE_THROUGH,
};
use workload::{Hint, Mode, Priority, Stream};

use super::calls;
use crate::error::EngineError;
use crate::prepared::{PrepareError, PreparedTarget};

/// What a sector is where Windows does not say; every device takes it.
const SECTOR_BYTES: u64 = 4096;

/// A target that is open for one thread.
pub(super) struct Pair {
    /// For all I/Os, as its stream wants them.
    pub(super) plain: File,
    /// For writes that must be on stable media when they complete, if not all must: Windows knows
    /// that per handle, not per write.
    pub(super) durable: Option<File>,
}

/// Opens a prepared target again, for the I/O of a stream. It is the same file, whatever its name
/// means by now.
pub(super) fn open_for_io(
    target: &PreparedTarget,
    mode: Mode,
    stream: &Stream,
    overlapped: bool,
) -> Result<Pair, EngineError> {
    let what = || {
        let access = if stream.writes() { "reading and writing" } else { "reading" };
        let direct = if mode == Mode::Direct { ", past the operating system's cache" } else { "" };
        format!("{access}{direct}")
    };
    let error = |source| EngineError::Open { path: target.path.clone(), what: what(), source };
    let Some(file) = &target.file else { return Err(error(io::ErrorKind::NotFound.into())) };
    let rights = GENERIC_READ | if stream.writes() { GENERIC_WRITE } else { 0 };
    let hint = match stream.hint.filter(|_| mode == Mode::Buffered) {
        Some(Hint::Random) => FILE_FLAG_RANDOM_ACCESS,
        Some(Hint::Sequential) => FILE_FLAG_SEQUENTIAL_SCAN,
        None => 0,
    };
    let flags = hint
        | if mode == Mode::Direct { FILE_FLAG_NO_BUFFERING } else { 0 }
        | if overlapped { FILE_FLAG_OVERLAPPED } else { 0 };
    let through = flags | FILE_FLAG_WRITE_THROUGH;
    let open = |flags| {
        let file = calls::reopen(file, rights, flags).map_err(error)?;
        if let Some(priority) = stream.priority {
            rank(&file, priority)?;
        }
        Ok::<_, EngineError>(file)
    };
    let plain = open(if stream.durable { through } else { flags })?;
    let needs_both = stream.writes() && !stream.durable;
    Ok(Pair { plain, durable: if needs_both { Some(open(through)?) } else { None } })
}

/// Ranks the I/O of a handle.
fn rank(file: &File, priority: Priority) -> Result<(), EngineError> {
    const VERY_LOW: i32 = 0;
    const LOW: i32 = 1;
    const NORMAL: i32 = 2;
    let hint = match priority {
        Priority::Idle => Ok(VERY_LOW),
        // 4 is the middle of the eight levels, where Linux has every process.
        Priority::BestEffort { level } if level <= 4 => Ok(NORMAL),
        Priority::BestEffort { .. } => Ok(LOW),
        Priority::Realtime { .. } => Err(io::ErrorKind::Unsupported.into()),
    };
    hint.and_then(|hint| calls::set_priority(file, hint)).map_err(|source| EngineError::Thread {
        what: format!("set the I/O priority {priority:?}"),
        source,
        remedy: "Windows knows normal, low and very low I/O: best effort and idle",
    })
}

/// The same for filling a test file.
pub(crate) fn open_to_fill(
    target: &PreparedTarget,
    mode: Mode,
    stream: &Stream,
) -> Result<File, EngineError> {
    open_for_io(target, mode, stream, true).map(|pair| pair.plain)
}

/// What offsets and lengths of direct I/O must be multiples of.
pub(crate) fn direct_alignment(target: &PreparedTarget) -> Result<u64, PrepareError> {
    let pair = open_for_io(target, Mode::Direct, &Stream::default(), false)?;
    let known = calls::sector_bytes(&pair.plain)
        .or_else(|_| calls::sector_bytes_of_volume(&target.path))
        .ok()
        .filter(|bytes| bytes.is_power_of_two() && *bytes >= 512);
    Ok(known.map_or(SECTOR_BYTES, u64::from))
}
