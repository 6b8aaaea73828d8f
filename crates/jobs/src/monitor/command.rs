//! The command during which is recorded: started, passed through, and waited for.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dialects::recognise::recognise;
use jiff::Timestamp;
use results::{Document, Measurement, RecordedCommand};
use workload::secrets::concealed;

use super::WatchError;

/// The beginning of its output that is kept to be read; results of these tools are shorter.
const KEPT_BYTES: usize = 64 << 20;
/// The longest wait for output of processes that the command left running.
const REST: Duration = Duration::from_secs(2);

/// A command that runs during the recording.
pub(super) struct Running {
    line: Vec<String>,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no signals to pass on"))]
    id: u32,
    ended: Arc<AtomicBool>,
    waiting: JoinHandle<io::Result<ExitStatus>>,
    output: JoinHandle<()>,
    kept: Arc<Mutex<Vec<u8>>>,
    /// Whether a signal was passed on.
    told: AtomicBool,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no signals to pass on"))]
    terminated: Arc<AtomicBool>,
}

/// What is known of the command after it has ended.
pub(super) struct CommandEnd {
    pub command: RecordedCommand,
    /// What it measured, and whether it says when.
    pub measurements: Vec<Measurement>,
    pub has_time: bool,
    pub notes: Vec<String>,
}

impl Running {
    /// Starts the command; its output goes to `to`. `None` without a command.
    pub(super) fn start(
        line: &[PathBuf],
        to: Box<dyn Write + Send>,
    ) -> Result<Option<Self>, WatchError> {
        let [program, args @ ..] = line else { return Ok(None) };
        let started = Command::new(program).args(args).stdout(Stdio::piped()).spawn();
        let mut child: Child = started.map_err(|source| WatchError::Command {
            program: concealed(&program.to_string_lossy()).into_owned(),
            source,
        })?;
        let kept = Arc::new(Mutex::new(Vec::new()));
        let stdout = child.stdout.take();
        let (id, ended) = (child.id(), Arc::new(AtomicBool::new(false)));
        let terminated = Arc::default();
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&terminated))
            .map_err(WatchError::Signal)?;
        let has_ended = Arc::clone(&ended);
        let waiting = std::thread::spawn(move || {
            let status = child.wait();
            has_ended.store(true, Ordering::Release);
            status
        });
        let keep = Arc::clone(&kept);
        let output = std::thread::spawn(move || {
            if let Some(stdout) = stdout {
                pass_on(stdout, to, &keep);
            }
        });
        // It is recorded and shown.
        let line = line.iter().map(|word| concealed(&word.to_string_lossy()).into_owned());
        let line = line.collect();
        let told = AtomicBool::new(false);
        Ok(Some(Self { line, id, ended, waiting, output, kept, told, terminated }))
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// A signal came: the command hears of it where the terminal has not told it already.
    pub(super) fn signal(&self) {
        if !self.told.swap(true, Ordering::AcqRel) {
            // A command of Windows is in the same console, which tells it.
            #[cfg(unix)]
            self.pass_on_signal();
        }
    }

    #[cfg(unix)]
    fn pass_on_signal(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        let terminated = self.terminated.load(Ordering::Acquire);
        let by_terminal = !terminated && is_of_terminal();
        let pid = i32::try_from(self.id).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| !by_terminal && !self.has_ended()) {
            // One that has ended in this moment needs none.
            let _ = kill_process(pid, if terminated { Signal::TERM } else { Signal::INT });
        }
    }

    /// What became of it, once it has ended.
    pub(super) fn end(self) -> Result<CommandEnd, WatchError> {
        let status = self.waiting.join().unwrap_or_else(|_| Err(io::Error::other("lost")));
        let status = status.map_err(WatchError::Lost)?;
        // Something it started may hold its stdout open for long.
        let until = Instant::now() + REST;
        while !self.output.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        let command = RecordedCommand { line: self.line, exit_code: status.code(), signal };
        let (measurements, has_time, notes) = read(&with_call(&command.line, output));
        Ok(CommandEnd { command, measurements, has_time, notes })
    }
}

/// Whether a signal from the keyboard reaches the command without us: it is in our process group,
/// and that has the terminal.
#[cfg(unix)]
fn is_of_terminal() -> bool {
    let terminals = [rustix::stdio::stdin(), rustix::stdio::stderr()];
    let group = rustix::process::getpgrp();
    terminals.into_iter().any(|fd| rustix::termios::tcgetpgrp(fd).is_ok_and(|g| g == group))
}

/// Copies what comes, and keeps the beginning.
fn pass_on(mut from: impl Read, mut to: impl Write, kept: &Mutex<Vec<u8>>) {
    let mut buffer = vec![0; 64 << 10];
    let mut open = true;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let part = buffer.get(..count).unwrap_or_default();
        // The reader may have gone; the command continues all the same.
        open = open && to.write_all(part).and_then(|()| to.flush()).is_ok();
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = KEPT_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(part.get(..room).unwrap_or(part));
    }
}

/// The output of fio below its command line, which has what its text does not tell.
fn with_call(line: &[String], output: Vec<u8>) -> Vec<u8> {
    if !super::record::is_fio(line) || output.trim_ascii_start().starts_with(b"{") {
        return output;
    }
    [line.join(" ").as_bytes(), b"\n", &output].concat()
}

/// The measurements in the output, as far as it is known, and whether they record when they ran.
fn read(output: &[u8]) -> (Vec<Measurement>, bool, Vec<String>) {
    let own = std::str::from_utf8(output).ok().and_then(|text| Document::parse(text).ok());
    if let Some(document) = own {
        return (document.measurements().into_iter().cloned().collect(), true, Vec::new());
    }
    let now = Timestamp::now().to_string();
    match recognise(output, "its output", &now) {
        Ok(Some(found)) => (found.measurements, false, found.notes),
        Ok(None) => (Vec::new(), false, Vec::new()),
        Err(error) => (Vec::new(), false, vec![format!("its output cannot be read: {error}")]),
    }
}
