//! How many times a load fits, where that follows from the device: in real time, on the path
//! through the kernel.
//!
//! The load is that of users who each wait most of the time. A device of so many servers carries
//! what these can serve (the bound of an interactive system, Denning and Buzen 1978), and latency
//! rises from there on, which a limit of a few service times finds.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use jobs::{Event, FitPlan, FitTarget, PartPlan, Plan, ReplayTarget, Session, Sink, conduct};
use results::{Document, FitCause, FitResult, FitSide};
use trace::{Header, Io, Kind, Writer};
use truth::{Limits, LoopDevice, Throttle, Truth, Unavailable};
use workload::{Nanoseconds, SimDevice, Target, Workload};

use super::table;
use crate::linux::Error;

const MS: u64 = 1_000_000;
/// Parts of 1 MiB that the load uses. Part of a user is some of them, so one part is the step in
/// which the number of users can be had.
const REGIONS: u64 = 64;
const SIZE: u64 = REGIONS << 20;

/// A load and a device of which it is known how many times the load fits.
#[derive(Debug, Clone, Copy)]
struct Known {
    servers: u32,
    service_ms: u64,
    /// Whether the load consists of durable writes instead of reads.
    writes: bool,
    /// I/Os per second of the load.
    per_second: u64,
    seconds: u64,
    /// The limit of 99 % of the I/Os.
    limit_ms: u64,
    /// The kernel's throttle, in I/Os per second, on a loop device over the device.
    throttle_iops: Option<u64>,
}

impl Known {
    /// How many times the load fits.
    fn times(&self) -> f64 {
        let device = f64::from(self.servers) * 1e3 / self.service_ms as f64;
        let iops = self.throttle_iops.map_or(device, |most| device.min(most as f64));
        iops / self.per_second as f64
    }

    fn model(&self) -> SimDevice {
        let time = Nanoseconds(self.service_ms * MS);
        SimDevice {
            servers: self.servers,
            read_ns: time,
            write_ns: time,
            // No longer than a plain write.
            durable_ns: Some(Nanoseconds(0)),
            ..SimDevice::default()
        }
    }

    /// The load: I/Os at even distances, each of them late by chance.
    fn trace(&self, path: &Path) -> Result<(), Error> {
        let gap_ns = 1_000_000_000 / self.per_second;
        let io = |number: u64| {
            let late = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            let jitter = gap_ns * (late % 1000) / 1000;
            Io {
                issued_ns: number * gap_ns + jitter,
                latency_ns: Some(self.service_ms * MS),
                device: 0,
                stream: 0,
                offset_bytes: (number * 7919 % REGIONS) << 20,
                length_bytes: 4096,
                kind: if self.writes { Kind::DurableWrite } else { Kind::Read },
            }
        };
        let mut writer = Writer::new(BufWriter::new(File::create(path)?), &Header::default())?;
        for number in 0..self.per_second * self.seconds {
            writer.write(io(number))?;
        }
        writer.finish()?;
        Ok(())
    }

    /// Replays the load on the device, and returns the bracket.
    fn fit(&self) -> Result<FitResult, Error> {
        let truth = Truth::mount(self.model(), &[SIZE])?;
        let Some(iops) = self.throttle_iops else { return self.fit_on(&truth.path(0)) };
        let device = LoopDevice::attach(&truth.path(0))?;
        let limits = Limits { read_iops: Some(iops), write_iops: Some(iops), ..Limits::default() };
        let throttle = Throttle::new(device.path(), &limits)?;
        throttle.within(|| self.fit_on(device.path()))?
    }

    fn fit_on(&self, target: &Path) -> Result<FitResult, Error> {
        let directory = tempfile::tempdir()?;
        let trace = directory.path().join("known.iotrace");
        self.trace(&trace)?;
        let kind = if self.writes { "durable" } else { "read" };
        let limit = format!("{kind}={}ms@p99", self.limit_ms).parse()?;
        let like = ReplayTarget::of(&Workload::default(), None);
        let on = like.at(&Target { path: target.to_owned(), size_bytes: None });
        let plan = FitPlan {
            part: PartPlan::new(&trace, None, None),
            seconds: self.seconds as f64 + 1.0,
            limits: vec![limit],
            growth: None,
            targets: vec![FitTarget { on, model: None, at_best: None }],
        };
        let permissions =
            Permissions { destroy: vec![engine::Destroy::new(target)], ..Permissions::default() };
        let (mut answer, stop) = (Answer(None), AtomicBool::new(false));
        let mut session =
            Session { permissions, recording: None, sink: &mut answer, stop: &stop, resumed: None };
        conduct(&Plan::Fit(Box::new(plan)), &mut session)?;
        answer.0.ok_or_else(|| "the fit had no answer".into())
    }
}

/// Replays that say nothing about the device, because the host gave out.
fn failed_by_host(found: &FitResult) -> usize {
    found.attempts.iter().filter(|attempt| attempt.cause == Some(FitCause::Host)).count()
}

/// The answer of a fit of one target.
struct Answer(Option<FitResult>);

impl Sink for Answer {
    fn hear(&mut self, event: &Event) {
        if let Event::Step { title, .. } = event {
            eprintln!("  {title}");
        }
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        if let Document::Fit(fit) = document {
            self.0 = fit.conclusion.results.first().cloned();
        }
        Ok(())
    }
}

/// Reads and durable writes, and the kernel's throttle.
const CASES: [Known; 4] = [
    READS,
    Known { servers: 1, per_second: 20, service_ms: 20, limit_ms: 100, ..READS },
    Known { writes: true, servers: 2, per_second: 40, ..READS },
    Known { service_ms: 5, throttle_iops: Some(300), per_second: 60, limit_ms: 400, ..READS },
];
const READS: Known = Known {
    servers: 4,
    service_ms: 20,
    writes: false,
    per_second: 50,
    seconds: 6,
    limit_ms: 80,
    throttle_iops: None,
};

/// The load of this host, as text for the page.
fn busy() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().filter(|text| !text.is_empty());
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let processors = workload::plural(cpus as u64, "processor", "processors");
    load.map_or("the load of the host was not known".to_owned(), |load| {
        format!("the load of the host was {load} on {processors}")
    })
}

/// Writes the section of the page.
pub(super) fn run() -> Result<String, Error> {
    let (busy, mut rows) = (busy(), Vec::new());
    for known in CASES {
        let found = match known.fit() {
            Ok(found) => found,
            Err(error) if error.is::<Unavailable>() => {
                return Ok(format!("Not to be had here: {error}.\n"));
            }
            Err(error) => return Err(error),
        };
        let edge = |edge: results::FitEdge| match edge.side {
            FitSide::At => format!("{:.2}", edge.users),
            FitSide::Above => format!("more than {:.2}", edge.users),
            FitSide::Below => format!("less than {:.2}", edge.users),
        };
        let device = match known.throttle_iops {
            None => {
                let servers = workload::plural(known.servers.into(), "server", "servers");
                format!("{servers} of {} ms", known.service_ms)
            }
            Some(iops) => format!("a throttle at {iops} per second"),
        };
        let kind = if known.writes { "durable writes" } else { "reads" };
        rows.push(vec![
            device,
            format!("{} {kind} per second", known.per_second),
            format!("{} ms", known.limit_ms),
            format!("{:.2}", known.times()),
            edge(found.lower),
            edge(found.upper),
            format!("{} of {}", failed_by_host(&found), found.attempts.len()),
        ]);
    }
    let head =
        ["device", "load", "limit of 99 %", "fits", "at least", "at most", "failed by the host"];
    Ok(format!(
        "`iosonde fit` in real time, on FUSE and on the kernel's throttle. *Fits* is what the \
         servers can do, divided by the load. Each replay takes 6 s. A queue grows slowly where \
         the load is little more than that, so *at least* may exceed it by what the limit leaves \
         room for in 4 s: 2 % where it is 80 ms, 10 % where it is 400 ms. *Failed by the host*: \
         replays of a fit that say nothing about the device, because the host gave out. At the \
         start, {}.\n\n{}",
        busy,
        table(&head, &rows)
    ))
}
