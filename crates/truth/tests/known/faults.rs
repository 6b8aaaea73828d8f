//! A planned fault reaches real programs, and they get the answer that the plan names.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use truth::{Fault, FaultPlan, Injected, Span, Torn, Truth, When};
use workload::{Nanoseconds, SimDevice};

use crate::load::{Block, open};
use crate::{SIZE, mounted};

fn fast() -> SimDevice {
    let time = Nanoseconds(1000);
    SimDevice { servers: 64, read_ns: time, write_ns: time, ..SimDevice::default() }
}

/// A file whose first block holds ones, and on which this goes wrong from now on, once.
fn file_with(truth: &Truth, fault: Fault) -> File {
    let file = open(&truth.path(0));
    truth.inject(Vec::new());
    file.write_all_at(Block::new(1).get(), 0).unwrap();
    file.write_all_at(Block::new(9).get(), 4096).unwrap();
    truth.inject(vec![FaultPlan::new(fault, When::Nth(1)).in_file("target-0.data")]);
    file
}

fn last(truth: &Truth) -> Injected {
    truth.injected().pop().unwrap()
}

fn read(file: &File) -> Vec<u8> {
    let mut block = Block::new(0);
    assert_eq!(file.read_at(block.get(), 0).unwrap(), 4096);
    block.get().to_vec()
}

#[test]
fn a_program_is_not_told_of_wrong_data() {
    let Some(truth) = mounted("a_program_is_not_told_of_wrong_data", fast(), &[SIZE]) else {
        return;
    };
    let whole = [Span { offset: 0, bytes: 4096 }];
    let file = file_with(&truth, Fault::LostWrite);
    assert_eq!(file.write_at(Block::new(2).get(), 0).unwrap(), 4096);
    assert_eq!((last(&truth).changed, last(&truth).visible.len()), (whole.to_vec(), 0));
    assert_eq!((read(&file), last(&truth).visible), (vec![1; 4096], whole.to_vec()));
    let file = file_with(&truth, Fault::TornWrite(Torn::Prefix(3)));
    assert_eq!(file.write_at(Block::new(2).get(), 0).unwrap(), 4096);
    let torn = [vec![2; 3 * 512], vec![1; 5 * 512]].concat();
    assert_eq!(read(&file), torn);
    // It stays so until it is written.
    let file = file_with(&truth, Fault::ZeroWrite);
    file.write_all_at(Block::new(2).get(), 0).unwrap();
    file.write_all_at(Block::new(3).get(), 0).unwrap();
    assert_eq!((read(&file), last(&truth).healed), (vec![3; 4096], whole.to_vec()));
    let file = file_with(&truth, Fault::StaleRead);
    file.write_all_at(Block::new(2).get(), 0).unwrap();
    assert_eq!([read(&file), read(&file)], [[1; 4096], [2; 4096]]);
    let mut log = Vec::new();
    truth.write_fault_log(&mut log).unwrap();
    let log = String::from_utf8(log).unwrap();
    let events = |name: &str| log.lines().filter(|l| l.contains(&format!("\"{name}\""))).count();
    assert_eq!((events("injected"), events("visible"), events("healed")), (4, 3, 1), "{log}");
}

#[test]
fn a_program_is_told_of_errors_and_of_short_transfers() {
    let name = "a_program_is_told_of_errors_and_of_short_transfers";
    let Some(truth) = mounted(name, fast(), &[SIZE]) else { return };
    let mut block = Block::new(2);
    let file = file_with(&truth, Fault::WriteError(28));
    let error = file.write_at(block.get(), 0).unwrap_err();
    assert_eq!((error.kind(), read(&file)), (ErrorKind::StorageFull, vec![1; 4096]));
    let file = file_with(&truth, Fault::ReadError(5));
    assert_eq!(file.read_at(block.get(), 0).unwrap_err().raw_os_error(), Some(5));
    let file = file_with(&truth, Fault::SyncError(5));
    assert_eq!(file.sync_data().unwrap_err().raw_os_error(), Some(5));
    file.sync_data().unwrap();
    let file = file_with(&truth, Fault::ShortRead);
    let moved = file.read_at(block.get(), 0).unwrap();
    assert!(moved > 0 && moved < 4096 && moved.is_multiple_of(512), "{moved}");
    let file = file_with(&truth, Fault::ShortWrite);
    let moved = file.write_at(Block::new(2).get(), 0).unwrap();
    assert!(moved > 0 && moved < 4096 && moved.is_multiple_of(512), "{moved}");
    assert_eq!(read(&file), [vec![2; moved], vec![1; 4096 - moved]].concat());
    assert!(truth.injected().iter().all(|i| i.changed.is_empty()));
}

/// Others are not held up by what stalls.
#[test]
fn a_stall_takes_its_time_and_no_less() {
    let Some(truth) = mounted("a_stall_takes_its_time_and_no_less", fast(), &[SIZE]) else {
        return;
    };
    let file = file_with(&truth, Fault::Stall(Nanoseconds(500_000_000)));
    let other = open(&truth.path(0));
    let began = Instant::now();
    std::thread::scope(|scope| {
        let stalled = scope.spawn(|| read(&file));
        while truth.injected().is_empty() {
            std::thread::yield_now();
        }
        while !stalled.is_finished() {
            assert_eq!(read(&other), [1; 4096]);
        }
    });
    // What the way to the device and back takes is answered earlier.
    assert!(began.elapsed() >= Duration::from_millis(499));
    let reads = truth.delivered(0..truth.now_ns()).read.ios;
    assert!(reads >= 2, "others were answered meanwhile: {reads}");
}
