//! The real program on real files: what it writes to stdout, what it does to other people's data,
//! how it ends.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod assess;
mod baseline;
mod columns;
mod coming_from;
mod compare;
mod config;
mod convert;
mod devices;
mod diskspd;
mod durability;
mod exchange;
mod expect;
mod file_systems;
mod fio_shape;
mod foreign;
mod foreign_files;
mod foreign_loads;
mod habits;
mod hanging;
mod help;
mod history;
mod history_failures;
mod imports;
mod inspect;
mod interruption;
mod iometer;
mod iometer_places;
mod killed;
mod knee;
mod kubernetes;
mod live;
mod locks;
mod manual;
mod matrix;
mod monitor;
mod monitor_databases;
mod output;
mod plans;
mod power;
mod presets;
mod program;
mod python;
mod readme;
mod repeat;
mod report_command;
mod reports;
mod scale;
mod screen;
#[path = "../../../databases/tests/live/program.rs"]
mod server;
mod sizes;
mod specs;
mod sqlio;
mod sqlio_batch;
mod sqlio_script;
mod sqliosim;
mod sweep;
mod test_files;
mod units;
mod usage;
mod validate;
mod validation;
