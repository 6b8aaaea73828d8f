//! Why the I/O of a device is not counted.

use std::fmt;
use std::path::PathBuf;

/// Why the I/O of a device is not counted, or not separately from that of others.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the field names are the definition")]
pub enum NoCounts {
    /// Its accounting is switched off ([`crate::is_uncounted`]).
    AccountingOff { device: String },
    /// It vanished, or its counters were reset.
    Vanished { device: String },
    /// No separate device is known under a path.
    NoDevice { path: PathBuf },
    /// It is on another one that is counted, too.
    Stacked { upper: String, lower: String },
    /// The path cannot be looked at.
    Unreadable { reason: String },
}

impl fmt::Display for NoCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AccountingOff { device } => write!(
                f,
                "I/O accounting of `{device}` is switched off (queue/iostats is 0); switch it on: \
                 echo 1 > /sys/block/{device}/queue/iostats"
            ),
            Self::Vanished { device } => {
                write!(f, "`{device}` vanished, or its counters were reset")
            }
            Self::NoDevice { path } => {
                write!(f, "no separate block device is known under `{}`", path.display())
            }
            Self::Stacked { upper, lower } => {
                write!(f, "`{upper}` is on `{lower}`, whose counters hold the I/O of both")
            }
            Self::Unreadable { reason } => f.write_str(reason),
        }
    }
}
