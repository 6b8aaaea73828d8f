//! The kernel's own limit of a block device: exact capacity, let through in slices of 100 ms.
//!
//! Good for what a device can do, not for its latencies. In control groups of version 1 a group
//! holds threads and does not limit the groups below it; in version 2 it holds whole processes.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::guard::Guard;
use super::unavailable::Unavailable;

const WHAT: &str = "a control group that limits I/O";
/// A process may still be leaving the group.
const REMOVE: &str = r#"for _ in 1 2 3 4 5 6 7 8 9 10; do rmdir "$1" && break; sleep 0.1; done"#;

/// The limits of a device; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most reads per second.
    pub read_iops: Option<u64>,
    /// The most writes per second.
    pub write_iops: Option<u64>,
    /// The most bytes read per second.
    pub read_bytes_per_s: Option<u64>,
    /// The most bytes written per second.
    pub write_bytes_per_s: Option<u64>,
}

/// A control group whose members are limited on one block device. Removed when dropped.
#[derive(Debug)]
pub struct Throttle {
    system: System,
    group: PathBuf,
    _guard: Guard,
}

/// Where the control groups of this machine are.
#[derive(Debug, Clone, PartialEq, Eq)]
struct System {
    root: PathBuf,
    /// The group that this process is in.
    home: PathBuf,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Throttle {
    /// Limits what members of a new group do on a block device.
    pub fn new(device: &Path, limits: &Limits) -> Result<Self, Unavailable> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let metadata = fs::metadata(device).map_err(Unavailable::because("the device"))?;
        if !metadata.file_type().is_block_device() {
            return Err(Unavailable::new(WHAT, "only block devices can be limited"));
        }
        let number = metadata.rdev();
        let number = format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
        let system = System::find()?;
        let made = MADE.fetch_add(1, Ordering::Relaxed);
        let group = system.root.join(format!("iosonde-truth-{}-{made}", std::process::id()));
        fs::create_dir(&group).map_err(Unavailable::because(WHAT))?;
        let guard = Guard::new(REMOVE, &[group.as_os_str()]);
        let guard = guard.map_err(|error| {
            let _ = fs::remove_dir(&group);
            Unavailable::new("a process that removes the group (bash)", error)
        })?;
        let throttle = Self { system, group, _guard: guard };
        for (file, line) in throttle.system.version.lines(&number, limits) {
            fs::write(throttle.group.join(file), line).map_err(Unavailable::because(WHAT))?;
        }
        Ok(throttle)
    }

    /// Does something within the limits: what this thread does, and the threads that it starts
    /// meanwhile (in version 2 of the control groups, the whole process).
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> Result<T, Unavailable> {
        let members = self.system.version.members();
        let enter = |group: &Path| fs::write(group.join(members), "0");
        enter(&self.group).map_err(Unavailable::because(WHAT))?;
        let done = work();
        enter(&self.system.home).map_err(Unavailable::because("the way out of the group"))?;
        Ok(done)
    }
}

impl System {
    fn find() -> Result<Self, Unavailable> {
        let read = |path: &str| fs::read_to_string(path).map_err(Unavailable::because(path));
        let (mounts, groups) = (read("/proc/self/mountinfo")?, read("/proc/self/cgroup")?);
        if let Some(one) = Self::one(&mounts, &groups) {
            return Ok(one);
        }
        let lacking = || Unavailable::new(WHAT, "no such controller is mounted");
        let two = Self::two(&mounts, &groups).ok_or_else(lacking)?;
        let has = |file: &str| {
            let listed = fs::read_to_string(two.root.join(file)).unwrap_or_default();
            listed.split_whitespace().any(|c| c == "io")
        };
        if !has("cgroup.controllers") {
            return Err(lacking());
        }
        if !has("cgroup.subtree_control") {
            let file = two.root.join("cgroup.subtree_control");
            fs::write(file, "+io").map_err(Unavailable::because(WHAT))?;
        }
        Ok(two)
    }

    /// The mount of version 1's controller, from `/proc/self/mountinfo` and `/proc/self/cgroup`.
    fn one(mounts: &str, groups: &str) -> Option<Self> {
        let root = mount_point(mounts, "cgroup", "blkio")?;
        let group = groups.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            controllers.split(',').any(|c| c == "blkio").then_some(path)
        })?;
        let home = root.join(group.trim_start_matches('/'));
        Some(Self { root, home, version: Version::One })
    }

    /// The cgroup mount of version 2.
    fn two(mounts: &str, groups: &str) -> Option<Self> {
        let root = mount_point(mounts, "cgroup2", "rw")?;
        let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
        let home = root.join(group.trim_start_matches('/'));
        Some(Self { root, home, version: Version::Two })
    }
}

/// Where a file system of this kind with this option is mounted.
fn mount_point(mounts: &str, kind: &str, option: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (place, system) = line.split_once(" - ")?;
        let mut system = system.split(' ');
        let (found, options) = (system.next()?, system.nth(1)?);
        let fits = found == kind && options.split(',').any(|o| o == option);
        fits.then(|| place.split(' ').nth(4).map(PathBuf::from))?
    })
}

impl Version {
    /// The file that a thread or process enters a group by.
    fn members(self) -> &'static str {
        match self {
            Self::One => "tasks",
            Self::Two => "cgroup.procs",
        }
    }

    /// The text for each file of a group.
    fn lines(self, device: &str, limits: &Limits) -> Vec<(String, String)> {
        let limits = [
            ("read_iops_device", "riops", limits.read_iops),
            ("write_iops_device", "wiops", limits.write_iops),
            ("read_bps_device", "rbps", limits.read_bytes_per_s),
            ("write_bps_device", "wbps", limits.write_bytes_per_s),
        ];
        let given = limits.into_iter().filter_map(|(one, two, limit)| Some((one, two, limit?)));
        given
            .map(|(one, two, limit)| match self {
                Self::One => (format!("blkio.throttle.{one}"), format!("{device} {limit}")),
                Self::Two => ("io.max".to_owned(), format!("{device} {two}={limit}")),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
25 30 0:22 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate
26 30 0:23 / /sys/fs/cgroup/blkio rw,nosuid shared:9 - cgroup cgroup rw,blkio
27 30 0:24 / /sys/fs/cgroup/memory rw,nosuid shared:10 - cgroup cgroup rw,memory
";

    #[test]
    fn the_controller_and_the_own_group_are_found() {
        let one = System::one(MOUNTS, "9:pids:/\n7:net,blkio:/a/b\n0::/c\n").unwrap();
        assert_eq!(one.root, Path::new("/sys/fs/cgroup/blkio"));
        assert_eq!(one.home, Path::new("/sys/fs/cgroup/blkio/a/b"));
        let two = System::two(MOUNTS, "7:blkio:/a/b\n0::/c\n").unwrap();
        assert_eq!(two.home, Path::new("/sys/fs/cgroup/unified/c"));
        assert_eq!(System::one("", "7:blkio:/"), None);
        assert_eq!(System::two(MOUNTS, "7:blkio:/"), None);
    }

    #[test]
    fn limits_are_written_as_the_kernel_reads_them() {
        let limits =
            Limits { read_iops: Some(500), write_bytes_per_s: Some(1 << 20), ..Limits::default() };
        let line = |file: &str, line: &str| (file.to_owned(), line.to_owned());
        assert_eq!(
            Version::One.lines("7:3", &limits),
            [
                line("blkio.throttle.read_iops_device", "7:3 500"),
                line("blkio.throttle.write_bps_device", "7:3 1048576")
            ]
        );
        assert_eq!(
            Version::Two.lines("7:3", &limits),
            [line("io.max", "7:3 riops=500"), line("io.max", "7:3 wbps=1048576")]
        );
    }
}
