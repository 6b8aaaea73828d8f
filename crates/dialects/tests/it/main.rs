//! The command lines, files and results of other tools.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod diskspd_hostile;
mod diskspd_import;
mod diskspd_input;
mod diskspd_job;
mod diskspd_results;
mod fio;
mod fio_text;
mod identities;
mod iometer;
mod iometer_results;
mod sqlio;
