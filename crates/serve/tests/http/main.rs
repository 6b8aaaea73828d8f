//! The server over HTTP: what it answers, what it refuses, and that no request breaks anything.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod access;
mod events;
mod hostile;
mod pages;
mod served;
