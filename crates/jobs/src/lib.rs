//! What a command does, startable from anywhere: a plan in, one stream of events out, documents at
//! the end.
//!
//! A [`Plan`] is pure data. [`conduct`] carries it out: it opens the history, tells every [`Sink`]
//! what happens, hands each finished document to them, and keeps it. Flags, screens, signals and
//! exit codes belong to the caller.

mod again;
mod asked;
mod baseline;
mod begun;
mod capture;
mod conduct;
mod conversion;
mod cpus;
pub mod diskspd;
mod drift;
mod durability;
mod ends;
mod event;
mod experiments;
pub mod files;
mod fleet;
mod import;
mod iometer;
mod job;
mod live;
mod model;
mod monitor;
mod outcome;
mod places;
mod plan;
mod recorder;
mod relog;
mod replay;
mod run;
mod runs;
mod specs;
pub mod sqlio;
pub mod sqliosim;
mod subject;
mod sweep;
mod system_tool;
mod tool;
mod validate;

pub use self::capture::{
    CaptureMethod, ImportRequest, RecordRequest, Recorded, TraceFormat, anonymise_trace,
    device_path, import_trace, record_trace, show_trace,
};
pub use self::replay::{
    FitPlan, FitTarget, Growth, LatencyLimit, PartPlan, ReplayPlan, ReplayTarget, TraceMoment,
};
pub use again::{Again, AgainError, Original, Resumable, again, resumable};
pub use asked::{check_destroy, expected_claims, simulated_device};
pub use baseline::{BASELINE_RESULTS, Baseline, compare_with_baseline, set_baseline};
pub use begun::BegunFiles;
pub use conduct::{Conducted, JobError, Session, conduct, conduct_one};
pub use conversion::{Conversion, Converted, ConvertedText, FirstWorkload, first_workload};
pub use drift::{DriftError, drift};
pub use durability::{DurabilityPlan, VerifyRequest, verify, write_durably};
pub use event::{Event, Sink};
pub use fleet::{FleetPlan, FleetReach};
pub use import::{ImportError, ImportedFile, Importer};
pub use iometer::{CycleCall, CyclePlan};
pub use job::{Description, Job, Steps};
pub use model::ModelRequest;
pub use monitor::{MonitorPlan, WatchError, set_all_beside};
pub use outcome::Outcome;
pub use places::Places;
pub use plan::{Plan, PlanError, RunsPlan};
pub use recorder::{Recorder, Recording, UnfinishedJob};
pub use run::{HeldTargets, run_held};
pub use runs::compare_sides;
pub use specs::{place_in_file, spec_of_file, specs_of_file};
pub use subject::Subject;
pub use sweep::{
    Companion, NoCompanion, PreparedSweep, SweepPlan, counted_cells, sweep_on, sweep_precision,
    sweep_presets,
};
pub use system_tool::ToolError;
pub use tool::{Terminal, ToolSession};
pub use validate::{
    CleanReport, FilePlan, LedgerPlace, MappedConfiguration, Notices, ResizePlan, SqliosimPlace,
    ValidatePlan, ValidateTargets, check_engine, clean, of_sqliosim, validate,
};
