//! A plan is run on its files; the document of it is shown and recorded, and becomes an exit code.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::report::text;
use engine::{Permissions, Prepared, PreparedTarget, Queue};
use integrity::{Asked, Event, NoticeKind, Place, Plan, Report, Role};
use jiff::Timestamp;
use jobs::{Recorder, Subject};
use results::{Conclusion, Document, Experiment, Validation, ValidationVerdict};
use survey::Site;
use workload::{Mode, TargetFacts, Workload};

use super::method::{method, warnings};
use super::progress::{Notices, live_events};
use super::{Keeping, Wanted};
use crate::exit::{Failure, Outcome, print};
use crate::recording::{RecordingArgs, say_kept};
use crate::run::json;
use screen::phase_words;
use screen::{Display, Manner};

/// What is run, and on what.
pub(crate) struct Given<'a> {
    pub plan: &'a Plan,
    pub workload: &'a Workload,
    pub permissions: &'a Permissions,
    /// What each target holds.
    pub roles: Vec<Role>,
    /// How each of them begins and whether its size changes.
    pub wanted: Vec<Wanted>,
    pub time: Duration,
    /// Where the run keeps what it knows.
    pub keeping: Keeping,
    /// The configuration of SQLIOSim that the plan was made from.
    pub configuration: Option<String>,
    /// What is said before it begins.
    pub about: Vec<String>,
}

/// What becomes of the result.
pub(crate) struct Output<'a> {
    pub manner: Manner,
    pub json: bool,
    pub recording: &'a RecordingArgs,
    /// What is shown behind the text of the result.
    pub behind: &'a dyn Fn(&Report, &[Place]) -> String,
}

/// Makes the targets ready, runs the plan on them, and shows and records what it found. `hear` is
/// told what is shown meanwhile, and whether it is an error.
pub(crate) fn conduct(
    given: &Given<'_>,
    output: &Output<'_>,
    hear: &(dyn Fn(bool, &str) + Sync),
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let recorder = output.recording.open(subject_of(given)?)?;
    let display = Mutex::new(Display::of(output.manner, recorder.subject()));
    let recorder = Mutex::new(recorder);
    given.about.iter().for_each(|text| hold(&display).message(text));
    let started = Timestamp::now();
    let id = engine::new_id(started);
    let began = hold(&recorder).began(&id, &started.to_string());
    if let Err(error) = began {
        hold(&display).message(&format!("warning: {error}; it goes on without it"));
    }
    let site = Site::of(given.workload);
    let left = left_behind(given);
    #[cfg(target_os = "linux")]
    screen::set_last_words(Some(&format!("ended at once, which {left}")));
    let ran = run_plan(given, (&display, &recorder), &left, hear, stop);
    #[cfg(target_os = "linux")]
    screen::set_last_words(None);
    hold(&display).finish();
    let (report, places) = ran.inspect_err(|_| hold(&recorder).give_up())?;
    let experiment = experiment(given, &site, (&report, &places), (id, started));
    let behind = (output.behind)(&report, &places);
    let outcome = outcome_of(experiment.conclusion.verdict);
    let document = Document::Validation(Box::new(experiment));
    let shown = if output.json { json(&document)? } else { text::document(&document) + &behind };
    let mut complain = |text: &str| hold(&display).error(text);
    let quiet = output.manner.quiet;
    deliver((&shown, &document), outcome, &mut hold(&recorder), quiet, &mut complain)
}

/// Prints a result and keeps it in the history, in this order: a history that hangs shall not keep
/// the result. That it fails is what the command then ends with, unless what was found is worse.
pub(super) fn deliver(
    (shown, document): (&str, &Document),
    outcome: Outcome,
    recorder: &mut Recorder,
    quiet: bool,
    complain: &mut dyn FnMut(&str),
) -> Result<Outcome, Failure> {
    let printed = print(shown);
    match recorder.finish(document).map_err(Failure::CannotRun).and(printed) {
        Ok(()) => say_kept(recorder, quiet),
        // Nothing is worse than wrong data.
        Err(Failure::CannotRun(text)) if outcome == Outcome::WrongData => complain(&text),
        Err(failure) => return Err(failure),
    }
    Ok(outcome)
}

/// What an end at once leaves behind.
fn left_behind(given: &Given<'_>) -> String {
    let files = given.workload.targets.iter().map(|target| target.path.as_path());
    let is_foreign = |path: &&Path| given.permissions.destroy.iter().any(|other| other == path);
    let ours: Vec<&Path> = files.filter(|path| !is_foreign(path)).collect();
    given.keeping.left_behind(&ours)
}

fn subject_of(given: &Given<'_>) -> Result<Subject, Failure> {
    let on = (given.workload.targets.as_slice(), given.workload.engine);
    let title = match &given.configuration {
        Some(name) => format!("simulated database, {name} of SQLIOSim"),
        None => "simulated database".to_owned(),
    };
    Subject::new("validate", Validation::SCHEMA, title, on, given.plan).map_err(Failure::from)
}

fn run_plan(
    given: &Given<'_>,
    (display, recorder): (&Mutex<Display>, &Mutex<Recorder>),
    left: &str,
    hear: &(dyn Fn(bool, &str) + Sync),
    stop: &AtomicBool,
) -> Result<(Report, Vec<Place>), Failure> {
    let Given { plan, workload, permissions, roles, wanted, time, keeping, .. } = given;
    let usual = keeping.fillings(roles).into_iter();
    let fillings: Vec<_> = usual.zip(wanted).map(|(usual, w)| w.filling(usual)).collect();
    let mut show = |event: &engine::Event| hold(display).show(event);
    let mut prepared = engine::prepare_as(workload, permissions, &fillings, stop, &mut show)?;
    let places = places(given, &prepared)?;
    let open = |io_bytes: u32| -> Result<Box<dyn Queue>, String> {
        let opened = engine::open_queue_for(workload, &prepared, 0, io_bytes);
        Ok(opened.map_err(|e| e.to_string())?.0)
    };
    let notices = Mutex::new(Notices::default());
    let happens = |event: &Event| {
        let said = match event {
            Event::Notice(notice) if notice.kind == NoticeKind::EndWaits => Some(format!(
                "{}; a second Ctrl-C ends the program at once, which {left}",
                notice.text
            )),
            Event::Notice(notice) => hold(&notices).said(notice, Instant::now()),
            _ => None,
        };
        hold(display).validation(event, said.as_deref());
        let tell = &mut |event: jobs::Event| {
            hold(recorder).tell(&event);
            Display::tell_programs(&event);
        };
        live_events(event, (*time, roles.contains(&Role::Log)), said.as_deref(), tell);
        match event {
            Event::Began { phase, .. } => hear(false, phase_words(*phase)),
            Event::Glance(_) => {}
            Event::Notice(notice) => hear(true, &notice.text),
        }
    };
    let kept = keeping.begin(plan, &places)?;
    let report = integrity::run_kept(plan, &places, *time, &open, stop, &happens, kept.as_deref())
        .inspect_err(|_| keeping.give_up())
        .map_err(|error| Failure::CannotRun(error.to_string()))?;
    if report.audit.is_some() && report.failures.is_empty() {
        let files = prepared.targets_mut().iter_mut().zip(&places).zip(wanted);
        for ((target, place), _) in files.filter(|(_, wanted)| wanted.ends_whole()) {
            let page_bytes = u64::from(plan.page_bytes);
            target.finish(place.size_bytes / page_bytes * page_bytes)?;
        }
    }
    let is_wrong = report.fault_count > 0 || !report.log_faults.is_empty();
    // SQLIOSim's configurations say what becomes of their files.
    if let Some(text) = keeping.end(kept.as_deref(), &mut prepared, permissions.keep || is_wrong)? {
        hold(display).message(&text);
    } else if is_wrong && !permissions.keep && given.configuration.is_none() {
        prepared.remove(false);
        hold(display).message(
            "the test files stay, as evidence; `iosonde validate --clean DIRECTORY` removes them",
        );
    }
    Ok((report, places))
}

/// The whole result.
fn experiment(
    given: &Given<'_>,
    site: &Site,
    (report, places): (&Report, &[Place]),
    (id, started): (String, Timestamp),
) -> Experiment<Validation> {
    let asked = Asked {
        plan: given.plan,
        time: given.time,
        mode: given.workload.mode,
        configuration: given.configuration.clone(),
    };
    let conclusion = integrity::validation(asked, places, report);
    Experiment {
        plan: None,
        schema: Validation::SCHEMA.to_owned(),
        id,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        started: started.to_string(),
        finished: Timestamp::now().to_string(),
        status: conclusion.status(),
        targets: places.iter().map(|place| site.resolved(&place.path)).collect(),
        file_bytes: places.iter().map(|place| place.size_bytes).sum(),
        environment: site.environment().clone(),
        warnings: warnings(&conclusion),
        method: method(given.plan, &conclusion, given.wanted.iter().any(|w| w.sparse)),
        conclusion,
        measurements: Vec::new(),
    }
}

/// How a run ended.
fn outcome_of(verdict: ValidationVerdict) -> Outcome {
    match verdict {
        ValidationVerdict::Right => Outcome::Done,
        ValidationVerdict::WrongData => Outcome::WrongData,
        ValidationVerdict::IoFailed | ValidationVerdict::EndedEarly => Outcome::IoFailed,
        ValidationVerdict::Interrupted => Outcome::Interrupted,
    }
}

/// What several threads use.
pub(crate) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn places(given: &Given<'_>, prepared: &Prepared) -> Result<Vec<Place>, Failure> {
    let direct = given.workload.mode == Mode::Direct;
    let said = given.roles.iter().zip(&given.wanted);
    let targets = prepared.targets().iter().zip(prepared.facts()).zip(said);
    let place =
        |((target, fact), (role, wanted)): ((&PreparedTarget, TargetFacts), (&Role, &Wanted))| {
            Ok(Place {
                path: target.path().to_owned(),
                size_bytes: target.size_bytes(),
                role: *role,
                align_bytes: if direct { fact.direct_align_bytes } else { 1 },
                shape: wanted.shape(target)?,
            })
        };
    targets.map(place).collect()
}
