//! Searches of several measurements: `knee`, `sizes`, `scale`, `matrix` and `assess`.

use std::path::Path;

use engine::{Permissions, PrepareError};
use results::{ASSESSMENT_SCHEMA, Conclusion, Document, ReadWriteMatrix, Saturation, Scale, Sizes};
use serde::Serialize;
use survey::{
    AssessOptions, KneeOptions, LabContext, LabForecast, MatrixOptions, ScaleOptions, Setup,
    SizesOptions,
};
use workload::{Bytes, Stream, Target, Workload, show_duration};

use crate::conduct::{Conducted, JobError, Session, conduct_one};
use crate::job::{Description, Job, paths, pin_targets};
use crate::plan::{Plan, PlanError};
use crate::replay::JudgedLoad;
use crate::subject::Subject;

/// How many measurements there will be, and how long they take, in a phrase.
fn expected(forecast: &LabForecast) -> String {
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
pub(crate) const ONCE_WRITTEN: &str = "once the test file is written";

/// An experiment on the targets of one setup.
pub(crate) trait Survey: Clone + Serialize {
    /// The command, and the schema of its result.
    const NAMES: (&'static str, &'static str);
    /// A repetition has files of the same size.
    const PINS_SIZES: bool = true;

    fn setup(&self) -> &Setup;

    fn setup_mut(&mut self) -> &mut Setup;

    /// The plan that repeats it.
    fn to_plan(&self) -> Plan;

    /// The load, in a phrase.
    fn title(&self) -> String;

    /// What the targets are made ready for, once the options are found right.
    fn preparation(&self) -> Result<(Setup, Stream), PrepareError>;

    /// The same on a device that needs no time.
    fn on_foreseen(&self, setup: Setup) -> Self {
        let mut foreseen = self.clone();
        *foreseen.setup_mut() = setup;
        foreseen
    }

    fn make(&self, context: LabContext<'_>) -> Result<Document, PrepareError>;

    /// What it does, in a phrase.
    fn work(&self, forecast: &LabForecast) -> String;

    /// What it would measure, on targets of these sizes where they are known.
    fn foresee(&self, sizes: &[u64]) -> Result<LabForecast, PrepareError> {
        let (setup, _) = self.preparation()?;
        let foreseen = self.on_foreseen(setup.foreseen(sizes));
        survey::foresee(|context| foreseen.make(context))
    }
}

impl<T: Survey> Job for T {
    fn plan(&self) -> Plan {
        self.to_plan()
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let (kind, schema) = T::NAMES;
        let on = (self.setup().targets.as_slice(), self.setup().engine);
        Ok(Subject::new(kind, schema, self.title(), on, self)?)
    }

    fn targets(&self) -> Vec<&Path> {
        paths(&self.setup().targets)
    }

    fn is_artificial(&self) -> bool {
        self.setup().engine.is_artificial()
    }

    fn pin(&mut self, document: &Document) {
        let targets = &mut self.setup_mut().targets;
        if T::PINS_SIZES {
            pin_targets(targets, document);
        } else {
            for (target, path) in targets.iter_mut().zip(document.targets()) {
                target.path = path;
            }
        }
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        let mut options = self.clone();
        options.setup_mut().permissions.clone_from(permissions);
        let (setup, stream) = options.preparation()?;
        let targets = engine::plan(&setup.workload(vec![stream]), permissions)?;
        let sizes: Vec<u64> = targets.iter().map(|plan| plan.size_bytes).collect();
        let work = options.work(&options.foresee(&sizes)?);
        Ok(Description {
            work: vec![format!("{work}, {ONCE_WRITTEN}")],
            ..Description::of(targets)
        })
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let mut options = self.clone();
        options.setup_mut().permissions.clone_from(&session.permissions);
        let foreseen = foreseen(self, || options.foresee(&[]));
        conduct_one(session, self, |context| options.make(LabContext { foreseen, ..context }))
    }
}

impl Survey for KneeOptions {
    const NAMES: (&'static str, &'static str) = ("knee", Saturation::SCHEMA);

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn setup_mut(&mut self) -> &mut Setup {
        &mut self.setup
    }

    fn to_plan(&self) -> Plan {
        Plan::Knee(Box::new(self.clone()))
    }

    fn title(&self) -> String {
        self.stream.title()
    }

    fn preparation(&self) -> Result<(Setup, Stream), PrepareError> {
        let deepest = Stream { depth: self.in_flight.1, ..self.stream.clone() };
        Ok((self.setup.clone(), deepest))
    }

    fn make(&self, context: LabContext<'_>) -> Result<Document, PrepareError> {
        Ok(Document::Knee(Box::new(survey::knee(self, context)?)))
    }

    fn work(&self, forecast: &LabForecast) -> String {
        let (from, to) = self.in_flight;
        format!("from {from} to {to} I/Os in flight, {}", expected(forecast))
    }
}

impl Survey for SizesOptions {
    const NAMES: (&'static str, &'static str) = ("sizes", Sizes::SCHEMA);
    /// They are what it measures.
    const PINS_SIZES: bool = false;

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn setup_mut(&mut self) -> &mut Setup {
        &mut self.setup
    }

    fn to_plan(&self) -> Plan {
        Plan::Sizes(Box::new(self.clone()))
    }

    fn title(&self) -> String {
        self.stream.title()
    }

    fn preparation(&self) -> Result<(Setup, Stream), PrepareError> {
        Ok((survey::sizes_setup(self)?, self.stream.clone()))
    }

    fn on_foreseen(&self, setup: Setup) -> Self {
        let largest = setup.targets.first().and_then(|t| t.size_bytes).unwrap_or_default();
        let sizes = self.sizes.iter().copied().filter(|size| *size <= largest).collect();
        Self { setup, sizes, ..self.clone() }
    }

    fn make(&self, context: LabContext<'_>) -> Result<Document, PrepareError> {
        Ok(Document::Sizes(Box::new(survey::sizes(self, context)?)))
    }

    fn work(&self, forecast: &LabForecast) -> String {
        let passes_s = self.pass_seconds * forecast.measurements() as f64;
        let passes = if self.is_artificial() || passes_s == 0.0 {
            String::new()
        } else {
            // Before each size is measured it is read once.
            format!(" and at most {} of reading before them", show_duration(passes_s.ceil()))
        };
        format!("{}{passes}", expected(forecast))
    }
}

impl Survey for ScaleOptions {
    const NAMES: (&'static str, &'static str) = ("scale", Scale::SCHEMA);

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn setup_mut(&mut self) -> &mut Setup {
        &mut self.setup
    }

    fn to_plan(&self) -> Plan {
        Plan::Scale(Box::new(self.clone()))
    }

    fn title(&self) -> String {
        self.stream.title()
    }

    fn preparation(&self) -> Result<(Setup, Stream), PrepareError> {
        Ok((self.setup.clone(), self.stream.clone()))
    }

    fn make(&self, context: LabContext<'_>) -> Result<Document, PrepareError> {
        Ok(Document::Scale(Box::new(survey::scale(self, context)?)))
    }

    fn work(&self, forecast: &LabForecast) -> String {
        expected(forecast)
    }
}

impl Survey for MatrixOptions {
    const NAMES: (&'static str, &'static str) = ("matrix", ReadWriteMatrix::SCHEMA);

    fn setup(&self) -> &Setup {
        &self.setup
    }

    fn setup_mut(&mut self) -> &mut Setup {
        &mut self.setup
    }

    fn to_plan(&self) -> Plan {
        Plan::Matrix(Box::new(self.clone()))
    }

    fn title(&self) -> String {
        self.reading().title() + " with writes"
    }

    fn preparation(&self) -> Result<(Setup, Stream), PrepareError> {
        survey::check_levels(self)?;
        Ok((self.setup.clone(), self.writing()))
    }

    fn make(&self, context: LabContext<'_>) -> Result<Document, PrepareError> {
        Ok(Document::Matrix(Box::new(survey::matrix(self, context)?)))
    }

    fn work(&self, forecast: &LabForecast) -> String {
        format!(
            "the highest read rate and the highest write rate, then at most {} combinations of {} \
             each: {}",
            self.cells().len(),
            show_duration(self.cell_seconds),
            expected(forecast)
        )
    }
}

fn foresee_assessment(options: &AssessOptions) -> Result<LabForecast, PrepareError> {
    let foreseen = options.foreseen();
    survey::foresee(|context| survey::assess(&foreseen, context))
}

/// How long an assessment takes, without making its test file.
pub(crate) fn assess_work(options: &AssessOptions) -> Result<String, PrepareError> {
    Ok(expected(&foresee_assessment(options)?))
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
