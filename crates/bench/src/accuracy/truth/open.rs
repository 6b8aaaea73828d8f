//! Open loops on a device that stalls: a tool that waits for the device before it asks again does
//! not see the stall.

use device::{Device, Op, Request};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use truth::Truth;
use workload::{Arrival, Nanoseconds, Rate, RateLimit, SimDevice, SimStall};

use super::run::{self, Load, Outcome, Quiet, SIZE};
use super::{off_percent, table, worst};
use crate::linux::Error;

pub(super) const RATE: f64 = 600.0;
pub(super) const PERIOD_NS: u64 = 5_000_000_000;
const PERCENTS: [usize; 3] = [50, 95, 99];
/// Periods of the device over which the truth is taken.
const PERIODS: u64 = 2000;

/// Far more capacity than is asked for, but none of it for 1 s in 5 s.
fn model() -> SimDevice {
    let length_ns = Nanoseconds(1_000_000_000);
    SimDevice {
        servers: 8,
        read_ns: Nanoseconds(1_000_000),
        stall: Some(SimStall { period_ns: Nanoseconds(PERIOD_NS), length_ns }),
        ..SimDevice::default()
    }
}

/// Percentiles of the latency that independent users see: Poisson arrivals, put to the model
/// directly.
fn percentiles_ns() -> [u64; 3] {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut device = Device::new(&model(), &[SIZE], 1);
    let read = Request { target: 0, op: Op::Read, offset: 0, bytes: 4096, durable: false };
    let (mut now_ns, mut latencies_ns) = (0.0, Vec::new());
    loop {
        let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        now_ns -= uniform.ln() / RATE * 1e9;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
        let at_ns = now_ns as u64;
        if at_ns >= PERIODS * PERIOD_NS {
            break;
        }
        latencies_ns.push(device.serve(&read, at_ns).done_ns - at_ns);
    }
    latencies_ns.sort_unstable();
    PERCENTS.map(|percent| latencies_ns[latencies_ns.len() * percent / 100])
}

/// The reported figures next to the true ones.
pub(super) struct Compared {
    pub(super) outcome: Outcome,
    /// Percent, iosonde's figure, and the truth.
    pub(super) percentiles: Vec<(usize, u64, u64)>,
}

impl Compared {
    /// By how many percent each percentile is off.
    pub(super) fn off_percent(&self) -> impl Iterator<Item = f64> {
        self.percentiles.iter().map(|(_, tool, truth)| off_percent(*tool as f64, *truth as f64))
    }
}

/// An open loop of so many periods.
pub(super) fn compare(depth: u32, periods: u64) -> Result<Compared, Error> {
    let truth = Truth::mount(model(), &[SIZE])?;
    let seconds = (periods * PERIOD_NS) as f64 / 1e9;
    let load = Load { depth, warmup_seconds: 0.5, seconds, ..Load::default() };
    let mut workload = load.on(&truth.path(0));
    let rate = Rate { limit: RateLimit::Iops(RATE), arrival: Arrival::Poisson };
    workload.streams[0].rate = Some(rate);
    // Short against the stall.
    let limit = Quiet { device_ns: 10e6, host_ns: 10e6 };
    let outcome = run::run(&truth, &workload, limit)?;
    let latency = outcome.measurement.total.latency_ns.unwrap_or_default();
    let tool = [latency.p50, latency.p95, latency.p99].map(Option::unwrap_or_default);
    let percentiles = PERCENTS.into_iter().zip(tool).zip(percentiles_ns());
    let percentiles = percentiles.map(|((percent, tool), truth)| (percent, tool, truth)).collect();
    Ok(Compared { outcome, percentiles })
}

/// Two depths: the slots do not matter, because latency counts from the moment an I/O was due.
pub(super) fn stalls() -> Result<String, Error> {
    let (mut rows, mut deviations) = (Vec::new(), Vec::new());
    for depth in [32, 1024] {
        let compared = compare(depth, 12)?;
        // The median is outside of the stalls, where the way to the device weighs on 1 ms.
        deviations.extend(compared.off_percent().skip(1));
        for (percent, tool, truth) in &compared.percentiles {
            rows.push(vec![
                depth.to_string(),
                format!("{:.1}", compared.outcome.iops().0),
                format!("p{percent}"),
                format!("{:.2}", *tool as f64 / 1e6),
                format!("{:.2}", *truth as f64 / 1e6),
                format!("{:+.1}", off_percent(*tool as f64, *truth as f64)),
                compared.outcome.host(),
            ]);
        }
    }
    let head = ["slots", "IOPS", "latency", "reported, ms", "true, ms", "off %", "host"];
    let table = table(&head, &rows);
    Ok(format!(
        "{RATE} reads per second arrive at random (Poisson) moments for 60 s. The truth is what \
         the model gives for {PERIODS} periods of such arrivals.\n\n{table}\nLargest deviation of \
         p95 and p99: {:.1} %.\n",
        worst(deviations.into_iter())
    ))
}
