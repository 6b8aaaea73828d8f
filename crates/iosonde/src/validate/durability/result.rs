//! What a check says becomes a result like every other: shown, kept in the history, and an exit
//! code.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ::report::text;
use integrity::durability::{Header, method};
use jiff::Timestamp;
use jobs::{Recorder, Subject};
use results::{
    Conclusion as _, Document, Durability, DurabilityVerdict, Experiment, Status, WriterEnd,
};
use survey::Site;

use super::layout::workload_of;
use crate::exit::{Failure, Outcome};
use crate::run::json;
use crate::validate::ValidateArgs;
use crate::validate::running::deliver;
use screen::Display;

/// A result that is to come.
pub(super) struct Expected<'a> {
    args: &'a ValidateArgs,
    recorder: Recorder,
    /// Of this check: the run that is checked has a name of its own, and may be checked again.
    id: String,
    started: Timestamp,
}

impl<'a> Expected<'a> {
    /// Opens the history: one that cannot be used ends the command before anything is written or
    /// read.
    pub(super) fn begin(
        args: &'a ValidateArgs,
        header: &Header,
        display: &mut Display,
    ) -> Result<Self, Failure> {
        let plan = &header.plan;
        let workload = workload_of(header, args.target.engine, true);
        let title = Durability::phrase(plan.sync, plan.order, plan.page_bytes);
        let on = (workload.targets.as_slice(), workload.engine);
        let mut subject = Subject::new("validate", Durability::SCHEMA, title, on, plan)?;
        // Signs of life for those who watch flush a disk, and that may be the one whose caches are
        // tested.
        subject.watched = false;
        let mut recorder = args.recording.open(subject)?;
        let started = Timestamp::now();
        let id = engine::new_id(started);
        if let Err(error) = recorder.began(&id, &started.to_string()) {
            display.message(&format!("warning: {error}; it goes on without it"));
        }
        Ok(Self { args, recorder, id, started })
    }

    /// Shows what was found, and keeps it.
    pub(super) fn finish(
        mut self,
        header: &Header,
        found: Durability,
        display: &mut Display,
        stop: &AtomicBool,
    ) -> Result<Outcome, Failure> {
        let outcome = outcome_of(found.verdict, stop);
        let experiment = self.experiment(header, found, outcome);
        let document = Document::Durability(Box::new(experiment));
        let shown = if self.args.json { json(&document)? } else { text::document(&document) };
        let mut complain = |text: &str| display.error(text);
        let quiet = self.args.target.conduct.quiet;
        deliver((&shown, &document), outcome, &mut self.recorder, quiet, &mut complain)
    }

    fn experiment(
        &self,
        header: &Header,
        found: Durability,
        outcome: Outcome,
    ) -> Experiment<Durability> {
        let finished = Timestamp::now().to_string();
        // The files are there by now, also those that were made for it.
        let paths: Vec<&Path> = header.targets.iter().map(|t| t.path.as_path()).collect();
        let site = Site::of_paths(&paths);
        Experiment {
            plan: None,
            schema: Durability::SCHEMA.to_owned(),
            id: self.id.clone(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started: self.started.to_string(),
            finished,
            status: match (outcome, found.ending) {
                (Outcome::Interrupted, _) => Status::Interrupted,
                (_, WriterEnd::Failed) => Status::Failed,
                _ => Status::Complete,
            },
            targets: paths.iter().map(|path| site.resolved(path)).collect(),
            file_bytes: header.targets.iter().map(|t| t.size_bytes).sum(),
            environment: site.environment().clone(),
            measurements: Vec::new(),
            method: method(header),
            warnings: warning(found.ending).map(str::to_owned).into_iter().collect(),
            conclusion: found,
        }
    }
}

/// What is to be known of a crash that was none of the machine.
fn warning(ending: WriterEnd) -> Option<&'static str> {
    match ending {
        WriterEnd::InOrder => Some(
            "The writer ended in order and no crash came: this shows that the test works, and \
             nothing about crashes.",
        ),
        WriterEnd::Killed => Some(
            "A process was killed, and the machine and its devices went on: this says nothing \
             about caches that lose power. Cut the power, with the witness on another machine \
             (--witness), to know.",
        ),
        WriterEnd::Failed => Some(
            "The writer could not go on, and no crash came: what it had promised until then was \
             checked, and this says nothing about crashes.",
        ),
        WriterEnd::Unseen => None,
    }
}

fn outcome_of(verdict: DurabilityVerdict, stop: &AtomicBool) -> Outcome {
    match verdict {
        DurabilityVerdict::Lost => Outcome::WrongData,
        _ if stop.load(Ordering::Relaxed) => Outcome::Interrupted,
        DurabilityVerdict::Kept => Outcome::Done,
        // What shows nothing must not look like success.
        DurabilityVerdict::NothingPromised => Outcome::IoFailed,
    }
}
