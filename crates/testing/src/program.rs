//! The program under test: starts it, in a directory and with a history of the test, and reads its
//! output.
//!
//! Only a test crate knows where its program is: it passes `env!("CARGO_BIN_EXE_iosonde")`.

#![expect(
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test fails by a panic"
)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A simulated device of two disks: at most 250 I/Os a second, so that an hour of it takes little
/// time.
pub const DISKS: [&str; 4] =
    ["--engine", "sim", "--sim", r#"servers = 2, read_ns = "8ms", write_ns = "8ms""#];

/// The program with this history and no settings. Tests never touch the history of the user who
/// runs them, nor use that user's settings.
pub fn program(path: impl AsRef<OsStr>, history: &Path) -> Command {
    let mut command = Command::new(path);
    command.env("IOSONDE_HISTORY", history).env("IOSONDE_CONFIG", "").stdin(Stdio::null());
    command
}

/// A directory for everything that the program touches, with a history in it. Both go when this is
/// dropped.
#[derive(Debug)]
pub struct Place {
    program: PathBuf,
    directory: TempDir,
}

impl Place {
    /// An empty place for this program.
    pub fn new(program: &str) -> Self {
        Self { program: program.into(), directory: tempfile::tempdir().unwrap() }
    }

    /// The directory in which the program runs.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The path of a file in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory().join(name)
    }

    /// The content of a file in it.
    #[track_caller]
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The content of a file in it, as text.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// The file of the history, which the first result makes.
    pub fn history(&self) -> PathBuf {
        self.path("history.db")
    }

    /// The program in this place. Its times are UTC.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = program(&self.program, &self.history());
        command.args(args).current_dir(self.directory()).env("HOME", self.directory());
        command.env("TZ", "UTC");
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// What the program prints on stdout, having succeeded.
    #[track_caller]
    pub fn says(&self, args: &[&str]) -> String {
        let output = self.run(args);
        succeeds(&output);
        stdout(&output)
    }

    /// The JSON that the program prints with `--json`, having succeeded.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let text = self.says(&[args, &["--json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text:.300}"))
    }

    /// What the history lists with these filters, the newest first.
    #[track_caller]
    pub fn list(&self, filters: &[&str]) -> Vec<Value> {
        let list = self.json(&[&["history", "list"], filters].concat());
        list["results"].as_array().unwrap().clone()
    }

    /// The report on results, as the file of this name.
    #[track_caller]
    pub fn report(&self, results: &str, name: &str) -> Vec<u8> {
        self.says(&["report", results, "-o", name]);
        self.bytes(name)
    }
}

/// The exit code; a signal that killed the program fails the test.
#[track_caller]
pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {}", stderr(output)))
}

/// The text that it printed on stdout.
#[track_caller]
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The text that it printed on stderr.
#[track_caller]
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Asserts that the program succeeded.
#[track_caller]
pub fn succeeds(output: &Output) {
    assert_eq!(code(output), 0, "{}", stderr(output));
}

/// Asserts an exit code and words on stderr, and that nothing is on stdout.
#[track_caller]
pub fn fails(output: &Output, exit_code: i32, words: &str) {
    let text = stderr(output);
    assert_eq!(code(output), exit_code, "{text}");
    assert!(text.contains(words), "`{words}` is not in: {text}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}
