//! What the tests and benches of several crates need; never shipped.

#[cfg(target_os = "linux")]
pub mod locks;
mod skipped;

pub use skipped::skip;
