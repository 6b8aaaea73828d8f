//! How late ordinary threads wake on this host: a part of any program's latencies that does not
//! come from the device.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(5);

/// Watches from its making until it is asked.
#[derive(Debug)]
pub struct Watch {
    stop: Arc<AtomicBool>,
    watching: JoinHandle<(u32, Duration)>,
}

impl Watch {
    /// Begins to watch: a thread of ordinary priority sleeps 5 ms at a time.
    #[must_use]
    pub fn begin() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let watching = thread::spawn(move || {
            // What timers may be late to save power is not a sign of a busy host.
            let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
            let (mut naps, mut late) = (0, Duration::ZERO);
            while !seen.load(Ordering::Relaxed) {
                let begin = Instant::now();
                thread::sleep(NAP);
                naps += 1;
                late += begin.elapsed().saturating_sub(NAP);
            }
            (naps, late)
        });
        Self { stop, watching }
    }

    /// By how much such a thread woke too late, on average, in nanoseconds. A quiet host needs less
    /// than 100 µs.
    #[must_use]
    pub fn lateness_mean_ns(self) -> f64 {
        self.stop.store(true, Ordering::Relaxed);
        let (naps, late) = self.watching.join().unwrap_or_default();
        late.as_secs_f64() * 1e9 / f64::from(naps.max(1))
    }
}
