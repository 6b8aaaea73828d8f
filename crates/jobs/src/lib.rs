//! What a command does, startable from anywhere: a plan in, one stream of events out, documents at
//! the end.
//!
//! A [`Plan`] is pure data. [`conduct`] carries it out: it opens the history, tells every [`Sink`]
//! what happens, hands each finished document to them, and keeps it. Flags, screens, signals and
//! exit codes belong to the caller.

mod again;
mod begun;
mod conduct;
mod cpus;
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
mod subject;
mod sweep;

pub use again::{Again, AgainError, Original, again};
pub use begun::{BegunFiles, announcements};
pub use conduct::{Conducted, JobError, Session, conduct};
pub use cpus::check_cpus;
pub use event::{Event, Sink};
pub use iometer::{CycleCall, CyclePlan};
pub use job::{Description, Job, Steps};
pub use places::Places;
pub use plan::{Plan, PlanError, RunsPlan};
pub use recorder::{Recorder, Recording};
pub use subject::Subject;
pub use sweep::{
    Companion, NoCompanion, SweepPlan, SweepStart, counted_cells, describe_sweep, sweep,
    sweep_duration,
};
