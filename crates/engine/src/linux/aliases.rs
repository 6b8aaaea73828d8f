//! Other ways to the same bytes: other mounts of a directory, layers of an overlay, the file under
//! a loop device, the disk of a partition.

use std::fs::{self, File, Metadata};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Devices below a device that are followed, one after the other.
const DEPTH_MAX: usize = 8;
/// Other paths of one file.
const PATHS_MAX: usize = 64;
/// The kind of file system of an overlay: `OVERLAYFS_SUPER_MAGIC` in linux/magic.h.
const OVERLAY: u64 = 0x794c_7630;

/// A line of mountinfo.
#[derive(Debug, PartialEq)]
struct Mount {
    /// Number of its file system.
    device: String,
    /// The directory, or file, of the file system that is mounted.
    root: PathBuf,
    /// Where that is.
    at: PathBuf,
    /// Directories whose content an overlay shows.
    layers: Vec<PathBuf>,
}

/// The mounts of a mountinfo, in their order.
fn mounts(text: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let fields: Vec<&str> = before.split(' ').collect();
        let mut rest = after.split(' ');
        let (kind, options) = (rest.next()?, rest.nth(1).unwrap_or_default());
        let layers = if kind == "overlay" { layers(options) } else { Vec::new() };
        let (device, root) = ((*fields.get(2)?).to_owned(), unescaped(fields.get(3)?));
        Some(Mount { device, root, at: unescaped(fields.get(4)?), layers })
    };
    text.lines().filter_map(mount).collect()
}

/// The layers of an overlay by its options.
fn layers(options: &str) -> Vec<PathBuf> {
    let of = |option: &str| {
        let (name, value) = option.split_once('=')?;
        ["upperdir", "lowerdir", "lowerdir+"].contains(&name).then(|| value.to_owned())
    };
    let values = options.split(',').filter_map(of);
    let directories = values.flat_map(|v| v.split(':').map(unescaped).collect::<Vec<_>>());
    directories.filter(|path| path.is_absolute()).collect()
}

/// A path as mountinfo writes it: blanks and the like are `\040`.
fn unescaped(text: &str) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let code = after.first_chunk::<3>().filter(|_| *first == b'\\');
        let code = code.and_then(|c| u8::from_str_radix(std::str::from_utf8(c).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    std::ffi::OsString::from_vec(bytes).into()
}

/// A path below another one; the same path if nothing follows.
fn below(directory: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { directory.to_owned() } else { directory.join(rest) }
}

/// Other paths of a file, by the mounts of this process: those of other mounts of its directories,
/// and those above or below an overlay.
pub(crate) fn other_paths(file: &File, real: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let Ok(metadata) = file.metadata() else { return Vec::new() };
    let is_it = |path: &Path| {
        fs::symlink_metadata(path)
            .is_ok_and(|m| m.dev() == metadata.dev() && m.ino() == metadata.ino())
    };
    candidates(&mounts(&text), real, is_it, &|path| fs::symlink_metadata(path).is_ok())
}

fn candidates(
    mounts: &[Mount],
    real: &Path,
    is_it: impl Fn(&Path) -> bool,
    exists: &dyn Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let mut found = vec![real.to_owned()];
    // Of two mounts at one place, the later is seen.
    let depth = |m: &&Mount| m.at.components().count();
    let own = mounts.iter().filter(|m| real.starts_with(&m.at)).max_by_key(depth);
    if let Some((own, rest)) = own.and_then(|own| Some((own, real.strip_prefix(&own.at).ok()?))) {
        let within = below(&own.root, rest);
        let same = mounts.iter().filter(|m| m.device == own.device);
        let other = same.filter_map(|m| Some(below(&m.at, within.strip_prefix(&m.root).ok()?)));
        found.extend(other.filter(|path| path != real && is_it(path)).take(PATHS_MAX));
        found.extend(own.layers.iter().map(|layer| below(layer, rest)).filter(|p| exists(p)));
    }
    let mut merged = Vec::new();
    for path in &found {
        for mount in mounts.iter().filter(|m| !m.layers.is_empty()) {
            let rest = mount.layers.iter().find_map(|layer| path.strip_prefix(layer).ok());
            merged.extend(rest.map(|rest| below(&mount.at, rest)).filter(|p| exists(p)));
        }
    }
    found.extend(merged);
    found.remove(0);
    found.truncate(PATHS_MAX);
    found
}

/// Who has a file open through another layer of an overlay. The kernel counts such a file as
/// another one; its number and its time of birth are those of the file
/// below.
pub(crate) fn opened_through_layer(file: &File) -> Option<String> {
    let own = file.metadata().ok()?;
    let on_overlay = rustix::fs::fstatfs(file).is_ok_and(|s| is_overlay(&s));
    let is_it = |path: &Path| {
        let same = fs::metadata(path).is_ok_and(|other| is_same_below(&own, &other));
        same && (on_overlay || rustix::fs::statfs(path).is_ok_and(|s| is_overlay(&s)))
    };
    if let Some((name, _)) = loops().into_iter().find(|(_, backing)| is_it(backing)) {
        return Some(format!("open elsewhere, as the file of {name}, through an overlay"));
    }
    let names = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = names.filter_map(|p| p.file_name().to_str()?.parse::<u32>().ok());
    for id in ids.filter(|id| *id != std::process::id()) {
        let all = ["fd", "map_files"].map(|part| fs::read_dir(format!("/proc/{id}/{part}")));
        let mut files = all.into_iter().flatten().flatten().flatten();
        if files.any(|f| is_it(&f.path())) {
            let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
            return Some(format!("open in process {id} ({}), through an overlay", name.trim()));
        }
    }
    None
}

#[expect(clippy::cast_sign_loss, reason = "the kernel's magic numbers have 32 bits")]
fn is_overlay(statfs: &rustix::fs::StatFs) -> bool {
    statfs.f_type as u64 & 0xffff_ffff == OVERLAY
}

/// Whether two files of different devices are one below. An overlay may use the upper bits of a
/// file's number.
fn is_same_below(one: &Metadata, other: &Metadata) -> bool {
    const NUMBER: u64 = 0xffff_ffff;
    // Size and time of a file that is written change between two looks at it.
    let is_twin = match (one.created(), other.created()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one.len() == other.len() && one.mtime() == other.mtime(),
    };
    let is_number = one.ino() & NUMBER == other.ino() & NUMBER;
    one.dev() != other.dev() && other.is_file() && is_number && is_twin
}

/// All loop devices in use, each with its file.
fn loops() -> Vec<(String, PathBuf)> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let backed = |d: fs::DirEntry| Some((d.file_name().into_string().ok()?, backing(&d.path())?));
    devices.filter_map(backed).collect()
}

/// The file of a loop device, by its directory in sysfs. The kernel adds a word to the name of a
/// file that was removed.
fn backing(directory: &Path) -> Option<PathBuf> {
    let bytes = fs::read(directory.join("loop/backing_file")).ok()?;
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
    (!bytes.is_empty()).then(|| std::ffi::OsString::from_vec(bytes.to_vec()).into())
}

fn directory_of(number: u64) -> PathBuf {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    PathBuf::from(format!("/sys/dev/block/{major}:{minor}"))
}

/// The files under a device: those of loop devices, also under partitions, device mapper, RAID and
/// other loop devices.
pub(crate) fn backing_files(number: u64) -> Vec<PathBuf> {
    below_device(number).into_iter().map(|(_, file)| file).collect()
}

/// The same, each with the name of its loop device.
fn below_device(number: u64) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    follow(&directory_of(number), 0, &mut found);
    found
}

fn follow(directory: &Path, depth: usize, found: &mut Vec<(String, PathBuf)>) {
    let Ok(real) = fs::canonicalize(directory) else { return };
    if depth > DEPTH_MAX || found.len() > PATHS_MAX {
        return;
    }
    if real.join("partition").exists()
        && let Some(disk) = real.parent()
    {
        return follow(disk, depth + 1, found);
    }
    if let Some(file) = backing(&real) {
        if let Some(below) = fs::metadata(&file).ok().filter(|m| m.file_type().is_block_device()) {
            follow(&directory_of(below.rdev()), depth + 1, found);
        }
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        found.push((name, file));
    }
    for slave in fs::read_dir(real.join("slaves")).into_iter().flatten().flatten() {
        follow(&slave.path(), depth + 1, found);
    }
}

/// Other loop devices over a file under this device, by their numbers.
pub(crate) fn twins(number: u64) -> Vec<(String, u64)> {
    let identity = |path: &Path| fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    let own = below_device(number);
    let files: Vec<_> = own.iter().filter_map(|(_, file)| identity(file)).collect();
    let is_other = |(name, file): &(String, PathBuf)| {
        let is_own = own.iter().any(|(own, _)| own == name);
        !is_own && identity(file).is_some_and(|i| files.contains(&i))
    };
    let numbered = |(name, _): (String, PathBuf)| {
        let metadata = fs::metadata(Path::new("/dev").join(&name)).ok()?;
        Some((name, metadata.rdev()))
    };
    loops().into_iter().filter(is_other).filter_map(numbered).collect()
}

/// A loop device over this very device.
pub(crate) fn loop_above(number: u64) -> Option<String> {
    let is_it = |file: &Path| {
        fs::metadata(file).is_ok_and(|m| m.file_type().is_block_device() && m.rdev() == number)
    };
    loops().into_iter().find(|(_, file)| is_it(file)).map(|(name, _)| name)
}

/// The whole disk of a partition: its node, if that is where it is expected.
pub(crate) fn disk_of(number: u64) -> Option<PathBuf> {
    let real = fs::canonicalize(directory_of(number)).ok()?;
    let disk = real.parent().filter(|_| real.join("partition").exists())?;
    let name = disk.file_name()?.to_str()?.replace('!', "/");
    let node = Path::new("/dev").join(name);
    let text = fs::read_to_string(disk.join("dev")).ok()?;
    let metadata = fs::metadata(&node).ok()?;
    let number = metadata.rdev();
    let is_it =
        text.trim() == format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number));
    (is_it && metadata.file_type().is_block_device()).then_some(node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MOUNTS: &str = "\
        1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
        2 1 8:1 /pg/global /mnt/b rw - ext4 /dev/sda1 rw\n\
        3 1 8:1 /pg/global/1262 /tmp/one\\040file rw - ext4 /dev/sda1 rw\n\
        4 1 0:40 / /merged rw - overlay overlay rw,lowerdir=/low:/low2,upperdir=/up,workdir=/w\n";

    fn others(real: &str) -> Vec<String> {
        let all = candidates(&mounts(MOUNTS), Path::new(real), |_| true, &|_| true);
        all.iter().map(|path| path.display().to_string()).collect()
    }

    /// A file of `global/` was overwritten through a bind mount of it, where no `PG_VERSION` is
    /// above it.
    #[test]
    fn a_bind_mount_leads_back_to_the_directory() {
        assert!(others("/mnt/b/1262").contains(&"/pg/global/1262".to_owned()));
        assert!(others("/tmp/one file").contains(&"/pg/global/1262".to_owned()));
        assert!(others("/pg/global/1262").contains(&"/tmp/one file".to_owned()));
    }

    #[test]
    fn layers_of_an_overlay_are_the_same_file() {
        assert_eq!(others("/up/base/1"), ["/merged/base/1"]);
        assert_eq!(others("/low2/base/1"), ["/merged/base/1"]);
        let below = others("/merged/base/1");
        assert!(below.contains(&"/up/base/1".to_owned()) && below.contains(&"/low2/base/1".into()));
    }

    proptest! {
        #[test]
        fn foreign_tables_never_panic(text in "(?s).{0,300}", path in ".{0,40}") {
            let _ = candidates(&mounts(&text), Path::new(&path), |_| true, &|_| true);
        }
    }
}
