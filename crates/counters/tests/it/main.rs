//! What the kernel counts, sampled and turned into rates.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

#[cfg(target_os = "linux")]
mod sampler;
#[cfg(target_os = "linux")]
mod system;
mod window;
