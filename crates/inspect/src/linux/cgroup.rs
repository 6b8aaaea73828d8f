//! The limits of the control group that this process is in. A database that is started elsewhere
//! does not have them.

use std::path::{Path, PathBuf};

use super::device;
use super::mountinfo::Mount;
use super::tree::Tree;

/// A limit, and the file that it was read in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limit<T> {
    pub(crate) value: T,
    pub(crate) place: String,
    /// The text of the file, as far as it says this.
    pub(crate) text: String,
}

/// What a limit on a device is of: the file of version 1, the name in `io.max` of version 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Throttled {
    Reads,
    Writes,
    ReadBytes,
    WrittenBytes,
}

const THROTTLED: [(Throttled, &str, &str); 4] = [
    (Throttled::Reads, "blkio.throttle.read_iops_device", "riops"),
    (Throttled::Writes, "blkio.throttle.write_iops_device", "wiops"),
    (Throttled::ReadBytes, "blkio.throttle.read_bps_device", "rbps"),
    (Throttled::WrittenBytes, "blkio.throttle.write_bps_device", "wbps"),
];

/// The limits on one device.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeviceLimits {
    /// Its name, or its number if it has none here.
    pub(crate) device: String,
    /// Each kind once, a second's amount.
    pub(crate) limits: Vec<(Throttled, Limit<u64>)>,
}

/// The control groups of this process, as the files of a tree say.
pub(crate) struct Cgroups<'a> {
    tree: &'a Tree,
    mounts: &'a [Mount],
    /// Controllers with commas (none for version 2), and the path of the group.
    own: Vec<(String, PathBuf)>,
}

impl<'a> Cgroups<'a> {
    pub(crate) fn new(tree: &'a Tree, mounts: &'a [Mount]) -> Self {
        let text = tree.text("proc/self/cgroup").unwrap_or_default();
        let line = |line: &str| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            Some((controllers.to_owned(), PathBuf::from(path)))
        };
        Self { tree, mounts, own: text.lines().filter_map(line).collect() }
    }

    /// The directory of the own group that a controller limits, and those above it.
    fn directories(&self, controller: &str) -> Vec<PathBuf> {
        let has = |controllers: &str| controllers.split(',').any(|name| name == controller);
        let first = self.own.iter().find(|(controllers, _)| has(controllers));
        let is_second = |m: &&Mount| m.kind == "cgroup2";
        let is_first = |m: &&Mount| m.kind == "cgroup" && m.options.iter().any(|o| o == controller);
        let (group, mount) = if first.is_some() {
            (first, self.mounts.iter().find(is_first))
        } else {
            let group = self.own.iter().find(|(controllers, _)| controllers.is_empty());
            (group, self.mounts.iter().find(is_second))
        };
        let (Some((_, path)), Some(mount)) = (group, mount) else { return Vec::new() };
        // Where groups are not told apart by a namespace, a container's mount begins further down.
        let path = path.strip_prefix(&mount.root).unwrap_or(Path::new(""));
        path.ancestors().map(|path| mount.directory.join(path)).collect()
    }

    fn limit<T>(&self, place: &Path, of: impl Fn(&str) -> Option<T>) -> Option<Limit<T>> {
        let text = self.tree.text(place)?;
        Some(Limit { value: of(&text)?, place: place.to_string_lossy().into_owned(), text })
    }

    /// The most memory that the group may have, its part of the page cache included.
    pub(crate) fn memory_bytes(&self) -> Option<Limit<u64>> {
        const FILES: [&str; 3] = ["memory.max", "memory.high", "memory.limit_in_bytes"];
        let directories = self.directories("memory");
        let places = directories.iter().flat_map(|d| FILES.iter().map(|file| d.join(file)));
        let limits = places.filter_map(|place| self.limit(&place, |text| text.parse().ok()));
        limits.min_by_key(|limit| limit.value)
    }

    /// The processors whose time the group may use, as a number that need not be whole.
    pub(crate) fn processors(&self) -> Option<Limit<f64>> {
        let share = |quota: Option<&str>, period: Option<&str>| {
            let (quota, period) = (quota?.parse::<f64>().ok()?, period?.parse::<f64>().ok()?);
            (quota > 0.0 && period > 0.0).then(|| quota / period)
        };
        let mut found = Vec::new();
        for directory in self.directories("cpu") {
            found.extend(self.limit(&directory.join("cpu.max"), |text| {
                let mut words = text.split_whitespace();
                share(words.next(), words.next())
            }));
            let period = self.tree.text(directory.join("cpu.cfs_period_us"));
            let quota = directory.join("cpu.cfs_quota_us");
            found.extend(self.limit(&quota, |text| share(Some(text), period.as_deref())));
        }
        // This list is already that of the group with those above it.
        let files = ["cpuset.cpus.effective", "cpuset.effective_cpus"];
        for place in
            self.directories("cpuset").first().iter().flat_map(|d| files.map(|f| d.join(f)))
        {
            let count = |text: &str| Some(super::processors::numbers(text).len() as f64);
            found.extend(self.limit(&place, count).filter(|limit| limit.value > 0.0));
        }
        found.into_iter().min_by(|a, b| a.value.total_cmp(&b.value))
    }

    /// The limits on devices, the lowest of each kind.
    pub(crate) fn io(&self) -> Vec<DeviceLimits> {
        let mut found: Vec<DeviceLimits> = Vec::new();
        let mut add = |number: &str, of: Throttled, limit: Limit<u64>| {
            let directory = self.tree.canonical(Path::new("sys/dev/block").join(number));
            let device = directory.map_or_else(|| number.to_owned(), |dir| device::name(&dir));
            let place = found.iter().position(|known| known.device == device);
            let place = place.unwrap_or_else(|| {
                found.push(DeviceLimits { device, limits: Vec::new() });
                found.len() - 1
            });
            let Some(DeviceLimits { limits, .. }) = found.get_mut(place) else { return };
            match limits.iter_mut().find(|(known, _)| *known == of) {
                Some((_, known)) if known.value <= limit.value => {}
                Some((_, known)) => *known = limit,
                None => limits.push((of, limit)),
            }
        };
        for directory in self.directories("io") {
            let place = directory.join("io.max");
            let text = self.tree.text(&place).unwrap_or_default();
            for (line, number, words) in numbered(&text) {
                for (of, _, name) in THROTTLED {
                    let word = words.iter().find_map(|word| word.strip_prefix(name));
                    let value = word.and_then(|word| word.strip_prefix('=')?.parse().ok());
                    let place = place.to_string_lossy().into_owned();
                    let limit = |value| Limit { value, place, text: line.to_owned() };
                    if let Some(limit) = value.map(limit) {
                        add(number, of, limit);
                    }
                }
            }
        }
        // With version 1, a group is not limited by those above it.
        let own = self.directories("blkio").into_iter().next();
        for (of, file, _) in own.iter().flat_map(|_| THROTTLED) {
            let place = own.clone().unwrap_or_default().join(file);
            let text = self.tree.text(&place).unwrap_or_default();
            for (line, number, words) in numbered(&text) {
                let value = words.first().and_then(|word| word.parse().ok());
                let place = place.to_string_lossy().into_owned();
                if let Some(value) = value {
                    add(number, of, Limit { value, place, text: line.to_owned() });
                }
            }
        }
        found
    }
}

/// Lines that begin with the number of a device: the whole line, the number, the other words.
fn numbered(text: &str) -> impl Iterator<Item = (&str, &str, Vec<&str>)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((line, words.next()?, words.collect()))
    })
}
