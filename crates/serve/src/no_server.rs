//! The stand-in for the server in a program that was built without it: nothing listens.

#![expect(clippy::needless_pass_by_value, reason = "the signatures are those of the server")]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use history::Place;
use report::Language;

use crate::ServeError;

/// Never exists, because this build lacks the server.
#[derive(Debug)]
pub struct Listener(Infallible);

/// Never exists, because this build lacks the server.
#[derive(Debug)]
pub struct Server(Infallible);

/// A secret that nothing asks for.
#[derive(Debug)]
pub struct Token(Infallible);

/// A metrics text that nobody reads.
#[derive(Debug, Clone, Default)]
pub struct MetricsText(());

impl Listener {
    /// Refuses: this build has no server.
    pub fn bind(_: Option<SocketAddr>, _: Option<Token>) -> Result<Self, ServeError> {
        Err(ServeError::NotBuilt)
    }

    /// Refuses: this build has no server.
    pub fn for_metrics(_: SocketAddr, _: Option<Token>) -> Result<Self, ServeError> {
        Err(ServeError::NotBuilt)
    }

    /// Never called: there is no listener.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self.0 {}
    }

    /// Never called: there is no listener.
    #[must_use]
    pub fn url(&self, _: &str) -> String {
        match self.0 {}
    }
}

impl Server {
    /// Never called: there is no listener.
    pub fn open(listener: Listener, _: &Place, _: Language) -> Result<Self, ServeError> {
        match listener.0 {}
    }

    /// Never called: there is no server.
    pub fn run(self, _: &Arc<AtomicBool>) -> Result<(), ServeError> {
        match self.0 {}
    }
}

impl Token {
    /// Refuses: this build has no server.
    pub fn parse(_: &str) -> Result<Self, ServeError> {
        Err(ServeError::NotBuilt)
    }
}

impl MetricsText {
    /// Does nothing: nobody reads the text.
    pub fn set(&self, _: String) {}
}

/// Never called: there is no listener.
pub fn serve_metrics(
    listener: Listener,
    _: MetricsText,
    _: &'static str,
    _: &AtomicBool,
) -> Result<(), ServeError> {
    match listener.0 {}
}
