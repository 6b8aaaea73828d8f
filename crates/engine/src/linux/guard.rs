//! Whose data it is: what must never be written to, whatever the user says.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Extensions of files that belong to a database.
const DATABASE_EXTENSIONS: [&str; 28] = [
    "mdf",
    "ndf",
    "ldf",
    "bak",
    "trn",
    "ibd",
    "ibdata",
    "frm",
    "myd",
    "myi",
    "dbf",
    "ctl",
    "ora",
    "db",
    "db3",
    "sqlite",
    "sqlite3",
    "db-wal",
    "sqlite-wal",
    "wal",
    "sst",
    "wt",
    "ddl",
    "fdb",
    "gdb",
    "mdb",
    "accdb",
    "edb",
];
/// Names of files that belong to a database and have no extension of their own.
const DATABASE_NAMES: [&str; 6] =
    ["ibdata1", "ib_logfile0", "ib_logfile1", "undo_001", "undo_002", "pg_control"];

/// The extension (or name) by which a file is a database's, if it is.
pub(super) fn database_extension(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    if DATABASE_NAMES.contains(&name.as_str()) {
        return Some(name);
    }
    let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
    DATABASE_EXTENSIONS.contains(&extension.as_str()).then_some(extension)
}

/// Who uses a block device, if anybody: a mount, swap, or a device built on it.
pub(super) fn device_usage(device: &Path) -> Option<String> {
    let number = fs::metadata(device).ok()?.rdev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let system = System::of_this_machine();
    system.usage(major, minor)
}

/// Whether a file is swapped to.
pub(super) fn is_swap_file(path: &Path) -> bool {
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    swap_paths(&swaps).any(|swap| swap == path)
}

/// What decides whether a device is in use, as text, so that it can be tested without one.
struct System {
    sys: PathBuf,
    mounts: String,
    swaps: String,
    /// Number of the device behind a path.
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

    /// Who uses the device or any of its partitions.
    fn usage(&self, major: u32, minor: u32) -> Option<String> {
        let directory = self.sys.join(format!("dev/block/{major}:{minor}"));
        let whole = self.usage_of_one(&directory, major, minor);
        whole.or_else(|| {
            let partitions = fs::read_dir(&directory).ok()?.flatten();
            let mut partitions = partitions.filter(|e| e.path().join("partition").exists());
            partitions.find_map(|entry| {
                let (major, minor) = number_in(&entry.path())?;
                let usage = self.usage_of_one(&entry.path(), major, minor)?;
                Some(format!("{usage} (its partition {})", entry.file_name().to_string_lossy()))
            })
        })
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
            // btrfs and others mount under a number of their own; their source names the device.
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
        assert_eq!(system("", "", dir.path()).usage(8, 0), None);
    }

    #[test]
    fn database_files_are_known_by_their_names() {
        for name in ["a.MDF", "t.ibd", "x.ldf", "ibdata1", "app.sqlite"] {
            assert!(database_extension(Path::new(name)).is_some(), "{name}");
        }
        assert_eq!(database_extension(Path::new("testfile.dat")), None);
    }

    proptest! {
        #[test]
        fn foreign_tables_never_panic(mounts in ".{0,200}", swaps in "(?s).{0,200}") {
            let _ = system(&mounts, &swaps, Path::new("/nowhere")).usage(8, 1);
        }
    }
}
