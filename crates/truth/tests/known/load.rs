//! A trivial load, so that the devices are not tested by what they are to test.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use truth::{Delivered, Truth, Watch};

const BLOCK_BYTES: usize = 4096;

/// Memory for direct I/O.
pub(crate) struct Block {
    bytes: Vec<u8>,
    begin: usize,
}

impl Block {
    pub(crate) fn new(fill: u8) -> Self {
        let bytes = vec![fill; 2 * BLOCK_BYTES];
        let begin = bytes.as_ptr().align_offset(BLOCK_BYTES);
        Self { bytes, begin }
    }

    pub(crate) fn get(&mut self) -> &mut [u8] {
        &mut self.bytes[self.begin..self.begin + BLOCK_BYTES]
    }
}

pub(crate) fn open(path: &Path) -> File {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_DIRECT).open(path).unwrap()
}

/// Reads with so many threads, one I/O each, while `work` is done.
pub(crate) fn reading<T>(path: &Path, threads: u64, work: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..threads {
            let (stop, file) = (&stop, open(path));
            scope.spawn(move || {
                let mut block = Block::new(0);
                let mut at = number;
                while !stop.load(Ordering::Relaxed) {
                    file.read_at(block.get(), at % 256 * BLOCK_BYTES as u64).unwrap();
                    at += threads;
                }
            });
        }
        let done = work();
        stop.store(true, Ordering::Relaxed);
        done
    })
}

/// What the device delivers to so many threads in some seconds; none when the host was too busy for
/// figures of time.
pub(crate) fn delivered(
    truth: &Truth,
    threads: u64,
    seconds: f64,
    service_ns: f64,
) -> Option<Delivered> {
    let watch = Watch::begin();
    let delivered = reading(&truth.path(0), threads, || {
        thread::sleep(Duration::from_secs_f64(0.2));
        let begin = truth.now_ns();
        thread::sleep(Duration::from_secs_f64(seconds));
        truth.delivered(begin..truth.now_ns())
    });
    let (late, host) = (delivered.lateness_p99_ns as f64, watch.lateness_mean_ns());
    eprintln!(
        "{threads} threads: {:.1} IOPS, {:.3} ms; device late by {:.0} us (p99), host by {:.0} us \
         (mean)",
        delivered.iops(),
        delivered.latency_mean_ns().unwrap_or_default() / 1e6,
        late / 1e3,
        host / 1e3
    );
    (late <= 0.05 * service_ns && host <= 0.02 * service_ns).then_some(delivered)
}
