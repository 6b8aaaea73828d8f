//! Systems without tracefs.

use trace::{DeviceFacts, Io};

use crate::CaptureError;

/// Never made here.
#[derive(Debug)]
pub enum Recorder {}

impl Recorder {
    /// Says that it needs Linux.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: &[String]) -> Result<Self, CaptureError> {
        Err(CaptureError::NotLinux)
    }

    /// What is known about the devices.
    #[must_use]
    pub fn devices(&self) -> &[DeviceFacts] {
        match *self {}
    }

    /// Takes what was recorded.
    ///
    /// # Errors
    /// None: there is no recorder.
    pub fn poll(&mut self) -> Result<Vec<Io>, CaptureError> {
        match *self {}
    }

    /// Events that were lost.
    ///
    /// # Errors
    /// None: there is no recorder.
    pub fn lost(&self) -> Result<u64, CaptureError> {
        match *self {}
    }

    /// Ends recording.
    ///
    /// # Errors
    /// None: there is no recorder.
    pub fn finish(self) -> Result<(Vec<Io>, u64), CaptureError> {
        match self {}
    }
}
