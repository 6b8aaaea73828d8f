//! Rows as the databases answer them: names and values, of which any may be missing.

use serde_json::{Map, Value};

/// How many picoseconds a millisecond has.
const PS_PER_MS: f64 = 1e9;

/// A row: the values of its columns by name.
pub(crate) type Record = Map<String, Value>;

/// The rows under a name; `None` without such a list.
pub(crate) fn rows<'a>(
    answer: &'a Record,
    name: &str,
) -> impl Iterator<Item = &'a Record> + use<'a> {
    let list = answer.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Value::as_object)
}

/// The one row under a name.
pub(crate) fn row<'a>(answer: &'a Record, name: &str) -> Option<&'a Record> {
    answer.get(name)?.as_object()
}

/// A counter: a whole number from 0, also as text or with a fraction.
pub(crate) fn count(record: &Record, name: &str) -> Option<u64> {
    let value = record.get(name)?;
    if let Some(text) = value.as_str() {
        return text.trim().parse().ok();
    }
    value.as_u64().or_else(|| value.as_f64().and_then(whole))
}

/// A time in milliseconds, as picoseconds modulo 2^64.
pub(crate) fn ms_as_ps(record: &Record, name: &str) -> Option<u64> {
    let ms = record.get(name)?.as_f64().filter(|ms| *ms >= 0.0 && ms.is_finite())?;
    Some(modulo(ms * PS_PER_MS))
}

/// A text of a record by its name.
pub(crate) fn text<'a>(record: &'a Record, name: &str) -> Option<&'a str> {
    record.get(name)?.as_str()
}

/// Truth, as PostgreSQL's settings and JSON write it.
pub(crate) fn is_on(record: &Record, name: &str) -> bool {
    match record.get(name) {
        Some(Value::Bool(is)) => *is,
        Some(Value::String(text)) => ["on", "yes", "1"].contains(&text.to_lowercase().as_str()),
        Some(Value::Number(number)) => number.as_f64() == Some(1.0),
        _ => false,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and 2^64, as asked before"
)]
fn whole(number: f64) -> Option<u64> {
    (0.0..18_446_744_073_709_551_615.0).contains(&number).then_some(number as u64)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the lower 64 bits are what is wanted"
)]
fn modulo(number: f64) -> u64 {
    number as u128 as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(json: &str) -> Record {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn values_are_taken_in_any_form_that_databases_write() {
        let record = record(
            r#"{"a": 7, "b": "8", "c": 9.0, "d": null, "e": -1, "f": "x", "ms": 1.5, "on": "on", "off": "off"}"#,
        );
        assert_eq!(count(&record, "a"), Some(7));
        assert_eq!(count(&record, "b"), Some(8));
        assert_eq!(count(&record, "c"), Some(9));
        for name in ["d", "e", "f", "missing"] {
            assert_eq!(count(&record, name), None, "{name}");
        }
        assert_eq!(ms_as_ps(&record, "ms"), Some(1_500_000_000));
        assert_eq!(ms_as_ps(&record, "e"), None);
        assert!(is_on(&record, "on"));
        assert!(!is_on(&record, "off") && !is_on(&record, "missing"));
    }

    #[test]
    fn times_of_years_start_again_instead_of_ending() {
        let days: u128 = 300 * 86_400 * 1000;
        let record = record(&format!(r#"{{"ms": {days}}}"#));
        let ps = ms_as_ps(&record, "ms").unwrap();
        assert_eq!(u128::from(ps), (days * 1_000_000_000) % (1 << 64));
    }

    proptest::proptest! {
        /// Nothing in an answer makes the readers panic.
        #[test]
        fn nothing_panics(number in proptest::num::f64::ANY, word in ".{0,12}") {
            let mut record = Record::new();
            record.insert("n".to_owned(), serde_json::json!(number));
            record.insert("w".to_owned(), Value::String(word));
            for name in ["n", "w"] {
                let _ = (count(&record, name), ms_as_ps(&record, name), is_on(&record, name));
                let _ = (rows(&record, name).count(), row(&record, name), text(&record, name));
            }
        }
    }
}
