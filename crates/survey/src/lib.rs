//! The experiments: drives the engine, watches the counters, asks the analysis.
//!
//! [`measure`] is one workload with everything around it that makes its figures trustworthy. A
//! [`Lab`] is where experiments are made: lists of such measurements and what follows from them.
//! [`assess`] is the main job.

mod assess;
mod bench;
mod ceiling;
mod claims;
mod cycle;
mod doubts;
mod filling;
mod forecast;
mod knee;
mod lab;
mod limits;
mod matrix;
mod measure;
mod medium;
mod needs;
mod publish;
mod runs;
mod scale;
mod sizes;
mod steadiness;
mod sweep;
mod volumes;
mod warnings;
mod watching;

pub use assess::{AssessOptions, assess, assess_on, assess_sides, assess_size_rule};
pub use bench::{Bench, Here, Stand};
pub use claims::{ClaimsError, parse_claims};
pub use cycle::{CycleOptions, KeepStep, cycle_on};
pub use forecast::{LabForecast, foresee};
pub use knee::{KneeOptions, LatencyTarget, LatencyTargetError, knee, knee_on};
pub use lab::{Lab, LabContext, LabCourse, LabRecord, Progress, Setup, Timing};
pub use limits::{LimitsError, limits_of, parse_limits, roles_of};
pub use matrix::{MATRIX_LEVELS, MatrixOptions, check_levels, matrix};
pub use measure::{Site, beside, measure};
pub use needs::{NeedError, parse_needs};
pub use publish::Publish;
pub use runs::{RUNS, RunsOptions, runs};
pub use scale::{ScaleOptions, scale, scale_on};
pub use sizes::{STANDARD_SIZES, SizesOptions, sizes, sizes_setup};
pub use steadiness::add_steadiness;
pub use sweep::{
    CollectError, FinishedCell, SweepOptions, collected_sweeps, plan_sweep_targets, sweep,
    sweep_forecast, sweep_on,
};
pub use volumes::{VolumeModel, names_volume, volume_claims, volume_list, volume_model};
