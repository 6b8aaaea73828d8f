//! The machine's settings, and what several targets have in common.

use std::collections::BTreeMap;

use super::{INFO, WARNING, size};
use crate::{Finding, Host, Inspected};

/// What databases ask for is 1 to 10.
const SWAPPINESS_MOST: u64 = 10;
/// More than this takes a disk of 200 MB/s five seconds.
const DIRTY_BYTES_MOST: u64 = 1 << 30;
/// Clocks that are read over a slow bus, or tick a few hundred times a second.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"];

pub(super) fn of(host: &Host) -> Vec<Finding> {
    [swappiness(host), huge_pages(host), governor(host), dirty(host), clock(host)]
        .into_iter()
        .flatten()
        .collect()
}

fn swappiness(host: &Host) -> Option<Finding> {
    let settings = host.settings.as_ref().filter(|settings| !settings.swap.is_empty())?;
    let value = settings.swappiness.filter(|value| *value > SWAPPINESS_MOST)?;
    let message = format!(
        "vm.swappiness is {value}: with swap space in use, the kernel may swap out a database to \
         cache files."
    );
    let finding = Finding::new(INFO, "swappiness", message)
        .evidence("/proc/sys/vm/swappiness", value)
        .remedy("Set it to between 1 and 10 on a database server.");
    Some(finding.command("sysctl vm.swappiness=1"))
}

fn huge_pages(host: &Host) -> Option<Finding> {
    let mode = host.settings.as_ref()?.transparent_huge_pages.as_deref()?;
    (mode == "always").then(|| {
        Finding::new(
            INFO,
            "transparent-huge-pages",
            "Transparent huge pages are used always, which some databases advise against."
                .to_owned(),
        )
        .evidence("/sys/kernel/mm/transparent_hugepage/enabled", mode)
        .remedy(
            "Do what the documentation of the database says: leave it for SQL Server, madvise or \
             never for others.",
        )
        .command("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
    })
}

fn governor(host: &Host) -> Option<Finding> {
    let governor = host.settings.as_ref()?.governor.as_deref()?;
    (governor != "performance").then(|| {
        let message = format!(
            "The processors' frequency is chosen by `{governor}`: they may be slow when an I/O \
             completes."
        );
        Finding::new(WARNING, "cpu-governor", message)
            .evidence("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor)
            .remedy("Set the governor to performance, at least while measuring.")
            .command("cpupower frequency-set --governor performance")
    })
}

fn dirty(host: &Host) -> Option<Finding> {
    let settings = host.settings.as_ref()?;
    let (bytes, place, value) = if let Some(bytes) = settings.dirty_background_bytes {
        (bytes, "/proc/sys/vm/dirty_background_bytes", bytes)
    } else {
        let percent = settings.dirty_background_percent?;
        let bytes = (host.memory_bytes / 100).saturating_mul(percent);
        (bytes, "/proc/sys/vm/dirty_background_ratio", percent)
    };
    (bytes > DIRTY_BYTES_MOST).then(|| {
        let message = format!(
            "Up to {} may be dirty in the page cache before the kernel begins to write it back.",
            size(bytes)
        );
        Finding::new(INFO, "dirty-limits", message)
            .evidence(place, value)
            .remedy("Set it in bytes, to about what the storage writes in a second.")
            .command("sysctl vm.dirty_background_bytes=268435456 vm.dirty_bytes=1073741824")
    })
}

fn clock(host: &Host) -> Option<Finding> {
    let source = host.clocksource.as_deref().filter(|source| SLOW_CLOCKS.contains(source))?;
    let message = format!("The kernel takes the time from {source}, which is slow to read.");
    let place = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let finding = Finding::new(WARNING, "clock-source", message)
        .evidence(place, source)
        .remedy("Find out in the kernel's log why it does not trust the processor's own counter.");
    Some(finding.command("dmesg | grep -i clocksource"))
}

/// A finding on a clock that is not synchronised.
pub(in super::super) fn unsynchronised(synchronised: Option<bool>) -> Option<Finding> {
    (synchronised == Some(false)).then(|| {
        Finding::new(
            INFO,
            "time-not-synchronised",
            "The machine's clock is not kept by a time service, as far as the kernel knows."
                .to_owned(),
        )
        .evidence("adjtimex", "unsynchronised")
        .remedy("Run chrony or another time service.")
        .command("timedatectl set-ntp true")
    })
}

/// Disks that several of the targets are on.
pub(in super::super) fn shared(targets: &[Inspected]) -> Vec<Finding> {
    let mut users: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, target) in targets.iter().enumerate() {
        for device in &target.storage.devices {
            let numbers = users.entry(device.name.as_str()).or_default();
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
    }
    let mut by_users: BTreeMap<Vec<usize>, Vec<&str>> = BTreeMap::new();
    for (device, numbers) in users.into_iter().filter(|(_, numbers)| numbers.len() > 1) {
        by_users.entry(numbers).or_default().push(device);
    }
    let finding = |(numbers, devices): (Vec<usize>, Vec<&str>)| {
        let paths: Vec<String> = numbers
            .iter()
            .filter_map(|number| targets.get(*number))
            .map(|target| target.storage.path.to_string_lossy().into_owned())
            .collect();
        let message = format!(
            "{} lie on the same disks ({}): what one does slows the other, and both fail together.",
            paths.join(" and "),
            devices.join(", ")
        );
        let finding = Finding::new(WARNING, "shared-devices", message)
            .remedy("Keep log and data on separate disks.");
        devices.iter().fold(finding, |finding, device| {
            finding.evidence(format!("/sys/class/block/{device}"), "in both chains")
        })
    };
    by_users.into_iter().map(finding).collect()
}
