//! The device as others see it: a mounted file system.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use fuser::{BackgroundSession, Config, MountOption, Session};
use workload::SimDevice;

use super::cache::{Cache, Lost, Volatile};
use super::delivered::Delivered;
use super::faults::{FaultPlan, Faults, Injected};
use super::files::{self, Files, Named};
use super::guard::Guard;
use super::server::Server;
use super::unavailable::Unavailable;

/// Threads that take I/Os from the kernel.
const TAKING: usize = 2;
/// `-f` makes the kernel forget the I/Os that nobody will answer any more, also where the file
/// system is still in use.
const UNMOUNT: &str = r#"umount -f "$1" || umount -l "$1"; rmdir "$1""#;

/// A device of known behaviour under the files of a directory.
///
/// Each target is a file; files that are made in the directory use the targets too, the first uses
/// the first. Reads, writes and flushes take the time of the model, counted from the moment at
/// which the kernel hands them over. When this is dropped, it answers pending requests and unmounts
/// the file system.
pub struct Truth {
    server: Arc<Server>,
    faults: Arc<Faults>,
    cache: Arc<Volatile>,
    files: Arc<Named>,
    directory: PathBuf,
    answering: Vec<JoinHandle<()>>,
    session: Option<BackgroundSession>,
    guard: Option<Guard>,
}

impl Truth {
    /// Mounts a device of this behaviour, with a file of each of these sizes.
    pub fn mount(model: SimDevice, sizes: &[u64]) -> Result<Self, Unavailable> {
        let what = "a FUSE file system";
        if !rustix::process::geteuid().is_root() {
            return Err(Unavailable::new(what, "it is mounted by root only"));
        }
        let server = Arc::new(Server::new(model, sizes));
        let faults = Arc::new(Faults::default());
        let cache = Arc::new(Volatile::default());
        let (its_server, its_faults) = (Arc::clone(&server), Arc::clone(&faults));
        let files = Files::new(its_server, its_faults, Arc::clone(&cache), sizes);
        let files = files.map_err(Unavailable::because("memory"))?;
        let directory = tempfile::Builder::new().prefix("iosonde-truth-").tempdir();
        let directory = directory.map_err(Unavailable::because("a directory to mount on"))?.keep();
        let guard = Guard::new(UNMOUNT, &[directory.as_os_str()]);
        let guard = guard.map_err(Unavailable::because("a process that unmounts (bash)"))?;
        let mut truth = Self {
            server,
            faults,
            cache,
            files: files.named_files(),
            directory,
            answering: Vec::new(),
            session: None,
            guard: Some(guard),
        };
        let mut options = Config::default();
        let name = "iosonde-truth".to_owned();
        options.mount_options = vec![MountOption::FSName(name), MountOption::NoAtime];
        options.n_threads = Some(TAKING);
        options.clone_fd = true;
        let session = Session::new(files, &truth.directory, &options).and_then(Session::spawn);
        truth.session = Some(session.map_err(Unavailable::because(what))?);
        let answering = truth.server.start_answering();
        truth.answering = answering.map_err(Unavailable::because("threads of the device"))?;
        if !sizes.is_empty() {
            let file = File::open(truth.path(0)).map_err(Unavailable::because(what))?;
            let read = || file.read_at(&mut [0; 512], 0);
            truth.server.find_lead(read).map_err(Unavailable::because("I/O on the device"))?;
        }
        Ok(truth)
    }

    /// The directory that it is mounted on.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The path of a target's file.
    #[must_use]
    pub fn path(&self, target: usize) -> PathBuf {
        self.directory.join(files::name_of(target))
    }

    /// Does something, such as filling a file, without the device taking any time for it; it is not
    /// counted either. Then the device is idle and its time begins: what the model says of periods,
    /// caches and the n-th I/O counts from here.
    pub fn instantly<T>(&self, work: impl FnOnce() -> T) -> T {
        self.server.instantly(work)
    }

    /// The device's clock, in nanoseconds since it was mounted.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.server.now_ns()
    }

    /// From now on, these faults happen, and no others; a request meets at most one.
    /// Everything stored at the first call is right by definition; nobody may be writing then.
    pub fn inject(&self, plans: Vec<FaultPlan>) {
        self.faults.inject(plans);
    }

    /// Everything that went wrong, in order, and what became of it.
    #[must_use]
    pub fn injected(&self) -> Vec<Injected> {
        self.faults.injected()
    }

    /// From now on, the device has a write cache that can lose its content. Earlier writes are
    /// stable.
    pub fn begin_cache(&self, cache: Cache) {
        self.cache.begin(cache);
    }

    /// The power fails and comes back: the content of the cache is gone, except for the share that
    /// had reached the medium. Returns what differs from the last writes. Nobody may be writing.
    /// Names and lengths of files are always stable.
    pub fn crash(&self) -> io::Result<Vec<Lost>> {
        let (lost, crashed) = files::crash(&self.files, &self.cache)?;
        self.faults.lost(crashed.broken, self.server.now_ns());
        Ok(lost)
    }

    /// Writes what went wrong as a line of JSON for each event: `injected` with what it changed,
    /// `visible` when a reader was first handed that, `healed` when it was written again before,
    /// `lost` when a crash took what had been acknowledged as stable.
    pub fn write_fault_log(&self, out: &mut dyn Write) -> io::Result<()> {
        self.faults.write_log(out)
    }

    /// What the device answered in a span of its clock.
    #[must_use]
    pub fn delivered(&self, span: Range<u64>) -> Delivered {
        self.server.delivered(&span)
    }
}

impl Drop for Truth {
    fn drop(&mut self) {
        self.server.end();
        for thread in self.answering.drain(..) {
            let _ = thread.join();
        }
        drop(self.guard.take());
        drop(self.session.take());
    }
}
