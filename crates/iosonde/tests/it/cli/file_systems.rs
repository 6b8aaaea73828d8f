//! File systems that are read-only, full, without direct I/O, or frozen. These tests need root.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use results::Status;

use testing::skip;

use crate::cli::program::{
    Loop, Mount, Running, code, command, fails, measurement, names, run, run_small, stderr,
    succeeds, tool,
};

fn tmpfs(directory: &Path, options: &str) -> Result<Mount, String> {
    Mount::new(&directory.join("mounted"), &["-t", "tmpfs", "-o", options, "none"])
}

#[test]
fn a_read_only_file_system_is_told() {
    let dir = tempfile::tempdir().unwrap();
    match tmpfs(dir.path(), "ro,size=64m") {
        Ok(mount) => fails(&run_small(&mount.path, &[]), 1, "read-only file system"),
        Err(why) => skip("iosonde::cli::a_read_only_file_system_is_told", &why),
    }
}

#[test]
fn a_file_system_is_not_filled_without_being_told() {
    let dir = tempfile::tempdir().unwrap();
    let mount = match tmpfs(dir.path(), "size=32m") {
        Ok(mount) => mount,
        Err(why) => {
            return skip("iosonde::cli::a_file_system_is_not_filled_without_being_told", &why);
        }
    };
    let of_size = |size: &str, more: &[&str]| {
        run(&mount.path, &[&["--buffered", "--quiet", "--size", size][..], more].concat())
    };
    fails(&of_size("33M", &[]), 1, "has 32 MiB free; choose a smaller `--size`");
    fails(&of_size("33M", &["--overfill"]), 1, "choose a smaller `--size`");
    let output = of_size("30M", &[]);
    fails(&output, 1, "needs `--overfill`");
    let text = stderr(&output);
    let room = text.split("room for ").nth(1).and_then(|t| t.split(' ').next()).unwrap();
    succeeds(&of_size(&format!("{room}M"), &[]));
    succeeds(&of_size("30M", &["--overfill"]));
    assert_eq!(names(&mount.path), [""; 0]);
}

/// Each of two targets on one file system had room, but not both together.
#[test]
fn the_targets_of_one_file_system_fit_together() {
    let dir = tempfile::tempdir().unwrap();
    let mount = match tmpfs(dir.path(), "size=64m") {
        Ok(mount) => mount,
        Err(why) => return skip("iosonde::cli::the_targets_of_one_file_system_fit_together", &why),
    };
    let (one, two) = (mount.path.join("one"), mount.path.join("two"));
    fs::create_dir(&one).unwrap();
    fs::create_dir(&two).unwrap();
    let both = |size| run(&one, &[two.to_str().unwrap(), "--buffered", "--quiet", "--size", size]);
    fails(&both("30M"), 1, "needs `--overfill`");
    fails(&both("40M"), 1, "choose a smaller `--size`");
    succeeds(&both("24M"));
}

/// A half-filled leftover is as long as the whole, but takes less: what it did not take was counted
/// as free.
#[test]
fn a_sparse_leftover_frees_only_what_it_takes() {
    let dir = tempfile::tempdir().unwrap();
    let mount = match tmpfs(dir.path(), "size=32m") {
        Ok(mount) => mount,
        Err(why) => return skip("iosonde::cli::a_sparse_leftover_frees_only_what_it_takes", &why),
    };
    let path = mount.path.join("iosonde.test");
    let size: u64 = 30 << 20;
    let mut leftover = File::create(&path).unwrap();
    std::io::Seek::seek(&mut leftover, std::io::SeekFrom::Start(size)).unwrap();
    let mark = format!("iosonde test file\nversion 1\nsize {size}\nstate filling\nkeep no\n");
    leftover.write_all(format!("{mark:\n<4096}").as_bytes()).unwrap();
    drop(leftover);
    fails(&run(&mount.path, &["--buffered", "--size", "30M"]), 1, "needs `--overfill`");
    succeeds(&run(&mount.path, &["--buffered", "--size", "20M", "--quiet"]));
    assert_eq!(names(&mount.path), [""; 0]);
}

/// `run` named what it measured on, and these three did not.
#[test]
fn checks_and_recordings_warn_of_the_storage() {
    let dir = tempfile::tempdir().unwrap();
    let (mount, _device) = match Loop::mounted(dir.path(), 64, &["mkfs.ext4", "-q"]) {
        Ok(mounted) => mounted,
        Err(why) => return skip("iosonde::cli::checks_and_recordings_warn_of_the_storage", &why),
    };
    let (target, witness) = (mount.path.to_str().unwrap(), dir.path().join("witness"));
    let witness = ["--durability", "--witness-file", witness.to_str().unwrap()];
    for args in [
        &["validate", target, "--size", "8M", "--seconds", "1"][..],
        &[&["validate", target, "--size", "8M", "--kill-after", "0.3"], &witness[..]].concat(),
        &["monitor", target, "--seconds", "0.4", "--interval", "0.2"],
    ] {
        let output = command(&[args, &["--no-history", "--json"]].concat()).output().unwrap();
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let warnings = document["warnings"].to_string();
        assert!(warnings.contains("is a loop device"), "{args:?}: {warnings} {}", stderr(&output));
    }
}

/// A device was cut to nothing during a buffered run: the page cache took all writes, the device
/// none, and the run ended with exit code 0 and no warning.
#[test]
fn storage_that_is_gone_below_the_page_cache_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (mount, device) = match Loop::mounted(dir.path(), 64, &["mkfs.ext4", "-q"]) {
        Ok(mounted) => mounted,
        Err(why) => {
            let name = "iosonde::cli::storage_that_is_gone_below_the_page_cache_is_told";
            return skip(name, &why);
        }
    };
    let args = ["run", mount.path.to_str().unwrap(), "--size", "8M", "--buffered", "-w", "100"];
    let mut running = Running::start(&[&args[..], &["-d", "2", "--warmup", "0.5"]].concat());
    running.wait_for("warming up");
    File::options().write(true).open(dir.path().join("image")).unwrap().set_len(0).unwrap();
    tool("losetup", &["-c", device.device.to_str().unwrap()]).unwrap();
    let output = running.end();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("what was written to the page cache did not reach"), "{text}");
}

/// ext2 has no way to reserve space, and needs some of its own: the fill runs into the end.
#[test]
fn a_disk_that_fills_up_meanwhile_is_told_and_the_file_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let (mount, _device) = match Loop::mounted(dir.path(), 24, &["mkfs.ext2", "-q", "-m", "0"]) {
        Ok(mounted) => mounted,
        Err(why) => {
            return skip(
                "iosonde::cli::a_disk_that_fills_up_meanwhile_is_told_and_the_file_is_gone",
                &why,
            );
        }
    };
    let output = tool("stat", &["-f", "-c", "%a %S", mount.path.to_str().unwrap()]).unwrap();
    let numbers: Vec<u64> = output.split(' ').map(|n| n.parse().unwrap()).collect();
    let size = (numbers[0] * numbers[1] - 8192).to_string();
    let output = run(&mount.path, &["--json", "--overfill", "--size", &size]);
    fails(&output, 1, "the file system is full; choose a smaller `--size`");
    assert_eq!(names(&mount.path), ["lost+found"]);
}

/// Without direct I/O every figure would be of memory.
#[test]
fn a_file_system_without_direct_io_is_told_and_nothing_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let mount = match Mount::new(&dir.path().join("mounted"), &["-t", "ramfs", "none"]) {
        Ok(mount) => mount,
        Err(why) => {
            return skip(
                "iosonde::cli::a_file_system_without_direct_io_is_told_and_nothing_is_left",
                &why,
            );
        }
    };
    let output = run(&mount.path.join("file.test"), &["--size", "1M"]);
    fails(&output, 1, "without direct I/O (O_DIRECT)");
    fails(&output, 1, "`--buffered`");
    succeeds(&run(&mount.path, &["--size", "1M", "--buffered", "--quiet"]));
    assert_eq!(names(&mount.path), [""; 0]);
}

/// A write that the kernel holds in a frozen file system returns when it is thawed, and not before:
/// a stuck I/O. The run ends on time without it, and a signal that comes while it is waited for
/// counts.
#[test]
fn a_frozen_file_system_holds_up_neither_the_end_nor_a_signal() {
    let dir = tempfile::tempdir().unwrap();
    let (mount, _device) = match Loop::mounted(dir.path(), 64, &["mkfs.ext4", "-q"]) {
        Ok(mounted) => mounted,
        Err(why) => {
            return skip(
                "iosonde::cli::a_frozen_file_system_holds_up_neither_the_end_nor_a_signal",
                &why,
            );
        }
    };
    let path = mount.path.to_str().unwrap();
    let args = ["run", path, "--size", "16M", "--write", "100", "--warmup", "0.1", "--seconds"];
    let mut running =
        Running::start(&[&args[..], &["1.5", "--interval", "50ms", "--json", "--keep"]].concat());
    running.wait_for("warming up");
    std::thread::sleep(Duration::from_millis(600));
    if let Err(why) = tool("fsfreeze", &["-f", path]) {
        running.signal("INT");
        running.end();
        return skip(
            "iosonde::cli::a_frozen_file_system_holds_up_neither_the_end_nor_a_signal",
            &why,
        );
    }
    let thaw = Frozen(path);
    let frozen = Instant::now();
    std::thread::sleep(Duration::from_millis(2500));
    running.signal("INT");
    // 5 s of waiting for the I/O, half a second for the thread.
    while frozen.elapsed() < Duration::from_millis(8500) {
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(thaw);
    let output = running.end();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let m = measurement(&output);
    assert_eq!((m.status, m.stalls.unfinished), (Status::Failed, 1));
    assert!(m.total.ios > 0);
    let oldest = m.stalls.oldest_unfinished_ns;
    assert!(oldest > 4_000_000_000, "{oldest}");
    for words in ["had not returned", "last interval"] {
        let said = m.checks.warnings.iter().any(|w| w.contains(words));
        assert!(said, "{words}: {:?}", m.checks.warnings);
    }
}

/// A frozen file system; a test that fails must not leave it so, since nothing on it would ever
/// end.
struct Frozen<'a>(&'a str);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        let thawed = tool("fsfreeze", &["-u", self.0]);
        assert!(thawed.is_ok() || std::thread::panicking(), "{thawed:?}");
    }
}
