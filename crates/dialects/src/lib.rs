//! The tools people come from: their command lines, files and outputs, each in its own module.
//!
//! A dialect turns what people have (a command line, a parameter file, a profile, a result) into
//! iosonde's words, and iosonde's results into the text that their scripts read. Nothing here
//! measures, and nothing here touches a file: input comes as bytes, output leaves as text.

pub mod convert;
mod dialect;
pub mod diskspd;
pub mod drives;
pub mod fio;
pub mod foreign;
pub mod habits;
pub mod identities;
pub mod iometer;
mod losses;
pub mod markup;
pub mod recognise;
pub mod sqlio;
pub mod sqliosim;
pub mod text;
pub mod xml;

pub use dialect::{Dialect, ResultFile, WorkloadFile};

/// Every dialect, in the order in which a file of results is looked at: SQLIO's text has no mark of
/// its own, and comes last. The names that the program answers to, `iosonde workload convert`, and
/// `iosonde history import` read this list.
pub static DIALECTS: [&Dialect; 5] =
    [&fio::DIALECT, &diskspd::DIALECT, &iometer::DIALECT, &sqliosim::DIALECT, &sqlio::DIALECT];
