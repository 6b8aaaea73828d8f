//! The load of a trace within an assessment: replayed on its target and judged by the limits of the
//! roles, `assess --from`.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::Permissions;
use replay::{Attempt, Contents, Failing, Figures, Limit, MapKind, Mode, SUPPORT_MIN};
use results::verdict::Limits;
use results::{Assessment, CapturedLimit, CapturedLoad, CapturedVerdict, FitCause, Pace, Status};
use survey::{AssessOptions, Progress};
use workload::{Target, Workload, show_duration};

use super::convert::set;
use super::fit::{published_attempt, published_cause};
use super::limits::limits_of_roles;
use super::part::{Part, PartPlan};
use super::perform::{Manner, ReplayTarget, perform};
use crate::conduct::JobError;

/// The load of a trace, and what has to hold for it.
pub(crate) struct JudgedLoad {
    part: Part,
    limits: Vec<(Limits, Limit)>,
    /// Those of kinds with too few I/Os, which are not judged.
    not_judged: Vec<(Limits, Limit)>,
    workload: Workload,
    permissions: Permissions,
}

impl JudgedLoad {
    /// The load that an assessment is to judge, if any: the busiest part of the trace.
    ///
    /// # Errors
    /// The trace cannot be read, has no I/O of any role, or does not fit on the target.
    pub(crate) fn of(options: &AssessOptions) -> Result<Option<Self>, JobError> {
        let Some(trace) = &options.captured else { return Ok(None) };
        let length_ns = workload::Nanoseconds::from_seconds(longest_s(options.pace)).0;
        let part = PartPlan::new(trace, None, None).read_busiest(length_ns)?;
        let knows_log = !part.contents.logs().is_empty();
        let limits = limits_of_roles(&options.limits, knows_log).into_iter();
        let limits = limits.filter(|(_, limit)| part.contents.counts[limit.class] > 0);
        let limits = limits.map(|(role, limit)| (role.clone(), limit));
        let is_known = |limit: &Limit| part.contents.counts[limit.class] >= SUPPORT_MIN;
        let (limits, not_judged): (Vec<_>, Vec<_>) = limits.partition(|(_, l)| is_known(l));
        if limits.is_empty() {
            let trace = trace.display();
            let text = format!(
                "the busiest part of `{trace}` has fewer than {SUPPORT_MIN} I/Os of each role \
                 that has limits, so nothing of it can be judged; replay it with `iosonde replay`"
            );
            return Err(JobError::Usage(text));
        }
        let target = Target { path: options.target.clone(), size_bytes: None };
        let on = ReplayTarget {
            target,
            engine: options.engine,
            sim: options.sim.clone(),
            mode: options.mode,
            seed: options.seed,
            depth: None,
        };
        let workload = on.workload(&part.contents, MapKind::Compact);
        let permissions = options.permissions.clone();
        engine::plan(&workload, &permissions)?;
        Ok(Some(Self { part, limits, not_judged, workload, permissions }))
    }

    /// What it adds to an assessment, in words.
    pub(crate) fn describe(&self) -> String {
        let seconds = self.part.contents.span_ns as f64 / 1e9;
        let (title, most) = (self.part.published().title(), show_duration(2.0 * seconds));
        format!("then replays {title} once or twice: at most {most}")
    }

    /// Replays it, and adds what came of it to a finished assessment.
    pub(crate) fn judge(
        &self,
        found: &mut Assessment,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(Progress<'_>),
    ) {
        let mut load = CapturedLoad {
            part: self.part.published(),
            verdict: CapturedVerdict::NotJudged,
            cause: None,
            failure: None,
            limits: {
                let all = self.limits.iter().chain(&self.not_judged);
                all.map(|(role, limit)| self.limit(role, limit)).collect()
            },
            attempts: Vec::new(),
        };
        let replayed = if found.status == Status::Complete {
            self.replay_all(&mut load, stop, observe)
        } else {
            Err(JobError::CannotRun("the assessment ended before that".to_owned()))
        };
        if let Err(error) = replayed {
            load.failure = Some(error.to_string());
            load.verdict = CapturedVerdict::NotJudged;
        }
        if stop.load(Ordering::Relaxed) {
            found.status = Status::Interrupted;
        }
        found.finished = jiff::Timestamp::now().to_string();
        found.method.push(
            "The load of the trace was replayed after all measurements: each I/O at its time, \
             however slow the storage is. A limit holds if it holds in two of three thirds. If one \
             did not, the load was replayed again with I/Os that wait for those before them."
                .to_owned(),
        );
        found.warnings.extend(self.part.warnings());
        found.captured = Some(load);
    }

    fn limit(&self, role: &Limits, limit: &Limit) -> CapturedLimit {
        let contents = &self.part.contents;
        CapturedLimit {
            role: role.role,
            kind: set(limit.class),
            quantile: limit.quantile,
            at_most_ns: limit.at_most_ns,
            recorded_ns: contents.latencies[limit.class].quantile(limit.quantile),
            was_ns: None,
            is_judged: contents.counts[limit.class] >= SUPPORT_MIN,
            per_second: contents.counts[limit.class] as f64 * 1e9 / contents.span_ns.max(1) as f64,
        }
    }

    fn replay_all(
        &self,
        load: &mut CapturedLoad,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), JobError> {
        let title = format!("replaying {}", self.part.published().title());
        observe(Progress::Step { number: 1, of: 1, title: &title, seconds_left: None });
        let mut engine_observe = |event: &engine::Event| observe(Progress::Engine(event));
        let (workload, permissions) = (&self.workload, &self.permissions);
        let prepared = engine::prepare(workload, permissions, stop, &mut engine_observe)?;
        let ready = (workload, &prepared);
        let (open, figures) = self.replay(Mode::AsTimed, ready, stop)?;
        let all = self.limits.iter().chain(&self.not_judged);
        for (limit, (_, asked)) in load.limits.iter_mut().zip(all) {
            limit.was_ns = figures.classes[asked.class].from_due.quantile(asked.quantile);
        }
        load.cause = self.cause(open.failing);
        load.attempts.push(published_attempt(&open, self.cause(open.failing)));
        load.verdict = if open.holds() {
            CapturedVerdict::Holds
        } else if matches!(open.failing, Some(Failing::Host | Failing::TooFew { .. })) {
            CapturedVerdict::NotJudged
        } else if self.part.contents.is_timed() {
            let (waiting, _) = self.replay(Mode::Dependent, ready, stop)?;
            load.attempts.push(published_attempt(&waiting, self.cause(waiting.failing)));
            verdict_of(&waiting)
        } else {
            CapturedVerdict::Exceeded
        };
        Ok(())
    }

    fn replay(
        &self,
        mode: Mode,
        ready: (&Workload, &engine::Prepared),
        stop: &AtomicBool,
    ) -> Result<(Attempt, Figures), JobError> {
        let contents: &Contents = &self.part.contents;
        let selection = self.part.selection;
        let manner = Manner { selection, mode, map: MapKind::Compact, at_most_ns: u64::MAX };
        let performed = perform(&self.part.path, contents, &manner, ready, stop)?;
        if stop.load(Ordering::Relaxed) {
            return Err(JobError::Interrupted("it was interrupted".to_owned()));
        }
        if let Some(error) = &performed.figures.first_error {
            return Err(JobError::CannotRun(format!("an I/O failed: {error}")));
        }
        let limits: Vec<Limit> = self.limits.iter().map(|(_, limit)| *limit).collect();
        let attempt = Attempt::judge(1.0, mode, &performed.figures, (&limits, contents));
        Ok((attempt, performed.figures))
    }

    fn cause(&self, failing: Option<Failing>) -> Option<FitCause> {
        let of = |index: usize| {
            let (_, limit) = self.limits.get(index)?;
            Some((set(limit.class), limit.at_most_ns))
        };
        published_cause(failing?, of)
    }
}

/// What it means if the load did not hold at the times of the trace, and so did with users who
/// wait.
fn verdict_of(waiting: &Attempt) -> CapturedVerdict {
    match waiting.failing {
        _ if waiting.holds() => CapturedVerdict::HoldsIfUsersWait,
        Some(Failing::Host | Failing::TooFew { .. }) => CapturedVerdict::NotJudged,
        _ => CapturedVerdict::Exceeded,
    }
}

/// The longest part of a trace that is replayed, in seconds.
fn longest_s(pace: Pace) -> f64 {
    match pace {
        Pace::Glance => 10.0,
        Pace::Quick => 60.0,
        Pace::Normal => 180.0,
        Pace::Long => 1800.0,
    }
}
