//! A fleet over a NATS server: hosts that the coordinator cannot reach connect to the server, too.
//!
//! The server passes messages on and keeps nothing. Whatever it loses is sent again by the two
//! ends, so that a server that is restarted costs no message. Who may connect follows from
//! certificates alone, and each host speaks and hears under its own name only.
//!
//! | module | what it does |
//! |---|---|
//! | `names` | names of hosts and addresses of servers, as they are typed |
//! | `authority` | keys, and certificates that a private authority signs |
//! | `bundle` | the file that a host is given |
//! | `files` | files that are private from the beginning and never overwritten |
//! | `site` | the directory of a fleet, and what its server is told |
//! | `server` | nats-server as a process |
//! | `link` | bytes over a network that loses messages; without network and clock |
//! | `connection` | one connection to the server |
//! | `pulse` | whether the server answers, and so whether silence is that of hosts |
//! | `coordinator`, `agent` | the two ends |
//!
//! What is said over it is in `fleet`, and what an agent does in `hosts`.

#[cfg(feature = "client")]
mod agent;
#[cfg(feature = "client")]
mod authority;
#[cfg(feature = "client")]
mod bundle;
#[cfg(feature = "client")]
mod connection;
#[cfg(feature = "client")]
mod coordinator;
#[cfg(feature = "client")]
mod files;
#[cfg(feature = "client")]
mod link;
#[cfg(feature = "client")]
mod names;
#[cfg(feature = "client")]
mod pulse;
#[cfg(feature = "client")]
mod server;
#[cfg(feature = "client")]
mod site;
#[cfg(not(feature = "client"))]
#[path = "no_client.rs"]
mod site;

use std::io;
use std::path::PathBuf;

use thiserror::Error;

#[cfg(feature = "client")]
pub use agent::{Joined, Session, SessionInput, SessionOutput};
#[cfg(feature = "client")]
pub use coordinator::SiteTransport;
#[cfg(feature = "client")]
pub use server::up;
#[cfg(not(feature = "client"))]
pub use site::{Joined, Session, SiteTransport, up};
pub use site::{Site, SiteRequest};

/// Why there is no fleet over a server.
#[derive(Debug, Error)]
pub enum NatsError {
    /// Something was asked for in a way that cannot be.
    #[error("{0}")]
    Usage(String),
    /// The directory of a fleet, or a file in it, exists already.
    #[error(
        "`{}` is there already. Choose another directory, or add hosts with `--host`",
        .0.display()
    )]
    Exists(PathBuf),
    /// A directory is not that of a fleet.
    #[error(
        "`{}` is not the directory of a fleet. Make one: iosonde fleet init {}",
        .0.display(), .0.display()
    )]
    NotASite(PathBuf),
    /// A file is something else, or of another version.
    #[error("`{}`: {why}. Use the file as `iosonde fleet init` made it", path.display())]
    NotCredentials {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Every user may read a key.
    #[error(
        "every user of this host may read `{}`. Keep it private: chmod 600 {}",
        .0.display(), .0.display()
    )]
    Open(PathBuf),
    /// The fleet has no such host.
    #[error(
        "`{}` has no host `{host}`; it has {has}. Add it: iosonde fleet init {} --host {host}",
        directory.display(), directory.display()
    )]
    UnknownHost {
        /// The name that the fleet does not list.
        host: String,
        /// The directory of the fleet.
        directory: PathBuf,
        /// The names of all its hosts, separated by commas; `none` without hosts.
        has: String,
    },
    /// A file or directory cannot be read, made or written, or a program cannot be started.
    #[error("cannot {what} `{}`: {source}", path.display())]
    File {
        /// What was tried, as a verb.
        what: &'static str,
        /// The file, directory or program.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A certificate cannot be made or used.
    #[error("cannot use this certificate or key: {0}")]
    Certificates(String),
    /// The program `nats-server` cannot be found.
    #[error(
        "cannot find `nats-server`. Install it (Debian and Ubuntu: apt install nats-server; \
         elsewhere: https://nats.io/download), or put it on PATH"
    )]
    NoServer,
    /// Another program listens on the port of the server.
    #[error(
        "port {0} is in use on this host. Where Debian's own nats-server has it, which has no TLS, \
         stop that: systemctl disable --now nats-server"
    )]
    PortInUse(u16),
    /// The server's configuration is not the one that iosonde writes.
    #[error(
        "`{}` was changed by hand and may let in anybody, so the server is not started with it. \
         Remove the changes, or start nats-server yourself", .0.display()
    )]
    Changed(PathBuf),
    /// nats-server ended, though iosonde did not stop it.
    #[error("nats-server ended ({0}); its own messages say why")]
    ServerEnded(String),
    /// The server did not read its configuration.
    #[error("nats-server did not take its new configuration: {0}. Start it again")]
    NotReloaded(String),
    /// The client cannot connect to the server, for now.
    #[error("cannot reach the server at {at}: {why}")]
    NoConnection {
        /// The addresses of the server, separated by commas.
        at: String,
        /// The error of the NATS client.
        why: String,
    },
    /// The server, or its certificate, is not accepted, or does not accept ours.
    #[error(
        "the server at {at} and these credentials do not fit: {why}. They may have expired, or \
         belong to another fleet; `iosonde fleet init --renew` makes new ones"
    )]
    Refused {
        /// The addresses of the server, separated by commas.
        at: String,
        /// The error, with its causes.
        why: String,
    },
    /// The host was removed from the fleet.
    #[error(
        "the server at {0} no longer lets this host in: `iosonde fleet revoke` removed it, or its \
         certificate expired"
    )]
    Revoked(String),
    /// The thread of the connection cannot work.
    #[error("cannot start the connection: {0}")]
    NoThread(String),
    /// The thread of the connection is gone.
    #[error("the connection to the server ended")]
    Ended,
    /// This build lacks the feature `client`.
    #[error(
        "this build of iosonde cannot connect to NATS. Use a package, or the program that `./x \
         build` makes; `--ssh` works with every build"
    )]
    NotBuilt,
}

#[cfg(feature = "client")]
impl From<rcgen::Error> for NatsError {
    fn from(error: rcgen::Error) -> Self {
        Self::Certificates(error.to_string())
    }
}
