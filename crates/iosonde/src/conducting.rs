//! Runs a plan for the terminal: shows progress, prints the result, and turns it into an exit code.

use std::sync::atomic::AtomicBool;

use engine::Permissions;
use jobs::{Conducted, Event, JobError, Plan, Session, Sink};
use results::Document;

use crate::commands::run::json;
use crate::commands::{monitor, repeat};
use crate::exit::{Failure, Outcome, print, styled};
use crate::targets::TargetArgs;
use screen::{Display, Manner, described};

/// What the flags say about any job.
pub(crate) struct Manners {
    pub manner: Manner,
    pub json: bool,
    /// The history that keeps results; `None` for no history.
    pub recording: Option<jobs::Recording>,
    pub permissions: Permissions,
}

impl Manners {
    /// Those of a command with targets.
    pub(crate) fn of(target: &TargetArgs, json: bool, recording: Option<jobs::Recording>) -> Self {
        Self { manner: target.manner(), json, recording, permissions: target.permissions() }
    }
}

/// Shows a job on stderr and prints its documents on stdout.
pub(crate) struct Console {
    pub(crate) display: Display,
    pub(crate) json: bool,
    /// Nothing is printed, because the caller prints something else.
    pub(crate) silent: bool,
}

impl Console {
    /// The console that suits a plan.
    pub(crate) fn of(plan: &Plan, manners: &Manners) -> Result<Self, Failure> {
        Ok(Self { json: manners.json, ..Self::for_plan(plan, manners.manner)? })
    }

    /// A console that prints text.
    pub(crate) fn for_plan(plan: &Plan, manner: Manner) -> Result<Self, Failure> {
        if manner.live && matches!(plan, Plan::Durability(_) | Plan::Replay(_) | Plan::Fit(_)) {
            let text = "there is no screen for this job; leave out `--live`";
            return Err(Failure::WrongUsage(text.to_owned()));
        }
        let subject = plan.job().subject().map_err(JobError::from)?;
        Ok(Self::new(Display::of(manner, &subject), false))
    }

    /// A console with this display.
    pub(crate) fn new(display: Display, json: bool) -> Self {
        Self { display, json, silent: false }
    }

    /// Prints a document as JSON, or this text.
    pub(crate) fn print(
        &mut self,
        document: &Document,
        text: impl FnOnce() -> String,
    ) -> Result<(), String> {
        self.display.finish();
        if self.silent {
            return Ok(());
        }
        let text = if self.json { json(document) } else { Ok(styled(text())) };
        words(text.and_then(|text| print(&text)))
    }
}

impl Sink for Console {
    fn hear(&mut self, event: &Event) {
        self.display.hear(event);
    }

    fn leaves_behind(&mut self, words: Option<&str>) {
        self.display.leaves_behind(words);
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        self.print(document, || report::text::document(document))
    }
}

/// A failure as the sentence that a job reports.
pub(crate) fn words(done: Result<(), Failure>) -> Result<(), String> {
    done.map_err(Failure::into_text)
}

/// What a command does with its plan instead of running it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rehearsal {
    /// Print the plan and stop.
    pub print_plan: bool,
    /// Show what would be done and touch nothing.
    pub dry_run: bool,
}

/// Prints the plan or what it would do, if the user asked for that; `None` if it is to be run.
pub(crate) fn rehearse(
    plan: &Plan,
    rehearsal: Rehearsal,
    permissions: &Permissions,
) -> Result<Option<Outcome>, Failure> {
    let text = match rehearsal {
        Rehearsal { print_plan: true, .. } => plan.to_toml().map_err(JobError::from)?,
        Rehearsal { dry_run: true, .. } => described(&plan.job().describe(permissions)?),
        Rehearsal { print_plan: false, dry_run: false } => return Ok(None),
    };
    print(&text)?;
    Ok(Some(Outcome::Done))
}

/// Runs a search of several measurements, and first reports how long it takes.
pub(crate) fn search(
    plan: &Plan,
    manners: &Manners,
    rehearsal: Rehearsal,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    if let Some(outcome) = rehearse(plan, rehearsal, &manners.permissions)? {
        return Ok(outcome);
    }
    let mut console = Console::of(plan, manners)?;
    // Simulated time does not pass here.
    if plan.job().subject().map_err(JobError::from)?.watched {
        let work = plan.job().describe(&manners.permissions)?.work;
        for line in &work {
            console.display.message(line);
        }
    }
    conduct_into(plan, manners, &mut console, stop).map(|(_, outcome)| outcome)
}

/// Runs a plan with everything that its command does.
pub(crate) fn conduct(
    plan: &Plan,
    manners: &Manners,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    match plan {
        Plan::Runs(runs) => return repeat::run(runs, manners, stop),
        Plan::Monitor(plan) => return monitor::conduct(plan, manners, stop),
        _ => {}
    }
    let mut console = Console::of(plan, manners)?;
    conduct_into(plan, manners, &mut console, stop).map(|(_, outcome)| outcome)
}

/// The same with another sink; also returns the documents.
pub(crate) fn conduct_into(
    plan: &Plan,
    manners: &Manners,
    sink: &mut dyn Sink,
    stop: &AtomicBool,
) -> Result<(Vec<Document>, Outcome), Failure> {
    let (permissions, recording) = (manners.permissions.clone(), manners.recording.as_ref());
    let mut session = Session { permissions, recording, sink, stop, resumed: None };
    ended(hosts::conduct(plan, &mut session)?, stop)
}

/// The outcome of a job, as an exit code needs it.
pub(crate) fn ended(
    conducted: Conducted,
    stop: &AtomicBool,
) -> Result<(Vec<Document>, Outcome), Failure> {
    let Conducted { documents, kept } = conducted;
    let mut outcomes = documents.iter().map(|document| Outcome::of(document, stop));
    let outcome = outcomes.find(|o| *o != Outcome::Done).unwrap_or(Outcome::Done);
    match kept {
        // Wrong data is worse than anything else.
        Err(text) if outcome == Outcome::WrongData => Display::new(false).error(&text),
        kept => kept.map_err(Failure::CannotRun)?,
    }
    Ok((documents, outcome))
}
