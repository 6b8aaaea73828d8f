//! How much memory is free.

/// Bytes that programs can have without anything being swapped out, as the kernel estimates it.
pub(crate) fn available_memory() -> Option<u64> {
    available(&std::fs::read_to_string("/proc/meminfo").ok()?)
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
    fn free_memory_is_read_from_the_kernels_table() {
        let table = "MemTotal:       16316412 kB\nMemFree:          512000 kB\nMemAvailable:    8000000 kB\n";
        assert_eq!(available(table), Some(8_000_000 * 1024));
        assert_eq!(available("MemTotal: 5 kB"), None);
        assert_eq!(available("MemAvailable: much"), None);
        assert!(available_memory().is_some());
    }
}
