//! fio, Jens Axboe's I/O tester: its JSON results (`--output-format=json` and `json+`), since
//! version 2.1, the text that it prints otherwise, and its job files ([`jobs`]).
//!
//! A file may hold what fio prints around its JSON, several runs one after the other, and the
//! intermediate results of `--status-interval`, of which the last counts.

mod document;
mod figures;
pub mod jobs;
mod kinds;
mod normal;
mod options;
mod terse;
mod verification;

use std::fmt::Write as _;

use results::contradiction::Contradiction;
use results::{Cpu, Measurement, Origin, Statistics, Status, null_for_nan, whole_part};

use workload::Workload;

use crate::convert::{Part as WorkloadPart, Parts};
use crate::dialect::{Dialect, ResultFile, WorkloadFile};
use crate::foreign::{ForeignRuns, ReadError, Run};
use crate::identities::contradictions;
use crate::text;
use document::{Document, Job};
use options::Options;

/// What every result of fio has.
const MARK: &str = "\"fio version\"";

/// The files of fio that iosonde reads.
pub(crate) static DIALECT: Dialect = Dialect {
    name: "fio",
    title: "fio",
    is_command: false,
    results: &[
        ResultFile { is_in, read },
        ResultFile { is_in: normal::is_in, read: normal::read },
        ResultFile { is_in: terse::is_in, read: terse::read },
    ],
    workloads: Some(&WorkloadFile {
        word: "fio",
        about: "fio's job file",
        files: "fio's job files",
        extensions: &["fio", "job"],
        is_in: |text| text.parse::<Workload>().is_err() && jobs::is_job_file(text),
        read: |bytes, _, environment| {
            let groups = jobs::read(&text::decode(bytes), environment);
            let groups = groups.map_err(|e| e.to_string())?;
            let len = groups.len();
            let make = move |index: usize| {
                let group = groups.get(index).ok_or_else(String::new)?;
                let jobs::Group { jobs, workload, lost } =
                    group.clone().map_err(|e| e.to_string())?;
                Ok(WorkloadPart { name: jobs.join(", "), workload, lost })
            };
            Ok(Parts::new(Vec::new(), len, Box::new(make)))
        },
        write: |workload| jobs::write(workload).map_err(|e| e.to_string()),
        test_file: Some("iosonde.tst"),
    }),
};

/// Whether there is a result of fio in a text.
#[must_use]
pub fn is_in(text: &str) -> bool {
    text.contains(MARK)
}

/// All results of a text as measurements, one per job or group of jobs. `file` is the name of the
/// file, `read` the moment (UTC, RFC 3339) to use as the start of runs whose start is not known.
pub fn read(text: &str, file: &str, read: &str) -> Result<ForeignRuns, ReadError> {
    let text = &*null_for_nan(text);
    let mut found = ForeignRuns::default();
    let mut documents: Vec<Part> = Vec::new();
    let (mut from, mut known) = (0, Place { byte: 0, line: 1 });
    while let Some(part) = next_document(text, from, known)? {
        (from, known) = (part.end, part.begin);
        let line = known.line;
        if found.notes.len() + documents.len() >= DOCUMENTS_MAX {
            found.notes.push(format!(
                "line {line}: more than {DOCUMENTS_MAX} results; the rest of the file is left out"
            ));
            break;
        }
        if part.is_cut {
            // An intermediate result before it has every job.
            let is_first = documents.is_empty();
            let what = if is_first { "its whole jobs are taken" } else { "it is left out" };
            found
                .notes
                .push(format!("line {line}: the file ends in the middle of a result; {what}"));
            if !is_first {
                break;
            }
        }
        if let Some(last) = documents.last()
            && part.document.goes_on_from(&last.document)
        {
            let line = last.begin.line;
            found.notes.push(format!("line {line}: an intermediate result; a later one has it"));
            documents.pop();
        }
        documents.push(part);
    }
    for part in &documents {
        measurements(part, file, read, &mut found);
    }
    Ok(found)
}

/// Results that are taken from one file.
const DOCUMENTS_MAX: usize = 100_000;

/// A place in a text: a byte, and its line from 1.
#[derive(Debug, Clone, Copy)]
struct Place {
    byte: usize,
    line: usize,
}

/// A result, and its place in the text.
struct Part {
    document: Document,
    /// Where it begins in the text.
    begin: Place,
    /// A number made of its text.
    hash: u64,
    /// The place in the text just after it.
    end: usize,
    /// The text ends in the middle of it; it has the jobs that are whole.
    is_cut: bool,
}

/// The next JSON document with fio's version in it. Its line is counted on from a place that is
/// known: from the beginning of the text each time, a long log takes minutes.
fn next_document(text: &str, from: usize, known: Place) -> Result<Option<Part>, ReadError> {
    let rest = text.get(from..).unwrap_or_default();
    let Some(mark) = rest.find(MARK) else { return Ok(None) };
    let Some(open) = rest.get(..mark).and_then(|before| before.rfind('{')) else {
        return Err(ReadError::at(text, from + mark, "`{` is missing before this".to_owned()));
    };
    let begin = from + open;
    let rest = text.get(begin..).unwrap_or_default();
    let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Document>();
    let (mut document, is_cut) = match stream.next() {
        Some(Ok(document)) => (document, false),
        Some(Err(error)) => {
            let cut = || ["jobs", "client_stats"].iter().find_map(|list| whole_part(rest, list));
            let whole = if error.is_eof() { cut() } else { None };
            let whole = whole.and_then(|whole| serde_json::from_str(&whole).ok());
            let nothing = (error.is_eof() && from > 0).then(|| Document::of_text(""));
            (whole.or(nothing).ok_or_else(|| ReadError::json(text, begin, &error))?, true)
        }
        None => return Ok(None),
    };
    document.settle();
    let end = if is_cut { text.len() } else { begin + stream.byte_offset() };
    let passed = text.get(known.byte..begin).unwrap_or_default().matches('\n').count();
    let begin_at = Place { byte: begin, line: known.line + passed };
    let hash = crate::foreign::fnv_1a(text.get(begin..end).unwrap_or_default());
    Ok(Some(Part { document, begin: begin_at, hash, end, is_cut }))
}

fn measurements(part: &Part, file: &str, read: &str, found: &mut ForeignRuns) {
    let document = &part.document;
    if document.version.contains("(iosonde ") {
        let line = part.begin.line;
        found.notes.push(format!(
            "line {line}: a result of iosonde in the shape of fio's; import what `--json` or \
             `history export` gives instead"
        ));
        return;
    }
    if document.jobs().next().is_none() {
        found.notes.push(format!("line {}: the result has no jobs", part.begin.line));
    }
    for (number, job) in document.jobs().enumerate() {
        let name = &job.name;
        if job.is_sum() {
            found.notes.push(format!(
                "line {}: `{name}` is the sum of the others; left out",
                part.begin.line
            ));
            continue;
        }
        if job.ios() == 0 {
            found
                .notes
                .push(format!("line {}: the job `{name}` did no I/O; left out", part.begin.line));
            continue;
        }
        let place = format!("{:016x} {number}", part.hash);
        let mut measurement = measurement(document, job, file, &place, read);
        if document.version.trim_start_matches("fio-").starts_with(['0', '1', '2']) {
            measurement
                .checks
                .warnings
                .push(format!("`{}` is older than what is known here: fio 3", document.version));
        }
        found.measurements.push(measurement);
    }
}

/// The warning on a job whose options are not in the file.
const UNKNOWN_LOAD: &str = "nobody knows which load these figures are of, because fio did not \
                            write the options of the job: they are compared with nothing";

/// Removes the load from a measurement, because it is unknown.
fn forget_load(m: &mut Measurement) {
    m.workload.streams.clear();
    m.workload.targets.clear();
    m.streams.clear();
    m.targets.clear();
    (m.threads, m.depth, m.in_flight) = (0, None, 0);
}

/// The remark on figures that the options contradict.
const OF_A_GROUP: &str = "The figures are those of several jobs (group_reporting), of which fio \
                          writes the options of one: their load is not known";
/// The same, of a text, which does not say whether writes were verified.
const OF_A_GROUP_OR_VERIFIED: &str = "The figures are those of several jobs (group_reporting), or \
                                      have reads that verify writes (verify): their load is not \
                                      known";

fn measurement(document: &Document, job: &Job, file: &str, place: &str, read: &str) -> Measurement {
    let started = document.started(job).unwrap_or_default();
    let options = Options::of(&document.global, &job.options);
    let command_line = options.command_line(&job.name);
    let together = document.jobs().filter(|j| j.name == job.name && j.group == job.group).count();
    let jobs = options.jobs().max(1);
    // Jobs of the same name that are not next to each other are one thread each.
    let threads = if together > 1 { 1 } else { jobs };
    let (mut workload, mut warnings) = options.workload(&job.name, threads);
    let untold = document.global.is_empty() && job.options.is_empty();
    if untold {
        workload.streams.clear();
        workload.targets.clear();
        warnings = vec![UNKNOWN_LOAD.to_owned()];
    }
    let mut job = job.clone();
    let of_writes = options.verification().leave_out(&mut job, &workload);
    warnings.extend(of_writes.as_ref().ok().into_iter().flatten().cloned());
    let job = &job;
    workload.seconds = job.seconds();
    let figures = figures::of(job, &mut warnings);
    if job.error != 0 {
        warnings.push(format!("fio ended the job with error {}", job.error));
    }
    if document.is_old() {
        warnings.extend(job.doubts());
    }
    let largest = workload.streams.iter().map(workload::Stream::largest_block).max().unwrap_or(0);
    let printed = figures::printed(job, workload.in_flight().saturating_mul(largest));
    let unlike = of_writes.err().or_else(|| unlike(document, job, &workload));
    let of_block = contradictions(&printed, &workload).into_iter().find(Contradiction::is_of_block);
    let of_block = of_block.filter(|_| unlike.is_none());
    let unlike = unlike.or_else(|| of_block.as_ref().map(|_| OF_A_GROUP.to_owned()));
    if let Some(unlike) = &unlike {
        warnings.push(unlike.clone());
        workload.streams.clear();
        workload.targets.clear();
    }
    let run = Run {
        origin: Origin {
            tool: "fio".to_owned(),
            tool_version: Some(document.version.trim_start_matches("fio-").to_owned()),
            file: Some(file.to_owned()),
            command_line: (!untold && unlike.is_none()).then_some(command_line),
            ..Origin::default()
        },
        started,
        status: if job.error == 0 { Status::Complete } else { Status::Failed },
        target_bytes: workload.targets.iter().map(|t| t.size_bytes.map_or(0, |b| b.0)).collect(),
        host: job.hostname.clone(),
        seconds: job.seconds(),
        total: figures.total,
        read: figures.read,
        write: figures.write,
        printed,
        warnings,
        workload,
    };
    let mut measurement = run.measurement(place, read);
    measurement.checks.contradictions.extend(of_block);
    measurement.engine.features = options.engine().map(str::to_owned).into_iter().collect();
    measurement.cpu = cpu(job, &measurement.total);
    measurement.sync = figures.sync.clone();
    let of_streams = measurement.streams.iter_mut().map(|result| &mut result.sync);
    let of_targets = measurement.targets.iter_mut().map(|result| &mut result.sync);
    of_streams.chain(of_targets).for_each(|sync| sync.clone_from(&figures.sync));
    measurement
}

/// Why the counts are not those of the load that the options ask for.
fn unlike(document: &Document, job: &Job, load: &Workload) -> Option<String> {
    let why = if document.is_text { OF_A_GROUP_OR_VERIFIED } else { OF_A_GROUP };
    job.unlike(load).map(|unlike| format!("{unlike}. {why}"))
}

/// fio tells CPU as percent of the time that its jobs ran, all of them together.
fn cpu(job: &Job, total: &Statistics) -> Cpu {
    let (Some(user), Some(system)) = (job.usr_cpu, job.sys_cpu) else { return Cpu::default() };
    let seconds = job.runtime_ms.map_or_else(|| job.seconds(), |ms| ms.0 / 1e3);
    let (user_s, system_s) = (user.0 / 100.0 * seconds, system.0 / 100.0 * seconds);
    let each = |s: f64| (total.ios > 0).then(|| s * 1e6 / total.ios as f64);
    Cpu {
        user_s: Some(user_s),
        system_s: Some(system_s),
        user_us_per_io: each(user_s),
        total_us_per_io: each(user_s + system_s),
        ..Cpu::default()
    }
}

impl Options {
    /// The options as they would be on a command line.
    fn command_line(&self, name: &str) -> String {
        let mut line = format!("fio --name={name}");
        for (option, value) in self.iter().filter(|(option, _)| *option != "name") {
            let _ = match value {
                "" => write!(line, " --{option}"),
                value => write!(line, " --{option}={value}"),
            };
        }
        line
    }
}
