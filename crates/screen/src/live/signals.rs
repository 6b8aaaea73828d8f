//! Signals that the screen has to know of: what ends the run, and what stops and continues the
//! program.
//!
//! They are registered once and stay: a handler that was taken back would leave the signal without
//! effect.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// What came since it was last asked.
#[derive(Default)]
pub(crate) struct Signals {
    ended: Arc<AtomicBool>,
    #[cfg(unix)]
    suspended: Arc<AtomicBool>,
    #[cfg(unix)]
    continued: Arc<AtomicBool>,
    /// Whether no screen is up: then the program stops at once, as every program does.
    #[cfg(unix)]
    is_plain: Arc<AtomicBool>,
}

/// The state that all handlers of this process share.
pub(super) fn signals() -> &'static Signals {
    static SIGNALS: OnceLock<Signals> = OnceLock::new();
    SIGNALS.get_or_init(|| {
        let signals = Signals::default();
        // Where it cannot be heard of, the screen is left late.
        #[cfg(windows)]
        let _ = crate::windows::end_on_second(&signals.ended);
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGCONT, SIGINT, SIGTERM, SIGTSTP};
            use signal_hook::flag::{register, register_conditional_default};
            for signal in [SIGINT, SIGTERM] {
                let _ = register(signal, Arc::clone(&signals.ended));
            }
            let _ = register_conditional_default(SIGTSTP, Arc::clone(&signals.is_plain));
            let _ = register(SIGTSTP, Arc::clone(&signals.suspended));
            let _ = register(SIGCONT, Arc::clone(&signals.continued));
        }
        signals
    })
}

impl Signals {
    /// Whether a signal asked the run to end.
    pub(super) fn ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Ends the run, as Ctrl-C does where no screen is up.
    pub(crate) fn end() {
        #[cfg(unix)]
        let _ = signal_hook::low_level::raise(signal_hook::consts::SIGINT);
        #[cfg(windows)]
        let _ = crate::windows::end();
    }
}

#[cfg(unix)]
impl Signals {
    /// A screen is up, or no longer. What came while none was up has done its work already.
    pub(super) fn screen_is_up(&self, up: bool) {
        self.is_plain.store(!up, Ordering::SeqCst);
        if up {
            self.suspended.store(false, Ordering::SeqCst);
            self.continued.store(false, Ordering::SeqCst);
        }
    }

    /// The program is to stop for a while.
    pub(super) fn suspended(&self) -> bool {
        self.suspended.swap(false, Ordering::Relaxed)
    }

    /// The program continues after it was stopped.
    pub(super) fn continued(&self) -> bool {
        self.continued.swap(false, Ordering::Relaxed)
    }

    /// Tells this program and those it is piped to to stop, as Ctrl-Z does where no screen is up.
    pub(super) fn suspend() {
        let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
    }

    /// Stops this program until it is continued.
    pub(super) fn stop(&self) {
        let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
        self.continued.store(false, Ordering::Relaxed);
    }

    /// Whether the terminal is this program's to draw on.
    pub(super) fn is_in_foreground() -> bool {
        let foreground = rustix::termios::tcgetpgrp(std::io::stderr());
        foreground.is_ok_and(|group| group == rustix::process::getpgrp())
    }
}

#[cfg(not(unix))]
#[expect(clippy::unused_self, reason = "called as where a program can be suspended")]
impl Signals {
    pub(super) fn screen_is_up(&self, _: bool) {}

    pub(super) fn suspended(&self) -> bool {
        false
    }

    pub(super) fn continued(&self) -> bool {
        false
    }

    pub(super) fn suspend() {}

    pub(super) fn stop(&self) {}

    pub(super) fn is_in_foreground() -> bool {
        true
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Ctrl-Z between two screens of an experiment stopped the program a second time, in the middle
    /// of the next measurement.
    #[test]
    fn what_came_without_a_screen_stops_no_later_one() {
        let signals = Signals::default();
        for up in [true, false] {
            signals.screen_is_up(false);
            // As the handlers do.
            signals.suspended.store(true, Ordering::Relaxed);
            signals.continued.store(true, Ordering::Relaxed);
            signals.screen_is_up(up);
            assert_eq!((signals.suspended(), signals.continued()), (!up, !up));
        }
    }
}
