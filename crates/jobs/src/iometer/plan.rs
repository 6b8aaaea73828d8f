//! From a configuration of IOMeter to a plan: everything that the file and the flags say, checked
//! before anything is touched.

use std::fs;
use std::path::{Path, PathBuf};

use dialects::drives::{DriveError, Drives, ManagerHost};
use dialects::iometer::{Config, CycleWorkload, Kind, Record, TargetUse, read};
use engine::usual_size_bytes;
use workload::{Bytes, Target};

use super::{CyclePlan, results};
use crate::conduct::JobError;
use crate::places::Places;
use inspect::reading;

/// A longer file is not a configuration.
const CONFIG_BYTES_MAX: u64 = 64 << 20;
/// Smaller files cannot be targets.
const TARGET_BYTES_MIN: u64 = 4096;

/// What a call of IOMeter asks for.
#[derive(Debug)]
pub struct CycleCall<'a> {
    /// The path of the configuration, an .icf file.
    pub config: &'a Path,
    /// The path of IOMeter's result file.
    pub results: Option<&'a Path>,
    /// The call says how long to wait for managers on other hosts.
    pub has_timeout: bool,
    /// The host of each manager; empty where all of them are this host.
    pub managers: &'a [ManagerHost],
    /// The places of the targets.
    pub places: &'a Places,
    /// Size of the test file on a disk that the configuration fills.
    pub size: Option<Bytes>,
    /// Length of every run instead of the file's.
    pub seconds: Option<f64>,
    /// I/O before every run instead of the file's ramp up time.
    pub warmup_seconds: Option<f64>,
}

/// The name of a file, without its directory.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

impl CyclePlan {
    /// Reads a configuration, and finds its places here.
    ///
    /// # Errors
    /// The configuration is wrong, or cannot be run here; each line names the file.
    pub fn of(call: &CycleCall<'_>) -> Result<Self, JobError> {
        let shown = call.config.display();
        let wrong = |what: String| {
            let lines: Vec<String> =
                what.lines().map(|line| format!("`{shown}`: {line}")).collect();
            JobError::Usage(lines.join("\n"))
        };
        let bytes = reading::bytes(call.config, CONFIG_BYTES_MAX);
        let bytes = bytes.map_err(|e| wrong(e.to_string()))?;
        let found = read(&bytes).map_err(|e| wrong(e.to_string()))?;
        let mut notes: Vec<String> = found.notes.iter().map(|n| format!("{shown}: {n}")).collect();
        let config = found.config;
        let runs = config.runs();
        notes.extend(runs.notes.iter().map(|note| format!("{shown}: {note}")));
        if runs.steps.is_empty() {
            notes.push(format!(
                "`{shown}`: there is nothing to run: no worker has both an access specification \
                 and a target"
            ));
            return Err(JobError::Usage(notes.join("\n")));
        }
        let places = call.places;
        let drives = drives(&config, places).map_err(wrong)?;
        let table = Drives::new(drives.clone()).with_hosts(call.managers.to_vec());
        check_managers(&config, call.managers).map_err(wrong)?;
        let cycle = config.cycle(&runs.steps, &table).map_err(|e| wrong(e.to_string()))?;
        notes.extend(config.about_managers(&table));
        if call.has_timeout {
            notes.push("`-t` has no effect: no manager on another host is waited for".to_owned());
        }
        notes.extend(cycle.lost.iter().map(|lost| format!("not as IOMeter: {lost}")));
        let mut plan = Self {
            file: name_of(call.config),
            configuration: config.to_icf(),
            drives,
            targets: targets(&cycle, call, &mut notes),
            engine: places.engine,
            sim: places.sim.clone(),
            seed: places.seed,
            seconds: call.seconds,
            warmup_seconds: call.warmup_seconds,
            managers: call.managers.to_vec(),
            results: None,
            notes,
        };
        plan.runs().map_err(|error| match error {
            JobError::Usage(what) => wrong(what),
            other => other,
        })?;
        places.check_destroy(&plan.targets)?;
        if let Some(path) = call.results {
            plan.write_results(path, &config)?;
        }
        Ok(plan)
    }

    /// The result file, if the configuration asks for results.
    fn write_results(&mut self, path: &Path, config: &Config) -> Result<(), JobError> {
        let shown = path.display();
        let is_target = |t: &Target| t.path == path || place(&t.path) == place(path);
        if self.targets.iter().any(is_target) {
            let text = format!("`{shown}` is a target; name another result file");
            return Err(JobError::Usage(text));
        }
        if results::record(config) == Record::None {
            self.notes
                .push(format!("the file says `Record Results` NONE: `{shown}` is not written"));
            return Ok(());
        }
        if results::wants_instantaneous(config) {
            self.notes.push(format!(
                "the results of each moment, which the file asks for in `inst{}`, are not \
                 written; they are in the series of each measurement",
                name_of(path)
            ));
        }
        self.results = Some(path.to_owned());
        Ok(())
    }
}

/// Every manager with work for disks has a host, or none has.
fn check_managers(config: &Config, hosts: &[ManagerHost]) -> Result<(), String> {
    let is = |name: &str, of: &ManagerHost| of.manager.eq_ignore_ascii_case(name);
    let names = || config.managers.iter().map(|manager| manager.name.as_str());
    if let Some(odd) = hosts.iter().find(|of| !names().any(|name| is(name, of))) {
        let known: Vec<&str> = names().collect();
        return Err(format!(
            "it has no manager `{}`, which `--manager` names; its managers are {}",
            odd.manager,
            known.join(", ")
        ));
    }
    let works = config.managers.iter().filter(|m| m.workers.iter().any(|w| w.kind == Kind::Disk));
    match works.map(|m| &m.name).find(|name| !hosts.iter().any(|of| is(name, of))) {
        Some(name) if !hosts.is_empty() => Err(format!(
            "`--manager` names no host for its manager `{name}`; name one for every manager"
        )),
        _ => Ok(()),
    }
}

/// The same for all names of a file, also of one that is not there yet.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(whole) = path.canonicalize() {
        return Some(whole);
    }
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(parent.canonicalize().ok()?.join(path.file_name()?))
}

/// The table of drives. If no real target is touched, unmapped names stand for themselves.
fn drives(config: &Config, places: &Places) -> Result<Vec<dialects::drives::Drive>, String> {
    let mut table = places.drives.clone();
    let unknown = config.unknown_drives(&places.drives());
    if !places.is_artificial() {
        let lines: Vec<String> = unknown.iter().map(ToString::to_string).collect();
        return if lines.is_empty() { Ok(table) } else { Err(lines.join("\n")) };
    }
    for error in unknown {
        if let DriveError::Unknown { drive, .. } = error {
            table.extend(format!("{drive}={drive}").parse().ok());
        }
    }
    Ok(table)
}

/// The targets with their sizes; `None` if one is as large as it is.
fn targets(cycle: &CycleWorkload, call: &CycleCall<'_>, notes: &mut Vec<String>) -> Vec<Target> {
    let Some(first) = cycle.steps.first() else { return Vec::new() };
    let mut sizes = Sizes { call, notes, filled: Vec::new(), inside: Vec::new() };
    let all = first.run.workload.targets.iter().zip(&cycle.uses);
    let targets = all.map(|(target, used)| sizes.target(&target.path, used)).collect();
    sizes.end();
    targets
}

/// Decides how large targets are, and says so where the configuration or the flags do not decide.
struct Sizes<'a> {
    call: &'a CycleCall<'a>,
    notes: &'a mut Vec<String>,
    /// Files of the usual size on disks that IOMeter fills.
    filled: Vec<String>,
    /// Directories that stand for a whole disk get a file of the default size.
    inside: Vec<String>,
}

impl Sizes<'_> {
    fn target(&mut self, path: &Path, used: &TargetUse) -> Target {
        Target { path: path.to_owned(), size_bytes: self.size(path, used) }
    }

    fn size(&mut self, path: &Path, used: &TargetUse) -> Option<Bytes> {
        let shown = path.display().to_string();
        let least = used.need.least_bytes.max(TARGET_BYTES_MIN);
        if !used.need.whole {
            if self.call.size.is_some_and(|asked| asked.0 != least) {
                self.notes.push(format!(
                    "`--size` has no effect on {shown}: the configuration has its own size of \
                     disk, which takes {}",
                    Bytes(least)
                ));
            }
            return Some(Bytes(least));
        }
        let is_artificial = self.call.places.is_artificial();
        let found = fs::metadata(path).ok().filter(|_| !is_artificial);
        let is_directory = found.as_ref().is_some_and(fs::Metadata::is_dir);
        let is_file = found.as_ref().is_some_and(fs::Metadata::is_file);
        match (self.call.size, found) {
            // A directory is not a target of its own: the test file in it has the size.
            (_, Some(_)) if is_directory => {}
            // An existing target is used as large as it is; only a file can have another size.
            (Some(_), Some(_)) if !is_file => {
                self.notes.push(format!(
                    "`--size` has no effect on {shown}: it is a device, and used as large as it is"
                ));
                return None;
            }
            (None, Some(_)) => return None,
            (None, None) if is_artificial => return None,
            _ => {}
        }
        if self.call.size.is_none() {
            if is_directory { &mut self.inside } else { &mut self.filled }.push(shown);
        }
        let asked = self.call.size.map_or_else(usual_size_bytes, |s| s.0);
        // After where the parts end that others use, or where it begins.
        Some(Bytes(if used.need.least_bytes < asked { asked } else { least.saturating_add(asked) }))
    }

    /// Says which sizes nobody asked for.
    fn end(self) {
        let usual = Bytes(usual_size_bytes());
        if !self.filled.is_empty() {
            self.notes.push(format!(
                "the file says to use all of each disk, which IOMeter fills with its test file; \
                 here it is one of {usual} ({}); `--size` gives another size",
                self.filled.join(", ")
            ));
        }
        if !self.inside.is_empty() {
            self.notes.push(format!(
                "the file says to use a whole physical disk; a directory stands for it ({}), and \
                 a test file of {usual} in it; `--size` gives another size",
                self.inside.join(", ")
            ));
        }
    }
}
