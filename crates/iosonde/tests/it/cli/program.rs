//! How the program is started and what is often asked of it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use results::Measurement;
use testing::Place;
use testing::program::program;
pub(crate) use testing::program::{code, fails, stderr, stdout, succeeds};

/// Nothing here takes long; what takes longer hangs.
const HANGS: Duration = Duration::from_secs(60);

/// A run that is short, and small where a test file is made.
pub(crate) const SHORT: [&str; 6] = ["--seconds", "0.2", "--warmup", "0", "--size", "16M"];

/// The history of tests that do not look at it, one for a run of all tests. No test touches the
/// history of the person who runs it.
pub(crate) fn common_history() -> &'static Path {
    static HISTORY: OnceLock<PathBuf> = OnceLock::new();
    HISTORY.get_or_init(|| {
        let runs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("history-of-cli-tests");
        // cargo-nextest starts a process per test.
        let run = std::env::var("NEXTEST_RUN_ID");
        let directory = runs.join(run.unwrap_or_else(|_| std::process::id().to_string()));
        fs::create_dir_all(&runs).unwrap();
        if fs::create_dir(&directory).is_ok() {
            // Another run may be under way: its history was removed while it measured.
            let is_old = |entry: &fs::DirEntry| {
                let age = entry.metadata().and_then(|m| m.modified()).map(|time| time.elapsed());
                matches!(age, Ok(Ok(age)) if age > Duration::from_secs(24 * 3600))
            };
            for entry in fs::read_dir(&runs).unwrap().flatten().filter(is_old) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        directory.join("history.db")
    })
}

/// A place with a history of its own.
pub(crate) fn place() -> Place {
    Place::new(env!("CARGO_BIN_EXE_iosonde"))
}

/// The program with these arguments.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = program(env!("CARGO_BIN_EXE_iosonde"), common_history());
    command.args(args);
    command
}

/// Runs `iosonde run` on a target with further arguments, to its end.
pub(crate) fn run(target: &Path, args: &[&str]) -> Output {
    let target = target.to_str().unwrap();
    command(&[&["run", target], &SHORT[..4], args].concat()).output().unwrap()
}

/// The same with a test file of 16 MiB.
pub(crate) fn run_small(target: &Path, args: &[&str]) -> Output {
    run(target, &[&SHORT[4..], args].concat())
}

/// Sends a signal by its name. Every shell can; the command `kill` is not on every system.
pub(crate) fn kill(name: &str, process: u32) {
    tool("sh", &["-c", "kill -$0 $1", name, &process.to_string()]).unwrap();
}

/// The measurement that is all of stdout.
#[track_caller]
pub(crate) fn measurement(output: &Output) -> Measurement {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.starts_with('{') && text.ends_with("}\n"), "not only JSON: {text:.200}");
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {}", stderr(output)))
}

/// The names in a directory.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The text of a test file's mark.
pub(crate) fn mark(path: &Path) -> String {
    let bytes = fs::read(path).unwrap();
    let mark = &bytes[bytes.len().saturating_sub(4096)..];
    String::from_utf8_lossy(mark).trim_end().to_owned()
}

/// A file of bytes that are easily told from what iosonde writes.
pub(crate) fn foreign_file(path: &Path, bytes: usize) -> Vec<u8> {
    let content: Vec<u8> = b"somebody's data ".iter().copied().cycle().take(bytes).collect();
    fs::write(path, &content).unwrap();
    content
}

/// A program under way.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    seen: String,
    stdout: JoinHandle<Vec<u8>>,
}

impl Running {
    /// Starts it; its stderr is read as it comes.
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::of(command(args))
    }

    /// Starts this command.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut stdout = child.stdout.take().unwrap();
        let stdout = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).unwrap();
            bytes
        });
        Self { child, lines, seen: String::new(), stdout }
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until these words are on stderr.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, words: &str) {
        while !self.seen.contains(words) {
            match self.lines.recv_timeout(HANGS) {
                Ok(line) => self.seen.extend([line.as_str(), "\n"]),
                Err(error) => panic!("`{words}` did not come ({error}): {}", self.seen),
            }
        }
    }

    /// What was on stderr so far.
    pub(crate) fn seen(&self) -> &str {
        &self.seen
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        kill(name, self.child.id());
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Output {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > HANGS {
                let _ = self.child.kill();
                panic!("it does not end: {}", self.seen);
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let stdout = self.stdout.join().unwrap();
        self.seen.extend(self.lines.iter().map(|l| l + "\n"));
        Output { status, stdout, stderr: self.seen.into_bytes() }
    }
}

/// Runs a tool of the system; what it says on stdout, or why it failed.
pub(crate) fn tool(name: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(name).args(args).output().map_err(|e| format!("{name}: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{name} {}: {}", args.join(" "), stderr(&output).trim()))
}

/// A mounted file system, unmounted when dropped.
pub(crate) struct Mount {
    /// Where it is mounted.
    pub path: PathBuf,
}

impl Mount {
    /// Mounts with these arguments, which the directory follows.
    pub(crate) fn new(directory: &Path, args: &[&str]) -> Result<Self, String> {
        fs::create_dir_all(directory).map_err(|e| e.to_string())?;
        tool("mount", &[args, &[directory.to_str().unwrap_or_default()]].concat())?;
        Ok(Self { path: directory.to_owned() })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = tool("umount", &["-l", self.path.to_str().unwrap_or_default()]);
    }
}

/// A loop device over a new file, detached when dropped.
pub(crate) struct Loop {
    /// Its node.
    pub device: PathBuf,
}

impl Loop {
    /// A device of this many MiB whose first bytes are these.
    pub(crate) fn new(directory: &Path, mib: u64, first: &[u8]) -> Result<Self, String> {
        let path = directory.join("image");
        fs::write(&path, first).map_err(|e| e.to_string())?;
        let file = fs::OpenOptions::new().write(true).open(&path).map_err(|e| e.to_string())?;
        file.set_len(mib << 20).map_err(|e| e.to_string())?;
        let device = tool("losetup", &["-f", "--show", "-P", path.to_str().unwrap_or_default()])?;
        Ok(Self { device: device.into() })
    }

    /// The same with a file system, mounted.
    pub(crate) fn mounted(
        directory: &Path,
        mib: u64,
        make: &[&str],
    ) -> Result<(Mount, Self), String> {
        let this = Self::new(directory, mib, b"")?;
        let device = this.device.to_str().unwrap_or_default();
        tool(make[0], &[&make[1..], &[device]].concat())?;
        let mount = Mount::new(&directory.join("mounted"), &[device])?;
        Ok((mount, this))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = tool("losetup", &["-d", self.device.to_str().unwrap_or_default()]);
    }
}
