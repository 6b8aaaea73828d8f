//! The process that writes. It may be killed at any moment, and the machine with it.

use std::fs::File;
use std::io::{self, BufReader};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use engine::{Permissions, PrepareError, Prepared};
use integrity::durability::{Header, Plan, Promised, Promises, Shape, Writer};
use serde::{Deserialize, Serialize};
use workload::{EngineChoice, Workload};

use super::DurabilityPlan;
use super::checking::prepare_left;
use super::layout::workload_of;
use crate::conduct::JobError;
use crate::event::{Event, Sink};

/// How often it is looked whether the time is up.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Time between two reports on how much is promised.
const SAID_EVERY: Duration = Duration::from_secs(10);

/// Everything that a writer must know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Assignment {
    header: Header,
    /// The process that assigns it.
    parent: u32,
    destroy: Vec<engine::Destroy>,
    overfill: bool,
    engine: EngineChoice,
    seconds: f64,
    kill_after_seconds: Option<f64>,
}

impl Assignment {
    pub(super) fn new(plan: &DurabilityPlan, header: &Header, permissions: &Permissions) -> Self {
        Self {
            header: header.clone(),
            parent: std::process::id(),
            destroy: permissions.destroy.clone(),
            overfill: permissions.overfill,
            engine: plan.engine,
            seconds: plan.seconds,
            kill_after_seconds: plan.kill_after_seconds,
        }
    }
}

fn notice(sink: &mut dyn Sink, text: String) {
    sink.hear(&Event::Notice { text });
}

/// Writes as the assignment says, with the witness on standard input and output. The process that
/// assigned it reads the events as lines of JSON on stderr.
///
/// # Errors
/// The writer could not begin or continue, and why.
pub fn write_durably(
    assignment: &str,
    sink: &mut dyn Sink,
    stop: &AtomicBool,
) -> Result<(), JobError> {
    let assignment: Assignment = serde_json::from_str(assignment)
        .map_err(|error| JobError::Usage(format!("the assignment of a writer: {error}")))?;
    end_with_parent(assignment.parent)?;
    let header = &assignment.header;
    let (mut input, mut output) = (BufReader::new(io::stdin()), io::stdout());
    let (promises, held) = Promises::begin(header, &mut input, &mut output)
        .map_err(|error| JobError::CannotRun(error.to_string()))?;
    let workload = workload_of(header, assignment.engine, true);
    let prepared = prepare(&assignment, &workload, &held, sink, stop)?;
    make_names_last(header)?;
    let shape = Shape::new(&header.plan, &header.targets);
    let shape = shape.map_err(|error| JobError::CannotRun(error.to_string()))?;
    let team = Team {
        plan: &header.plan,
        shape: &shape,
        workload: &workload,
        prepared: &prepared,
        promises: &promises,
        ends: AtomicBool::new(false),
        failure: Mutex::new(None),
        stop,
    };
    notice(sink, "writing".to_owned());
    std::thread::scope(|scope| {
        let carrying = scope.spawn(|| promises.carry(&mut input, &mut output));
        let writers: Vec<_> = (0u32..)
            .zip(&held)
            .map(|(thread, held)| {
                let team = &team;
                scope.spawn(move || team.write(thread, *held))
            })
            .collect();
        watch(&assignment, &team, sink, || writers.iter().all(ScopedJoinHandle::is_finished));
        for writer in writers {
            // A thread that panicked has already reported it.
            let _ = writer.join();
        }
        promises.end();
        if let Ok(Err(error)) = carrying.join() {
            team.fail(error.to_string());
        }
    });
    notice(sink, promised(&promises, header));
    let failure = team.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(()), |text| Err(JobError::CannotRun(text)))
}

/// How much is promised, as a sentence.
fn promised(promises: &Promises, header: &Header) -> String {
    let (logged, written) = promises.held();
    let operations = logged.max(written) * u64::from(header.plan.batch);
    format!("{operations} operations are promised to be durable")
}

/// Makes the files ready; those of an earlier round are left as they are.
fn prepare(
    assignment: &Assignment,
    workload: &Workload,
    held: &[Promised],
    sink: &mut dyn Sink,
    stop: &AtomicBool,
) -> Result<Prepared, PrepareError> {
    let permissions = Permissions {
        destroy: assignment.destroy.clone(),
        overfill: assignment.overfill,
        keep: true,
        any_name: true,
    };
    let mut show = |event: &engine::Event| sink.hear(&Event::Engine(event.clone()));
    if held.iter().any(|promised| *promised != Promised::default()) {
        return prepare_left(workload, &permissions, &mut show);
    }
    engine::prepare(workload, &permissions, stop, &mut show)
}

/// A new file lasts only when its directory does, too.
fn make_names_last(header: &Header) -> Result<(), JobError> {
    if cfg!(windows) {
        // Windows does not flush directories. A flush of the file writes the log with its name.
        return Ok(());
    }
    for directory in header.targets.iter().filter_map(|t| t.path.parent()) {
        let flushed = File::open(directory).and_then(|directory| directory.sync_all());
        flushed.map_err(|error| {
            let directory = directory.display();
            JobError::CannotRun(format!("cannot flush the directory `{directory}`: {error}"))
        })?;
    }
    Ok(())
}

/// Waits until the time is up, or all writers have ended; or kills this process.
fn watch(assignment: &Assignment, team: &Team<'_>, sink: &mut dyn Sink, ended: impl Fn() -> bool) {
    let began = Instant::now();
    let mut said = began;
    while !ended() {
        let seconds = began.elapsed().as_secs_f64();
        if assignment.kill_after_seconds.is_some_and(|after| seconds >= after) {
            die();
        }
        if seconds >= assignment.seconds {
            team.ends.store(true, Ordering::Relaxed);
        }
        if said.elapsed() >= SAID_EVERY {
            said = Instant::now();
            notice(sink, promised(team.promises, &assignment.header));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Ends this process as a crash would: nothing of it runs any more.
fn die() -> ! {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpid, kill_process};
        let _ = kill_process(getpid(), Signal::KILL);
    }
    std::process::abort()
}

/// Ends the writer in order when its parent is gone. Otherwise it would write until its time is up.
#[cfg(target_os = "linux")]
fn end_with_parent(parent: u32) -> Result<(), JobError> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    // There is no signal from a parent that ended before that call.
    if std::os::unix::process::parent_id() == parent {
        return Ok(());
    }
    Err(JobError::Interrupted("the process that started the writer has ended".to_owned()))
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "Linux can tell")]
fn end_with_parent(_: u32) -> Result<(), JobError> {
    Ok(())
}

/// State that the writing threads share.
struct Team<'a> {
    plan: &'a Plan,
    shape: &'a Shape,
    workload: &'a Workload,
    prepared: &'a Prepared,
    promises: &'a Promises,
    /// Set when the time is up, or when one of them could not continue.
    ends: AtomicBool,
    failure: Mutex<Option<String>>,
    stop: &'a AtomicBool,
}

impl Team<'_> {
    fn fail(&self, text: String) {
        self.ends.store(true, Ordering::Relaxed);
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(text);
    }

    fn write(&self, thread: u32, held: Promised) {
        if let Err(text) = self.try_write(thread, held) {
            self.fail(text);
        }
    }

    fn try_write(&self, thread: u32, held: Promised) -> Result<(), String> {
        let open = |stream| {
            let opened = engine::open_queue(self.workload, self.prepared, stream);
            opened.map(|(queue, _)| queue).map_err(|error| error.to_string())
        };
        let through = if self.plan.writes_through() { Some(open(1)?) } else { None };
        let writer = Writer::new(self.plan, self.shape, thread, open(0)?, through, held);
        let mut writer = writer.map_err(|error| error.to_string())?;
        let stop = || self.ends.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed);
        let mut promise = |promised| self.promises.promise(thread, promised);
        while self.promises.wait(thread, &stop).map_err(|error| error.to_string())? {
            writer.batch(&mut promise).map_err(|error| error.to_string())?;
        }
        writer.finish(&mut promise).map_err(|error| error.to_string())
    }
}
