//! The recording goes into the history while it is recorded, by its own thread: a history that is
//! slow or held by others delays no sample.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use history::{History, HistoryError, Place};
use monitor::{Change, Series};
use results::RecordedPoint;

/// The last point is written at most this often.
const EVERY: Duration = Duration::from_secs(1);

/// Points to write.
#[derive(Debug)]
struct Work {
    /// They replace everything that was written.
    all: bool,
    first: usize,
    points: Vec<RecordedPoint>,
}

/// Keeps the points of a recording. While the thread writes, one piece of work waits for it at
/// most; what changes meanwhile stays in the series until the thread has taken that.
pub(super) struct Keeper {
    sender: Option<SyncSender<Work>>,
    thread: Option<JoinHandle<Result<(), HistoryError>>>,
    ended: Arc<AtomicBool>,
    /// All points changed since they were written.
    behind: bool,
    written: Option<Instant>,
    /// The first point that may have changed since it was written.
    from: usize,
}

impl Keeper {
    /// Keeps points below the experiment of this name, which has begun.
    pub(super) fn begin(place: Place, id: String) -> Self {
        let (mut keeper, work) = Self::new();
        let ended = Arc::clone(&keeper.ended);
        keeper.thread = Some(std::thread::spawn(move || keep(&place, &id, &work, &ended)));
        keeper
    }

    fn new() -> (Self, Receiver<Work>) {
        let (sender, work) = mpsc::sync_channel(1);
        let (sender, ended) = (Some(sender), Arc::default());
        (Self { sender, thread: None, ended, behind: false, written: None, from: 0 }, work)
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
        let Some(sender) = &self.sender else { return };
        let first = if self.behind { 0 } else { self.from.min(series.count()) };
        let points = series.points_from(first).collect();
        match sender.try_send(Work { all: self.behind, first, points }) {
            Ok(()) => {
                self.behind = false;
                self.from = series.count().saturating_sub(1);
            }
            Err(TrySendError::Full(_)) => {}
            // The thread has given up; its reason is reported at the end.
            Err(TrySendError::Disconnected(_)) => self.sender = None,
        }
    }

    /// Waits until everything is written. Returns why something is not.
    pub(super) fn end(mut self) -> Result<(), HistoryError> {
        self.sender = None;
        self.ended.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(kept)) => kept,
            _ => Ok(()),
        }
    }
}

/// Writes until nothing more comes. A history that is held by others is tried again.
fn keep(
    place: &Place,
    id: &str,
    work: &Receiver<Work>,
    ended: &AtomicBool,
) -> Result<(), HistoryError> {
    let history = History::open_existing(place)?;
    for work in work {
        while let Err(error) = write(&history, id, &work) {
            if !matches!(error, HistoryError::Busy { .. }) || ended.load(Ordering::Relaxed) {
                return Err(error);
            }
            std::thread::sleep(EVERY);
        }
    }
    Ok(())
}

fn write(history: &History, id: &str, work: &Work) -> Result<(), HistoryError> {
    if work.all {
        return history.replace_points(id, &work.points);
    }
    let numbers = work.first as u64..;
    numbers.zip(&work.points).try_for_each(|(number, point)| history.keep_point(id, number, point))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once 7,200 points had been joined, copies of all of them queued faster than they were
    /// written: `monitor` grew from 8 to 310 MB, and wrote the whole recording again and again.
    #[test]
    fn a_slow_history_queues_no_copies() {
        let (mut keeper, work) = Keeper::new();
        let mut series = Series::with_room(4, 100);
        let mut grow = |keeper: &mut Keeper, windows: usize| {
            for _ in 0..windows {
                let window = RecordedPoint { windows: 1, ..RecordedPoint::default() };
                keeper.behind |= series.push(window) == Change::All;
                keeper.write(&series);
            }
            series.count()
        };
        grow(&mut keeper, 3);
        let first = work.try_recv().unwrap();
        assert_eq!((first.all, first.first, first.points.len()), (false, 0, 1));
        assert!(work.try_recv().is_err(), "nothing else waits");
        // The next work has everything since.
        grow(&mut keeper, 1);
        let next = work.try_recv().unwrap();
        assert_eq!((next.all, next.first, next.points.len()), (false, 0, 4));
        let count = grow(&mut keeper, 1);
        let all = work.try_recv().unwrap();
        assert_eq!((all.all, all.first, all.points.len()), (true, 0, count));
        grow(&mut keeper, 1);
        assert!(!work.try_recv().unwrap().all, "they are written once");
    }
}
