//! The result as DiskSpd's XML.

use super::cpu::Shares;
use super::intervals::Intervals;
use super::latencies::milliseconds;
use super::{Figures, Latencies, Measured, RunResult, SpanResult, SystemInfo, TargetFigures};
use crate::diskspd::profile::{Profile, TimeSpan};
use crate::xml::Writer;

impl RunResult {
    /// The whole document. Its first line is `<Results>`, and no line feed follows the last:
    /// DiskSpd's own scripts look at the first line.
    #[must_use]
    pub fn to_xml(&self, profile: &Profile) -> String {
        let mut out = String::new();
        let plain = TimeSpan::default();
        Writer::new(&mut out, 0).element("Results", |w| {
            system(&self.system, w);
            w.raw(|out, depth| profile.write_xml(out, depth));
            for (index, span) in self.spans.iter().enumerate() {
                let asked = profile.time_spans.get(index).unwrap_or(&plain);
                w.element("TimeSpan", |w| match (span, span.sentence()) {
                    (_, Some(sentence)) => w.text("Error", &sentence),
                    (SpanResult::Measured(measured), _) => {
                        write_span(&self.system, asked, measured, w);
                    }
                    _ => {}
                });
            }
        });
        out.truncate(out.trim_end().len());
        out
    }
}

fn system(system: &SystemInfo, w: &mut Writer) {
    w.element("System", |w| {
        w.text("ComputerName", &system.computer_name);
        w.element("Tool", |w| {
            w.text("Version", &system.tool_version);
            w.text("VersionDate", &system.tool_date);
        });
        w.text("RunTime", &system.start_time);
        let (name, guid) = (&system.power_scheme, &system.power_scheme_guid);
        w.empty("PowerScheme", &[("Name", name), ("Guid", guid)]);
        topology(system, w);
    });
}

fn topology(system: &SystemInfo, w: &mut Writer) {
    let topology = &system.topology;
    let kinds = topology.is_heterogeneous();
    w.with("ProcessorTopology", &[("Heterogeneous", &kinds)], |w| {
        for group in &topology.groups {
            let mask = format!("{:#x}", group.active_mask);
            w.empty(
                "Group",
                &[
                    ("Group", &group.number),
                    ("MaximumProcessors", &group.maximum_processors),
                    ("ActiveProcessors", &group.active_processors),
                    ("ActiveProcessorMask", &mask),
                ],
            );
        }
        for (name, sets) in [("Node", &topology.nodes), ("Socket", &topology.sockets)] {
            for set in sets {
                w.with(name, &[(name, &set.number)], |w| {
                    for (group, mask) in &set.masks {
                        w.empty("Group", &[("Group", group), ("Mask", &format!("{mask:#x}"))]);
                    }
                });
            }
        }
        for core in &topology.cores {
            let mask = format!("{:#x}", core.mask);
            w.empty(
                "Core",
                &[
                    ("Group", &core.group),
                    ("Core", &core.number),
                    ("Mask", &mask),
                    ("EfficiencyClass", &core.efficiency_class),
                ],
            );
        }
    });
}

fn write_span(system: &SystemInfo, asked: &TimeSpan, measured: &Measured, w: &mut Writer) {
    w.text("TestTimeSeconds", format_args!("{:.2}", measured.seconds));
    w.text("ThreadCount", measured.threads.len());
    w.text("RequestCount", if asked.draws_targets() { asked.request_count } else { 0 });
    w.text("ProcCount", system.topology.processors());
    cpu(system, measured, w);
    let targets = || measured.threads.iter().flat_map(|t| &t.targets);
    if asked.measure_latency {
        latency(targets(), w);
    }
    if asked.iops_std_dev {
        match &measured.intervals {
            Some((read, write)) => iops(read, write, w),
            None => iops(&sum(targets().map(|t| &t.read)), &sum(targets().map(|t| &t.write)), w),
        }
    }
    for (number, thread) in measured.threads.iter().enumerate() {
        w.element("Thread", |w| {
            w.text("Id", number);
            for target in &thread.targets {
                w.element("Target", |w| write_target(asked, target, w));
            }
        });
    }
}

// ---------------------------------------------------------------------- processors

fn cpu(system: &SystemInfo, measured: &Measured, w: &mut Writer) {
    let processors = system.topology.used(&measured.cpu_ticks);
    w.element("CpuUtilization", |w| {
        for processor in &processors {
            w.element("CPU", |w| {
                w.text("Socket", processor.socket);
                w.text("Node", processor.node);
                w.text("Group", processor.group);
                w.text("Core", processor.core);
                w.text("EfficiencyClass", processor.class);
                w.text("Id", processor.number);
                shares(&processor.used, w);
            });
        }
        w.element("Average", |w| shares(&Shares::mean(&processors), w));
    });
}

fn shares(shares: &Shares, w: &mut Writer) {
    w.text("UsagePercent", format_args!("{:.2}", shares.usage));
    w.text("UserPercent", format_args!("{:.2}", shares.user));
    w.text("KernelPercent", format_args!("{:.2}", shares.kernel));
    w.text("IdlePercent", format_args!("{:.2}", shares.idle));
}

// ---------------------------------------------------------------------- latency

/// The percentiles of the document, with the share that each is.
fn percentiles() -> impl Iterator<Item = (String, f64)> {
    let nines = (1..=7).map(|n| {
        let text = format!("99.{}", "9".repeat(n));
        let share = format!("0.99{}", "9".repeat(n)).parse().unwrap_or(1.0);
        (text, share)
    });
    (0..100u8)
        .map(|p| (p.to_string(), f64::from(p) / 100.0))
        .chain(nines)
        .chain([("100".to_owned(), 1.0)])
}

fn latency<'a>(targets: impl Iterator<Item = &'a TargetFigures>, w: &mut Writer) {
    let (mut read, mut write) = (Latencies::default(), Latencies::default());
    for target in targets {
        read.merge(&target.read.latencies);
        write.merge(&target.write.latencies);
    }
    let mut total = read.clone();
    total.merge(&write);
    let buckets = [read.distinct(), write.distinct(), total.distinct()];
    let names = ["ReadHistoBuckets", "WriteHistoBuckets", "TotalHistoBuckets"];
    let of =
        [(names[0], &buckets[0] as _), (names[1], &buckets[1] as _), (names[2], &buckets[2] as _)];
    w.with("Latency", &of, |w| {
        for (name, stdev, of) in [
            ("AverageReadMilliseconds", "ReadLatencyStdev", &read),
            ("AverageWriteMilliseconds", "WriteLatencyStdev", &write),
            ("AverageTotalMilliseconds", "LatencyStdev", &total),
        ] {
            average(name, stdev, of, w);
        }
        let (texts, shares): (Vec<String>, Vec<f64>) = percentiles().unzip();
        let columns = [
            ("ReadMilliseconds", &read, read.at(&shares)),
            ("WriteMilliseconds", &write, write.at(&shares)),
            ("TotalMilliseconds", &total, total.at(&shares)),
        ];
        for (row, text) in texts.iter().enumerate() {
            w.element("Bucket", |w| {
                w.text("Percentile", text);
                for (name, of, values) in &columns {
                    if let (false, Some(us)) = (of.is_empty(), values.get(row)) {
                        w.text(name, format_args!("{:.3}", milliseconds(*us)));
                    }
                }
            });
        }
    });
}

/// Mean and standard deviation, where there is anything.
fn average(name: &str, stdev: &str, of: &Latencies, w: &mut Writer) {
    if !of.is_empty() {
        w.text(name, format_args!("{:.3}", of.mean_us() / 1e3));
        w.text(stdev, format_args!("{:.3}", of.stddev_us() / 1e3));
    }
}

// ---------------------------------------------------------------------- intervals

fn sum<'a>(figures: impl Iterator<Item = &'a Figures>) -> Intervals {
    let mut sum = Intervals::default();
    for intervals in figures.filter_map(|f| f.intervals.as_ref()) {
        sum.merge(intervals);
    }
    sum
}

fn iops(read: &Intervals, write: &Intervals, w: &mut Writer) {
    let mut total = read.clone();
    total.merge(write);
    w.element("Iops", |w| {
        w.text("ReadIopsStdDev", format_args!("{:.3}", read.stddev_iops()));
        w.text("WriteIopsStdDev", format_args!("{:.3}", write.stddev_iops()));
        w.text("IopsStdDev", format_args!("{:.3}", total.stddev_iops()));
        let (mut reads, mut writes) = (read.rates(), write.rates());
        for (end, all, _) in total.rates() {
            let (read, write) = (reads.next(), writes.next());
            let rate = |of: &Option<(f64, f64, _)>| format!("{:.0}", of.map_or(0.0, |r| r.1));
            let mut of = vec![
                ("SampleMillisecond".to_owned(), format!("{end:.0}")),
                ("Read".to_owned(), rate(&read)),
                ("Write".to_owned(), rate(&write)),
                ("Total".to_owned(), format!("{all:.0}")),
            ];
            for (direction, found) in [("Read", read), ("Write", write)] {
                // An interval without counts is one of zeros. Times that are not known are left
                // out.
                let Some(spread) = found.map_or(Some(super::Spread::default()), |r| r.2) else {
                    continue;
                };
                for (name, ms) in [
                    ("MinLatencyMilliseconds", spread.min),
                    ("MaxLatencyMilliseconds", spread.max),
                    ("AvgLatencyMilliseconds", spread.mean),
                    ("LatencyStdDev", spread.stddev),
                ] {
                    of.push((format!("{direction}{name}"), format!("{ms:.3}")));
                }
            }
            let of: Vec<(&str, &dyn std::fmt::Display)> =
                of.iter().map(|(name, value)| (name.as_str(), value as _)).collect();
            w.empty("Bucket", &of);
        }
    });
}

// ---------------------------------------------------------------------- targets

fn write_target(asked: &TimeSpan, target: &TargetFigures, w: &mut Writer) {
    let TargetFigures { path, file_bytes, read, write, .. } = target;
    w.text("Path", path);
    w.text("BytesCount", read.bytes.saturating_add(write.bytes));
    w.text("FileSize", file_bytes);
    w.text("IOCount", read.ios.saturating_add(write.ios));
    w.text("ReadBytes", read.bytes);
    w.text("ReadCount", read.ios);
    w.text("WriteBytes", write.bytes);
    w.text("WriteCount", write.ios);
    if !target.slices.is_empty() {
        w.element("Distribution", |w| w.element("Absolute", |w| slices(target, w)));
    }
    if asked.measure_latency {
        average("AverageReadLatencyMilliseconds", "ReadLatencyStdev", &read.latencies, w);
        average("AverageWriteLatencyMilliseconds", "WriteLatencyStdev", &write.latencies, w);
    }
    if asked.iops_std_dev
        && let (Some(read), Some(write)) = (&read.intervals, &write.intervals)
    {
        iops(read, write, w);
    }
}

/// The slices, with the gaps between them as slices that receive nothing.
fn slices(target: &TargetFigures, w: &mut Writer) {
    let mut end = 0;
    for slice in &target.slices {
        if slice.offset_bytes > end {
            w.text_with("Range", &[("IO", &0)], slice.offset_bytes - end);
        }
        w.text_with("Range", &[("IO", &slice.io_percent)], slice.bytes);
        end = slice.offset_bytes.saturating_add(slice.bytes);
    }
}
