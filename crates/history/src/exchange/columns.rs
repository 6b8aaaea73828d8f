//! What a table has for columns: a name, a type, and how a row gives it. CSV and Parquet are written from the same ones.

use std::borrow::Cow;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// Counts, bytes and nanoseconds.
    Whole,
    /// Rates and means.
    Real,
    /// Yes or no.
    Flag,
    /// Words.
    Text,
    /// A moment, UTC.
    Moment,
}

/// One field of one row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Field<'a> {
    /// Not known, or not to be had.
    Absent,
    /// Of a [`Type::Whole`].
    Whole(u64),
    /// Of a [`Type::Real`].
    Real(f64),
    /// Of a [`Type::Flag`].
    Flag(bool),
    /// Of a [`Type::Text`].
    Text(Cow<'a, str>),
    /// Of a [`Type::Moment`]: RFC 3339.
    Moment(&'a str),
}

/// One column of a table with rows of `R`.
#[derive(Debug)]
pub(crate) struct Column<R> {
    /// What the head of the table calls it.
    pub name: &'static str,
    /// What it holds.
    pub holds: Type,
    /// A row's field of it.
    pub of: for<'a> fn(&'a R) -> Field<'a>,
}

/// Values of documents as fields.
pub(crate) trait Shown {
    /// What a column of such values holds.
    const TYPE: Type;
    /// The value as a field.
    fn shown(&self) -> Field<'_>;
}

impl Shown for u64 {
    const TYPE: Type = Type::Whole;
    fn shown(&self) -> Field<'_> {
        Field::Whole(*self)
    }
}

impl Shown for u32 {
    const TYPE: Type = Type::Whole;
    fn shown(&self) -> Field<'_> {
        Field::Whole(u64::from(*self))
    }
}

impl Shown for f64 {
    const TYPE: Type = Type::Real;
    fn shown(&self) -> Field<'_> {
        // JSON knows no other numbers, and a table need not either.
        if self.is_finite() { Field::Real(*self) } else { Field::Absent }
    }
}

impl Shown for bool {
    const TYPE: Type = Type::Flag;
    fn shown(&self) -> Field<'_> {
        Field::Flag(*self)
    }
}

impl Shown for String {
    const TYPE: Type = Type::Text;
    fn shown(&self) -> Field<'_> {
        Field::Text(Cow::Borrowed(self))
    }
}

impl Shown for &'static str {
    const TYPE: Type = Type::Text;
    fn shown(&self) -> Field<'_> {
        Field::Text(Cow::Borrowed(self))
    }
}

impl<T: Shown> Shown for Option<T> {
    const TYPE: Type = T::TYPE;
    fn shown(&self) -> Field<'_> {
        self.as_ref().map_or(Field::Absent, Shown::shown)
    }
}

/// What a field holds, taken from the type of what is in the row.
pub(crate) const fn type_of<R, T: Shown>(_: fn(&R) -> &T) -> Type {
    T::TYPE
}

/// Columns by the names of the row's own fields; `name(moment)` for a text that is a moment.
macro_rules! columns {
    ($row:ty; $($name:ident $(($moment:ident))?),+ $(,)?) => {
        &[$(columns!(@one $row, $name $(, $moment)?)),+]
    };
    (@one $row:ty, $name:ident) => {
        crate::exchange::columns::Column::<$row> {
            name: stringify!($name),
            holds: crate::exchange::columns::type_of::<$row, _>(|row| &row.$name),
            of: |row| crate::exchange::columns::Shown::shown(&row.$name),
        }
    };
    (@one $row:ty, $name:ident, moment) => {
        crate::exchange::columns::Column::<$row> {
            name: stringify!($name),
            holds: crate::exchange::columns::Type::Moment,
            of: |row| crate::exchange::columns::Field::Moment(&row.$name),
        }
    };
}
pub(crate) use columns;
