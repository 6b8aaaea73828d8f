//! One load on many hosts, started at the same moment.
//!
//! A coordinator sends a plan to an agent on each host. Every agent makes its targets ready and
//! votes. The coordinator then compares clocks and names the moment at which all of them start. No
//! message is needed after that, so the precision comes from the clocks and not from the network.
//!
//! [`Agent`] and [`Coordinator`] decide; a [`Transport`] carries messages. Plans, events and
//! results are JSON here: this crate does not look into them, makes no I/O and has no clock. The
//! processes around it are in `hosts`.

mod agent;
mod clock;
mod coordinator;
mod message;
mod order;
mod transport;

pub use agent::{Action, Agent, FORSAKEN_NS, SILENCE_NS};
pub use clock::{ClockEstimate, PINGS, Ping};
pub use coordinator::{Coordinator, conduct};
pub use message::{MESSAGE_BYTES, NotAMessage, PROTOCOL, ToAgent, ToCoordinator, parse, read_line};
pub use order::{FleetError, FleetRun, HostRun, LossPolicy, NotAPolicy, Order, Watch};
pub use transport::{Arrival, Transport};
