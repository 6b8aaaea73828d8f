//! The lines of fio's text, each for itself.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::super::document::{Amount, RawOptions, Times};
use super::{date_of, options_of};
use crate::identities::{Printed, PrintedFigures};

/// A number above this is damage.
const NUMBER_MAX: f64 = 9e18;

/// The line before a run that says what a job will do.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) group: i64,
    rw: String,
    pub(super) bs: String,
    engine: String,
    depth: String,
}

/// The line that the figures of a job begin with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Result {
    pub(super) name: String,
    pub(super) group: i64,
    pub(super) jobs: u32,
    pub(super) error: i64,
    pub(super) pid: Option<u64>,
    pub(super) printed: Option<Timestamp>,
}

/// The bytes, the rate and the length of a direction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Totals {
    pub(super) bytes: f64,
    pub(super) iops: f64,
    pub(super) runtime_ms: u64,
    pub(super) printed: PrintedFigures,
}

/// The kind of I/O that figures are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Read,
    Write,
    Trim,
    Mixed,
}

/// A line of the output, by its meaning.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// The command line, and its options.
    Call(&'a str, RawOptions),
    Version(String),
    /// The server of `--client` whose lines follow.
    Server(String),
    Head(Head),
    Result(Result),
    /// `Run status group`: no job follows.
    Summary,
    Way {
        way: Way,
        rest: &'a str,
    },
    Flushes,
    /// Least, largest, mean and deviation of a latency.
    Times {
        name: &'a str,
        unit_ns: f64,
        rest: &'a str,
    },
    Percentiles {
        name: &'a str,
        unit_ns: f64,
    },
    Percentile(&'a str),
    /// Reads, writes, trims, and flushes where they are counted.
    Issued(Vec<u64>),
    /// CPU time of user and system, in percent.
    Cpu(f64, f64),
    Other,
}

impl<'a> Line<'a> {
    /// What a line is. What fio shows while it runs ends with a carriage return.
    pub(super) fn of(line: &'a str) -> Self {
        let line = line.rsplit('\r').next().unwrap_or(line);
        let trimmed = line.trim();
        // Of several servers, fio says which one the line is of.
        let (server, trimmed) = match trimmed.strip_prefix('<').and_then(|l| l.split_once('>')) {
            Some((server, rest)) => (Some(server), rest.trim()),
            None => (None, trimmed),
        };
        if let Some(server) = server.filter(|_| trimmed.is_empty()) {
            return Line::Server(server.to_owned());
        }
        let known = head(trimmed)
            .map(Line::Head)
            .or_else(|| result(trimmed).map(Line::Result))
            .or_else(|| version(trimmed))
            .or_else(|| way(trimmed))
            .or_else(|| latency(trimmed))
            .or_else(|| issued(trimmed))
            .or_else(|| cpu(trimmed))
            .or_else(|| call(trimmed));
        match known {
            Some(known) => known,
            None if trimmed.starts_with("Run status group") => Line::Summary,
            None if trimmed.starts_with("fsync/fdatasync") => Line::Flushes,
            None => trimmed.strip_prefix('|').map_or(Line::Other, Line::Percentile),
        }
    }
}

/// `readers: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) …, ioengine=psync, iodepth=1`.
fn head(line: &str) -> Option<Head> {
    let (name, rest) = line.split_once(": (g=")?;
    let (group, rest) = rest.split_once("): ")?;
    let option = |key: &str| {
        let from = rest.find(key)? + key.len();
        rest.get(from..)
    };
    let word = |key: &str| Some(option(key)?.split(',').next()?.trim().to_owned());
    let bs = option("bs=")?.split(", ioengine=").next()?.trim().to_owned();
    Some(Head {
        name: name.to_owned(),
        group: group.parse().ok()?,
        rw: word("rw=")?,
        bs,
        engine: word("ioengine=")?,
        depth: word("iodepth=")?,
    })
}

impl Head {
    /// Whether it says what this job did.
    pub(super) fn is_of(&self, result: &Result) -> bool {
        self.name == result.name && self.group == result.group
    }

    /// The block sizes of reads and writes; `None` if they are ranges.
    pub(super) fn blocks(&self) -> Option<(u64, u64)> {
        // `(R) 4096B-4096B, (W) …, (T) …` since 3.0, `4K-4K/4K-4K/4K-4K` before.
        let parts: Vec<&str> = self.bs.split(", ").flat_map(|part| part.split('/')).collect();
        let fixed = |part: &&str| {
            let part = part.trim_start_matches(|c: char| "(RWT) ".contains(c));
            let (least, most) = part.split_once('-')?;
            let bytes = bytes(least)?;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole")]
            (least == most && bytes >= 1.0).then_some(bytes as u64)
        };
        let reads = parts.first().and_then(fixed);
        let writes = parts.get(1).and_then(fixed).or(reads.filter(|_| parts.len() == 1));
        let (reads_count, writes_count) = match self.rw.trim_start_matches("rand") {
            "read" => (true, false),
            "write" => (false, true),
            _ => (true, true),
        };
        match (reads, writes) {
            (Some(reads), Some(writes)) => Some((reads, writes)),
            (Some(reads), None) if reads_count && !writes_count => Some((reads, reads)),
            (None, Some(writes)) if writes_count && !reads_count => Some((writes, writes)),
            _ => None,
        }
    }

    /// Whether the job reads and writes.
    pub(super) fn is_mixed(&self) -> bool {
        matches!(self.rw.trim_start_matches("rand"), "rw" | "readwrite")
    }

    /// The line itself, in short.
    pub(super) fn shown(&self) -> String {
        let Self { rw, bs, engine, depth, .. } = self;
        format!("rw={rw}, bs={bs}, ioengine={engine}, iodepth={depth}")
    }

    /// The options that the line shows.
    pub(super) fn options(&self) -> RawOptions {
        let bs = self.blocks().map(|(reads, writes)| format!("{reads},{writes}"));
        let bs = bs.unwrap_or_default();
        let mut pairs = vec![
            ("rw", self.rw.as_str()),
            ("ioengine", self.engine.as_str()),
            ("iodepth", self.depth.as_str()),
        ];
        if !bs.is_empty() {
            pairs.push(("bs", bs.as_str()));
        }
        options_of(&pairs)
    }
}

/// `readers: (groupid=0, jobs=3): err= 0: pid=3630: Sat Nov 21 18:50:49 2026`.
fn result(line: &str) -> Option<Result> {
    let (name, rest) = line.split_once(": (groupid=")?;
    let (group, rest) = rest.split_once(", jobs=")?;
    let (jobs, rest) = rest.split_once("): err=")?;
    let error = rest.trim_start().split([':', ' ']).next()?;
    let date = rest.rsplit_once(": pid=").and_then(|(_, rest)| rest.split_once(": "));
    let pid = rest.rsplit_once(": pid=").and_then(|(_, rest)| rest.split(':').next());
    Some(Result {
        name: name.to_owned(),
        group: group.trim().parse().ok()?,
        jobs: jobs.trim().parse().ok()?,
        error: error.parse().ok()?,
        pid: pid.and_then(|pid| pid.trim().parse().ok()),
        printed: date.and_then(|(_, date)| date_of(date)),
    })
}

/// `fio --name=x --rw=randread …`, with or without a prompt before it. One with a job file, or with
/// several jobs, does not tell all.
fn call(line: &str) -> Option<Line<'_>> {
    let line = line.trim_start_matches(['$', '#', '>', ' ']).trim_start_matches("sudo ");
    let (program, _) = line.split_once(' ')?;
    if !matches!(program.rsplit(['/', '\\']).next(), Some("fio" | "fio.exe")) {
        return None;
    }
    let mut words = line.split_whitespace().skip(1).peekable();
    let mut options = RawOptions::new();
    while let Some(word) = words.next() {
        let option = word.strip_prefix("--")?;
        let (name, text) = match option.split_once('=') {
            Some((name, text)) => (name, text),
            None => (option, words.next_if(|next| !next.starts_with("--")).unwrap_or("1")),
        };
        let text = text.trim_matches(['"', '\'']);
        if options.insert(name.to_owned(), super::value(text)).is_some() {
            return None;
        }
    }
    options.contains_key("name").then_some(Line::Call(line, options))
}

/// Reads the version in `fio-3.33` or `fio 1.59`.
fn version<'a>(line: &str) -> Option<Line<'a>> {
    // A client prints `hostname=db1, …, fio=fio-3.33, flags=1` of each server.
    let of_server = || field(line.strip_prefix("hostname=")?, "fio=fio-");
    let version = line.strip_prefix("fio-").or_else(|| line.strip_prefix("fio "));
    let version = version.or_else(of_server)?;
    let is_one = version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' ');
    is_one.then(|| Line::Version(version.to_owned()))
}

/// `read: IOPS=…`, `read : io=…`, `write: …`.
fn way(line: &str) -> Option<Line<'_>> {
    let (word, rest) = line.split_once(':')?;
    let way = match word.trim_end() {
        "read" => Way::Read,
        "write" => Way::Write,
        "trim" => Way::Trim,
        "mixed" => Way::Mixed,
        _ => return None,
    };
    let rest = rest.trim_start();
    let is_one = rest.starts_with("IOPS=") || rest.starts_with("io=");
    is_one.then_some(Line::Way { way, rest })
}

/// `clat (usec): min=…`, `lat percentiles (nsec):`. The shares of I/Os (`lat (usec)   : 4=0.67%`)
/// look alike and are neither.
fn latency(line: &str) -> Option<Line<'_>> {
    let (name, rest) = line.split_once(" (")?;
    let (unit, rest) = rest.split_once(')')?;
    let unit_ns = match unit.trim() {
        "nsec" => 1.0,
        "usec" => 1e3,
        "msec" => 1e6,
        "sec" => 1e9,
        _ => return None,
    };
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    if let Some(name) = name.strip_suffix(" percentiles") {
        return Some(Line::Percentiles { name, unit_ns });
    }
    rest.starts_with("min=").then_some(Line::Times { name, unit_ns, rest })
}

/// `issued rwts: total=600,0,0,0 short=…`, `issued    : total=r=600/w=0/d=0, short=…`.
fn issued<'a>(line: &str) -> Option<Line<'a>> {
    let rest = line.strip_prefix("issued")?;
    let (_, rest) = rest.split_once("total=")?;
    let end = [" short", ", short"].iter().filter_map(|mark| rest.find(mark)).min();
    let counts = rest.get(..end.unwrap_or(rest.len()))?.trim_end_matches(',');
    let count = |part: &str| part.trim().trim_start_matches(|c: char| "rwd=".contains(c)).parse();
    let counts: std::result::Result<Vec<u64>, _> = counts.split([',', '/']).map(count).collect();
    counts.ok().map(Line::Issued)
}

/// Reads `cpu          : usr=1.30%, sys=0.00%, ctx=…`.
fn cpu<'a>(line: &str) -> Option<Line<'a>> {
    let (word, rest) = line.split_once(':')?;
    let percent = |key: &str| field(rest, key)?.trim_end_matches('%').trim().parse::<f64>().ok();
    let fits = |percent: &f64| percent.is_finite() && *percent >= 0.0;
    let user = percent("usr=").filter(fits)?;
    let system = percent("sys=").filter(fits)?;
    (word.trim() == "cpu").then_some(Line::Cpu(user, system))
}

/// The value after a key, up to the next comma.
fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let from = line.find(key)? + key.len();
    Some(line.get(from..)?.split(',').next()?.trim())
}

/// The figures of a direction.
pub(super) fn totals(rest: &str) -> std::result::Result<Totals, String> {
    let wrong = |what: &str| format!("the direction has no {what}: `{rest}`");
    let first = rest.split(';').next().unwrap_or(rest);
    // 2.x: io=4096.0MB, bw=312345KB/s, iops=78086, runt= 13428msec
    if let Some(io) = field(first, "io=") {
        let iops = field(first, "iops=").ok_or_else(|| wrong("`iops`"))?;
        let runtime = field(first, "runt=").and_then(msec).ok_or_else(|| wrong("`runt`"))?;
        let figures = (io, iops, field(first, "bw="));
        return Totals::of(figures, runtime).ok_or_else(|| wrong("`io` or `iops`"));
    }
    // 3.x: IOPS=599, BW=2398KiB/s (2455kB/s)(2400KiB/1001msec)
    let iops = field(first, "IOPS=").ok_or_else(|| wrong("`IOPS`"))?;
    let last = first.rsplit_once('(').and_then(|(_, last)| last.trim_end().strip_suffix(')'));
    let (io, runtime) = last.and_then(|l| l.split_once('/')).ok_or_else(|| wrong("`io/time`"))?;
    let runtime = msec(runtime).ok_or_else(|| wrong("run time"))?;
    let bw = field(first, "BW=").and_then(|bw| bw.split(' ').next());
    Totals::of((io, iops, bw), runtime).ok_or_else(|| wrong("`IOPS` or number of bytes"))
}

impl Totals {
    fn of((io, iops, bw): (&str, &str, Option<&str>), runtime_ms: u64) -> Option<Self> {
        let (bytes, rate) = (printed_bytes(io)?, printed(iops, 1000.0)?);
        let printed = PrintedFigures {
            bytes: Some(bytes),
            iops: Some(rate),
            mib_per_s: bw.and_then(printed_bytes).map(|bw| bw.times(1.0 / 1_048_576.0)),
            ..PrintedFigures::default()
        };
        Some(Self { bytes: bytes.value(), iops: rate.value(), runtime_ms, printed })
    }
}

fn msec(text: &str) -> Option<u64> {
    text.trim().strip_suffix("msec")?.trim().parse().ok()
}

/// `min=3, max=4785k, avg=231.73, stdev=586.98`; fio shortens large numbers.
pub(super) fn times(rest: &str, unit_ns: f64) -> std::result::Result<Times, String> {
    let figure = |key: &str| {
        let text = field(rest, key).unwrap_or_default();
        let read = number(text).map(|number| Amount(number * unit_ns));
        if read.is_none() && !text.trim_start_matches('-').starts_with("nan") {
            return Err(format!("`{key}` is not a number in `{rest}`"));
        }
        Ok(read)
    };
    Ok(Times {
        min: figure("min=")?,
        max: figure("max=")?,
        mean: figure("avg=")?,
        stddev: figure("stdev=")?,
        ..Times::default()
    })
}

/// Reads `1.00th=[    5],  5.00th=[    6], …`.
pub(super) fn percentiles(
    rest: &str,
    unit_ns: f64,
) -> std::result::Result<BTreeMap<String, Amount>, String> {
    let mut found = BTreeMap::new();
    for part in rest.split(']').filter(|part| part.contains("th=[")) {
        let (name, value) = part.split_once("th=[").unwrap_or_default();
        let name = name.trim_matches([',', ' ', '|']);
        // Above the largest that its table has, fio prints `>=`.
        let value = value.trim().trim_start_matches(">=");
        let amount = number(value).map(|number| Amount(number * unit_ns));
        let amount = amount.ok_or_else(|| format!("the percentile `{part}]` is not a number"))?;
        found.insert(name.to_owned(), amount);
    }
    Ok(found)
}

/// `78086`, `78.1k`, `1.2M`: powers of 1000.
pub(super) fn number(text: &str) -> Option<f64> {
    printed(text, 1000.0).map(Printed::value)
}

/// `4096.0MB`, `2400KiB`, `16.0KiB`, `512B`, `4K`: powers of 1024, also where fio 2 calls them MB.
pub(super) fn bytes(text: &str) -> Option<f64> {
    printed_bytes(text).map(Printed::value)
}

fn printed_bytes(text: &str) -> Option<Printed> {
    let text = text.trim().trim_end_matches("B/s").trim_end_matches('B').trim_end_matches('i');
    printed(text, 1024.0)
}

fn printed(text: &str, base: f64) -> Option<Printed> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (figure, unit) = text.split_at(digits);
    let power = match unit {
        "" => 0,
        "k" | "K" => 1,
        "m" | "M" => 2,
        "g" | "G" => 3,
        "t" | "T" => 4,
        "p" | "P" => 5,
        _ => return None,
    };
    Printed::text(figure, base.powi(power)).filter(|n| n.value() < NUMBER_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shortened_numbers_are_read() {
        for (text, read) in
            [("599", 599.0), ("78.1k", 78_100.0), ("1.25M", 1_250_000.0), ("5358.0k", 5_358_000.0)]
        {
            assert_eq!(number(text), Some(read), "{text}");
        }
        for (text, read) in [
            ("4096.0MB", 4096.0 * 1_048_576.0),
            ("2400KiB", 2_457_600.0),
            ("512B", 512.0),
            ("4K", 4096.0),
            ("1.5GiB", 1.5 * 1_073_741_824.0),
        ] {
            assert_eq!(bytes(text), Some(read), "{text}");
        }
        assert_eq!((number("fast"), number(""), bytes("-4K")), (None, None, None));
    }

    #[test]
    fn shares_of_latencies_are_no_latencies() {
        assert_eq!(Line::of("  lat (usec)   : 4=0.67%, 10=9.67%"), Line::Other);
        assert_eq!(Line::of("  bw (  KiB/s): min= 2409, max= 2409, per=100.00%"), Line::Other);
        assert!(matches!(
            Line::of("     lat (usec): min=3, max=4, avg=3, stdev=0"),
            Line::Times { .. }
        ));
    }

    #[test]
    fn a_command_line_is_one_only_where_it_tells_all() {
        let options = |line: &str| match Line::of(line) {
            Line::Call(_, options) => Some(options.len()),
            _ => None,
        };
        assert_eq!(
            options("$ fio --name=a --rw=randread --bs 4k --direct=1 --time_based"),
            Some(5)
        );
        assert_eq!(options("sudo /usr/bin/fio --name=a --direct=1"), Some(2));
        for line in ["fio job.fio", "fio --name=a --name=b", "fio --direct=1", "fio: this failed"] {
            assert_eq!(options(line), None, "{line}");
        }
    }

    #[test]
    fn names_may_hold_anything() {
        let line = Line::of(
            "a: b (x): (groupid=1, jobs=2): err=5 (file:io_u.c:1, error=EIO): pid=7: \
            Wed Nov  5 02:10:59 2026",
        );
        let Line::Result(result) = line else { panic!("{line:?}") };
        assert_eq!((result.name.as_str(), result.error, result.jobs), ("a: b (x)", 5, 2));
        assert_eq!(result.printed.unwrap().to_string(), "2026-11-05T02:10:59Z");
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "\\PC{0,80}", known in "(read|write|lat|issued|cpu|clat \
            percentiles)[ :(]{0,3}[a-zA-Z0-9=/,.()% \\[\\]-]{0,60}") {
            for line in [line, known] {
                let _ = (Line::of(&line), totals(&line));
                let _ = (times(&line, 1.0), percentiles(&line, 1.0));
            }
        }
    }
}
