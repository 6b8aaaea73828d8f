//! `iosonde validate`: a simulated database that checks every page it reads.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::report::text::clean;
use clap::Args;
use engine::{Permissions, Prepared, Queue};
use integrity::{Hardening, Phase, Place, Plan, PlanError, RandomUsers, Report, Role};
use workload::{
    Block, Bytes, EngineChoice, Mode, Pool, PoolShare, Stream, Target, Workload, show_duration,
};

use crate::display::Display;
use crate::exit::{Failure, Outcome, print};
use crate::run::{check_destroy, describe};
use crate::targets::{EngineArg, TargetArgs};

/// The files that are made in a directory.
const DATA_FILE: &str = "iosonde.mdx";
const LOG_FILE: &str = "iosonde.ldx";
/// SQLIOSim's rule for the log: half of the data, and no more than this.
const LOG_BYTES_MAX: u64 = 50 << 20;
const LOG_BYTES_MIN: u64 = 8 << 20;

/// `iosonde validate`
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub target: TargetArgs,

    /// Where the log is: a directory, a file or a block device [default: beside the first TARGET that is a directory]
    #[arg(long, value_name = "TARGET")]
    pub log: Option<PathBuf>,

    /// Size of the log [default: half of the data, at most 50M]
    #[arg(long, value_name = "SIZE")]
    pub log_size: Option<Bytes>,

    /// How long the users work, between the first writing of all pages and the last reading of them
    #[arg(long, value_name = "N", default_value_t = 300.0)]
    pub seconds: f64,

    /// Size of a page, a multiple of 512 bytes up to 64K
    #[arg(long, value_name = "SIZE", default_value = "8K")]
    pub page: Bytes,

    /// Threads; the users are spread over them
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub threads: u32,

    /// I/Os of each thread in flight
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub depth: u32,

    /// Users that read and change a page here and there
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub users: u32,

    /// Share of the pages they read that these users change, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 90.0)]
    pub update: f64,

    /// How often all changed pages are written
    #[arg(long, value_name = "SECONDS", default_value_t = 15.0)]
    pub checkpoint: f64,

    /// What makes writes last: each is write-through (O_DSYNC), or files are flushed (fdatasync) before a commit is done and at the end of
    /// a checkpoint
    #[arg(long, value_enum, default_value = "write-through")]
    pub hardening: HardeningArg,

    /// Go on after a page was wrong
    #[arg(long = "continue")]
    pub go_on: bool,

    /// How often a page that is wrong is read again
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub rereads: u32,

    /// Go through the operating system's cache
    #[arg(long)]
    pub buffered: bool,
}

/// What makes writes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HardeningArg {
    /// Every write
    WriteThrough,
    /// Flushes behind them
    Flush,
}

/// Runs the command.
pub(crate) fn validate(args: &ValidateArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let plan = plan_of(args)?;
    let workload = workload_of(args, &plan)?;
    let permissions = args.target.permissions();
    let plans = engine::plan(&workload, &permissions)?;
    let sizes: Vec<u64> = plans.iter().map(|p| p.size_bytes).collect();
    let pages: u64 = sizes.iter().rev().skip(1).map(|s| s / u64::from(plan.page_bytes)).sum();
    let memory = memory_for(pages, "use a smaller --size or a larger --page")?;
    let about = format!(
        "{pages} pages of {}, whose versions take {} of memory; the users work for {}\n",
        args.page,
        memory,
        show_duration(args.seconds)
    );
    if args.target.dry_run {
        print(&format!("{}{about}", describe(&plans)))?;
        return Ok(Outcome::Done);
    }
    let display = Mutex::new(Display::new(args.target.quiet));
    hold(&display).message(about.trim_end());
    let roles = vec![Role::Data; workload.targets.len().saturating_sub(1)];
    let given = Given {
        plan: &plan,
        workload: &workload,
        permissions: &permissions,
        roles: [roles, vec![Role::Log]].concat(),
        time: Duration::from_secs_f64(args.seconds),
    };
    let (report, places) = run_plan(&given, &display, &|_, _| (), stop)?;
    print(&shown_text(&report, &places, workload.mode))?;
    Ok(outcome_of(&report))
}

/// What is run, and on what.
pub(crate) struct Given<'a> {
    pub plan: &'a Plan,
    pub workload: &'a Workload,
    pub permissions: &'a Permissions,
    /// What each target holds.
    pub roles: Vec<Role>,
    pub time: Duration,
}

/// Makes the targets ready and runs the plan on them. `hear` is told what is shown meanwhile, and whether it is an error.
pub(crate) fn run_plan(
    given: &Given<'_>,
    display: &Mutex<Display>,
    hear: &(dyn Fn(bool, &str) + Sync),
    stop: &AtomicBool,
) -> Result<(Report, Vec<Place>), Failure> {
    let Given { plan, workload, permissions, roles, time } = given;
    let prepared =
        engine::prepare(workload, permissions, stop, &mut |event| hold(display).show(event))?;
    let places = places(workload, &prepared, roles);
    let open = || -> Result<Box<dyn Queue>, String> {
        let opened = engine::open_queue(workload, &prepared, 0).map_err(|e| e.to_string())?;
        Ok(opened.0)
    };
    let mut begins = |phase: Phase| {
        hold(display).message(words(phase));
        hear(false, words(phase));
    };
    let notice = |text: String| {
        hold(display).error(&text);
        hear(true, &text);
    };
    let report = integrity::run(plan, &places, *time, &open, stop, &mut begins, &notice)
        .map_err(|error| Failure::CannotRun(error.to_string()))?;
    hold(display).finish();
    Ok((report, places))
}

/// The report as text for a terminal.
pub(crate) fn shown_text(report: &Report, places: &[Place], mode: Mode) -> String {
    let mut text = integrity::text(report, places);
    if mode == Mode::Buffered {
        text += "What was read went through the cache of the operating system: it says little of the storage behind it.\n";
    }
    text.lines().map(|line| clean(line) + "\n").collect()
}

/// How a run ended.
pub(crate) fn outcome_of(report: &Report) -> Outcome {
    let failed = !report.failures.is_empty() || report.ended.is_some();
    match (report.is_right(), report.interrupted, failed) {
        (false, ..) => Outcome::WrongData,
        (true, true, _) => Outcome::Interrupted,
        (true, false, true) => Outcome::IoFailed,
        (true, false, false) => Outcome::Done,
    }
}

/// A display that several threads use.
pub(crate) fn hold(display: &Mutex<Display>) -> MutexGuard<'_, Display> {
    display.lock().unwrap_or_else(PoisonError::into_inner)
}

fn words(phase: Phase) -> &'static str {
    match phase {
        Phase::Load => "writing every page",
        Phase::Work => "users are at work",
        Phase::Audit => "reading every page",
        Phase::Log => "reading the log",
    }
}

fn plan_of(args: &ValidateArgs) -> Result<Plan, Failure> {
    for (flag, seconds, least) in
        [("--seconds", args.seconds, 0.0), ("--checkpoint", args.checkpoint, 0.001)]
    {
        if !(least..=31.0 * 86_400.0).contains(&seconds) {
            let text = format!("{flag} is {seconds}: it must be {least} s to 31 days");
            return Err(Failure::WrongUsage(text));
        }
    }
    let usual = Plan::default();
    let plan = Plan {
        page_bytes: u32::try_from(args.page.0).unwrap_or(u32::MAX),
        // Pages of an earlier run must not look as if they were of this one.
        seed: args.target.seed.unwrap_or_else(engine::unrepeated_seed),
        threads: args.threads,
        depth: args.depth,
        checkpoint_every: Duration::from_secs_f64(args.checkpoint),
        hardening: match args.hardening {
            HardeningArg::WriteThrough => Hardening::WriteThrough,
            HardeningArg::Flush => Hardening::Flush,
        },
        random: RandomUsers { users: args.users, update_percent: args.update, ..usual.random },
        rereads: args.rereads,
        stop_on_fault: !args.go_on,
        ..usual
    };
    let said = |e: PlanError| format!("{} is {}: {}", flag_of(e.field), e.value, e.rule);
    let violations: Vec<String> = plan.violations().into_iter().map(said).collect();
    if violations.is_empty() { Ok(plan) } else { Err(Failure::WrongUsage(violations.join("\n"))) }
}

/// What was typed for a field of the plan.
fn flag_of(field: &'static str) -> &'static str {
    match field {
        "page_bytes" => "--page",
        "threads" => "--threads",
        "depth" => "--depth",
        "rereads" => "--rereads",
        "random.users" => "--users",
        "random.update_percent" => "--update",
        other => other,
    }
}

/// The targets with pages, and the log behind them; one stream that uses all of them as the threads will.
fn workload_of(args: &ValidateArgs, plan: &Plan) -> Result<Workload, Failure> {
    let stream = stream_of(plan);
    let wrong = |text: &str| Failure::WrongUsage(text.to_owned());
    if args.target.targets.is_empty() {
        return Err(wrong("name a directory on the storage, a file or a block device"));
    }
    check_engine(args.target.engine)?;
    if args.target.live {
        return Err(wrong("`validate` has no screen yet; leave out `--live`"));
    }
    let directory = args.target.targets.iter().find(|t| t.is_dir());
    let log = match (&args.log, directory) {
        (Some(log), _) => in_directory(log, LOG_FILE),
        (None, Some(directory)) => directory.join(LOG_FILE),
        (None, None) => {
            let text = "no TARGET is a directory, so name where the log is with `--log`";
            return Err(Failure::WrongUsage(text.to_owned()));
        }
    };
    let data = args.target.size.map_or(engine::DEFAULT_SIZE_BYTES, |s| s.0);
    let least = LOG_BYTES_MIN.max(u64::from(plan.threads) << 20);
    let size = args.log_size.unwrap_or(Bytes((data / 2).clamp(least, LOG_BYTES_MAX.max(least))));
    let nowhere = Target { path: "nowhere".into(), size_bytes: None };
    let mut workload = Workload::single(nowhere, stream);
    let file =
        |t: &PathBuf| Target { path: in_directory(t, DATA_FILE), size_bytes: args.target.size };
    workload.targets = args.target.targets.iter().map(file).collect();
    workload.targets.push(Target { path: log, size_bytes: Some(size) });
    workload.engine = args.target.engine.map_or(workload.engine, EngineChoice::from);
    workload.mode = if args.buffered { Mode::Buffered } else { Mode::Direct };
    workload.seed = plan.seed;
    check_destroy(&workload, &args.target.destroy)?;
    Ok(workload)
}

/// The stream that opens queues as a plan needs them.
pub(crate) fn stream_of(plan: &Plan) -> Stream {
    Stream {
        name: "validate".to_owned(),
        threads: plan.threads,
        depth: plan.depth,
        blocks: vec![Block { bytes: Bytes(integrity::slot_bytes(plan).into()), weight: 1 }],
        align_bytes: Some(Bytes(plan.page_bytes.into())),
        write_percent: 50,
        durable: plan.hardening == Hardening::WriteThrough,
        pool: Some(Pool { share: PoolShare::InTurn }),
        ..Stream::default()
    }
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

fn places(workload: &Workload, prepared: &Prepared, roles: &[Role]) -> Vec<Place> {
    let targets = prepared.targets().iter().zip(prepared.facts()).zip(roles);
    let place = |((target, fact), role): ((&engine::PreparedTarget, _), &Role)| {
        let fact: workload::TargetFacts = fact;
        Place {
            path: target.path().to_owned(),
            size_bytes: target.size_bytes(),
            role: *role,
            align_bytes: if workload.mode == Mode::Direct { fact.direct_align_bytes } else { 1 },
        }
    };
    targets.map(place).collect()
}
