//! How much memory is free.

/// Bytes that programs can have without anything being swapped out, as the kernel estimates it.
pub(crate) fn available_memory() -> Option<u64> {
    available(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// Whether memory that asks for large pages (2 MiB) can get them.
pub(crate) fn has_large_pages() -> bool {
    let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    setting.is_ok_and(|setting| may_be_large(&setting))
}

/// The setting that holds is in brackets.
fn may_be_large(setting: &str) -> bool {
    setting.contains("[always]") || setting.contains("[madvise]")
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_are_there_unless_the_system_has_none() {
        assert!(
            may_be_large("always [madvise] never\n") && may_be_large("[always] madvise never\n")
        );
        assert!(!may_be_large("always madvise [never]\n") && !may_be_large(""));
    }

    #[test]
    fn free_memory_is_read_from_the_kernels_table() {
        let table = "MemTotal:       16316412 kB\n\
            MemFree:          512000 kB\n\
            MemAvailable:    8000000 kB\n";
        assert_eq!(available(table), Some(8_000_000 * 1024));
        assert_eq!(available("MemTotal: 5 kB"), None);
        assert_eq!(available("MemAvailable: much"), None);
        assert!(available_memory().is_some());
    }
}
