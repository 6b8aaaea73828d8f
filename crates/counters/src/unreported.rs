//! Amounts that another tool does not report. The kernel reports all of them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An amount of a device that another tool may not report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// The number of completed reads.
    Reads,
    /// The number of completed writes.
    Writes,
    /// The bytes that were read.
    ReadBytes,
    /// The bytes that were written.
    WrittenBytes,
    /// Sum of the times of all reads.
    ReadTime,
    /// Sum of the times of all writes.
    WriteTime,
    /// Reads joined to another one before they were issued.
    ReadMerges,
    /// Writes joined to another one before they were issued.
    WriteMerges,
    /// Time in which I/Os were in flight, each counted.
    Queue,
    /// Time in which at least one I/O was in flight.
    Busy,
    /// I/Os in flight at the end of the window.
    InFlight,
}

impl Amount {
    /// Every amount that can be missing.
    pub const ALL: [Self; 11] = [
        Self::Reads,
        Self::Writes,
        Self::ReadBytes,
        Self::WrittenBytes,
        Self::ReadTime,
        Self::WriteTime,
        Self::ReadMerges,
        Self::WriteMerges,
        Self::Queue,
        Self::Busy,
        Self::InFlight,
    ];
}

/// A set of amounts; in JSON, a list of their names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unreported(u16);

impl Unreported {
    /// The set with every amount in it.
    #[must_use]
    pub fn all() -> Self {
        Amount::ALL.into_iter().collect()
    }

    /// Whether the tool reports every amount.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Whether an amount is in the set.
    #[must_use]
    pub fn has(self, amount: Amount) -> bool {
        self.0 & Self::bit(amount) != 0
    }

    /// Takes an amount out of the set: it is reported.
    pub fn report(&mut self, amount: Amount) {
        self.0 &= !Self::bit(amount);
    }

    /// Adds the amounts of another set.
    pub(crate) fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    fn bit(amount: Amount) -> u16 {
        1 << amount as u16
    }

    fn amounts(self) -> impl Iterator<Item = Amount> {
        Amount::ALL.into_iter().filter(move |amount| self.has(*amount))
    }
}

impl FromIterator<Amount> for Unreported {
    fn from_iter<I: IntoIterator<Item = Amount>>(amounts: I) -> Self {
        Self(amounts.into_iter().map(Self::bit).fold(0, |all, bit| all | bit))
    }
}

impl Serialize for Unreported {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.amounts())
    }
}

impl<'de> Deserialize<'de> for Unreported {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Amount>::deserialize(deserializer)?.into_iter().collect())
    }
}

impl JsonSchema for Unreported {
    fn schema_name() -> Cow<'static, str> {
        "Unreported".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<Amount>::json_schema(generator)
    }
}
