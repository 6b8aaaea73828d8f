//! Real servers from the distribution's packages, each started for a test and thrown away. A test
//! whose server is not installed says so and passes.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod mariadb;
mod postgres;
mod program;
mod sqlserver;
mod unreachable;
