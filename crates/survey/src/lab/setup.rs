//! On what an experiment measures, and for how long.

use engine::Permissions;
use serde::{Deserialize, Serialize};
use workload::{EngineChoice, Mode, Nanoseconds, Precision, SimDevice, Stream, Target, Workload};

/// Points that the shortest measurement should have for its steadiness to be judged.
const POINTS: f64 = 40.0;
/// The distance of such points, in seconds: shorter ones hold too few I/Os, longer ones are not
/// needed.
const POINT_S: (f64, f64) = (0.025, 0.25);
/// On what experiments are made, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The targets that receive the I/O.
    pub targets: Vec<Target>,
    /// What may be done to it.
    #[serde(skip)]
    pub permissions: Permissions,
    /// The engine that does the I/O.
    pub engine: EngineChoice,
    /// The simulated device of the engine `sim`.
    pub sim: Option<SimDevice>,
    /// Whether the operating system's cache is used.
    pub mode: Mode,
    /// The seed of every random choice.
    pub seed: u64,
    /// How long windows, warm-ups and pauses last.
    pub timing: Timing,
}

/// The lengths of a measurement's parts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Length of the window, or the longest it may be.
    pub seconds: f64,
    /// Seconds of I/O before the window.
    pub warmup_seconds: f64,
    /// When the window may end sooner; absent for windows of equal length.
    pub precision: Option<Precision>,
    /// Pause before a measurement that writes or follows one that wrote.
    pub settle_seconds: f64,
}

impl Default for Timing {
    /// As short as a precision of 2 % allows, a minute at most.
    fn default() -> Self {
        Self {
            seconds: 60.0,
            warmup_seconds: 1.0,
            precision: Some(Precision::default()),
            settle_seconds: 5.0,
        }
    }
}

impl Setup {
    /// These streams on the targets, by the timing of the setup.
    #[must_use]
    pub fn workload(&self, streams: Vec<Stream>) -> Workload {
        self.timed(streams, self.timing)
    }

    pub(super) fn timed(&self, streams: Vec<Stream>, timing: Timing) -> Workload {
        let default = Workload::default();
        Workload {
            targets: self.targets.clone(),
            streams,
            seconds: timing.seconds,
            precision: timing.precision,
            warmup_seconds: timing.warmup_seconds,
            engine: self.engine,
            mode: self.mode,
            seed: self.seed,
            sim: self.sim.clone(),
            interval_ns: timing.precision.map_or(default.interval_ns, interval),
            ..default
        }
    }

    /// How a measurement is made, in a sentence.
    #[must_use]
    pub fn timing_sentence(&self) -> String {
        let timing = &self.timing;
        match timing.precision {
            Some(precision) => format!(
                "Each measurement lasted until the 95 % interval of its mean was within ±{} %. It \
                took at least {} s and at most {} s after {} s of warm-up that do not count. What \
                was still warm-up after that was left out.",
                precision.percent,
                precision.at_least_seconds,
                timing.seconds,
                timing.warmup_seconds
            ),
            None => format!(
                "Each measurement took {} s after {} s of warm-up.",
                timing.seconds, timing.warmup_seconds
            ),
        }
    }
}

/// Distance of the points of a series whose steadiness is watched.
fn interval(precision: Precision) -> Nanoseconds {
    let seconds = precision.at_least_seconds / POINTS;
    Nanoseconds::from_seconds(seconds.clamp(POINT_S.0, POINT_S.1))
}
