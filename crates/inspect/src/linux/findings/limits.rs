//! Limits of the control group that this process is in.

use super::{INFO, WARNING, size};
use crate::platform::cgroup::{Cgroups, DeviceLimits, Limit, Throttled};
use crate::{Finding, Host, Storage};

const REMEDY: &str =
    "Measure outside of the group, or read the figures as those of the limit, not of the storage.";

/// Limits of I/O on the devices of a target; on any device where those of the target are not known.
pub(super) fn of_io(storage: &Storage, cgroups: &Cgroups<'_>) -> Vec<Finding> {
    let has = |limits: &DeviceLimits| {
        storage.layers.is_empty() || storage.layers.contains(&limits.device)
    };
    cgroups.io().iter().filter(|limits| has(limits)).map(of_device).collect()
}

fn of_device(limits: &DeviceLimits) -> Finding {
    let words = |(of, limit): &(Throttled, Limit<u64>)| match of {
        Throttled::Reads => format!("{} reads/s", limit.value),
        Throttled::Writes => format!("{} writes/s", limit.value),
        Throttled::ReadBytes => format!("{}/s of reads", size(limit.value)),
        Throttled::WrittenBytes => format!("{}/s of writes", size(limit.value)),
    };
    let all: Vec<String> = limits.limits.iter().map(words).collect();
    let message = format!(
        "The control group (cgroup) of this process limits its I/O on {} to {}.",
        limits.device,
        all.join(", ")
    );
    let finding = Finding::new(WARNING, "cgroup-io-limit", message).remedy(REMEDY);
    let limits = limits.limits.iter();
    limits.fold(finding, |finding, (_, limit)| finding.evidence(&limit.place, &limit.text))
}

/// Limits of memory and processors, where they are below what the machine has.
pub(super) fn of_machine(host: &Host, cgroups: &Cgroups<'_>) -> Vec<Finding> {
    let memory = cgroups.memory_bytes().filter(|limit| limit.value < host.memory_bytes);
    let memory = memory.map(|limit| {
        let message = format!(
            "The control group (cgroup) of this process limits its memory, page cache included, to \
             {} of {}.",
            size(limit.value),
            size(host.memory_bytes)
        );
        // Direct I/O passes the page cache by.
        Finding::new(INFO, "cgroup-memory-limit", message).evidence(limit.place, limit.text)
    });
    let cpus = cgroups.processors().filter(|limit| limit.value < f64::from(host.cpus));
    let cpus = cpus.map(|limit| {
        let message = format!(
            "The control group (cgroup) of this process limits it to {} of {} processors.",
            (limit.value * 100.0).round() / 100.0,
            host.cpus
        );
        Finding::new(WARNING, "cgroup-cpu-limit", message).evidence(limit.place, limit.text)
    });
    [memory, cpus].into_iter().flatten().map(|finding| finding.remedy(REMEDY)).collect()
}
