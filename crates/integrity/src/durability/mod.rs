//! Does what was acknowledged as durable survive a crash? A writer, a witness of what was promised,
//! and the check afterwards.
//!
//! Everything follows from the seed of a [`Plan`]: which page the k-th operation of a thread
//! writes, and every byte of it. So what was promised is one number per thread ([`Promised`]), and
//! the [`serve`]d witness keeps nothing else. A [`Writer`] makes the operations in batches and
//! promises a batch when the storage has acknowledged it as durable; [`Promises`] takes the
//! promises to the witness and stops the writer from running too far ahead. After the crash,
//! [`verify`] reads everything: operations up to the mark must be there, a known number after it
//! may be, and [`conclude`] names what must not be there.

mod conclude;
mod counted;
mod judge;
mod plan;
mod promises;
mod reader;
mod state;
mod verify;
mod witness;
mod writer;

pub use conclude::{conclude, method};
pub use judge::SectorFound;
pub use plan::{
    Header, LOG_RECORD_BYTES, Order, Plan, PlanError, Role, SCHEMA_OF_WITNESS, Shape, SyncMode,
    Target,
};
pub use promises::{Promises, WitnessLost};
pub use results::Loss;
pub use state::{FILE_BYTES_MAX, Promised, State, StateError, StateFile, parse_state};
pub use verify::{Checked, VerifyError, verify};
pub use witness::{WitnessError, serve};
pub use writer::{Writer, WriterError};
