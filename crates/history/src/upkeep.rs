//! Upkeep of a history: checks that it is whole, and makes a copy.

use std::path::Path;
use std::time::Duration;

use inspect::files::{Place as FilePlace, Readers};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::ffi;

use crate::connection::{Connection, Use};
use crate::error::HistoryError;
use crate::place::Place;
use crate::read::Extent;
use crate::value::{Row, values};
use crate::{opened, read, schema};

/// All pages at once. Others write meanwhile, into the log; in parts, what they write would begin
/// the copy anew each time.
const PAGES: i32 = -1;
/// How long to wait if another process has exclusive use of the file.
const PAUSE: Duration = Duration::from_millis(10);
/// How many such pauses are made.
const PAUSES: u32 = 3000;

/// Everything that is wrong, in words; nothing where all is well.
pub(crate) fn check(connection: &Connection) -> Result<Vec<String>, HistoryError> {
    let mut wrong = Vec::new();
    if connection.as_sqlite().is_some() {
        let said = connection.query("PRAGMA integrity_check", &[], Row::take::<String>)?;
        wrong.extend(said.into_iter().filter(|line| line != "ok"));
        if !wrong.is_empty() {
            // What the file itself says is enough; what would be read from it is not to be trusted.
            return Ok(wrong);
        }
        let sql =
            "SELECT \"table\", \"parent\", count(*) FROM pragma_foreign_key_check GROUP BY 1, 2";
        let read =
            |row: &mut Row| Ok((row.take::<String>()?, row.take::<String>()?, row.take::<u64>()?));
        for (table, parent, count) in connection.query(sql, &[], read)? {
            wrong.push(format!("{count} rows of `{table}` belong to no row of `{parent}`"));
        }
    }
    let sql = "SELECT e.id FROM experiments e WHERE e.measurements <> (SELECT count(*) FROM \
               measurements m WHERE m.experiment = e.number) ORDER BY e.id";
    for id in connection.query(sql, &[], Row::take::<String>)? {
        wrong.push(format!("`{id}` has another number of measurements than it says"));
    }
    let sql = "SELECT e.id, count(*) FROM measurements m JOIN experiments e ON e.number = \
               m.experiment LEFT JOIN measurement_documents d ON d.measurement = m.number WHERE \
               d.measurement IS NULL GROUP BY e.id ORDER BY e.id";
    let read = |row: &mut Row| Ok((row.take::<String>()?, row.take::<u64>()?));
    for (id, count) in connection.query(sql, &[], read)? {
        wrong.push(format!("{count} measurements of `{id}` have lost their documents"));
    }
    let mut after = String::new();
    loop {
        let sql = "SELECT id, number FROM experiments WHERE id > $1 ORDER BY id LIMIT 100";
        let read = |row: &mut Row| Ok((row.take::<String>()?, row.take::<i64>()?));
        let experiments = connection.query(sql, values![&after], read)?;
        let Some((last, _)) = experiments.last() else { return Ok(wrong) };
        after.clone_from(last);
        for (id, number) in experiments {
            if let Err(error) = check_one(connection, &id, number) {
                wrong.push(format!("`{id}` cannot be read: {error}"));
            }
        }
    }
}

fn check_one(connection: &Connection, id: &str, number: i64) -> Result<(), HistoryError> {
    if read::document(connection, id, Extent::Whole)?.is_none() {
        read::measurements(connection, number, Extent::Whole)?;
    }
    Ok(())
}

/// A copy of the whole history in a file that is not there yet, while others continue writing.
pub(crate) fn backup(connection: &Connection, to: &Path) -> Result<(), HistoryError> {
    let unreachable = |source| HistoryError::Unreachable { path: to.to_owned(), source };
    // Made by us and nobody else, or not at all.
    let place = FilePlace::of(to).map_err(unreachable)?;
    let file = match place.create(Readers::Anybody) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(HistoryError::Exists { path: to.to_owned() });
        }
        Err(error) => return Err(unreachable(error)),
    };
    let copied = copy(connection, to);
    if copied.is_err() {
        let _ = place.remove(&file);
    }
    copied
}

fn copy(connection: &Connection, to: &Path) -> Result<(), HistoryError> {
    let place = Place::File(to.to_owned());
    let at = |error| HistoryError::sqlite(&place, error);
    let Some(from) = connection.as_sqlite() else {
        return copy_rows(connection, to);
    };
    let (mut target, _file) = opened::connect(to, || rusqlite::Connection::open(to)).map_err(at)?;
    let backup = Backup::new(from, &mut target).map_err(at)?;
    let mut pauses = 0;
    while backup.step(PAGES).map_err(at)? != StepResult::Done {
        pauses += 1;
        if pauses > PAUSES {
            return Err(at(rusqlite::Error::SqliteFailure(
                ffi::Error::new(ffi::SQLITE_BUSY),
                None,
            )));
        }
        std::thread::sleep(PAUSE);
    }
    drop(backup);
    // A single file, without a log next to it.
    target.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())).map_err(at)?;
    target.close().map_err(|(_, error)| at(error))
}

/// Every row of every table, from a server into a file.
fn copy_rows(from: &Connection, to: &Path) -> Result<(), HistoryError> {
    let to = Connection::sqlite(to, Use::Records)?;
    schema::make_ready(&to)?;
    from.within(|| {
        // One moment of it all, whatever others write meanwhile.
        from.batch("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")?;
        to.within(|| {
            for table in schema::TABLES_IN_ORDER {
                copy_table(from, &to, table)?;
            }
            Ok::<(), HistoryError>(())
        })
    })
}

/// Rows that are read at a time.
const ROWS: u64 = 1000;

fn copy_table(from: &Connection, to: &Connection, table: &str) -> Result<(), HistoryError> {
    let sql = format!("SELECT name FROM pragma_table_info('{table}') ORDER BY cid");
    let columns = to.query(&sql, &[], Row::take::<String>)?;
    let names = columns.join(", ");
    let cursor = format!("DECLARE copied NO SCROLL CURSOR FOR SELECT {names} FROM {table}");
    from.batch(&cursor)?;
    loop {
        let width = columns.len();
        let sql = format!("FETCH {ROWS} FROM copied");
        let rows = from.query(&sql, &[], |row| (0..width).map(|_| row.value()).collect())?;
        if rows.is_empty() {
            return from.batch("CLOSE copied");
        }
        to.insert(&format!("{table} ({names})"), rows)?;
    }
}
