//! What fio prints for people (`--output-format=normal`, its default), since version 2.
//!
//! It says less than the JSON: neither files nor sizes, nor whether the I/O was direct; numbers are
//! rounded. Jobs are read into the same types as those of the JSON, so that figures come from both
//! the same way.

mod lines;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::document::{ALL_CLIENTS, Amount, Direction, Document, Job, RawOptions, Sync, Times};
use crate::foreign::{ForeignRuns, ReadError, fnv_1a};
use crate::identities::{Printed, PrintedFigures};
use lines::{Head, Line, Result as JobResult, Totals, Way};

/// Results that are taken from one file.
const JOBS_MAX: usize = 100_000;
/// A computed figure may be so far from the printed one, which is rounded to three digits or four.
const ROUNDED: f64 = 0.02;

/// Whether a text has results of fio.
pub(super) fn is_in(text: &str) -> bool {
    text.lines().any(|line| matches!(Line::of(line), Line::Result(_)))
}

/// A job as it is read.
struct Block {
    result: JobResult,
    /// The server that did it, of a client's output.
    server: Option<String>,
    /// Where its lines begin and end in the text.
    begin: usize,
    line: usize,
    ways: BTreeMap<Way, Figures>,
    sync: Option<Times>,
    issued: Vec<u64>,
    cpu: Option<(f64, f64)>,
}

#[derive(Debug)]
struct Figures {
    totals: Totals,
    completion: Option<Times>,
    whole: Option<Times>,
}

/// What two results of one job of a run have in common: its server, name, group and process.
type JobKey = (Option<String>, String, i64, u64);

/// The lists of percentiles that may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Completion,
    Whole,
    Sync,
    Other,
}

/// Reads all runs of a text.
pub(super) fn read(text: &str, file: &str, read: &str) -> Result<ForeignRuns, ReadError> {
    let mut reader = Reader { text, file, read, ..Reader::default() };
    let mut at = 0;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.trim_end_matches(['\n', '\r']);
        reader.line(line, at, index + 1).map_err(|what| ReadError {
            line: index + 1,
            column: 1,
            what,
        })?;
        at += whole.len();
    }
    reader.end_block(text.len());
    if reader.left_out > 0 {
        let more = reader.left_out;
        reader.found.notes.push(format!("more than {JOBS_MAX} results; {more} are left out"));
    }
    Ok(reader.found)
}

#[derive(Default)]
struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    read: &'a str,
    version: Option<String>,
    /// The command line, where the text has it, and its options.
    call: Option<(&'a str, RawOptions)>,
    heads: Vec<Head>,
    /// A result came after the heads: the next head is of another run.
    in_results: bool,
    /// The server whose lines these are, of a client's output.
    server: Option<String>,
    /// The results of the run, and where each is among all.
    done: Vec<(JobKey, usize)>,
    block: Option<Block>,
    /// The direction that the next latencies are of; `None` for those of flushes.
    way: Option<Way>,
    list: Option<(List, f64)>,
    found: ForeignRuns,
    left_out: usize,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str, at: usize, number: usize) -> Result<(), String> {
        match Line::of(line) {
            Line::Call(line, options) => {
                self.end_run(at);
                self.call = Some((line, options));
            }
            Line::Version(version) => {
                if self.in_results {
                    self.end_run(at);
                }
                self.version = Some(version);
            }
            Line::Head(head) => {
                if self.in_results {
                    self.end_run(at);
                }
                self.heads.push(head);
            }
            Line::Result(result) => {
                self.end_block(at);
                self.in_results = true;
                self.block = Some(Block {
                    result,
                    server: self.server.clone(),
                    begin: at,
                    line: number,
                    ways: BTreeMap::new(),
                    sync: None,
                    issued: Vec::new(),
                    cpu: None,
                });
            }
            Line::Summary => self.end_block(at),
            Line::Server(server) => {
                self.end_block(at);
                self.server = Some(server);
            }
            Line::Way { way, rest } => self.begin_way(way, rest)?,
            Line::Flushes => self.way = None,
            Line::Times { name, unit_ns, rest } => self.times(name, unit_ns, rest)?,
            Line::Percentiles { name, unit_ns } => {
                let list = match name {
                    "clat" => List::Completion,
                    "lat" => List::Whole,
                    "sync" => List::Sync,
                    _ => List::Other,
                };
                self.list = Some((list, unit_ns));
            }
            Line::Percentile(rest) => self.percentiles(rest)?,
            Line::Issued(counts) => {
                if let Some(block) = &mut self.block {
                    block.issued = counts;
                }
            }
            Line::Cpu(user, system) => {
                if let Some(block) = &mut self.block {
                    block.cpu = Some((user, system));
                }
            }
            Line::Other => {}
        }
        Ok(())
    }

    fn end_run(&mut self, at: usize) {
        self.end_block(at);
        self.heads.clear();
        self.done.clear();
        (self.version, self.call, self.server) = (None, None, None);
        self.in_results = false;
    }

    fn begin_way(&mut self, way: Way, rest: &str) -> Result<(), String> {
        let Some(block) = &mut self.block else { return Ok(()) };
        let totals = lines::totals(rest)?;
        block.ways.insert(way, Figures { totals, completion: None, whole: None });
        (self.way, self.list) = (Some(way), None);
        Ok(())
    }

    fn times(&mut self, name: &str, unit_ns: f64, rest: &str) -> Result<(), String> {
        let Some(block) = &mut self.block else { return Ok(()) };
        let times = lines::times(rest, unit_ns)?;
        match (name, self.way.and_then(|way| block.ways.get_mut(&way))) {
            ("clat", Some(figures)) => figures.completion = Some(times),
            ("lat", Some(figures)) => figures.whole = Some(times),
            ("sync", _) => block.sync = Some(times),
            _ => {}
        }
        Ok(())
    }

    fn percentiles(&mut self, rest: &str) -> Result<(), String> {
        let (Some(block), Some((list, unit_ns))) = (&mut self.block, self.list) else {
            return Ok(());
        };
        let figures = self.way.and_then(|way| block.ways.get_mut(&way));
        let times = match (list, figures) {
            (List::Completion, Some(figures)) => &mut figures.completion,
            (List::Whole, Some(figures)) => &mut figures.whole,
            (List::Sync, _) => &mut block.sync,
            _ => return Ok(()),
        };
        let percentile = times.get_or_insert_default().percentile.get_or_insert_default();
        percentile.extend(lines::percentiles(rest, unit_ns)?);
        Ok(())
    }

    /// Ends the job that is being read, as a result.
    fn end_block(&mut self, end: usize) {
        (self.way, self.list) = (None, None);
        let Some(block) = self.block.take() else { return };
        if self.found.measurements.len() >= JOBS_MAX {
            self.left_out += 1;
            return;
        }
        let (name, line) = (block.result.name.clone(), block.line);
        let note = |what: &str| format!("line {line}: the job `{name}` {what}; left out");
        if block.issued.is_empty() && block.ways.values().any(|f| f.totals.bytes > 0.0) {
            let what = "is not whole: its line `issued rwts` is missing";
            self.found.notes.push(note(what));
            return;
        }
        if block.issued.iter().take(3).sum::<u64>() == 0 {
            self.found.notes.push(note("did no I/O"));
            return;
        }
        if block.result.name == ALL_CLIENTS {
            self.found.notes.push(note("is the sum of the others"));
            return;
        }
        let key = block
            .result
            .pid
            .map(|pid| (block.server.clone(), block.result.name.clone(), block.result.group, pid));
        let place = self.text.get(block.begin..end).unwrap_or_default();
        let head = self.heads.iter().find(|head| head.is_of(&block.result));
        let mut warnings = self.warnings(head, &block);
        // Reads and writes together, of which only their sum is printed.
        let is_apart = block.ways.contains_key(&Way::Read) || block.ways.contains_key(&Way::Write);
        let tells_share = is_apart || head.is_none_or(|head| !head.is_mixed());
        if let Some(head) = head.filter(|_| !tells_share) {
            warnings.push(format!(
                "the share of writes of `{}` is not known (unified_rw_reporting)",
                head.shown()
            ));
        }
        let is_of_several = head.is_some_and(|head| self.is_of_different_loads(head, &block));
        let call = self.call.as_ref().filter(|(_, options)| {
            // The only job of a call has its name.
            options.get("name").and_then(Value::as_str) == Some(block.result.name.as_str())
        });
        let version = self.version.as_deref();
        let asked = call.map(|(_, options)| options);
        let (document, job) = measure(block, (head, asked), version);
        let place = format!("{:016x} normal", fnv_1a(place));
        let mut m = super::measurement(&document, &job, self.file, &place, self.read);
        m.checks.warnings.extend(warnings);
        if let Some(origin) = &mut m.origin {
            // fio itself prints neither its command line nor all of its options.
            origin.command_line = call.map(|(line, _)| (*line).to_owned());
            origin.tool_version.clone_from(&self.version);
        }
        let is_known = |head: &Head| head.blocks().is_some() && tells_share && !is_of_several;
        if !head.is_some_and(is_known) {
            super::forget_load(&mut m);
        }
        let earlier = self.done.iter().find(|(other, _)| key.as_ref() == Some(other));
        if let Some(earlier) = earlier.and_then(|(_, at)| self.found.measurements.get_mut(*at)) {
            *earlier = m;
            let what = "is a later result of one before it, which was intermediate";
            self.found.notes.push(format!("line {line}: the job `{name}` {what}"));
        } else {
            self.done.extend(key.map(|key| (key, self.found.measurements.len())));
            self.found.measurements.push(m);
        }
    }

    /// Whether a result is of jobs that did different things.
    fn is_of_different_loads(&self, head: &Head, block: &Block) -> bool {
        let differs = |h: &Head| h.group == head.group && h.options() != head.options();
        block.result.jobs > 1 && self.heads.iter().any(differs)
    }

    fn warnings(&self, head: Option<&Head>, block: &Block) -> Vec<String> {
        let mut warnings = Vec::new();
        match head {
            None => warnings.push(
                "the line that says what the job did (`NAME: (g=0): rw=…`) is missing: its load \
                 is not known"
                    .to_owned(),
            ),
            Some(head) => {
                let is_told = self.call.is_some();
                warnings.extend((!is_told).then(|| {
                    "fio's text does not tell the file, its size, and whether the I/O was direct \
                     (shown as fio's default, buffered); its JSON does (`--output-format=json`)"
                        .to_owned()
                }));
                if head.blocks().is_none() {
                    let bs = &head.bs;
                    warnings.push(format!("the sizes of the I/Os are a range, bs={bs}"));
                }
                if self.is_of_different_loads(head, block) {
                    warnings.push(
                        "the figures are those of several jobs (group_reporting) with different \
                         loads: the load is not known"
                            .to_owned(),
                    );
                }
            }
        }
        if block.sync.is_some() && block.issued.get(3).copied().unwrap_or(0) == 0 {
            let mean = block.sync.as_ref().and_then(|sync| sync.mean);
            let mean = mean.map(|mean| format!(", {} in the mean,", workload::show_ns(mean.0)));
            let mean = mean.unwrap_or_default();
            warnings.push(format!("fio timed flushes{mean} and does not print how many"));
        }
        if block.result.printed.is_some() {
            warnings.push(
                "fio prints the time of its system without the zone: the start is shown as if it \
                 were UTC"
                    .to_owned(),
            );
        }
        warnings
    }
}

/// The job in the words of the JSON.
fn measure(
    block: Block,
    (head, call): (Option<&Head>, Option<&RawOptions>),
    version: Option<&str>,
) -> (Document, Job) {
    let Block { result, server, mut ways, sync, issued, cpu, .. } = block;
    let count = |place: usize| issued.get(place).copied().unwrap_or(0);
    let all = issued.iter().take(3).copied().fold(0, u64::saturating_add);
    let longest = ways.values().map(|figures| figures.totals.runtime_ms).max().unwrap_or(0);
    let mut options = call.cloned().unwrap_or_else(|| options_of(&[("filename", "unknown")]));
    options.extend(head.map(Head::options).unwrap_or_default());
    options.insert("numjobs".to_owned(), Value::from(result.jobs));
    if options.get("rw").is_some_and(|rw| rw.as_str().is_some_and(|rw| rw.ends_with("rw"))) {
        // fio does not print the share that was asked for, only the share that was done.
        let percent = (100.0 * count(0) as f64 / all.max(1) as f64).round();
        options.insert("rwmixread".to_owned(), Value::from(format!("{percent:.0}")));
    }
    let block = head.and_then(Head::blocks);
    // Where both are printed apart, their sum may be all zeros (`unified_rw_reporting=both`).
    if ways.contains_key(&Way::Read) || ways.contains_key(&Way::Write) {
        ways.remove(&Way::Mixed);
    }
    let mut direction = |way: Way, ios: u64, block: Option<u64>| {
        let figures = ways.remove(&way)?;
        Some(self::direction(figures, ios, block))
    };
    let (of_reads, of_writes) = (block.map(|b| b.0), block.map(|b| b.1));
    let same = of_reads.filter(|_| of_reads == of_writes);
    let started = result
        .printed
        .and_then(|printed| printed.as_millisecond().checked_sub(i64::try_from(longest).ok()?));
    let flushes = count(3);
    let job = Job {
        name: result.name,
        group: result.group,
        error: result.error,
        hostname: server,
        options,
        read: direction(Way::Read, count(0), of_reads),
        write: direction(Way::Write, count(1), of_writes),
        trim: direction(Way::Trim, count(2), None),
        mixed: direction(Way::Mixed, all, same),
        sync: sync.filter(|_| flushes > 0).map(|times| Sync {
            total_ios: flushes,
            lat_ns: Some(Times { count: Some(flushes), ..times }),
        }),
        // Percent of the time of all threads together, which only that of one job tells.
        usr_cpu: cpu.filter(|_| result.jobs == 1).map(|(user, _)| Amount(user)),
        sys_cpu: cpu.filter(|_| result.jobs == 1).map(|(_, system)| Amount(system)),
        started,
        ..Job::default()
    };
    (Document::of_text(version.unwrap_or("of unknown version")), job)
}

/// A direction whose I/Os are exact counts, and whose bytes and rate are rounded in print. A value
/// that follows from the count and the block size is used if it agrees with the printed one.
fn direction(figures: Figures, ios: u64, block: Option<u64>) -> Direction {
    let Totals { bytes, iops, runtime_ms, printed } = figures.totals;
    let near = |exact: f64, rounded: f64, printed: Option<Printed>| {
        (exact - rounded).abs() <= ROUNDED * rounded.max(1.0)
            || printed.is_some_and(|printed| printed.agrees(Printed::within(exact, 0.0)))
    };
    let exact_bytes = block.and_then(|block| block.checked_mul(ios));
    let io_bytes = exact_bytes.filter(|exact| near(*exact as f64, bytes, printed.bytes));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let io_bytes = io_bytes.unwrap_or(bytes.round() as u64);
    let seconds = runtime_ms as f64 / 1e3;
    let exact_iops = (seconds > 0.0).then(|| ios as f64 / seconds);
    let rate = exact_iops.filter(|exact| near(*exact, iops, printed.iops));
    Direction {
        io_bytes,
        total_ios: ios,
        iops: Some(Amount(rate.unwrap_or(iops))),
        runtime: runtime_ms,
        printed: Some(PrintedFigures { ios: Some(Printed::count(ios)), ..printed }),
        clat_ns: figures.completion,
        lat_ns: figures.whole,
        ..Direction::default()
    }
}

/// `Wed Nov 25 02:10:59 2026`, in whatever zone.
fn date_of(text: &str) -> Option<Timestamp> {
    let words: Vec<&str> = text.split_whitespace().skip(1).take(4).collect();
    let at = DateTime::strptime("%b %d %H:%M:%S %Y", words.join(" ")).ok()?;
    TimeZone::UTC.to_timestamp(at).ok()
}

/// A text as an option's value.
fn value(text: &str) -> Value {
    Value::from(text)
}

/// Makes options from their names and values.
fn options_of(pairs: &[(&str, &str)]) -> RawOptions {
    pairs.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect()
}
