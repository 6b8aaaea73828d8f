//! The document of one workload that was run several times, `iosonde.runs/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Conclusion;
use crate::measurement::Measurement;
use crate::noise::Trust;

/// The same workload, run several times: each run is its own measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Runs {
    /// The load in words, for example `8 KiB random read`.
    pub title: String,
    /// How many runs were asked for.
    pub asked: u32,
    /// How well the I/Os a second repeat from run to run.
    pub trust: Trust,
}

impl Conclusion for Runs {
    const SCHEMA: &'static str = "iosonde.runs/1";

    fn title(&self, _: &[Measurement]) -> String {
        self.title.clone()
    }
}
