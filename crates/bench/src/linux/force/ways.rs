//! The attacks: what has the name that a command writes to.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use truth::LoopDevice;

use super::commands::Writes;
use crate::linux::{Error, tools};

/// What has the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Plain,
    Empty,
    AnotherUsers,
    Edited,
    Link,
    LinkToNothing,
    HardLink,
    EmptyHardLink,
    BindMount,
    Fifo,
    Device,
    MemberDevice,
    MemberFile,
    FileSystem,
    Mounted,
    Content,
    Location,
    Open,
    SwappedLink,
    SwappedFile,
    SwappedDirectory,
    Appears,
    SwappedPermitted,
}

use Writes::{Log, Output, Removes, Target};

const ALL: &[Writes] = &[Target, Output, Log, Removes];
const NAMED: &[Writes] = &[Target, Output];
const MADE: &[Writes] = &[Target, Output, Log];

/// A way, its name, and what it is tried on: without a permit, and with one.
pub(super) const WAYS: &[(Way, &str, &[Writes], &[Writes])] = &[
    (Way::Plain, "a foreign file", ALL, &[]),
    (Way::Empty, "an empty foreign file", ALL, &[]),
    (
        Way::AnotherUsers,
        "a file of another user; for targets with the mark of a test file",
        ALL,
        &[],
    ),
    (Way::Edited, "a report or other output that its user edited", &[Output], &[]),
    (Way::Link, "a symbolic link to a foreign file", ALL, &[Output]),
    (Way::LinkToNothing, "a symbolic link to a name that is free", MADE, NAMED),
    (Way::HardLink, "a hard link of a foreign file", ALL, NAMED),
    (Way::EmptyHardLink, "a hard link of an empty foreign file", ALL, NAMED),
    (Way::BindMount, "a bind mount of a foreign file", ALL, &[Output]),
    (Way::Fifo, "a FIFO", ALL, NAMED),
    (Way::Device, "a block device", ALL, &[Output]),
    (Way::MemberDevice, "a block device with the signature of a member", &[], NAMED),
    (Way::MemberFile, "a disk image with the signature of a member", &[], &[Target]),
    (Way::FileSystem, "a block device with a file system, without its word", &[], NAMED),
    (Way::Mounted, "a block device that is mounted, with the word", &[], NAMED),
    (Way::Content, "a database by its content, under a harmless name", ALL, NAMED),
    (Way::Location, "a file in a directory of a database", ALL, NAMED),
    (Way::Open, "a foreign file that another process has open", &[], &[Target]),
    (Way::SwappedLink, "our earlier file, swapped with a link during the run", ALL, &[]),
    (Way::SwappedFile, "our earlier file, swapped with a foreign one during the run", ALL, &[]),
    (Way::SwappedDirectory, "its directory, swapped with a link during the run", ALL, &[]),
    (Way::Appears, "nothing, until a foreign file is renamed to it during the run", MADE, &[]),
    (
        Way::SwappedPermitted,
        "a permitted file, swapped with one that no flag permits during the run",
        &[],
        NAMED,
    ),
];

const MIB: usize = 1 << 20;
/// Offset and bytes of signatures of members; a negative offset is from the end.
const MEMBERS: &[&[(i64, &[u8])]] = &[
    &[(512, b"LABELONE"), (536, b"LVM2 001")],
    &[(4096, &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0])],
    &[(-8192, &[0xfc, 0x4e, 0x2b, 0xa9, 1, 0, 0, 0])],
    &[(0, b"LUKS\xba\xbe\0\x01")],
    &[(0, b"LUKS\xba\xbe\0\x02")],
    &[(1024, &[1, 0, 0, 0]), (4086, b"SWAPSPACE2")],
    &[(128 << 10, &0x00ba_b10c_u64.to_le_bytes())],
    &[(4120, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81")],
];
/// The same of databases: SQLite, Aria, a binary log, RocksDB, DuckDB, Redis, LMDB, Berkeley DB,
/// WiredTiger, Oracle, a PostgreSQL dump, a SQL Server backup.
const DATABASES: &[&[(i64, &[u8])]] = &[
    &[(0, b"SQLite format 3\0")],
    &[(0, &[0xfe, 0xfe, 0x0c, 1])],
    &[(0, b"\xfebin")],
    &[(-8, &[0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88])],
    &[(8, b"DUCK")],
    &[(0, b"REDIS0011")],
    &[(16, &[0xde, 0xc0, 0xef, 0xbe, 1, 0, 0, 0])],
    &[(12, &[0x62, 0x31, 0x05, 0])],
    &[(0, &[0x41, 0xd8, 1, 0, 1, 0, 0, 0])],
    &[(28, &[0x7d, 0x7c, 0x7b, 0x7a])],
    &[(0, b"PGDMP\x01\x0e")],
    &[(0, b"TAPE\0\0\x03\0")],
];
/// Files by which a directory is a database's: PostgreSQL, InnoDB, RocksDB, WiredTiger.
const LOCATIONS: &[&[(&str, &[u8])]] = &[
    &[("PG_VERSION", b"16\n"), ("postmaster.opts", b"postgres\n")],
    &[("ibdata1", b"pages\n"), ("ib_buffer_pool", b"1,2\n")],
    &[("CURRENT", b"MANIFEST-000004\n"), ("MANIFEST-000004", b"edits\n")],
    &[("WiredTiger", b"WiredTiger\n"), ("WiredTiger.wt", b"pages\n")],
];

/// The directory of one attempt.
pub(super) struct Scene {
    pub root: PathBuf,
    /// What the command is told to write.
    pub path: PathBuf,
    /// Files that are not foreign.
    pub ours: Vec<PathBuf>,
    /// Names whose files another program swaps, or the first of which gets the second's name once.
    pub swapped: Option<[PathBuf; 2]>,
    /// The word that the permit for a target ends with.
    pub word: &'static str,
    held: Vec<Held>,
}

/// What has an end.
enum Held {
    Open(#[expect(dead_code, reason = "it is open")] File),
    Loop(#[expect(dead_code, reason = "it is attached")] LoopDevice),
    Mount(PathBuf),
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Self::Mount(path) = self {
            let _ = tool("umount", &[&*path]);
        }
    }
}

/// Bytes of somebody else, with these in them.
fn bytes(parts: &[(i64, &[u8])]) -> Vec<u8> {
    let mut bytes = b"other people's data ".repeat(MIB / 20 + 1);
    bytes.truncate(MIB);
    for (at, part) in parts {
        let from = if *at < 0 { at + (1 << 20) } else { *at };
        let from = usize::try_from(from).unwrap_or(0);
        bytes[from..from + part.len()].copy_from_slice(part);
    }
    bytes
}

fn tool(program: &str, arguments: &[&Path]) -> Result<(), Error> {
    let output = Command::new(program).args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program}: {}", tools::complaint(&output)).into())
}

impl Scene {
    /// Directories, and the name; `ours` is a file that iosonde wrote for this command.
    pub(super) fn new(root: &Path, file: &str) -> io::Result<Self> {
        let path = root.join("here").join(file);
        fs::create_dir_all(root.join("here"))?;
        fs::create_dir_all(root.join("theirs"))?;
        let (ours, held) = (Vec::new(), Vec::new());
        Ok(Self { root: root.to_owned(), path, ours, swapped: None, word: "", held })
    }

    /// A foreign file.
    fn theirs(&self, content: &[u8]) -> io::Result<PathBuf> {
        let path = self.root.join("theirs").join("precious");
        fs::write(&path, content)?;
        Ok(path)
    }

    /// Makes a copy of a file of ours.
    fn copy(&mut self, of: &Path) -> io::Result<()> {
        fs::copy(of, &self.path)?;
        self.ours.push(self.path.clone());
        Ok(())
    }

    /// Puts a node of a loop device in the place.
    fn device(&mut self, content: &[u8]) -> Result<(), Error> {
        let image = self.theirs(content)?;
        let device = LoopDevice::attach(&image).map_err(|error| error.to_string())?;
        let number = fs::metadata(device.path())?.rdev();
        let (major, minor) = (libc::major(number).to_string(), libc::minor(number).to_string());
        tool("mknod", &[&self.path, Path::new("b"), Path::new(&major), Path::new(&minor)])?;
        self.held.push(Held::Loop(device));
        Ok(())
    }

    /// Makes the attack. `own` is what iosonde wrote for this command, `choice` decides between
    /// variants.
    pub(super) fn set(
        &mut self,
        way: Way,
        writes: Writes,
        own: Option<&Path>,
        choice: usize,
    ) -> Result<(), Error> {
        let pick = |from: &[&'static [(i64, &'static [u8])]]| from[choice % from.len()];
        let theirs = self.root.join("theirs");
        match way {
            Way::Plain => fs::write(&self.path, bytes(&[]))?,
            Way::Empty => fs::write(&self.path, b"")?,
            Way::AnotherUsers => {
                match own.filter(|_| matches!(writes, Target | Removes)) {
                    Some(own) => drop(fs::copy(own, &self.path)?),
                    None => fs::write(&self.path, bytes(&[]))?,
                }
                chown(&self.path, Some(65_534), Some(65_534))?;
            }
            Way::Edited => {
                let mut content = fs::read(own.ok_or("nothing to edit")?)?;
                let at = content.len() / 2;
                content[at] ^= 1;
                fs::write(&self.path, content)?;
            }
            Way::Link => symlink(self.theirs(&bytes(&[]))?, &self.path)?,
            Way::LinkToNothing => symlink(theirs.join("free"), &self.path)?,
            Way::HardLink => fs::hard_link(self.theirs(&bytes(&[]))?, &self.path)?,
            Way::EmptyHardLink => fs::hard_link(self.theirs(b"")?, &self.path)?,
            Way::BindMount => {
                let content = if choice.is_multiple_of(2) { bytes(&[]) } else { Vec::new() };
                let from = self.theirs(&content)?;
                fs::write(&self.path, b"")?;
                tool("mount", &[Path::new("--bind"), &from, &self.path])?;
                self.held.push(Held::Mount(self.path.clone()));
            }
            Way::Fifo => tool("mkfifo", &[&self.path])?,
            Way::Device => self.device(&bytes(&[]))?,
            Way::MemberDevice => self.device(&bytes(pick(MEMBERS)))?,
            Way::MemberFile => fs::write(&self.path, bytes(pick(MEMBERS)))?,
            Way::FileSystem | Way::Mounted => self.file_system(way == Way::Mounted)?,
            Way::Content if choice.is_multiple_of(4) => {
                symlink(self.theirs(&bytes(pick(DATABASES)))?, &self.path)?;
            }
            Way::Content => fs::write(&self.path, bytes(pick(DATABASES)))?,
            Way::Location => {
                for (name, content) in LOCATIONS[choice % LOCATIONS.len()] {
                    fs::write(self.path.with_file_name(name), content)?;
                }
                fs::write(&self.path, bytes(&[]))?;
            }
            Way::Open => {
                fs::write(&self.path, bytes(&[]))?;
                self.held.push(Held::Open(File::options().write(true).open(&self.path)?));
            }
            _ => self.set_swap(way, own, choice)?,
        }
        Ok(())
    }

    fn file_system(&mut self, mounted: bool) -> Result<(), Error> {
        let image = self.root.join("image");
        File::create(&image)?.set_len(4 * MIB as u64)?;
        tool("mkfs.ext4", &[Path::new("-qF"), &image])?;
        self.device(&fs::read(&image)?)?;
        fs::remove_file(image)?;
        if mounted {
            self.word = "=ext4";
            let at = self.root.join("mounted");
            fs::create_dir(&at)?;
            tool("mount", &[Path::new("-oro"), &self.path, &at])?;
            self.held.push(Held::Mount(at));
        }
        Ok(())
    }

    /// Attacks by another program during the run.
    fn set_swap(&mut self, way: Way, own: Option<&Path>, choice: usize) -> Result<(), Error> {
        let pick = DATABASES[choice % DATABASES.len()];
        let other = self.root.join("here").join("other");
        let foreign = bytes(&[]);
        match way {
            Way::SwappedLink => {
                self.copy(own.ok_or("nothing to swap")?)?;
                symlink(self.theirs(&foreign)?, &other)?;
            }
            Way::SwappedFile => {
                self.copy(own.ok_or("nothing to swap")?)?;
                match choice % 3 {
                    0 => fs::write(&other, foreign)?,
                    1 => fs::hard_link(self.theirs(&foreign)?, &other)?,
                    _ => fs::write(&other, b"")?,
                }
            }
            Way::SwappedDirectory => {
                let (here, link) = (self.root.join("here"), self.root.join("link"));
                symlink("theirs", &link)?;
                let name = self.path.file_name().unwrap_or_default();
                fs::write(self.root.join("theirs").join(name), foreign)?;
                self.swapped = Some([here, link]);
                return Ok(());
            }
            Way::SwappedPermitted => {
                fs::write(&self.path, foreign)?;
                self.ours.push(self.path.clone());
                match choice % 5 {
                    0 => fs::hard_link(self.theirs(&bytes(&[]))?, &other)?,
                    1 => symlink(self.theirs(&bytes(pick))?, &other)?,
                    _ => fs::write(&other, bytes(pick))?,
                }
            }
            _ => fs::write(&other, foreign)?,
        }
        self.swapped = Some([self.path.clone(), other]);
        Ok(())
    }

    /// Ends what has an end, and removes everything.
    pub(super) fn clear(mut self) -> io::Result<()> {
        while self.held.pop().is_some() {}
        fs::remove_dir_all(&self.root)
    }
}
