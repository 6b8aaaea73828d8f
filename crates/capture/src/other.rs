//! Systems other than Linux.

use trace::{DeviceFacts, Io};

use crate::{CaptureError, Counts, FilesFound, FilesRequest, ProgramCost, RecorderOptions, Rest};

/// Stands for the watch of Linux: finds no files on this system.
#[derive(Debug)]
pub struct FileWatch;

impl FileWatch {
    /// Ignores the request.
    #[must_use]
    pub fn new(_: &FilesRequest<'_>) -> Self {
        Self
    }

    /// Finds the files, and where they are now.
    pub fn look(&mut self) -> FilesFound {
        FilesFound::default()
    }
}

/// A recorder that never exists on this system.
#[derive(Debug)]
pub enum Recorder {}

impl Recorder {
    /// Says that it needs Linux.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: &RecorderOptions<'_>, _: &mut dyn FnMut()) -> Result<Self, CaptureError> {
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
    /// Never: nothing can be recorded here.
    pub fn poll(&mut self) -> Result<Vec<Io>, CaptureError> {
        match *self {}
    }

    /// What was not recorded.
    ///
    /// # Errors
    /// Never: nothing can be recorded here.
    pub fn counts(&self) -> Result<Counts, CaptureError> {
        match *self {}
    }

    /// Never called, because no `Recorder` exists on this system.
    #[must_use]
    pub fn source(&self) -> &'static str {
        match *self {}
    }

    /// Never called, because no `Recorder` exists on this system.
    #[must_use]
    pub fn refused(&self) -> Option<&CaptureError> {
        match *self {}
    }

    /// What a program in the kernel cost.
    ///
    /// # Errors
    /// Never: nothing can be recorded here.
    pub fn program_cost(&self) -> Result<Option<ProgramCost>, CaptureError> {
        match *self {}
    }

    /// Ends recording.
    ///
    /// # Errors
    /// Never: nothing can be recorded here.
    pub fn finish(self, _: &mut dyn FnMut()) -> Result<Rest, CaptureError> {
        match self {}
    }
}
