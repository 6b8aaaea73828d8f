//! What storage of a class should do, next to what a database needs.

use serde::{Deserialize, Serialize};

use crate::words::{milliseconds, number};

/// A latency this many times the usual one of the class gets a sentence.
const SLOW: f64 = 2.0;

/// A class of storage that figures are compared within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Rotating disks.
    Hdd,
    /// Flash with a SATA or SAS interface.
    SataSsd,
    /// Flash with an NVMe interface.
    Nvme,
    /// Flash reached through a storage network.
    Array,
    /// A volume of a cloud provider.
    Cloud,
}

impl Class {
    /// The class as it appears in a sentence.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Hdd => "a hard disk",
            Self::SataSsd => "a SATA or SAS SSD",
            Self::Nvme => "an NVMe SSD",
            Self::Array => "an all-flash array",
            Self::Cloud => "a cloud volume",
        }
    }

    /// The longest usual mean of a single random read of 8 KiB, one at a time, and where that is
    /// documented.
    #[must_use]
    pub fn usual_read_ns(self) -> (u64, &'static str) {
        match self {
            Self::Hdd => (
                15_000_000,
                "seek and half a turn: 8.5 + 4.2 ms at 7 200 turns a minute, and a transfer",
            ),
            Self::SataSsd => (200_000, "flash reads a page in about 0.1 ms, SATA adds as much"),
            Self::Nvme => (120_000, "flash reads a page in about 0.1 ms"),
            Self::Array => (1_000_000, "makers promise less than a millisecond"),
            Self::Cloud => {
                (2_000_000, "providers promise milliseconds of one digit; most give 1 to 2")
            }
        }
    }

    /// How the storage compares with its class, in a sentence; `None` if its reads took no time.
    #[must_use]
    pub fn compare(self, read_ns: f64) -> Option<String> {
        if !(read_ns > 0.0 && read_ns.is_finite()) {
            return None;
        }
        let (usual_ns, why) = self.usual_read_ns();
        let times = read_ns / usual_ns as f64;
        let read = milliseconds(read_ns);
        let usual = milliseconds(usual_ns as f64);
        let title = self.title();
        Some(if times > SLOW {
            format!(
                "Slow for {title}: a single random read takes {read}, {} times the {usual} that \
                 is usual at most ({why}).",
                number((times * 10.0).round() / 10.0)
            )
        } else {
            format!(
                "As fast as {title} should be: a single random read takes {read}; up to {usual} \
                 is usual ({why})."
            )
        })
    }
}
