//! Files of /proc and /sys with anything in them, trees that are cut off, links that lead in
//! circles: nothing panics.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::fixture::Fixture;
use super::machines::{fc, host, nvme, nvme_multipath, raid, sas_multipath, sata, usb, volume};
use crate::{Inspector, PlannedLoad, Request};

/// Machines and the device that is looked at.
fn machine(number: usize) -> (Fixture, (u32, u32)) {
    let both = [("running", "90000"), ("offline", "10")];
    match number % 8 {
        0 => (sata(&[("partition", "x")]), (8, 0)),
        1 => (sas_multipath(&both), (253, 0)),
        2 => (nvme_multipath(&both), (259, 0)),
        3 => (nvme("8.0 GT/s", "4", Some(" CPU0 CPU1\n 30: 1 2 x\n")), (259, 0)),
        4 => (fc("8 Gbit", "64"), (8, 0)),
        5 => (raid("raid5", &[("degraded", "1")], "rw"), (9, 0)),
        6 => (volume("LVM-aaaa", &[], Some(("a-tpool", "LVM-b-tpool"))), (253, 0)),
        _ => (usb("480"), (8, 0)),
    }
}

/// All regular files of a tree.
fn files(root: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path(), found),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
}

/// Does all that can be done with a tree.
fn survives(fixture: &Fixture, device: (u32, u32)) {
    fixture.inspected(device, &PlannedLoad { depth: Some(u64::MAX) });
    let inspector = Inspector::with_root(fixture.root());
    let inspection = inspector.inspection(&Request::default()).expect("no target was named");
    serde_json::to_string(&inspection).expect("whatever was read can be written");
    let _ = inspector.processors();
}

/// What no file of the kernel holds.
fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        "[-0-9:./ \\[\\](),x]{0,24}".prop_map(String::into_bytes),
        prop::sample::select(vec![
            &b"18446744073709551615\n"[..],
            b"-1\n",
            b"0\n",
            b"nan",
            b"1e999 GT/s",
            b"\xff\xfe\0[",
            b"LVM--tpool",
            b"mpath-",
            b"4294967295 (0)",
        ])
        .prop_map(<[u8]>::to_vec),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn anything_in_any_file(
        number in 0_usize..8,
        changes in prop::collection::vec((any::<prop::sample::Index>(), content()), 1..12),
    ) {
        let (fixture, device) = machine(number);
        let mut all = Vec::new();
        files(fixture.root(), &mut all);
        for (index, content) in changes {
            fs::write(index.get(&all), content).unwrap();
        }
        survives(&fixture, device);
    }

    #[test]
    fn trees_that_are_cut_off(
        number in 0_usize..8,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..3), 1..6),
    ) {
        let (fixture, device) = machine(number);
        let mut all = Vec::new();
        files(fixture.root(), &mut all);
        for (index, how) in cuts {
            let path = index.get(&all);
            match (how, path.parent()) {
                (0, _) => drop(fs::remove_file(path)),
                // A directory where a file should be, and the whole directory gone.
                (1, _) => drop(fs::remove_file(path).and_then(|()| fs::create_dir(path))),
                (_, Some(parent)) => drop(fs::remove_dir_all(parent)),
                (_, None) => {}
            }
        }
        survives(&fixture, device);
    }

    #[test]
    fn a_host_with_anything_in_its_files(content in prop::collection::vec(content(), 8)) {
        let fixture = host(&[]);
        let places = [
            "proc/swaps",
            "proc/meminfo",
            "proc/cpuinfo",
            "proc/sys/vm/dirty_background_ratio",
            "sys/devices/system/node/online",
            "sys/devices/system/cpu/online",
            "sys/kernel/mm/transparent_hugepage/enabled",
            "sys/class/dmi/id/product_name",
        ];
        for (place, content) in places.iter().zip(content) {
            fixture.write(place, content);
        }
        survives(&fixture, (8, 0));
    }
}

#[test]
fn links_in_circles_end() {
    for number in 0..8 {
        let (fixture, device) = machine(number);
        let root = fixture.root();
        let circle = root.join("sys/class/block/circle");
        symlink(&circle, &circle).unwrap();
        for entry in fs::read_dir(root.join("sys/class/block")).unwrap().flatten() {
            let Ok(dir) = fs::canonicalize(entry.path()) else { continue };
            let _ = fs::create_dir_all(dir.join("slaves"));
            let _ = fs::create_dir_all(dir.join("md"));
            // On itself, on its parent, and on nothing.
            symlink(&dir, dir.join("slaves/self")).unwrap();
            symlink(dir.join("slaves"), dir.join("slaves/up")).unwrap();
            symlink("/nowhere", dir.join("slaves/gone")).unwrap();
            symlink(&dir, dir.join("md/dev-self")).unwrap();
            let _ = symlink(&dir, dir.join("device"));
        }
        survives(&fixture, device);
    }
}

#[test]
fn huge_files_and_many_entries_end() {
    let (fixture, device) = machine(5);
    let big = vec![b'7'; 17 << 20];
    for file in ["proc/interrupts", "proc/swaps", "sys/devices/virtual/block/md0/md/level"] {
        fixture.write(file, &big);
    }
    for number in 0..2000 {
        let member = format!("sys/devices/virtual/block/md0/md/dev-x{number}/state");
        fixture.write(&member, "in_sync\n");
    }
    survives(&fixture, device);
    let storage = fixture.inspected(device, &PlannedLoad::default()).storage;
    assert!(storage.chain[0].raid.as_ref().is_some_and(|raid| raid.members.len() <= 1024));
}
