//! Whether writes that claim to be on stable media can be there: a log flush that is too fast ended in a cache.
//!
//! From outside, a cache that is protected against power loss and one that lies look the same. So nothing here accuses:
//! it says what was seen, what that can mean, and how to find out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{milliseconds, number};

/// Half a turn of the fastest disks (15 000 turns a minute). One write after the other to the same track waits about a
/// whole turn each.
const ROTATING_WRITE_NS: f64 = 2e6;
/// Programming a flash page takes several times as long as reading one; a write in less than this share of a read of the
/// medium was not waited for.
const FLASH_SHARE: f64 = 0.5;
/// A durable write that takes up to this many times as long as a plain one costs nothing more.
const SAME: f64 = 1.2;

/// What is known of log writes and of the medium.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Mean latency of small sequential durable writes, one at a time.
    pub durable_ns: f64,
    /// Mean latency of the same writes without durability, where measured.
    pub plain_ns: Option<f64>,
    /// Mean latency of single random reads, where measured.
    pub read_ns: Option<f64>,
    /// Whether the medium turns, where known.
    pub rotational: Option<bool>,
    /// Whether the operating system sees a volatile write cache that it must flush, where known.
    pub write_back: Option<bool>,
}

/// What durable writes look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// They take longer than plain ones, and as long as the medium needs.
    Plausible,
    /// They are faster than the medium can write.
    FasterThanMedium,
    /// They cost no more than plain ones although there is a write cache.
    NoSlowerThanCached,
    /// Too little is known.
    Unknown,
}

/// The outcome for one storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Honesty {
    /// What was seen.
    pub sign: Sign,
    /// Mean latency of small durable writes.
    pub durable_latency_ns: f64,
    /// Mean latency of the same writes without durability.
    pub plain_latency_ns: Option<f64>,
    /// The outcome in words.
    pub statement: String,
    /// The rule that was applied, with its numbers.
    pub rule: String,
}

/// Judges durable writes by the medium and by plain writes. None where the durable latency is unusable.
#[must_use]
pub fn judge(evidence: &Evidence) -> Option<Honesty> {
    let usable = |ns: &f64| ns.is_finite() && *ns > 0.0;
    let durable = Some(evidence.durable_ns).filter(usable)?;
    let plain = evidence.plain_ns.filter(usable);
    let read = evidence.read_ns.filter(usable);
    let too_fast = match evidence.rotational {
        Some(true) => durable < ROTATING_WRITE_NS,
        Some(false) => read.is_some_and(|read| durable < FLASH_SHARE * read),
        None => false,
    };
    let no_slower = plain.is_some_and(|plain| durable <= SAME * plain);
    let sign = if too_fast {
        Sign::FasterThanMedium
    } else if no_slower && evidence.write_back == Some(true) {
        Sign::NoSlowerThanCached
    } else if plain.is_some() && !no_slower {
        Sign::Plausible
    } else {
        Sign::Unknown
    };
    Some(Honesty {
        sign,
        durable_latency_ns: durable,
        plain_latency_ns: plain,
        statement: statement(sign, evidence, durable, plain, read),
        rule: format!(
            "Durable writes are suspect below {} on a turning disk (half a turn of the fastest), below {FLASH_SHARE} of a \
             random read on flash, or when they take at most {SAME} times as long as plain ones although the system \
             sees a volatile write cache.",
            milliseconds(ROTATING_WRITE_NS)
        ),
    })
}

fn statement(
    sign: Sign,
    evidence: &Evidence,
    durable: f64,
    plain: Option<f64>,
    read: Option<f64>,
) -> String {
    let took = format!("A durable log write took {}", milliseconds(durable));
    let ask = "Either a cache that is protected against power loss (battery, capacitors) answers, or one that confirms \
               what it can still lose. From outside both look the same: find out which before a database relies on it.";
    let beside = plain.map_or_else(String::new, |p| format!("; a plain one {}", milliseconds(p)));
    match (sign, evidence.rotational, read) {
        (Sign::FasterThanMedium, Some(true), _) => {
            format!("{took}, less than half a turn of any disk{beside}. {ask}")
        }
        (Sign::FasterThanMedium, _, Some(read)) => format!(
            "{took}, less than half of the {} of a random read, and flash writes more slowly than it reads{beside}. {ask}",
            milliseconds(read)
        ),
        (Sign::NoSlowerThanCached, _, _) => format!(
            "{took}, no longer than a plain one ({}), although the system sees a volatile write cache. {ask}",
            plain.map_or_else(String::new, milliseconds)
        ),
        (Sign::Plausible, _, _) => match plain {
            Some(plain) => format!(
                "{took}, {} times the {} of a plain one: durability is paid for, as it should be.",
                number(durable / plain),
                milliseconds(plain)
            ),
            None => format!("{took}."),
        },
        _ => format!(
            "{took}{beside}. Whether it was on stable media cannot be told from that: too little is known of the medium \
             and its cache."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sign(evidence: Evidence) -> Sign {
        judge(&evidence).unwrap().sign
    }

    #[test]
    fn a_turning_disk_cannot_write_in_a_tenth_of_a_millisecond() {
        let fast = Evidence { durable_ns: 1e5, rotational: Some(true), ..Evidence::default() };
        let honesty = judge(&fast).unwrap();
        assert_eq!(honesty.sign, Sign::FasterThanMedium);
        assert!(honesty.statement.contains("less than half a turn"), "{}", honesty.statement);
        let slow = Evidence { durable_ns: 8e6, plain_ns: Some(1e5), ..fast };
        assert_eq!(sign(slow), Sign::Plausible);
    }

    #[test]
    fn flash_that_writes_faster_than_it_reads_has_a_cache() {
        let flash = Evidence {
            durable_ns: 2e4,
            plain_ns: Some(1.5e4),
            read_ns: Some(9e4),
            rotational: Some(false),
            write_back: Some(false),
        };
        assert_eq!(sign(flash), Sign::FasterThanMedium);
        assert_eq!(sign(Evidence { durable_ns: 9e5, ..flash }), Sign::Plausible);
    }

    #[test]
    fn durability_that_costs_nothing_beside_a_volatile_cache_is_called_out() {
        let same = Evidence {
            durable_ns: 1.02e6,
            plain_ns: Some(1e6),
            write_back: Some(true),
            ..Evidence::default()
        };
        let honesty = judge(&same).unwrap();
        assert_eq!(honesty.sign, Sign::NoSlowerThanCached);
        assert!(honesty.statement.contains("both look the same"), "never an accusation");
        // Without a volatile cache a plain write is durable as well, and costs the same.
        assert_eq!(sign(Evidence { write_back: Some(false), ..same }), Sign::Unknown);
        assert_eq!(sign(Evidence { plain_ns: None, ..same }), Sign::Unknown);
    }

    proptest! {
        #[test]
        fn no_input_panics_and_every_figure_is_finite(
            durable_ns in any::<f64>(), plain_ns in any::<Option<f64>>(), read_ns in any::<Option<f64>>(),
            rotational in any::<Option<bool>>(), write_back in any::<Option<bool>>(),
        ) {
            let evidence = Evidence { durable_ns, plain_ns, read_ns, rotational, write_back };
            if let Some(found) = judge(&evidence) {
                let text = serde_json::to_string(&found).unwrap();
                prop_assert_eq!(serde_json::from_str::<Honesty>(&text).unwrap(), found);
            }
        }
    }
}
