//! The live screen: what happens now as big figures, on demand for each worker. docs/live.md
//! describes it.
//!
//! It is drawn by a separate thread from what the display hears anyway. The thread that measures
//! only puts it into a channel, which drops it when it is full: a terminal that hangs costs a
//! measurement nothing.

mod digits;
mod draw;
mod draw_validation;
mod figure;
#[cfg(target_os = "linux")]
mod linux;
mod model;
mod signals;
mod tables;
mod terminal;
mod tile;
mod validation;

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use engine::Event;

#[cfg(target_os = "linux")]
pub use linux::{end_in_order, end_on_second, set_last_words};
pub(crate) use signals::Signals;
pub(crate) use terminal::{Taken, fits};

/// The most events that wait to be shown.
const WAITING: usize = 1024;
/// The longest that the end of a command waits for a terminal to be clean.
const END: Duration = Duration::from_secs(2);

/// A user who left the screen does not want it back for the next call of a script.
static LEFT: AtomicBool = AtomicBool::new(false);
/// The reason for its absence is printed once.
static EXPLAINED: AtomicBool = AtomicBool::new(false);

/// The longest that the end of the program waits for a thread that hung, and may have come free.
const LAST: Duration = Duration::from_millis(200);

/// Tells when the threads are done that still drew when their screens were closed.
fn hung() -> MutexGuard<'static, Vec<Receiver<()>>> {
    static HUNG: Mutex<Vec<Receiver<()>>> = Mutex::new(Vec::new());
    HUNG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the terminal back at the end of the program, where a terminal that hung has prevented it
/// before.
pub fn leave() {
    for done in hung().drain(..) {
        let _ = done.recv_timeout(LAST);
    }
    terminal::give_back_without_waiting();
    // A signal handler that ends the program at once must first restore the terminal; it ends this
    // wait.
    #[cfg(target_os = "linux")]
    if linux::is_ending() {
        thread::sleep(LAST);
    }
}

/// The measurement that the screen is about.
#[derive(Debug, Clone)]
pub(crate) struct About {
    /// The command that measures, such as `knee`.
    pub kind: &'static str,
    /// What is measured, in a phrase.
    pub title: String,
    /// What receives the I/O, in words.
    pub targets: String,
}

/// An event that changes the screen.
#[derive(Debug, Clone)]
pub(crate) enum ScreenEvent {
    /// A step of an experiment began.
    Step { number: usize, of: usize, title: String },
    /// The engine reports something, such as an interval.
    Engine(Event),
    /// A measurement has finished, with these figures.
    Measured { title: String, iops: f64, mib_per_s: f64 },
    /// A validation reports something, such as a fault.
    Validation(integrity::Event),
    /// The user should read this message.
    Message(String),
}

/// The screen, as the measuring thread sees it.
pub(crate) struct Screen {
    sender: Option<SyncSender<ScreenEvent>>,
    up: Arc<AtomicBool>,
    done: Receiver<()>,
}

impl Screen {
    /// Opens the screen; `None` if the user has left it before. The error says why this terminal
    /// cannot show it, once.
    pub(crate) fn open(about: About) -> Result<Option<Self>, String> {
        if LEFT.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if let Err(reason) = terminal::fits() {
            let first = !EXPLAINED.swap(true, Ordering::Relaxed);
            return if first { Err(reason) } else { Ok(None) };
        }
        let (sender, heard) = mpsc::sync_channel(WAITING);
        let (ended, done) = mpsc::channel();
        let up = Arc::new(AtomicBool::new(true));
        let is_up = Arc::clone(&up);
        thread::spawn(move || {
            if terminal::show(about, &heard) == terminal::ScreenEnd::Left {
                LEFT.store(true, Ordering::Relaxed);
            }
            is_up.store(false, Ordering::Release);
            // Nobody waits any more where this does not arrive.
            let _ = ended.send(());
        });
        Ok(Some(Self { sender: Some(sender), up, done }))
    }

    /// Whether the terminal shows it, or will in a moment.
    pub(crate) fn is_up(&self) -> bool {
        self.up.load(Ordering::Acquire)
    }

    /// Shows what happens, or drops it.
    pub(crate) fn hear(&self, heard: ScreenEvent) {
        if let Some(sender) = &self.sender {
            let _ = sender.try_send(heard);
        }
    }

    /// Ends it. Waits until the terminal is clean, and for no longer than two seconds: after that,
    /// the drawing thread hangs.
    pub(crate) fn close(&mut self) {
        if self.sender.take().is_some()
            && self.done.recv_timeout(END) == Err(RecvTimeoutError::Timeout)
        {
            terminal::give_back_without_waiting();
            let done = mem::replace(&mut self.done, mpsc::channel().1);
            hung().push(done);
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.close();
    }
}
