//! The terminal put right without its locks: by the handler of a signal that ends the program at
//! once, and where the thread that draws hangs.
#![expect(unsafe_code, reason = "a handler of a signal, and the calls that it may make")]

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use inspect::reading::{end, ends_at_once};
use libc::{POLLOUT, STDERR_FILENO, STDIN_FILENO, TCSANOW};
use report::text::clean;

use super::terminal::TAKEN;

/// Shows the cursor and leaves the alternate screen.
const LEAVE: &[u8] = b"\x1b[?25h\x1b[?1049l";

/// The terminal before the first screen.
struct Saved {
    /// The descriptor whose settings are changed for a screen: stdin where it is a terminal, as
    /// crossterm does.
    keyboard: i32,
    settings: libc::termios,
}

static SAVED: OnceLock<Saved> = OnceLock::new();

/// Notes how the terminal is. Must be called before it is changed; only the first call counts.
pub(super) fn save() {
    if SAVED.get().is_some() {
        return;
    }
    for keyboard in [STDIN_FILENO, STDERR_FILENO] {
        let mut settings = MaybeUninit::<libc::termios>::uninit();
        // SAFETY: the pointer is to memory for a whole termios, which lives during the call.
        if unsafe { libc::tcgetattr(keyboard, settings.as_mut_ptr()) } == 0 {
            // SAFETY: the call was successful, and has filled it.
            let settings = unsafe { settings.assume_init() };
            // Another thread may have been sooner, with the same.
            let _ = SAVED.set(Saved { keyboard, settings });
            return;
        }
    }
}

/// The terminal is as it was, as far as that needs no waiting: on one that takes nothing the screen
/// stays, and with it `TAKEN`.
///
/// Takes no lock and no memory, and makes only calls that a handler of a signal may make
/// (signal-safety(7)).
pub(super) fn give_back_now() {
    let Some(Saved { keyboard, settings }) = SAVED.get() else { return };
    if !TAKEN.load(Ordering::SeqCst) {
        return;
    }
    // SAFETY: neither call touches memory.
    let is_in_foreground = unsafe { libc::tcgetpgrp(STDERR_FILENO) == libc::getpgrp() };
    // In the background the terminal belongs to another program, and the next call would stop this
    // one.
    if !is_in_foreground {
        return;
    }
    let mut screen = libc::pollfd { fd: STDERR_FILENO, events: POLLOUT, revents: 0 };
    // SAFETY: the settings live as long as the program; `screen` is one descriptor, and lives
    // during the call.
    let takes_output = unsafe {
        libc::tcsetattr(*keyboard, TCSANOW, settings);
        libc::poll(&raw mut screen, 1, 0) == 1
    };
    if takes_output && screen.revents & POLLOUT != 0 && TAKEN.swap(false, Ordering::SeqCst) {
        // SAFETY: the bytes live as long as the program. What cannot be written cannot be said,
        // either.
        let _ = unsafe { libc::write(STDERR_FILENO, LEAVE.as_ptr().cast(), LEAVE.len()) };
    }
}

/// Text to print when a signal ends the program at once; null prints nothing.
static LAST_WORDS: AtomicPtr<Vec<u8>> = AtomicPtr::new(ptr::null_mut());

/// Sets the text that goes to stderr when a second signal ends the program at once; `None` prints
/// nothing.
pub fn set_last_words(text: Option<&str>) {
    let bytes = |text: &str| Box::new(format!("\n{}\n", clean(text)).into_bytes());
    let words = text.map_or(ptr::null_mut(), |text| Box::into_raw(bytes(text)));
    // The earlier text stays in memory: a handler may be reading it.
    LAST_WORDS.store(words, Ordering::SeqCst);
}

/// Prints the last words if that needs no waiting. Takes no lock and no memory, and makes only
/// calls that a handler may make.
fn say_last_words() {
    // SAFETY: it is null or a vector that is never freed and never changed.
    let Some(words) = (unsafe { LAST_WORDS.load(Ordering::SeqCst).as_ref() }) else { return };
    let mut stderr = libc::pollfd { fd: STDERR_FILENO, events: POLLOUT, revents: 0 };
    // SAFETY: `stderr` is one descriptor, and lives during the call.
    let takes_output = unsafe { libc::poll(&raw mut stderr, 1, 0) == 1 };
    if takes_output && stderr.revents & POLLOUT != 0 {
        // SAFETY: the bytes live as long as the program. What cannot be written cannot be said,
        // either.
        let _ = unsafe { libc::write(STDERR_FILENO, words.as_ptr().cast(), words.len()) };
    }
}

/// Whether a second signal is ending the program.
static ENDING: AtomicBool = AtomicBool::new(false);

/// A signal that comes again so soon is the same request: `timeout` sends its signal to the program
/// and then to the group that the program is in.
const ECHO_NS: u64 = 250_000_000;

/// The first signal sets the flag; the second leaves a clean terminal, prints the last words and
/// ends the program with 130. While the program only reads, the first does that.
///
/// Two signals at once may be handled by two threads at the same time: only one of them finds the
/// flag unset.
pub fn end_on_second(signal: i32, stop: &Arc<AtomicBool>) -> io::Result<()> {
    let stop = Arc::clone(stop);
    let first_ns = AtomicU64::new(0);
    let act = move || {
        end();
        let now = now_ns();
        let first = first_ns.compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst);
        let is_echo = first.is_err_and(|first| now.saturating_sub(first) < ECHO_NS);
        if stop.swap(true, Ordering::SeqCst) && !is_echo || ends_at_once() {
            end_now();
        }
    };
    // SAFETY: the handler uses atomics and calls only functions that are safe in handlers. It
    // changes `errno` only if the program ends next.
    unsafe { signal_hook::low_level::register(signal, act) }.map(|_| ())
}

/// The time since the system booted. A call that a handler may make.
fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a whole timespec, which lives during the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// A signal that only sets the flag, however often it comes, except while the program only reads:
/// a terminal that is closed sends more than one.
pub fn end_in_order(signal: i32, stop: &Arc<AtomicBool>) -> io::Result<()> {
    let stop = Arc::clone(stop);
    let act = move || {
        stop.store(true, Ordering::SeqCst);
        end();
        if ends_at_once() {
            end_now();
        }
    };
    // SAFETY: as in `end_on_second`.
    unsafe { signal_hook::low_level::register(signal, act) }.map(|_| ())
}

/// Leaves a clean terminal, prints the last words and ends the program with 130.
fn end_now() {
    ENDING.store(true, Ordering::SeqCst);
    give_back_now();
    say_last_words();
    signal_hook::low_level::exit(130);
}

/// Whether a second signal ends the program in this moment: it may have taken it upon itself to
/// leave the screen.
pub(super) fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}
