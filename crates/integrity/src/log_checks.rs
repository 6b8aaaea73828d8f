//! Reads the acknowledged blocks of the logs, and finds out what is wrong with those that differ
//! from what was written.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{Op, Queue, Request};

use crate::block::{BlockContext, name};
use crate::checks::{cached, reread};
use crate::dump::dump;
use crate::log::{Block, Log};
use crate::report::LogFault;
use crate::run::{OpenQueue, RunError, slot_bytes};
use crate::shared::Shared;
use crate::waiting::{NAMED_FROM, SlowIo};

/// Reads every acknowledged block of the logs; gives how many could be read.
pub(crate) fn check_logs(
    shared: &Shared<'_>,
    logs: &[Option<Log>],
    open: &OpenQueue<'_>,
) -> Result<u64, RunError> {
    let mut blocks = 0;
    if logs.iter().flatten().next().is_none() {
        return Ok(blocks);
    }
    let mut queue = open(slot_bytes(shared.plan)).map_err(RunError::Open)?;
    for log in logs.iter().flatten() {
        for block in log.acknowledged() {
            if shared.stop.load(Ordering::Relaxed) {
                return Ok(blocks);
            }
            let request = request_of(log, &block);
            let found = match read_whole(shared, &mut *queue, request) {
                Ok(found) => found,
                Err(error) => {
                    // What cannot be read is not wrong data, and the blocks after it may be
                    // readable.
                    let errno = error.raw_os_error().unwrap_or(0);
                    shared.failed_io(&request, errno.wrapping_neg());
                    continue;
                }
            };
            blocks += 1;
            shared.teller.log_blocks.store(blocks, Ordering::Relaxed);
            let expected = log.bytes_of(&block);
            if found != expected {
                let found = found.to_vec();
                look_into(shared, (log, block), &mut *queue, (&expected, &found));
            }
        }
    }
    Ok(blocks)
}

/// Finds out what is wrong with a block, and notes it, unless an earlier read did.
fn look_into(
    shared: &Shared<'_>,
    (log, block): (&Log, Block),
    queue: &mut dyn Queue,
    (expected, found): (&[u8], &[u8]),
) {
    let id = log.id_of(&block);
    if shared.knows_log_fault(id) {
        return;
    }
    let (blocks, pages) = (log.format(), &shared.format);
    let lies_elsewhere = |number| log.knows(number);
    let last = log.last_number();
    let known = BlockContext { blocks, pages, id, last, lies_elsewhere: &lies_elsewhere };
    let sectors = known.sectors(expected, found);
    let request = request_of(log, &block);
    // Nothing else is held up by it, so only a stop from outside ends it.
    let over = || shared.stop.load(Ordering::Relaxed);
    let again = reread(shared, &over, &mut || {
        let found = read_whole(shared, queue, request).ok()?;
        Some(found == expected)
    });
    let path = shared.paths.get(usize::from(log.target())).cloned().unwrap_or_default();
    let through_cache = cached(&path, block.offset, expected.len()).ok();
    let differs = |i: &usize| expected.get(*i) != found.get(*i);
    shared.log_fault(LogFault {
        damage: name(&sectors, again.kept),
        kept: again.kept,
        path,
        thread: id.log,
        number: id.number,
        offset_bytes: block.offset,
        sectors,
        first_byte: (0..expected.len()).find(differs).unwrap_or(0),
        found_after: shared.since_start(),
        written_after: block.written_after,
        rereads: again.rereads,
        rereads_planned: again.planned,
        right_cached: through_cache.map(|found| found == expected),
        dump: dump(expected, found),
    });
}

pub(crate) fn request_of(log: &Log, block: &Block) -> Request {
    let (target, offset, bytes) = (log.target(), block.offset, block.bytes);
    Request { slot: 0, op: Op::Read, target, offset, bytes, buffer_offset: 0 }
}

/// Waits for a read of which storage may give a part at a time.
pub(crate) fn read_whole<'q>(
    shared: &Shared<'_>,
    queue: &'q mut dyn Queue,
    mut request: Request,
) -> io::Result<&'q [u8]> {
    let whole = request.bytes as usize;
    let mut finished = Vec::new();
    let began = queue.now();
    let mut was_named = false;
    queue.issue(&[request])?;
    loop {
        queue.start()?;
        queue.wait(queue.now() + 100_000_000)?;
        queue.reap(&mut finished);
        let Some(one) = finished.pop() else {
            let age = Duration::from_nanos(queue.now().saturating_sub(began));
            if age >= NAMED_FROM {
                was_named = true;
                shared.names(0, vec![SlowIo { request, age }]);
            }
            continue;
        };
        if was_named {
            shared.names(0, Vec::new());
        }
        let moved = u32::try_from(one.result)
            .map_err(|_| io::Error::from_raw_os_error(one.result.wrapping_neg()))?;
        if moved == 0 && request.bytes > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        request.offset += u64::from(moved);
        request.buffer_offset += moved;
        request.bytes = request.bytes.saturating_sub(moved);
        if request.bytes == 0 {
            return Ok(queue.read_buffer(0).get(..whole).unwrap_or_default());
        }
        queue.issue(&[request])?;
    }
}
