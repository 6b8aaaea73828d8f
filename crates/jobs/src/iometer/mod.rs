//! The runs of a configuration of IOMeter, with its result file.

mod cpu;
mod plan;
mod results;
mod runs;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use ::results::{Conclusion as _, Cycle, Document, Measurement, Status};
use dialects::drives::{Drive, ManagerHost};
use dialects::iometer::settle_sectors;
use engine::Permissions;
use serde::{Deserialize, Serialize};
use survey::{Bench, Here, LabContext, Progress};
use workload::{EngineChoice, SimDevice, Target, TargetFacts, Workload, show_ns, show_number};

use self::cpu::Processors;
use self::results::Results;
use self::runs::Runs;
use crate::conduct::{Conducted, JobError, Relay, Session, both};
use crate::job::{Description, Job, paths, pin_targets};
use crate::plan::{Plan, PlanError};
use crate::subject::Subject;

pub use self::plan::CycleCall;

/// A configuration of IOMeter, and where it is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CyclePlan {
    /// Name of the configuration's file, without its directory.
    pub file: String,
    /// The configuration as an .icf file has it.
    pub configuration: String,
    /// The place for each drive, disk or share that it names.
    #[serde(default)]
    pub drives: Vec<Drive>,
    /// The targets of all runs, in the order in which the configuration names them first.
    pub targets: Vec<Target>,
    /// The engine that does the I/O.
    pub engine: EngineChoice,
    /// The simulated device of the engine `sim`.
    pub sim: Option<SimDevice>,
    /// Seed of every random choice; `None` if the configuration decides.
    pub seed: Option<u64>,
    /// Length of every run instead of the configuration's.
    pub seconds: Option<f64>,
    /// I/O before every run instead of the configuration's ramp up time.
    pub warmup_seconds: Option<f64>,
    /// The host of each manager; empty where all of them are this host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub managers: Vec<ManagerHost>,
    /// IOMeter's result file, to which the runs are appended.
    pub results: Option<PathBuf>,
    /// What differs from the file or from IOMeter, one sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl CyclePlan {
    /// The identity of the measurement. Another place for its results does not make it another
    /// measurement, and a repetition does not write to IOMeter's file.
    fn measured(&self) -> Self {
        Self { results: None, ..self.clone() }
    }

    /// What it does and how long that takes, a line each; nothing is looked at.
    pub(crate) fn work(&self) -> Vec<String> {
        let Ok(runs) = self.runs() else { return Vec::new() };
        let cycle = &runs.options.cycle;
        let each: Vec<String> =
            self.managers.iter().map(|of| format!("{} on {}", of.manager, of.host)).collect();
        vec![
            format!("{}, {}", cycle.title(), cycle.test_type),
            runs.steps(&[]).summary,
            each.join(", "),
        ]
    }

    fn claim_results(&self, runs: &Runs, touch: bool) -> Result<Option<Results>, JobError> {
        let claim = |path: &PathBuf| Results::claim(path, &runs.config, touch);
        self.results.as_ref().map(claim).transpose()
    }
}

/// Files of any name are made; whether they stay is the user's choice.
fn allowed(permissions: &Permissions) -> Permissions {
    Permissions { any_name: true, ..permissions.clone() }
}

impl Job for CyclePlan {
    fn plan(&self) -> Plan {
        Plan::Cycle(Box::new(self.measured()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let title = self.runs().map(|runs| runs.options.cycle.title()).unwrap_or_default();
        let on = (self.targets.as_slice(), self.engine);
        Ok(Subject::new("iometer", Cycle::SCHEMA, title, on, &self.measured())?)
    }

    fn targets(&self) -> Vec<&Path> {
        paths(&self.targets)
    }

    fn is_artificial(&self) -> bool {
        self.engine.is_artificial()
    }

    fn pin(&mut self, document: &Document) {
        pin_targets(&mut self.targets, document);
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        let runs = self.runs()?;
        self.claim_results(&runs, false)?;
        let targets = engine::plan(&runs.options.preparation, &allowed(permissions))?;
        let cycle = &runs.options.cycle;
        Ok(Description {
            work: vec![format!("{}, {}", cycle.title(), cycle.test_type)],
            steps: Some(runs.steps(&targets)),
            remarks: self.notes.clone(),
            ..Description::of(targets)
        })
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        if !self.managers.is_empty() {
            return Err(JobError::CannotRun(
                "its managers are on other hosts. Carry it out with `iosonde iometer --manager`"
                    .to_owned(),
            ));
        }
        self.run_on(&mut Here, self, session)
    }
}

impl CyclePlan {
    /// Makes the runs where `bench` measures. `job` is what the history knows of them.
    ///
    /// # Errors
    /// Nothing was measured, and why.
    pub fn run_on(
        &self,
        bench: &mut dyn Bench,
        job: &dyn Job,
        session: &mut Session<'_>,
    ) -> Result<Conducted, JobError> {
        let runs = self.runs()?;
        let csv = RefCell::new(self.claim_results(&runs, true)?);
        let (permissions, stop) = (allowed(&session.permissions), session.stop);
        let relay = Relay::open(session, job)?;
        let record = relay.record()?;
        self.notes.iter().for_each(|note| relay.notice(format!("note: {note}")));
        let is_here = self.managers.is_empty();
        let processors = RefCell::new(Processors::new(self.is_artificial() || !is_here));
        let Runs { config, cycle, mut options, .. } = runs;
        options.permissions = permissions;
        let of = options.workloads.len();
        let mut keep = |index: usize, measurement: &Measurement| -> Result<(), String> {
            relay.notice(line(index + 1, of, measurement));
            let mut csv = csv.borrow_mut();
            let (Some(csv), Some(asked)) = (csv.as_mut(), cycle.steps.get(index)) else {
                return Ok(());
            };
            let cpu = processors.borrow().shares();
            let cpu = is_here.then_some(&cpu);
            csv.add(&config, (asked.step.index, &asked.run), measurement, cpu)
        };
        let mut observe = |progress: Progress<'_>| {
            if let Progress::Engine(event) = &progress {
                processors.borrow_mut().hear(event);
            }
            relay.hear(&progress);
        };
        let context = LabContext { record, ..LabContext::new(stop, &mut observe) };
        let measured = survey::cycle_on(bench, options, &settle, &mut keep, context.within());
        let experiment = measured.inspect_err(|_| relay.give_up())?;
        let is_whole = experiment.status == Status::Complete;
        let written = csv.into_inner().map_or(Ok(()), |csv| {
            let place = csv.end(is_whole)?;
            if let Some(path) = place {
                relay.notice(format!("IOMeter's results are in {}", path.display()));
            }
            Ok(())
        });
        let conducted = relay.finish(Document::Cycle(Box::new(experiment)));
        Ok(Conducted { kept: both(written, conducted.kept), ..conducted })
    }
}

/// What an alignment of 0 means is known once the targets are open.
fn settle(workload: &mut Workload, facts: &[TargetFacts]) {
    let sectors: Vec<u64> = facts.iter().map(|f| f.direct_align_bytes).collect();
    settle_sectors(workload, &sectors);
}

/// A finished run, while others continue.
fn line(number: usize, of: usize, m: &Measurement) -> String {
    let latency = m.total.latency_ns.map_or_else(String::new, |l| {
        let max = l.max.map_or_else(String::new, |ns| format!(", max {}", show_ns(ns as f64)));
        format!(", mean {}{max}", show_ns(l.mean))
    });
    let errors = match m.total.errors {
        0 => String::new(),
        errors => format!(", {errors} ERRORS"),
    };
    format!(
        "run {number} of {of}: {} IOPS, {} MiB/s{latency}{errors}",
        show_number(m.total.iops),
        show_number(m.total.mib_per_s)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = include_str!("../../../dialects/tests/it/iometer/v1.1.0.icf");

    proptest! {
        /// A plan that was printed, mailed and edited is the same plan, whatever is in the names.
        #[test]
        fn a_cycle_plan_reads_back_as_it_was_written(
            file in ".{1,20}",
            noise in "[ -~\r\n\t']{0,200}",
            place in "[!-~]([ -~]{0,12}[!-~])?",
            seed in proptest::option::of(0..=i64::MAX.unsigned_abs()),
            seconds in proptest::option::of(0.0..1e6f64),
            results in proptest::option::of("[a-z/]{1,12}"),
        ) {
            let plan = Plan::Cycle(Box::new(CyclePlan {
                file,
                configuration: format!("{FILE}{noise}"),
                drives: vec![format!("E={place}").parse().unwrap()],
                targets: vec![Target { path: place.into(), size_bytes: None }],
                engine: EngineChoice::Sim,
                sim: Some(SimDevice::default()),
                seed,
                seconds,
                warmup_seconds: seconds,
                managers: vec!["M: 1=db1".parse().unwrap()],
                results: results.map(PathBuf::from),
                notes: vec![noise],
            }));
            let text = plan.to_toml().unwrap();
            prop_assert_eq!(Plan::from_toml(&text).unwrap(), plan.clone(), "{}", text);
            let json = serde_json::to_string(&plan).unwrap();
            prop_assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
        }
    }
}
