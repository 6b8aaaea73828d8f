//! The figures of a window, from made-up counters.

use counters::{CoreTicks, CpuCounters, CpuTicks, DiskCounters, DiskWindow, Sample, Window};
use proptest::prelude::*;

const SECOND_NS: u64 = 1_000_000_000;

fn sample(at_ns: u64, disks: &[DiskCounters]) -> Sample {
    Sample { at_ns, disks: disks.to_vec(), cpus: CpuCounters::default() }
}

fn disk(device: &str) -> DiskCounters {
    DiskCounters { device: device.to_owned(), ..DiskCounters::default() }
}

/// One device's window of `seconds`.
fn between(before: DiskCounters, after: DiskCounters, seconds: u64) -> Window {
    let later_ns = 5 + seconds * SECOND_NS;
    Window::between(&sample(5, &[before]), &sample(later_ns, &[after]))
}

fn near(actual: f64, expected: f64) -> bool {
    (actual - expected).abs() <= 1e-9 * expected.abs().max(1.0)
}

/// A test once reported 526 IOPS and 29 ms; Performance Monitor, next to it, showed these three
/// figures.
#[test]
fn the_founding_check() {
    let before = DiskCounters {
        writes: 1_000,
        write_bytes: 77_824,
        write_time_ms: 123,
        weighted_ms: 150,
        ..disk("vda")
    };
    let after = DiskCounters {
        writes: 1_000 + 525_423,
        write_bytes: 77_824 + 525_423 * 8_192,
        write_time_ms: 123 + 525_423 * 30,
        weighted_ms: 150 + 525_423 * 30,
        busy_ms: 990_000,
        ..disk("vda")
    };
    let window = between(before, after, 1_000);
    let vda = window.disk("vda").unwrap();
    assert!(near(vda.write_iops, 525.423));
    assert!(near(vda.write_latency_ns.unwrap() / 1e9, 0.03));
    assert!(near(vda.write_bytes_per_io.unwrap(), 8_192.0));
    assert!(near(vda.write_bytes_per_s, 525.423 * 8_192.0));
    // Little's law: 525.423 writes/s that take 0.03 s each are 15.76 in flight.
    assert!(near(vda.average_queue, 15.762_69));
    assert!(near(vda.utilisation_percent, 99.0));
}

#[test]
fn no_io_has_no_latency_and_no_size() {
    let window = between(disk("vda"), disk("vda"), 1);
    let expected = DiskWindow { device: "vda".to_owned(), ..DiskWindow::default() };
    assert_eq!(window.disks, [expected]);
    assert_eq!(window.disks[0].read_latency_ns, None);
    assert_eq!(window.disks[0].write_bytes_per_io, None);
}

#[test]
fn latency_below_the_resolution_is_not_zero() {
    let after = DiskCounters { reads: 1, read_bytes: 4_096, ..disk("vda") };
    let window = between(disk("vda"), after, 1);
    assert_eq!(window.disks[0].reads, 1);
    assert_eq!(window.disks[0].read_latency_ns, None);
    assert_eq!(window.disks[0].read_bytes_per_io, Some(4_096.0));
}

#[test]
fn flushes_only_where_the_kernel_counts_them() {
    let before = DiskCounters { flushes: Some(10), flush_ms: Some(100), ..disk("vda") };
    let after = DiskCounters { flushes: Some(60), flush_ms: Some(200), ..disk("vda") };
    let window = between(before, after, 2);
    assert_eq!(window.disks[0].flushes, Some(50));
    assert_eq!(window.disks[0].flush_latency_ns, Some(2e6));
    let old = between(disk("vda"), disk("vda"), 2);
    assert_eq!(old.disks[0].flushes, None);
}

#[test]
fn counters_of_32_bits_start_again() {
    let wrap = 1_u64 << 32;
    let before = DiskCounters {
        reads: wrap - 10,
        read_bytes: (wrap - 100) * 512,
        read_time_ms: wrap - 30,
        weighted_ms: wrap - 3_000,
        ..disk("sda")
    };
    let after = DiskCounters {
        reads: 10,
        read_bytes: 60 * 512,
        read_time_ms: 70,
        // More than half the range: an hour at a depth of 800.
        weighted_ms: wrap - 3_000 - 1_414_967_296,
        ..disk("sda")
    };
    let window = between(before, after, 3_600);
    assert_eq!(window.disks[0].reads, 20);
    assert!(near(window.disks[0].read_bytes_per_s * 3_600.0, 81_920.0));
    assert_eq!(window.disks[0].read_latency_ns, Some(5e6));
    assert!(near(window.disks[0].average_queue, 800.0));
}

#[test]
fn a_small_step_back_in_time_is_nothing() {
    let before = DiskCounters { busy_ms: 500_000, ..disk("sda") };
    let after = DiskCounters { busy_ms: 499_998, ..disk("sda") };
    let window = between(before, after, 1);
    assert!(near(window.disks[0].utilisation_percent, 0.0));
}

#[test]
fn vanished_replaced_and_new_devices_are_named() {
    let replaced = DiskCounters { writes: 900_000, ..disk("sdb") };
    let earlier = sample(0, &[disk("sda"), replaced, disk("sdc")]);
    let later = sample(SECOND_NS, &[disk("sdb"), disk("sdc"), disk("sdd")]);
    let window = Window::between(&earlier, &later);
    assert_eq!(window.missing, ["sda", "sdb", "sdd"]);
    assert_eq!(window.disks.len(), 1);
    assert_eq!(window.disks[0].device, "sdc");
}

#[test]
fn a_window_of_no_length_has_counts_but_no_rates() {
    let after = DiskCounters { reads: 7, read_time_ms: 14, busy_ms: 5, ..disk("vda") };
    for earlier_ns in [50, 80] {
        let earlier = sample(earlier_ns, &[disk("vda")]);
        let window = Window::between(&earlier, &sample(50, std::slice::from_ref(&after)));
        assert!(near(window.seconds, 0.0));
        assert_eq!(window.disks[0].reads, 7);
        assert_eq!(window.disks[0].read_latency_ns, Some(2e6));
        assert!(near(window.disks[0].read_iops, 0.0));
        assert!(near(window.disks[0].utilisation_percent, 0.0));
        assert_eq!(window.cpu, None);
    }
}

fn core(core: u32, user: u64, idle: u64) -> CoreTicks {
    let ticks = CpuTicks { user, idle, ..CpuTicks::default() };
    CoreTicks { core, ticks }
}

#[test]
fn processors() {
    let mut earlier = sample(0, &[]);
    earlier.cpus.cores = vec![core(0, 100, 100), core(1, 0, 0), core(3, 0, 900)];
    let mut later = sample(SECOND_NS, &[]);
    later.cpus.total = CpuTicks {
        user: 60,
        nice: 5,
        system: 20,
        idle: 80,
        iowait: Some(20),
        irq: 2,
        softirq: 3,
        steal: Some(10),
    };
    // Core 3 went offline and core 2 came online: neither has figures.
    later.cpus.cores = vec![core(0, 110, 190), core(1, 75, 25), core(2, 50, 0)];
    let cpu = Window::between(&earlier, &later).cpu.unwrap();
    assert!(near(cpu.host_percent, 50.0));
    assert!(near(cpu.iowait_percent.unwrap(), 10.0));
    assert!(near(cpu.steal_percent.unwrap(), 5.0));
    assert_eq!(cpu.busiest_core, Some(1));
    assert_eq!(cpu.busiest_core_percent, Some(75.0));
}

/// Windows counts neither, and 0 % would be a figure.
#[test]
fn what_the_system_does_not_count_is_absent() {
    let mut later = sample(SECOND_NS, &[]);
    later.cpus.total = CpuTicks { user: 60, idle: 40, ..CpuTicks::default() };
    let cpu = Window::between(&sample(0, &[]), &later).cpu.unwrap();
    assert!(near(cpu.host_percent, 60.0));
    assert_eq!((cpu.iowait_percent, cpu.steal_percent), (None, None));
}

fn any_disk() -> impl Strategy<Value = DiskCounters> {
    let counts = prop::array::uniform12(prop_oneof![any::<u64>(), 0..1_u64 << 33]);
    counts.prop_map(|c| DiskCounters {
        reads: c[0],
        read_merges: c[1],
        read_bytes: c[2],
        read_time_ms: c[3],
        writes: c[4],
        write_merges: c[5],
        write_bytes: c[6],
        write_time_ms: c[7],
        busy_ms: c[8],
        weighted_ms: c[9],
        flushes: Some(c[10]),
        flush_ms: Some(c[11]),
        ..disk("vda")
    })
}

proptest! {
    #[test]
    fn any_two_samples_give_finite_figures(
        before in any_disk(),
        after in any_disk(),
        earlier_ns: u64,
        later_ns: u64,
    ) {
        let window = Window::between(&sample(earlier_ns, &[before]), &sample(later_ns, &[after]));
        prop_assert_eq!(window.disks.len() + window.missing.len(), 1);
        for disk in &window.disks {
            let figures = [disk.read_iops, disk.write_bytes_per_s, disk.average_queue];
            prop_assert!(figures.iter().all(|figure| figure.is_finite() && *figure >= 0.0));
            prop_assert!((0.0..=100.0).contains(&disk.utilisation_percent));
            prop_assert!(disk.read_latency_ns.is_none_or(|ns| ns > 0.0 && ns.is_finite()));
        }
        let json = serde_json::to_string(&window).unwrap();
        prop_assert!(serde_json::from_str::<Window>(&json).is_ok());
    }
}
