//! The result as DiskSpd's text.

use std::fmt::Write as _;

use super::cpu::{Processor, Shares};
use super::intervals::Intervals;
use super::latencies::milliseconds;
use super::{
    Figures, Latencies, Measured, RunResult, Slice, SpanResult, SystemInfo, TargetFigures,
};
use crate::diskspd::profile::{Profile, TimeSpan};
use crate::diskspd::size::{show_size, show_size_aligned};

const MIB: f64 = 1_048_576.0;

/// The rows of the table of percentiles: a name and a share.
const PERCENTILES: [(&str, f64); 13] = [
    ("25th", 0.25),
    ("50th", 0.5),
    ("75th", 0.75),
    ("90th", 0.9),
    ("95th", 0.95),
    ("99th", 0.99),
    ("3-nines", 0.999),
    ("4-nines", 0.9999),
    ("5-nines", 0.99999),
    ("6-nines", 0.999_999),
    ("7-nines", 0.999_999_9),
    ("8-nines", 0.999_999_99),
    ("9-nines", 0.999_999_999),
];

impl RunResult {
    /// The whole text, with the profile before the figures. Lines end with a line feed.
    #[must_use]
    pub fn to_text(&self, profile: &Profile) -> String {
        let mut text = String::new();
        profile.write_text(&mut text);
        self.write_results(profile, &mut text);
        text
    }

    /// Appends the machine and the results, which follow the profile.
    fn write_results(&self, profile: &Profile, out: &mut String) {
        system(&self.system, out);
        for (index, span) in self.spans.iter().enumerate() {
            put(out, format_args!("\nResults for timespan {}:\n{}\n", index + 1, "*".repeat(79)));
            if let Some(sentence) = span.sentence() {
                put(out, format_args!("{sentence}\n"));
            }
            if let SpanResult::Measured(measured) = span {
                let plain = TimeSpan::default();
                let asked = profile.time_spans.get(index).unwrap_or(&plain);
                write_span(&self.system, asked, measured, out);
            }
        }
        if self.spans.len() > 1 {
            totals(&self.spans, out);
        }
    }
}

/// Writing to a text never fails.
fn put(out: &mut String, text: std::fmt::Arguments) {
    let _ = out.write_fmt(text);
}

fn system(system: &SystemInfo, out: &mut String) {
    let topology = &system.topology;
    put(out, format_args!("System information:\n\n"));
    put(out, format_args!("\tcomputer name: {}\n", system.computer_name));
    put(out, format_args!("\tstart time: {}\n\n", system.start_time));
    let counts = [
        ("cpu", topology.processors() as usize),
        ("core", topology.cores.len()),
        ("group", topology.groups.len()),
        ("node", topology.nodes.len()),
        ("socket", topology.sockets.len()),
    ];
    for (name, count) in counts {
        put(out, format_args!("\t{name} count:\t\t{count}\n"));
    }
    let kinds = if topology.is_heterogeneous() { 'y' } else { 'n' };
    put(out, format_args!("\theterogeneous cores:\t{kinds}\n\n"));
    let (name, guid) = (&system.power_scheme, &system.power_scheme_guid);
    put(out, format_args!("\tactive power scheme:\t{name} ({guid})\n"));
}

fn write_span(system: &SystemInfo, asked: &TimeSpan, measured: &Measured, out: &mut String) {
    put(out, format_args!("\nactual test time:\t{:.2}s\n", measured.seconds));
    put(out, format_args!("thread count:\t\t{}\n", measured.threads.len()));
    if asked.draws_targets() {
        put(out, format_args!("request count:\t\t{}\n", asked.request_count));
    }
    cpu_table(system, measured, out);
    slices(measured, out);
    let sections: [(&str, Pick); 3] = [
        ("Total IO", |t| vec![&t.read, &t.write]),
        ("Read IO", |t| vec![&t.read]),
        ("Write IO", |t| vec![&t.write]),
    ];
    for (title, pick) in sections {
        put(out, format_args!("\n{title}\n"));
        io_table(asked, measured, pick, out);
    }
    if asked.measure_latency {
        latencies(measured, out);
    }
}

// ---------------------------------------------------------------------- processors

/// A column before the figures of a processor: whether it is there, its title, and its cell; the
/// number is the fastest kind of core.
type Column = (bool, &'static str, fn(&Processor, u8) -> String);

/// Columns that would be the same everywhere are left out.
fn cpu_table(system: &SystemInfo, measured: &Measured, out: &mut String) {
    let topology = &system.topology;
    let processors = topology.used(&measured.cpu_ticks);
    let fastest = topology.fastest();
    let columns: [Column; 5] = [
        (topology.sockets.len() > 1, "Socket | ", |p, _| format!("{:>7}| ", p.socket)),
        (topology.nodes.len() > 1, "Node | ", |p, _| format!("{:>5}| ", p.node)),
        (topology.groups.len() > 1, "Group | ", |p, _| format!("{:>6}| ", p.group)),
        (topology.has_siblings(), "Core | ", |p, _| format!("{:>5}| ", p.core)),
        (topology.is_heterogeneous(), "Class | ", |p, fastest| {
            format!("{:>5}{}| ", p.class, if p.class == fastest { 'P' } else { ' ' })
        }),
    ];
    let shown = || columns.iter().filter(|(shown, ..)| *shown);
    let titles: String = shown().map(|(_, title, _)| *title).collect();
    let rule = "-".repeat(40 + titles.len());
    put(out, format_args!("\n{titles}CPU |  Usage |  User  | Kernel |  Idle\n{rule}\n"));
    for processor in &processors {
        let cells: String = shown().map(|(_, _, cell)| cell(processor, fastest)).collect();
        put(out, format_args!("{cells}{:>4}| ", processor.number));
        shares(&processor.used, out);
    }
    put(out, format_args!("{rule}\n{}avg.| ", " ".repeat(titles.len())));
    shares(&Shares::mean(&processors), out);
}

fn shares(shares: &Shares, out: &mut String) {
    let Shares { usage, user, kernel, idle } = shares;
    put(out, format_args!("{usage:>6.2}%| {user:>6.2}%| {kernel:>6.2}%| {idle:>6.2}%\n"));
}

// ---------------------------------------------------------------------- where random I/Os went

/// Targets and those of their threads that have the same slices.
type Users<'a> = Vec<(&'a str, Vec<usize>)>;

/// Every different set of slices with the threads and targets that have it.
fn slices(measured: &Measured, out: &mut String) {
    let mut sets: Vec<(&[Slice], Users)> = Vec::new();
    for (thread, target) in rows(measured).filter(|(_, target)| !target.slices.is_empty()) {
        let found = sets.iter().position(|(set, _)| *set == target.slices.as_slice());
        let index = found.unwrap_or_else(|| {
            sets.push((&target.slices, Vec::new()));
            sets.len() - 1
        });
        let users = &mut sets[index].1;
        match users.iter_mut().find(|(path, _)| *path == target.path) {
            Some((_, threads)) => threads.push(thread),
            None => users.push((&target.path, vec![thread])),
        }
    }
    if sets.is_empty() {
        return;
    }
    put(out, format_args!("\nEffective IO Distributions\n{}\n", "-".repeat(26)));
    for (set, users) in sets {
        for (path, threads) in users {
            put(out, format_args!("target: {path} [thread: {}]\n", runs(&threads)));
        }
        write_slices(set, out);
    }
}

fn write_slices(slices: &[Slice], out: &mut String) {
    let sum: u32 = slices.iter().map(|s| s.io_percent).sum();
    for slice in slices {
        let begin = match slice.offset_bytes {
            0 => "     0   ".to_owned(),
            offset => show_size_aligned(offset),
        };
        let end = match slice.bytes {
            0 => "      end".to_owned(),
            bytes => show_size_aligned(slice.offset_bytes.saturating_add(bytes)),
        };
        put(out, format_args!("   {:>3}% of IO => [{begin} - {end})", slice.io_percent));
        if sum != 100 {
            let share = f64::from(slice.io_percent) * 100.0 / f64::from(sum.max(1));
            put(out, format_args!("    {share:.1}%"));
        }
        out.push('\n');
    }
}

/// Rising numbers, three or more in a row as `0 - 3`.
fn runs(numbers: &[usize]) -> String {
    let mut words = Vec::new();
    for run in numbers.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, _, .., last] => words.push(format!("{first} - {last}")),
            _ => words.extend(run.iter().map(ToString::to_string)),
        }
    }
    words.join(" ")
}

// ---------------------------------------------------------------------- I/O

/// The directions of a target that a table is about.
type Pick = fn(&TargetFigures) -> Vec<&Figures>;

/// Every thread's number with each of its targets.
fn rows(measured: &Measured) -> impl Iterator<Item = (usize, &TargetFigures)> {
    let threads = measured.threads.iter().enumerate();
    threads.flat_map(|(number, thread)| thread.targets.iter().map(move |target| (number, target)))
}

/// The sum of a row, or of all rows.
#[derive(Default)]
struct Sum {
    bytes: u64,
    ios: u64,
    latencies: Latencies,
    intervals: Option<Intervals>,
}

impl Sum {
    fn add(&mut self, figures: &Figures) {
        self.bytes = self.bytes.saturating_add(figures.bytes);
        self.ios = self.ios.saturating_add(figures.ios);
        self.latencies.merge(&figures.latencies);
        if let Some(intervals) = &figures.intervals {
            self.intervals.get_or_insert_default().merge(intervals);
        }
    }

    fn of<'a>(figures: impl IntoIterator<Item = &'a Figures>) -> Self {
        let mut sum = Self::default();
        figures.into_iter().for_each(|f| sum.add(f));
        sum
    }
}

fn io_table(asked: &TimeSpan, measured: &Measured, pick: Pick, out: &mut String) {
    let (latency, intervals) = (asked.measure_latency, asked.iops_std_dev);
    put(out, format_args!("thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s "));
    if latency {
        out.push_str("|  AvgLat  ");
    }
    if intervals {
        out.push_str("| IopsStdDev ");
    }
    if latency {
        out.push_str("| LatStdDev ");
    }
    out.push_str("|  file\n");
    let width = 78 + if latency { 23 } else { 0 } + if intervals { 13 } else { 0 };
    let rule = "-".repeat(width);
    put(out, format_args!("{rule}\n"));
    for (thread, target) in rows(measured) {
        put(out, format_args!("{thread:>6} | "));
        cells(asked, measured.seconds, &Sum::of(pick(target)), out);
        put(out, format_args!(" | {} ({})\n", target.path, show_size(target.file_bytes)));
    }
    let mut total = Sum::of(rows(measured).flat_map(|(_, target)| pick(target)));
    if let Some(whole) = &measured.intervals {
        total.intervals = Some(whole_intervals(whole, pick));
    }
    put(out, format_args!("{rule}\ntotal:   "));
    cells(asked, measured.seconds, &total, out);
    out.push('\n');
}

/// The intervals of the whole span in the directions of a table.
fn whole_intervals(whole: &(Intervals, Intervals), pick: Pick) -> Intervals {
    let figures = |intervals: &Intervals| Figures {
        intervals: Some(intervals.clone()),
        ..Figures::default()
    };
    let both = TargetFigures {
        read: figures(&whole.0),
        write: figures(&whole.1),
        ..TargetFigures::default()
    };
    Sum::of(pick(&both)).intervals.unwrap_or_default()
}

fn cells(asked: &TimeSpan, seconds: f64, sum: &Sum, out: &mut String) {
    let rate = |count: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
    let (mib, iops) = (rate(sum.bytes as f64 / MIB), rate(sum.ios as f64));
    put(out, format_args!("{:>15} | {:>12} | {mib:>10.2} | {iops:>10.2}", sum.bytes, sum.ios));
    if asked.measure_latency {
        put(out, format_args!(" | {:>8.3}", sum.latencies.mean_us() / 1e3));
    }
    if asked.iops_std_dev {
        match &sum.intervals {
            Some(intervals) => put(out, format_args!(" | {:>10.2}", intervals.stddev_iops())),
            None => out.push_str(" |        N/A"),
        }
    }
    if asked.measure_latency {
        if sum.latencies.is_empty() {
            out.push_str(" |       N/A");
        } else {
            put(out, format_args!(" |  {:>8.3}", sum.latencies.stddev_us() / 1e3));
        }
    }
}

// ---------------------------------------------------------------------- latency

fn latencies(measured: &Measured, out: &mut String) {
    let mut paths: Vec<&str> = Vec::new();
    for (_, target) in rows(measured) {
        if !paths.contains(&target.path.as_str()) {
            paths.push(&target.path);
        }
    }
    if paths.len() > 1 {
        // In DiskSpd the order comes from a hash table; in its known outputs the last comes first.
        for path in paths.iter().rev() {
            put(out, format_args!("\nLatency distribution: {path}\n"));
            chart(rows(measured).map(|(_, t)| t).filter(|t| t.path == *path), out);
        }
    }
    out.push_str("\nTotal latency distribution:\n");
    chart(rows(measured).map(|(_, target)| target), out);
}

fn chart<'a>(targets: impl Iterator<Item = &'a TargetFigures>, out: &mut String) {
    let (mut read, mut write) = (Latencies::default(), Latencies::default());
    for target in targets {
        read.merge(&target.read.latencies);
        write.merge(&target.write.latencies);
    }
    let mut total = read.clone();
    total.merge(&write);
    put(out, format_args!("  %-ile |  Read (ms) | Write (ms) | Total (ms)\n{}\n", "-".repeat(46)));
    let shares: Vec<f64> = PERCENTILES.iter().map(|(_, share)| *share).collect();
    let column = |of: &Latencies| {
        let mut column = vec![of.min_us()];
        column.extend(of.at(&shares));
        column.push(of.max_us());
        column
    };
    let names = ["min"].into_iter().chain(PERCENTILES.iter().map(|p| p.0)).chain(["max"]);
    let (r, w, t) = (column(&read), column(&write), column(&total));
    let cell = |of: &Latencies, us: f64| {
        if of.is_empty() { format!("{:>10}", "N/A") } else { format!("{:>10.3}", milliseconds(us)) }
    };
    for (((name, r), w), t) in names.zip(r).zip(w).zip(t) {
        let (r, w, t) = (cell(&read, r), cell(&write, w), milliseconds(t));
        put(out, format_args!("{name:>7} | {r} | {w} | {t:>10.3}\n"));
    }
}

// ---------------------------------------------------------------------- several time spans

/// The sum of the time spans that were measured.
fn totals(spans: &[SpanResult], out: &mut String) {
    let (mut read, mut write, mut seconds) = (Sum::default(), Sum::default(), 0.0);
    for span in spans {
        let SpanResult::Measured(measured) = span else { continue };
        seconds += measured.seconds;
        for (_, target) in rows(measured) {
            for (sum, figures) in [(&mut read, &target.read), (&mut write, &target.write)] {
                sum.bytes = sum.bytes.saturating_add(figures.bytes);
                sum.ios = sum.ios.saturating_add(figures.ios);
            }
        }
    }
    let total = Sum {
        bytes: read.bytes.saturating_add(write.bytes),
        ios: read.ios.saturating_add(write.ios),
        ..Sum::default()
    };
    let plain = TimeSpan::default();
    let rule = "-".repeat(79);
    put(out, format_args!("\n\nTotals:\n{}\n\n", "*".repeat(79)));
    put(out, format_args!("type   |       bytes     |     I/Os     |    MiB/s   |  I/O per s\n"));
    put(out, format_args!("{rule}\nwrite  | "));
    cells(&plain, seconds, &write, out);
    out.push_str("\nread   | ");
    cells(&plain, seconds, &read, out);
    put(out, format_args!("\n{rule}\ntotal  | "));
    cells(&plain, seconds, &total, out);
    put(out, format_args!("\n\ntotal test time:\t{seconds:.2}s\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_in_a_row_are_written_as_from_and_to() {
        assert_eq!(runs(&[0, 2, 3, 4]), "0 2 - 4");
        assert_eq!(runs(&[0, 1, 2, 3, 5]), "0 - 3 5");
        assert_eq!(runs(&[0, 1]), "0 1");
        assert_eq!(runs(&[]), "");
    }

    #[test]
    fn slices_stand_once_with_who_has_them() {
        let slice = |io_from_percent, io_percent, offset_bytes, bytes| Slice {
            io_from_percent,
            io_percent,
            offset_bytes,
            bytes,
        };
        let cut = vec![slice(0, 60, 0, 1 << 20), slice(60, 20, 3 << 20, 0)];
        let whole = vec![slice(0, 100, 0, 1536)];
        let target = |path: &str, slices: &[Slice]| TargetFigures {
            path: path.to_owned(),
            slices: slices.to_vec(),
            ..TargetFigures::default()
        };
        let thread = || super::super::ThreadFigures {
            targets: vec![target("a", &cut), target("b", &whole), target("c", &[])],
        };
        let measured =
            Measured { threads: vec![thread(), thread(), thread()], ..Measured::default() };
        let mut out = String::new();
        slices(&measured, &mut out);
        let wanted = "\nEffective IO Distributions\n--------------------------\n\
            target: a [thread: 0 - 2]\n\
            \x20   60% of IO => [     0    -      1MiB)    75.0%\n\
            \x20   20% of IO => [     3MiB -       end)    25.0%\n\
            target: b [thread: 0 - 2]\n\
            \x20  100% of IO => [     0    -   1.50KiB)\n";
        assert_eq!(out, wanted);
    }
}
