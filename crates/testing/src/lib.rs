//! What the tests and benches of several crates need; never shipped.

#[cfg(target_os = "linux")]
pub mod locks;
pub mod program;
mod skipped;

pub use program::Place;
pub use skipped::skip;
