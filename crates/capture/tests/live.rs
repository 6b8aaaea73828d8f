//! The kernel's own events: what this process writes is recorded, and nothing stays behind.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use capture::{CaptureError, Recorder};
use trace::Kind;

/// The disk under a directory; `None` if it is not on one.
fn disk_under(directory: &Path) -> Option<String> {
    let number = fs::metadata(directory).ok()?.dev();
    let (major, minor) = (number >> 8 & 0xfff, number & 0xff | number >> 12 & 0xf_ff00);
    let block = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    let block = if block.join("partition").exists() { block.parent()? } else { &block };
    let name = block.file_name()?.to_str()?.to_owned();
    Path::new("/sys/block").join(&name).exists().then_some(name)
}

#[test]
fn what_is_written_is_recorded_and_the_instance_is_removed() {
    let skip = |why: &str| testing::skip("capture::live", why);
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let Some(disk) = disk_under(place.path()) else { return skip("not on a disk") };
    let mut recorder = match Recorder::start(&[disk]) {
        Ok(recorder) => recorder,
        Err(error @ (CaptureError::NotMounted | CaptureError::NotAllowed { .. })) => {
            return skip(&error.to_string());
        }
        Err(error) => panic!("{error}"),
    };
    let mut file = fs::File::create(place.path().join("written")).unwrap();
    let mut ios = Vec::new();
    for _ in 0..20 {
        file.write_all(&[7; 16384]).unwrap();
        file.sync_data().unwrap();
        ios.extend(recorder.poll().unwrap());
    }
    let (rest, _) = recorder.finish().unwrap();
    ios.extend(rest);
    let is_write = |kind| matches!(kind, Kind::Write | Kind::DurableWrite);
    let written = ios.iter().filter(|io| is_write(io.kind) && io.latency_ns.is_some());
    let bytes: u64 = written.map(|io| io.length_bytes).sum();
    assert!(bytes >= 20 * 16384, "{bytes} bytes in {} I/Os", ios.len());
    let instance = format!("iosonde-{}", std::process::id());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let root = mounts.lines().find(|line| line.contains(" tracefs ")).unwrap();
    let root = root.split(' ').nth(1).unwrap();
    assert!(!Path::new(root).join("instances").join(instance).exists());
}

#[test]
fn a_device_that_is_not_there_is_named() {
    let error = Recorder::start(&["no-such-disk".to_owned()]).unwrap_err();
    assert!(error.to_string().contains("`no-such-disk`"), "{error}");
}
