//! What the operating system counted over time.

use counters::{
    BlockKind, CpuTally, DISK_FIELDS, DiskTally, Field, SYSTEM_FIELDS, Span, SystemTally,
};
use results::{AlertTime, Experiment, FoundBy, Measurement, RecordedPoint, Recording, show_figure};
use workload::{show_duration, show_number};

use super::make::{
    Drawn, Named, beside, brief, chart, column, fact, first_large, full, linear, log10, mark,
    number, points, section, series, table, text,
};
use super::{agreement, databases};
use crate::language::{count, say};
use crate::model::{Block, Cell, Chart, Mark, Section, Series, Shape, Side, Table, Unit};
use crate::words;

/// Points of a line; more are joined.
const POINTS: usize = 400;
/// The most devices with their own chart.
const CHARTS: usize = 6;
/// Lines in a chart of attached figures.
const LINES: usize = 6;
const MIB: f64 = 1_048_576.0;

/// All sections on a recording: answer, charts, tables.
pub(super) fn sections(e: &Experiment<Recording>) -> Vec<Section> {
    let r = &e.conclusion;
    let shown = joined(&r.points);
    let busiest = busiest(r);
    let charts = busiest.iter().take(CHARTS).filter_map(|name| device_chart(e, &shown, name));
    let mut counted = first_large(charts.collect());
    let table = |few| devices(r, few).map(Block::Table);
    counted.extend([full(table(usize::MAX)), brief(table(FEW))]);
    let named: Vec<(String, &Measurement)> =
        r.runs.iter().filter_map(|run| run_of(e, run)).collect();
    let watched = vec![Block::Facts(facts(e)), brief([Block::Paragraph(in_a_line(r))])];
    let mut all = vec![section("tested", say!("heading-what-was-watched"), watched)];
    if !named.is_empty() {
        all.push(agreement::of_each(&named));
    }
    all.push(section("counters", say!("heading-devices"), counted));
    all.push(databases::of(r, &shown));
    all.push(section("alerts", say!("heading-alerts"), alerts(r)));
    all.push(section("host", say!("heading-host"), host(r, &shown)));
    all.push(section("attached", say!("heading-figures-from-elsewhere"), attached(e)));
    all.into_iter().flatten().collect()
}

fn run_of<'a>(
    e: &'a Experiment<Recording>,
    run: &results::RecordedRun,
) -> Option<(String, &'a Measurement)> {
    let m = e.measurements.get(run.measurement)?;
    let tool = words::tool(m).unwrap_or_else(|| "iosonde".to_owned());
    Some((format!("{tool}, {}", words::clean(&m.workload.title())), m))
}

fn facts(e: &Experiment<Recording>) -> Vec<crate::model::Fact> {
    let r = &e.conclusion;
    let mut facts = Vec::new();
    if !r.name.is_empty() {
        facts.push(fact(say!("label-name"), words::clean(&r.name)));
    }
    if !e.targets.is_empty() {
        let names: Vec<String> = e.targets.iter().map(|t| words::path(t)).collect();
        facts.push(fact(say!("label-targets"), names.join(", ")));
    }
    let layers: Vec<String> = r.devices.iter().map(|d| words::layer(&d.name, &r.devices)).collect();
    let few = layers.len() <= 12;
    let devices = if few {
        layers.join("; ")
    } else {
        say!("recording-devices", devices = count(layers.len()))
    };
    facts.push(fact(say!("label-devices"), devices));
    if let Some(command) = &r.command {
        let line: Vec<String> = command.line.iter().map(|word| words::clean(word)).collect();
        let ended = match (command.exit_code, command.signal) {
            (Some(0), _) => String::new(),
            (Some(code), _) => say!("recording-exit-code", code = code.to_string()),
            (None, Some(signal)) => say!("recording-signal", signal = signal.to_string()),
            (None, None) => say!("recording-did-not-end"),
        };
        facts.push(fact(say!("label-during"), line.join(" ") + &ended));
    }
    facts.push(fact(
        say!("label-recorded"),
        say!(
            "recording-length",
            time = show_duration(r.seconds),
            windows = count(r.windows),
            from = words::moment(&e.started),
            to = words::moment(&e.finished),
        ),
    ));
    for run in &r.runs {
        if let Some((name, _)) = run_of(e, run) {
            let (from, to) = (format!("{:.1}", run.from_s), format!("{:.1}", run.to_s));
            let place = match run.found {
                FoundBy::Time => say!("recording-run-by-time", from = from, to = to),
                FoundBy::Activity => say!("recording-run-by-activity", from = from, to = to),
            };
            facts.push(fact(name, place));
        }
    }
    facts
}

/// The host's figures over the whole time, in a line.
fn in_a_line(r: &Recording) -> String {
    let readings = u32::try_from(r.windows).unwrap_or(u32::MAX);
    crate::text::host_line(&r.totals.system, Span { seconds: r.seconds, readings })
}

/// Points joined until they are few enough to draw.
fn joined(points: &[RecordedPoint]) -> Vec<RecordedPoint> {
    let size = points.len().div_ceil(POINTS).max(1);
    let join = |chunk: &[RecordedPoint]| {
        let mut all = RecordedPoint::default();
        for point in chunk {
            all.join(point.clone());
        }
        all
    };
    points.chunks(size).map(join).collect()
}

/// The devices that did something, the busiest first; partitions only where their disk is not
/// watched.
fn busiest(r: &Recording) -> Vec<&str> {
    let watched = |name: &String| r.devices.iter().any(|device| device.name == *name);
    let mut found: Vec<(u64, &str)> = Vec::new();
    for device in &r.devices {
        if device.kind == BlockKind::Partition && device.below.iter().any(watched) {
            continue;
        }
        let Some(total) = r.totals.disks.get(&device.name) else { continue };
        let ios = total.tally.all_transfers().unwrap_or(0);
        if ios > 0 {
            found.push((ios, &device.name));
        }
    }
    found.sort_by_key(|(ios, _)| std::cmp::Reverse(*ios));
    found.into_iter().map(|(_, name)| name).collect()
}

/// What a device did at each point.
fn of_device<'a>(
    shown: &'a [RecordedPoint],
    name: &'a str,
) -> impl Iterator<Item = (f64, DiskTally, Span)> + 'a {
    shown.iter().filter(move |point| !point.missing.iter().any(|missing| missing == name)).map(
        move |point| {
            let tally = point.disks.get(name).copied().unwrap_or_default();
            (point.t - point.seconds / 2.0, tally, point.span())
        },
    )
}

fn field(name: &str) -> Option<&'static Field<DiskTally>> {
    DISK_FIELDS.iter().find(|field| field.name == name)
}

/// I/Os, latency and queue, as Performance Monitor draws them: the queue at its own scale.
fn device_chart(e: &Experiment<Recording>, shown: &[RecordedPoint], name: &str) -> Option<Chart> {
    let total = e.conclusion.totals.disks.get(name)?;
    let figure = |field_name: &str| -> Vec<(f64, Option<f64>)> {
        let Some(field) = field(field_name) else { return Vec::new() };
        of_device(shown, name).map(|(t, tally, span)| (t, field.of(&tally, span))).collect()
    };
    let highest = |figures: &[(f64, Option<f64>)]| {
        figures.iter().filter_map(|(_, figure)| *figure).fold(0.0, f64::max)
    };
    let mut lines: Vec<Series> = Vec::new();
    let mut highest_rate: f64 = 0.0;
    let (reads, read) = (say!("agreement-reads"), say!("agreement-read-latency"));
    let (writes, write) = (say!("agreement-writes"), say!("agreement-write-latency"));
    for (count, rate, latency, rate_name, latency_name) in [
        (total.tally.reads, "reads_per_s", "read_latency_ns", reads, read),
        (total.tally.writes, "writes_per_s", "write_latency_ns", writes, write),
    ] {
        if count == 0 {
            continue;
        }
        let (rates, latencies) = (figure(rate), figure(latency));
        highest_rate = highest_rate.max(highest(&rates));
        lines.push(series(rate_name, Shape::Line, Side::Left, points(rates)));
        lines.push(series(latency_name, Shape::Line, Side::Right, points(latencies)));
    }
    // What another tool counted may not tell reads from writes, or not their times.
    if total.tally.transfers.is_some() {
        let rates = figure("transfers_per_s");
        highest_rate = highest_rate.max(highest(&rates));
        lines.push(series(say!("recording-ios-per-s"), Shape::Line, Side::Left, points(rates)));
    }
    if total.tally.transfer_ns.is_some() {
        let latencies = points(figure("transfer_latency_ns"));
        lines.push(series(say!("recording-io-latency"), Shape::Line, Side::Right, latencies));
    }
    let queue = figure("average_queue");
    let scale = scale(highest(&queue), highest_rate);
    let scaled = queue.into_iter().map(|(t, figure)| (t, figure.map(|figure| figure * scale)));
    let times = if (scale - 1.0).abs() < 1e-9 {
        String::new()
    } else {
        format!(" × {}", show_number(scale))
    };
    let queue_name = say!("recording-average-queue") + &times;
    lines.push(series(&queue_name, Shape::Dashed, Side::Left, points(scaled)));
    let caption = words::layer(name, &e.conclusion.devices);
    chart(
        &Named {
            key: &format!("counters-{name}"),
            title: &say!("recording-chart-of-device", device = name),
            caption: &caption,
        },
        Drawn {
            x: linear(say!("label-time"), Unit::Seconds),
            left: linear(say!("label-i-os"), Unit::Iops),
            right: Some(log10(say!("label-latency"), Unit::Nanoseconds)),
            series: lines,
            marks: marks(e),
        },
    )
}

/// The power of ten that brings one highest figure near to the other, without going beyond it.
fn scale(of: f64, to: f64) -> f64 {
    let power = (to / of).log10().floor();
    if power.is_finite() { 10_f64.powf(power.clamp(-9.0, 9.0)) } else { 1.0 }
}

/// Where runs begin and end, and where alerts begin.
fn marks(e: &Experiment<Recording>) -> Vec<Mark> {
    let mut marks = Vec::new();
    for run in &e.conclusion.runs {
        marks.push(mark(run.from_s, say!("recording-run-begins")));
        marks.push(mark(run.to_s, say!("recording-run-ends")));
    }
    let times = e.conclusion.alerts.iter().flat_map(|alert| &alert.times).take(5);
    marks.extend(times.map(|time| mark(time.from_s, say!("recording-alert"))));
    marks
}

/// A column, the field it shows, and what that is divided by.
const COLUMNS: [(&str, &str, Unit, f64); 16] = [
    ("reads_per_s", "reads_per_s", Unit::Iops, 1.0),
    ("writes_per_s", "writes_per_s", Unit::Iops, 1.0),
    ("read_latency_ns", "read_latency_ns", Unit::Nanoseconds, 1.0),
    ("write_latency_ns", "write_latency_ns", Unit::Nanoseconds, 1.0),
    ("read_size_bytes", "read_size_bytes", Unit::Bytes, 1.0),
    ("write_size_bytes", "write_size_bytes", Unit::Bytes, 1.0),
    ("read_mib_per_s", "read_bytes_per_s", Unit::MibPerS, MIB),
    ("write_mib_per_s", "write_bytes_per_s", Unit::MibPerS, MIB),
    ("average_queue", "average_queue", Unit::Number, 1.0),
    ("current_queue", "current_queue", Unit::Number, 1.0),
    ("busy_percent", "busy_percent", Unit::Percent, 1.0),
    ("idle_percent", "idle_percent", Unit::Percent, 1.0),
    ("splits_per_s", "splits_per_s", Unit::Number, 1.0),
    ("flushes_per_s", "flushes_per_s", Unit::Number, 1.0),
    ("flush_latency_ns", "flush_latency_ns", Unit::Nanoseconds, 1.0),
    ("discards_per_s", "discards_per_s", Unit::Number, 1.0),
];

/// Columns of devices whose reads and writes are not known apart.
const TOGETHER: [(&str, &str, Unit, f64); 3] = [
    ("transfers_per_s", "transfers_per_s", Unit::Iops, 1.0),
    ("transfer_latency_ns", "transfer_latency_ns", Unit::Nanoseconds, 1.0),
    ("mib_per_s", "bytes_per_s", Unit::MibPerS, MIB),
];

/// The columns that a terminal has room for.
const BRIEF: [&str; 13] = [
    "transfers_per_s",
    "transfer_latency_ns",
    "mib_per_s",
    "reads_per_s",
    "writes_per_s",
    "read_latency_ns",
    "write_latency_ns",
    "read_size_bytes",
    "write_size_bytes",
    "read_mib_per_s",
    "write_mib_per_s",
    "average_queue",
    "busy_percent",
];
/// Idle devices are left out on a terminal where there are more than this.
const FEW: usize = 8;

/// Each device over the whole time; of more than a few, those that did something.
fn devices(r: &Recording, few: usize) -> Option<Table> {
    let mut columns = vec![
        column("device", say!("label-device"), Unit::Text),
        column("what", say!("label-what"), Unit::Text).full(),
    ];
    let is_apart = |total: &results::DiskTotal| {
        let DiskTally { transfers, transfer_bytes, transfer_ns, .. } = total.tally;
        transfers.is_none() && transfer_bytes.is_none() && transfer_ns.is_none()
    };
    let together = if r.totals.disks.values().all(is_apart) { &[][..] } else { &TOGETHER };
    let shown: Vec<_> = together.iter().chain(&COLUMNS).collect();
    for (key, name, unit, _) in shown.iter().copied().copied() {
        let title = field(name).map_or(name, |field| field.perfmon.unwrap_or(field.title));
        let column = column(key, title, unit);
        columns.push(if BRIEF.contains(&key) { column } else { column.full() });
    }
    let line = |device: &counters::BlockDevice| {
        // A device without figures is not idle.
        let total = r.totals.disks.get(&device.name);
        if r.devices.len() > few && total.is_some_and(|total| total.tally.is_idle()) {
            return None;
        }
        let label = device.label.clone().unwrap_or_default();
        let what = format!("{} {label}", device.kind.title());
        let mut cells = vec![text(&device.name), text(what.trim())];
        cells.extend(shown.iter().map(|(_, name, _, unit)| {
            let figure = total.and_then(|total| total.figures.get(*name).copied().flatten());
            number(figure.map(|figure| figure / unit))
        }));
        Some(cells)
    };
    let lines: Vec<Vec<Cell>> = r.devices.iter().filter_map(line).collect();
    let caption = match r.devices.len().saturating_sub(lines.len()) {
        left_out if r.devices.len() > few && left_out > 0 => {
            say!("recording-devices-caption-idle", devices = count(left_out))
        }
        _ => say!("recording-devices-caption"),
    };
    table("devices", say!("heading-devices"), &caption, columns, lines)
}

fn alerts(r: &Recording) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut quiet = Vec::new();
    for alert in &r.alerts {
        let condition = words::clean(&alert.condition);
        if alert.times.is_empty() {
            quiet.push(say!("recording-alert-never", condition = condition));
            continue;
        }
        let times = alert
            .times
            .iter()
            .take(20)
            .map(|time| format!("{condition}: {}", alert_time(&alert.condition, time)));
        blocks.push(Block::Warnings(times.collect()));
        if alert.times.len() > 20 {
            let times = count(alert.times.len());
            let text = say!("recording-alert-times", condition = condition, times = times);
            blocks.push(Block::Paragraph(text));
        }
    }
    if !quiet.is_empty() {
        blocks.push(Block::List(quiet));
    }
    blocks
}

/// When a condition held, and how bad it was.
fn alert_time(condition: &str, time: &AlertTime) -> String {
    let device = time.device.as_deref().map(words::clean);
    let device = device.map_or_else(String::new, |device| format!("{device}: "));
    let (from, worst) =
        (format!("{:.1}", time.from_s), show_figure(unit_of(condition), time.worst));
    device
        + &match time.to_s {
            Some(to) => {
                say!("recording-alert-time", from = from, to = format!("{to:.1}"), worst = worst)
            }
            None => say!("recording-alert-to-the-end", from = from, worst = worst),
        }
}

/// In what the figure of a condition is.
fn unit_of(condition: &str) -> counters::Unit {
    let left = condition.split(['>', '<']).next().unwrap_or_default();
    let names = left.split([':', '.', ' ']).rev().filter(|word| !word.is_empty());
    let whole = std::iter::once(left.trim());
    let field = |name: &str| {
        let disk = counters::disk_field(name).map(|field| field.unit);
        disk.or_else(|| counters::system_field(name).map(|field| field.unit))
    };
    whole.chain(names).find_map(field).unwrap_or(counters::Unit::Number)
}

/// Processors, pressure and the page cache.
fn host(r: &Recording, shown: &[RecordedPoint]) -> Vec<Block> {
    let lines = |names: &[&str], unit: f64| -> Vec<Series> {
        let line = |name: &&str| {
            let field = SYSTEM_FIELDS.iter().find(|field| field.name == *name)?;
            let figure = |p: &RecordedPoint| field.of(&p.system, p.span()).map(|f| f / unit);
            let all = points(shown.iter().map(|p| (p.t - p.seconds / 2.0, figure(p))));
            Some(series(field.title, Shape::Line, Side::Left, all))
        };
        names.iter().filter_map(line).collect()
    };
    let percent = [
        "cpu_percent",
        "iowait_percent",
        "steal_percent",
        "io_some_percent",
        "memory_some_percent",
        "cpu_some_percent",
    ];
    let drawn = |left, series| Drawn {
        x: linear(say!("label-time"), Unit::Seconds),
        left,
        right: None,
        series,
        marks: Vec::new(),
    };
    let named = |key, title| Named { key, title, caption: "" };
    let charts = [
        chart(
            &named("host-percent", &say!("recording-processors")),
            drawn(linear(say!("label-share-of-the-time"), Unit::Percent), lines(&percent, 1.0)),
        ),
        chart(
            &named("host-cache", &say!("recording-page-cache")),
            drawn(
                linear(say!("label-bytes"), Unit::Bytes),
                lines(&["dirty_bytes", "write_back_bytes"], 1.0),
            ),
        ),
    ];
    let mut blocks: Vec<Block> =
        beside(charts.into_iter().flatten().collect()).into_iter().collect();
    let fact_of = |field: &Field<SystemTally>| {
        let figure = r.totals.figures.get(field.name).copied().flatten()?;
        Some(fact(field.title, show_figure(field.unit, figure)))
    };
    let facts: Vec<_> = SYSTEM_FIELDS.iter().filter_map(fact_of).collect();
    if !facts.is_empty() {
        blocks.insert(0, full([Block::Facts(facts)]));
    }
    blocks.extend(cores(r).map(|table| full([Block::Table(table)])));
    blocks
}

fn cores(r: &Recording) -> Option<Table> {
    type Part = fn(&CpuTally) -> Option<u64>;
    let cores = &r.totals.cores;
    let parts: [(_, _, Part); 3] = [
        ("busy_percent", say!("label-busy"), |cpu| Some(cpu.busy_ticks)),
        ("iowait_percent", say!("label-waiting-for-i-o"), |cpu| cpu.iowait_ticks),
        ("steal_percent", say!("label-given-to-others"), |cpu| cpu.steal_ticks),
    ];
    let mut columns = vec![column("core", say!("label-processor"), Unit::Count)];
    let mut known: Vec<Part> = Vec::new();
    // Windows knows only the first of them.
    for (name, title, part) in parts {
        if cores.iter().any(|core| part(&core.cpu).is_some()) {
            columns.push(column(name, title, Unit::Percent));
            known.push(part);
        }
    }
    let line = |core: &counters::CoreTally| {
        let share = |part: &Part| number(part(&core.cpu).and_then(|ticks| core.cpu.percent(ticks)));
        let shares = known.iter().map(|part| share(part));
        [Cell::Number(f64::from(core.core))].into_iter().chain(shares).collect()
    };
    let lines = cores.iter().map(line).collect();
    let caption = say!("recording-whole-time");
    table("cores", say!("heading-processors"), &caption, columns, lines)
}

/// Attached figures, one chart per file.
fn attached(e: &Experiment<Recording>) -> Vec<Block> {
    let mut files: Vec<&str> = Vec::new();
    for series in &e.conclusion.attached {
        if !files.contains(&series.file.as_str()) {
            files.push(&series.file);
        }
    }
    let chart_of = |file: &&str| {
        let all = e.conclusion.attached.iter().filter(|series| series.file == **file);
        let line = |s: &results::AttachedSeries| {
            let size = s.points.len().div_ceil(POINTS).max(1);
            let figures = s.points.iter().step_by(size).map(|(t, figure)| (*t, Some(*figure)));
            series(&s.name, Shape::Line, Side::Left, points(figures))
        };
        let file = words::clean(file);
        chart(
            &Named {
                key: &format!("attached-{file}"),
                title: &file,
                caption: &say!("recording-attached"),
            },
            Drawn {
                x: linear(say!("label-time"), Unit::Seconds),
                left: linear(say!("label-figure"), Unit::Number),
                right: None,
                series: all.take(LINES).map(line).collect(),
                marks: marks(e),
            },
        )
    };
    first_large(files.iter().filter_map(chart_of).collect())
}
