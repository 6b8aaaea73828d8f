//! Connects to a PostgreSQL server: URL, password, encryption.
//!
//! A [`ServerUrl`] has libpq's form and shows no password; `connect` opens a connection to it. The
//! caller decides what to do there.
//!
//! Without the feature `client`, URLs are recognised and refused.

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod passwords;
#[cfg(feature = "client")]
mod tls;
mod url;

#[cfg(feature = "client")]
pub use client::{ConnectError, connect, is_lost, whole};
#[cfg(feature = "client")]
pub use tls::{Trust, client_config, roots};
pub use url::{ServerUrl, Tls, UrlError, is_loopback, shown};
