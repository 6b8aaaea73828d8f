//! `iosonde iometer`: IOMeter's configurations, run by run, with its result file.

mod cpu;
mod dry_run;
mod flags;
mod plan;
mod results;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use ::results::{Conclusion as _, Cycle, Document, Experiment, Measurement};
use dialects::iometer::{Record, settle_sectors};
use jobs::Subject;
use report::model::Detail;
use report::sections::CycleDetail;
use survey::Progress;
use workload::{TargetFacts, Workload, show_ns, show_number};

use crate::conducting::outcome;
use crate::exit::{Failure, Outcome, print};
use crate::recording::say_kept;
use crate::run::json;
use cpu::Processors;
use plan::{Planned, config_path, plan};
use results::Results;
use screen::Display;

pub(crate) use flags::IometerArgs;

/// Runs the command.
pub(crate) fn iometer(args: &IometerArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let path = config_path(args)?;
    let mut planned = plan(&path, args)?;
    args.place.check_destroy(&planned.options.preparation.targets)?;
    let csv = csv(args, &mut planned)?;
    if args.dry_run {
        print(&dry_run::text(&planned)?)?;
        return Ok(Outcome::Done);
    }
    let mut display = Display::new(args.place.quiet);
    planned.notes.iter().for_each(|note| display.message(&format!("note: {note}")));
    drop(display);
    conduct(args, planned, csv, stop)
}

/// The result file, where one is asked for.
fn csv(args: &IometerArgs, planned: &mut Planned) -> Result<Option<Results>, Failure> {
    let named: Option<PathBuf> = args.results.clone().or_else(|| args.files.get(1).cloned());
    let Some(path) = named else { return Ok(None) };
    if args.results.is_some() && args.files.get(1).is_some() {
        let text = "the result file is named twice".to_owned();
        return Err(Failure::WrongUsage(text));
    }
    let is_target = |t: &workload::Target| t.path == path || place(&t.path) == place(&path);
    if planned.options.preparation.targets.iter().any(is_target) {
        let path = path.display();
        return Err(Failure::WrongUsage(format!("`{path}` is a target; name another result file")));
    }
    let results = Results::claim(&path, &planned.config, !args.dry_run)?;
    if results::record(&planned.config) == Record::None {
        planned.notes.push(format!(
            "the file says `Record Results` NONE: `{}` is not written",
            path.display()
        ));
        return Ok(None);
    }
    if results::wants_instantaneous(&planned.config) {
        planned.notes.push(format!(
            "the results of each moment, which the file asks for in `inst{}`, are not written; \
             they are in the series of each measurement",
            plan::name_of(&path)
        ));
    }
    Ok(Some(results))
}

/// The same for all names of a file, also of one that is not there yet.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(whole) = path.canonicalize() {
        return Some(whole);
    }
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(parent.canonicalize().ok()?.join(path.file_name()?))
}

/// What the history knows the plan by.
#[derive(serde::Serialize)]
struct Asked<'a> {
    configuration: String,
    preparation: &'a Workload,
}

/// Makes the runs, keeps each, and shows all of them.
fn conduct(
    args: &IometerArgs,
    planned: Planned,
    csv: Option<Results>,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let Planned { config, cycle, options, .. } = planned;
    let asked = Asked { configuration: config.to_icf(), preparation: &options.preparation };
    let on = (options.preparation.targets.as_slice(), options.preparation.engine);
    let subject = Subject::new("iometer", Cycle::SCHEMA, options.cycle.title(), on, &asked)?;
    let recorder = RefCell::new(args.recording.open(subject)?);
    let display = RefCell::new(Display::of(args.place.manner(), recorder.borrow().subject()));
    let csv = RefCell::new(csv);
    let processors = RefCell::new(Processors::new(args.place.is_artificial()));
    let of = options.workloads.len();
    let mut keep = |index: usize, measurement: &Measurement| -> Result<(), String> {
        display.borrow_mut().message(&line(index + 1, of, measurement));
        let mut csv = csv.borrow_mut();
        let (Some(csv), Some(asked)) = (csv.as_mut(), cycle.steps.get(index)) else {
            return Ok(());
        };
        let cpu = processors.borrow().shares();
        let added = csv.add(&config, (asked.step.index, &asked.run), measurement, &cpu);
        added.map_err(|error| csv.failure(&error))
    };
    let mut observe = |progress: Progress<'_>| {
        if let Progress::Engine(event) = &progress {
            processors.borrow_mut().hear(event);
        }
        let event = jobs::Event::of(&progress);
        let display = &mut display.borrow_mut();
        let mut notify = |text: String| display.message(&text);
        let mut recorder = recorder.borrow_mut();
        match &progress {
            Progress::Began { id, started } => recorder.named(id, started, &mut notify),
            Progress::Measured(measurement) => recorder.measured(measurement, &mut notify),
            _ => {}
        }
        recorder.tell(&event);
        display.hear(&event);
    };
    let made = survey::cycle(options, stop, &settle, &mut keep, &mut observe);
    display.borrow_mut().finish();
    let experiment = made.inspect_err(|_| recorder.borrow_mut().give_up())?;
    let shown = shown(args, &experiment);
    let status = experiment.status;
    let failed_ios = experiment.measurements.iter().any(|m| !m.errors.is_empty());
    let noted = recorder.borrow_mut().finish(&Document::Cycle(Box::new(experiment)));
    end(csv.into_inner(), status == ::results::Status::Complete, args.place.quiet)?;
    noted.map_err(Failure::CannotRun)?;
    // What stdout does not take is kept all the same.
    print(&shown?)?;
    say_kept(&recorder.borrow(), args.place.quiet);
    Ok(match outcome(status) {
        Outcome::Done if failed_ios => Outcome::IoFailed,
        other => other,
    })
}

/// What an alignment of 0 means is known once the targets are open.
fn settle(workload: &mut Workload, facts: &[TargetFacts]) {
    let sectors: Vec<u64> = facts.iter().map(|f| f.direct_align_bytes).collect();
    settle_sectors(workload, &sectors);
}

fn shown(args: &IometerArgs, experiment: &Experiment<Cycle>) -> Result<String, Failure> {
    if args.json {
        return json(experiment);
    }
    let detail = match (args.targets, args.workers) {
        (true, _) => CycleDetail::Targets,
        (false, true) => CycleDetail::Workers,
        (false, false) => CycleDetail::Total,
    };
    let document = Document::Cycle(Box::new(experiment.clone()));
    let workers = report::sections::workers(experiment, detail);
    let part = report::sections::part_with(&document, Detail::Brief, workers);
    Ok(report::text::part(&part))
}

/// The end of the result file.
fn end(csv: Option<Results>, whole: bool, quiet: bool) -> Result<(), Failure> {
    let Some(csv) = csv else { return Ok(()) };
    csv.end(whole).map_err(|error| Failure::CannotRun(csv.failure(&error)))?;
    if csv.is_begun() && !quiet {
        let path = csv.path().display();
        Display::new(false).message(&format!("IOMeter's results are in {path}"));
    }
    Ok(())
}

/// A finished run, while others go on.
fn line(number: usize, of: usize, m: &Measurement) -> String {
    let latency = m.total.latency_ns.map_or_else(String::new, |l| {
        format!(", mean {}, max {}", show_ns(l.mean), show_ns(l.max as f64))
    });
    let errors = match m.total.errors {
        0 => String::new(),
        errors => format!(", {errors} ERRORS"),
    };
    format!(
        "run {number} of {of}: {} IOPS, {} MiB/s{latency}{errors}",
        show_number(m.total.iops),
        show_number(m.total.mib_per_s)
    )
}
