//! Fills a test file through the best backend that works here.

use std::fs::File;
use std::io;

use workload::Completion;

use super::{aio, sync, uring};
use crate::fill::{Fill, PLAN};

/// Writes the file and makes it durable. Gives false when it was stopped before the end.
pub(crate) fn fill(file: File, mut content: Fill<'_>) -> io::Result<bool> {
    let durable = file.try_clone()?;
    let complete = if uring::probe().is_ok() {
        content.run(&mut uring::UringQueue::new(vec![file], PLAN, Completion::Block)?.0)
    } else if aio::probe().is_ok() {
        content.run(&mut aio::AioQueue::new(vec![file], PLAN, Completion::Block)?)
    } else {
        content.run(&mut sync::SyncQueue::new(vec![file], PLAN)?)
    }?;
    match durable.sync_all() {
        // What has no media to reach, such as /dev/null, says so in this way.
        Err(error) if complete && error.raw_os_error() != Some(libc::EINVAL) => Err(error),
        _ => Ok(complete),
    }
}
