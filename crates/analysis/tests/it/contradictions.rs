//! No two sentences of a result contradict each other, whatever was measured.

use analysis::cause::{Evidence, Observed, OtherBlock, causes};
use analysis::knee::{LoadPoint, find_knee};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::contradiction::contradictions;

/// Throughput by load of storage that serves `c` at once.
type Model = fn(n: f64, c: f64) -> f64;

const MODELS: [Model; 6] = [
    |n, c| n.min(c),
    |n, c| c * n / (n + c - 1.0),
    |_, c| c,
    |n, _| n,
    |n, c| n / (1.0 + (n - 1.0) / c + 0.3 * n * (n - 1.0) / (c * c)),
    |n, c| n.powf(1.0 / c.sqrt()),
];

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, cases: 400, ..ProptestConfig::default()
    })]

    #[test]
    fn nothing_that_is_said_contradicts_another(
        model in 0..MODELS.len(),
        servers in 1.0..300.0_f64,
        noise in 0.0..0.3_f64,
        draws in vec((-1.7..1.7_f64, option::of(0.1..60.0_f64)), 2..11),
        larger in option::of(0.5..4.5_f64),
        (writes, burst) in (any::<bool>(), option::of(0.9..5.0_f64)),
        threads in option::of(0.5..2.0_f64),
    ) {
        let loads = draws.iter().zip(0..);
        let points: Vec<LoadPoint> = loads.map(|((draw, half_width_percent), power)| {
            let in_flight = 2.0_f64.powi(power);
            let throughput = 1000.0 * MODELS[model](in_flight, servers) * (noise * draw).exp();
            let latency_ns = in_flight / throughput * 1e9;
            LoadPoint { in_flight, throughput, latency_ns, half_width_percent: *half_width_percent }
        }).collect();
        let knee = find_knee(&points).unwrap();
        let observed: Vec<Observed> = points.iter().map(|p| Observed {
            in_flight: p.in_flight,
            achieved_in_flight: p.in_flight,
            iops: p.throughput,
            half_width_percent: p.half_width_percent,
            mean_ns: p.latency_ns,
            burst_ratio: burst,
            ..Observed::default()
        }).collect();
        let iops = knee.peak.throughput;
        let larger_block = larger.map(|ratio| OtherBlock {
            block_bytes: 32_768.0, iops: iops * ratio / 4.0,
        });
        let causes = causes(&Evidence {
            knee: &knee,
            points: &observed,
            beside_iops: &[],
            block_bytes: 8192.0,
            writes,
            link: None,
            queues: &[],
            tool_ceiling_iops: None,
            more_threads_ratio: threads,
            larger_block,
        });
        let deepest = points[points.len() - 1].in_flight;
        let found = contradictions(&knee, &causes, deepest, None);
        prop_assert!(found.is_empty(), "{found:#?}\n{knee:#?}");
    }
}
