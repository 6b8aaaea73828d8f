//! Block devices, and the kernel's own limits of them.

use std::os::unix::fs::FileExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use truth::{Limits, LoopDevice, Throttle, Watch};
use workload::SimDevice;

use crate::load::{Block, open, reading};
use crate::{SIZE, assert_close, mounted, on_a_quiet_host};

#[test]
fn a_loop_device_has_the_files_content_and_size() {
    let name = "a_loop_device_has_the_files_content_and_size";
    let Some(truth) = mounted(name, SimDevice::default(), &[SIZE]) else { return };
    open(&truth.path(0)).write_at(Block::new(9).get(), 8192).unwrap();
    let device = match LoopDevice::attach(&truth.path(0)) {
        Ok(device) => device,
        Err(reason) => return testing::skip(&format!("truth::{name}"), reason),
    };
    let begin = truth.now_ns();
    let mut block = Block::new(0);
    let file = open(device.path());
    assert_eq!(file.read_at(block.get(), 8192).unwrap(), 4096);
    assert!(block.get().iter().all(|b| *b == 9));
    assert!(truth.delivered(begin..truth.now_ns()).read.ios >= 1, "the device was asked");
    assert_eq!(file.read_at(block.get(), SIZE).unwrap(), 0);
    drop(file);
    let name = device.path().file_name().unwrap().to_owned();
    drop(device);
    let backing = std::path::Path::new("/sys/block").join(name).join("loop/backing_file");
    assert!(!backing.exists(), "it is detached");
}

#[test]
fn the_kernel_lets_through_what_it_is_told_to() {
    const IOPS: u64 = 400;
    // More than a slice of 0.1 s lets through: with 8 readers, which a busy host wakes up late,
    // slices ended unused, and the device seemed to have 335 IOPS.
    const READERS: u64 = 64;
    let name = "the_kernel_lets_through_what_it_is_told_to";
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(SIZE).unwrap();
    let limits = Limits { read_iops: Some(IOPS), ..Limits::default() };
    let limited = || {
        let device = LoopDevice::attach(file.path())?;
        let throttle = Throttle::new(device.path(), &limits)?;
        throttle.within(|| {
            reading(device.path(), READERS, || on_a_quiet_host(name, || iops_of(&device)))
        })
    };
    match limited() {
        // The kernel lets I/Os through in slices, 30 in 3 s, of which two may be on either side of
        // the ends.
        Ok(Some(iops)) => assert_close(iops, IOPS as f64, 8.0, "IOPS"),
        Ok(None) => {}
        Err(reason) => testing::skip(&format!("truth::{name}"), reason),
    }
}

/// Reads a second that a device completes; none when the host was too busy for figures of time.
fn iops_of(device: &LoopDevice) -> Option<f64> {
    let watch = Watch::begin();
    sleep(Duration::from_millis(500));
    let (begin, before) = (Instant::now(), reads_of(device.path()));
    sleep(Duration::from_secs(3));
    let iops = (reads_of(device.path()) - before) as f64 / begin.elapsed().as_secs_f64();
    (watch.lateness_mean_ns() < 1e6).then_some(iops)
}

/// Reads that a block device has completed.
fn reads_of(device: &std::path::Path) -> u64 {
    let name = device.file_name().unwrap();
    let path = std::path::Path::new("/sys/block").join(name).join("stat");
    let stat = std::fs::read_to_string(path).unwrap();
    stat.split_whitespace().next().unwrap().parse().unwrap()
}
