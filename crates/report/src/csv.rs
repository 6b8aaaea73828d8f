//! Every load of a report as CSV, for spreadsheets and scripts: one header, a line for each
//! measurement. A report of validations alone, which have none, has a line for each kind of I/O on
//! each of their files; one of checks behind a crash alone a line for each check.

pub use results::csv_field as field;
use results::{CheckedArea, Document, Durability, Experiment, FileIos, Loss, Validation};
use serde_json::Value;

use crate::model::{Cell, Report, Unit};
use crate::sections::loads;
use crate::words;

/// Columns by which such a table is known; later versions may have more at the end.
const SIGN: usize = 30;

/// The columns of validations.
const VALIDATION: &str = "validation_id,verdict,started,fault_count,pages_checked,path,role,\
                          size_bytes,op,single,several,bytes,errors,latency_mean_ns,\
                          latency_p50_ns,latency_p99_ns,latency_max_ns,throttled,in_flight_max";

/// The columns of checks behind a crash.
const DURABILITY: &str = "durability_id,run_id,verdict,started,host,sync,order,threads,depth,\
                          page_bytes,mode,file_bytes,rounds,ending,seconds,promised_operations,\
                          pages_checked,pages_promised,pages_right,pages_in_doubt,pages_lost,\
                          log_records_checked,log_records_promised,log_records_right,\
                          log_records_in_doubt,log_records_lost,older,torn,zeroed,misplaced,\
                          foreign,unreadable,missing,ahead_of_log,unknown,oldest_loss_seconds";

/// The loads of all results in one table.
///
/// The header is the same for every report; columns may be added at its end. Figures are plain
/// numbers in the unit at the end of their column's name. What is not known is empty.
#[must_use]
pub fn text(report: &Report) -> String {
    let documents = || report.results.iter().map(|part| &part.document);
    let all = documents().len();
    let validations: Vec<_> = documents().filter_map(validation).collect();
    if all > 0 && validations.len() == all {
        return lines(VALIDATION, validations.into_iter().flat_map(of_validation));
    }
    let checks: Vec<_> = documents().filter_map(durability).collect();
    if all > 0 && checks.len() == all {
        return lines(DURABILITY, checks.into_iter().map(of_durability));
    }
    let head: Vec<&str> = loads::figures().map(|figure| figure.key).collect();
    let mut out = head.join(",") + "\r\n";
    for row in documents().flat_map(loads::rows) {
        let cells = row.iter().zip(loads::figures());
        let line: Vec<String> = cells.map(|(cell, figure)| show(cell, figure.unit)).collect();
        out.push_str(&line.join(","));
        out.push_str("\r\n");
    }
    out
}

/// A header, and what follows it.
fn lines(head: &str, rows: impl Iterator<Item = String>) -> String {
    std::iter::once(head.to_owned()).chain(rows).map(|line| line + "\r\n").collect()
}

/// Whether a text is such a table; what is not is somebody else's.
#[must_use]
pub fn is_report(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let known: Vec<&str> = loads::figures().map(|figure| figure.key).take(SIGN).collect();
    [&known.join(","), VALIDATION, DURABILITY].iter().any(|head| first.starts_with(*head))
}

fn validation(document: &Document) -> Option<&Experiment<Validation>> {
    if let Document::Validation(validation) = document { Some(validation) } else { None }
}

fn durability(document: &Document) -> Option<&Experiment<Durability>> {
    if let Document::Durability(check) = document { Some(check) } else { None }
}

/// The line of a check behind a crash.
fn of_durability(e: &Experiment<Durability>) -> String {
    let d = &e.conclusion;
    let word = |word: serde_json::Result<Value>| {
        word.ok().and_then(|w| w.as_str().map(field)).unwrap_or_default()
    };
    let mut cells = vec![
        field(&e.id),
        field(&d.run_id),
        word(serde_json::to_value(d.verdict)),
        field(&e.started),
        field(&d.host),
        field(d.sync.name()),
        field(d.order.name()),
    ];
    cells.extend([d.threads, d.depth, d.page_bytes].map(|n| n.to_string()));
    cells.push(word(serde_json::to_value(d.mode)));
    cells.push(e.file_bytes.to_string());
    cells.push(d.rounds.map(|n| n.to_string()).unwrap_or_default());
    cells.push(word(serde_json::to_value(d.ending)));
    cells.extend([d.seconds.to_string(), d.promised_operations.to_string()]);
    let area = |area: CheckedArea| {
        [area.checked, area.promised, area.right, area.in_doubt.all(), area.lost]
            .map(|n| n.to_string())
    };
    cells.extend(area(d.data));
    cells.extend(d.log.map(area).unwrap_or_default());
    cells.extend(Loss::ALL.map(|loss| d.count(loss).to_string()));
    cells.push(d.oldest_loss_seconds.map(|s| s.to_string()).unwrap_or_default());
    cells.join(",")
}

/// The lines of a validation.
fn of_validation(e: &Experiment<Validation>) -> Vec<String> {
    let v = &e.conclusion;
    let verdict = serde_json::to_value(v.verdict).unwrap_or_default();
    let of = [
        field(&e.id),
        field(verdict.as_str().unwrap_or_default()),
        field(&e.started),
        v.fault_count.to_string(),
        v.work.pages_checked.to_string(),
    ];
    let mut lines = Vec::new();
    for file in &v.files {
        let kinds = [("read", &file.read), ("write", &file.write), ("sync", &file.sync)];
        for (op, ios) in kinds.into_iter().filter(|(_, ios)| made(ios)) {
            let latency = ios.latency_ns;
            let count = |count: Option<u64>| count.map(|n| n.to_string()).unwrap_or_default();
            let mut cells = of.to_vec();
            cells.extend([field(&words::path(&file.path)), field(&file.role)]);
            cells.extend([file.size_bytes.to_string(), op.to_owned()]);
            cells.extend([ios.single, ios.several, ios.bytes, ios.errors].map(|n| n.to_string()));
            cells.push(latency.map(|l| l.mean.to_string()).unwrap_or_default());
            let times = latency.map(|l| [l.p50, l.p99, Some(l.max)]).unwrap_or_default();
            cells.extend(times.map(count));
            cells.push(count(file.throttling.map(|t| t.throttled)));
            cells.push(count(file.throttling.map(|t| t.in_flight_max)));
            lines.push(cells.join(","));
        }
    }
    lines
}

fn made(ios: &FileIos) -> bool {
    ios.single + ios.several + ios.errors > 0
}

fn show(cell: &Cell, unit: Unit) -> String {
    match cell {
        Cell::Text(text) => field(text),
        Cell::Number(value) if unit == Unit::Moment => moment(*value),
        Cell::Number(value) if value.is_finite() => value.to_string(),
        Cell::Number(_) | Cell::Empty => String::new(),
    }
}

/// Seconds since 1970 as RFC 3339 in UTC.
fn moment(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let ms = (seconds * 1e3).round() as i64;
    jiff::Timestamp::from_millisecond(ms).map(|t| t.to_string()).unwrap_or_default()
}
