//! How bursty arrivals are: the index of dispersion for counts over time scales.

/// Window lengths over which burstiness is reported: 1 ms to 10 s.
const SCALES_NS: [u64; 5] = [1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000];
/// Fewer windows than this say nothing about a variance.
const WINDOWS_MIN: u64 = 30;

/// How unevenly I/Os arrive, seen in windows of one length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burstiness {
    /// The length of the windows in which I/Os are counted.
    pub window_ns: u64,
    /// The variance of the I/Os per window divided by their mean: 0 for a metronome, 1 for
    /// arrivals that know nothing of each other, more for bursts.
    pub dispersion: f64,
}

/// The counts of windows of each scale.
#[derive(Debug, Default)]
pub(super) struct Bursts {
    scales: [Scale; SCALES_NS.len()],
}

/// The current window, and the sum of squares of those before.
#[derive(Debug, Default, Clone, Copy)]
struct Scale {
    window: u64,
    count: u64,
    total: u64,
    squares: f64,
}

impl Scale {
    fn close(&mut self) {
        self.total += self.count;
        self.squares += (self.count as f64).powi(2);
        self.count = 0;
    }
}

impl Bursts {
    /// Counts an I/O; times do not run back.
    pub(super) fn add(&mut self, since_ns: u64) {
        for (scale, width_ns) in self.scales.iter_mut().zip(SCALES_NS) {
            let window = since_ns / width_ns;
            if window != scale.window {
                scale.close();
                scale.window = window;
            }
            scale.count += 1;
        }
    }

    /// The scales that have enough whole windows until this time, the end of the arrivals.
    pub(super) fn finish(self, until_ns: u64) -> Vec<Burstiness> {
        let of = |(mut scale, window_ns): (Scale, u64)| {
            let windows = until_ns / window_ns;
            // The last window is not whole.
            if scale.window < windows {
                scale.close();
            }
            if windows < WINDOWS_MIN || scale.total == 0 {
                return None;
            }
            let mean = scale.total as f64 / windows as f64;
            let variance = (scale.squares / windows as f64 - mean * mean).max(0.0);
            Some(Burstiness { window_ns, dispersion: variance / mean })
        };
        self.scales.into_iter().zip(SCALES_NS).filter_map(of).collect()
    }
}
