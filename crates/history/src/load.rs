//! The row of a measurement in the tables: the columns are the figures of [`results::FIGURES`].

use std::sync::LazyLock;

use results::{FIGURES, FigureField, FigureKind, FigureValue, Load, WrongFigure};

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

/// Reads the value of a column from a row.
type Column = for<'a> fn(&'a Load) -> FigureValue<'a>;

/// The figures that have a column in `measurements`, with its name.
pub(crate) fn columns() -> impl Iterator<Item = (&'static str, &'static FigureField, Column)> {
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

/// The values of a load for [`columns`].
pub(crate) fn values(load: &Load) -> impl Iterator<Item = Value> {
    columns().map(|(.., column)| match column(load) {
        FigureValue::Absent => Value::Null,
        FigureValue::Whole(number) => number.into(),
        FigureValue::Real(number) => number.into(),
        FigureValue::Flag(flag) => flag.into(),
        FigureValue::Text(text) => text.as_ref().into(),
    })
}

/// Reads a load from a row of [`SELECTED`].
pub(crate) fn read(row: &mut Row) -> Result<Load, Mismatch> {
    Load::read(|kind| figure_value(kind, row.value()?))
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
