//! The row of a measurement in the tables: the columns are the figures of [`results::FIGURES`].

use std::sync::LazyLock;

use results::{FIGURES, FigureColumn, FigureField, FigureKind, FigureValue, Load, WrongFigure};

use workload::PatternKind;

use crate::value::{FromValue, Mismatch, Row, Value};

/// The table and the column of a figure: `m` is `measurements`, `e` is `experiments`.
fn place(figure: &FigureField) -> (&'static str, &'static str) {
    match figure.key {
        "measurement_id" => ("m", "id"),
        "experiment_id" => ("e", "id"),
        "kind" => ("e", "kind"),
        key => ("m", key),
    }
}

/// The figures that have a column in `measurements`, with its name.
pub(crate) fn columns() -> impl Iterator<Item = (&'static str, &'static FigureField, FigureColumn)>
{
    FIGURES.iter().filter_map(|figure| {
        let (table, name) = place(figure);
        figure.column.filter(|_| table == "m").map(|column| (name, figure, column))
    })
}

/// What [`read`] reads, to be selected.
pub(crate) static SELECTED: LazyLock<String> = LazyLock::new(|| {
    let kept = FIGURES.iter().filter(|figure| figure.column.is_some());
    let places = kept.map(|figure| {
        let (table, name) = place(figure);
        format!("{table}.{name}")
    });
    places.collect::<Vec<_>>().join(", ")
});

/// The statement that makes the row of a measurement from the numbers of its experiment and
/// environment, and [`values`].
pub(crate) static INSERT: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<&str> =
        ["experiment", "environment"].into_iter().chain(columns().map(|(name, ..)| name)).collect();
    let places: Vec<String> = (1..=names.len()).map(|n| format!("${n}")).collect();
    format!("INSERT INTO measurements ({}) VALUES ({})", names.join(", "), places.join(", "))
});

/// Columns that hold a number in every row, and 0 where another tool does not tell it: the first
/// tables have them, before anything could be unknown.
pub(crate) const ZERO_IF_UNKNOWN: [&str; 7] =
    ["threads", "in_flight", "file_bytes", "direct", "durable", "ios", "bytes"];

/// The values of a load for [`columns`].
pub(crate) fn values(load: &Load) -> impl Iterator<Item = Value> {
    columns().map(|(name, _, column)| match (column.of)(load) {
        FigureValue::Absent if ZERO_IF_UNKNOWN.contains(&name) => Value::Integer(0),
        FigureValue::Absent => Value::Null,
        FigureValue::Whole(number) => number.into(),
        FigureValue::Real(number) => number.into(),
        FigureValue::Flag(flag) => flag.into(),
        FigureValue::Text(text) => text.as_ref().into(),
    })
}

/// Reads a load from a row of [`SELECTED`].
pub(crate) fn read(row: &mut Row) -> Result<Load, Mismatch> {
    Load::read(|kind| figure_value(kind, row.value()?)).map(without_zeros)
}

/// What the zeros of [`ZERO_IF_UNKNOWN`] say: no load has no threads, and no rate no I/Os.
fn without_zeros(load: Load) -> Load {
    let counted = |number: Option<u64>| number.filter(|n| *n > 0);
    let is_known = load.pattern != PatternKind::Unknown.word();
    let has_rate = load.iops.is_some_and(|iops| iops > 0.0);
    let of_rate = |number: Option<u64>| number.filter(|n| *n > 0 || !has_rate);
    Load {
        threads: counted(load.threads),
        in_flight: counted(load.in_flight),
        file_bytes: counted(load.file_bytes),
        direct: load.direct.filter(|_| is_known),
        durable: load.durable.filter(|_| is_known),
        ios: of_rate(load.ios),
        bytes: of_rate(load.bytes),
        ..load
    }
}

fn figure_value(kind: FigureKind, value: Value) -> Result<FigureValue<'static>, Mismatch> {
    if value == Value::Null {
        return Ok(FigureValue::Absent);
    }
    Ok(match kind {
        FigureKind::Whole => FigureValue::Whole(u64::from_value(value)?),
        FigureKind::Real => FigureValue::Real(f64::from_value(value)?),
        FigureKind::Flag => FigureValue::Flag(bool::from_value(value)?),
        FigureKind::Text | FigureKind::Moment => {
            FigureValue::Text(String::from_value(value)?.into())
        }
    })
}

impl From<WrongFigure> for Mismatch {
    fn from(wrong: WrongFigure) -> Self {
        Self::new("nothing, or too large a number", wrong.key)
    }
}
