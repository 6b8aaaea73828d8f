//! Many hosts, one experiment: the processes around the decisions of `fleet`.
//!
//! An [`agent`] serves a coordinator on a pair of pipes and carries out what its own host allows.
//! The coordinator, [`run`], reaches the agents through `ssh` and puts together what they measured.
//! When who does what is decided in `fleet`; how a load is run, in `jobs`.

pub mod agent;
mod document;
mod pipes;
mod run;
mod ssh;
mod together;

pub use fleet::LossPolicy;
pub use run::{FleetRequest, planned, run};
pub use ssh::Ssh;
