//! The same workload several times, or several targets in turn.

use std::cell::RefCell;
use std::path::Path;

use engine::Permissions;
use history::compare::{BAND_PERCENT, Input, Noise, Rules, compare};
use results::{Comparison, Conclusion, Document, Experiment, Runs};
use survey::{LabContext, Progress, RunsOptions};
use workload::{Target, Workload};

use crate::conduct::{Conducted, JobError, Session, both, resumption};
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
    let RunsPlan { workloads, repeat, settle_seconds } = plan.clone();
    let permissions = session.permissions.clone();
    let recorders: Vec<RefCell<Recorder>> = (0..workloads.len())
        .map(|place| recorder(plan, place, session).map(RefCell::new))
        .collect::<Result<_, _>>()?;
    let resumed = session.resumed.take();
    let record = match (&resumed, recorders.as_slice()) {
        (Some(job), [recorder]) => Some(recorder.borrow_mut().resumes_in_order(job)?),
        _ => None,
    };
    let options = RunsOptions { sides: workloads, permissions, repeat, settle_seconds };
    let stop = session.stop;
    let sink: RefCell<&mut dyn Sink> = RefCell::new(&mut *session.sink);
    let observer = |recorder| {
        let (recorders, sink) = (&recorders, &sink);
        move |progress: Progress<'_>| observe(recorder, recorders.first(), sink, &progress)
    };
    let mut observers: Vec<_> = recorders.iter().map(observer).collect();
    let mut contexts: Vec<LabContext<'_>> =
        observers.iter_mut().map(|observe| LabContext::new(stop, observe)).collect();
    if let Some(first) = contexts.first_mut() {
        first.record = record;
    }
    let done = survey::runs(&options, contexts);
    let documents =
        done.inspect_err(|_| recorders.iter().for_each(|r| r.borrow_mut().give_up()))?;
    let carried = plan.plan().carried_json();
    let documents: Vec<Document> = documents
        .into_iter()
        .map(|runs| Document::Runs(Box::new(Experiment { plan: carried.clone(), ..runs })))
        .collect();
    drop(observers);
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
    if let ([recorder], [document]) = (recorders.as_slice(), documents.as_slice()) {
        let how = (session.recording, &options.permissions);
        if let Some(command) = resumption(document, &recorder.borrow(), how) {
            sink.hear(&Event::Notice { text: format!("resume it with `{command}`") });
        }
    }
    Ok(Conducted { documents, kept })
}

/// What happens to a side; viewers see all sides under the first.
fn observe(
    recorder: &RefCell<Recorder>,
    first: Option<&RefCell<Recorder>>,
    sink: &RefCell<&mut dyn Sink>,
    progress: &Progress<'_>,
) {
    let event = Event::of(progress);
    let mut notify = |text| sink.borrow_mut().hear(&Event::Notice { text });
    match progress {
        Progress::Began { id, started } => recorder.borrow_mut().named(id, started, &mut notify),
        Progress::Measured(measurement) => {
            recorder.borrow_mut().measured(measurement, &mut notify);
        }
        _ => {}
    }
    if let Some(first) = first.filter(|_| !matches!(progress, Progress::Began { .. })) {
        first.borrow().tell(&event);
    }
    sink.borrow_mut().hear(&event);
}

/// The recorder of a side; viewers see all sides under the first.
fn recorder(plan: &RunsPlan, place: usize, session: &Session<'_>) -> Result<Recorder, JobError> {
    let workload = &plan.workloads[place];
    let on = (workload.targets.as_slice(), workload.engine);
    let mut subject = Subject::new("run", Runs::SCHEMA, workload.title(), on, plan)?;
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
