//! File systems, and disks of virtual machines in formats of their own. They may be overwritten if
//! the user says what they are.

use std::io;

use super::details::{Details, label, plain, uuid, wide_label};
use super::{At, Magic, Signature, SignatureKind};
use crate::medium::Span;

use At::{End, Start};

const FIRST: &[At] = &[Start(0)];
const UDF: &[At] = &[Start(32_768 + 1), Start(34_816 + 1), Start(36_864 + 1)];

/// File systems that one host mounts. Offsets and fields are those of each one's own headers.
pub(super) const FILE_SYSTEMS: &[Magic] = &[
    // ext2, ext3, ext4: fs/ext4/ext4.h.
    Magic::new("ext2", "ext2", &[Start(1024 + 56)], &[0x53, 0xef], ext),
    // XFS: xfs_format.h.
    Magic::new("XFS", "xfs", FIRST, b"XFSB", xfs),
    // btrfs: btrfs_tree.h; the first superblock is at 64 KiB.
    Magic::new("btrfs", "btrfs", &[Start(65_536 + 64)], b"_BHRfS_M", btrfs),
    // FAT, exFAT, NTFS and ReFS: the boot sectors that Microsoft describes.
    Magic::new("FAT", "vfat", &[Start(82)], b"FAT32   ", fat32),
    Magic::new("FAT", "vfat", &[Start(54)], b"FAT16   ", fat16),
    Magic::new("FAT", "vfat", &[Start(54)], b"FAT12   ", fat16),
    Magic::new("FAT", "vfat", &[Start(54)], b"FAT     ", fat16),
    Magic::new("exFAT", "exfat", &[Start(3)], b"EXFAT   ", exfat),
    Magic::new("NTFS", "ntfs", &[Start(3)], b"NTFS    ", ntfs),
    Magic::new("ReFS", "refs", FIRST, b"\0\0\0ReFS\0", plain),
    // f2fs: f2fs_fs.h.
    Magic::new("f2fs", "f2fs", &[Start(1024)], &[0x10, 0x20, 0xf5, 0xf2], f2fs),
    // JFS, ReiserFS, NILFS2: their superblocks in linux/fs.
    Magic::new("JFS", "jfs", &[Start(32_768)], b"JFS1", plain),
    Magic::new("ReiserFS", "reiserfs", &[Start(65_536 + 52), Start(8192 + 52)], b"ReIsEr", plain),
    Magic::new("Reiser4", "reiser4", &[Start(65_536)], b"ReIsEr4", plain),
    Magic::new("NILFS2", "nilfs2", &[Start(1024 + 6)], &[0x34, 0x34], nilfs),
    // UFS of BSD and Solaris: fs_magic of the superblock at 64 KiB or 8 KiB.
    Magic::new("UFS", "ufs", &[Start(65_536 + 1372)], &[0x19, 0x01, 0x54, 0x19], plain),
    Magic::new("UFS", "ufs", &[Start(8192 + 1372)], &[0x54, 0x19, 0x01, 0x00], plain),
    Magic::new("UFS", "ufs", &[Start(8192 + 1372)], &[0x00, 0x01, 0x19, 0x54], plain),
    // Apple: TN1150 and the APFS reference.
    Magic::new("HFS+", "hfsplus", &[Start(1024)], b"H+\0\x04", plain),
    Magic::new("HFS+", "hfsplus", &[Start(1024)], b"HX\0\x05", plain),
    Magic::new("APFS", "apfs", &[Start(32)], b"NXSB", plain),
    // Media that are only read: ECMA-119, ECMA-167, and linux/fs.
    Magic::new("ISO 9660", "iso9660", &[Start(32_768 + 1)], b"CD001", iso),
    Magic::new("UDF", "udf", UDF, b"NSR0", plain),
    Magic::new("squashfs", "squashfs", FIRST, b"hsqs", plain),
    Magic::new("erofs", "erofs", &[Start(1024)], &[0xe2, 0xe1, 0xf5, 0xe0], plain),
    Magic::new("cramfs", "cramfs", FIRST, &[0x45, 0x3d, 0xcd, 0x28], plain),
    Magic::new("zonefs", "zonefs", FIRST, b"SFOZ", plain),
    Magic::new("UBIFS", "ubifs", FIRST, &[0x31, 0x18, 0x10, 0x06], plain),
];

/// Disks of virtual machines: the specification of each format.
pub(super) const IMAGES: &[Magic] = &[
    Magic::new("QEMU disk image", "qcow2", FIRST, b"QFI\xfb", plain).unknown_to_wipefs(),
    Magic::new("QEMU disk image", "qed", FIRST, b"QED\0", plain).unknown_to_wipefs(),
    Magic::new("VMware disk image", "vmdk", FIRST, b"KDMV", plain).unknown_to_wipefs(),
    Magic::new("VMware disk image", "vmdk", FIRST, b"COWD", plain).unknown_to_wipefs(),
    Magic::new("VMware disk image", "vmdk", FIRST, b"# Disk DescriptorFile", plain)
        .unknown_to_wipefs(),
    Magic::new("Hyper-V disk image", "vhdx", FIRST, b"vhdxfile", plain).unknown_to_wipefs(),
    Magic::new("Hyper-V disk image", "vhd", &[Start(0), End(512, 1)], b"conectix", plain)
        .unknown_to_wipefs(),
    Magic::new("VirtualBox disk image", "vdi", &[Start(64)], &[0x7f, 0x10, 0xda, 0xbe], plain)
        .unknown_to_wipefs(),
    Magic::new("Parallels disk image", "hdd", FIRST, b"WithoutFreeSpace", plain)
        .unknown_to_wipefs(),
    Magic::new("Parallels disk image", "hdd", FIRST, b"WithouFreSpacExt", plain)
        .unknown_to_wipefs(),
];

/// File systems that are a part of something larger are members: one of several devices, a journal
/// for another device, a target of Lustre.
pub(super) fn or_member(signature: Signature) -> Signature {
    let is_member = MEMBERS.iter().any(|member| signature.what.starts_with(member));
    let kind = if is_member { SignatureKind::Member } else { signature.kind };
    Signature { kind, ..signature }
}

/// How the names of such begin.
const MEMBERS: [&str; 3] = [EXTERNAL_JOURNAL, LUSTRE, BTRFS_MEMBER];
const EXTERNAL_JOURNAL: &str = "external journal of ext4";
const LUSTRE: &str = "Lustre target";
const BTRFS_MEMBER: &str = "member of a btrfs";

/// The superblock of ext2 to ext4. Its magic has two bytes, so the rest must make sense.
fn ext(span: &Span<'_>, _: u64) -> io::Result<Option<Details>> {
    const RECOVER: u32 = 0x4;
    const JOURNAL_DEVICE: u32 = 0x8;
    const HAS_JOURNAL: u32 = 0x4;
    let at = 1024;
    let (inodes, blocks) = (span.le32(at)?, span.le32(at + 4)?);
    let (block_shift, revision) = (span.le32(at + 24)?, span.le32(at + 76)?);
    let (compat, incompat) = (span.le32(at + 92)?, span.le32(at + 96)?);
    let is_journal = incompat & JOURNAL_DEVICE != 0;
    if block_shift > 6 || revision > 1 || blocks == 0 || (inodes == 0 && !is_journal) {
        return Ok(None);
    }
    let name = label(&span.padded(at + 120, 16)?);
    let high = if incompat & 0x80 != 0 { span.le32(at + 0x150)? } else { 0 };
    let blocks = (u64::from(high) << 32) + u64::from(blocks);
    let word = match () {
        // Features of ext4: everything but compression, file types, recovery, meta groups.
        () if incompat & !0x1f != 0 || span.le32(at + 100)? & !0x7 != 0 => "ext4",
        () if compat & HAS_JOURNAL != 0 => "ext3",
        () => "ext2",
    };
    let is_lustre = name.as_deref().is_some_and(|n| ["-OST", "-MDT"].iter().any(|p| n.contains(p)));
    let what = match () {
        () if is_journal => EXTERNAL_JOURNAL.to_owned(),
        () if is_lustre || name.as_deref() == Some("MGS") => LUSTRE.to_owned(),
        () if incompat & RECOVER != 0 => {
            format!("{word}, not cleanly unmounted (another host may use it)")
        }
        () => word.to_owned(),
    };
    Ok(Some(Details {
        uuid: uuid(&span.padded(at + 104, 16)?),
        label: name,
        size_bytes: Some(blocks.saturating_mul(1024 << block_shift)),
        named: Some((what, Some(word))),
    }))
}

fn xfs(span: &Span<'_>, _: u64) -> io::Result<Option<Details>> {
    let block_bytes = span.be32(4)?;
    if !block_bytes.is_power_of_two() || !(512..=65_536).contains(&block_bytes) {
        return Ok(None);
    }
    Ok(Some(Details {
        uuid: uuid(&span.padded(32, 16)?),
        label: label(&span.padded(108, 12)?),
        size_bytes: Some(span.be64(8)?.saturating_mul(block_bytes.into())),
        named: None,
    }))
}

fn btrfs(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    let block = at - 64;
    let devices = span.le64(block + 136)?;
    let named = (devices > 1).then(|| (format!("{BTRFS_MEMBER} of {devices} devices"), None));
    Ok(Some(Details {
        uuid: uuid(&span.padded(block + 32, 16)?),
        label: label(&span.padded(block + 299, 256)?),
        size_bytes: Some(span.le64(block + 112)?),
        named,
    }))
}

/// Whether a boot sector is one: its last bytes, and a size of sectors that exists.
fn boots(span: &Span<'_>) -> io::Result<bool> {
    let sector = span.le16(11)?;
    let is_size = sector.is_power_of_two() && (512..=4096).contains(&sector);
    Ok(span.le16(510)? == 0xaa55 && is_size)
}

fn fat32(span: &Span<'_>, _: u64) -> io::Result<Option<Details>> {
    fat(span, 67, 71)
}

fn fat16(span: &Span<'_>, _: u64) -> io::Result<Option<Details>> {
    fat(span, 39, 43)
}

fn fat(span: &Span<'_>, serial_at: u64, label_at: u64) -> io::Result<Option<Details>> {
    if !boots(span)? {
        return Ok(None);
    }
    let serial = span.le32(serial_at)?;
    let sectors = match span.le16(19)? {
        0 => span.le32(32)?,
        few => few.into(),
    };
    Ok(Some(Details {
        uuid: Some(format!("{:04X}-{:04X}", serial >> 16, serial & 0xffff)),
        label: label(&span.padded(label_at, 11)?).filter(|name| name != "NO NAME"),
        size_bytes: Some(u64::from(sectors) * u64::from(span.le16(11)?)),
        named: None,
    }))
}

fn exfat(span: &Span<'_>, _: u64) -> io::Result<Option<Details>> {
    let serial = span.le32(100)?;
    let shift = u32::from(span.padded(108, 1)?[0]).min(12);
    Ok(Some(Details {
        uuid: Some(format!("{:04X}-{:04X}", serial >> 16, serial & 0xffff)),
        size_bytes: Some(span.le64(72)?.saturating_mul(1 << shift)),
        ..Details::default()
    }))
}

fn ntfs(span: &Span<'_>, _: u64) -> io::Result<Option<Details>> {
    if !boots(span)? {
        return Ok(None);
    }
    Ok(Some(Details {
        uuid: Some(format!("{:016X}", span.le64(72)?)),
        size_bytes: Some(span.le64(40)?.saturating_mul(span.le16(11)?.into())),
        ..Details::default()
    }))
}

fn f2fs(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    let shift = span.le32(at + 16)?.min(16);
    Ok(Some(Details {
        size_bytes: Some(span.le64(at + 36)?.saturating_mul(1 << shift)),
        uuid: uuid(&span.padded(at + 108, 16)?),
        label: wide_label(&span.padded(at + 124, 128)?),
        named: None,
    }))
}

/// Two bytes are not enough: the revision is 2, and the header has a size.
fn nilfs(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    let (revision, bytes) = (span.le32(at - 6)?, span.le16(at + 2)?);
    Ok((revision == 2 && (100..=4096).contains(&bytes)).then(Details::default))
}

fn iso(span: &Span<'_>, at: u64) -> io::Result<Option<Details>> {
    let label = label(&span.padded(at - 1 + 40, 32)?);
    Ok(Some(Details { label, ..Details::default() }))
}
