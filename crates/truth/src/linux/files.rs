//! The file system around the device: one directory, whose files are on the device's targets.
//!
//! Content is kept in memory, sparsely. Names, sizes and attributes cost no time; only reads,
//! writes and flushes go to the device.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use device::{Op, Outcome, Request as Io};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request,
    WriteFlags,
};
use rustix::fs::MemfdFlags;

use super::cache::{Crashed, Flush, Lost, Volatile, spans};
use super::faults::{DrawnFault, Faults, PendingIo, Place};
use super::server::Server;

/// Nobody else changes names or attributes, so the kernel need not ask again.
const TTL: Duration = Duration::from_secs(3600);
/// The largest piece that the kernel hands over.
const PIECE_BYTES: u32 = 1 << 20;
/// What the file system says that it has room for: whatever a test needs.
const ROOM_BYTES: u64 = 1 << 40;
const PAGE_BYTES: u32 = 4096;

/// The files by their inode numbers.
pub(super) struct Files {
    server: Arc<Server>,
    faults: Arc<Faults>,
    cache: Arc<Volatile>,
    targets: usize,
    by_number: Arc<Named>,
}

/// The files, which the device's owner looks at, too.
pub(super) type Named = RwLock<BTreeMap<u64, FileEntry>>;

/// A file, with its content and its place.
pub(super) struct FileEntry {
    /// None when it has been removed and is still open somewhere.
    name: Option<OsString>,
    /// Which of the device's targets it is on.
    target: usize,
    /// Made by a user of the file system, and not there from the beginning.
    made: bool,
    permissions: u16,
    content: Arc<File>,
}

impl FileEntry {
    fn new(name: &OsStr, target: usize, made: bool, permissions: u16) -> io::Result<Self> {
        let content = rustix::fs::memfd_create("truth", MemfdFlags::CLOEXEC)?;
        let content = Arc::new(File::from(content));
        Ok(Self { name: Some(name.to_owned()), target, made, permissions, content })
    }

    fn attributes(&self, number: u64) -> io::Result<FileAttr> {
        let metadata = self.content.metadata()?;
        let (size, blocks) = (metadata.len(), metadata.blocks());
        let kind = FileType::RegularFile;
        Ok(FileAttr {
            size,
            blocks,
            kind,
            perm: self.permissions,
            ..plain(number, metadata.modified()?)
        })
    }
}

fn plain(number: u64, time: SystemTime) -> FileAttr {
    FileAttr {
        ino: INodeNo(number),
        size: 0,
        blocks: 0,
        atime: time,
        mtime: time,
        ctime: time,
        crtime: time,
        kind: FileType::Directory,
        perm: 0o700,
        nlink: 1,
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        rdev: 0,
        blksize: PAGE_BYTES,
        flags: 0,
    }
}

/// Name of the file that is on a target from the beginning.
pub(super) fn name_of(target: usize) -> String {
    format!("target-{target}.data")
}

fn errno(error: &io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::EIO, Errno::from_i32)
}

impl Files {
    /// A file on each target, of these sizes.
    pub(super) fn new(
        server: Arc<Server>,
        faults: Arc<Faults>,
        cache: Arc<Volatile>,
        sizes: &[u64],
    ) -> io::Result<Self> {
        let mut by_number = BTreeMap::new();
        for ((target, size), number) in sizes.iter().enumerate().zip(INodeNo::ROOT.0 + 1..) {
            let kept = FileEntry::new(OsStr::new(&name_of(target)), target, false, 0o600)?;
            kept.content.set_len(*size)?;
            by_number.insert(number, kept);
        }
        let by_number = Arc::new(RwLock::new(by_number));
        Ok(Self { server, faults, cache, targets: sizes.len(), by_number })
    }

    /// The files, for the owner of the device.
    pub(super) fn named_files(&self) -> Arc<Named> {
        Arc::clone(&self.by_number)
    }

    fn files(&self) -> RwLockReadGuard<'_, BTreeMap<u64, FileEntry>> {
        self.by_number.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn files_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<u64, FileEntry>> {
        self.by_number.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn attributes(&self, number: INodeNo) -> Result<FileAttr, Errno> {
        if number == INodeNo::ROOT {
            return Ok(plain(number.0, UNIX_EPOCH));
        }
        let files = self.files();
        let kept = files.get(&number.0).ok_or(Errno::ENOENT)?;
        kept.attributes(number.0).map_err(|e| errno(&e))
    }

    fn named(&self, name: &OsStr) -> Option<u64> {
        let files = self.files();
        files.iter().find(|(_, k)| k.name.as_deref() == Some(name)).map(|(number, _)| *number)
    }

    fn resize(&self, number: INodeNo, size: u64) -> io::Result<()> {
        let content = self.files().get(&number.0).map(|k| Arc::clone(&k.content));
        self.faults.cut(number.0, size);
        self.cache.cut(number.0, size);
        content.map_or(Ok(()), |content| content.set_len(size))
    }

    /// What a request is about, and what goes wrong with it.
    fn asked(&self, number: INodeNo, op: Op, part: (u64, usize), durable: bool) -> Option<About> {
        let (offset, bytes) = (part.0, part.1 as u64);
        let files = self.files();
        let kept = files.get(&number.0)?;
        let name = kept.name.as_deref().unwrap_or_default();
        let asked = PendingIo { name, content: &kept.content, op, offset, bytes, durable };
        let drawn = self.faults.draw(&asked, self.server.now_ns());
        let content = Arc::clone(&kept.content);
        Some(About { target: kept.target, file: number.0, content, drawn })
    }

    /// A new file is on the first target that no other new file is on.
    fn make(&self, name: &OsStr, mode: u32) -> Result<FileAttr, Errno> {
        if self.named(name).is_some() {
            return Err(Errno::EEXIST);
        }
        let mut files = self.files_mut();
        let taken =
            |t: &usize| files.values().any(|k| k.made && k.name.is_some() && k.target == *t);
        let target = (0..self.targets).find(|t| !taken(t)).ok_or(Errno::ENOSPC)?;
        let number = files.keys().next_back().map_or(INodeNo::ROOT.0, |last| *last) + 1;
        let permissions = u16::try_from(mode & 0o777).unwrap_or(0o600);
        let new = || {
            let kept = FileEntry::new(name, target, true, permissions)?;
            Ok((kept.attributes(number)?, kept))
        };
        let (attributes, kept) = new().map_err(|e: io::Error| errno(&e))?;
        files.insert(number, kept);
        Ok(attributes)
    }
}

/// The power fails: returns what is lost, and which of it had been acknowledged as stable.
pub(super) fn crash(named: &Named, cache: &Volatile) -> io::Result<(Vec<Lost>, Crashed)> {
    let files = named.read().unwrap_or_else(PoisonError::into_inner);
    let content = |number: u64| files.get(&number).map(|k| Arc::clone(&k.content));
    let crashed = cache.crash(content)?;
    let name = |number: u64| {
        let name = files.get(&number).and_then(|k| k.name.as_deref());
        name.unwrap_or_default().to_string_lossy().into_owned()
    };
    Ok((spans(&crashed.lost, name), crashed))
}

/// The file and range of a request.
struct About {
    target: usize,
    file: u64,
    content: Arc<File>,
    drawn: Option<DrawnFault>,
}

impl About {
    fn at(&self, offset: u64, at_ns: u64) -> Place<'_> {
        Place { content: &self.content, file: self.file, offset, at_ns }
    }

    /// By how much later than the device's model has it the answer comes, and what it is if it is
    /// an error.
    fn trouble(&self) -> (u64, Option<Errno>) {
        let drawn = self.drawn.as_ref();
        let errno = drawn.and_then(DrawnFault::errno).map(Errno::from_i32);
        (drawn.map_or(0, DrawnFault::stall_ns), errno)
    }
}

/// Reads into a buffer of the thread, and hands it on.
fn with_content<T>(
    bytes: u32,
    read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    give: impl FnOnce(io::Result<&[u8]>) -> T,
) -> T {
    thread_local!(static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) });
    BUFFER.with_borrow_mut(|buffer| {
        let bytes = bytes as usize;
        if buffer.len() < bytes {
            buffer.resize(bytes, 0);
        }
        let read = read(&mut buffer[..bytes]);
        give(read.map(|read| &buffer[..read]))
    })
}

impl Filesystem for Files {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let unsupported = |what: &str| io::Error::other(format!("the kernel's FUSE has no {what}"));
        let needed = InitFlags::FUSE_ASYNC_DIO | InitFlags::FUSE_PARALLEL_DIROPS;
        config.add_capabilities(needed).map_err(|lacks| unsupported(&format!("{lacks:?}")))?;
        config.set_max_write(PIECE_BYTES).map_err(|_| unsupported("pieces of 1 MiB"))?;
        config.set_max_background(u16::MAX).map_err(|_| unsupported("deep queue"))?;
        config.set_congestion_threshold(u16::MAX).map_err(|_| unsupported("deep queue"))?;
        Ok(())
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.named(name).ok_or(Errno::ENOENT);
        match found.and_then(|number| self.attributes(INodeNo(number))) {
            Ok(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    /// The kernel has no use for this number any more: a file without a name is gone.
    fn forget(&self, _: &Request, number: INodeNo, _: u64) {
        let mut files = self.files_mut();
        if files.get(&number.0).is_some_and(|k| k.name.is_none()) {
            files.remove(&number.0);
            self.faults.cut(number.0, 0);
            self.cache.cut(number.0, 0);
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(number) {
            Ok(attributes) => reply.attr(&TTL, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<fuser::TimeOrNow>,
        _mtime: Option<fuser::TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let resized = size.map_or(Ok(()), |size| self.resize(number, size));
        match resized.map_err(|e| errno(&e)).and_then(|()| self.attributes(number)) {
            Ok(attributes) => reply.attr(&TTL, &attributes),
            Err(error) => reply.error(error),
        }
    }

    fn create(
        &self,
        _: &Request,
        _parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        match self.make(name, mode) {
            Ok(attributes) => {
                reply.created(&TTL, &attributes, Generation(0), FileHandle(0), open_flags());
            }
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let Some(number) = self.named(name) else { return reply.error(Errno::ENOENT) };
        if let Some(kept) = self.files_mut().get_mut(&number) {
            kept.name = None;
        }
        reply.ok();
    }

    /// Names in the one directory. Files never change names with each other.
    fn rename(
        &self,
        _: &Request,
        _parent: INodeNo,
        name: &OsStr,
        _newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let earlier = self.named(newname);
        if !RenameFlags::RENAME_NOREPLACE.contains(flags) {
            return reply.error(Errno::EINVAL);
        }
        if earlier.is_some() && !flags.is_empty() {
            return reply.error(Errno::EEXIST);
        }
        let Some(number) = self.named(name) else { return reply.error(Errno::ENOENT) };
        let mut files = self.files_mut();
        if let Some(kept) = earlier.and_then(|earlier| files.get_mut(&earlier)) {
            kept.name = None;
        }
        if let Some(kept) = files.get_mut(&number) {
            kept.name = Some(newname.to_owned());
        }
        drop(files);
        reply.ok();
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), open_flags());
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _fh: FileHandle,
        offset: u64,
        bytes: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(mut about) = self.asked(number, Op::Read, (offset, bytes as usize), false) else {
            return reply.error(Errno::ENOENT);
        };
        let io = Io { target: about.target, op: Op::Read, offset, bytes, durable: false };
        let (later_ns, fails) = about.trouble();
        let (faults, server) = (Arc::clone(&self.faults), Arc::clone(&self.server));
        let answer = move |outcome| match (outcome, fails) {
            (Outcome::Done { bytes }, None) => {
                let drawn = about.drawn.take();
                let place = about.at(offset, server.now_ns());
                let read = |out: &mut [u8]| faults.read(place, out, drawn);
                with_content(bytes, read, |read| match read {
                    Ok(data) => reply.data(data),
                    Err(error) => reply.error(errno(&error)),
                });
            }
            (_, fails) => reply.error(fails.unwrap_or(Errno::EIO)),
        };
        self.server.accept(io, later_ns, Box::new(answer));
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let durable = flags.0 & libc::O_DSYNC != 0;
        let Some(mut about) = self.asked(number, Op::Write, (offset, data.len()), durable) else {
            return reply.error(Errno::ENOENT);
        };
        let (later_ns, fails) = about.trouble();
        let mut bytes = u32::try_from(data.len()).unwrap_or(PIECE_BYTES);
        if fails.is_none() {
            let drawn = about.drawn.take();
            let flush = drawn.as_ref().map_or(Flush::Whole, DrawnFault::flush);
            let place = about.at(offset, self.server.now_ns());
            let write = || self.faults.write(place, data, drawn);
            let flush = durable.then_some(flush);
            let file = (about.file, &*about.content);
            match self.cache.write(file, offset, data.len(), flush, write) {
                Ok(written) => bytes = u32::try_from(written).unwrap_or(PIECE_BYTES),
                Err(error) => return reply.error(errno(&error)),
            }
        }
        let io = Io { target: about.target, op: Op::Write, offset, bytes, durable };
        let answer = move |outcome| match (outcome, fails) {
            (Outcome::Done { bytes }, None) => reply.written(bytes),
            (_, fails) => reply.error(fails.unwrap_or(Errno::EIO)),
        };
        self.server.accept(io, later_ns, Box::new(answer));
    }

    fn fsync(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let Some(about) = self.asked(number, Op::Sync, (0, 0), false) else {
            return reply.error(Errno::ENOENT);
        };
        let io = Io { target: about.target, op: Op::Sync, offset: 0, bytes: 0, durable: false };
        let (later_ns, fails) = about.trouble();
        if fails.is_none() {
            let flush = about.drawn.as_ref().map_or(Flush::Whole, DrawnFault::flush);
            self.cache.flush(about.file, flush);
        }
        let answer = move |outcome| match (outcome, fails) {
            (Outcome::Done { .. }, None) => reply.ok(),
            (_, fails) => reply.error(fails.unwrap_or(Errno::EIO)),
        };
        self.server.accept(io, later_ns, Box::new(answer));
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let root = INodeNo::ROOT.0;
        let mut entries = vec![
            (root, FileType::Directory, OsString::from(".")),
            (root, FileType::Directory, OsString::from("..")),
        ];
        let files = self.files();
        let named = files.iter().filter_map(|(number, k)| Some((*number, k.name.clone()?)));
        entries.extend(named.map(|(number, name)| (number, FileType::RegularFile, name)));
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (next, (number, kind, name)) in (1..).zip(entries).skip(from) {
            if reply.add(INodeNo(number), next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = ROOM_BYTES / u64::from(PAGE_BYTES);
        let files = 1 << 20;
        reply.statfs(blocks, blocks, blocks, files, files, PAGE_BYTES, 255, PAGE_BYTES);
    }
}

/// Past the kernel's cache, and several writes to one file at the same time.
fn open_flags() -> FopenFlags {
    FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
}
