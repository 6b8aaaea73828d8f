//! Every kind of input that people give iosonde, and what reads it.

use std::path::{Path, PathBuf};
use std::process::Command;

use analysis::cause::Link;
use analysis::claims::Expectation;
use databases::DatabaseUrl;
use dialects::WorkloadFile;
use dialects::convert;
use dialects::diskspd::command::{Call, Reading};
use dialects::drives::{Drive, Drives};
use dialects::fio::jobs::Environment;
use dialects::{diskspd, recognise, sqlio, sqliosim, text};
use history::{History, Place, check_import};
use monitor::Alert;
use monitor::attach::Attached;
use monitor::foreign::Reading as RecordingReading;
use results::verdict::Database;
use results::{Document, Histogram};
use trace::{CsvReader, EtwReader, FioReader, Layout};
use workload::{Bytes, Nanoseconds, parse_blocks, parse_cpus, parse_distribution, sweep};

use super::fixtures::{self, READ_AT, field, files, texts};
use crate::linux::Error;

/// Cells, parts and the like of one input that are looked at: as many as a person would.
const PARTS_MAX: usize = 50;
/// Cells of a plan that are made. The program refuses to measure more than people wait for.
const CELLS_MAX: u64 = 20_000;
/// What the program may have of memory, in KiB, and of time.
const PROGRAM_KIB: u64 = 1 << 20;
const PROGRAM_SECONDS: u32 = 20;

/// What readers need in addition to the input.
pub(super) struct Around {
    pub directory: PathBuf,
    pub iosonde: PathBuf,
    drives: Drives,
    history: History,
}

type Read = fn(&Around, &[u8]);

/// A kind of input, and its reader.
pub(super) struct Kind {
    pub name: &'static str,
    pub fixtures: Vec<Vec<u8>>,
    pub read: Read,
}

impl Around {
    pub(super) fn new(directory: &Path, iosonde: &Path) -> Result<Self, Error> {
        let drives = ["E=/mnt/e", "F=/mnt/f", "C=/c", "1=/dev/sdz"];
        let drives = drives.iter().map(|d| d.parse()).collect::<Result<Vec<Drive>, _>>()?;
        let history = History::open(&Place::File(directory.join("history.db")))?;
        let (directory, iosonde) = (directory.to_owned(), iosonde.to_owned());
        Ok(Self { directory, iosonde, drives: Drives::new(drives), history })
    }
}

/// All kinds, with what their inputs are made from.
pub(super) fn all(directory: &Path) -> Result<Vec<Kind>, Error> {
    let documents = fixtures::documents()?;
    let json = documents.iter().map(serde_json::to_vec).collect::<Result<Vec<_>, _>>()?;
    let exported = fixtures::exported(&documents, directory)?;
    let histograms = histograms(&documents);
    let icf = files("dialects/tests/it/iometer", "icf")?;
    let profiles = [
        field("dialects/tests/it/diskspd/profiles.jsonl", "xml")?,
        files("dialects/tests/it/diskspd_results", "xml")?,
    ];
    let commands = field("dialects/tests/it/diskspd/command_lines.jsonl", "words")?;
    let text_profiles = field("dialects/tests/it/diskspd/profile_texts.jsonl", "words")?;
    let results =
        |directory: &str, ending| files(&format!("dialects/tests/it/{directory}"), ending);
    let program = [fixtures::foreign()?, json.clone(), vec![exported.clone()]].concat();
    let kind = |name, fixtures, read: Read| Kind { name, fixtures, read };
    Ok(vec![
        kind("fio-job", texts(&fixtures::JOBS), |a, b| convert(a, "fio", b)),
        kind("fio-json", results("fio", "json")?, import),
        kind("fio-text", results("fio", "txt")?, import),
        kind("fio-normal", results("fio_text", "txt")?, import),
        kind("diskspd-text", results("diskspd_results", "txt")?, import),
        kind("diskspd-xml", results("diskspd_results", "xml")?, import),
        kind("diskspd-profile", profiles.concat(), |a, b| convert(a, "diskspd", b)),
        kind("diskspd-command", [commands, text_profiles].concat(), diskspd_command),
        kind("iometer-icf", icf, |a, b| convert(a, "icf", b)),
        kind("iometer-csv", results("iometer", "csv")?, import),
        kind("sqlio-text", results("sqlio", "txt")?, import),
        kind("sqlio-batch", texts(&fixtures::BATCHES), sqlio_batch),
        kind("sqlio-powershell", texts(&fixtures::POWER_SCRIPTS), sqlio_batch),
        kind("sqlio-parameters", texts(&fixtures::PARAMETERS), |_, b| {
            let _ = sqlio::parameters("param.txt", &text::decode(b));
        }),
        kind("sqlio-command", texts(&fixtures::SQLIO_COMMANDS), |_, b| {
            let _ = sqlio::parse(&words(b));
        }),
        kind("sqliosim-ini", fixtures::sqliosim_files()?, sqliosim_file),
        kind("sqliosim-log", results("sqliosim", "xml")?, sqliosim_log),
        kind("sysstat-text", files("monitor/tests/it/foreign", "txt")?, foreign_recording),
        kind("perfmon-csv", files("monitor/tests/it/foreign", "csv")?, foreign_recording),
        kind("sqliosim-command", texts(&fixtures::SQLIOSIM_COMMANDS), |_, b| {
            let _ = sqliosim::parse(&words(b));
        }),
        kind("workload-toml", texts(&fixtures::WORKLOADS), |a, b| convert(a, "toml", b)),
        kind("sweep-plan", fixtures::presets(), sweep_plan),
        kind("validate-plan", texts(&fixtures::PLANS), |_, b| {
            let _ = integrity::read_plan(&lossy(b), &integrity::Plan::default());
        }),
        kind("claims", texts(&fixtures::CLAIMS), |_, b| {
            let _ = survey::parse_claims(&lossy(b), Database::Generic);
        }),
        kind("limits", texts(&fixtures::LIMITS), |_, b| {
            let _ = survey::parse_limits(&lossy(b), Database::SqlServer);
        }),
        kind("values", texts(&fixtures::VALUES), values),
        kind("series-csv", texts(&fixtures::SERIES), |_, b| {
            let _ = Attached::parse(&lossy(b));
        }),
        kind("histogram", histograms, |_, b| {
            let _ = Histogram::decode(&lossy(b));
        }),
        kind("trace-text", texts(&fixtures::TRACES), trace_text),
        kind("trace-file", vec![fixtures::trace_file()?], trace_file),
        kind("result-json", json, document),
        kind("history-lines", vec![exported], history_lines),
        kind(PROGRAM, program, program_run),
    ])
}

/// The kind that starts the program itself, and is slower than the others by far.
pub(super) const PROGRAM: &str = "program";

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn words(bytes: &[u8]) -> Vec<String> {
    lossy(bytes).split_whitespace().map(str::to_owned).collect()
}

/// The histograms in the documents, as they are written.
fn histograms(documents: &[Document]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for measurement in documents.iter().flat_map(Document::measurements) {
        found.extend(measurement.total.histogram.clone().map(String::into_bytes));
    }
    found
}

/// Reads a file that holds workloads, and writes what it says as every other kind.
fn convert(around: &Around, kind: &str, bytes: &[u8]) {
    let _ = convert::kind_of_text(&text::decode(bytes));
    let read = |kind: &WorkloadFile| (kind.read)(bytes, &around.drives, Environment::NOTHING).ok();
    let Some(parts) = convert::kind(kind).and_then(read) else { return };
    for index in 0..parts.len().min(PARTS_MAX) {
        let Some(Ok(part)) = parts.part(index) else { continue };
        let _ = part.workload.violations();
        for other in convert::kinds() {
            let _ = (other.write)(&part.workload);
        }
    }
}

fn import(_: &Around, bytes: &[u8]) {
    let Ok(Some(found)) = recognise::recognise(bytes, "input", READ_AT) else { return };
    let all = found.measurements.into_iter().take(PARTS_MAX);
    show(&all.map(|m| Document::Measurement(Box::new(m))).collect::<Vec<_>>());
}

/// Writes documents in every format but those that draw pictures.
fn show(documents: &[Document]) {
    let report = report::build(documents);
    let _ = report::html::page(&report);
    let _ = report::csv::text(&report);
    let _ = report::markdown::text(&report);
    let _ = report::xlsx::workbook(&report);
    let _ = report::fio::text(documents);
    for document in documents {
        let _ = report::text::document(document);
    }
}

fn trace_text(_: &Around, bytes: &[u8]) {
    for layout in [Layout::MsrCambridge, Layout::Alibaba, Layout::Systor, Layout::Spc] {
        let _ = CsvReader::new(bytes, layout).count();
    }
    let _ = (EtwReader::new(bytes).count(), FioReader::new(bytes).count());
}

fn trace_file(_: &Around, bytes: &[u8]) {
    let _ = (trace::Annexes::read(bytes), trace::Reader::new(bytes).map(Iterator::count));
}

fn document(_: &Around, bytes: &[u8]) {
    let Ok(document) = Document::parse(&lossy(bytes)) else { return };
    let mut documents = vec![document];
    show(&documents);
    let _ = report::redact::redact(&mut documents);
}

fn history_lines(around: &Around, bytes: &[u8]) {
    if check_import(bytes).is_ok() {
        let _ = around.history.import(bytes);
    }
}

fn diskspd_command(around: &Around, bytes: &[u8]) {
    for lenient in [false, true] {
        let call = diskspd::command::parse(&words(bytes), Reading { clock: 1, lenient });
        let Ok(Call::Profile(line)) = call else { continue };
        for span in &line.profile.time_spans {
            let _ = diskspd::job::job(span, &around.drives);
        }
        let mut out = String::new();
        line.profile.write_text(&mut out);
        line.profile.write_xml(&mut out, 0);
    }
}

fn sqlio_batch(_: &Around, bytes: &[u8]) {
    let environment = |name: &str| (name == "COMPUTERNAME").then(|| "DB7".to_owned());
    let arguments = ["60".to_owned(), "E:\\t.dat".to_owned()];
    let around = sqlio::script::Around {
        arguments: &arguments,
        ..sqlio::script::Around::variables(&environment)
    };
    let text = text::decode(bytes);
    let _ = (sqlio::script::script(&text, &around), sqlio::script::power_script(&text, &around));
}

fn sqliosim_file(_: &Around, bytes: &[u8]) {
    let Ok(reading) = sqliosim::read("input.ini", &text::decode(bytes)) else { return };
    let _ = reading.config.violations();
    let _ = sqliosim::write(&reading.config);
}

fn sqliosim_log(_: &Around, bytes: &[u8]) {
    let found = sqliosim::recording(&text::decode(bytes), "input", READ_AT);
    show(&found.map(|(one, _)| Document::Recording(Box::new(one))).into_iter().collect::<Vec<_>>());
}

fn foreign_recording(_: &Around, bytes: &[u8]) {
    let (zone, interval_seconds) = (jiff::tz::TimeZone::UTC, Some(5.0));
    let reading = RecordingReading { file: "input", read: READ_AT, zone, interval_seconds };
    let Ok(Some(found)) = monitor::foreign::recognise(&text::decode(bytes), &reading) else {
        return;
    };
    let all = found.documents.into_iter().take(PARTS_MAX);
    show(&all.map(|one| Document::Recording(Box::new(one))).collect::<Vec<_>>());
}

fn sweep_plan(_: &Around, bytes: &[u8]) {
    let Ok(plan) = sweep::Plan::from_toml(&lossy(bytes)) else { return };
    if !plan.violations().is_empty() || plan.count() > CELLS_MAX {
        return;
    }
    for cell in plan.sequence().iter().take(PARTS_MAX) {
        let _ = plan.workload(cell, 0).violations();
    }
    let _ = (plan.groups(), plan.id(), plan.to_toml());
}

fn values(_: &Around, bytes: &[u8]) {
    for line in lossy(bytes).lines().take(1000) {
        let _ = (line.parse::<Bytes>(), line.parse::<Nanoseconds>());
        let _ = (parse_blocks(line), parse_distribution(line), parse_cpus(line));
        let _ = (line.parse::<Drive>(), line.parse::<Alert>(), line.parse::<Link>());
        let _ = (line.parse::<Expectation>(), line.parse::<survey::LatencyTarget>());
        let _ = (DatabaseUrl::parse(line), history::place(Some(line.into())));
        let _ = (history::check_tag(line), Histogram::decode(line));
    }
}

/// Has the program import and report a file, with as much memory and time as it may have.
fn program_run(around: &Around, bytes: &[u8]) {
    let path = around.directory.join("input");
    let history = around.directory.join("program.db");
    let report = around.directory.join("report.md");
    std::fs::write(&path, bytes).expect("the temporary directory can be written");
    let _ = std::fs::remove_file(&report);
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let import =
        ["history", "import", "--history", &text(&history), &text(&path)].map(str::to_owned);
    let show = ["report", &text(&path), "--output", &text(&report)].map(str::to_owned);
    for arguments in [import.as_slice(), &show] {
        let script =
            format!("ulimit -v {PROGRAM_KIB}; exec timeout -s KILL {PROGRAM_SECONDS} \"$@\"");
        let output = Command::new("sh")
            .args(["-c", &script, "sh"])
            .arg(&around.iosonde)
            .args(arguments)
            .output()
            .expect("there is a shell");
        let code = output.status.code();
        assert!(
            code.is_some_and(|code| (0..=4).contains(&code)),
            "`iosonde {}` ended with {}: {}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlio::script::Around;

    /// Why a text was refused, if it was.
    fn wrong<T, E: std::fmt::Display>(text: &str, read: Result<T, E>) -> Option<String> {
        read.err().map(|error| format!("{text}\n-> {error}"))
    }

    /// Changes of a text that is refused anyway would only test the refusal.
    #[test]
    fn fixtures_of_our_own_are_read() {
        let drives = Drives::new(vec!["E=/mnt/e".parse().unwrap()]);
        let environment = |_: &str| Some("DB7".to_owned());
        let plan = integrity::Plan::default();
        let words = |text: &str| words(text.as_bytes());
        let convert = |kind, text: &str| {
            (convert::kind(kind).unwrap().read)(text.as_bytes(), &drives, Environment::NOTHING)
        };
        let ini: Vec<String> =
            fixtures::sqliosim_files().unwrap().iter().map(|bytes| lossy(bytes)).collect();
        let refused: Vec<String> = [
            fixtures::JOBS.map(|t| wrong(t, convert("fio", t))).to_vec(),
            fixtures::WORKLOADS.map(|t| wrong(t, convert("toml", t))).to_vec(),
            fixtures::BATCHES
                .map(|t| wrong(t, sqlio::script::script(t, &Around::variables(&environment))))
                .to_vec(),
            fixtures::POWER_SCRIPTS
                .map(|t| wrong(t, sqlio::script::power_script(t, &Around::variables(&environment))))
                .to_vec(),
            fixtures::PARAMETERS.map(|t| wrong(t, sqlio::parameters("p", t))).to_vec(),
            fixtures::SQLIO_COMMANDS.map(|t| wrong(t, sqlio::parse(&words(t)))).to_vec(),
            fixtures::SQLIOSIM_COMMANDS.map(|t| wrong(t, sqliosim::parse(&words(t)))).to_vec(),
            ini.iter().map(|t| wrong(t, sqliosim::read("f", t))).collect(),
            fixtures::PLANS.map(|t| wrong(t, integrity::read_plan(t, &plan))).to_vec(),
            fixtures::CLAIMS.map(|t| wrong(t, survey::parse_claims(t, Database::Generic))).to_vec(),
            fixtures::LIMITS.map(|t| wrong(t, survey::parse_limits(t, Database::Generic))).to_vec(),
            fixtures::SERIES.map(|t| wrong(t, Attached::parse(t))).to_vec(),
        ]
        .concat()
        .into_iter()
        .flatten()
        .collect();
        assert!(refused.is_empty(), "{}", refused.join("\n\n"));
    }

    #[test]
    fn documents_and_exports_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let documents = fixtures::documents().unwrap();
        assert!(documents.len() > 20, "{}", documents.len());
        for document in &documents {
            Document::parse(&serde_json::to_string(document).unwrap()).unwrap();
        }
        let exported = fixtures::exported(&documents, directory.path()).unwrap();
        check_import(exported.as_slice()).unwrap();
        let histograms = histograms(&documents);
        assert!(!histograms.is_empty());
        for text in histograms {
            Histogram::decode(&lossy(&text)).unwrap();
        }
    }
}
