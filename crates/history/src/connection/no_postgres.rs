//! The stand-in for PostgreSQL in a program that was built without its client: every connection is
//! refused.

use std::convert::Infallible;

use servers::ServerUrl;

use super::Use;
use crate::error::HistoryError;
use crate::value::Value;

/// The schema of the database that holds our tables.
pub(crate) const SCHEMA: &str = "iosonde";

/// Never exists, because this build lacks PostgreSQL.
#[derive(Debug)]
pub(crate) enum Postgres {}

impl Postgres {
    pub(crate) fn open(_: &ServerUrl, _: Use) -> Result<Self, HistoryError> {
        Err(HistoryError::NoPostgres)
    }

    pub(crate) fn connect_again(&self) -> Result<(), HistoryError> {
        match *self {}
    }

    pub(crate) fn execute(&self, _: &str, _: &[Value]) -> Result<u64, Infallible> {
        match *self {}
    }

    pub(crate) fn batch(&self, _: &str) -> Result<(), Infallible> {
        match *self {}
    }

    pub(crate) fn query(&self, _: &str, _: &[Value]) -> Result<Vec<Vec<Value>>, Infallible> {
        match *self {}
    }
}
