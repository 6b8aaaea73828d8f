//! How long the report of the largest preset takes, and how large it is: 576 cells, in every
//! format.
//!
//! The cells are measured in virtual time on a simulated array, with windows as long as the preset
//! has them, so that their series and histograms are as long as those of real ones.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use engine::Permissions;
use report::model::{Block, Chart, Report};
use results::Document;
use survey::{LabContext, LabRecord, Progress, SweepOptions, sweep};
use workload::sweep::{Plan, preset};
use workload::{Bytes, EngineChoice, Nanoseconds, SimDevice, SimService, Target};

use crate::linux::{Error, machine};

/// Times that each report is made; the median counts.
const TIMES: usize = 5;
const SECONDS_MAX: f64 = 2.0;
const MIB_MAX: f64 = 5.0;

/// A name, and what makes the report.
type Format<'a> = (&'a str, &'a dyn Fn() -> Result<usize, Error>);

/// Makes the reports, and gives the figures as a table, and whether all limits hold.
pub(crate) fn run() -> Result<(String, bool), Error> {
    let begun = Instant::now();
    let document = swept()?;
    let json = serde_json::to_string(&document)?;
    eprintln!(
        "{} cells measured in {:.0} s; {:.1} MiB of JSON",
        document.measurements().len(),
        begun.elapsed().as_secs_f64(),
        mib(json.len())
    );
    let documents = [Document::parse(&json)?];
    let build = || report::build(&documents);
    let formats: [Format<'_>; 4] = [
        ("HTML", &|| Ok(report::html::page(&build())?.len())),
        ("XLSX", &|| Ok(report::xlsx::workbook(&build())?.len())),
        ("CSV", &|| Ok(report::csv::text(&build()).len())),
        ("Markdown", &|| Ok(report::markdown::text(&build()).len())),
    ];
    let mut table =
        "| report of 576 cells | seconds of CPU | limit | MiB | limit |  |\n".to_owned();
    table += "|---|---|---|---|---|---|\n";
    let mut all_hold = true;
    for (name, make) in formats {
        let (seconds, bytes) = timed(make)?;
        let size = mib(bytes);
        let holds = seconds <= SECONDS_MAX && size <= MIB_MAX;
        let verdict = if holds { "holds" } else { "BROKEN" };
        all_hold &= holds;
        writeln!(
            table,
            "| {name} | {seconds:.2} | ≤ {SECONDS_MAX:.1} | {size:.2} | ≤ {MIB_MAX:.1} | \
             {verdict} |"
        )?;
    }
    let report = build();
    let charts = charts(&report);
    let (seconds, bytes) = timed(&|| {
        let mut bytes = 0;
        for chart in &charts {
            let svg = report::chart::svg(chart);
            bytes += svg.len() + report::picture::png(&svg)?.len();
        }
        Ok(bytes)
    })?;
    let name = format!("{} charts, as SVG and PNG", charts.len());
    writeln!(table, "| {name} | {seconds:.2} |  | {:.2} |  |  |", mib(bytes))?;
    Ok((table, all_hold))
}

/// The preset with its 576 cells, on an array of eight slow disks.
fn swept() -> Result<Document, Error> {
    let named = preset("grove-rasmussen").ok_or("there is no such preset")?;
    let time = Nanoseconds(20_000_000);
    let device = SimDevice {
        servers: 8,
        read_ns: time,
        write_ns: time,
        service: SimService::Exponential,
        ..SimDevice::default()
    };
    let plan = Plan {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(64 << 30)) }],
        engine: EngineChoice::Sim,
        sim: Some(device),
        seed: 1,
        ..named.plan()
    };
    let options = SweepOptions { plan, permissions: Permissions::default() };
    let record = LabRecord {
        id: "20261121T120000Z-sweep".to_owned(),
        started: "2026-11-21T12:00:00Z".to_owned(),
        measurements: Vec::new(),
    };
    let (stop, mut quiet) = (AtomicBool::new(false), |_: Progress<'_>| ());
    let context = LabContext { record: Some(record), ..LabContext::new(&stop, &mut quiet) };
    let found = sweep(options, context)?;
    Ok(Document::Sweep(Box::new(found)))
}

/// The charts of all results of a report.
fn charts(report: &Report) -> Vec<&Chart> {
    let sections = report.results.iter().flat_map(|result| &result.sections);
    let blocks = sections.flat_map(|section| &section.blocks);
    blocks
        .flat_map(|block| match block {
            Block::Chart(chart) => std::slice::from_ref(chart),
            Block::Charts(charts) => charts.as_slice(),
            _ => &[],
        })
        .collect()
}

/// The median of the seconds of CPU, all of which one thread takes, and the bytes.
fn timed(make: &dyn Fn() -> Result<usize, Error>) -> Result<(f64, usize), Error> {
    let mut seconds = Vec::new();
    let mut bytes = 0;
    for _ in 0..TIMES {
        let begun = machine::cpu_seconds()?;
        bytes = make()?;
        seconds.push(machine::cpu_seconds()? - begun);
    }
    seconds.sort_by(f64::total_cmp);
    Ok((seconds.get(TIMES / 2).copied().unwrap_or(f64::NAN), bytes))
}

fn mib(bytes: usize) -> f64 {
    bytes as f64 / 1_048_576.0
}
