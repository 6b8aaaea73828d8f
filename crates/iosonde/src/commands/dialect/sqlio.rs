//! `iosonde sqlio`: SQLIO's command line, and what people built around it.

mod batch;
mod parse;

use std::ffi::OsString;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use dialects::sqlio::USAGE;
use jobs::sqlio::{Call, CallSettings, Script};
use workload::Bytes;

use super::{PlaceFlags, Tokens, ToolTerminal, conduct, split};
use crate::commands::plans::print_plan;
use crate::exit::{Failure, Outcome, print};
use crate::recording::RecordingArgs;
use screen::Display;
use screen::described;

/// The answer to a command line without arguments.
const NOTHING: &str = "say what to do: `iosonde sqlio -?` shows SQLIO's options and `--help` \
                       those of iosonde; what SQLIO did without any is `iosonde sqlio -kR`";

/// SQLIO's command line as it is; `-?` shows its options. Further commands: `parse FILE…` shows
/// results as a table, `batch` measures a matrix of calls. `script FILE WORD…` runs a batch file or
/// a PowerShell script of calls; the words are its `%1`, `%2`, ….
#[derive(Debug, Parser)]
struct SqlioFlags {
    #[command(flatten)]
    place: PlaceFlags,

    /// Size of files that neither exist nor have a size in a parameter file
    #[arg(long, value_name = "SIZE")]
    size: Option<Bytes>,

    /// Length of every run, instead of `-s`, for a rehearsal
    #[arg(long, value_name = "N")]
    seconds: Option<f64>,

    /// Print the result as JSON on stdout instead of SQLIO's text
    #[arg(long)]
    json: bool,

    /// Print the plan as TOML on stdout and stop; `iosonde do` runs it
    #[arg(long)]
    print_plan: bool,

    /// Show what would be done and touch nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    recording: RecordingArgs,
}

impl SqlioFlags {
    fn settings(&self) -> Result<CallSettings, Failure> {
        let (size, seconds, json) = (self.size, self.seconds, self.json);
        Ok(CallSettings { places: self.place.places()?, size, seconds, json })
    }
}

pub(super) fn sqlio(args: &Tokens, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let tokens = &args.tokens;
    let rest = tokens.get(1..).unwrap_or_default();
    match tokens.first().and_then(|t| t.to_str()) {
        None => Err(Failure::WrongUsage(NOTHING.to_owned())),
        Some("parse") => parse::parse(rest),
        Some("batch") => batch::batch(rest, stop),
        Some("script") => script(rest, stop),
        Some(_) => call(tokens, stop),
    }
}

/// Runs a single call of SQLIO.
fn call(tokens: &[OsString], stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (flags, words) = split::<SqlioFlags>("iosonde sqlio", tokens)?;
    let settings = flags.settings()?;
    let Some(call) = Call::read(&words, &settings, "")? else {
        print(USAGE)?;
        return Ok(Outcome::Done);
    };
    let call = call.ready(&settings)?;
    settings.places.check_destroy(call.targets())?;
    call.say_notes(&mut ToolTerminal(Display::new(flags.place.quiet)));
    if flags.print_plan {
        return print_plan(&call.plan());
    }
    if flags.dry_run {
        flags.recording.check()?;
        print(&described(&call.describe()?))?;
        return Ok(Outcome::Done);
    }
    conduct(flags.place.manner(), &flags.recording, stop, |session| call.run(session))
}

/// `iosonde sqlio script`: a batch file of calls.
fn script(tokens: &[OsString], stop: &AtomicBool) -> Result<Outcome, Failure> {
    let (flags, files) = split::<SqlioFlags>("iosonde sqlio script", tokens)?;
    let Some((file, words)) = files.split_first() else {
        return Err(Failure::WrongUsage(
            "name a batch file, and after it the words that it takes: `iosonde sqlio script FILE \
             WORD…`"
                .to_owned(),
        ));
    };
    if flags.print_plan {
        let text = "a batch file has several calls, and a plan is one run: print that of a call";
        return Err(Failure::WrongUsage(text.to_owned()));
    }
    let script = Script::read(file, words, flags.settings()?, flags.dry_run)?;
    let mut display = Display::new(flags.place.quiet);
    script.notes.iter().for_each(|note| display.message(note));
    let description = script.describe();
    if flags.dry_run {
        flags.recording.check()?;
        print(&described(&description))?;
        return Ok(Outcome::Done);
    }
    description.work.last().into_iter().for_each(|time| display.message(time));
    conduct(flags.place.manner(), &flags.recording, stop, |session| script.run(session))
}
