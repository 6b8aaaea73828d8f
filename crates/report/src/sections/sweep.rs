//! A sweep: the best of each load, how each saturates, and every cell.

use results::{Document, Experiment, Measurement, Source, Sweep, SweptCell, SweptCurve};
use workload::show_duration;

use super::caption::{Caption, range};
use super::cases::{self, Case};
use super::make::{
    self, Named, beside, column, fact, full, full_section, number, section, table, text, whole,
};
use super::saturation::{self, Curve, Load};
use super::{agreement, latency, loads, tested};
use crate::language::{count, say};
use crate::model::{Block, Cell, Chart, Section, Table, Unit};
use crate::words;

/// Charts of single loads in one report: more than people will look at.
const CHARTS: usize = 36;

/// Answer, charts and tables of a sweep.
pub(super) fn sections(e: &Experiment<Sweep>) -> Vec<Section> {
    let document = Document::Sweep(Box::new(e.clone()));
    let best = best_measured(e);
    let mut tables: Vec<Block> = cells(e).map(Block::Table).into_iter().collect();
    // A cell that was measured once has all of its figures in the table of cells.
    if e.conclusion.cells.iter().any(|c| c.measurements.len() > 1) {
        tables.extend(loads::shown(&document).map(|table| full([Block::Table(table)])));
    }
    let own = e.measurements.iter().all(|m| m.origin.is_none());
    let rounds = super::rounds::of(e).into_iter().map(Some);
    let sections = [
        super::grid::of(e),
        section("verdict", say!("heading-the-best-of-each-load"), answer(e)),
        tested::of_experiment(
            e,
            vec![fact(say!("label-sweep"), words::clean(&e.conclusion.plan.title))],
        ),
        section(
            "cases",
            say!("heading-case-by-case"),
            beside(case_charts(e)).into_iter().collect(),
        ),
        section("saturation", say!("heading-saturation"), saturation_blocks(e)),
        full_section(latency::of(&best, false)),
        section("loads", say!("heading-every-cell"), tables),
        // Another tool asked no kernel.
        own.then(|| agreement::of(&best)).flatten(),
    ];
    rounds.chain(sections).flatten().collect()
}

fn cell(e: &Experiment<Sweep>, number: u32) -> Option<&SweptCell> {
    e.conclusion.cells.get(usize::try_from(number).ok()?)
}

fn cells_of<'a>(e: &'a Experiment<Sweep>, curve: &SweptCurve) -> Vec<&'a SweptCell> {
    curve.cells.iter().filter_map(|n| cell(e, *n)).filter(|c| c.iops.is_some()).collect()
}

/// The load of a curve, with its depths where matrices have the same load at others, and its place,
/// where there are several groups of targets.
fn name(e: &Experiment<Sweep>, curve: &SweptCurve) -> String {
    let mut title = words::clean(&curve.title);
    let is_alike = |c: &&SweptCurve| c.title == curve.title && c.targets == curve.targets;
    if e.conclusion.curves.iter().filter(is_alike).count() > 1 {
        let depths: Vec<u64> = cells_of(e, curve).iter().map(|c| c.cell.depth.into()).collect();
        title = say!("sweep-load-at-depths", load = title, depths = range(&depths));
    }
    let plan = &e.conclusion.plan;
    if plan.targets.len() < 2 || plan.together {
        return title;
    }
    let names = curve.targets.iter().filter_map(|t| plan.targets.get(*t));
    let names: Vec<String> = names.map(|t| words::path(&t.path)).collect();
    format!("{title} on {}", names.join(" + "))
}

/// What the file was of a cell's measurements; of an inferred one, that of the whole sweep.
fn file_bytes(e: &Experiment<Sweep>, cell: &SweptCell) -> u64 {
    let measured = cell.measurements.iter().find_map(|m| e.measurements.get(*m));
    measured.map_or(e.file_bytes, |m| m.file_bytes)
}

fn caption(e: &Experiment<Sweep>, cells: &[&SweptCell]) -> Caption {
    let mode = e.conclusion.plan.mode;
    cells.iter().fold(Caption::default(), |c, cell| c.cell(file_bytes(e, cell), mode, cell))
}

/// The measured cell with the highest throughput of each load.
fn best_measured(e: &Experiment<Sweep>) -> Vec<(String, &Measurement)> {
    let best = |curve: &SweptCurve| {
        let measured = cells_of(e, curve).into_iter().flat_map(|c| &c.measurements);
        let measured = measured.filter_map(|m| e.measurements.get(*m));
        let most = measured.max_by(|a, b| a.total.iops.total_cmp(&b.total.iops))?;
        Some((name(e, curve), most))
    };
    e.conclusion.curves.iter().filter_map(best).collect()
}

fn answer(e: &Experiment<Sweep>) -> Vec<Block> {
    let sweep = &e.conclusion;
    let counts = words::cells(sweep);
    let took = show_duration(sweep.device_seconds);
    let whole = show_duration(sweep.matrix_seconds);
    let text = say!("sweep-took", cells = counts, took = took, whole = whole);
    let mut blocks = vec![Block::Paragraph(text)];
    blocks.extend(best(e).map(Block::Table));
    let left_out = left_out(e);
    if !left_out.is_empty() {
        blocks.push(Block::List(left_out));
    }
    blocks
}

/// The best of each load, over all of its threads and depths.
fn best(e: &Experiment<Sweep>) -> Option<Table> {
    let columns = vec![
        column("load", say!("label-load"), Unit::Text),
        column("operation", say!("label-what-a-database-does-this-for"), Unit::Text).full(),
        column("best_iops", say!("label-best-iops"), Unit::Iops),
        column("best_mib_per_s", say!("label-best-mib-per-second"), Unit::MibPerS),
        column("error_percent", "±", Unit::Percent),
        column("operating_in_flight", say!("label-95-percent-of-it-at-in-flight"), Unit::Number),
        column("operating_latency_ns", say!("label-mean-latency-there"), Unit::Nanoseconds),
        column("split_difference_percent", say!("label-differs-by-the-split"), Unit::Percent)
            .full(),
        column("source", "", Unit::Text),
    ];
    let row = |c: &SweptCurve| {
        vec![
            text(name(e, c)),
            text(c.operation.as_deref().unwrap_or_default()),
            number(c.best_iops),
            number(c.best_mib_per_s),
            number(c.error_percent),
            number(c.operating_in_flight),
            number(c.operating_latency_ns),
            number(c.split_difference_percent),
            text(if c.source == Source::Inferred { "inferred" } else { "" }),
        ]
    };
    let rows = e.conclusion.curves.iter().map(row).collect();
    let all: Vec<&SweptCell> = e.conclusion.cells.iter().filter(|c| c.iops.is_some()).collect();
    table("best", say!("heading-the-best-of-each-load"), &caption(e, &all).text(), columns, rows)
}

fn left_out(e: &Experiment<Sweep>) -> Vec<String> {
    let mut reasons: Vec<(String, u64)> = Vec::new();
    for cell in e.conclusion.cells.iter().filter(|c| c.source == Source::LeftOut) {
        let reason = words::clean(cell.reason.as_deref().unwrap_or_default());
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let line = |(reason, count): &(String, u64)| {
        say!("sweep-impossible", cells = self::count(*count), reason = reason)
    };
    reasons.iter().map(line).collect()
}

/// IOPS, MiB/s and latency of the best of each load.
fn case_charts(e: &Experiment<Sweep>) -> Vec<Chart> {
    let case = |c: &SweptCurve| Case {
        name: name(e, c),
        iops: c.best_iops,
        mib_per_s: c.best_mib_per_s,
        half_width_percent: c.error_percent,
        mean_ns: c.operating_latency_ns,
        p99_ns: None,
    };
    let cases: Vec<Case> = e.conclusion.curves.iter().map(case).collect();
    let all: Vec<&SweptCell> = e.conclusion.curves.iter().flat_map(|c| cells_of(e, c)).collect();
    cases::charts(&cases, &caption(e, &all), &say!("sweep-mean"))
}

fn load(c: &SweptCell) -> Load {
    let targets = c.cell.targets.len().max(1) as u64;
    Load {
        threads: u64::from(c.cell.threads).saturating_mul(targets),
        depth: Some(c.cell.depth),
        in_flight: c.in_flight,
        iops: c.iops.unwrap_or(f64::NAN),
        mib_per_s: c.mib_per_s.unwrap_or(f64::NAN),
        half_width_percent: c.error_percent,
        mean_ns: c.latency_ns,
        p99_ns: c.p99_ns.map(|p| p as f64),
        ..Load::default()
    }
}

/// The charts of each load: the more loads, the fewer of each.
fn saturation_blocks(e: &Experiment<Sweep>) -> Vec<Block> {
    let curves: Vec<&SweptCurve> =
        e.conclusion.curves.iter().filter(|c| cells_of(e, c).len() > 1).collect();
    let each = (CHARTS / curves.len().max(1)).max(1);
    let mut blocks = Vec::new();
    for curve in curves.iter().take(CHARTS) {
        blocks.extend(beside(curve_charts(e, curve, each)));
    }
    if curves.len() > CHARTS {
        blocks.push(full([Block::Paragraph(say!(
            "sweep-more-loads",
            loads = count(curves.len() - CHARTS)
        ))]));
    }
    blocks
}

/// At most so many charts of one load, those that say most first.
fn curve_charts(e: &Experiment<Sweep>, curve: &SweptCurve, most: usize) -> Vec<Chart> {
    let cells = cells_of(e, curve);
    let title = name(e, curve);
    let caption = caption(e, &cells).text();
    let bandwidth = cells.iter().all(|c| c.cell.is_sequential());
    let drawn = Curve {
        title: &title,
        caption: &caption,
        loads: cells.iter().map(|c| load(c)).collect(),
        bandwidth,
        marks: saturation::marks(curve.knee.as_ref()),
        ceiling: None,
    };
    let threads = drawn.of_threads();
    let mut charts: Vec<Chart> = Vec::new();
    if most > 1 && !threads.is_empty() {
        charts.extend(threads);
        charts.extend(drawn.of_total());
    } else {
        charts.extend(drawn.whole("saturation"));
    }
    let key = format!("combinations-{title}");
    let heading = say!("sweep-every-combination", load = &title);
    let named = Named { key: &key, title: &heading, caption: &caption };
    charts.extend(cases::combinations(&named, &combinations(&cells), bandwidth));
    charts.truncate(most);
    charts
}

fn combinations(cells: &[&SweptCell]) -> Vec<Case> {
    let case = |c: &&SweptCell| Case {
        name: format!("{} × {}", c.cell.threads, c.cell.depth),
        iops: c.iops.unwrap_or(f64::NAN),
        mib_per_s: c.mib_per_s.unwrap_or(f64::NAN),
        half_width_percent: c.error_percent,
        mean_ns: c.latency_ns,
        p99_ns: c.p99_ns.map(|p| p as f64),
    };
    cells.iter().map(case).collect()
}

fn source(source: Source) -> String {
    match source {
        Source::Measured => say!("sweep-measured"),
        Source::Inferred => say!("sweep-inferred"),
        Source::LeftOut => say!("sweep-left-out"),
        Source::Missing => say!("sweep-missing"),
    }
}

/// A table with every cell of the plan.
fn cells(e: &Experiment<Sweep>) -> Option<Table> {
    let source = column("source", say!("label-source"), Unit::Text);
    let is_measured = |c: &SweptCell| c.source == Source::Measured;
    let all_measured = e.conclusion.cells.iter().all(is_measured);
    let columns = vec![
        column("cell", say!("label-no"), Unit::Count).full(),
        column("load", say!("label-load"), Unit::Text),
        column("target", say!("label-target"), Unit::Text),
        column("operation", say!("label-shape-of"), Unit::Text),
        column("threads", say!("label-threads"), Unit::Count),
        column("depth", say!("label-depth"), Unit::Count),
        column("in_flight", say!("label-in-flight"), Unit::Count),
        column("iops", "IOPS", Unit::Iops),
        column("error_percent", "±", Unit::Percent),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("latency_min_ns", say!("label-min"), Unit::Nanoseconds).full(),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds),
        column("latency_p50_ns", "p50", Unit::Nanoseconds).full(),
        column("latency_p95_ns", "p95", Unit::Nanoseconds).full(),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("latency_p99_9_ns", "p99.9", Unit::Nanoseconds).full(),
        column("latency_max_ns", say!("label-max"), Unit::Nanoseconds).full(),
        column("errors", say!("label-errors"), Unit::Count).full(),
        if all_measured { source.full() } else { source },
        column("reason", say!("label-why-not"), Unit::Text).full(),
    ];
    let all: Vec<&SweptCell> = e.conclusion.cells.iter().collect();
    let rows = all.iter().map(|c| row(e, c)).collect();
    table("cells", say!("heading-every-cell-of-the-plan"), &caption(e, &all).text(), columns, rows)
}

fn row(e: &Experiment<Sweep>, c: &SweptCell) -> Vec<Cell> {
    let plan = &e.conclusion.plan;
    let several = plan.targets.len() > 1;
    let targets = c.cell.targets.iter().filter_map(|t| plan.targets.get(*t));
    let targets: Vec<String> = targets.map(|t| words::path(&t.path)).collect();
    let only = match c.measurements.as_slice() {
        [one] => e.measurements.get(*one),
        _ => None,
    };
    let latency = only.and_then(|m| m.total.latency_ns);
    vec![
        whole(u64::from(c.cell.number)),
        text(c.cell.load_title()),
        make::text(if several { targets.join(" + ") } else { String::new() }.as_str()),
        text(c.cell.operation.as_deref().unwrap_or_default()),
        whole(u64::from(c.cell.threads)),
        whole(u64::from(c.cell.depth)),
        whole(c.in_flight),
        number(c.iops),
        number(c.error_percent),
        number(c.mib_per_s),
        whole(latency.and_then(|l| l.min)),
        number(c.latency_ns),
        whole(latency.and_then(|l| l.p50)),
        whole(latency.and_then(|l| l.p95)),
        whole(c.p99_ns),
        whole(latency.and_then(|l| l.p99_9)),
        whole(latency.and_then(|l| l.max)),
        whole(only.map(|m| m.total.errors)),
        text(source(c.source)),
        text(c.reason.as_deref().unwrap_or_default()),
    ]
}
