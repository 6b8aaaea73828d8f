//! Searches of several measurements: `knee`, `sizes`, `scale` and `assess`.

use std::path::Path;

use engine::{Permissions, PrepareError, TargetPlan};
use results::{ASSESSMENT_SCHEMA, Conclusion, Document, Saturation, Scale, Sizes};
use serde::Serialize;
use survey::{
    AssessOptions, KneeOptions, LabContext, LabForecast, ScaleOptions, Setup, SizesOptions,
};
use workload::{Bytes, Stream, Target, Workload, show_duration};

use crate::conduct::{Conducted, JobError, Session, conduct_one};
use crate::job::{Description, Job, paths, pin_targets};
use crate::plan::{Plan, PlanError};
use crate::replay::JudgedLoad;
use crate::subject::Subject;

fn subject<C: Conclusion, O: Serialize>(
    kind: &'static str,
    (setup, stream): (&Setup, &Stream),
    options: &O,
) -> Result<Subject, PlanError> {
    let on = (setup.targets.as_slice(), setup.engine);
    Ok(Subject::new(kind, C::SCHEMA, stream.title(), on, options)?)
}

/// How many measurements there will be, and how long they take, in a phrase.
pub(crate) fn expected(forecast: &LabForecast) -> String {
    let (count, seconds) = (forecast.measurements(), forecast.seconds());
    let plural = if count == 1 { "" } else { "s" };
    format!("about {count} measurement{plural} in {}", show_duration(seconds.ceil()))
}

/// What the time left is told by. Simulated time is not waited for.
pub(crate) fn foreseen(
    job: &dyn Job,
    foresee: impl FnOnce() -> Result<LabForecast, PrepareError>,
) -> Option<LabForecast> {
    if job.is_artificial() { None } else { foresee().ok() }
}

/// The time that making a test file takes is known once it is written.
const ONCE_WRITTEN: &str = "once the test file is written";

fn describe(
    setup: &Setup,
    stream: &Stream,
    permissions: &Permissions,
    work: impl FnOnce(&[TargetPlan]) -> Result<String, PrepareError>,
) -> Result<Description, JobError> {
    let targets = engine::plan(&setup.workload(vec![stream.clone()]), permissions)?;
    Ok(Description { work: vec![work(&targets)?], ..Description::of(targets) })
}

fn foresee_knee(
    options: &KneeOptions,
    targets: &[TargetPlan],
) -> Result<LabForecast, PrepareError> {
    let foreseen = KneeOptions { setup: options.setup.foreseen(targets), ..options.clone() };
    survey::foresee(|context| survey::knee(&foreseen, context))
}

fn foresee_scale(
    options: &ScaleOptions,
    targets: &[TargetPlan],
) -> Result<LabForecast, PrepareError> {
    let foreseen = ScaleOptions { setup: options.setup.foreseen(targets), ..options.clone() };
    survey::foresee(|context| survey::scale(&foreseen, context))
}

fn foresee_sizes(
    options: &SizesOptions,
    setup: &Setup,
    targets: &[TargetPlan],
) -> Result<LabForecast, PrepareError> {
    let largest = setup.targets.first().and_then(|t| t.size_bytes).unwrap_or_default();
    let mut foreseen = SizesOptions { setup: setup.foreseen(targets), ..options.clone() };
    foreseen.sizes.retain(|size| *size <= largest);
    survey::foresee(|context| survey::sizes(&foreseen, context))
}

fn foresee_assessment(options: &AssessOptions) -> Result<LabForecast, PrepareError> {
    let foreseen = options.foreseen();
    survey::foresee(|context| survey::assess(&foreseen, context))
}

/// How far a search for the knee goes and how long that takes, on targets of these sizes.
pub(crate) fn knee_work(
    options: &KneeOptions,
    targets: &[TargetPlan],
) -> Result<String, PrepareError> {
    let (from, to) = options.in_flight;
    let forecast = foresee_knee(options, targets)?;
    Ok(format!("from {from} to {to} I/Os in flight, {}, {ONCE_WRITTEN}", expected(&forecast)))
}

/// How long it takes to compare targets of these sizes.
pub(crate) fn scale_work(
    options: &ScaleOptions,
    targets: &[TargetPlan],
) -> Result<String, PrepareError> {
    let forecast = foresee_scale(options, targets)?;
    Ok(format!("{}, {ONCE_WRITTEN}", expected(&forecast)))
}

/// How long an assessment takes, without making its test file.
pub(crate) fn assess_work(options: &AssessOptions) -> Result<String, PrepareError> {
    Ok(expected(&foresee_assessment(options)?))
}

impl Job for KneeOptions {
    fn plan(&self) -> Plan {
        Plan::Knee(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        subject::<Saturation, _>("knee", (&self.setup, &self.stream), self)
    }

    fn targets(&self) -> Vec<&Path> {
        paths(&self.setup.targets)
    }

    fn is_artificial(&self) -> bool {
        self.setup.engine.is_artificial()
    }

    fn pin(&mut self, document: &Document) {
        pin_targets(&mut self.setup.targets, document);
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        let deepest = Stream { depth: self.in_flight.1, ..self.stream.clone() };
        describe(&self.setup, &deepest, permissions, |targets| knee_work(self, targets))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let mut options = self.clone();
        options.setup.permissions.clone_from(&session.permissions);
        let foreseen = foreseen(self, || foresee_knee(&options, &[]));
        conduct_one(session, self, |context| {
            let context = LabContext { foreseen, ..context };
            Ok(Document::Knee(Box::new(survey::knee(&options, context)?)))
        })
    }
}

impl Job for SizesOptions {
    fn plan(&self) -> Plan {
        Plan::Sizes(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        subject::<Sizes, _>("sizes", (&self.setup, &self.stream), self)
    }

    fn targets(&self) -> Vec<&Path> {
        paths(&self.setup.targets)
    }

    fn is_artificial(&self) -> bool {
        self.setup.engine.is_artificial()
    }

    /// The sizes are what it measures.
    fn pin(&mut self, document: &Document) {
        for (target, path) in self.setup.targets.iter_mut().zip(document.targets()) {
            target.path = path;
        }
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        let mut options = self.clone();
        options.setup.permissions.clone_from(permissions);
        let setup = survey::sizes_setup(&options)?;
        describe(&setup, &self.stream, permissions, |targets| {
            let forecast = foresee_sizes(&options, &setup, targets)?;
            let passes_s = self.pass_seconds * forecast.measurements() as f64;
            let passes = if self.is_artificial() || passes_s == 0.0 {
                String::new()
            } else {
                // Before each size is measured it is read once.
                format!(" and at most {} of reading before them", show_duration(passes_s.ceil()))
            };
            Ok(format!("{}{passes}, {ONCE_WRITTEN}", expected(&forecast)))
        })
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let mut options = self.clone();
        options.setup.permissions.clone_from(&session.permissions);
        let foreseen =
            foreseen(self, || foresee_sizes(&options, &survey::sizes_setup(&options)?, &[]));
        conduct_one(session, self, |context| {
            let context = LabContext { foreseen, ..context };
            Ok(Document::Sizes(Box::new(survey::sizes(&options, context)?)))
        })
    }
}

impl Job for ScaleOptions {
    fn plan(&self) -> Plan {
        Plan::Scale(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        subject::<Scale, _>("scale", (&self.setup, &self.stream), self)
    }

    fn targets(&self) -> Vec<&Path> {
        paths(&self.setup.targets)
    }

    fn is_artificial(&self) -> bool {
        self.setup.engine.is_artificial()
    }

    fn pin(&mut self, document: &Document) {
        pin_targets(&mut self.setup.targets, document);
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        describe(&self.setup, &self.stream, permissions, |targets| scale_work(self, targets))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let mut options = self.clone();
        options.setup.permissions.clone_from(&session.permissions);
        let foreseen = foreseen(self, || foresee_scale(&options, &[]));
        conduct_one(session, self, |context| {
            let context = LabContext { foreseen, ..context };
            Ok(Document::Scale(Box::new(survey::scale(&options, context)?)))
        })
    }
}

impl Job for AssessOptions {
    fn plan(&self) -> Plan {
        Plan::Assess(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let title = format!("loads of {}", self.database.title());
        let target = [Target { path: self.target.clone(), size_bytes: self.size }];
        let on = (target.as_slice(), self.engine);
        Ok(Subject::new("assess", ASSESSMENT_SCHEMA, title, on, self)?)
    }

    fn targets(&self) -> Vec<&Path> {
        vec![&self.target]
    }

    fn is_artificial(&self) -> bool {
        self.engine.is_artificial()
    }

    fn pin(&mut self, document: &Document) {
        if let [path] = document.targets().as_slice() {
            self.target.clone_from(path);
        }
        self.size = Some(Bytes(document.file_bytes()));
        if let Document::Assessment(found) = document
            && let Some(load) = &found.captured
        {
            self.captured = Some(load.part.trace.clone());
        }
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        let target = Target { path: self.target.clone(), size_bytes: self.size };
        let stream = Stream { write_percent: 50, ..Stream::default() };
        let workload = Workload {
            engine: self.engine,
            sim: self.sim.clone(),
            ..Workload::single(target, stream)
        };
        let targets = engine::plan(&workload, permissions)?;
        let work = assess_work(self)?;
        let mut notes = vec![format!("{work}, and the time to write the file")];
        notes.extend(survey::assess_sides(self.database, self.pace));
        notes.extend(JudgedLoad::of(self)?.map(|load| load.describe()));
        let mut description = Description { notes, ..Description::of(targets) };
        // The plan is of a size that nobody asked for and that will not be taken.
        if let ([plan], None) = (description.targets.as_slice(), self.size)
            && plan.action.fills()
            && plan.file_bytes == 0
        {
            let (path, action) = (plan.path.display(), plan.describe());
            description.work =
                vec![format!("{path}: {action}"), survey::assess_size_rule(self.pace)];
            description.targets.clear();
        }
        Ok(description)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let mut options = self.clone();
        options.permissions.clone_from(&session.permissions);
        // What cannot be replayed is refused before anything is measured.
        let load = JudgedLoad::of(&options)?;
        let foreseen = foreseen(self, || foresee_assessment(&options));
        conduct_one(session, self, |mut context| {
            let record = context.record.take();
            let LabContext { stop, observe, .. } = &mut context;
            let again = LabContext { record, foreseen, ..LabContext::new(stop, &mut **observe) };
            let mut found = survey::assess(&options, again)?;
            if let Some(load) = &load {
                load.judge(&mut found, stop, *observe);
            }
            Ok(Document::Assessment(Box::new(found)))
        })
    }
}
