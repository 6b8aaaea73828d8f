//! What is asked of SQL Server, and what its answers mean.
//!
//! `sys.dm_io_virtual_file_stats` counts each file since the server was started, or its database
//! came online: `io_stall_read_ms` and `io_stall_write_ms` are the sums of the times that its users
//! waited, in milliseconds. Answers are JSON, which 2016 and later write.

use crate::record::{self, Record, count, ms_as_ps, text};
use crate::sample::{NamedCounter, ObjectCounters, Unit};
use crate::watched::Answer;

/// What `SERVERPROPERTY('EngineEdition')` says of Azure SQL Database, where only the files of the
/// own database are to be seen.
const AZURE_SQL_DATABASE: u64 = 5;

/// The query for version and edition.
pub(super) const FACTS: &str = "\
SET LOCK_TIMEOUT 2000;
SELECT (
    SELECT
        CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)) AS version,
        CAST(SERVERPROPERTY('EngineEdition') AS int) AS edition,
        CAST(SERVERPROPERTY('InstanceDefaultDataPath') AS nvarchar(4000)) AS data_directory
    FOR JSON PATH, WITHOUT_ARRAY_WRAPPER
);";

const FIGURES: &str = "\
            s.sample_ms, s.num_of_reads, s.num_of_bytes_read, s.io_stall_read_ms,
            s.num_of_writes, s.num_of_bytes_written, s.io_stall_write_ms,
            s.io_stall_queued_read_ms, s.io_stall_queued_write_ms";

/// Counters of `sys.dm_os_performance_counters` that only rise: our name, and theirs. Their names
/// end with `/sec`, but the values are sums.
const PERFORMANCE: [(&str, &str, Unit); 8] = [
    ("log_flushes", "Log Flushes/sec", Unit::Count),
    ("log_bytes", "Log Bytes Flushed/sec", Unit::Bytes),
    ("transactions", "Transactions/sec", Unit::Count),
    ("page_reads", "Page reads/sec", Unit::Count),
    ("page_writes", "Page writes/sec", Unit::Count),
    ("read_ahead_pages", "Readahead pages/sec", Unit::Count),
    ("checkpoint_pages", "Checkpoint pages/sec", Unit::Count),
    ("lazy_writes", "Lazy writes/sec", Unit::Count),
];

/// The statement that answers all counters as one JSON object.
pub(super) fn counters(edition: Option<u64>) -> String {
    let files = if edition == Some(AZURE_SQL_DATABASE) {
        "FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL) AS s
        LEFT JOIN sys.database_files AS f ON f.file_id = s.file_id"
    } else {
        "FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS s
        LEFT JOIN sys.master_files AS f ON f.database_id = s.database_id AND f.file_id = s.file_id"
    };
    let names: Vec<String> = PERFORMANCE.iter().map(|(_, name, _)| format!("'{name}'")).collect();
    format!(
        "\
SELECT (
    SELECT
        @@SERVERNAME AS server,
        CONVERT(varchar(33), i.sqlserver_start_time, 126) AS started,
        JSON_QUERY((
            SELECT DB_NAME(s.database_id) AS database_name, s.database_id, s.file_id, f.name, f.physical_name, f.type_desc,
{FIGURES}
        {files}
            FOR JSON PATH
        )) AS files,
        JSON_QUERY((
            SELECT RTRIM(counter_name) AS name, cntr_value AS value
            FROM sys.dm_os_performance_counters
            WHERE counter_name IN ({})
                AND (object_name LIKE '%:Buffer Manager%' OR (object_name LIKE '%:Databases%' AND instance_name = '_Total'))
            FOR JSON PATH
        )) AS counters
    FROM sys.dm_os_sys_info AS i
    FOR JSON PATH, WITHOUT_ARRAY_WRAPPER
);",
        names.join(", ")
    )
}

/// The sample that an answer is.
pub(super) fn interpret(answer: &Record) -> Answer {
    let files: Vec<&Record> = record::rows(answer, "files").collect();
    let at_ms = files.iter().filter_map(|row| count(row, "sample_ms")).max();
    let server = text(answer, "server").unwrap_or_default();
    let started = text(answer, "started").unwrap_or_default();
    let mut sample = Answer {
        database_at_ns: at_ms.map(|ms| ms.saturating_mul(1_000_000)),
        instance: format!("{server} since {started}"),
        objects: files.iter().map(|row| file_object(row)).collect(),
        ..Answer::default()
    };
    if files.iter().any(|row| text(row, "physical_name").is_none()) {
        sample.notes.push(
            "the login may not know the names of all files: GRANT VIEW ANY DEFINITION TO the login"
                .to_owned(),
        );
    }
    for (name, theirs, unit) in PERFORMANCE {
        let row = record::rows(answer, "counters").find(|row| text(row, "name") == Some(theirs));
        if let Some(value) = row.and_then(|row| count(row, "value")) {
            sample.counters.push(NamedCounter { name, unit, value, since: None });
        }
    }
    for (name, column) in [
        ("queued_read_ns", "io_stall_queued_read_ms"),
        ("queued_write_ns", "io_stall_queued_write_ms"),
    ] {
        let values: Vec<u64> = files.iter().filter_map(|row| count(row, column)).collect();
        if !values.is_empty() {
            let ms = values.iter().fold(0, |sum: u64, ms| sum.saturating_add(*ms));
            let value = ms.saturating_mul(1_000_000);
            sample.counters.push(NamedCounter {
                name,
                unit: Unit::Nanoseconds,
                value,
                since: None,
            });
        }
    }
    sample
}

/// A file: the name of its database, `log` for a log, and its name there.
fn file_object(row: &Record) -> ObjectCounters {
    let number = |column| count(row, column).map_or_else(|| "?".to_owned(), |n| n.to_string());
    let database = text(row, "database_name")
        .map_or_else(|| format!("database {}", number("database_id")), str::to_owned);
    let file = text(row, "physical_name")
        .map_or_else(|| format!("file {}", number("file_id")), |path| base(path).to_owned());
    let kind = if text(row, "type_desc") == Some("LOG") { " (log)" } else { "" };
    ObjectCounters {
        object: format!("{database}/{file}{kind}"),
        reads: count(row, "num_of_reads"),
        writes: count(row, "num_of_writes"),
        read_bytes: count(row, "num_of_bytes_read"),
        written_bytes: count(row, "num_of_bytes_written"),
        read_time_ps: ms_as_ps(row, "io_stall_read_ms"),
        write_time_ps: ms_as_ps(row, "io_stall_write_ms"),
        ..ObjectCounters::default()
    }
}

/// The last part of a path of either kind.
fn base(path: &str) -> &str {
    path.rsplit(['\\', '/']).next().unwrap_or(path)
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
