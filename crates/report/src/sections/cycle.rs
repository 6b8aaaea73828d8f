//! The runs of an IOMeter configuration.

use results::{Cycle, CycleRun, Document, Experiment, Measurement, Statistics};

use super::caption::Caption;
use super::cases::{self, Case};
use super::make::{
    Drawn, Named, beside, chart, column, fact, full, full_section, linear, log2, number, points,
    section, series, table, text, whole,
};
use super::{agreement, latency, loads, tested, time};
use crate::language::say;
use crate::model::{Block, Cell, Chart, Column, Section, Shape, Side, Table, Unit};
use crate::words;

/// How many MB (10^6 bytes) make a MiB; IOMeter shows both.
const MB_PER_MIB: f64 = 1.048_576;

/// Charts and tables of the runs.
pub(super) fn sections(e: &Experiment<Cycle>) -> Vec<Section> {
    let named: Vec<(String, &Measurement)> =
        measured(e).map(|(i, run, m)| (format!("run {}: {}", i + 1, name(run)), m)).collect();
    let cases: Vec<Case> = named.iter().map(|(name, m)| Case::of(name, m)).collect();
    let document = Document::Cycle(Box::new(e.clone()));
    let asked = format!("{} of {}", e.measurements.len(), e.conclusion.runs.len());
    let own = vec![
        fact(say!("label-configuration"), words::clean(&e.conclusion.file)),
        fact(say!("label-test-type"), words::clean(&e.conclusion.test_type)),
        fact(say!("label-runs"), asked),
    ];
    let drawn = curves(e).map_or_else(
        || cases::charts(&cases, &Caption::of(&e.measurements), "mean"),
        |curves| curves.into_iter().collect(),
    );
    let every = loads::shown(&document).map(|table| full([Block::Table(table)]));
    let tables = runs(e).map(Block::Table).into_iter().chain(every);
    let sections = [
        tested::of_experiment(e, own),
        section("cases", say!("heading-run-by-run"), beside(drawn).into_iter().collect()),
        section("runs", say!("heading-runs"), tables.collect()),
        time::of(named.iter().map(|(name, m)| (name.clone(), *m))),
        full_section(latency::of(&named, false)),
        agreement::of(&named),
    ];
    sections.into_iter().flatten().collect()
}

/// The runs that were measured, with their places.
fn measured(e: &Experiment<Cycle>) -> impl Iterator<Item = (usize, &CycleRun, &Measurement)> {
    let runs = e.conclusion.runs.iter().enumerate();
    runs.filter_map(|(i, run)| Some((i, run, e.measurements.get(run.measurement?)?)))
}

fn name(run: &CycleRun) -> String {
    words::clean(&run.specs.join(", "))
}

/// Throughput and latency over the I/Os in flight, where they differ from run to run.
fn curves(e: &Experiment<Cycle>) -> Option<Vec<Chart>> {
    let mut specs: Vec<String> = Vec::new();
    for (_, run, _) in measured(e) {
        if !specs.contains(&name(run)) {
            specs.push(name(run));
        }
    }
    let caption = Caption::of(&e.measurements);
    let caption = caption.text();
    let draw =
        |key, title: String, axis: String, unit, of: &dyn Fn(&Measurement) -> Option<f64>| {
            let curve = |spec: &String| {
                let runs = measured(e).filter(|(_, run, _)| name(run) == *spec);
                let mut at: Vec<(f64, Option<f64>)> =
                    runs.map(|(_, run, m)| (run.in_flight as f64, of(m))).collect();
                at.sort_by(|a, b| a.0.total_cmp(&b.0));
                series(spec, Shape::Line, Side::Left, points(at))
            };
            let series = specs.iter().map(curve).collect();
            let x = log2(say!("label-in-flight"), Unit::Count);
            let named = Named { key, title: &title, caption: &caption };
            let left = linear(axis, unit);
            chart(&named, Drawn { x, left, right: None, series, marks: Vec::new() })
        };
    let mut depths: Vec<u64> = measured(e).map(|(_, run, _)| run.in_flight).collect();
    depths.sort_unstable();
    depths.dedup();
    (depths.len() > 1).then(|| {
        let iops = draw("curve-iops", say!("cycle-iops"), "IOPS".to_owned(), Unit::Iops, &|m| {
            Some(m.total.iops)
        });
        let (title, axis) = (say!("cycle-latency"), say!("label-mean-latency"));
        let mean =
            draw("curve-latency", title, axis, Unit::Nanoseconds, &|m| words::mean_of(&m.total));
        [iops, mean].into_iter().flatten().collect()
    })
}

fn runs(e: &Experiment<Cycle>) -> Option<Table> {
    let columns = vec![
        column("run", say!("label-run"), Unit::Count),
        column("spec", say!("label-access-specification"), Unit::Text),
        column("workers", say!("label-workers"), Unit::Count),
        column("targets", say!("label-targets"), Unit::Count),
        column("outstanding", say!("label-depth-on-each"), Unit::Count),
        column("in_flight", say!("label-in-flight"), Unit::Count),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("mb_per_s", say!("label-mb-per-second"), Unit::Number),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("latency_max_ns", say!("label-max"), Unit::Nanoseconds),
        column("cpu_percent", "CPU", Unit::Percent),
        column("errors", say!("label-errors"), Unit::Count),
        column("reason", say!("label-why-not"), Unit::Text),
    ];
    let rows = e.conclusion.runs.iter().enumerate().map(|(i, run)| {
        let m = run.measurement.and_then(|m| e.measurements.get(m));
        let latency = m.and_then(|m| m.total.latency_ns);
        let p99 = latency.and_then(|l| l.p99).map(|ns| ns as f64);
        let reason = match (m, &run.reason) {
            (Some(_), _) => String::new(),
            (None, Some(reason)) => reason.clone(),
            (None, None) => say!("verdict-claim-not-measured"),
        };
        vec![
            whole(i as u64 + 1),
            text(name(run)),
            whole(run.workers),
            whole(run.targets),
            number(run.outstanding.map(f64::from)),
            whole(run.in_flight),
            number(m.map(|m| m.total.iops)),
            number(m.map(|m| m.total.mib_per_s)),
            number(m.map(|m| m.total.mib_per_s * MB_PER_MIB)),
            number(latency.map(|l| l.mean)),
            number(p99),
            number(latency.and_then(|l| l.max).map(|ns| ns as f64)),
            number(m.and_then(|m| m.cpu.host_percent)),
            number(m.map(|m| m.total.errors as f64)),
            text(reason),
        ]
    });
    table(
        "runs",
        say!("heading-every-run"),
        &Caption::of(&e.measurements).text(),
        columns,
        rows.collect(),
    )
}

/// How much of a run to show besides its total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CycleDetail {
    /// Only the total of all workers.
    Total,
    /// The total, and each worker.
    Workers,
    /// Each worker, and each of its targets.
    Targets,
}

/// Each run worker by worker; `None` if only totals are wanted.
#[must_use]
pub fn workers(e: &Experiment<Cycle>, detail: CycleDetail) -> Option<Section> {
    if detail == CycleDetail::Total {
        return None;
    }
    let tables = measured(e).filter_map(|(i, run, m)| {
        let title = say!("cycle-run", number = (i + 1).to_string(), spec = name(run));
        table("workers", &title, &words::caption(m), worker_columns(), worker_rows(m, detail))
    });
    section("workers", say!("heading-workers"), tables.map(Block::Table).collect())
}

fn worker_columns() -> Vec<Column> {
    vec![
        column("worker", say!("label-worker"), Unit::Text),
        column("target", say!("label-target"), Unit::Text),
        column("depth", say!("label-depth"), Unit::Count),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("mb_per_s", say!("label-mb-per-second"), Unit::Number),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("latency_max_ns", say!("label-max"), Unit::Nanoseconds),
        column("errors", say!("label-errors"), Unit::Count),
    ]
}

fn worker_rows(m: &Measurement, detail: CycleDetail) -> Vec<Vec<Cell>> {
    let row = |worker: &str, target: &str, depth: Option<u64>, s: &Statistics| {
        vec![
            text(worker),
            text(target),
            whole(depth),
            number(s.iops),
            number(s.mib_per_s),
            number(s.mib_per_s * MB_PER_MIB),
            number(words::mean_of(s)),
            whole(s.latency_ns.and_then(|l| l.p99)),
            whole(s.latency_ns.and_then(|l| l.max)),
            whole(s.errors),
        ]
    };
    let mut rows = Vec::new();
    for worker in &m.streams {
        rows.push(row(&worker.name, "", Some(worker.depth.into()), &worker.total));
        let own = m.threads_detail.iter().filter(|thread| thread.stream == worker.name);
        for thread in own.filter(|_| detail == CycleDetail::Targets) {
            if let Some(target) = m.targets.get(thread.target) {
                rows.push(row(&worker.name, &words::path(&target.path), None, &thread.total));
            }
        }
    }
    rows
}
