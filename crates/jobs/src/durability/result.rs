//! What a check says becomes a document, and what stays of a run.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use inspect::{Finding, shell_word};
use integrity::durability::{Header, Target, method};
use jiff::Timestamp;
use results::{
    Conclusion as _, Document, Durability, DurabilityVerdict, Experiment, Status, WriterEnd,
};
use survey::{Progress, Site};

use super::witness::Source;
use crate::conduct::{Conducted, Relay};
use crate::event::Event;

/// A result that is to come.
pub(super) struct PendingResult {
    /// Of this check: the run that is checked has its own name, and may be checked again.
    id: String,
    started: Timestamp,
}

impl PendingResult {
    pub(super) fn begin(relay: &Relay<'_>) -> Self {
        let started = Timestamp::now();
        let id = engine::new_id(started);
        relay.hear(&Progress::Began { id: &id, started: &started.to_string() });
        Self { id, started }
    }

    /// Delivers and stores the result, and removes files that are no longer needed.
    pub(super) fn finish(
        self,
        (header, source): (&Header, &Source),
        found: Durability,
        relay: &Relay<'_>,
        stop: &AtomicBool,
    ) -> Conducted {
        let verdict = found.verdict;
        let document = Document::Durability(Box::new(self.experiment(header, found, stop)));
        let conducted = relay.finish(document);
        tidy(header, verdict, source, relay);
        conducted
    }

    fn experiment(
        self,
        header: &Header,
        found: Durability,
        stop: &AtomicBool,
    ) -> Experiment<Durability> {
        let finished = Timestamp::now().to_string();
        // The files are there by now, also those that were made for it.
        let paths: Vec<&Path> = header.targets.iter().map(|t| t.path.as_path()).collect();
        let site = Site::of_paths(&paths);
        let is_interrupted = stop.load(Ordering::Relaxed);
        Experiment {
            schema: Durability::SCHEMA.to_owned(),
            id: self.id,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            started: self.started.to_string(),
            finished,
            status: match (found.verdict, found.ending) {
                (DurabilityVerdict::Lost, WriterEnd::Failed) => Status::Failed,
                (DurabilityVerdict::Lost, _) => Status::Complete,
                _ if is_interrupted => Status::Interrupted,
                (_, WriterEnd::Failed) => Status::Failed,
                _ => Status::Complete,
            },
            targets: paths.iter().map(|path| site.resolved(path)).collect(),
            file_bytes: header.targets.iter().map(|t| t.size_bytes).sum(),
            environment: site.environment().clone(),
            plan: None,
            measurements: Vec::new(),
            method: method(header),
            warnings: {
                let ending = warning(found.ending).map(str::to_owned);
                ending.into_iter().chain(site.environment().findings(Finding::is_of_data)).collect()
            },
            conclusion: found,
        }
    }
}

/// A warning if the crash was not one of the machine.
fn warning(ending: WriterEnd) -> Option<&'static str> {
    match ending {
        WriterEnd::InOrder => Some(
            "The writer ended in order and no crash came: this shows that the test works, and \
             nothing about crashes.",
        ),
        WriterEnd::Killed => Some(
            "A process was killed, and the machine and its devices kept running: this says nothing \
             about caches that lose power. Cut the power, with the witness on another machine \
             (--witness), to know.",
        ),
        WriterEnd::Failed => Some(
            "The writer could not continue, and no crash came: what it had promised until then was \
             checked, and this says nothing about crashes.",
        ),
        WriterEnd::Unseen => None,
    }
}

/// Files of a run that kept its promises are removed; those of one that did not are evidence.
fn tidy(header: &Header, verdict: DurabilityVerdict, source: &Source, relay: &Relay<'_>) {
    if verdict == DurabilityVerdict::Lost {
        relay.notice(
            "the files stay as they are, as evidence; they carry a mark by which they are known \
             as test files"
                .to_owned(),
        );
        return;
    }
    if header.keep {
        return;
    }
    remove_files(header, relay);
    source.remove(header, relay);
}

/// Removes the files that were made for a run.
pub(super) fn remove_files(header: &Header, relay: &Relay<'_>) {
    for target in own(header).filter(|target| target.path.exists()) {
        if let Err(error) = engine::clean(&target.path, true, false) {
            let text = format!("cannot remove `{}`: {error}", target.path.display());
            relay.pass(&Event::Error { text });
        }
    }
}

/// The targets that were made for a run.
fn own(header: &Header) -> impl Iterator<Item = &Target> {
    header.targets.iter().filter(|target| !header.foreign.contains(&target.path))
}

/// What stays of a run that ends before its check does, and how to go on.
pub(super) fn left_behind(header: &Header, source: &Source) -> String {
    let check = format!("check with `iosonde validate --verify {}`", shell_word(source.name()));
    let files: Vec<String> = own(header).map(|target| shell_word(&target.path)).collect();
    if files.is_empty() {
        return format!("keeps the promises: {check}");
    }
    format!(
        "keeps the files and the promises: {check}, or remove the files with `iosonde validate \
         --clean {}`",
        files.join(" ")
    )
}

/// Says what stays, if there is anything.
pub(super) fn say_what_stays(header: &Header, source: &Source, relay: &Relay<'_>) {
    if own(header).any(|target| target.path.exists()) {
        relay.notice(format!("the check did not end, which {}", left_behind(header, source)));
    }
}
