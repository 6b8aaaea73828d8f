//! A trace is replayed on storage: `replay`.

mod convert;
mod fit;
mod host;
mod judged;
mod limits;
mod moment;
mod part;
mod perform;

use std::path::{Path, PathBuf};

use engine::Permissions;
use jiff::Timestamp;
use results::{
    Conclusion, Document, Experiment, Replay, ReplayMap, ReplayResult, ReplayTiming, Status,
};
use serde::{Deserialize, Serialize};
use survey::{Progress, Site};
use workload::{Bytes, Target, Workload, show_duration, show_ns};

pub(crate) use convert::{demerit, latency, set};
pub(crate) use fit::plural_of;
pub use fit::{FitPlan, FitTarget};
pub(crate) use judged::JudgedLoad;
pub use limits::{Growth, LatencyLimit};
pub use moment::TraceMoment;
pub use part::PartPlan;
pub(crate) use part::{Part, open};
pub use perform::ReplayTarget;
pub(crate) use perform::{Manner, perform};

use crate::conduct::{Conducted, JobError, Relay, Session};
use crate::event::Event;
use crate::job::{Description, Job};
use crate::plan::PlanError;
use crate::subject::Subject;
use perform::prepare;

/// Above this, latency from due says how long the backlog is, and not how fast the target is.
const BACKLOG_NS: u64 = 100_000_000;
/// Above this, the host issued I/Os too late.
const LAG_NS: u64 = 1_000_000;

/// Which trace is replayed, where and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayPlan {
    /// The part of the trace to replay, its users and its speed.
    pub part: PartPlan,
    /// What decides when an I/O is issued.
    pub timing: ReplayTiming,
    /// How addresses of the trace become addresses of the target.
    pub map: ReplayMap,
    /// Stop after so many seconds; without, at the end of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The targets, which are replayed on one after the other.
    pub targets: Vec<ReplayTarget>,
}

impl ReplayPlan {
    fn check(&self) -> Result<(), JobError> {
        self.part.check()?;
        let usage = |text: String| Err(JobError::Usage(text));
        match self.seconds {
            Some(seconds) if !(0.01..=31.0 * 86_400.0).contains(&seconds) => {
                return usage(format!("--seconds is {seconds}: it must be 10 ms to 31 days"));
            }
            None if self.part.looped => {
                return usage("--loop has no end; say how long with --seconds".to_owned());
            }
            _ => {}
        }
        if self.targets.is_empty() {
            return usage("name a directory on the storage, a file or a block device".to_owned());
        }
        Ok(())
    }

    fn manner(&self, part: &Part) -> Result<Manner, JobError> {
        if self.timing != ReplayTiming::AsTimed && !part.contents.is_timed() {
            let text = format!(
                "`{}` does not say how long its I/Os took, so what waited for what is not known; \
                 replay it with --as-timed",
                part.path.display()
            );
            return Err(JobError::Usage(text));
        }
        let at_most_ns =
            self.seconds.map_or(u64::MAX, |s| workload::Nanoseconds::from_seconds(s).0);
        Ok(Manner {
            selection: part.selection,
            mode: convert::mode(self.timing),
            map: convert::map_kind(self.map),
            at_most_ns,
        })
    }

    fn workload(&self, target: &ReplayTarget, part: &Part) -> Workload {
        target.workload(&part.contents, convert::map_kind(self.map))
    }

    /// How long one replay takes, if the target keeps up.
    fn length_s(&self, part: &Part) -> f64 {
        let whole = part.contents.span_ns as f64 / 1e9 / part.selection.speed;
        let whole = if self.part.looped { f64::MAX } else { whole };
        whole.min(self.seconds.unwrap_or(f64::MAX))
    }

    fn replay_all(
        &self,
        part: &Part,
        (permissions, stop): (&Permissions, &std::sync::atomic::AtomicBool),
        relay: &Relay<'_>,
    ) -> Result<Vec<ReplayResult>, JobError> {
        let manner = self.manner(part)?;
        let mut results = Vec::new();
        for (index, target) in self.targets.iter().enumerate() {
            let workload = self.workload(target, part);
            let prepared = prepare(&workload, (permissions, stop), relay)?;
            let seconds = self.length_s(part);
            relay.pass(&Event::Step {
                number: index + 1,
                of: self.targets.len(),
                title: format!("replay on {}", target.target.path.display()),
                seconds_left: Some(seconds * (self.targets.len() - index) as f64),
            });
            let ready = (&workload, &prepared);
            let performed = perform(&part.path, &part.contents, &manner, ready, stop)?;
            let path = prepared.targets().first().map(|t| t.path().to_owned());
            let path: PathBuf = path.unwrap_or_else(|| target.target.path.clone());
            results.push(convert::result((path, self.map), &part.contents, &manner, &performed));
            if stop.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
        }
        Ok(results)
    }
}

impl Job for ReplayPlan {
    fn plan(&self) -> crate::Plan {
        crate::Plan::Replay(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let title = format!("replay of {}", self.part.trace.display());
        let targets: Vec<Target> = self.targets.iter().map(|t| t.target.clone()).collect();
        let engine = self.targets.first().map(|t| t.engine).unwrap_or_default();
        Ok(Subject::new("replay", Replay::SCHEMA, title, (&targets, engine), self)?)
    }

    fn targets(&self) -> Vec<&Path> {
        self.targets.iter().map(|target| target.target.path.as_path()).collect()
    }

    fn is_artificial(&self) -> bool {
        self.targets.iter().all(|target| target.engine.is_artificial())
    }

    fn pin(&mut self, document: &Document) {
        let Document::Replay(found) = document else { return };
        self.part.trace.clone_from(&found.conclusion.part.trace);
        for (target, result) in self.targets.iter_mut().zip(&found.conclusion.results) {
            target.target.path.clone_from(&result.target);
            target.target.size_bytes = Some(Bytes(result.target_bytes));
        }
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        self.check()?;
        let part = self.part.read()?;
        self.manner(&part)?;
        let mut targets = Vec::new();
        for target in &self.targets {
            targets.extend(engine::plan(&self.workload(target, &part), permissions)?);
        }
        let (what, seconds) = (part.published().title(), self.length_s(&part));
        let each = if targets.len() > 1 { " on each target" } else { "" };
        let work = format!("replays {what} in {}{each}", show_duration(seconds));
        let used = Bytes(part.contents.touched_bytes());
        let notes = vec![format!("the trace uses {used} of its devices")];
        Ok(Description { work: vec![work], notes, ..Description::of(targets) })
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        self.check()?;
        let part = self.part.read()?;
        self.manner(&part)?;
        let (permissions, stop) = (session.permissions.clone(), session.stop);
        for target in &self.targets {
            engine::plan(&self.workload(target, &part), &permissions)?;
        }
        let paths: Vec<&Path> = self.targets();
        let site = if self.is_artificial() {
            Site::of(&self.workload(&self.targets[0], &part))
        } else {
            Site::of_paths(&paths)
        };
        let relay = Relay::open(session, self)?;
        let started = Timestamp::now();
        let id = engine::new_id(started);
        relay.hear(&Progress::Began { id: &id, started: &started.to_string() });
        let results = self
            .replay_all(&part, (&permissions, stop), &relay)
            .inspect_err(|_| relay.give_up())?;
        let conclusion = Replay { part: part.published(), timing: self.timing, results };
        let interrupted = stop.load(std::sync::atomic::Ordering::Relaxed);
        let document = Experiment {
            schema: Replay::SCHEMA.to_owned(),
            id,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started: started.to_string(),
            finished: Timestamp::now().to_string(),
            status: status(&conclusion, interrupted),
            plan: None,
            targets: conclusion.results.iter().map(|r| r.target.clone()).collect(),
            file_bytes: conclusion.results.iter().map(|r| r.target_bytes).sum(),
            environment: site.environment().clone(),
            measurements: Vec::new(),
            method: method(&conclusion),
            warnings: [warnings(&part, &conclusion), site.environment().doubts()].concat(),
            conclusion,
        };
        Ok(relay.finish(Document::Replay(Box::new(document))))
    }
}

fn status(replay: &Replay, interrupted: bool) -> Status {
    let fails = |result: &ReplayResult| result.errors > 0 || result.unfinished > 0;
    match interrupted {
        _ if replay.results.iter().any(fails) => Status::Failed,
        true => Status::Interrupted,
        false => Status::Complete,
    }
}

/// The method of the document: how I/Os were timed and where they went, sentence by sentence.
fn method(replay: &Replay) -> Vec<String> {
    let timing = match replay.timing {
        ReplayTiming::AsTimed => {
            "Each I/O was issued at its time in the trace, whatever the target did (open loop); \
             its latency counts from the moment at which it was due."
        }
        ReplayTiming::Closed => {
            "I/Os were issued in the order of the trace, each as soon as no more were in flight \
             than in the trace. Pauses of the trace are left out."
        }
        ReplayTiming::Dependent => {
            "Each I/O waited for the one that completed last before it was issued in the trace, \
             and then as long as it did there; its latency counts from that moment."
        }
    };
    let mut method = vec![timing.to_owned()];
    let map = replay.results.first().map(|result| match result.map {
        ReplayMap::Identity => "Each I/O went to its own offset.",
        ReplayMap::Compact => {
            "The regions of 1 MiB that the trace uses lie side by side on the target, in their \
             order: runs stay runs, and what is hot stays hot."
        }
        ReplayMap::Stretched => {
            "The regions of 1 MiB that the trace uses are spread over the target in their order, \
             with equal gaps between runs of them."
        }
        ReplayMap::Folded => {
            "The regions of 1 MiB that the trace uses lie side by side and begin again where the \
             target ends. Several share a place, so caches serve more than in the trace."
        }
    });
    method.extend(map.map(str::to_owned));
    if replay.part.users > 1.0 {
        method.push(
            "More users are copies of the trace that begin at other moments of it and use the same \
             addresses. Of real users, commits share writes of the log, and caches share pages: \
             copies do neither."
                .to_owned(),
        );
    }
    method
}

/// Every reason to doubt a figure.
fn warnings(part: &Part, replay: &Replay) -> Vec<String> {
    let mut warnings = part.warnings();
    for result in &replay.results {
        let target = result.target.display();
        if result.backlog_ns > BACKLOG_NS && replay.timing == ReplayTiming::AsTimed {
            let behind = show_ns(result.backlog_ns as f64);
            warnings.push(format!(
                "`{target}` did not keep up: its last I/O was issued {behind} late. Latency from \
                 due is that of a growing queue; --dependent shows what users would wait."
            ));
        }
        if let Some(lag) = result.lag_ns.filter(|lag| lag.p99 > LAG_NS) {
            let lag = show_ns(lag.p99 as f64);
            let why = if result.waited_ios == 0 {
                "this host is busy, or the I/O engine blocks"
            } else {
                "the most I/Os that a replay has in flight were in flight, or this host is busy"
            };
            warnings.push(format!(
                "1 % of the I/Os on `{target}` were issued more than {lag} late: {why}."
            ));
        }
        if let Some(error) = &result.first_error {
            warnings.push(format!("An I/O on `{target}` failed, which ended the replay: {error}."));
        }
        if result.unfinished > 0 {
            let ios = workload::plural(result.unfinished, "I/O", "I/Os");
            warnings.push(format!("{ios} on `{target}` never returned."));
        }
    }
    warnings
}
