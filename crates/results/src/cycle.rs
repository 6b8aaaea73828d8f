//! The document of an IOMeter configuration that was run, `iosonde.cycle/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Conclusion;
use crate::measurement::Measurement;

/// All runs of an IOMeter configuration, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cycle {
    /// Name of the configuration file, without its directory.
    pub file: String,
    /// What the file calls the test; may be empty.
    pub description: String,
    /// What changes from run to run, in IOMeter's word: `NORMAL`, `CYCLE_OUTSTANDING_IOS`, …
    pub test_type: String,
    /// Every run in its order, whether or not it was measured.
    pub runs: Vec<CycleRun>,
}

/// One run that the configuration asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CycleRun {
    /// Its access specification; several where workers have different ones.
    pub specs: Vec<String>,
    /// How many workers do I/O in it.
    pub workers: u64,
    /// Targets of all workers; one that several workers use counts once for each of them.
    pub targets: u64,
    /// Outstanding I/Os of each worker on each target; absent if workers differ.
    pub outstanding: Option<u32>,
    /// I/Os in flight, over all workers and targets.
    pub in_flight: u64,
    /// Its place among the measurements of the document; absent without a measurement.
    pub measurement: Option<usize>,
    /// Why there is no measurement; absent if there is one.
    pub reason: Option<String>,
}

impl Cycle {
    /// What it is, in a phrase: the description, or else the name of the file.
    #[must_use]
    pub fn title(&self) -> String {
        if self.description.is_empty() { self.file.clone() } else { self.description.clone() }
    }
}

impl Conclusion for Cycle {
    const SCHEMA: &'static str = "iosonde.cycle/1";

    fn title(&self, _: &[Measurement]) -> String {
        self.title()
    }
}
