//! A plan is run on its files, and its report becomes text and an exit code.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::report::text::clean;
use engine::{Permissions, Prepared, Queue};
use integrity::{Event, Phase, Place, Plan, Report, Role};
use workload::{Mode, Workload};

use super::Keeping;
use crate::display::Display;
use crate::exit::{Failure, Outcome};

/// What is run, and on what.
pub(crate) struct Given<'a> {
    pub plan: &'a Plan,
    pub workload: &'a Workload,
    pub permissions: &'a Permissions,
    /// What each target holds.
    pub roles: Vec<Role>,
    pub time: Duration,
    /// Where the run keeps what it knows.
    pub keeping: Keeping,
}

/// Makes the targets ready and runs the plan on them. `hear` is told what is shown meanwhile, and whether it is an error.
pub(crate) fn run_plan(
    given: &Given<'_>,
    display: &Mutex<Display>,
    hear: &(dyn Fn(bool, &str) + Sync),
    stop: &AtomicBool,
) -> Result<(Report, Vec<Place>), Failure> {
    let Given { plan, workload, permissions, roles, time, keeping } = given;
    let fillings = keeping.fillings(roles);
    let mut show = |event: &engine::Event| hold(display).show(event);
    let mut prepared = engine::prepare_as(workload, permissions, &fillings, stop, &mut show)?;
    let places = places(workload, &prepared, roles);
    let open = || -> Result<Box<dyn Queue>, String> {
        let opened = engine::open_queue(workload, &prepared, 0).map_err(|e| e.to_string())?;
        Ok(opened.0)
    };
    let happens = |event: &Event| match event {
        Event::Began { phase, .. } => {
            hold(display).message(words(*phase));
            hear(false, words(*phase));
        }
        Event::Glance(_) => {}
        Event::Notice(notice) => {
            hold(display).error(&notice.text);
            hear(true, &notice.text);
        }
    };
    let kept = keeping.begin(plan, &places)?;
    let report = integrity::run_kept(plan, &places, *time, &open, stop, &happens, kept.as_deref())
        .inspect_err(|_| keeping.give_up())
        .map_err(|error| Failure::CannotRun(error.to_string()))?;
    hold(display).finish();
    if report.audit.is_some() && report.failures.is_empty() {
        for (target, place) in prepared.targets_mut().iter_mut().zip(&places) {
            let page_bytes = u64::from(plan.page_bytes);
            target.finish(place.size_bytes / page_bytes * page_bytes)?;
        }
    }
    if let Some(text) = keeping.end(kept.as_deref(), &mut prepared, permissions.keep)? {
        hold(display).message(&text);
    }
    Ok((report, places))
}

/// The report as text for a terminal.
pub(crate) fn shown_text(report: &Report, places: &[Place], mode: Mode) -> String {
    let mut text = integrity::text(report, places);
    if mode == Mode::Buffered {
        text += "What was read went through the cache of the operating system: it says little of the storage behind it.\n";
    }
    text.lines().map(|line| clean(line) + "\n").collect()
}

/// How a run ended.
pub(crate) fn outcome_of(report: &Report) -> Outcome {
    let failed = !report.failures.is_empty() || report.ended.is_some();
    match (report.is_right(), report.interrupted, failed) {
        (false, ..) => Outcome::WrongData,
        (true, true, _) => Outcome::Interrupted,
        (true, false, true) => Outcome::IoFailed,
        (true, false, false) => Outcome::Done,
    }
}

/// A display that several threads use.
pub(crate) fn hold(display: &Mutex<Display>) -> MutexGuard<'_, Display> {
    display.lock().unwrap_or_else(PoisonError::into_inner)
}

fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::Load => "writing every page",
        Phase::Work => "users are at work",
        Phase::Audit => "reading every page",
        Phase::Log => "reading the log",
    }
}

fn places(workload: &Workload, prepared: &Prepared, roles: &[Role]) -> Vec<Place> {
    let targets = prepared.targets().iter().zip(prepared.facts()).zip(roles);
    let place = |((target, fact), role): ((&engine::PreparedTarget, _), &Role)| {
        let fact: workload::TargetFacts = fact;
        Place {
            path: target.path().to_owned(),
            size_bytes: target.size_bytes(),
            role: *role,
            align_bytes: if workload.mode == Mode::Direct { fact.direct_align_bytes } else { 1 },
            shape: integrity::Shape::default(),
        }
    };
    targets.map(place).collect()
}
