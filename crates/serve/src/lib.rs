//! The history in a browser.
//!
//! A small web server that reads a history and shows it: the list, one result, two results
//! compared, trends, and a run that is under way. It only reads: requests other than `GET` and
//! `HEAD` are refused, nothing of a request becomes SQL or a path, and what a page needs (style,
//! script) is inside the program.
//!
//! | module | what it does |
//! |---|---|
//! | `listen` | which addresses may be listened on, and under which conditions |
//! | `access` | who may ask: host names, the token, methods, sizes; the headers of every answer |
//! | `connections` | one task for each connection, with limits in time and number |
//! | `store` | a few connections to the history, used from threads that may wait |
//! | `pages` | what is shown |
//! | `problem` | what went wrong, as a page |

#[cfg(feature = "server")]
mod access;
#[cfg(feature = "server")]
mod assets;
#[cfg(feature = "server")]
mod connections;
#[cfg(feature = "server")]
pub mod listen;
#[cfg(feature = "server")]
mod metrics;
#[cfg(feature = "server")]
mod pages;
#[cfg(feature = "server")]
mod parameters;
#[cfg(feature = "server")]
mod problem;
#[cfg(not(feature = "server"))]
#[path = "no_server.rs"]
mod server;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod store;
#[cfg(feature = "server")]
mod token;

use std::io;
use std::net::SocketAddr;

use history::HistoryError;
use thiserror::Error;

#[cfg(feature = "server")]
pub use listen::Listener;
#[cfg(feature = "server")]
pub use metrics::{MetricsText, serve_metrics};
pub use server::Server;
#[cfg(not(feature = "server"))]
pub use server::{Listener, MetricsText, Token, serve_metrics};
#[cfg(feature = "server")]
pub use token::Token;

/// Why the history cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; name another with `{flag} ADDRESS:PORT`")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
        /// The flag that names the address.
        flag: &'static str,
    },
    /// The text is not a token.
    #[error("{0}")]
    Token(&'static str),
    /// The operating system has no random numbers, or no means to wait for connections.
    #[error("cannot start the server: {0}")]
    Start(io::Error),
    /// This program was built without the feature `server`.
    #[error(
        "this build of iosonde has no web server. Use a package, or the program that `./x build` \
         makes"
    )]
    NotBuilt,
    /// The history cannot be opened or read.
    #[error(transparent)]
    History(Box<HistoryError>),
}

impl From<HistoryError> for ServeError {
    fn from(error: HistoryError) -> Self {
        Self::History(Box::new(error))
    }
}
