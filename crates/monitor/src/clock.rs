//! The clock of a recording: real, or virtual in tests.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A clock that tells the time and waits.
pub trait Clock {
    /// Time since some moment; never goes back.
    fn now(&self) -> Duration;

    /// The time of the day, since 1970, UTC.
    fn unix(&self) -> Duration;

    /// Waits until [`Clock::now`] is this, or until `stop` says so.
    fn wait_until(&self, at: Duration, stop: &dyn Fn() -> bool);
}

/// The longest that an end is not noticed.
const LOOK_UP: Duration = Duration::from_millis(20);

/// The real clock, monotonic for lengths and UTC for moments.
#[derive(Debug)]
pub struct SystemClock {
    began: Instant,
}

impl SystemClock {
    /// A clock that begins at 0 now.
    #[must_use]
    pub fn new() -> Self {
        Self { began: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn unix(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn wait_until(&self, at: Duration, stop: &dyn Fn() -> bool) {
        while !stop() {
            match at.checked_sub(self.now()) {
                Some(left) if !left.is_zero() => std::thread::sleep(left.min(LOOK_UP)),
                _ => return,
            }
        }
    }
}
