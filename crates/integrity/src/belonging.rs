//! Whether the run of a ledger wrote the files that it names, before everything in them is called
//! wrong.
//!
//! A ledger knows its files by name, size and inode. These stay the same when another run uses the
//! files again or somebody copies others over them. Pages and log blocks carry the identity of
//! their run, so this module reads a few of those that the ledger says its run wrote. It leaves
//! damage to the phases: two pages or blocks of this run are enough for a file to belong.

use std::path::PathBuf;

use engine::{Op, Queue, Request};

use crate::files::DataFile;
use crate::log::Log;
use crate::log_checks::{read_whole, request_of};
use crate::page::SECTOR_BYTES;
use crate::run::{OpenQueue, RunError, slot_bytes};
use crate::shared::Shared;

/// So many pages or blocks of a file are read at most, spread over all of it.
const LOOKED_AT_MAX: usize = 64;
/// So many must be of another run: a few writes that were lost leave a few old pages in a file that
/// is used again.
const OTHERS_MIN: usize = 4;

/// So many of this run are enough. One may be left of it where another run used the file again and
/// lost a write.
const OWN_ENOUGH: usize = 2;

/// Whose a page or a block of a log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writer {
    ThisRun,
    AnotherRun,
    /// The place holds damage, zeros, another run's data, or cannot be read.
    Unknown,
}

/// A file in which at most one place was found that the ledger's run wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Pages or blocks that were read.
    pub looked_at: usize,
    /// How many of them another run wrote.
    pub others: usize,
    /// How many of them this run wrote; fewer than two.
    pub own: usize,
}

/// Reads some pages and blocks that the run of the ledger has written.
///
/// # Errors
/// [`crate::KeptError::OtherFiles`] if another run wrote a file, and [`RunError::Open`] if there is
/// no queue to read with.
pub(crate) fn check_files(
    shared: &Shared<'_>,
    logs: &[Option<Log>],
    open: &OpenQueue<'_>,
) -> Result<(), RunError> {
    let mut queue = open(slot_bytes(shared.plan)).map_err(RunError::Open)?;
    let queue = &mut *queue;
    let mut foreign = Vec::new();
    for (number, file) in (0..).zip(&shared.files) {
        let pages = spread(written_pages(file));
        let writers = pages.map(|page| writer_of_page(shared, (number, page), queue));
        foreign.extend(judge(writers, &file.path));
    }
    for target in 0..shared.paths.len() {
        let of_target = logs.iter().flatten().filter(|log| usize::from(log.target()) == target);
        let blocks: Vec<_> =
            of_target.flat_map(|log| log.acknowledged().map(move |b| (log, b))).collect();
        let writers = spread(blocks)
            .map(|(log, block)| writer_of_block(shared, log, request_of(log, &block), queue));
        foreign.extend(judge(writers, &shared.paths[target]));
    }
    match shared.kept {
        Some(kept) if !foreign.is_empty() => Err(kept.of_other_files(foreign).into()),
        _ => Ok(()),
    }
}

/// Pages that hold one known version; at most one for each of the equal parts of the file.
fn written_pages(file: &DataFile) -> Vec<u64> {
    let (pages, parts) = (file.pages(), LOOKED_AT_MAX as u64);
    let part_pages = pages.div_ceil(parts).max(1);
    let is_written = |page: &u64| {
        let known = file.ledger.peek(*page);
        known.is_some_and(|known| known.version > 0 && !known.unsure && !known.zero)
    };
    let first_of = |part: u64| {
        let begin = part * part_pages;
        (begin..pages.min(begin + part_pages)).find(is_written)
    };
    (0..parts).filter_map(first_of).collect()
}

/// Some of these, in their order.
fn spread<T>(all: Vec<T>) -> impl Iterator<Item = T> {
    let step = all.len().div_ceil(LOOKED_AT_MAX).max(1);
    all.into_iter().step_by(step)
}

/// Looks at one after the other until enough are of this run.
fn judge(writers: impl Iterator<Item = Writer>, path: &std::path::Path) -> Option<ForeignFile> {
    let (mut looked_at, mut others, mut own) = (0, 0, 0);
    for writer in writers {
        own += usize::from(writer == Writer::ThisRun);
        if own == OWN_ENOUGH {
            return None;
        }
        looked_at += 1;
        others += usize::from(writer == Writer::AnotherRun);
    }
    (others >= OTHERS_MIN).then(|| ForeignFile { path: path.to_owned(), looked_at, others, own })
}

fn writer_of_page(
    shared: &Shared<'_>,
    (number, page): (u16, u64),
    queue: &mut dyn Queue,
) -> Writer {
    let file = shared.file(number);
    let bytes = shared.bytes_of(1);
    let (target, offset) = (file.target, file.offset(page));
    let request = Request { slot: 0, op: Op::Read, target, offset, bytes, buffer_offset: 0 };
    let Ok(found) = read_whole(shared, queue, request) else { return Writer::Unknown };
    if is_ours(shared, found) {
        Writer::ThisRun
    } else if shared.format.is_of_another_seed(found) {
        Writer::AnotherRun
    } else {
        Writer::Unknown
    }
}

fn writer_of_block(
    shared: &Shared<'_>,
    log: &Log,
    request: Request,
    queue: &mut dyn Queue,
) -> Writer {
    let Ok(found) = read_whole(shared, queue, request) else { return Writer::Unknown };
    let is_other = |sector: &[u8]| log.format().is_of_another_seed(sector);
    if is_ours(shared, found) {
        Writer::ThisRun
    } else if found.chunks(SECTOR_BYTES).any(is_other) {
        Writer::AnotherRun
    } else {
        Writer::Unknown
    }
}

/// Whether this run wrote a sector of it, wherever that belongs.
fn is_ours(shared: &Shared<'_>, found: &[u8]) -> bool {
    found.chunks(SECTOR_BYTES).any(|sector| {
        shared.format.recognise(sector).is_some() || shared.blocks.recognise(sector).is_some()
    })
}
