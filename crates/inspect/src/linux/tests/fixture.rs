//! Makes trees that look like a system's /proc and /sys.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::IFlags;
use tempfile::TempDir;

use super::super::inspection::Target;
use super::super::storage::{Located, Space, storage_at};
use super::super::tree::Tree;
use crate::{Inspected, PlannedLoad, Storage, TargetKind};

pub(super) struct Fixture {
    root: TempDir,
    mountinfo: Vec<u8>,
    /// The attributes of all targets.
    pub(super) attributes: IFlags,
}

impl Fixture {
    pub(super) fn new() -> Self {
        Self {
            root: tempfile::tempdir().expect("temporary directories can be made"),
            mountinfo: Vec::new(),
            attributes: IFlags::empty(),
        }
    }

    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(super) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("directories can be made");
        }
        fs::write(path, content).expect("files can be written");
    }

    /// A link at `path` to `to`, both relative to the root.
    pub(super) fn link(&self, path: &str, to: &str) {
        let path = self.root().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("directories can be made");
        }
        symlink(self.root().join(to), path).expect("links can be made");
    }

    /// A block device: `dir` is below sys/devices, `attributes` are files in it.
    pub(super) fn block(&self, dir: &str, number: &str, attributes: &[(&str, &str)]) {
        let dir = format!("sys/devices/{dir}");
        let name = dir.rsplit('/').next().unwrap_or_default();
        self.write(&format!("{dir}/dev"), format!("{number}\n"));
        for (path, content) in attributes {
            self.write(&format!("{dir}/{path}"), format!("{content}\n"));
        }
        self.link(&format!("sys/dev/block/{number}"), &dir);
        self.link(&format!("sys/class/block/{name}"), &dir);
    }

    /// `upper` is on `lower`; both are directories below sys/devices.
    pub(super) fn slave(&self, upper: &str, lower: &str) {
        let name = lower.rsplit('/').next().unwrap_or_default();
        self.link(&format!("sys/devices/{upper}/slaves/{name}"), &format!("sys/devices/{lower}"));
    }

    /// A line of the mount table, without the first two numbers.
    pub(super) fn mount(&mut self, line: &str) {
        self.mountinfo.extend(format!("9 1 {line}\n").into_bytes());
    }

    pub(super) fn mountinfo(&mut self, text: &[u8]) {
        self.mountinfo = text.to_vec();
    }

    /// The storage of `path` as if the system had said it is of this kind on this device.
    pub(super) fn storage(&self, path: &str, kind: TargetKind, device: (u32, u32)) -> Storage {
        let is_device = matches!(kind, TargetKind::BlockDevice | TargetKind::CharDevice);
        let space = Space {
            block_bytes: 4096,
            blocks: 1000,
            free_blocks: 600,
            available_blocks: 400,
            ..Space::default()
        };
        self.storage_with(path, kind, device, (!is_device).then_some(space))
    }

    pub(super) fn storage_with(
        &self,
        path: &str,
        kind: TargetKind,
        device: (u32, u32),
        space: Option<Space>,
    ) -> Storage {
        let located = Located {
            target: PathBuf::from(path),
            path: PathBuf::from(path),
            kind,
            device,
            mount_id: None,
            space,
            attributes: self.attributes,
        };
        storage_at(&Tree::new(self.root()), &self.mountinfo, located)
    }

    /// What an inspection finds out about a directory on the device with this number.
    pub(super) fn inspected(&self, device: (u32, u32), asked: &PlannedLoad) -> Inspected {
        let tree = Tree::new(self.root());
        let target = Target { tree: &tree, mountinfo: &self.mountinfo, asked };
        let space = Some(Space { block_bytes: 4096, ..Space::default() });
        target.inspect(Located {
            target: PathBuf::from("/x/dir"),
            path: PathBuf::from("/x/dir"),
            kind: TargetKind::Directory,
            device,
            mount_id: None,
            space,
            attributes: self.attributes,
        })
    }
}

/// The codes of a storage's findings.
pub(super) fn codes(storage: &Storage) -> Vec<&str> {
    storage.findings.iter().map(|f| f.code.as_str()).collect()
}

/// The names of a storage's devices.
pub(super) fn names(storage: &Storage) -> Vec<&str> {
    storage.devices.iter().map(|d| d.name.as_str()).collect()
}
