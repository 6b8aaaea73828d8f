//! Signatures as the formats' own tools write them, and the same bytes where those are not here.

use std::fs;
use std::process::{Command, Stdio};

use super::*;

const MIB: usize = 1 << 20;

/// What is found in these bytes.
fn found(bytes: &[u8]) -> Vec<Signature> {
    let read = |at: u64, buffer: &mut [u8]| {
        let at = usize::try_from(at).unwrap();
        buffer.copy_from_slice(&bytes[at..at + buffer.len()]);
        Ok(())
    };
    signatures(&Medium::new(bytes.len() as u64, &read)).unwrap()
}

fn put(bytes: &mut [u8], at: usize, what: &[u8]) {
    bytes[at..at + what.len()].copy_from_slice(what);
}

/// Bytes, and where they are.
type Part<'a> = (usize, &'a [u8]);

/// Nothing but these bytes at these places.
fn medium(parts: &[Part]) -> Vec<u8> {
    let mut bytes = vec![0; 4 * MIB];
    for (at, what) in parts {
        put(&mut bytes, *at, what);
    }
    bytes
}

fn words(bytes: &[u8]) -> Vec<(SignatureKind, &'static str)> {
    found(bytes).iter().map(|s| (s.kind, s.word)).collect()
}

/// The first signature of a file that a tool makes; `None` if the tool is not here.
fn made(size: usize, tool: &str, arguments: &[&str]) -> Option<Signature> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("medium");
    fs::write(&path, vec![0; size]).unwrap();
    let mut command = Command::new(tool);
    let path_variable = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    command.args(arguments).arg(&path).env("PATH", path_variable);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.ok().filter(std::process::ExitStatus::success)?;
    let all = found(&fs::read(&path).unwrap());
    Some(all.into_iter().next().unwrap_or_else(|| panic!("nothing of {tool} was found")))
}

const ID: &str = "0a1b2c3d-1234-4567-89ab-0123456789ab";

/// `--destroy` overwrote an unmounted file system and said nothing of it.
#[test]
fn file_systems_are_known_as_their_tools_make_them() {
    let ext = ["-q", "-F", "-L", "data", "-U", ID];
    let xfs_id = format!("uuid={ID}");
    let cases: [(usize, &str, Vec<&str>, &str, &str); 10] = [
        (8, "mkfs.ext2", ext.to_vec(), "ext2", ID),
        (16, "mkfs.ext3", ext.to_vec(), "ext3", ID),
        (16, "mkfs.ext4", ext.to_vec(), "ext4", ID),
        (320, "mkfs.xfs", vec!["-q", "-f", "-L", "data", "-m", &xfs_id], "xfs", ID),
        (128, "mkfs.btrfs", vec!["-q", "-f", "-L", "data", "-U", ID], "btrfs", ID),
        (8, "mkfs.vfat", vec!["-F", "16", "-n", "data", "-i", "1234abcd"], "vfat", "1234-ABCD"),
        (64, "mkfs.vfat", vec!["-F", "32", "-n", "data", "-i", "1234abcd"], "vfat", "1234-ABCD"),
        (8, "mkfs.ntfs", vec!["-q", "-F", "-L", "data"], "ntfs", ""),
        (8, "mkfs.exfat", vec!["-L", "data"], "exfat", ""),
        (64, "mkfs.f2fs", vec!["-q", "-l", "data"], "f2fs", ""),
    ];
    for (mib, tool, arguments, word, uuid) in cases {
        let Some(first) = made(mib * MIB, tool, &arguments) else { continue };
        assert_eq!((first.kind, first.word), (SignatureKind::FileSystem, word), "{first:?}");
        if !uuid.is_empty() {
            assert_eq!(first.label.as_deref(), Some("data"), "{first:?}");
            assert_eq!(first.uuid.as_deref(), Some(uuid), "{first:?}");
        }
        let size = first.size_bytes.unwrap();
        assert!(size <= (mib * MIB) as u64 && size > (mib * MIB / 2) as u64, "{first:?}");
    }
}

/// Swap of another host was overwritten.
#[test]
fn swap_is_known_as_mkswap_makes_it() {
    for page in ["4096", "65536"] {
        let arguments = ["-q", "-f", "-p", page, "-L", "sw", "-U", ID];
        let Some(first) = made(4 * MIB, "mkswap", &arguments) else { return };
        assert_eq!((first.kind, first.word), (SignatureKind::Member, "swap"));
        assert_eq!((first.label.as_deref(), first.uuid.as_deref()), (Some("sw"), Some(ID)));
    }
}

/// An encrypted volume or a cache of another host was overwritten.
#[test]
fn members_are_known_as_their_tools_make_them() {
    let luks = ["luksFormat", "-q", "--key-file=/etc/passwd", "--pbkdf=pbkdf2"];
    let luks = [&luks[..], &["--pbkdf-force-iterations=1000", "--type"]].concat();
    for (tool, arguments, word) in [
        ("cryptsetup", [&luks[..], &["luks1"]].concat(), "luks"),
        ("cryptsetup", [&luks[..], &["luks2"]].concat(), "luks"),
        ("make-bcache", vec!["-B"], "bcache"),
        ("make-bcache", vec!["-C"], "bcache"),
    ] {
        let Some(first) = made(32 * MIB, tool, &arguments) else { continue };
        assert_eq!((first.kind, first.word), (SignatureKind::Member, word), "{first:?}");
        assert!(first.uuid.is_some(), "{first:?}");
    }
}

/// Every magic that needs nothing else, at every place that its row names.
#[test]
fn members_are_known_at_every_place() {
    let end = 4 * MIB;
    let cases: &[(&str, &[Part])] = &[
        ("lvm", &[(512, b"LABELONE"), (512 + 20, b"\x20"), (512 + 24, b"LVM2 001")]),
        ("lvm", &[(0, b"LABELONE"), (24, b"LVM2 001")]),
        ("lvm", &[(0, b"HM\x02\0")]),
        ("md", &[(4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0")]),
        ("md", &[(0, b"\xfc\x4e\x2b\xa9\x01\0\0\0")]),
        ("md", &[(end - 8192, b"\xfc\x4e\x2b\xa9\x01\0\0\0")]),
        ("md", &[(end - 65_536, b"\xfc\x4e\x2b\xa9\0\0\0\0")]),
        ("md", &[(end - 65_536, b"\xa9\x2b\x4e\xfc\0\0\0\0")]),
        ("swap", &[(4086, b"SWAPSPACE2")]),
        ("swap", &[(65_526, b"SWAP-SPACE")]),
        ("swap", &[(4086, b"S1SUSPEND\0")]),
        ("luks", &[(0, b"LUKS\xba\xbe\0\x01")]),
        ("luks", &[(0x4000, b"SKUL\xba\xbe\0\x02")]),
        ("bitlocker", &[(3, b"-FVE-FS-")]),
        ("bcache", &[(4120, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81")]),
        (
            "bcachefs",
            &[(4120, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef")],
        ),
        ("vdo", &[(0, b"dmvdo001")]),
        ("integrity", &[(0, b"integrt\0")]),
        ("verity", &[(0, b"verity\0\0")]),
        ("stratis", &[(516, b"!Stra0tis\x86\xff\x02^\x41rh")]),
        ("drbd", &[(end - 4096 + 60, b"\x83\x74\x02\x6d")]),
        ("imsm", &[(end - 1024, b"Intel Raid ISM Cfg Sig. ")]),
        ("ddf", &[(end - 512, b"\xde\x11\xde\x11")]),
        ("raid", &[(end - 63 * 512, b"Promise Technology, Inc.")]),
        ("geom", &[(end - 512, b"GEOM::MIRROR")]),
        ("ldm", &[(0xc00, b"PRIVHEAD")]),
        ("aix", &[(3584, b"_LVM")]),
        ("asm", &[(32, b"ORCLDISKDATA1")]),
        ("vmfs", &[(MIB, b"\x0d\xd0\x01\xc0")]),
        ("ceph", &[(0, b"bluestore block device\n")]),
        ("gpfs", &[(1024, b"NSD descriptor")]),
        ("sanlock", &[(0, b"\x10\x20\x21\x12")]),
        ("sbd", &[(0, b"SBD_SBD_")]),
        ("ocfs2", &[(4096, b"OCFSV2")]),
        ("gfs2", &[(65_536, b"\x01\x16\x19\x70\0\0\0\x01")]),
        ("vxfs", &[(1024, b"\xf5\xfc\x01\xa5")]),
        ("zfs", &[(128 << 10, b"\x0c\xb1\xba\0\0\0\0\0")]),
        ("zfs", &[(end - (256 << 10) + (131 << 10), b"\0\0\0\0\0\xba\xb1\x0c")]),
    ];
    for (word, parts) in cases {
        let found = words(&medium(parts));
        assert_eq!(found, [(SignatureKind::Member, *word)], "{parts:?}");
    }
}

#[test]
fn members_say_who_they_are() {
    let lvm = found(&medium(&[
        (512, b"LABELONE"),
        (512 + 20, b"\x20"),
        (512 + 24, b"LVM2 001"),
        (544, b"abcdefGHIJklmnOPQRstuvWXYZ012345\0\0\0\0\x01"),
    ]));
    assert_eq!(lvm[0].uuid.as_deref(), Some("abcdef-GHIJ-klmn-OPQR-stuv-WXYZ-012345"));
    assert_eq!(lvm[0].size_bytes, Some(1 << 32));
    let zfs = found(&medium(&[
        (128 << 10, b"\x0c\xb1\xba\0\0\0\0\0"),
        ((16 << 10) + 40, b"\0\0\0\x04name\0\0\0\x09\0\0\0\x01\0\0\0\x04tank"),
    ]));
    assert_eq!(zfs[0].label.as_deref(), Some("tank"));
    let asm = found(&medium(&[(32, b"ORCLDISK"), (72, b"DATA_0001"), (104, b"DATA")]));
    assert_eq!(asm[0].label.as_deref(), Some("DATA/DATA_0001"));
    let hostile = found(&medium(&[(0, b"LUKS\xba\xbe\0\x02"), (24, b"\x1b[2Jx\x07")]));
    assert_eq!(hostile[0].label.as_deref(), Some("[2Jx"), "a label does not control a terminal");
}

/// btrfs over several disks, a journal for another disk, a target of Lustre: parts of something.
#[test]
fn a_part_of_a_file_system_is_a_member() {
    let btrfs = |devices: &[u8]| {
        words(&medium(&[(65_536 + 64, b"_BHRfS_M"), (65_536 + 136, devices)]))[0].0
    };
    assert_eq!(btrfs(&[1]), SignatureKind::FileSystem);
    assert_eq!(btrfs(&[3]), SignatureKind::Member);
    let ext = |more: (usize, &[u8])| {
        let parts = [(1024, &b"\x10\0\0\0\x10\0\0\0"[..]), (1024 + 56, &b"\x53\xef"[..]), more];
        words(&medium(&parts))[0]
    };
    assert_eq!(ext((1024 + 92, b"\x04")), (SignatureKind::FileSystem, "ext3"));
    assert_eq!(ext((1024 + 96, b"\x08")).0, SignatureKind::Member);
    assert_eq!(ext((1024 + 120, b"lustre-OST0001")).0, SignatureKind::Member);
}

/// A whole disk with a table was overwritten although a partition was a physical volume: the kernel
/// did not know the partitions.
#[test]
fn a_table_is_as_serious_as_what_is_in_its_partitions() {
    let entry = |kind: u8, first: u8, sectors: u8| {
        let mut entry = [0; 16];
        (entry[4], entry[9], entry[13]) = (kind, first, sectors);
        entry
    };
    let lvm = |at: usize| [(at + 512, &b"LABELONE"[..]), (at + 536, &b"LVM2 001"[..])];
    let plain = medium(&[(446, &entry(0x83, 8, 4)), (510, b"\x55\xaa")]);
    assert_eq!(words(&plain), [(SignatureKind::Table, "mbr")]);
    let (signature, one) = (lvm(8 * 256 * 512), entry(0x83, 8, 2));
    let all = found(&medium(&[signature[0], signature[1], (446, &one), (510, b"\x55\xaa")]));
    assert_eq!((all[0].word, all[0].partition), ("lvm", Some(1)));
    // A logical partition: the extended one is at sector 2048, its first one 256 sectors later.
    let (signature, outer, inner) =
        (lvm((8 + 1) * 256 * 512), entry(0x05, 8, 4), entry(0x83, 1, 2));
    let all = found(&medium(&[
        signature[0],
        signature[1],
        (446, &outer),
        (510, b"\x55\xaa"),
        (8 * 256 * 512 + 446, &inner),
        (8 * 256 * 512 + 510, b"\x55\xaa"),
    ]));
    assert_eq!((all[0].word, all[0].partition), ("lvm", Some(5)));
    let dynamic = found(&medium(&[(446, &entry(0x42, 8, 4)), (510, b"\x55\xaa")]));
    assert_eq!(dynamic[0].kind, SignatureKind::Member);
    let left = medium(&[(446, &entry(0xee, 8, 4)), (510, b"\x55\xaa")]);
    assert_eq!(words(&left), [(SignatureKind::Table, "gpt")]);
}

#[test]
fn a_gpt_is_read_from_either_end_of_the_disk() {
    let space = b"\x8f\xaf\x5c\xe7\x80\xf6\xee\x4c\xaf\xa3\xb0\x01\xe5\x6e\xfc\x2d";
    let linux = b"\xaf\x3d\xc6\x0f\x83\x84\x72\x47\x8e\x79\x3d\x69\xd8\x47\x7d\xe4";
    let gpt = |header: usize, entries: u8, kind: &[u8]| {
        medium(&[
            (header, b"EFI PART"),
            (header + 72, &[entries]),
            (header + 80, b"\x80\0\0\0\x80\0\0\0"),
            (usize::from(entries) * 512, kind),
            (usize::from(entries) * 512 + 16, &[1; 16]),
            (usize::from(entries) * 512 + 32, b"\0\x08\0\0\0\0\0\0\xff\x0f"),
            (2048 * 512, b"XFSB\0\0\x10\0"),
        ])
    };
    let all = words(&gpt(512, 2, linux));
    assert_eq!(all, [(SignatureKind::Table, "gpt"), (SignatureKind::FileSystem, "xfs")]);
    assert_eq!(words(&gpt(4 * MIB - 512, 200, linux))[0], (SignatureKind::Table, "gpt"));
    let all = found(&gpt(512, 2, space));
    assert_eq!((all[0].kind, &*all[0].what), (SignatureKind::Member, "Storage Spaces disk"));
}

#[test]
fn nothing_is_found_where_nothing_is() {
    for byte in 0..=255 {
        assert_eq!(found(&vec![byte; MIB]), [], "{byte}");
    }
    // What DiskSpd, SQLIO and iosonde fill buffers with.
    let counted: Vec<u8> = (0..MIB).map(|n| n.to_le_bytes()[0]).collect();
    assert_eq!(found(&counted), []);
    for size in [0, 1, 511, 512, 4095] {
        assert_eq!(found(&vec![0; size]), []);
    }
    let mut random = vec![0; MIB];
    let mut state = 1_u64;
    for seed in 0..64 {
        for byte in &mut random {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed | 1);
            *byte = state.to_le_bytes()[7];
        }
        assert_eq!(found(&random), [], "{seed}");
    }
}

/// A disk can say anything: chains of partitions that lead back, sizes without end.
#[test]
fn no_medium_panics_or_hangs() {
    let mut bytes = medium(&[(510, b"\x55\xaa"), (512, b"EFI PART"), (1080, b"\x53\xef")]);
    for (at, byte) in bytes.iter_mut().enumerate().take(8192).skip(520) {
        *byte = if at % 3 == 0 { 0xff } else { *byte };
    }
    let _ = found(&bytes);
    let mut endless = medium(&[(510, b"\x55\xaa")]);
    put(&mut endless, 446, &[0, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255]);
    let chain = [0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255];
    put(&mut endless, 512 + 462, &[chain[4]; 16]);
    put(&mut endless, 512 + 510, b"\x55\xaa");
    let _ = found(&endless);
    let failing = |_: u64, _: &mut [u8]| Err(io::ErrorKind::Other.into());
    assert!(signatures(&Medium::new(1 << 40, &failing)).is_err());
}
