//! What SQLIOSim says of a file at the end, and below it what it does not: true means and
//! percentiles.

use std::fmt::Write as _;

use results::{FileIos, ValidatedFile};
use workload::show_ns;

/// The I/O of a test on one file.
#[derive(Debug)]
pub struct Summary<'a> {
    /// Its name, as the configuration has it.
    pub name: &'a str,
    /// Whether it has holes; `None` if that is not known.
    pub sparse: Option<bool>,
    /// The average from which on I/Os are throttled, in milliseconds.
    pub target_ms: u64,
    /// Its I/Os, flushes among them, which SQLIOSim has not.
    pub ios: &'a ValidatedFile,
}

impl Summary<'_> {
    /// The lines of the summary, as SQLIOSim prints them.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // A string takes everything.
        let _ = self.lines(&mut text);
        text
    }

    fn lines(&self, text: &mut String) -> std::fmt::Result {
        let ValidatedFile { read, write, sync, throttling, .. } = self.ios;
        let sparse = match self.sparse {
            Some(true) => "Yes",
            Some(false) => "No",
            None => "Unknown",
        };
        writeln!(text, "********** Final Summary for file {} **********", self.name)?;
        writeln!(
            text,
            "File Attributes: Compression = Unknown, Encryption = Unknown, Sparse = {sparse}"
        )?;
        let average = throttling.map_or(0.0, |t| t.running_average_ns) / 1e6;
        writeln!(
            text,
            "Target IO Duration (ms) = {}, Running Average IO Duration (ms) = {:.0}, Number of \
             times IO throttled = {}, IO request blocks = {}",
            self.target_ms,
            average.floor(),
            throttling.map_or(0, |t| t.throttled),
            throttling.map_or(0, |t| t.in_flight_max)
        )?;
        let mean = |ios: &FileIos| ios.latency_ns.as_ref().map_or(0.0, |ns| ns.mean);
        let total = |ios: &FileIos| mean(ios) * count(ios) as f64 / 1e6;
        writeln!(
            text,
            "Reads = {}, Scatter Reads = {}, Writes = {}, Gather Writes = {}, Total IO Time (ms) \
             = {:.0}",
            read.single,
            read.several,
            write.single,
            write.several,
            total(read) + total(write)
        )?;
        for (name, ios) in [("reads", read), ("writes", write), ("flushes", sync)] {
            latencies(text, name, ios)?;
        }
        Ok(())
    }
}

fn count(ios: &FileIos) -> u64 {
    ios.single + ios.several
}

fn latencies(text: &mut String, name: &str, ios: &FileIos) -> std::fmt::Result {
    let Some(latency) = &ios.latency_ns else { return Ok(()) };
    // Of few I/Os the far percentiles are not known.
    let at = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), |ns| show_ns(ns as f64));
    writeln!(
        text,
        "Latency of {} {name}: mean = {}, p50 = {}, p90 = {}, p99 = {}, p99.9 = {}, max = {}",
        count(ios),
        show_ns(latency.mean),
        at(latency.p50),
        at(latency.p90),
        at(latency.p99),
        at(latency.p99_9),
        at(latency.max)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::{FileThrottling, Histogram, Latency};

    #[test]
    fn the_lines_are_those_of_sqliosim_and_ours_below() {
        let mut latency = Histogram::new();
        latency.record_many(2_000_000, 99);
        latency.record(12_000_000);
        let ios = |single, several, latency: &Histogram| FileIos {
            single,
            several,
            bytes: 0,
            errors: 0,
            latency_ns: Latency::of(latency),
            histogram: None,
        };
        let file = ValidatedFile {
            path: "/e/sqliosim.mdx".into(),
            role: "data".to_owned(),
            size_bytes: 1 << 20,
            read: ios(40, 60, &latency),
            write: ios(1, 99, &latency),
            sync: ios(0, 0, &Histogram::new()),
            throttling: Some(FileThrottling {
                running_average_ns: 17_900_000.0,
                throttled: 9006,
                in_flight_max: 33,
            }),
        };
        let name = r"E:\sqliosim.mdx";
        let summary = Summary { name, sparse: Some(false), target_ms: 100, ios: &file };
        let text = summary.to_text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], r"********** Final Summary for file E:\sqliosim.mdx **********");
        assert_eq!(
            lines[2],
            "Target IO Duration (ms) = 100, Running Average IO Duration (ms) = 17, Number of \
             times IO throttled = 9006, IO request blocks = 33"
        );
        assert_eq!(
            lines[3],
            "Reads = 40, Scatter Reads = 60, Writes = 1, Gather Writes = 99, Total IO Time (ms) = \
             420"
        );
        assert!(lines[4].starts_with("Latency of 100 reads: mean = 2.1 ms"), "{text}");
        assert_eq!(lines.len(), 6, "{text}");
    }
}
