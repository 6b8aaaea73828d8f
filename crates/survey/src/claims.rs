//! Expectations files: claims about the storage, as TOML.

use analysis::claims::{Claim, Selector};
use results::verdict::Database;
use serde::Deserialize;
use thiserror::Error;
use workload::Bytes;

use crate::assess::named_loads;

/// An expectations file that cannot be used.
#[derive(Debug, Error)]
pub enum ClaimsError {
    /// The TOML text is wrong; the message has line and column.
    #[error("{0}")]
    Toml(String),
    /// An expectation of a claim is wrong.
    #[error("{claim}: {what}")]
    Expectation {
        /// The claim, by its name or its number.
        claim: String,
        /// What is wrong with it, and what to write instead.
        what: String,
    },
    /// A claim is about a load that is not measured.
    #[error("{claim}: it speaks of no load of this assessment; there are {loads}")]
    NoLoad {
        /// The claim, by its name or its number.
        claim: String,
        /// The names of all loads that are measured.
        loads: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    claim: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    load: Option<String>,
    block: Option<Bytes>,
    pattern: Option<PatternName>,
    write: Option<u8>,
    durable: Option<bool>,
    in_flight: Option<u32>,
    expect: Expect,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PatternName {
    Random,
    Sequential,
}

/// One expectation, or several that must be met at once.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`expect` takes a text such as \"iops >= 8000\", or a list of such texts"
)]
enum Expect {
    One(String),
    All(Vec<String>),
}

/// The claims of an expectations file: a TOML text of `[[claim]]` tables.
///
/// A claim about a load that an assessment for this database does not measure is refused here, not
/// after an hour of measuring.
pub fn parse_claims(text: &str, database: Database) -> Result<Vec<Claim>, ClaimsError> {
    let file: File = toml::from_str(text).map_err(|e| ClaimsError::Toml(e.to_string()))?;
    let entries = file.claim.into_iter().enumerate();
    entries.map(|(place, entry)| claim(place + 1, entry, database)).collect()
}

fn claim(number: usize, entry: Entry, database: Database) -> Result<Claim, ClaimsError> {
    let called = entry.name.clone().unwrap_or_else(|| format!("claim {number}"));
    let texts = match entry.expect {
        Expect::One(text) => vec![text],
        Expect::All(texts) => texts,
    };
    let wrong = |what: String| ClaimsError::Expectation { claim: called.clone(), what };
    if texts.is_empty() {
        return Err(wrong("`expect` is empty; write what is expected".to_owned()));
    }
    if entry.in_flight == Some(0) {
        return Err(wrong("`in_flight` must be at least 1".to_owned()));
    }
    let expect: Result<_, _> = texts.iter().map(|text| text.parse()).collect();
    let expect = expect.map_err(|e: analysis::claims::ExpectationError| wrong(e.to_string()))?;
    let of = Selector {
        load: entry.load,
        block_bytes: entry.block.map(|b| b.0),
        random: entry.pattern.map(|p| p == PatternName::Random),
        write_percent: entry.write,
        durable: entry.durable,
        in_flight: entry.in_flight.map(u64::from),
    };
    let loads = named_loads(database);
    let anywhere = Selector { in_flight: None, ..of.clone() };
    if !loads.iter().any(|setting| analysis::claims::matches(&anywhere, setting)) {
        let names: Vec<&str> = loads.iter().map(|s| s.load.as_str()).collect();
        return Err(ClaimsError::NoLoad { claim: called, loads: names.join(", ") });
    }
    Ok(Claim { name: entry.name, of, expect, documented: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<Claim>, ClaimsError> {
        parse_claims(text, Database::Generic)
    }

    #[test]
    fn a_file_as_a_person_writes_it_is_read() {
        let text = r#"
            [[claim]]
            name = "the vendor"
            block = "8K"
            pattern = "random"
            write = 0
            expect = "iops >= 8000"

            [[claim]]
            load = "log_write_4k"
            in_flight = 1
            expect = ["latency_mean <= 1ms", "latency_p99 <= 5ms"]
        "#;
        let claims = parse(text).unwrap();
        assert_eq!(claims[0].name.as_deref(), Some("the vendor"));
        assert_eq!((claims[0].of.block_bytes, claims[0].of.random), (Some(8192), Some(true)));
        assert_eq!((claims[1].expect.len(), claims[1].of.in_flight), (2, Some(1)));
    }

    #[test]
    fn what_cannot_be_held_against_anything_is_refused_before_the_measuring() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert!(error("[[claim]]\nexpect = \"iops > 8\"").contains("claim 1: `iops > 8`"));
        assert!(
            error("[[claim]]\nload = \"tape\"\nexpect = \"iops >= 8\"")
                .contains("there are random")
        );
        assert!(error("[[claim]]\nblock = \"3K\"\nexpect = \"iops >= 8\"").contains("no load"));
        assert!(error("[[claim]]\nexpect = []").contains("`expect` is empty"));
        assert!(error("[[claim]]\nexpect = 8000").contains("takes a text such as"));
        assert!(error("[[claim]]\nspeed = 8").contains("speed"));
        assert!(error("[[claim]]\nin_flight = 0\nexpect = \"iops >= 8\"").contains("at least 1"));
        let other = "[[claim]]\nload = \"random_read_16k\"\nexpect = \"iops >= 8\"";
        assert!(parse(other).is_err());
        assert!(parse_claims(other, Database::MySql).is_ok(), "MySQL has pages of 16 KiB");
    }
}
