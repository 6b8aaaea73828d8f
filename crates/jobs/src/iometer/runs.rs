//! The runs of a plan, in iosonde's words.

use dialects::drives::Drives;
use dialects::iometer::{Config, CycleStep, CycleWorkload, read};
use engine::{Permissions, TargetPlan};
use results::{Cycle, CycleRun};
use survey::CycleOptions;
use workload::{EngineChoice, Nanoseconds, TargetFacts, Workload, show_duration};

use super::CyclePlan;
use crate::conduct::JobError;
use crate::ends::ends;
use crate::job::Steps;

/// The longest run, for runs that continue until the user stops them.
const ENDLESS_S: f64 = 31.0 * 86_400.0;
/// Distance of the points of such a run, so that they are not too many.
const ENDLESS_INTERVAL: Nanoseconds = Nanoseconds(5_000_000_000);

/// The runs that a plan asks for.
pub(super) struct Runs {
    pub config: Config,
    pub cycle: CycleWorkload,
    pub options: CycleOptions,
    /// Whether its runs continue until the user stops them.
    endless: bool,
}

impl CyclePlan {
    /// The runs that the plan asks for.
    pub(super) fn runs(&self) -> Result<Runs, JobError> {
        let wrong = |what: String| JobError::Usage(what);
        let config = read(self.configuration.as_bytes()).map_err(|e| wrong(e.to_string()))?.config;
        let drives = Drives::new(self.drives.clone()).with_hosts(self.managers.clone());
        let cycle = config.cycle(&config.runs().steps, &drives);
        let mut cycle = cycle.map_err(|e| wrong(e.to_string()))?;
        if cycle.uses.len() != self.targets.len() {
            return Err(wrong(format!(
                "the configuration works on {} targets, and the plan names {}",
                cycle.uses.len(),
                self.targets.len()
            )));
        }
        let endless = cycle.until_stopped && self.seconds.is_none();
        if endless && self.engine == EngineChoice::Sim {
            return Err(wrong(
                "its runs last until somebody stops them, and simulated time does not wait for \
                 that; give their length with `--seconds`"
                    .to_owned(),
            ));
        }
        for step in &mut cycle.steps {
            self.apply(&mut step.run.workload, endless);
        }
        let options = self.options(&config, &cycle, endless)?;
        Ok(Runs { config, cycle, options, endless })
    }

    /// Sets what the plan says of a run.
    fn apply(&self, workload: &mut Workload, endless: bool) {
        workload.targets.clone_from(&self.targets);
        workload.engine = self.engine;
        workload.sim.clone_from(&self.sim);
        workload.seed = self.seed.unwrap_or(workload.seed);
        if endless {
            (workload.seconds, workload.interval_ns) = (ENDLESS_S, ENDLESS_INTERVAL);
        }
        workload.seconds = self.seconds.unwrap_or(workload.seconds);
        workload.warmup_seconds = self.warmup_seconds.unwrap_or(workload.warmup_seconds);
    }

    fn options(
        &self,
        config: &Config,
        cycle: &CycleWorkload,
        endless: bool,
    ) -> Result<CycleOptions, JobError> {
        let fixed = config.managers.iter().flat_map(|m| &m.workers).any(|w| w.use_seed);
        let Some(preparation) = cycle.preparation() else {
            return Err(JobError::Usage("no disk worker makes I/O".to_owned()));
        };
        let setup = config.setup.clone().unwrap_or_default();
        let words = Cycle {
            file: self.file.clone(),
            description: setup.description.clone(),
            test_type: setup.test_type.word().to_owned(),
            runs: cycle.steps.iter().map(run_of).collect(),
        };
        let method = method(&preparation, &words, endless);
        Ok(CycleOptions {
            cycle: words,
            workloads: cycle.steps.iter().map(|s| s.run.workload.clone()).collect(),
            preparation,
            permissions: Permissions::default(),
            same_seed: fixed && self.seed.is_none(),
            method,
            warnings: cycle.lost.iter().map(|lost| format!("not as IOMeter: {lost}")).collect(),
        })
    }
}

fn run_of(step: &CycleStep) -> CycleRun {
    let workload = &step.run.workload;
    let mut specs: Vec<String> = Vec::new();
    for worker in &step.run.workers {
        if !specs.contains(&worker.spec) {
            specs.push(worker.spec.clone());
        }
    }
    CycleRun {
        specs,
        workers: workload.streams.len() as u64,
        targets: workload.streams.iter().map(|s| s.targets.len() as u64).sum(),
        outstanding: workload.common_depth(),
        in_flight: workload.in_flight(),
        measurement: None,
        reason: None,
    }
}

fn method(workload: &Workload, cycle: &Cycle, endless: bool) -> Vec<String> {
    let window =
        if endless { "until it was stopped".to_owned() } else { show_duration(workload.seconds) };
    vec![
        format!(
            "The runs of the IOMeter configuration `{}` were made in the order of its test type \
             {}, each of {window} after {} of I/O that is not counted.",
            cycle.file,
            cycle.test_type,
            show_duration(workload.warmup_seconds)
        ),
        "Each worker was one thread with its outstanding I/Os on each of its targets: what is in \
         flight is that times the targets, of all workers."
            .to_owned(),
        "Each burst drew its row of the access specification by its percent; a mix is the shape \
         of a load, not the load itself."
            .to_owned(),
    ]
}

impl Runs {
    /// Every run in its order, with its times, on targets of these sizes.
    pub(super) fn steps(&self, targets: &[TargetPlan]) -> Steps {
        let facts: Vec<TargetFacts> = targets
            .iter()
            .map(|p| TargetFacts { size_bytes: p.size_bytes, direct_align_bytes: 1 })
            .collect();
        let mut all_s = 0.0;
        let mut rows = Vec::new();
        let runs = self.options.cycle.runs.iter().zip(&self.options.workloads);
        for (index, (run, workload)) in runs.enumerate() {
            let mut violations = workload.violations();
            violations.extend(workload.violations_on(&facts));
            let wrong =
                violations.first().map(|v| format!("cannot be done: {v}")).unwrap_or_default();
            if wrong.is_empty() {
                all_s += workload.seconds + workload.warmup_seconds;
            }
            let time = if self.endless {
                "until stopped".to_owned()
            } else {
                show_duration(workload.seconds)
            };
            rows.push(row(index + 1, run, time, wrong));
        }
        let heads =
            ["run", "access specification", "workers", "targets", "depth", "in flight", "time", ""];
        Steps { heads: heads.to_vec(), rows, summary: self.summary(all_s) }
    }

    /// How many runs, how long, and until when.
    fn summary(&self, all_s: f64) -> String {
        let runs = self.options.cycle.runs.len();
        let plural = if runs == 1 { "" } else { "s" };
        let most = self.options.cycle.runs.iter().map(|r| r.in_flight).max().unwrap_or(0);
        let head = format!("{runs} run{plural}, at most {most} I/Os in flight");
        if self.endless {
            return format!(
                "{head}; the first lasts until it is stopped with Ctrl-C, which ends all"
            );
        }
        let ramp = match self.options.preparation.warmup_seconds {
            0.0 => String::new(),
            ramp => format!(", {} of it before each run that is not counted", show_duration(ramp)),
        };
        let times = format!("{head}; {} in all{ramp}", show_duration(all_s));
        if self.options.preparation.engine.is_artificial() {
            return times;
        }
        ends(all_s).map_or(times.clone(), |end| {
            format!("{times}; begun now, it ends {end}, once the test files are written")
        })
    }
}

fn row(number: usize, run: &CycleRun, time: String, wrong: String) -> Vec<String> {
    vec![
        number.to_string(),
        run.specs.join(", "),
        run.workers.to_string(),
        run.targets.to_string(),
        run.outstanding.map_or_else(|| "–".to_owned(), |n| n.to_string()),
        run.in_flight.to_string(),
        time,
        wrong,
    ]
}
