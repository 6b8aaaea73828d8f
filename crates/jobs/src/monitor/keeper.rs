//! The recording goes into the history while it is recorded, by its own thread: a history that is
//! slow or held by others delays no sample.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use history::{History, HistoryError, Place};
use monitor::{Change, Series};
use results::RecordedPoint;

/// The last point is written at most this often.
const EVERY: Duration = Duration::from_secs(1);
/// At most so many points wait to be written.
const WAITING: usize = 64;

enum Work {
    Last(u64, Box<RecordedPoint>),
    All(Vec<RecordedPoint>),
}

/// Keeps the points of a recording.
pub(super) struct Keeper {
    sender: Option<SyncSender<Work>>,
    thread: Option<JoinHandle<Result<(), HistoryError>>>,
    /// Something waited for longer than there is room: all of it is written again.
    behind: bool,
    written: Option<Instant>,
    /// The first point that may have changed since it was written.
    from: usize,
}

impl Keeper {
    /// Keeps points below the experiment of this name, which has begun.
    pub(super) fn begin(place: Place, id: String) -> Self {
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        let thread = std::thread::spawn(move || keep(&place, &id, &receiver));
        let (sender, thread) = (Some(sender), Some(thread));
        Self { sender, thread, behind: false, written: None, from: 0 }
    }

    /// Hears what became of the series.
    pub(super) fn hear(&mut self, series: &Series, change: Change) {
        self.behind |= change == Change::All;
        let due = self.written.is_none_or(|written| written.elapsed() >= EVERY);
        if due {
            self.written = Some(Instant::now());
            self.write(series);
        }
    }

    fn write(&mut self, series: &Series) {
        if self.behind {
            self.behind = !self.send(Work::All(series.points()));
        } else {
            let first = self.from.min(series.count());
            for (number, point) in (first..).zip(series.points_from(first)) {
                let work = Work::Last(number as u64, Box::new(point));
                if !self.send(work) {
                    self.behind = true;
                    break;
                }
            }
        }
        self.from = series.count().saturating_sub(1);
    }

    fn send(&mut self, work: Work) -> bool {
        let Some(sender) = &self.sender else { return true };
        match sender.try_send(work) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => false,
            // The thread has given up; its reason is reported at the end.
            Err(TrySendError::Disconnected(_)) => {
                self.sender = None;
                true
            }
        }
    }

    /// Waits until everything is written. Returns why something is not.
    pub(super) fn end(mut self) -> Result<(), HistoryError> {
        self.sender = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(kept)) => kept,
            _ => Ok(()),
        }
    }
}

/// Writes until nothing more comes. A history that is held by others is tried again with what comes
/// next.
fn keep(place: &Place, id: &str, work: &Receiver<Work>) -> Result<(), HistoryError> {
    let history = History::open_existing(place)?;
    let mut held: Vec<Work> = Vec::new();
    loop {
        match work.recv_timeout(EVERY) {
            Ok(Work::All(points)) => {
                held.clear();
                held.push(Work::All(points));
            }
            Ok(last) => held.push(last),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return write(&history, id, &mut held),
        }
        match write(&history, id, &mut held) {
            Ok(()) | Err(HistoryError::Busy { .. }) => {}
            Err(error) => return Err(error),
        }
    }
}

fn write(history: &History, id: &str, held: &mut Vec<Work>) -> Result<(), HistoryError> {
    while let Some(first) = held.first() {
        match first {
            Work::Last(number, point) => history.keep_point(id, *number, point)?,
            Work::All(points) => history.replace_points(id, points)?,
        }
        held.remove(0);
    }
    Ok(())
}
