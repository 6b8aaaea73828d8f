//! Opens prepared targets for I/O.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::fs::{AtFlags, StatxFlags};
use workload::{Mode, Stream};

use super::extents;
use crate::error::EngineError;
use crate::prepared::{PrepareError, PreparedTarget};

/// Opens a prepared target again, for the I/O of a stream. It is the same file, whatever its name
/// means by now.
pub(crate) fn open_for_io(
    target: &PreparedTarget,
    mode: Mode,
    stream: &Stream,
) -> Result<File, EngineError> {
    let what = || {
        let access = if stream.writes() { "reading and writing" } else { "reading" };
        let direct = if mode == Mode::Direct { ", past the operating system's cache" } else { "" };
        format!("{access}{direct}")
    };
    let error = |source| EngineError::Open { path: target.path.clone(), what: what(), source };
    let Some(file) = &target.file else { return Err(error(io::ErrorKind::NotFound.into())) };
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let direct = if mode == Mode::Direct { libc::O_DIRECT } else { 0 };
    let durable = if stream.durable { libc::O_DSYNC } else { 0 };
    OpenOptions::new()
        .read(true)
        .write(stream.writes())
        .custom_flags(direct | durable)
        .open(path)
        .map_err(error)
}

/// What offsets and lengths of direct I/O must be multiples of.
pub(crate) fn direct_alignment(target: &PreparedTarget) -> Result<u64, PrepareError> {
    let no_direct = || PrepareError::NoDirect { path: target.path.clone() };
    let file = match open_for_io(target, Mode::Direct, &Stream::default()) {
        Ok(file) => file,
        Err(EngineError::Open { source, .. }) if source.raw_os_error() == Some(libc::EINVAL) => {
            return Err(no_direct());
        }
        Err(error) => return Err(error.into()),
    };
    let flags = StatxFlags::DIOALIGN;
    if let Ok(stat) = rustix::fs::statx(&file, "", AtFlags::EMPTY_PATH, flags)
        && stat.stx_mask & flags.bits() != 0
    {
        let align = u64::from(stat.stx_dio_offset_align);
        return if align > 0 { Ok(align) } else { Err(no_direct()) };
    }
    // The kernel or the file system does not say: the smallest that works.
    let works = |align: &u64| extents::reads_aligned_to(&file, *align);
    [512, 4096].into_iter().find(works).ok_or_else(no_direct)
}
