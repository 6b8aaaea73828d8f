//! What a trace says about the files under its targets, and about databases that were asked
//! meanwhile.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capture::CapturedLatency;

/// I/Os by the files in which they begin. A flush has no place, so it is in none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedFiles {
    /// How many files have a place on the recorded devices.
    pub known: u64,
    /// The I/Os by what their files are for, without classes that have neither I/Os nor files.
    pub classes: Vec<CapturedFileClass>,
    /// The files with the most I/Os, the most first; at most 32.
    pub files: Vec<CapturedFile>,
    /// How the log files agree with what looks like a log; absent where neither is in the trace.
    pub pattern: Option<CapturedPattern>,
}

/// What a file is for, by its path when it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapturedClass {
    /// The log of a database: written ahead, redo, or of changes (binlog).
    Log,
    /// The data of a database: tables, indexes, undo and transaction status.
    Data,
    /// Any other file, such as a program or a text log.
    Other,
    /// Not known: the place belonged to another file at the end of the recording than at its start,
    /// and the two are not for the same.
    Reused,
    /// Not in any of the files: the file system's own I/O, such as its journal, or that of others.
    Outside,
}

/// The I/Os of files that are for the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedFileClass {
    /// What these files are for, or why no file is known.
    pub class: CapturedClass,
    /// How many files there are; absent where the class is not one of files.
    pub files: Option<u64>,
    /// How many reads are of this class.
    pub reads: u64,
    /// How many writes are of this class, durable ones included.
    pub writes: u64,
    /// The bytes that these reads asked for.
    pub read_bytes: u64,
    /// The bytes that these writes carried.
    pub write_bytes: u64,
    /// The latencies of these reads; absent where none is known.
    pub read_latency_ns: Option<CapturedLatency>,
    /// The latencies of these writes; absent where none is known.
    pub write_latency_ns: Option<CapturedLatency>,
}

/// The I/Os that began in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedFile {
    /// The number by which the trace calls it.
    pub number: u32,
    /// The use of the file, by its path.
    pub class: CapturedClass,
    /// Its path; absent unless the trace was recorded with names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many reads began in it.
    pub reads: u64,
    /// How many writes began in it, durable ones included.
    pub writes: u64,
    /// The bytes that its reads asked for.
    pub read_bytes: u64,
    /// The bytes that its writes carried.
    pub write_bytes: u64,
}

/// Writes that are those of a log by their file, and by how they are written (METHODS.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedPattern {
    /// Writes for which both say so.
    pub both: u64,
    /// Writes to log files that do not look like those of a log.
    pub file_only: u64,
    /// Writes that look like those of a log and are not to a log file.
    pub pattern_only: u64,
}

/// What a database counted from before the recording to after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedDatabase {
    /// Product and version; absent in an anonymous copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The time between both readings of its counters.
    pub seconds: f64,
    /// Reads that it asked of the operating system; absent where it does not count them.
    pub reads: Option<u64>,
    /// The bytes that these reads moved; absent where they are not counted.
    pub read_bytes: Option<u64>,
    /// The mean time of such a read.
    pub read_latency_ns: Option<f64>,
    /// Writes that it asked of the operating system.
    pub writes: Option<u64>,
    /// The bytes that these writes moved; absent where they are not counted.
    pub written_bytes: Option<u64>,
    /// The mean time of such a write.
    pub write_latency_ns: Option<f64>,
    /// Calls that wait until data is on the device.
    pub syncs: Option<u64>,
    /// The mean time of such a call.
    pub sync_latency_ns: Option<f64>,
    /// What else it counted, by name; the name of a counter ends in its unit if it has one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
}
