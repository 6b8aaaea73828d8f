//! The filter of a page: the fields of its form, and the filter of the history that they make.

use std::str::FromStr;

use history::{Filter, State};
use jiff::ToSpan;
use jiff::civil::Date;
use results::Status;
use workload::{Bytes, PatternKind};

use super::words;
use crate::parameters::Parameters;
use crate::problem::Problem;

/// The words for how a result ended.
pub(super) const STATUSES: [&str; 4] = ["complete", "interrupted", "failed", "unfinished"];
/// The words for where I/O went.
pub(super) fn patterns() -> Vec<&'static str> {
    PatternKind::ALL.map(PatternKind::word).to_vec()
}

/// The fields of the form as they were filled in.
#[derive(Debug)]
pub(super) struct FilterForm {
    pub(super) text: String,
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) pattern: String,
    pub(super) block: String,
    pub(super) host: String,
    pub(super) target: String,
    pub(super) tag: String,
    pub(super) since: String,
    pub(super) until: String,
    /// Whether any field is filled in.
    pub(super) any: bool,
    /// Whether any field other than the search is filled in.
    pub(super) narrowed: bool,
}

impl FilterForm {
    pub(super) fn of(parameters: &Parameters) -> Self {
        let text = |name: &str| parameters.text(name);
        let names =
            ["kind", "status", "pattern", "block", "host", "target", "tag", "since", "until"];
        let narrowed = names.iter().any(|name| parameters.get(name).is_some());
        Self {
            text: text("text"),
            kind: text("kind"),
            status: text("status"),
            pattern: text("pattern"),
            block: text("block"),
            host: text("host"),
            target: text("target"),
            tag: text("tag"),
            since: text("since"),
            until: text("until"),
            any: narrowed || parameters.get("text").is_some(),
            narrowed,
        }
    }

    /// The filter, or what is wrong with a field.
    pub(super) fn filter(&self) -> Result<Filter, Problem> {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Ok(Filter {
            text: given(&self.text),
            kind: one_of(&self.kind, &results::kind_words(), "kind")?,
            status: given(&self.status).map(|text| state(&text)).transpose()?,
            pattern: one_of(&self.pattern, &patterns(), "pattern")?,
            block_bytes: given(&self.block).map(|text| block(&text)).transpose()?,
            host: given(&self.host),
            target: given(&self.target),
            tag: given(&self.tag),
            since: given(&self.since).map(|text| day(&text)).transpose()?.map(begin),
            until: given(&self.until).map(|text| day(&text)).transpose()?.map(after),
            ..Filter::default()
        })
    }
}

fn one_of(text: &str, known: &[&str], field: &str) -> Result<Option<String>, Problem> {
    if text.is_empty() || known.contains(&text) {
        return Ok((!text.is_empty()).then(|| text.to_owned()));
    }
    let text = words::clean(text);
    Err(Problem::Bad(format!("`{text}` is not at a {field}: there are {}.", known.join(", "))))
}

fn state(text: &str) -> Result<State, Problem> {
    Ok(match one_of(text, &STATUSES, "status")?.as_deref() {
        Some("complete") => State::Ended(Status::Complete),
        Some("interrupted") => State::Ended(Status::Interrupted),
        Some("failed") => State::Ended(Status::Failed),
        _ => State::Unfinished,
    })
}

fn block(text: &str) -> Result<u64, Problem> {
    let bytes = Bytes::from_str(text).ok().filter(|bytes| i64::try_from(bytes.0).is_ok());
    bytes.map(|bytes| bytes.0).ok_or_else(|| {
        let text = words::clean(text);
        Problem::Bad(format!("`{text}` is not a block size; write it like 8K or 1M."))
    })
}

fn day(text: &str) -> Result<Date, Problem> {
    text.parse().map_err(|_| {
        let text = words::clean(text);
        Problem::Bad(format!("`{text}` is not a day; write it like 2026-11-21."))
    })
}

/// When a day begins where this server is.
fn begin(day: Date) -> String {
    let begin = day.to_zoned(report::zone::zone()).and_then(|at| at.start_of_day());
    // A history has moments in UTC, and the shorter text is the smaller one.
    begin.map_or_else(|_| day.to_string(), |at| at.timestamp().to_string())
}

/// The day after, so that all of a day is in what ends with it.
fn after(day: Date) -> String {
    begin(day.saturating_add(1.day()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(query: &str) -> Result<Filter, Problem> {
        FilterForm::of(&Parameters::of(Some(query))).filter()
    }

    #[test]
    fn fields_become_a_filter() {
        assert_eq!(asked("").unwrap(), Filter::default());
        let filter =
            asked("kind=knee&block=8K&since=2026-11-20&until=2026-11-21&status=unfinished");
        let expected = Filter {
            kind: Some("knee".to_owned()),
            block_bytes: Some(8192),
            since: Some("2026-11-20T00:00:00Z".to_owned()),
            until: Some("2026-11-22T00:00:00Z".to_owned()),
            status: Some(State::Unfinished),
            ..Filter::default()
        };
        assert_eq!(filter.unwrap(), expected);
        for wrong in
            ["kind=x", "block=x", "block=99999999999T", "since=2026-13-01", "status=x", "pattern=x"]
        {
            assert!(matches!(asked(wrong), Err(Problem::Bad(_))), "{wrong}");
        }
    }

    /// The form did not offer SQLIO's matrix, and the address `?pattern=matrix` was refused, though
    /// histories hold such runs.
    #[test]
    fn every_kind_and_every_pattern_can_be_asked_for() {
        for kind in results::kind_words() {
            let filter = asked(&format!("kind={kind}")).unwrap();
            assert_eq!(filter.kind.as_deref(), Some(kind));
        }
        for pattern in ["random", "sequential", "sequential-shared", "stride", "matrix", "mixed"] {
            let filter = asked(&format!("pattern={pattern}")).unwrap();
            assert_eq!(filter.pattern.as_deref(), Some(pattern));
        }
    }

    proptest! {
        #[test]
        fn no_field_is_a_panic(value in any::<String>()) {
            for field in ["kind", "block", "since", "until", "status", "pattern", "tag", "text"] {
                let _ = asked(Parameters::default().address("", &[(field, &value)])
                    .trim_start_matches('?'));
            }
        }
    }
}
