//! The files of a trace, and what databases counted while it was recorded.

use results::{
    Capture, CapturedClass, CapturedDatabase, CapturedFile, CapturedFileClass, CapturedFiles,
    CapturedOp, Experiment,
};
use workload::{show_ns, show_number};

use super::make::{column, fact, section, table, text, whole};
use crate::language::say;
use crate::model::{Block, Cell, Fact, Section, Table, Unit};
use crate::words;

/// Counters of what a database wrote to its log.
const LOG_BYTES: [&str; 3] = ["log_bytes", "redo_log_bytes", "wal_bytes"];

/// I/Os by their files; `None` if the trace has no files.
pub(super) fn files(e: &Experiment<Capture>) -> Option<Section> {
    let files = e.conclusion.files.as_ref()?;
    let mut blocks: Vec<Block> = classes(files).map(Block::Table).into_iter().collect();
    blocks.extend(single(files).map(Block::Table));
    let facts = facts(files);
    if !facts.is_empty() {
        blocks.push(Block::Facts(facts));
    }
    section("files", say!("heading-files-of-a-trace"), blocks)
}

fn word(class: CapturedClass) -> String {
    match class {
        CapturedClass::Log => say!("capture-log"),
        CapturedClass::Data => say!("capture-data"),
        CapturedClass::Other => say!("capture-other-files"),
        CapturedClass::Reused => say!("capture-reused"),
        CapturedClass::Outside => say!("capture-outside"),
    }
}

fn classes(files: &CapturedFiles) -> Option<Table> {
    let columns = vec![
        column("class", say!("label-purpose"), Unit::Text),
        column("files", say!("label-files"), Unit::Count),
        column("reads", say!("capture-reads"), Unit::Count),
        column("read_bytes", say!("capture-bytes-read"), Unit::Bytes),
        column("read_p50_ns", say!("capture-read-p50"), Unit::Nanoseconds).full(),
        column("read_p99_ns", say!("capture-read-p99"), Unit::Nanoseconds),
        column("writes", say!("capture-writes"), Unit::Count),
        column("write_bytes", say!("capture-bytes-written"), Unit::Bytes),
        column("write_p50_ns", say!("capture-write-p50"), Unit::Nanoseconds).full(),
        column("write_p99_ns", say!("capture-write-p99"), Unit::Nanoseconds),
    ];
    let row = |class: &CapturedFileClass| -> Vec<Cell> {
        let (read, write) = (class.read_latency_ns, class.write_latency_ns);
        vec![
            text(word(class.class)),
            whole(class.files),
            whole(class.reads),
            whole(class.read_bytes),
            whole(read.map(|l| l.p50)),
            whole(read.map(|l| l.p99)),
            whole(class.writes),
            whole(class.write_bytes),
            whole(write.map(|l| l.p50)),
            whole(write.map(|l| l.p99)),
        ]
    };
    let rows = files.classes.iter().map(row).collect();
    let title = say!("heading-files-by-purpose");
    table("files", title, &say!("capture-files-caption"), columns, rows)
}

/// The files with the most I/Os.
fn single(files: &CapturedFiles) -> Option<Table> {
    let has_names = files.files.iter().any(|file| file.name.is_some());
    let mut columns = vec![column("file", say!("label-file"), Unit::Text)];
    columns.extend([
        column("class", say!("label-purpose"), Unit::Text),
        column("reads", say!("capture-reads"), Unit::Count),
        column("read_bytes", say!("capture-bytes-read"), Unit::Bytes),
        column("writes", say!("capture-writes"), Unit::Count),
        column("write_bytes", say!("capture-bytes-written"), Unit::Bytes),
    ]);
    let row = |file: &CapturedFile| -> Vec<Cell> {
        let number = file.number.to_string();
        vec![
            text(file.name.as_ref().unwrap_or(&number)),
            text(word(file.class)),
            whole(file.reads),
            whole(file.read_bytes),
            whole(file.writes),
            whole(file.write_bytes),
        ]
    };
    let rows = files.files.iter().map(row).collect();
    let caption = if has_names { String::new() } else { say!("capture-file-numbers") };
    table("busiest-files", say!("heading-busiest-files"), &caption, columns, rows)
}

fn facts(files: &CapturedFiles) -> Vec<Fact> {
    let Some(pattern) = files.pattern else { return Vec::new() };
    let [both, file_only, pattern_only] =
        [pattern.both, pattern.file_only, pattern.pattern_only].map(words::count);
    let said = say!("capture-pattern", both = both, file = file_only, pattern = pattern_only);
    vec![fact(say!("label-log-by-pattern"), said)]
}

/// What databases counted; `None` if none was asked.
pub(super) fn databases(e: &Experiment<Capture>) -> Option<Section> {
    let c = &e.conclusion;
    let tables = c.databases.iter().filter_map(|database| counted(c, database));
    section("databases", say!("heading-databases-of-a-trace"), tables.map(Block::Table).collect())
}

/// Figures of a database next to those of the trace, as texts because their units differ.
fn counted(c: &Capture, database: &CapturedDatabase) -> Option<Table> {
    let columns = vec![
        column("figure", say!("label-figure"), Unit::Text),
        column("database", say!("label-in-the-database"), Unit::Text),
        column("per_second", say!("label-per-second"), Unit::Text),
        column("trace", say!("label-in-the-trace"), Unit::Text),
    ];
    let seconds = database.seconds;
    let row = |name: String, amount: u64, unit: Counted, trace: Option<u64>| -> Vec<Cell> {
        let rate = amount as f64 / seconds;
        let rate = if rate.is_finite() { unit.rate(rate) } else { String::new() };
        let trace = trace.map(|amount| unit.amount(amount)).unwrap_or_default();
        vec![text(name), text(unit.amount(amount)), text(rate), text(trace)]
    };
    let of = |reads: bool, figure: fn(&results::CapturedKind) -> u64| {
        let is_meant = |op: CapturedOp| match op {
            CapturedOp::Read => reads,
            CapturedOp::Write | CapturedOp::DurableWrite => !reads,
            CapturedOp::Flush | CapturedOp::LogWrite | CapturedOp::Discard => false,
        };
        Some(c.kinds.iter().filter(|k| is_meant(k.kind)).map(figure).sum::<u64>())
    };
    let flushes = c.kinds.iter().filter(|k| k.kind == CapturedOp::Flush).map(|k| k.ios).sum();
    let (ios, bytes) = (|k: &results::CapturedKind| k.ios, |k: &results::CapturedKind| k.bytes);
    let figures = [
        (say!("capture-reads"), database.reads, Counted::Number, of(true, ios)),
        (say!("capture-bytes-read"), database.read_bytes, Counted::Bytes, of(true, bytes)),
        (say!("capture-writes"), database.writes, Counted::Number, of(false, ios)),
        (say!("capture-bytes-written"), database.written_bytes, Counted::Bytes, of(false, bytes)),
        (say!("capture-syncs"), database.syncs, Counted::Number, Some(flushes)),
    ];
    let mut rows: Vec<Vec<Cell>> = figures
        .into_iter()
        .filter_map(|(name, amount, unit, trace)| Some(row(name, amount?, unit, trace)))
        .collect();
    rows.extend(database.counters.iter().map(|(name, amount)| {
        let is_log = LOG_BYTES.contains(&name.as_str());
        let (name, unit) = Counted::of(name);
        row(name, *amount, unit, log_bytes(c).filter(|_| is_log))
    }));
    let product = database.product.as_deref().map(words::clean);
    let title = product.unwrap_or_else(|| say!("label-database"));
    let time = workload::show_duration(seconds);
    table("database", title, &say!("capture-database-caption", time = time), columns, rows)
}

/// How many bytes were written to the log; `None` if no log is known.
fn log_bytes(c: &Capture) -> Option<u64> {
    let log = c.writes.iter().find(|w| w.purpose == results::CapturedPurpose::Log)?;
    Some(log.kinds.iter().map(|kind| kind.bytes).sum())
}

/// The unit of a counter, which is the last part of its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    Number,
    Bytes,
    Nanoseconds,
}

impl Counted {
    /// The name of a counter in words, and its unit.
    fn of(name: &str) -> (String, Self) {
        let in_words = name.replace('_', " ");
        if name.ends_with("_bytes") {
            (in_words, Self::Bytes)
        } else if let Some(what) = in_words.strip_suffix(" ns") {
            (say!("capture-time-of", what = what), Self::Nanoseconds)
        } else {
            (in_words, Self::Number)
        }
    }

    fn amount(self, amount: u64) -> String {
        match self {
            Self::Number => words::count(amount),
            Self::Bytes => words::size(amount),
            Self::Nanoseconds => show_ns(amount as f64),
        }
    }

    fn rate(self, per_second: f64) -> String {
        match self {
            Self::Number => show_number(per_second),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturates"
            )]
            Self::Bytes => words::size(per_second.round() as u64),
            Self::Nanoseconds => show_ns(per_second),
        }
    }
}
