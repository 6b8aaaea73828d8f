//! The experiments: drives the engine, watches the counters, asks the analysis.
//!
//! [`measure`] is one workload with everything around it that makes its figures trustworthy; [`assess`] is the main
//! job, a list of such measurements and what follows from them.

mod assess;
mod limits;
mod measure;
mod warnings;

pub use assess::{AssessOptions, Progress, assess};
pub use limits::{LimitsError, default_limits, parse_limits};
pub use measure::{Site, measure};
