//! A block device that is a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::guard::Guard;
use super::unavailable::Unavailable;

/// A loop device over a file, with direct I/O to it. Detached when dropped.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    _guard: Guard,
}

impl LoopDevice {
    /// Makes a block device from a file, which may be on a [`Truth`](super::Truth).
    pub fn attach(file: &Path) -> Result<Self, Unavailable> {
        let what = "a loop device";
        let output = Command::new("losetup")
            .args(["--find", "--show", "--direct-io=on"])
            .arg(file)
            .output()
            .map_err(Unavailable::because("losetup"))?;
        if !output.status.success() {
            return Err(Unavailable::new(what, String::from_utf8_lossy(&output.stderr).trim()));
        }
        let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        let arguments: [&OsStr; 1] = [path.as_os_str()];
        let guard = Guard::new(r#"losetup --detach "$1""#, &arguments);
        let guard = guard.map_err(Unavailable::because("a process that detaches (bash)"))?;
        Ok(Self { path, _guard: guard })
    }

    /// The path of the block device.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}
