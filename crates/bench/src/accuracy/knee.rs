//! Saturation points of simulated devices whose truth is known, found by the experiment of
//! `iosonde knee`.

use std::sync::atomic::AtomicBool;

use analysis::knee::{LoadPoint, Search, find_knee};
use analysis::numbers;
use engine::Permissions;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use results::knee::{Interval, Knee};
use results::{Experiment, Saturation};
use survey::{KneeOptions, LabContext, Publish, Setup, Timing};
use workload::{
    Block, Bytes, EngineChoice, Mode, Nanoseconds, Precision, SimAssignment, SimDevice, SimNoise,
    SimService, Stream, Target,
};

use super::table;
use crate::linux::Error;

const SEEDS: u64 = 100;
/// The deepest load that is searched, as `iosonde knee` has it.
const MOST: u32 = 256;
/// Noise from run to run, in percent.
const NOISE_PERCENT: f64 = 5.0;
/// Service time of every device, in nanoseconds.
const SERVICE_NS: u64 = 5_000_000;

/// A device, and its true saturation point.
struct Case {
    little_knee: f64,
    /// Throughput by load, in units that do not matter.
    curve: Box<dyn Fn(f64) -> f64>,
    /// `None` if it is not simulated but given by its curve alone.
    sim: Option<(SimDevice, u64)>,
}

type Make = fn(&mut Chance) -> Case;

const KINDS: [(&str, Make); 6] = [
    ("balanced, 4 to 64 servers", balanced),
    ("exponential service, 4 to 64 servers", exponential),
    ("random channels, 4 to 32", random_channels),
    ("link, saturated at 2 to 16 in flight", link),
    ("queue limit, 4 to 64", queue),
    ("retrograde (curve only)", retrograde),
];

fn balanced(chance: &mut Chance) -> Case {
    let servers = chance.size(4.0, 64.0);
    let sim = SimDevice { servers: whole(servers), ..device() };
    Case { little_knee: servers, curve: Box::new(move |n| n.min(servers)), sim: Some((sim, 8192)) }
}

fn exponential(chance: &mut Chance) -> Case {
    let case = balanced(chance);
    let sim =
        case.sim.map(|(sim, block)| (SimDevice { service: SimService::Exponential, ..sim }, block));
    Case { sim, ..case }
}

/// A closed network of equal exponential queues, exact by mean value analysis: c N / (N + c - 1).
fn random_channels(chance: &mut Chance) -> Case {
    let channels = chance.size(4.0, 32.0);
    let sim = SimDevice {
        servers: whole(channels),
        assignment: SimAssignment::Random,
        service: SimService::Exponential,
        ..device()
    };
    let curve = Box::new(move |n: f64| channels * n / (n + channels - 1.0));
    Case { little_knee: channels, curve, sim: Some((sim, 8192)) }
}

/// One I/O at a time on the link, any number waiting for it: N* = 1 + service time by time on the
/// link.
fn link(chance: &mut Chance) -> Case {
    let little_knee = chance.between(2.0, 16.0);
    let on_link_s = SERVICE_NS as f64 / 1e9 / (little_knee - 1.0);
    let bytes_per_s = 65_536.0 / on_link_s;
    let link_bytes_per_s = Some(Bytes(u64::from(whole(bytes_per_s))));
    // I/Os of different length would wait for each other on the link, which the formula leaves out.
    let noise = Some(SimNoise { run_percent: NOISE_PERCENT, ..SimNoise::default() });
    let sim = SimDevice { servers: 512, link_bytes_per_s, noise, ..device() };
    Case { little_knee, curve: Box::new(move |n| n.min(little_knee)), sim: Some((sim, 65_536)) }
}

fn queue(chance: &mut Chance) -> Case {
    let limit = chance.size(4.0, 64.0);
    let sim = SimDevice { servers: 512, queue_limit: Some(whole(limit)), ..device() };
    Case { little_knee: limit, curve: Box::new(move |n| n.min(limit)), sim: Some((sim, 8192)) }
}

/// The universal scalability law: N* is the height of its peak in units of one I/O alone.
fn retrograde(chance: &mut Chance) -> Case {
    let coherence = 0.0002 * 10.0_f64.powf(chance.unit());
    let curve = move |n: f64| n / (1.0 + 0.02 * (n - 1.0) + coherence * n * (n - 1.0));
    let little_knee = curve((0.98 / coherence).sqrt());
    Case { little_knee, curve: Box::new(curve), sim: None }
}

fn device() -> SimDevice {
    let (read_ns, write_ns) = (Nanoseconds(SERVICE_NS), Nanoseconds(SERVICE_NS));
    let noise = Some(SimNoise { run_percent: NOISE_PERCENT, io_percent: 10.0, drift: None });
    SimDevice { read_ns, write_ns, noise, ..SimDevice::default() }
}

impl Case {
    /// The least load with 95 % of the highest throughput of all loads that may be measured.
    fn operating_load(&self) -> f64 {
        let loads = || (100..=MOST * 100).map(|n| f64::from(n) / 100.0);
        let highest = loads().map(&self.curve).fold(0.0, f64::max);
        loads().find(|n| (self.curve)(*n) >= 0.95 * highest).unwrap_or(f64::from(MOST))
    }

    fn find(&self, seed: u64) -> Result<Option<(Knee, usize)>, Error> {
        let Some((sim, block)) = &self.sim else { return Ok(self.search(seed)) };
        let options = options(EngineChoice::Sim, Some(sim.clone()), *block, seed);
        let found = conduct(&options)?.conclusion;
        Ok(found.knee.map(|knee| (knee, found.curve.len())))
    }

    /// The search on the curve, with noise.
    fn search(&self, seed: u64) -> Option<(Knee, usize)> {
        let mut chance = Chance::new(!seed);
        let search = Search::new(1, MOST);
        let mut points = Vec::new();
        while let Some(load) = search.next(&points) {
            let in_flight = f64::from(load);
            let scatter = (NOISE_PERCENT / 100.0 * chance.normal()).exp();
            let throughput = (self.curve)(in_flight) * scatter;
            let latency_ns = in_flight / throughput * 1e9;
            points.push(LoadPoint { in_flight, throughput, latency_ns, half_width_percent: None });
        }
        find_knee(&points).map(|knee| (knee.publish(), points.len()))
    }
}

/// How the experiment is made in virtual time.
pub(super) fn options(
    engine: EngineChoice,
    sim: Option<SimDevice>,
    block: u64,
    seed: u64,
) -> KneeOptions {
    let precision = Precision { percent: 5.0, at_least_seconds: 2.0, ..Precision::default() };
    let timing = Timing {
        seconds: 6.0,
        warmup_seconds: 0.2,
        precision: Some(precision),
        settle_seconds: 0.0,
    };
    let setup = Setup {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(64 << 30)) }],
        permissions: Permissions::default(),
        engine,
        sim,
        mode: Mode::Direct,
        seed,
        timing,
    };
    let blocks = vec![Block { bytes: Bytes(block), weight: 1 }];
    let stream = Stream { blocks, ..Stream::default() };
    KneeOptions { setup, stream, in_flight: (1, MOST), link: None, latency_target: None }
}

/// Runs the experiment on the device.
pub(super) fn conduct(options: &KneeOptions) -> Result<Experiment<Saturation>, Error> {
    Ok(survey::knee(options, LabContext::new(&AtomicBool::new(false), &mut |_| ()))?)
}

/// The findings on devices of one kind.
#[derive(Default)]
struct Tally {
    devices: u64,
    little_knee: u64,
    operating_load: u64,
    knee_held: u64,
    load_held: u64,
    /// Distance of N* from the truth, percent.
    apart: Vec<f64>,
    cost: Vec<f64>,
}

impl Tally {
    fn add(&mut self, case: &Case, found: Option<&(Knee, usize)>) {
        self.devices += 1;
        let Some((knee, cost)) = found else { return };
        let operating_load = case.operating_load();
        let holds = |interval: Option<Interval>, truth: f64| {
            u64::from(interval.is_some_and(|i| i.low <= truth && truth <= i.high))
        };
        if let Some(little_knee) = knee.little_knee {
            self.little_knee += u64::from(within(little_knee, case.little_knee));
            self.apart.push(100.0 * (little_knee / case.little_knee - 1.0).abs());
        }
        self.operating_load += u64::from(within(knee.operating_load, operating_load));
        self.knee_held += holds(knee.little_knee_interval, case.little_knee);
        self.load_held += holds(knee.operating_load_interval, operating_load);
        self.cost.push(*cost as f64);
    }
}

/// Within one step of the search.
fn within(value: f64, truth: f64) -> bool {
    value <= 2.0 * truth && value >= truth / 2.0
}

fn tally(make: Make, seeds: u64) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    for seed in 1..=seeds {
        let case = make(&mut Chance::new(seed));
        tally.add(&case, case.find(seed)?.as_ref());
    }
    Ok(tally)
}

/// Writes the section of the page.
pub(super) fn run() -> Result<String, Error> {
    let mut rows = Vec::new();
    for (name, make) in KINDS {
        let tally = tally(make, SEEDS)?;
        let percent = |count: u64| format!("{:.0}", 100.0 * count as f64 / tally.devices as f64);
        let median = |values: &[f64]| numbers::median(values).unwrap_or(f64::NAN);
        let most = tally.cost.iter().copied().fold(0.0, f64::max);
        rows.push(vec![
            name.to_owned(),
            percent(tally.little_knee),
            percent(tally.operating_load),
            format!("{:.1}", median(&tally.apart)),
            percent(tally.knee_held),
            percent(tally.load_held),
            format!("{:.0}, {most:.0}", median(&tally.cost)),
        ]);
    }
    let heads = [
        "device",
        "N* within x2, %",
        "N95 within x2, %",
        "median error of N*, %",
        "interval of N* holds, %",
        "interval of N95 holds, %",
        "measurements: median, most",
    ];
    Ok(format!(
        "`iosonde knee` searched {SEEDS} simulated devices of each kind from 1 to {MOST} I/Os in \
         flight. The seed decides the size of a device. Service times of {} ms vary by \
         {NOISE_PERCENT} % from one measurement to the next (standard deviation), and by 10 % from \
         I/O to I/O (not on a link). A single measurement cannot detect the former. N95 is that of \
         the loads up to {MOST}. *Interval holds* is the share of devices whose 95 % interval \
         contains the truth. It is smaller where the fitted curve does not quite match the device \
         (random channels, a peak). *Measurements* counts those of the search.\n\n{}",
        SERVICE_NS / 1_000_000,
        table(&heads, &rows)
    ))
}

/// Random numbers that a seed decides.
pub(super) struct Chance(Xoshiro256PlusPlus);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number in 0 <= x < 1.
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    /// A whole number, evenly on a log scale.
    pub(super) fn size(&mut self, low: f64, high: f64) -> f64 {
        self.between(low, high).round()
    }

    /// A normally distributed number (Box & Muller 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// A positive number as a whole one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(super) fn whole(value: f64) -> u32 {
    value.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saturation_is_found_within_one_step_with_few_measurements() {
        for (name, make) in KINDS {
            let mut tally = tally(make, 10).unwrap();
            assert!(tally.little_knee >= 9, "{name}: N* of {}", tally.little_knee);
            assert!(tally.operating_load >= 9, "{name}: N95 of {}", tally.operating_load);
            tally.cost.sort_by(f64::total_cmp);
            assert!(tally.cost[5] <= 11.0, "{name}: {:?}", tally.cost);
        }
    }
}
