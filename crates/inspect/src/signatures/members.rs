//! Parts of something larger: RAID, LVM, swap, encryption, caches, clusters. Another host may use
//! such a disk, so it is never overwritten.
//!
//! The comment on a row names the header of its format. Formats whose magic is too short (VIA,
//! JMicron, SiI) and those without a description are left out.

use std::io;

use super::details::{Details, label, plain, uuid};
use super::{At, Magic, Signature, SignatureKind, find_all};
use crate::medium::Span;

use At::{End, Start};

/// Pages of swap have the size of the machine's pages.
const SWAP: &[At] = &[
    Start((4 << 10) - 10),
    Start((8 << 10) - 10),
    Start((16 << 10) - 10),
    Start((32 << 10) - 10),
    Start((64 << 10) - 10),
];
/// Sectors before the end in which Promise's controllers keep their metadata.
const PROMISE: &[At] = &[
    End(63 << 9, 512),
    End(255 << 9, 512),
    End(256 << 9, 512),
    End(16 << 9, 512),
    End(399 << 9, 512),
    End(591 << 9, 512),
    End(675 << 9, 512),
    End(735 << 9, 512),
    End(911 << 9, 512),
    End(974 << 9, 512),
    End(991 << 9, 512),
    End(951 << 9, 512),
    End(3087 << 9, 512),
];
/// LUKS2 keeps its second header after the first, whose size is one of these.
const SECOND_LUKS: &[At] = &[
    Start(0x4000),
    Start(0x8000),
    Start(0x1_0000),
    Start(0x2_0000),
    Start(0x4_0000),
    Start(0x8_0000),
    Start(0x10_0000),
    Start(0x20_0000),
    Start(0x40_0000),
];
const LABEL_SECTORS: &[At] = &[Start(0), Start(512), Start(1024), Start(1536)];
const LAST_SECTOR: &[At] = &[End(512, 512), End(4096, 4096)];
const FIRST: &[At] = &[Start(0)];

const MEMBERS: &[Magic] = &[
    // LVM2: lib/format_text/layout.h; a label is in one of the first four sectors.
    Magic::new("LVM physical volume", "lvm", LABEL_SECTORS, b"LABELONE", lvm2),
    // LVM1: pv_disk of Linux 2.4, versions 1 and 2.
    Magic::new("LVM1 physical volume", "lvm", FIRST, b"HM\x01\x00", plain),
    Magic::new("LVM1 physical volume", "lvm", FIRST, b"HM\x02\x00", plain),
    // MD: linux/raid/md_p.h; 1.1 at the beginning, 1.2 after 4 KiB, 1.0 and 0.90 near the end.
    Magic::new(
        "Linux RAID (md) member",
        "md",
        &[Start(0), Start(4096), End(8192, 4096)],
        &[0xfc, 0x4e, 0x2b, 0xa9],
        md1,
    ),
    Magic::new(
        "Linux RAID (md) member",
        "md",
        &[End(65_536, 65_536)],
        &[0xfc, 0x4e, 0x2b, 0xa9],
        md0,
    ),
    Magic::new(
        "Linux RAID (md) member",
        "md",
        &[End(65_536, 65_536)],
        &[0xa9, 0x2b, 0x4e, 0xfc],
        md0_big_endian,
    ),
    // Swap: linux/swap.h; hibernation puts its own words there.
    Magic::new("swap", "swap", SWAP, b"SWAPSPACE2", swap),
    Magic::new("swap", "swap", SWAP, b"SWAP-SPACE", swap),
    Magic::new("swap with a hibernated system", "swap", SWAP, b"S1SUSPEND", swap),
    Magic::new("swap with a hibernated system", "swap", SWAP, b"S2SUSPEND", swap),
    Magic::new("swap with a hibernated system", "swap", SWAP, b"ULSUSPEND", swap),
    Magic::new("swap with a hibernated system", "swap", SWAP, b"LINHIB0001", swap),
    // LUKS: cryptsetup's on-disk formats 1 and 2.
    Magic::new("LUKS encrypted volume", "luks", FIRST, b"LUKS\xba\xbe", luks),
    Magic::new("LUKS encrypted volume", "luks", SECOND_LUKS, b"SKUL\xba\xbe", luks),
    // BitLocker: [MS-FVE] and dislocker's description; Windows Vista, 7 and later, To Go.
    Magic::new("BitLocker encrypted volume", "bitlocker", &[Start(3)], b"-FVE-FS-", plain),
    Magic::new(
        "BitLocker encrypted volume",
        "bitlocker",
        &[Start(424)],
        b"\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01",
        plain,
    ),
    // bcache and bcachefs: linux/bcache.h, libbcachefs/bcachefs_format.h.
    Magic::new(
        "bcache device",
        "bcache",
        &[Start(4096 + 24)],
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
        bcache,
    ),
    Magic::new(
        "bcachefs member",
        "bcachefs",
        &[Start(4096 + 24)],
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
        bcache,
    ),
    // Device mapper: drivers/md/dm-*.c, each with its own superblock.
    Magic::new("VDO volume", "vdo", FIRST, b"dmvdo001", plain),
    Magic::new("dm-integrity device", "integrity", FIRST, b"integrt\0", plain),
    Magic::new("dm-verity hashes", "verity", FIRST, b"verity\0\0", plain),
    Magic::new("dm-snapshot store", "snapshot", FIRST, b"SnAp\x01\0\0\0", plain),
    Magic::new("dm-writecache device", "cache", FIRST, &[0x21, 0x93, 0x48, 0x23], version1)
        .unknown_to_wipefs(),
    Magic::new("dm-cache metadata", "cache", &[Start(32)], &0o614_2003_u64.to_le_bytes(), plain)
        .unknown_to_wipefs(),
    Magic::new("dm-thin metadata", "thin", &[Start(32)], &27_022_010_u64.to_le_bytes(), plain)
        .unknown_to_wipefs(),
    // Stratis: its static header, twice.
    Magic::new(
        "Stratis pool member",
        "stratis",
        &[Start(512 + 4), Start(4608 + 4)],
        b"!Stra0tis\x86\xff\x02^\x41rh",
        stratis,
    ),
    // DRBD: drbd_int.h, metadata of 8.3, 8.4 and 9 in the last 4 KiB.
    Magic::new("DRBD volume", "drbd", &[End(4096 - 60, 4096)], &[0x83, 0x74, 0x02, 0x6b], plain),
    Magic::new("DRBD volume", "drbd", &[End(4096 - 60, 4096)], &[0x83, 0x74, 0x02, 0x6c], plain),
    Magic::new("DRBD volume", "drbd", &[End(4096 - 60, 4096)], &[0x83, 0x74, 0x02, 0x6d], plain),
    // RAID of controllers and firmware, as dmraid and mdadm read it.
    Magic::new(
        "Intel RAID (IMSM) member",
        "imsm",
        &[End(1024, 512), End(8192, 4096)],
        b"Intel Raid ISM Cfg Sig. ",
        plain,
    ),
    Magic::new(
        "RAID member (DDF)",
        "ddf",
        &[End(512, 512), End(4096, 4096), End(0x2_0200, 512)],
        &[0xde, 0x11, 0xde, 0x11],
        plain,
    ),
    Magic::new("Adaptec RAID member", "raid", &[End(512, 512)], &[0x37, 0xfc, 0x4d, 0x1e], plain),
    Magic::new("Promise RAID member", "raid", PROMISE, b"Promise Technology, Inc.", plain),
    Magic::new("NVIDIA RAID member", "raid", &[End(1024, 512)], b"NVIDIA", plain),
    Magic::new("LSI MegaRAID member", "raid", &[End(512, 512)], b"$XIDE$", plain),
    Magic::new(
        "HighPoint RAID member",
        "raid",
        &[Start(4608 + 32), End(11 << 9, 512)],
        &[0xf0, 0x16, 0x78, 0x5a],
        plain,
    ),
    // GEOM of FreeBSD: sys/geom; every class writes its name into the last sector.
    Magic::new("GEOM member (FreeBSD)", "geom", LAST_SECTOR, b"GEOM::", plain).unknown_to_wipefs(),
    // Windows' dynamic disks: linux/block/partitions/ldm.h.
    Magic::new("Windows dynamic disk (LDM)", "ldm", &[Start(0xc00)], b"PRIVHEAD", plain)
        .unknown_to_wipefs(),
    // Volume managers of AIX (linux/block/partitions/aix.c) and HP-UX (lvmrec at 8 KiB).
    Magic::new("AIX physical volume", "aix", &[Start(7 << 9)], b"_LVM", plain).unknown_to_wipefs(),
    Magic::new("AIX physical volume", "aix", FIRST, &[0xc9, 0xc2, 0xd4, 0xc1], plain)
        .unknown_to_wipefs(),
    Magic::new("HP-UX LVM physical volume", "lvm", &[Start(8192)], b"LVMREC01", plain)
        .unknown_to_wipefs(),
    // Oracle ASM, with ASMLib, its filter driver or udev: kfdhdb.
    Magic::new("Oracle ASM disk", "asm", &[Start(32)], b"ORCLDISK", asm),
    // Clusters: VMFS, Ceph, GPFS, sanlock (leader records), SBD.
    Magic::new("VMFS volume", "vmfs", &[Start(1 << 20)], &[0x0d, 0xd0, 0x01, 0xc0], plain),
    Magic::new("VMFS volume", "vmfs", &[Start(2 << 20)], &[0x5e, 0xf1, 0xab, 0x2f], plain),
    Magic::new("Ceph BlueStore", "ceph", FIRST, b"bluestore block device", bluestore),
    Magic::new("GPFS disk", "gpfs", &[Start(512), Start(1024), Start(4096)], b"NSD desc", plain)
        .unknown_to_wipefs(),
    Magic::new("sanlock lease area", "sanlock", FIRST, &[0x10, 0x20, 0x21, 0x12], plain)
        .unknown_to_wipefs(),
    Magic::new("sanlock lease area", "sanlock", FIRST, &[0x10, 0x20, 0x15, 0x06], plain)
        .unknown_to_wipefs(),
    Magic::new("SBD fencing device", "sbd", FIRST, b"SBD_SBD_", plain).unknown_to_wipefs(),
    // File systems that several hosts mount at once: ocfs2_fs.h, gfs2_ondisk.h, vxfs.h.
    Magic::new(
        "OCFS2 cluster file system",
        "ocfs2",
        &[Start(1024), Start(2048), Start(4096), Start(8192)],
        b"OCFSV2",
        ocfs2,
    ),
    Magic::new("OCFS cluster file system", "ocfs", &[Start(8)], b"OracleCFS", plain),
    Magic::new("GFS cluster file system", "gfs2", &[Start(65_536)], &[1, 0x16, 0x19, 0x70], gfs),
    Magic::new("VxFS file system", "vxfs", &[Start(1024)], &[0xf5, 0xfc, 0x01, 0xa5], plain),
    Magic::new("VxFS file system", "vxfs", &[Start(8192)], &[0xa5, 0x01, 0xfc, 0xf5], plain),
    // The log of an XFS on another device: xfs_log_format.h.
    Magic::new("external log of XFS", "xfs-log", FIRST, &[0xfe, 0xed, 0xba, 0xbe], xfs_log),
];

/// The members of something larger that a part of a medium is.
pub(super) fn find(span: &Span<'_>) -> io::Result<Vec<Signature>> {
    let mut found = find_all(MEMBERS, span, SignatureKind::Member)?;
    found.dedup_by(|a, b| a.what == b.what);
    found.extend(zfs(span)?);
    Ok(found)
}

/// PVs are recognised by a label of type `LVM2 001`; the UUID follows in the header.
fn lvm2(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    if span.array(at + 24)? != Some(*b"LVM2 001") {
        return Ok(None);
    }
    let header = at + u64::from(span.le32(at + 20)?.min(480));
    let text = span.bytes(header, 32)?.filter(|b| b.iter().all(u8::is_ascii_alphanumeric));
    let uuid = text.map(|bytes| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let cuts = [0..6, 6..10, 10..14, 14..18, 18..22, 22..26, 26..32];
        cuts.map(|cut| text.get(cut).unwrap_or_default().to_owned()).join("-")
    });
    let size_bytes = Some(span.le64(header + 32)?).filter(|size| *size > 0);
    Ok(Some(Details { uuid, size_bytes, ..Details::default() }))
}

/// Superblocks of version 1 have that number after the magic.
fn md1(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    if span.le32(at + 4)? != 1 {
        return Ok(None);
    }
    let block = span.padded(at, 64)?;
    let (uuid, label) = (uuid(&block[16..32]), label(&block[32..64]));
    Ok(Some(Details { label, uuid, ..Details::default() }))
}

/// Superblocks of version 0 have that number after the magic, and the UUID in two places.
fn md0(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    md0_of(span, at, span.le32(at + 4)?)
}

fn md0_big_endian(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    md0_of(span, at, span.be32(at + 4)?)
}

fn md0_of(span: &Span<'_>, at: u64, version: u32) -> io::Result<Option<Details>> {
    let block = span.padded(at, 64)?;
    let bytes = [&block[20..24], &block[52..64]].concat();
    let details = Details { uuid: uuid(&bytes), ..Details::default() };
    Ok((version == 0).then_some(details))
}

fn swap(span: &Span<'_>, _: u64) -> io::Result<Option<Details>> {
    let header = span.padded(1024, 44)?;
    // The first version of swap has a map of bad pages there.
    let is_new = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) == 1;
    let (uuid, label) = (uuid(&header[12..28]), label(&header[28..44]));
    let details = Details { label, uuid, ..Details::default() };
    Ok(Some(if is_new { details } else { Details::default() }))
}

fn luks(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    let version = span.be16(at + 6)?;
    if !(1..=2).contains(&version) {
        return Ok(None);
    }
    let uuid = label(&span.padded(at + 168, 40)?);
    let name = if version == 2 { label(&span.padded(at + 24, 48)?) } else { None };
    Ok(Some(Details { uuid, label: name, ..Details::default() }))
}

fn bcache(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    let block = span.padded(at - 24, 104)?;
    let (uuid, label) = (uuid(&block[40..56]), label(&block[72..104]));
    Ok(Some(Details { label, uuid, ..Details::default() }))
}

fn version1(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    Ok((span.le32(at + 4)? == 1).then(Details::default))
}

fn stratis(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    let uuid = label(&span.padded(at + 28, 32)?);
    Ok(Some(Details { uuid, ..Details::default() }))
}

/// The name of the disk, and of its disk group.
fn asm(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    let (disk, group) = (label(&span.padded(at + 40, 32)?), label(&span.padded(at + 72, 32)?));
    // Of a disk that only ASMLib has marked, the name follows the magic.
    let name = match (group, disk) {
        (Some(group), Some(disk)) => Some(format!("{group}/{disk}")),
        (group, disk) => group.or(disk).or(label(&span.padded(at + 8, 24)?)),
    };
    Ok(Some(Details { label: name, ..Details::default() }))
}

fn bluestore(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    let uuid = label(&span.padded(at + 23, 36)?);
    Ok(Some(Details { uuid, ..Details::default() }))
}

fn ocfs2(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    let block = span.padded(at, 352)?;
    let (label, uuid) = (label(&block[272..336]), uuid(&block[336..352]));
    Ok(Some(Details { label, uuid, ..Details::default() }))
}

/// A superblock has type 1; its lock table is the name of the cluster and of the file system.
fn gfs(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    if span.be32(at + 4)? != 1 {
        return Ok(None);
    }
    let block = span.padded(at, 272)?;
    let (label, uuid) = (label(&block[160..224]), uuid(&block[256..272]));
    Ok(Some(Details { label, uuid, ..Details::default() }))
}

/// A record has a version after its cycle.
fn xfs_log(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    Ok((1..=2).contains(&span.be32(at + 8)?).then(Details::default))
}

const KIB: u64 = 1 << 10;
/// ZFS keeps four labels of 256 KiB, two at each end. The second half of each has uberblocks.
const ZFS_LABEL: u64 = 256 * KIB;

/// The member of a ZFS pool, by an uberblock in any of its labels.
fn zfs(span: &Span<'_>) -> io::Result<Option<Signature>> {
    let end = span.size() / ZFS_LABEL * ZFS_LABEL;
    let labels =
        [Some(0), Some(ZFS_LABEL), end.checked_sub(2 * ZFS_LABEL), end.checked_sub(ZFS_LABEL)];
    for label_at in labels.into_iter().flatten() {
        for block in 0..128 {
            let at = label_at + 128 * KIB + block * KIB;
            let magic = span.array(at)?.map_or(0, u64::from_le_bytes);
            if magic == 0x00ba_b10c || magic.swap_bytes() == 0x00ba_b10c {
                let pool = pool_name(&span.padded(label_at + 16 * KIB, 4096)?);
                let details = Details { label: pool, ..Details::default() };
                let member = SignatureKind::Member;
                return Ok(Some(details.signature(span, at, member, "ZFS pool member", "zfs")));
            }
        }
    }
    Ok(None)
}

/// The name of the pool: the string `name` in the list of XDR pairs of a label.
fn pool_name(list: &[u8]) -> Option<String> {
    const PAIR: &[u8] = b"\0\0\0\x04name\0\0\0\x09\0\0\0\x01";
    let at = list.windows(PAIR.len()).position(|w| w == PAIR)? + PAIR.len();
    let length = list.get(at..at + 4)?.first_chunk().map(|b| u32::from_be_bytes(*b))?;
    label(list.get(at + 4..)?.get(..usize::try_from(length).ok()?)?)
}
