//! A fleet over a real nats-server.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod common;
#[cfg(all(unix, feature = "client"))]
mod delivery;
#[cfg(all(unix, feature = "client"))]
mod security;
