//! `--live`: the screen in a terminal, and lines where there is none. The terminal is made by
//! `script` of util-linux.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::program::{common_history, kill, run, stderr, succeeds};

const SCREEN_ON: &str = "\x1b[?1049h";
const SCREEN_OFF: &str = "\x1b[?1049l";
/// Goes on until it is ended.
const ENDLESS: &str = "run a --engine null --warmup 0 --seconds 600 --live";

/// The program in a terminal of its own.
struct Terminal {
    child: Child,
    output: Receiver<Vec<u8>>,
    seen: Vec<u8>,
}

impl Terminal {
    /// Starts it in a terminal of 80 x 24 and this type. Its stdout goes to a file.
    fn start(kind: &str, arguments: &str, stdout: &Path) -> Self {
        let program = env!("CARGO_BIN_EXE_iosonde");
        Self::shell(kind, &format!("exec {program} {arguments} > {}", stdout.display()))
    }

    /// Starts a shell with these commands in such a terminal.
    fn shell(kind: &str, commands: &str) -> Self {
        let shell = format!("stty rows 24 cols 80; {commands}");
        let mut child = Command::new("script")
            .args(["--quiet", "--return", "--flush", "--command", &shell, "/dev/null"])
            .env("TERM", kind)
            .env("SHELL", "/bin/sh")
            .env("IOSONDE_HISTORY", common_history())
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut reader = child.stdout.take().unwrap();
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let _ = sender.send(bytes[..count].to_vec());
            }
        });
        Self { child, output, seen: Vec::new() }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Reads until this has been seen.
    fn wait_for(&mut self, words: &str) {
        let begin = Instant::now();
        while !self.text().contains(words) {
            assert!(begin.elapsed() < Duration::from_secs(30), "no {words:?} in {:?}", self.text());
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(100)) {
                self.seen.extend(bytes);
            }
        }
    }

    fn press(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(keys.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Waits for its end; gives the exit code and all that was on the terminal.
    fn end(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        while let Ok(bytes) = self.output.recv() {
            self.seen.extend(bytes);
        }
        (code, self.text())
    }
}

impl Drop for Terminal {
    /// Nothing is left of a test that failed.
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn the_screen_shows_figures_and_ctrl_c_ends_the_run_on_a_clean_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let stdout = dir.path().join("stdout");
    let mut terminal = Terminal::start("xterm", ENDLESS, &stdout);
    // Blanks between words are not drawn.
    for words in [SCREEN_ON, "iosonde run", "measuring", "█", "end the run"] {
        terminal.wait_for(words);
    }
    terminal.press("\x03");
    let (code, text) = terminal.end();
    assert_eq!(code, Some(130));
    let (_, after) = text.rsplit_once(SCREEN_OFF).unwrap();
    assert!(after.contains("kept as") && !after.contains('█'), "{after:?}");
    assert_eq!(text.matches(SCREEN_ON).count(), text.matches(SCREEN_OFF).count());
    let result = fs::read_to_string(stdout).unwrap();
    assert!(result.contains("IOPS") && !result.contains('\x1b'), "{result}");
}

#[test]
fn the_run_goes_on_with_lines_where_the_screen_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let stdout = dir.path().join("stdout");
    let mut terminal = Terminal::start("xterm", ENDLESS, &stdout);
    terminal.wait_for("measuring");
    terminal.press("w");
    terminal.wait_for("stream, target, thread");
    terminal.press("q");
    terminal.wait_for("the screen is closed and the run continues");
    terminal.wait_for("s left\r");
    // In a terminal that is as it was, this is a signal.
    terminal.press("\x03");
    let (code, text) = terminal.end();
    assert_eq!(code, Some(130));
    let (_, after) = text.rsplit_once(SCREEN_OFF).unwrap();
    assert!(after.contains("MiB/s, p99"), "{after:?}");
    assert!(fs::read_to_string(stdout).unwrap().contains("interrupted"));
}

/// A run in a shell that tells, in `pid` and `tty`, which process and terminal it has, and after
/// its end how the terminal is.
fn watched(directory: &Path, arguments: &str) -> Terminal {
    let (program, there) = (env!("CARGO_BIN_EXE_iosonde"), directory.display());
    // A shell that hears the signal of the keyboard waits for its child before it dies.
    let run = format!("echo $$ > {there}/pid; exec {program} {arguments} > {there}/stdout");
    let mut terminal = Terminal::shell(
        "xterm",
        &format!("tty > {there}/tty; sh -c '{run}'; echo ended with $?; stty -a"),
    );
    terminal.wait_for("measuring");
    terminal
}

/// The first signal ends the run in order; the second, before the screen was left, ended the
/// program with the terminal raw. Later that was left of two that two threads handled at the same
/// time: one had asked whether it is the first, when the other said so, and then asked again.
#[test]
fn two_signals_at_once_leave_a_clean_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let terminal = watched(dir.path(), ENDLESS);
    let pid = fs::read_to_string(dir.path().join("pid")).unwrap();
    // Two of one kind would be one.
    let both = format!("kill -TERM {0}; kill -INT {0}", pid.trim());
    assert!(Command::new("sh").args(["-c", &both]).status().unwrap().success());
    let (_, text) = terminal.end();
    let (_, after) = text.rsplit_once(SCREEN_OFF).unwrap();
    assert!(after.contains("ended with 130") && !after.contains('█'), "{after:?}");
    assert!(after.contains(" icanon") && after.contains(" echo "), "{after:?}");
    assert_eq!(text.matches(SCREEN_ON).count(), text.matches(SCREEN_OFF).count());
}

/// A terminal that takes nothing any more holds the thread that draws, and that held the settings
/// of the terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_hangs_is_not_left_raw() {
    use rustix::termios::{Action, LocalModes, tcflow, tcgetattr};
    let dir = tempfile::tempdir().unwrap();
    let terminal = watched(dir.path(), ENDLESS);
    let read = |name| fs::read_to_string(dir.path().join(name)).unwrap().trim().to_owned();
    let tty = fs::File::options().read(true).write(true).open(read("tty")).unwrap();
    let is_raw = || !tcgetattr(&tty).unwrap().local_modes.contains(LocalModes::ICANON);
    assert!(is_raw());
    tcflow(&tty, Action::OOff).unwrap();
    // Meanwhile, it draws.
    thread::sleep(Duration::from_millis(500));
    kill("INT", read("pid").parse().unwrap());
    let begin = Instant::now();
    while is_raw() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the terminal stays raw");
        thread::sleep(Duration::from_millis(20));
    }
    tcflow(&tty, Action::OOn).unwrap();
    // Another that holds the terminal open would be waited for.
    drop(tty);
    let (_, text) = terminal.end();
    assert!(text.contains("ended with 130"), "{text:?}");
    assert_eq!(text.matches(SCREEN_ON).count(), text.matches(SCREEN_OFF).count());
}

#[test]
fn a_terminal_that_cannot_show_it_gets_lines_and_one_note() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = "run a --engine null --warmup 0 --seconds 0.2 --live";
    let terminal = Terminal::start("dumb", arguments, &dir.path().join("stdout"));
    let (code, text) = terminal.end();
    assert_eq!(code, Some(0));
    assert_eq!(text.matches("note: `--live` cannot draw").count(), 1, "{text}");
    assert!(!text.contains(SCREEN_ON));
    let output = run(dir.path(), &["--engine", "null", "--live"]);
    succeeds(&output);
    let text = stderr(&output);
    assert!(text.contains("note: `--live` needs a terminal, which stderr is not"), "{text}");
}
