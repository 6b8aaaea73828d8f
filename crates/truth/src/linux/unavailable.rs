//! Why a device cannot be had here.

use std::fmt::Display;

use thiserror::Error;

/// A device of this kind cannot be had here.
#[derive(Debug, Error)]
#[error("{what}: {reason}")]
pub struct Unavailable {
    what: String,
    reason: String,
}

impl Unavailable {
    /// The step that failed, and why.
    pub(super) fn new(what: impl Into<String>, reason: impl Display) -> Self {
        Self { what: what.into(), reason: reason.to_string() }
    }

    /// Turns an error of the system into a reason.
    pub(super) fn because<E: Display>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        |error| Self::new(what, error)
    }
}
