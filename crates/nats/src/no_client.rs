//! Stands for a fleet over a server in a program that was built without it: nothing connects.

use std::convert::Infallible;
use std::io::{Empty, Sink};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use fleet::{Arrival, ToAgent, Transport};

use crate::NatsError;

/// What would be made.
#[derive(Debug, Clone)]
pub struct SiteRequest {
    /// Where.
    pub directory: PathBuf,
    /// The hosts to add.
    pub hosts: Vec<String>,
    /// Under which addresses hosts reach the server.
    pub servers: Vec<String>,
    /// How long the certificates of hosts last.
    pub days: u32,
}

/// A directory that cannot be used.
#[derive(Debug)]
pub struct Site(Infallible);

/// A transport that cannot be.
#[derive(Debug)]
pub struct SiteTransport(Infallible);

/// An agent that cannot join.
#[derive(Debug)]
pub struct Joined(Infallible);

/// A session that cannot be.
#[derive(Debug)]
pub struct Session {
    /// Nothing.
    pub input: Empty,
    /// Nothing.
    pub output: Sink,
}

impl Site {
    /// Refuses.
    pub fn init(_: &SiteRequest) -> Result<Self, NatsError> {
        Err(NatsError::NotBuilt)
    }

    /// Refuses.
    pub fn renew(_: &SiteRequest) -> Result<(Self, Vec<String>), NatsError> {
        Err(NatsError::NotBuilt)
    }

    /// Never called.
    #[must_use]
    pub fn after_renewal(&self, _: &[String]) -> String {
        match self.0 {}
    }

    /// Refuses.
    pub fn open(_: &Path) -> Result<Self, NatsError> {
        Err(NatsError::NotBuilt)
    }

    /// Never called.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        match self.0 {}
    }

    /// Never called.
    #[must_use]
    pub fn instructions(&self, _: &[String]) -> String {
        match self.0 {}
    }

    /// Never called.
    pub fn revoke(&mut self, _: &str) -> Result<(), NatsError> {
        match self.0 {}
    }
}

impl SiteTransport {
    /// Refuses.
    pub fn open(_: &Path, _: &[String]) -> Result<Self, NatsError> {
        Err(NatsError::NotBuilt)
    }
}

impl Transport for SiteTransport {
    fn now_ns(&self) -> u64 {
        match self.0 {}
    }

    fn send(&mut self, _: usize, _: &ToAgent) {
        match self.0 {}
    }

    fn receive(&mut self, _: u64) -> Option<(usize, u64, Arrival)> {
        match self.0 {}
    }

    fn cut(&mut self, _: usize) {
        match self.0 {}
    }
}

impl Joined {
    /// Refuses.
    pub fn start(_: &Path) -> Result<Self, NatsError> {
        Err(NatsError::NotBuilt)
    }

    /// Never called.
    pub fn next(
        &mut self,
        _: &AtomicBool,
        _: &mut dyn FnMut(String),
    ) -> Result<Option<Session>, NatsError> {
        match self.0 {}
    }
}

/// Refuses.
pub fn up(_: &Path, _: &AtomicBool, _: &mut dyn FnMut(String)) -> Result<(), NatsError> {
    Err(NatsError::NotBuilt)
}
