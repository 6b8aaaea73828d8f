//! What a command does, startable from anywhere: a plan in, one stream of events out, documents at
//! the end.
//!
//! A [`Plan`] is pure data. [`conduct`] carries it out: it opens the history, tells every [`Sink`]
//! what happens, hands each finished document to them, and keeps it. Flags, screens, signals and
//! exit codes belong to the caller.

mod again;
mod conduct;
mod drift;
mod durability;
mod event;
mod experiments;
mod import;
mod job;
mod live;
mod monitor;
mod plan;
mod recorder;
mod run;
mod runs;
mod subject;
mod sweep;
mod validate;

pub use again::{Again, AgainError, Original, again};
pub use conduct::{Conducted, JobError, Session, conduct};
pub use drift::{DriftError, drift};
pub use durability::{DurabilityPlan, VerifyRequest, verify, write_durably};
pub use event::{Event, Sink};
pub use import::{ImportError, Importer};
pub use job::{Description, Job};
pub use monitor::{MonitorPlan, WatchError, set_all_beside};
pub use plan::{Plan, PlanError, RunsPlan};
pub use recorder::{Recorder, Recording};
pub use subject::Subject;
pub use sweep::{
    Companion, NoCompanion, SweepPlan, SweepStart, counted_cells, describe_sweep, sweep,
    sweep_duration,
};
pub use validate::{
    CleanReport, FilePlan, LedgerPlace, MappedConfiguration, Notices, Places, ResizePlan,
    SqliosimPlace, ValidatePlan, check_engine, clean, of_sqliosim, validate,
};
