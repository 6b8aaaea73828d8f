//! Cleans up when its owner goes, whether it ends, panics or is killed.
//!
//! A process that is killed while it waits for its own file system would never end: its last thread
//! waits for an answer that nobody can give any more. So a separate process watches, and ends the
//! file system from outside.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// Waits until its standard input ends or the first thread of its parent is dead, then does the
/// rest of the script.
const WAIT: &str = r#"
while read -rt 1 _; (($? > 128)); do
    read -r state 2>/dev/null <"/proc/$PPID/stat" && [[ ${state##*) } != [ZX]* ]] || break
done
"#;

/// A process that runs a script when this is dropped or its owner dies.
#[derive(Debug)]
pub(super) struct Guard {
    child: Child,
}

impl Guard {
    /// `script` is for bash and finds the arguments as `$1`, `$2` and so on. It must do no harm
    /// where there is nothing to clean up, and what it says is not read by anybody.
    pub(super) fn new(script: &str, arguments: &[&OsStr]) -> io::Result<Self> {
        let child = Command::new("bash")
            .arg("-c")
            .arg(format!("{WAIT}{script}"))
            .arg("truth-guard")
            .args(arguments)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What a terminal sends to the program must not end this, too.
            .process_group(0)
            .spawn()?;
        Ok(Self { child })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
