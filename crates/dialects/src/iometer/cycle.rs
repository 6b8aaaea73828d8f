//! All runs of a configuration on one list of targets, which are made ready once.

use workload::{Bytes, Stream, Target as Place, Workload};

use super::config::Config;
use super::runs::Step;
use super::workload::{Need, NothingToDo, StepWorkload};
use crate::drives::{DriveError, Drives};

/// All runs of a configuration, as workloads.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleWorkload {
    /// One after the other. The targets of each are those of the whole cycle; its streams say which
    /// they use.
    pub steps: Vec<CycleStep>,
    /// The part of each target that all runs together use.
    pub uses: Vec<TargetUse>,
    /// What differs from IOMeter, each once, and what is left out.
    pub lost: Vec<String>,
    /// Whether each run continues until the user stops it.
    pub until_stopped: bool,
}

/// One run of a cycle, as a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleStep {
    /// Which workers take part in the run, and on which targets.
    pub step: Step,
    /// The same as a workload of iosonde.
    pub run: StepWorkload,
}

/// What a cycle needs of one target, over all its runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TargetUse {
    /// How much of it is used.
    pub need: Need,
    /// Whether any worker writes to it.
    pub writes: bool,
}

impl Config {
    /// Every drive of a target that is not mapped.
    #[must_use]
    pub fn unknown_drives(&self, drives: &Drives) -> Vec<DriveError> {
        let mut wrong: Vec<DriveError> = Vec::new();
        let disks = self.managers.iter().flat_map(|m| &m.workers);
        let disks = disks.filter(|w| w.kind == super::Kind::Disk);
        for target in disks.flat_map(|w| &w.targets) {
            if let Err(error) = target.place(drives)
                && !wrong.contains(&error)
            {
                wrong.push(error);
            }
        }
        wrong
    }

    /// Runs as workloads on the targets of all of them. Runs in which no disk worker makes I/O are
    /// left out.
    pub fn cycle(&self, steps: &[Step], drives: &Drives) -> Result<CycleWorkload, DriveError> {
        let until_stopped = self.setup.as_ref().is_none_or(|s| s.run_seconds().is_none());
        let mut cycle =
            CycleWorkload { steps: Vec::new(), uses: Vec::new(), lost: Vec::new(), until_stopped };
        let mut targets: Vec<Place> = Vec::new();
        let mut idle = 0;
        for step in steps {
            match self.step_workload(step, drives) {
                Ok(run) => {
                    let run = cycle.add(&mut targets, run);
                    cycle.steps.push(CycleStep { step: step.clone(), run });
                }
                Err(NothingToDo::NoWorker) => idle += 1,
                Err(NothingToDo::Drive(error)) => return Err(error),
            }
        }
        for step in &mut cycle.steps {
            step.run.workload.targets.clone_from(&targets);
            step.run.needs = cycle.uses.iter().map(|u| u.need).collect();
        }
        if idle > 0 {
            cycle.lost.push(format!("{idle} runs in which no disk worker makes I/O are left out"));
        }
        Ok(cycle)
    }
}

impl CycleWorkload {
    /// A workload that stands for all runs while targets are prepared: it reads and writes what
    /// they do.
    #[must_use]
    pub fn preparation(&self) -> Option<Workload> {
        let first = &self.steps.first()?.run.workload;
        let mut streams = self.steps.iter().flat_map(|s| &s.run.workload.streams);
        let write_percent = if streams.any(Stream::reads) { 50 } else { 100 };
        let of = |writes: bool| -> Vec<usize> {
            let uses = self.uses.iter().enumerate();
            uses.filter(|(_, u)| u.writes == writes).map(|(index, _)| index).collect()
        };
        let stream = |writes: bool, write_percent| Stream {
            targets: of(writes),
            write_percent,
            blocks: vec![workload::Block { bytes: Bytes(4096), weight: 1 }],
            ..Stream::default()
        };
        let both = [stream(true, write_percent), stream(false, 0)];
        let streams = both.into_iter().filter(|s| !s.targets.is_empty()).collect();
        Some(Workload { streams, ..first.clone() })
    }

    /// Sets the sizes of the targets in every run.
    pub fn size(&mut self, sizes: &[Option<Bytes>]) {
        for step in &mut self.steps {
            for (target, size) in step.run.workload.targets.iter_mut().zip(sizes) {
                target.size_bytes = *size;
            }
        }
    }

    /// A run with the indexes of its targets among those of the cycle.
    fn add(&mut self, targets: &mut Vec<Place>, mut run: StepWorkload) -> StepWorkload {
        let mut places = Vec::new();
        for (target, need) in run.workload.targets.iter().zip(&run.needs) {
            let known = targets.iter().position(|t| t.path == target.path);
            let index = known.unwrap_or(targets.len());
            if known.is_none() {
                targets.push(Place { path: target.path.clone(), size_bytes: None });
                self.uses.push(TargetUse::default());
            }
            if let Some(used) = self.uses.get_mut(index) {
                used.need.least_bytes = used.need.least_bytes.max(need.least_bytes);
                used.need.whole |= need.whole;
            }
            places.push(index);
        }
        for stream in &mut run.workload.streams {
            for target in &mut stream.targets {
                *target = places.get(*target).copied().unwrap_or(*target);
                if let Some(used) = self.uses.get_mut(*target) {
                    used.writes |= stream.write_percent > 0;
                }
            }
        }
        for lost in &run.lost {
            if !self.lost.contains(lost) {
                self.lost.push(lost.clone());
            }
        }
        run
    }
}

/// What an alignment of 0 means on these targets: a sector, which is not 512 bytes everywhere.
pub fn settle_sectors(workload: &mut Workload, sectors: &[u64]) {
    let count = workload.targets.len();
    for stream in &mut workload.streams {
        let largest = stream.target_indexes(count).into_iter().filter_map(|t| sectors.get(t)).max();
        let Some(sector) = largest.copied().filter(|s| *s > 512) else { continue };
        let Some(mix) = &mut stream.mix else { continue };
        for part in mix.parts.iter_mut().filter(|p| p.align_bytes.0 == 0) {
            part.align_bytes = Bytes(sector);
        }
        *stream = std::mem::take(stream).with_means_of_mix();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TestType, read};
    use super::*;

    const FILE: &[u8] = include_bytes!("../../tests/it/iometer/v1.1.0.icf");

    #[test]
    fn all_runs_share_their_targets() {
        let mut config = read(FILE).unwrap().config;
        config.setup.as_mut().unwrap().test_type = TestType::CycleTargets;
        let drives = ["E=/mnt/e", "1=/dev/sdb"].map(|d| d.parse().unwrap()).to_vec();
        let drives = Drives::new(drives);
        let cycle = config.cycle(&config.runs().steps, &drives).unwrap();
        assert_eq!(cycle.steps.len(), 4, "one and two targets, of two access specifications");
        let used: Vec<_> =
            cycle.steps.iter().map(|s| s.run.workload.streams[0].targets.clone()).collect();
        assert_eq!(used, [vec![0], vec![0, 1], vec![0], vec![0, 1]]);
        assert!(cycle.steps.iter().all(|s| s.run.workload.targets.len() == 2));
        assert_eq!(cycle.steps[1].run.workers[0].disks, ["E: \"SQL data\"", "1: \"ACME FLASH (8"]);
        let used = TargetUse {
            need: Need { least_bytes: (41_943_040 + 2048) * 512, whole: false },
            writes: true,
        };
        assert_eq!(cycle.uses, [used, used]);
        let preparation = cycle.preparation().unwrap();
        assert_eq!((preparation.violations(), preparation.writes_to(1)), (vec![], true));
        assert!(!cycle.until_stopped);
        let elsewhere = Drives::default().on_windows(false);
        assert_eq!(config.unknown_drives(&elsewhere).len(), 2);
    }

    #[test]
    fn an_alignment_of_nothing_is_a_sector() {
        let mut config = read(FILE).unwrap().config;
        config.specs[0].rows[1].align_bytes = 0;
        let drives = ["E=/mnt/e", "1=/dev/sdb"].map(|d| d.parse().unwrap()).to_vec();
        let drives = Drives::new(drives);
        let mut cycle = config.cycle(&config.runs().steps, &drives).unwrap();
        let workload = &mut cycle.steps[0].run.workload;
        settle_sectors(workload, &[512, 4096]);
        let parts = &workload.streams[0].mix.as_ref().unwrap().parts;
        let aligns: Vec<u64> = parts.iter().map(|p| p.align_bytes.0).collect();
        assert_eq!((aligns, workload.violations()), (vec![8192, 4096], vec![]));
    }
}
