//! What SQLIOSim says of a file at the end, and below it what it does not: true means and
//! percentiles.

use std::fmt::Write as _;

use results::Histogram;
use workload::show_ns;

/// What was done to a file.
#[derive(Debug)]
pub struct Summary<'a> {
    /// Its name, as the configuration has it.
    pub file: &'a str,
    /// Whether it has holes; none where that is not known.
    pub sparse: Option<bool>,
    /// The average from which on I/Os are throttled, in milliseconds.
    pub target_ms: u64,
    /// The smoothed duration of I/Os at the end, in nanoseconds; none where the file saw no I/O.
    pub running_average_ns: Option<f64>,
    /// How often an I/O had to wait for that.
    pub throttled: u64,
    /// The most I/Os that were in flight at once.
    pub in_flight_max: u64,
    /// Reads.
    pub read: KindLine<'a>,
    /// Writes.
    pub write: KindLine<'a>,
    /// Flushes, which SQLIOSim has not.
    pub sync: &'a Histogram,
}

/// I/Os of one kind.
#[derive(Debug, Clone, Copy)]
pub struct KindLine<'a> {
    /// Those of one page.
    pub single: u64,
    /// Those of several pages.
    pub several: u64,
    /// How long they took.
    pub latency: &'a Histogram,
}

impl Summary<'_> {
    /// The lines.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // A string takes everything.
        let _ = self.lines(&mut text);
        text
    }

    fn lines(&self, text: &mut String) -> std::fmt::Result {
        let Self { read, write, .. } = self;
        let sparse = match self.sparse {
            Some(true) => "Yes",
            Some(false) => "No",
            None => "Unknown",
        };
        writeln!(text, "********** Final Summary for file {} **********", self.file)?;
        writeln!(
            text,
            "File Attributes: Compression = Unknown, Encryption = Unknown, Sparse = {sparse}"
        )?;
        let average = self.running_average_ns.unwrap_or(0.0) / 1e6;
        writeln!(
            text,
            "Target IO Duration (ms) = {}, Running Average IO Duration (ms) = {:.0}, Number of \
             times IO throttled = {}, IO request blocks = {}",
            self.target_ms,
            average.floor(),
            self.throttled,
            self.in_flight_max
        )?;
        let total = |h: &Histogram| h.mean().unwrap_or(0.0) * h.count() as f64 / 1e6;
        writeln!(
            text,
            "Reads = {}, Scatter Reads = {}, Writes = {}, Gather Writes = {}, Total IO Time (ms) \
             = {:.0}",
            read.single,
            read.several,
            write.single,
            write.several,
            total(read.latency) + total(write.latency)
        )?;
        let kinds = [("reads", read.latency), ("writes", write.latency), ("flushes", self.sync)];
        for (name, latency) in kinds {
            latencies(text, name, latency)?;
        }
        Ok(())
    }
}

fn latencies(text: &mut String, name: &str, latency: &Histogram) -> std::fmt::Result {
    let Some(mean) = latency.mean() else { return Ok(()) };
    let at = |q: f64| latency.quantile(q).map_or(0.0, |ns| ns as f64);
    writeln!(
        text,
        "Latency of {} {name}: mean = {}, p50 = {}, p90 = {}, p99 = {}, p99.9 = {}, max = {}",
        latency.count(),
        show_ns(mean),
        show_ns(at(0.5)),
        show_ns(at(0.9)),
        show_ns(at(0.99)),
        show_ns(at(0.999)),
        show_ns(latency.max().map_or(0.0, |ns| ns as f64))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_those_of_sqliosim_and_ours_below() {
        let mut latency = Histogram::new();
        latency.record_many(2_000_000, 99);
        latency.record(12_000_000);
        let none = Histogram::new();
        let kind = |single, several| KindLine { single, several, latency: &latency };
        let summary = Summary {
            file: r"E:\sqliosim.mdx",
            sparse: Some(false),
            target_ms: 100,
            running_average_ns: Some(17_900_000.0),
            throttled: 9006,
            in_flight_max: 33,
            read: kind(40, 60),
            write: kind(1, 99),
            sync: &none,
        };
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
