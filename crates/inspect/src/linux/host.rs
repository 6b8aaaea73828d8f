//! The machine, from /proc, /sys and /etc/os-release.

use std::path::Path;

use super::cgroup::Cgroups;
use super::tree::Tree;
use super::{findings, mountinfo, settings};
use crate::Host;
use crate::host::UNKNOWN;

pub(crate) fn host(root: &Path) -> Host {
    let tree = Tree::new(root);
    let text = |path: &str| tree.text(path);
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let cpuinfo = text("proc/cpuinfo").unwrap_or_default();
    let meminfo = text("proc/meminfo").unwrap_or_default();
    let mut host = Host {
        hostname: or_unknown(text("proc/sys/kernel/hostname")),
        os: or_unknown(
            ["etc/os-release", "usr/lib/os-release"]
                .iter()
                .find_map(|path| pretty_name(&text(path)?)),
        ),
        kernel: or_unknown(text("proc/sys/kernel/osrelease")),
        cpu_model: or_unknown(cpu_model(&cpuinfo)),
        cpus: text("sys/devices/system/cpu/online")
            .and_then(|list| count_list(&list))
            .unwrap_or_else(|| count_processors(&cpuinfo)),
        memory_bytes: memory_bytes(&meminfo, "MemTotal"),
        memory_available_bytes: memory_bytes(&meminfo, "MemAvailable"),
        virtualization: virtualization(&tree, &cpuinfo),
        clocksource: text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        product: settings::product(&tree),
        settings: settings::settings(&tree),
        findings: Vec::new(),
    };
    let mounts = mountinfo::parse(&tree.bytes("proc/self/mountinfo").unwrap_or_default());
    host.findings = findings::of_host(&host, &Cgroups::new(&tree, &mounts));
    host
}

fn pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.trim().strip_prefix("PRETTY_NAME="))?;
    let name = value.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.replace('\\', ""))
}

/// The values of `key` in /proc/cpuinfo (`key<tab>: value`).
fn values<'a>(cpuinfo: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    cpuinfo.lines().filter_map(move |line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    // x86, some ARM boards, POWER, older ARM.
    ["model name", "Model", "cpu", "Hardware"]
        .iter()
        .find_map(|key| values(cpuinfo, key).find(|value| !value.is_empty()))
        .map(str::to_owned)
}

fn count_processors(cpuinfo: &str) -> u32 {
    u32::try_from(values(cpuinfo, "processor").count()).unwrap_or(u32::MAX)
}

/// How many numbers a list such as `0-3,8` names.
fn count_list(text: &str) -> Option<u32> {
    text.split(',').try_fold(0_u32, |count, part| {
        let (first, last) = part.trim().split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().ok()?;
        let last: u32 = last.trim().parse().ok()?;
        count.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

fn memory_bytes(meminfo: &str, key: &str) -> u64 {
    values(meminfo, key)
        .find_map(|value| value.split_whitespace().next()?.parse::<u64>().ok())
        .unwrap_or(0)
        .saturating_mul(1024)
}

/// What the firmware's tables say, in the order of trust: some clouds' guests also name QEMU.
const HYPERVISORS: [(&str, &str); 13] = [
    ("Amazon EC2", "Amazon EC2"),
    ("Google Compute Engine", "Google Compute Engine"),
    ("DigitalOcean", "DigitalOcean"),
    ("Alibaba Cloud", "Alibaba Cloud"),
    ("OpenStack", "OpenStack"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("Parallels", "Parallels"),
    ("BHYVE", "bhyve"),
    ("Xen", "Xen"),
    ("KVM", "KVM"),
    ("QEMU", "QEMU"),
];

fn virtualization(tree: &Tree, cpuinfo: &str) -> Option<String> {
    let dmi: Vec<_> = ["sys_vendor", "product_name", "board_vendor", "bios_vendor"]
        .iter()
        .filter_map(|name| tree.text(format!("sys/class/dmi/id/{name}")))
        .collect();
    let says = |word: &str| dmi.iter().any(|text| text.contains(word));
    let flagged = values(cpuinfo, "flags")
        .next()
        .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    // A cloud's bare metal machine names the cloud too, but no processor flag shows a hypervisor.
    if dmi.iter().any(|text| text.rsplit_once('.').is_some_and(|(_, kind)| kind == "metal"))
        && !flagged
    {
        return None;
    }
    // Microsoft also makes hardware.
    if says("Microsoft Corporation") && says("Virtual Machine") {
        return Some("Hyper-V".to_owned());
    }
    HYPERVISORS
        .iter()
        .find(|(word, _)| says(word))
        .map(|(_, name)| (*name).to_owned())
        .or_else(|| tree.text("sys/hypervisor/type"))
        .or_else(|| flagged.then(|| "a hypervisor that gives no name".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors() {
        assert_eq!(count_list("0-3,8, 10-11"), Some(7));
        assert_eq!(count_list("0"), Some(1));
        for nonsense in ["", "3-1", "x", "0-4294967295", "0,,1"] {
            assert_eq!(count_list(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn names_in_os_release() {
        let name = |text| pretty_name(text);
        assert_eq!(name("ID=x\nPRETTY_NAME=\"A B\"\n").as_deref(), Some("A B"));
        assert_eq!(name("PRETTY_NAME='A'").as_deref(), Some("A"));
        assert_eq!(name("PRETTY_NAME=\nNAME=x"), None);
    }

    #[test]
    fn memory_that_cannot_be() {
        assert_eq!(memory_bytes("MemTotal: 16 kB", "MemTotal"), 16_384);
        assert_eq!(memory_bytes("MemTotal: 18446744073709551615 kB", "MemTotal"), u64::MAX);
        assert_eq!(memory_bytes("MemTotal: -1 kB\nMemTotal", "MemTotal"), 0);
    }
}
