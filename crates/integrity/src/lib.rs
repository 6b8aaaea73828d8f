//! Does the storage return what was written? A simulated database whose pages know what they are,
//! what every page should hold, and what it means when one holds something else.
//!
//! A [`PageFormat`] makes the bytes of a page from its place, its version and a seed, and
//! recognises them again, sector by sector. A [`Ledger`] keeps the version that every page should
//! have, outside of the pages: a page that is whole and of an older version has lost a write, which
//! no checksum inside of it can tell. [`classify`] says what happened to a page that is not as it
//! should be. [`run`] lets the users of a [`Plan`] work on files of such pages, keeps a log ahead
//! of them, and checks everything that is read.
//!
//! [`durability`] is the test of a power cut, which makes its pages with the same [`PageFormat`].

mod belonging;
mod block;
mod checks;
mod classify;
mod document;
mod dump;
pub mod durability;
mod events;
mod figures;
mod files;
mod kept;
mod ledger;
mod log;
mod log_checks;
mod mapped;
mod pace;
mod page;
mod past_cache;
mod phases;
mod plan;
mod plan_file;
mod profile;
mod remembered;
mod report;
mod rules;
mod run;
mod shared;
mod site;
mod tables;
mod units;
mod users;
mod waiting;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;

#[cfg(windows)]
#[path = "windows/mod.rs"]
mod platform;

#[cfg(not(any(target_os = "linux", windows)))]
#[path = "other/mod.rs"]
mod platform;

pub use belonging::ForeignFile;
pub use block::BlockSector;
pub use checks::Touched;
pub use classify::{Examined, Fault, SectorState, classify, examine};
pub use document::{ValidationRequest, validation};
pub use dump::dump;
pub use events::{Event, Glance, Hear, Notice, NoticeKind, RecentIo};
pub use figures::{FileFigures, KindFigures};
pub use files::{Change, Resize, Shape};
pub use kept::{KeptError, KeptLedger};
pub use ledger::{Claim, Ledger, LedgerError, Recovered};
pub use pace::Paced;
pub use page::{PageError, PageFormat, PageId, SECTOR_BYTES, Stamp};
pub use plan::{
    Hardening, Logging, PageOrder, PageUsers, Plan, RandomUsers, Resizing, ScanUsers, TableUsers,
    Throttle,
};
pub use plan_file::{PlanFile, PlanFileError, plan_text, read_plan};
pub use profile::Imitated;
pub use report::{FaultKind, FaultReport, IoFailure, LogFault, Report, Resumed, failure_words};
pub use results::{DatabaseWork, PageDamage, Persistence};
pub use rules::PlanError;
pub use run::{OpenQueue, Phase, Place, Role, RunError, run, run_kept, slot_bytes, stream};
