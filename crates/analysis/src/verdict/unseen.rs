//! What measurements of a given length cannot show, so that every report can say so.

use crate::words::{number, size};

/// Each load of an assessment at the pace `long` is measured for this long at least.
const LONG_PACE_S: f64 = 60.0;

/// How long each load was measured, and how much was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// The shortest measured window, in seconds.
    pub shortest_s: f64,
    /// The longest measured window, in seconds.
    pub longest_s: f64,
    /// The most bytes that one measurement wrote; 0 where all of them only read.
    pub written_bytes: u64,
}

impl Extent {
    /// The extent of windows: their lengths in seconds and the bytes written in them. None if they
    /// have no length.
    pub fn of_windows(windows: impl Iterator<Item = (f64, u64)>) -> Option<Self> {
        let known = windows.filter(|(seconds, _)| seconds.is_finite() && *seconds > 0.0);
        let one = |(seconds, written_bytes)| Self {
            shortest_s: seconds,
            longest_s: seconds,
            written_bytes,
        };
        known.map(one).reduce(|all, one| Self {
            shortest_s: all.shortest_s.min(one.shortest_s),
            longest_s: all.longest_s.max(one.longest_s),
            written_bytes: all.written_bytes.max(one.written_bytes),
        })
    }

    /// What could not show in that time, and how to see it.
    #[must_use]
    pub fn unseen(&self) -> String {
        let (shortest, longest) = (number(self.shortest_s), number(self.longest_s));
        let seconds =
            if shortest == longest { shortest } else { format!("{shortest} to {longest}") };
        let cache = if self.written_bytes > 0 {
            format!(", a write cache larger than {}", size(self.written_bytes))
        } else {
            String::new()
        };
        let longer = if self.shortest_s < LONG_PACE_S {
            "`--pace long` or `iosonde run --seconds 600`"
        } else {
            "`iosonde run --seconds 3600`"
        };
        format!(
            "Measured for {seconds} s per load: burst credits that last longer{cache} or later \
             garbage collection would not show. To see the sustained level, use {longer}."
        )
    }
}
