//! `iosonde validate`: a simulated database that checks every page it reads.

mod args;
mod durability;
mod keep;
mod load;
mod method;
mod profile;
mod progress;
mod running;
mod said;
mod setup;
mod shape;

use std::sync::atomic::AtomicBool;

use integrity::Role;
use workload::{Bytes, show_duration};

use crate::exit::{Failure, Outcome, print};
use crate::run::describe;
pub(crate) use args::ValidateArgs;
pub(crate) use keep::Keeping;
use keep::Way;
pub(crate) use running::{Given, Output, conduct};
pub(crate) use setup::{check_engine, memory_for};
use setup::{check_log_size, plan_of, roles_of, wanted_of, workload_of};
pub(crate) use shape::{Wanted, check as check_shapes};

/// Runs the command.
pub(crate) fn validate(args: &ValidateArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    if let Some(outcome) = durability::asked(args, stop) {
        return outcome;
    }
    match keep::way(args)? {
        Way::AsSaid => test(args, args, Keeping::InMemory, stop),
        Way::Kept(again, keeping) => test(&again, args, keeping, stop),
        Way::Clean => keep::clean(args),
    }
}

/// Does what the arguments say, and shows and records it as `typed` says.
fn test(
    args: &ValidateArgs,
    typed: &ValidateArgs,
    keeping: Keeping,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let (plan, time, said) = plan_of(args)?;
    let workload = workload_of(args, &plan)?;
    said.check_workload(&workload)?;
    check_log_size(args, &plan)?;
    let permissions = args.target.permissions();
    let plans = engine::plan(&workload, &permissions)?;
    let roles = roles_of(args, &plan);
    let wanted = wanted_of(args, &plan, &roles, &plans);
    check_shapes(&plans, &wanted)?;
    keeping.check(&plan, &plans)?;
    let data = plans.iter().zip(&roles).filter(|(_, role)| **role != Role::Log);
    let pages: u64 = data.map(|(p, _)| p.size_bytes / u64::from(plan.page_bytes)).sum();
    let memory = memory_for(pages, "use a smaller --size or a larger --page")?;
    let about = format!(
        "{pages} pages of {}{}, whose versions take {} of memory; {} for {}\n",
        Bytes(plan.page_bytes.into()),
        shape::words(&wanted),
        memory,
        load::words(&plan),
        show_duration(time.as_secs_f64())
    );
    if args.target.conduct.dry_run {
        let effective = integrity::plan_text(&plan, time);
        print(&format!("{}{about}\n{effective}", describe(&plans)))?;
        return Ok(Outcome::Done);
    }
    keeping.try_out(&plan, &plans, &roles)?;
    let given = Given {
        plan: &plan,
        workload: &workload,
        permissions: &permissions,
        roles,
        wanted,
        time,
        keeping,
        configuration: None,
        about: vec![about.trim_end().to_owned()],
    };
    let output = Output {
        manner: typed.target.manner(),
        json: typed.json,
        recording: &typed.recording,
        behind: &|_, _| String::new(),
    };
    conduct(&given, &output, &|_, _| (), stop)
}
