//! Results for a terminal: plain text, no colours, at most a hundred columns wide unless a name is longer.

mod assessment;
mod kernel;
mod layout;
mod measurement;
mod sweep;

pub use assessment::assessment;
pub use measurement::measurement;
pub use sweep::{sweep, sweep_csv};
