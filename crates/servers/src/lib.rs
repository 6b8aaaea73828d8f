//! Connects to a PostgreSQL server: URL, password, encryption.
//!
//! A [`ServerUrl`] is as libpq takes it and shows no password; `connect` goes where it leads.
//! What is asked there is the caller's matter.
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
