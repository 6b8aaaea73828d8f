//! Whose data it is: what must never be written to, whatever the user says.
#![expect(unsafe_code, reason = "leases on files are asked for by fcntl")]

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use inspect::files::{Access, Place};

pub(crate) use super::aliases::{backing_files, disk_of, opened_through_layer, other_paths};
use crate::prepared::Refusal;

/// A program that keeps a device or a file open for longer than this uses it.
const GLANCE: Duration = Duration::from_millis(300);
/// How often is looked at it meanwhile.
const STEP: Duration = Duration::from_millis(10);

/// Whether a directory holds device nodes: a file made there is in memory, and was meant to be a
/// device.
pub(crate) fn is_of_devices(directory: &Path) -> bool {
    let real = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    real.starts_with("/dev") && !real.starts_with("/dev/shm")
}

/// What uses the block device of this number: a mount, swap, a device built on it, or a program;
/// `None` if nothing does.
pub(crate) fn device_usage(number: u64) -> Option<String> {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let system = System::of_this_machine();
    system.usage(major, minor).or_else(|| opened_by(number))
}

/// A program that has the device open, such as a database on raw devices. Without root only the own
/// ones are seen.
fn opened_by(number: u64) -> Option<String> {
    let first = processes_with(number);
    if first.is_empty() {
        return None;
    }
    // The device manager and others look at every device now and then, for a moment.
    std::thread::sleep(GLANCE);
    let id = processes_with(number).into_iter().find(|id| first.contains(id))?;
    let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    Some(format!("open in process {id} ({})", name.trim()))
}

/// What uses the same bytes as a device in another way: a loop device over it, another one over the
/// same file, or a program that has that file open.
pub(crate) fn used_below(number: u64) -> Option<String> {
    if let Some(name) = super::aliases::loop_above(number) {
        return Some(format!("the device under {name}"));
    }
    for (name, other) in super::aliases::twins(number) {
        if let Some(usage) = device_usage(other) {
            return Some(format!("a view of the same file as {name}, which is {usage}"));
        }
    }
    backing_files(number).into_iter().find_map(|file| {
        let known = fs::metadata(&file).ok().filter(fs::Metadata::is_file)?;
        let is_it = |m: fs::Metadata| (m.dev(), m.ino()) == (known.dev(), known.ino());
        let id = processes_that(is_it).into_iter().next()?;
        let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        let file = file.display();
        Some(format!("a view of `{file}`, which is open in process {id} ({})", name.trim()))
    })
}

/// Every other process that has the device of this number open.
fn processes_with(number: u64) -> Vec<u32> {
    processes_that(|m| m.file_type().is_block_device() && m.rdev() == number)
}

/// Every other process that has such a file open.
fn processes_that(is_it: impl Fn(fs::Metadata) -> bool) -> Vec<u32> {
    let has_open = |id: &u32| {
        let files = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
        files.filter_map(|f| fs::metadata(f.path()).ok()).any(&is_it)
    };
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = names.filter_map(|p| p.file_name().to_str()?.parse().ok());
    ids.filter(|id| *id != std::process::id()).filter(has_open).collect()
}

/// Chooses the signal that announces the end of a lease; not in the libc crate.
const F_SETSIG: libc::c_int = 10;

/// Whether this file is open elsewhere, in a program or in the kernel (for a loop device, for
/// swap).
///
/// The kernel grants a write lease only on a file that is open nowhere else. If it grants none for
/// other reasons (another owner, a network file system), nothing is known.
pub(crate) fn is_open_elsewhere(file: &File) -> bool {
    // The kernel closes the files of a ring, or of a program that has ended, some milliseconds
    // later.
    let steps = GLANCE.as_millis() / STEP.as_millis();
    let waits = || (0..steps).map(|_| std::thread::sleep(STEP));
    has_another_user(file) && waits().all(|()| has_another_user(file))
}

/// The same before a file is opened. Here that can be told of an open one.
pub(crate) fn held(_: &Path) -> Option<String> {
    None
}

/// Whether a file that an earlier run used is still open in it, or in its last I/Os.
pub(crate) fn is_left_open(path: &Path) -> io::Result<bool> {
    Place::of(path)?.open(Access::Read).map(|file| is_open_elsewhere(&file))
}

/// No name of Linux means something else than it says.
#[expect(clippy::unnecessary_wraps, reason = "other systems have names that do")]
pub(crate) fn check_name(_: &Path) -> Result<(), Refusal> {
    Ok(())
}

fn has_another_user(file: &File) -> bool {
    let control = |command: libc::c_int, value: libc::c_int| {
        // SAFETY: the descriptor is open, and these commands take plain numbers.
        unsafe { libc::fcntl(file.as_raw_fd(), command, value) }
    };
    // If a program opens the file during the lease, the kernel sends a signal: one that does
    // nothing.
    control(F_SETSIG, libc::SIGURG);
    if control(libc::F_SETLEASE, libc::F_WRLCK) == 0 {
        control(libc::F_SETLEASE, libc::F_UNLCK);
        return false;
    }
    io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)
}

/// Whether a file is swapped to.
pub(crate) fn is_swap_file(path: &Path) -> bool {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    swap_paths(&swaps).any(|swap| swap == path)
}

/// What decides whether a device is in use, as text, so that it can be tested without one.
struct System {
    sys: PathBuf,
    mounts: String,
    swaps: String,
    /// Number of the device after a path.
    device_of: fn(&Path) -> Option<(u32, u32)>,
}

fn device_of(path: &Path) -> Option<(u32, u32)> {
    let metadata = fs::metadata(path).ok()?;
    let number = metadata.file_type().is_block_device().then(|| metadata.rdev())?;
    Some((rustix::fs::major(number), rustix::fs::minor(number)))
}

impl System {
    fn of_this_machine() -> Self {
        Self {
            sys: "/sys".into(),
            mounts: fs::read_to_string("/proc/self/mountinfo").unwrap_or_default(),
            swaps: fs::read_to_string("/proc/swaps").unwrap_or_default(),
            device_of,
        }
    }

    /// What uses the device, the disk it is a part of, or any of its partitions.
    fn usage(&self, major: u32, minor: u32) -> Option<String> {
        let directory = self.sys.join(format!("dev/block/{major}:{minor}"));
        let one = self.usage_of_one(&directory, major, minor);
        one.or_else(|| self.usage_of_disk(&directory)).or_else(|| self.usage_of_parts(&directory))
    }

    /// What uses the whole disk of a partition.
    fn usage_of_disk(&self, directory: &Path) -> Option<String> {
        let real = fs::canonicalize(directory).ok()?;
        let disk = real.parent().filter(|_| real.join("partition").exists())?;
        let (major, minor) = number_in(disk)?;
        let usage = self.usage_of_one(disk, major, minor)?;
        let name = disk.file_name()?.to_string_lossy().into_owned();
        Some(format!("{usage} (its disk {name})"))
    }

    /// What uses the partitions of a disk. A disk that has any is not overwritten as a whole: that
    /// is most often a slip.
    fn usage_of_parts(&self, directory: &Path) -> Option<String> {
        let entries = fs::read_dir(directory).ok()?.flatten();
        let parts: Vec<PathBuf> =
            entries.map(|e| e.path()).filter(|p| p.join("partition").exists()).collect();
        let name = |p: &PathBuf| p.file_name().map(|n| n.to_string_lossy().into_owned());
        let used = parts.iter().find_map(|part| {
            let (major, minor) = number_in(part)?;
            let usage = self.usage_of_one(part, major, minor)?;
            Some(format!("{usage} (its partition {})", name(part)?))
        });
        let mut names: Vec<String> = parts.iter().filter_map(name).collect();
        names.sort();
        let names = names.join(", ");
        let divided =
            format!("divided into partitions ({names}); name one, or remove them all first");
        used.or_else(|| (!parts.is_empty()).then_some(divided))
    }

    fn usage_of_one(&self, directory: &Path, major: u32, minor: u32) -> Option<String> {
        if let Some(at) = self.mounted_at(major, minor) {
            return Some(format!("mounted at {at}"));
        }
        let mut swaps = swap_paths(&self.swaps);
        if swaps.any(|path| (self.device_of)(&path) == Some((major, minor))) {
            return Some("in use as swap".to_owned());
        }
        let holders = fs::read_dir(directory.join("holders")).ok()?;
        let names: Vec<String> =
            holders.flatten().map(|h| h.file_name().to_string_lossy().into_owned()).collect();
        (!names.is_empty())
            .then(|| format!("part of {} (RAID, LVM, encryption or the like)", names.join(", ")))
    }

    fn mounted_at(&self, major: u32, minor: u32) -> Option<String> {
        let number = format!("{major}:{minor}");
        self.mounts.lines().find_map(|line| {
            let (before, after) = line.split_once(" - ")?;
            let fields: Vec<&str> = before.split(' ').collect();
            let (device, at) = (fields.get(2)?, fields.get(4)?);
            // btrfs and others mount under their own number; their source names the device.
            let source = after.split(' ').nth(1).unwrap_or_default();
            let by_source = || (self.device_of)(Path::new(source)) == Some((major, minor));
            (*device == number || by_source()).then(|| (*at).to_owned())
        })
    }
}

fn number_in(directory: &Path) -> Option<(u32, u32)> {
    let text = fs::read_to_string(directory.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The first column of /proc/swaps, without its heading. Blanks in names are written as `\040`.
fn swap_paths(swaps: &str) -> impl Iterator<Item = PathBuf> + '_ {
    let names = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    names.map(|name| PathBuf::from(name.replace("\\040", " ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn system(mounts: &str, swaps: &str, sys: &Path) -> System {
        let device_of = |path: &Path| match path.to_str() {
            Some("/dev/sdb1") => Some((8, 17)),
            Some("/dev/sdc") => Some((8, 32)),
            _ => None,
        };
        System { sys: sys.into(), mounts: mounts.into(), swaps: swaps.into(), device_of }
    }

    fn fixture() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for holder in ["8:0/sda1/holders", "8:16/sdb1/holders", "8:48/holders/md0"] {
            fs::create_dir_all(dir.path().join("dev/block").join(holder)).unwrap();
        }
        for (partition, number) in [("8:0/sda1", "8:1"), ("8:16/sdb1", "8:17")] {
            let path = dir.path().join("dev/block").join(partition);
            fs::write(path.join("partition"), "1\n").unwrap();
            fs::write(path.join("dev"), format!("{number}\n")).unwrap();
        }
        dir
    }

    #[test]
    fn a_mount_of_a_partition_protects_the_whole_disk() {
        let dir = fixture();
        let mounts = "36 35 8:1 / /data rw,noatime shared:1 - ext4 /dev/sda1 rw\n";
        let usage = system(mounts, "", dir.path()).usage(8, 0);
        assert_eq!(usage.as_deref(), Some("mounted at /data (its partition sda1)"));
    }

    #[test]
    fn btrfs_is_found_by_its_source() {
        let dir = fixture();
        let mounts = "36 35 0:45 / /pool rw shared:1 - btrfs /dev/sdc rw\n";
        let usage = system(mounts, "", dir.path()).usage(8, 32);
        assert_eq!(usage.as_deref(), Some("mounted at /pool"));
    }

    #[test]
    fn swap_and_raid_members_are_in_use() {
        let dir = fixture();
        let swaps = "Filename\tType\n/dev/sdb1 partition 8388604 0 -2\n";
        let usage = system("", swaps, dir.path()).usage(8, 16);
        assert_eq!(usage.as_deref(), Some("in use as swap (its partition sdb1)"));
        let usage = system("", "", dir.path()).usage(8, 48);
        assert_eq!(usage.as_deref(), Some("part of md0 (RAID, LVM, encryption or the like)"));
        assert_eq!(system("", "", dir.path()).usage(9, 0), None);
    }

    /// `--destroy /dev/sda` instead of `/dev/sda1` is one keystroke; a disk with partitions was
    /// taken without a word.
    #[test]
    fn a_disk_with_partitions_is_not_overwritten_as_a_whole() {
        let dir = fixture();
        let usage = system("", "", dir.path()).usage(8, 0).unwrap();
        assert!(usage.contains("partitions (sda1)"), "{usage}");
        assert_eq!(system("", "", dir.path()).usage(8, 1), None, "the partition itself may be");
    }

    /// A partition of a disk that is as a whole a member of something (multipath) looked free.
    #[test]
    fn a_partition_of_a_disk_in_use_is_in_use() {
        let dir = fixture();
        let disk = dir.path().join("dev/block/8:0");
        fs::create_dir_all(disk.join("holders/dm-0")).unwrap();
        fs::write(disk.join("dev"), "8:0\n").unwrap();
        std::os::unix::fs::symlink("8:0/sda1", dir.path().join("dev/block/8:1")).unwrap();
        let usage = system("", "", dir.path()).usage(8, 1).unwrap();
        assert!(usage.contains("part of dm-0") && usage.contains("its disk 8:0"), "{usage}");
    }

    /// A database or a virtual machine that runs on the file would not survive, and the file's name
    /// gives no hint of it.
    #[test]
    fn a_file_that_is_open_elsewhere_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        fs::write(&path, "x").unwrap();
        let file = File::open(&path).unwrap();
        assert!(!is_open_elsewhere(&file));
        let _other = File::open(&path).unwrap();
        assert!(is_open_elsewhere(&file));
    }

    proptest! {
        #[test]
        fn foreign_tables_never_panic(mounts in ".{0,200}", swaps in "(?s).{0,200}") {
            let _ = system(&mounts, &swaps, Path::new("/nowhere")).usage(8, 1);
        }
    }
}
