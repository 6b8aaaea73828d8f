//! The logical processors, from /sys.

use super::tree::Tree;
use crate::{Processor, Processors};

/// The most processors that are looked at.
const CPUS_MAX: u32 = 1 << 16;

/// The processors of the system in `root`.
pub(crate) fn processors(root: &std::path::Path) -> Processors {
    let tree = Tree::new(root);
    let online =
        tree.text("sys/devices/system/cpu/online").map(|text| numbers(&text)).unwrap_or_default();
    let nodes: Vec<(u32, Vec<u32>)> = tree
        .text("sys/devices/system/node/online")
        .map(|text| numbers(&text))
        .unwrap_or_default()
        .into_iter()
        .filter_map(|node| {
            let list = tree.text(format!("sys/devices/system/node/node{node}/cpulist"))?;
            Some((node, numbers(&list)))
        })
        .collect();
    let processor = |cpu: u32| {
        let of = |what: &str| {
            let number = tree.number(format!("sys/devices/system/cpu/cpu{cpu}/{what}"));
            number.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
        };
        let node = nodes.iter().find(|(_, cpus)| cpus.contains(&cpu)).map_or(0, |(node, _)| *node);
        let (core, socket) = (of("topology/core_id"), of("topology/physical_package_id"));
        Processor { cpu, core, socket, node, capacity: of("cpu_capacity") }
    };
    Processors { online: online.into_iter().map(processor).collect(), governor: governor(&tree) }
}

/// What chooses the frequency of the first processor.
pub(super) fn governor(tree: &Tree) -> Option<String> {
    let online = tree.text("sys/devices/system/cpu/online").map(|text| numbers(&text));
    let first = online.and_then(|online| online.first().copied()).unwrap_or(0);
    tree.text(format!("sys/devices/system/cpu/cpu{first}/cpufreq/scaling_governor"))
}

/// A list such as `0-3,8`, as rising numbers; empty if the text is not a list.
pub(super) fn numbers(text: &str) -> Vec<u32> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>())
        else {
            continue;
        };
        numbers.extend((first..=last.min(CPUS_MAX)).take(CPUS_MAX as usize));
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn lists_are_read_whatever_is_in_them() {
        assert_eq!(numbers("0-3,8,10-11"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(numbers("5"), [5]);
        assert_eq!(numbers(""), [] as [u32; 0]);
        assert_eq!(numbers("x,3-1,2"), [2]);
        assert!(numbers("0-4294967295").len() <= CPUS_MAX as usize + 1);
    }

    #[test]
    fn each_processor_is_in_a_core_a_socket_and_a_node() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join("sys/devices/system").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("cpu/online", "0,2-3\n");
        put("cpu/cpu0/topology/core_id", "0\n");
        put("cpu/cpu0/cpufreq/scaling_governor", "performance\n");
        put("cpu/cpu2/topology/core_id", "1\n");
        put("cpu/cpu2/topology/physical_package_id", "1\n");
        put("cpu/cpu2/cpu_capacity", "512\n");
        put("node/online", "0-1\n");
        put("node/node0/cpulist", "0-1\n");
        put("node/node1/cpulist", "2-3\n");
        let found = processors(root.path());
        let second = Processor { cpu: 2, core: 1, socket: 1, node: 1, capacity: 512 };
        let third = Processor { cpu: 3, node: 1, ..Processor::default() };
        assert_eq!(found.online, [Processor::default(), second, third]);
        assert_eq!(found.governor.as_deref(), Some("performance"));
        assert_eq!(processors(&root.path().join("nothing")), Processors::default());
    }
}
