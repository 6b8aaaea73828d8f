//! What a result has for programs: one record per load, or for what it has instead of loads.

use results::{CheckedArea, Document, Durability, Experiment, FileIos, Loss, Validation};
use serde::Serialize;
use serde_json::Value;

use super::make::{number, text, whole};
use super::{fleet_job, loads};
use crate::model::{Cell, Column, Table, Unit};
use crate::words;

/// The columns of validations: one record per kind of I/O on each of their files.
const VALIDATION: [&str; 19] = [
    "validation_id",
    "verdict",
    "started",
    "fault_count",
    "pages_checked",
    "path",
    "role",
    "size_bytes",
    "op",
    "single",
    "several",
    "bytes",
    "errors",
    "latency_mean_ns",
    "latency_p50_ns",
    "latency_p99_ns",
    "latency_max_ns",
    "throttled",
    "in_flight_max",
];

/// The columns of durability checks, up to the counts of losses: one record per check.
const DURABILITY: [&str; 36] = [
    "durability_id",
    "run_id",
    "verdict",
    "started",
    "host",
    "sync",
    "order",
    "threads",
    "depth",
    "page_bytes",
    "mode",
    "file_bytes",
    "rounds",
    "ending",
    "seconds",
    "promised_operations",
    "pages_checked",
    "pages_promised",
    "pages_right",
    "pages_in_doubt",
    "pages_lost",
    "log_records_checked",
    "log_records_promised",
    "log_records_right",
    "log_records_in_doubt",
    "log_records_lost",
    "older",
    "torn",
    "zeroed",
    "misplaced",
    "foreign",
    "unreadable",
    "missing",
    "ahead_of_log",
    "unknown",
    "oldest_loss_seconds",
];

/// The table with the records of a document.
pub(super) fn of(document: &Document) -> Table {
    let (columns, rows) = match document {
        Document::Validation(e) => (named(&VALIDATION), of_validation(e)),
        Document::Durability(e) => (named(&DURABILITY), vec![of_durability(e)]),
        Document::FleetJob(e) => (fleet_job::record_columns(), fleet_job::records(e)),
        document => (columns_of_loads(), loads::records(document)),
    };
    let [key, title] = ["records", "Records"].map(str::to_owned);
    Table { key, title, caption: String::new(), columns, rows }
}

/// The columns of results that have loads. The last names the host where a row is of one host of
/// several that were measured together.
pub(crate) fn columns_of_loads() -> Vec<Column> {
    let of_host = Column::new("of_host", "of_host", Unit::Text);
    loads::figures().map(Column::of).chain([of_host]).collect()
}

fn named(keys: &[&'static str]) -> Vec<Column> {
    keys.iter().map(|key| Column::new(key, *key, Unit::Text)).collect()
}

/// The word that documents have for a value.
fn word(value: &impl Serialize) -> Cell {
    text(serde_json::to_value(value).as_ref().ok().and_then(Value::as_str).unwrap_or_default())
}

fn of_durability(e: &Experiment<Durability>) -> Vec<Cell> {
    let d = &e.conclusion;
    let mut cells = vec![
        text(&e.id),
        text(&d.run_id),
        word(&d.verdict),
        text(&e.started),
        text(&d.host),
        text(d.sync.name()),
        text(d.order.name()),
    ];
    cells.extend([d.threads, d.depth, d.page_bytes].map(|n| whole(u64::from(n))));
    cells.extend([word(&d.mode), whole(e.file_bytes), whole(d.rounds.map(u64::from))]);
    cells.extend([word(&d.ending), number(d.seconds), whole(d.promised_operations)]);
    let area = |area: CheckedArea| {
        [area.checked, area.promised, area.right, area.in_doubt.all(), area.lost].map(whole)
    };
    cells.extend(area(d.data));
    cells.extend(d.log.map_or([const { Cell::Empty }; 5], area));
    cells.extend(Loss::ALL.map(|loss| whole(d.count(loss))));
    cells.push(number(d.oldest_loss_seconds));
    cells
}

fn of_validation(e: &Experiment<Validation>) -> Vec<Vec<Cell>> {
    let v = &e.conclusion;
    let row = |file: &results::ValidatedFile, op: &str, ios: &FileIos| {
        let latency = ios.latency_ns;
        let mut cells = vec![text(&e.id), word(&v.verdict), text(&e.started)];
        cells.extend([v.fault_count, v.work.pages_checked].map(whole));
        cells.extend([text(words::path(&file.path)), text(&file.role)]);
        cells.extend([whole(file.size_bytes), text(op)]);
        cells.extend([ios.single, ios.several, ios.bytes, ios.errors].map(whole));
        cells.push(number(latency.map(|l| l.mean)));
        let times = latency.map(|l| [l.p50, l.p99, l.max]).unwrap_or_default();
        cells.extend(times.map(whole));
        cells.push(whole(file.throttling.map(|t| t.throttled)));
        cells.push(whole(file.throttling.map(|t| t.in_flight_max)));
        cells
    };
    let of_file = |file: &results::ValidatedFile| {
        let kinds = [("read", &file.read), ("write", &file.write), ("sync", &file.sync)];
        let made = kinds.into_iter().filter(|(_, ios)| ios.single + ios.several + ios.errors > 0);
        made.map(|(op, ios)| row(file, op, ios)).collect::<Vec<_>>()
    };
    v.files.iter().flat_map(of_file).collect()
}
