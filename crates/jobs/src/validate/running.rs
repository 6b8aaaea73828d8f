//! A plan is carried out on its files; what it found becomes a document.

use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread;

use engine::{EngineError, Filling, Permissions, Prepared, PreparedTarget, Queue};
use inspect::Finding;
use integrity::{
    Change, KeptLedger, OpenQueue, Phase, Place, Report, Resize, Role, Shape, ValidationRequest,
};
use jiff::Timestamp;
use results::{Conclusion, Experiment, Validation};
use survey::{Progress, Site};
use workload::{Mode, TargetFacts, Workload};

use super::method::{method, warnings};
use super::{FilePlan, LedgerPlace, NOT_OURS, ValidatePlan};
use crate::conduct::{JobError, Relay};
use crate::event::Event;

/// Events that wait to be shown. Where nobody shows them, the threads of the run wait.
const WAITING: usize = 1024;

/// A run that is under way.
pub(super) struct Run<'a> {
    pub(super) plan: &'a ValidatePlan,
    pub(super) workload: &'a Workload,
    pub(super) permissions: &'a Permissions,
    pub(super) keeping: &'a LedgerPlace,
    pub(super) stop: &'a AtomicBool,
}

impl Run<'_> {
    /// Prepares the files, runs the users on them, and keeps or removes them at the end.
    pub(super) fn carry_out(&self, relay: &Relay<'_>) -> Result<(Report, Vec<Place>), JobError> {
        let Self { plan, workload, permissions, keeping, stop } = self;
        let fillings: Vec<Filling> = plan.files.iter().map(|file| keeping.filling(file)).collect();
        let mut show = |event: &engine::Event| relay.hear(&Progress::Engine(event));
        let mut prepared = engine::prepare_as(workload, permissions, &fillings, stop, &mut show)?;
        let places = self.places(&prepared)?;
        let kept = keeping.begin(plan, permissions, &places)?;
        if !relay.wait_for_start() {
            keeping.give_up();
            return Err(EngineError::CalledOff.into());
        }
        let report = self
            .work((&places, &prepared), kept.as_deref(), relay)
            .inspect_err(|_| keeping.give_up())?;
        if report.audit.is_some() && report.failures.is_empty() {
            let files = prepared.targets_mut().iter_mut().zip(&places).zip(&plan.files);
            for ((target, place), _) in files.filter(|(_, file)| file.is_usual()) {
                let page_bytes = u64::from(plan.database.page_bytes);
                target.finish(place.size_bytes / page_bytes * page_bytes)?;
            }
        }
        let is_wrong = report.fault_count > 0 || !report.log_faults.is_empty();
        let stays = permissions.keep || is_wrong;
        if let Some(text) = keeping.end(kept.as_deref(), &mut prepared, stays)? {
            relay.notice(text);
        } else if is_wrong && !permissions.keep && !permissions.any_name {
            // Files of any name are another tool's, whose configuration says what becomes of them.
            prepared.remove(false);
            relay.notice(
                "the test files stay, as evidence; `iosonde validate --clean DIRECTORY` removes \
                 them"
                    .to_owned(),
            );
        }
        Ok((report, places))
    }

    /// Lets the database work. Its threads say what happens; this one passes it on.
    fn work(
        &self,
        (places, prepared): (&[Place], &Prepared),
        kept: Option<&KeptLedger>,
        relay: &Relay<'_>,
    ) -> Result<Report, JobError> {
        let (plan, workload, stop) = (self.plan, self.workload, self.stop);
        let open = |io_bytes: u32| -> Result<Box<dyn Queue>, String> {
            let opened = engine::open_queue_for(workload, prepared, 0, io_bytes);
            Ok(opened.map_err(|e| e.to_string())?.0)
        };
        let open: &OpenQueue<'_> = &open;
        let (sender, events) = mpsc::sync_channel(WAITING);
        let ran = thread::scope(|scope| {
            let run = scope.spawn(move || {
                let hear = |event: &integrity::Event| {
                    // The receiver lives until the run has ended.
                    let _ = sender.send(event.clone());
                };
                let time = plan.time();
                integrity::run_kept(&plan.database, places, time, open, stop, &hear, kept)
            });
            for event in events {
                self.pass(event, relay);
            }
            run.join().unwrap_or_else(|panic| resume_unwind(panic))
        });
        ran.map_err(|error| JobError::CannotRun(error.to_string()))
    }

    /// Passes on what the database does. A phase is a step of the job, and a window in which
    /// figures come.
    fn pass(&self, event: integrity::Event, relay: &Relay<'_>) {
        if let integrity::Event::Began { phase, .. } = &event {
            let number = match phase {
                Phase::Load => 1,
                Phase::Work => 2,
                Phase::Audit => 3,
                Phase::Log => 4,
            };
            let of = if self.plan.has_log() { 4 } else { 3 };
            relay.pass(&Event::Step {
                number,
                of,
                title: phase.words().to_owned(),
                seconds_left: None,
            });
            let seconds = if *phase == Phase::Work { self.plan.seconds } else { 0.0 };
            relay.pass(&Event::Engine(engine::Event::WindowBegan { seconds }));
        }
        relay.pass(&Event::Validation(event));
    }

    fn places(&self, prepared: &Prepared) -> Result<Vec<Place>, JobError> {
        let direct = self.workload.mode == Mode::Direct;
        let targets = prepared.targets().iter().zip(prepared.facts()).zip(&self.plan.files);
        let place = |((target, fact), file): ((&PreparedTarget, TargetFacts), &FilePlan)| {
            Ok(Place {
                path: target.path().to_owned(),
                size_bytes: target.size_bytes(),
                role: file.role,
                align_bytes: if direct { fact.direct_align_bytes } else { 1 },
                shape: shape(file, target)?,
            })
        };
        targets.map(place).collect()
    }

    /// Puts everything into the result document.
    pub(super) fn experiment(
        &self,
        site: &Site,
        (report, places): (&Report, &[Place]),
        (id, started): (String, Timestamp),
    ) -> Experiment<Validation> {
        let plan = self.plan;
        let asked = ValidationRequest {
            plan: &plan.database,
            time: plan.time(),
            mode: plan.mode,
            configuration: plan.configuration.clone(),
        };
        let conclusion = integrity::validation(asked, places, report);
        Experiment {
            schema: Validation::SCHEMA.to_owned(),
            id,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started: started.to_string(),
            finished: Timestamp::now().to_string(),
            status: conclusion.status(),
            targets: places.iter().map(|place| site.resolved(&place.path)).collect(),
            file_bytes: places.iter().map(|place| place.size_bytes).sum(),
            environment: site.environment().clone(),
            warnings: [warnings(&conclusion), site.environment().findings(Finding::is_of_data)]
                .concat(),
            plan: None,
            method: method(&plan.database, &conclusion, plan.files.iter().any(|f| f.sparse)),
            conclusion,
            measurements: Vec::new(),
        }
    }
}

/// How a file begins, and what changes its size.
fn shape(file: &FilePlan, target: &PreparedTarget) -> Result<Shape, JobError> {
    let Some(resize) = file.resize else { return Ok(Shape { sparse: file.sparse, resize: None }) };
    let path = target.path().display();
    let cannot = |why: String| JobError::CannotRun(format!("`{path}`: {why}"));
    let resizer = target.resizer().map_err(|error| cannot(error.to_string()))?;
    let resizer = resizer.ok_or_else(|| cannot(NOT_OURS.to_owned()))?;
    let reserve = !file.sparse;
    let change = Change::new(move |bytes| resizer.resize(bytes, reserve));
    let (begin_bytes, step_bytes) = (resize.begin_bytes, resize.step_bytes);
    Ok(Shape { sparse: file.sparse, resize: Some(Resize { begin_bytes, step_bytes, change }) })
}

impl LedgerPlace {
    /// What becomes of a file's content before the run.
    fn filling(&self, file: &FilePlan) -> Filling {
        match (self, file.role) {
            (Self::Resume(..), _) => Filling::AsItIs,
            (_, Role::Data | Role::Doublewrite) if file.sparse => Filling::Sparse,
            // The first writing of all pages fills their files; the log is overwritten here and
            // there and is filled before.
            (_, Role::Data | Role::Doublewrite) => Filling::Caller,
            (_, Role::Log) => Filling::Engine,
        }
    }
}
