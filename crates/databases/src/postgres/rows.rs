//! What PostgreSQL's answers mean.
//!
//! | view | since | rows and counters |
//! |---|---|---|
//! | `pg_stat_io` | 16 | a row for each kind of process, object and context; bytes and the WAL from 18 |
//! | `pg_stat_wal` | 14 | to 17 also writes and syncs of the WAL, then they are in `pg_stat_io` |
//! | `pg_stat_checkpointer` | 17 | checkpoints; before in `pg_stat_bgwriter` |
//! | `pg_stat_database` | | reads of each database, where there is no `pg_stat_io` |
//!
//! Meanings and units are those of the chapter "The Cumulative Statistics System" of its manual.

use crate::record::{self, Record, count, ms_as_ps, text};
use crate::sample::{NamedCounter, ObjectCounters, Unit};
use crate::watched::Answer;

/// The size of a block where the server does not say it.
const BLOCK_BYTES: u64 = 8192;

/// The sample that an answer is.
pub(super) fn interpret(answer: &Record) -> Answer {
    let started = text(answer, "started").unwrap_or_default();
    let server = text(answer, "server").unwrap_or("socket");
    let mut sample = Answer {
        database_at_ns: count(answer, "at_us").map(|us| us.saturating_mul(1000)),
        instance: format!("{server} since {started}"),
        ..Answer::default()
    };
    if record::is_on(answer, "in_recovery") {
        sample.notes.push("the server is a standby: it writes what it receives".to_owned());
    }
    add_objects(&mut sample, answer);
    add_counters(&mut sample.counters, answer);
    sample
}

fn add_objects(sample: &mut Answer, answer: &Record) {
    let timed = record::is_on(answer, "track_io_timing");
    let wal_timed = record::is_on(answer, "track_wal_io_timing");
    let block_bytes = count(answer, "block_bytes").unwrap_or(BLOCK_BYTES);
    let io: Vec<&Record> = record::rows(answer, "io").collect();
    for row in &io {
        let is_wal = text(row, "object") == Some("wal");
        let timed = if is_wal { wal_timed } else { timed };
        sample.objects.extend(io_object(row, timed));
    }
    if io.is_empty() {
        let databases = record::rows(answer, "databases");
        sample.objects.extend(databases.map(|row| database_object(row, timed, block_bytes)));
        if let Some(row) = record::row(answer, "bgwriter") {
            sample.objects.extend(writer_objects(row, block_bytes));
        }
    }
    if !io.iter().any(|row| text(row, "object") == Some("wal"))
        && let Some(row) = record::row(answer, "wal").filter(|row| row.contains_key("wal_write"))
    {
        sample.objects.push(wal_object(row, wal_timed));
    }
    if !timed {
        sample.notes.push(
            "track_io_timing is off, so times of reads and writes are not counted".to_owned(),
        );
    }
    if answer.get("track_wal_io_timing").is_some_and(|value| !value.is_null()) && !wal_timed {
        sample.notes.push(
            "track_wal_io_timing is off, so times of writes and syncs of the WAL are not counted"
                .to_owned(),
        );
    }
}

fn since(row: &Record) -> Option<String> {
    text(row, "stats_reset").map(str::to_owned)
}

/// A row of `pg_stat_io`; extensions of files are writes.
fn io_object(row: &Record, timed: bool) -> Option<ObjectCounters> {
    let name = |column| text(row, column).unwrap_or("?");
    let (reads, writes) = (count(row, "reads"), sum(count(row, "writes"), count(row, "extends")));
    // Before 18, an operation is always of this size.
    let op_bytes = count(row, "op_bytes");
    let sized = |operations: Option<u64>| Some(operations?.saturating_mul(op_bytes?));
    let time = |column| ms_as_ps(row, column).filter(|_| timed);
    let syncs = count(row, "fsyncs");
    if reads.is_none() && writes.is_none() && syncs.is_none() {
        return None;
    }
    Some(ObjectCounters {
        object: format!("{}/{}/{}", name("backend_type"), name("object"), name("context")),
        since: since(row),
        reads,
        writes,
        read_bytes: count(row, "read_bytes").or_else(|| sized(reads)),
        written_bytes: sum(count(row, "write_bytes"), count(row, "extend_bytes"))
            .or_else(|| sized(writes)),
        syncs,
        read_time_ps: time("read_time"),
        write_time_ps: sum_of_times(time("write_time"), time("extend_time")),
        sync_time_ps: time("fsync_time"),
    })
}

/// A row of `pg_stat_database`: blocks that were asked of the operating system.
fn database_object(row: &Record, timed: bool, block_bytes: u64) -> ObjectCounters {
    let reads = count(row, "blks_read");
    let name = text(row, "datname").unwrap_or("shared objects");
    ObjectCounters {
        object: format!("database {name}"),
        since: since(row),
        reads,
        read_bytes: reads.map(|blocks| blocks.saturating_mul(block_bytes)),
        read_time_ps: ms_as_ps(row, "blk_read_time").filter(|_| timed),
        ..ObjectCounters::default()
    }
}

/// Which processes write blocks, from `pg_stat_bgwriter` up to 15. The times of a checkpoint are
/// those of its phases, with pauses in them, and not of its writes.
fn writer_objects(row: &Record, block_bytes: u64) -> Vec<ObjectCounters> {
    let processes = [
        ("checkpointer", "buffers_checkpoint", None),
        ("background writer", "buffers_clean", None),
        ("backends", "buffers_backend", Some("buffers_backend_fsync")),
    ];
    let object = |(name, column, syncs): (&str, &str, Option<&str>)| {
        let writes = count(row, column)?;
        Some(ObjectCounters {
            object: name.to_owned(),
            since: since(row),
            writes: Some(writes),
            written_bytes: Some(writes.saturating_mul(block_bytes)),
            syncs: syncs.and_then(|column| count(row, column)),
            ..ObjectCounters::default()
        })
    };
    processes.into_iter().filter_map(object).collect()
}

/// The WAL from `pg_stat_wal`, 14 to 17. Its `wal_bytes` count logged bytes, not written ones.
fn wal_object(row: &Record, timed: bool) -> ObjectCounters {
    let time = |column| ms_as_ps(row, column).filter(|_| timed);
    ObjectCounters {
        object: "wal".to_owned(),
        since: since(row),
        writes: count(row, "wal_write"),
        syncs: count(row, "wal_sync"),
        write_time_ps: time("wal_write_time"),
        sync_time_ps: time("wal_sync_time"),
        ..ObjectCounters::default()
    }
}

fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.map_or(b, |a| Some(a.saturating_add(b.unwrap_or(0))))
}

fn sum_of_times(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.map_or(b, |a| Some(a.wrapping_add(b.unwrap_or(0))))
}

/// Counters of one row: our name, the column, and what it counts; times are in milliseconds there.
const WAL: [(&str, &str, Unit); 4] = [
    ("wal_records", "wal_records", Unit::Count),
    ("wal_full_page_images", "wal_fpi", Unit::Count),
    ("wal_bytes", "wal_bytes", Unit::Bytes),
    ("wal_buffers_full", "wal_buffers_full", Unit::Count),
];

const WRITER: [(&str, &str, Unit); 10] = [
    ("checkpoints_timed", "checkpoints_timed", Unit::Count),
    ("checkpoints_requested", "checkpoints_req", Unit::Count),
    ("checkpoint_buffers_written", "buffers_checkpoint", Unit::Count),
    ("checkpoint_write_ns", "checkpoint_write_time", Unit::Nanoseconds),
    ("checkpoint_sync_ns", "checkpoint_sync_time", Unit::Nanoseconds),
    ("background_writer_buffers_written", "buffers_clean", Unit::Count),
    ("background_writer_stops", "maxwritten_clean", Unit::Count),
    ("backend_buffers_written", "buffers_backend", Unit::Count),
    ("backend_syncs", "buffers_backend_fsync", Unit::Count),
    ("buffers_allocated", "buffers_alloc", Unit::Count),
];

const CHECKPOINTER: [(&str, &str, Unit); 6] = [
    ("checkpoints_timed", "num_timed", Unit::Count),
    ("checkpoints_requested", "num_requested", Unit::Count),
    ("checkpoint_buffers_written", "buffers_written", Unit::Count),
    ("checkpoint_write_ns", "write_time", Unit::Nanoseconds),
    ("checkpoint_sync_ns", "sync_time", Unit::Nanoseconds),
    ("restartpoints_done", "restartpoints_done", Unit::Count),
];

/// Sums over the rows of `pg_stat_io`.
const IO: [(&str, &str, Unit); 6] = [
    ("buffer_hits", "hits", Unit::Count),
    ("buffer_evictions", "evictions", Unit::Count),
    ("buffer_reuses", "reuses", Unit::Count),
    ("extends", "extends", Unit::Count),
    ("extended_bytes", "extend_bytes", Unit::Bytes),
    ("writebacks", "writebacks", Unit::Count),
];

/// Counters that are summed over the databases.
const DATABASES: [(&str, &str, Unit); 3] = [
    ("transactions_committed", "xact_commit", Unit::Count),
    ("temporary_files", "temp_files", Unit::Count),
    ("temporary_bytes", "temp_bytes", Unit::Bytes),
];

/// Counters summed over all databases, used if `pg_stat_io` has no rows.
const DATABASE_HITS: [(&str, &str, Unit); 1] = [("buffer_hits", "blks_hit", Unit::Count)];

fn add_counters(counters: &mut Vec<NamedCounter>, answer: &Record) {
    let mut add = |rows: &[&Record], names: &[(&'static str, &str, Unit)]| {
        let wanted = names.iter().filter_map(|name| total(rows, *name));
        counters.extend(wanted);
    };
    let one = |name| record::row(answer, name).into_iter().collect::<Vec<_>>();
    let io: Vec<&Record> = record::rows(answer, "io").collect();
    let databases: Vec<&Record> = record::rows(answer, "databases").collect();
    add(&one("wal"), &WAL);
    add(&one("bgwriter"), &WRITER);
    add(&one("checkpointer"), &CHECKPOINTER);
    add(&io, &IO);
    add(&databases, &DATABASES);
    if io.is_empty() {
        add(&databases, &DATABASE_HITS);
    }
    if let Some(value) = count(answer, "wal_position") {
        counters.push(NamedCounter { name: "wal_bytes", unit: Unit::Bytes, value, since: None });
    }
}

/// A counter summed over rows; it starts again when one of them does. `None` if no row has the
/// column.
fn total(
    rows: &[&Record],
    (name, column, unit): (&'static str, &str, Unit),
) -> Option<NamedCounter> {
    let value = |row: &&Record| match unit {
        Unit::Nanoseconds => ms_as_ps(row, column).map(|ps| ps / 1000),
        Unit::Count | Unit::Bytes => count(row, column),
    };
    let values: Vec<u64> = rows.iter().filter_map(value).collect();
    let since: Vec<String> = rows.iter().filter_map(|row| since(row)).collect();
    (!values.is_empty()).then(|| NamedCounter {
        name,
        unit,
        value: values.iter().fold(0, |sum: u64, value| sum.saturating_add(*value)),
        since: Some(since.join(" ")).filter(|since| !since.is_empty()),
    })
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
