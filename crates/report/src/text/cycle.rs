//! The end of `iosonde iometer`: every run of a configuration, by access specification.

use results::{Cycle, CycleRun, Experiment, Measurement, Statistics, Status, ThreadResult};
use workload::show_number;

use super::experiment::{foot, head_with};
use super::layout::{Table, WIDTH, shorten, shorten_path, wrap};
use crate::words;

/// The longest a name may be in a table.
const NAME: usize = 40;

/// What is shown of a run beside its total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CycleDetail {
    /// Nothing.
    Total,
    /// Each worker.
    Workers,
    /// Each worker, and each of its targets.
    Targets,
}

/// The runs of an IOMeter configuration for a terminal.
#[must_use]
pub fn cycle(experiment: &Experiment<Cycle>, detail: CycleDetail) -> String {
    let conclusion = &experiment.conclusion;
    let asked = words::plural(conclusion.runs.len() as u64, "run", "runs");
    let (title, file) = (words::clean(&conclusion.title()), words::clean(&conclusion.file));
    let of = if title == file { file } else { format!("{title} ({file})") };
    let test = format!("{of}, {}, {asked}", conclusion.test_type);
    let mut out = head_with(experiment, Some(("test", test)));
    let mut rest = conclusion.runs.as_slice();
    let mut number = 0;
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|run| run.specs == first.specs).count();
        let (group, others) = rest.split_at(same);
        out.push_str(&wrap("\n", &words::clean(&first.specs.join(", ")), WIDTH));
        out.push_str(&table(group, number, &experiment.measurements));
        (number, rest) = (number + same, others);
    }
    if detail > CycleDetail::Total {
        for (index, run) in conclusion.runs.iter().enumerate() {
            let measurement = run.measurement.and_then(|m| experiment.measurements.get(m));
            if let Some(measurement) = measurement {
                out.push_str(&details(index + 1, run, measurement, detail));
            }
        }
    }
    out.push_str(&foot(experiment));
    out
}

fn table(runs: &[CycleRun], before: usize, measurements: &[Measurement]) -> String {
    let heads = [
        "run",
        "workers",
        "targets",
        "depth",
        "in flight",
        "IOPS",
        "MiB/s",
        "MB/s",
        "mean",
        "p99",
        "max",
        "CPU",
        "errors",
        "",
    ];
    let mut table = Table::new(0, &heads);
    for (index, run) in runs.iter().enumerate() {
        let mut row = vec![
            (before + index + 1).to_string(),
            words::count(run.workers),
            words::count(run.targets),
            run.outstanding.map_or_else(|| words::NONE.to_owned(), |n| words::count(n.into())),
            words::count(run.in_flight),
        ];
        match run.measurement.and_then(|m| measurements.get(m)) {
            Some(m) => {
                row.extend(figures(&m.total));
                row.push(words::percent(m.cpu.host_percent));
                row.push(words::count(m.total.errors));
                row.push(ended(m).to_owned());
            }
            None => row.push(run.reason.as_deref().map_or_else(
                || "not measured".to_owned(),
                |reason| shorten(&words::clean(reason), WIDTH),
            )),
        }
        table.row(row);
    }
    table.show()
}

/// IOPS to the longest latency.
fn figures(statistics: &Statistics) -> Vec<String> {
    let latency = statistics.latency_ns;
    vec![
        show_number(statistics.iops),
        show_number(statistics.mib_per_s),
        show_number(statistics.mib_per_s * 1.048_576),
        words::mean_time(latency.map(|l| l.mean)),
        words::time(latency.and_then(|l| l.p99)),
        words::time(latency.map(|l| l.max)),
    ]
}

fn ended(m: &Measurement) -> &'static str {
    match m.status {
        Status::Complete => "",
        other => other.word(),
    }
}

/// A run worker by worker.
fn details(number: usize, run: &CycleRun, m: &Measurement, detail: CycleDetail) -> String {
    let heads = ["", "depth", "IOPS", "MiB/s", "MB/s", "mean", "p99", "max", "errors"];
    let mut table = Table::new(1, &heads);
    let row = |name: String, depth: String, statistics: &Statistics| {
        let mut row = vec![name, depth];
        row.extend(figures(statistics));
        row.push(words::count(statistics.errors));
        row
    };
    for worker in &m.streams {
        let name = shorten(&words::clean(&worker.name), NAME);
        table.row(row(name, words::count(worker.depth.into()), &worker.total));
        let own = |thread: &&ThreadResult| thread.stream == worker.name;
        for thread in m.threads_detail.iter().filter(own) {
            let target = m.targets.get(thread.target);
            if let Some(target) = target.filter(|_| detail == CycleDetail::Targets) {
                let path = format!("  {}", shorten_path(&words::path(&target.path), NAME));
                table.row(row(path, String::new(), &thread.total));
            }
        }
    }
    let title = format!("Run {number}: {}", words::clean(&run.specs.join(", ")));
    format!("\n{}{}", wrap("", &title, WIDTH), table.show())
}
