//! What a command does, startable from anywhere: a plan in, one stream of events out, documents at
//! the end.
//!
//! A [`Plan`] is pure data. [`conduct`] carries it out: it opens the history, tells every [`Sink`]
//! what happens, hands each finished document to them, and keeps it. Flags, screens, signals and
//! exit codes belong to the caller.

mod again;
mod begun;
mod conduct;
mod conversion;
mod cpus;
pub mod diskspd;
mod event;
mod experiments;
pub mod files;
mod iometer;
mod job;
mod live;
mod places;
mod plan;
mod recorder;
mod run;
mod runs;
pub mod sqlio;
mod subject;
mod sweep;
mod tool;

pub use again::{Again, AgainError, Original, again};
pub use begun::BegunFiles;
pub use conduct::{Conducted, JobError, Session, conduct};
pub use conversion::{Conversion, Converted, ConvertedText, first_workload};
pub use event::{Event, Sink};
pub use iometer::{CycleCall, CyclePlan};
pub use job::{Description, Job, Steps};
pub use places::Places;
pub use plan::{Plan, PlanError, RunsPlan};
pub use recorder::{Recorder, Recording};
pub use subject::Subject;
pub use sweep::{Companion, NoCompanion, PreparedSweep, SweepPlan, counted_cells, sweep_precision};
pub use tool::{Terminal, ToolSession};
