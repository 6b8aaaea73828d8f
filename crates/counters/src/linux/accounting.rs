//! `queue/iostats`: whether the kernel counts the I/O of a device.

use std::path::{Path, PathBuf};

use super::devices::text;
use crate::DiskCounters;

/// Whether the accounting of a device's I/O is switched off, as guides to tuning advise: reads,
/// writes and times then stand still whatever the device does.
///
/// Only queues of requests are judged. Devices without one (zram, the device mapper of older
/// kernels) have `iostats` = 0 and count all the same.
pub(crate) fn is_uncounted(root: &Path, device: &str) -> bool {
    let is_off = |queue: &PathBuf| text(&queue.join("iostats")).as_deref() == Some("0");
    let has_requests = |queue: &PathBuf| {
        let scheduler = text(&queue.join("scheduler"));
        queue.join("../mq").is_dir() || scheduler.is_some_and(|list| list != "none")
    };
    let place = root.join("sys/class/block").join(device.replace('/', "!"));
    // The directory of a partition has no queue, and is in that of its disk.
    let queues = [place.join("queue"), place.join("../queue")];
    queues.iter().any(|queue| is_off(queue) && has_requests(queue))
}

/// Marks the devices that are not counted.
pub(super) fn mark(root: &Path, disks: &mut [DiskCounters]) {
    for disk in disks {
        disk.uncounted = is_uncounted(root, &disk.device);
    }
}
