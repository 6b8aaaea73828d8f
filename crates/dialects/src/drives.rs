//! Windows' names for places, as places of this system: `E:\test.dat` where `E` is `/mnt/e`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The directory or device for each drive letter, physical disk or path prefix. On Windows, drives
/// that are not in the table keep their meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drives {
    lines: Vec<Drive>,
    on_windows: bool,
    hosts: Vec<ManagerHost>,
}

/// The host of an IOMeter manager: `DYNAMO1=db1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ManagerHost {
    /// The name of the manager in the configuration.
    pub manager: String,
    /// The host whose agent does its work.
    pub host: String,
}

impl FromStr for ManagerHost {
    type Err = DriveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = || DriveError::Manager(text.to_owned());
        let (manager, host) = text.rsplit_once('=').ok_or_else(form)?;
        let (manager, host) = (manager.trim(), host.trim());
        if manager.is_empty() || host.is_empty() {
            return Err(form());
        }
        Ok(Self { manager: manager.to_owned(), host: host.to_owned() })
    }
}

impl TryFrom<String> for ManagerHost {
    type Error = DriveError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ManagerHost> for String {
    fn from(of: ManagerHost) -> Self {
        format!("{}={}", of.manager, of.host)
    }
}

impl Default for Drives {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

/// One line of the table: `E=/mnt/e`, `3=/dev/sdb`, `\\server\share=/mnt/share`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Drive {
    name: String,
    place: PathBuf,
}

/// Why a mapping cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DriveError {
    /// The text is not a mapping.
    #[error("`{0}` is not a mapping; write NAME=PLACE, for example `E=/mnt/e`, `3=/dev/sdb`")]
    Form(String),
    /// The text does not name the host of a manager.
    #[error("`{0}` is not a manager with its host; write NAME=HOST, for example `DYNAMO1=db1`")]
    Manager(String),
    /// A path begins with a drive that is not mapped.
    #[error(
        "`{path}` is on `{drive}`, which does not exist here; say what stands for it: `--drive \
         {drive}=/a/directory`"
    )]
    Unknown {
        /// The path as it was written.
        path: String,
        /// The drive letter, disk number or share.
        drive: String,
    },
}

impl FromStr for Drive {
    type Err = DriveError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, place) =
            text.split_once('=').ok_or_else(|| DriveError::Form(text.to_owned()))?;
        let name = name.trim().trim_end_matches(':').trim_start_matches('#');
        if name.is_empty() || place.trim().is_empty() {
            return Err(DriveError::Form(text.to_owned()));
        }
        Ok(Self { name: name.to_owned(), place: PathBuf::from(place.trim()) })
    }
}

impl TryFrom<String> for Drive {
    type Error = DriveError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Drive> for String {
    fn from(drive: Drive) -> Self {
        format!("{}={}", drive.name, drive.place.display())
    }
}

impl Drives {
    /// A table; of two lines for one name, the later counts.
    #[must_use]
    pub fn new(drives: Vec<Drive>) -> Self {
        Self { lines: drives, on_windows: cfg!(windows), hosts: Vec::new() }
    }

    /// The same table, with managers whose places are on other hosts.
    #[must_use]
    pub fn with_hosts(self, hosts: Vec<ManagerHost>) -> Self {
        Self { hosts, ..self }
    }

    /// The host of a manager; `None` if that is this host.
    #[must_use]
    pub fn host_of(&self, manager: &str) -> Option<&str> {
        let found = self.hosts.iter().find(|of| of.manager.eq_ignore_ascii_case(manager));
        found.map(|of| of.host.as_str())
    }

    /// A place of a manager: on another host it is `host:/path`.
    pub(crate) fn on_host(&self, manager: &str, path: PathBuf) -> PathBuf {
        match self.host_of(manager) {
            Some(host) => format!("{host}:{}", path.display()).into(),
            None => path,
        }
    }

    /// The same table on Windows, or elsewhere.
    #[cfg(test)]
    pub(crate) fn on_windows(self, on_windows: bool) -> Self {
        Self { on_windows, ..self }
    }

    /// Whether drives and disks that are not in the table keep their meaning.
    pub(crate) fn are_windows(&self) -> bool {
        self.on_windows
    }

    /// The place of a drive letter, disk number or share; `None` if the table has none.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<&Path> {
        let found = self.lines.iter().rev().find(|d| d.name.eq_ignore_ascii_case(name));
        found.map(|d| d.place.as_path())
    }

    /// The same, and on Windows the disk of a number or the root of a drive.
    pub(crate) fn standing_for(&self, name: &str) -> Option<PathBuf> {
        let own = || match name {
            _ if !self.on_windows || name.is_empty() => None,
            disk if disk.bytes().all(|b| b.is_ascii_digit()) => Some(physical_drive(disk)),
            drive if drive.len() == 1 => Some(PathBuf::from(format!("{drive}:\\"))),
            _ => None,
        };
        self.place(name).map(Path::to_owned).or_else(own)
    }

    /// Where a path of Windows is on this system. A path without a drive, a disk or a share stays
    /// what it is, so that paths of this system go through unchanged.
    pub fn path(&self, written: &str) -> Result<PathBuf, DriveError> {
        let unknown =
            |drive: &str| DriveError::Unknown { path: written.to_owned(), drive: drive.to_owned() };
        if let Some(disk) = written.strip_prefix('#')
            && !disk.is_empty()
            && disk.bytes().all(|b| b.is_ascii_digit())
        {
            return self.standing_for(disk).ok_or_else(|| unknown(disk));
        }
        if let Some(share) = written.strip_prefix(r"\\") {
            let share = share.split('\\').take(2).collect::<Vec<_>>().join("\\");
            let name = format!(r"\\{share}");
            let Some(place) = self.place(&name) else {
                let own = self.on_windows.then(|| PathBuf::from(written));
                return own.ok_or_else(|| unknown(&name));
            };
            return Ok(below(place, written.get(name.len()..).unwrap_or_default()));
        }
        let (drive, rest) = match written.split_once(':') {
            Some((drive, rest))
                if drive.len() == 1 && drive.bytes().all(|b| b.is_ascii_alphanumeric()) =>
            {
                (drive, rest)
            }
            _ if self.on_windows => return Ok(PathBuf::from(written)),
            // A path of Windows without a drive: the current directory.
            _ if written.contains('\\') && !written.contains('/') => {
                return Ok(below(Path::new(""), written));
            }
            _ => return Ok(PathBuf::from(written)),
        };
        match self.place(drive) {
            Some(place) => Ok(below(place, rest)),
            None if !self.on_windows => Err(unknown(drive)),
            None if drive.bytes().all(|b| b.is_ascii_digit()) => Ok(physical_drive(drive)),
            // The bare drive is the volume itself, as for DiskSpd.
            None if rest.is_empty() => Ok(PathBuf::from(format!(r"\\.\{drive}:"))),
            None => Ok(PathBuf::from(written)),
        }
    }
}

/// The path of a whole disk on Windows.
fn physical_drive(number: &str) -> PathBuf {
    PathBuf::from(format!(r"\\.\PhysicalDrive{number}"))
}

/// A place and the rest of a path with backslashes.
fn below(place: &Path, rest: &str) -> PathBuf {
    let mut path = place.to_owned();
    path.extend(rest.split(['\\', '/']).filter(|part| !part.is_empty() && *part != "."));
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn drives(lines: &[&str]) -> Drives {
        let lines = lines.iter().map(|line| line.parse().unwrap()).collect();
        Drives::new(lines).on_windows(false)
    }

    /// On Windows, `E:\x` and `#1` "did not exist here" unless `--drive` said what they were.
    #[test]
    fn on_windows_drives_stand_for_themselves_unless_the_table_has_them() {
        let drives = drives(&["F=/mnt/f"]).on_windows(true);
        let path = |text: &str| drives.path(text).unwrap();
        for own in
            [r"E:\dir\x.dat", r"E:x.dat", r"\\nas\sql\x.dat", r"dir\x.dat", "x.dat", r"\\.\E:"]
        {
            assert_eq!(path(own), Path::new(own));
        }
        assert_eq!(path("#1"), Path::new(r"\\.\PhysicalDrive1"));
        assert_eq!(path("3:"), Path::new(r"\\.\PhysicalDrive3"));
        assert_eq!(path("E:"), Path::new(r"\\.\E:"));
        assert_eq!(path(r"f:\a"), Path::new("/mnt/f").join("a"));
        assert_eq!(drives.standing_for("E").as_deref(), Some(Path::new(r"E:\")));
        assert_eq!(drives.standing_for("1").as_deref(), Some(Path::new(r"\\.\PhysicalDrive1")));
        assert_eq!(drives.standing_for("TEST"), None);
        assert_eq!(drives.clone().on_windows(false).standing_for("E"), None);
    }

    #[test]
    fn windows_paths_find_their_places() {
        let drives = drives(&["E=/mnt/e", "3=/dev/sdb", r"\\nas\sql=/srv/sql", "F:=/dev/sdc"]);
        let path = |text: &str| drives.path(text).unwrap();
        assert_eq!(path(r"E:\TestFile.dat"), Path::new("/mnt/e/TestFile.dat"));
        assert_eq!(path(r"e:\a\b.dat"), Path::new("/mnt/e/a/b.dat"));
        assert_eq!(path("#3"), Path::new("/dev/sdb"));
        assert_eq!(path("3:"), Path::new("/dev/sdb"));
        assert_eq!(path("F:"), Path::new("/dev/sdc"));
        assert_eq!(path(r"\\nas\sql\x.dat"), Path::new("/srv/sql/x.dat"));
        assert_eq!(path("/tmp/x"), Path::new("/tmp/x"));
        assert_eq!(path("testfile.dat"), Path::new("testfile.dat"));
        assert_eq!(path(r"dir\testfile.dat"), Path::new("dir/testfile.dat"));
    }

    #[test]
    fn an_unknown_drive_is_an_error_that_says_how_to_name_it() {
        let error = drives(&[]).path(r"G:\x.dat").unwrap_err();
        assert!(error.to_string().contains("`--drive G=/a/directory`"), "{error}");
        assert!("G".parse::<Drive>().is_err());
        assert!("=x".parse::<Drive>().is_err());
        assert!("G=".parse::<Drive>().is_err());
    }

    proptest! {
        #[test]
        fn no_path_panics(text in ".*") {
            let _ = drives(&["E=/mnt/e"]).path(&text);
            let _ = text.parse::<Drive>();
        }
    }
}
