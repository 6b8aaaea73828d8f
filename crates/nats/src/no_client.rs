//! Stands for a fleet over a server in a program that was built without it: nothing connects.

use std::convert::Infallible;
use std::io::{Empty, Sink};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use fleet::{Arrival, ToAgent, Transport};

use crate::NatsError;

/// The request for a site, which this build cannot make.
#[derive(Debug, Clone)]
pub struct SiteRequest {
    /// The directory that would hold the site.
    pub directory: PathBuf,
    /// The hosts that would be added or get new certificates.
    pub hosts: Vec<String>,
    /// Under which addresses hosts reach the server.
    pub servers: Vec<String>,
    /// How long the certificates of hosts last.
    pub days: u32,
}

/// A directory that cannot be used.
#[derive(Debug)]
pub struct Site(Infallible);

/// A transport that never exists in this build.
#[derive(Debug)]
pub struct SiteTransport(Infallible);

/// An agent that never exists in this build.
#[derive(Debug)]
pub struct Joined(Infallible);

/// A session that never exists in this build.
#[derive(Debug)]
pub struct Session {
    /// The end that gives no bytes.
    pub input: Empty,
    /// The end that drops all bytes.
    pub output: Sink,
}

impl Site {
    /// Always fails: this build cannot make a site.
    pub fn init(_: &SiteRequest) -> Result<Self, NatsError> {
        Err(NatsError::NotBuilt)
    }

    /// Always fails: this build cannot renew certificates.
    pub fn renew(_: &SiteRequest) -> Result<(Self, Vec<String>), NatsError> {
        Err(NatsError::NotBuilt)
    }

    /// Never called, because no `Site` exists in this build.
    #[must_use]
    pub fn after_renewal(&self, _: &[String]) -> String {
        match self.0 {}
    }

    /// Always fails: this build cannot use a site.
    pub fn open(_: &Path) -> Result<Self, NatsError> {
        Err(NatsError::NotBuilt)
    }

    /// Never called, because no `Site` exists in this build.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        match self.0 {}
    }

    /// Never called, because no `Site` exists in this build.
    #[must_use]
    pub fn instructions(&self, _: &[String]) -> String {
        match self.0 {}
    }

    /// Never called, because no `Site` exists in this build.
    pub fn revoke(&mut self, _: &str) -> Result<(), NatsError> {
        match self.0 {}
    }
}

impl SiteTransport {
    /// Always fails: this build cannot connect.
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
    /// Always fails: this build cannot connect.
    pub fn start(_: &Path) -> Result<Self, NatsError> {
        Err(NatsError::NotBuilt)
    }

    /// Never called, because no `Joined` exists in this build.
    pub fn next(
        &mut self,
        _: &AtomicBool,
        _: &mut dyn FnMut(String),
    ) -> Result<Option<Session>, NatsError> {
        match self.0 {}
    }
}

/// Always fails: this build does not start a server.
pub fn up(_: &Path, _: &AtomicBool, _: &mut dyn FnMut(String)) -> Result<(), NatsError> {
    Err(NatsError::NotBuilt)
}
