//! `iosonde monitor`: what the operating system counts, shown and recorded.

mod args;
mod served;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::Permissions;
use jobs::{Job as _, MonitorPlan, Plan, Session};
use results::Document;
use screen::{Console, Ear, Manner, Stdout, speaks_json};

pub(crate) use args::MonitorArgs;
use served::Served;

use crate::conducting::{Manners, Rehearsal, ended, rehearse};
use crate::exit::{Failure, Outcome};

pub(crate) fn monitor(args: &MonitorArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let plan = args.plan()?;
    let rehearsal = Rehearsal { print_plan: args.print_plan, dry_run: false };
    let permissions = Permissions::default();
    let whole = Plan::Monitor(Box::new(plan.clone()));
    if let Some(outcome) = rehearse(&whole, rehearsal, &permissions)? {
        return Ok(outcome);
    }
    let manner = Manner { quiet: args.quiet, live: args.live };
    let recording = args.recording.recording()?;
    let manners = Manners { manner, json: args.json, recording, permissions };
    let metrics = args.metrics.map(|address| (address, args.token_file.as_deref()));
    record(&plan, (args.stdout(), metrics), &manners, stop)
}

/// Runs a plan from a file.
pub(crate) fn conduct(
    plan: &MonitorPlan,
    manners: &Manners,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    if !plan.command.is_empty() && (manners.manner.live || speaks_json()) {
        let text = "the plan runs a command, which writes to the terminal, too: leave out `--live` \
                    and `--progress json`";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    let stdout = if manners.json { Stdout::Json } else { Stdout::Text };
    record(plan, (stdout, None), manners, stop)
}

/// Watches until the end, a signal, or the end of the command.
fn record(
    plan: &MonitorPlan,
    (stdout, metrics): (Stdout, Option<(SocketAddr, Option<&Path>)>),
    manners: &Manners,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let ear = metrics
        .map(|(address, token)| Served::begin(address, token))
        .transpose()?
        .map(|mut served| -> Ear { Box::new(move |observation| served.hear(observation)) });
    let mut console = Console::new(plan, stdout, ear, manners.manner);
    let (permissions, recording) = (manners.permissions.clone(), manners.recording.as_ref());
    let mut session = Session { permissions, recording, sink: &mut console, stop, resumed: None };
    let (documents, outcome) = ended(plan.run(&mut session)?, stop)?;
    let is_cut = |document: &Document| match document {
        Document::Recording(recording) => plan.is_cut_short(&recording.conclusion),
        _ => false,
    };
    Ok(if documents.iter().any(is_cut) { Outcome::Interrupted } else { outcome })
}
