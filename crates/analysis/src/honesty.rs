//! Whether writes that claim to be on stable media can be there: a log flush that is too fast ended
//! in a cache.
//!
//! From outside, a cache that survives a power cut and one that lies look the same. So this module
//! accuses nobody: it states what was seen, what that can mean, and how to find out. If the figures
//! fit no protected cache, they are not believed until a test has shown otherwise.

use serde::{Deserialize, Serialize};

use crate::words::{milliseconds, number};

/// Half a turn of the fastest disks (15 000 turns a minute). One write after the other to the same
/// track waits about a whole turn each. A single random read that takes this long comes from a slow
/// medium, too: flash reads a page in a tenth of a millisecond.
const ROTATING_WRITE_NS: f64 = 2e6;
/// Programming a flash page takes several times as long as reading one; a write in less than this
/// share of a read of the medium was not waited for.
const FLASH_SHARE: f64 = 0.5;
/// A durable write that takes up to this many times as long as a plain one costs nothing more.
const SAME: f64 = 1.2;
/// A protected cache in front of a slow medium is in a controller or an array: a command, a
/// transfer, firmware and an interrupt away. Our choice: half of what the quickest controllers
/// take.
const CONTROLLER_NS: f64 = 5e4;
/// From here on a durable write takes as long as the way to an array with a battery and back (0.2
/// to 0.5 ms), and may well cost no more than a plain one.
const ARRAY_NS: f64 = 2e5;
/// Ends every sentence that leaves the question open: only this test can answer it.
const TEST: &str = "A power-cut test can tell: `iosonde validate --durability`.";

/// The latencies of log writes, and what is known about the medium.
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
    /// Some device under the target is known to be flash: slow reads may come from a disk while
    /// durable writes end on that device.
    pub has_flash: bool,
}

/// Whether the latency of durable writes is credible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// They take longer than plain ones, and as long as the medium needs.
    Plausible,
    /// They are faster than the medium can write: a cache answers, which may be protected.
    FasterThanMedium,
    /// They cost no more than plain ones although there is a write cache.
    NoSlowerThanCached,
    /// The medium is slow. Yet they are faster than a protected cache in front of it would be, or
    /// cost no more than plain ones although such a cache would show.
    NotBelieved,
    /// Too few latencies are known to say.
    Unknown,
}

/// Whether durable writes of one storage are credible.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Honesty {
    /// What the latencies say about the durability of writes.
    pub sign: Sign,
    /// Mean latency of small durable writes.
    pub durable_latency_ns: f64,
    /// Mean latency of the same writes without durability.
    pub plain_latency_ns: Option<f64>,
    /// Mean latency of single random reads, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_latency_ns: Option<f64>,
    /// What was found, in words.
    pub statement: String,
    /// The rule that was applied, with its numbers.
    pub rule: String,
}

impl Honesty {
    /// Why the latency of durable writes is not believed, and the test that can tell. None if it is
    /// believed.
    #[must_use]
    pub fn disbelief(&self) -> Option<&str> {
        (self.sign == Sign::NotBelieved).then_some(self.statement.as_str())
    }
}

/// The latencies that can be used.
#[derive(Clone, Copy)]
struct Latencies {
    durable: f64,
    plain: Option<f64>,
    read: Option<f64>,
}

impl Latencies {
    /// What the system shows of the medium is a disk or slower.
    fn slow_read(self, evidence: &Evidence) -> Option<f64> {
        let may_be_slow = evidence.rotational != Some(false) && !evidence.has_flash;
        self.read.filter(|read| may_be_slow && *read >= ROTATING_WRITE_NS)
    }

    fn no_slower(self) -> bool {
        self.plain.is_some_and(|plain| self.durable <= SAME * plain)
    }

    fn sign(self, evidence: &Evidence) -> Sign {
        let slow = self.slow_read(evidence).is_some();
        let in_a_cache = slow && self.durable < ROTATING_WRITE_NS;
        let unprotected = match evidence.write_back {
            Some(volatile) => volatile,
            None => self.durable < ARRAY_NS,
        };
        if in_a_cache && (self.durable < CONTROLLER_NS || self.no_slower() && unprotected) {
            return Sign::NotBelieved;
        }
        let too_fast = in_a_cache
            || match evidence.rotational {
                Some(true) => self.durable < ROTATING_WRITE_NS,
                Some(false) => self.read.is_some_and(|read| self.durable < FLASH_SHARE * read),
                None => false,
            };
        if too_fast {
            Sign::FasterThanMedium
        } else if self.no_slower() && evidence.write_back == Some(true) {
            Sign::NoSlowerThanCached
        } else if self.plain.is_some() && !self.no_slower() {
            Sign::Plausible
        } else {
            Sign::Unknown
        }
    }
}

/// Judges durable writes by the medium and by plain writes. `None` if the durable latency is
/// unusable.
#[must_use]
pub fn judge(evidence: &Evidence) -> Option<Honesty> {
    let usable = |ns: &f64| ns.is_finite() && *ns > 0.0;
    let latencies = Latencies {
        durable: Some(evidence.durable_ns).filter(usable)?,
        plain: evidence.plain_ns.filter(usable),
        read: evidence.read_ns.filter(usable),
    };
    let sign = latencies.sign(evidence);
    Some(Honesty {
        sign,
        durable_latency_ns: latencies.durable,
        plain_latency_ns: latencies.plain,
        read_latency_ns: latencies.read,
        statement: statement(sign, evidence, latencies),
        rule: rule(),
    })
}

fn rule() -> String {
    let ms = milliseconds;
    format!(
        "Durable writes are suspect below {} on a turning disk (half a turn of the fastest) and \
         below {FLASH_SHARE} of a random read on flash. They are also suspect when they take at \
         most {SAME} times as long as plain ones although the system sees a volatile write cache. \
         Where single random reads take {} or more and no device is known to be flash, a durable \
         write below {} was answered by a cache. It is not believed below {}, which is faster than \
         a protected cache in a controller. Nor is it believed when it takes at most {SAME} times \
         as long as a plain one and the system sees a volatile write cache. Where the system knows \
         nothing of caches, it is not believed below {}, the way to an array and back. The verdict \
         on the log is then an indication only.",
        ms(ROTATING_WRITE_NS),
        ms(ROTATING_WRITE_NS),
        ms(ROTATING_WRITE_NS),
        ms(CONTROLLER_NS),
        ms(ARRAY_NS)
    )
}

fn statement(sign: Sign, evidence: &Evidence, latencies: Latencies) -> String {
    let Latencies { durable, plain, read } = latencies;
    let took = format!("A durable log write took {}", milliseconds(durable));
    let ask = "Either a cache that is protected against power loss (battery, capacitors) answers, \
               or one that confirms what it can still lose. From outside both look the same: find \
               out which before a database relies on it.";
    let beside = plain.map_or_else(String::new, |p| format!("; a plain one {}", milliseconds(p)));
    match (sign, evidence.rotational, read) {
        (Sign::NotBelieved, ..) => disbelief(evidence, latencies),
        (Sign::FasterThanMedium, _, Some(read)) if latencies.slow_read(evidence).is_some() => {
            format!(
                "{took}{beside}; a random read {}: the write was answered by a cache. Is that \
                 cache protected against power loss (battery, capacitors)? {TEST}",
                milliseconds(read)
            )
        }
        (Sign::FasterThanMedium, Some(true), _) => {
            format!("{took}, less than half a turn of any disk{beside}. {ask}")
        }
        (Sign::FasterThanMedium, _, Some(read)) => format!(
            "{took}, less than half of the {} of a random read, and flash writes more slowly than \
             it reads{beside}. {ask}",
            milliseconds(read)
        ),
        (Sign::NoSlowerThanCached, _, _) => format!(
            "{took}, no longer than a plain one ({}), although the system sees a volatile write \
             cache. {ask}",
            plain.map_or_else(String::new, milliseconds)
        ),
        (Sign::Plausible, _, _) => match plain {
            Some(plain) => format!(
                "{took}, {} times the {} of a plain one. Durable writes cost more than plain ones, \
                as they should.",
                number(durable / plain),
                milliseconds(plain)
            ),
            None => format!("{took}."),
        },
        _ => format!(
            "{took}{beside}. Whether it was on stable media cannot be told from that: too little \
             is known of the medium and its cache."
        ),
    }
}

/// What was seen, and why it is not credible.
fn disbelief(evidence: &Evidence, latencies: Latencies) -> String {
    let Latencies { durable, plain, read } = latencies;
    let plain = plain.map_or_else(String::new, |p| format!(", a plain one {}", milliseconds(p)));
    let read = read.map_or_else(String::new, |r| format!(", a random read {}", milliseconds(r)));
    let why = if durable < CONTROLLER_NS {
        format!(
            "No cache in a controller or an array answers in less than {}",
            milliseconds(CONTROLLER_NS)
        )
    } else if evidence.write_back == Some(true) {
        "Durability costs nothing, although the device reports a volatile write cache".to_owned()
    } else {
        "Durability costs nothing, and the write never reached the medium".to_owned()
    };
    format!(
        "Not believed: a durable write took {}{plain}{read}. {why}. {TEST}",
        milliseconds(durable)
    )
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
            has_flash: true,
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

    /// Means in milliseconds: durable writes, plain writes, single random reads.
    fn of(durable: f64, plain: f64, read: f64) -> Evidence {
        Evidence {
            durable_ns: durable * 1e6,
            plain_ns: Some(plain * 1e6),
            read_ns: Some(read * 1e6),
            ..Evidence::default()
        }
    }

    /// Durable writes of 0.02 ms next to reads of 8 ms were "excellent" for a log, without a word:
    /// nothing is known of the medium in a virtual machine, and the rules needed to know whether it
    /// turns.
    #[test]
    fn a_durable_write_that_no_controller_could_answer_is_not_believed() {
        for evidence in [
            of(0.02, 0.02, 8.0),
            of(0.02, 0.005, 8.0),
            of(0.049, 0.01, 2.0),
            Evidence { write_back: Some(false), ..of(0.02, 0.005, 8.0) },
            Evidence { rotational: Some(true), ..of(0.02, 0.005, 8.0) },
        ] {
            let honesty = judge(&evidence).unwrap();
            assert_eq!(honesty.sign, Sign::NotBelieved, "{evidence:?}");
            let said = honesty.disbelief().unwrap();
            assert!(said.starts_with("Not believed: a durable write took 0.0"), "{said}");
            assert!(said.contains("less than 0.05 ms"), "{said}");
            assert!(said.contains("`iosonde validate --durability`"), "{said}");
        }
    }

    /// Durability that cost nothing next to slow reads was "unknown".
    #[test]
    fn durability_that_costs_nothing_beside_slow_reads_is_not_believed() {
        let unknown = of(0.1, 0.1, 8.0);
        let volatile = Evidence { write_back: Some(true), ..of(0.5, 0.5, 8.0) };
        for evidence in [unknown, volatile] {
            let honesty = judge(&evidence).unwrap();
            assert_eq!(honesty.sign, Sign::NotBelieved, "{evidence:?}");
            assert!(
                honesty.statement.contains("Durability costs nothing"),
                "{}",
                honesty.statement
            );
        }
    }

    #[test]
    fn an_array_with_a_battery_is_asked_and_not_accused() {
        for durable in [0.2, 0.5] {
            for write_back in [None, Some(false)] {
                for rotational in [None, Some(true)] {
                    let array = Evidence { rotational, write_back, ..of(durable, durable, 8.0) };
                    let honesty = judge(&array).unwrap();
                    assert_eq!(honesty.sign, Sign::FasterThanMedium, "{array:?}");
                    assert_eq!(honesty.disbelief(), None);
                    let said = &honesty.statement;
                    assert!(said.contains("protected against power loss (battery"), "{said}");
                }
            }
        }
        // A controller on the bus of the host, which says that nothing in it is volatile.
        let controller = Evidence { write_back: Some(false), ..of(0.06, 0.06, 8.0) };
        assert_eq!(sign(controller), Sign::FasterThanMedium);
    }

    #[test]
    fn honest_devices_are_believed() {
        let disk = |durable, plain| Evidence {
            rotational: Some(true),
            write_back: Some(true),
            ..of(durable, plain, 12.0)
        };
        assert_eq!(sign(disk(8.3, 0.1)), Sign::Plausible, "a turn of a disk");
        assert_eq!(sign(of(8.3, 8.3, 8.0)), Sign::Unknown, "a disk without a cache");
        let flash = |durable, plain, read, write_back| Evidence {
            rotational: Some(false),
            write_back: Some(write_back),
            has_flash: true,
            ..of(durable, plain, read)
        };
        assert_eq!(sign(flash(1.0, 0.05, 0.1, true)), Sign::Plausible, "SATA without capacitors");
        assert_eq!(sign(flash(5.0, 0.05, 0.1, true)), Sign::Plausible, "SATA without capacitors");
        for durable in [0.01, 0.03] {
            let nvme = judge(&flash(durable, durable, 0.08, false)).unwrap();
            assert_eq!(nvme.disbelief(), None, "capacitors: {}", nvme.statement);
        }
        // Nothing is known of the same device in a virtual machine.
        assert_eq!(sign(of(0.02, 0.02, 0.08)), Sign::Unknown);
        // A disk behind a cache of flash: the log ends on the flash.
        let cached = Evidence { has_flash: true, ..of(0.02, 0.02, 8.0) };
        assert_eq!(sign(cached), Sign::Unknown);
    }

    proptest! {
        #[test]
        fn no_input_panics_and_every_figure_is_finite(
            durable_ns in any::<f64>(), plain_ns in any::<Option<f64>>(),
                read_ns in any::<Option<f64>>(),
            rotational in any::<Option<bool>>(), write_back in any::<Option<bool>>(),
                has_flash in any::<bool>(),
        ) {
            let evidence = Evidence { durable_ns, plain_ns, read_ns, rotational, write_back,
                has_flash };
            if let Some(found) = judge(&evidence) {
                let text = serde_json::to_string(&found).unwrap();
                prop_assert_eq!(serde_json::from_str::<Honesty>(&text).unwrap(), found);
            }
        }
    }
}
