//! How many times the load of a trace storage carries: `fit`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use engine::Permissions;
use jiff::Timestamp;
use replay::{
    Attempt, Bracket, Edge, FACTORS, Failing, Limit, MapKind, Mode, SUPPORT_MIN, Selection, bracket,
};
use results::{
    CapturedOp, Conclusion, Document, Experiment, Fit, FitAttempt, FitCause, FitEdge, FitLimit,
    FitResult, FitSide, ReplayTiming, Status,
};
use serde::{Deserialize, Serialize};
use survey::{Progress, Site};
use workload::{Bytes, SimDevice, Target, Workload, show_duration, show_ns, show_number};

use super::limits::{Growth, LatencyLimit, limits};
use super::part::{Part, PartPlan};
use super::perform::{Manner, ReplayTarget, perform, prepare};
use crate::conduct::{Conducted, JobError, Relay, Session};
use crate::event::Event;
use crate::job::{Description, Job};
use crate::plan::PlanError;
use crate::subject::Subject;

/// Replays that a fit takes, about: for the time it says beforehand.
const REPLAYS: usize = 15;

/// Which load is fitted, within which limits, and on which storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitPlan {
    /// The part of the trace, with one times its users.
    pub part: PartPlan,
    /// The longest part that is replayed.
    pub seconds: f64,
    /// The limits that have to hold; if empty, those of the roles.
    pub limits: Vec<LatencyLimit>,
    /// How fast the load grows; without, no months are reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// The storage: first what is measured, then models.
    pub targets: Vec<FitTarget>,
}

/// One storage, real or simulated, that may carry the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitTarget {
    /// The storage that is measured, or the simulated device.
    pub on: ReplayTarget,
    /// Where the model comes from; `None` for storage that is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The device of the upper edge, where a model is only known to be between two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_best: Option<SimDevice>,
}

impl FitTarget {
    /// A model by its name: a simulated device as a TOML file, or a volume of a provider. `like`
    /// says the rest.
    ///
    /// # Errors
    /// The file cannot be read, or the volume is not known.
    fn model(text: &str, like: &ReplayTarget) -> Result<Self, JobError> {
        let (sim, at_best, model) = if survey::names_volume(text) && !Path::new(text).exists() {
            let wrong = |error: survey::ClaimsError| JobError::Usage(error.to_string());
            let volume = survey::volume_model(text).map_err(wrong)?;
            (volume.slow, Some(volume.fast), format!("what is documented: {}", volume.documented))
        } else {
            let model = format!("the simulated device of {text}");
            (crate::simulated_device(text)?, None, model)
        };
        let target = Target { path: text.into(), size_bytes: None };
        let engine = workload::EngineChoice::Sim;
        let on = ReplayTarget { target, engine, sim: Some(sim), ..like.clone() };
        Ok(Self { on, model: Some(model), at_best })
    }
}

impl FitTarget {
    /// Whether a model that is only known to be between two devices holds all limits when it is
    /// idle. If not, the slower device carries nothing.
    fn has_room(&self, limits: &[(Limit, FitLimit)]) -> bool {
        let slow = self.at_best.as_ref().and(self.on.sim.as_ref());
        slow.is_none_or(|slow| limits.iter().all(|(limit, _)| slow.read_ns.0 <= limit.at_most_ns))
    }
}

/// What the searches on all targets have in common.
struct Search<'a> {
    part: &'a Part,
    limits: &'a [(Limit, FitLimit)],
    growth: Option<Growth>,
    stop: &'a AtomicBool,
}

impl FitPlan {
    /// What is measured, followed by models by their names; `like` says the rest of these.
    ///
    /// # Errors
    /// A file cannot be read, or a volume is not known.
    pub fn targets(
        measured: Vec<ReplayTarget>,
        models: &[String],
        like: &ReplayTarget,
    ) -> Result<Vec<FitTarget>, JobError> {
        let measured =
            measured.into_iter().map(|on| Ok(FitTarget { on, model: None, at_best: None }));
        let models = models.iter().map(|text| FitTarget::model(text, like));
        measured.chain(models).collect()
    }

    fn read(&self) -> Result<Part, JobError> {
        if self.targets.is_empty() {
            let text = "name a directory on the storage, a file or a block device, or a model with \
                        --device";
            return Err(JobError::Usage(text.to_owned()));
        }
        if !(0.1..=86_400.0).contains(&self.seconds) {
            let text = format!("--seconds is {}: it must be 0.1 to 86400 seconds", self.seconds);
            return Err(JobError::Usage(text));
        }
        let length_ns = workload::Nanoseconds::from_seconds(self.seconds).0;
        if self.part.from.is_none() && self.part.to.is_none() {
            return self.part.read_busiest(length_ns);
        }
        self.part.read_at_most(length_ns)
    }

    /// Kinds that are limited, and of which the trace has some I/Os and too few to judge them.
    fn too_few(&self, part: &Part) -> Vec<CapturedOp> {
        let limits = limits(&self.limits, !part.contents.logs().is_empty());
        let few = |limit: &Limit| (1..SUPPORT_MIN).contains(&part.contents.counts[limit.class]);
        let few = limits.iter().filter(|(limit, _)| few(limit));
        few.map(|(_, published)| published.kind).collect()
    }

    /// The limits of kinds of which the trace has enough I/Os.
    fn limits_for(&self, part: &Part) -> Result<Vec<(Limit, FitLimit)>, JobError> {
        let mut limits = limits(&self.limits, !part.contents.logs().is_empty());
        limits.retain(|(limit, _)| part.contents.counts[limit.class] >= SUPPORT_MIN);
        if limits.is_empty() {
            let text = format!(
                "this part of the trace has fewer than {SUPPORT_MIN} I/Os of each kind that is \
                 limited. Use a longer part, or set limits for what it has, for example --limit \
                 write=5ms@p99"
            );
            return Err(JobError::Usage(text));
        }
        Ok(limits)
    }

    fn search_all(
        &self,
        search: &Search<'_>,
        permissions: &Permissions,
        relay: &Relay<'_>,
    ) -> Result<Vec<FitResult>, JobError> {
        let mut results = Vec::new();
        for (index, target) in self.targets.iter().enumerate() {
            let workload = target.on.workload(&search.part.contents, MapKind::Compact);
            let prepared = prepare(&workload, (permissions, search.stop), relay)?;
            let at_best = target.at_best.as_ref();
            let at_best =
                at_best.map(|sim| Workload { sim: Some(sim.clone()), ..workload.clone() });
            let path = prepared.targets().first().map(|t| t.path().to_owned());
            let path = path.unwrap_or_else(|| target.on.target.path.clone());
            let mut number = 0;
            let has_room = target.has_room(search.limits);
            let mut found = bracket(search.part.contents.is_timed(), |users, mode| {
                number += 1;
                let how = if mode == Mode::AsTimed { "open loop" } else { "copies that wait" };
                let title = format!(
                    "{} of {}: {} times the users, {how}",
                    index + 1,
                    self.targets.len(),
                    show_number(users)
                );
                let of = number.max(REPLAYS);
                relay.pass(&Event::Step { number, of, title, seconds_left: None });
                let device = at_best.as_ref().filter(|_| mode != Mode::AsTimed || !has_room);
                search.attempt(users, mode, (device.unwrap_or(&workload), &prepared))
            })?;
            if !has_room {
                found.lower = Edge::Below(FACTORS.0);
            }
            results.push(search.result(path, target.model.as_ref(), &found));
        }
        Ok(results)
    }

    fn site(&self, part: &Part) -> Site {
        let real = self.targets.iter().filter(|t| t.model.is_none());
        let paths: Vec<&Path> = real.map(|t| t.on.target.path.as_path()).collect();
        if self.is_artificial() || paths.is_empty() {
            return Site::of(&self.targets[0].on.workload(&part.contents, MapKind::Compact));
        }
        Site::of_paths(&paths)
    }
}

impl Search<'_> {
    fn attempt(
        &self,
        users: f64,
        mode: Mode,
        ready: (&Workload, &engine::Prepared),
    ) -> Result<Attempt, JobError> {
        let contents = &self.part.contents;
        let selection = Selection { users, ..self.part.selection };
        let manner = Manner { selection, mode, map: MapKind::Compact, at_most_ns: u64::MAX };
        let performed = perform(&self.part.path, contents, &manner, ready, self.stop)?;
        if self.stop.load(Ordering::Relaxed) {
            let text = "interrupted before the answer was known; nothing is kept";
            return Err(JobError::Interrupted(text.to_owned()));
        }
        if let Some(error) = &performed.figures.first_error {
            return Err(JobError::CannotRun(format!("an I/O failed: {error}")));
        }
        let limits: Vec<Limit> = self.limits.iter().map(|(limit, _)| *limit).collect();
        Ok(Attempt::judge(users, mode, &performed.figures, (&limits, contents)))
    }

    fn cause(&self, failing: Option<Failing>) -> Option<FitCause> {
        let of = |index: usize| {
            let (_, published) = self.limits.get(index)?;
            Some((published.kind, published.at_most_ns))
        };
        published_cause(failing?, of)
    }

    fn result(&self, target: PathBuf, model: Option<&String>, found: &Bracket) -> FitResult {
        let attempt = |a: &Attempt| published_attempt(a, self.cause(a.failing));
        let (lower, upper) = (published(found.lower), published(found.upper));
        let cause = self.cause(found.failing);
        let months = |edge: FitEdge| {
            let growth = self.growth.filter(|_| edge.side == FitSide::At)?;
            Some(growth.months(edge.users))
        };
        FitResult {
            sentence: sentence(&target.display().to_string(), (lower, upper), cause),
            target,
            model: model.cloned(),
            lower,
            upper,
            cause,
            lower_months: months(lower),
            upper_months: months(upper),
            attempts: found.attempts.iter().map(attempt).collect(),
        }
    }
}

/// What gave out, with the kind of a limit and what it is by its index.
pub(super) fn published_cause(
    failing: Failing,
    limit_at: impl FnOnce(usize) -> Option<(CapturedOp, u64)>,
) -> Option<FitCause> {
    Some(match failing {
        Failing::Throughput => FitCause::Throughput,
        Failing::Host => FitCause::Host,
        Failing::TooFew { limit } => FitCause::TooFew { kind: limit_at(limit)?.0 },
        Failing::Latency { limit, was_ns } => {
            let (kind, limit_ns) = limit_at(limit)?;
            FitCause::Latency { kind, was_ns, limit_ns }
        }
    })
}

/// Converts a judged replay into the form of the document.
pub(super) fn published_attempt(a: &Attempt, cause: Option<FitCause>) -> FitAttempt {
    FitAttempt {
        users: a.users,
        timing: match a.mode {
            Mode::AsTimed => ReplayTiming::AsTimed,
            Mode::Closed => ReplayTiming::Closed,
            Mode::Dependent => ReplayTiming::Dependent,
        },
        held_thirds: u32::try_from(a.held).unwrap_or(0),
        cause,
        working_percent: Some(100.0 * a.working),
        idle_percent: a.idle.map(|share| 100.0 * share),
    }
}

fn published(edge: Edge) -> FitEdge {
    match edge {
        Edge::At(users) => FitEdge { users, side: FitSide::At },
        Edge::Above(users) => FitEdge { users, side: FitSide::Above },
        Edge::Below(users) => FitEdge { users, side: FitSide::Below },
    }
}

/// A kind of I/O within a sentence.
pub(crate) fn plural_of(kind: CapturedOp) -> &'static str {
    match kind {
        CapturedOp::Read => "reads",
        CapturedOp::Write => "writes",
        CapturedOp::DurableWrite => "durable writes",
        CapturedOp::Flush => "flushes",
        CapturedOp::LogWrite => "log writes",
        CapturedOp::Discard => "discards",
    }
}

/// The answer for one target in a sentence.
fn sentence(target: &str, (lower, upper): (FitEdge, FitEdge), cause: Option<FitCause>) -> String {
    let number = |edge: FitEdge| show_number((edge.users * 100.0).round() / 100.0);
    let (from, to) = (number(lower), number(upper));
    let carries = match (lower.side, upper.side) {
        (FitSide::Below, FitSide::Above) => "an unknown part of the load".to_owned(),
        (FitSide::At, FitSide::Above) if cause == Some(FitCause::Host) => {
            format!("at least {from} times the load")
        }
        (FitSide::Below, _) => format!("less than {to} times the load"),
        (FitSide::Above, _) | (_, FitSide::Above) => format!("more than {from} times the load"),
        _ => format!("between {from} and {to} times the load"),
    };
    let why = match cause {
        None => String::new(),
        Some(FitCause::Throughput) => "; what gives out first is throughput".to_owned(),
        Some(FitCause::Host) => "; this host gives out before the storage".to_owned(),
        Some(FitCause::TooFew { kind }) => {
            format!("; there are too few {} to say more", plural_of(kind))
        }
        Some(FitCause::Latency { kind, limit_ns, .. }) => {
            let limit = show_ns(limit_ns as f64);
            let kind = plural_of(kind);
            format!("; what gives out first is the latency of {kind}, whose limit is {limit}")
        }
    };
    format!("{target} carries {carries}{why}.")
}

impl Job for FitPlan {
    fn plan(&self) -> crate::Plan {
        crate::Plan::Fit(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let title = format!("fit of {}", self.part.trace.display());
        let targets: Vec<Target> = self.targets.iter().map(|t| t.on.target.clone()).collect();
        let engine = self.targets.first().map(|t| t.on.engine).unwrap_or_default();
        Ok(Subject::new("fit", Fit::SCHEMA, title, (&targets, engine), self)?)
    }

    fn targets(&self) -> Vec<&Path> {
        self.targets.iter().map(|target| target.on.target.path.as_path()).collect()
    }

    fn is_artificial(&self) -> bool {
        self.targets.iter().all(|target| target.on.engine.is_artificial())
    }

    fn pin(&mut self, document: &Document) {
        let Document::Fit(found) = document else { return };
        self.part.trace.clone_from(&found.conclusion.part.trace);
        for (target, result) in self.targets.iter_mut().zip(&found.conclusion.results) {
            target.on.target.path.clone_from(&result.target);
        }
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        let part = self.read()?;
        let limits = self.limits_for(&part)?;
        let mut targets = Vec::new();
        for target in &self.targets {
            let workload = target.on.workload(&part.contents, MapKind::Compact);
            targets.extend(engine::plan(&workload, permissions)?);
        }
        let measured = self.targets.iter().filter(|t| t.model.is_none()).count();
        let each = part.contents.span_ns as f64 / 1e9;
        let all = show_duration((each * (REPLAYS * measured) as f64).ceil());
        let work = format!(
            "replays {} some {REPLAYS} times on each target: about {all}",
            part.published().title()
        );
        let limit = |(_, limit): &(Limit, FitLimit)| {
            let at_most = show_ns(limit.at_most_ns as f64);
            let (percent, kind) =
                (show_number(100.0 * limit.quantile), format!("{:?}", limit.kind));
            format!("p{percent} of {} at most {at_most}", kind.to_lowercase())
        };
        let notes = limits.iter().map(limit).collect();
        Ok(Description { work: vec![work], notes, ..Description::of(targets) })
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let part = self.read()?;
        let limits = self.limits_for(&part)?;
        let (permissions, stop) = (session.permissions.clone(), session.stop);
        for target in &self.targets {
            engine::plan(&target.on.workload(&part.contents, MapKind::Compact), &permissions)?;
        }
        let site = self.site(&part);
        let relay = Relay::open(session, self)?;
        let started = Timestamp::now();
        let id = engine::new_id(started);
        relay.hear(&Progress::Began { id: &id, started: &started.to_string() });
        let search = Search { part: &part, limits: &limits, growth: self.growth, stop };
        let results =
            self.search_all(&search, &permissions, &relay).inspect_err(|_| relay.give_up())?;
        let conclusion = Fit {
            part: part.published(),
            limits: limits.iter().map(|(_, limit)| limit.clone()).collect(),
            growth_percent: self.growth.map(Growth::percent_per_month),
            results,
        };
        let document = Experiment {
            schema: Fit::SCHEMA.to_owned(),
            id,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started: started.to_string(),
            finished: Timestamp::now().to_string(),
            status: Status::Complete,
            plan: None,
            targets: conclusion.results.iter().map(|r| r.target.clone()).collect(),
            file_bytes: Bytes(part.contents.touched_bytes()).0,
            environment: site.environment().clone(),
            measurements: Vec::new(),
            method: method(&conclusion),
            warnings: {
                let few = few_warnings(&self.too_few(&part), &conclusion);
                let own = warnings((&part, &self.targets), &limits, &conclusion);
                [few, own, site.environment().doubts()].concat()
            },
            conclusion,
        };
        Ok(relay.finish(Document::Fit(Box::new(document))))
    }
}

/// The method of the document, sentence by sentence: what users and both edges are, and where the
/// limits are from.
fn method(fit: &Fit) -> Vec<String> {
    let mut method = vec![
        "More users are copies of the trace that begin at other moments of it; part of a user is a \
         copy thinned by regions."
            .to_owned(),
        "The lower edge is the largest number of users at which an open loop held the limits in \
         two of three thirds. It issues each I/O at its time, however slow the storage is."
            .to_owned(),
        "The upper edge is the least number of users at which copies that wait for the storage no \
         longer held them, or took 1.2 times as long as the trace. Users wait, too."
            .to_owned(),
        "What does not superpose: commits of more users share writes of the log, checkpoints grow \
         in size and not in number, and caches are shared. Copies do none of this."
            .to_owned(),
    ];
    let mut sources: Vec<&str> = fit.limits.iter().map(|limit| limit.source.as_str()).collect();
    sources.dedup();
    method.extend(sources.iter().map(|source| format!("Limits: {source}.")));
    method
}

/// Warnings about limits and replays with too few I/Os to be judged.
fn few_warnings(left_out: &[CapturedOp], fit: &Fit) -> Vec<String> {
    let not_limited = left_out.iter().map(|kind| {
        format!(
            "The limit of {} was not judged: this part of the trace has fewer than {SUPPORT_MIN}.",
            plural_of(*kind)
        )
    });
    let thinned = fit.results.iter().filter_map(|result| {
        let few = |a: &&FitAttempt| matches!(a.cause, Some(FitCause::TooFew { .. }));
        let count = result.attempts.iter().filter(few).count() as u64;
        (count > 0).then(|| {
            format!(
                "{} on `{}` had fewer than {SUPPORT_MIN} I/Os of a kind that is limited, and say \
                 nothing. Use a longer part.",
                workload::plural(count, "replay", "replays"),
                result.target.display()
            )
        })
    });
    not_limited.chain(thinned).collect()
}

/// Every reason to doubt the answer.
fn warnings(
    (part, targets): (&Part, &[FitTarget]),
    limits: &[(Limit, FitLimit)],
    fit: &Fit,
) -> Vec<String> {
    let mut warnings = part.warnings();
    for model in fit.results.iter().filter_map(|result| result.model.as_ref()) {
        warnings.push(format!("Not measured: the answer is that of a model, {model}."));
    }
    let no_room = targets.iter().filter(|target| !target.has_room(limits));
    warnings.extend(no_room.map(|target| {
        format!(
            "What the provider documents of the latency of {} is above a limit, so only its rates \
             are judged: there is an upper edge, and no lower one.",
            target.on.target.path.display()
        )
    }));
    if !part.contents.is_timed() {
        warnings.push(
            "The trace does not say how long its I/Os took, so what users would wait for is not \
             known, and there is no upper edge."
                .to_owned(),
        );
    }
    let is_host = |a: &&FitAttempt| a.cause == Some(FitCause::Host);
    for result in &fit.results {
        let count = result.attempts.iter().filter(is_host).count() as u64;
        if count > 0 {
            let replays = workload::plural(count, "replay", "replays");
            warnings.push(format!(
                "This host was too slow for {replays} on `{}`, which say nothing about the \
                 storage. Stop other programs, or fit from a host with more processors.",
                result.target.display()
            ));
        }
    }
    let is_log = |kind: CapturedOp| {
        use CapturedOp::{DurableWrite, Flush, LogWrite};
        matches!(kind, LogWrite | DurableWrite | Flush)
    };
    let cause =
        |r: &FitResult| matches!(r.cause, Some(FitCause::Latency { kind, .. }) if is_log(kind));
    if fit.results.iter().any(cause) {
        warnings.push(
            "The log gives out first. Commits of more users share writes of the log, and copies do \
             not, so the storage may carry more than this says."
                .to_owned(),
        );
    }
    let short = fit.limits.iter().find(|limit| {
        let index = (0..replay::SETS).find(|set| super::convert::set(*set) == limit.kind);
        index.is_some_and(|index| part.contents.counts[index] < 1000)
    });
    if short.is_some() {
        warnings.push(
            "The trace has fewer than 1,000 I/Os of a kind that is limited: its tail is not well \
             known. Use a longer part."
                .to_owned(),
        );
    }
    warnings
}
