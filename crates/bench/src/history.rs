//! How long the history takes to answer, and how much memory: a store of a million measurements,
//! made here.
//!
//! Some ten thousand measurements with series and histograms are kept as iosonde keeps them. Copies
//! of their rows with other ids, dates, hosts and loads, made within SQLite, are the rest: the
//! store is filled in minutes instead of hours.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use clap::Args;
use engine::Permissions;
use history::{By, Filter, History, Order, Page, Place};
use results::{Document, Experiment, Measurement, Runs, Status};
use survey::{Lab, LabContext, Setup, Timing};
use workload::{Block, Bytes, EngineChoice, Mode, Nanoseconds, Pattern, SimDevice, Stream, Target};

use crate::linux::{Error, machine};
use crate::pages;

/// Times that each question is asked; the median counts.
const TIMES: usize = 21;
/// Measurements that are kept in the ordinary way.
const KEPT: u64 = 10_000;
/// Measurements of the experiments, in turn: mostly single runs, some repeated, a few sweeps.
const SHAPES: [u32; 10] = [1, 1, 5, 1, 20, 1, 1, 5, 1, 64];

/// Flags of `history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Measurements in the store
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    measurements: u64,

    /// Where the store goes, which is removed afterwards; it takes some 8 KiB per measurement
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,

    /// Leave the store there, and use it where it is there
    #[arg(long)]
    keep: bool,
}

/// Fills a store, asks it, and gives the figures as a table.
pub(crate) fn run(args: &HistoryArgs) -> Result<String, Error> {
    let directory = match &args.directory {
        Some(directory) => {
            tempfile::Builder::new().prefix("iosonde-bench-").tempdir_in(directory)?
        }
        None => tempfile::tempdir()?,
    };
    let path = match &args.directory {
        Some(directory) if args.keep => directory.join("history.db"),
        _ => directory.path().join("history.db"),
    };
    if !path.exists() {
        let begun = Instant::now();
        fill(&path, args.measurements)?;
        eprintln!("filled in {:.0} s", begun.elapsed().as_secs_f64());
    }
    ask(&path)
}

/// Puts the table in the place of the one that is on a page, or at its end.
pub(crate) fn write(table: &str, output: &Path) -> Result<(), Error> {
    let text = format!(
        "Written by `./x bench history --output docs/performance.md`. Each query runs {TIMES} \
         times after opening, with the store in\nthe system's memory. From a disk that had not \
         been read before, the first query over all rows took up to 1.0 s.\n\n{}",
        table.trim_end()
    );
    machine::put_apart(output, "## The history", &text)
}

/// A measurement of a simulated device, with a series and histograms.
fn measured(stream: Stream) -> Result<Measurement, Error> {
    let sim = SimDevice { servers: 8, read_ns: Nanoseconds(100_000), ..SimDevice::default() };
    let setup = Setup {
        targets: vec![Target { path: "/data".into(), size_bytes: Some(Bytes(1 << 30)) }],
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(sim),
        mode: Mode::Direct,
        seed: 1,
        timing: Timing { seconds: 10.0, warmup_seconds: 0.0, precision: None, settle_seconds: 0.0 },
    };
    let stop = AtomicBool::new(false);
    let mut quiet = |_: survey::Progress<'_>| ();
    let mut lab = Lab::open(setup, &stream, LabContext::new(&stop, &mut quiet))?;
    lab.measure(vec![stream]).ok_or_else(|| "a load was not measured".into())
}

fn loads() -> Result<Vec<Measurement>, Error> {
    let mut loads = Vec::new();
    for pattern in [Pattern::Random, Pattern::Sequential] {
        for write_percent in [0, 30, 100] {
            for (bytes, depth) in [(8192, 1), (8192, 32), (65536, 8), (1 << 20, 2)] {
                let blocks = vec![Block { bytes: Bytes(bytes), weight: 1 }];
                let stream = Stream { pattern, write_percent, blocks, depth, ..Stream::default() };
                loads.push(measured(stream)?);
            }
        }
    }
    Ok(loads)
}

/// Keeps measurements as iosonde does, until there are so many; how many there are.
fn keep(history: &History, loads: &[Measurement], wanted: u64) -> Result<u64, Error> {
    let mut count = 0;
    for (number, shape) in SHAPES.iter().cycle().enumerate() {
        if count >= wanted {
            break;
        }
        let id = format!("c0000-{number:06}");
        let started = format!(
            "2026-{:02}-{:02}T{:02}:00:00Z",
            number / 700 % 12 + 1,
            number / 24 % 28 + 1,
            number % 24
        );
        let measurements: Vec<Measurement> = (0..*shape)
            .map(|n| {
                let mut m = loads[(number + n as usize) % loads.len()].clone();
                m.id = if *shape == 1 { id.clone() } else { format!("{id}-{n}") };
                m.started.clone_from(&started);
                m.total.iops *= 1.0 + f64::from(n) / 100.0;
                m
            })
            .collect();
        count += u64::from(*shape);
        history.add(&document(&id, &started, measurements))?;
    }
    Ok(count)
}

fn document(id: &str, started: &str, mut measurements: Vec<Measurement>) -> Document {
    if measurements.len() == 1 {
        return Document::Measurement(Box::new(measurements.remove(0)));
    }
    let figures: Vec<f64> = measurements.iter().map(|m| m.total.iops).collect();
    Document::Runs(Box::new(Experiment {
        plan: None,
        schema: "iosonde.runs/1".to_owned(),
        id: id.to_owned(),
        tool_version: measurements[0].tool_version.clone(),
        started: started.to_owned(),
        finished: started.to_owned(),
        status: Status::Complete,
        targets: vec!["/data".into()],
        file_bytes: measurements[0].file_bytes,
        environment: measurements[0].environment.clone(),
        conclusion: Runs {
            title: measurements[0].workload.title(),
            asked: u32::try_from(measurements.len()).unwrap_or(u32::MAX),
            trust: survey::Publish::publish(analysis::noise::trust(&figures, None)),
        },
        measurements,
        method: Vec::new(),
        warnings: Vec::new(),
    }))
}

/// Makes a store of so many measurements.
fn fill(path: &Path, wanted: u64) -> Result<(), Error> {
    let history = History::open(&Place::File(path.to_owned()))?;
    let loads = loads()?;
    let kept = history.all_or_nothing(|| keep(&history, &loads, KEPT.min(wanted)))?;
    drop(history);
    let sqlite = rusqlite::Connection::open(path)?;
    sqlite.execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -20000;")?;
    let max = |table: &str| -> Result<i64, Error> {
        Ok(sqlite.query_row(&format!("SELECT max(number) FROM {table}"), [], |row| row.get(0))?)
    };
    let (experiments, measurements) = (max("experiments")?, max("measurements")?);
    for copy in 1..wanted.div_ceil(kept) {
        eprint!("\r{} measurements", copy * kept);
        let copy = i64::try_from(copy)?;
        let (by_experiments, by_measurements) = (copy * experiments, copy * measurements);
        sqlite.execute_batch(&format!(
            "BEGIN;\n{}\nCOMMIT;",
            copies(copy, experiments, measurements, by_experiments, by_measurements)
        ))?;
    }
    eprintln!();
    sqlite.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")?;
    Ok(())
}

/// The statements that copy every row that was kept, under other names.
fn copies(copy: i64, experiments: i64, measurements: i64, e: i64, m: i64) -> String {
    let of = |table: &str, changed: &[(&str, &str)], condition: &str| {
        let names: Vec<&str> = changed.iter().map(|(name, _)| *name).collect();
        let values: Vec<&str> = changed.iter().map(|(_, value)| *value).collect();
        format!(
            "INSERT INTO {table} ({}) SELECT {} FROM {table} WHERE {condition};\n",
            names.join(", "),
            values.join(", ")
        )
    };
    let number_e = format!("number + {e}");
    let id = format!("replace(id, 'c0000', 'c{copy:04}')");
    let started = format!("strftime('%Y-%m-%dT%H:%M:%SZ', started, '-{} hours')", copy * 31);
    let host = format!("'db' || ((number * 7 + {copy}) % 40)");
    let target = format!("'/data' || ((number + {copy}) % 7)");
    let experiment = format!("experiment + {e}");
    let number_m = format!("number + {m}");
    let measurement = format!("measurement + {m}");
    let text = format!("replace(document, 'c0000', 'c{copy:04}')");
    let same = |names: &'static str| names.split(' ').map(|name| (name, name));
    let mut sql = String::new();
    let mut columns = vec![("number", number_e.as_str()), ("id", &id), ("started", &started)];
    columns.extend([("finished", started.as_str()), ("host", &host), ("targets", &target)]);
    let words = format!("replace(words, 'c0000', 'c{copy:04}') || ' ' || {host}");
    columns.push(("words", &words));
    columns.extend(same(
        "schema kind title status plan_id tool_version device engine file_bytes measurements \
         best_iops best_mib_per_s",
    ));
    sql.push_str(&of("experiments", &columns, &format!("number <= {experiments}")));
    let columns = [("experiment", experiment.as_str()), ("plan", "plan"), ("document", &text)];
    sql.push_str(&of("documents", &columns, &format!("experiment <= {experiments}")));
    let mut columns = vec![("number", number_m.as_str()), ("experiment", &experiment)];
    columns.extend([
        ("id", id.as_str()),
        ("started", &started),
        ("host", &host),
        ("target", &target),
    ]);
    columns.extend(same(
        "cell status tool_version environment device engine load conditions_id pattern \
         write_percent block_bytes threads depth in_flight achieved_in_flight file_bytes direct \
         durable seconds ios bytes iops mib_per_s read_iops write_iops latency_min_ns \
         latency_mean_ns latency_stddev_ns latency_p50_ns latency_p90_ns latency_p95_ns \
         latency_p99_ns latency_p99_9_ns latency_p99_99_ns latency_p99_999_ns latency_max_ns \
         read_latency_mean_ns write_latency_mean_ns errors cpu_us_per_io",
    ));
    let condition = format!("number <= {measurements}");
    sql.push_str(&of("measurements", &columns, &condition));
    let condition = format!("measurement <= {measurements}");
    let columns = [("measurement", measurement.as_str()), ("document", &text)];
    sql.push_str(&of("measurement_documents", &columns, &condition));
    let mut columns = vec![("measurement", measurement.as_str())];
    columns.extend(same(
        "part number t seconds read_iops write_iops read_mib_per_s write_mib_per_s read_mean_ns \
         write_mean_ns read_p99_ns write_p99_ns max_ns errors",
    ));
    sql.push_str(&of("series", &columns, &condition));
    let mut columns = vec![("measurement", measurement.as_str())];
    columns.extend(same("place same_as histogram"));
    sql.push_str(&of("histograms", &columns, &condition));
    let tagged = format!(
        "INSERT INTO tags (experiment, tag) SELECT number, 'baseline-' || ({copy} % 10) FROM \
         experiments WHERE number > {e} AND number % 50 = 0;\n"
    );
    sql.push_str(&tagged);
    sql
}

/// The name of a query, and the query, which returns a number, most often that of the rows found.
type Question = (&'static str, Box<dyn Fn(&History) -> Result<u64, Error>>);

fn list(name: &'static str, filter: Filter, order: Order, page: Page) -> Question {
    (name, Box::new(move |history| Ok(history.list(&filter, order, page)?.entries.len() as u64)))
}

fn rows(name: &'static str, filter: Filter, page: Page) -> Question {
    (name, Box::new(move |history| Ok(history.loads(&filter, Order::NEWEST, page)?.len() as u64)))
}

/// Lists with the filters that people use.
fn lists() -> Vec<Question> {
    let (all, first) = (Filter::default, Page::default());
    let some = |text: &str| Some(text.to_owned());
    let newest = Order::NEWEST;
    vec![
        list("list, first page", all(), newest, first),
        list("list, page 1000", all(), newest, Page { offset: 50_000, limit: 50 }),
        list("list by IOPS", all(), Order { by: By::Iops, rising: false }, first),
        list("list of a host", Filter { host: some("db7"), ..all() }, newest, first),
        list("list of a target", Filter { target: some("/data3"), ..all() }, newest, first),
        list("list of a tag", Filter { tag: some("baseline-3"), ..all() }, newest, first),
        list("list of a pattern", Filter { pattern: some("random"), ..all() }, newest, first),
        list(
            "list of a load",
            Filter { block_bytes: Some(65536), write_percent: Some(30), ..all() },
            newest,
            first,
        ),
        list(
            "list of a load that nobody ran",
            Filter { block_bytes: Some(7), ..all() },
            newest,
            first,
        ),
        list(
            "list of a word that many have",
            Filter { text: some("random"), ..all() },
            newest,
            first,
        ),
        list("list of a word that few have", Filter { text: some("db39"), ..all() }, newest, first),
        list(
            "list of a word that none has",
            Filter { text: some("nothing"), ..all() },
            newest,
            first,
        ),
        list(
            "list of a month",
            Filter { since: some("2026-01"), until: some("2026-02"), ..all() },
            newest,
            first,
        ),
    ]
}

/// Single results, and rows of measurements.
fn results_and_rows(one: &str, many: String, conditions: String) -> Vec<Question> {
    let (all, first) = (Filter::default, Page::default());
    let some = |text: &str| Some(text.to_owned());
    let id = one.to_owned();
    let beginning: String = one.chars().take(one.len() - 1).collect();
    vec![
        ("find by an id", Box::new(move |history| Ok(u64::from(history.find(&id)?.measurements)))),
        (
            "find by a beginning that is not clear",
            Box::new(move |history| Ok(history.find(&beginning).map_or_else(|_| 1, |_| 0))),
        ),
        (
            "find the latest",
            Box::new(|history| Ok(u64::from(history.find("latest")?.measurements))),
        ),
        (
            "the result of 64 measurements",
            Box::new(move |history| {
                Ok(history.document(&many)?.map_or(0, |d| d.measurements().len() as u64))
            }),
        ),
        rows("rows of the newest", all(), first),
        rows(
            "rows of equal conditions",
            Filter { conditions_id: Some(conditions), ..all() },
            Page { offset: 0, limit: 500 },
        ),
        rows(
            "rows of a host and pattern",
            Filter { host: some("db7"), pattern: some("random"), ..all() },
            first,
        ),
    ]
}

/// Asks everything, and gives the table.
fn ask(path: &Path) -> Result<String, Error> {
    // From here on counts the peak of this process.
    fs::write("/proc/self/clear_refs", "5")?;
    let begun = Instant::now();
    let history = History::open_existing(&Place::File(path.to_owned()))?;
    let opened = begun.elapsed();
    let total =
        history.list(&Filter::default(), Order::NEWEST, Page { offset: 0, limit: 1 })?.total;
    let one = history.find("latest")?;
    let page = Page { offset: 0, limit: 100 };
    let found = history.list(&Filter::default(), Order::NEWEST, page)?.entries;
    let many = found.iter().max_by_key(|entry| entry.measurements).ok_or("the store is empty")?;
    let load = history.loads(&Filter::default(), Order::NEWEST, Page { offset: 0, limit: 1 })?;
    let conditions = load.first().ok_or("the store is empty")?.conditions_id.clone();
    let mut text = String::from("| question | answers | median | slowest |\n|---|---|---|---|\n");
    writeln!(text, "| open | | {:.1} ms | |", opened.as_secs_f64() * 1e3)?;
    let single = results_and_rows(&one.id, many.id.clone(), conditions);
    for (name, question) in lists().into_iter().chain(single) {
        let mut times = Vec::new();
        let mut answers = 0;
        for _ in 0..TIMES {
            let begun = Instant::now();
            answers = question(&history)?;
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let (median, slowest) = (times[TIMES / 2], times[TIMES - 1]);
        writeln!(text, "| {name} | {answers} | {median:.1} ms | {slowest:.1} ms |")?;
    }
    drop(history);
    text.push_str(&pages::ask(path, TIMES)?);
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    let peak: f64 = peak.trim().trim_end_matches("kB").trim().parse()?;
    let bytes = fs::metadata(path)?.len() as f64 / f64::from(1 << 30);
    writeln!(text, "\n{total} results, {bytes:.1} GiB; peak memory {:.0} MiB.", peak / 1024.0)?;
    Ok(text)
}
