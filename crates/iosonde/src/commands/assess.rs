//! `iosonde assess`: the main job.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use inspect::files::{Output, Seal};
use jobs::files::{Journal, read_text};
use jobs::{Event, Plan, Sink};
use report::text::clean;
use results::verdict::{Class, Database};
use results::{Document, Pace};
use survey::{AssessOptions, Publish, limits_of};
use workload::{Mode, Workload};

use crate::args::{AssessArgs, AssessLoad, PaceArg};
use crate::commands::loads;
use crate::commands::run::apply_targets;
use crate::conducting::{Console, Manners, Rehearsal, conduct_into, rehearse, words};
use crate::config::settings;
use crate::exit::{Failure, Outcome};

pub(crate) fn assess(args: &AssessArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let options = AssessOptions { captured: args.from.clone(), ..options_of(&args.load)? };
    let plan = Plan::Assess(Box::new(options));
    let permissions = args.load.target.permissions();
    let dry_run = args.load.target.conduct.dry_run;
    let rehearsal = Rehearsal { print_plan: args.print_plan, dry_run };
    args.recording.check()?;
    let path = args.report.clone().unwrap_or_else(default_report_path);
    let overwrite = args.overwrite.overwrite;
    let cannot = |error| {
        Failure::CannotRun(format!("cannot write the report `{}`: {error}", path.display()))
    };
    if dry_run {
        Output::check(&path, Seal::Markup, overwrite).map_err(cannot)?;
    }
    if let Some(outcome) = rehearse(&plan, rehearsal, &permissions)? {
        return Ok(outcome);
    }
    // Two hours of measuring must not end at a report that cannot be written.
    let output = Output::claim(&path, Seal::Markup, overwrite).map_err(cannot)?;
    let manner = args.load.target.manner();
    let manners =
        Manners { manner, json: args.json, recording: args.recording.recording()?, permissions };
    let journal = args.recording.no_history.then(|| Journal::beside(&path));
    let (console, output) = (Console::of(&plan, &manners)?, Some(output));
    let mut console = AssessConsole { console, output, journal };
    let conducted = conduct_into(&plan, &manners, &mut console, stop);
    let (_, outcome) = conducted?;
    if let Some(journal) = console.journal {
        journal.remove();
    }
    Ok(outcome)
}

/// Prints an assessment, and writes its report.
struct AssessConsole {
    console: Console,
    /// The file of the report, until it is written.
    output: Option<Output>,
    /// Without a history, the file that keeps the measurements until there is a report.
    journal: Option<Journal>,
}

impl Sink for AssessConsole {
    fn hear(&mut self, event: &Event) {
        self.console.hear(event);
        if let (Event::Measured { measurement }, Some(journal)) = (event, &mut self.journal)
            && let Err(error) = journal.keep(measurement)
        {
            self.console.display.message(&format!("warning: {error}"));
        }
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        let mut place = String::new();
        let written = self.output.take().map_or(Ok(()), |output| {
            place = format!("\nReport: {}\n", clean(&output.path().to_string_lossy()));
            words(write_report(document, output, self.journal.as_ref()))
        });
        if written.is_err() {
            place.clear();
        }
        let printed = self.console.print(document, || report::text::document(document) + &place);
        // A full disk may cost the report and the output. Both errors are shown.
        match (written, printed) {
            (Err(written), Err(printed)) => Err(format!("{written}\n{printed}")),
            (written, printed) => written.and(printed),
        }
    }
}

/// The plan that the flags make.
pub(crate) fn plan(args: &AssessLoad) -> Result<Plan, Failure> {
    Ok(Plan::Assess(Box::new(options_of(args)?)))
}

/// The options of an assessment, from its flags.
pub(crate) fn options_of(args: &AssessLoad) -> Result<AssessOptions, Failure> {
    let mut workload = Workload::default();
    apply_targets(&mut workload, &args.target)?;
    let [target] = workload.targets.as_slice() else {
        let text = match workload.targets.len() {
            0 => {
                "name a directory on the storage to be assessed, for example: iosonde assess /data"
            }
            _ => "assess takes one target at a time",
        };
        return Err(Failure::WrongUsage(text.to_owned()));
    };
    let database = Database::from(args.database);
    let set = settings();
    let limits = match args.limits.as_ref().or(set.limits.as_ref().map(|limits| &limits.value)) {
        None => limits_of(database),
        Some(path) => {
            let wrong = |what: String| Failure::WrongUsage(format!("`{}`: {what}", path.display()));
            survey::parse_limits(&read_text(path)?, database).map_err(|e| wrong(e.to_string()))?
        }
    };
    let needs = match &args.need {
        None => Vec::new(),
        Some(text) => survey::parse_needs(text, database)
            .map_err(|e| Failure::WrongUsage(format!("--need: {e}")))?,
    };
    let (expected, volumes) = (args.expect.as_deref(), args.volumes.as_deref());
    let claims = jobs::expected_claims(expected, volumes, database)?;
    let pace = match args.pace {
        PaceArg::Glance => Pace::Glance,
        PaceArg::Quick => Pace::Quick,
        PaceArg::Normal => Pace::Normal,
        PaceArg::Long => Pace::Long,
    };
    let (specs, own_specs) = loads::split(&args.spec)?;
    let specs = specs.into_iter().map(|s| s.name.to_owned()).collect();
    Ok(AssessOptions {
        specs,
        own_specs,
        target: target.path.clone(),
        size: target.size_bytes.or(set.size.as_ref().map(|size| size.value)),
        database,
        pace,
        limits,
        needs,
        class: args.class.map(Class::from),
        claims,
        link: args.link.clone().publish(),
        captured: None,
        permissions: args.target.permissions(),
        engine: workload.engine,
        sim: workload.sim.clone(),
        mode: if args.buffered { Mode::Buffered } else { Mode::Direct },
        seed: workload.seed,
    })
}

/// `iosonde-2026-11-21-1504.html` in the current directory.
fn default_report_path() -> PathBuf {
    let now = jiff::Zoned::now();
    PathBuf::from(format!("iosonde-{}.html", now.strftime("%Y-%m-%d-%H%M%S")))
}

/// Writes the report whole or not at all.
fn write_report(
    document: &Document,
    output: Output,
    journal: Option<&Journal>,
) -> Result<(), Failure> {
    let path = output.path().to_owned();
    let cannot = |what: String| {
        let path = path.display();
        let kept = match journal.map(Journal::whole) {
            Some(Some(file)) => format!("every measurement is in `{}`", file.display()),
            Some(None) => "the result is only shown".to_owned(),
            None => format!("make it again with `iosonde report {}`", document.id()),
        };
        Failure::CannotRun(format!("cannot write the report `{path}`: {what}; {kept}"))
    };
    let html = report::html::page(&report::build(std::slice::from_ref(document)))
        .map_err(|e| cannot(e.to_string()))?;
    output.write(&html).map_err(|e| cannot(e.to_string()))
}
