//! `iosonde validate`: a simulated database that checks every page it reads.

mod args;
mod durability;
mod keep;
mod load;
mod said;
mod setup;

use std::sync::atomic::AtomicBool;

use engine::Permissions;
use jobs::{LedgerPlace, Plan, Session, ValidatePlan};

use crate::conducting::{Console, Manners, Rehearsal, ended, rehearse};
use crate::exit::{Failure, Outcome};
pub(crate) use args::ValidateArgs;

pub(crate) fn validate(args: &ValidateArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    if let Some(outcome) = durability::asked(args, stop) {
        return outcome;
    }
    if args.keep.clean {
        return keep::clean(args);
    }
    if let Some(ledger) = &args.keep.resume {
        keep::check_resume()?;
        let (plan, permissions, keeping) = LedgerPlace::resume(ledger.clone())?;
        return run(&plan, &keeping, &manners(args, permissions)?, stop);
    }
    let mut plan = setup::plan_of(args, false)?;
    let mut permissions = args.target.permissions();
    let mut keeping = LedgerPlace::InMemory;
    if let Some(ledger) = &args.keep.ledger {
        keeping = LedgerPlace::new(ledger.clone())?;
        // The run can be resumed from any directory.
        plan = plan.absolute()?;
        for named in &mut permissions.destroy {
            *named = engine::Destroy::new(std::path::absolute(named.as_path())?);
        }
        keeping.check(&plan, &permissions)?;
    }
    let rehearsal = Rehearsal { print_plan: args.print_plan, dry_run: args.target.conduct.dry_run };
    let job = Plan::Validate(Box::new(plan.clone()));
    args.recording.check()?;
    if let Some(outcome) = rehearse(&job, rehearsal, &permissions)? {
        return Ok(outcome);
    }
    run(&plan, &keeping, &manners(args, permissions)?, stop)
}

/// The plan for targets that are on other hosts.
pub(crate) fn plan_elsewhere(args: &ValidateArgs) -> Result<Plan, Failure> {
    let (keep, durable) = (&args.keep, &args.durability);
    let kept = keep.ledger.is_some() || keep.resume.is_some() || keep.clean;
    if kept || durable.durability || durable.verify.is_some() || args.load.resize.is_some() {
        let text = "on several hosts, a validation takes no `--ledger`, `--resume`, `--clean` and \
                    `--resize`, and none of the flags of `--durability`";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    Ok(Plan::Validate(Box::new(setup::plan_of(args, true)?)))
}

fn manners(args: &ValidateArgs, permissions: Permissions) -> Result<Manners, Failure> {
    Ok(Manners {
        manner: args.target.manner(),
        json: args.json,
        recording: args.recording.recording()?,
        permissions,
    })
}

fn run(
    plan: &ValidatePlan,
    keeping: &LedgerPlace,
    manners: &Manners,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let mut console = Console::of(&Plan::Validate(Box::new(plan.clone())), manners)?;
    let (permissions, recording) = (manners.permissions.clone(), manners.recording.as_ref());
    let mut session = Session { permissions, recording, sink: &mut console, stop, resumed: None };
    ended(jobs::validate(plan, keeping, &mut session)?, stop).map(|(_, outcome)| outcome)
}
