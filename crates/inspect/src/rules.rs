//! The rules by which a set-up is judged: why each matters for a database, and where that is
//! documented.
//!
//! The code that knows the facts decides when a rule applies (`judged`, `linux/findings`,
//! `windows/findings`); docs/inspect.md lists all rules.

/// A rule by which a set-up is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The code that its findings have.
    pub code: &'static str,
    /// Why it matters for a database.
    pub why: &'static str,
    /// Where the reason is documented.
    pub source: &'static str,
}

/// The rule with this code, if there is one.
#[must_use]
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code == code)
}

/// All rules, in the order of the documentation.
#[must_use]
pub fn rules() -> &'static [Rule] {
    RULES
}

const fn of(code: &'static str, why: &'static str, source: &'static str) -> Rule {
    Rule { code, why, source }
}

const RUTHRUFF: &str = "M. Ruthruff, Predeployment I/O Best Practices (Microsoft, 2007)";
const ALIGNMENT: &str = "Disk Partition Alignment Best Practices for SQL Server (Microsoft, \
                         2009); Predeployment I/O Best Practices";
const SQL_SERVER_LINUX: &str = "Performance best practices and configuration guidelines for SQL \
                                Server on Linux (Microsoft Learn)";
const POSTGRES_RELIABILITY: &str = "PostgreSQL documentation, Reliability";
const CACHE_CONTROL: &str =
    "Linux kernel documentation, Explicit volatile write back cache control";
const SQL_ANTIVIRUS: &str =
    "Configure antivirus software to work with SQL Server (Microsoft Learn)";
const BLOCK_ABI: &str = "Linux kernel documentation, ABI of /sys/block";
const MD: &str = "Linux kernel documentation, RAID arrays; md(4)";
const PPL: &str = "Linux kernel documentation, Partial Parity Log; RAID 4/5/6 cache";
const MULTIPATH: &str = "multipath.conf(5); Microsoft Multipath I/O (MPIO) overview; \
                         Predeployment I/O Best Practices";
const VM: &str = "Linux kernel documentation, /proc/sys/vm";
const LINK: &str = "Predeployment I/O Best Practices: bandwidth of each part of the way";
const NVME: &str = "NVM Express Base Specification, SMART / Health Information log";

static RULES: &[Rule] = &[
    of(
        "accounting-off",
        "iostat, monitors and the check of these figures see an idle device, whatever it does.",
        BLOCK_ABI,
    ),
    of(
        "alignment-offset",
        "Pages can then span two blocks or stripes of the layer below, and each such page costs \
         two I/Os there.",
        ALIGNMENT,
    ),
    of(
        "allocation-unit",
        "A unit smaller than a database's page lets one page lie in several places, and costs \
         space to keep track of them.",
        "Predeployment I/O Best Practices (64 KiB on NTFS); ext4(5), mkfs.xfs(8)",
    ),
    of(
        "antivirus-scans",
        "A scanner reads a file before the database may: opening it waits, and a file that the \
         scanner holds is not available.",
        SQL_ANTIVIRUS,
    ),
    of(
        "cache-volume",
        "What fits the cache is fast and the rest is not: figures depend on how much of the \
         database was in use.",
        "lvmcache(7); Linux kernel documentation, bcache",
    ),
    of(
        "cgroup-cpu-limit",
        "Where the limit is met, all threads stop for the rest of a tenth of a second: latency \
         grows, and the storage is not the reason.",
        "Linux kernel documentation, Control Group v2",
    ),
    of(
        "cgroup-io-limit",
        "The kernel holds I/O back to keep the limit: the figures are those of the limit, which \
         a database elsewhere does not have.",
        "Linux kernel documentation, Control Group v2 (io.max); Block IO Controller",
    ),
    of(
        "cgroup-memory-limit",
        "The page cache counts, too: buffered I/O finds less in it than on a machine without \
         the limit.",
        "Linux kernel documentation, Control Group v2; Memory Resource Controller",
    ),
    of(
        "clock-source",
        "A database that times its I/O reads the clock at each one; this clock costs a \
         microsecond or more.",
        "PostgreSQL documentation, pg_test_timing",
    ),
    of(
        "compressing-device",
        "Pages of a database compress, test data does not, and how fast the device is depends on \
         that.",
        "Linux kernel documentation, dm-vdo and zram",
    ),
    of(
        "compression",
        "Pages of a database compress, test data does not; and each change of a page is written \
         to a new place.",
        "btrfs(5); zfsprops(7); File Compression and Decompression (Microsoft Learn)",
    ),
    of(
        "copy-on-write",
        "Each change of a page goes to a new place: files fragment, and sequential scans become \
         random.",
        "btrfs(5), nodatacow; PostgreSQL documentation, Creating a Database Cluster: File \
         Systems; ReFS integrity streams (Microsoft Learn)",
    ),
    of(
        "cpu-governor",
        "A processor that sleeps or is slow when an I/O is done answers late: at low depth this \
         is most of the latency.",
        SQL_SERVER_LINUX,
    ),
    of(
        "data-journal",
        "All data is written twice and direct I/O is silently buffered; the database's own log \
         does the same job.",
        "ext4(5)",
    ),
    of(
        "deduplication",
        "Files are read from a store of pieces, and the job that looks for duplicates takes the \
         disks' time; it is not meant for busy databases.",
        "Data Deduplication Overview (Microsoft Learn)",
    ),
    of(
        "device-not-running",
        "The kernel has taken the device out of use; I/O to it fails or waits.",
        "Linux kernel documentation, SCSI mid-level: device states",
    ),
    of("device-read-only", "No database can write here.", BLOCK_ABI),
    of(
        "dirty-limits",
        "Gigabytes of dirty pages are written in one burst at a checkpoint or when the limit is \
         met, and every other I/O waits behind them.",
        VM,
    ),
    of(
        "emulated-sectors",
        "The device reads a whole block to change a part of it: log records of 512 bytes cost a \
         rotation or a slow internal cycle.",
        "SQL Server storage guide (4 KiB disks, trace flag 1800)",
    ),
    of(
        "encryption",
        "Each I/O costs processor time on the way, which the figures hold; small I/Os may be \
         handed to other threads.",
        "cryptsetup(8), performance options; BitLocker overview (Microsoft Learn)",
    ),
    of(
        "file-fragmented",
        "Sequential reads of a file in many pieces become random ones, and large I/Os are cut at \
         each end of a piece.",
        "e4defrag(8); xfs_fsr(8)",
    ),
    of(
        "file-shared",
        "The first write to a shared block makes a copy elsewhere: it is slower than all later \
         ones.",
        "ioctl_ficlonerange(2)",
    ),
    of(
        "file-system-errors",
        "Its metadata was found damaged since it was last checked; data in it may be wrong.",
        "tune2fs(8), errors behaviour",
    ),
    of(
        "file-system-full",
        "New files become fragmented, and solid-state disks have less spare room to clean up in.",
        "ext4(5); mkfs.xfs(8)",
    ),
    of(
        "file-system-stripe",
        "A file system that knows the stripe begins large files on its edge, so that long writes \
         fill whole stripes and parity need not be read.",
        "mkfs.xfs(8), su and sw; mke2fs(8), stride and stripe_width",
    ),
    of(
        "file-unwritten",
        "Reading what was never written touches no medium; the first write to it changes \
         metadata, too.",
        "Linux kernel documentation, FIEMAP",
    ),
    of(
        "filter-driver",
        "Each filter works on each I/O before the file system does, and some read or copy what is \
         written.",
        "Load order groups and altitudes for minifilter drivers (Microsoft Learn)",
    ),
    of(
        "flush-disabled",
        "The disk's cache loses what it holds when power fails, and the kernel does not tell it \
         to flush: commits that were acknowledged are gone.",
        POSTGRES_RELIABILITY,
    ),
    of("health-critical", "The device says that it is failing.", NVME),
    of(
        "inodes-used-up",
        "No file can be made any more, so a database cannot add a segment or a log file.",
        "ext4(5); mkfs.xfs(8), maxpct",
    ),
    of(
        "instant-file-initialisation",
        "A data file that is made, grown or restored is first written with zeros, and all who need \
         the space wait for that.",
        "Database instant file initialization (Microsoft Learn)",
    ),
    of(
        "interrupts-on-one-cpu",
        "One processor answers for all I/O of a fast device, and is busy before the device is.",
        "Linux kernel documentation, SMP IRQ affinity",
    ),
    of(
        "io-split",
        "A backup or a scan reads 512 KiB to 1 MiB at once; the kernel cuts each into pieces.",
        BLOCK_ABI,
    ),
    of(
        "link-below-capability",
        "Everything that passes has to share the slower link: throughput ends there, whatever the \
         device can do.",
        LINK,
    ),
    of(
        "link-lowered",
        "The speed of the link was lowered after errors on it: a cable, a backplane or a \
         connector is bad.",
        "Linux kernel documentation, libata",
    ),
    of(
        "loop-buffered",
        "Writes to the loop device end in the cache of the file system below and are written \
         again later.",
        "losetup(8), --direct-io",
    ),
    of(
        "loop-device",
        "What is measured is the file below, and its file system and cache.",
        "losetup(8)",
    ),
    of(
        "loop-misaligned",
        "Pages span two blocks of the file below, and the loop device cannot use direct I/O.",
        "losetup(8), --offset",
    ),
    of(
        "media-errors",
        "The device could not read or write some of its medium. More usually follow.",
        NVME,
    ),
    of(
        "memory-file-system",
        "Nothing here survives, and no storage device is measured.",
        "tmpfs(5)",
    ),
    of(
        "network-file-system",
        "Other hosts, the network and the server's cache are part of each figure, and locks and \
         flushes go over the network.",
        "PostgreSQL documentation, Creating a Database Cluster: File Systems",
    ),
    of(
        "no-block-device",
        "The figures cannot be confirmed by the kernel's counters.",
        "METHODS.md",
    ),
    of(
        "no-journal",
        "A crash leaves metadata half written: the file system has to be checked, and files may \
         be lost.",
        "ext4(5); tune2fs(8)",
    ),
    of(
        "no-write-barrier",
        "A flush that does not reach the disk's cache does nothing: commits may be lost, and their \
         order with them.",
        POSTGRES_RELIABILITY,
    ),
    of(
        "online-discard",
        "A deletion makes the device discard at once; on many devices other I/O waits for that.",
        "fstrim(8); ext4(5), discard",
    ),
    of(
        "overlay-file-system",
        "The first write to a file of the image copies all of it, and what is written is gone \
         with the container.",
        "Linux kernel documentation, Overlay Filesystem",
    ),
    of(
        "partition-misaligned",
        "A page of the database may touch one disk block or stripe more than it needs, and each \
         such page costs two I/Os there.",
        ALIGNMENT,
    ),
    of(
        "partition-not-on-mib",
        "It may lie across stripes of a RAID or blocks of an array that the system does not see.",
        ALIGNMENT,
    ),
    of(
        "path-failed",
        "The load goes over the paths that are left, and the next failure ends it.",
        MULTIPATH,
    ),
    of("path-single", "There is no other way to the disk when this one fails.", MULTIPATH),
    of(
        "paths-unequal",
        "One path carries most of the I/O: bandwidth of the others is not used.",
        MULTIPATH,
    ),
    of(
        "queue-depth-below-asked",
        "I/Os beyond the queue's depth wait in the kernel: latency grows, throughput does not.",
        RUTHRUFF,
    ),
    of(
        "queue-depth-small",
        "Host bus adapters come with 8 to 32; 64 or more gave substantially more throughput under \
         a database's load.",
        RUTHRUFF,
    ),
    of(
        "queue-requests-few",
        "I/Os beyond the queue wait for a free request: depth costs latency and brings no \
         throughput.",
        BLOCK_ABI,
    ),
    of(
        "raid-chunk",
        "An I/O larger than the chunk keeps several disks busy that could serve others.",
        "Predeployment I/O Best Practices (64 KiB stripe units are common); md(4)",
    ),
    of(
        "raid-degraded",
        "Data is missing a copy or its parity; reads are made from the other disks, and the next \
         failure loses it.",
        MD,
    ),
    of(
        "raid-member-errors",
        "Reads failed on this member and were mended from the others: it is wearing out.",
        MD,
    ),
    of("raid-mismatches", "Copies or parity disagree: which of them is right cannot be told.", MD),
    of(
        "raid-no-bitmap",
        "After a crash all of it is read and written again, and the database runs alongside for \
        hours.",
        MD,
    ),
    of(
        "raid-parity",
        "Each small random write costs two reads and two writes (three with RAID 6); a log and a \
         busy data file feel it most.",
        RUTHRUFF,
    ),
    of(
        "raid-rebuilding",
        "The disks are busy with more than the database; figures are not those of the array at \
         rest.",
        MD,
    ),
    of(
        "raid-write-hole",
        "A crash between the writes of data and parity leaves parity that does not match. If a \
         disk fails later, even data that nobody was writing is lost.",
        PPL,
    ),
    of(
        "read-ahead",
        "Sequential scans of a database that reads through the page cache are as fast as what \
         is read ahead; too much of it wastes bandwidth.",
        BLOCK_ABI,
    ),
    of("read-only", "No database can write here.", "mount(8)"),
    of(
        "scheduler",
        "A scheduler made for fairness among programs costs processor time per I/O and may \
         hold some back.",
        "SQL Server on Linux and Linux kernel documentation, Switching scheduler",
    ),
    of(
        "scheduler-rotating",
        "Without a scheduler, reads wait behind writes and the heads travel further than they \
         need.",
        "Linux kernel documentation, Deadline I/O scheduler",
    ),
    of(
        "shared-devices",
        "The log's sequential writes and the data's random I/O take the same disks' time, and \
         fail together.",
        RUTHRUFF,
    ),
    of(
        "snapshot",
        "The first write to each block after a snapshot reads and copies the old one.",
        "lvmsnapshot: lvm(8), lvcreate(8); Volume Shadow Copy Service (Microsoft Learn)",
    ),
    of(
        "strict-access-times",
        "Each read of a file also writes the file's time of access.",
        "mount(8); Performance best practices for SQL Server on Linux (noatime)",
    ),
    of(
        "stripe-misaligned",
        "Long I/Os and pages lie across stripes: disks do double work, and parity has to be read \
         first.",
        ALIGNMENT,
    ),
    of("swap-on-device", "When memory is short, the database's I/O waits behind swapping.", VM),
    of(
        "swappiness",
        "Memory of the database may be swapped out to make room for the page cache.",
        SQL_SERVER_LINUX,
    ),
    of(
        "synchronous",
        "Each write waits for the medium, not only those that have to be durable.",
        "mount(8), sync and dirsync; chattr(1)",
    ),
    of(
        "thin-overcommitted",
        "A write finds no space below although the file system has room: the database gets an \
         I/O error and stops.",
        "lvmthin(7); losetup(8)",
    ),
    of(
        "thin-storage",
        "The first write to each block finds and clears space, and is slower; and the pool may \
         run out while the file system still has room, which stops the database.",
        "lvmthin(7); Storage Spaces overview (Microsoft Learn)",
    ),
    of(
        "time-not-synchronised",
        "What happened at the same time on two machines cannot be told, and logs of hosts and \
         arrays do not match.",
        "adjtimex(2)",
    ),
    of(
        "transparent-huge-pages",
        "The kernel makes and splits large pages at unpredictable moments, which takes time. \
         PostgreSQL discourages this setting and Oracle forbids it; SQL Server wants it left on.",
        "PostgreSQL documentation, huge_pages; Performance best practices for SQL Server on Linux",
    ),
    of(
        "usb-attached",
        "Bridges to USB often ignore flushes, have queues of one, and stop when cables move.",
        POSTGRES_RELIABILITY,
    ),
    of(
        "user-space-file-system",
        "Each I/O goes through a program, whose caches and promises are its own.",
        "Linux kernel documentation, FUSE",
    ),
    of(
        "volatile-write-cache",
        "Each commit costs a flush of the whole cache, with everything else that is in it.",
        CACHE_CONTROL,
    ),
    of("worn", "Flash that has used up its rated life may lose data or turn read-only.", NVME),
    of(
        "zoned-device",
        "Writes have to follow the zones' order: random writes are rewritten by the device or \
         refused.",
        "Linux kernel documentation, zoned block devices",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_told_once() {
        assert!(RULES.windows(2).all(|pair| pair[0].code < pair[1].code));
        for rule in RULES {
            assert!(rule.why.ends_with('.') && !rule.source.is_empty(), "{}", rule.code);
            assert_eq!(super::rule(rule.code), Some(rule));
        }
        assert_eq!(super::rule("no-such-rule"), None);
    }

    /// With the words of the code, so that the page cannot say something else.
    #[test]
    fn the_documentation_has_every_rule() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/inspect.md");
        let page = std::fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        for rule in RULES {
            let begin = format!("| `{}` |", rule.code);
            let end = format!("| {} | {} |", rule.why, rule.source);
            let told = lines.iter().any(|line| line.starts_with(&begin) && line.ends_with(&end));
            assert!(told, "docs/inspect.md lacks {begin} … {end}");
        }
    }
}
