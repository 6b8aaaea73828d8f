//! Loads from elsewhere: files of other tools, and access specifications by name.

mod convert;
mod specs;

pub(crate) use convert::{WorkloadArgs, about, workload};
pub(crate) use specs::{SpecsArgs, specs, split, streams};
