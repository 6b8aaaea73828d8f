//! Does what a workload says, and measures it.
//!
//! [`prepare`] makes targets ready without harming anybody's data; [`run`] makes the I/O and gives
//! a [`results::Measurement`]; everything that happens meanwhile is one stream of [`Event`]s.
//! Between the start and the end of a run, workers allocate nothing, take no lock and print
//! nothing.

mod begin;
mod buffers;
mod checks;
mod choices;
mod clock;
mod collect;
mod content;
mod contents;
mod crew;
mod destroy;
mod diskspd;
mod drive;
mod error;
mod event;
mod fill;
mod glance;
mod inline;
mod job;
mod lane;
mod late;
mod mark;
mod matrix;
mod memory;
mod mix;
mod null;
mod offsets;
mod opened;
mod outcome;
mod pace;
mod pool;
mod prepare;
mod prepared;
mod queue;
mod random;
mod ready;
mod recorder;
mod resize;
mod resizer;
mod run;
mod shared;
mod silent;
mod sim;
mod source;
mod spread;
mod targets;
mod teams;
mod timeline;
mod watch;
mod worker;
mod write_out;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;

#[cfg(windows)]
#[path = "windows/mod.rs"]
mod platform;

// Functions of names and numbers, which are tested on every system.
#[cfg(any(windows, test))]
#[path = "windows/names.rs"]
mod windows_names;
#[cfg(any(windows, test))]
#[path = "windows/outcome.rs"]
mod windows_outcome;
#[cfg(any(windows, test))]
#[path = "windows/pieces.rs"]
mod windows_pieces;

#[cfg(test)]
mod contract;

pub use clock::Clock;
pub use destroy::Destroy;
pub use drive::sleep_until;
pub use error::EngineError;
pub use event::{Event, Go, Observer, Start, WorkerNames, WorkerPoint};
pub use lane::{WriteContent, open_queue, open_queue_for};
pub use late::LateWaits;
pub use mark::{MARK_BYTES, Mark};
pub use memory::{available as available_memory, check as check_memory};
pub use outcome::new_id;
pub use platform::Prompt;
pub use prepare::{Filling, plan, prepare, prepare_as, set_usual_size, usual_size_bytes};
pub use prepared::{
    Action, Cleaned, Permissions, PrepareError, Prepared, PreparedTarget, Refusal, TargetPlan,
    clean,
};
pub use queue::{Finished, Op, Queue, Request};
pub use random::{mixed, unrepeated_seed};
pub use resizer::Resizer;
pub use run::{Backend, run};

/// Refuses names that mean something else than they say on this system, such as raw drives on
/// Windows.
///
/// # Errors
/// The name is such a one.
pub fn check_name(path: &std::path::Path) -> Result<(), Refusal> {
    platform::guard::check_name(path)
}

/// The CPUs that this process may run on, by number; empty where the system does not tell.
#[must_use]
pub fn allowed_cpus() -> Vec<u32> {
    platform::allowed_cpus()
}

/// For how long the calling thread has run or waited for a processor, in nanoseconds; `None` if the
/// system does not count it.
#[must_use]
pub fn thread_wanted_ns() -> Option<u64> {
    platform::thread_wanted_ns()
}
