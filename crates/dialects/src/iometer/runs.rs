//! The order of runs that a configuration asks for: which workers do I/O on how many of their
//! targets, and how deep.
//!
//! The whole cycle of the test type runs once per place in the workers' lists of access
//! specifications. A cycle begins with few targets and ends when no more targets are left. The last
//! run has all of them, even if the steps would skip that number.

use super::IDLE;
use super::config::{AccessSpec, Config, Kind, Setup, Stepping, TestType, Worker};

/// More runs than anybody waits for.
const STEPS_MAX: usize = 10_000;
/// Runs times workers: what all of them together may take in memory.
const PLACES_MAX: usize = 1_000_000;

/// All runs of a configuration, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs {
    /// The runs, one after the other.
    pub steps: Vec<Step>,
    /// What the configuration asks for and iosonde does not do.
    pub notes: Vec<String>,
}

/// One run: which workers do what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Place in each worker's list of access specifications that exist, from 0; see
    /// [`Config::runs_of`].
    pub index: usize,
    /// For each worker of each manager, in the order of the configuration: on how many of its
    /// targets, from the first, it makes I/O. 0 is a worker that does nothing in this run.
    pub targets: Vec<Vec<usize>>,
    /// Outstanding I/Os of every disk worker on each target, instead of the worker's own.
    pub outstanding: Option<u32>,
}

impl Step {
    /// Workers that make I/O, for each manager.
    #[must_use]
    pub fn workers(&self) -> Vec<usize> {
        self.targets.iter().map(|m| m.iter().filter(|t| **t > 0).count()).collect()
    }

    fn all_targets(&self) -> usize {
        self.targets.iter().flatten().sum()
    }
}

impl Config {
    /// The access specifications that a worker runs, in their order; `None` means `Idle`. Names
    /// that the file does not define are skipped, as in IOMeter.
    #[must_use]
    pub fn runs_of(&self, worker: &Worker) -> Vec<Option<&AccessSpec>> {
        let found = |name: &String| match self.spec(name) {
            Some(spec) => Some(Some(spec)),
            None => name.eq_ignore_ascii_case(IDLE).then_some(None),
        };
        worker.specs.iter().filter_map(found).take(STEPS_MAX).collect()
    }

    /// The order of runs that the file asks for.
    #[must_use]
    pub fn runs(&self) -> Runs {
        let usual = Setup::default();
        let setup = self.setup.as_ref().unwrap_or(&usual);
        let mut runs = Runs::default();
        // For each worker of each manager, its access specifications, and which of them are not
        // `Idle`.
        let of = |w: &Worker| self.runs_of(w).iter().map(Option::is_some).collect::<Vec<bool>>();
        let lists: Vec<Vec<Vec<bool>>> =
            self.managers.iter().map(|m| m.workers.iter().map(of).collect()).collect();
        let workers = lists.iter().flatten();
        let most = workers.clone().map(Vec::len).max().unwrap_or(0);
        let limit = (PLACES_MAX / workers.count().max(1)).clamp(1, STEPS_MAX);
        for index in 0..most {
            let able = self.able(&lists, index);
            let before = runs.steps.len();
            let steps = &mut runs.steps;
            let mut cycle = Cycle { setup, able: &able, index, steps, limit };
            cycle.go();
            if runs.steps.len() >= limit {
                runs.notes.push(format!("there are {limit} runs or more; the others are left out"));
                break;
            }
            if runs.steps.len() == before {
                runs.notes.push(format!(
                    "nothing runs with access specification {} of the workers: no worker that has \
                     it has a target, or the cycle is empty",
                    index + 1
                ));
            }
        }
        let (workers, targets) = (setup.worker_cycling, setup.target_cycling);
        let steps = (workers.step, targets.stepping, setup.test_type);
        if steps == (1, Stepping::Exponential, TestType::CycleWorkersAndTargets) && targets.step > 1
        {
            runs.notes.push(format!(
                "targets grow by adding {}, not by multiplying: in this test type IOMeter adds \
                 where the step of the workers is 1",
                targets.step
            ));
        }
        if most == 0 {
            runs.notes
                .push("no worker has an access specification: there is nothing to run".to_owned());
        }
        runs
    }

    /// Workers that can make I/O with the access specification of this place.
    fn able(&self, lists: &[Vec<Vec<bool>>], index: usize) -> Vec<Vec<Able>> {
        let able = |(worker, list): (&Worker, &Vec<bool>)| {
            let runs = list.get(index) == Some(&true);
            Able {
                targets: if runs { worker.targets.len() } else { 0 },
                is_disk: worker.kind == Kind::Disk,
            }
        };
        let managers = self.managers.iter().zip(lists);
        managers.map(|(m, lists)| m.workers.iter().zip(lists).map(able).collect()).collect()
    }
}

/// A worker as far as the order of runs goes.
#[derive(Debug, Clone, Copy)]
struct Able {
    /// 0 where it has nothing to do.
    targets: usize,
    is_disk: bool,
}

/// A value that continues from run to run.
#[derive(Debug, Clone, Copy)]
struct Steps {
    value: u64,
    start: u64,
    step: u64,
    factor: u64,
    is_linear: bool,
}

impl Steps {
    fn new(start: u32, step: u32, is_linear: bool) -> Self {
        let (start, step) = (u64::from(start), u64::from(step));
        Self { value: start, start, step, factor: 1, is_linear }
    }

    fn advance(&mut self) {
        if self.is_linear {
            self.value = self.value.saturating_add(self.step);
        } else {
            self.factor = self.factor.saturating_mul(self.step);
            self.value = self.start.saturating_mul(self.factor);
        }
    }
}

/// The runs of one place in the lists of access specifications.
struct Cycle<'a> {
    setup: &'a Setup,
    able: &'a [Vec<Able>],
    index: usize,
    steps: &'a mut Vec<Step>,
    /// The most runs of a configuration.
    limit: usize,
}

impl Cycle<'_> {
    fn go(&mut self) {
        match self.setup.test_type {
            TestType::Normal => {
                let step = self.step(|able, _| able.targets);
                if step.all_targets() > 0 {
                    self.push(step);
                }
            }
            TestType::CycleTargets => self.grow(self.target_steps(), Self::targets_of_each),
            TestType::CycleWorkers => self.grow(self.worker_steps(), Self::first_workers),
            TestType::IncrementTargetsParallel => {
                self.grow(self.target_steps(), |c, value| c.down_the_workers(value, true));
            }
            TestType::IncrementTargetsSerial => {
                self.grow(self.target_steps(), |c, value| c.down_the_workers(value, false));
            }
            TestType::CycleWorkersAndTargets => self.workers_and_targets(),
            TestType::CycleOutstandingIos => {
                let step = self.step(|able, _| able.targets);
                self.depths(&step);
            }
            TestType::CycleOutstandingIosAndTargets => {
                let (mut targets, mut before) = (self.target_steps(), 0);
                loop {
                    let step = self.targets_of_each(targets.value);
                    if step.all_targets() <= before || !self.has_room() {
                        return;
                    }
                    before = step.all_targets();
                    self.depths(&step);
                    targets.advance();
                }
            }
        }
    }

    fn target_steps(&self) -> Steps {
        let c = self.setup.target_cycling;
        Steps::new(c.start, c.step, c.stepping == Stepping::Linear || c.step == 1)
    }

    fn worker_steps(&self) -> Steps {
        let c = self.setup.worker_cycling;
        Steps::new(c.start, c.step, c.stepping == Stepping::Linear || c.step == 1)
    }

    fn has_room(&self) -> bool {
        self.steps.len() < self.limit
    }

    fn push(&mut self, step: Step) {
        if self.has_room() {
            self.steps.push(step);
        }
    }

    /// A run in which each worker has the number of targets that is given for it. The second
    /// argument is the manager.
    fn step(&self, mut targets: impl FnMut(Able, usize) -> usize) -> Step {
        let mut of_manager =
            |(m, workers): (usize, &Vec<Able>)| workers.iter().map(|w| targets(*w, m)).collect();
        Step {
            index: self.index,
            targets: self.able.iter().enumerate().map(&mut of_manager).collect(),
            outstanding: None,
        }
    }

    /// Runs until the next would have no more targets than the last.
    fn grow(&mut self, mut steps: Steps, of: impl Fn(&Self, u64) -> Step) {
        let mut before = 0;
        loop {
            let step = of(self, steps.value);
            let targets = step.all_targets();
            if targets <= before || !self.has_room() {
                return;
            }
            before = targets;
            self.push(step);
            steps.advance();
        }
    }

    fn targets_of_each(&self, value: u64) -> Step {
        self.step(|able, _| able.targets.min(count(value)))
    }

    /// The first workers of each manager, with all their targets. IOMeter takes 0 of them for all.
    fn first_workers(&self, value: u64) -> Step {
        self.workers_with(value, u64::MAX)
    }

    fn workers_with(&self, workers: u64, targets: u64) -> Step {
        let most = if workers == 0 { usize::MAX } else { count(workers) };
        let mut left = vec![most; self.able.len()];
        self.step(|able, manager| {
            let Some(left) = left.get_mut(manager) else { return 0 };
            if able.targets == 0 || *left == 0 {
                return 0;
            }
            *left -= 1;
            able.targets.min(count(targets))
        })
    }

    /// Targets in all, from the first worker on: of each manager, or of all managers together.
    fn down_the_workers(&self, value: u64, of_each_manager: bool) -> Step {
        let (mut left, mut last) = (count(value), 0);
        self.step(|able, manager| {
            if of_each_manager && manager != last {
                (left, last) = (count(value), manager);
            }
            let here = able.targets.min(left);
            left -= here;
            here
        })
    }

    fn workers_and_targets(&mut self) {
        let mut workers = self.worker_steps();
        let mut before = 0;
        loop {
            let active: usize = self.workers_with(workers.value, u64::MAX).workers().iter().sum();
            if active <= before || !self.has_room() {
                return;
            }
            before = active;
            // IOMeter asks the workers' step, not the targets', whether the targets continue by
            // addition.
            let (targets, by) = (self.setup.target_cycling, self.setup.worker_cycling.step);
            let is_linear = targets.stepping == Stepping::Linear || by == 1;
            let value = workers.value;
            let steps = Steps::new(targets.start, targets.step, is_linear);
            self.grow(steps, |c, targets| c.workers_with(value, targets));
            workers.advance();
        }
    }

    /// The run with every number of outstanding I/Os.
    fn depths(&mut self, step: &Step) {
        let active = step.targets.iter().flatten().zip(self.able.iter().flatten());
        if step.all_targets() == 0 {
            return;
        }
        let c = self.setup.depth_cycling;
        let is_linear = c.stepping == Stepping::Linear || c.step == 1;
        let mut steps = Steps::new(c.start, c.step, is_linear);
        let has_disks = active.into_iter().any(|(targets, able)| *targets > 0 && able.is_disk);
        let mut before = None;
        while steps.value <= u64::from(c.end)
            && before.is_none_or(|b| b < steps.value)
            && self.has_room()
        {
            let outstanding = u32::try_from(steps.value).ok().filter(|_| has_disks);
            self.push(Step { outstanding, ..step.clone() });
            if !has_disks {
                return;
            }
            before = Some(steps.value);
            steps.advance();
        }
    }
}

fn count(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}
