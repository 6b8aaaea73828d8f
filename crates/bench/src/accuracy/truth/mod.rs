//! What iosonde reports of devices whose behaviour is known, on the real path through the kernel.
//!
//! Needs root and FUSE. A run during which the device or the host was late is made again, up to
//! three times.

mod closed;
mod kinds;
mod open;
mod run;
#[cfg(test)]
mod tests;
mod throttled;

use std::fmt::Write as _;

use truth::Unavailable;

use super::table;
use crate::linux::Error;

const PREFACE: &str = "\
These I/Os take the real path through the kernel. A FUSE file system answers as its model says, and keeps its own
record. *Off the device* compares iosonde with that record of the same window, *off the model* with arithmetic. *Over
the device* is the latency outside the device, on the way through the kernel. *Host* is how late ordinary threads woke
on average. It says *late* if they or the device were too late in all three attempts.
";

/// Writes the section of the page.
pub(super) fn run() -> Result<String, Error> {
    let mut text = format!("{PREFACE}\n");
    let parts = [
        ("Parallel servers, closed loop", closed::depths as fn() -> Result<String, Error>),
        ("The same through other engines, with writes, and as a block device", closed::paths),
        ("Links, buckets, caches, stalls, two volumes", kinds::kinds),
        ("A device that stalls for 1 s in 5 s, open loop", open::stalls),
        ("The kernel's throttle", throttled::limits),
    ];
    for (title, part) in parts {
        let body = match part() {
            Ok(body) => body,
            // A missing device is not a failure; the page says what could not be measured.
            Err(error) if error.is::<Unavailable>() => format!("Not to be had here: {error}.\n"),
            Err(error) => return Err(error),
        };
        write!(text, "### {title}\n\n{body}\n")?;
    }
    Ok(text)
}

/// By how many percent a figure is off the truth.
fn off_percent(figure: f64, truth: f64) -> f64 {
    100.0 * (figure / truth - 1.0)
}

/// The largest of some deviations, whatever their sign.
fn worst(deviations: impl Iterator<Item = f64>) -> f64 {
    deviations.map(f64::abs).fold(0.0, f64::max)
}
