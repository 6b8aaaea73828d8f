//! How many measurements an experiment makes and how long they take, before it begins: the
//! experiment itself, on a device that needs no time.

use std::sync::atomic::AtomicBool;

use engine::{Permissions, PrepareError};
use workload::{Bytes, EngineChoice, Nanoseconds, SimDevice, SimNoise};

use crate::lab::{LabContext, Progress, Setup};

/// I/Os that the assumed device does at once, and how long each takes. Where a search ends depends
/// on the first alone; that the device is slow saves time here.
const SERVERS: u32 = 16;
const SERVICE: Nanoseconds = Nanoseconds(8_000_000);
/// What makes measurements long: how much the IOPS of one second differ from those of the next.
const RUN_PERCENT: f64 = 1.0;
const IO_PERCENT: f64 = 20.0;

/// The measurements of an experiment, as far as they can be foreseen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LabForecast {
    /// Seconds from the beginning to the end of each, with pauses and warm-up.
    ends_s: Vec<f64>,
}

impl LabForecast {
    /// How many there are.
    #[must_use]
    pub fn measurements(&self) -> usize {
        self.ends_s.len()
    }

    /// How long they take together, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.ends_s.last().copied().unwrap_or(0.0)
    }

    /// A measurement ended so many seconds after the beginning of the first.
    pub(crate) fn push(&mut self, end_s: f64) {
        self.ends_s.push(end_s);
    }

    /// Seconds from the end of the first so many to the end of all; `None` if fewer were foreseen.
    pub(crate) fn after(&self, count: usize) -> Option<f64> {
        if count > self.ends_s.len() {
            return None;
        }
        let begin_s = count.checked_sub(1).map_or(0.0, |last| self.ends_s[last]);
        Some(self.seconds() - begin_s)
    }
}

/// The size of a target of which nothing is known.
pub(crate) const ASSUMED_BYTES: Bytes = Bytes(1 << 30);

/// What an experiment does, if it is one of a [`foreseen`](Setup::foreseen) setup.
///
/// # Errors
/// It cannot be made.
pub fn foresee<T>(
    experiment: impl FnOnce(LabContext<'_>) -> Result<T, PrepareError>,
) -> Result<LabForecast, PrepareError> {
    let (stop, mut forecast) = (AtomicBool::new(false), LabForecast::default());
    let mut quiet = |_: Progress<'_>| ();
    let context = LabContext::new(&stop, &mut quiet);
    experiment(LabContext { foresees: Some(&mut forecast), ..context })?;
    Ok(forecast)
}

/// A device that is assumed where nothing is known of one.
pub(crate) fn assumed_device() -> SimDevice {
    SimDevice {
        servers: SERVERS,
        read_ns: SERVICE,
        write_ns: SERVICE,
        noise: Some(SimNoise { run_percent: RUN_PERCENT, io_percent: IO_PERCENT, drift: None }),
        ..SimDevice::default()
    }
}

impl Setup {
    /// The same on a device that needs no time, with targets of these sizes, in bytes.
    #[must_use]
    pub fn foreseen(&self, sizes: &[u64]) -> Self {
        let mut setup = self.clone();
        let mut sizes = sizes.iter().copied().map(Bytes);
        for target in &mut setup.targets {
            let asked = target.size_bytes.unwrap_or(ASSUMED_BYTES);
            target.size_bytes = Some(sizes.next().unwrap_or(asked));
        }
        setup.permissions = Permissions::default();
        if setup.engine != EngineChoice::Sim {
            (setup.engine, setup.sim) = (EngineChoice::Sim, Some(assumed_device()));
        }
        setup
    }
}
