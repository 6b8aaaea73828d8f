//! Every rule has a set-up that it finds something in, and one that it does not.

use rustix::fs::IFlags;

use super::super::findings;
use super::super::storage::Space;
use super::fixture::{Fixture, codes};
use super::machines::{
    Files, fc, host, nvme, nvme_multipath, partitioned, raid, sas_multipath, sata, sata_device,
    usb, virtual_disk, volume,
};
use crate::{
    Device, Disk, Extents, Finding, Health, Inspected, Inspector, Layer, PlannedLoad, Severity,
    Storage, TargetKind, ThinSpace, rules,
};

/// A rule, a machine that it applies to, and one that it does not.
type Case = (&'static str, Vec<String>, Vec<String>);

fn names(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| finding.code.clone()).collect()
}

/// What an inspection finds in a directory on the device with this number.
fn on(fixture: &Fixture, device: (u32, u32)) -> Vec<String> {
    names(&fixture.inspected(device, &PlannedLoad::default()).storage.findings)
}

const SDA: (u32, u32) = (8, 0);
const DM: (u32, u32) = (253, 0);
const MD: (u32, u32) = (9, 0);
const NVME: (u32, u32) = (259, 0);
const VIRTUAL: (u32, u32) = (252, 0);

/// Options and file systems on a SATA disk.
fn mounted(kind: &str, options: &str) -> Vec<String> {
    let mut fixture = sata(&[]);
    fixture.mountinfo(b"");
    fixture.mount(&format!("8:0 / /x rw - {kind} /dev/sda {options}"));
    on(&fixture, SDA)
}

/// A target with an attribute, as `lsattr` shows them.
fn with_attribute(kind: &str, attributes: IFlags) -> Vec<String> {
    let mut fixture = sata(&[]);
    fixture.mountinfo(b"");
    fixture.mount(&format!("8:0 / /x rw,noatime - {kind} /dev/sda rw"));
    fixture.attributes = attributes;
    on(&fixture, SDA)
}

/// On btrfs, `chattr +C` was advised where it had been done.
fn with_nocow(options: &str) -> Vec<String> {
    let mut fixture = sata(&[]);
    fixture.mountinfo(b"");
    fixture.mount(&format!("8:0 / /x rw,noatime - btrfs /dev/sda {options}"));
    fixture.attributes = IFlags::NOCOW;
    on(&fixture, SDA)
}

/// A file system without a device.
fn elsewhere(kind: &str) -> Vec<String> {
    let mut fixture = Fixture::new();
    fixture.mount(&format!("0:50 / /x rw,noatime - {kind} somewhere rw"));
    on(&fixture, (0, 50))
}

/// A file system with blocks of this size, this full.
fn with_space(kind: &str, block_bytes: u64, free_blocks: u64) -> Vec<String> {
    let mut fixture = sata(&[]);
    fixture.mountinfo(b"");
    fixture.mount(&format!("8:0 / /x rw,noatime - {kind} /dev/sda rw"));
    let space = Space {
        block_bytes,
        blocks: 1000,
        free_blocks,
        available_blocks: free_blocks,
        ..Space::default()
    };
    let storage = fixture.storage_with("/x/dir", TargetKind::Directory, SDA, Some(space));
    codes(&storage).into_iter().map(str::to_owned).collect()
}

fn file_systems() -> Vec<Case> {
    let fine = || mounted("xfs", "rw,noatime");
    let broken = sata(&[]);
    broken.write("sys/fs/ext4/sda/errors_count", "3\n");
    let ext4 = |mut fixture: Fixture| {
        fixture.mountinfo(b"");
        fixture.mount("8:0 / /x rw,noatime - ext4 /dev/sda rw");
        on(&fixture, SDA)
    };
    let whole = sata(&[]);
    whole.write("sys/fs/ext4/sda/errors_count", "0\n");
    let with_inodes = |available_inodes| {
        let space = Space { blocks: 9, free_blocks: 9, available_blocks: 9, ..Space::default() };
        let space = Space { block_bytes: 4096, inodes: 1000, available_inodes, ..space };
        let storage = sata(&[]).storage_with("/x", TargetKind::Directory, SDA, Some(space));
        names(&storage.findings)
    };
    let without_journal = sata(&[]);
    without_journal.write("sys/fs/ext4/sda/journal_task", "<none>\n");
    vec![
        ("inodes-used-up", with_inodes(9), with_inodes(10)),
        ("no-journal", ext4(without_journal), ext4(sata(&[]))),
        ("no-journal", mounted("vfat", "noatime"), fine()),
        ("synchronous", mounted("xfs", "rw,sync"), fine()),
        ("synchronous", mounted("ext4", "dirsync"), with_attribute("ext4", IFlags::NOCOW)),
        ("synchronous", with_attribute("ext4", IFlags::SYNC), fine()),
        ("synchronous", with_attribute("ext4", IFlags::DIRSYNC), fine()),
        ("data-journal", with_attribute("ext4", IFlags::JOURNALING), fine()),
        ("encryption", with_attribute("ext4", IFlags::from_bits_retain(0x800)), fine()),
        ("raid-degraded", mounted("btrfs", "degraded"), mounted("ext4", "rw")),
        ("copy-on-write", with_attribute("btrfs", IFlags::SYNC), with_nocow("")),
        ("compression", with_attribute("btrfs", IFlags::COMPRESSED), with_nocow("compress=zstd:3")),
        ("overlay-file-system", elsewhere("overlay"), fine()),
        ("user-space-file-system", mounted("fuseblk", "rw"), fine()),
        ("memory-file-system", elsewhere("tmpfs"), fine()),
        ("network-file-system", elsewhere("nfs4"), fine()),
        ("user-space-file-system", elsewhere("fuse.sshfs"), fine()),
        ("no-block-device", elsewhere("overlay"), fine()),
        ("read-only", mounted("xfs", "ro,noatime"), fine()),
        ("file-system-full", with_space("xfs", 4096, 149), with_space("xfs", 4096, 200)),
        ("allocation-unit", with_space("ext4", 1024, 900), with_space("ext4", 4096, 900)),
        ("allocation-unit", with_space("ntfs3", 4096, 900), with_space("ntfs3", 65536, 900)),
        ("compression", mounted("btrfs", "rw,compress=lzo"), mounted("btrfs", "rw,compress=no")),
        ("copy-on-write", mounted("btrfs", "rw,noatime"), mounted("btrfs", "rw,nodatacow")),
        ("strict-access-times", mounted("xfs", "rw"), fine()),
        ("data-journal", mounted("ext4", "data=journal"), mounted("ext4", "data=ordered")),
        ("no-write-barrier", mounted("ext4", "nobarrier"), fine()),
        ("online-discard", mounted("ext4", "discard"), mounted("btrfs", "discard=async")),
        ("file-system-errors", ext4(broken), ext4(whole)),
        (
            "file-system-stripe",
            on(&raid("raid5", &[], "relatime"), MD),
            on(&raid("raid5", &[], "stripe=256"), MD),
        ),
    ]
}

fn partitions() -> Vec<Case> {
    let of = |start: &str, disk: &[(&str, &str)], partition: &[(&str, &str)]| {
        let fixture = partitioned(start, disk, partition);
        let storage = fixture.storage("/dev/sda1", TargetKind::BlockDevice, (8, 1));
        names(&storage.findings)
    };
    let striped = [("queue/optimal_io_size", "786432")];
    // What a bridge says when it has no idea.
    let nonsense = [("queue/optimal_io_size", "33553920")];
    vec![
        ("partition-misaligned", of("63", &[], &[]), of("2048", &[], &[])),
        ("partition-not-on-mib", of("64", &[], &[]), of("2048", &[], &[])),
        ("stripe-misaligned", of("2048", &striped, &[]), of("3072", &striped, &[])),
        ("stripe-misaligned", of("2048", &striped, &[]), of("2048", &nonsense, &[])),
        ("alignment-offset", of("2048", &[], &[("alignment_offset", "512")]), of("2048", &[], &[])),
    ]
}

fn raids() -> Vec<Case> {
    let of = |level: &str, md: &[(&str, &str)]| on(&raid(level, md, "stripe=256"), MD);
    let journal = [("consistency_policy", "journal"), ("dev-sdc/state", "journal")];
    vec![
        ("raid-degraded", of("raid1", &[("degraded", "1")]), of("raid1", &[])),
        ("raid-rebuilding", of("raid1", &[("sync_action", "resync")]), of("raid1", &[])),
        ("raid-mismatches", of("raid5", &[("mismatch_cnt", "8")]), of("raid5", &[])),
        ("raid-parity", of("raid6", &[]), of("raid10", &[])),
        ("raid-write-hole", of("raid5", &[]), of("raid5", &[("consistency_policy", "ppl")])),
        ("raid-write-hole", of("raid6", &[]), of("raid6", &journal)),
        ("raid-write-hole", of("raid4", &[]), of("raid1", &[])),
        ("raid-no-bitmap", of("raid1", &[("consistency_policy", "resync")]), of("raid1", &[])),
        ("raid-member-errors", of("raid1", &[("dev-sdb/errors", "4")]), of("raid1", &[])),
        ("raid-chunk", of("raid0", &[("chunk_size", "16384")]), of("raid0", &[])),
    ]
}

/// A loop device that begins at this byte of its file.
fn loop_at(offset: &str) -> Vec<String> {
    let files = [("loop/backing_file", "/f"), ("loop/offset", offset)];
    on(&virtual_disk("loop0", &files), VIRTUAL)
}

/// A thin volume that promises so many bytes, with so many left below.
fn promises(promised_bytes: u64, free_bytes: u64) -> Vec<String> {
    let thin = Some(ThinSpace { promised_bytes, free_bytes });
    names(&findings::of_layer(&Layer { name: "dm-0".into(), thin, ..Layer::default() }))
}

fn volumes() -> Vec<Case> {
    let linear = || on(&volume("LVM-aaaa", &[], None), DM);
    let between = |name: &str, uuid: &str| on(&volume("LVM-aaaa", &[], Some((name, uuid))), DM);
    let both = [("running", "90000"), ("running", "80000")];
    let failed = [("running", "90000"), ("offline", "10")];
    let unequal = [("running", "90000"), ("running", "10")];
    let dead = [("live", "5"), ("connecting", "5")];
    vec![
        ("thin-storage", between("vg-pool-tpool", "LVM-bbbb-tpool"), linear()),
        ("snapshot", between("vg-lv-cow", "LVM-bbbb-cow"), linear()),
        ("cache-volume", between("vg-pool_cdata", "LVM-bbbb-cdata"), linear()),
        ("cache-volume", on(&virtual_disk("bcache0", &[]), VIRTUAL), linear()),
        ("encryption", on(&volume("CRYPT-LUKS2-1", &[], None), DM), linear()),
        ("compressing-device", on(&volume("VDO-1", &[], None), DM), linear()),
        ("compressing-device", on(&virtual_disk("zram0", &[]), VIRTUAL), linear()),
        ("path-failed", on(&sas_multipath(&failed), DM), on(&sas_multipath(&both), DM)),
        ("path-failed", on(&nvme_multipath(&dead), NVME), on(&nvme_multipath(&both), NVME)),
        ("path-single", on(&sas_multipath(&both[..1]), DM), on(&sas_multipath(&both), DM)),
        ("paths-unequal", on(&sas_multipath(&unequal), DM), on(&sas_multipath(&both), DM)),
        ("paths-unequal", on(&nvme_multipath(&unequal), NVME), on(&nvme_multipath(&both), NVME)),
        (
            "loop-buffered",
            on(&virtual_disk("loop0", &[("loop/backing_file", "/f"), ("loop/dio", "0")]), VIRTUAL),
            on(&virtual_disk("loop0", &[("loop/backing_file", "/f"), ("loop/dio", "1")]), VIRTUAL),
        ),
        ("loop-device", on(&virtual_disk("loop0", &[]), VIRTUAL), linear()),
        ("loop-misaligned", loop_at("512"), loop_at("1048576")),
        ("thin-overcommitted", promises(1 << 30, 1 << 20), promises(1 << 20, 1 << 30)),
    ]
}

/// What the kernel was told about a disk: its cache, its queue, its accounting.
fn told() -> Vec<Case> {
    let fine = || on(&sata(&[]), SDA);
    let of = |file: &str, text: &str| on(&sata(&[(file, text)]), SDA);
    let device = |file: &str, text: &str| on(&sata_device(&[(file, text)]), SDA);
    // A disk whose cache the kernel was told not to flush, or that has none.
    let through = |files: Files<'_>| {
        let files = [&[("queue/write_cache", "write through")], files].concat();
        on(&virtual_disk("vda", &files), VIRTUAL)
    };
    let loop_through = |read_only: &str| {
        let files = [("queue/write_cache", "write through"), ("ro", read_only)];
        on(&virtual_disk("loop0", &files), VIRTUAL)
    };
    let accounting = |file: &str, text: &str| {
        let files = [("queue/iostats", "0"), (file, text)];
        on(&sata(&files), SDA)
    };
    vec![
        (
            "accounting-off",
            accounting("queue/scheduler", "[mq-deadline] none"),
            // Without requests, devices count whatever this file says.
            on(&virtual_disk("zram0", &[("queue/iostats", "0")]), VIRTUAL),
        ),
        ("accounting-off", accounting("mq/0/nr_tags", "64"), fine()),
        ("flush-disabled", device("scsi_disk/0:0:0:0/cache_type", "write back"), fine()),
        ("flush-disabled", through(&[("cache_type", "write back")]), through(&[])),
        ("flush-disabled", through(&[("queue/fua", "1")]), through(&[("queue/fua", "0")])),
        ("flush-disabled", loop_through("0"), loop_through("1")),
        ("queue-requests-few", of("queue/nr_requests", "4"), fine()),
        (
            "queue-requests-few",
            of("queue/nr_requests", "31"),
            on(&sata_device(&[("queue_depth", "1")]), SDA),
        ),
        ("read-ahead", of("queue/read_ahead_kb", "0"), of("queue/read_ahead_kb", "128")),
        ("read-ahead", of("queue/read_ahead_kb", "65536"), of("queue/read_ahead_kb", "8192")),
    ]
}

fn disks() -> Vec<Case> {
    let fine = || on(&sata(&[]), SDA);
    let of = |file: &str, text: &str| on(&sata(&[(file, text)]), SDA);
    let device = |file: &str, text: &str| on(&sata_device(&[(file, text)]), SDA);
    let full = "8.0 GT/s PCIe";
    let slow_link = sata(&[]);
    slow_link.write("sys/class/ata_device/dev1.0/spdn_cnt", "2\n");
    let solid = |scheduler: &str| {
        let files = [("queue/rotational", "0"), ("queue/scheduler", scheduler)];
        on(&sata(&files), SDA)
    };
    let cache = |fua: &str| {
        let files = [("queue/write_cache", "write back"), ("queue/fua", fua)];
        on(&sata(&files), SDA)
    };
    let one_cpu = " CPU0 CPU1\n 30: 500000 3 nvme0q1\n 31: 400000 0 nvme0q2\n";
    let both_cpus = " CPU0 CPU1\n 30: 500000 3 nvme0q1\n 31: 3 400000 nvme0q2\n";
    let sectors = [("queue/logical_block_size", "512"), ("queue/physical_block_size", "4096")];
    vec![
        ("scheduler", solid("none [bfq]"), solid("[none] bfq")),
        ("scheduler-rotating", of("queue/scheduler", "[none] mq-deadline"), fine()),
        ("volatile-write-cache", cache("0"), cache("1")),
        ("queue-depth-small", on(&fc("16 Gbit", "16"), SDA), on(&fc("16 Gbit", "64"), SDA)),
        ("queue-depth-small", device("queue_depth", "1"), fine()),
        (
            "link-below-capability",
            on(&nvme(full, "2", None), NVME),
            on(&nvme(full, "4", None), NVME),
        ),
        ("link-below-capability", on(&nvme("2.5 GT/s", "4", None), NVME), fine()),
        ("link-below-capability", on(&fc("8 Gbit", "64"), SDA), on(&fc("16 Gbit", "64"), SDA)),
        ("link-below-capability", on(&usb("480"), SDA), on(&usb("5000"), SDA)),
        ("link-lowered", on(&slow_link, SDA), fine()),
        ("device-not-running", device("state", "offline"), fine()),
        ("device-read-only", of("ro", "1"), fine()),
        ("thin-storage", device("scsi_disk/0:0:0:0/thin_provisioning", "1"), fine()),
        ("zoned-device", of("queue/zoned", "host-managed"), of("queue/zoned", "none")),
        ("io-split", of("queue/max_sectors_kb", "128"), fine()),
        ("emulated-sectors", on(&sata(&sectors), SDA), fine()),
        ("usb-attached", on(&usb("5000"), SDA), fine()),
        (
            "interrupts-on-one-cpu",
            on(&nvme(full, "4", Some(one_cpu)), NVME),
            on(&nvme(full, "4", Some(both_cpus)), NVME),
        ),
    ]
}

/// A host with these files, and control groups of both versions.
fn limited(files: Files<'_>) -> Fixture {
    let fixture = host(files);
    let cgroups = "29 1 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
        30 1 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
    fixture.write("proc/self/mountinfo", cgroups);
    fixture.write("proc/meminfo", "MemTotal: 8388608 kB\n");
    fixture.write("sys/devices/system/cpu/online", "0-7\n");
    fixture
}

fn hosts() -> Vec<Case> {
    let within = |group: &str, file: &str, text: &str| {
        let files = [("proc/self/cgroup", group), (file, text)];
        names(&Inspector::with_root(limited(&files).root()).host().findings)
    };
    let v2 = |file: &str, text: &str| within("0::/a/b", &format!("sys/fs/cgroup/{file}"), text);
    let v1 = |text: &str| {
        let file = "sys/fs/cgroup/memory/a/memory.limit_in_bytes";
        within("3:memory:/a\n0::/a/b", file, text)
    };
    let of = |file: &str, text: &str| {
        names(&Inspector::with_root(host(&[(file, text)]).root()).host().findings)
    };
    let pages = "sys/kernel/mm/transparent_hugepage/enabled";
    let governor = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    let clock = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    let dirty = |ratio: &str, bytes: &str| {
        let files = [
            ("proc/sys/vm/dirty_background_ratio", ratio),
            ("proc/sys/vm/dirty_background_bytes", bytes),
        ];
        names(&Inspector::with_root(host(&files).root()).host().findings)
    };
    let synchronised = |is| names(&findings::unsynchronised(is).into_iter().collect::<Vec<_>>());
    vec![
        ("cgroup-memory-limit", v2("a/b/memory.max", "1073741824"), v2("a/b/memory.max", "max")),
        ("cgroup-memory-limit", v2("a/memory.high", "1073741824"), v2("c/memory.max", "1048576")),
        ("cgroup-memory-limit", v1("1073741824"), v1("9223372036854771712")),
        ("cgroup-cpu-limit", v2("a/b/cpu.max", "50000 100000"), v2("a/b/cpu.max", "max 100000")),
        (
            "cgroup-cpu-limit",
            v2("a/b/cpuset.cpus.effective", "0-1"),
            v2("a/cpu.max", "900000 100000"),
        ),
        ("swappiness", of("proc/sys/vm/swappiness", "60"), of("proc/sys/vm/swappiness", "1")),
        (
            "transparent-huge-pages",
            of(pages, "[always] madvise never"),
            of(pages, "always [madvise] never"),
        ),
        ("cpu-governor", of(governor, "powersave"), of(governor, "performance")),
        ("dirty-limits", dirty("10", "0"), dirty("0", "268435456")),
        ("clock-source", of(clock, "hpet"), of(clock, "tsc")),
        ("time-not-synchronised", synchronised(Some(false)), synchronised(Some(true))),
        ("time-not-synchronised", synchronised(Some(false)), synchronised(None)),
    ]
}

/// Facts that do not come from files of /proc and /sys.
fn asked() -> Vec<Case> {
    let health = |health: Health| {
        let disk = Disk { name: "nvme0n1".into(), health: Some(health), ..Disk::default() };
        names(&findings::of_disks(&Storage::default(), &[disk]))
    };
    let well =
        || health(Health { media_errors: Some(0), used_percent: Some(3), ..Health::default() });
    let critical = Health { critical: vec!["too hot or too cold".into()], ..Health::default() };
    let file = |pieces: u64, unwritten_bytes: u64, shared_bytes: u64| {
        let file_bytes = 1 << 30;
        let extents =
            Extents { file_bytes, pieces, unwritten_bytes, shared_bytes, ..Extents::default() };
        names(&findings::of_extents(&Storage::default(), &extents))
    };
    let in_flight = |depth| {
        let asked = PlannedLoad { depth: Some(depth) };
        names(&fc("16 Gbit", "64").inspected(SDA, &asked).storage.findings)
    };
    let target = |name: &str| Inspected {
        storage: Storage {
            devices: vec![Device { name: name.into(), ..Device::default() }],
            ..Storage::default()
        },
        extents: None,
        disks: Vec::new(),
    };
    let together = |a: &str, b: &str| names(&findings::shared(&[target(a), target(b)]));
    let swap = |disk: &str| {
        let found = findings::of_swap(&target("sda"), "/dev/sdz1", &[disk.to_owned()]);
        names(&found.into_iter().collect::<Vec<_>>())
    };
    vec![
        ("health-critical", health(critical), well()),
        ("media-errors", health(Health { media_errors: Some(2), ..Health::default() }), well()),
        ("worn", health(Health { used_percent: Some(90), ..Health::default() }), well()),
        ("file-fragmented", file(1000, 0, 0), file(100, 0, 0)),
        ("file-unwritten", file(1, 1 << 29, 0), file(1, 4096, 0)),
        ("file-shared", file(1, 0, 4096), file(1, 0, 0)),
        ("queue-depth-below-asked", in_flight(65), in_flight(64)),
        ("shared-devices", together("sda", "sda"), together("sda", "sdb")),
        ("swap-on-device", swap("sda"), swap("sdb")),
    ]
}

fn all() -> Vec<Case> {
    [file_systems(), partitions(), raids(), volumes(), disks(), told(), hosts(), asked(), limits()]
        .concat()
}

/// Limits of the own control group on a device, by a file of the group and its text.
fn throttled(groups: &str, file: &str, text: &str) -> Vec<String> {
    let mut fixture = sata(&[]);
    fixture.mount("0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
    fixture.mount("0:29 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio");
    fixture.write("proc/self/cgroup", groups);
    fixture.write(&format!("sys/fs/cgroup/{file}"), text);
    on(&fixture, SDA)
}

/// 200 reads a second were measured with no reason to doubt a figure.
fn limits() -> Vec<Case> {
    const CODE: &str = "cgroup-io-limit";
    let v2 = |file: &str, text: &str| throttled("0::/a/b\n", file, text);
    let v1 = |file: &str, text: &str| throttled("4:blkio:/a/b\n0::/\n", file, text);
    let max = "8:0 rbps=max wbps=max riops=200 wiops=max\n";
    let other = "8:16 rbps=max wbps=max riops=200 wiops=max\n";
    let none = "8:0 rbps=max wbps=max riops=max wiops=max\n";
    vec![
        (CODE, v2("a/b/io.max", max), v2("a/b/io.max", none)),
        (CODE, v2("a/io.max", max), v2("a/io.max", other)),
        (
            CODE,
            v1("blkio/a/b/blkio.throttle.write_bps_device", "8:0 1048576\n"),
            // With the first version, groups above do not limit those below.
            v1("blkio/a/blkio.throttle.write_bps_device", "8:0 1048576\n"),
        ),
    ]
}

#[test]
fn a_limit_of_io_is_told_with_its_figures() {
    let mut fixture = sata(&[]);
    fixture.mount("0:28 /pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
    fixture.write("proc/self/cgroup", "0::/pod/db\n");
    fixture.write("sys/fs/cgroup/io.max", "8:0 rbps=max wbps=10485760 riops=500 wiops=max\n");
    fixture.write("sys/fs/cgroup/db/io.max", "8:0 rbps=max wbps=max riops=200 wiops=max\n");
    let storage = fixture.inspected(SDA, &PlannedLoad::default()).storage;
    let found = storage.findings.iter().find(|f| f.code == "cgroup-io-limit").unwrap();
    assert!(found.message.ends_with("on sda to 200 reads/s, 10 MiB/s of writes."), "{found:?}");
    assert_eq!(found.evidence[0].place, "/sys/fs/cgroup/db/io.max");
    assert!(found.is_doubt());
}

/// The first write to a container's layer was measured as that of a volume.
#[test]
fn what_an_overlay_writes_is_on_the_device_of_its_upper_directory() {
    let mut fixture = sata(&[]);
    let upper = "lowerdir=/x/l,upperdir=/x/u,workdir=/x/w";
    fixture.mount(&format!("0:50 / /x/m rw - overlay overlay rw,{upper}"));
    let on = |fixture: &Fixture| fixture.storage("/x/m", TargetKind::Directory, (0, 50));
    // In a container, that directory cannot be seen.
    assert!(on(&fixture).layers.is_empty());
    fixture.write("x/u/file", "");
    let storage = on(&fixture);
    assert_eq!((storage.layers.len(), storage.counted_device.as_deref()), (1, Some("sda")));
    let codes = codes(&storage);
    assert!(codes.contains(&"overlay-file-system") && !codes.contains(&"no-block-device"));
}

/// What only Windows answers. `windows/server_tests.rs` has its cases.
const OF_WINDOWS: [&str; 4] =
    ["antivirus-scans", "deduplication", "filter-driver", "instant-file-initialisation"];

#[test]
fn every_rule_has_a_set_up_that_it_finds_and_one_that_it_does_not() {
    let cases = all();
    for (code, bad, good) in &cases {
        assert!(bad.iter().any(|found| found == code), "{code} is not among {bad:?}");
        assert!(!good.iter().any(|found| found == code), "{code} is among {good:?}");
        assert!(rules().iter().any(|rule| rule.code == *code), "{code} is no rule");
    }
    for rule in rules().iter().filter(|rule| !OF_WINDOWS.contains(&rule.code)) {
        assert!(cases.iter().any(|(code, ..)| *code == rule.code), "{} has no case", rule.code);
    }
}

#[test]
fn a_finding_has_evidence_and_its_reason() {
    let fixture = raid("raid5", &[("degraded", "1"), ("dev-sdb/state", "faulty")], "relatime");
    let inspected = fixture.inspected(MD, &PlannedLoad::default());
    for finding in &inspected.storage.findings {
        assert!(!finding.evidence.is_empty(), "{}", finding.code);
        let explained = finding.clone().explained();
        assert!(explained.why.is_some() && explained.source.is_some(), "{}", finding.code);
    }
    let first = &inspected.storage.findings[0];
    assert_eq!((first.code.as_str(), first.severity), ("raid-degraded", Severity::Serious));
    assert!(first.message.contains("raid5 of 3 devices that lacks 1"), "{}", first.message);
    let places: Vec<&str> = first.evidence.iter().map(|e| e.place.as_str()).collect();
    assert!(places[1].ends_with("md0/md/dev-sdb/state"), "{places:?}");
    assert_eq!(first.command.as_deref(), Some("mdadm /dev/md0 --add /dev/DEVICE"));
}

#[test]
fn a_healthy_machine_has_no_warnings() {
    for (fixture, device) in [
        (sata(&[]), SDA),
        (fc("16 Gbit", "64"), SDA),
        (nvme("8.0 GT/s PCIe", "4", None), NVME),
        (sas_multipath(&[("running", "90"), ("running", "80")]), DM),
        (volume("LVM-aaaa", &[], None), DM),
        (raid("raid10", &[], "stripe=256"), MD),
    ] {
        let found = fixture.inspected(device, &PlannedLoad::default()).storage.findings;
        assert_eq!(names(&found), [""; 0]);
    }
}
