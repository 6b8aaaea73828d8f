//! Shows results to people: text for a terminal and a self-contained HTML file.
//!
//! Report never measures and never judges: every figure, verdict and sentence comes from the
//! document, and what is not in it is shown as a dash. No document makes it panic: figures may be
//! missing or not numbers, lists may be empty, texts may hold anything.
//!
//! | module | what it makes |
//! |---|---|
//! | [`build()`] | what a report says of documents of any kind, as data for every format |
//! | [`redact`] | the vendor's copy, without names |
//! | [`markdown`], [`csv`] | a report for wikis and tickets, and its loads for spreadsheets and scripts |
//! | [`language`] | the languages that a report is written in |
//! | [`fio`] | the loads in the shape of fio's JSON |
//! | [`io_properties`] | the four figures that ScyllaDB's tuner writes down |
//! | [`format`](mod@format) | the list of formats |
//! | [`text`] | the brief sections of a result for a terminal |
//! | [`chart`] | a picture of figures as SVG |
//! | [`html`] | a report as one file for the browser and the printer |
//! | [`picture`] | a chart as PNG |
//! | [`pictures`](mod@pictures) | the charts of a report as files with a list |
//! | [`xlsx`] | a workbook with tables and charts of Excel |

#![expect(
    clippy::format_push_string,
    reason = "reports are short; write! into a String cannot fail but returns a Result"
)]

mod agreement;
pub mod chart;
pub mod csv;
mod databases;
pub mod fio;
pub mod format;
mod glossary;
pub mod html;
pub mod io_properties;
mod json;
pub mod language;
pub mod listing;
pub mod markdown;
pub mod model;
mod mount_facts;
mod packed;
#[cfg(feature = "png")]
pub mod picture;
#[cfg(not(feature = "png"))]
#[path = "no_picture.rs"]
pub mod picture;
pub mod pictures;
mod ramp;
pub mod ranking;
pub mod redact;
pub mod sections;
pub mod text;
mod words;
#[cfg(feature = "xlsx")]
pub mod xlsx;
#[cfg(not(feature = "xlsx"))]
#[path = "no_xlsx.rs"]
pub mod xlsx;
pub mod zone;

pub use format::{FORMATS, Format};
pub use language::Language;
pub use sections::{
    OverlaySide, build, build_compared, charts, charts_of, comparison_blocks, drift_blocks, names,
    overlay, trend_blocks,
};

use thiserror::Error;

/// Why a report could not be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The document cannot be written as JSON into the report.
    #[error("the document cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A document cannot be read once its names are replaced; nothing is written.
    #[error("names cannot be taken out of the document: {0}")]
    Redacted(#[from] results::DocumentError),
    /// A drawing cannot be made into a picture.
    #[error("the drawing cannot be made into a picture: {reason}; the SVG holds the same")]
    Picture {
        /// The error of the drawing library.
        reason: String,
    },
    /// This program was built without the feature that this needs.
    #[error(
        "this build of iosonde cannot write {what}. Use a package, or the program that `./x build` \
         makes"
    )]
    NotBuilt {
        /// The format that it cannot write.
        what: &'static str,
    },
    /// The library cannot make the workbook.
    #[cfg(feature = "xlsx")]
    #[error("the workbook cannot be made: {0}")]
    Workbook(#[from] rust_xlsxwriter::XlsxError),
    /// The workbook cannot be put together.
    #[cfg(feature = "xlsx")]
    #[error("the workbook cannot be put together: {0}")]
    Archive(#[from] zip::result::ZipError),
    /// The results do not hold what the format needs.
    #[error("{missing}; {remedy}")]
    Missing {
        /// The part that this build lacks.
        missing: String,
        /// How the user can get it.
        remedy: &'static str,
    },
    /// The page's template cannot be filled in.
    #[error("the report's template failed: {0}")]
    Template(#[from] askama::Error),
}
