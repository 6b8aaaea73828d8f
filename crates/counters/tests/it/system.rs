//! All counters of a system in one pass, from made-up trees of /proc and /sys.

use std::fs;
use std::path::Path;

use counters::{
    BlockKind, DISK_FIELDS, DiskCounters, DiskTally, SYSTEM_FIELDS, Span, SystemSampler,
    SystemTally, SystemWindow, block_devices, disk_field, system_field,
};
use proptest::prelude::*;

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

const ONE: Span = Span { seconds: 1.0, readings: 1 };

fn figure(name: &str, tally: &DiskTally) -> Option<f64> {
    disk_field(name).unwrap().of(tally, ONE)
}

#[test]
fn two_samples_make_a_window_of_everything() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(
        root,
        "proc/stat",
        "cpu 10 0 0 80 10 0 0 0\ncpu0 5 0 0 40 5 0 0 0\ncpu1 5 0 0 40 5 0 0 0\n",
    );
    write(
        root,
        "proc/diskstats",
        "8 0 sda 1 0 8 5 2 0 16 40 3 9 45\n8 1 sda1 1 0 8 5 2 0 16 40 0 9 45\n",
    );
    write(root, "proc/pressure/io", "some avg10=0 total=1000\nfull avg10=0 total=500\n");
    write(root, "proc/meminfo", "Dirty: 4 kB\nWriteback: 1 kB\n");
    let mut sampler = SystemSampler::with_root(root).unwrap();
    let before = sampler.sample().unwrap();
    write(
        root,
        "proc/stat",
        "cpu 40 0 0 130 20 0 0 10\ncpu0 35 0 0 40 5 0 0 0\ncpu1 5 0 0 90 15 0 0 10\n",
    );
    write(
        root,
        "proc/diskstats",
        "8 0 sda 1 0 8 5 6 0 80 160 1 50 165\n8 16 sdb 0 0 0 0 0 0 0 0 0 0 0\n",
    );
    write(root, "proc/pressure/io", "some avg10=0 total=251000\nfull avg10=0 total=500\n");
    write(root, "proc/meminfo", "Dirty: 40 kB\nWriteback: 0 kB\n");
    let mut after = sampler.sample().unwrap();
    after.at_ns = before.at_ns + 1_000_000_000;
    let window = SystemWindow::between(&before, &after);
    assert_eq!(window.missing, ["sdb", "sda1"], "what came, and what went");
    let sda = window.disk("sda").unwrap();
    assert_eq!((sda.writes, sda.written_bytes, sda.write_ms, sda.in_flight), (4, 64 * 512, 120, 1));
    assert_eq!(figure("writes_per_s", sda), Some(4.0));
    assert_eq!(figure("Avg. Disk sec/Write", sda), Some(30e6));
    assert_eq!(figure("write_size", sda), Some(8192.0));
    assert_eq!(figure("read_latency", sda), None, "nothing was read");
    assert_eq!(figure("% idle time", sda), Some(100.0 - 4.1));
    let of = |name: &str| system_field(name).unwrap().of(&window.system, ONE);
    assert_eq!((of("cpu_percent"), of("steal_percent")), (Some(40.0), Some(10.0)));
    assert_eq!((of("io_some_percent"), of("io_full_percent")), (Some(25.0), Some(0.0)));
    assert_eq!((of("dirty_bytes"), of("memory_some_percent")), (Some(40_960.0), None));
    let cores: Vec<_> = window.cores.iter().map(|c| c.cpu.percent(c.cpu.busy_ticks)).collect();
    assert_eq!(cores, [Some(100.0), Some(1000.0 / 70.0)]);
}

#[test]
fn names_are_unique_and_end_with_their_unit() {
    let mut names: Vec<&str> = DISK_FIELDS.iter().map(|field| field.name).collect();
    names.extend(SYSTEM_FIELDS.iter().map(|field| field.name));
    let bare = DISK_FIELDS.iter().map(counters::Field::bare_name);
    let mut bare: Vec<&str> =
        bare.chain(SYSTEM_FIELDS.iter().map(counters::Field::bare_name)).collect();
    for names in [&mut names, &mut bare] {
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    }
    let six = ["Avg. Disk sec/Read", "Avg. Disk sec/Write", "Disk Reads/sec", "Disk Writes/sec"];
    for name in six.iter().chain(&["Avg. Disk Bytes/Read", "Avg. Disk Bytes/Write"]) {
        let place = DISK_FIELDS.iter().position(|field| field.perfmon == Some(*name)).unwrap();
        assert!(place < 6, "{name}");
    }
}

#[test]
fn devices_know_what_they_are_and_what_they_lie_on() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    for (name, size) in [("sda", 100), ("nvme0n1", 8), ("loop0", 0), ("dm-0", 50), ("md0", 9)] {
        write(root, &format!("sys/devices/{name}/size"), size.to_string());
        fs::create_dir_all(root.join("sys/class/block")).unwrap();
        let link = root.join("sys/class/block").join(name);
        std::os::unix::fs::symlink(root.join("sys/devices").join(name), link).unwrap();
    }
    write(root, "sys/devices/sda/sda1/partition", "1");
    write(root, "sys/devices/sda/sda1/size", "60");
    std::os::unix::fs::symlink(
        root.join("sys/devices/sda/sda1"),
        root.join("sys/class/block/sda1"),
    )
    .unwrap();
    write(root, "sys/devices/dm-0/dm/uuid", "LVM-abc\n");
    write(root, "sys/devices/dm-0/dm/name", "vg-data\n");
    write(root, "sys/devices/dm-0/slaves/sda1", "");
    write(root, "sys/devices/md0/md/level", "raid1\n");
    write(root, "sys/devices/sda/device/model", "DISK 9000  \n");
    let devices = block_devices(root);
    let of = |name: &str| devices.iter().find(|device| device.name == name).unwrap();
    assert_eq!(of("sda1").below, ["sda"]);
    assert_eq!(
        (of("dm-0").kind, of("dm-0").label.as_deref()),
        (BlockKind::LogicalVolume, Some("vg-data"))
    );
    assert_eq!(of("dm-0").below, ["sda1"]);
    assert_eq!((of("md0").kind, of("nvme0n1").kind), (BlockKind::Raid, BlockKind::NvmeNamespace));
    assert_eq!(of("sda").label.as_deref(), Some("DISK 9000"));
    let real: Vec<&str> = devices.iter().filter(|d| d.is_real()).map(|d| d.name.as_str()).collect();
    assert_eq!(
        real,
        ["dm-0", "md0", "nvme0n1", "sda"],
        "no partition, no loop device without a file"
    );
}

/// `echo 0 > queue/iostats` made a busy NVMe disk idle: 0 reads a second, 0 % busy.
#[test]
fn a_device_whose_accounting_is_off_has_no_figures() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    write(root, "proc/stat", "cpu 1 1 1 1\n");
    let names = ["sda", "sda1", "sdb", "zram0", "dm-0"];
    let stats = |count: u64| {
        let line = |name: &&str| format!("8 0 {name} {count} 0 8 5 2 0 16 40 0 9 45\n");
        names.iter().map(line).collect::<Vec<_>>().concat()
    };
    write(root, "proc/diskstats", stats(1));
    let class = "sys/class/block";
    write(root, "sys/devices/sda/queue/iostats", "0\n");
    write(root, "sys/devices/sda/mq/0/nr_tags", "64\n");
    write(root, "sys/devices/sda/sda1/partition", "1\n");
    write(root, &format!("{class}/sdb/queue/iostats"), "1\n");
    write(root, &format!("{class}/sdb/queue/scheduler"), "noop [cfq]\n");
    // Neither has requests, and both count.
    write(root, &format!("{class}/zram0/queue/iostats"), "0\n");
    write(root, &format!("{class}/dm-0/queue/iostats"), "0\n");
    write(root, &format!("{class}/dm-0/queue/scheduler"), "none\n");
    for (name, to) in [("sda", "sda"), ("sda1", "sda/sda1")] {
        let to = root.join("sys/devices").join(to);
        std::os::unix::fs::symlink(to, root.join(class).join(name)).unwrap();
    }
    let mut sampler = SystemSampler::with_root(root).unwrap();
    let before = sampler.sample().unwrap();
    write(root, "proc/diskstats", stats(9));
    let after = sampler.sample().unwrap();
    let window = SystemWindow::between(&before, &after);
    assert_eq!(window.missing, ["sda", "sda1"]);
    assert_eq!(window.disk("zram0").unwrap().reads, 8);
    // A device that is switched off within a window has counted a part of it.
    write(root, &format!("{class}/sdb/queue/iostats"), "0\n");
    let window = SystemWindow::between(&after, &sampler.sample().unwrap());
    assert_eq!(window.missing, ["sda", "sda1", "sdb"]);
    let devices = vec!["sdb".to_owned(), "dm-0".to_owned()];
    let mut sampler = counters::Sampler::with_root(root, devices).unwrap();
    let first = sampler.sample().unwrap();
    let window = counters::Window::between(&first, &sampler.sample().unwrap());
    // `run` blamed a cache.
    let off = counters::NoCounts::AccountingOff { device: "sdb".to_owned() };
    assert_eq!(window.no_counts(), Some(off));
    assert_eq!((window.missing, window.uncounted), (vec!["sdb".into()], vec!["sdb".into()]));
    assert_eq!(window.disks.len(), 1);
}

fn counters() -> impl Strategy<Value = DiskCounters> {
    prop::collection::vec(0..1_000_000_u64, 11).prop_map(|n| DiskCounters {
        device: "sda".to_owned(),
        reads: n[0],
        writes: n[1],
        read_bytes: n[2],
        write_bytes: n[3],
        read_time_ms: n[4],
        write_time_ms: n[5],
        weighted_ms: n[6],
        busy_ms: n[7],
        in_flight: n[8],
        flushes: Some(n[9]),
        flush_ms: Some(n[10]),
        ..DiskCounters::default()
    })
}

/// The counters after what happened in between, which is given by other counters.
fn later(a: &DiskCounters, more: &DiskCounters) -> DiskCounters {
    DiskCounters {
        reads: a.reads + more.reads,
        writes: a.writes + more.writes,
        read_bytes: a.read_bytes + more.read_bytes,
        write_bytes: a.write_bytes + more.write_bytes,
        read_time_ms: a.read_time_ms + more.read_time_ms,
        write_time_ms: a.write_time_ms + more.write_time_ms,
        weighted_ms: a.weighted_ms + more.weighted_ms,
        busy_ms: a.busy_ms + more.busy_ms,
        flushes: a.flushes.zip(more.flushes).map(|(a, b)| a + b),
        flush_ms: a.flush_ms.zip(more.flush_ms).map(|(a, b)| a + b),
        ..more.clone()
    }
}

proptest! {
    #[test]
    fn windows_add_up_to_the_window_of_all(first in counters(),
        steps in prop::collection::vec(counters(), 1..8)) {
        let mut sum = DiskTally::default();
        let mut at = first.clone();
        for step in &steps {
            let next = later(&at, step);
            sum.add(&DiskTally::between(&at, &next).unwrap());
            at = next;
        }
        let mut whole = DiskTally::between(&first, &at).unwrap();
        whole.in_flight = steps.iter().map(|step| step.in_flight).sum();
        prop_assert_eq!(sum, whole);
        let text = serde_json::to_string(&sum).unwrap();
        prop_assert_eq!(serde_json::from_str::<DiskTally>(&text).unwrap(), sum);
    }

    #[test]
    fn no_figure_is_infinite_and_no_idle_latency_is_zero(a in counters(), b in counters(),
        seconds in 0.0..100.0_f64) {
        let Some(tally) = DiskTally::between(&a, &b) else { return Ok(()) };
        let span = Span { seconds, readings: 1 };
        for field in &DISK_FIELDS {
            let figure = field.of(&tally, span);
            prop_assert!(figure.is_none_or(f64::is_finite), "{}", field.name);
            if field.name.ends_with("latency_ns") {
                prop_assert_ne!(figure, Some(0.0));
            }
        }
        for field in &SYSTEM_FIELDS {
            prop_assert!(field.of(&SystemTally::default(), span).is_none_or(f64::is_finite));
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn hostile_files_are_survived(texts in prop::collection::vec(prop::collection::vec(any::<u8>(),
        0..80), 7)) {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let files = ["stat", "diskstats", "pressure/io", "pressure/cpu", "meminfo", "vmstat"];
        for (file, text) in files.iter().zip(&texts) {
            write(root, &format!("proc/{file}"), text);
        }
        write(root, "sys/class/block/sda/size", &texts[6]);
        write(root, "sys/class/block/sda/dm/uuid", &texts[5]);
        write(root, "sys/class/block/loop/loop/backing_file", &texts[4]);
        fs::create_dir_all(root.join("proc/pressure/memory")).unwrap();
        let mut sampler = SystemSampler::with_root(root).unwrap();
        let (a, b) = (sampler.sample().unwrap(), sampler.sample().unwrap());
        prop_assert!(SystemWindow::between(&a, &b).disks.len() <= b.disks.len());
        prop_assert_eq!(block_devices(root).len(), 2);
    }
}
