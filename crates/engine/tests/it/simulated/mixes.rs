//! Mixes of kinds of I/O, as IOMeter's access specifications are.

use workload::{Bytes, Mix, MixPart, Nanoseconds, Pool, PoolShare, SimDevice, Stream, Target};

use crate::simulated::experiment::{MS, device, measure, workload};

fn part(percent: u8, block_bytes: u64, write_percent: u8) -> MixPart {
    MixPart { percent, block_bytes: Bytes(block_bytes), write_percent, ..MixPart::default() }
}

/// A mix of four kinds on three targets, as a whole run: more than 100,000 I/Os. Two kinds only
/// read, one only writes, and one does both, so that reads, writes and bytes together tell the
/// shares.
#[test]
fn a_run_of_a_mix_has_the_shares_of_its_kinds() {
    let parts =
        vec![part(40, 4096, 0), part(30, 8192, 0), part(20, 65_536, 100), part(10, 512, 50)];
    let stream = Stream {
        depth: 4,
        pool: Some(Pool { share: PoolShare::Each }),
        ..Stream::of_mix("mix", Mix { parts })
    };
    let mut workload = workload(stream, SimDevice { servers: 16, ..device(MS) });
    for name in ["b", "c"] {
        workload.targets.push(Target { path: name.into(), size_bytes: Some(Bytes(1 << 28)) });
    }
    assert_eq!(workload.violations(), []);
    let m = measure(&workload);
    assert!(m.total.ios > 100_000, "{}", m.total.ios);
    assert_eq!(m.checks.warnings, [""; 0]);
    let ios = m.total.ios as f64;
    let close = |value: f64, wanted: f64, what: &str| {
        assert!((value - wanted).abs() < wanted * 0.01, "{what}: {value}, not {wanted}");
    };
    close(m.write.ios as f64 / ios, 0.25, "writes");
    close(m.read.bytes as f64 / ios, 0.4 * 4096.0 + 0.3 * 8192.0 + 0.05 * 512.0, "bytes read");
    close(m.write.bytes as f64 / ios, 0.2 * 65_536.0 + 0.05 * 512.0, "bytes written");
    for target in &m.targets {
        close(target.total.ios as f64 / ios, 1.0 / 3.0, "share of a target");
    }
    assert!((m.achieved_in_flight - 12.0).abs() < 1e-6, "{}", m.achieved_in_flight);
}

/// The rate of bursts on a device that is never busy: 5 I/Os every 20 ms, whatever the depth and
/// the number of targets.
#[test]
fn a_run_of_bursts_has_their_rate() {
    let burst = MixPart { burst_ios: 5, delay_ns: Nanoseconds(20 * MS), ..part(100, 8192, 0) };
    for targets in [1, 3] {
        let stream = Stream {
            depth: 8,
            pool: Some(Pool { share: PoolShare::Each }),
            ..Stream::of_mix("bursts", Mix { parts: vec![burst] })
        };
        let mut workload = workload(stream, SimDevice { servers: 16, ..device(MS) });
        for number in 1..targets {
            let path = format!("{number}").into();
            workload.targets.push(Target { path, size_bytes: Some(Bytes(1 << 28)) });
        }
        let m = measure(&workload);
        assert!((m.total.iops - 250.0).abs() < 0.5, "{targets}: {}", m.total.iops);
        let latency = m.total.latency_ns.as_ref().unwrap();
        assert!(latency.max < Some(MS + MS / 20), "{targets}: {:?}", latency.max);
    }
}
