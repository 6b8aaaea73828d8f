//! Locks on files that the kernel frees when their process dies, flock(2).

use std::fs::File;
use std::io;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Locks a file for this process alone, or for all who share it; `false` where others are in the
/// way. A lock that is held becomes one of the other kind.
pub(crate) fn lock(file: &File, is_shared: bool) -> io::Result<bool> {
    let operation = if is_shared {
        FlockOperation::NonBlockingLockShared
    } else {
        FlockOperation::NonBlockingLockExclusive
    };
    match flock(file, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
