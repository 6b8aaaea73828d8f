//! `iosonde validate`: a simulated database that checks every page it reads.

mod args;
mod keep;
mod load;
mod running;
mod setup;

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use integrity::Role;
use workload::{Bytes, show_duration};

use crate::display::Display;
use crate::exit::{Failure, Outcome, print};
use crate::run::describe;
pub(crate) use args::ValidateArgs;
pub(crate) use keep::Keeping;
use keep::Way;
pub(crate) use running::{Given, hold, outcome_of, run_plan, shown_text};
pub(crate) use setup::{check_engine, memory_for, stream_of};
use setup::{plan_of, roles_of, workload_of};

/// Runs the command.
pub(crate) fn validate(args: &ValidateArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    match keep::way(args)? {
        Way::AsSaid => test(args, args, Keeping::InMemory, stop),
        Way::Kept(again, keeping) => test(&again, args, keeping, stop),
        Way::Clean => keep::clean(args),
    }
}

/// Does what the arguments say, and shows it as `typed` says.
fn test(
    args: &ValidateArgs,
    typed: &ValidateArgs,
    keeping: Keeping,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let plan = plan_of(args)?;
    let workload = workload_of(args, &plan)?;
    let permissions = args.target.permissions();
    let plans = engine::plan(&workload, &permissions)?;
    let roles = roles_of(args);
    let data = plans.iter().zip(&roles).filter(|(_, role)| **role == Role::Data);
    let pages: u64 = data.map(|(p, _)| p.size_bytes / u64::from(plan.page_bytes)).sum();
    let memory = memory_for(pages, "use a smaller --size or a larger --page")?;
    let about = format!(
        "{pages} pages of {}, whose versions take {} of memory; {} for {}\n",
        Bytes(plan.page_bytes.into()),
        memory,
        load::words(&plan),
        show_duration(args.seconds)
    );
    if args.target.dry_run {
        print(&format!("{}{about}", describe(&plans)))?;
        return Ok(Outcome::Done);
    }
    let display = Mutex::new(Display::new(typed.target.quiet));
    hold(&display).message(about.trim_end());
    let given = Given {
        plan: &plan,
        workload: &workload,
        permissions: &permissions,
        roles,
        time: Duration::from_secs_f64(args.seconds),
        keeping,
    };
    let (report, places) = run_plan(&given, &display, &|_, _| (), stop)?;
    print(&shown_text(&report, &places, workload.mode))?;
    Ok(outcome_of(&report))
}
