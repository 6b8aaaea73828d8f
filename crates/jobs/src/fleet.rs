//! A plan for many hosts. What carries it out is the crate `hosts`.

use std::path::{Path, PathBuf};

use engine::{Permissions, PrepareError};
use results::{Conclusion, Document, Fleet, FleetJob, OnLoss};
use serde::{Deserialize, Serialize};
use survey::Setup;
use workload::{EngineChoice, Target, show_duration};

use crate::conduct::{Conducted, JobError, Session};
use crate::experiments::{ONCE_WRITTEN, Survey, assess_work};
use crate::job::{Description, Job};
use crate::plan::{Plan, PlanError};
use crate::subject::Subject;

/// One plan for many hosts, and how to reach them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetPlan {
    /// The hosts, as their way knows them.
    pub hosts: Vec<String>,
    /// What happens when one is lost.
    pub on_loss: OnLoss,
    /// How the coordinator reaches these hosts.
    #[serde(default, skip_serializing_if = "FleetReach::is_usual")]
    pub reach: FleetReach,
    /// An assessment is of all hosts together: each load is on all of them at once, and what they
    /// do is judged as one. Otherwise each host does its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub together: bool,
    /// What they do. `{host}` in the path of a target stands for the name of the host.
    pub plan: Box<Plan>,
}

/// How the coordinator reaches the hosts of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum FleetReach {
    /// Through `ssh` or a program like it, which starts an agent on each host.
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
    /// The program that is not the usual one, on this host or on the others.
    pub(crate) fn program(&self) -> Option<String> {
        match self {
            Self::Ssh { command, agent } if !self.is_usual() => {
                Some(format!("`{command}`, which starts `{agent}` on each host"))
            }
            _ => None,
        }
    }

    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl FleetPlan {
    /// The same over plain `ssh`. A result may come from anybody, and must not name the program
    /// that is started when it is repeated.
    pub(crate) fn by_usual_way(&self) -> Self {
        let mut plan = self.plan.clone();
        if let Plan::Cycle(cycle) = plan.as_mut() {
            // A repetition does not write to IOMeter's file.
            cycle.results = None;
        }
        Self { reach: FleetReach::default(), plan, ..self.clone() }
    }

    /// Whether every host does this job by itself, from its beginning to its own result. Otherwise
    /// the hosts make one measurement after the other together.
    #[must_use]
    pub fn is_each_by_itself(&self) -> bool {
        match self.plan.as_ref() {
            Plan::Assess(_) => !self.together,
            plan => matches!(plan, Plan::Validate(_) | Plan::Monitor(_)),
        }
    }

    /// Whether it is a search: one point after the other, each on all hosts at once.
    #[must_use]
    pub fn is_search(&self) -> bool {
        match self.plan.as_ref() {
            Plan::Assess(_) => self.together,
            plan => matches!(plan, Plan::Knee(_) | Plan::Scale(_) | Plan::Sweep(_)),
        }
    }

    /// What a search does on the targets of all hosts, of which only the number is known here.
    fn work_on_hosts<S: Survey>(&self, search: &S) -> Result<String, PrepareError> {
        let of_host = |host: &String| {
            let on = |target: &Target| Target {
                path: format!("{host}:{}", target.path.display()).into(),
                ..target.clone()
            };
            search.setup().targets.iter().map(on).collect::<Vec<_>>()
        };
        let targets = self.hosts.iter().flat_map(of_host).collect();
        let search = search.on_foreseen(Setup { targets, ..search.setup().clone() });
        Ok(format!("{}, {ONCE_WRITTEN}", search.work(&search.foresee(&[])?)))
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.plan.as_ref() {
            Plan::Run(_) => "fleet",
            _ if self.is_each_by_itself() => "fleet",
            plan => plan.kind(),
        }
    }
}

impl Plan {
    /// Every path of a plan that hosts of a fleet carry out: what receives I/O or is watched, and
    /// then what is only read.
    pub fn paths_mut(&mut self) -> (Vec<&mut PathBuf>, Vec<&mut PathBuf>) {
        let mut read = Vec::new();
        let used = match self {
            Self::Run(workload) => {
                let streams = workload.streams.iter_mut();
                read.extend(streams.filter_map(|stream| stream.content_file.as_mut()));
                workload.targets.iter_mut().map(|target| &mut target.path).collect()
            }
            Self::Assess(options) => vec![&mut options.target],
            Self::Validate(plan) => plan.files.iter_mut().map(|file| &mut file.path).collect(),
            Self::Monitor(plan) => plan.targets.iter_mut().collect(),
            _ => Vec::new(),
        };
        (used, read)
    }

    /// Where the random choices of such a plan start: two hosts that ask for the same offsets at
    /// the same time would meet in caches.
    pub fn seed_mut(&mut self) -> Option<&mut u64> {
        match self {
            Self::Run(workload) => Some(&mut workload.seed),
            Self::Assess(options) => Some(&mut options.seed),
            Self::Validate(plan) => Some(&mut plan.database.seed),
            _ => None,
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
            _ if self.is_each_by_itself() => FleetJob::SCHEMA,
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
        let paths = self.targets().into_iter().map(|path| path.display().to_string());
        subject.targets = paths.collect::<Vec<_>>().join(", ");
        Ok(subject)
    }

    fn targets(&self) -> Vec<&Path> {
        match self.plan.as_ref() {
            // It makes no I/O, and names what it watches.
            Plan::Monitor(plan) => plan.targets.iter().map(PathBuf::as_path).collect(),
            plan => plan.job().targets(),
        }
    }

    fn is_artificial(&self) -> bool {
        self.plan.job().is_artificial()
    }

    /// Paths on other hosts are whole already.
    fn pin(&mut self, _: &Document) {}

    fn describe(&self, _: &Permissions) -> Result<Description, JobError> {
        let mut work = vec![format!("{} hosts: {}", self.hosts.len(), self.hosts.join(", "))];
        work.extend(self.reach.program().map(|program| format!("reaches them by {program}")));
        work.extend(match self.plan.as_ref() {
            Plan::Run(workload) => crate::run::duration(workload, ""),
            Plan::Knee(options) => vec![self.work_on_hosts(options.as_ref())?],
            Plan::Scale(options) => vec![self.work_on_hosts(options.as_ref())?],
            Plan::Sweep(plan) => vec![crate::sweep::duration(plan)],
            Plan::Cycle(plan) => plan.work(),
            Plan::Assess(options) => {
                let work = assess_work(options)?;
                let how = if self.together {
                    "every load is on all hosts at once and judged as one"
                } else {
                    "each host assesses its own target"
                };
                vec![format!("{how}: {work}, and the time to write the files")]
            }
            Plan::Validate(plan) => {
                let time = show_duration(plan.seconds);
                vec![format!("each host has its own simulated database, which works for {time}")]
            }
            Plan::Monitor(plan) => {
                vec![format!("each host watches its own counters, {}", plan.length())]
            }
            _ => Vec::new(),
        });
        let paths = self.targets().into_iter().map(|path| path.display().to_string());
        let paths = paths.collect::<Vec<_>>().join(", ");
        let on_every = |paths: String| {
            format!("on every host: {paths}. Whether it can be used is decided there")
        };
        let notes = Some(paths).filter(|paths| !paths.is_empty()).map(on_every);
        let notes = notes.into_iter().collect();
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
