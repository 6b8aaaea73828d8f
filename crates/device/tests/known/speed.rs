//! Warm-up, noise and stalls.

use device::{Device, Op};
use workload::{Nanoseconds, SimDevice, SimDrift, SimNoise, SimStall, SimWarmup};

use crate::closed_loop::{MS, S, millisecond, moments, near, reads, request};

/// Reads of an idle device, one every `distance_ns`; the time of each in milliseconds.
fn times(model: &SimDevice, seed: u64, distance_ns: u64, count: u64) -> Vec<f64> {
    let mut device = Device::new(model, &[1 << 30], seed);
    let mut time = |at| (device.serve(&request(Op::Read), at).done_ns - at) as f64 / MS as f64;
    (0..count).map(|i| time(i * distance_ns)).collect()
}

/// S(t) = S x (1 + (f - 1) e^(-t / tau)).
#[test]
fn service_approaches_its_time() {
    for factor in [3.0, 0.5] {
        let warmup = Some(SimWarmup { factor, tau_ns: Nanoseconds(8 * S) });
        let times = times(&SimDevice { warmup, ..millisecond() }, 1, S, 100);
        for (t, time) in times.into_iter().enumerate() {
            near(time, 1.0 + (factor - 1.0) * (-(t as f64) / 8.0).exp(), 1e-6);
        }
    }
}

/// ln X has the standard deviation that was asked for, from seed to seed; within a run nothing
/// varies.
#[test]
fn runs_differ_by_their_noise() {
    let noise = Some(SimNoise { run_percent: 5.0, ..SimNoise::default() });
    let model = SimDevice { noise, ..millisecond() };
    let mut logarithms = Vec::new();
    for seed in 0..4000 {
        let times = times(&model, seed, 10 * MS, 3);
        assert_eq!(times, [times[0]; 3]);
        logarithms.push(times[0].ln());
    }
    let (mean, deviation) = moments(&logarithms);
    near(deviation, 0.05, 0.05);
    assert!(mean.abs() < 4.0 * 0.05 / 4000f64.sqrt(), "{mean}");
}

/// The mean stays what it is, so that one I/O at a time has the throughput it had.
#[test]
fn ios_differ_by_their_noise() {
    let noise = Some(SimNoise { io_percent: 30.0, ..SimNoise::default() });
    let times = times(&SimDevice { noise, ..millisecond() }, 1, 10 * MS, 40_000);
    near(moments(&times).0, 1.0, 0.01);
    let logarithms: Vec<f64> = times.iter().map(|t| t.ln()).collect();
    near(moments(&logarithms).1, 0.3, 0.02);
}

/// The logarithms of the capacity have their standard deviation and the correlation of each period
/// with the next, also where nobody looked for some periods.
#[test]
fn drift_is_an_autoregressive_process() {
    let drift = |correlation| {
        let drift = SimDrift { percent: 5.0, correlation, period_ns: Nanoseconds(S / 4) };
        let noise = Some(SimNoise { drift: Some(drift), ..SimNoise::default() });
        SimDevice { noise, ..millisecond() }
    };
    for (correlation, periods) in [(0.0, 1), (0.9, 1), (0.9, 3)] {
        let times = times(&drift(correlation), 1, periods * S / 4, 40_000);
        let x: Vec<f64> = times.iter().map(|t| -t.ln()).collect();
        let (mean, deviation) = moments(&x);
        near(deviation, 0.05, 0.05);
        let products: f64 = x.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
        let seen = products / (x.len() as f64 * deviation * deviation);
        let truth = f64::powf(correlation, periods as f64);
        assert!((seen - truth).abs() < 0.02, "{seen} is not {truth}");
    }
    let within = times(&drift(0.9), 1, MS, 250);
    assert_eq!(within, vec![within[0]; 250], "one factor in one period");
}

/// X = (1 - length / period) x C / S.
#[test]
fn a_stall_takes_its_share() {
    let (period_ns, length_ns) = (Nanoseconds(100 * MS), Nanoseconds(20 * MS));
    let stall = Some(SimStall { period_ns, length_ns });
    let seen = reads(&SimDevice { stall, ..millisecond() }, 32, 10);
    near(seen.iops(), 0.8 * 8000.0, 1e-3);
}

/// A flush that came in a stall was done in it, on a device that begins nothing then.
#[test]
fn nothing_begins_in_a_stall() {
    let (period_ns, length_ns) = (Nanoseconds(100 * MS), Nanoseconds(20 * MS));
    let stall = Some(SimStall { period_ns, length_ns });
    let mut device = Device::new(&SimDevice { stall, ..millisecond() }, &[1 << 30], 1);
    let mut done = |op| device.serve(&request(op), 85 * MS).done_ns;
    assert_eq!([Op::Sync, Op::Write, Op::Read].map(&mut done), [101 * MS; 3]);
}
