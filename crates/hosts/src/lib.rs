//! Many hosts, one experiment: the processes around the decisions of `fleet`.
//!
//! An [`agent`] serves a coordinator on a pair of pipes, or each that a server brings, and carries
//! out what its own host allows. The coordinator, [`conduct`], reaches the agents through `ssh` or
//! a NATS server and puts together what they measured. When who does what is decided in `fleet`;
//! how a load is run, in `jobs`; how a search continues, in `survey`.

pub mod agent;
mod combined;
mod document;
mod each;
mod following;
mod look;
mod pipes;
mod places;
mod plan;
#[cfg(unix)]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(not(unix))]
#[path = "windows/mod.rs"]
mod platform;
mod reach;
mod resume;
mod run;
mod search;
mod site;
mod ssh;
mod together;
mod watching;

pub use fleet::LossPolicy;
pub use look::{FleetHosts, HostReport, LookRequest, SharedStorage, TargetReport, look};
pub use plan::planned;
pub use reach::{SiteRequest, init, of_site, renew, revoke, up};
pub use resume::{ResumeRequest, resume};
pub use run::{as_one, conduct, over, with_managers};
pub use watching::Watching;
