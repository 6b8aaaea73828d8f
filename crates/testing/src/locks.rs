//! The POSIX locks that a process has on a file, as the kernel lists them.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// How many POSIX locks the process has on the file.
pub fn held(process: u32, path: &Path) -> io::Result<usize> {
    let inode = fs::metadata(path)?.ino();
    Ok(count(&fs::read_to_string("/proc/locks")?, process, inode))
}

/// Whether the process comes to have so many locks on the file. The kernel's list is read in pieces
/// and may miss a lock while other locks come and go, so it is read again until it has them, for
/// half a second.
#[must_use]
pub fn settle_at(process: u32, path: &Path, count: usize) -> bool {
    (0..50).any(|_| {
        let settled = held(process, path).is_ok_and(|held| held == count);
        if !settled {
            std::thread::sleep(Duration::from_millis(10));
        }
        settled
    })
}

/// Whether the process has the file open; false where it has ended.
#[must_use]
pub fn is_open(process: u32, path: &Path) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    descriptors.flatten().any(|one| fs::read_link(one.path()).is_ok_and(|file| file == path))
}

/// Files of the process that another program has deleted: the log of a database among them is lost.
#[must_use]
pub fn deleted(process: u32, beginning: &Path) -> Vec<String> {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{process}/fd")) else { return Vec::new() };
    let files = descriptors.flatten().filter_map(|one| fs::read_link(one.path()).ok());
    let names = files.map(|file| file.to_string_lossy().into_owned());
    let beginning = beginning.to_string_lossy();
    names.filter(|name| name.starts_with(&*beginning) && name.ends_with(" (deleted)")).collect()
}

/// Lines of `/proc/locks` are `1: POSIX  ADVISORY  READ 4711 fe:00:9978117 1073741826 1073742335` (proc_locks(5)). The
/// device is not compared: btrfs shows another one there than to stat(2).
fn count(locks: &str, process: u32, inode: u64) -> usize {
    let (process, inode) = (process.to_string(), format!(":{inode}"));
    let held = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.get(1) == Some(&"POSIX")
            && words.get(4) == Some(&process.as_str())
            && words.get(5).is_some_and(|file| file.ends_with(&inode))
    };
    locks.lines().filter(held).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_locks_of_the_process_on_the_file_count() {
        let locks = "1: POSIX  ADVISORY  READ 12 fe:00:77 1073741826 1073742335\n\
                     2: FLOCK  ADVISORY  WRITE 12 fe:00:77 0 EOF\n\
                     3: POSIX  ADVISORY  READ 13 fe:00:77 0 0\n\
                     4: POSIX  ADVISORY  READ 12 fe:00:177 0 0\n\
                     4: -> POSIX  ADVISORY  WRITE 12 fe:00:77 0 0\n";
        assert_eq!(count(locks, 12, 77), 1);
        assert_eq!(count("", 12, 77), 0);
    }
}
