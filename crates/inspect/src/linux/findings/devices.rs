//! Whole disks: queues, caches, links, state.

use super::{INFO, SERIOUS, WARNING, in_block, size};
use crate::judged::{self, OWN_WORD};
use crate::{Device, Finding, LayerKind, Storage, giga_per_s};

/// Fewer requests than this keep no disk busy that works on several I/Os at once.
const REQUESTS_LEAST: u64 = 32;
/// More than this is fetched for nothing where reads are not sequential.
const READ_AHEAD_MOST: u64 = 8 << 20;

pub(super) fn of(storage: &Storage, device: &Device) -> Vec<Finding> {
    let is = |transport: &str| device.transport.as_deref() == Some(transport);
    let mut findings = vec![loop_device(device), scheduler(device), rotating(device)];
    findings.extend([write_cache(device), flush_disabled(device), depth(device)]);
    findings.extend([link(device), lowered(device), state(storage, device)]);
    findings.extend([read_only(storage, device), thin(device), zoned(device)]);
    findings.extend([split(device), sectors(device), usb(device), accounting(device)]);
    findings.extend([requests(device), read_ahead(storage, device)]);
    findings.push(is("zram").then(|| zram(device)));
    findings.into_iter().flatten().collect()
}

fn queue(device: &Device, file: &str) -> String {
    in_block(&device.name, &format!("queue/{file}"))
}

fn loop_device(device: &Device) -> Option<Finding> {
    (device.transport.as_deref() == Some("loop")).then(|| {
        let message = format!(
            "{} is a loop device of {}: the figures are those of the file under it, and of that \
             file's file system and cache.",
            device.name,
            size(device.size_bytes)
        );
        Finding::new(WARNING, "loop-device", message)
            .evidence(in_block(&device.name, "loop"), "there")
            .remedy("Give the storage itself.")
    })
}

fn scheduler(device: &Device) -> Option<Finding> {
    let scheduler = device.scheduler.as_deref()?;
    let light = ["none", "mq-deadline", "noop", "deadline"].contains(&scheduler);
    (device.rotational == Some(false) && !light).then(|| {
        let message = format!(
            "{} has no rotating disks but the I/O scheduler {scheduler}, which costs time on every \
            I/O and may hold some back.",
            device.name
        );
        Finding::new(INFO, "scheduler", message)
            .evidence(queue(device, "scheduler"), scheduler)
            .evidence(queue(device, "rotational"), 0)
            .remedy("Set the scheduler to none or mq-deadline.")
            .command(format!("echo none > /sys/block/{}/queue/scheduler", device.name))
    })
}

fn rotating(device: &Device) -> Option<Finding> {
    let own_word = device.transport.as_deref().is_some_and(|t| OWN_WORD.contains(&t));
    let none = device.scheduler.as_deref() == Some("none");
    (own_word && none && device.rotational == Some(true)).then(|| {
        let message = format!(
            "{} has rotating disks and no I/O scheduler: reads wait behind writes.",
            device.name
        );
        Finding::new(INFO, "scheduler-rotating", message)
            .evidence(queue(device, "scheduler"), "none")
            .evidence(queue(device, "rotational"), 1)
            .remedy("Set the scheduler to mq-deadline.")
            .command(format!("echo mq-deadline > /sys/block/{}/queue/scheduler", device.name))
    })
}

fn write_cache(device: &Device) -> Option<Finding> {
    judged::write_cache(device).map(|finding| {
        finding
            .evidence(queue(device, "write_cache"), "write back")
            .evidence(queue(device, "fua"), 0)
    })
}

fn flush_disabled(device: &Device) -> Option<Finding> {
    judged::flush_disabled(device).map(|finding| {
        let finding = match (device.cache_type.as_deref(), device.fua) {
            (Some(own), _) => finding.evidence(format!("cache_type of {}", device.name), own),
            (None, Some(true)) => finding.evidence(queue(device, "fua"), 1),
            (None, _) => finding,
        };
        finding
            .evidence(queue(device, "write_cache"), "write through")
            .command(format!("echo 'write back' > /sys/block/{}/queue/write_cache", device.name))
    })
}

fn depth(device: &Device) -> Option<Finding> {
    let finding = judged::depth(device)?;
    let depth = device.queue_depth.unwrap_or(0);
    Some(
        finding
            .evidence(in_block(&device.name, "device/queue_depth"), depth)
            .command(format!("echo 64 > /sys/block/{}/device/queue_depth", device.name)),
    )
}

/// A queue of the kernel that holds fewer requests than the device takes.
fn requests(device: &Device) -> Option<Finding> {
    let requests = device.nr_requests.filter(|requests| *requests < REQUESTS_LEAST)?;
    // A device that takes so few at once needs no more.
    let is_enough = device.queue_depth.is_some_and(|depth| depth <= requests);
    let has_none = device.transport.as_deref().is_none_or(|t| t == "usb" || t == "mmc");
    (!is_enough && !has_none).then(|| {
        let message = format!(
            "The kernel holds {requests} requests in each queue of {}: more I/Os in flight wait \
             above it.",
            device.name
        );
        Finding::new(WARNING, "queue-requests-few", message)
            .evidence(queue(device, "nr_requests"), requests)
            .remedy("Raise it to at least 64.")
            .command(format!("echo 128 > /sys/block/{}/queue/nr_requests", device.name))
    })
}

/// Read-ahead that makes buffered scans slow, or reads much that nobody asked for.
fn read_ahead(storage: &Storage, device: &Device) -> Option<Finding> {
    let bytes = device.read_ahead_bytes?;
    // What is read ahead is decided on top of all layers.
    let is_top = storage.counted_device.as_deref() == Some(device.name.as_str());
    let (amount, what) = match bytes {
        0 => ("nothing".to_owned(), "buffered scans wait for every page"),
        bytes if bytes > READ_AHEAD_MOST => (size(bytes), "small buffered reads fetch far more"),
        _ => return None,
    };
    is_top.then(|| {
        let message = format!("The kernel reads {amount} ahead on {}: {what}.", device.name);
        Finding::new(INFO, "read-ahead", message)
            .evidence(queue(device, "read_ahead_kb"), bytes >> 10)
            .remedy("Set it to between 128 KiB and 4 MiB; direct I/O does not use it.")
            .command(format!("echo 4096 > /sys/block/{}/queue/read_ahead_kb", device.name))
    })
}

fn link(device: &Device) -> Option<Finding> {
    let link = device.link.as_ref()?;
    let number = |speed: &Option<String>| speed.as_deref().and_then(giga_per_s);
    let slow = number(&link.speed).zip(number(&link.speed_max)).is_some_and(|(is, can)| is < can);
    let narrow = link.lanes.zip(link.lanes_max).is_some_and(|(is, can)| is < can);
    if !slow && !narrow {
        return None;
    }
    let words = |speed: &Option<String>, lanes: Option<u32>| {
        let lanes = lanes.filter(|_| link.bus == "pcie").map(|n| format!("{n} lanes"));
        let parts: Vec<String> = [lanes, speed.clone()].into_iter().flatten().collect();
        parts.join(" at ")
    };
    let (is, can) = (words(&link.speed, link.lanes), words(&link.speed_max, link.lanes_max));
    // There the other end may not be able to do more, and nothing is wrong with it.
    let (severity, whose) = match link.bus.as_str() {
        "pcie" | "usb" => (WARNING, "the device"),
        _ => (INFO, "this end"),
    };
    let message = format!(
        "{} is linked by {} with {is}, while {whose} can do {can}.",
        device.name,
        link.bus.to_uppercase()
    );
    let finding = Finding::new(severity, "link-below-capability", message)
        .evidence(format!("link of {}", device.name), is)
        .remedy("Look at the slot, the cable, the switch's port and the firmware's settings.");
    Some(if link.bus == "pcie" {
        finding.command("lspci -vv | grep -E 'LnkCap|LnkSta'")
    } else {
        finding
    })
}

fn lowered(device: &Device) -> Option<Finding> {
    let times = device.link.as_ref()?.lowered.filter(|times| *times > 0)?;
    let message =
        format!("The speed of the link to {} was lowered {times} times after errors.", device.name);
    let finding = Finding::new(WARNING, "link-lowered", message)
        .evidence("/sys/class/ata_device/*/spdn_cnt", times)
        .remedy("Replace the cable or the slot of the backplane.");
    Some(finding.command("dmesg | grep -i ata"))
}

fn state(storage: &Storage, device: &Device) -> Option<Finding> {
    let state = device.state.as_deref()?;
    let is_path =
        storage.chain.iter().filter(|layer| layer.kind == LayerKind::Multipath).any(|layer| {
            layer.name == device.name || layer.paths.iter().any(|p| p.name == device.name)
        });
    if is_path || ["running", "live", "created"].contains(&state) {
        return None;
    }
    let message = format!("{} is {state}: I/O to it fails or waits.", device.name);
    let finding = Finding::new(SERIOUS, "device-not-running", message)
        .evidence(in_block(&device.name, "device/state"), state)
        .remedy("Find out why in the kernel's log.");
    Some(finding.command(format!("dmesg | grep {}", device.name)))
}

fn read_only(storage: &Storage, device: &Device) -> Option<Finding> {
    // A file system that is read-only says so itself.
    let told = storage.file_system.as_ref().is_some_and(|fs| fs.read_only);
    judged::device_read_only(device).filter(|_| !told).map(|finding| {
        finding
            .evidence(in_block(&device.name, "ro"), 1)
            .command(format!("blockdev --setrw /dev/{}", device.name))
    })
}

fn thin(device: &Device) -> Option<Finding> {
    (device.thin == Some(true)).then(|| {
        let message = format!(
            "{} says that its space is given out when it is first written to (thin provisioning).",
            device.name
        );
        Finding::new(INFO, "thin-storage", message)
            .evidence(in_block(&device.name, "device/scsi_disk/*/thin_provisioning"), 1)
            .remedy("Watch how full the array's pool is; measure on files that are wholly written.")
    })
}

fn zoned(device: &Device) -> Option<Finding> {
    let zoned = device.zoned.as_deref()?;
    let message =
        format!("{} has zones ({zoned}), which have to be written in order.", device.name);
    let finding = Finding::new(WARNING, "zoned-device", message)
        .evidence(queue(device, "zoned"), zoned)
        .remedy("Put a database on a disk that is recorded conventionally.");
    Some(finding)
}

fn accounting(device: &Device) -> Option<Finding> {
    device.uncounted.then(|| {
        let message = format!(
            "The kernel does not count the I/O of {}: accounting is switched off.",
            device.name
        );
        Finding::new(INFO, "accounting-off", message)
            .evidence(queue(device, "iostats"), 0)
            .remedy("Switch it on while measuring or watching; it costs next to nothing.")
            .command(format!("echo 1 > /sys/block/{}/queue/iostats", device.name))
    })
}

fn split(device: &Device) -> Option<Finding> {
    let most = device.max_io_bytes?;
    let finding = judged::split(device)?.evidence(queue(device, "max_sectors_kb"), most >> 10);
    let can = device.max_hardware_io_bytes.filter(|can| *can > most);
    Some(match can {
        None => finding.remedy("The device takes no more at once."),
        Some(can) => {
            let kib = can.min(1 << 20) >> 10;
            let file = format!("/sys/block/{}/queue/max_sectors_kb", device.name);
            finding
                .evidence(queue(device, "max_hw_sectors_kb"), can >> 10)
                .remedy("Raise the limit.")
                .command(format!("echo {kib} > {file}"))
        }
    })
}

fn sectors(device: &Device) -> Option<Finding> {
    let (logical, physical) = (device.logical_block_bytes?, device.physical_block_bytes?);
    judged::sectors(device).map(|finding| {
        finding
            .evidence(queue(device, "logical_block_size"), logical)
            .evidence(queue(device, "physical_block_size"), physical)
    })
}

fn usb(device: &Device) -> Option<Finding> {
    let place = in_block(&device.name, "");
    judged::usb(device).map(|finding| finding.evidence(place, "below a USB controller"))
}

fn zram(device: &Device) -> Finding {
    let message = format!("{} is memory that is compressed.", device.name);
    Finding::new(WARNING, "compressing-device", message)
        .evidence(in_block(&device.name, "comp_algorithm"), "there")
        .remedy("Give the storage that the database will live on.")
}
