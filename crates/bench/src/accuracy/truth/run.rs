//! One run of iosonde on a device of known behaviour, and what the device says of the same time.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::{Destroy, Event, Permissions, Prepared};
use results::Measurement;
use survey::Site;
use truth::{Delivered, Truth, Watch};
use workload::{Block, Bytes, EngineChoice, Stream, Target, Workload};

use crate::linux::Error;

const ATTEMPTS: usize = 3;
/// Enough for any pattern, and filled in a moment.
pub(super) const SIZE: u64 = 16 << 20;

/// How late the device and the host may be for a figure to be one of a quiet host.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quiet {
    /// 99 % of the device's answers come no later.
    pub(super) device_ns: f64,
    /// Ordinary threads wake no later, on average: every latency has that in it, too.
    pub(super) host_ns: f64,
}

impl Quiet {
    /// What figures of a device with this service time need.
    pub(super) fn for_service(service_ns: f64) -> Self {
        Self { device_ns: 0.05 * service_ns, host_ns: 0.01 * service_ns }
    }
}

/// A load on a known device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) engine: EngineChoice,
    pub(super) threads: u32,
    pub(super) depth: u32,
    pub(super) write_percent: u8,
    pub(super) durable: bool,
    pub(super) block_bytes: u64,
    pub(super) warmup_seconds: f64,
    pub(super) seconds: f64,
}

impl Default for Load {
    /// One 4 KiB random read at a time, for 10 s after 1 s.
    fn default() -> Self {
        Self {
            engine: EngineChoice::Auto,
            threads: 1,
            depth: 1,
            write_percent: 0,
            durable: false,
            block_bytes: 4096,
            warmup_seconds: 1.0,
            seconds: 10.0,
        }
    }
}

impl Load {
    /// The workload that makes this load.
    pub(super) fn on(&self, path: &Path) -> Workload {
        let target = Target { path: path.to_owned(), size_bytes: None };
        let stream = Stream {
            threads: self.threads,
            depth: self.depth,
            write_percent: self.write_percent,
            durable: self.durable,
            blocks: vec![Block { bytes: Bytes(self.block_bytes), weight: 1 }],
            ..Stream::default()
        };
        Workload {
            engine: self.engine,
            seconds: self.seconds,
            warmup_seconds: self.warmup_seconds,
            ..Workload::single(target, stream)
        }
    }
}

/// What iosonde reports and what the device says.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) measurement: Measurement,
    pub(super) delivered: Delivered,
    /// How late ordinary threads of the host woke, on average.
    pub(super) host_ns: f64,
    /// Neither the device nor the host was late.
    pub(super) quiet: bool,
}

impl Outcome {
    /// The last cell of a row: whether its figures of time mean anything.
    pub(super) fn host(&self) -> String {
        let word = if self.quiet { "quiet" } else { "late" };
        format!("{word}, {:.0} µs", self.host_ns / 1e3)
    }

    /// IOPS of iosonde, and of the device.
    pub(super) fn iops(&self) -> (f64, f64) {
        (self.measurement.total.iops, self.delivered.iops())
    }

    /// Mean latency of iosonde, and of the device; 0 where nothing was done.
    pub(super) fn latency_ns(&self) -> (f64, f64) {
        let tool = self.measurement.total.latency_ns.map_or(0.0, |l| l.mean);
        (tool, self.delivered.latency_mean_ns().unwrap_or(0.0))
    }
}

/// Does the workload on a path that leads to the device, again when that or the host was late.
pub(super) fn run(truth: &Truth, workload: &Workload, limit: Quiet) -> Result<Outcome, Error> {
    let stop = AtomicBool::new(false);
    let destroy = workload.targets.iter().map(|t| Destroy::new(&t.path)).collect();
    let permissions = Permissions { destroy, ..Permissions::default() };
    let site = Site::of(workload);
    let prepare = || engine::prepare(workload, &permissions, &stop, &mut |_| ());
    let prepared = truth.instantly(prepare)?;
    let mut outcome = once(truth, workload, &prepared, &site, limit)?;
    for _ in 1..ATTEMPTS {
        if outcome.quiet {
            break;
        }
        truth.instantly(|| ());
        outcome = once(truth, workload, &prepared, &site, limit)?;
    }
    Ok(outcome)
}

fn once(
    truth: &Truth,
    workload: &Workload,
    prepared: &Prepared,
    site: &Site,
    limit: Quiet,
) -> Result<Outcome, Error> {
    let stop = AtomicBool::new(false);
    let (mut begin, mut end) = (0, 0);
    let watch = Watch::begin();
    let measurement =
        survey::measure(workload, prepared, site, &stop, &mut |event: &Event| match event {
            Event::WindowBegan { .. } => begin = truth.now_ns(),
            Event::WindowEnded => end = truth.now_ns(),
            _ => {}
        })?;
    let host_ns = watch.lateness_mean_ns();
    let delivered = truth.delivered(begin..end);
    let quiet = delivered.lateness_p99_ns as f64 <= limit.device_ns && host_ns <= limit.host_ns;
    eprintln!(
        "  {:.1} IOPS; the device was late by {:.0} us (p99), the host by {:.0} us (mean)",
        measurement.total.iops,
        delivered.lateness_p99_ns as f64 / 1e3,
        host_ns / 1e3
    );
    Ok(Outcome { measurement, delivered, host_ns, quiet })
}
