//! Turns flags into a plan.

use std::time::Duration;

use integrity::{Hardening, Imitated, Plan, PlanFile, RandomUsers};
use jobs::{Job as _, ValidatePlan, ValidateTargets};
use workload::{Bytes, EngineChoice, Mode};

use super::args::{HardeningArg, ValidateArgs};
use super::load::with_users;
use super::said::TypedPlan;
use crate::exit::Failure;

/// How long users work by default.
const USUAL_TIME: Duration = Duration::from_secs(300);

/// The plan that the flags ask for; its targets may be on other hosts.
pub(super) fn plan_of(args: &ValidateArgs, elsewhere: bool) -> Result<ValidatePlan, Failure> {
    let (database, seconds, said) = database_of(args)?;
    let engine = args.target.engine.map_or(EngineChoice::Auto, EngineChoice::from);
    let is_buffered = args.load.is_buffered(args.buffered);
    jobs::check_engine(engine)?;
    let plan = ValidatePlan {
        seconds,
        engine,
        mode: if is_buffered { Mode::Buffered } else { Mode::Direct },
        configuration: None,
        files: ValidateTargets { elsewhere, ..places(args) }.files(&database)?,
        database,
    };
    jobs::check_destroy(&plan.targets(), &args.target.conduct.destroy)?;
    said.check_workload(&plan.workload())?;
    check_log_size(args, &plan.database)?;
    if elsewhere {
        return Ok(plan.sparse(args.load.sparse));
    }
    Ok(plan.shaped(args.load.sparse, &args.target.permissions())?)
}

fn places(args: &ValidateArgs) -> ValidateTargets<'_> {
    ValidateTargets {
        data: &args.target.targets,
        size: args.target.size,
        has_log: args.load.has_log(),
        log: args.log.as_deref(),
        log_size: args.log_size,
        elsewhere: false,
    }
}

/// The users, how long they work in each cycle, and where each setting came from.
fn database_of(args: &ValidateArgs) -> Result<(Plan, f64, TypedPlan<'_>), Failure> {
    let (usual, file) = base_of(args)?;
    let time = file.as_ref().and_then(|file| file.time).unwrap_or(USUAL_TIME);
    let said = TypedPlan { args, file };
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
    Ok((plan, seconds, said))
}

/// The plan before any flag: the default, overridden by the file.
fn base_of(args: &ValidateArgs) -> Result<(Plan, Option<PlanFile>), Failure> {
    let usual = Plan { seed: engine::unrepeated_seed(), ..Plan::default() };
    let usual = match args.load.imitated {
        Some(engine) => Imitated::from(engine).plan(usual, places(args).data_bytes()),
        None => usual,
    };
    let Some(path) = &args.config else { return Ok((usual, None)) };
    let text = jobs::files::read_text(path)?;
    let wrong = |error| Failure::WrongUsage(format!("`{}`: {error}", path.display()));
    let file = integrity::read_plan(&text, &usual).map_err(wrong)?;
    Ok((file.plan.clone(), Some(file)))
}

/// Refuses a log that has no room for all of its threads.
fn check_log_size(args: &ValidateArgs, plan: &Plan) -> Result<(), Failure> {
    let needed = u64::from(plan.threads) << 20;
    let Some(size) = args.log_size.filter(|size| size.0 < needed) else { return Ok(()) };
    Err(Failure::WrongUsage(format!(
        "--log-size is {size}: the log needs {} for {} threads, 1 MiB per thread",
        Bytes(needed),
        plan.threads
    )))
}
