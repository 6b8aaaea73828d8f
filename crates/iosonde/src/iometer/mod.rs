//! `iosonde iometer`: IOMeter's configurations, run by run, with its result file.

mod flags;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use ::results::Document;
use engine::Permissions;
use jobs::{CycleCall, CyclePlan, Event, Plan, Sink};
use report::text::CycleDetail;

use crate::conducting::{Console, Manners, Rehearsal, conduct_into, rehearse};
use crate::exit::{Failure, Outcome};

pub(crate) use flags::IometerArgs;

/// Runs the command.
pub(crate) fn iometer(args: &IometerArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let places = args.place.places()?;
    let plan = CyclePlan::of(&CycleCall {
        config: config(args)?,
        results: results(args)?,
        has_timeout: args.timeout.is_some(),
        places: &places,
        size: args.size,
        seconds: args.seconds,
        warmup_seconds: args.warmup,
    })?;
    let permissions = Permissions { keep: args.keep, ..places.permissions(&plan.targets) };
    let plan = Plan::Cycle(Box::new(plan));
    let rehearsal = Rehearsal { print_plan: args.print_plan, dry_run: args.dry_run };
    if let Some(outcome) = rehearse(&plan, rehearsal, &permissions)? {
        return Ok(outcome);
    }
    let recording = args.recording.recording()?;
    let manners = Manners { manner: args.place.manner(), json: args.json, recording, permissions };
    let detail = match (args.targets, args.workers) {
        (true, _) => CycleDetail::Targets,
        (false, true) => CycleDetail::Workers,
        (false, false) => CycleDetail::Total,
    };
    let mut console = CycleConsole { console: Console::of(&plan, &manners)?, detail };
    conduct_into(&plan, &manners, &mut console, stop).map(|(_, outcome)| outcome)
}

/// Prints a cycle in as much detail as was asked for.
struct CycleConsole {
    console: Console,
    detail: CycleDetail,
}

impl Sink for CycleConsole {
    fn hear(&mut self, event: &Event) {
        self.console.hear(event);
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        match document {
            Document::Cycle(cycle) => {
                self.console.print(document, || report::text::cycle(cycle, self.detail))
            }
            other => self.console.deliver(other),
        }
    }
}

/// The configuration that is named.
fn config(args: &IometerArgs) -> Result<&Path, Failure> {
    match (&args.config, args.files.first()) {
        (Some(_), Some(file)) => Err(Failure::WrongUsage(format!(
            "`{}`: with `-c`, files are named by their letters: `-r RESULTS.csv`",
            file.display()
        ))),
        (Some(path), None) | (None, Some(path)) => Ok(path),
        (None, None) => Err(Failure::WrongUsage(
            "name the configuration: `iosonde iometer -c FILE.icf -r RESULTS.csv`".to_owned(),
        )),
    }
}

/// The result file, where one is named.
fn results(args: &IometerArgs) -> Result<Option<&Path>, Failure> {
    match (args.results.as_deref(), args.files.get(1)) {
        (Some(_), Some(_)) => Err(Failure::WrongUsage("the result file is named twice".to_owned())),
        (named, file) => Ok(named.or(file.map(AsRef::as_ref))),
    }
}
