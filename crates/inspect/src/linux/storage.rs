//! A target: what the system calls say about it, and what /proc and /sys say about that.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, IFlags, Mode, OFlags, StatVfsMountFlags, StatxFlags, ioctl_getflags, major,
    minor, statvfs, statx,
};

use super::cgroup::Cgroups;
use super::mountinfo::{self, Mount};
use super::tree::Tree;
use super::{chain, device, findings};
use crate::{FileSystem, InspectError, Storage, TargetAttribute, TargetKind};

/// What the system calls say about a target.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) target: PathBuf,
    pub(crate) path: PathBuf,
    pub(crate) kind: TargetKind,
    /// Major and minor number: of the device if it is one, else of the device it is on.
    pub(crate) device: (u32, u32),
    /// The kernel's number of the mount, from Linux 5.8 on.
    pub(crate) mount_id: Option<u64>,
    /// Space of the file system; `None` for devices.
    pub(crate) space: Option<Space>,
    /// The attributes of the file or directory, as `lsattr` shows them; empty if not known.
    pub(crate) attributes: IFlags,
}

/// A file system's room, in blocks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Space {
    pub(crate) block_bytes: u64,
    pub(crate) blocks: u64,
    pub(crate) free_blocks: u64,
    /// Free to this user; some are often reserved for the administrator.
    pub(crate) available_blocks: u64,
    pub(crate) read_only: bool,
    /// Files that it can hold, and those that this user may still make; 0 where there is no limit.
    pub(crate) inodes: u64,
    pub(crate) available_inodes: u64,
}

pub(crate) fn storage(root: &Path, target: &Path) -> Result<Storage, InspectError> {
    let located = locate(target)?;
    let tree = Tree::new(root);
    let mountinfo = tree.bytes("proc/self/mountinfo").unwrap_or_default();
    Ok(storage_at(&tree, &mountinfo, located))
}

pub(super) fn locate(target: &Path) -> Result<Located, InspectError> {
    let unreadable = |source| InspectError::Unreadable { path: target.to_owned(), source };
    match fs::metadata(target) {
        Ok(metadata) => {
            let kind = target_kind(&metadata)
                .ok_or_else(|| InspectError::NotStorage { path: target.to_owned() })?;
            let path = fs::canonicalize(target).map_err(unreadable)?;
            examine(target, path.clone(), &path, kind, &metadata).map_err(unreadable)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => locate_missing(target),
        Err(error) => Err(unreadable(error)),
    }
}

/// A file that is yet to be made.
fn locate_missing(target: &Path) -> Result<Located, InspectError> {
    let missing = || InspectError::Missing { path: target.to_owned() };
    let name = target.file_name().ok_or_else(missing)?;
    let parent = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let directory = fs::canonicalize(parent).map_err(|_| missing())?;
    let unreadable = |source| InspectError::Unreadable { path: directory.clone(), source };
    let metadata = fs::metadata(&directory).map_err(unreadable)?;
    if !metadata.is_dir() {
        return Err(missing());
    }
    let path = directory.join(name);
    examine(target, path, &directory, TargetKind::Missing, &metadata).map_err(unreadable)
}

fn target_kind(metadata: &Metadata) -> Option<TargetKind> {
    let kind = metadata.file_type();
    [
        (kind.is_dir(), TargetKind::Directory),
        (kind.is_file(), TargetKind::File),
        (kind.is_block_device(), TargetKind::BlockDevice),
        (kind.is_char_device(), TargetKind::CharDevice),
    ]
    .into_iter()
    .find_map(|(is, kind)| is.then_some(kind))
}

/// Asks for the rest about `existing`, which is the target or its directory.
fn examine(
    target: &Path,
    path: PathBuf,
    existing: &Path,
    kind: TargetKind,
    metadata: &Metadata,
) -> io::Result<Located> {
    let is_device = matches!(kind, TargetKind::BlockDevice | TargetKind::CharDevice);
    let number = if is_device { metadata.rdev() } else { metadata.dev() };
    Ok(Located {
        target: target.to_owned(),
        path,
        kind,
        device: (major(number), minor(number)),
        mount_id: mount_id(existing),
        space: if is_device { None } else { Some(space(existing)?) },
        attributes: if is_device { IFlags::empty() } else { attributes(existing) },
    })
}

/// None where they may not be asked for, or the file system has none.
fn attributes(path: &Path) -> IFlags {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok();
    file.and_then(|file| ioctl_getflags(file).ok()).unwrap_or(IFlags::empty())
}

fn mount_id(path: &Path) -> Option<u64> {
    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    let told = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    told.then_some(found.stx_mnt_id)
}

fn space(path: &Path) -> io::Result<Space> {
    let found = statvfs(path)?;
    Ok(Space {
        block_bytes: found.f_frsize,
        blocks: found.f_blocks,
        free_blocks: found.f_bfree,
        available_blocks: found.f_bavail,
        read_only: found.f_flag.contains(StatVfsMountFlags::RDONLY),
        inodes: found.f_files,
        available_inodes: found.f_favail,
    })
}

/// The storage of a target, without asking the running system for more than the files of `tree`.
pub(crate) fn storage_at(tree: &Tree, mountinfo: &[u8], located: Located) -> Storage {
    let mounts = mountinfo::parse(mountinfo);
    let (major, minor) = located.device;
    let mount = located.space.and_then(|space| {
        let mount =
            mountinfo::find(&mounts, &located.path, located.mount_id, Some(located.device))?;
        Some((mount, space))
    });
    let own_device = match located.kind {
        TargetKind::CharDevice => None,
        _ => chain::block_device(tree, major, minor),
    };
    let volumes = match (own_device, mount) {
        (Some(dir), _) => vec![dir],
        (None, Some((mount, _))) => {
            chain::volumes(tree, chain::upper(tree, &mounts, mount).unwrap_or(mount))
        }
        (None, None) => Vec::new(),
    };
    let chain = chain::follow(tree, &mounts, &volumes);
    let partition = match chain.partitions.as_slice() {
        [only] => Some(only.partition.clone()),
        _ => None,
    };
    let mut storage = Storage {
        target: located.target,
        path: located.path,
        kind: located.kind,
        file_system: mount.map(|(mount, space)| FileSystem {
            attributes: names_of(located.attributes),
            ..file_system(tree, mount, space, &volumes)
        }),
        partition,
        layers: chain.layers,
        devices: chain.disks.iter().map(|dir| device::device(tree, dir)).collect(),
        counted_device: chain::counted_device(tree, &volumes),
        findings: Vec::new(),
        chain: chain.details,
    };
    storage.findings =
        findings::of_storage(&storage, &chain.partitions, &Cgroups::new(tree, &mounts));
    storage
}

fn file_system(tree: &Tree, mount: &Mount, space: Space, volumes: &[PathBuf]) -> FileSystem {
    let of_ext4 = |file: &str| {
        let volume = volumes.first().filter(|_| mount.kind.starts_with("ext"))?;
        tree.text(format!("sys/fs/ext4/{}/{file}", device::name(volume)))
    };
    let bytes = |blocks: u64| blocks.saturating_mul(space.block_bytes);
    let used = space.blocks.saturating_sub(space.free_blocks);
    let usable = used.saturating_add(space.available_blocks);
    FileSystem {
        kind: mount.kind.clone(),
        mount_point: mount.directory.clone(),
        source: mount.source.to_string_lossy().into_owned(),
        options: mount.options.clone(),
        block_bytes: space.block_bytes,
        total_bytes: bytes(space.blocks),
        available_bytes: bytes(space.available_blocks),
        used_percent: if usable == 0 { 0.0 } else { 100.0 * used as f64 / usable as f64 },
        read_only: space.read_only || mount.options.iter().any(|option| option == "ro"),
        journal: journal(mount, of_ext4("journal_task").as_deref()),
        compression: compression(mount),
        reserved_bytes: Some(bytes(space.free_blocks.saturating_sub(space.available_blocks)))
            .filter(|bytes| *bytes > 0),
        errors: of_ext4("errors_count").and_then(|text| text.parse().ok()),
        inodes: Some(space.inodes).filter(|inodes| *inodes > 0),
        available_inodes: (space.inodes > 0).then_some(space.available_inodes),
        attributes: Vec::new(),
    }
}

/// The attributes that matter here.
fn names_of(attributes: IFlags) -> Vec<TargetAttribute> {
    const ENCRYPTED: IFlags = IFlags::from_bits_retain(0x800);
    let all = [
        (IFlags::NOCOW, TargetAttribute::NoCopyOnWrite),
        (IFlags::COMPRESSED, TargetAttribute::Compressed),
        (ENCRYPTED, TargetAttribute::Encrypted),
        (IFlags::SYNC, TargetAttribute::Synchronous),
        (IFlags::DIRSYNC, TargetAttribute::SynchronousDirectory),
        (IFlags::JOURNALING, TargetAttribute::DataJournal),
    ];
    let has = |flag: IFlags| attributes.contains(flag);
    all.into_iter().filter(|(flag, _)| has(*flag)).map(|(_, attribute)| attribute).collect()
}

/// What the journal holds, by the mount options; the kernel leaves out defaults.
fn journal(mount: &Mount, task: Option<&str>) -> Option<String> {
    let asked = mount.options.iter().find_map(|option| option.strip_prefix("data="));
    let mode = match mount.kind.as_str() {
        _ if task == Some("<none>") => "none",
        "ext3" | "ext4" => asked.unwrap_or("ordered"),
        "xfs" | "jfs" | "reiserfs" => asked.unwrap_or("metadata"),
        "ext2" | "vfat" | "exfat" => "none",
        _ => return None,
    };
    Some(mode.to_owned())
}

/// How files are compressed: the mount's option, or that the pool's properties decide.
fn compression(mount: &Mount) -> Option<String> {
    if mount.kind == "zfs" {
        return Some("by property".to_owned());
    }
    mount.options.iter().find_map(|option| {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let named = ["compress", "compress-force", "compress_algorithm", "compression"];
        let used = named.contains(&name) && value != "no" && value != "none";
        used.then(|| if value.is_empty() { "default".to_owned() } else { value.to_owned() })
    })
}
