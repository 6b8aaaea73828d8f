//! The writer and its witness as processes: the one may die at any moment, and the other outlasts
//! it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use results::WriterEnd;

use super::witness::{Source, this_program};
use super::writing::Assignment;
use crate::conduct::{JobError, Relay};
use crate::event::Event;

/// How often it is looked whether the writer is gone.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A writer, connected with its witness.
pub(super) struct Processes {
    witness: Child,
    writer: Child,
    /// The events that the writer sends.
    events: Receiver<Event>,
}

/// What a process says on its stderr: events as lines of JSON, and words where it fails.
fn events_of(stderr: ChildStderr) -> Receiver<Event> {
    let (sender, events) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            let words = || line.strip_prefix("error: ").unwrap_or(&line).to_owned();
            let event = serde_json::from_str(&line);
            // Nobody waits any more where this does not arrive.
            let _ = sender.send(event.unwrap_or_else(|_| Event::Error { text: words() }));
        }
    });
    events
}

/// Signals of a terminal must not reach its processes: this process tells the writer, and the
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
fn is_killed(status: ExitStatus) -> bool {
    status.code().is_some_and(is_crash)
}

/// Whether a process of Windows ended with this code because it crashed, as one does that aborts:
/// then the code is an error of the system, of which the two highest bits are set. The task manager
/// ends processes with 1, which cannot be distinguished from a failure.
#[cfg(any(not(unix), test))]
fn is_crash(code: i32) -> bool {
    code.cast_unsigned() >> 30 == 0b11
}

/// Asks a process to end in order.
#[cfg(unix)]
fn ask_to_end(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process};
    // A process that has already ended cannot be asked.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
}

#[cfg(not(unix))]
fn ask_to_end(child: &mut Child) {
    let _ = child.kill();
}

impl Processes {
    /// Starts the witness and the writer.
    pub(super) fn start(source: &Source, assignment: &Assignment) -> Result<Self, JobError> {
        let mut witness = source.witness()?;
        let name = witness.get_program().to_string_lossy().into_owned();
        witness.stdin(Stdio::piped()).stdout(Stdio::piped());
        apart(&mut witness);
        let cannot =
            |error| JobError::CannotRun(format!("cannot start the witness, `{name}`: {error}"));
        let mut witness = witness.spawn().map_err(cannot)?;
        let (to, from) = (witness.stdin.take(), witness.stdout.take());
        let mut writer = this_program()?;
        writer.arg("--write-durably").arg(serde_json::to_string(assignment)?);
        writer.stdin(from.map_or_else(Stdio::null, Stdio::from));
        writer.stdout(to.map_or_else(Stdio::null, Stdio::from));
        writer.stderr(Stdio::piped());
        apart(&mut writer);
        let writer = writer.spawn().inspect_err(|_| {
            let _ = witness.kill();
            let _ = witness.wait();
        });
        let mut writer =
            writer.map_err(|e| JobError::CannotRun(format!("cannot start the writer: {e}")))?;
        let events = writer.stderr.take().map_or_else(|| mpsc::channel().1, events_of);
        Ok(Self { witness, writer, events })
    }

    /// Waits until the writer is gone and the witness has kept what it heard.
    pub(super) fn wait(
        mut self,
        stop: &AtomicBool,
        relay: &Relay<'_>,
    ) -> Result<WriterEnd, JobError> {
        let cannot = |error| JobError::CannotRun(format!("cannot wait for the writer: {error}"));
        let mut asked = false;
        let status = loop {
            if let Some(status) = self.writer.try_wait().map_err(cannot)? {
                break status;
            }
            if stop.load(Ordering::Relaxed) && !std::mem::replace(&mut asked, true) {
                ask_to_end(&mut self.writer);
            }
            match self.events.recv_timeout(LOOK_EVERY) {
                Ok(event) => relay.pass(&event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK_EVERY),
            }
        };
        for event in &self.events {
            relay.pass(&event);
        }
        self.witness.wait().map_err(cannot)?;
        Ok(match status {
            status if status.success() => WriterEnd::InOrder,
            status if is_killed(status) => WriterEnd::Killed,
            _ => WriterEnd::Failed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every crash test on Windows ended as a failure of the writer.
    #[test]
    fn a_writer_that_aborts_on_windows_was_killed() {
        // Fail fast, as of `abort`; an access violation.
        assert!([0xC000_0409_u32, 0xC000_0005].map(u32::cast_signed).into_iter().all(is_crash));
        assert!(![0, 1, 2, 101].into_iter().any(is_crash));
    }
}
