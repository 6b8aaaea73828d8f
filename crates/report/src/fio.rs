//! Results in the shape of fio's JSON (`json+` of fio 3), for programs that draw or collect it.
//!
//! fio has three latencies: of the submission (slat), from there to completion (clat), and of both
//! (lat). iosonde has one, from submission to completion, which becomes both clat and lat; slat
//! counts nothing. Figures that iosonde does not have (context switches, page faults, depths of
//! single submissions) are left out.

use std::fmt::Write as _;

use inspect::files::Seal;
use results::{Document, Histogram, Latency, Measurement, Point, Statistics, StreamResult};
use serde_json::{Map, Value, json};
use workload::{Mode, PatternKind, RateLimit, Stream};

use crate::format::{Apart, Format};

/// The fio whose shape it is. Programs look for `fio-3` to know that times are nanoseconds.
const SHAPE: &str = "fio-3.33";

/// The percentiles that fio prints by default.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Upper bounds of fio's classes of latency: of nanoseconds and of microseconds.
const SMALL: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
/// The same of milliseconds, up to the last, which has none.
const LARGE: [u64; 11] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];

/// How this format is named and written.
pub static FORMAT: Format = Format {
    name: "fio-json",
    aliases: &[],
    title: "fio JSON",
    help: "In the shape of fio's JSON, for programs that draw it: one file, or one per load where \
        the output is a directory",
    endings: &["json"],
    media: "application/json",
    write: |content| Ok(text(content.documents).into_bytes()),
    seal: Seal::None,
    apart: Some(Apart {
        files,
        note: "programs that draw fio's results add up the loads of one file; name a directory \
               with `--output` for a file of each",
    }),
};

/// All loads of some results as the jobs of one run.
#[must_use]
pub fn text(documents: &[Document]) -> String {
    let measurements: Vec<&Measurement> =
        documents.iter().flat_map(Document::measurements).collect();
    of(&measurements)
}

/// Each load as its own run, with the name of a file that programs know it by:
/// `8k/randread-iodepth-4-numjobs-2.json`.
#[must_use]
pub fn files(documents: &[Document]) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut taken = std::collections::HashSet::new();
    for measurement in documents.iter().flat_map(Document::measurements) {
        let base = name(measurement);
        let mut name = format!("{base}.json");
        let mut number = 2_u64;
        while !taken.insert(name.clone()) {
            name = format!("{base}-{number}.json");
            number += 1;
        }
        files.push((name, of(&[measurement])));
    }
    files
}

fn name(measurement: &Measurement) -> String {
    let mut streams = measurement.workload.streams.iter();
    let Some(stream) = streams.next() else { return "load".to_owned() };
    let mut directory = size(stream.largest_block());
    if !matches!(stream.write_percent, 0 | 100) {
        let _ = write!(directory, "-w{}", stream.write_percent);
    }
    let (rw, threads) = (rw(stream), threads_of(measurement, stream));
    format!("{directory}/{rw}-iodepth-{}-numjobs-{threads}", stream.depth)
}

fn of(measurements: &[&Measurement]) -> String {
    let end = measurements.last().and_then(|m| ended(m)).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let version = measurements.last().map_or("", |m| m.tool_version.as_str());
    let jobs: Vec<Value> =
        measurements.iter().enumerate().flat_map(|(group, m)| jobs(group, m)).collect();
    let time = end.to_zoned(jiff::tz::TimeZone::UTC).strftime("%a %b %e %H:%M:%S %Y").to_string();
    let mut document = Map::new();
    document.insert("fio version".to_owned(), format!("{SHAPE} (iosonde {version})").into());
    document.insert("timestamp".to_owned(), end.as_second().into());
    document.insert("timestamp_ms".to_owned(), end.as_millisecond().into());
    document.insert("time".to_owned(), time.into());
    document.insert("jobs".to_owned(), jobs.into());
    let mut text = serde_json::to_string_pretty(&Ordered(&document)).unwrap_or_default();
    text.push('\n');
    text
}

/// The version first, whatever the order of a map is.
struct Ordered<'a>(&'a Map<String, Value>);

impl serde::Serialize for Ordered<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const FIRST: [&str; 4] = ["fio version", "timestamp", "timestamp_ms", "time"];
        let first = FIRST.iter().filter_map(|name| Some((*name, self.0.get(*name)?)));
        let rest = self.0.iter().filter(|(name, _)| !FIRST.contains(&name.as_str()));
        serializer.collect_map(first.chain(rest.map(|(name, value)| (name.as_str(), value))))
    }
}

fn ended(measurement: &Measurement) -> Option<jiff::Timestamp> {
    let start: jiff::Timestamp = measurement.started.parse().ok()?;
    let length = jiff::SignedDuration::try_from_secs_f64(measurement.seconds).ok()?;
    start.checked_add(length).ok()
}

/// One job per stream; the figures of the only one are those of the whole.
fn jobs(group: usize, m: &Measurement) -> Vec<Value> {
    let streams = m.workload.streams.iter();
    let each = streams.filter_map(|stream| {
        let found = m.streams.iter().find(|result| result.name == stream.name)?;
        Some(job(group, m, stream, found))
    });
    let jobs: Vec<Value> = each.collect();
    match (jobs.is_empty(), m.workload.streams.first()) {
        (true, Some(stream)) => {
            let whole = StreamResult {
                name: stream.name.clone(),
                threads: m.threads,
                depth: stream.depth,
                rate_reached_percent: None,
                total: m.total.clone(),
                read: m.read.clone(),
                write: m.write.clone(),
                sync: m.sync.clone(),
            };
            vec![job(group, m, stream, &whole)]
        }
        _ => jobs,
    }
}

fn job(group: usize, m: &Measurement, stream: &Stream, result: &StreamResult) -> Value {
    let alone = m.workload.streams.len() == 1;
    let series = if alone { m.series.as_slice() } else { &[] };
    let threads = threads_of(m, stream);
    let percent = |s: f64| {
        let all = m.seconds * m.threads.max(1) as f64;
        if all > 0.0 { s / all * 100.0 } else { 0.0 }
    };
    let histogram = of_text(&result.total);
    let mut job = json!({
        "jobname": result.name,
        "groupid": group,
        "error": 0,
        "eta": 0,
        "elapsed": m.seconds.ceil(),
        "job options": options(m, stream, threads),
        "read": direction(&result.read, m.seconds, series, |p| (p.read_iops, p.read_mib_per_s)),
        "write": direction(&result.write, m.seconds, series, |p| (p.write_iops, p.write_mib_per_s)),
        "trim": direction(&Statistics::default(), 0.0, &[], |_| (0.0, 0.0)),
        "sync": { "total_ios": result.sync.ios,
            "lat_ns": times(&result.sync, of_text(&result.sync).as_ref()) },
        "job_runtime": whole(m.seconds * 1e3 * threads as f64),
        "usr_cpu": percent(m.cpu.user_s.unwrap_or(0.0)),
        "sys_cpu": percent(m.cpu.system_s.unwrap_or(0.0)),
        "latency_depth": stream.depth,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    });
    if let Some(job) = job.as_object_mut() {
        let classes = classes(histogram.as_ref());
        let names = ["latency_ns", "latency_us", "latency_ms"];
        job.extend(names.into_iter().map(str::to_owned).zip(classes));
    }
    job
}

/// Threads of a stream on all of its targets.
fn threads_of(m: &Measurement, stream: &Stream) -> u64 {
    let targets = if stream.pool.is_some() {
        1
    } else {
        stream.target_indexes(m.workload.targets.len()).len().max(1)
    };
    u64::from(stream.threads).saturating_mul(targets as u64)
}

// ---------------------------------------------------------------------- the job options

/// The load in fio's options. A field that is not named here has no option, or a function of the
/// stream writes it: for a new field, the compiler asks here.
fn options(m: &Measurement, stream: &Stream, threads: u64) -> Value {
    #[rustfmt::skip]
    let Stream {
        name, blocks, depth, write_percent, durable, sync, rate, targets: _, threads: _,
        pattern: _, random_percent: _, distribution: _, align_bytes: _, mode: _, hint: _,
        rate_profile: _, think: _, offset_bytes: _, span_bytes: _, begin_bytes: _, diskspd: _,
        mix: _, pool: _, joined: _, members: _, buffers: _, content: _, content_file: _,
        cpus: _, priority: _,
    } = stream;
    let mut options = Map::new();
    let mut set = |name: &str, value: String| options.insert(name.to_owned(), Value::String(value));
    set("name", name.clone());
    let targets = stream.target_indexes(m.workload.targets.len());
    let paths = targets.iter().filter_map(|index| m.workload.targets.get(*index));
    let paths: Vec<String> =
        paths.map(|t| t.path.display().to_string().replace(':', "\\:")).collect();
    set("filename", paths.join(":"));
    set("size", m.file_bytes.to_string());
    set("rw", rw(stream).to_owned());
    if stream.reads() && stream.writes() {
        set("rwmixread", 100_u8.saturating_sub(*write_percent).to_string());
    }
    match blocks.as_slice() {
        [block] => set("bs", size(block.bytes.0)),
        blocks => {
            let all: f64 = blocks.iter().map(|b| f64::from(b.weight)).sum();
            let part = |b: &workload::Block| {
                format!("{}/{:.0}", size(b.bytes.0), f64::from(b.weight) * 100.0 / all.max(1.0))
            };
            let split: Vec<String> = blocks.iter().map(part).collect();
            set("bssplit", split.join(":"));
            set("bs", size(stream.largest_block()))
        }
    };
    set("iodepth", depth.to_string());
    set("numjobs", threads.to_string());
    set("ioengine", engine(m));
    set("direct", u8::from(m.workload.mode_of(stream) == Mode::Direct).to_string());
    set("runtime", m.workload.seconds.to_string());
    set("ramp_time", m.workload.warmup_seconds.to_string());
    set("time_based", "1".to_owned());
    set("group_reporting", "1".to_owned());
    if *durable && stream.writes() {
        set("sync", "dsync".to_owned());
    }
    if let Some(sync) = sync {
        let name = match sync.call {
            workload::SyncCall::Fsync => "fsync",
            workload::SyncCall::Fdatasync => "fdatasync",
        };
        set(name, sync.every_writes.to_string());
    }
    if let Some(rate) = rate {
        let each = |all: f64| (all / threads.max(1) as f64).round().to_string();
        match rate.limit {
            RateLimit::Iops(iops) => set("rate_iops", each(iops)),
            RateLimit::MibPerS(mib) => set("rate", each(mib * 1_048_576.0)),
        };
    }
    Value::Object(options)
}

/// fio's engine that does the same, or the name of what did it.
fn engine(m: &Measurement) -> String {
    match m.engine.name.as_str() {
        "uring" => "io_uring".to_owned(),
        "iocp" => "windowsaio".to_owned(),
        "aio" => "libaio".to_owned(),
        "sync" => "psync".to_owned(),
        other => m
            .engine
            .features
            .first()
            .cloned()
            .filter(|_| other == "fio")
            .unwrap_or_else(|| other.to_owned()),
    }
}

fn rw(stream: &Stream) -> &'static str {
    // A partly random order is fio's random with a `percentage_random`.
    let random = matches!(stream.pattern_kind(), PatternKind::Random | PatternKind::Mixed);
    match (random, stream.reads(), stream.writes()) {
        (true, true, true) => "randrw",
        (true, true, false) => "randread",
        (true, false, _) => "randwrite",
        (false, true, true) => "rw",
        (false, true, false) => "read",
        (false, false, _) => "write",
    }
}

/// `8k`, as fio's options are written.
fn size(bytes: u64) -> String {
    let units = [(1_u64 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| bytes.to_string(), |(unit, name)| format!("{}{name}", bytes / unit))
}

// ---------------------------------------------------------------------- what came of it

fn direction(
    s: &Statistics,
    seconds: f64,
    series: &[Point],
    of: fn(&Point) -> (f64, f64),
) -> Value {
    let used = s.ios > 0;
    let bandwidth = if used && seconds > 0.0 { s.bytes as f64 / seconds } else { 0.0 };
    let samples: Vec<(f64, f64)> = if used { series.iter().map(of).collect() } else { Vec::new() };
    let iops = Spread::of(samples.iter().map(|(iops, _)| *iops));
    // fio has bandwidths in KiB/s.
    let kib = Spread::of(samples.iter().map(|(_, mib)| *mib * 1024.0));
    let histogram = of_text(s);
    let times = times(s, histogram.as_ref());
    json!({
        "io_bytes": s.bytes,
        "io_kbytes": s.bytes >> 10,
        "bw_bytes": whole(bandwidth),
        "bw": whole(bandwidth / 1024.0),
        "iops": if used { s.iops } else { 0.0 },
        "runtime": if used { whole(seconds * 1e3) } else { 0 },
        "total_ios": s.ios,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": nothing(),
        "clat_ns": times,
        "lat_ns": times,
        "bw_min": whole(kib.min),
        "bw_max": whole(kib.max),
        "bw_agg": if used { 100.0 } else { 0.0 },
        "bw_mean": kib.mean,
        "bw_dev": kib.stddev,
        "bw_samples": samples.len(),
        "iops_min": whole(iops.min),
        "iops_max": whole(iops.max),
        "iops_mean": iops.mean,
        "iops_stddev": iops.stddev,
        "iops_samples": samples.len(),
    })
}

fn nothing() -> Value {
    json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 })
}

fn of_text(s: &Statistics) -> Option<Histogram> {
    s.histogram.as_deref().and_then(|text| Histogram::decode(text).ok())
}

/// A distribution, with percentiles and bins where there is a histogram.
fn times(s: &Statistics, histogram: Option<&Histogram>) -> Value {
    let Some(latency) = s.latency_ns.filter(|_| s.ios > 0) else { return nothing() };
    let mut times = json!({
        "min": latency.min.unwrap_or(0),
        "max": latency.max.unwrap_or(0),
        "mean": latency.mean,
        "stddev": latency.stddev.unwrap_or(0.0),
        "N": s.ios,
    });
    if let Some(object) = times.as_object_mut() {
        let percentiles = percentiles(&latency, histogram);
        if !percentiles.is_empty() {
            object.insert("percentile".to_owned(), Value::Object(percentiles));
        }
        if let Some(histogram) = histogram {
            let bins = histogram.buckets().map(|(ns, count)| (ns.to_string(), count.into()));
            object.insert("bins".to_owned(), Value::Object(bins.collect()));
        }
    }
    times
}

fn percentiles(latency: &Latency, histogram: Option<&Histogram>) -> Map<String, Value> {
    let known = |percent: f64| {
        if let Some(histogram) = histogram {
            return histogram.quantile(percent / 100.0);
        }
        let name = format!("p{percent}");
        latency.percentiles().into_iter().find(|(n, _)| *n == name).and_then(|(_, ns)| ns)
    };
    let (least, most) = (latency.min.unwrap_or(0), latency.max.unwrap_or(u64::MAX));
    let each = PERCENTILES.iter().filter_map(|p| {
        // Not `clamp`, which wants the least below the largest, and an imported result may say
        // otherwise.
        Some((format!("{p:.6}"), Value::from(known(*p)?.min(most).max(least))))
    });
    each.collect()
}

/// Percent of the I/Os in each of fio's classes of nanoseconds, microseconds and milliseconds.
fn classes(histogram: Option<&Histogram>) -> [Value; 3] {
    let bounds: Vec<u64> = SMALL
        .iter()
        .copied()
        .chain(SMALL.iter().map(|us| us * 1_000))
        .chain(LARGE.iter().map(|ms| ms * 1_000_000))
        .collect();
    let mut counts = vec![0_u64; bounds.len() + 1];
    let mut all = 0_u64;
    for (ns, count) in histogram.into_iter().flat_map(Histogram::buckets) {
        let class = bounds.partition_point(|bound| *bound <= ns);
        if let Some(place) = counts.get_mut(class) {
            *place = place.saturating_add(count);
        }
        all = all.saturating_add(count);
    }
    let percent = |count: &u64| if all > 0 { *count as f64 * 100.0 / all as f64 } else { 0.0 };
    let mut shares = counts.iter().map(percent);
    let mut named = |bounds: &[u64], last: Option<&str>| {
        let names = bounds.iter().map(u64::to_string).chain(last.map(str::to_owned));
        let class = names.map(|name| (name, Value::from(shares.next().unwrap_or(0.0))));
        Value::Object(class.collect())
    };
    [named(&SMALL, None), named(&SMALL, None), named(&LARGE, Some(">=2000"))]
}

/// How values are spread; zeros without values.
#[derive(Default)]
struct Spread {
    min: f64,
    max: f64,
    mean: f64,
    stddev: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count() as f64;
        if count == 0.0 {
            return Self::default();
        }
        let mean = values.clone().sum::<f64>() / count;
        let squares: f64 = values.clone().map(|v| (v - mean).powi(2)).sum();
        Self {
            min: values.clone().fold(f64::INFINITY, f64::min),
            max: values.fold(0.0, f64::max),
            mean,
            stddev: (squares / count).sqrt(),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
