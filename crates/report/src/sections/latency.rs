//! How latencies are spread: percentiles and histograms, from every single I/O.

use results::{Histogram, Latency, Measurement, Statistics};
use workload::show_ns;

use super::caption::{self, Caption};
use super::make::{
    Drawn, Named, brief, chart, column, full, linear, log10, names, number, points, section,
    series, table, text, whole,
};
use crate::language::say;
use crate::model::{
    Block, Cell, Chart, Column, Listing, Section, Series, Shape, Side, Table, Unit,
};
use crate::words;

/// Lines of one chart that can still be told apart.
const LINES: usize = 8;
/// Buckets of a histogram: more than can be read are joined.
const BUCKETS: usize = 40;

/// A load, with its name in the report.
pub(super) type Load<'a> = (String, &'a Measurement);

/// Reads, writes and flushes of a load, as far as there were any.
fn kinds(m: &Measurement) -> Vec<(&'static str, &Statistics, Latency)> {
    let kinds = [("read", &m.read), ("write", &m.write), ("sync", &m.sync)];
    kinds.into_iter().filter_map(|(kind, s)| Some((kind, s, s.latency_ns?))).collect()
}

/// The section of a single measurement.
pub(super) fn of_measurement(load: &Load<'_>) -> Option<Section> {
    let mut section = of(std::slice::from_ref(load), true)?;
    section.blocks.push(brief(notes(load.1)));
    Some(section)
}

/// The section: percentiles of all loads as chart and table, and histograms where there are few
/// loads.
pub(super) fn of(loads: &[Load<'_>], histograms: bool) -> Option<Section> {
    let mut charts: Vec<Chart> = percentiles(loads).into_iter().collect();
    if histograms {
        charts.extend(loads.iter().filter_map(|(name, m)| histogram(name, m)));
        charts.extend(loads.iter().filter_map(|(name, m)| milliseconds(name, m)));
    }
    let mut blocks: Vec<Block> = match charts.len() {
        0 => Vec::new(),
        1 => vec![full(charts.into_iter().map(Block::Chart))],
        _ => vec![Block::Charts(charts)],
    };
    blocks.extend(figures(loads).map(Block::Table));
    section("latency", say!("heading-latency"), blocks)
}

/// One line per load and direction over the percentiles.
fn percentiles(loads: &[Load<'_>]) -> Option<Chart> {
    let mut heads = vec!["min".to_owned()];
    heads.extend(Latency::default().percentiles().iter().map(|(name, _)| (*name).to_owned()));
    heads.push("max".to_owned());
    let line = |(name, l): (String, Latency)| {
        let mut values = vec![l.min];
        values.extend(l.percentiles().iter().map(|(_, value)| *value));
        values.push(l.max);
        let points = values.iter().enumerate().map(|(i, v)| (i as f64, v.map(|v| v as f64)));
        series(&name, Shape::Line, Side::Left, super::make::points(points))
    };
    let all = loads.iter().flat_map(|(name, m)| {
        let kinds = kinds(m);
        // The name of a load of one kind says which; that of a mix names both.
        let alone = kinds.len() == 1;
        let name = move |kind: &str| {
            if alone && name.contains(kind) { name.clone() } else { format!("{name}, {kind}") }
        };
        kinds.into_iter().map(move |(kind, _, latency)| (name(kind), latency))
    });
    // A minimum and a maximum alone make no line.
    let known = |l: &Latency| l.percentiles().iter().any(|(_, value)| value.is_some());
    let lines: Vec<Series> = all.filter(|(_, l)| known(l)).take(LINES).map(line).collect();
    let caption = caption::of(loads.iter().map(|(_, m)| *m));
    let title = say!("chart-latency-percentiles");
    let named = Named { key: "percentiles", title: &title, caption: &caption };
    chart(
        &named,
        Drawn {
            x: names(say!("label-i-os-that-took-no-longer"), heads),
            left: log10(say!("label-latency"), Unit::Nanoseconds),
            right: None,
            series: lines,
            marks: Vec::new(),
        },
    )
}

/// Upper edge of the bucket of a value: four buckets for each power of ten … of two, joined until
/// few enough.
fn edges(low: u64, high: u64) -> Vec<u64> {
    let (low, high) = (low.max(1) as f64, high.max(1) as f64);
    let mut step = 0.25;
    while (high / low).log2() / step > BUCKETS as f64 {
        step *= 2.0;
    }
    let first = (low.log2() / step).floor();
    let count = ((high.log2() / step).ceil() - first).clamp(1.0, BUCKETS as f64 + 2.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let count = count as u32;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let edge = |i: u32| ((first + f64::from(i)) * step).exp2().round() as u64;
    (1..=count).map(edge).collect()
}

/// The share of I/Os between neighbouring latencies.
fn histogram(name: &str, m: &Measurement) -> Option<Chart> {
    let decoded: Vec<(&str, Histogram)> = kinds(m)
        .into_iter()
        .filter_map(|(kind, s, _)| Some((kind, Histogram::decode(s.histogram.as_deref()?).ok()?)))
        .filter(|(_, h)| !h.is_empty())
        .collect();
    let low = decoded.iter().filter_map(|(_, h)| h.min()).min()?;
    let high = decoded.iter().filter_map(|(_, h)| h.max()).max()?;
    let edges = edges(low, high);
    let columns = |kind: &str, histogram: &Histogram| {
        let mut shares = vec![0.0; edges.len()];
        let all = histogram.count() as f64;
        for (value, count) in histogram.buckets() {
            let place = edges.partition_point(|e| *e < value).min(edges.len().saturating_sub(1));
            if let Some(share) = shares.get_mut(place) {
                *share += 100.0 * count as f64 / all;
            }
        }
        let shown = shares.iter().enumerate().map(|(i, s)| (i as f64, Some(*s)));
        series(kind, Shape::Columns, Side::Left, points(shown))
    };
    let shown = decoded.iter().map(|(kind, h)| columns(kind, h)).collect();
    let labels = edges.iter().map(|e| format!("≤ {}", show_ns(*e as f64))).collect();
    let caption = words::caption(m);
    let title = say!("chart-histogram", load = name);
    let key = format!("histogram-{name}");
    chart(
        &Named { key: &key, title: &title, caption: &caption },
        Drawn {
            x: names(say!("label-latency"), labels),
            left: linear(say!("label-share-of-i-os"), Unit::Percent),
            right: None,
            series: shown,
            marks: Vec::new(),
        },
    )
}

/// The share of I/Os in each millisecond, of a tool that has nothing finer.
fn milliseconds(name: &str, m: &Measurement) -> Option<Chart> {
    let percents = m.origin.as_ref()?.histogram_percent.as_ref()?;
    let last = percents.len().checked_sub(1)?;
    let shown = percents.iter().enumerate().map(|(i, p)| (i as f64, Some(f64::from(*p))));
    let label = |ms: usize| if ms == last { format!("{ms}+ ms") } else { format!("{ms} ms") };
    let caption = words::caption(m);
    let title = say!("chart-share-in-each-millisecond", load = name);
    chart(
        &Named { key: &format!("histogram-{name}"), title: &title, caption: &caption },
        Drawn {
            x: names(say!("label-latency"), (0..percents.len()).map(label).collect()),
            left: linear(say!("label-share-of-i-os"), Unit::Percent),
            right: None,
            series: vec![series("all", Shape::Columns, Side::Left, points(shown))],
            marks: Vec::new(),
        },
    )
}

/// The columns; of one load, a terminal has said before what it is.
fn columns(loads: usize) -> Vec<Column> {
    let time = |key, name: &str| column(key, name, Unit::Nanoseconds);
    let of_load = |column: Column| if loads == 1 { column.full() } else { column };
    vec![
        of_load(column("load", say!("label-load"), Unit::Text)),
        of_load(column("in_flight", say!("label-in-flight"), Unit::Count)),
        column("kind", say!("label-kind"), Unit::Text),
        column("ios", say!("label-i-os"), Unit::Count),
        time("latency_min_ns", &say!("label-min")),
        time("latency_mean_ns", &say!("label-mean")),
        time("latency_stddev_ns", &say!("label-standard-deviation")),
        time("latency_p50_ns", "p50"),
        time("latency_p90_ns", "p90"),
        time("latency_p95_ns", "p95"),
        time("latency_p99_ns", "p99"),
        time("latency_p99_9_ns", "p99.9"),
        time("latency_p99_99_ns", "p99.99"),
        time("latency_p99_999_ns", "p99.999"),
        time("latency_max_ns", &say!("label-max")),
    ]
}

fn line(load: &Load<'_>, kind: &str, ios: u64, l: &Latency) -> Vec<Cell> {
    let (name, m) = load;
    let mut row = vec![
        text(name),
        whole(words::asked_in_flight(m)),
        text(kind),
        // Another tool may not tell how many there were.
        whole(Some(ios).filter(|ios| *ios > 0)),
        whole(words::least(m, l)),
        number(l.mean),
        number(l.stddev),
    ];
    row.extend(l.percentiles().iter().map(|(_, value)| whole(*value)));
    row.push(whole(l.max));
    row
}

/// Reads and writes together; `None` in an open loop, which reports each direction by itself.
fn total(m: &Measurement) -> Option<Latency> {
    // Of an unknown load nobody knows which I/Os were reads.
    let is_mixed = m.read.latency_ns.is_some() == m.write.latency_ns.is_some();
    let is_open = [&m.read, &m.write].iter().any(|s| s.service_ns.is_some());
    m.total.latency_ns.filter(|_| is_mixed && !is_open)
}

/// Percentiles by direction; in an open loop also the two parts of latency.
fn figures(loads: &[Load<'_>]) -> Option<Table> {
    let mut rows = Vec::new();
    for load in loads {
        rows.extend(total(load.1).map(|latency| line(load, "total", load.1.total.ios, &latency)));
        for (kind, s, latency) in kinds(load.1) {
            rows.push(line(load, kind, s.ios, &latency));
            let parts = [("service", s.service_ns), ("delay", s.delay_ns)];
            for (part, latency) in parts {
                if let Some(latency) = latency {
                    rows.push(line(load, &format!("{kind} {part}"), s.ios, &latency));
                }
            }
        }
    }
    let caption = Caption::of(loads.iter().map(|(_, m)| *m)).text();
    table(
        "percentiles",
        say!("heading-percentiles-of-latency"),
        &caption,
        columns(loads.len()),
        rows,
    )
}

/// Why percentiles are missing, and what a tool without percentiles tells instead.
fn notes(m: &Measurement) -> Vec<Block> {
    let all: Vec<Latency> = kinds(m).into_iter().map(|(.., latency)| latency).collect();
    let percentiles = || all.iter().flat_map(Latency::percentiles).map(|(_, value)| value);
    let mut notes = Vec::new();
    if percentiles().any(|value| value.is_none()) {
        let some = percentiles().any(|value| value.is_some());
        notes.push(Block::Paragraph(match m.origin.as_ref().map(|o| words::clean(&o.tool)) {
            None => say!("latency-missing-percentiles"),
            Some(tool) if some => say!("latency-missing-percentiles-of-tool-or-few", tool = tool),
            Some(tool) => say!("latency-missing-percentiles-of-tool", tool = tool),
        }));
    }
    let percents = m.origin.as_ref().and_then(|origin| origin.histogram_percent.as_ref());
    notes.extend(percents.map(|percents| {
        let line = |lead: &str, cells: &mut dyn Iterator<Item = String>| {
            cells.fold(lead.to_owned(), |line, cell| line + &format!("{cell:>3}"))
        };
        let ms = line("ms  ", &mut (0..percents.len()).map(|ms| ms.to_string())) + "+";
        let share = line("%   ", &mut percents.iter().map(u8::to_string));
        let title = say!("latency-share-in-each-millisecond");
        Block::Listing(Listing { title, lines: vec![ms, share] })
    }));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_cover_every_latency_and_are_few() {
        for (low, high) in [(0, 0), (1, u64::MAX), (80_000, 80_001), (90_000, 12_000_000)] {
            let edges = edges(low, high);
            assert!(edges.len() <= BUCKETS + 2, "{low} to {high}: {}", edges.len());
            assert!(edges.last().is_some_and(|e| *e >= high), "{low} to {high}");
            assert!(edges.windows(2).all(|w| matches!(w, [a, b] if a <= b)));
        }
    }
}
