//! `iosonde validate --durability`: what was acknowledged as durable must survive a crash. This
//! process lets another one write and a third one witness what is promised, and checks when the
//! writer is gone.

mod args;
mod checking;
mod layout;
mod processes;
mod remote;
mod result;
mod writing;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use integrity::durability::Header;
use results::{Durability, DurabilityVerdict, WriterEnd};
use workload::Bytes;

use super::ValidateArgs;
use crate::exit::{Failure, Outcome, print};
use crate::run::describe;
pub(crate) use args::DurabilityArgs;
use checking::check;
use layout::{Given, given_of, workload_of};
use processes::Processes;
use remote::Source;
use result::Expected;
use screen::Display;
use writing::Assignment;

/// What of `validate` is about durability is done here; none if nothing is.
pub(super) fn asked(args: &ValidateArgs, stop: &AtomicBool) -> Option<Result<Outcome, Failure>> {
    let DurabilityArgs { durability, verify, serve_witness, write_durably, .. } = &args.durability;
    if let Some(file) = serve_witness {
        return Some(serve(file));
    }
    if let Some(assignment) = write_durably {
        return Some(writing::write(assignment, stop));
    }
    let checks = || layout::check_flags(args);
    if let Some(source) = verify {
        return Some(checks().and_then(|()| verify_later(args, source, stop)));
    }
    durability.then(|| checks().and_then(|()| rounds(args, stop)))
}

/// The witness: speaks on its standard input and output.
fn serve(file: &Path) -> Result<Outcome, Failure> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let served = integrity::durability::serve(file, &mut input, &mut output);
    served.map(|()| Outcome::Done).map_err(|error| Failure::CannotRun(format!("witness: {error}")))
}

/// `--verify`.
fn verify_later(args: &ValidateArgs, source: &str, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let mut display = Display::new(args.target.conduct.quiet);
    let source = Source::parse(source)?;
    let (mut header, state) = source.read()?;
    layout::replace_targets(&mut header, &args.target.targets)?;
    header.keep |= args.target.conduct.keep;
    let expected = Expected::begin(args, &header, &mut display)?;
    let written = (None, WriterEnd::Unseen);
    let found = check((&header, &state), written, args.target.engine, &mut display, stop)?;
    let verdict = found.verdict;
    let outcome = expected.finish(&header, found, &mut display, stop);
    tidy(&header, verdict, &source, &mut display);
    outcome
}

/// `--durability`: writes, and checks what is there when the writer is gone; again and again where
/// that is wanted.
fn rounds(args: &ValidateArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let given = given_of(args)?;
    let workload = workload_of(&given.header, args.target.engine, true);
    let plans = engine::plan(&workload, &given.permissions)?;
    let header = layout::with_sizes(given.header.clone(), &plans)?;
    if args.target.conduct.dry_run {
        print(&format!("{}{}", describe(&plans), about(args, &header)))?;
        return Ok(Outcome::Done);
    }
    let mut display = Display::new(args.target.conduct.quiet);
    let expected = Expected::begin(args, &header, &mut display)?;
    display.message(about(args, &header).trim_end());
    let source = Source::of(args, &header)?;
    display.message(&source.describe(&header, args.durability.kill_after.is_some()));
    let count = args.durability.rounds.unwrap_or(1);
    let mut last = None;
    for round in 1..=count {
        if count > 1 {
            display.message(&format!("round {round} of {count}"));
        }
        let found = one_round(args, (&header, &given), (&source, round), &mut display, stop)?;
        let goes_on = found.verdict != DurabilityVerdict::Lost && !stop.load(Ordering::Relaxed);
        if !goes_on || round == count {
            last = Some(found);
            break;
        }
        display.message(&found.sentence);
    }
    let Some(found) = last else { return Ok(Outcome::Done) };
    let verdict = found.verdict;
    let outcome = expected.finish(&header, found, &mut display, stop);
    tidy(&header, verdict, &source, &mut display);
    outcome
}

/// Lets the writer write until it is gone, and checks.
fn one_round(
    args: &ValidateArgs,
    (header, given): (&Header, &Given),
    (source, round): (&Source, u32),
    display: &mut Display,
    stop: &AtomicBool,
) -> Result<Durability, Failure> {
    let kill_after = args.durability.kill_after;
    let assignment = Assignment::new(args, header, &given.permissions);
    let ended = Processes::start(source, &assignment)?.wait(stop)?;
    match ended {
        WriterEnd::InOrder => display.message("the writer has ended in order"),
        WriterEnd::Killed if kill_after.is_some() => display.message("the writer was killed"),
        WriterEnd::Killed => display.message("the writer is gone: it was killed"),
        WriterEnd::Failed | WriterEnd::Unseen => {
            display.error("the writer could not go on; what it had promised is checked");
        }
    }
    let (_, state) = source.read()?;
    if ended == WriterEnd::Failed && state.sequence == 0 {
        source.remove(display);
        let text = "the writer could not begin; what it said is above".to_owned();
        let interrupted = stop.load(Ordering::Relaxed);
        return Err(if interrupted {
            Failure::Interrupted(text)
        } else {
            Failure::CannotRun(text)
        });
    }
    check((header, &state), (Some(round), ended), args.target.engine, display, stop)
}

fn about(args: &ValidateArgs, header: &Header) -> String {
    let plan = &header.plan;
    let size: u64 = header.targets.iter().map(|t| t.size_bytes).sum();
    let end = match args.durability.kill_after {
        Some(seconds) => format!("the writer is killed after {seconds} s"),
        None => format!("for {} s, or until it crashes", layout::seconds(args)),
    };
    format!(
        "{} threads x {} pages of {} in flight on {}, durable by {}, order {}; {end}\n",
        plan.threads,
        plan.batch,
        Bytes(plan.page_bytes.into()),
        Bytes(size),
        plan.sync.name(),
        plan.order.name(),
    )
}

/// Files of a run that kept its promises are removed; those of one that did not are evidence.
fn tidy(header: &Header, verdict: DurabilityVerdict, source: &Source, display: &mut Display) {
    if verdict == DurabilityVerdict::Lost {
        display.message(
            "the files stay as they are, as evidence; they carry a mark by which they are known \
             as test files",
        );
        return;
    }
    if header.keep {
        return;
    }
    for target in header.targets.iter().filter(|t| !header.foreign.contains(&t.path)) {
        if let Err(error) = engine::clean(&target.path, true, false) {
            display.error(&format!("cannot remove `{}`: {error}", target.path.display()));
        }
    }
    source.remove(display);
}
