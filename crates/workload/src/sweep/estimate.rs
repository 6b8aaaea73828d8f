//! How long a plan takes and how much it writes, before anything is started.

use super::{Cell, Plan};

/// The times of a plan in seconds. All pauses are taken at their full length, so that it takes at
/// most this long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// All measured windows together, in seconds.
    pub measured_s: f64,
    /// All warm-ups together, in seconds.
    pub warmup_s: f64,
    /// All pauses together, in seconds.
    pub settle_s: f64,
}

impl Times {
    /// How long the plan takes at most, in seconds.
    #[must_use]
    pub fn total_s(&self) -> f64 {
        self.measured_s + self.warmup_s + self.settle_s
    }
}

/// What a device is taken to do, where nothing is known of it yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// Random I/Os of any size per second.
    pub random_iops: f64,
    /// Bytes per second, at most, in sequential order.
    pub bytes_per_s: f64,
}

impl Speed {
    /// The speed of a disk with moving heads.
    pub const ROTATING: Self = Self { random_iops: 200.0, bytes_per_s: 150e6 };
    /// Anything else: a solid state drive on an ordinary link.
    pub const SOLID: Self = Self { random_iops: 50_000.0, bytes_per_s: 500e6 };

    /// What one cell writes at this speed.
    fn written_bytes(&self, cell: &Cell) -> f64 {
        let block = cell.block_bytes.0 as f64;
        let random = cell.is_random();
        let by_iops = if random { self.random_iops * block } else { f64::INFINITY };
        let share = f64::from(cell.write_percent) / 100.0;
        by_iops.min(self.bytes_per_s) * share * (cell.seconds + cell.warmup_seconds)
    }
}

impl Plan {
    /// How long these cells of the plan take at most. A simulated device needs no pauses.
    #[must_use]
    pub fn times(&self, cells: &[Cell]) -> Times {
        Times {
            measured_s: cells.iter().map(|c| c.seconds).sum(),
            warmup_s: cells.iter().map(|c| c.warmup_seconds).sum(),
            settle_s: if self.engine.is_artificial() {
                0.0
            } else {
                self.settle_seconds * cells.len() as f64
            },
        }
    }

    /// About how many bytes the cells write at a speed; test files come on top.
    #[must_use]
    pub fn written_bytes(&self, cells: &[Cell], speed: &Speed) -> f64 {
        cells.iter().map(|cell| speed.written_bytes(cell)).sum()
    }
}
