//! What each host of a fleet measured at every point of a search.

use results::{Document, FigureField, Measurement, PartOf, figure};

use super::caption;
use super::make::{column, full_section, section as make, table, text, whole};
use crate::language::say;
use crate::model::{Block, Cell, Column, Section, Unit};
use crate::words;

/// Figures of a point, and those of a host at that point.
const POINT: [&str; 2] = ["load", "in_flight"];
const OWN: [&str; 4] = ["iops", "mib_per_s", "latency_mean_ns", "latency_p99_ns"];

fn fields(keys: &'static [&str]) -> impl Iterator<Item = &'static FigureField> {
    keys.iter().filter_map(|key| figure(key))
}

fn cells(m: &Measurement, keys: &'static [&str]) -> impl Iterator<Item = Cell> {
    let part_of = PartOf { experiment_id: "", kind: "", cell: 0 };
    fields(keys).map(move |figure| Cell::of(figure, &figure.of(m, &part_of)))
}

/// One row per host and point; `None` if a single host measured.
pub(super) fn section(document: &Document) -> Option<Section> {
    let points = document.measurements();
    let mut columns: Vec<Column> = fields(&POINT).map(Column::of).collect();
    columns.push(column("host", say!("label-host"), Unit::Text));
    columns.extend(fields(&OWN).map(Column::of));
    columns.push(column("late_ns", say!("fleet-late"), Unit::Nanoseconds));
    let mut rows = Vec::new();
    for point in &points {
        for host in &point.hosts {
            let mut row: Vec<Cell> = cells(point, &POINT).collect();
            row.push(text(words::clean(&host.name)));
            row.extend(cells(&host.measurement, &OWN));
            row.push(whole(host.late_ns));
            rows.push(row);
        }
    }
    let of_hosts = points.iter().copied().filter(|point| !point.hosts.is_empty());
    let heading = say!("fleet-heading-hosts");
    let table = table("point-hosts", &heading, &caption::of(of_hosts), columns, rows);
    full_section(make("point-hosts", heading, table.into_iter().map(Block::Table).collect()))
}
