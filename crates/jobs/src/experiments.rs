//! Searches of several measurements: `knee`, `sizes`, `scale` and `assess`.

use std::path::Path;

use engine::Permissions;
use results::{ASSESSMENT_SCHEMA, Conclusion, Document, Pace, Saturation, Scale, Sizes};
use serde::Serialize;
use survey::{AssessOptions, KneeOptions, LabContext, ScaleOptions, Setup, SizesOptions, Timing};
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

/// How long so many measurements of a stream take, without making test files; `more_s` for each on
/// top.
fn duration(count: usize, timing: &Timing, stream: &Stream, more_s: f64) -> String {
    let settle_s = if stream.writes() { timing.settle_seconds } else { 0.0 };
    let all_s = count as f64 * (timing.seconds + timing.warmup_seconds + settle_s + more_s);
    let (most, whole) = (show_duration(timing.seconds), show_duration(all_s.ceil()));
    let each = timing.precision.map_or_else(
        || format!("{most} each"),
        |p| format!("{} to {most} each", show_duration(p.at_least_seconds)),
    );
    format!("{count} measurements of {each}: at most {whole}, once the test file is written")
}

fn describe(
    work: String,
    setup: &Setup,
    stream: &Stream,
    permissions: &Permissions,
) -> Result<Description, JobError> {
    let targets = engine::plan(&setup.workload(vec![stream.clone()]), permissions)?;
    Ok(Description { work: vec![work], ..Description::of(targets) })
}

/// How far a search for the knee goes and how long that takes.
pub(crate) fn knee_work(options: &KneeOptions) -> String {
    let (from, to) = options.in_flight;
    // Where throughput rises to the end: the doublings, one between two of them, and others with
    // more threads and larger blocks.
    let loads = (to / from.max(1)).checked_ilog2().unwrap_or(0) as usize + 5;
    let time = duration(loads, &options.setup.timing, &options.stream, 0.0);
    format!("from {from} to {to} I/Os in flight, about {time}")
}

/// How long it takes to compare so many hosts.
pub(crate) fn scale_work(options: &ScaleOptions, hosts: usize) -> String {
    let count = survey::scale_count(hosts, options.pairs);
    duration(count, &options.setup.timing, &options.stream, 0.0)
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
        describe(knee_work(self), &self.setup, &deepest, permissions)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let mut options = self.clone();
        options.setup.permissions.clone_from(&session.permissions);
        conduct_one(session, self, |context| {
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
        let largest = setup.targets.first().and_then(|t| t.size_bytes).unwrap_or_default();
        let count = self.sizes.iter().filter(|size| **size <= largest).count();
        // Before each size is measured it is read once.
        let work = duration(count, &setup.timing, &self.stream, self.pass_seconds);
        describe(work, &setup, &self.stream, permissions)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let mut options = self.clone();
        options.setup.permissions.clone_from(&session.permissions);
        conduct_one(session, self, |context| {
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
        let count = survey::scale_measurements(self)?;
        let work = duration(count, &self.setup.timing, &self.stream, 0.0);
        describe(work, &self.setup, &self.stream, permissions)
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        let mut options = self.clone();
        options.setup.permissions.clone_from(&session.permissions);
        conduct_one(session, self, |context| {
            Ok(Document::Scale(Box::new(survey::scale(&options, context)?)))
        })
    }
}

/// How long an assessment of this pace takes.
pub(crate) fn assess_time(pace: Pace) -> &'static str {
    match pace {
        Pace::Glance => "about half a minute",
        Pace::Quick => "about two minutes",
        Pace::Normal => "about a quarter of an hour",
        Pace::Long => "about two hours",
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
        let time = assess_time(self.pace);
        let mut notes = vec![format!("takes {time}, and the time to write the file")];
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
        conduct_one(session, self, |mut context| {
            let record = context.record.take();
            let LabContext { stop, observe, .. } = &mut context;
            let again = LabContext { record, ..LabContext::new(stop, &mut **observe) };
            let mut found = survey::assess(&options, again)?;
            if let Some(load) = &load {
                load.judge(&mut found, stop, *observe);
            }
            Ok(Document::Assessment(Box::new(found)))
        })
    }
}
