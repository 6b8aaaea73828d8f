//! The founding documents' own numbers, through our own types: what a device of given service time
//! must give, how many MiB/s that is, and how the report puts it.
//!
//! The documents print times cut off to whole milliseconds (29, 11, 1) and means that a closed loop
//! gives to within its start and end; the figures here are the ones that follow.

use std::sync::atomic::AtomicBool;

use analysis::cause::Link;
use analysis::verdict::{Basis, Grade, Limits, Need, Role, Trial, judge};
use engine::Permissions;
use results::Measurement;
use survey::{Lab, LabContext, Setup, Timing};
use workload::{
    Block, Bytes, EngineChoice, Mode, Nanoseconds, SimDevice, Stream, Target, show_number,
};

/// What a device of one server gives that does so many I/Os a second.
fn measured(iops: f64, block: u64, stream: Stream) -> Measurement {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
    let ns = Nanoseconds((1e9 / iops).round() as u64);
    on(SimDevice { servers: 1, read_ns: ns, write_ns: ns, ..SimDevice::default() }, block, stream)
}

/// Three minutes of a load on a simulated device.
fn on(sim: SimDevice, block: u64, stream: Stream) -> Measurement {
    let setup = Setup {
        targets: vec![Target { path: "sim".into(), size_bytes: Some(Bytes(1 << 30)) }],
        permissions: Permissions::default(),
        engine: EngineChoice::Sim,
        sim: Some(sim),
        mode: Mode::Direct,
        seed: 1,
        timing: Timing {
            seconds: 180.0,
            warmup_seconds: 5.0,
            precision: None,
            settle_seconds: 0.0,
        },
    };
    let stream = Stream { blocks: vec![Block { bytes: Bytes(block), weight: 1 }], ..stream };
    let stop = AtomicBool::new(false);
    let mut quiet = |_: survey::Progress<'_>| ();
    let mut lab = Lab::open(setup, &stream, LabContext::new(&stop, &mut quiet)).unwrap();
    lab.measure(vec![stream]).unwrap()
}

fn mean_ms(measurement: &Measurement) -> f64 {
    measurement.total.latency_ns.unwrap().mean / 1e6
}

#[track_caller]
fn near(value: f64, expected: f64, percent: f64) {
    let off = 100.0 * (value / expected - 1.0);
    assert!(off.abs() <= percent, "{value} instead of {expected}: {off:.3} %");
}

/// Culmsee 2012: SQLIO -kW -b8 -frandom -t2 -o8, 526 IOPS, 4.11 MB/s, 29 ms.
#[test]
fn at_526_iops_and_16_in_flight_8k_are_4_11_mib_per_s_and_30_4_ms() {
    let stream = Stream { threads: 2, depth: 8, write_percent: 100, ..Stream::default() };
    let m = measured(526.0, 8192, stream);
    assert_eq!(m.in_flight, 16);
    near(m.total.iops, 526.0, 0.05);
    assert_eq!(show_number(m.total.mib_per_s), "4.11");
    near(mean_ms(&m), 30.4, 0.1);
    near(m.achieved_in_flight, m.total.iops * mean_ms(&m) / 1e3, 0.1);
    assert!(m.checks.littles_law_percent.unwrap().abs() < 0.1);
}

/// Erkec 2020: DiskSpd -b8K -d180 -o32 -t3 -r -w75, 54 562 I/Os, 303.09 IOPS, 316.204 ms, 2.37
/// MB/s.
#[test]
fn at_303_iops_and_96_in_flight_a_disk_is_unfit_for_any_database() {
    let stream = Stream { threads: 3, depth: 32, write_percent: 75, ..Stream::default() };
    let m = measured(303.09, 8192, stream);
    assert_eq!((m.in_flight, m.threads), (96, 3));
    near(m.total.ios as f64, 54_562.0, 0.1);
    near(m.total.iops, 303.09, 0.05);
    assert_eq!(show_number(m.total.mib_per_s), "2.37");
    near(mean_ms(&m), 316.7, 0.1);
    let latency = m.total.latency_ns.unwrap();
    let trial = Trial {
        label: "random 8K, 75 % writes".to_owned(),
        offered: None,
        per_second: m.total.iops,
        mean_ns: latency.mean,
        p99_ns: None,
        p99_9_ns: None,
        ios: m.total.ios,
        beyond: [m.total.ios; 3],
        far_beyond: m.total.ios,
        half_width_percent: None,
        seconds: m.seconds,
    };
    for role in Role::ALL {
        let need = Some(Need { role, per_second: 1.0 });
        let basis = Basis { trials: vec![trial.clone()], ..Basis::default() };
        let grade = judge(&Limits::of(role), need, basis).grade;
        assert_eq!(grade, Grade::Unfit, "{role:?}");
    }
}

/// Shea 2007: 8K random reads at depth 32 on 128 GB and on 256 MB; printed as 11, 1 and 1 ms.
#[test]
fn the_drives_of_size_matters_have_the_latencies_that_follow_from_their_iops() {
    let of_document = [(2681.0, "20.9", 11.9), (19_871.0, "155", 1.61), (16_635.0, "130", 1.92)];
    for (iops, mib_per_s, ms) in of_document {
        let m = measured(iops, 8192, Stream { depth: 32, ..Stream::default() });
        near(m.total.iops, iops, 0.05);
        assert_eq!(show_number(m.total.mib_per_s), mib_per_s);
        near(mean_ms(&m), ms, 0.5);
    }
}

/// IO Baselining: an SSD behind USB 3, 3 000 IOPS of 64K, 188 MB/s on average.
#[test]
fn at_3000_iops_64k_are_187_5_mib_per_s() {
    let m = measured(3000.0, 65536, Stream { depth: 32, ..Stream::default() });
    near(m.total.iops, 3000.0, 0.05);
    near(m.total.mib_per_s, 187.5, 0.05);
}

/// Ruthruff 2007, figure 1: random 8K reads grow until more than 64 are outstanding, then only
/// latency does.
#[test]
fn where_64_are_served_at_once_throughput_grows_up_to_64_and_latency_from_there() {
    let at = |depth| {
        let sim =
            SimDevice { servers: 64, read_ns: Nanoseconds(6_000_000), ..SimDevice::default() };
        on(sim, 8192, Stream { depth, ..Stream::default() })
    };
    let [half, full, beyond] = [32, 64, 128].map(at);
    near(full.total.iops / half.total.iops, 2.0, 0.1);
    near(mean_ms(&full), mean_ms(&half), 0.1);
    near(beyond.total.iops, full.total.iops, 0.1);
    near(mean_ms(&beyond), 2.0 * mean_ms(&full), 0.1);
}

/// Ruthruff 2007, figure 2: a 2 Gb/s adapter ends at 200 MB/s, with two outstanding already and at
/// low latency.
#[test]
fn a_path_of_200_mb_per_s_is_full_with_two_outstanding() {
    let at = |depth| {
        let sim = SimDevice {
            servers: 64,
            read_ns: Nanoseconds(1_000_000),
            link_bytes_per_s: Some(Bytes(200_000_000)),
            ..SimDevice::default()
        };
        on(sim, 256 << 10, Stream { depth, ..Stream::default() })
    };
    let [one, two, many] = [1, 2, 64].map(at);
    let mb_per_s = |m: &Measurement| m.total.iops * f64::from(256 << 10) / 1e6;
    near(mb_per_s(&one), 113.5, 0.1);
    near(mb_per_s(&two), 200.0, 0.1);
    near(mb_per_s(&many), 200.0, 0.1);
    assert!(mean_ms(&two) < 3.0, "{} ms is a low latency", mean_ms(&two));
    let link: Link = "2GFC".parse().unwrap();
    assert!(link.holds(mb_per_s(&two) * 1e6), "the adapter of the document");
    assert!([180e6, 190e6].into_iter().all(|practical| link.holds(practical)));
    assert!(!link.holds(mb_per_s(&one) * 1e6));
}
