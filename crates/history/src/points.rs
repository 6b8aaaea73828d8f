//! The points of a series as rows. One list has their columns, in the order of the table: what
//! writes, reads and exports them takes it from there.

use results::Point;

use crate::value::{Mismatch, Row, Value};

/// Gives the columns to a macro, with what else it needs before them.
macro_rules! with_point_columns {
    ($macro:ident!($($before:tt)*)) => {
        $macro! {
            $($before)* t, seconds, read_iops, write_iops, read_mib_per_s, write_mib_per_s,
            read_mean_ns, write_mean_ns, read_p99_ns, write_p99_ns, max_ns, errors
        }
    };
}
pub(crate) use with_point_columns;

macro_rules! rows {
    ($($column:ident),*) => {
        /// The names of the columns of a point.
        pub(crate) const COLUMNS: &[&str] = &[$(stringify!($column)),*];

        /// The values of a point for [`COLUMNS`].
        pub(crate) fn values(point: &Point) -> impl Iterator<Item = Value> {
            let Point { $($column),* } = *point;
            [$($column.into()),*].into_iter()
        }

        /// Reads a point from a row of [`COLUMNS`].
        pub(crate) fn read(row: &mut Row) -> Result<Point, Mismatch> {
            Ok(Point { $($column: row.take()?),* })
        }
    };
}
with_point_columns!(rows!());
