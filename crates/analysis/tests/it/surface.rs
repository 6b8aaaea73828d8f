//! One surface for loads and block sizes, from few points of it.

use analysis::surface::{Surface, SurfacePoint};
use proptest::prelude::*;

const BLOCKS: [f64; 6] = [1024.0, 8192.0, 65536.0, 131_072.0, 262_144.0, 1_048_576.0];

/// A device of equal servers behind a link.
#[derive(Clone, Copy)]
struct Device {
    servers: f64,
    service_s: f64,
    server_bytes_per_s: f64,
    link_bytes_per_s: f64,
}

impl Device {
    fn iops(&self, in_flight: f64, block: f64) -> f64 {
        let service = self.service_s + block / self.server_bytes_per_s;
        let unloaded = service + block / self.link_bytes_per_s;
        (in_flight / unloaded).min(self.servers / service).min(self.link_bytes_per_s / block)
    }
}

/// Standard normal numbers that look random (the sum of twelve), the same in every run.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Both ends of the block sizes over all loads, the sizes between at two loads, and repetitions of
/// what is saturated.
fn design(device: &Device, noise: f64, repetitions: usize, dice: &mut Dice) -> Vec<SurfacePoint> {
    let mut points = Vec::new();
    let mut add = |in_flight: f64, block_bytes: f64| {
        let iops = device.iops(in_flight, block_bytes) * (noise * dice.normal()).exp();
        points.push(SurfacePoint { in_flight, block_bytes, iops });
    };
    for step in 1..8 {
        add(f64::from(1 << step), BLOCKS[0]);
        add(f64::from(1 << step), BLOCKS[5]);
    }
    for block in BLOCKS {
        add(2.0, block);
        for _ in 0..=repetitions {
            add(128.0, block);
        }
    }
    points
}

const DEVICES: [Device; 3] = [
    // An array behind an old fibre channel link; a drive without one; one whose link is the limit
    // of all but 1 KiB.
    Device { servers: 24.0, service_s: 5e-3, server_bytes_per_s: 100e6, link_bytes_per_s: 200e6 },
    Device { servers: 8.0, service_s: 1e-4, server_bytes_per_s: 400e6, link_bytes_per_s: 1e15 },
    Device { servers: 32.0, service_s: 1e-4, server_bytes_per_s: 1e12, link_bytes_per_s: 1e9 },
];

#[test]
fn without_noise_every_block_size_is_right_though_most_were_seen_at_two_loads() {
    for (number, device) in DEVICES.iter().enumerate() {
        let surface = Surface::fit(&design(device, 0.0, 0, &mut Dice(1))).unwrap();
        for block in BLOCKS {
            let (found, truth) = (surface.iops(1024.0, block), device.iops(1024.0, block));
            let error = (found / truth).ln().abs();
            assert!(error < 0.015, "device {number}, {block} bytes: {found} for {truth}");
        }
    }
}

#[test]
fn five_percent_of_noise_leave_the_saturated_throughput_within_three() {
    let (mut within, mut covered, mut all) = (0, 0, 0);
    for seed in 0..40 {
        let device = &DEVICES[seed % 3];
        let mut dice = Dice(seed as u64 * 77 + 5);
        let surface = Surface::fit(&design(device, 0.05, 7, &mut dice)).unwrap();
        for block in BLOCKS {
            let error = (surface.iops(1024.0, block) / device.iops(1024.0, block)).ln().abs();
            all += 1;
            within += usize::from(error < 0.03);
            covered += usize::from(100.0 * error < surface.half_width_percent(1024.0, block));
        }
    }
    assert!(within * 100 >= 93 * all, "{within} of {all} within 3 %");
    assert!(covered * 100 >= 88 * all, "{covered} of {all} in their interval");
}

#[test]
fn one_block_size_is_a_curve() {
    let device = DEVICES[1];
    let points: Vec<SurfacePoint> = (0..8)
        .map(|step| f64::from(1 << step))
        .map(|n| SurfacePoint { in_flight: n, block_bytes: 8192.0, iops: device.iops(n, 8192.0) })
        .collect();
    let surface = Surface::fit(&points).unwrap();
    assert!((surface.knee(8192.0) / 8.0 - 1.0).abs() < 0.05, "{}", surface.knee(8192.0));
    assert_eq!(Surface::fit(&points[..2]), None);
}

proptest! {
    #[test]
    fn no_points_make_it_panic_and_what_it_gives_is_finite(
        points in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..12),
        plain in prop::collection::vec((1.0f64..1e4, 512.0f64..1e7, 1e-3f64..1e7), 3..12),
    ) {
        let point = |(in_flight, block_bytes, iops)| SurfacePoint { in_flight, block_bytes, iops };
        let _ = Surface::fit(&points.into_iter().map(point).collect::<Vec<_>>());
        let plain: Vec<SurfacePoint> = plain.into_iter().map(point).collect();
        if let Some(surface) = Surface::fit(&plain) {
            prop_assert!(surface.iops(16.0, 8192.0).is_finite());
            prop_assert!(surface.half_width_percent(16.0, 8192.0) >= 0.0);
        }
    }
}
