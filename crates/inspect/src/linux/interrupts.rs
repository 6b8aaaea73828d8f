//! /proc/interrupts: the processors that handle a disk's interrupts.

use std::collections::BTreeSet;
use std::path::Path;

use super::tree::Tree;

/// Interrupts of the disk in `dir` since the machine was started, by processor; empty where none
/// can be told to be its.
pub(super) fn interrupts(tree: &Tree, dir: &Path, table: &str) -> Vec<u64> {
    let start = tree.canonical(dir.join("device/device")).unwrap_or_else(|| dir.to_owned());
    let Some(numbers) =
        start.ancestors().map(|path| numbers_of(tree, path)).find(|n| !n.is_empty())
    else {
        return Vec::new();
    };
    of_numbers(table, &numbers)
}

/// The interrupts of a device of the PCI bus.
fn numbers_of(tree: &Tree, function: &Path) -> BTreeSet<u64> {
    let number = |path: std::path::PathBuf| path.file_name()?.to_str()?.parse::<u64>().ok();
    tree.entries(function.join("msi_irqs")).into_iter().filter_map(number).collect()
}

/// The sum of these lines of /proc/interrupts, column by column.
fn of_numbers(table: &str, numbers: &BTreeSet<u64>) -> Vec<u64> {
    let mut lines = table.lines();
    let cpus = lines.next().map_or(0, |heading| heading.split_whitespace().count());
    let mut sums = vec![0_u64; cpus];
    let mut found = false;
    for line in lines {
        let Some((number, rest)) = line.split_once(':') else { continue };
        if number.trim().parse::<u64>().is_ok_and(|number| numbers.contains(&number)) {
            found = true;
            let counts = rest.split_whitespace().map_while(|word| word.parse::<u64>().ok());
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum = sum.saturating_add(count);
            }
        }
    }
    if found { sums } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TABLE: &str = "           CPU0       CPU1\n 24:   1   2  IO-APIC 5-edge x\n 25:  10  20 \
                         PCI-MSIX 1-edge nvme0q1\n 26:  100 200 PCI-MSIX 2-edge nvme0q2\nNMI: 7 8 \
                         all\n";

    #[test]
    fn the_columns_of_a_device_are_summed() {
        assert_eq!(of_numbers(TABLE, &[25, 26].into()), [110, 220]);
        assert_eq!(of_numbers(TABLE, &[99].into()), [0_u64; 0]);
        assert_eq!(of_numbers("", &[25].into()), [0_u64; 0]);
    }

    proptest! {
        #[test]
        fn any_table_is_survived(text in "[ 0-9:a-zCPU\n]{0,200}", number in 0_u64..100) {
            of_numbers(&text, &[number].into());
        }
    }
}
