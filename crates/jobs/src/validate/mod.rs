//! A simulated database works on files, and every page that is read is checked: `validate`, and the
//! configurations of SQLIOSim.

mod about;
mod clean;
mod keeping;
mod layout;
mod method;
mod notices;
mod running;
mod sqliosim;

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{Action, Permissions, PrepareError, TargetPlan};
use integrity::{Plan, Role};
use jiff::Timestamp;
use results::{Conclusion, Document, Validation};
use serde::{Deserialize, Serialize};
use survey::{Progress, Site};
use workload::{Bytes, EngineChoice, Mode, Target, Violation, Workload};

pub use clean::{CleanReport, clean};
pub use keeping::LedgerPlace;
pub use layout::ValidateTargets;
pub use notices::Notices;
pub use sqliosim::{MappedConfiguration, SqliosimPlace, of_sqliosim};

use crate::conduct::{Conducted, JobError, Relay, Session};
use crate::job::{Description, Job};
use crate::plan::PlanError;
use crate::subject::Subject;
use running::Run;

/// The longest that users may work in a cycle.
const SECONDS_MAX: f64 = 31.0 * 86_400.0;
/// The least that a size changes by, and what sizes are multiples of.
const SIZE_UNIT: u64 = 4096;
/// A file whose size changes has so many steps, and begins with half of them.
const SIZE_STEPS: u64 = 64;

const NOT_OURS: &str =
    "only a test file of iosonde can have holes or change its size; name a directory";

/// What a simulated database does, and to which files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValidatePlan {
    /// How long users work in each cycle.
    pub seconds: f64,
    /// The engine that does the I/O.
    pub engine: EngineChoice,
    /// Past the cache of the operating system, or through it.
    pub mode: Mode,
    /// The configuration of SQLIOSim that the plan was made from.
    pub configuration: Option<String>,
    /// The users that work on the pages.
    pub database: Plan,
    /// The files of the simulated database.
    pub files: Vec<FilePlan>,
}

/// A file or device of a validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePlan {
    /// The path of the file or device.
    pub path: PathBuf,
    /// Its size, or the used part of it; without a size, the engine's rules choose.
    pub size_bytes: Option<Bytes>,
    /// Whether it holds data or the log.
    pub role: Role,
    /// It begins as a hole: nothing is written before users come.
    #[serde(default)]
    pub sparse: bool,
    /// How its size changes; none keeps it.
    pub resize: Option<ResizePlan>,
}

/// How the size of a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResizePlan {
    /// The size that it begins with, in bytes.
    pub begin_bytes: u64,
    /// The steps by which it changes, in bytes.
    pub step_bytes: u64,
}

impl FilePlan {
    /// A file that is written wholly and keeps its size.
    #[must_use]
    pub fn new(path: PathBuf, size_bytes: Option<Bytes>, role: Role) -> Self {
        Self { path, size_bytes, role, sparse: false, resize: None }
    }

    fn is_usual(&self) -> bool {
        !self.sparse && self.resize.is_none()
    }
}

/// Everything that is known before a file is touched.
struct Forecast {
    targets: Vec<TargetPlan>,
    pages: u64,
    /// What the versions of the pages take.
    memory: Bytes,
}

impl ValidatePlan {
    /// The files as the engine makes them ready, with one stream that uses all of them as the
    /// threads will.
    #[must_use]
    pub fn workload(&self) -> Workload {
        let target =
            |file: &FilePlan| Target { path: file.path.clone(), size_bytes: file.size_bytes };
        Workload {
            targets: self.files.iter().map(target).collect(),
            streams: vec![integrity::stream(&self.database)],
            engine: self.engine,
            mode: self.mode,
            seed: self.database.seed,
            ..Workload::default()
        }
    }

    /// The same plan, with data files that begin as holes where they are `sparse`, and whose sizes
    /// change where the database wants that.
    ///
    /// # Errors
    /// A target cannot be used.
    pub fn shaped(mut self, sparse: bool, permissions: &Permissions) -> Result<Self, JobError> {
        let unit = u64::from(self.database.page_bytes).max(SIZE_UNIT);
        let whole = |bytes: u64| (bytes / unit).max(1) * unit;
        let targets = engine::plan(&self.workload(), permissions)?;
        let files = self.files.iter_mut().zip(&targets);
        for (file, target) in files.filter(|(file, _)| file.role == Role::Data) {
            file.sparse = sparse;
            file.resize = self.database.resizing.map(|_| ResizePlan {
                begin_bytes: whole(target.size_bytes / 2),
                step_bytes: whole(target.size_bytes / SIZE_STEPS),
            });
        }
        Ok(self)
    }

    /// The same plan, with data files that begin as holes where they are `sparse`.
    #[must_use]
    pub fn sparse(mut self, sparse: bool) -> Self {
        for file in self.files.iter_mut().filter(|file| file.role == Role::Data) {
            file.sparse = sparse;
        }
        self
    }

    /// The same plan with whole paths, valid in any directory.
    ///
    /// # Errors
    /// There is no current directory.
    pub fn absolute(mut self) -> std::io::Result<Self> {
        for file in &mut self.files {
            file.path = std::path::absolute(&file.path)?;
        }
        Ok(self)
    }

    fn has_log(&self) -> bool {
        self.files.iter().any(|file| file.role == Role::Log)
    }

    fn time(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }

    /// Refuses a plan that cannot work.
    fn forecast(&self, permissions: &Permissions) -> Result<Forecast, JobError> {
        check_engine(self.engine)?;
        let wrong = self.violations();
        if !wrong.is_empty() {
            return Err(PrepareError::Invalid(wrong).into());
        }
        let targets = engine::plan(&self.workload(), permissions)?;
        self.check_shapes(&targets)?;
        let data = targets.iter().zip(&self.files).filter(|(_, file)| file.role != Role::Log);
        let page_bytes = u64::from(self.database.page_bytes);
        let pages = data.map(|(target, _)| target.size_bytes / page_bytes).sum();
        let memory = memory_for(pages)?;
        Ok(Forecast { targets, pages, memory })
    }

    fn violations(&self) -> Vec<Violation> {
        let of_database = |wrong: integrity::PlanError| Violation {
            field: format!("database.{}", wrong.field),
            value: wrong.value,
            rule: wrong.rule.to_owned(),
        };
        let mut wrong: Vec<Violation> =
            self.database.violations().into_iter().map(of_database).collect();
        if !(0.0..=SECONDS_MAX).contains(&self.seconds) {
            wrong.push(Violation {
                field: "seconds".to_owned(),
                value: self.seconds.to_string(),
                rule: "it must be 0 s to 31 days".to_owned(),
            });
        }
        wrong
    }

    /// Refuses holes and changing sizes for what iosonde does not make.
    fn check_shapes(&self, targets: &[TargetPlan]) -> Result<(), JobError> {
        let is_ours = |action| matches!(action, Action::Make | Action::Refill | Action::Reuse);
        let mut shaped = targets.iter().zip(&self.files).filter(|(_, file)| !file.is_usual());
        match shaped.find(|(target, _)| !is_ours(target.action)) {
            None => Ok(()),
            Some((target, _)) => {
                Err(JobError::Usage(format!("`{}`: {NOT_OURS}", target.path.display())))
            }
        }
    }
}

/// Refuses engines that keep no data, which leave nothing to check, and engines that do one I/O at
/// a time, as no database does.
///
/// # Errors
/// It is one of them.
pub fn check_engine(engine: EngineChoice) -> Result<(), JobError> {
    let text = match engine {
        EngineChoice::Null | EngineChoice::Sim => {
            "`null` and `sim` keep no data, so nothing can be checked; use another engine"
        }
        EngineChoice::Sync => {
            "`sync` makes one I/O at a time, and a database makes many; use another engine"
        }
        _ => return Ok(()),
    };
    Err(JobError::Usage(text.to_owned()))
}

/// The memory that the versions of so many pages take, where there is as much.
fn memory_for(pages: u64) -> Result<Bytes, JobError> {
    let memory = integrity::Ledger::needed_bytes(pages);
    let free = engine::available_memory().unwrap_or(u64::MAX);
    if memory > free / 2 {
        return Err(JobError::CannotRun(format!(
            "the versions of {pages} pages take {} of memory, and {} are free; use smaller files \
             (--size) or larger pages (--page)",
            Bytes(memory),
            Bytes(free)
        )));
    }
    Ok(Bytes(memory))
}

impl Job for ValidatePlan {
    fn plan(&self) -> crate::Plan {
        crate::Plan::Validate(Box::new(self.clone()))
    }

    fn subject(&self) -> Result<Subject, PlanError> {
        let title = match &self.configuration {
            Some(name) => format!("simulated database, {name} of SQLIOSim"),
            None => "simulated database".to_owned(),
        };
        let on = (&*self.workload().targets, self.engine);
        Ok(Subject::new("validate", Validation::SCHEMA, title, on, self)?)
    }

    fn targets(&self) -> Vec<&Path> {
        self.files.iter().map(|file| file.path.as_path()).collect()
    }

    fn is_artificial(&self) -> bool {
        self.engine.is_artificial()
    }

    fn pin(&mut self, document: &Document) {
        let Document::Validation(found) = document else { return };
        let sizes = found.conclusion.files.iter().map(|file| file.size_bytes);
        for ((file, path), size) in self.files.iter_mut().zip(&found.targets).zip(sizes) {
            (file.path, file.size_bytes) = (path.clone(), Some(Bytes(size)));
        }
    }

    fn describe(&self, permissions: &Permissions) -> Result<Description, JobError> {
        let forecast = self.forecast(permissions)?;
        let effective = integrity::plan_text(&self.database, self.time()).trim_end().to_owned();
        let notes = vec![about::about(self, &forecast), String::new(), effective];
        Ok(Description { notes, ..Description::of(forecast.targets) })
    }

    fn run(&self, session: &mut Session<'_>) -> Result<Conducted, JobError> {
        validate(self, &LedgerPlace::InMemory, session)
    }
}

/// Validates, and keeps what it knows as `keeping` says.
///
/// # Errors
/// Nothing was checked, and why.
pub fn validate(
    plan: &ValidatePlan,
    keeping: &LedgerPlace,
    session: &mut Session<'_>,
) -> Result<Conducted, JobError> {
    let (permissions, stop) = (session.permissions.clone(), session.stop);
    let forecast = plan.forecast(&permissions)?;
    keeping.check(plan, &permissions)?;
    keeping.try_out(plan, &forecast.targets)?;
    let relay = Relay::open(session, plan)?;
    relay.notice(about::about(plan, &forecast));
    let started = Timestamp::now();
    let id = engine::new_id(started);
    relay.hear(&Progress::Began { id: &id, started: &started.to_string() });
    let workload = plan.workload();
    let site = Site::of(&workload);
    let left = about::left_behind(plan, &permissions, keeping);
    relay.leaves_behind(Some(&left));
    let run = Run { plan, workload: &workload, permissions: &permissions, keeping, stop };
    let ran = run.carry_out(&relay);
    relay.leaves_behind(None);
    let (report, places) = ran.inspect_err(|_| relay.give_up())?;
    let experiment = run.experiment(&site, (&report, &places), (id, started));
    Ok(relay.finish(Document::Validation(Box::new(experiment))))
}
