//! The devices on Linux.

mod cache;
mod delivered;
mod faults;
mod files;
mod guard;
mod loop_device;
mod mounted;
mod priority;
mod server;
mod throttle;
mod unavailable;
mod watch;

pub use cache::{Cache, Lost};
pub use delivered::{Delivered, Direction};
pub use faults::{Fault, FaultPlan, Injected, SECTOR_BYTES, Span, Torn, When};
pub use loop_device::LoopDevice;
pub use mounted::Truth;
pub use throttle::{Limits, Throttle};
pub use unavailable::Unavailable;
pub use watch::Watch;
