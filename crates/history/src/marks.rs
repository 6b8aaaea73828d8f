//! Tags, notes, and the deletion of results.

use crate::connection::Connection;
use crate::error::HistoryError;
use crate::read;
use crate::record::unknown;
use crate::value::{Row, values};

/// The longest name of a tag, in characters.
const TAG_MAX: usize = 64;

/// A note that a user wrote about a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// When it was written: UTC, RFC 3339.
    pub written: String,
    /// The note as it was typed.
    pub text: String,
}

/// What was deleted with a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// How many measurements were deleted with it.
    pub measurements: u64,
}

/// Whether a text can be a tag: letters, digits, `-`, `_` and `.`.
pub fn check_tag(tag: &str) -> Result<(), HistoryError> {
    let good = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !tag.is_empty() && tag.chars().count() <= TAG_MAX && tag.chars().all(good) {
        return Ok(());
    }
    Err(HistoryError::BadTag { tag: tag.to_owned() })
}

fn number(connection: &Connection, id: &str) -> Result<i64, HistoryError> {
    read::number_of(connection, id)?.ok_or_else(|| unknown(connection, id))
}

/// Gives a result a tag. True if it did not have that tag before.
pub(crate) fn tag(connection: &Connection, id: &str, tag: &str) -> Result<bool, HistoryError> {
    check_tag(tag)?;
    let sql = "INSERT INTO tags (experiment, tag) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    Ok(connection.execute(sql, values![number(connection, id)?, tag])? > 0)
}

/// Takes a tag away; whether it was there.
pub(crate) fn untag(connection: &Connection, id: &str, tag: &str) -> Result<bool, HistoryError> {
    let sql = "DELETE FROM tags WHERE experiment = $1 AND tag = $2";
    Ok(connection.execute(sql, values![number(connection, id)?, tag])? > 0)
}

/// Every tag, and how many results have it.
pub(crate) fn tags(connection: &Connection) -> Result<Vec<(String, u64)>, HistoryError> {
    let sql = "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY tag";
    connection.query(sql, &[], |row| Ok((row.take()?, row.take()?)))
}

/// Adds a note to a result.
pub(crate) fn note(connection: &Connection, id: &str, note: &Note) -> Result<(), HistoryError> {
    let experiment = number(connection, id)?;
    let sql = "SELECT max(number) FROM notes WHERE experiment = $1";
    let last = connection.query_one(sql, values![experiment], Row::take::<Option<i64>>)?;
    let next = last.flatten().map_or(1, |last| last + 1);
    let sql = "INSERT INTO notes (experiment, number, written, note) VALUES ($1, $2, $3, $4)";
    connection.execute(sql, values![experiment, next, &note.written, &note.text]).map(drop)
}

/// The notes on a result, the oldest first.
pub(crate) fn notes(connection: &Connection, id: &str) -> Result<Vec<Note>, HistoryError> {
    let sql = "SELECT written, note FROM notes WHERE experiment = $1 ORDER BY number";
    let read = |row: &mut Row| Ok(Note { written: row.take()?, text: row.take()? });
    connection.query(sql, values![number(connection, id)?], read)
}

/// Takes a result away with everything that belongs to it. Must be within a transaction.
pub(crate) fn delete(connection: &Connection, id: &str) -> Result<Deleted, HistoryError> {
    let experiment = number(connection, id)?;
    let sql = "SELECT count(*) FROM measurements WHERE experiment = $1";
    let measurements = connection.query_one(sql, values![experiment], Row::take)?;
    connection.execute("DELETE FROM experiments WHERE number = $1", values![experiment])?;
    // Set-ups that nothing was measured on any more.
    let sql = "DELETE FROM environments WHERE NOT EXISTS (SELECT 1 FROM measurements m WHERE \
               m.environment = environments.number)";
    connection.execute(sql, &[])?;
    Ok(Deleted { measurements: measurements.unwrap_or_default() })
}
