//! Devices of known behaviour on the real path through the kernel: what instruments are calibrated
//! with. For tests.
//!
//! [`Truth`] is a file system whose files behave as a [`workload::SimDevice`] says, in real time,
//! and which counts what it delivered. It commits the faults of a [`FaultPlan`], and knows which
//! reader got wrong bytes. [`LoopDevice`] makes a block device of a file; [`Throttle`] has the
//! kernel limit one. [`Watch`] tells whether the host was quiet enough for a figure of time to mean
//! anything.
//!
//! All of it needs Linux and root, some of it more. Where it cannot be had, the constructor says
//! why, and a test that depends on it calls `testing::skip` with its name.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub use linux::{
    Cache, Delivered, Direction, Fault, FaultPlan, Injected, Limits, LoopDevice, Lost,
    SECTOR_BYTES, Span, Throttle, Torn, Truth, Unavailable, Watch, When,
};
