//! The search for a saturation point on seeded devices whose truth is known in closed form.

use analysis::knee::{Interval, Knee, LoadPoint, Search, find_knee};
use proptest::num::f64::ANY;
use proptest::prelude::*;

const SEEDS: u64 = 100;
const MOST: u32 = 512;
const SERVICE_S: f64 = 1e-3;

/// A device: its curve, its N*, and its N95 on loads up to `MOST`.
struct Device {
    name: &'static str,
    curve: Box<dyn Fn(f64) -> f64>,
    little_knee: f64,
    operating_load: f64,
}

impl Device {
    fn new(name: &'static str, little_knee: f64, curve: impl Fn(f64) -> f64 + 'static) -> Self {
        let loads = || (100..=MOST * 100).map(|n| f64::from(n) / 100.0);
        let highest = loads().map(&curve).fold(0.0, f64::max);
        let operating_load = loads().find(|n| curve(*n) >= 0.95 * highest).unwrap();
        Self { name, curve: Box::new(curve), little_knee, operating_load }
    }
}

/// The kinds of device, each with a separate size for every seed.
fn devices(noise: &mut Noise) -> Vec<Device> {
    let servers = (2.0 * 32.0_f64.powf(noise.uniform())).round();
    let channels = (4.0 * 8.0_f64.powf(noise.uniform())).round();
    let link = 1.0 + 15.0 * noise.uniform();
    let coherence = 0.0002 * 10.0_f64.powf(noise.uniform());
    let usl = move |n: f64| n / (1.0 + 0.02 * (n - 1.0) + coherence * n * (n - 1.0)) / SERVICE_S;
    let peak = usl(((1.0 - 0.02) / coherence).sqrt());
    vec![
        Device::new("balanced", servers, move |n| n.min(servers) / SERVICE_S),
        Device::new("random channels", channels, move |n| {
            // Exact for a closed network of equal exponential queues (mean value analysis).
            channels * n / (n + channels - 1.0) / SERVICE_S
        }),
        Device::new("link", link, move |n| n.min(link) / SERVICE_S),
        Device::new("retrograde", peak * SERVICE_S, usl),
    ]
}

/// Gaussian noise from Marsaglia's xorshift64 and the sum of twelve uniforms.
struct Noise(u64);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn factor(&mut self, sd: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.uniform()).sum();
        (sd * (sum - 6.0)).exp()
    }
}

fn point(in_flight: f64, throughput: f64, half_width_percent: Option<f64>) -> LoadPoint {
    let latency_ns = in_flight / throughput * 1e9;
    LoadPoint { in_flight, throughput, latency_ns, half_width_percent }
}

fn search(device: &Device, noise: &mut Noise, sd: f64) -> (Knee, usize) {
    let search = Search::new(1, MOST);
    let mut points = Vec::new();
    while let Some(load) = search.next(&points) {
        let in_flight = f64::from(load);
        points.push(point(in_flight, (device.curve)(in_flight) * noise.factor(sd), Some(1.0)));
        assert!(points.len() <= search.at_most());
    }
    (find_knee(&points).unwrap(), points.len())
}

#[derive(Default)]
struct Tally {
    little_knee: u64,
    operating_load: u64,
    covered: u64,
    cost: Vec<usize>,
}

fn within_one_step(value: f64, truth: f64) -> bool {
    value <= 2.0 * truth && value >= truth / 2.0
}

fn covers(interval: Option<Interval>, truth: f64) -> bool {
    interval.is_some_and(|interval| interval.low <= truth && truth <= interval.high)
}

#[test]
fn knees_are_found_within_one_step_with_few_measurements() {
    let mut tallies: Vec<(&str, Tally)> = Vec::new();
    for seed in 1..=SEEDS {
        let mut noise = Noise::new(seed);
        for (place, device) in devices(&mut noise).iter().enumerate() {
            if place == tallies.len() {
                tallies.push((device.name, Tally::default()));
            }
            let tally = &mut tallies[place].1;
            let (knee, cost) = search(device, &mut noise, 0.05);
            let little_knee = knee.little_knee.unwrap_or(f64::NAN);
            tally.little_knee += u64::from(within_one_step(little_knee, device.little_knee));
            let near = within_one_step(knee.operating_load, device.operating_load);
            tally.operating_load += u64::from(near);
            let both = covers(knee.little_knee_interval, device.little_knee)
                && covers(knee.operating_load_interval, device.operating_load);
            tally.covered += u64::from(both);
            tally.cost.push(cost);
        }
    }
    for (name, mut tally) in tallies {
        tally.cost.sort_unstable();
        assert!(tally.little_knee >= 95, "{name}: N* of {} devices", tally.little_knee);
        assert!(tally.operating_load >= 95, "{name}: N95 of {} devices", tally.operating_load);
        // The hinge is not the shape of random channels, nor of a peak.
        let least = if ["balanced", "link"].contains(&name) { 85 } else { 40 };
        assert!(tally.covered >= least, "{name}: both intervals hold in {}", tally.covered);
        let median = tally.cost[tally.cost.len() / 2];
        assert!(median <= 11, "{name}: {median} measurements");
    }
}

fn asked(search: &Search, curve: impl Fn(f64) -> f64) -> Vec<u32> {
    let mut points = Vec::new();
    let mut asked = Vec::new();
    while let Some(load) = search.next(&points) {
        asked.push(load);
        points.push(point(f64::from(load), curve(f64::from(load)), None));
    }
    asked
}

#[test]
fn it_doubles_until_two_steps_gain_nothing_and_then_looks_in_between() {
    assert_eq!(asked(&Search::new(1, 1024), |n| n.min(12.0)), [1, 2, 4, 8, 16, 32, 64, 11]);
}

#[test]
fn what_is_flat_from_the_start_takes_three_measurements() {
    assert_eq!(asked(&Search::new(1, 1024), |_| 200.0), [1, 2, 4]);
}

#[test]
fn what_rises_to_the_end_is_not_looked_at_in_between() {
    assert_eq!(asked(&Search::new(3, 40), |n| n), [3, 6, 12, 24, 40]);
}

#[test]
fn an_empty_range_is_one_load() {
    assert_eq!(asked(&Search::new(0, 0), |n| n), [1]);
    assert_eq!(asked(&Search::new(8, 4), |n| n), [8]);
}

#[test]
fn a_load_that_gave_nothing_is_not_asked_for_again() {
    assert_eq!(asked(&Search::new(1, 16), |_| 0.0), [1, 2, 4, 8, 16]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_search_ends(least: u32, most: u32, answers in proptest::collection::vec(ANY, 34)) {
        let search = Search::new(least, most);
        let mut points = Vec::new();
        while let Some(load) = search.next(&points) {
            prop_assert!(load >= least.max(1) && load <= most.max(least).max(1));
            prop_assert!(points.len() < search.at_most());
            let throughput = answers[points.len()];
            points.push(point(f64::from(load), throughput, Some(throughput)));
        }
    }
}
