//! One thread that writes: batch after batch, each durable before it is promised.

use std::io;

use crate::{PageFormat, PageId};
use engine::{Op, Queue, Request};
use thiserror::Error;

use crate::durability::counted::make_all;
use crate::durability::plan::{
    LOG_RECORD_BYTES, Order, Plan, PlanError, Role, Shape, SyncMode, Target,
};
use crate::durability::state::Promised;

/// Why a thread of the writer cannot continue.
#[derive(Debug, Error)]
pub enum WriterError {
    /// An I/O failed. Earlier promises stay valid.
    #[error("{what} failed: {source}; nothing more was written")]
    Io {
        /// What the thread tried to do.
        what: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The thread has used up its version numbers.
    #[error("every version was used up; start another run")]
    Full,
}

/// A thread of a plan. Its queues have a depth of at least a batch, and write buffers of a page and
/// of a record of the log.
pub struct Writer<'a> {
    plan: &'a Plan,
    shape: &'a Shape,
    pages: PageFormat,
    records: PageFormat,
    thread: u32,
    queue: Box<dyn Queue + 'a>,
    /// The same targets, opened so that every write is durable; where the plan wants that.
    through: Option<Box<dyn Queue + 'a>>,
    promised: Promised,
    /// Pages whose records were durable before the crash are written.
    recovered: bool,
    chosen: Vec<u64>,
    requests: Vec<Request>,
}

impl<'a> Writer<'a> {
    /// The thread of this number, which continues after its promises.
    ///
    /// If a crash ended an earlier part of the run, it begins with the operations that were in
    /// doubt. They write the same bytes to the same places, so that nothing stays in doubt.
    pub fn new(
        plan: &'a Plan,
        shape: &'a Shape,
        thread: u32,
        queue: Box<dyn Queue + 'a>,
        through: Option<Box<dyn Queue + 'a>>,
        promised: Promised,
    ) -> Result<Self, PlanError> {
        Ok(Self {
            plan,
            shape,
            pages: PageFormat::new(plan.page_bytes as usize, plan.seed)?,
            records: PageFormat::new(LOG_RECORD_BYTES as usize, plan.seed)?,
            thread,
            queue,
            through,
            promised,
            recovered: false,
            chosen: Vec::new(),
            requests: Vec::new(),
        })
    }

    /// The promises of the thread so far.
    #[must_use]
    pub fn promised(&self) -> Promised {
        self.promised
    }

    /// Makes the next batch. `promise` hears of every step that is durable, before anything that
    /// relies on it is written.
    pub fn batch(&mut self, promise: &mut dyn FnMut(Promised)) -> Result<(), WriterError> {
        match self.plan.order {
            Order::Page => {
                let batch = self.promised.data;
                self.write_pages(batch, true)?;
                self.promised.data = batch + 1;
                promise(self.promised);
                Ok(())
            }
            Order::LogThenPage => self.logged_batch(promise),
        }
    }

    fn logged_batch(&mut self, promise: &mut dyn FnMut(Promised)) -> Result<(), WriterError> {
        self.recover()?;
        let batch = self.promised.log;
        if batch >= self.promised.data + u64::from(self.plan.checkpoint_batches) {
            self.finish(promise)?;
        }
        self.write_records(batch)?;
        self.promised.log = batch + 1;
        promise(self.promised);
        self.write_pages(batch, false)
    }

    /// Makes all pages durable whose records are, and says so.
    pub fn finish(&mut self, promise: &mut dyn FnMut(Promised)) -> Result<(), WriterError> {
        if self.plan.order == Order::LogThenPage && self.promised.log > self.promised.data {
            self.recover()?;
            self.checkpoint()?;
            promise(self.promised);
        }
        Ok(())
    }

    /// After a crash, pages of durable records may be missing: they are written from the log, as a
    /// database would.
    fn recover(&mut self) -> Result<(), WriterError> {
        if !std::mem::replace(&mut self.recovered, true) {
            for batch in self.promised.data..self.promised.log {
                self.write_pages(batch, false)?;
            }
        }
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<(), WriterError> {
        // Pages are plain writes in this order, whatever makes the log durable.
        let op = if self.plan.sync == SyncMode::Fsync { Op::Fsync } else { Op::Fdatasync };
        let targets: Vec<u16> = self.shape.data_targets().map(|(target, _)| target).collect();
        self.sync(op, &targets)?;
        self.promised.data = self.promised.log;
        Ok(())
    }

    fn sync(&mut self, op: Op, targets: &[u16]) -> Result<(), WriterError> {
        let what = if op == Op::Fsync { "fsync" } else { "fdatasync" };
        for part in targets.chunks(self.plan.batch as usize) {
            let request = |(slot, target): (u32, &u16)| Request {
                slot,
                op,
                target: *target,
                offset: 0,
                bytes: 0,
                buffer_offset: 0,
            };
            self.requests = (0..).zip(part).map(request).collect();
            make_all(self.queue.as_mut(), &self.requests)
                .map_err(|source| WriterError::Io { what, source })?;
        }
        Ok(())
    }

    fn write_pages(&mut self, batch: u64, durable: bool) -> Result<(), WriterError> {
        let mut chosen = std::mem::take(&mut self.chosen);
        self.shape.batch(self.thread, batch, &mut chosen);
        let place = |page: u64| self.shape.place(page);
        let places: Vec<(u16, u64)> = chosen.iter().map(|page| place(*page)).collect();
        self.chosen = chosen;
        let format = self.pages.clone();
        self.write(batch, &places, &format, durable, "writing a page")
    }

    fn write_records(&mut self, batch: u64) -> Result<(), WriterError> {
        let Some((target, _)) = self.shape.log_target() else { return Ok(()) };
        let first = self.shape.version(batch, 0).ok_or(WriterError::Full)?;
        // A batch ends where the log does: its places are one after the other.
        let slot = self.shape.slot(self.thread, first);
        let places: Vec<(u16, u64)> =
            (slot..slot + u64::from(self.plan.batch)).map(|slot| (target, slot)).collect();
        let format = self.records.clone();
        self.write(batch, &places, &format, true, "writing a record of the log")
    }

    /// Writes the operations of a batch to these places, and makes them durable.
    fn write(
        &mut self,
        batch: u64,
        places: &[(u16, u64)],
        format: &PageFormat,
        durable: bool,
        what: &'static str,
    ) -> Result<(), WriterError> {
        let bytes = format.page_bytes();
        let sync = self.plan.sync;
        let op = if durable && sync == SyncMode::Fua { Op::WriteDurable } else { Op::Write };
        let through = self.through.as_mut().filter(|_| durable && sync == SyncMode::ODsync);
        let queue = through.map_or(self.queue.as_mut(), |queue| queue.as_mut());
        self.requests.clear();
        for (index, (target, page)) in places.iter().enumerate() {
            let version = self.shape.version(batch, index).ok_or(WriterError::Full)?;
            let slot = u32::try_from(index).unwrap_or(u32::MAX);
            let id = PageId { file: *target, page: *page };
            let buffer = queue.write_buffer(slot).get_mut(..bytes);
            format.fill(id, version, buffer.unwrap_or_default());
            let (target, offset) = (*target, page * bytes as u64);
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            self.requests.push(Request { slot, op, target, offset, bytes, buffer_offset: 0 });
        }
        make_all(queue, &self.requests).map_err(|source| WriterError::Io { what, source })?;
        if durable && sync.flushes() {
            let op = if sync == SyncMode::Fsync { Op::Fsync } else { Op::Fdatasync };
            let mut targets: Vec<u16> = places.iter().map(|(target, _)| *target).collect();
            targets.sort_unstable();
            targets.dedup();
            self.sync(op, &targets)?;
        }
        Ok(())
    }
}

impl Plan {
    /// Whether [`Writer::new`] needs a second queue, to the same targets opened with O_DSYNC.
    #[must_use]
    pub fn writes_through(&self) -> bool {
        self.sync == SyncMode::ODsync
    }

    /// The largest I/O of a writer, in bytes.
    #[must_use]
    pub fn largest_io_bytes(&self, targets: &[Target]) -> u32 {
        let log = targets.iter().any(|t| t.role == Role::Log);
        if log { self.page_bytes.max(LOG_RECORD_BYTES) } else { self.page_bytes }
    }
}
