//! The other parts of a device, each with the throughput that follows from it.

use truth::Truth;
use workload::{
    Bytes, EngineChoice, Nanoseconds, SimBucket, SimCache, SimCacheKind, SimDevice, SimStall,
    SimWriteCache, Target, Workload,
};

use super::closed::Servers;
use super::run::{self, Load, Quiet, SIZE};
use super::{off_percent, table, worst};
use crate::linux::Error;

const TEN_MS: u64 = 10_000_000;
const SERVERS: Servers = Servers { count: 8, service_ns: TEN_MS };

/// A device, the load on it, and the figures that must result.
struct Kind {
    name: &'static str,
    model: SimDevice,
    load: Load,
    /// Targets that are used at the same time.
    targets: usize,
    iops: f64,
}

impl Kind {
    /// 32 in flight, after 2 s in which bursts and caches are used up.
    fn new(name: &'static str, model: SimDevice, iops: f64) -> Self {
        let load = Load { depth: 32, warmup_seconds: 2.0, ..Load::default() };
        Self { name, model, load, targets: 1, iops }
    }

    fn with(self, change: impl FnOnce(&mut Load)) -> Self {
        let mut load = self.load;
        change(&mut load);
        Self { load, ..self }
    }

    fn workload(&self, truth: &Truth) -> Workload {
        let target = |index| Target { path: truth.path(index), size_bytes: None };
        let targets = (0..self.targets).map(target).collect();
        Workload { targets, ..self.load.on(&truth.path(0)) }
    }
}

fn limits() -> Vec<Kind> {
    let many = Servers { count: 32, ..SERVERS }.model();
    let link = SimDevice { link_bytes_per_s: Some(Bytes(16 << 20)), ..many.clone() };
    let bucket = SimBucket { iops: Some(400), burst_ios: 100, ..SimBucket::default() };
    let limited = SimDevice { queue_limit: Some(4), ..many.clone() };
    let slow = SimDevice { bytes_per_s: Some(Bytes(6_553_600)), ..SERVERS.model() };
    vec![
        Kind::new("link of 16 MiB/s, blocks of 64 KiB", link, 256.0)
            .with(|load| load.block_bytes = 64 << 10),
        Kind::new("token bucket of 400 IOPS", SimDevice { bucket: Some(bucket), ..many }, 400.0),
        Kind::new("32 servers, queue limit 4", limited, 400.0),
        Kind::new("10 ms and 10 ms for 64 KiB", slow, 400.0)
            .with(|load| load.block_bytes = 64 << 10),
    ]
}

fn caches() -> Vec<Kind> {
    let hit_ns = Nanoseconds(2_000_000);
    let size_bytes = Bytes(SIZE / 2);
    let cached = |kind| {
        let cache = SimCache { kind, size_bytes, hit_ns };
        SimDevice { cache: Some(cache), ..SERVERS.model() }
    };
    let drain_bytes_per_s = Bytes(2 << 20);
    let written = SimWriteCache { size_bytes: Bytes(1 << 20), drain_bytes_per_s, hit_ns };
    let written = SimDevice { write_cache: Some(written), ..SERVERS.model() };
    let durable = SimDevice { durable_ns: Some(Nanoseconds(TEN_MS)), ..SERVERS.model() };
    // With one slot per server nobody waits: 8 in flight of (2 ms + 10 ms) / 2 each.
    let of_half = 8.0 / 6e-3;
    vec![
        Kind::new("cache of half of the file", cached(SimCacheKind::Region), of_half)
            .with(|load| load.depth = 8),
        Kind::new("LRU cache of half of the file", cached(SimCacheKind::Lru), of_half)
            .with(|load| load.depth = 8),
        Kind::new("write cache that drains at 2 MiB/s", written, 512.0)
            .with(|load| load.write_percent = 100),
        Kind::new("durable writes, 10 ms more than 10 ms", durable, 50.0)
            .with(|load| (load.durable, load.write_percent, load.depth) = (true, 100, 1)),
    ]
}

fn others() -> Vec<Kind> {
    let period_ns = Nanoseconds(2_500_000_000);
    let stall = SimStall { period_ns, length_ns: Nanoseconds(500_000_000) };
    let stall = SimDevice { stall: Some(stall), ..SERVERS.model() };
    let separate = SimDevice { separate: true, ..SERVERS.model() };
    let two = |kind: Kind| Kind { targets: 2, ..kind.with(|l| l.engine = EngineChoice::Aio) };
    vec![
        Kind::new("stall of 0.5 s in 2.5 s", stall, 640.0),
        two(Kind::new("two targets on the same servers", SERVERS.model(), 800.0)),
        two(Kind::new("two targets on separate servers", separate, 1600.0)),
    ]
}

/// Measures every kind of device, and returns the tables.
pub(super) fn kinds() -> Result<String, Error> {
    let (mut rows, mut off_device, mut off_model) = (Vec::new(), Vec::new(), Vec::new());
    for kind in [limits(), caches(), others()].into_iter().flatten() {
        let truth = Truth::mount(kind.model.clone(), &[SIZE, SIZE])?;
        let limit = Quiet::for_service(SERVERS.service_ns as f64);
        let outcome = run::run(&truth, &kind.workload(&truth), limit)?;
        let (tool, device) = outcome.iops();
        if outcome.quiet {
            off_device.push(off_percent(tool, device));
            off_model.push(off_percent(tool, kind.iops));
        }
        rows.push(vec![
            kind.name.to_owned(),
            (kind.load.depth as usize * kind.targets).to_string(),
            format!("{tool:.1}"),
            format!("{:+.2}", off_percent(tool, device)),
            format!("{:.1}", kind.iops),
            format!("{:+.2}", off_percent(tool, kind.iops)),
            outcome.host(),
        ]);
    }
    let head =
        ["device", "in flight", "IOPS", "off the device %", "true IOPS", "off the truth %", "host"];
    Ok(format!(
        "Eight servers of 10 ms and reads of 4 KiB, unless noted otherwise.\n\n{}\n{} of {} \
         runs had a quiet host. Their largest deviations: {:.2} % from what the device delivered, \
         {:.2} % from the truth (cache hits are a matter of chance).\n",
        table(&head, &rows),
        off_device.len(),
        rows.len(),
        worst(off_device.into_iter()),
        worst(off_model.into_iter())
    ))
}
