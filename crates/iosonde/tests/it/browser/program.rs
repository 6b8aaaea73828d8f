//! `iosonde serve` as a process, on a history that the other commands made.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use testing::program::program;

/// What the samples are measured with: a device of four servers in virtual time.
const SIM: [&str; 6] = [
    "--size",
    "1G",
    "--engine",
    "sim",
    "--sim",
    "servers = 4, read_ns = \"4ms\", write_ns = \"8ms\"",
];

/// A server on its own history; both go when this is dropped.
pub(crate) struct Served {
    pub(crate) url: String,
    process: Child,
    history: PathBuf,
    directory: TempDir,
}

impl Served {
    /// One with a result of each kind, and a repeated one.
    pub(crate) fn with_samples() -> Self {
        Self::start(&[])
    }

    /// The same behind a token.
    pub(crate) fn with_token(token: &str) -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), token).unwrap();
        Self::start(&["--token-file", file.path().to_str().unwrap()])
    }

    fn start(args: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let history = directory.path().join("history.db");
        samples(&history, directory.path());
        let mut process = iosonde(&history)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        Self { url, process, history, directory }
    }

    /// A run in real time, into the same history, that goes on until it is interrupted.
    pub(crate) fn start_run(&self) -> Run {
        let target = self.directory.path().join("live");
        std::fs::create_dir_all(&target).unwrap();
        let run = iosonde(&self.history)
            .args(["run", target.to_str().unwrap(), "--size", "16M", "--buffered", "--warmup", "1"])
            .args(["--write", "30", "--rate", "500", "--seconds", "600"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Run(run)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A run under way; a test that fails takes it along.
pub(crate) struct Run(Child);

impl Run {
    /// Whether it still goes on.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        let id = self.0.id().to_string();
        assert!(Command::new("sh").args(["-c", "kill -INT $0", &id]).status().unwrap().success());
    }

    /// Waits for its end and gives the exit code.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        self.0.wait().unwrap().code()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program with a history of its own, far from that of the user.
pub(crate) fn iosonde(history: &std::path::Path) -> Command {
    let mut command = program(env!("CARGO_BIN_EXE_iosonde"), history);
    command.env_remove("HOME");
    command
}

fn samples(history: &std::path::Path, directory: &std::path::Path) {
    let commands: [&[&str]; 8] = [
        &["run", "data", "--seconds", "5", "--tag", "baseline"],
        &["run", "data", "--seconds", "5", "--depth", "8"],
        &["run", "log", "--seconds", "5", "--write", "100"],
        &["knee", "data", "--seconds", "2", "--to", "32"],
        &["sizes", "data", "--seconds", "1", "--sizes", "256M,512M,1G"],
        &["scale", "data", "log", "--seconds", "1"],
        &["sweep", "data", "--seconds", "1", "--blocks", "8K,64K", "--depths", "1,4"],
        &["assess", "data", "--pace", "quick"],
    ];
    for args in commands {
        let output = iosonde(history).args(args).args(SIM).current_dir(directory).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
