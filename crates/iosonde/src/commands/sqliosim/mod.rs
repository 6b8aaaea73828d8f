//! `iosonde sqliosim`: SQLIOSim's command line and configurations, on the simulated database of
//! `validate`.

mod flags;

use std::sync::atomic::AtomicBool;

use dialects::sqliosim::{Command, Configuration, Invocation, USAGE, parse};
use engine::Permissions;
use jobs::{Event, MappedConfiguration, Places, Plan, Sink, SqliosimPlace, of_sqliosim};
use report::text::{self, clean};
use results::Document;

use crate::commands::dialect::{Tokens, split};
use crate::conducting::{Console, Manners, Rehearsal, conduct_into, rehearse};
use crate::exit::{Failure, Outcome, print};
use flags::SqliosimFlags;
use jobs::sqliosim::{Log, effective, path_of, save};
use screen::Display;

pub(crate) fn sqliosim(args: &Tokens, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (flags, words) = split::<SqliosimFlags>("iosonde sqliosim", &args.tokens)?;
    let wrong = |text: String| Failure::WrongUsage(text);
    let command = match parse(&words).map_err(|e| wrong(e.to_string()))? {
        Invocation::Usage => {
            print(USAGE)?;
            return Ok(Outcome::Done);
        }
        Invocation::Test(command) => command,
    };
    let places = flags.place.places()?;
    jobs::check_engine(places.engine)?;
    let drives = places.drives();
    let reading = effective(&command, &drives)?;
    let mut display = Display::new(flags.place.quiet);
    reading.notes.iter().for_each(|note| display.message(&format!("note: {note}")));
    if let Some(name) = &command.save {
        save(&reading.config, &path_of(&drives, name)?, places.overwrite)?;
        display.message(&format!("the configuration is in `{name}`"));
    }
    if reading.config.files.is_empty() {
        if command.save.is_some() {
            return Ok(Outcome::Done);
        }
        let text = "there are no files to work on: name a directory with `-dir`, or files in the \
                    configuration";
        return Err(wrong(text.to_owned()));
    }
    let paths = reading.config.files.iter().map(|file| path_of(&drives, &file.file_name));
    let place = SqliosimPlace {
        name: named(&command),
        paths: paths.collect::<Result<_, _>>()?,
        engine: places.engine,
        seed: places.seed.unwrap_or_else(engine::unrepeated_seed),
    };
    let mapped = of_sqliosim(&reading.config, place);
    mapped.notes.iter().for_each(|note| display.message(&format!("note: {note}")));
    mapped.check()?;
    test((&command, &flags, &places), &reading.config, &mapped, stop)
}

/// The name of the configuration, or of its file without the directory.
fn named(command: &Command) -> String {
    let name = command.config.as_deref().unwrap_or("default");
    name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned()
}

/// Runs a configuration.
fn test(
    (command, flags, places): (&Command, &SqliosimFlags, &Places),
    config: &Configuration,
    mapped: &MappedConfiguration,
    stop: &AtomicBool,
) -> Result<Outcome, Failure> {
    let plan = Plan::Validate(Box::new(mapped.plan.clone()));
    let targets = mapped.plan.workload().targets;
    places.check_destroy(&targets)?;
    let keep = !config.general.delete_files_at_shutdown;
    let permissions = Permissions { keep, ..places.permissions(&targets) };
    let rehearsal = Rehearsal { print_plan: flags.print_plan, dry_run: flags.dry_run };
    flags.recording.check()?;
    if let Some(outcome) = rehearse(&plan, rehearsal, &permissions)? {
        return Ok(outcome);
    }
    // Refusals come before the log is made.
    plan.job().describe(&permissions)?;
    let manners = Manners {
        manner: flags.place.manner(),
        json: flags.json,
        recording: flags.recording.recording()?,
        permissions,
    };
    let log = command.log.as_ref().or(config.general.error_file.as_ref());
    let log = log.map(|name| Log::open(&path_of(&places.drives(), name)?)).transpose()?;
    let _begun = jobs::BegunFiles::of(&targets)?;
    let mut view = View { console: Console::of(&plan, &manners)?, log, config, mapped };
    mapped.notes.iter().for_each(|note| view.log(false, note));
    let conducted = conduct_into(&plan, &manners, &mut view, stop);
    if let Some(error) = view.log.and_then(Log::failed) {
        view.console.display.error(&format!("the log is not whole: {error}"));
    }
    conducted.map(|(_, outcome)| outcome)
}

/// Shows a validation as SQLIOSim does, and writes its log.
struct View<'a> {
    console: Console,
    log: Option<Log>,
    config: &'a Configuration,
    mapped: &'a MappedConfiguration,
}

impl View<'_> {
    fn log(&mut self, error: bool, text: &str) {
        self.log.iter_mut().for_each(|log| log.say(error, text));
    }
}

impl Sink for View<'_> {
    fn hear(&mut self, event: &Event) {
        match event {
            Event::Notice { text } => self.log(false, text),
            Event::Validation(integrity::Event::Began { phase, .. }) => {
                self.log(false, phase.words());
            }
            Event::Validation(integrity::Event::Notice(notice)) => self.log(true, &notice.text),
            _ => {}
        }
        self.console.hear(event);
    }

    fn leaves_behind(&mut self, words: Option<&str>) {
        self.console.leaves_behind(words);
    }

    fn deliver(&mut self, document: &Document) -> Result<(), String> {
        let mut shown = text::document(document);
        if let Document::Validation(found) = document {
            for summary in self.mapped.summaries(self.config, &found.conclusion) {
                self.log(false, &summary);
                let lines = summary.lines().map(|line| clean(line) + "\n");
                shown.extend(std::iter::once("\n".to_owned()).chain(lines));
            }
        }
        self.console.print(document, || shown)
    }
}
