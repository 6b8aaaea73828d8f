//! What a live system asked of its storage: the mix, rates and latencies over time, what a cache
//! would do, how sequential and how bursty it is.

use results::{
    Capture, CapturedKind, CapturedLocality, CapturedOp, CapturedPeak, CapturedPoint,
    CapturedPurpose, CapturedSequence, CapturedSpan, CapturedWrites, Experiment,
};
use workload::{show_duration, show_ns, show_number};

use super::captured_files;
use super::make::{
    Drawn, Named, chart, column, fact, first_large, full, linear, log2, log10, names, number,
    points, section, series, table, text, whole,
};
use crate::language::say;
use crate::model::{Block, Cell, Chart, Fact, Point, Section, Series, Shape, Side, Table, Unit};
use crate::words;

const MIB: f64 = 1_048_576.0;
/// Columns of the heat map; more points are joined.
const HEAT_COLUMNS: usize = 24;

/// All sections of a report on a trace.
pub(super) fn sections(e: &Experiment<Capture>) -> Vec<Section> {
    let c = &e.conclusion;
    let mix = [kinds(c), writes(c)].into_iter().flatten().map(Block::Table);
    let mix = mix.chain([full(devices(c).map(Block::Table))]);
    let over_time = [rates(e), latencies(e), heat(e)];
    let sections = [
        section("captured", say!("heading-what-was-captured"), vec![Block::Facts(facts(e))]),
        section("mix", say!("heading-mix"), mix.collect()),
        captured_files::files(e),
        captured_files::databases(e),
        section(
            "time",
            say!("heading-over-time"),
            first_large(over_time.into_iter().flatten().collect()),
        ),
        section(
            "locality",
            say!("heading-hot-set"),
            c.locality.iter().flat_map(|l| hot(e, l)).collect(),
        ),
        section("behaviour", say!("heading-arrivals"), arrivals(c)),
    ];
    sections.into_iter().flatten().collect()
}

/// Captions name the length of the whole trace.
fn caption(e: &Experiment<Capture>) -> String {
    let c = &e.conclusion;
    say!("capture-caption", ios = words::count(c.ios), time = length(c.seconds))
}

/// A length of time that may be less than a second.
fn length(seconds: f64) -> String {
    if seconds < 1.0 { show_ns(seconds * 1e9) } else { show_duration(seconds) }
}

/// The length of a trace, and from where to where that is.
fn span(c: &Capture) -> String {
    let time = length(c.seconds);
    match c.span {
        CapturedSpan::Recorded => time,
        CapturedSpan::BeginToLast => say!("capture-begin-to-last", time = time),
        CapturedSpan::FirstToLast => say!("capture-first-to-last", time = time),
    }
}

fn facts(e: &Experiment<Capture>) -> Vec<Fact> {
    let c = &e.conclusion;
    let rate = c.ios as f64 / c.seconds;
    let mut facts = vec![
        fact(say!("label-source"), words::clean(&c.source)),
        fact(say!("label-time"), span(c)),
        fact(
            say!("label-i-os"),
            if rate.is_finite() {
                say!("capture-ios", ios = words::count(c.ios), rate = show_number(rate))
            } else {
                words::count(c.ios)
            },
        ),
        fact(say!("label-lost"), words::count(c.lost_ios)),
    ];
    let peak = |peak: &CapturedPeak| {
        let (iops, rate) = (show_number(peak.iops), show_number(peak.most_mib_per_s));
        let at = show_duration(peak.t);
        match c.span {
            CapturedSpan::FirstToLast => say!("capture-peak", iops = iops, at = at, rate = rate),
            CapturedSpan::BeginToLast | CapturedSpan::Recorded => {
                say!("capture-peak-recorded", iops = iops, at = at, rate = rate)
            }
        }
    };
    facts.extend(c.busiest_second.iter().map(|p| fact(say!("label-busiest-second"), peak(p))));
    facts.extend(c.busiest_minute.iter().map(|p| fact(say!("label-busiest-minute"), peak(p))));
    facts
}

/// The word for a kind of I/O.
pub(super) fn word(kind: CapturedOp) -> String {
    match kind {
        CapturedOp::Read => say!("capture-read"),
        CapturedOp::Write => say!("capture-write"),
        CapturedOp::DurableWrite => say!("capture-durable-write"),
        CapturedOp::Flush => say!("capture-flush"),
        CapturedOp::LogWrite => say!("capture-log-write"),
        CapturedOp::Discard => say!("capture-discard"),
    }
}

/// The most frequent sizes in words: `8 KiB 91 %, 16 KiB 5 %`.
fn sizes(kind: &CapturedKind) -> String {
    let share = |ios: u64| words::percent(Some(100.0 * ios as f64 / kind.ios.max(1) as f64));
    let shown = kind.sizes.iter().filter(|size| size.bytes > 0).take(3);
    let shown: Vec<String> =
        shown.map(|size| format!("{} {}", words::size(size.bytes), share(size.ios))).collect();
    shown.join(", ")
}

/// Writes of the log and of data.
fn writes(c: &Capture) -> Option<Table> {
    let columns = vec![
        column("purpose", say!("label-purpose"), Unit::Text),
        column("kind", say!("label-kind"), Unit::Text),
        column("ios", say!("label-i-os"), Unit::Count),
        column("sequential_percent", say!("label-in-order"), Unit::Percent),
        column("sizes", say!("label-frequent-sizes"), Unit::Text),
        column("latency_p50_ns", "p50", Unit::Nanoseconds),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
    ];
    let row = |writes: &CapturedWrites, kind: &CapturedKind| -> Vec<Cell> {
        let purpose = match writes.purpose {
            CapturedPurpose::Log => say!("capture-log"),
            CapturedPurpose::Data => say!("capture-data"),
        };
        vec![
            text(purpose),
            text(word(kind.kind)),
            whole(kind.ios),
            number(writes.sequential_percent),
            text(sizes(kind)),
            whole(kind.latency_ns.map(|l| l.p50)),
            whole(kind.latency_ns.map(|l| l.p99)),
        ]
    };
    let rows = c.writes.iter().flat_map(|w| w.kinds.iter().map(move |kind| row(w, kind)));
    let caption = if c.files.is_some() { say!("capture-writes-caption") } else { String::new() };
    table("writes", say!("heading-writes-by-purpose"), &caption, columns, rows.collect())
}

fn kinds(c: &Capture) -> Option<Table> {
    let columns = vec![
        column("kind", say!("label-kind"), Unit::Text),
        column("ios", say!("label-i-os"), Unit::Count),
        column("share_percent", say!("label-share-of-i-os"), Unit::Percent),
        column("iops", "IOPS", Unit::Iops),
        column("mib_per_s", "MiB/s", Unit::MibPerS),
        column("sizes", say!("label-frequent-sizes"), Unit::Text),
        column("latency_mean_ns", say!("label-mean"), Unit::Nanoseconds).full(),
        column("latency_p50_ns", "p50", Unit::Nanoseconds),
        column("latency_p90_ns", "p90", Unit::Nanoseconds).full(),
        column("latency_p99_ns", "p99", Unit::Nanoseconds),
        column("latency_p99_9_ns", "p99.9", Unit::Nanoseconds).full(),
        column("latency_max_ns", say!("label-max"), Unit::Nanoseconds),
    ];
    let row = |kind: &CapturedKind| -> Vec<Cell> {
        let latency = kind.latency_ns;
        let moved = (kind.bytes > 0).then(|| kind.bytes as f64 / MIB / c.seconds);
        vec![
            text(word(kind.kind)),
            whole(kind.ios),
            number(100.0 * kind.ios as f64 / c.ios as f64),
            number(kind.ios as f64 / c.seconds),
            number(moved),
            text(sizes(kind)),
            number(latency.map(|l| l.mean)),
            whole(latency.map(|l| l.p50)),
            whole(latency.map(|l| l.p90)),
            whole(latency.map(|l| l.p99)),
            whole(latency.map(|l| l.p99_9)),
            whole(latency.map(|l| l.max)),
        ]
    };
    table("mix", say!("heading-mix"), "", columns, c.kinds.iter().map(row).collect())
}

fn devices(c: &Capture) -> Option<Table> {
    let columns = vec![
        column("device", say!("label-device"), Unit::Count),
        column("size_bytes", say!("label-size"), Unit::Bytes),
        column("reads", say!("capture-reads"), Unit::Count),
        column("writes", say!("capture-writes"), Unit::Count),
        column("flushes", say!("capture-flushes"), Unit::Count),
        column("discards", say!("capture-discards"), Unit::Count),
        column("read_bytes", say!("capture-bytes-read"), Unit::Bytes),
        column("write_bytes", say!("capture-bytes-written"), Unit::Bytes),
    ];
    let row = |d: &results::CapturedDevice| -> Vec<Cell> {
        let counts = [d.reads, d.writes, d.flushes, d.discards, d.read_bytes, d.write_bytes];
        let head = [whole(u64::from(d.number)), whole(d.size_bytes)];
        head.into_iter().chain(counts.map(whole)).collect()
    };
    table("devices", say!("heading-devices"), "", columns, c.devices.iter().map(row).collect())
}

/// A line of a figure over time.
fn line(
    name: String,
    shape: Shape,
    c: &Capture,
    figure: impl Fn(&CapturedPoint) -> Option<f64>,
) -> Series {
    let of = |point: &CapturedPoint| (point.t + point.seconds / 2.0, figure(point));
    series(name, shape, Side::Left, points(c.points.iter().map(of)))
}

fn rates(e: &Experiment<Capture>) -> Option<Chart> {
    let c = &e.conclusion;
    let rate = |name: String, count: fn(&CapturedPoint) -> u64| {
        let any = c.points.iter().any(|point| count(point) > 0);
        any.then(|| line(name, Shape::Line, c, |p| Some(count(p) as f64 / p.seconds)))
    };
    let series = [
        rate(say!("capture-reads"), |p| p.reads),
        rate(say!("capture-writes"), |p| p.writes),
        rate(say!("capture-flushes"), |p| p.flushes),
    ];
    let title = say!("capture-chart-of-rates");
    chart(
        &Named { key: "rates", title: &title, caption: &caption(e) },
        Drawn {
            x: linear(say!("label-time"), Unit::Seconds),
            left: linear(say!("label-i-os"), Unit::Iops),
            right: None,
            series: series.into_iter().flatten().collect(),
            marks: Vec::new(),
        },
    )
}

fn latencies(e: &Experiment<Capture>) -> Option<Chart> {
    let c = &e.conclusion;
    let of = |name: String, shape, figure: fn(&CapturedPoint) -> Option<u64>| {
        line(name, shape, c, |p| figure(p).map(|ns| ns as f64))
    };
    let (reads, writes) = (say!("capture-reads"), say!("capture-writes"));
    let title = say!("capture-chart-of-latency");
    chart(
        &Named { key: "latency", title: &title, caption: &caption(e) },
        Drawn {
            x: linear(say!("label-time"), Unit::Seconds),
            left: log10(say!("label-latency"), Unit::Nanoseconds),
            right: None,
            series: vec![
                of(format!("{reads} p50"), Shape::Dashed, |p| p.read_p50_ns),
                of(format!("{reads} p99"), Shape::Line, |p| p.read_p99_ns),
                of(format!("{writes} p50"), Shape::Dashed, |p| p.write_p50_ns),
                of(format!("{writes} p99"), Shape::Line, |p| p.write_p99_ns),
            ],
            marks: Vec::new(),
        },
    )
}

/// How many I/Os took how long, over time: a row for each class of latency.
fn heat(e: &Experiment<Capture>) -> Option<Chart> {
    let c = &e.conclusion;
    let joined: Vec<&[CapturedPoint]> =
        c.points.chunks(c.points.len().div_ceil(HEAT_COLUMNS).max(1)).collect();
    let mut classes: Vec<u64> =
        c.points.iter().flat_map(|p| &p.latencies).map(|class| class.from_ns).collect();
    classes.sort_unstable();
    classes.dedup();
    let row = |from_ns: &u64| {
        let cell = |(x, part): (usize, &&[CapturedPoint])| {
            let all = part.iter().flat_map(|p| &p.latencies).filter(|l| l.from_ns == *from_ns);
            let (x, y) = (x as f64, all.map(|class| class.ios).sum::<u64>() as f64);
            (y > 0.0).then_some(Point { x, y, interval: None, label: None })
        };
        let cells = joined.iter().enumerate().filter_map(cell).collect();
        let name = say!("capture-from", latency = show_ns(*from_ns as f64));
        series(name, Shape::Cells, Side::Left, cells)
    };
    let begins = joined.iter().filter_map(|part| part.first()).map(|p| show_duration(p.t));
    let title = say!("capture-chart-of-latency-classes");
    chart(
        &Named { key: "latency-heat", title: &title, caption: &caption(e) },
        Drawn {
            x: names(say!("label-time"), begins.collect()),
            left: linear(say!("label-i-os"), Unit::Count),
            right: None,
            series: classes.iter().rev().map(row).collect(),
            marks: Vec::new(),
        },
    )
}

/// A size that is only estimated, as text.
fn estimated(bytes: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    words::size(bytes.round() as u64)
}

fn hot(e: &Experiment<Capture>, l: &CapturedLocality) -> Vec<Block> {
    let mut facts = vec![fact(say!("label-working-set"), estimated(l.touched_bytes))];
    facts.extend(l.hot.iter().map(|part| {
        let share = words::percent(Some(part.access_percent));
        fact(say!("capture-accesses-go-to", share = share), estimated(part.bytes))
    }));
    if let Some(share) = l.read_after_write_percent {
        let share = say!("capture-read-after-write", share = words::percent(Some(share)));
        facts.push(fact(say!("label-read-after-write"), share));
    }
    let served = |miss_percent: f64| 100.0 - miss_percent;
    let curve = l.cache.iter().map(|size| (size.bytes as f64, Some(served(size.miss_percent))));
    let title = say!("capture-chart-of-cache");
    let drawn = chart(
        &Named { key: "cache", title: &title, caption: &caption(e) },
        Drawn {
            x: log2(say!("label-size-of-a-cache"), Unit::Bytes),
            left: linear(say!("label-reads-served"), Unit::Percent),
            right: None,
            series: vec![series(
                say!("label-reads-served"),
                Shape::Line,
                Side::Left,
                points(curve),
            )],
            marks: Vec::new(),
        },
    );
    let columns = vec![
        column("cache_bytes", say!("label-size-of-a-cache"), Unit::Bytes),
        column("served_percent", say!("label-reads-served"), Unit::Percent),
        column("miss_percent", say!("label-misses"), Unit::Percent),
    ];
    let row = |size: &results::CapturedCache| {
        vec![whole(size.bytes), number(served(size.miss_percent)), number(size.miss_percent)]
    };
    let rows = l.cache.iter().map(row).collect();
    let cache = table("cache", say!("heading-cache-by-size"), "", columns, rows);
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(drawn.map(Block::Chart));
    blocks.extend(cache.map(Block::Table));
    blocks
}

fn arrivals(c: &Capture) -> Vec<Block> {
    let sequence = |s: &CapturedSequence| {
        let (share, again) = (words::percent(Some(s.sequential_percent)), s.repeated_percent);
        let (again, run) = (words::percent(Some(again)), estimated(s.run_bytes));
        say!("capture-sequential", share = share, again = again, run = run)
    };
    let mut facts = Vec::new();
    facts.extend(c.read_sequence.iter().map(|s| fact(say!("capture-reads"), sequence(s))));
    facts.extend(c.write_sequence.iter().map(|s| fact(say!("capture-writes"), sequence(s))));
    facts.extend(c.depth.iter().map(|d| {
        let [p50, p99, max] = [d.p50, d.p99, d.max].map(words::count);
        let mean = show_number(d.mean);
        fact(
            say!("label-in-flight"),
            say!("capture-depth", mean = mean, p50 = p50, p99 = p99, max = max),
        )
    }));
    let columns = vec![
        column("window_ns", say!("label-window"), Unit::Nanoseconds),
        column("dispersion", say!("capture-all"), Unit::Number),
        column("read_dispersion", say!("capture-reads"), Unit::Number),
        column("write_dispersion", say!("capture-writes"), Unit::Number),
    ];
    let row = |b: &results::CapturedBursts| {
        vec![number(b.seconds * 1e9), number(b.all), number(b.reads), number(b.writes)]
    };
    let rows = c.bursts.iter().map(row).collect();
    let bursts = table("bursts", say!("heading-bursts"), &say!("capture-bursts"), columns, rows);
    let mut blocks = if facts.is_empty() { Vec::new() } else { vec![Block::Facts(facts)] };
    blocks.extend(bursts.map(Block::Table));
    blocks
}
