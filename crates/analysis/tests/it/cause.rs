//! Each cause is named when its evidence, made up here, is all there is.

use analysis::cause::{
    Cause, Certainty, Evidence, Likely, Observed, OtherBlock, QueueLimit, causes,
};
use analysis::knee::{Knee, LoadPoint, find_knee};
use proptest::prelude::*;

const LOADS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// A curve that saturates at so many in flight of 1 ms each, with a little scatter.
fn points(at: f64) -> Vec<Observed> {
    let scatter = [1.0, 1.02, 0.98, 1.01, 0.99, 1.02, 0.98, 1.01];
    let point = |(in_flight, scatter): (f64, f64)| {
        let iops = in_flight.min(at) * 1000.0 * scatter;
        let mean_ns = in_flight / iops * 1e9;
        Observed {
            in_flight,
            achieved_in_flight: in_flight,
            iops,
            half_width_percent: Some(0.3),
            mean_ns,
            p50_ns: Some(mean_ns),
            thread_percent: Some(20.0),
            ..Observed::default()
        }
    };
    LOADS.into_iter().zip(scatter).map(point).collect()
}

fn knee(points: &[Observed]) -> Knee {
    let point = |p: &Observed| LoadPoint {
        in_flight: p.in_flight,
        throughput: p.iops,
        latency_ns: p.mean_ns,
        half_width_percent: None,
    };
    find_knee(&points.iter().map(point).collect::<Vec<_>>()).unwrap()
}

fn evidence<'a>(knee: &'a Knee, points: &'a [Observed]) -> Evidence<'a> {
    Evidence {
        knee,
        points,
        beside_iops: &[],
        block_bytes: 8192.0,
        writes: false,
        link: None,
        queues: &[],
        tool_ceiling_iops: Some(1e6),
        more_threads_ratio: Some(1.0),
        larger_block: None,
    }
}

fn first<'a>(points: &'a [Observed], change: impl FnOnce(&mut Evidence<'a>)) -> Likely {
    let knee = Box::leak(Box::new(knee(points)));
    let mut evidence = evidence(knee, points);
    change(&mut evidence);
    causes(&evidence).remove(0)
}

#[test]
fn a_flat_curve_with_rising_latency_is_the_storage() {
    let likely = first(&points(16.0), |_| ());
    assert_eq!(likely.cause, Cause::Device);
    assert!(!likely.evidence.is_empty());
}

#[test]
fn a_curve_that_falls_past_its_peak_is_not_called_flat() {
    // Seen on a loop device: `throughput is flat from 2 in flight on`, where it had lost 85 %.
    let mut falling = points(16.0);
    for (place, p) in falling.iter_mut().enumerate().skip(5) {
        p.iops *= 0.8_f64.powi(i32::try_from(place).unwrap() - 4);
        p.mean_ns = p.in_flight / p.iops * 1e9;
    }
    let said = |points: &[Observed]| first(points, |_| ()).evidence.join("\n");
    assert!(said(&falling).contains("throughput falls from 16 in flight on"), "{}", said(&falling));
    assert!(said(&points(16.0)).contains("throughput is flat from 16 in flight on"));
}

#[test]
fn a_busy_thread_is_the_tool_whatever_the_curve() {
    let mut busy = points(16.0);
    for p in &mut busy {
        p.thread_percent = Some(99.0);
    }
    let likely = first(&busy, |e| e.more_threads_ratio = Some(1.6));
    assert_eq!((likely.cause, likely.certainty), (Cause::Tool, Certainty::Certain));
    assert_eq!(first(&points(16.0), |e| e.tool_ceiling_iops = Some(16_500.0)).cause, Cause::Device);
    let near = |e: &mut Evidence<'_>| {
        e.tool_ceiling_iops = Some(16_500.0);
        e.more_threads_ratio = Some(1.5);
    };
    assert_eq!(first(&points(16.0), near).cause, Cause::Tool);
}

#[test]
fn the_published_plateau_at_two_outstanding_is_the_path() {
    // A 2 Gbit/s host bus adapter: 190 MB/s from 2 in flight on, at very low latency.
    let link = "2GFC".parse().unwrap();
    let at = 190e6 / 65_536.0 / 1000.0;
    let likely = first(&points(at), |e| {
        e.block_bytes = 65_536.0;
        e.link = Some(&link);
    });
    assert_eq!(likely.cause, Cause::Link);
    assert!(likely.evidence[0].contains("2GFC"), "{:?}", likely.evidence);
    let unnamed = first(&points(at), |e| {
        e.block_bytes = 65_536.0;
        e.larger_block = Some(OtherBlock { block_bytes: 262_144.0, iops: 190e6 / 262_144.0 });
    });
    assert_eq!(unnamed.cause, Cause::Link);
    assert!(unnamed.sentence.contains("--link"), "{}", unnamed.sentence);
}

#[test]
fn a_queue_is_named_where_saturation_is_at_its_length() {
    let queue = |ios| vec![QueueLimit { name: "nr_requests of sda".to_owned(), ios }];
    let (short, long) = (queue(16.0), queue(64.0));
    assert_eq!(first(&points(16.0), |e| e.queues = &short).cause, Cause::Queue);
    assert_eq!(first(&points(16.0), |e| e.queues = &long).cause, Cause::Device);
    let mut held = points(16.0);
    for p in &mut held {
        p.device_in_flight = Some(p.in_flight.min(16.0));
    }
    let likely = first(&held, |e| e.queues = &short);
    assert_eq!((likely.cause, likely.certainty), (Cause::Queue, Certainty::Certain));
}

#[test]
fn a_rate_that_is_exact_only_beyond_saturation_is_set() {
    let mut exact = points(3.0);
    exact.iter_mut().filter(|p| p.in_flight > 3.0).for_each(|p| p.iops = 3000.0);
    let likely = first(&exact, |_| ());
    assert_eq!(likely.cause, Cause::Throttle);
    assert!(likely.evidence.iter().any(|text| text.contains("round")), "{:?}", likely.evidence);
}

/// 16 servers of exactly 5 ms were a throttle: even service gives as exact a rate.
#[test]
fn an_exact_rate_alone_does_not_tell_a_throttle_from_even_service() {
    let mut even = points(16.0);
    for p in &mut even {
        p.iops = p.in_flight.min(16.0) * 200.0;
        p.mean_ns = p.in_flight / p.iops * 1e9;
        p.p50_ns = Some(p.mean_ns);
    }
    let larger = Some(OtherBlock { block_bytes: 32_768.0, iops: 3200.0 });
    let knee = knee(&even);
    let found = causes(&Evidence { larger_block: larger, ..evidence(&knee, &even) });
    let both = found.iter().filter(|l| matches!(l.cause, Cause::Device | Cause::Throttle));
    assert_eq!(both.count(), 2, "{found:?}");
    assert_eq!(found[0].certainty, Certainty::Possible, "{found:?}");
    let throttle = found.iter().find(|l| l.cause == Cause::Throttle).unwrap();
    assert!(throttle.sentence.contains("servers of even service"), "{throttle:?}");
}

/// Every rate above 25 000 IOPS was round.
#[test]
fn a_high_rate_is_not_round_because_it_is_high() {
    for (rate, is_round) in [(30_000.0, true), (31_234.0, false), (87_654.0, false), (300.0, true)]
    {
        let mut exact = points(3.0);
        for p in &mut exact {
            p.iops *= rate / 3000.0;
        }
        exact.iter_mut().filter(|p| p.in_flight > 3.0).for_each(|p| p.iops = rate);
        for p in &mut exact {
            p.mean_ns = p.in_flight / p.iops * 1e9;
        }
        let likely = first(&exact, |e| e.tool_ceiling_iops = None);
        assert_eq!(likely.cause, Cause::Throttle);
        let said = likely.evidence.iter().any(|text| text.contains("round"));
        assert_eq!(said, is_round, "{rate}: {:?}", likely.evidence);
    }
}

#[test]
fn a_curve_that_rises_to_the_end_has_no_limit_but_may_have_a_lame_tool() {
    assert_eq!(first(&points(1e9), |_| ()).cause, Cause::NotReached);
    let mut lame = points(1e9);
    lame.last_mut().unwrap().achieved_in_flight = 60.0;
    for p in &mut lame {
        p.thread_percent = Some(100.0);
    }
    assert_eq!(first(&lame, |e| e.more_threads_ratio = None).cause, Cause::Tool);
}

fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![proptest::num::f64::ANY, Just(0.0), Just(f64::NAN), 0.1..1e6_f64]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_evidence_gives_a_cause_that_survives_json(
        figures in proptest::collection::vec((figure(), figure(), figure(), figure()), 8),
        (block_bytes, ceiling, ratio, ios) in (figure(), figure(), figure(), figure()),
        writes: bool,
    ) {
        let knee = knee(&points(12.0));
        let odd: Vec<Observed> = figures
            .iter()
            .map(|(a, b, c, d)| Observed {
                in_flight: *a,
                achieved_in_flight: *b,
                iops: *c,
                half_width_percent: Some(*b),
                mean_ns: *d,
                p50_ns: Some(*a),
                p99_ns: Some(*b),
                burst_ratio: Some(*c),
                device_in_flight: Some(*d),
                thread_percent: Some(*a),
            })
            .collect();
        let queues = [QueueLimit { name: "queue".to_owned(), ios }];
        let found = causes(&Evidence {
            writes,
            block_bytes,
            queues: &queues,
            tool_ceiling_iops: Some(ceiling),
            more_threads_ratio: Some(ratio),
            larger_block: Some(OtherBlock { block_bytes, iops: ios }),
            ..evidence(&knee, &odd)
        });
        prop_assert!(!found.is_empty());
        let text = serde_json::to_string(&found).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<Likely>>(&text).unwrap(), found);
    }
}
