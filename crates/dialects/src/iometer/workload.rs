//! One run of a configuration as a workload: each disk worker a stream that works on all its
//! targets.

use std::path::{Path, PathBuf};

use thiserror::Error;
use workload::{Bytes, Content, OnError, Pool, PoolShare, Stream, Target as Place, Workload};

use super::config::{Config, Kind, Manager, Setup, Target, Worker};
use super::runs::Step;
use crate::drives::{DriveError, Drives};

/// The file that IOMeter makes on a disk with a file system.
const FILE: &str = "iobw.tst";
/// The buffer out of which data pattern 2 takes what it writes.
const PATTERN_BYTES: u64 = 16 << 20;
/// Sectors of raw disks and of Windows, and of file systems on Linux.
const SECTOR_BYTES: u64 = 512;
const FILE_SYSTEM_SECTOR_BYTES: u64 = 4096;
/// Names of streams are not longer.
const NAME_CHARS_MAX: usize = 64;
/// Room for the number of a name that is taken.
const NUMBER_CHARS: usize = 8;

/// A run in iosonde's words, and what of it is lost.
#[derive(Debug, Clone, PartialEq)]
pub struct StepWorkload {
    /// The workload that stands for the run.
    pub workload: Workload,
    /// What it does not do as IOMeter, worker by worker.
    pub lost: Vec<String>,
    /// The worker that each stream belongs to.
    pub workers: Vec<StepWorker>,
    /// The size that each target needs, and whether a worker uses all of it.
    pub needs: Vec<Need>,
}

/// The worker that a stream is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepWorker {
    /// Its place among the managers of the file.
    pub manager: usize,
    /// Its place among the manager's workers.
    pub worker: usize,
    /// The access specification that it runs.
    pub spec: String,
    /// The names of its targets, in the order of the stream's.
    pub disks: Vec<String>,
}

/// What workers use of a target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Need {
    /// Where the used parts end for workers that use a part, and begin for workers that use the
    /// rest.
    pub least_bytes: u64,
    /// Whether anybody uses all of it.
    pub whole: bool,
}

/// Where a target of IOMeter is on this system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetPlace {
    /// A device, or the file that IOMeter makes on a disk with a file system.
    pub path: PathBuf,
    /// The unit of its maximum size and starting sector.
    pub sector_bytes: u64,
}

/// Why a run has no workload.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NothingToDo {
    /// No disk worker does I/O in it.
    #[error("no disk worker makes I/O in this run")]
    NoWorker,
    /// A target is on a drive that is not mapped.
    #[error(transparent)]
    Drive(#[from] DriveError),
}

impl Target {
    /// Where the target is: `C: "label"` is a file at the place of `C`; `1: "VENDOR"`,
    /// `PHYSICALDRIVE:1` and `PHYSICALDRIVE1` are the place of `1`; `TEST: Synthetic Disk` is a
    /// file at the place of `TEST`; `sda` is its place or `/dev/sda`; and `/mnt [ext4]` is a file
    /// in `/mnt`.
    pub fn place(&self, drives: &Drives) -> Result<TargetPlace, DriveError> {
        let name = self.name.trim();
        let at = |path: PathBuf, sector_bytes| Ok(TargetPlace { path, sector_bytes });
        if name.starts_with('/') {
            let file_system = name.strip_suffix(']').and_then(|name| name.rsplit_once(" ["));
            return match file_system {
                Some((mount, _)) => {
                    at(Path::new(mount.trim()).join(FILE), FILE_SYSTEM_SECTOR_BYTES)
                }
                None => at(PathBuf::from(name), SECTOR_BYTES),
            };
        }
        let known = |drive: &str| {
            let unknown = || DriveError::Unknown { path: name.to_owned(), drive: drive.to_owned() };
            drives.standing_for(drive).ok_or_else(unknown)
        };
        if let Some(disk) = physical_disk(name) {
            return at(known(disk)?, SECTOR_BYTES);
        }
        if let Some(place) = drives.place(name) {
            return at(place.to_owned(), SECTOR_BYTES);
        }
        // No device of Linux has a colon, a blank or a backslash in its name.
        match name.split_once([':', ' ', '\\']) {
            Some((word, _)) if !word.is_empty() => {
                let place = known(word)?;
                at(if is_device(&place) { place } else { place.join(FILE) }, SECTOR_BYTES)
            }
            // That system has no directory of devices.
            None if drives.are_windows() => {
                Err(DriveError::Unknown { path: name.to_owned(), drive: name.to_owned() })
            }
            Some(_) => Err(DriveError::Unknown { path: name.to_owned(), drive: name.to_owned() }),
            None => at(Path::new("/dev").join(name), SECTOR_BYTES),
        }
    }
}

/// Whether the place of a drive is a device, of Linux or of Windows.
fn is_device(place: &Path) -> bool {
    place.starts_with("/dev") || place.to_str().is_some_and(|p| p.starts_with(r"\\.\"))
}

/// The number of a disk of Windows: `1: "VENDOR`, `PHYSICALDRIVE:1`, `PHYSICALDRIVE1`.
fn physical_disk(name: &str) -> Option<&str> {
    const WORD: &str = "PHYSICALDRIVE";
    let bare = name.trim_start_matches(r"\\.\");
    let is_word = |word: &str| word.eq_ignore_ascii_case(WORD);
    let number = match bare.get(..WORD.len()).filter(|word| is_word(word)) {
        Some(_) => bare.get(WORD.len()..)?.trim_start_matches([':', ' ']),
        None => bare.split_once(':')?.0,
    };
    let number = number.split([':', ' ', '"']).next()?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(number)
}

impl Config {
    /// A run as a workload. What it does not do as IOMeter is named.
    pub fn workload(&self, step: &Step, drives: &Drives) -> Result<StepWorkload, NothingToDo> {
        let mut run = self.step_workload(step, drives)?;
        if self.setup.as_ref().is_none_or(|setup| setup.run_seconds().is_none()) {
            let seconds = run.workload.seconds;
            run.lost.push(format!("the run lasts until it is stopped; {seconds} s are taken"));
        }
        Ok(run)
    }

    /// The same for callers that can run until the user stops it.
    pub(super) fn step_workload(
        &self,
        step: &Step,
        drives: &Drives,
    ) -> Result<StepWorkload, NothingToDo> {
        let usual = Setup::default();
        let setup = self.setup.as_ref().unwrap_or(&usual);
        let mut made = StepBuilder::new(drives);
        for (m, (manager, targets)) in self.managers.iter().zip(&step.targets).enumerate() {
            for (w, (worker, targets)) in manager.workers.iter().zip(targets).enumerate() {
                let spec = self.runs_of(worker).get(step.index).copied().flatten();
                if let Some(spec) = spec.filter(|_| *targets > 0) {
                    let name = made.free_name(self.full_name(manager, worker));
                    let outstanding = step.outstanding.unwrap_or(worker.outstanding);
                    let of = StepWorker {
                        manager: m,
                        worker: w,
                        spec: spec.name.clone(),
                        disks: Vec::new(),
                    };
                    let stream = Stream { name, depth: outstanding.max(1), ..spec.stream() };
                    made.worker((&manager.name, worker), stream, *targets, of)?;
                }
            }
        }
        if made.streams.is_empty() {
            return Err(NothingToDo::NoWorker);
        }
        let usual = Workload::default();
        let workload = Workload {
            seconds: setup.run_seconds().map_or(usual.seconds, |seconds| seconds as f64),
            warmup_seconds: f64::from(setup.ramp_seconds),
            on_error: OnError::Continue,
            seed: made.seed.unwrap_or(usual.seed),
            targets: made.targets,
            streams: made.streams,
            ..usual
        };
        let (lost, workers, needs) = (made.lost, made.workers, made.needs);
        Ok(StepWorkload { workload, lost, workers, needs })
    }

    /// That every manager of the file is this host, where there are several.
    #[must_use]
    pub fn about_managers(&self, drives: &Drives) -> Option<String> {
        if self.managers.iter().any(|manager| drives.host_of(&manager.name).is_some()) {
            return None;
        }
        let names: Vec<&str> = self.managers.iter().take(20).map(|m| m.name.as_str()).collect();
        let more = if self.managers.len() > names.len() { ", …" } else { "" };
        (names.len() > 1).then(|| {
            format!(
                "the file has {} managers ({}{more}); the workers of all of them run here, on \
                 this host",
                self.managers.len(),
                names.join(", ")
            )
        })
    }

    /// The name of a worker, with its manager where there are several.
    fn full_name(&self, manager: &Manager, worker: &Worker) -> String {
        let name = if self.managers.len() > 1 {
            format!("{}: {}", manager.name, worker.name)
        } else {
            worker.name.clone()
        };
        let short: String = name.chars().take(NAME_CHARS_MAX).collect();
        if short.is_empty() { "worker".to_owned() } else { short }
    }
}

/// Collects the streams and targets of a run.
struct StepBuilder<'a> {
    drives: &'a Drives,
    targets: Vec<Place>,
    needs: Vec<Need>,
    streams: Vec<Stream>,
    workers: Vec<StepWorker>,
    lost: Vec<String>,
    seed: Option<u64>,
}

impl<'a> StepBuilder<'a> {
    fn new(drives: &'a Drives) -> Self {
        Self {
            drives,
            targets: Vec::new(),
            needs: Vec::new(),
            streams: Vec::new(),
            workers: Vec::new(),
            lost: Vec::new(),
            seed: None,
        }
    }

    /// The name, with a number where another stream has it.
    fn free_name(&self, name: String) -> String {
        let taken = |name: &String| self.streams.iter().any(|s| s.name == *name);
        if !taken(&name) {
            return name;
        }
        let short: String = name.chars().take(NAME_CHARS_MAX - NUMBER_CHARS).collect();
        (2..10_000).map(|n| format!("{short} ({n})")).find(|n| !taken(n)).unwrap_or(name)
    }

    /// A worker as a stream, which has its name, its outstanding I/Os and its mix.
    fn worker(
        &mut self,
        (manager, worker): (&str, &Worker),
        stream: Stream,
        targets: usize,
        mut of: StepWorker,
    ) -> Result<(), NothingToDo> {
        if worker.kind != Kind::Disk {
            self.lost.push(format!("`{}` works on a network, which is left out", stream.name));
            return Ok(());
        }
        let mut lost = Vec::new();
        let mut indexes = Vec::new();
        let mut sectors = Vec::new();
        for target in worker.targets.iter().take(targets) {
            let TargetPlace { path, sector_bytes } = target.place(self.drives)?;
            let end = worker.start_sector.saturating_add(worker.maximum_sectors);
            let bytes = (worker.maximum_sectors > 0).then(|| end.saturating_mul(sector_bytes));
            let least_bytes = end.saturating_mul(sector_bytes);
            let index = self.target(self.drives.on_host(manager, path), bytes);
            if let Some(need) = self.needs.get_mut(index) {
                need.least_bytes = need.least_bytes.max(least_bytes);
                need.whole |= bytes.is_none();
            }
            // Two names of one place are one target.
            match indexes.iter().position(|known| *known == index) {
                None => {
                    indexes.push(index);
                    of.disks.push(target.name.clone());
                }
                Some(place) => lost.push(format!(
                    "its targets `{}` and `{}` are one file here, so its outstanding I/Os on both \
                     are those on one of them; `--drive` gives each its own directory",
                    of.disks.get(place).map_or("", String::as_str).trim(),
                    target.name.trim()
                )),
            }
            sectors.push(sector_bytes);
        }
        let sector_bytes = sectors.first().copied().unwrap_or(SECTOR_BYTES);
        if sectors.iter().any(|s| *s != sector_bytes)
            && (worker.start_sector, worker.maximum_sectors) != (0, 0)
        {
            lost.push(format!(
                "its targets have sectors of several sizes; {sector_bytes} bytes are taken"
            ));
        }
        if worker.test_connection_rate {
            lost.push("opening and closing of the targets on the way".to_owned());
        }
        if worker.use_seed {
            self.seed = self.seed.or(Some(worker.seed));
            lost.push(
                "the order that IOMeter makes of its fixed seed; iosonde makes its own of it"
                    .to_owned(),
            );
        }
        let content = content(worker, &stream, &mut lost);
        let part = |sectors: u64| Bytes(sectors.saturating_mul(sector_bytes));
        self.lost.extend(lost.into_iter().map(|what| format!("`{}`: {what}", stream.name)));
        self.streams.push(Stream {
            threads: 1,
            pool: Some(Pool { share: PoolShare::Each }),
            targets: indexes,
            offset_bytes: part(worker.start_sector),
            span_bytes: (worker.maximum_sectors > 0).then(|| part(worker.maximum_sectors)),
            content,
            ..stream
        });
        self.workers.push(of);
        Ok(())
    }

    /// The index of a place, which is as large as the worker that uses most of it needs.
    fn target(&mut self, path: PathBuf, bytes: Option<u64>) -> usize {
        let index = self.targets.iter().position(|t| t.path == path).unwrap_or(self.targets.len());
        if let Some(target) = self.targets.get_mut(index) {
            let both = target.size_bytes.zip(bytes);
            target.size_bytes = both.map(|(before, now)| Bytes(before.0.max(now)));
        } else {
            self.targets.push(Place { path, size_bytes: bytes.map(Bytes) });
            self.needs.push(Need::default());
        }
        index
    }
}

/// The content of a worker's writes.
fn content(worker: &Worker, stream: &Stream, lost: &mut Vec<String>) -> Content {
    if !stream.writes() {
        return Content::Random;
    }
    match worker.pattern {
        Some(0) => Content::Repeating,
        Some(1) => Content::Fixed,
        Some(2) => Content::Source { bytes: Bytes(PATTERN_BYTES.max(stream.largest_block())) },
        _ => {
            lost.push("the file does not say what is written; it is random".to_owned());
            Content::Random
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TestType, read};
    use super::*;
    use workload::Mode;

    fn drives(lines: &[&str]) -> Drives {
        let lines = lines.iter().map(|line| line.parse().unwrap()).collect();
        Drives::new(lines).on_windows(false)
    }

    /// A target without a drive used to be looked for in /dev, even on systems without /dev.
    #[test]
    fn on_windows_targets_are_where_their_names_say() {
        let drives = drives(&[]).on_windows(true);
        for (name, path) in [
            ("E: \"SQL data\"", r"E:\iobw.tst"),
            ("PHYSICALDRIVE:1", r"\\.\PhysicalDrive1"),
            ("1: \"ACME FLASH (8", r"\\.\PhysicalDrive1"),
        ] {
            let place = target(name).place(&drives).unwrap();
            // Paths are joined as the system does that runs the test.
            let shown = place.path.to_string_lossy().replace(r"\/", r"\");
            assert_eq!((shown.as_str(), place.sector_bytes), (path, 512), "{name}");
        }
        assert!(target("sda").place(&drives).is_err());
    }

    fn target(name: &str) -> Target {
        Target { name: name.to_owned(), kind: Kind::Disk, manager: None }
    }

    #[test]
    fn targets_have_a_place_here() {
        let drives = drives(&["E=/mnt/e", "1=/dev/sdb", "F=/dev/sdc", "sdz=/tmp/z", "TEST=/mnt/t"]);
        for (name, path, sector_bytes) in [
            ("E: \"SQL data\"", "/mnt/e/iobw.tst", 512),
            ("e:", "/mnt/e/iobw.tst", 512),
            ("F:", "/dev/sdc", 512),
            ("1: \"ACME FLASH (8", "/dev/sdb", 512),
            ("PHYSICALDRIVE:1", "/dev/sdb", 512),
            ("PHYSICALDRIVE1", "/dev/sdb", 512),
            (r"\\.\PhysicalDrive1", "/dev/sdb", 512),
            ("TEST: Synthetic Disk", "/mnt/t/iobw.tst", 512),
            ("sda", "/dev/sda", 512),
            ("sdz", "/tmp/z", 512),
            ("/mnt/a b [ext4]", "/mnt/a b/iobw.tst", 4096),
            ("/data/file", "/data/file", 512),
            ("/data/x [1].dat", "/data/x [1].dat", 512),
        ] {
            let place = target(name).place(&drives).unwrap();
            assert_eq!(place, TargetPlace { path: PathBuf::from(path), sector_bytes }, "{name}");
        }
        let error = target("2: \"OTHER\"").place(&drives).unwrap_err().to_string();
        assert!(error.contains("--drive 2="), "{error}");
        // Templates and other names: the user saw `/dev/TEST: Synthetic Disk`, which is nowhere.
        for (name, wanted) in [
            ("PHYSICALDRIVE0", "--drive 0="),
            ("DEMO: Synthetic Disk", "--drive DEMO="),
            ("[*TARGET*] disk", "--drive [*TARGET*]="),
        ] {
            let error = target(name).place(&drives).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn a_run_has_a_stream_for_each_worker() {
        let mut config = read(include_bytes!("../../tests/it/iometer/v1.1.0.icf")).unwrap().config;
        let drives = drives(&["E=/mnt/e", "1=/dev/sdb"]);
        let runs = config.runs();
        assert_eq!(runs.steps.len(), 2 * 8, "two access specifications of 1, 2, 4 … 128");
        let StepWorkload { workload, lost, .. } = config.workload(&runs.steps[3], &drives).unwrap();
        assert_eq!(workload.violations(), []);
        assert_eq!((workload.seconds, workload.warmup_seconds), (28_830.0, 15.0));
        assert_eq!(
            (workload.mode, workload.on_error, workload.seed),
            (Mode::Direct, OnError::Continue, 12_345)
        );
        let paths: Vec<&Path> = workload.targets.iter().map(|t| t.path.as_path()).collect();
        assert_eq!(paths, [Path::new("/mnt/e/iobw.tst"), Path::new("/dev/sdb")]);
        assert_eq!(workload.targets[0].size_bytes, Some(Bytes((41_943_040 + 2048) * 512)));
        let [stream] = workload.streams.as_slice() else { panic!("one worker") };
        assert_eq!((stream.name.as_str(), stream.depth), ("DBSERVER: Worker 1", 8));
        assert_eq!(stream.pool, Some(Pool { share: PoolShare::Each }));
        assert_eq!(
            (stream.offset_bytes, stream.span_bytes),
            (Bytes(1 << 20), Some(Bytes(20 << 30)))
        );
        assert_eq!(stream.content, Content::Source { bytes: Bytes(16 << 20) });
        assert_eq!(workload.in_flight(), 16, "on each target");
        assert!(lost.iter().all(|l| l.starts_with("`DBSERVER: Worker 1`: ")), "{lost:?}");
        assert_eq!(lost.len(), 1, "only the seed: {lost:?}");
        // The workers' own depth, where nothing cycles.
        config.setup.as_mut().unwrap().test_type = TestType::Normal;
        let backup = &config.runs().steps[1];
        let StepWorkload { workload, lost, .. } = config.workload(backup, &drives).unwrap();
        assert_eq!(
            (workload.streams[0].depth, workload.streams[0].blocks[0].bytes.0),
            (32, 1 << 20)
        );
        assert_eq!(lost.len(), 1, "only the seed: {lost:?}");
    }

    #[test]
    fn workers_of_one_place_share_a_target() {
        let mut config = read(include_bytes!("../../tests/it/iometer/v2004.icf")).unwrap().config;
        let worker = &mut config.managers[0].workers[0];
        worker.targets = vec![target("sda"), target("/dev/sda")];
        let twin = Worker { maximum_sectors: 8192, ..worker.clone() };
        config.managers[0].workers.push(twin);
        let step = &config.runs().steps[0];
        let StepWorkload { workload, lost, .. } = config.workload(step, &drives(&[])).unwrap();
        assert_eq!(workload.violations(), []);
        assert_eq!((workload.targets.len(), workload.targets[0].size_bytes), (1, None));
        assert_eq!(
            (workload.streams.len(), &workload.streams[0].pool),
            (2, &Some(Pool { share: PoolShare::Each }))
        );
        // The depth on two disks that are one file was halved without a word.
        assert!(lost[0].contains("`sda` and `/dev/sda` are one file here"), "{lost:?}");
        assert!(lost[1].contains("does not say what is written"), "{lost:?}");
        config.managers[0].workers.iter_mut().for_each(|w| w.kind = Kind::Tcp);
        let none = config.workload(step, &drives(&[]));
        assert_eq!(none, Err(NothingToDo::NoWorker));
    }
}
