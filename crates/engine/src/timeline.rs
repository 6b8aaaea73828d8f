//! The phases of a run, and where its series has its points.

/// A worker that hangs loses what it has not sent: at most what it counted in this time.
const SNAPSHOT_NS: u64 = 1_000_000_000;

/// The phases of a run on its clock.
#[expect(clippy::struct_field_names, reason = "all of them are times")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Timeline {
    /// When the first I/O may start.
    pub start_ns: u64,
    /// When the measured window begins, after the warm-up.
    pub window_ns: u64,
    /// Distance of the points of the series.
    pub interval_ns: u64,
    /// How long to wait for I/Os after the last of them could start.
    pub drain_ns: u64,
}

impl Timeline {
    /// The first boundary after a moment: the end of an interval, or of a part of a long one.
    pub(crate) fn boundary_after(&self, now: u64) -> u64 {
        let passed = now.saturating_sub(self.window_ns);
        let part = self.interval_ns.min(SNAPSHOT_NS);
        let in_interval = passed % self.interval_ns;
        let next = ((in_interval / part + 1) * part).min(self.interval_ns);
        self.window_ns + (passed - in_interval) + next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worker that hung lost what it had counted since the last point of the series: with points
    /// of an hour, an hour.
    #[test]
    fn a_long_interval_is_sent_in_parts_of_a_second() {
        let ms = 1_000_000;
        let cases = [(60_000, 1000), (1000, 1000), (700, 700), (10, 10)];
        for (interval_ms, part_ms) in cases {
            let (window_ns, interval_ns) = (5 * ms, interval_ms * ms);
            let timeline = Timeline { window_ns, interval_ns, ..Timeline::default() };
            let mut at = window_ns;
            for part in 1..200 {
                at = timeline.boundary_after(at);
                assert_eq!(at, window_ns + part * part_ms * ms, "{interval_ms} ms");
            }
        }
        // Every end of an interval is a boundary, also where no whole number of parts fits.
        let timeline = Timeline { interval_ns: 2500 * ms, ..Timeline::default() };
        let next = |at: u64| timeline.boundary_after(at * ms) / ms;
        assert_eq!([0, 1000, 2000, 2500, 4700].map(next), [1000, 2000, 2500, 3500, 5000]);
    }
}
