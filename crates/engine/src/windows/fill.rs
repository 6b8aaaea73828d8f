//! Fills a test file through a completion port.

use std::fs::File;
use std::io;

use workload::Completion;

use super::iocp::IocpQueue;
use super::open::Pair;
use super::timer::Timer;
use crate::fill::{Fill, PLAN};

/// Writes the file, which is open for overlapped I/O, and makes it durable. Gives false when it was
/// stopped before the end.
pub(crate) fn fill(file: File, mut content: Fill<'_>) -> io::Result<bool> {
    let durable = file.try_clone()?;
    let pair = Pair { plain: file, durable: None };
    let complete =
        content.run(&mut IocpQueue::new(vec![pair], PLAN, Completion::Block, Timer::new())?)?;
    if complete {
        durable.sync_all()?;
    }
    Ok(complete)
}
