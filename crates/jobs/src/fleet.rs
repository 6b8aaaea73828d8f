//! A plan for many hosts. What carries it out is the crate `hosts`.

use std::path::{Path, PathBuf};

use engine::Permissions;
use results::{Conclusion, Document, Fleet, OnLoss};
use serde::{Deserialize, Serialize};
use workload::EngineChoice;

use crate::conduct::{Conducted, JobError, Session};
use crate::job::{Description, Job};
use crate::plan::{Plan, PlanError};
use crate::subject::Subject;

/// One job on many hosts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetPlan {
    /// The hosts, as their way knows them.
    pub hosts: Vec<String>,
    /// What happens when one is lost.
    pub on_loss: OnLoss,
    /// The way to the hosts.
    #[serde(default, skip_serializing_if = "FleetReach::is_usual")]
    pub reach: FleetReach,
    /// What they do. `{host}` in the path of a target stands for the name of the host.
    pub plan: Box<Plan>,
}

/// The way to the hosts of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum FleetReach {
    /// Sessions of `ssh`.
    Ssh {
        /// The program that takes a host and a command as `ssh` does, and what is given to it
        /// first, separated by spaces.
        command: String,
        /// What starts iosonde on a host.
        agent: String,
    },
    /// The NATS server of a fleet, to which the agents are connected.
    Site {
        /// The directory that `iosonde fleet init` made.
        directory: PathBuf,
    },
}

impl Default for FleetReach {
    fn default() -> Self {
        Self::Ssh { command: "ssh".to_owned(), agent: "iosonde".to_owned() }
    }
}

impl FleetReach {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl FleetPlan {
    /// The same over plain `ssh`. A result may come from anybody, and must not name the program
    /// that is started when it is repeated.
    pub(crate) fn by_usual_way(&self) -> Self {
        Self { reach: FleetReach::default(), ..self.clone() }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.plan.as_ref() {
            Plan::Run(_) => "fleet",
            plan => plan.kind(),
        }
    }
}

impl Job for FleetPlan {
    fn plan(&self) -> Plan {
        Plan::Fleet(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let inner = self.plan.job().subject()?;
        let schema = match self.plan.as_ref() {
            Plan::Run(_) => Fleet::SCHEMA,
            _ => inner.schema,
        };
        let title = format!("{} from {} hosts", inner.title, self.hosts.len());
        let mut subject = Subject::new(
            self.kind(),
            schema,
            title,
            (&[], EngineChoice::Auto),
            &self.by_usual_way(),
        )?;
        subject.watched = inner.watched;
        let paths = self.plan.job().targets().into_iter().map(|path| path.display().to_string());
        subject.targets = paths.collect::<Vec<_>>().join(", ");
        Ok(subject)
    }

    fn targets(&self) -> Vec<&Path> {
        self.plan.job().targets()
    }

    fn is_artificial(&self) -> bool {
        self.plan.job().is_artificial()
    }

    /// Paths on other hosts are whole already.
    fn pin(&mut self, _: &Document) {}

    fn describe(&self, _: &Permissions) -> Result<Description, JobError> {
        let mut work = vec![format!("{} hosts: {}", self.hosts.len(), self.hosts.join(", "))];
        work.extend(match self.plan.as_ref() {
            Plan::Run(workload) => crate::run::duration(workload, ""),
            Plan::Knee(options) => vec![crate::experiments::knee_work(options)],
            Plan::Scale(options) => {
                vec![crate::experiments::scale_work(options, self.hosts.len())]
            }
            Plan::Sweep(plan) => vec![crate::sweep::duration(plan)],
            _ => Vec::new(),
        });
        let paths = self.targets().into_iter().map(|path| path.display().to_string());
        let notes = vec![format!(
            "on every host: {}. Whether it can be used is decided there",
            paths.collect::<Vec<_>>().join(", ")
        )];
        Ok(Description { work, notes, ..Description::default() })
    }

    fn run(&self, _: &mut Session<'_>) -> Result<Conducted, JobError> {
        Err(JobError::CannotRun(
            "this is a plan of several hosts. Carry it out with `iosonde fleet`, `iosonde do` or \
             `iosonde again`"
                .to_owned(),
        ))
    }
}
