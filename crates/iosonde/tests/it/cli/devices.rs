//! Block devices: loop devices that the tests make. These tests need root.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use testing::skip;

use crate::cli::presets::five_rounds;
use crate::cli::program::{Loop, Mount, fails, measurement, place, run, succeeds, tool};

fn first_bytes(device: &Path) -> Vec<u8> {
    let mut bytes = vec![0; 1 << 20];
    File::open(device).unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
fn a_device_is_written_only_when_it_is_named_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let device = match Loop::new(dir.path(), 16, &vec![0x55; 1 << 20]) {
        Ok(device) => device,
        Err(why) => {
            return skip("iosonde::cli::a_device_is_written_only_when_it_is_named_for_it", &why);
        }
    };
    let name = device.device.to_str().unwrap();
    fails(&run(&device.device, &["--write", "50"]), 1, "was not made by iosonde");
    let output = run(&device.device, &["--json"]);
    succeeds(&output);
    assert_eq!(measurement(&output).file_bytes, 16 << 20);
    assert!(first_bytes(&device.device).iter().all(|b| *b == 0x55), "reading changes nothing");
    let output =
        run(&device.device, &["--write", "50", "--json", "--destroy", name, "--depth", "4"]);
    succeeds(&output);
    let m = measurement(&output);
    assert!(m.write.ios > 0 && m.read.ios > 0);
    assert!(first_bytes(&device.device).iter().any(|b| *b != 0x55));
    assert!(device.device.exists(), "a device is never removed");
}

#[test]
fn a_mounted_device_is_never_written() {
    let dir = tempfile::tempdir().unwrap();
    let (mount, device) = match Loop::mounted(dir.path(), 16, &["mkfs.ext4", "-q"]) {
        Ok(mounted) => mounted,
        Err(why) => return skip("iosonde::cli::a_mounted_device_is_never_written", &why),
    };
    let mine = mount.path.join("mine");
    fs::write(&mine, "precious").unwrap();
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&device.device, &link).unwrap();
    for name in [&device.device, &link] {
        let output = run(name, &["--write", "100", "--destroy", name.to_str().unwrap()]);
        fails(&output, 1, "is never written to: it is mounted at");
    }
    succeeds(&run(&device.device, &["--quiet"]));
    assert_eq!(fs::read_to_string(&mine).unwrap(), "precious");
}

#[test]
fn the_file_of_a_loop_device_is_never_written() {
    let dir = tempfile::tempdir().unwrap();
    let _device = match Loop::new(dir.path(), 16, b"") {
        Ok(device) => device,
        Err(why) => return skip("iosonde::cli::the_file_of_a_loop_device_is_never_written", &why),
    };
    let image = dir.path().join("image");
    let output = run(&image, &["--write", "50", "--destroy", image.to_str().unwrap()]);
    fails(&output, 1, "open elsewhere");
}

/// A database on raw devices mounts nothing, but has them open.
#[test]
fn a_device_that_a_program_has_open_is_never_written() {
    let dir = tempfile::tempdir().unwrap();
    let device = match Loop::new(dir.path(), 16, b"") {
        Ok(device) => device,
        Err(why) => {
            return skip("iosonde::cli::a_device_that_a_program_has_open_is_never_written", &why);
        }
    };
    let _open = File::open(&device.device).unwrap();
    let name = device.device.to_str().unwrap();
    fails(&run(&device.device, &["--write", "50", "--destroy", name]), 1, "open in process");
}

/// `--destroy /dev/sda` instead of `/dev/sda1` is one keystroke.
#[test]
fn a_device_with_partitions_is_not_written_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let device = match Loop::new(dir.path(), 16, b"") {
        Ok(device) => device,
        Err(why) => {
            return skip("iosonde::cli::a_device_with_partitions_is_not_written_as_a_whole", &why);
        }
    };
    let name = device.device.to_str().unwrap();
    let part = format!("{name}p1");
    // Told to the kernel as a partitioning program does it; no table of partitions is needed.
    if let Err(why) = tool("addpart", &[name, "1", "2048", "8192"]) {
        return skip("iosonde::cli::a_device_with_partitions_is_not_written_as_a_whole", &why);
    }
    let args = ["--write", "50", "--quiet", "--destroy"];
    fails(&run(&device.device, &[&args[..], &[name]].concat()), 1, "divided into partitions");
    succeeds(&run(Path::new(&part), &[&args[..], &[&part]].concat()));
    assert!(first_bytes(&device.device).iter().all(|b| *b == 0), "what is before it is not");
    if tool("mkfs.ext4", &["-q", &part]).is_ok()
        && let Ok(_mount) = Mount::new(&dir.path().join("mounted"), &[&part])
    {
        let output = run(&device.device, &[&args[..], &[name]].concat());
        fails(&output, 1, "mounted at");
    }
}

/// Only what `--destroy` names is purged: without it, the same plan refuses the device.
#[test]
fn a_device_that_may_be_destroyed_is_purged_before_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let device = match Loop::new(dir.path(), 16, &[7; 4096]) {
        Ok(device) => device,
        Err(why) => {
            return skip(
                "iosonde::cli::a_device_that_may_be_destroyed_is_purged_before_it_is_written",
                &why,
            );
        }
    };
    let name = device.device.to_str().unwrap();
    let place = place();
    let lists = ["-b", "1M,64K,4K", "--writes", "0,35,100", "-d", "0.02"];
    let sweep = [["sweep", name, "--preset", "snia-pts"].as_slice(), &lists].concat();
    fails(&place.run(&sweep), 1, "--destroy");
    assert_eq!(fs::read(dir.path().join("image")).unwrap()[..4096], [7; 4096]);
    let short = five_rounds(&place, &sweep);
    let found = place.json(&[&short[..], &["--destroy", name]].concat());
    let rounds = &found["conclusion"]["rounds"][0];
    // Twice 16 MiB, in windows that may end behind the end of the device.
    assert!(rounds["written_before_bytes"].as_u64().unwrap() >= 32 << 20, "{rounds}");
    let method = found["method"].to_string();
    assert!(method.contains("was discarded as a whole"), "{method}");
}

/// A physical volume whose volume group this host does not have was overwritten: a disk of another
/// host, seen over the SAN.
#[test]
fn a_member_of_something_larger_is_never_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = vec![0; 4096];
    first[512..520].copy_from_slice(b"LABELONE");
    first[536..544].copy_from_slice(b"LVM2 001");
    let device = match Loop::new(dir.path(), 16, &first) {
        Ok(device) => device,
        Err(why) => {
            return skip("iosonde::cli::a_member_of_something_larger_is_never_written", &why);
        }
    };
    let name = device.device.to_str().unwrap();
    for destroy in [name.to_owned(), format!("{name}=lvm"), format!("{name}=ext4")] {
        for more in [&["--dry-run"][..], &[]] {
            let args = [&["--write", "100", "--destroy", &destroy], more].concat();
            let output = run(&device.device, &args);
            fails(&output, 1, "never written to: it has a signature (LVM physical volume");
            fails(&output, 1, &format!("`wipefs -a {name}`"));
        }
    }
    assert!(first_bytes(&device.device)[..4096] == first);
    succeeds(&run(&device.device, &["--quiet"]));
}

const WRITES: [&str; 4] = ["--write", "50", "--quiet", "--destroy"];

/// `--destroy` overwrote an unmounted file system without a word of what it was.
#[test]
fn a_file_system_is_written_only_when_it_is_named_too() {
    let dir = tempfile::tempdir().unwrap();
    let device = match Loop::new(dir.path(), 16, b"") {
        Ok(device) => device,
        Err(why) => {
            return skip("iosonde::cli::a_file_system_is_written_only_when_it_is_named_too", &why);
        }
    };
    let name = device.device.to_str().unwrap();
    if let Err(why) = tool("mkfs.ext4", &["-q", "-L", "scratch", name]) {
        return skip("iosonde::cli::a_file_system_is_written_only_when_it_is_named_too", &why);
    }
    let before = first_bytes(&device.device);
    let word = format!("{name}=ext4");
    let remedy = format!("--destroy {word}");
    for destroy in [name.to_owned(), format!("{name}=xfs")] {
        let output = run(&device.device, &[&WRITES[..], &[&destroy]].concat());
        fails(&output, 1, "holds ext4 \"scratch\" (16 MiB, UUID ");
        fails(&output, 1, &remedy);
    }
    fails(&run(&device.device, &["--write", "50"]), 1, &remedy);
    let dry = run(&device.device, &[&WRITES[..], &[&word, "--dry-run"]].concat());
    succeeds(&dry);
    let text = String::from_utf8_lossy(&dry.stdout).into_owned();
    assert!(text.contains("it holds ext4 \"scratch\""), "{text}");
    assert!(first_bytes(&device.device) == before);
    succeeds(&run(&device.device, &[&WRITES[..], &[&word]].concat()));
    assert!(first_bytes(&device.device) != before);
    succeeds(&run(&device.device, &[&WRITES[..], &[&word]].concat()));
}
