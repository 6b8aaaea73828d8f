//! Plans of whole commands, carried out on simulated devices.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod capture;
mod model;
mod replay;
