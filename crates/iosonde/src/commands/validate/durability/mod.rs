//! `iosonde validate --durability` and `--verify`: what was acknowledged as durable must survive a
//! crash.

mod args;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use inspect::reading::OnlyReading;
use integrity::durability::{Order, SyncMode};
use jobs::{DurabilityPlan, Job as _, Plan, Session, VerifyRequest};
use screen::{Display, speak_json};
use workload::{Bytes, EngineChoice, Mode};

use super::load::WorkArg;
use super::{ValidateArgs, manners};
use crate::conducting::{Console, Rehearsal, conduct, ended, rehearse};
use crate::exit::{Failure, Outcome};
pub(crate) use args::DurabilityArgs;

/// Default size of the data: seconds of writes fall on different pages, and reading it is fast.
const DATA_BYTES: Bytes = Bytes(256 << 20);
const PAGE_BYTES: u32 = 8192;
const THREADS: u32 = 2;
const DEPTH: u32 = 32;
const SECONDS: f64 = 300.0;

/// Runs the durability part of `validate`; `None` if no flag asks for it.
pub(super) fn asked(args: &ValidateArgs, stop: &AtomicBool) -> Option<Result<Outcome, Failure>> {
    let DurabilityArgs { durability, verify, serve_witness, write_durably, .. } = &args.durability;
    if let Some(file) = serve_witness {
        return Some(serve(file));
    }
    if let Some(assignment) = write_durably {
        // The process that started this writer reads its events.
        speak_json();
        let written = jobs::write_durably(assignment, &mut Display::new(false), stop);
        return Some(written.map(|()| Outcome::Done).map_err(Failure::from));
    }
    if let Some(witness) = verify {
        return Some(check_flags(args).and_then(|()| verify_later(args, witness, stop)));
    }
    durability.then(|| check_flags(args).and_then(|()| test(args, stop)))
}

/// Runs the witness, which speaks on its standard input and output.
fn serve(file: &Path) -> Result<Outcome, Failure> {
    // What is promised is on its disk already.
    let _reading = OnlyReading::begin();
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let served = integrity::durability::serve(file, &mut input, &mut output);
    served.map(|()| Outcome::Done).map_err(|error| Failure::CannotRun(format!("witness: {error}")))
}

/// Runs `--verify`.
fn verify_later(args: &ValidateArgs, witness: &str, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let manners = manners(args, args.target.permissions())?;
    let engine = args.target.engine.map_or(EngineChoice::Auto, EngineChoice::from);
    let request = VerifyRequest { witness, targets: &args.target.targets, engine };
    let mut console = Console::new(Display::new(args.target.conduct.quiet), args.json);
    let mut session = Session {
        permissions: manners.permissions,
        recording: manners.recording.as_ref(),
        sink: &mut console,
        stop,
        resumed: None,
    };
    ended(jobs::verify(request, &mut session)?, stop).map(|(_, outcome)| outcome)
}

/// Runs `--durability`.
fn test(args: &ValidateArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let plan = plan_of(args);
    jobs::check_destroy(&plan.targets(), &args.target.conduct.destroy)?;
    let plan = Plan::Durability(Box::new(plan));
    let permissions = args.target.permissions();
    let rehearsal = Rehearsal { print_plan: args.print_plan, dry_run: args.target.conduct.dry_run };
    args.recording.check()?;
    if let Some(outcome) = rehearse(&plan, rehearsal, &permissions)? {
        return Ok(outcome);
    }
    conduct(&plan, &manners(args, permissions)?, stop)
}

fn plan_of(args: &ValidateArgs) -> DurabilityPlan {
    let DurabilityArgs { sync, order, witness, witness_file, kill_after, rounds, .. } =
        &args.durability;
    DurabilityPlan {
        seconds: args.seconds.unwrap_or(SECONDS),
        kill_after_seconds: *kill_after,
        rounds: rounds.unwrap_or(1),
        engine: args.target.engine.map_or(EngineChoice::Auto, EngineChoice::from),
        mode: if args.buffered { Mode::Buffered } else { Mode::Direct },
        seed: args.target.seed,
        page_bytes: args.page.map_or(PAGE_BYTES, |p| u32::try_from(p.0).unwrap_or(u32::MAX)),
        threads: args.threads.unwrap_or(THREADS),
        depth: args.depth.unwrap_or(DEPTH),
        sync: sync.map_or(SyncMode::Fdatasync, SyncMode::from),
        order: order.map_or(Order::Page, Order::from),
        witness: witness.clone(),
        witness_file: witness_file.clone(),
        size_bytes: args.target.size.unwrap_or(DATA_BYTES),
        targets: args.target.targets.clone(),
        log: args.log.clone(),
        log_size_bytes: args.log_size,
    }
}

/// Flags of the simulated database have no meaning here and are refused, not ignored.
fn check_flags(args: &ValidateArgs) -> Result<(), Failure> {
    let given = [
        ("--config", args.config.is_some()),
        ("--users", args.users.is_some()),
        ("--update", args.update.is_some()),
        ("--checkpoint", args.checkpoint.is_some()),
        ("--hardening", args.hardening.is_some()),
        ("--continue", args.go_on),
        ("--rereads", args.rereads.is_some()),
        ("--workload", args.load.workload != WorkArg::Database),
        ("--for", args.load.imitated.is_some()),
        ("--direct", args.load.direct),
        ("--sparse", args.load.sparse),
        ("--resize", args.load.resize.is_some()),
        ("--stamp", args.load.stamp),
        ("--write", args.load.write.is_some()),
        ("--block", args.load.block.is_some()),
        ("--ledger", args.keep.ledger.is_some()),
        ("--resume", args.keep.resume.is_some()),
        ("--clean", args.keep.clean),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        return Err(Failure::WrongUsage(format!(
            "{flag} is of the simulated database, and has no meaning with --durability and \
             --verify; leave it out"
        )));
    }
    if args.durability.verify.is_some() && args.print_plan {
        let text = "--print-plan prints what is to be written, and --verify only reads; leave out \
                    one of both";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    Ok(())
}
