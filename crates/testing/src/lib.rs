//! What the tests and benches of several crates need; never shipped.

mod certificate;
mod documents;
mod iometer;
#[cfg(target_os = "linux")]
pub mod locks;
#[cfg(target_os = "linux")]
pub mod network;
pub mod program;
mod skipped;

pub use certificate::certificate;
pub use documents::{experiment, measurement};
pub use iometer::two_managers;
pub use program::Place;
pub use skipped::skip;
