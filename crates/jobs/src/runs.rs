//! The same workload several times, or several targets in turn.

use std::cell::RefCell;
use std::path::Path;

use engine::Permissions;
use history::compare::{BAND_PERCENT, Input, Noise, Rules, compare};
use jiff::Timestamp;
use results::{Comparison, Conclusion, Document, Experiment, Runs};
use survey::{Progress, RunSide, RunsOptions};
use workload::{Target, Workload};

use crate::conduct::{Conducted, JobError, Session, both};
use crate::event::{Event, Sink};
use crate::job::{Description, Job, paths};
use crate::plan::{Plan, PlanError, RunsPlan};
use crate::recorder::Recorder;
use crate::run::duration;
use crate::subject::Subject;

impl Job for RunsPlan {
    fn plan(&self) -> Plan {
        Plan::Runs(self.clone())
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let targets: Vec<Target> = self.workloads.iter().flat_map(|w| w.targets.clone()).collect();
        let first = self.workloads.first();
        let engine = first.map(|w| w.engine).unwrap_or_default();
        let title = first.map(Workload::title).unwrap_or_default();
        Ok(Subject::new("run", Runs::SCHEMA, title, (&targets, engine), self)?)
    }

    fn targets(&self) -> Vec<&Path> {
        self.workloads.iter().flat_map(|w| paths(&w.targets)).collect()
    }

    fn is_artificial(&self) -> bool {
        self.workloads.iter().all(|w| w.engine.is_artificial())
    }

    /// Of several that took turns, a document does not say what the others worked on.
    fn pin(&mut self, document: &Document) {
        if let [workload] = self.workloads.as_mut_slice() {
            workload.pin(document);
        }
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        let mut targets = Vec::new();
        for workload in &self.workloads {
            let mut permissions = permissions.clone();
            permissions.destroy.retain(|d| workload.targets.iter().any(|t| d.names(&t.path)));
            targets.extend(engine::plan(workload, &permissions)?);
        }
        let times = match self.workloads.len() {
            1 => format!(", {} times", self.repeat),
            _ => format!(", {} times on each target in turn", self.repeat),
        };
        let notes = self.workloads.first().map(|first| duration(first, &times));
        Ok(Description { notes: notes.unwrap_or_default(), ..Description::of(targets) })
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        runs(self, session)
    }
}

/// Measures each workload so many times, in turns; a document for each.
fn runs(plan: &RunsPlan, session: &mut Session<'_>) -> Result<Conducted, JobError> {
    let options = options(plan, session);
    let recorders: Vec<RefCell<Recorder>> = (0..options.sides.len())
        .map(|place| recorder(&options, place, session).map(RefCell::new))
        .collect::<Result<_, _>>()?;
    let sink: RefCell<&mut dyn Sink> = RefCell::new(&mut *session.sink);
    let mut keep = |place: usize, measurement: &results::Measurement| {
        if let Some(recorder) = recorders.get(place) {
            let mut notify = |text| sink.borrow_mut().hear(&Event::Notice { text });
            recorder.borrow_mut().measured(measurement, &mut notify);
        }
    };
    let mut observe = |progress: Progress<'_>| {
        let event = Event::of(&progress);
        if let Progress::Began { id, started } = &progress {
            let place = options.sides.iter().position(|side| side.id == **id);
            if let Some(recorder) = place.and_then(|place| recorders.get(place)) {
                let mut notify = |text| sink.borrow_mut().hear(&Event::Notice { text });
                recorder.borrow_mut().named(id, started, &mut notify);
            }
        } else if let Some(first) = recorders.first() {
            // Viewers see all sides under the first.
            first.borrow().tell(&event);
        }
        sink.borrow_mut().hear(&event);
    };
    let done = survey::runs(&options, session.stop, &mut keep, &mut observe);
    let documents =
        done.inspect_err(|_| recorders.iter().for_each(|r| r.borrow_mut().give_up()))?;
    let carried = plan.plan().carried_json();
    let documents: Vec<Document> = documents
        .into_iter()
        .map(|runs| Document::Runs(Box::new(Experiment { plan: carried.clone(), ..runs })))
        .collect();
    let sink = sink.into_inner();
    let mut kept = Ok(());
    for document in &documents {
        kept = both(kept, sink.deliver(document));
    }
    // One that cannot be recorded does not keep the others from it.
    for (recorder, document) in recorders.iter().zip(&documents) {
        let mut recorder = recorder.borrow_mut();
        let noted = recorder.finish(document);
        if let (Ok(()), Some(event)) = (&noted, recorder.kept_event()) {
            sink.hear(&event);
        }
        kept = both(kept, noted);
    }
    Ok(Conducted { documents, kept })
}

fn options(plan: &RunsPlan, session: &Session<'_>) -> RunsOptions {
    let RunsPlan { workloads, repeat, settle_seconds } = plan;
    let now = Timestamp::now();
    let side = |workload: &workload::Workload| RunSide {
        id: engine::new_id(now),
        workload: workload.clone(),
    };
    RunsOptions {
        sides: workloads.iter().map(side).collect(),
        permissions: session.permissions.clone(),
        repeat: *repeat,
        settle_seconds: *settle_seconds,
    }
}

/// The recorder of a side; viewers see all sides under the first.
fn recorder(
    options: &RunsOptions,
    place: usize,
    session: &Session<'_>,
) -> Result<Recorder, JobError> {
    let workload = &options.sides[place].workload;
    let on = (workload.targets.as_slice(), workload.engine);
    let mut subject = Subject::new("run", Runs::SCHEMA, workload.title(), on, options)?;
    subject.watched &= place == 0;
    Ok(Recorder::open(session.recording, subject)?)
}

/// Each of the others compared with the first, as far as both were measured.
#[must_use]
pub fn compare_sides(documents: &[Experiment<Runs>]) -> Vec<Comparison> {
    let measured = documents.iter().filter(|d| !d.measurements.is_empty());
    let sides: Vec<(String, Document)> = measured
        .map(|d| {
            let names: Vec<String> = d.targets.iter().map(|t| t.display().to_string()).collect();
            (names.join(", "), Document::Runs(Box::new(d.clone())))
        })
        .collect();
    let Some((first, others)) = sides.split_first() else { return Vec::new() };
    // How far runs differ is seen in the runs themselves.
    let noise = Noise::default();
    let rules = Rules {
        band_percent: BAND_PERCENT,
        anyway: false,
        noise: &noise,
        tool_version: env!("CARGO_PKG_VERSION"),
    };
    others.iter().map(|other| compare(side(first), side(other), &rules)).collect()
}

fn side((name, document): &(String, Document)) -> Input<'_> {
    Input { name, documents: std::slice::from_ref(document) }
}
