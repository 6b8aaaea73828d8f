//! What is worth knowing about a set-up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Good to know when reading the figures.
    Info,
    /// Costs speed or safety, or makes the figures mean something else.
    Warning,
    /// A database should not live here, or the figures are not those of a storage device.
    Serious,
}

/// One observation about the set-up of the storage, for a DBA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// A stable name to search for, in kebab case, such as `partition-misaligned`.
    pub code: String,
    /// What was found, in one sentence with the numbers.
    pub message: String,
    /// What to do about it, where something can be done.
    pub remedy: Option<String>,
}
