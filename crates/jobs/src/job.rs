//! A command's work as data and one call.

use std::path::Path;

use engine::{Permissions, TargetPlan};
use results::Document;
use workload::{Bytes, Target};

use crate::conduct::{Conducted, JobError, Session};
use crate::plan::{Plan, PlanError};
use crate::subject::Subject;

/// What a command does, as data: it says what it is about and what it would do, and does it.
///
/// To add one: implement this for its plan in a module of this crate, and name it in
/// [`Plan`](crate::Plan).
pub trait Job {
    /// The plan that names this job: what a document carries, so that it can be repeated.
    fn plan(&self) -> Plan;

    /// What lists, watchers and the history show of it before there is a result.
    ///
    /// # Errors
    /// The plan cannot be written as JSON.
    fn subject(&self) -> Result<Subject, PlanError>;

    /// The targets that receive the I/O.
    fn targets(&self) -> Vec<&Path>;

    /// Whether it makes no I/O on a real target.
    fn is_artificial(&self) -> bool;

    /// Names the targets of an earlier result wholly, with the sizes that its files had.
    fn pin(&mut self, document: &Document);

    /// What it would do, for `--dry-run`; touches nothing.
    ///
    /// # Errors
    /// The plan breaks a rule, or a target cannot be used.
    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError>;

    /// Does it.
    ///
    /// # Errors
    /// Nothing was measured, and why.
    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError>;
}

/// What a job would do, for `--dry-run`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// What it measures and how long that takes, a line each.
    pub work: Vec<String>,
    /// What happens to each target before the first measurement.
    pub targets: Vec<TargetPlan>,
    /// The steps, if they differ from each other.
    pub steps: Option<Steps>,
    /// What else there is to know, a line each.
    pub notes: Vec<String>,
    /// What the job does in another way than asked, one sentence each.
    pub remarks: Vec<String>,
}

/// The steps of a job, as a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    /// The columns; the first two hold text, the others numbers.
    pub heads: Vec<&'static str>,
    /// One row of cells per step.
    pub rows: Vec<Vec<String>>,
    /// How many there are and how long they take, in a sentence.
    pub summary: String,
}

impl Description {
    /// The description of a job with these targets.
    #[must_use]
    pub fn of(targets: Vec<TargetPlan>) -> Self {
        Self { targets, ..Self::default() }
    }

    /// Bytes that are written before the first measurement.
    #[must_use]
    pub fn filled_bytes(&self) -> u64 {
        self.targets.iter().filter(|p| p.action.fills()).map(|p| p.size_bytes).sum()
    }
}

pub(crate) fn paths(targets: &[Target]) -> Vec<&Path> {
    targets.iter().map(|target| target.path.as_path()).collect()
}

/// Gives targets the paths of an earlier result, and the sizes that its files had.
pub(crate) fn pin_targets(planned: &mut [Target], document: &Document) {
    for (target, path) in planned.iter_mut().zip(document.targets()) {
        let measurements = document.measurements();
        let found = measurements.iter().find_map(|m| {
            let place = m.workload.targets.iter().position(|t| t.path == target.path)?;
            m.targets.get(place)
        });
        target.size_bytes = found.map(|result| Bytes(result.file_bytes)).or(target.size_bytes);
        target.path = path;
    }
}
