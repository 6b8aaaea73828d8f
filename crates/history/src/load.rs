//! The columns of a measurement: what tables, lists and spreadsheets show of it.

use results::{Conditions, Environment, Latency, Measurement, Status};
use workload::Stream;

use crate::record::{status_name, status_of};
use crate::value::{Mismatch, Row, Value};

/// A measurement as one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Unique name of the measurement.
    pub measurement_id: String,
    /// The experiment that it is part of.
    pub experiment_id: String,
    /// The command that measured.
    pub kind: String,
    /// Its place in the experiment, from 0.
    pub cell: u32,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// How it ended.
    pub status: Status,
    /// Version of the program that measured.
    pub tool_version: String,
    /// The machine; none for a simulated device.
    pub host: Option<String>,
    /// What received the I/O; several are joined by `, `.
    pub target: String,
    /// Model of the disk under the first target, else its name.
    pub device: Option<String>,
    /// The backend that made the I/O.
    pub engine: String,
    /// The load in words, without depth.
    pub load: String,
    /// Name of the conditions; measurements of the same name can be compared.
    pub conditions_id: String,
    /// The word of a [`workload::PatternKind`].
    pub pattern: String,
    /// Share of I/Os that write, percent; none where streams differ.
    pub write_percent: Option<u32>,
    /// Size of one I/O; none where there are several.
    pub block_bytes: Option<u64>,
    /// Threads in all.
    pub threads: u64,
    /// Outstanding I/Os of each thread; none where streams differ.
    pub depth: Option<u32>,
    /// Outstanding I/Os in all, as asked.
    pub in_flight: u64,
    /// Outstanding I/Os in all, averaged over the window.
    pub achieved_in_flight: Option<f64>,
    /// Bytes of all targets that I/O could use.
    pub file_bytes: u64,
    /// Whether I/O went past the cache of the operating system.
    pub direct: bool,
    /// Whether every write was on stable media before it completed.
    pub durable: bool,
    /// Length of the measured window in seconds.
    pub seconds: Option<f64>,
    /// I/Os that completed in the window.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// I/Os a second.
    pub iops: Option<f64>,
    /// MiB (2^20 bytes) a second.
    pub mib_per_s: Option<f64>,
    /// Reads a second.
    pub read_iops: Option<f64>,
    /// Writes a second.
    pub write_iops: Option<f64>,
    /// Shortest latency.
    pub latency_min_ns: Option<u64>,
    /// Mean latency.
    pub latency_mean_ns: Option<f64>,
    /// Standard deviation of the latency.
    pub latency_stddev_ns: Option<f64>,
    /// Median latency.
    pub latency_p50_ns: Option<u64>,
    /// 90th percentile of the latency.
    pub latency_p90_ns: Option<u64>,
    /// 95th percentile of the latency.
    pub latency_p95_ns: Option<u64>,
    /// 99th percentile of the latency.
    pub latency_p99_ns: Option<u64>,
    /// 99.9th percentile of the latency.
    pub latency_p99_9_ns: Option<u64>,
    /// 99.99th percentile of the latency.
    pub latency_p99_99_ns: Option<u64>,
    /// 99.999th percentile of the latency.
    pub latency_p99_999_ns: Option<u64>,
    /// Longest latency.
    pub latency_max_ns: Option<u64>,
    /// Mean latency of the reads.
    pub read_latency_mean_ns: Option<f64>,
    /// Mean latency of the writes.
    pub write_latency_mean_ns: Option<f64>,
    /// I/Os that failed in the window.
    pub errors: u64,
    /// CPU for each I/O, microseconds.
    pub cpu_us_per_io: Option<f64>,
}

/// The columns of the table `measurements` that are this row, without those that name its experiment.
pub(crate) const COLUMNS: &str = "cell, id, started, status, tool_version, host, target, device, engine, load, \
     conditions_id, pattern, write_percent, block_bytes, threads, depth, in_flight, achieved_in_flight, file_bytes, \
     direct, durable, seconds, ios, bytes, iops, mib_per_s, read_iops, write_iops, latency_min_ns, latency_mean_ns, \
     latency_stddev_ns, latency_p50_ns, latency_p90_ns, latency_p95_ns, latency_p99_ns, latency_p99_9_ns, \
     latency_p99_99_ns, latency_p99_999_ns, latency_max_ns, read_latency_mean_ns, write_latency_mean_ns, errors, \
     cpu_us_per_io";

impl Load {
    /// The row of a measurement that is part of an experiment.
    #[must_use]
    pub fn of(measurement: &Measurement, experiment_id: &str, kind: &str, cell: u32) -> Self {
        let m = measurement;
        // Of another tool, zeros are what it does not tell.
        let own = m.origin.is_none();
        let workload = &m.workload;
        let streams = workload.streams.as_slice();
        let latency = m.total.latency_ns;
        let of = |pick: fn(&Latency) -> Option<u64>| latency.as_ref().and_then(pick);
        let mean = |latency: Option<Latency>| latency.and_then(|l| finite(l.mean));
        let targets: Vec<_> =
            workload.targets.iter().map(|t| t.path.display().to_string()).collect();
        Self {
            measurement_id: m.id.clone(),
            experiment_id: experiment_id.to_owned(),
            kind: kind.to_owned(),
            cell,
            started: m.started.clone(),
            status: m.status,
            tool_version: m.tool_version.clone(),
            host: host(&m.environment),
            target: targets.join(", "),
            device: device(&m.environment),
            engine: m.engine.name.clone(),
            load: workload.title(),
            conditions_id: Conditions::of(m).id(),
            pattern: workload.pattern_kind().word().to_owned(),
            write_percent: common(streams, |s| u32::from(s.write_percent)),
            block_bytes: common(streams, block).flatten(),
            threads: m.threads,
            depth: m.depth,
            in_flight: m.in_flight,
            achieved_in_flight: finite(m.achieved_in_flight).filter(|n| own || *n > 0.0),
            file_bytes: m.file_bytes,
            direct: workload.is_direct(),
            durable: workload.is_durable(),
            seconds: finite(m.seconds),
            ios: m.total.ios,
            bytes: m.total.bytes,
            iops: finite(m.total.iops),
            mib_per_s: finite(m.total.mib_per_s),
            read_iops: finite(m.read.iops),
            write_iops: finite(m.write.iops),
            latency_min_ns: of(|l| Some(l.min)),
            latency_mean_ns: mean(latency),
            latency_stddev_ns: latency.and_then(|l| finite(l.stddev)),
            latency_p50_ns: of(|l| l.p50),
            latency_p90_ns: of(|l| l.p90),
            latency_p95_ns: of(|l| l.p95),
            latency_p99_ns: of(|l| l.p99),
            latency_p99_9_ns: of(|l| l.p99_9),
            latency_p99_99_ns: of(|l| l.p99_99),
            latency_p99_999_ns: of(|l| l.p99_999),
            latency_max_ns: of(|l| Some(l.max)),
            read_latency_mean_ns: mean(m.read.latency_ns),
            write_latency_mean_ns: mean(m.write.latency_ns),
            errors: m.total.errors,
            cpu_us_per_io: finite(m.cpu.total_us_per_io).filter(|us| own || *us > 0.0),
        }
    }

    /// What goes into [`COLUMNS`].
    pub(crate) fn values(&self) -> Vec<Value> {
        vec![
            self.cell.into(),
            (&self.measurement_id).into(),
            (&self.started).into(),
            status_name(self.status).into(),
            (&self.tool_version).into(),
            self.host.as_ref().into(),
            (&self.target).into(),
            self.device.as_ref().into(),
            (&self.engine).into(),
            (&self.load).into(),
            (&self.conditions_id).into(),
            (&self.pattern).into(),
            self.write_percent.into(),
            self.block_bytes.into(),
            self.threads.into(),
            self.depth.into(),
            self.in_flight.into(),
            self.achieved_in_flight.into(),
            self.file_bytes.into(),
            self.direct.into(),
            self.durable.into(),
            self.seconds.into(),
            self.ios.into(),
            self.bytes.into(),
            self.iops.into(),
            self.mib_per_s.into(),
            self.read_iops.into(),
            self.write_iops.into(),
            self.latency_min_ns.into(),
            self.latency_mean_ns.into(),
            self.latency_stddev_ns.into(),
            self.latency_p50_ns.into(),
            self.latency_p90_ns.into(),
            self.latency_p95_ns.into(),
            self.latency_p99_ns.into(),
            self.latency_p99_9_ns.into(),
            self.latency_p99_99_ns.into(),
            self.latency_p99_999_ns.into(),
            self.latency_max_ns.into(),
            self.read_latency_mean_ns.into(),
            self.write_latency_mean_ns.into(),
            self.errors.into(),
            self.cpu_us_per_io.into(),
        ]
    }

    /// Reads a row of [`COLUMNS`], before which the experiment and its kind are.
    pub(crate) fn read(row: &mut Row) -> Result<Self, Mismatch> {
        Ok(Self {
            experiment_id: row.take()?,
            kind: row.take()?,
            cell: row.take()?,
            measurement_id: row.take()?,
            started: row.take()?,
            status: status_of(&row.take::<String>()?).unwrap_or(Status::Failed),
            tool_version: row.take()?,
            host: row.take()?,
            target: row.take()?,
            device: row.take()?,
            engine: row.take()?,
            load: row.take()?,
            conditions_id: row.take()?,
            pattern: row.take()?,
            write_percent: row.take()?,
            block_bytes: row.take()?,
            threads: row.take()?,
            depth: row.take()?,
            in_flight: row.take()?,
            achieved_in_flight: row.take()?,
            file_bytes: row.take()?,
            direct: row.take()?,
            durable: row.take()?,
            seconds: row.take()?,
            ios: row.take()?,
            bytes: row.take()?,
            iops: row.take()?,
            mib_per_s: row.take()?,
            read_iops: row.take()?,
            write_iops: row.take()?,
            latency_min_ns: row.take()?,
            latency_mean_ns: row.take()?,
            latency_stddev_ns: row.take()?,
            latency_p50_ns: row.take()?,
            latency_p90_ns: row.take()?,
            latency_p95_ns: row.take()?,
            latency_p99_ns: row.take()?,
            latency_p99_9_ns: row.take()?,
            latency_p99_99_ns: row.take()?,
            latency_p99_999_ns: row.take()?,
            latency_max_ns: row.take()?,
            read_latency_mean_ns: row.take()?,
            write_latency_mean_ns: row.take()?,
            errors: row.take()?,
            cpu_us_per_io: row.take()?,
        })
    }
}

/// The machine that measured.
pub(crate) fn host(environment: &Environment) -> Option<String> {
    environment.host.as_ref().map(|host| host.hostname.clone())
}

/// What a list calls the disk under the first target: its model, else its name.
pub(crate) fn device(environment: &Environment) -> Option<String> {
    let device = environment.storage.first()?.devices.first()?;
    Some(device.model.clone().unwrap_or_else(|| device.name.clone()))
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// What all streams have in common; none where they differ.
fn common<T: PartialEq>(streams: &[Stream], of: fn(&Stream) -> T) -> Option<T> {
    let first = of(streams.first()?);
    streams.iter().all(|stream| of(stream) == first).then_some(first)
}

fn block(stream: &Stream) -> Option<u64> {
    match stream.blocks.as_slice() {
        [one] => Some(one.bytes.0),
        _ => None,
    }
}
