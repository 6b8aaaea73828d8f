//! `queue/iostats`: whether the kernel counts the I/O of a device.

use std::path::Path;

use super::devices::text;
use crate::DiskCounters;

/// Whether the accounting of a device's I/O is switched off, as guides to tuning advise: reads,
/// writes and times then stand still whatever the device does.
///
/// Only queues of requests are judged. Devices without one (zram, the device mapper of older
/// kernels) have `iostats` = 0 and count all the same.
pub(crate) fn is_uncounted(root: &Path, device: &str) -> bool {
    let has_requests = |queue: &Path| {
        let scheduler = text(&queue.join("scheduler"));
        queue.join("../mq").is_dir() || scheduler.is_some_and(|list| list != "none")
    };
    let place = root.join("sys/class/block").join(device.replace('/', "!"));
    // The directory of a partition has no queue, and is in that of its disk.
    let queues = [place.join("queue"), place.join("../queue")];
    let switch = queues.iter().find_map(|queue| Some((queue, text(&queue.join("iostats"))?)));
    switch.is_some_and(|(queue, switch)| switch == "0" && has_requests(queue))
}

/// Marks the devices that are not counted.
pub(super) fn mark(root: &Path, disks: &mut [DiskCounters]) {
    for disk in disks {
        disk.uncounted = is_uncounted(root, &disk.device);
    }
}
