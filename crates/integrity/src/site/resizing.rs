//! A file becomes shorter or longer while others work on it.
//!
//! Before the file becomes shorter, no thread gets a page of the part that goes any more, and
//! iosonde waits for the threads that have one. After that, and before the part is given out that
//! comes back, each of its pages is zeros, whatever it was.

use std::io;
use std::sync::mpsc::{self, Receiver, TryRecvError};

use engine::{Op, Request};

use super::{Site, State, Task};

/// Zeros are written with so many I/Os at a time.
const STAMPS_MAX: u32 = 4;

/// A change of a file's size under way.
#[derive(Debug)]
pub(super) struct Resizing {
    /// The user that changes the size.
    seat: usize,
    file: u16,
    /// How many pages the file has before the change, and after it.
    from: u64,
    to: u64,
    stage: Stage,
    /// How many writes of zeros are in flight.
    pub stamps: u32,
}

impl Resizing {
    /// The file system is changing the size, or zeros are being written. A thread that leaves waits
    /// for it, unless nothing is read afterwards.
    pub(super) fn is_bound(&self) -> bool {
        !matches!(self.stage, Stage::Draining(_))
    }
}

#[derive(Debug)]
enum Stage {
    /// Pages that are to go are claimed: all before this one.
    Draining(u64),
    /// The file system is at it.
    Changing(Receiver<io::Result<()>>),
    /// Zeros are written over the new pages, from this page on.
    Stamping(u64),
}

impl Site<'_> {
    /// Begins to change the size of a file, by so many steps at most.
    pub(super) fn begin_resizing(&mut self, seat: usize, steps: u32) -> State {
        let numbered = (0..).zip(&self.shared.files);
        let able: Vec<(u16, u64)> = numbered.filter_map(|(n, f)| Some((n, f.step()?))).collect();
        let chosen = usize::try_from(self.chance.below(able.len() as u64)).unwrap_or(0);
        let Some((number, step)) = able.get(chosen).copied() else { return State::Gone };
        let file = self.shared.file(number);
        let (from, most, steps) = (file.pages(), file.ledger.pages(), u64::from(steps));
        let shorter = (from.saturating_sub(step) / step).min(steps) * step;
        let longer = (most.saturating_sub(from) / step).min(steps) * step;
        let shorter_first = self.chance.percent(50.0);
        let to = match (shorter, longer) {
            (0, 0) => return State::Idle,
            (0, longer) => from + longer,
            (shorter, 0) => from - shorter,
            (shorter, _) if shorter_first => from - shorter,
            (_, longer) => from + longer,
        };
        let stage = if to < from {
            // From here on no thread gets the pages that are to go.
            file.set_pages(to);
            Stage::Draining(to)
        } else {
            self.change_size(number, to)
        };
        self.resizing = Some(Resizing { seat, file: number, from, to, stage, stamps: 0 });
        State::Working
    }

    /// Has the size changed on a separate thread: it may take long, and I/Os continue meanwhile.
    fn change_size(&self, number: u16, pages: u64) -> Stage {
        let file = self.shared.file(number);
        let (answer, answered) = mpsc::channel();
        let (change, bytes) = (file.shape.resize.clone(), file.offset(pages));
        let body = move || {
            let none = || Err(io::ErrorKind::Unsupported.into());
            let done = change.map_or_else(none, |resize| resize.change.to(bytes));
            // Nobody hears it where the run is over.
            let _ = answer.send(done);
        };
        // Without a thread the channel is closed, which is an answer.
        let _ = std::thread::Builder::new().name("validate-resize".to_owned()).spawn(body);
        Stage::Changing(answered)
    }

    /// Continues the change of a file's size, as far as it gets now.
    pub(super) fn go_on_resizing(&mut self) {
        let Some(mut doing) = self.resizing.take() else { return };
        match &mut doing.stage {
            Stage::Draining(next) => {
                let ledger = &self.shared.file(doing.file).ledger;
                while *next < doing.from && ledger.claim(*next).is_some() {
                    *next += 1;
                }
                if *next == doing.from {
                    doing.stage = self.change_size(doing.file, doing.to);
                }
            }
            Stage::Changing(answered) => match answered.try_recv() {
                Err(TryRecvError::Empty) => {}
                Ok(Ok(())) if self.is_changed(&doing) => return,
                Ok(Ok(())) => doing.stage = Stage::Stamping(doing.from),
                Ok(Err(error)) => return self.is_not_changed(&doing, &error),
                Err(TryRecvError::Disconnected) => {
                    return self.is_not_changed(&doing, &io::Error::other("a thread was lost"));
                }
            },
            Stage::Stamping(next) => {
                let (next, all) = (*next, doing.stamps);
                let (next, begun) = self.stamp(doing.file, next..doing.to, STAMPS_MAX - all);
                (doing.stage, doing.stamps) = (Stage::Stamping(next), all + begun);
                if next == doing.to && doing.stamps == 0 {
                    return self.is_longer(&doing);
                }
            }
        }
        self.resizing = Some(doing);
    }

    /// Writes zeros over pages of which nobody has one; gives the first that it has not begun, and
    /// how many I/Os it has.
    fn stamp(&mut self, number: u16, pages: std::ops::Range<u64>, most: u32) -> (u64, u32) {
        let file = self.shared.file(number);
        let each = u64::from(self.shared.plan.io_pages());
        let (mut next, mut begun) = (pages.start, 0);
        while next < pages.end && begun < most && self.has_room() {
            let Some(slot) = self.free.pop() else { break };
            let count = each.min(pages.end - next);
            let count = usize::try_from(count).unwrap_or(1);
            let bytes = self.shared.bytes_of(count);
            if let Some(buffer) = self.queue.write_buffer(slot).get_mut(..bytes as usize) {
                buffer.fill(0);
            }
            let (op, target, offset) = (Op::Write, file.target, file.offset(next));
            let request = Request { slot, op, target, offset, bytes, buffer_offset: 0 };
            self.put(slot, Task::Stamp { file: number, pages: count }, request);
            next += count as u64;
            begun += 1;
        }
        (next, begun)
    }

    /// The file has its new size. Whether that is all there is to do.
    fn is_changed(&mut self, doing: &Resizing) -> bool {
        if doing.to < doing.from {
            let ledger = &self.shared.file(doing.file).ledger;
            (doing.to..doing.from).for_each(|page| ledger.cut(page));
            self.work.shortened += 1;
            self.states[doing.seat] = State::Idle;
            return true;
        }
        let stamps = self.shared.plan.resizing.is_some_and(|how| how.stamp);
        if !stamps {
            self.is_longer(doing);
        }
        !stamps
    }

    fn is_longer(&mut self, doing: &Resizing) {
        self.shared.file(doing.file).set_pages(doing.to);
        self.work.lengthened += 1;
        self.states[doing.seat] = State::Idle;
    }

    /// A file that did not become longer is as it was; what one holds that could not be cut, nobody
    /// knows.
    fn is_not_changed(&mut self, doing: &Resizing, error: &io::Error) {
        let file = self.shared.file(doing.file);
        let (offset, errno) = (file.offset(doing.to), error.raw_os_error().unwrap_or(0));
        self.shared.failed("resize", file.target, offset, errno);
        self.states[doing.seat] = State::Idle;
        if doing.to < doing.from {
            self.fail(io::Error::new(
                error.kind(),
                format!("a file cannot be made shorter: {error}"),
            ));
        }
    }

    /// Comes to an end with the change of a file's size; no I/O is under way any more.
    pub(super) fn leave_resizing(&mut self) {
        let Some(doing) = self.resizing.take() else { return };
        match &doing.stage {
            Stage::Draining(next) => {
                let file = self.shared.file(doing.file);
                (doing.to..*next).for_each(|page| file.ledger.give_back(page));
                file.set_pages(doing.from);
            }
            Stage::Changing(answered) => match answered.recv() {
                // New pages are zeros, whether written or not.
                Ok(Ok(())) if !self.is_changed(&doing) => self.is_longer(&doing),
                Ok(Ok(())) => {}
                Ok(Err(error)) => self.is_not_changed(&doing, &error),
                Err(error) => self.is_not_changed(&doing, &io::Error::other(error)),
            },
            Stage::Stamping(_) => self.is_longer(&doing),
        }
    }
}
