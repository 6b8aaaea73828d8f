//! What was acknowledged as durable must survive a crash. This process starts one process that
//! writes and one that witnesses the promises, and checks when the writer is gone.
//!
//! The other two are this program, too: `validate --serve-witness FILE` calls
//! [`integrity::durability::serve`], and `validate --write-durably JSON` calls [`write_durably`].

mod checking;
mod layout;
mod processes;
mod result;
mod witness;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::Permissions;
use integrity::durability::{Header, Order, SyncMode};
use results::{Conclusion as _, Document, Durability, DurabilityVerdict, WriterEnd};
use serde::{Deserialize, Serialize};
use workload::{Bytes, EngineChoice, Mode};

use crate::conduct::{Conducted, JobError, Relay, Session};
use crate::event::Event;
use crate::job::{Description, Job};
use crate::plan::{Plan, PlanError};
use crate::subject::Subject;
use checking::check;
use layout::{Layout, replace_targets};
use processes::Processes;
use result::PendingResult;
use witness::Source;
use writing::Assignment;
pub use writing::write_durably;

/// The files, the call that makes writes durable, and the witness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DurabilityPlan {
    /// The longest that the writer writes.
    pub seconds: f64,
    /// The writer kills itself after this time of writing: a crash of a process.
    pub kill_after_seconds: Option<f64>,
    /// How often the writer writes and the result is checked.
    pub rounds: u32,
    /// The engine that does the I/O.
    pub engine: EngineChoice,
    /// Past the cache of the operating system, or through it.
    pub mode: Mode,
    /// Where every choice starts, what pages are recognised by, and the names of files. Without
    /// one, each run draws its own.
    pub seed: Option<u64>,
    /// Size of a page in bytes.
    pub page_bytes: u32,
    /// Threads, each with pages of its own.
    pub threads: u32,
    /// Operations of a thread that are in flight together and made durable together.
    pub depth: u32,
    /// The call or flag that makes a write durable.
    pub sync: SyncMode,
    /// Order in which writes become durable.
    pub order: Order,
    /// Another host that keeps the promises, by ssh: `HOST` or `HOST:FILE`.
    pub witness: Option<String>,
    /// Where this host keeps that; without it, a file in the current directory.
    pub witness_file: Option<PathBuf>,
    /// Size of each target in bytes.
    pub size_bytes: Bytes,
    /// Directories, files or block devices that pages are written to.
    pub targets: Vec<PathBuf>,
    /// Where the log is; without it, in the first target that is a directory.
    pub log: Option<PathBuf>,
    /// Size of the log; without it, what it needs.
    pub log_size_bytes: Option<Bytes>,
}

/// A run that is checked after a crash.
#[derive(Debug, Clone, Copy)]
pub struct VerifyRequest<'a> {
    /// The witness's file: `FILE` or `HOST:FILE`.
    pub witness: &'a str,
    /// Where its targets are now; `None` if they were.
    pub targets: &'a [PathBuf],
    /// The engine that does the I/O.
    pub engine: EngineChoice,
}

impl DurabilityPlan {
    fn about(&self, header: &Header) -> String {
        let size: u64 = header.targets.iter().map(|t| t.size_bytes).sum();
        let end = match self.kill_after_seconds {
            Some(seconds) => format!("the writer is killed after {seconds} s"),
            None => format!("for {} s, or until it crashes", self.seconds),
        };
        format!(
            "{} threads x {} pages of {} in flight on {}, durable by {}, order {}; {end}",
            self.threads,
            self.depth,
            Bytes(self.page_bytes.into()),
            Bytes(size),
            self.sync.name(),
            self.order.name(),
        )
    }
}

impl Job for DurabilityPlan {
    fn plan(&self) -> Plan {
        Plan::Durability(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let target = |path: &PathBuf| workload::Target { path: path.clone(), size_bytes: None };
        let targets: Vec<_> = self.targets.iter().chain(&self.log).map(target).collect();
        let title = Durability::phrase(self.sync, self.order, self.page_bytes);
        let on = (&*targets, self.engine);
        let subject = Subject::new("validate", Durability::SCHEMA, title, on, self)?;
        // Live events flush a disk, and that may be the disk whose caches are tested.
        Ok(Subject { watched: false, ..subject })
    }

    fn targets(&self) -> Vec<&Path> {
        self.targets.iter().chain(&self.log).map(PathBuf::as_path).collect()
    }

    fn is_artificial(&self) -> bool {
        self.engine.is_artificial()
    }

    /// A file that was made in a directory gets another name.
    fn pin(&mut self, document: &Document) {
        for (target, found) in self.targets.iter_mut().chain(&mut self.log).zip(document.targets())
        {
            let directory = found.parent().filter(|_| layout::is_named_here(&found));
            *target = directory.map_or_else(|| found.clone(), Path::to_owned);
        }
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        let Layout { header, targets, .. } = self.lay_out(permissions)?;
        Ok(Description { notes: vec![self.about(&header)], ..Description::of(targets) })
    }

    /// Writes, and checks when the writer is gone; several times if the plan asks for rounds.
    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let stop = session.stop;
        let Layout { header, permissions, .. } = self.lay_out(&session.permissions)?;
        let source = Source::of(self, &header)?;
        let relay = Relay::open(session, self)?;
        let expected = PendingResult::begin(&relay);
        relay.notice(self.about(&header));
        relay.notice(source.describe(&header, self.kill_after_seconds.is_some()));
        let rounds = Rounds { plan: self, header: &header, permissions: &permissions, stop };
        relay.leaves_behind(Some(&result::left_behind(&header, &source)));
        let found = rounds.write(&source, &relay);
        relay.leaves_behind(None);
        let found = found.inspect_err(|_| {
            relay.give_up();
            result::say_what_stays(&header, &source, &relay);
        })?;
        Ok(expected.finish((&header, &source), found, &relay, stop))
    }
}

/// Checks a run whose writer is gone.
///
/// # Errors
/// Nothing was checked, and why.
pub fn verify(
    request: VerifyRequest<'_>,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    let stop = session.stop;
    let source = Source::parse(request.witness)?;
    let (mut header, state) = source.read()?;
    replace_targets(&mut header, request.targets)?;
    header.keep |= session.permissions.keep;
    let relay = Relay::of(session, subject_of(&header, request.engine)?, None)?;
    let expected = PendingResult::begin(&relay);
    if state.sequence == 0 && header.targets.iter().all(|target| !target.path.exists()) {
        relay.give_up();
        source.remove(&header, &relay);
        let text = "the run ended before it made its files, so nothing was promised".to_owned();
        return Err(JobError::CannotRun(text));
    }
    let written = (None, WriterEnd::Unseen);
    let found = check((&header, &source), written, request.engine, &relay, stop);
    let found = found.inspect_err(|_| {
        relay.give_up();
        result::say_what_stays(&header, &source, &relay);
    })?;
    Ok(expected.finish((&header, &source), found, &relay, stop))
}

/// A check is not repeated by a plan, but with the witness's file.
fn subject_of(header: &Header, engine: EngineChoice) -> Result<Subject, PlanError> {
    let plan = &header.plan;
    let title = Durability::phrase(plan.sync, plan.order, plan.page_bytes);
    let targets = layout::workload_of(header, engine, false).targets;
    let on = (&*targets, engine);
    let subject = Subject::new("validate", Durability::SCHEMA, title, on, plan)?;
    Ok(Subject { watched: false, plan: "null".to_owned(), ..subject })
}

/// Repeats writing and checking until the last round, the first loss or a stop.
struct Rounds<'a> {
    plan: &'a DurabilityPlan,
    header: &'a Header,
    permissions: &'a Permissions,
    stop: &'a AtomicBool,
}

impl Rounds<'_> {
    /// The result of the last check.
    fn write(&self, source: &Source, relay: &Relay<'_>) -> Result<Durability, JobError> {
        let count = self.plan.rounds;
        let mut round = 1;
        loop {
            if count > 1 {
                relay.notice(format!("round {round} of {count}"));
            }
            let found = self.one(source, round, relay)?;
            let is_last = round >= count || self.stop.load(Ordering::Relaxed);
            if is_last || found.verdict == DurabilityVerdict::Lost {
                return Ok(found);
            }
            relay.notice(found.sentence);
            round += 1;
        }
    }

    /// Lets the writer write until it is gone, and checks.
    fn one(&self, source: &Source, round: u32, relay: &Relay<'_>) -> Result<Durability, JobError> {
        let Self { plan, header, permissions, stop } = self;
        let assignment = Assignment::new(plan, header, permissions);
        let ended = Processes::start(source, &assignment)?.wait(stop, relay)?;
        let killed = match ended {
            WriterEnd::InOrder => "the writer has ended in order",
            WriterEnd::Killed if plan.kill_after_seconds.is_some() => "the writer was killed",
            WriterEnd::Killed => "the writer is gone: it was killed",
            WriterEnd::Failed | WriterEnd::Unseen => "",
        };
        if killed.is_empty() {
            let text = "the writer could not continue; what it had promised is checked".to_owned();
            relay.pass(&Event::Error { text });
        } else {
            relay.notice(killed.to_owned());
        }
        let interrupted = stop.load(Ordering::Relaxed);
        let has_promised = match source.read() {
            Ok((_, state)) => state.sequence > 0 || ended != WriterEnd::Failed,
            // A writer that is interrupted as it starts has not written its first line.
            Err(_) if interrupted && source.is_here() => false,
            Err(error) => return Err(error),
        };
        if !has_promised {
            // Nothing was promised, so the files prove nothing.
            if !header.keep {
                result::remove_files(header, relay);
            }
            source.remove(header, relay);
            return Err(if interrupted {
                JobError::Interrupted("interrupted before the writer began".to_owned())
            } else {
                let text = "the writer could not begin; what it said is above";
                JobError::CannotRun(text.to_owned())
            });
        }
        check((header, source), (Some(round), ended), plan.engine, relay, stop)
    }
}
