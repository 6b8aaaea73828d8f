//! What MySQL's and MariaDB's answers mean.
//!
//! The performance schema counts each file: reads, writes, and as one sum everything else (opening,
//! closing, syncing …), with times in picoseconds. Syncs are therefore not known for each file;
//! InnoDB's status counts its own.

use crate::record::{self, Record, count, text};
use crate::sample::{NamedCounter, ObjectCounters, ServerFacts, Unit};
use crate::watched::Answer;

/// How much the performance schema reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileDetail {
    /// It reports the I/O of each file.
    Files,
    /// It reports the I/O of each kind of file, all files together.
    KindsOfFiles,
    /// It reports no files; there are only status variables.
    StatusOnly,
}

/// Instruments whose names are written out in a note.
const NAMED_MAX: usize = 4;

/// What the names of the performance schema's file events begin with.
const EVENT: &str = "wait/io/file/";

/// Files with InnoDB's tables, and with its log.
const DATA_EVENT: &str = "wait/io/file/innodb/innodb_data_file";
const LOG_EVENT: &str = "wait/io/file/innodb/innodb_log_file";

/// Status variables that are counters: our name, theirs, and what they count.
const STATUS: [(&str, &str, Unit); 16] = [
    ("syncs", "Innodb_data_fsyncs", Unit::Count),
    ("redo_log_bytes", "Innodb_os_log_written", Unit::Bytes),
    ("redo_log_writes", "Innodb_log_writes", Unit::Count),
    ("redo_log_write_requests", "Innodb_log_write_requests", Unit::Count),
    ("redo_log_syncs", "Innodb_os_log_fsyncs", Unit::Count),
    ("redo_log_waits", "Innodb_log_waits", Unit::Count),
    ("buffer_pool_reads", "Innodb_buffer_pool_reads", Unit::Count),
    ("buffer_pool_read_requests", "Innodb_buffer_pool_read_requests", Unit::Count),
    ("buffer_pool_pages_flushed", "Innodb_buffer_pool_pages_flushed", Unit::Count),
    ("buffer_pool_waits", "Innodb_buffer_pool_wait_free", Unit::Count),
    ("doublewrite_pages", "Innodb_dblwr_pages_written", Unit::Count),
    ("doublewrite_writes", "Innodb_dblwr_writes", Unit::Count),
    // Transactions are counted nowhere: the first is 0 with autocommit, the second has statements
    // in transactions, too.
    ("commit_statements", "Com_commit", Unit::Count),
    ("engine_commits", "Handler_commit", Unit::Count),
    ("temporary_tables_on_disk", "Created_tmp_disk_tables", Unit::Count),
    ("temporary_files", "Created_tmp_files", Unit::Count),
];

/// Other status variables that are read.
const STATUS_BESIDES: [&str; 5] = [
    "Innodb_data_read",
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_data_written",
    "Uptime",
];

/// The query for the status variables.
pub(super) fn status_question() -> String {
    let names = STATUS.iter().map(|(_, name, _)| *name).chain(STATUS_BESIDES);
    let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({})", names.join(", "))
}

/// The query for the files, if they are reported.
pub(super) fn files_question(given: FileDetail) -> Option<String> {
    let (name, table) = match given {
        FileDetail::Files => ("FILE_NAME", "file_summary_by_instance"),
        FileDetail::KindsOfFiles => ("EVENT_NAME", "file_summary_by_event_name"),
        FileDetail::StatusOnly => return None,
    };
    Some(format!(
        "SELECT {name} AS `name`, EVENT_NAME AS `event`, COUNT_READ AS `reads`, COUNT_WRITE AS \
         `writes`, COUNT_MISC AS `others`, SUM_NUMBER_OF_BYTES_READ AS `read_bytes`, \
         SUM_NUMBER_OF_BYTES_WRITE AS `written_bytes`, SUM_TIMER_READ AS `read_ps`, \
         SUM_TIMER_WRITE AS `write_ps`, SUM_TIMER_MISC AS `other_ps` FROM \
         performance_schema.{table} WHERE COUNT_STAR > 0"
    ))
}

/// What of the file I/O is not counted, or not timed.
pub(super) fn instrument_notes(instruments: &[Record]) -> Vec<String> {
    let named = |wanted: fn(&Record) -> bool| -> Vec<&str> {
        instruments.iter().filter(|row| wanted(row)).filter_map(|row| text(row, "name")).collect()
    };
    let disabled = named(|row| text(row, "enabled") == Some("NO"));
    let untimed = named(|row| text(row, "enabled") != Some("NO"));
    let mut notes = Vec::new();
    for (names, what, column) in [(disabled, "counted", "ENABLED"), (untimed, "timed", "TIMED")] {
        if names.is_empty() {
            continue;
        }
        let more = names.len().saturating_sub(NAMED_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown: Vec<&str> = names.into_iter().take(NAMED_MAX).collect();
        notes.push(format!(
            "not {what}: {}{more}; UPDATE performance_schema.setup_instruments SET {column} = \
             'YES' WHERE NAME LIKE '{EVENT}%'",
            shown.join(", ")
        ));
    }
    notes
}

/// The sample that an answer is.
pub(super) fn interpret(answer: &Record, facts: &ServerFacts) -> Answer {
    let status = status_of(answer);
    let files: Vec<&Record> = record::rows(answer, "files").collect();
    let mut sample = Answer {
        database_at_ns: count(answer, "at_us").map(|us| us.saturating_mul(1000)),
        uptime_s: count(&status, "Uptime"),
        objects: files.iter().filter_map(|row| file_object(row, facts)).collect(),
        ..Answer::default()
    };
    sample.objects.extend(innodb_objects(&status, &files, facts));
    for (name, column, unit) in STATUS {
        if let Some(value) = count(&status, column) {
            sample.counters.push(NamedCounter { name, unit, value, since: None });
        }
    }
    let log: Vec<&Record> =
        files.iter().copied().filter(|row| text(row, "event") == Some(LOG_EVENT)).collect();
    add_others(&mut sample.counters, "redo_log_other_operations", "redo_log_other_ns", &log);
    add_others(&mut sample.counters, "file_other_operations", "file_other_ns", &files);
    sample
}

/// The status variables by their names.
fn status_of(answer: &Record) -> Record {
    let pair =
        |row: &Record| Some((text(row, "Variable_name")?.to_owned(), row.get("Value")?.clone()));
    record::rows(answer, "status").filter_map(pair).collect()
}

/// A file, or a kind of file.
fn file_object(row: &Record, facts: &ServerFacts) -> Option<ObjectCounters> {
    let name = text(row, "name")?;
    let name = name.strip_prefix(EVENT).unwrap_or(name);
    let directory = facts.data_directory.as_deref().filter(|directory| directory.ends_with('/'));
    let inside = directory.and_then(|directory| name.strip_prefix(directory));
    Some(ObjectCounters {
        object: inside.unwrap_or_else(|| name.strip_prefix("./").unwrap_or(name)).to_owned(),
        reads: count(row, "reads"),
        writes: count(row, "writes"),
        read_bytes: count(row, "read_bytes"),
        written_bytes: count(row, "written_bytes"),
        read_time_ps: count(row, "read_ps"),
        write_time_ps: count(row, "write_ps"),
        ..ObjectCounters::default()
    })
}

/// The figures that only InnoDB's status counts: its syncs; its log if that is not among the files;
/// all of its I/O if it reports no files.
fn innodb_objects(status: &Record, files: &[&Record], facts: &ServerFacts) -> Vec<ObjectCounters> {
    let has = |event: &str| files.iter().any(|row| text(row, "event") == Some(event));
    let mut objects = Vec::new();
    let syncs = count(status, "Innodb_data_fsyncs");
    if has(DATA_EVENT) {
        let object = "innodb (syncs of all its files)".to_owned();
        objects.extend(syncs.map(|_| ObjectCounters {
            object,
            syncs,
            ..ObjectCounters::default()
        }));
    } else if let Some(reads) = count(status, "Innodb_data_reads") {
        objects.push(ObjectCounters {
            object: "innodb (all its files)".to_owned(),
            reads: Some(reads),
            writes: count(status, "Innodb_data_writes"),
            read_bytes: count(status, "Innodb_data_read"),
            written_bytes: count(status, "Innodb_data_written"),
            syncs,
            ..ObjectCounters::default()
        });
    }
    // MariaDB from 10.8 on neither instruments its log nor adds it to the data that it counts.
    let is_apart =
        facts.version.contains("MariaDB") && !status.contains_key("Innodb_os_log_fsyncs");
    if is_apart && !has(LOG_EVENT) {
        objects.extend(count(status, "Innodb_log_writes").map(|writes| ObjectCounters {
            object: "innodb (redo log)".to_owned(),
            writes: Some(writes),
            written_bytes: count(status, "Innodb_os_log_written"),
            ..ObjectCounters::default()
        }));
    }
    objects
}

/// Operations that are neither reads nor writes: opening, closing, syncing … Of files that stay
/// open, nearly all are syncs.
fn add_others(
    counters: &mut Vec<NamedCounter>,
    name: &'static str,
    time: &'static str,
    files: &[&Record],
) {
    if files.is_empty() {
        return;
    }
    let sum = |column: &str| {
        files
            .iter()
            .filter_map(|row| count(row, column))
            .fold(0, |sum: u64, n| sum.saturating_add(n))
    };
    let counter = |name, unit, value| NamedCounter { name, unit, value, since: None };
    counters.push(counter(name, Unit::Count, sum("others")));
    counters.push(counter(time, Unit::Nanoseconds, sum("other_ps") / 1000));
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
