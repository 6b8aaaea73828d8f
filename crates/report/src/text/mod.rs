//! Results for a terminal: plain text, no colours, at most a hundred columns wide unless a name is
//! longer. The summary of an assessment fits 80 columns and 40 lines.
//!
//! `page` writes down the brief sections of any result, and knows no kind of document.

mod baseline;
mod dim;
mod inspection;
mod layout;
mod page;
mod table;
mod window;

use results::{Comparison, Document, Drift, Measurement, Trend};

use crate::model::{Detail, ResultPart};
use crate::sections;

pub use crate::words::{clean, layer, moment};
pub use baseline::{against_baseline, new_baseline};
pub use dim::dimmed;
pub use inspection::inspection;
pub use layout::{Table, WIDTH, shorten, shorten_path, wrap};
pub use window::{devices as device_figures, host_line};

/// A document as its command shows it.
#[must_use]
pub fn document(document: &Document) -> String {
    part(&sections::part(document, Detail::Brief))
}

/// A result with all of its sections.
#[must_use]
pub fn part(part: &ResultPart) -> String {
    page::part(part)
}

/// The measurements of an experiment that did not come to its end.
#[must_use]
pub fn kept(measurements: &[Measurement]) -> String {
    page::blocks(None, &sections::kept(measurements))
}

/// A comparison as text, with the verdict first.
#[must_use]
pub fn comparison(comparison: &Comparison) -> String {
    let verdict = format!("Verdict: {}", clean(&comparison.explanation));
    page::blocks(Some(&verdict), &crate::comparison_blocks(comparison, Detail::Brief))
}

/// A figure over many dates, as text.
#[must_use]
pub fn trend(trend: &Trend) -> String {
    page::blocks(None, &crate::trend_blocks(trend, Detail::Brief))
}

/// What a device does now, and how much of what it can do that is.
#[must_use]
pub fn drift(drift: &Drift) -> String {
    page::blocks(None, &crate::drift_blocks(drift))
}
