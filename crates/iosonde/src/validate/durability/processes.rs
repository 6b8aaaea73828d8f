//! The writer and its witness as processes: the one may die at any moment, and the other outlasts
//! it.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use results::WriterEnd;

use super::remote::Source;
use super::writing::Assignment;
use crate::exit::Failure;
use screen::speaks_json;

/// How often it is looked whether the writer is gone.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A writer, connected with its witness.
pub(super) struct Processes {
    witness: Child,
    writer: Child,
}

/// What a terminal sends to the program is not for its processes: the writer is told, and the
/// witness stays.
#[cfg(unix)]
fn apart(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    command.process_group(0);
}

#[cfg(not(unix))]
fn apart(_: &mut Command) {}

#[cfg(unix)]
fn is_killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal().is_some()
}

#[cfg(not(unix))]
fn is_killed(_: ExitStatus) -> bool {
    false
}

/// Asks a process to end in order.
#[cfg(unix)]
fn ask_to_end(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process};
    // Who has ended already cannot be asked.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
}

#[cfg(not(unix))]
fn ask_to_end(child: &mut Child) {
    let _ = child.kill();
}

impl Processes {
    /// Starts both.
    pub(super) fn start(source: &Source, assignment: &Assignment) -> Result<Self, Failure> {
        let mut witness = source.witness()?;
        let name = witness.get_program().to_string_lossy().into_owned();
        witness.stdin(Stdio::piped()).stdout(Stdio::piped());
        apart(&mut witness);
        let cannot =
            |error| Failure::CannotRun(format!("cannot start the witness, `{name}`: {error}"));
        let mut witness = witness.spawn().map_err(cannot)?;
        let (to, from) = (witness.stdin.take(), witness.stdout.take());
        let mut writer = Command::new(std::env::current_exe()?);
        writer.arg("validate").arg("--write-durably").arg(assignment.to_json()?);
        if speaks_json() {
            // It has the same stderr.
            writer.args(["--progress", "json"]);
        }
        writer.stdin(from.map_or_else(Stdio::null, Stdio::from));
        writer.stdout(to.map_or_else(Stdio::null, Stdio::from));
        apart(&mut writer);
        let writer = writer.spawn().inspect_err(|_| {
            let _ = witness.kill();
            let _ = witness.wait();
        });
        let writer =
            writer.map_err(|e| Failure::CannotRun(format!("cannot start the writer: {e}")))?;
        Ok(Self { witness, writer })
    }

    /// Waits until the writer is gone and the witness has kept what it heard.
    pub(super) fn wait(mut self, stop: &AtomicBool) -> Result<WriterEnd, Failure> {
        let mut asked = false;
        let status = loop {
            if let Some(status) = self.writer.try_wait()? {
                break status;
            }
            if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut asked, true) {
                ask_to_end(&mut self.writer);
            }
            std::thread::sleep(LOOK_EVERY);
        };
        self.witness.wait()?;
        Ok(match status {
            status if status.success() => WriterEnd::InOrder,
            status if is_killed(status) => WriterEnd::Killed,
            _ => WriterEnd::Failed,
        })
    }
}
