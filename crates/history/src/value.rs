//! Values of statements and rows, the same for every database.

use thiserror::Error;

/// One value of a row or of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// SQL's NULL: the value is absent.
    Null,
    /// A whole number; truth is 1 or 0.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// A text, always UTF-8.
    Text(String),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

/// A database has no numbers beyond 2^63 - 1; columns hold that for larger ones.
impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Integer(truth.into())
    }
}

/// A float that is not a number is NULL, as in JSON.
impl From<f64> for Value {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Real(number) } else { Self::Null }
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Makes the parameters of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { &[$($crate::value::Value::from($value)),*] };
}
pub(crate) use values;

/// A column that does not hold what it should.
#[derive(Debug, Error)]
#[error("a column holds {found}, where {wanted} should be")]
pub(crate) struct Mismatch {
    found: String,
    wanted: &'static str,
}

impl Mismatch {
    /// A column that holds this where something else should be.
    pub(crate) fn new(found: impl Into<String>, wanted: &'static str) -> Self {
        Self { found: found.into(), wanted }
    }
}

/// A type that a column can be read as.
pub(crate) trait FromValue: Sized {
    /// Reads a value of this type.
    fn from_value(value: Value) -> Result<Self, Mismatch>;
}

fn mismatch<T>(found: &Value, wanted: &'static str) -> Result<T, Mismatch> {
    Err(Mismatch { found: format!("{found:?}").chars().take(60).collect(), wanted })
}

impl FromValue for String {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Text(text) => Ok(text),
            other => mismatch(&other, "a text"),
        }
    }
}

impl FromValue for i64 {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Integer(number) => Ok(number),
            other => mismatch(&other, "a whole number"),
        }
    }
}

impl FromValue for u64 {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match &value {
            Value::Integer(number) => {
                Self::try_from(*number).or_else(|_| mismatch(&value, "a count"))
            }
            other => mismatch(other, "a count"),
        }
    }
}

impl FromValue for u32 {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match &value {
            Value::Integer(number) => {
                Self::try_from(*number).or_else(|_| mismatch(&value, "a small count"))
            }
            other => mismatch(other, "a small count"),
        }
    }
}

impl FromValue for bool {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Integer(number) => Ok(number != 0),
            other => mismatch(&other, "0 or 1"),
        }
    }
}

impl FromValue for f64 {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Real(number) => Ok(number),
            Value::Integer(number) => Ok(number as Self),
            other => mismatch(&other, "a number"),
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Result<Self, Mismatch> {
        match value {
            Value::Null => Ok(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// A row, read column by column from the left.
#[derive(Debug)]
pub(crate) struct Row(std::vec::IntoIter<Value>);

impl Row {
    /// A row that has these columns.
    pub(crate) fn new(columns: Vec<Value>) -> Self {
        Self(columns.into_iter())
    }

    /// The next column, as it is.
    #[expect(clippy::unnecessary_wraps, reason = "as the others that read a row")]
    pub(crate) fn value(&mut self) -> Result<Value, Mismatch> {
        Ok(self.0.next().unwrap_or(Value::Null))
    }

    /// Reads the next column as a value of this type.
    pub(crate) fn take<T: FromValue>(&mut self) -> Result<T, Mismatch> {
        T::from_value(self.0.next().unwrap_or(Value::Null))
    }
}
