//! Files that a user names, for reading: the one place that opens them.
//!
//! A name may lead to anything. A pipe waits for a writer, a device has no end, and a socket cannot
//! be read. So the kind is looked at before a name is opened, and again after that, the open itself
//! does not wait, and nothing is read beyond a limit that the caller chooses. A stream that this
//! program was started with (stdin, `<(command)` of a shell) is read once, up to the limit.
//!
//! While input is read nothing has begun that would have to be ended in order, so the first signal
//! may end the program at once ([`ends_at_once`]).

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::platform;

/// The most bytes of a text that a flag names: plans, settings, workloads, limits.
pub const TEXT_BYTES_MAX: u64 = 16 << 20;
/// The most bytes of results or recordings that are read into memory.
pub const RESULTS_BYTES_MAX: u64 = 256 << 20;

/// How many parts of the program only read.
static READERS: AtomicUsize = AtomicUsize::new(0);

/// Whether a signal has come.
static ENDED: AtomicBool = AtomicBool::new(false);

/// A signal has come: long loops over what is read end. A handler of signals may call it.
pub fn end() {
    ENDED.store(true, Ordering::SeqCst);
}

/// Whether a signal has come. Loops that read a long file and write another ask, so that they can
/// remove what they wrote.
///
/// # Errors
/// A signal has come.
pub fn go_on() -> io::Result<()> {
    if ENDED.load(Ordering::Relaxed) {
        return Err(io::Error::other("interrupted by a signal"));
    }
    Ok(())
}

/// A part of the program that only reads, as long as it exists.
#[derive(Debug)]
pub struct OnlyReading(());

impl OnlyReading {
    /// From now on a signal ends the program at once.
    #[must_use]
    pub fn begin() -> Self {
        READERS.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for OnlyReading {
    fn drop(&mut self) {
        READERS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether the program only reads at the moment, so that a signal may end it at once. A handler of
/// signals may ask.
pub fn ends_at_once() -> bool {
    READERS.load(Ordering::SeqCst) > 0
}

/// Opens a regular file. Never waits, whatever the name leads to.
///
/// # Errors
/// It does not exist, cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    if is_stream(path) {
        let text = "it is a stream, which is read only once; write it to a file, and name that";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    check(&fs::metadata(path)?)?;
    let file = platform::open_without_waiting(path)?;
    // The name may lead to something else by now.
    check(&file.metadata()?)?;
    Ok(file)
}

/// The content of a regular file or a stream, at most so many bytes. Streams are stdin (`-`) and
/// the pipes that a shell made for this program (`<(command)`).
///
/// # Errors
/// It cannot be read, is neither, or is larger.
pub fn bytes(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let _reading = OnlyReading::begin();
    if let Some(stream) = stream(path)? {
        return bounded(stream, bytes_max);
    }
    let file = open(path)?;
    if file.metadata()?.len() > bytes_max {
        return Err(too_large(bytes_max));
    }
    bounded(file, bytes_max)
}

/// The text of a regular file or a stream.
///
/// # Errors
/// It cannot be read, is neither, is larger, or is not UTF-8.
pub fn text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(bytes(path, bytes_max)?).map_err(invalid)
}

/// The first bytes of a regular file, at most so many.
///
/// # Errors
/// It cannot be read or is not a regular file.
pub fn head(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file, or copies a stream of at most so many bytes into the file that `make`
/// returns: for input that is read several times, or is too large for memory.
///
/// # Errors
/// It cannot be read, is neither, or is larger, or the copy cannot be written.
pub fn open_or_copy(
    path: &Path,
    bytes_max: u64,
    make: impl FnOnce() -> io::Result<File>,
) -> io::Result<File> {
    let _reading = OnlyReading::begin();
    let Some(stream) = stream(path)? else { return open(path) };
    let mut file = make()?;
    if io::copy(&mut stream.take(bytes_max.saturating_add(1)), &mut file)? > bytes_max {
        return Err(too_large(bytes_max));
    }
    file.rewind()?;
    Ok(file)
}

fn bounded(from: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max { Err(too_large(bytes_max)) } else { Ok(bytes) }
}

fn too_large(bytes_max: u64) -> io::Error {
    let text = match (bytes_max >> 30, bytes_max >> 20, bytes_max >> 10) {
        (gib @ 1.., ..) => format!("it is larger than {gib} GiB, the most that is read here"),
        (0, mib @ 1.., _) => format!("it is larger than {mib} MiB, the most that is read here"),
        (.., kib) => format!("it is larger than {kib} KiB, the most that is read here"),
    };
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// Whether a name stands for stdin, or for another stream that this program was started with.
fn is_stream(path: &Path) -> bool {
    let is_name = ["/dev/stdin", "/dev/fd", "/proc/self/fd"].iter().any(|of| path.starts_with(of));
    path == Path::new("-")
        || is_name && fs::metadata(path).is_ok_and(|metadata| platform::is_stream(&metadata))
}

/// The stream that a name stands for.
fn stream(path: &Path) -> io::Result<Option<Box<dyn Read>>> {
    if !is_stream(path) {
        return Ok(None);
    }
    // A socket cannot be opened by its name.
    let is_stdin = ["-", "/dev/stdin", "/dev/fd/0"].iter().any(|name| path == Path::new(name));
    Ok(Some(if is_stdin { Box::new(io::stdin()) } else { Box::new(File::open(path)?) }))
}

/// Refuses everything that is not a regular file.
fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let what = if metadata.is_dir() { "a directory" } else { platform::kind_of(metadata) };
    let text = format!("it is {what}, and a regular file is needed");
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        fs::write(&path, "0123456789").unwrap();
        assert_eq!(text(&path, 10).unwrap(), "0123456789");
        assert_eq!(head(&path, 3).unwrap(), b"012");
        let error = text(&path, 9).unwrap_err();
        assert!(error.to_string().contains("larger than 0 KiB"), "{error}");
        fs::write(&path, [0xFF]).unwrap();
        assert!(text(&path, 9).unwrap_err().to_string().contains("UTF-8"));
        assert!(bytes(directory.path(), 9).unwrap_err().to_string().contains("a directory"));
        let missing = bytes(&directory.path().join("b"), 9).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    /// `--sim /dev/zero` filled the memory, and `--sim PIPE` waited for ever, deaf to signals.
    #[cfg(target_os = "linux")]
    #[test]
    fn pipes_devices_and_sockets_are_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let socket = directory.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for (path, kind) in [
            (pipe.as_path(), "a named pipe"),
            (&socket, "a socket"),
            (&link, "a device"),
            (Path::new("/dev/zero"), "a device"),
        ] {
            for error in [
                bytes(path, 9).unwrap_err(),
                head(path, 9).unwrap_err(),
                open(path).map(drop).unwrap_err(),
            ] {
                assert!(error.to_string().contains(kind), "{}: {error}", path.display());
            }
        }
    }

    #[test]
    fn a_signal_ends_the_program_at_once_only_while_it_reads() {
        let outer = OnlyReading::begin();
        drop(OnlyReading::begin());
        assert!(ends_at_once());
        drop(outer);
    }
}
