//! The files are files: what is written is read, and names come and go.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};

use workload::{Nanoseconds, SimDevice};

use crate::load::{Block, open};
use crate::{SERVICE_NS, SIZE, device, mounted};

/// So much sooner may the device answer, for what the way to it and back takes.
const LEAD_MOST_NS: u64 = 300_000;

#[test]
fn what_is_written_is_read_back() {
    let Some(truth) = mounted("what_is_written_is_read_back", SimDevice::default(), &[SIZE, 8192])
    else {
        return;
    };
    let (first, second) = (open(&truth.path(0)), open(&truth.path(1)));
    assert_eq!((first.metadata().unwrap().len(), second.metadata().unwrap().len()), (SIZE, 8192));
    assert_eq!(first.write_at(Block::new(7).get(), 4096).unwrap(), 4096);
    first.sync_all().unwrap();
    let mut block = Block::new(1);
    assert_eq!(File::open(truth.path(0)).unwrap().read_at(block.get(), 4096).unwrap(), 4096);
    assert!(block.get().iter().all(|b| *b == 7));
    assert_eq!(second.read_at(block.get(), 4096).unwrap(), 4096);
    assert!(block.get().iter().all(|b| *b == 0), "the other target has nothing of it");
    assert_eq!(second.read_at(block.get(), 8192).unwrap(), 0, "the end is the end");
}

#[test]
fn the_device_counts_what_it_delivers() {
    let name = "the_device_counts_what_it_delivers";
    let Some(truth) = mounted(name, device(1), &[SIZE]) else { return };
    let file = open(&truth.path(0));
    let mut block = Block::new(7);
    truth.instantly(|| file.write_at(block.get(), 0).unwrap());
    let begin = truth.now_ns();
    for _ in 0..3 {
        file.write_at(block.get(), 4096).unwrap();
        file.read_at(block.get(), 0).unwrap();
        file.read_at(block.get(), 0).unwrap();
    }
    file.sync_data().unwrap();
    // An answer is noted after it was given.
    drop(file);
    while truth.delivered(begin..truth.now_ns()).sync.ios == 0 {
        std::thread::yield_now();
    }
    let delivered = truth.delivered(begin..truth.now_ns());
    assert_eq!((delivered.read.ios, delivered.read.bytes), (6, 6 * 4096));
    assert_eq!((delivered.write.ios, delivered.write.bytes), (3, 3 * 4096));
    assert_eq!((delivered.sync.ios, delivered.failed), (1, 0));
    let least_ns = (SERVICE_NS - LEAD_MOST_NS) as f64;
    assert!(
        delivered.latency_mean_ns().unwrap() >= least_ns,
        "no sooner than the model, but for the lead"
    );
}

#[test]
fn durable_writes_reach_the_device_as_such() {
    let name = "durable_writes_reach_the_device_as_such";
    let model = SimDevice { durable_ns: Some(Nanoseconds(4 * SERVICE_NS)), ..device(1) };
    let Some(truth) = mounted(name, model, &[SIZE]) else { return };
    let mut durable = OpenOptions::new();
    durable.write(true).custom_flags(libc::O_DIRECT | libc::O_DSYNC);
    let durable = durable.open(truth.path(0)).unwrap();
    let latency_ns = |file: &File| {
        let begin = truth.now_ns();
        file.write_at(Block::new(7).get(), 0).unwrap();
        loop {
            let write = truth.delivered(begin..truth.now_ns()).write;
            if let Some(latency_ns) = write.latency_mean_ns() {
                return latency_ns;
            }
            std::thread::yield_now();
        }
    };
    let least_ns = (SERVICE_NS - LEAD_MOST_NS) as f64;
    assert!(latency_ns(&open(&truth.path(0))) >= least_ns);
    assert!(latency_ns(&durable) >= least_ns + 4.0 * SERVICE_NS as f64);
}

#[test]
fn the_model_fails_and_cuts_short_what_it_says() {
    let name = "the_model_fails_and_cuts_short_what_it_says";
    let model = SimDevice { fail_every: Some(2), short_every: Some(3), ..SimDevice::default() };
    let Some(truth) = mounted(name, model, &[SIZE]) else { return };
    let file = open(&truth.path(0));
    let results: Vec<_> = (0..6)
        .map(|_| file.read_at(Block::new(0).get(), 0).map_err(|e| e.raw_os_error()))
        .collect();
    let error = Err(Some(libc::EIO));
    assert_eq!(results, [Ok(4096), error, Ok(2048), error, Ok(4096), error]);
}

#[test]
fn files_can_be_made_and_removed_as_long_as_there_are_targets() {
    let name = "files_can_be_made_and_removed_as_long_as_there_are_targets";
    let Some(truth) = mounted(name, SimDevice::default(), &[SIZE]) else { return };
    let (made, more) = (truth.directory().join("made.test"), truth.directory().join("more.test"));
    fs::write(&made, "content").unwrap();
    assert_eq!(fs::read(&made).unwrap(), b"content");
    assert_eq!(File::create(&more).unwrap_err().raw_os_error(), Some(libc::ENOSPC));
    let open = File::open(&made).unwrap();
    fs::remove_file(&made).unwrap();
    assert_eq!(open.read_at(&mut [0; 9], 0).unwrap(), 7, "it is still open");
    fs::write(&more, "").unwrap();
    let names = fs::read_dir(truth.directory()).unwrap();
    let mut names: Vec<_> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["more.test", "target-0.data"]);
    let other = fs::metadata(&more).unwrap();
    assert_ne!(other.ino(), fs::metadata(truth.path(0)).unwrap().ino());
}
