//! The program on Windows, with real files: what a DBA types there, and what then happens. `./x
//! wine` runs it under Wine.

mod dialects;
mod interrupted;
mod killed;
mod measuring;
mod safety;
mod watching;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use testing::Place;

/// Nothing here takes long; what takes longer hangs.
const HANGS: Duration = Duration::from_secs(120);

/// The program in a place with a directory for data, whose name is given back.
fn place() -> (Place, String) {
    let place = Place::new(env!("CARGO_BIN_EXE_iosonde"));
    let data = place.path("data");
    fs::create_dir(&data).unwrap();
    (place, data.to_str().unwrap().to_owned())
}

/// The names in a directory, in their order.
fn names(directory: impl AsRef<Path>) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    let mut names: Vec<String> =
        entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A program under way, whose lines on stderr are read as they come.
struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut command = place.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        Self { child, lines }
    }

    /// Waits until a line on stderr has these words.
    #[track_caller]
    fn wait_for(&self, words: &str) {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(HANGS) {
                Ok(line) if line.contains(words) => return,
                Ok(line) => seen.push(line),
                Err(error) => panic!("`{words}` did not come ({error}): {seen:#?}"),
            }
        }
    }

    /// The first line on stdout.
    fn first_line(&mut self) -> String {
        let mut line = Vec::new();
        let stdout = self.child.stdout.as_mut().unwrap();
        for byte in stdout.bytes().map_while(Result::ok) {
            if byte == b'\n' {
                break;
            }
            line.push(byte);
        }
        String::from_utf8(line).unwrap().trim_end().to_owned()
    }

    /// Waits for its end: the exit code, what is on stdout, and what came on stderr since the words
    /// that were waited for.
    fn end(mut self) -> (i32, String, String) {
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let code = self.child.wait().unwrap().code().unwrap();
        (code, stdout, self.lines.iter().collect::<Vec<_>>().join("\n"))
    }

    /// Ends it as the task manager does.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The program under another name, next to which nothing else is.
fn renamed(place: &Place, name: &str) -> PathBuf {
    let path = place.path(name);
    fs::copy(env!("CARGO_BIN_EXE_iosonde"), &path).unwrap();
    path
}
