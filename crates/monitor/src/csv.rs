//! A table as CSV (RFC 4180): a row per device and window, with the host's figures in the rows of
//! the device `host`.

use counters::{DISK_FIELDS, Field, SYSTEM_FIELDS, Span};
use results::csv_field;

use crate::lines::moment;
use crate::watch::Observation;

/// What the host is called in the column `device`.
pub const HOST: &str = "host";

/// Columns of what others counted that devices have no figures for.
const OF_ROWS: [&str; 2] = ["syncs_per_s", "sync_latency_ns"];

/// The first line, with the names of the columns.
#[must_use]
pub fn heading() -> String {
    let names = ["time", "t", "seconds", "device"].into_iter();
    let names = names.chain(DISK_FIELDS.iter().map(|field| field.name));
    let names = names.chain(SYSTEM_FIELDS.iter().map(|field| field.name)).chain(OF_ROWS);
    format!("{}\n", names.collect::<Vec<_>>().join(","))
}

fn cells<T>(fields: &[Field<T>], amounts: Option<(&T, Span)>) -> Vec<String> {
    let cell = |field: &Field<T>| {
        let figure = amounts.and_then(|(amounts, span)| field.of(amounts, span));
        figure.map_or_else(String::new, |figure| figure.to_string())
    };
    fields.iter().map(cell).collect()
}

/// The rows of a window. What has no figure is empty, never 0.
#[must_use]
pub fn rows(o: &Observation) -> String {
    let span = Span { seconds: o.window.seconds, readings: 1 };
    let mut out = String::new();
    let mut row = |seconds: f64, device: &str, cells: [Vec<String>; 3]| {
        let first = [moment(o.unix), o.t.to_string(), seconds.to_string(), csv_field(device)];
        let all: Vec<String> = first.into_iter().chain(cells.into_iter().flatten()).collect();
        out.push_str(&all.join(","));
        out.push('\n');
    };
    let nothing = || vec![String::new(); OF_ROWS.len()];
    for (name, tally) in &o.window.disks {
        let cells =
            [cells(&DISK_FIELDS, Some((tally, span))), cells(&SYSTEM_FIELDS, None), nothing()];
        row(span.seconds, name, cells);
    }
    let host = cells(&SYSTEM_FIELDS, Some((&o.window.system, span)));
    row(span.seconds, HOST, [cells(&DISK_FIELDS, None), host, nothing()]);
    for other in &o.rows {
        let known = other.figures();
        let figure = |name: &str| known.iter().find(|(n, _)| *n == name).and_then(|(_, f)| *f);
        let cell = |name: &str| figure(name).map_or_else(String::new, |f| f.to_string());
        let cells = [
            DISK_FIELDS.iter().map(|field| cell(field.name)).collect(),
            cells(&SYSTEM_FIELDS, None),
            OF_ROWS.iter().map(|name| cell(name)).collect(),
        ];
        row(other.seconds, &format!("{} {}", other.source, other.object), cells);
    }
    out
}
