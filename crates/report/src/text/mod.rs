//! Results for a terminal: plain text, no colours, at most a hundred columns wide unless a name is
//! longer.

mod assessment;
mod comparison;
mod cycle;
mod durability;
mod experiment;
mod inspection;
mod kernel;
mod knee;
mod layout;
mod log_faults;
mod measurement;
mod recording;
mod runs;
mod scale;
mod sizes;
mod sweep;
mod trend;
mod validation;

use results::Document;

pub use assessment::assessment;
pub use comparison::comparison;
pub(crate) use comparison::{signed, value as figure_value, verdict as verdict_word};
pub use cycle::{CycleDetail, cycle};
pub use durability::durability;
pub use inspection::{findings_head, inspection};
pub use knee::knee;
pub use layout::{Table, WIDTH, shorten, shorten_path, wrap};
pub use measurement::measurement;
pub(crate) use recording::alert_time;
pub use recording::{devices as device_figures, host_line, layer, recording};
pub use runs::{kept, runs};
pub use scale::scale;
pub use sizes::sizes;
pub use sweep::{CSV_HEAD, sweep, sweep_csv};

pub use crate::words::{clean, moment};
pub(crate) use log_faults::{log_fault_details, log_fault_sentence, sectors};
pub use trend::{drift, trend};
pub use validation::validation;
pub(crate) use validation::{WAITED, fault_details, fault_sentence, is_database, resumed_sentence};

/// A document as its command shows it.
#[must_use]
pub fn document(document: &Document) -> String {
    match document {
        Document::Measurement(d) => measurement(d),
        Document::Runs(d) => runs(d),
        Document::Assessment(d) => assessment(d, None),
        Document::Knee(d) => knee(d),
        Document::Sweep(d) => sweep(d),
        Document::Sizes(d) => sizes(d),
        Document::Scale(d) => scale(d),
        Document::Validation(d) => validation(d),
        Document::Durability(d) => durability(d),
        Document::Cycle(d) => cycle(d, CycleDetail::Total),
        Document::Recording(d) => recording(d),
    }
}
