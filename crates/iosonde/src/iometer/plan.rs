//! What a configuration asks for on this host, checked before anything is touched.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use dialects::drives::{DriveError, Drives};
use dialects::iometer::{Config, CycleStep, CycleWorkload, TargetUse, read};
use engine::{DEFAULT_SIZE_BYTES, Permissions};
use results::{Cycle, CycleRun};
use survey::CycleOptions;
use workload::{Bytes, EngineChoice, Nanoseconds, Target, Workload, show_duration};

use super::flags::IometerArgs;
use crate::exit::Failure;

/// More than any configuration has.
const CONFIG_BYTES_MAX: u64 = 64 << 20;
/// Until somebody stops it: the longest that a run may be.
const ENDLESS_S: f64 = 31.0 * 86_400.0;
/// Distance of the points of such a run, so that they are not too many.
const ENDLESS_INTERVAL: Nanoseconds = Nanoseconds(5_000_000_000);
/// Smaller files are no targets.
const TARGET_BYTES_MIN: u64 = 4096;

/// A configuration that can be run.
pub(super) struct Planned {
    pub config: Config,
    pub cycle: CycleWorkload,
    /// What was found in the file, line by line, and what is not done as IOMeter.
    pub notes: Vec<String>,
    pub options: CycleOptions,
    /// Whether its runs go on until somebody stops them.
    pub endless: bool,
}

/// The name of a file, without its directory.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Reads a configuration, and finds its places here.
pub(super) fn plan(path: &Path, args: &IometerArgs) -> Result<Planned, Failure> {
    let shown = path.display();
    let wrong = |what: String| {
        let lines: Vec<String> = what.lines().map(|line| format!("`{shown}`: {line}")).collect();
        Failure::WrongUsage(lines.join("\n"))
    };
    let bytes = bytes_of(path).map_err(|e| wrong(e.to_string()))?;
    let found = read(&bytes).map_err(|e| wrong(e.to_string()))?;
    let mut notes: Vec<String> = found.notes.iter().map(|n| format!("{shown}: {n}")).collect();
    let config = found.config;
    let runs = config.runs();
    let about_runs = runs.notes.iter().map(|note| format!("{shown}: {note}"));
    if runs.steps.is_empty() {
        notes.extend(about_runs);
        notes.push(format!(
            "`{shown}`: there is nothing to run: no worker has both an access specification and a \
             target"
        ));
        return Err(Failure::WrongUsage(notes.join("\n")));
    }
    notes.extend(about_runs);
    let drives = drives(&config, args).map_err(wrong)?;
    let mut cycle = config.cycle(&runs.steps, &drives).map_err(|e| wrong(e.to_string()))?;
    notes.extend(config.about_managers());
    if args.timeout.is_some() {
        notes.push("`-t` has no effect: no manager on another host is waited for".to_owned());
    }
    notes.extend(cycle.lost.iter().map(|lost| format!("not as IOMeter: {lost}")));
    let sizes = sizes(&cycle, args, &mut notes);
    cycle.size(&sizes);
    let options =
        options(&name_of(path), &config, &mut cycle, args).map_err(|failure| match failure {
            Failure::WrongUsage(what) => wrong(what),
            other => other,
        })?;
    let endless = cycle.until_stopped && args.seconds.is_none();
    Ok(Planned { config, cycle, notes, options, endless })
}

fn bytes_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(CONFIG_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The table of drives. Where no real target is touched, what stands for nothing stands for itself.
fn drives(config: &Config, args: &IometerArgs) -> Result<Drives, String> {
    let mut unknown = config.unknown_drives(&args.place.drives());
    if !args.place.is_artificial() {
        let lines: Vec<String> = unknown.iter().map(ToString::to_string).collect();
        return if lines.is_empty() { Ok(args.place.drives()) } else { Err(lines.join("\n")) };
    }
    let mut table = args.place.drive.clone();
    for error in unknown.drain(..) {
        if let DriveError::Unknown { drive, .. } = error {
            table.extend(format!("{drive}={drive}").parse().ok());
        }
    }
    Ok(Drives::new(table))
}

/// How large each target is; none where it is as large as it is.
fn sizes(cycle: &CycleWorkload, args: &IometerArgs, notes: &mut Vec<String>) -> Vec<Option<Bytes>> {
    let Some(first) = cycle.steps.first() else { return Vec::new() };
    let mut filled = Vec::new();
    let mut size = |(target, used): (&Target, &TargetUse)| {
        let least = used.need.least_bytes.max(TARGET_BYTES_MIN);
        if !used.need.whole {
            return Some(Bytes(least));
        }
        let is_there = !args.place.is_artificial() && fs::metadata(&target.path).is_ok();
        let is_file = fs::metadata(&target.path).is_ok_and(|found| found.is_file());
        // What is there is used as large as it is; only a file can have another size.
        let keeps_its_size = match args.size {
            Some(_) => is_there && !is_file,
            None => is_there || args.place.is_artificial(),
        };
        if keeps_its_size {
            return None;
        }
        let asked = args.size.map_or(DEFAULT_SIZE_BYTES, |s| s.0);
        if args.size.is_none() {
            filled.push(target.path.display().to_string());
        }
        // Behind where the parts end that others use, or where it begins.
        Some(Bytes(if used.need.least_bytes < asked { asked } else { least.saturating_add(asked) }))
    };
    let sizes = first.run.workload.targets.iter().zip(&cycle.uses).map(&mut size).collect();
    if !filled.is_empty() {
        notes.push(format!(
            "the file says to use all of each disk, which IOMeter fills with its test file; here \
             it is one of {} ({}); `--size` gives another size",
            Bytes(DEFAULT_SIZE_BYTES),
            filled.join(", ")
        ));
    }
    sizes
}

/// What is run.
fn options(
    file: &str,
    config: &Config,
    cycle: &mut CycleWorkload,
    args: &IometerArgs,
) -> Result<CycleOptions, Failure> {
    let endless = cycle.until_stopped && args.seconds.is_none();
    if endless && args.place.engine() == EngineChoice::Sim {
        let text = "its runs go on until somebody stops them, and simulated time does not wait \
                    for that; give their length with `--seconds`";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    let fixed = config.managers.iter().flat_map(|m| &m.workers).any(|w| w.use_seed);
    for step in &mut cycle.steps {
        let workload = &mut step.run.workload;
        args.place.apply(workload)?;
        if endless {
            (workload.seconds, workload.interval_ns) = (ENDLESS_S, ENDLESS_INTERVAL);
        }
        workload.seconds = args.seconds.unwrap_or(workload.seconds);
        workload.warmup_seconds = args.warmup.unwrap_or(workload.warmup_seconds);
    }
    let Some(preparation) = cycle.preparation() else {
        return Err(Failure::WrongUsage("no disk worker makes I/O".to_owned()));
    };
    let permissions =
        Permissions { keep: args.keep, ..args.place.permissions(&preparation.targets) };
    let setup = config.setup.clone().unwrap_or_default();
    let cycle_of = Cycle {
        file: file.to_owned(),
        description: setup.description.clone(),
        test_type: setup.test_type.word().to_owned(),
        runs: cycle.steps.iter().map(run_of).collect(),
    };
    let method = method(&preparation, &cycle_of, endless);
    Ok(CycleOptions {
        cycle: cycle_of,
        workloads: cycle.steps.iter().map(|s| s.run.workload.clone()).collect(),
        preparation,
        permissions,
        same_seed: fixed && args.place.seed.is_none(),
        method,
        warnings: cycle.lost.iter().map(|lost| format!("not as IOMeter: {lost}")).collect(),
    })
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

/// The configuration that is named.
pub(super) fn config_path(args: &IometerArgs) -> Result<PathBuf, Failure> {
    let named = args.files.first();
    match (&args.config, named) {
        (Some(_), Some(file)) => Err(Failure::WrongUsage(format!(
            "`{}`: with `-c`, files are named by their letters: `-r RESULTS.csv`",
            file.display()
        ))),
        (Some(path), None) | (None, Some(path)) => Ok(path.clone()),
        (None, None) => Err(Failure::WrongUsage(
            "name the configuration: `iosonde iometer -c FILE.icf -r RESULTS.csv`".to_owned(),
        )),
    }
}
