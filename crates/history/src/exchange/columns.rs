//! The columns of an exported table: name, type, and how a row gives its value. CSV and Parquet are
//! written from the same ones.

use results::{FigureKind, FigureType, FigureValue};

/// One column of a table with rows of `R`.
#[derive(Debug)]
pub(crate) struct Column<R> {
    /// Its name in the head of the table.
    pub name: &'static str,
    /// The type of the column's values.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has types"))]
    pub kind: FigureKind,
    /// The value that a row has in the column.
    pub of: for<'a> fn(&'a R) -> FigureValue<'a>,
}

/// The kind of values that a field of a row has.
pub(crate) const fn kind_of<R, T: FigureType>(_: fn(&R) -> &T) -> FigureKind {
    T::KIND
}
