//! From arguments to a plan and the files that it works on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::TargetPlan;
use integrity::{Hardening, Plan, PlanFile, RandomUsers, Role};
use workload::{Bytes, EngineChoice, Mode, Target, Workload};

use super::Wanted;
use super::args::{HardeningArg, ValidateArgs};
use super::load::with_users;
use super::said::Said;
use crate::exit::Failure;
use crate::experiment;
use crate::run::check_destroy;
use crate::targets::EngineArg;

/// The files that are made in a directory.
const DATA_FILE: &str = "iosonde.mdx";
const AREA_FILE: &str = "iosonde.dbx";
const LOG_FILE: &str = "iosonde.ldx";
/// SQLIOSim's rule for the log: half of the data, and no more than this.
const LOG_BYTES_MAX: u64 = 50 << 20;
const LOG_BYTES_MIN: u64 = 8 << 20;
/// How long users work where nobody says it.
const USUAL_TIME: Duration = Duration::from_secs(300);

/// The plan that the arguments ask for, how long users work, and who said what.
pub(super) fn plan_of(args: &ValidateArgs) -> Result<(Plan, Duration, Said<'_>), Failure> {
    let (usual, file) = base_of(args)?;
    let time = file.as_ref().and_then(|file| file.time).unwrap_or(USUAL_TIME);
    let said = Said { args, file };
    let seconds = args.seconds.unwrap_or(time.as_secs_f64());
    let checkpoint = args.checkpoint.unwrap_or(usual.checkpoint_every.as_secs_f64());
    for (what, seconds, least) in [
        (format!("--seconds is {seconds}"), seconds, 0.0),
        (said.value("checkpoint_every_ns", &format!("{checkpoint} s")), checkpoint, 0.001),
    ] {
        if !(least..=31.0 * 86_400.0).contains(&seconds) {
            return Err(Failure::WrongUsage(format!("{what}: it must be {least} s to 31 days")));
        }
    }
    let page = |page: Bytes| u32::try_from(page.0).unwrap_or(u32::MAX);
    let plan = Plan {
        page_bytes: args.page.map_or(usual.page_bytes, page),
        seed: args.target.seed.unwrap_or(usual.seed),
        threads: args.threads.unwrap_or(usual.threads),
        depth: args.depth.unwrap_or(usual.depth),
        checkpoint_every: Duration::from_secs_f64(checkpoint),
        hardening: match args.hardening {
            None => usual.hardening,
            Some(HardeningArg::WriteThrough) => Hardening::WriteThrough,
            Some(HardeningArg::Flush) => Hardening::Flush,
        },
        random: RandomUsers {
            users: args.users.unwrap_or(usual.random.users),
            update_percent: args.update.unwrap_or(usual.random.update_percent),
            ..usual.random
        },
        rereads: args.rereads.unwrap_or(usual.rereads),
        stop_on_fault: usual.stop_on_fault && !args.go_on,
        ..usual
    };
    let plan = with_users(args, &plan)?;
    said.check_plan(&plan)?;
    Ok((plan, Duration::from_secs_f64(seconds), said))
}

/// What counts where no flag says otherwise: the usual plan, and over it what a file says.
fn base_of(args: &ValidateArgs) -> Result<(Plan, Option<PlanFile>), Failure> {
    // Pages of an earlier run must not look as if they were of this one.
    let usual = Plan { seed: engine::unrepeated_seed(), ..Plan::default() };
    let usual = match args.load.imitated {
        Some(engine) => engine.plan(usual, data_bytes(args)),
        None => usual,
    };
    let Some(path) = &args.config else { return Ok((usual, None)) };
    let text = experiment::read(path)?;
    let wrong = |error| Failure::WrongUsage(format!("`{}`: {error}", path.display()));
    let file = integrity::read_plan(&text, &usual).map_err(wrong)?;
    Ok((file.plan.clone(), Some(file)))
}

/// The targets with pages, and the log behind them where there is one; one stream that uses all of
/// them as the threads will.
pub(super) fn workload_of(args: &ValidateArgs, plan: &Plan) -> Result<Workload, Failure> {
    let stream = integrity::stream(plan);
    let wrong = |text: &str| Failure::WrongUsage(text.to_owned());
    if args.target.targets.is_empty() {
        return Err(wrong("name a directory on the storage, a file or a block device"));
    }
    check_engine(args.target.engine)?;
    check_places(args)?;
    let file =
        |t: &PathBuf| Target { path: in_directory(t, DATA_FILE), size_bytes: args.target.size };
    let targets = args.target.targets.iter().map(file).collect();
    let mut workload = Workload { targets, streams: vec![stream], ..Workload::default() };
    if args.load.has_log() {
        let log = log_of(args, plan)?;
        let area = area_of(args, plan, &log);
        workload.targets.push(log);
        workload.targets.extend(area);
    }
    workload.engine = args.target.engine.map_or(workload.engine, EngineChoice::from);
    workload.mode =
        if args.load.is_buffered(args.buffered) { Mode::Buffered } else { Mode::Direct };
    workload.seed = plan.seed;
    check_destroy(&workload, &args.target.conduct.destroy)?;
    Ok(workload)
}

/// A log has room for all of its threads.
pub(super) fn check_log_size(args: &ValidateArgs, plan: &Plan) -> Result<(), Failure> {
    let needed = u64::from(plan.threads) << 20;
    let Some(size) = args.log_size.filter(|size| size.0 < needed) else { return Ok(()) };
    Err(Failure::WrongUsage(format!(
        "--log-size is {size}: the log needs {} for {} threads, 1 MiB for each",
        Bytes(needed),
        plan.threads
    )))
}

/// What is to be made must have a directory to be in.
fn check_places(args: &ValidateArgs) -> Result<(), Failure> {
    let targets = args.target.targets.iter().map(|target| ("TARGET", target));
    for (name, path) in targets.chain(args.log.iter().map(|log| ("--log", log))) {
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        let Some(directory) = directory.filter(|d| !path.exists() && !d.is_dir()) else { continue };
        return Err(Failure::WrongUsage(format!(
            "{name} `{}` does not exist, and neither does the directory `{}`: correct the name, \
             or make a directory with `mkdir -p`",
            path.display(),
            directory.display()
        )));
    }
    Ok(())
}

/// Why nobody knows where the log is to be.
fn no_place_for_log(args: &ValidateArgs) -> String {
    match args.target.targets.iter().find(|target| !target.exists()) {
        Some(missing) => format!(
            "TARGET `{}` does not exist: if it is to be a directory, make it first with `mkdir`; \
             if it is to be a new test file, name where the log is with `--log`",
            missing.display()
        ),
        None => "no TARGET is a directory, so name where the log is with `--log`".to_owned(),
    }
}

/// The target of the log.
fn log_of(args: &ValidateArgs, plan: &Plan) -> Result<Target, Failure> {
    let directory = args.target.targets.iter().find(|t| t.is_dir());
    let path = match (&args.log, directory) {
        (Some(log), _) => in_directory(log, LOG_FILE),
        (None, Some(directory)) => directory.join(LOG_FILE),
        (None, None) => return Err(Failure::WrongUsage(no_place_for_log(args))),
    };
    let data = data_bytes(args);
    let least = LOG_BYTES_MIN.max(u64::from(plan.threads) << 20);
    let size = args.log_size.unwrap_or(Bytes((data / 2).clamp(least, LOG_BYTES_MAX.max(least))));
    Ok(Target { path, size_bytes: Some(size) })
}

/// The target of pages that are written twice, where the plan has such: in the first directory, or
/// beside the log.
fn area_of(args: &ValidateArgs, plan: &Plan, log: &Target) -> Option<Target> {
    let pages = u64::from(plan.doublewrite_pages) * u64::from(plan.threads);
    let size = Bytes((pages * u64::from(plan.page_bytes)).max(LOG_BYTES_MIN));
    let directory = args.target.targets.iter().find(|t| t.is_dir()).map(PathBuf::as_path);
    let directory = directory.or(log.path.parent()).unwrap_or(Path::new("."));
    let path = directory.join(AREA_FILE);
    (pages > 0).then_some(Target { path, size_bytes: Some(size) })
}

/// The size of a data file.
fn data_bytes(args: &ValidateArgs) -> u64 {
    args.target.size.map_or(engine::DEFAULT_SIZE_BYTES, |size| size.0)
}

/// What the targets hold.
pub(super) fn roles_of(args: &ValidateArgs, plan: &Plan) -> Vec<Role> {
    let data = args.target.targets.iter().map(|_| Role::Data);
    let log = args.load.has_log().then_some(Role::Log);
    let area = (args.load.has_log() && plan.doublewrite_pages > 0).then_some(Role::Doublewrite);
    data.chain(log).chain(area).collect()
}

/// How the targets begin, and whether their size changes.
pub(super) fn wanted_of(
    args: &ValidateArgs,
    plan: &Plan,
    roles: &[Role],
    plans: &[TargetPlan],
) -> Vec<Wanted> {
    let of = |(role, target): (&Role, &TargetPlan)| match role {
        Role::Data => Wanted::of(plan, args.load.sparse, target.size_bytes),
        Role::Log | Role::Doublewrite => Wanted::default(),
    };
    roles.iter().zip(plans).map(of).collect()
}

/// What keeps no data cannot be checked, and what makes one I/O at a time is no database.
pub(crate) fn check_engine(engine: Option<EngineArg>) -> Result<(), Failure> {
    let text = match engine {
        Some(EngineArg::Null | EngineArg::Sim) => {
            "`null` and `sim` keep no data, so nothing can be checked; use another engine"
        }
        Some(EngineArg::Sync) => {
            "`sync` makes one I/O at a time, and a database makes many; use another engine"
        }
        _ => return Ok(()),
    };
    Err(Failure::WrongUsage(text.to_owned()))
}

/// The memory that the versions of so many pages take, where there is as much.
pub(crate) fn memory_for(pages: u64, remedy: &str) -> Result<Bytes, Failure> {
    let memory = integrity::Ledger::needed_bytes(pages);
    let free = engine::available_memory().unwrap_or(u64::MAX);
    if memory > free / 2 {
        return Err(Failure::CannotRun(format!(
            "the versions of {pages} pages take {} of memory, and {} are free; {remedy}",
            Bytes(memory),
            Bytes(free)
        )));
    }
    Ok(Bytes(memory))
}

fn in_directory(path: &Path, name: &str) -> PathBuf {
    if path.is_dir() { path.join(name) } else { path.to_owned() }
}
