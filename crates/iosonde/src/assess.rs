//! `iosonde assess`: the main job.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use analysis::claims;
use analysis::verdict::Database;
use results::{ASSESSMENT_SCHEMA, Assessment, Document, Measurement, Pace};
use survey::{AssessOptions, Progress};
use workload::{Mode, Stream, Target, Workload};

use crate::args::{AssessArgs, PaceArg};
use crate::display::Display;
use crate::exit::{Failure, Outcome, print};
use crate::experiment::{outcome as outcome_of, read};
use crate::files::{create_beside, write_whole};
use crate::loads;
use crate::recording::{Recorder, Subject};
use crate::run::{apply_targets, describe, json};

/// Runs the command.
pub(crate) fn assess(args: &AssessArgs, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let options = options_of(args)?;
    if args.target.dry_run {
        return dry_run(&options);
    }
    let recorder = RefCell::new(Recorder::open(&args.recording, subject(&options)?)?);
    let report_path = claim(&args.report.clone().unwrap_or_else(default_report_path))?;
    let has_history = recorder.borrow().history().is_some();
    let mut journal = (!has_history).then(|| Journal::beside(&report_path));
    let mut display = Display::of(args.target.manner(), recorder.borrow().subject());
    let outcome = survey::assess(&options, stop, &mut |progress| {
        recorder.borrow_mut().hear(&progress, &mut display);
        display.progress(&progress);
        if let (Progress::Measured(measurement), Some(journal)) = (&progress, &mut journal)
            && let Err(error) = journal.keep(measurement)
        {
            display.message(&format!("warning: {error}"));
        }
    });
    display.finish();
    let mut recorder = recorder.into_inner();
    let assessment = match outcome {
        Ok(assessment) => assessment,
        Err(error) => {
            recorder.give_up();
            // The empty file that proved the report can be written.
            if fs::metadata(&report_path).is_ok_and(|m| m.len() == 0) {
                let _ = fs::remove_file(&report_path);
            }
            return Err(error.into());
        }
    };
    let written = write_report(&assessment, &report_path, journal.as_ref());
    let text = if args.json {
        json(&assessment)?
    } else {
        report::text::assessment(&assessment, written.is_ok().then_some(report_path.as_path()))
    };
    print(&text)?;
    let noted = recorder.finish(&Document::Assessment(Box::new(assessment.clone())));
    if noted.is_ok() {
        recorder.say(args.target.quiet);
    }
    both(written, noted)?;
    if let Some(journal) = journal {
        journal.remove();
    }
    // A claim that could not be judged must not pass for one that is met.
    let claims = claims::Outcome::of_all(assessment.claims.iter().map(|c| c.outcome));
    Ok(match outcome_of(assessment.status) {
        Outcome::Done if claims != claims::Outcome::Met => Outcome::NotMet,
        outcome => outcome,
    })
}

fn subject(options: &AssessOptions) -> Result<Subject, Failure> {
    let title = format!("loads of {}", options.database.title());
    let target = [Target { path: options.target.clone(), size_bytes: options.size }];
    Subject::new("assess", ASSESSMENT_SCHEMA, title, (&target, options.engine), options)
}

/// A full disk may cost the report and the record: both are said.
fn both(first: Result<(), Failure>, second: Result<(), Failure>) -> Result<(), Failure> {
    match (first, second) {
        (Err(Failure::CannotRun(a)), Err(Failure::CannotRun(b))) => {
            Err(Failure::CannotRun(format!("{a}\n{b}")))
        }
        (first, second) => first.and(second),
    }
}

fn options_of(args: &AssessArgs) -> Result<AssessOptions, Failure> {
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
    let limits = match &args.limits {
        None => database.limits(),
        Some(path) => {
            let wrong = |what: String| Failure::WrongUsage(format!("`{}`: {what}", path.display()));
            survey::parse_limits(&read(path)?, database).map_err(|e| wrong(e.to_string()))?
        }
    };
    let claims = match &args.expect {
        None => Vec::new(),
        Some(path) => {
            let wrong = |what: String| Failure::WrongUsage(format!("`{}`: {what}", path.display()));
            survey::parse_claims(&read(path)?, database).map_err(|e| wrong(e.to_string()))?
        }
    };
    let pace = match args.pace {
        PaceArg::Quick => Pace::Quick,
        PaceArg::Normal => Pace::Normal,
        PaceArg::Long => Pace::Long,
    };
    let specs = loads::known(&args.spec)?.into_iter().map(|s| s.name.to_owned()).collect();
    Ok(AssessOptions {
        specs,
        target: target.path.clone(),
        size: target.size_bytes,
        database,
        pace,
        limits,
        claims,
        link: args.link.clone(),
        permissions: args.target.permissions(),
        engine: workload.engine,
        sim: workload.sim.clone(),
        mode: if args.buffered { Mode::Buffered } else { Mode::Direct },
        seed: workload.seed,
    })
}

fn dry_run(options: &AssessOptions) -> Result<Outcome, Failure> {
    let target = Target { path: options.target.clone(), size_bytes: options.size };
    let stream = Stream { write_percent: 50, ..Stream::default() };
    let workload = Workload {
        engine: options.engine,
        sim: options.sim.clone(),
        ..Workload::single(target, stream)
    };
    let plans = engine::plan(&workload, &options.permissions)?;
    let text = match plans.as_slice() {
        // The plan is of a size that nobody asked for and that will not be taken.
        [plan] if options.size.is_none() && plan.action.fills() && plan.file_bytes == 0 => {
            let (path, action) = (plan.path.display(), plan.describe());
            format!("{path}: {action}\n{}\n", survey::assess_size_rule(options.pace))
        }
        plans => describe(plans),
    };
    let time = match options.pace {
        Pace::Quick => "about two minutes",
        Pace::Normal => "about a quarter of an hour",
        Pace::Long => "about an hour",
    };
    print(&format!("{text}takes {time} beside that\n"))?;
    Ok(Outcome::Done)
}

/// `iosonde-2026-11-21-1504.html` in the current directory.
fn default_report_path() -> PathBuf {
    let now = jiff::Zoned::now();
    PathBuf::from(format!("iosonde-{}.html", now.strftime("%Y-%m-%d-%H%M%S")))
}

/// Two hours of measuring must not end at a report that cannot be written, nor at somebody else's file overwritten.
///
/// Gives the file that will be written: where a link leads, that is its end.
fn claim(path: &Path) -> Result<PathBuf, Failure> {
    let refused = |why: String| {
        let path = path.display();
        Failure::CannotRun(format!(
            "cannot write the report `{path}`: {why}; name another with `--report FILE`"
        ))
    };
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&path) {
        Ok(metadata) if !metadata.is_file() => Err(refused("it is no ordinary file".to_owned())),
        Ok(metadata) if metadata.len() == 0 => Ok(path),
        Ok(_) => {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let ours = report::html::is_report(&text);
            if ours {
                Ok(path)
            } else {
                Err(refused("it is there and no report of iosonde".to_owned()))
            }
        }
        Err(_) => {
            let made = fs::OpenOptions::new().append(true).create_new(true).open(&path);
            made.map(|_| path).map_err(|error| refused(error.to_string()))
        }
    }
}

/// Writes the report whole or not at all.
fn write_report(
    assessment: &Assessment,
    path: &Path,
    journal: Option<&Journal>,
) -> Result<(), Failure> {
    let cannot = |what: String| {
        let path = path.display();
        let kept = match journal {
            Some(journal) => format!("every measurement is in `{}`", journal.path.display()),
            None => format!("make it again with `iosonde report {}`", assessment.id),
        };
        Failure::CannotRun(format!("cannot write the report `{path}`: {what}; {kept}"))
    };
    let html = report::html::assessment(assessment).map_err(|e| cannot(e.to_string()))?;
    write_whole(path, &html).map_err(|e| cannot(e.to_string()))
}

/// Without a history: every finished measurement as a line of JSON in a file beside the report, so that a crash loses
/// none. The report holds all of them; once it is written, the journal goes.
struct Journal {
    report: PathBuf,
    path: PathBuf,
    file: Option<fs::File>,
}

impl Journal {
    fn beside(report: &Path) -> Self {
        Self { report: report.to_owned(), path: report.with_extension("partial.jsonl"), file: None }
    }

    fn keep(&mut self, measurement: &Measurement) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(measurement)?;
        line.push(b'\n');
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let (path, file) = create_beside(&self.report, "partial.jsonl")?;
                self.path = path;
                none.insert(file)
            }
        };
        file.write_all(&line)?;
        file.sync_data()
    }

    fn remove(self) {
        if self.file.is_some() {
            // What stays behind is a copy of what the report holds.
            let _ = fs::remove_file(&self.path);
        }
    }
}
